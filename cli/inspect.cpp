// sinew inspect: what a file holds, which joints would deform and why, and what is odd about it.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "command.h"
#include "core/try.h"
#include "report/report.h"
#include "sinew/bind.h"
#include "sinew/deform.h"

namespace sinew::cli {
namespace {

using json = OrderedJson;

struct InspectArguments : InputOptions, MachineOptions {
    std::string input;
    DeformOptions deform;
    bool json = false, joints = false;
};

/// Something unusual, and what can be done.
struct Odd {
    std::string what, advice;
};

std::string count(std::size_t n, const char* one, const char* many) {
    std::string digits = fmt::format("{}", n);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return fmt::format("{} {}", digits, n == 1 ? one : many);
}

/// A file that is inspected.
struct Inspected {
    io::Contents contents;
    io::Scene scene;
    std::vector<io::Clip> clips;
    MeshDefects defects;
    std::vector<double> use;  // per joint, the sum of its weights
    std::size_t unweighted = 0, most_influences = 0;
    std::optional<io::ScenePose> rest;  // as the nodes stand
    Vec3 low, high;                     // of the box, in the world
    std::vector<Odd> odd;
    bool has_skeleton = true;

    double longest() const {
        return std::max({double(high.x) - low.x, double(high.y) - low.y, double(high.z) - low.z, 0.0});
    }
    std::size_t deforming() const {
        return static_cast<std::size_t>(std::count_if(scene.skeleton.joints.begin(), scene.skeleton.joints.end(),
                                                      [](const Joint& joint) { return joint.deform; }));
    }
};

std::string words_of(DeformReason reason) {
    switch (reason) {
        case DeformReason::deforms:
            return "deforms";
        case DeformReason::included:
            return "included by hand";
        case DeformReason::excluded:
            return "excluded by hand, or by the skeleton's file";
        case DeformReason::unused_by_skin:
            return "without weight in the file";
        case DeformReason::control_name:
            return "named like a control";
        case DeformReason::end_name:
            return "named like an end marker";
        case DeformReason::slot_name:
            return "named like an attachment";
        case DeformReason::root_structure:
            return "a root that only carries the skeleton";
        case DeformReason::no_skin:
            return "in no skin of the file";
    }
    return "";
}

void measure(Inspected& out, Context* context) {
    const io::Scene& scene = out.scene;
    out.defects = analyse_mesh(scene.mesh(), context).defects;
    if (auto rest = io::pose_at(scene, std::nullopt, 0)) out.rest = std::move(*rest);
    std::vector<Vec3> shown = scene.positions;
    if (out.rest) move_points(shown, out.rest->to_world);
    if (!shown.empty()) out.low = out.high = shown[0];
    for (const Vec3& p : shown) {
        out.low = {std::min(out.low.x, p.x), std::min(out.low.y, p.y), std::min(out.low.z, p.z)};
        out.high = {std::max(out.high.x, p.x), std::max(out.high.y, p.y), std::max(out.high.z, p.z)};
    }
    if (!scene.weights) return;
    out.use = joint_use(*scene.weights, scene.skeleton.joints.size());
    out.most_influences = scene.weights->max_influences();
    for (std::size_t v = 0; v < scene.weights->vertex_count(); ++v) out.unweighted += (*scene.weights)[v].empty();
}

void note_names(const Skeleton& skeleton, std::vector<Odd>& odd) {
    std::map<std::string, std::size_t> times;
    for (const Joint& joint : skeleton.joints) ++times[joint.name];
    std::size_t repeated = 0;
    std::string first;
    for (const auto& [name, n] : times)
        if (n > 1) {
            if (repeated++ == 0) first = name;
        }
    if (repeated)
        odd.push_back({count(repeated, "name is", "names are") + " those of several joints, for example '" +
                           printable(first, 80) + "'",
                       "rename them: edits, poses and transfer go by name"});
}

void note_weights(const Inspected& in, std::vector<Odd>& odd) {
    if (!in.scene.weights) return;
    if (in.unweighted)
        odd.push_back({count(in.unweighted, "vertex has", "vertices have") + " no weights in the file",
                       "sinew bind --only-missing gives weights to these alone"});
    if (in.most_influences > 4)
        odd.push_back({fmt::format("vertices follow up to {} joints", in.most_influences),
                       "many engines read four: sinew bind --max-influences 4, which is the default"});
    const auto used = std::count_if(in.use.begin(), in.use.end(), [](double w) { return w > 0; });
    if (used == 1 && in.use.size() > 1)
        odd.push_back({"all weights are on one joint, as in an export that was not finished",
                       "they are not taken as evidence: names decide which joints deform"});
}

void note_mesh(const Inspected& in, std::vector<Odd>& odd) {
    const MeshDefects& d = in.defects;
    if (d.flipped_triangles)
        odd.push_back({count(d.flipped_triangles, "triangle faces", "triangles face") + " inwards",
                       "bind turns them while it works; recalculate the normals for everything else"});
    if (d.degenerate_triangles)
        odd.push_back({count(d.degenerate_triangles, "triangle has", "triangles have") + " no area",
                       "bind ignores them; remove them in a modelling program"});
    if (d.duplicate_triangles)
        odd.push_back({count(d.duplicate_triangles, "triangle is", "triangles are") + " there twice",
                       "bind ignores the copies; remove them in a modelling program"});
    if (d.nonmanifold_edges)
        odd.push_back({count(d.nonmanifold_edges, "edge has", "edges have") + " three or more triangles",
                       "bind takes them as they are"});
    if (d.unused_vertices)
        odd.push_back({count(d.unused_vertices, "vertex is", "vertices are") + " in no triangle",
                       "bind gives them the nearest joint"});
    if (in.scene.skipped_primitives)
        odd.push_back(
            {count(in.scene.skipped_primitives, "primitive has", "primitives have") + " points or lines only",
             "they get no weights"});
    const double size = in.longest();
    if (size > 0 && (size > 50 || size < 0.02))
        odd.push_back({fmt::format("the longest side is {:.3g}, and the unit of glTF is the metre", size),
                       "the weights do not depend on the scale; set the unit at export if the size is wrong"});
}

void note_file(const io::Contents& contents, std::vector<Odd>& odd) {
    if (contents.draco_primitives || contents.meshopt_views)
        odd.push_back(
            {contents.draco_primitives ? "meshes are compressed with Draco" : "data is compressed with meshopt",
             "some programs cannot read it: sinew bind --decompress writes it plain"});
}

/// The nodes of the file may show the character in another pose than the one that is bound.
void note_rest_pose(const Inspected& in, std::vector<Odd>& odd) {
    if (!in.rest) return;
    std::size_t moved = 0;
    for (std::size_t j = 0; j < in.rest->skinning.size(); ++j) {
        const Vec3& p = in.scene.skeleton.joints[j].position;
        Vec3 at[2] = {p, p};
        move_points({at, 1}, in.rest->skinning[j]);
        move_points(at, in.rest->to_world);
        const double apart = std::max({std::abs(double(at[0].x) - at[1].x), std::abs(double(at[0].y) - at[1].y),
                                       std::abs(double(at[0].z) - at[1].z)});
        moved += apart > 0.01 * in.longest();
    }
    if (moved)
        odd.push_back({count(moved, "joint stands", "joints stand") + " elsewhere than in the bind pose",
                       "bind uses the bind pose, which the inverse bind matrices say"});
}

Result<Inspected> inspect(const InspectArguments& args, Context* context) {
    Inspected out;
    SINEW_TRY_LET(io::Contents contents, io::contents_of(args.input, context, args.follow_links));
    out.contents = std::move(contents);
    Result<io::Scene> scene = load_model(args.input, args.load(args), context);
    if (!scene && args.skeleton.empty() && scene.error().code != ErrorCode::cancelled) {
        // A mesh without a skeleton can be looked at, too.
        io::LoadOptions bare = args.load(args);
        bare.fallback = Skeleton{{Joint{"none", -1, {}, {}}}, {}};
        Result<io::Scene> mesh = load_model(args.input, bare, context);
        if (!mesh) return scene.error();
        std::string why = scene.error().message;
        if (why.starts_with(args.input + ": ")) why.erase(0, args.input.size() + 2);
        out.odd.push_back({in_words(why), ""});
        out.has_skeleton = false;
        scene = std::move(mesh);
    }
    if (!scene) return scene.error();
    out.scene = std::move(*scene);
    if (!out.has_skeleton) out.scene.skeleton = {};
    measure(out, context);
    for (const std::string& warning : one_of_each_kind(out.scene.warnings))
        out.odd.push_back({in_words(warning), ""});
    if (Result<std::vector<io::Clip>> clips = io::clips(out.scene))
        out.clips = std::move(*clips);
    else
        out.odd.push_back({in_words(clips.error().message), "the animations cannot be played"});
    if (out.has_skeleton) {
        SINEW_TRY(select_deforming(out.scene.skeleton, out.use, args.deform));
        if (Status ok = check_fit(out.scene.mesh(), out.scene.skeleton, context); !ok)
            out.odd.push_back({in_words(ok.error().message), ""});
        note_names(out.scene.skeleton, out.odd);
        note_rest_pose(out, out.odd);
    }
    note_weights(out, out.odd);
    note_mesh(out, out.odd);
    note_file(out.contents, out.odd);
    return out;
}

json inspect_json(const InspectArguments& args, const Inspected& in) {
    const io::Contents& c = in.contents;
    json joints = json::array();
    for (std::size_t j = 0; j < in.scene.skeleton.joints.size(); ++j) {
        const Joint& joint = in.scene.skeleton.joints[j];
        joints.push_back({{"name", joint.name},
                          {"parent", joint.parent},
                          {"deforms", joint.deform},
                          {"reason", to_string(joint.reason)}});
        if (!in.use.empty()) joints.back()["weight"] = in.use[j];
    }
    json clips = json::array();
    for (const io::Clip& clip : in.clips)
        clips.push_back({{"name", clip.name}, {"start", clip.start}, {"end", clip.end}});
    json odd = json::array();
    for (const Odd& o : in.odd) odd.push_back({{"what", o.what}, {"advice", o.advice}});
    json weights = nullptr;
    if (in.scene.weights)
        weights = {{"joints", std::count_if(in.use.begin(), in.use.end(), [](double w) { return w > 0; })},
                   {"max_influences", in.most_influences},
                   {"unweighted", in.unweighted}};
    return {{"sinew", SINEW_VERSION},
            {"input", args.input},
            {"format", c.format},
            {"version", c.version},
            {"vrm", c.vrm},
            {"generator", c.generator},
            {"bytes", c.bytes},
            {"counts",
             {{"nodes", c.nodes},
              {"meshes", c.meshes},
              {"bound_meshes", in.scene.mesh_count},
              {"primitives", in.scene.primitives.size()},
              {"skipped_primitives", in.scene.skipped_primitives},
              {"parts", in.defects.parts},
              {"vertices", in.scene.positions.size()},
              {"triangles", in.scene.triangles.size()},
              {"skins", c.skins},
              {"joints", in.scene.skeleton.joints.size()},
              {"deforming_joints", in.deforming()},
              {"materials", c.materials},
              {"images", c.images},
              {"morph_targets", c.morph_targets},
              {"draco_primitives", c.draco_primitives},
              {"meshopt_views", c.meshopt_views}}},
            {"box", {{in.low.x, in.low.y, in.low.z}, {in.high.x, in.high.y, in.high.z}}},
            {"weights", weights},
            {"joints", joints},
            {"animations", clips},
            {"extensions", {{"used", c.extensions}, {"required", c.required}}},
            {"defects", defects_json(in.defects)},
            {"odd", odd}};
}

/// "'a', 'b', 'c' and 12 more"
std::string some(const std::vector<std::string>& names, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < count; ++i)
        out += fmt::format("{}'{}'", i ? ", " : "", printable(names[i], 60));
    return names.size() > count ? out + fmt::format(" and {} more", names.size() - count) : out;
}

void print_joints(const InspectArguments& args, const Inspected& in) {
    const Skeleton& skeleton = in.scene.skeleton;
    const auto used = std::count_if(in.use.begin(), in.use.end(), [](double w) { return w > 0; });
    const bool by_skin = args.deform.from == DeformFrom::skin ||
                         (args.deform.from == DeformFrom::automatic && (used > 1 || in.use.size() == 1));
    fmt::print("  deforms   {} of {}, {}\n", in.deforming(), count(skeleton.joints.size(), "joint", "joints"),
               args.deform.from == DeformFrom::all ? "as --deform-from all says"
               : by_skin                           ? "those with weights in the file"
                                                   : "by names and structure");
    std::map<DeformReason, std::vector<std::string>> by_reason;
    for (const Joint& joint : skeleton.joints)
        if (joint.reason != DeformReason::deforms) by_reason[joint.reason].push_back(joint.name);
    for (const auto& [reason, names] : by_reason)
        fmt::print("            {} {}: {}\n", names.size(), words_of(reason), some(names, 6));
}

// All joints, each below its parent, with its share of the weights or the reason why it is idle.
void print_tree(const Inspected& in) {
    const std::vector<Joint>& joints = in.scene.skeleton.joints;
    std::vector<std::vector<std::size_t>> children(joints.size());
    std::vector<std::pair<std::size_t, std::size_t>> todo;  // joint, depth; the next one last
    for (std::size_t j = joints.size(); j-- > 0;)
        if (joints[j].parent >= 0)
            children[static_cast<std::size_t>(joints[j].parent)].push_back(j);
        else
            todo.emplace_back(j, 0);
    const double all = std::accumulate(in.use.begin(), in.use.end(), 0.0);
    fmt::print("  joints\n");
    while (!todo.empty()) {
        const auto [j, depth] = todo.back();
        todo.pop_back();
        std::string note = joints[j].deform ? "" : "idle: " + words_of(joints[j].reason);
        if (joints[j].deform && all > 0) note = fmt::format("{:.1f} % of the weights", 100 * in.use[j] / all);
        const std::string name =
            std::string(2 * std::min<std::size_t>(depth, 20), ' ') + printable(joints[j].name, 60);
        if (note.empty())
            fmt::print("    {}\n", name);
        else
            fmt::print("    {:<46}  {}\n", name, note);
        for (const std::size_t child : children[j]) todo.emplace_back(child, depth + 1);
    }
}

void print_inspected(const InspectArguments& args, const Inspected& in) {
    const io::Contents& c = in.contents;
    const io::Scene& scene = in.scene;
    fmt::print("{}: {}{}{}{}, {:.1f} MB\n", printable(args.input, 2000), c.format,
               c.version.empty() ? "" : " " + printable(c.version, 20), c.vrm.empty() ? "" : ", VRM " + c.vrm,
               c.generator.empty() ? "" : " by " + printable(c.generator, 80), static_cast<double>(c.bytes) / 1e6);
    fmt::print("  mesh      {} in {}, {}, {}, {}\n", count(scene.mesh_count, "mesh", "meshes"),
               count(scene.primitives.size(), "primitive", "primitives"),
               count(scene.positions.size(), "vertex", "vertices"),
               count(scene.triangles.size(), "triangle", "triangles"), count(in.defects.parts, "part", "parts"));
    fmt::print("  size      {:.3g} x {:.3g} x {:.3g}\n", double(in.high.x) - in.low.x, double(in.high.y) - in.low.y,
               double(in.high.z) - in.low.z);
    if (in.has_skeleton) {
        fmt::print("  skeleton  {}, {}\n", count(scene.skeleton.joints.size(), "joint", "joints"),
                   count(c.skins, "skin", "skins"));
        print_joints(args, in);
    } else {
        fmt::print("  skeleton  none\n");
    }
    if (scene.weights)
        fmt::print("  weights   on {} joints, up to {} at a vertex\n",
                   std::count_if(in.use.begin(), in.use.end(), [](double w) { return w > 0; }), in.most_influences);
    else
        fmt::print("  weights   none\n");
    std::string clips;
    for (std::size_t i = 0; i < in.clips.size() && i < 8; ++i)
        clips += fmt::format("{}'{}' {:.2f} s", i ? ", " : "", printable(in.clips[i].name, 60),
                             in.clips[i].end - in.clips[i].start);
    if (in.clips.size() > 8) clips += fmt::format(" and {} more", in.clips.size() - 8);
    if (!clips.empty()) fmt::print("  clips     {}\n", clips);
    if (c.materials || c.images || c.morph_targets)
        fmt::print("  look      {}, {}, {}\n", count(c.materials, "material", "materials"),
                   count(c.images, "image", "images"), count(c.morph_targets, "morph target", "morph targets"));
    if (!c.extensions.empty()) fmt::print("  uses      {}\n", some(c.extensions, 12));
    for (const Odd& o : in.odd)
        fmt::print("  odd       {}{}\n", printable(o.what, 2000), o.advice.empty() ? "" : " (" + o.advice + ")");
    if (in.odd.empty()) fmt::print("  odd       nothing\n");
    if (args.joints && in.has_skeleton) print_tree(in);
}

Result<int> run_inspect(const InspectArguments& args) {
    Context context;
    args.apply(context);
    Progress progress(context, true);
    SINEW_TRY_LET(const Inspected found, inspect(args, &context));
    if (args.json)
        fmt::print("{}", text_of(inspect_json(args, found)));
    else
        print_inspected(args, found);
    return done;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit) {
    auto args = std::make_shared<InspectArguments>();
    CLI::App* c = app.add_subcommand(
        "inspect",
        "Says what a file holds, which joints would deform and why, and what is odd about it.\n\n"
        "  sinew inspect hero.glb\n"
        "  sinew inspect hero.glb --joints              all joints as a tree\n"
        "  sinew inspect scan.obj --skeleton scan.json\n"
        "  sinew inspect hero.fbx --json                docs/inspect.md\n");
    names_file(c->add_option("input", args->input, "GLB, glTF, VRM, FBX, DAE (docs/formats.md), OBJ"),
               FileUse::reads)
        ->required();
    add_input_options(*c, *args);
    add_machine_options(*c, *args, "Options");
    add_deform_option(*c, args->deform);
    c->add_flag("--joints", args->joints,
                "List all joints as a tree, with their part of the weights, or why they are idle");
    c->add_flag("--json", args->json, "Print JSON (docs/inspect.md)");
    c->callback([args, &exit] { exit = exit_of(run_inspect(*args)); });
}

}  // namespace sinew::cli
