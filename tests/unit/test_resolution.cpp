#include <gtest/gtest.h>

#include "sinew/bind.h"

namespace sinew {
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

ResolutionChoice choice(const Figure& f, const BindOptions& options = {}, Context* context = nullptr) {
    Result<ResolutionChoice> chosen = choose_resolution(f.mesh(), f.skeleton, options, context);
    EXPECT_TRUE(chosen) << (chosen ? "" : chosen.error().message);
    return chosen ? *chosen : ResolutionChoice{};
}

// A voxel at resolution r is 1 / (r - 2.5) of these figures; a gap takes two.
TEST(Resolution, FollowsTheGapBetweenLimbs) {
    EXPECT_EQ(choice(fork(0.04f)).resolution, 64);  // two voxels of 1/61.5 are 0.0325
    EXPECT_EQ(choice(fork(0.02f)).resolution, 128);
    EXPECT_EQ(choice(fork(0.01f)).resolution, 256);
    EXPECT_EQ(choice(fork(0.005f)).resolution, 512);
    EXPECT_EQ(choice(fork(0.001f)).resolution, 512);
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
        EXPECT_NE(choice(f).reason.find("'rod'"), std::string::npos);
    }
}

// Neither the way round of the triangles nor scale, place or threads matter.
TEST(Resolution, IsAPropertyOfTheShape) {
    Figure f = fork(0.01f);
    for (Triangle& t : f.triangles) std::swap(t[0], t[1]);
    EXPECT_EQ(choice(f).resolution, 256);
    Figure large = fork(0.01f);
    for (Vec3& p : large.positions) p = {1000 * p.x + 8000, 1000 * p.y, 1000 * p.z};
    for (Joint& j : large.skeleton.joints) {
        j.position = {1000 * j.position.x + 8000, 1000 * j.position.y, 1000 * j.position.z};
        j.tail = Vec3{1000 * j.tail->x + 8000, 1000 * j.tail->y, 1000 * j.tail->z};
    }
    EXPECT_EQ(choice(large).resolution, 256);
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
    EXPECT_EQ(small.resolution, 128);
    EXPECT_NE(small.reason.find("memory limit"), std::string::npos) << small.reason;
    EXPECT_EQ(choice(f, preset(Method::bounded_biharmonic)).resolution, 128);
}

TEST(Resolution, AnyInputGetsAnAnswer) {
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
    const Figure f = fork(0.02f);
    BindOptions options = preset(Method::geodesic_voxel);
    ASSERT_TRUE(set_option(options, "resolution", "auto"));
    EXPECT_EQ(option_text(options, "resolution"), "auto");
    const Result<Binding> automatic = bind(f.mesh(), f.skeleton, options);
    ASSERT_TRUE(automatic) << automatic.error().message;
    EXPECT_EQ(automatic->options().voxels.resolution, 128);
    EXPECT_NE(automatic->report().resolution_reason.find("apart"), std::string::npos);
    options.voxels.resolution = 128;
    const Result<Binding> given = bind(f.mesh(), f.skeleton, options);
    ASSERT_TRUE(given);
    EXPECT_TRUE(given->report().resolution_reason.empty());
    EXPECT_EQ(automatic->distances().distance, given->distances().distance);
    BindOptions flat = preset(Method::pixel_geodesic);
    flat.voxels.resolution = 0;
    EXPECT_EQ(check(flat).error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace sinew
