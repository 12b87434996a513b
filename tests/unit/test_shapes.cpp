// Joints with shapes (balls, capsules, boxes), and skeletons with several roots or without a hierarchy.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

#include "bind/bone_shapes.h"
#include "characters/shapes.h"
#include "core/bone_space.h"
#include "domain/shape_voxels.h"
#include "render/figure.h"
#include "sinew/bind.h"
#include "sinew/voxels.h"
#include "unit/support.h"

namespace sinew::test_shapes {
namespace {

using test::bound;

Joint joint_at(const std::string& name, Vec3 position, std::optional<JointShape> shape = {}, int parent = -1) {
    Joint joint;
    joint.name = name;
    joint.parent = parent;
    joint.position = position;
    joint.shape = shape;
    return joint;
}
JointShape ball(float radius) { return {JointShape::Kind::sphere, radius, {}, {}}; }
JointShape capsule(float radius) { return {JointShape::Kind::capsule, radius, {}, {}}; }
JointShape box(Vec3 half, std::optional<std::array<Vec3, 3>> axes = {}) {
    return {JointShape::Kind::box, 0, half, axes};
}

float distance_of(const Binding& b, std::size_t vertex, std::uint32_t joint) {
    const DistanceTable& t = b.distances();
    for (std::size_t k = 0; k < t.width; ++k)
        if (t.joint[vertex * t.width + k] == joint) return t.distance[vertex * t.width + k];
    return INFINITY;
}

BindOptions options_of(Method method) {
    BindOptions options = preset(method);
    options.voxels.resolution = 128;
    options.overshoot = 0;
    return options;
}

constexpr Method kDistanceMethods[] = {Method::geodesic_voxel, Method::closest_distance, Method::closest_hierarchy,
                                       Method::mesh_geodesic};

TEST(BoneSpace, DistancesAreExact) {
    const BoneSpace sphere(Bone{0, {1, 2, 3}, {1, 2, 3}, false, false, 0.5f, {}});
    EXPECT_NEAR(sphere.signed_distance({4, 6, 3}), 4.5, 1e-12);
    EXPECT_EQ(sphere.distance({1.2, 2, 3.1}), 0);
    EXPECT_NEAR(sphere.signed_distance({1, 2, 3}), -0.5, 1e-12);
    const BoneSpace rod(Bone{0, {0, 0, 0}, {2, 0, 0}, true, true, 0.25f, {}});
    EXPECT_NEAR(rod.distance({1, 1, 0}), 0.75, 1e-12);
    EXPECT_NEAR(rod.distance({5, 4, 0}), 4.75, 1e-12);
    EXPECT_EQ(rod.distance({2.2, 0, 0}), 0);
    Bone bone{0, {-1, 0, 0}, {1, 0, 0}, false, false, 0, {}};
    bone.box = Bone::Box{{3, 1, 2}, {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}};
    const BoneSpace straight(bone);
    EXPECT_NEAR(straight.distance({6, 5, 2}), 5, 1e-12);  // 3 and 4 beyond two faces
    EXPECT_NEAR(straight.distance({0, 0, -3.5}), 1.5, 1e-12);
    EXPECT_NEAR(straight.signed_distance({0, 0.25, 0}), -0.75, 1e-12);
    const float r = std::sqrt(0.5f);
    bone.box->axes = {Vec3{r, r, 0}, Vec3{-r, r, 0}, Vec3{0, 0, 1}};
    const BoneSpace turned(bone);
    EXPECT_NEAR(turned.distance({4 * r, 4 * r, 0}), 1, 1e-6);
    EXPECT_NEAR(turned.distance({-2 * r, 2 * r, 0}), 1, 1e-6);
}

TEST(BoneSpace, NeverChangesFasterThanThePointMoves) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> at(-3, 3);
    Bone bone{0, {-1, 0, 0}, {1, 0.5f, 0}, false, false, 0.4f, {}};
    for (const bool is_box : {false, true}) {
        if (is_box)
            bone.box = Bone::Box{{1, 0.3f, 0.6f}, {Vec3{0.6f, 0.8f, 0}, Vec3{-0.8f, 0.6f, 0}, Vec3{0, 0, 1}}};
        const BoneSpace space(bone);
        for (int i = 0; i < 2000; ++i) {
            const Point3 p{at(random), at(random), at(random)}, q{at(random), at(random), at(random)};
            const double way = std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
            EXPECT_LE(std::abs(space.signed_distance(p) - space.signed_distance(q)), way * (1 + 1e-6));
        }
    }
}

// Joints with several bones, of all kinds, some open at their ends, at points around them and on them.
TEST(BoneShapes, ManyPointsGetTheBitsOfOne) {
    std::mt19937 random(12);
    std::uniform_real_distribution<float> place(-1, 1);
    const auto point = [&] { return Vec3{place(random), place(random), place(random)}; };
    Skeleton skeleton;
    std::vector<Bone> bones;
    for (std::uint32_t j = 0; j < 12; ++j) {
        skeleton.joints.push_back(joint_at(std::to_string(j), point()));
        for (std::uint32_t k = 0; k < j % 4; ++k) {  // every fourth joint has none
            Bone bone;
            bone.joint = j;
            bone.head = skeleton.joints[j].position;
            bone.tail = random() % 5 == 0 ? bone.head : point();
            bone.open_head = random() % 2 == 0;
            bone.open_tail = random() % 2 == 0;
            if (random() % 3 == 0) bone.radius = 0.1f;
            if (random() % 4 == 0) bone.box = Bone::Box{{0.2f, 0.1f, 0.3f}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
            bones.push_back(bone);
        }
    }
    const BoneShapes shapes(skeleton, bones);
    for (std::uint32_t j = 0; j < 12; ++j)
        for (std::size_t count = 0; count <= BoneShapes::PointBatch::kCapacity; ++count) {
            BoneShapes::PointBatch many;
            many.count = count;
            std::vector<Vec3> points;
            for (std::size_t i = 0; i < count; ++i) {
                points.push_back(i % 7 == 0 ? skeleton.joints[j].position : point());
                many.x[i] = points[i].x;
                many.y[i] = points[i].y;
                many.z[i] = points[i].z;
            }
            shapes.straight(j, many);
            for (std::size_t i = 0; i < count; ++i) {
                const BoneShapes::Distance one = shapes.straight(j, to_point(points[i]));
                ASSERT_EQ(many.nearest[i], one.nearest) << "joint " << j << " point " << i << " of " << count;
                ASSERT_EQ(many.beyond[i], one.beyond) << "joint " << j << " point " << i << " of " << count;
            }
        }
}

TEST(Shapes, ReplaceTheBones) {
    Skeleton s;
    s.joints = {joint_at("root", {0, 0, 0}, ball(0.5f)), joint_at("arm", {1, 0, 0}, capsule(0.2f), 0),
                joint_at("hand", {2, 0, 0}, box({0.1f, 0.2f, 0.3f}), 1)};
    s.joints[2].tail = Vec3{3, 0, 0};
    const std::vector<Bone> bones = make_bones(s);
    ASSERT_EQ(bones.size(), 3u);
    EXPECT_EQ(bones[0].head, bones[0].tail);
    EXPECT_EQ(bones[0].radius, 0.5f);
    EXPECT_EQ(bones[1].tail, (Vec3{2, 0, 0}));
    EXPECT_EQ(bones[1].radius, 0.2f);
    EXPECT_TRUE(bones[1].open_head);
    ASSERT_TRUE(bones[2].box);
    EXPECT_EQ(bones[2].box->axes[1], (Vec3{0, 1, 0}));
    EXPECT_EQ(BoneSpace(bones[2]).centre(), (Point3{2.5, 0, 0}));
    // A leaf that has a shape is not lengthened.
    const test::Character bar = test::bar();
    for (const Method method : kDistanceMethods) {
        Skeleton k;
        k.joints = {joint_at("a", {-0.9f, 0, 0}), joint_at("b", {0.2f, 0, 0}, ball(0.15f), 0)};
        const Binding b = bound(bar.mesh(), k, options_of(method));
        for (const Bone& bone : b.bones())
            if (bone.joint == 1) {
                EXPECT_EQ(bone.head, bone.tail) << to_string(method);
            }
    }
}

TEST(Shapes, WithoutSizeAreRefused) {
    Skeleton s;
    const Vec3 x{1, 0, 0}, y{0, 1, 0};
    for (const JointShape& shape :
         {ball(0), ball(NAN), ball(INFINITY), capsule(-1), box({1, 0, 1}), box({1, 1, NAN}),
          box({1, 1, 1}, std::array{x, y, y}), box({1, 1, 1}, std::array{x, y, Vec3{0, 0, 2}}),
          box({1, 1, 1}, std::array{x, y, Vec3{0, 0, NAN}})}) {
        s.joints = {joint_at("odd", {0, 0, 0}, shape)};
        const Status ok = check_skeleton(s);
        ASSERT_FALSE(ok);
        EXPECT_NE(ok.error().message.find("\"odd\""), std::string::npos);
    }
    s.joints = {joint_at("a", {0, 0, 0})};
    s.joints[0].hardness = 1.5f;
    EXPECT_FALSE(check_skeleton(s));
}

TEST(Shapes, SeedEveryLeafWithinAndDivideAtTheSurface) {
    const test::Shape s = test::box({0, 0, 0}, {1, 1, 1}, 8);
    const MeshView mesh{s.positions, s.triangles, {}};
    VoxelizeOptions voxels;
    voxels.resolution = 64;
    const auto grid = voxelize(mesh, analyse_mesh(mesh), voxels);
    Bone bone{0, {0.1f, 0, 0}, {0.1f, 0, 0}, false, false, 0.4f, {}};
    for (const bool is_box : {false, true}) {
        if (is_box) bone.box = Bone::Box{{0.5f, 0.2f, 0.3f}, {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}};
        const auto domain = build_domain(*grid, {&bone, 1}, DomainKind::sparse);
        const BoneSeeds seeds = seed_bones(*domain, {&bone, 1}, 1);
        std::vector<bool> seeded(domain->leaves.size(), false);
        for (const auto& seed : seeds.of_joint[0]) {
            EXPECT_EQ(seed.distance, 0);
            seeded[seed.leaf] = true;
        }
        std::size_t coarse = 0;
        for (std::uint32_t i = 0; i < domain->leaves.size(); ++i) {
            const auto c = domain->centre(i);
            const GridTransform& t = domain->transform;
            const double d = BoneSpace(bone).signed_distance(
                {t.origin[0] + c[0] * t.voxel, t.origin[1] + c[1] * t.voxel, t.origin[2] + c[2] * t.voxel});
            const double half_diagonal = std::sqrt(3.0) / 2 * (1 << domain->leaves[i].level) * t.voxel;
            if (d < 0) {
                EXPECT_TRUE(seeded[i]);
            } else if (d > half_diagonal) {
                EXPECT_FALSE(seeded[i]);
            }
            // A leaf of several voxels is on one side of the surface.
            if (domain->leaves[i].level > 0) {
                EXPECT_GT(std::abs(d), half_diagonal / 4);
                coarse += d < 0;
            }
        }
        EXPECT_GT(coarse, 10u);  // the inside is not divided
        EXPECT_LT(domain->leaves.size(), 64u * 64 * 64 / 2);
    }
}

TEST(Shapes, ABoxOverHalfABarOwnsItUpToItsEnd) {
    const test::Character bar = test::bar();  // x from -1 to 1, radius 0.1
    Skeleton s;
    s.joints = {joint_at("half", {-0.6f, 0, 0}, box({0.65f, 0.2f, 0.2f})),
                joint_at("far", {0.8f, 0, 0}, ball(0.19f))};
    for (const Method method : kDistanceMethods) {
        const Binding b = bound(bar.mesh(), s, options_of(method));
        const SkinWeights w = *b.weights();
        const bool exact = method != Method::geodesic_voxel;
        const float voxel = 2.0f / 128;
        for (std::size_t v = 0; v < bar.positions.size(); ++v) {
            const float x = bar.positions[v].x - 0.05f;  // distance from the end of the box
            if (std::hypot(bar.positions[v].y, bar.positions[v].z) < 0.09f) continue;  // the caps' middles
            // The hierarchy reaches joints at most two links away; these two have no link.
            const float d = method == Method::closest_hierarchy && x > 0.3f ? x : distance_of(b, v, 0);
            if (exact) {
                EXPECT_NEAR(d, std::max(0.0f, x), 1e-5) << to_string(method) << " " << x;
            } else if (x < -2 * voxel) {
                EXPECT_EQ(d, 0) << x;
            } else if (x > 2 * voxel) {
                EXPECT_GE(d, x - 1e-5f);
                EXPECT_LE(d, 1.1f * x + 10 * voxel);  // in the boundary a step counts four times
            }
            if (x < -2 * voxel && method != Method::mesh_geodesic) {
                ASSERT_EQ(w[v].size(), 1u) << to_string(method);
                EXPECT_EQ(w[v][0].joint, 0u);
            }
            if (x > 0.57f) {
                EXPECT_EQ(w[v][0].joint, 1u) << to_string(method) << " " << x;
            }
        }
    }
}

TEST(Shapes, ThreeBoxesWithoutHierarchyBindARobot) {
    const test::Character robot = test::robot();
    float top = 0;
    for (const Vec3& p : robot.positions) top = std::max(top, p.y);
    const float third = top / 3;
    // The boxes end between parts of the robot, since methods that keep rigid parts whole cannot split a part.
    std::map<std::uint32_t, std::array<float, 2>> ends;
    for (std::size_t v = 0; v < robot.positions.size(); ++v) {
        const float y = robot.positions[v].y;
        auto& [low, high] = ends.try_emplace(robot.body_part[v], std::array{y, y}).first->second;
        low = std::min(low, y), high = std::max(high, y);
    }
    const auto box_at = [&](float y) { return static_cast<std::uint32_t>(std::clamp(y / third, 0.0f, 2.0f)); };
    Skeleton s;
    for (const float k : {0.5f, 1.5f, 2.5f})
        s.joints.push_back(joint_at("box", {0, k * third, 0}, box({3, third / 2, 3})));
    for (const MethodInfo& method : methods()) {
        if (method.method == Method::pixel_geodesic) continue;  // for flat meshes
        BindOptions options = options_of(method.method);
        options.voxels.resolution = 64;
        const Binding b = bound(robot.mesh(), s, options);
        EXPECT_EQ(b.report().covered(), 1) << method.name;
        const SkinWeights w = *b.weights();
        for (std::size_t v = 0; v < robot.positions.size(); ++v) {
            const float y = robot.positions[v].y;
            ASSERT_FALSE(w[v].empty());
            if (std::abs(y - third) < 0.05f || std::abs(y - 2 * third) < 0.05f) continue;
            const auto [low, high] = ends.at(robot.body_part[v]);
            if (method.method == Method::surface_heat && box_at(low) != box_at(high)) continue;
            EXPECT_EQ(w[v][0].joint, box_at(y)) << method.name << " " << y;
        }
    }
}

TEST(Shapes, SeveralSkeletonsKeepToTheirOwn) {
    // Two bars 0.3 apart, each with its own hierarchy; and the same as one mesh, joined at one end.
    test::Character c = test::bar();
    const std::size_t body = c.positions.size();
    const test::Character second = test::bar();
    std::vector<Vec3> moved = second.positions;
    for (Vec3& p : moved) p.y += 0.5f;
    append(c, moved, second.triangles, 0);
    for (const Joint& joint : second.skeleton.joints) {
        Joint copy = joint;
        copy.name += "_2";
        copy.position.y += 0.5f;
        if (copy.parent >= 0) copy.parent += 2;
        if (copy.tail) copy.tail->y += 0.5f;
        c.skeleton.joints.push_back(copy);
    }
    for (const Method method : {Method::geodesic_voxel, Method::mesh_geodesic, Method::connectivity}) {
        const Binding b = bound(c.mesh(), c.skeleton, options_of(method));
        const SkinWeights w = *b.weights();
        for (std::size_t v = 0; v < c.positions.size(); ++v)
            for (const Influence& i : w[v]) EXPECT_EQ(i.joint / 2, v < body ? 0u : 1u) << to_string(method);
    }
    const Binding b = bound(c.mesh(), c.skeleton, options_of(Method::closest_distance));
    const SkinWeights w = *b.weights();
    for (std::size_t v = 0; v < c.positions.size(); ++v) EXPECT_EQ(w[v][0].joint / 2, v < body ? 0u : 1u);
}

TEST(Shapes, OvershootDoesNotReachIntoACapsule) {
    const test::Character bar = test::bar();
    Skeleton s;
    s.joints = {joint_at("a", {-0.6f, 0, 0}, capsule(0.3f)), joint_at("b", {0, 0, 0}, capsule(0.3f), 0)};
    s.joints[1].tail = Vec3{0.6f, 0, 0};
    BindOptions options = preset(Method::closest_distance);
    options.overshoot = 1;
    const Binding b = bound(bar.mesh(), s, options);
    for (std::size_t v = 0; v < bar.positions.size(); ++v) {
        const Vec3& p = bar.positions[v];
        if (std::hypot(p.y, p.z) < 0.09f) continue;
        const double past = std::max(0.0, double(p.x));  // of a's open end
        EXPECT_NEAR(distance_of(b, v, 0),
                    std::max(0.0, (past > 0 ? std::hypot(past, 0.1) : 0.0) - 0.3) + std::max(0.0, past - 0.3) +
                        (p.x < -0.6f ? std::max(0.0, std::hypot(p.x + 0.6, 0.1) - 0.3) : 0.0),
                    1e-5)
            << p.x;
    }
}

TEST(Shapes, AreDrawnAtTheirPositions) {
    Panel panel;
    Placement placement{};
    placement.m = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    Bone bone{0, {0, 0, 0}, {0, 0, 0}, false, false, 5, {}};
    const auto farthest = [&](Bone::Box within) {
        panel.bones = {&bone, 1};
        double most = -INFINITY;
        for (const Corner& c : bone_corners(panel, placement, 0.01)) {
            const float p[3] = {c.x, c.y, c.z}, half[3] = {within.half.x, within.half.y, within.half.z};
            for (std::size_t k = 0; k < 3; ++k) most = std::max(most, double{std::abs(p[k])} - half[k]);
        }
        return most;
    };
    EXPECT_NEAR(farthest({{5, 5, 5}, {}}), 0, 0.02);
    bone.tail = {0, 0, 7};
    EXPECT_NEAR(farthest({{5, 5, 12}, {}}), 0, 0.02);
    bone.tail = bone.head;
    bone.radius = 0;
    bone.box = Bone::Box{{1, 2, 3}, {Vec3{0, 1, 0}, Vec3{1, 0, 0}, Vec3{0, 0, 1}}};
    EXPECT_NEAR(farthest({{2, 1, 3}, {}}), 0, 0.02);
}

TEST(Hardness, OfAJointIsItsAlpha) {
    const test::Character bar = test::bar();
    BindOptions options = options_of(Method::geodesic_voxel);
    Skeleton hard = bar.skeleton;
    hard.joints[1].hardness = 0.8f;
    const Binding b = bound(bar.mesh(), hard, options);
    EXPECT_TRUE(b.report().warnings.empty());
    const SkinWeights got = *b.weights();
    options.falloff.map.of_joint = {NAN, 0.8f};
    const SkinWeights mapped = *bound(bar.mesh(), bar.skeleton, options).weights();
    EXPECT_EQ(got, mapped);
    options.falloff.map = {};
    EXPECT_FALSE(got == *bound(bar.mesh(), bar.skeleton, options).weights());
    // Under a law whose shape is a length, too.
    options = options_of(Method::mesh_geodesic);
    const Binding along = bound(bar.mesh(), hard, options);
    EXPECT_TRUE(along.report().warnings.empty());
    options.falloff.map.hardness_of_joint = {NAN, 0.8f};
    EXPECT_EQ(*along.weights(), *bound(bar.mesh(), bar.skeleton, options).weights());
    options.falloff.map = {};
    EXPECT_FALSE(*along.weights() == *bound(bar.mesh(), bar.skeleton, options).weights());
    // A map of the caller has precedence, with a warning.
    for (const bool alpha : {true, false}) {
        options = options_of(alpha ? Method::geodesic_voxel : Method::mesh_geodesic);
        (alpha ? options.falloff.map.of_joint : options.falloff.map.hardness_of_joint) = {NAN, 0.2f};
        const Binding given = bound(bar.mesh(), hard, options);
        ASSERT_EQ(given.report().warnings.size(), 1u);
        EXPECT_NE(given.report().warnings[0].find("hardness of 1 joints"), std::string::npos);
        EXPECT_EQ(*given.weights(), *bound(bar.mesh(), bar.skeleton, options).weights());
    }
}

}  // namespace
}  // namespace sinew::test_shapes
