#include "edits.h"
#include "core/try.h"

namespace sinew::cli {

void add_edit_options(CLI::App& command, EditOptions& options, bool keep) {
    names_file(command.add_option(
                   "--edits", options.file,
                   "Edit list: falloffs of regions, rigid regions, locks, edits of weights (docs/edits.md)"),
               FileUse::reads_json)
        ->group("Edits");
    if (!keep) return;
    command
        .add_option("--lock", options.locks,
                    "Joints that keep their weights in the file: a name with * and ?; repeatable")
        ->allow_extra_args(false)
        ->group("Edits");
    command
        .add_flag("--only-missing", options.only_missing,
                  "Keep the weights of vertices that have weights in the file; also bind meshes without a skin "
                  "that hang on "
                  "no joint (a new shirt)")
        ->group("Edits");
}

Result<Adjustments> read_edits(const io::Scene& scene, const EditOptions& options, Context* context,
                               std::span<const Transform> transforms) {
    Adjustments out;
    if (!options.file.empty()) {
        SINEW_TRY_LET(out, io::load_edits(scene, options.file, context));
    }
    const Skeleton& skeleton = scene.skeleton;
    if (options.strict)
        if (const auto lost = unmatched_globs(skeleton, "lock", options.locks); !lost.empty())
            return Error{ErrorCode::usage, lost.front()};
    for (const std::string& glob : options.locks) {
        const std::vector<std::uint32_t> found = joints_called(skeleton, glob);
        out.locks.joints.resize(skeleton.joints.size(), false);
        for (const std::uint32_t j : found) out.locks.joints[j] = true;
    }
    if (options.only_missing && scene.weights) {
        out.locks.vertices.resize(scene.positions.size(), false);
        for (std::size_t v = 0; v < scene.positions.size(); ++v)
            if (!(*scene.weights)[v].empty()) out.locks.vertices[v] = true;
    }
    SINEW_TRY(complete_edits(out, scene.mesh(), skeleton, scene.weights ? &*scene.weights : nullptr, context,
                             transforms));
    return out;
}

}  // namespace sinew::cli
