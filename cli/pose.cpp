// sinew pose: writes a bound character in another pose, as a mesh.

#include <fmt/core.h>

#include "core/try.h"
#include "edits.h"
#include "kept_binding.h"
#include "posing.h"
#include "sinew/bind.h"

namespace sinew::cli {
namespace {

struct PoseArguments : InputOptions, MachineOptions {
    std::string input, output, weights, binding;
    EditOptions edits;
    PoseOptions pose;
};

/// Weights from the kept binding in this pose, instead of the file's own. Returns warnings.
Result<std::vector<std::string>> weights_of_binding(io::Scene& scene, const PoseArguments& args,
                                                    std::span<const Transform> skinning, Context& context) {
    SINEW_TRY_LET(Binding kept, read_binding(args.binding, &context));
    SINEW_TRY_LET(Binding binding, rebind(kept, scene, args.binding, &context));
    SINEW_TRY_LET(Adjustments adjustments, read_edits(scene, args.edits, &context, skinning));
    EditReport edited;
    SINEW_TRY_LET(scene.weights, adjusted_weights(binding, scene.mesh(), scene.skeleton, binding.options().falloff,
                                                  binding.options().finish, adjustments, &edited, &context));
    scene.other_poses.clear();
    return std::move(edited.warnings);
}

Result<int> run_pose(const PoseArguments& args) {
    if (args.pose.pose.empty() == args.pose.clip.empty())
        return Error{ErrorCode::usage, "give a pose: --pose FILE, or --clip NAME with --time"};
    if (!args.weights.empty() && !args.binding.empty())
        return Error{ErrorCode::usage, "--weights and --binding cannot be combined: give one of them"};
    if (!args.edits.file.empty() && args.binding.empty())
        return Error{ErrorCode::usage, "--edits needs --binding: weights are evaluated from it in the pose"};
    SINEW_TRY(io::check_posed_output(args.output));
    // The output has no skeleton and no weights: it must not replace its inputs.
    const NamedFile output{"--output", args.output};
    const NamedFile inputs[] = {{"the input", args.input},    {"--skeleton", args.skeleton},
                                {"--weights", args.weights},  {"--binding", args.binding},
                                {"--edits", args.edits.file}, {"--pose", args.pose.pose}};
    SINEW_TRY(check_files({&output, 1}, inputs));
    Context context;
    args.apply(context);
    Progress progress(context, true);
    SINEW_TRY_LET(io::Scene scene, load_model(args.input, args.load(args), &context));
    SINEW_TRY(check_kept({&output, 1}, scene));
    SINEW_TRY(take_weights(scene, args.weights, context));
    if (!scene.weights && args.binding.empty())
        return Error{ErrorCode::input, args.input +
                                           ": the file has no weights (sinew bind computes them; "
                                           "--weights or --binding take them from a file)"};

    SINEW_TRY_LET(io::ScenePose at, read_pose(scene, args.pose, args.input, context));
    std::vector<std::string> warnings;
    if (!args.binding.empty()) {
        SINEW_TRY_LET(warnings, weights_of_binding(scene, args, at.skinning, context));
    }
    SINEW_TRY_LET(io::ShadingFrames frames, io::shading_frames(scene));
    std::vector<Morph> morphs, normal_morphs;
    for (const io::MorphTarget& m : at.morphs) {
        morphs.push_back({m.first_vertex, m.weight, m.offsets});
        if (!frames.normals.empty()) normal_morphs.push_back({m.first_vertex, m.weight, m.normals});
    }
    SINEW_TRY(add_morphs(scene.positions, morphs));
    SINEW_TRY(add_morphs(frames.normals, normal_morphs));

    io::start_from_other_poses(scene, at.skinning, scene.positions, frames.normals, frames.tangents);
    Result<Surface> posed = deform({scene.positions, frames.normals, frames.tangents, frames.dual_share},
                                   *scene.weights, at.skinning, args.pose.how(), &context);
    if (!posed) return with_joint_name(posed.error(), scene.skeleton);
    io::OutputBatch batch;
    SINEW_TRY_LET(
        io::SaveReport saved,
        io::save_posed(scene, {posed->positions, posed->normals, posed->tangents, at}, args.output, batch));
    const Status published = progress.publish(batch, [&] {
        for (const std::string& warning : warnings) fmt::print("warning: {}\n", shown(warning));
        for (const std::string& note : saved.notes) fmt::print("note: {}\n", shown(note));
        if (!args.pose.clip.empty() && at.time != args.pose.time)
            fmt::print("note: time {} is outside of the clip: clamped to {:.6g}\n", args.pose.time, at.time);
        fmt::print("posed {} vertices by {} to {}\n", posed->positions.size(), to_string(args.pose.how()),
                   printable(args.output, 2000));
    });
    SINEW_TRY(published);
    return done;
}

}  // namespace

void add_pose(CLI::App& app, int& exit) {
    auto args = std::make_shared<PoseArguments>();
    CLI::App* c = app.add_subcommand(
        "pose",
        "Writes a bound character in another pose, without its skeleton. GLB and glTF keep materials, textures,\n"
        "texture coordinates and colours; normals and tangents follow the pose.\n\n"
        "  sinew pose hero.glb --pose wave.json -o wave.obj             rotations of joints by name "
        "(docs/formats.md)\n"
        "  sinew pose hero.glb --clip Walk --time 0.4 -o step.glb       the file's own animation\n"
        "  sinew pose hero.glb --pose twist.json --skinning dqs -o t.glb   dual quaternions preserve volume\n"
        "  sinew pose hero.glb --binding hero.binding --pose wave.json -o wave.glb   weights of a kept binding\n");
    names_file(c->add_option("input", args->input,
                             "GLB, glTF or VRM with weights; OBJ with --skeleton and --weights or --binding"),
               FileUse::reads)
        ->required();
    names_file(c->add_option("-o,--output", args->output, "GLB, glTF or OBJ to write"), FileUse::writes)
        ->required();
    add_pose_options(*c, args->pose);
    names_file(c->add_option("--weights", args->weights, "Weights JSON, instead of the file's own"),
               FileUse::reads);
    names_file(c->add_option("--binding", args->binding,
                             "A kept binding (sinew bind --save-binding): its weights, instead of the file's own"),
               FileUse::reads);
    add_edit_options(*c, args->edits, false);
    add_input_options(*c, *args);
    add_machine_options(*c, *args, "Options");
    c->callback([args, &exit] { exit = exit_of(run_pose(*args)); });
}

}  // namespace sinew::cli
