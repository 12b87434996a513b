// Compares sinew's bind with the same bind over naive distances (BM_bind). Both alternate in one process, on the
// Armadillo after one subdivision (173k vertices, 346k triangles, 20 bones) at resolution 256. Results are checked
// before any time is reported. Times do not include reading files. BM_grow measures how the time of a bind grows
// with resolution, vertices, joints and threads; scripts/research/bench-plot draws it.
//
// SINEW_CORPUS names the folder with meshes/armadillo.obj. Without it a generated shape of about the same size is
// bound, and a line of the output reports that.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <unordered_map>

#include "characters/characters.h"
#include "model.h"
#include "naive.h"
#include "sinew/voxels.h"
#include "timing.h"

namespace {

using namespace sinew;
using bench::median, bench::seconds_of;

struct Input {
    std::string name;
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
    Skeleton skeleton;
    MeshView mesh() const { return {positions, triangles, {}}; }
};

// Splits every triangle into four.
void subdivide(Input& in) {
    std::unordered_map<std::uint64_t, std::uint32_t> middle;
    const auto between = [&](std::uint32_t a, std::uint32_t b) {
        const std::uint64_t key = static_cast<std::uint64_t>(std::min(a, b)) << 32 | std::max(a, b);
        const auto [at, fresh] = middle.try_emplace(key, static_cast<std::uint32_t>(in.positions.size()));
        if (fresh) {
            const Vec3 p = in.positions[a], q = in.positions[b];
            in.positions.push_back({(p.x + q.x) / 2, (p.y + q.y) / 2, (p.z + q.z) / 2});
        }
        return at->second;
    };
    std::vector<Triangle> fine;
    fine.reserve(4 * in.triangles.size());
    for (const Triangle& t : in.triangles) {
        const std::uint32_t a = between(t[0], t[1]), b = between(t[1], t[2]), c = between(t[2], t[0]);
        fine.insert(fine.end(), {{t[0], a, c}, {a, t[1], b}, {c, b, t[2]}, {a, b, c}});
    }
    in.triangles = std::move(fine);
}

// Splits every bone into `parts` bones. The volume stays the same.
void split_bones(Input& in, int parts) {
    if (parts == 1) return;
    Skeleton fine;
    for (int j = 0; const Joint& joint : in.skeleton.joints) {
        Joint piece = joint;
        if (joint.parent >= 0) piece.parent = joint.parent * parts + parts - 1;
        const auto child = std::find_if(in.skeleton.joints.begin(), in.skeleton.joints.end(),
                                        [&](const Joint& other) { return other.parent == j; });
        const Vec3 a = joint.position,
                   b = joint.tail.value_or(child == in.skeleton.joints.end() ? a : child->position);
        ++j;
        for (int k = 0; k < parts; ++k) {
            const auto at = [&](int i) {
                const float t = static_cast<float>(i) / static_cast<float>(parts);
                return Vec3{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
            };
            piece.name = joint.name + "." + std::to_string(k);
            piece.position = at(k);
            piece.tail = at(k + 1);
            fine.joints.push_back(piece);
            piece.parent = static_cast<int>(fine.joints.size()) - 1;
        }
    }
    in.skeleton = std::move(fine);
}

// A ball with six limbs of three bones each: 20 joints, closed parts that overlap.
Input generated() {
    Input in;
    in.name = "generated: ball with six limbs";
    const auto add_capsule = [&](Vec3 from, Vec3 to, float radius) {
        const int rings = 120, cap = 30, sectors = 200;  // quarter circles of `cap` rings, a tube between
        const double d[3] = {double(to.x) - from.x, double(to.y) - from.y, double(to.z) - from.z};
        const double length = std::hypot(d[0], d[1], d[2]);
        const double w[3] = {d[0] / length, d[1] / length, d[2] / length};
        const double helper[3] = {std::abs(w[0]) < 0.9 ? 1.0 : 0.0, std::abs(w[0]) < 0.9 ? 0.0 : 1.0, 0.0};
        double u[3] = {w[1] * helper[2] - w[2] * helper[1], w[2] * helper[0] - w[0] * helper[2],
                       w[0] * helper[1] - w[1] * helper[0]};
        const double lu = std::hypot(u[0], u[1], u[2]);
        for (double& c : u) c /= lu;
        const double v[3] = {w[1] * u[2] - w[2] * u[1], w[2] * u[0] - w[0] * u[2], w[0] * u[1] - w[1] * u[0]};
        const auto base = static_cast<std::uint32_t>(in.positions.size());
        for (int i = 0; i <= rings; ++i)
            for (int j = 0; j < sectors; ++j) {
                const int turn = i < cap ? i : std::max(cap, i - (rings - 2 * cap));
                const double a = std::numbers::pi * turn / (2 * cap), b = 2 * std::numbers::pi * j / sectors;
                const double tube = std::clamp(double(i - cap) / (rings - 2 * cap), 0.0, 1.0) * length;
                const double along = tube - radius * std::cos(a), across = radius * std::sin(a);
                double p[3] = {from.x, from.y, from.z};
                for (int k = 0; k < 3; ++k)
                    p[k] += along * w[k] + across * (std::cos(b) * u[k] + std::sin(b) * v[k]);
                in.positions.push_back(
                    {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])});
            }
        const auto at = [&](int i, int j) { return base + static_cast<std::uint32_t>(i * sectors + j % sectors); };
        for (int i = 0; i < rings; ++i)
            for (int j = 0; j < sectors; ++j) {
                in.triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j)});
                in.triangles.push_back({at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)});
            }
    };
    const auto add_joint = [&](int parent, Vec3 p) {
        Joint joint;
        joint.name = "joint" + std::to_string(in.skeleton.joints.size());
        joint.parent = parent;
        joint.position = p;
        in.skeleton.joints.push_back(joint);
        return static_cast<int>(in.skeleton.joints.size()) - 1;
    };
    const int body = add_joint(-1, {0, -0.1f, 0});
    const int chest = add_joint(body, {0, 0.1f, 0});
    add_capsule({0, -0.1f, 0}, {0, 0.1f, 0}, 0.2f);
    for (int limb = 0; limb < 6; ++limb) {
        const float angle = static_cast<float>(limb) * 1.047f;
        const auto along = [&](float r) { return Vec3{r * std::cos(angle), 0.3f * r - 0.1f, r * std::sin(angle)}; };
        add_capsule(along(0.15f), along(0.9f), 0.07f);
        int parent = limb % 2 ? body : chest;
        for (const float r : {0.2f, 0.45f, 0.7f}) parent = add_joint(parent, along(r));
    }
    return in;
}

