// sinew compare: compares two bindings of one character.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "command.h"
#include "compare_report.h"
#include "core/try.h"
#include "report/report.h"

namespace sinew::cli {
namespace {

struct CompareArguments : MachineOptions {
    std::string reference, other, report, html, picture, size = "1500x1600", skinning = "lbs";
    std::vector<std::string> poses;
    CompareOptions options;
    CompareGates gates;
    bool no_bleed = false, no_standard_poses = false, no_pictures = false;
    bool json = false, quiet = false;
};

/// The other side: weights on the vertices of the reference, with joints numbered as in `match`.
struct ComparedBinding {
    JointMatch match;
    SkinWeights weights;
    std::vector<std::filesystem::path> files;  ///< files that its document refers to
};

double largest_distance(std::span<const Vec3> a, std::span<const Vec3> b) {
    double maximum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        maximum = std::max(maximum,
                           std::hypot(double{a[i].x} - b[i].x, double{a[i].y} - b[i].y, double{a[i].z} - b[i].z));
    return maximum;
}

double largest_side(std::span<const Vec3> positions) {
    Vec3 low = positions[0], high = low;
    for (const Vec3& p : positions) {
        low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    return std::max({double{high.x} - low.x, double{high.y} - low.y, double{high.z} - low.z});
}

/// Vertices and joints, and the longest side of the box of the vertices.
struct Places {
    std::vector<Vec3> vertices, joints;
    double side = 0;
};

/// In the bind pose; with `shown`, where the file's nodes put that at rest: each program has its own space for it.
Places places_of(const io::Scene& scene, bool shown) {
    Places out{scene.positions, {}, 0};
    for (const Joint& joint : scene.skeleton.joints) out.joints.push_back(joint.position);
    if (const Result<io::ScenePose> rest = io::pose_at(scene, {}, 0); shown && rest)
        for (auto* const list : {&out.vertices, &out.joints})
            for (Vec3& p : *list) {
                const auto row = [&, p](std::size_t r) {
                    const Transform& m = rest->to_world;
                    return static_cast<float>(m(r, 0) * p.x + m(r, 1) * p.y + m(r, 2) * p.z + m(r, 3));
                };
                p = {row(0), row(1), row(2)};
            }
    out.side = largest_side(out.vertices);
    return out;
}

/// Adds to the notes what differs between the joints of two files.
void note_joints(const io::Scene& ours, const Places& our_places, const io::Scene& theirs,
                 const Places& their_places, const JointMatch& match, const std::string& other,
                 std::vector<std::string>& notes) {
    if (!match.same_list) notes.push_back("the lists of joints differ: joints are matched by name");
    const std::vector<double> use = joint_use(*theirs.weights, theirs.skeleton.joints.size());
    std::size_t used = 0, moved = 0;
    std::string first_moved;
    for (std::size_t j = 0; j < theirs.skeleton.joints.size(); ++j) {
        const std::uint32_t at = match.joint_of[j];
        if (at >= ours.skeleton.joints.size()) {
            used += use[j] > 0;
            continue;
        }
        const Vec3 &p = our_places.joints[at], &q = their_places.joints[j];
        if (largest_distance({&p, 1}, {&q, 1}) > 1e-3 * our_places.side && moved++ == 0)
            first_moved = ours.skeleton.joints[at].name;
    }
    if (!match.only_other.empty())
        notes.push_back(
            fmt::format("{} joints of {} are not in the reference, {} of them with weight: they count as "
                        "joints that the reference does not use",
                        match.only_other.size(), other, used));
    if (!match.only_reference.empty())
        notes.push_back(
            fmt::format("{} joints of the reference are not in {}", match.only_reference.size(), other));
    if (moved)
        notes.push_back(
            fmt::format("{} joints have other positions in {} (first: '{}'): poses use the positions "
                        "of the reference",
                        moved, other, first_moved));
}

Result<ComparedBinding> load_other(const io::Scene& scene, const CompareArguments& args,
                                   std::vector<std::string>& notes, Context& context) {
    ComparedBinding out;
    if (std::filesystem::path(args.other).extension() == ".json") {
        SINEW_TRY_LET(SkinWeights weights,
                      io::load_weights_json(scene.skeleton, scene.positions.size(), args.other, &context));
        out.match = match_joints(scene.skeleton, scene.skeleton);
        out.weights = std::move(weights);
        return out;
    }
    SINEW_TRY_LET(io::Scene loaded, load_model(args.other, args.reading(), &context));
    if (!loaded.weights)
        return Error{ErrorCode::input,
                     args.other + ": the file has no weights to compare (sinew bind computes them)"};
    const std::size_t n = scene.positions.size(), m = loaded.positions.size();
    Places ours = places_of(scene, false), theirs = places_of(loaded, false);
    const auto apart = [&] { return n == m ? largest_distance(ours.vertices, theirs.vertices) : INFINITY; };
    if (apart() > 1e-3 * ours.side) ours = places_of(scene, true), theirs = places_of(loaded, true);
    const double side = ours.side, off = apart();
    const auto matched = off > 1e-3 * side ? match_vertices(ours.vertices, theirs.vertices, 1e-5 * side)
                                           : std::optional<std::vector<std::uint32_t>>();
    if (matched)
        notes.push_back(
            fmt::format("{} has {} vertices in another order: they are matched by their places", args.other, m));
    else if (n != m)
        return Error{ErrorCode::input,
                     fmt::format("{} has {} vertices and {} has {}, at other places: only bindings of one mesh can "
                                 "be compared",
                                 args.reference, n, args.other, m)};
    else if (off > 1e-3 * side)
        notes.push_back(
            fmt::format("positions differ by up to {:.3g} ({:.2g} % of the longest side): distances are measured "
                        "on the mesh of the "
                        "reference",
                        off, 100 * off / side));
    if (!matched && scene.triangles != loaded.triangles)
        notes.push_back("triangles differ: the triangles of the reference are used");
    for (const std::string& warning : one_of_each_kind(loaded.warnings))
        if (std::find(scene.warnings.begin(), scene.warnings.end(), warning) == scene.warnings.end())
            notes.push_back(args.other + ": " + in_words(warning));
    out.files = io::external_files(loaded);

    out.match = match_joints(scene.skeleton, loaded.skeleton);
    note_joints(scene, ours, loaded, theirs, out.match, args.other, notes);
    SINEW_TRY_LET(out.weights, renumber(*loaded.weights, out.match.joint_of));
    if (matched) {
        std::vector<std::uint32_t> counts;
        std::vector<Influence> rows;
        for (const std::uint32_t v : *matched) {
            const auto row = out.weights[v];
            counts.push_back(static_cast<std::uint32_t>(row.size()));
            rows.insert(rows.end(), row.begin(), row.end());
        }
        SINEW_TRY_LET(out.weights, SkinWeights::from_rows(counts, std::move(rows)));
    }
    return out;
}

void print_pair(const char* what, const std::string& a, const std::string& b, const std::string& more = {}) {
    fmt::print("  {:<28}{:>12}{:>12}{}{}\n", what, a, b, more.empty() ? "" : "  ", more);
}

void print_compare_summary(const CompareRun& run) {
    const Comparison& c = *run.result;
    const Skeleton& skeleton = run.match->skeleton;
    fmt::print("A {}\nB {}\n", run.reference, run.other);
    fmt::print("{} vertices, {} joints\n", run.scene->positions.size(), skeleton.joints.size());
    for (const std::string& note : run.notes) fmt::print("  note: {}\n", note);
    fmt::print("  L1 per vertex (0 to 2)        mean {:.3f}, median {:.3f}, p95 {:.3f}, max {:.3f}\n", c.l1.mean,
               c.l1.median, c.l1.p95, c.l1.max);
    fmt::print("  influences of B               precision {:.3f}, recall {:.3f}\n", c.precision, c.recall);
    fmt::print("  strongest joint               agrees for {:.1f} % of the vertices\n",
               100 * c.strongest_agreement);
    for (const PoseKind kind : {PoseKind::standard, PoseKind::random, PoseKind::given})
        if (const PoseSummary s = summarise(c.poses, kind); s.poses)
            fmt::print(
                "  distance in {:<8} poses    mean {:.3f}, max {:.3f} % of the diagonal (means of {} poses)\n",
                to_string(kind), s.mean, s.mean_max, s.poses);

    print_pair("", "A", "B");
    for (const MeasureRow& row : measure_rows(c, run.options.bleed))
        print_pair(row.what, fmt::format("{:.{}f}", row.a, row.digits), fmt::format("{:.{}f}", row.b, row.digits),
                   row.note.empty() ? "" : "(" + row.note + ")");

    if (c.l1.max == 0) {
        fmt::print("  the weights are the same\n");
        return;
    }
    fmt::print("  joints that differ most        part of L1     weight A     weight B\n");
    for (std::size_t k = 0; k < c.joints.size() && k < 5 && c.joints[k].l1 > 0; ++k)
        fmt::print("    {:<26.26}{:>11.1f} %{:>13.1f}{:>13.1f}\n", skeleton.joints[c.joints[k].joint].name,
                   100 * c.joints[k].l1_share, c.joints[k].mass_a, c.joints[k].mass_b);
    const auto worst = std::max_element(c.poses.begin(), c.poses.end(),
                                        [](const auto& p, const auto& q) { return p.mean < q.mean; });
    if (worst == c.poses.end()) return;
    const auto [primitive, vertex] = place_of(*run.scene, worst->worst_vertex);
    fmt::print("  worst pose                    {}: mean {:.3f}, max {:.3f} % at vertex {} of {}\n", worst->name,
               worst->mean, worst->max, vertex, primitive);
}

/// Joints without weights on both sides are idle, and poses skip them.
Status select_joints_in_use(Skeleton& skeleton, const SkinWeights& a, const SkinWeights& b) {
    std::vector<double> use = joint_use(a, skeleton.joints.size());
    const std::vector<double> more = joint_use(b, skeleton.joints.size());
    for (std::size_t j = 0; j < use.size(); ++j) use[j] += more[j];
    return select_deforming(skeleton, use, {DeformFrom::skin, {}, {}});
}

Status load_compared_poses(CompareArguments& args, const Skeleton& skeleton, const Context& context) {
    for (const std::string& file : args.poses) {
        SINEW_TRY_LET(std::vector<JointPose> pose, io::load_pose(skeleton, file, &context));
        args.options.poses.push_back({std::filesystem::path(file).stem().string(), std::move(pose)});
    }
    return Done{};
}

void describe(const CompareArguments& args, CompareRun& run) {
    run.reference = args.reference;
    run.other = args.other;
    run.options = args.options;
    run.pose_files = args.poses;
    run.threads = args.threads;
}

/// All files or none.
Status add_comparison(const CompareArguments& args, const CompareRun& run, const std::string& report,
                      const std::vector<std::byte>& png, io::OutputBatch& batch) {
    const auto add = [&](const std::string& path, const std::string& text) -> Status {
        return batch.add(path, std::as_bytes(std::span(text)));
    };
    if (!args.report.empty()) SINEW_TRY(add(args.report, report));
    if (!args.html.empty()) SINEW_TRY(add(args.html, make_compare_page(run)));
    if (!args.picture.empty()) SINEW_TRY(batch.add(args.picture, png));
    return Done{};
}

void print_result(const CompareArguments& args, const CompareRun& run, const std::string& report) {
    if (args.json)
        fmt::print("{}", report);
    else if (!args.quiet)
        print_compare_summary(run);
}

/// Prints the gates that are not passed; false if there are any.
bool report_gates(const std::vector<GateResult>& gates) {
    bool passed = true;
    for (const GateResult& gate : gates) {
        if (gate.passed) continue;
        passed = false;
        fmt::print(stderr, "sinew: the comparison fails --{} {:g}: the value is {:g}\n", gate.option, gate.limit,
                   gate.value);
    }
    return passed;
}

/// Checks that no output replaces a file that an input refers to.
Status keep_inputs(const io::Scene& scene, const ComparedBinding& other, std::span<const NamedFile> outputs) {
    std::vector<std::filesystem::path> kept = io::external_files(scene);
    kept.insert(kept.end(), other.files.begin(), other.files.end());
    for (const std::filesystem::path& file : kept) {
        const NamedFile named{"a file that an input refers to", file.string()};
        SINEW_TRY(check_kept(outputs, {&named, 1}));
    }
    return Done{};
}

/// The row of the matrix for the world's height.
Vec3 up_in_bind_space(const Transform& world) {
    return {static_cast<float>(world(1, 0)), static_cast<float>(world(1, 1)), static_cast<float>(world(1, 2))};
}

/// Also reads --size.
Status check_compare_arguments(const CompareArguments& args, std::span<const NamedFile> outputs, int& width,
                               int& height) {
    SINEW_TRY(check(args.options));
    SINEW_TRY_LET(const auto size, picture_size(args.size));
    width = size[0], height = size[1];
    if (!args.picture.empty() && !args.picture.ends_with(".png"))
        return Error{ErrorCode::usage, args.picture + ": the picture is a PNG: its name must end in .png"};
    std::vector<NamedFile> inputs = {{"the reference", args.reference}, {"the other input", args.other}};
    for (const std::string& pose : args.poses) inputs.push_back({"--poses", pose});
    return check_files(outputs, inputs);
}

Result<int> run_compare(CompareArguments args) {
    args.options.bleed = !args.no_bleed;
    args.options.standard_poses = !args.no_standard_poses;
    args.options.skinning = args.skinning == "dqs" ? Skinning::dual_quaternion : Skinning::linear_blend;
    int width = 0, height = 0;
    const NamedFile outputs[] = {{"--report", args.report}, {"--html", args.html}, {"--render", args.picture}};
    SINEW_TRY(check_compare_arguments(args, outputs, width, height));

    const auto start_of_all = std::chrono::steady_clock::now();
    Context context;
    args.apply(context);
    CompareRun run;
    OrderedJson report;
    {
        Progress progress(context, args.quiet || args.json);
        bool draw = !args.picture.empty() || (!args.html.empty() && !args.no_pictures);
        if (draw) {
            if (Status ok = check_pictures(context); !ok) {
                if (!args.picture.empty()) return ok.error();
                draw = false;
                run.why_no_pictures = in_words(ok.error().message);
            }
        }
        progress.stage("load");
        SINEW_TRY_LET(io::Scene scene, load_model(args.reference, args.reading(), &context));
        if (!scene.weights)
            return Error{ErrorCode::input,
                         args.reference + ": the reference has no weights (sinew bind computes them)"};
        for (const std::string& warning : one_of_each_kind(scene.warnings))
            run.notes.push_back(args.reference + ": " + in_words(warning));
        SINEW_TRY_LET(ComparedBinding other, load_other(scene, args, run.notes, context));
        SINEW_TRY(keep_inputs(scene, other, outputs));
        Skeleton& skeleton = other.match.skeleton;
        SINEW_TRY(select_joints_in_use(skeleton, *scene.weights, other.weights));
        SINEW_TRY(load_compared_poses(args, skeleton, context));
        SINEW_TRY_LET(io::ScenePose rest, io::pose_at(scene, std::nullopt, 0));
        const Transform& world = rest.to_world;
        const Vec3 up = up_in_bind_space(world);
        if (up != Vec3{}) args.options.up = up;  // nodes may have a scale of zero
        run.load_seconds = seconds_since(start_of_all);

        const auto start = std::chrono::steady_clock::now();
        SINEW_TRY_LET(Comparison result,
                      compare(scene.mesh(), skeleton, *scene.weights, other.weights, args.options, &context));
        run.compare_seconds = seconds_since(start);

        run.gates = check_gates(args.gates, result);
        describe(args, run);
        run.scene = &scene;
        run.match = &other.match;
        run.a = &*scene.weights;
        run.b = &other.weights;
        run.result = &result;
        std::vector<std::byte> png;
        if (draw) {
            progress.stage("draw");
            Result<std::vector<std::byte>> drawn = draw_comparison(run, world, width, height, context);
            if (!drawn && (!args.picture.empty() || context.cancel)) return drawn.error();
            if (drawn)
                png = std::move(*drawn);
            else
                run.why_no_pictures = in_words(drawn.error().message);
            if (drawn && !args.no_pictures)
                run.pictures.push_back(
                    {"A, B and their L1 difference; below, the pose in which they differ most", png});
        }
        run.total_seconds = seconds_since(start_of_all);
        report = make_compare_report(run);
        const std::string text = report.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
        io::OutputBatch batch;
        SINEW_TRY(add_comparison(args, run, text, png, batch));
        SINEW_TRY(progress.publish(batch, [&] { print_result(args, run, text); }));
    }
    return report_gates(run.gates) ? done : gate_failed;
}

}  // namespace

void add_compare(CLI::App& app, int& exit) {
    auto args = std::make_shared<CompareArguments>();
    CLI::App* c = app.add_subcommand(
        "compare",
        "Compares the weights of B with those of A, the reference (docs/quality.md).\n\n"
        "  sinew compare artist.glb mine.glb                            headline numbers, worst joints and poses\n"
        "  sinew compare artist.glb mine.glb --html r.html --report r.json\n"
        "  sinew compare artist.glb weights.json                        weights JSON for B\n"
        "  sinew compare old.glb new.glb --max-l1 0.01                  exit 1 if they differ more: a regression "
        "test\n"
        "  sinew compare a.glb b.glb --poses wave.json --poses sit.json   your poses instead of random ones\n");
    CompareOptions& o = args->options;
    const auto file = [c](const char* name, auto& value, FileUse use, const char* help) {
        return names_file(c->add_option(name, value, help), use);
    };
    file("A", args->reference, FileUse::reads, "The reference: GLB, glTF or VRM with weights")->required();
    file("B", args->other, FileUse::reads, "The same mesh with other weights, or weights JSON")->required();
    file("--report", args->report, FileUse::writes, "Write a JSON report to this file (docs/compare-report.md)")
        ->group("Output");
    file("--html", args->html, FileUse::writes, "Write a page with tables, plots and a picture to this file")
        ->group("Output");
    file("--render", args->picture, FileUse::writes,
         "Write a picture to this file: A, B, their difference, and the worst pose (needs OpenGL)")
        ->group("Output");
    c->add_option("--size", args->size, "WIDTHxHEIGHT of the picture in pixels, 64 to 8192")
        ->capture_default_str()
        ->group("Output");
    c->add_flag("--no-pictures", args->no_pictures, "Leave the picture out of the page")->group("Output");
    c->add_flag("--json", args->json, "Print the report instead of a summary")->group("Output");
    c->add_flag("--quiet", args->quiet, "Print errors only")->group("Output");

    c->add_option("--max-l1", args->gates.max_l1, "Exit 1 if the mean L1 is above this, 0 to 2")
        ->check(number_within(0, 2))
        ->group("Gates");
    c->add_option("--max-distance", args->gates.max_distance,
                  "Exit 1 if a vertex in a pose differs by more than this, in % of the diagonal")
        ->check(number_within(0, INFINITY))
        ->group("Gates");
    c->add_option("--min-agreement", args->gates.min_agreement,
                  "Exit 1 if the strongest joint agrees for a smaller fraction of the vertices, 0 to 1")
        ->check(number_within(0, 1))
        ->group("Gates");
    c->add_option("--max-unweighted", args->gates.max_unweighted, "Exit 1 if B has more vertices without weights")
        ->group("Gates");

    file("--poses", args->poses, FileUse::reads_json,
         "Pose JSON (docs/formats.md), instead of random poses; repeatable")
        ->allow_extra_args(false)
        ->group("Poses");
    c->add_option("--random-poses", o.random_poses, "Number of random poses, 0 to 1000")
        ->capture_default_str()
        ->group("Poses");
    c->add_option("--random-degrees", o.random_degrees, "Largest angle of each joint in degrees, 0 to 180")
        ->capture_default_str()
        ->group("Poses");
    c->add_option("--seed", o.random_seed, "Seed of the first random pose")->capture_default_str()->group("Poses");
    c->add_flag("--no-standard-poses", args->no_standard_poses, "Skip the standard poses (arms up, squat, twist …)")
        ->group("Poses");
    c->add_option("--skinning", args->skinning, "lbs: linear blend (default); dqs: dual quaternion")
        ->check(CLI::IsMember({"lbs", "dqs"}).description(""))
        ->group("Poses");

    c->add_option("--threshold", o.threshold, "A weight above it is an influence, 0 to 0.5")
        ->capture_default_str()
        ->group("Measures");
    c->add_option("--worst", o.worst_vertices, "Number of worst vertices to list")
        ->capture_default_str()
        ->group("Measures");
    c->add_option("--bleed-resolution", o.bleed_options.resolution,
                  "Voxels along the longest side for bleed: 32 … 1024")
        ->capture_default_str()
        ->group("Measures");
    c->add_flag("--no-bleed", args->no_bleed, "Skip bleed, which is slow")->group("Measures");
    add_machine_options(*c, *args);
    c->callback([args, &exit] { exit = exit_of(run_compare(*args)); });
}

}  // namespace sinew::cli
