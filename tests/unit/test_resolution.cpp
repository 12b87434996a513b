#include <gtest/gtest.h>

#include <cmath>

#include "sinew/bind.h"

namespace sinew::test_resolution {
namespace {

struct Figure {
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
    Skeleton skeleton;
    MeshView mesh() const { return {positions, triangles, {}}; }

    std::uint32_t add_joint(int parent, const char* name, Vec3 at, Vec3 tail) {
        Joint joint;
        joint.name = name;
        joint.parent = parent;
        joint.position = at;
        joint.tail = tail;
        skeleton.joints.push_back(joint);
        return static_cast<std::uint32_t>(skeleton.joints.size() - 1);
    }
    // A square rod along x, closed, of n x 4 quads along its sides, facing outwards.
    void add_rod(float from, float to, float y, float half, int n = 60) {
        const auto base = static_cast<std::uint32_t>(positions.size());
        for (int i = 0; i <= n; ++i)
            for (int k = 0; k < 4; ++k)
                positions.push_back({from + (to - from) * static_cast<float>(i) / static_cast<float>(n),
                                     y + (k == 0 || k == 3 ? -half : half), k < 2 ? -half : half});
        const auto quad = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
            triangles.push_back({base + a, base + b, base + c});
            triangles.push_back({base + a, base + c, base + d});
        };
        for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(n); ++i)
            for (std::uint32_t k = 0; k < 4; ++k)
                quad(4 * i + k, 4 * i + (k + 1) % 4, 4 * i + 4 + (k + 1) % 4, 4 * i + 4 + k);
        const auto last = static_cast<std::uint32_t>(4 * n);
        quad(3, 2, 1, 0);
        quad(last, last + 1, last + 2, last + 3);
        for (std::size_t t = triangles.size() - static_cast<std::size_t>(8 * n + 4); t < triangles.size(); ++t)
            std::swap(triangles[t][1], triangles[t][2]);
    }
};

// A thick palm with two fingers side by side.
Figure fork(float gap, float half = 0.05f) {
    Figure f;
    f.add_rod(0, 0.4f, 0, 0.15f);
    f.add_rod(0.4f, 1, half + gap / 2, half);
    f.add_rod(0.4f, 1, -half - gap / 2, half);
    f.add_joint(-1, "palm", {0, 0, 0}, {0.4f, 0, 0});
    f.add_joint(0, "upper", {0.4f, half + gap / 2, 0}, {1, half + gap / 2, 0});
    f.add_joint(0, "lower", {0.4f, -half - gap / 2, 0}, {1, -half - gap / 2, 0});
    return f;
}

ResolutionChoice choice(const Figure& f, BindOptions options = {}, Context* context = nullptr) {
    options.voxels.resolution = 0;
    Result<ResolutionChoice> chosen = choose_resolution(f.mesh(), f.skeleton, options, context);
    EXPECT_TRUE(chosen) << (chosen ? "" : chosen.error().message);
    return chosen ? *chosen : ResolutionChoice{};
}

// The resolution of the finest blocks.
int finest(const ResolutionChoice& c) { return c.fine.empty() ? c.resolution : 2 * c.resolution; }

// A voxel at resolution r is 1 / (r - 2.5) of these figures; a gap takes two.
TEST(Resolution, FollowsTheGapBetweenLimbs) {
    EXPECT_EQ(finest(choice(fork(0.04f))), 64);  // two voxels of 1/61.5 are 0.0325
    EXPECT_EQ(finest(choice(fork(0.02f))), 128);
    EXPECT_EQ(finest(choice(fork(0.01f))), 256);
    EXPECT_EQ(finest(choice(fork(0.005f))), 512);
    EXPECT_EQ(finest(choice(fork(0.001f))), 512);
    const std::string why = choice(fork(0.01f)).reason;
    EXPECT_NE(why.find("'upper' and 'lower' are 0.01 apart"), std::string::npos) << why;
    EXPECT_NE(choice(fork(0.001f)).reason.find("finest"), std::string::npos);
}

TEST(Resolution, FollowsTheThinnestLimb) {
    for (const auto& [half, wanted] : {std::pair{0.05f, 64}, {0.012f, 128}, {0.005f, 256}, {0.003f, 512}}) {
        Figure f;
        f.add_rod(0, 1, 0, half, 200);
        f.add_joint(-1, "rod", {0, 0, 0}, {1, 0, 0});
        EXPECT_EQ(choice(f).resolution, wanted) << half;
        EXPECT_TRUE(choice(f).fine.empty()) << half;  // all of it is thin
        EXPECT_NE(choice(f).reason.find("'rod'"), std::string::npos);
    }
}