// The folder of real characters, which is not part of the repository.
std::filesystem::path corpus() {
    const char* named = std::getenv("SINEW_CORPUS");
    return named && *named ? named : "no-corpus";
}

// The Armadillo as read from its file, or the generated shape.
const Input& base() {
    static const Input in = [] {
        const std::filesystem::path folder = corpus() / "meshes";
        if (!std::filesystem::exists(folder / "armadillo.obj")) {
            std::printf("No %s: binding a generated shape instead.\n", (folder / "armadillo.obj").string().c_str());
            return generated();
        }
        Result<io::Scene> scene = bench::load_model(folder / "armadillo.obj");
        if (!scene) {
            std::fprintf(stderr, "bench_bind: %s\n", scene.error().message.c_str());
            std::exit(3);
        }
        return Input{"armadillo", scene->positions, scene->triangles, scene->skeleton};
    }();
    return in;
}

// A generated person of 43,000 vertices.
const Input& person() {
    static const Input in = [] {
        test::Character c = test::biped({.cell = 0.0128});
        return Input{c.name, std::move(c.positions), std::move(c.triangles), std::move(c.skeleton)};
    }();
    return in;
}

// The input of most benchmarks: the Armadillo subdivided once. The generated shape is large enough as it is.
const Input& input() {
    static const Input in = [] {
        Input out = base();
        if (out.name == "armadillo") subdivide(out);
        std::printf("%s: %zu vertices, %zu triangles, %zu joints\n", out.name.c_str(), out.positions.size(),
                    out.triangles.size(), out.skeleton.joints.size());
        return out;
    }();
    return in;
}

BindOptions bind_options() {
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = 256;
    options.finish.max_influences = 4;
    return options;
}

bool fail(const char* what, double value, double limit) {
    std::printf("CHECK FAILED: %s: %g, allowed %g\n", what, value, limit);
    return false;
}

