// sinew pose: a bound character in another pose, as a mesh.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "command.h"
#include "sinew/deform.h"
#include "sinew/io.h"

namespace sinew::cli {
namespace {

struct Arguments {
    std::string input, output, skeleton, weights, pose, clip, skinning = "lbs";
    double time = 0;
    int threads = 0;
};

/// By name, else by number.
Result<std::size_t> find_clip(const std::vector<io::Clip>& clips, const std::string& wanted,
                              const std::string& input) {
    for (std::size_t i = 0; i < clips.size(); ++i)
        if (clips[i].name == wanted) return i;
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
    if (error == std::errc{} && end == wanted.data() + wanted.size() && index < clips.size()) return index;
    std::string known;
    for (std::size_t i = 0; i < clips.size() && i < 50; ++i)
        known += fmt::format("{}{} '{}'", i ? ", " : "", i, clips[i].name.substr(0, 60));
    if (clips.size() > 50) known += fmt::format(" and {} more", clips.size() - 50);
    return Error{ErrorCode::usage, input + ": there is no clip '" + wanted + "' (" +
                                       (known.empty() ? "the file has no animations" : "clips: " + known) + ")"};
}

int run_pose(const Arguments& args) {
    if (args.pose.empty() == args.clip.empty())
        return fail({ErrorCode::usage, "give a pose: --pose FILE, or --clip NAME with --time"});
    // The output has no skeleton and no weights: it must not replace what it was made from.
    for (const std::string& path : {args.input, args.skeleton, args.weights, args.pose}) {
        std::error_code ignored;
        if (!path.empty() && (path == args.output || std::filesystem::equivalent(path, args.output, ignored)))
            return fail({ErrorCode::usage, args.output + ": the output must be another file than the inputs"});
    }
    Result<io::Scene> scene = io::load(args.input, {args.skeleton});
    if (!scene) return fail(scene.error());
    if (!args.weights.empty()) {
        Result<SkinWeights> weights = io::load_weights_json(scene->skeleton, scene->positions.size(), args.weights);
        if (!weights) return fail(weights.error());
        scene->weights = std::move(*weights);
    }
    if (!scene->weights)
        return fail({ErrorCode::input, args.input +
                                           ": there are no weights to pose it with (sinew bind makes them; "
                                           "--weights takes them from a file)"});

    std::optional<std::size_t> clip;
    if (!args.clip.empty()) {
        Result<std::vector<io::Clip>> clips = io::clips(*scene);
        if (!clips) return fail(clips.error());
        Result<std::size_t> found = find_clip(*clips, args.clip, args.input);
        if (!found) return fail(found.error());
        clip = *found;
    }
    Result<io::ScenePose> at = io::pose_at(*scene, clip, args.time);
    if (!at) return fail(at.error());
    std::vector<Transform> transforms = std::move(at->skinning);
    if (!clip) {
        Result<std::vector<JointPose>> pose = io::load_pose(scene->skeleton, args.pose);
        if (!pose) return fail(pose.error());
        Result<std::vector<Transform>> posed = skinning_matrices(scene->skeleton, *pose);
        if (!posed) return fail(posed.error());
        transforms = std::move(*posed);
    }
    std::vector<Morph> morphs;
    for (const io::MorphTarget& m : at->morphs) morphs.push_back({m.first_vertex, m.weight, m.offsets});
    if (Status ok = add_morphs(scene->positions, morphs); !ok) return fail(ok.error());

    Context context;
    context.threads = args.threads;
    const Skinning skinning = args.skinning == "dqs" ? Skinning::dual_quaternion : Skinning::linear_blend;
    Result<Surface> posed = deform({scene->positions, {}, {}}, *scene->weights, transforms, skinning, &context);
    if (!posed) return fail(posed.error());
    move_points(posed->positions, at->to_world);
    if (Status ok = io::save_mesh(posed->positions, scene->triangles, args.output); !ok) return fail(ok.error());
    if (clip && at->time != args.time)
        fmt::print("note: time {} is outside of the clip: clamped to {:.6g}\n", args.time, at->time);
    fmt::print("posed {} vertices by {} to {}\n", posed->positions.size(), to_string(skinning), args.output);
    return done;
}

}  // namespace

void add_pose(CLI::App& app, int& exit) {
    auto args = std::make_shared<Arguments>();
    CLI::App* c = app.add_subcommand(
        "pose",
        "Writes a bound character in another pose, as a mesh without a skeleton.\n\n"
        "  sinew pose hero.glb --pose wave.json -o wave.obj             joints turned by name (docs/formats.md)\n"
        "  sinew pose hero.glb --clip Walk --time 0.4 -o step.glb       the file's own animation\n"
        "  sinew pose hero.glb --pose twist.json --skinning dqs -o t.glb   dual quaternions: keeps the volume\n");
    c->add_option("input", args->input, "GLB, glTF or VRM with weights; OBJ with --skeleton and --weights")
        ->required();
    c->add_option("-o,--output", args->output, "GLB or OBJ to write")->required();
    c->add_option("--pose", args->pose, "Pose JSON: rotations of joints by name, about their own axes");
    c->add_option("--clip", args->clip, "An animation of the file, by name or by number from 0");
    c->add_option("--time", args->time, "Seconds into the clip (default 0); clamped to it")->check(CLI::Number);
    c->add_option("--skinning", args->skinning,
                  "lbs: linear blend (default); dqs: dual quaternion, which cannot scale")
        ->check(CLI::IsMember({"lbs", "dqs"}).description(""));
    c->add_option("--weights", args->weights, "Weights JSON, instead of the file's own");
    c->add_option("--skeleton", args->skeleton, "Skeleton JSON or TGF, for a mesh that has no skeleton");
    c->add_option("--threads", args->threads, "Worker threads (default: all cores)")->check(CLI::Range(0, 4096));
    c->callback([args, &exit] { exit = run_pose(*args); });
}

}  // namespace sinew::cli
