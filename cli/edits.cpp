#include "edits.h"

#include <fmt/core.h>

#include "sinew/deform.h"
#include "sinew/quality.h"

namespace sinew::cli {

void add_edit_options(CLI::App& command, EditOptions& options, bool keep) {
    command
        .add_option("--edits", options.file,
                    "Edit list: falloffs of regions, rigid regions, locks, changes by hand (docs/edits.md)")
        ->group("Edits");
    if (!keep) return;
    command
        .add_option("--lock", options.locks,
                    "Joints that keep the weights that the file has: a name with * and ?; repeatable")
        ->allow_extra_args(false)
        ->group("Edits");
    command.add_flag("--only-missing", options.only_missing, "Vertices that have weights in the file keep them")
        ->group("Edits");
}

Result<Adjustments> read_edits(const io::Scene& scene, const EditOptions& options, Context* context,
                               std::span<const Transform> transforms) {
    Adjustments out;
    if (!options.file.empty()) {
        Result<Adjustments> read = io::load_edits(scene, options.file);
        if (!read) return read.error();
        out = std::move(*read);
    }
    const Skeleton& skeleton = scene.skeleton;
    for (const std::string& glob : options.locks) {
        const std::vector<std::uint32_t> found = joints_called(skeleton, glob);
        if (found.empty())
            return Error{ErrorCode::usage, "--lock \"" + glob + "\" matches no joint of the skeleton"};
        out.locks.joints.resize(skeleton.joints.size(), false);
        for (const std::uint32_t j : found) out.locks.joints[j] = true;
    }
    const bool locks = !out.locks.joints.empty() || !out.locks.vertices.empty();
    if (locks && !scene.weights)
        return Error{ErrorCode::usage, "there is nothing to lock: the file has no weights of its own"};
    if (options.only_missing && scene.weights) {
        out.locks.vertices.resize(scene.positions.size(), false);
        for (std::size_t v = 0; v < scene.positions.size(); ++v)
            if (!(*scene.weights)[v].empty()) out.locks.vertices[v] = true;
    }
    if (scene.weights && (locks || options.only_missing)) out.locks.weights = &*scene.weights;
    if (Status ok = find_mirrors(out.edits, scene.mesh(), skeleton, context); !ok) return ok.error();
    out.falloff.of_joint = falloff_at(out.angles, skeleton, transforms, std::move(out.falloff.of_joint));
    return out;
}

std::string_view name_of(EditKind kind) {
    switch (kind) {
        case EditKind::set:
            return "set";
        case EditKind::add:
            return "add";
        case EditKind::scale:
            return "scale";
        case EditKind::smooth:
            return "smooth";
        case EditKind::replace:
            return "replace";
        case EditKind::mirror:
            return "mirror";
    }
    return "";
}

std::vector<std::string> edit_lines(const Adjustments& adjustments, const EditReport& report) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < report.changed.size(); ++i) {
        lines.push_back(fmt::format("edit {} ({}): {} vertices changed", i + 1, name_of(adjustments.edits[i].kind),
                                    report.changed[i]));
        if (report.kept[i])
            lines.back() += fmt::format(", {} as they were: no other joint can take the weight", report.kept[i]);
    }
    return lines;
}

}  // namespace sinew::cli