// Checks the sweep's K nearest joints of every leaf against the naive distances of all joints. Each integer step is
// off by at most half of 1/16384 voxel, and float sums by less. A tolerance of a hundredth of a voxel is enough for
// paths of hundreds of steps.
bool same_nearest() {
    const Input& in = input();
    const BindOptions options = bind_options();
    const MeshTopology topology = analyse_mesh(in.mesh());
    const Result<VoxelGrid> grid = voxelize(in.mesh(), topology, options.voxels);
    std::vector<Bone> bones = make_bones(in.skeleton);
    extend_leaf_bones(bones, in.skeleton, *grid);
    const Result<Domain> domain = build_domain(*grid, bones, options.domain);
    const BoneSeeds seeds = seed_bones(*domain, bones, in.skeleton.joints.size());
    std::vector<bool> seeded(domain->component_count, false);
    for (const auto& list : seeds.of_joint)
        for (const auto& seed : list) seeded[domain->component[seed.leaf]] = true;
    const std::vector<Bridge> bridges = BridgeFinder(*domain).join(seeded);
    const auto naive = bench::naive_distances(*domain, seeds, bridges, options.penalty);

    std::vector<std::uint32_t> joints;
    for (std::uint32_t j = 0; j < in.skeleton.joints.size(); ++j)
        if (!seeds.of_joint[j].empty()) joints.push_back(j);
    const GeodesicSolver solver(*domain, {options.penalty});
    double most = 0;
    for (const int k : {4, 8}) {
        const Result<LeafDistances> sweep = solver.nearest(seeds, joints, bridges, k);
        std::vector<float> sorted;
        for (std::size_t leaf = 0; leaf < domain->leaves.size(); ++leaf) {
            sorted.clear();
            for (const std::uint32_t j : joints)
                if (naive[j][leaf] < INFINITY) sorted.push_back(naive[j][leaf]);
            std::sort(sorted.begin(), sorted.end());
            for (std::size_t i = 0; i < sweep->width; ++i) {
                const std::uint32_t joint = sweep->joint(leaf, i);
                if ((joint == no_index) != (i >= sorted.size()))
                    return fail("joints that reach a leaf", double(i), double(sorted.size()));
                if (joint == no_index) break;
                const double d = sweep->distance(leaf, i) / double(LeafDistances::units_per_voxel);
                most = std::max({most, std::abs(d - sorted[i]), std::abs(d - naive[joint][leaf])});
            }
        }
    }
    std::printf("check: %zu leaves, %zu links; K nearest of sweep and naive differ by at most %.5f voxels\n",
                domain->leaves.size(), list_links(*domain).to.size(), most);
    return most < 0.01 || fail("voxels between sweep and naive", most, 0.01);
}

// Checks the weights of both binds. The naive bind reads distances at the vertices by eq. 7, and sinew interpolates
// them, so the weights are close and not equal.
bool same_weights() {
    const Input& in = input();
    BindOptions options = bind_options();
    options.overshoot = 0;
    const Result<Binding> binding = bind(in.mesh(), in.skeleton, options);
    const Result<SkinWeights> a = binding->weights(), b = bench::naive_bind(in.mesh(), in.skeleton, options);
    double sum = 0;
    for (std::size_t v = 0; v < in.positions.size(); ++v) {
        std::vector<double> difference(in.skeleton.joints.size(), 0.0);
        for (const Influence& i : (*a)[v]) difference[i.joint] += i.weight;
        for (const Influence& i : (*b)[v]) difference[i.joint] -= i.weight;
        for (const double d : difference) sum += std::abs(d);
    }
    const double mean = sum / double(in.positions.size());
    std::printf("check: weights of both binds differ by a mean L1 of %.6f\n", mean);
    return mean < 0.05 || fail("mean L1", mean, 0.05);
}

// Checks that the default method binds every vertex, with the same bits on one thread and on two.
bool same_default() {
    const Input& in = base();
    Context one, two;
    one.threads = 1;
    two.threads = 2;
    const Result<Binding> a = bind(in.mesh(), in.skeleton, {}, &one), b = bind(in.mesh(), in.skeleton, {}, &two);
    const Result<SkinWeights> w = a->weights(&one);
    std::size_t empty = 0;
    for (std::size_t v = 0; v < w->vertex_count(); ++v) empty += (*w)[v].empty();
    if (empty > 0) return fail("vertices that the default method leaves without weights", double(empty), 0);
    return *w == *b->weights(&two) || fail("weights depend on the number of threads", 1, 0);
}