// Winding, scale, position and threads do not matter.
TEST(Resolution, IsAPropertyOfTheShape) {
    Figure f = fork(0.01f);
    for (Triangle& t : f.triangles) std::swap(t[0], t[1]);
    EXPECT_EQ(finest(choice(f)), 256);
    Figure large = fork(0.01f);
    for (Vec3& p : large.positions) p = {1000 * p.x + 8000, 1000 * p.y, 1000 * p.z};
    for (Joint& j : large.skeleton.joints) {
        j.position = {1000 * j.position.x + 8000, 1000 * j.position.y, 1000 * j.position.z};
        j.tail = Vec3{1000 * j.tail->x + 8000, 1000 * j.tail->y, 1000 * j.tail->z};
    }
    EXPECT_EQ(finest(choice(large)), 256);
    Context one, four;
    one.threads = 1;
    four.threads = 4;
    EXPECT_EQ(choice(f, {}, &one).reason, choice(f, {}, &four).reason);
}

TEST(Resolution, KeepsToTheMemoryLimitAndToTheMethod) {
    const Figure f = fork(0.005f);
    BindOptions options;
    Context context;
    options.voxels.resolution = 128;
    context.memory_limit = estimate_memory(f.mesh(), f.skeleton, options);
    const ResolutionChoice small = choice(f, options, &context);
    EXPECT_EQ(finest(small), 128);
    EXPECT_NE(small.reason.find("memory limit"), std::string::npos) << small.reason;
    EXPECT_EQ(choice(f, preset(Method::bounded_biharmonic)).resolution, 128);
}

TEST(Resolution, AcceptsAnyInput) {
    Figure empty;
    empty.add_joint(-1, "root", {}, {});
    EXPECT_FALSE(choose_resolution(empty.mesh(), empty.skeleton, {}));
    Figure point;
    point.add_rod(0, 1, 0, 0.2f, 2);
    point.add_joint(-1, "root", {9, 9, 9}, {9, 9, 9});
    EXPECT_EQ(choice(point).resolution, 256);
    EXPECT_NE(choice(point).reason.find("no limb"), std::string::npos);
}

TEST(Resolution, BindTakesAuto) {
    const Figure f = fork(0.01f);
    BindOptions options = preset(Method::geodesic_voxel);
    ASSERT_TRUE(set_option(options, "resolution", "auto"));
    EXPECT_EQ(option_text(options, "resolution"), "auto");
    const Result<Binding> automatic = bind(f.mesh(), f.skeleton, options);
    ASSERT_TRUE(automatic) << automatic.error().message;
    EXPECT_EQ(automatic->options().voxels.resolution, 128);
    EXPECT_TRUE(automatic->options().local_resolution);
    EXPECT_NE(automatic->report().resolution_reason.find("apart"), std::string::npos);
    options = automatic->options();
    const Result<Binding> same = bind(f.mesh(), f.skeleton, options);
    ASSERT_TRUE(same) << same.error().message;
    EXPECT_EQ(automatic->distances().distance, same->distances().distance);
    options.local_resolution = false;
    const Result<Binding> given = bind(f.mesh(), f.skeleton, options);
    ASSERT_TRUE(given);
    EXPECT_TRUE(given->report().resolution_reason.empty());
    EXPECT_NE(automatic->distances().distance, given->distances().distance);
    BindOptions flat = preset(Method::pixel_geodesic);
    flat.voxels.resolution = 0;
    EXPECT_EQ(check(flat).error().code, ErrorCode::usage);
}

// Distance of a joint at a vertex; infinite if it is not in the table.
float distance_of(const Binding& binding, std::size_t vertex, std::uint32_t joint) {
    const DistanceTable& table = binding.distances();
    for (std::size_t k = 0; k < table.width; ++k)
        if (table.joint[vertex * table.width + k] == joint) return table.distance[vertex * table.width + k];
    return INFINITY;
}

BindOptions local_options(int resolution, bool local = true) {
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = resolution;
    options.local_resolution = local;
    options.penalty = 1;
    options.overshoot = 0;
    options.keep_volume = true;
    return options;
}

// The gap is less than a voxel wide at 64 and more than one at 128.
TEST(LocalResolution, SeparatesFingersLikeTwiceTheResolution) {
    const Figure f = fork(0.014f);
    const auto bound = [&](int resolution, bool local) {
        Result<Binding> binding = bind(f.mesh(), f.skeleton, local_options(resolution, local));
        EXPECT_TRUE(binding) << binding.error().message;
        return std::move(*binding);
    };
    const Binding coarse = bound(64, false), local = bound(64, true), fine = bound(128, false);
    EXPECT_LT(fine.report().leaves, 6 * coarse.report().leaves);
    EXPECT_LT(local.report().leaves, 0.75 * static_cast<double>(fine.report().leaves));
    EXPECT_NE(local.report().resolution_reason.find("128 for about"), std::string::npos)
        << local.report().resolution_reason;
    // From the tip of a finger, the path to the bone of the other finger leads over the palm.
    std::size_t tips = 0;
    for (std::size_t v = 0; v < f.positions.size(); ++v) {
        if (f.positions[v].x < 0.99f) continue;
        const std::uint32_t other = f.positions[v].y > 0 ? 2 : 1;
        EXPECT_LT(distance_of(coarse, v, other), 0.2f);
        EXPECT_GT(distance_of(fine, v, other), 0.5f);
        EXPECT_NEAR(distance_of(local, v, other), distance_of(fine, v, other), 0.03f);
        ++tips;
    }
    EXPECT_GT(tips, 0u);
    // Far from the fingers it equals the coarse resolution.
    for (std::size_t v = 0; v < f.positions.size(); ++v) {
        if (f.positions[v].x >= 0.25f) continue;
        EXPECT_NEAR(distance_of(local, v, 0), distance_of(coarse, v, 0), 0.03f);
    }
}

