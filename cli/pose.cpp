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

/// Weights from the kept binding in this pose, instead of the file's own.
Status weights_of_binding(io::Scene& scene, const PoseArguments& args, std::span<const Transform> skinning,
                          Context& context) {
    SINEW_TRY_LET(Binding kept, read_binding(args.binding, &context));
    SINEW_TRY_LET(Binding binding, rebind(kept, scene, args.binding, &context));
    SINEW_TRY_LET(Adjustments adjustments, read_edits(scene, args.edits, &context, skinning));
    Result<SkinWeights> weights = adjusted_weights(binding, scene.mesh(), scene.skeleton, binding.options().falloff,
                                                   binding.options().finish, adjustments, nullptr, &context);
    if (!weights) return weights.error();
    scene.weights = std::move(*weights);
    scene.other_poses.clear();
    return Done{};
}

int run_pose(const PoseArguments& args) {
    if (args.pose.pose.empty() == args.pose.clip.empty())
        return fail({ErrorCode::usage, "give a pose: --pose FILE, or --clip NAME with --time"});
    if (!args.weights.empty() && !args.binding.empty())
        return fail({ErrorCode::usage, "--weights and --binding cannot be combined: give one of them"});
    if (!args.edits.file.empty() && args.binding.empty())
        return fail({ErrorCode::usage, "--edits needs --binding: weights are evaluated from it in the pose"});
    if (Status ok = io::check_posed_output(args.output); !ok) return fail(ok.error());
    // The output has no skeleton and no weights: it must not replace its inputs.
    const NamedFile output{"--output", args.output};
    const NamedFile inputs[] = {{"the input", args.input},    {"--skeleton", args.skeleton},
                                {"--weights", args.weights},  {"--binding", args.binding},
                                {"--edits", args.edits.file}, {"--pose", args.pose.pose}};
    if (Status ok = check_files({&output, 1}, inputs); !ok) return fail(ok.error());
    Context context;
    args.apply(context);
    Progress progress(context, true);
    Result<io::Scene> scene = load_model(args.input, args.load(args), &context);
    if (!scene) return fail(scene.error());
    for (const auto& file : io::external_files(*scene)) {
        const NamedFile kept{"a file that the input refers to", file.string()};
        if (Status ok = check_kept({&output, 1}, {&kept, 1}); !ok) return fail(ok.error());
    }
    if (Status ok = take_weights(*scene, args.weights, context); !ok) return fail(ok.error());
    if (!scene->weights && args.binding.empty())
        return fail({ErrorCode::input, args.input + ": the file has no weights (sinew bind computes them; "
                                                    "--weights or --binding take them from a file)"});

    Result<io::ScenePose> at = read_pose(*scene, args.pose, args.input, context);
    if (!at) return fail(at.error());
    if (!args.binding.empty()) {
        if (Status ok = weights_of_binding(*scene, args, at->skinning, context); !ok) return fail(ok.error());
    }
    Result<io::ShadingFrames> frames = io::shading_frames(*scene);
    if (!frames) return fail(frames.error());
    std::vector<Morph> morphs, normal_morphs;
    for (const io::MorphTarget& m : at->morphs) {
        morphs.push_back({m.first_vertex, m.weight, m.offsets});
        if (!frames->normals.empty()) normal_morphs.push_back({m.first_vertex, m.weight, m.normals});
    }
    if (Status ok = add_morphs(scene->positions, morphs); !ok) return fail(ok.error());
    if (Status ok = add_morphs(frames->normals, normal_morphs); !ok) return fail(ok.error());

    io::start_from_other_poses(*scene, at->skinning, scene->positions, frames->normals, frames->tangents);
    Result<Surface> posed = deform({scene->positions, frames->normals, frames->tangents, frames->dual_share},
                                   *scene->weights, at->skinning, args.pose.how(), &context);
    if (!posed) return fail(with_joint_name(posed.error(), scene->skeleton));
    io::OutputBatch batch;
    Result<io::SaveReport> saved =
        io::save_posed(*scene, {posed->positions, posed->normals, posed->tangents, *at}, args.output, batch);
    if (!saved) return fail(saved.error());
    const Status published = progress.publish(batch, [&] {
        for (const std::string& note : saved->notes) fmt::print("note: {}\n", shown(note));
        if (!args.pose.clip.empty() && at->time != args.pose.time)
            fmt::print("note: time {} is outside of the clip: clamped to {:.6g}\n", args.pose.time, at->time);
        fmt::print("posed {} vertices by {} to {}\n", posed->positions.size(), to_string(args.pose.how()),
                   printable(args.output, 2000));
    });
    return published ? done : fail(published.error());
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
    c->add_option("input", args->input,
                  "GLB, glTF or VRM with weights; OBJ with --skeleton and --weights or --binding")
        ->required();
    c->add_option("-o,--output", args->output, "GLB, glTF or OBJ to write")->required();
    add_pose_options(*c, args->pose);
    c->add_option("--weights", args->weights, "Weights JSON, instead of the file's own");
    c->add_option("--binding", args->binding,
                  "A kept binding (sinew bind --save-binding): its weights, instead of the file's own");
    add_edit_options(*c, args->edits, false);
    add_input_options(*c, *args);
    add_machine_options(*c, *args, "Options");
    c->callback([args, &exit] { exit = run_pose(*args); });
}

}  // namespace sinew::cli