// A joint's position moved sideways by `step` times 1/500 of the height.
Vec3 moved_position(const Skeleton& skeleton, std::uint32_t joint, int step) {
    float low = INFINITY, high = -INFINITY;
    for (const Joint& j : skeleton.joints) low = std::min(low, j.position.y), high = std::max(high, j.position.y);
    Vec3 position = skeleton.joints[joint].position;
    position.x += 0.002f * static_cast<float>(step) * (high - low);
    return position;
}

// Checks that moving joints of a binding gives the same rows, to the bit, as a fresh bind.
bool same_moved() {
    const Input& in = base();
    BindOptions options = bind_options();
    options.keep_volume = true;
    Result<Binding> binding = bind(in.mesh(), in.skeleton, options);
    for (std::uint32_t j = 0; j < in.skeleton.joints.size(); j += 4) {
        binding = binding->move_joint(in.mesh(), j, moved_position(binding->skeleton(), j, 5));
        const Result<Binding> fresh = bind(in.mesh(), binding->skeleton(), options);
        if (binding->distances().joint != fresh->distances().joint ||
            binding->distances().distance != fresh->distances().distance)
            return fail("rows of a moved joint differ from a fresh bind, joint", j, 0);
    }
    return true;
}

// One iteration runs one sinew bind and one naive bind; the order changes with every iteration. The time shown is
// sinew's. The counters are medians over the iterations: the milliseconds of both, their ratio, and each stage.
void BM_bind(benchmark::State& state) {
    const Input& in = input();
    const BindOptions options = bind_options();
    Context context;
    context.threads = static_cast<int>(state.range(0));
    std::vector<double> ours, theirs, ratio;
    std::vector<std::pair<std::string, std::vector<double>>> stages;
    const auto note = [&](const std::string& stage, double seconds) {
        auto at = std::find_if(stages.begin(), stages.end(), [&](const auto& s) { return s.first == stage; });
        if (at == stages.end()) at = stages.insert(stages.end(), {stage, {}});
        at->second.push_back(1000 * seconds);
    };
    const auto run_ours = [&] {
        std::vector<StageTime> times;
        const double all = seconds_of([&] {
            const Result<Binding> binding = bind(in.mesh(), in.skeleton, options, &context);
            times = binding->report().seconds;
            const double weights = seconds_of([&] { benchmark::DoNotOptimize(binding->weights(&context).ok()); });
            times.push_back({"weights", weights});
        });
        for (const StageTime& t : times) note(t.stage + "_ms", t.seconds);
        return all;
    };
    const auto run_theirs = [&] {
        std::vector<StageTime> times;
        const double all = seconds_of([&] {
            benchmark::DoNotOptimize(bench::naive_bind(in.mesh(), in.skeleton, options, &times, &context).ok());
        });
        for (const StageTime& t : times)
            if (t.stage == "distances") note("naive_distances_ms", t.seconds);
        return all;
    };
    bool ours_first = true;
    for ([[maybe_unused]] auto _ : state) {
        double a = 0, b = 0;
        if (ours_first) a = run_ours();
        b = run_theirs();
        if (!ours_first) a = run_ours();
        ours_first = !ours_first;
        ours.push_back(a);
        theirs.push_back(b);
        ratio.push_back(a / b);
        state.SetIterationTime(a);
    }
    state.counters["sinew_ms"] = 1000 * median(ours);
    state.counters["naive_ms"] = 1000 * median(theirs);
    state.counters["ratio"] = median(ratio);
    for (const auto& [stage, values] : stages) state.counters[stage] = median(values);
}
BENCHMARK(BM_bind)->ArgName("threads")->Arg(1)->Arg(2)->Iterations(7)->UseManualTime()->Unit(
    benchmark::kMillisecond);