TEST(LocalResolution, ThreadsChangeNoBit) {
    const Figure f = fork(0.02f);
    Context one, three;
    one.threads = 1;
    three.threads = 3;
    const Result<Binding> a = bind(f.mesh(), f.skeleton, local_options(128), &one),
                          b = bind(f.mesh(), f.skeleton, local_options(128), &three);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->distances().distance, b->distances().distance);
    EXPECT_EQ(a->distances().joint, b->distances().joint);
}

TEST(LocalResolution, IsUnchangedWithoutFineParts) {
    const Figure f = fork(0.1f);
    const Result<Binding> local = bind(f.mesh(), f.skeleton, local_options(64)),
                          plain = bind(f.mesh(), f.skeleton, local_options(64, false));
    ASSERT_TRUE(local && plain);
    EXPECT_EQ(local->distances().distance, plain->distances().distance);
    EXPECT_NE(local->report().resolution_reason.find("64 everywhere"), std::string::npos);
}

// A mesh without fine parts may need them after a joint moved, so the binding keeps the request.
TEST(LocalResolution, OfABindingThatNeedsItLater) {
    const Figure f = fork(0.02f);
    Skeleton away = f.skeleton;  // the bone of one finger, so that the gap is unknown
    away.joints[2].position.z += 2;
    away.joints[2].tail->z += 2;
    const Result<Binding> binding = bind(f.mesh(), away, local_options(64));
    ASSERT_TRUE(binding);
    EXPECT_NE(binding->report().resolution_reason.find("64 everywhere"), std::string::npos);
    EXPECT_TRUE(binding->options().local_resolution);
    const Result<Binding> after = binding->move_joints(f.mesh(), f.skeleton),
                          afresh = bind(f.mesh(), f.skeleton, local_options(64));
    ASSERT_TRUE(after && afresh);
    EXPECT_NE(after->report().resolution_reason.find("128 for about"), std::string::npos);
    EXPECT_EQ(after->distances().distance, afresh->distances().distance);
}

// Fine blocks follow a moved joint. Kept bytes and other meshes work as with any volume.
TEST(LocalResolution, OfAKeptBinding) {
    Figure f = fork(0.02f);
    const Result<Binding> binding = bind(f.mesh(), f.skeleton, local_options(64));
    ASSERT_TRUE(binding) << binding.error().message;
    Skeleton moved = f.skeleton;
    moved.joints[2].position.y += 0.01f;
    moved.joints[2].tail->y += 0.01f;
    const Result<Binding> after = binding->move_joints(f.mesh(), moved),
                          afresh = bind(f.mesh(), moved, local_options(64));
    ASSERT_TRUE(after && afresh);
    EXPECT_EQ(after->distances().distance, afresh->distances().distance);

    const Result<Binding> read = Binding::from_bytes(binding->to_bytes());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(read->options().local_resolution);
    f.triangles.pop_back();
    const Result<Binding> other = read->rebind(f.mesh(), f.skeleton);
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(other->report().reused, Reuse::volume);
    EXPECT_EQ(other->distances().distance, binding->distances().distance);
}

TEST(LocalResolution, IsRefusedForOtherMethods) {
    const auto refused = [](Method method, int resolution, DomainKind kind) {
        BindOptions options = preset(method);
        options.voxels.resolution = resolution;
        options.domain = kind;
        options.local_resolution = true;
        const Status status = check(options);
        return !status && status.error().code == ErrorCode::usage;
    };
    EXPECT_FALSE(refused(Method::geodesic_voxel, 512, DomainKind::sparse));
    EXPECT_FALSE(refused(Method::surface_heat, 512, DomainKind::sparse));
    EXPECT_TRUE(refused(Method::geodesic_voxel, 1024, DomainKind::sparse));
    EXPECT_TRUE(refused(Method::geodesic_voxel, 256, DomainKind::uniform));
    EXPECT_TRUE(refused(Method::voxel_heat, 64, DomainKind::sparse));
    EXPECT_TRUE(refused(Method::closest_distance, 64, DomainKind::sparse));
}

}  // namespace
}  // namespace sinew::test_resolution
