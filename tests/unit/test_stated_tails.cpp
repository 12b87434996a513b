// A stated tail is exactly where the bone ends, for every method and independent of child joints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "sinew/bind.h"
#include "sinew/cutout.h"
#include "sinew/cutout_files.h"
#include "sinew/io.h"
#include "unit/support.h"

namespace sinew::test_stated_tails {
namespace {

using test::bound;
using test::Character;
using test::weight_of;

Joint joint(const char* name, int parent, Vec3 at, std::optional<Vec3> tail = {}) {
    Joint out;
    out.name = name, out.parent = parent, out.position = at, out.tail = tail;
    return out;
}

/// A pole along y from 0 to 2, or a strip for pixel-geodesic. Joint `low` is at its foot, `high` near its top.
Character pole(Method method, std::optional<Vec3> tail) {
    Character c;
    const test::Shape shape = method == Method::pixel_geodesic
                                  ? test::sheet({0, 1, 0}, {0.1, 0, 0}, {0, 1, 0}, 4, 40)
                                  : test::cylinder({0, 0, 0}, {0, 2, 0}, 0.1, 12, 41);
    c.positions = shape.positions;
    c.triangles = shape.triangles;
    c.skeleton.joints = {joint("low", -1, {0, 0.1f, 0}, tail), joint("high", 0, {0, 1.7f, 0}, Vec3{0, 1.9f, 0})};
    return c;
}

BindOptions at(Method method) {
    BindOptions options = preset(method);
    options.voxels.resolution = method == Method::bounded_biharmonic ? 32 : 64;
    options.rings = method == Method::mesh_geodesic ? RingPlacement::bone : RingPlacement::joint;
    return options;
}

SkinWeights weights(const Character& c, const BindOptions& options) {
    return test::must(bound(c, options).weights());
}

TEST(StatedTails, MoveTheBorderForEveryMethod) {
    // Without a stated tail the bone of `low` reaches `high` at 1.7. With it the bone ends at 0.3, and the border
    // is halfway between, at 1.
    for (const MethodInfo& info : methods()) {
        const BindOptions options = at(info.method);
        const SkinWeights links = weights(pole(info.method, {}), options);
        const Character c = pole(info.method, Vec3{0, 0.3f, 0});
        const SkinWeights stated = weights(c, options);
        std::size_t between = 0;
        for (std::size_t v = 0; v < c.positions.size(); ++v) {
            const float y = c.positions[v].y;
            if (y > 1.2f && y < 1.37f) {
                ++between;
                const bool by_rings =
                    options.method == Method::mesh_geodesic;  // at the middles of bones: 0.9 and 1.8
                EXPECT_GT(weight_of(links, v, 0), by_rings ? 0.4f : 0.5f) << info.name << " at " << y;
                EXPECT_GT(weight_of(stated, v, 1), 0.5f) << info.name << " at " << y;
            } else if (y < 0.6f) {
                EXPECT_GT(weight_of(stated, v, 0), 0.5f) << info.name << " at " << y;
            }
        }
        EXPECT_GT(between, 10u) << info.name;
        EXPECT_NE(links, stated) << info.name;
    }
}

TEST(StatedTails, AtTheNextJointChangeNoBit) {
    for (const MethodInfo& info : methods()) {
        const Character links = pole(info.method, {}),
                        stated = pole(info.method, links.skeleton.joints[1].position);
        const Binding a = bound(links, at(info.method)), b = bound(stated, at(info.method));
        EXPECT_EQ(a.distances().distance, b.distances().distance) << info.name;
        EXPECT_EQ(a.distances().joint, b.distances().joint) << info.name;
        EXPECT_EQ(a.influences().strength, b.influences().strength) << info.name;
        EXPECT_EQ(a.influences().joint, b.influences().joint) << info.name;
    }
}

// A leaf always has the bone that its tail states. Only overshoot depends on child joints. So without overshoot, a
// branching skeleton must give the same weights as its joints without a hierarchy.
TEST(StatedTails, BranchesEqualJointsWithoutHierarchy) {
    for (const MethodInfo& info : methods()) {
        const Method method = info.method;
        // These methods use the hierarchy.
        if (method == Method::connectivity || method == Method::closest_hierarchy || method == Method::surface_heat)
            continue;
        Character c;
        const test::Shape shape = method == Method::pixel_geodesic
                                      ? test::sheet({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 24, 24)
                                      : test::box({0, 0, 0}, {1, 1, 0.3}, 8);
        c.positions = shape.positions;
        c.triangles = shape.triangles;
        c.skeleton.joints = {joint("trunk", -1, {0, -0.6f, 0}, Vec3{0, 0.4f, 0}),
                             joint("arm", 0, {0.4f, -0.1f, 0}, Vec3{0.8f, -0.1f, 0}),
                             joint("other arm", 0, {-0.4f, -0.1f, 0}, Vec3{-0.8f, 0.5f, 0})};
        BindOptions options = at(method);
        options.overshoot = 0;
        const Binding together = bound(c, options);
        for (Joint& j : c.skeleton.joints) j.parent = -1;
        const Binding apart = bound(c, options);
        EXPECT_EQ(together.distances().distance, apart.distances().distance) << info.name;
        EXPECT_EQ(together.distances().joint, apart.distances().joint) << info.name;
        EXPECT_EQ(together.influences().strength, apart.influences().strength) << info.name;
        EXPECT_EQ(together.influences().joint, apart.influences().joint) << info.name;
    }
}

TEST(StatedTails, AStatedTailOfTheHipsDoesNotAffectTheLegs) {
    // Surface heat joins the links to both legs into one bone in the middle. It keeps a stated tail: the hips end
    // above, and vertices at the level of the legs are nearer to the legs.
    Character c = test::biped({.cell = 0.04});
    const std::uint32_t hips = c.joint("hips");
    BindOptions options = at(Method::surface_heat);
    const SkinWeights before = weights(c, options);
    const Vec3 at = c.skeleton.joints[hips].position;
    c.skeleton.joints[hips].tail = Vec3{at.x, at.y + 0.05f, at.z};
    const SkinWeights after = weights(c, options);
    double below[2] = {0, 0}, above[2] = {0, 0};
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const bool low = c.positions[v].y < at.y;
        (low ? below : above)[0] += weight_of(before, v, hips);
        (low ? below : above)[1] += weight_of(after, v, hips);
    }
    EXPECT_LT(below[1], 0.8 * below[0]);
    EXPECT_GT(above[0] + below[0], 0);
}

TEST(StatedTails, PointsAreNotLengthened) {
    // The last joint of the bar is a point; far from it the parent's bone is nearer.
    for (const Method method : {Method::geodesic_voxel, Method::closest_distance, Method::bone_heat}) {
        Character c = pole(method, {});
        c.skeleton.joints[1].position = {0, 0.5f, 0};
        c.skeleton.joints.push_back(joint("side", 0, {0, 1.9f, 0}, Vec3{0, 1.5f, 0}));
        c.skeleton.joints[0].tail = Vec3{0, 0.4f, 0};
        c.skeleton.joints[1].tail.reset();
        const SkinWeights leaf = weights(c, at(method));
        c.skeleton.joints[1].tail = c.skeleton.joints[1].position;
        const SkinWeights point = weights(c, at(method));
        double lengthened = 0, stayed = 0;
        for (std::size_t v = 0; v < c.positions.size(); ++v)
            if (c.positions[v].y > 1.1f && c.positions[v].y < 1.3f)
                lengthened += weight_of(leaf, v, 1), stayed += weight_of(point, v, 1);
        EXPECT_LT(stayed, lengthened) << to_string(method);
    }
}

// The plane of a ring is normal to the stated bone. A bone that does not end at a joint is ignored there.
TEST(StatedTails, RotateTheRingsOfMeshGeodesic) {
    Character c;
    const test::Shape shape = test::cylinder({-2, 0, 0}, {2, 0, 0}, 0.1, 16, 81);
    c.positions = shape.positions;
    c.triangles = shape.triangles;
    c.skeleton.joints = {joint("a", -1, {-1, 0, 0}), joint("b", 0, {0, 0, 0}),
                         joint("c", 1, {1, 0, 0}, Vec3{2, 0, 0})};
    const BindOptions options = preset(Method::mesh_geodesic);
    // The tilt of the ring of b: the offset along the tube of its smallest distances at the top and at the bottom.
    const auto tilt = [&] {
        const Binding binding = bound(c, options);
        const DistanceTable& t = binding.distances();
        float place[2] = {0, 0}, least[2] = {INFINITY, INFINITY};
        for (std::size_t v = 0; v < c.positions.size(); ++v)
            for (const int side : {0, 1})
                if ((side ? 1.0f : -1.0f) * c.positions[v].y > 0.099f)
                    for (std::size_t k = v * t.width; k < (v + 1) * t.width; ++k)
                        if (t.joint[k] == 1 && t.distance[k] < least[side])
                            least[side] = t.distance[k], place[side] = c.positions[v].x;
        return place[1] - place[0];
    };
    EXPECT_NEAR(tilt(), 0, 0.06);
    c.skeleton.joints[1].tail = Vec3{0.3f, 0.6f, 0};  // halfway between x and this direction: 31.7 degrees
    EXPECT_NEAR(tilt(), -0.2 * std::tan(0.5 * std::atan2(2.0, 1.0)), 0.06);
    c.skeleton.joints[0].tail =
        Vec3{-1, 1, 0};  // the parent's bone does not end at b: only b's own bone counts, 63.4 degrees
    EXPECT_NEAR(tilt(), -0.2 * 2, 0.06);
    c.skeleton.joints[0].tail = Vec3{0, 0, 0};  // the parent's bone ends at b again
    EXPECT_NEAR(tilt(), -0.2 * std::tan(0.5 * std::atan2(2.0, 1.0)), 0.06);
}

// Files of `sinew cutout` state the tails of their bones, so that `sinew bind` uses the same bones.
TEST(StatedTails, FiguresSaveThem) {
    CutoutFigure figure;
    figure.width = 40, figure.height = 80;
    figure.skeleton.joints = {joint("trunk", -1, {20, 10, 0}, Vec3{20, 40, 0}),
                              joint("arm", 0, {20, 40, 0}, Vec3{30, 70, 0}), joint("other", 0, {10, 20, 0})};
    CutoutLayer layer;
    layer.name = "body", layer.path = "body.png";
    layer.picture.width = 40, layer.picture.height = 80;
    layer.picture.rgba.assign(std::size_t{4} * 40 * 80, 255);
    layer.png = {std::byte{7}};
    layer.joints = {0, 1, 2};
    figure.layers = {layer};
    const auto parts = test::must(cut_out(figure));
    const auto bytes = test::must(io::cutout_gltf(figure, parts, {}, true));
    const io::Scene scene = test::must(io::load_bytes(bytes, "figure.glb"));
    ASSERT_EQ(scene.skeleton.joints.size(), 3u);
    EXPECT_EQ(scene.skeleton.joints[0].tail, scene.skeleton.joints[1].position);
    ASSERT_TRUE(scene.skeleton.joints[1].tail);
    EXPECT_NEAR(scene.skeleton.joints[1].tail->x, 0.3f, 1e-6f);
    EXPECT_NEAR(scene.skeleton.joints[1].tail->y, 0.7f, 1e-6f);
    EXPECT_FALSE(scene.skeleton.joints[2].tail);
}

}  // namespace
}  // namespace sinew::test_stated_tails