// One bind and its weights. Peak memory is the peak of the process so far, so it never falls from row to row.
void BM_grow(benchmark::State& state) {
    Input in = base();
    for (int i = 0; i < state.range(1); ++i) subdivide(in);
    split_bones(in, static_cast<int>(state.range(2)));
    BindOptions options = bind_options();
    options.voxels.resolution = static_cast<int>(state.range(0));
    Context context;
    context.threads = static_cast<int>(state.range(3));
    std::vector<StageTime> stages;
    for ([[maybe_unused]] auto _ : state) {
        const Result<Binding> binding = bind(in.mesh(), in.skeleton, options, &context);
        if (!binding) return state.SkipWithError(binding.error().message.c_str());
        benchmark::DoNotOptimize(binding->weights(&context).ok());
        stages = binding->report().seconds;
        state.counters["leaves"] = static_cast<double>(binding->report().leaves);
    }
    state.counters["vertices"] = static_cast<double>(in.positions.size());
    state.counters["joints"] = static_cast<double>(in.skeleton.joints.size());
    for (const StageTime& t : stages) state.counters[t.stage + "_ms"] = 1000 * t.seconds;
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    state.counters["peak_mb"] = static_cast<double>(used.ru_maxrss) / 1024;
}
BENCHMARK(BM_grow)
    ->ArgNames({"resolution", "subdivisions", "parts", "threads"})
    ->ArgsProduct({{64, 128, 256, 512}, {1}, {1}, {2}})
    ->ArgsProduct({{256}, {0, 2, 3}, {1}, {2}})
    ->ArgsProduct({{256}, {1}, {2, 5, 10}, {2}})
    ->ArgsProduct({{256}, {1}, {1}, {1}})
    ->ArgsProduct({{1024}, {1}, {1}, {2}})
    ->Iterations(3)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// A field of /proc/self/status in kB; 0 if it is missing.
double kilobytes(const char* field) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind(field, 0) == 0) return std::strtod(line.c_str() + std::strlen(field) + 1, nullptr);
    return 0;
}

// Figures 7, 9 and 10 of Dionne and de Lasa (2014): the stages of a bind over sparse and uniform domains, with and
// without winding numbers, and the peak of the additional memory. `torn`: every twentieth triangle is left out, so
// that voxels are ambiguous and winding numbers have work to do.
void BM_domain(benchmark::State& state) {
    Input in = base();
    if (state.range(3)) {
        std::size_t kept = 0;
        for (std::size_t t = 0; t < in.triangles.size(); ++t)
            if (t % 20) in.triangles[kept++] = in.triangles[t];
        in.triangles.resize(kept);
    }
    BindOptions options = bind_options();
    options.voxels.resolution = static_cast<int>(state.range(0));
    options.domain = state.range(1) ? DomainKind::uniform : DomainKind::sparse;
    options.voxels.winding_numbers = state.range(2) != 0;
    Context context;
    context.threads = 2;
    std::vector<StageTime> stages;
    for ([[maybe_unused]] auto _ : state) {
        malloc_trim(0);
        std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
        const double before = kilobytes("VmRSS:");
        const Result<Binding> binding = bind(in.mesh(), in.skeleton, options, &context);
        if (!binding) return state.SkipWithError(binding.error().message.c_str());
        state.counters["peak_mb"] = (kilobytes("VmHWM:") - before) / 1024;
        stages = binding->report().seconds;
        state.counters["leaves"] = static_cast<double>(binding->report().leaves);
        state.counters["ambiguous"] = static_cast<double>(binding->report().ambiguous_voxels);
    }
    for (const StageTime& t : stages) state.counters[t.stage + "_ms"] = 1000 * t.seconds;
}
BENCHMARK(BM_domain)
    ->ArgNames({"resolution", "uniform", "winding", "torn"})
    ->ArgsProduct({{64, 128, 256, 512}, {0, 1}, {1}, {0}})
    ->ArgsProduct({{64, 128, 256, 512}, {0}, {0, 1}, {1}})
    ->Iterations(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// A character with fingers, toes and a face, from the corpus.
const Result<io::Scene>& fingers() {
    static const Result<io::Scene> scene = [] {
        return io::load(corpus() / "mh_female_default/mh_female_default.glb");
    }();
    return scene;
}

// Compares local resolution with uniform ones: 256, then 256 with fingers and face at 512, then 512. `nearest`: the
// share of vertices whose nearest joint is the same as at 512. Local resolution must have a larger share than 256.
void BM_local(benchmark::State& state) {
    if (!fingers()) return state.SkipWithError("no corpus: this benchmark binds its mh_female_default");
    const io::Scene& in = *fingers();
    const MeshView mesh{in.positions, in.triangles, {}};
    Context context;
    context.threads = 2;
    const auto options = [](int finest, bool local) {
        BindOptions o = bind_options();
        o.voxels.resolution = local ? finest / 2 : finest;
        o.local_resolution = local;
        return o;
    };
    const auto nearest = [&](const Binding& binding) {
        const DistanceTable& table = binding.distances();
        std::vector<std::uint32_t> out;
        for (std::size_t v = 0; v < table.vertices; ++v) out.push_back(table.joint[v * table.width]);
        return out;
    };
    static const std::vector<std::uint32_t> fine = nearest(*bind(mesh, in.skeleton, options(512, false), &context));
    const auto agrees = [&](const Binding& binding) {
        const std::vector<std::uint32_t> own = nearest(binding);
        std::size_t same = 0;
        for (std::size_t v = 0; v < own.size(); ++v) same += own[v] == fine[v];
        return static_cast<double>(same) / static_cast<double>(own.size());
    };
    static const double coarse = agrees(*bind(mesh, in.skeleton, options(256, false), &context));
    const BindOptions mine = state.range(0) == 0 ? options(256, false) : options(512, state.range(0) == 1);
    std::vector<StageTime> stages;
    for ([[maybe_unused]] auto _ : state) {
        const Result<Binding> binding = bind(mesh, in.skeleton, mine, &context);
        if (!binding) return state.SkipWithError(binding.error().message.c_str());
        stages = binding->report().seconds;
        state.counters["leaves"] = static_cast<double>(binding->report().leaves);
        state.counters["nearest"] = agrees(*binding);
    }
    if (state.range(0) == 1 && !(state.counters["nearest"] > coarse))
        return state.SkipWithError("CHECK FAILED: local resolution is not closer to 512 than 256 is");
    for (const StageTime& t : stages) state.counters[t.stage + "_ms"] = 1000 * t.seconds;
}
BENCHMARK(BM_local)
    ->ArgName("256_local_512")
    ->DenseRange(0, 2)
    ->Iterations(5)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// The highest memory of the process since the last reset, in MB. Linux.
void reset_peak() {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5;
}
double peak_mb() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "VmHWM:") return status >> word ? std::strtod(word.c_str(), nullptr) / 1024 : 0;
    return 0;
}

// The default method (heat = 1) beside geodesic-voxel on a generated person, from 43k to 2.8 million vertices, and
// with six times the joints.
void BM_default(benchmark::State& state) {
    Input in = person();
    for (int i = 0; i < state.range(0); ++i) subdivide(in);
    split_bones(in, static_cast<int>(state.range(1)));
    Context context;
    context.threads = static_cast<int>(state.range(2));
    const BindOptions options = preset(state.range(3) ? Method::surface_heat : Method::geodesic_voxel);
    std::vector<StageTime> stages;
    reset_peak();
    for ([[maybe_unused]] auto _ : state) {
        const Result<Binding> binding = bind(in.mesh(), in.skeleton, options, &context);
        if (!binding) return state.SkipWithError(binding.error().message.c_str());
        benchmark::DoNotOptimize(binding->weights(&context).ok());
        stages = binding->report().seconds;
    }
    state.counters["peak_mb"] = peak_mb();
    state.counters["vertices"] = static_cast<double>(in.positions.size());
    state.counters["joints"] = static_cast<double>(in.skeleton.joints.size());
    for (const StageTime& t : stages) state.counters[t.stage + "_ms"] = 1000 * t.seconds;
}
BENCHMARK(BM_default)
    ->ArgNames({"subdivisions", "parts", "threads", "heat"})
    ->ArgsProduct({{0, 1, 2, 3}, {1}, {2}, {0, 1}})
    ->ArgsProduct({{1}, {6}, {2}, {0, 1}})
    ->ArgsProduct({{1}, {1}, {1}, {0, 1}})
    ->Iterations(2)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// The cost of another falloff on a kept Binding, of distances (heat = 0) or of heat (heat = 1).
void BM_weights_again(benchmark::State& state) {
    const Input& in = input();
    Context context;
    context.threads = static_cast<int>(state.range(0));
    static const Result<Binding> distances = bind(in.mesh(), in.skeleton, bind_options());
    static const Result<Binding> heat = bind(in.mesh(), in.skeleton, {});
    const Result<Binding>& binding = state.range(1) ? heat : distances;
    FalloffOptions falloff = binding->options().falloff;
    falloff.alpha = 0.3f;
    for ([[maybe_unused]] auto _ : state)
        benchmark::DoNotOptimize(binding->weights(falloff, binding->options().finish, &context).ok());
}
BENCHMARK(BM_weights_again)
    ->ArgNames({"threads", "heat"})
    ->ArgsProduct({{1, 2}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// One more pin beside those that are there (docs/edits.md), on one thread. `first_ms`: the first one, which makes
// the surface and the factor.
void BM_pin(benchmark::State& state) {
    Input in = base();
    for (int i = 0; i < state.range(0); ++i) subdivide(in);
    Context context;
    context.threads = 1;
    const SkinWeights weights = *bind(in.mesh(), in.skeleton, {}, &context)->weights(&context);
    const EditSurface surface(in.mesh(), &context);
    PaintedWeights painted =
        *PaintedWeights::begin(surface, weights, {}, in.skeleton.joints.size(), all_influences);
    WeightEdit pins;
    pins.kind = EditKind::pin;
    pins.value = 0.06f;
    const auto add = [&] {
        Pin pin;
        pin.vertex = static_cast<std::uint32_t>((pins.pins.size() + 1) * 104729 % in.positions.size());
        const auto row = weights[pin.vertex];
        const std::uint32_t other = row.size() > 1 ? row[1].joint : weights[0][0].joint;
        pin.weights = {{row[0].joint, 0.4f}, {other, 0.6f}};
        if (other == row[0].joint) pin.weights = {{other, 1}};
        pins.pins.push_back(pin);
        WeightEdit edit = pins;
        return complete_edits({&edit, 1}, surface, in.skeleton, nullptr, &context) &&
               painted.apply(edit, painted.edits() > 0, &context) &&
               std::abs(painted[pin.vertex][0].weight - pin.weights.back().weight) < 1e-5f;
    };
    bool met = true;
    state.counters["first_ms"] = 1000 * seconds_of([&] { met = add(); });
    for ([[maybe_unused]] auto _ : state) met = met && add();
    if (!met) state.SkipWithError("CHECK FAILED: a pin is not met");
    state.counters["vertices"] = static_cast<double>(in.positions.size());
}
BENCHMARK(BM_pin)->ArgName("subdivisions")->Arg(0)->Arg(1)->Iterations(20)->Unit(benchmark::kMillisecond);

// Moves one joint of a person after the other, in a binding of geodesic-voxel (heat = 0) or of the default (heat =
// 1) that keeps its volume, and compares each move with a fresh bind. `ratio` is the median over the joints;
// `least` and `worst` are the smallest and the largest ratio.
void BM_move(benchmark::State& state) {
    const Input& in = person();
    BindOptions options = state.range(1) ? BindOptions{} : bind_options();
    options.keep_volume = true;
    Context context;
    context.threads = static_cast<int>(state.range(0));
    const Result<Binding> binding = bind(in.mesh(), in.skeleton, options, &context);
    std::vector<double> moved, fresh, ratio;
    std::uint32_t joint = 0;
    for ([[maybe_unused]] auto _ : state) {
        const Vec3 position = moved_position(in.skeleton, joint, 1 + static_cast<int>(joint % 4));
        moved.push_back(seconds_of(
            [&] { benchmark::DoNotOptimize(binding->move_joint(in.mesh(), joint, position, &context).ok()); }));
        fresh.push_back(
            seconds_of([&] { benchmark::DoNotOptimize(bind(in.mesh(), in.skeleton, options, &context).ok()); }));
        ratio.push_back(moved.back() / fresh.back());
        state.SetIterationTime(moved.back());
        joint = (joint + 1) % static_cast<std::uint32_t>(in.skeleton.joints.size());
    }
    state.counters["move_ms"] = 1000 * median(moved);
    state.counters["bind_ms"] = 1000 * median(fresh);
    state.counters["ratio"] = median(ratio);
    state.counters["least"] = *std::min_element(ratio.begin(), ratio.end());
    state.counters["worst"] = *std::max_element(ratio.begin(), ratio.end());
}
BENCHMARK(BM_move)
    ->ArgNames({"threads", "heat"})
    ->ArgsProduct({{1, 2}, {0, 1}})
    ->Iterations(21)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    if (!same_nearest() || !same_weights() || !same_default() || !same_moved()) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
