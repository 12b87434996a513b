#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <tuple>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "sinew/bind.h"
#include "sinew/deform.h"

namespace sinew::test_deform {
namespace {

constexpr double pi = std::numbers::pi;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

SkinWeights rows(const std::vector<std::vector<Influence>>& table) {
    std::vector<std::uint32_t> counts;
    std::vector<Influence> all;
    for (const auto& row : table) {
        counts.push_back(static_cast<std::uint32_t>(row.size()));
        all.insert(all.end(), row.begin(), row.end());
    }
    auto weights = SkinWeights::from_rows(counts, std::move(all));
    EXPECT_TRUE(weights.ok());
    return std::move(*weights);
}

JointPose turned(int axis, double degrees) {
    JointPose pose;
    pose.rotation = {0, 0, 0, std::cos(degrees * pi / 360)};
    pose.rotation[static_cast<std::size_t>(axis)] = std::sin(degrees * pi / 360);
    return pose;
}

double volume(const std::vector<Vec3>& p, const std::vector<Triangle>& triangles) {
    double six = 0;
    for (const Triangle& t : triangles) {
        const Vec3 &a = p[t[0]], &b = p[t[1]], &c = p[t[2]];
        six += double{a.x} * (double{b.y} * c.z - double{b.z} * c.y) +
               double{a.y} * (double{b.z} * c.x - double{b.x} * c.z) +
               double{a.z} * (double{b.x} * c.y - double{b.y} * c.x);
    }
    return six / 6;
}

Surface surface_of(const test::Character& c) {
    Surface s;
    s.positions = c.positions;
    for (std::size_t v = 0; v < c.positions.size(); ++v) {  // any unit vectors
        const double a = 0.1 * static_cast<double>(v);
        s.normals.push_back({static_cast<float>(std::cos(a)), static_cast<float>(std::sin(a)), 0});
        s.tangents.push_back({0, 0, 1, v % 2 ? 1.0f : -1.0f});
    }
    return s;
}

SkinWeights bound(const test::Character& c) {
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = 64;
    auto binding = bind(c.mesh(), c.skeleton, options);
    EXPECT_TRUE(binding.ok());
    auto weights = binding->weights();
    EXPECT_TRUE(weights.ok());
    return std::move(*weights);
}

/// Rotates every joint a little, each about another axis.
std::vector<Transform> wild_pose(const Skeleton& skeleton) {
    std::vector<JointPose> pose;
    for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
        pose.push_back(turned(static_cast<int>(j % 3), 10.0 + 7.0 * static_cast<double>(j % 5)));
        pose.back().translation = {0.01 * static_cast<double>(j % 2), 0, -0.01};
    }
    auto transforms = skinning_matrices(skeleton, pose);
    EXPECT_TRUE(transforms.ok());
    return std::move(*transforms);
}

Surface must_deform(const SurfaceView& surface, const SkinWeights& weights, std::span<const Transform> transforms,
                    Skinning skinning, Context* context = nullptr) {
    auto out = deform(surface, weights, transforms, skinning, context);
    EXPECT_TRUE(out.ok()) << (out ? "" : out.error().message);
    return out ? std::move(*out) : Surface{};
}

constexpr Skinning both[] = {Skinning::linear_blend, Skinning::dual_quaternion};

TEST(Deform, RestPoseIsExact) {
    const test::Character c = test::biped({.cell = 0.04});
    const SkinWeights weights = bound(c);
    const std::vector<JointPose> rest(c.skeleton.joints.size());
    const auto transforms = skinning_matrices(c.skeleton, rest);
    ASSERT_TRUE(transforms.ok());
    for (const Transform& t : *transforms) EXPECT_EQ(t, Transform{});
    const Surface before = surface_of(c);
    for (const Skinning skinning : both) {
        const Surface after = must_deform(before.view(), weights, *transforms, skinning);
        EXPECT_EQ(after.positions, before.positions);
        EXPECT_EQ(after.normals, before.normals);
        EXPECT_EQ(after.tangents, before.tangents);
    }
}

TEST(Deform, ARigidMotionOfTheRootMovesEverythingRigidly) {
    const test::Character c = test::biped({.cell = 0.04});
    const SkinWeights weights = bound(c);
    std::vector<JointPose> pose(c.skeleton.joints.size());
    std::size_t root = 0;
    while (c.skeleton.joints[root].parent >= 0) ++root;
    pose[root] = turned(1, 70);
    pose[root].translation = {0.5, -0.25, 2};
    const auto transforms = skinning_matrices(c.skeleton, pose);
    ASSERT_TRUE(transforms.ok());
    const Vec3 at = c.skeleton.joints[root].position;
    const double cosine = std::cos(70 * pi / 180), sine = std::sin(70 * pi / 180);
    const Surface before = surface_of(c);
    for (const Skinning skinning : both) {
        const Surface after = must_deform(before.view(), weights, *transforms, skinning);
        for (std::size_t v = 0; v < c.positions.size(); ++v) {
            const Vec3 p = before.positions[v], n = before.normals[v];
            const double x = double{p.x} - at.x, z = double{p.z} - at.z;
            ASSERT_NEAR(after.positions[v].x, at.x + cosine * x + sine * z + 0.5, 1e-6);
            ASSERT_NEAR(after.positions[v].y, p.y - 0.25, 1e-6);
            ASSERT_NEAR(after.positions[v].z, at.z - sine * x + cosine * z + 2, 1e-6);
            ASSERT_NEAR(after.normals[v].x, cosine * n.x, 1e-6);
            ASSERT_NEAR(after.normals[v].y, n.y, 1e-6);
            ASSERT_NEAR(after.normals[v].z, -sine * n.x, 1e-6);
            ASSERT_NEAR(after.tangents[v][0], sine, 1e-6);
            ASSERT_EQ(after.tangents[v][3], before.tangents[v][3]);
        }
    }
}

TEST(Deform, DualQuaternionsKeepTheVolumeOfATwistedBarWhereLinearBlendingCollapses) {
    const test::Character c = test::bar();
    std::vector<std::vector<Influence>> table;
    for (const Vec3& p : c.positions) {
        const float b = std::clamp(0.5f + p.x / 2, 0.0f, 1.0f);
        table.push_back({{0, 1 - b}, {1, b}});
    }
    const SkinWeights weights = rows(table);
    const double whole = volume(c.positions, c.triangles);
    for (const double degrees : {180.0, -180.0, 179.0, 181.0}) {
        const auto transforms =
            skinning_matrices(c.skeleton, std::vector<JointPose>{JointPose{}, turned(0, degrees)});
        ASSERT_TRUE(transforms.ok());
        const SurfaceView view{c.positions, {}, {}};
        const Surface linear = must_deform(view, weights, *transforms, Skinning::linear_blend);
        const Surface dual = must_deform(view, weights, *transforms, Skinning::dual_quaternion);
        // Linear blending: a ring of weight b keeps |1 - 2b| of its radius, so a third of the volume is left.
        EXPECT_NEAR(volume(linear.positions, c.triangles) / whole, 1.0 / 3, 0.01);
        EXPECT_NEAR(volume(dual.positions, c.triangles) / whole, 1, 0.01);
        for (const Vec3& p : dual.positions)
            if (std::abs(p.x) < 0.99f) {
                EXPECT_NEAR(std::hypot(p.y, p.z), 0.1, 1e-5);
            }
    }
}

TEST(Deform, DualQuaternionsMoveAVertexByTheirShare) {
    const test::Character c = test::bar();
    const std::vector<Vec3> p{{0, 0.1f, 0}, {0, 0.1f, 0}, {0, 0.1f, 0}};
    const SkinWeights weights = rows(std::vector<std::vector<Influence>>(3, {{0, 0.5f}, {1, 0.5f}}));
    const auto transforms = skinning_matrices(c.skeleton, std::vector<JointPose>{JointPose{}, turned(0, 90)});
    ASSERT_TRUE(transforms.ok());
    const std::vector<float> shares{0, 0.25f, 1};
    const Surface linear = must_deform({p, {}, {}}, weights, *transforms, Skinning::linear_blend);
    const Surface dual = must_deform({p, {}, {}}, weights, *transforms, Skinning::dual_quaternion);
    const Surface mixed = must_deform({p, {}, {}, shares}, weights, *transforms, Skinning::dual_quaternion);
    EXPECT_EQ(mixed.positions[0], linear.positions[0]);
    EXPECT_NEAR(mixed.positions[1].y, 0.75f * linear.positions[1].y + 0.25f * dual.positions[1].y, 1e-7);
    EXPECT_EQ(mixed.positions[2], dual.positions[2]);
    // Only joints of vertices with a share must be rigid.
    const std::vector<Transform> scaled{to_transform(JointPose{{0, 0, 0, 1}, {0, 0, 0}, {2, 2, 2}}), Transform{}};
    const std::vector<float> none{0, 0, 0}, more{0, 0, 2};
    must_deform({p, {}, {}, none}, weights, scaled, Skinning::dual_quaternion);
    EXPECT_FALSE(deform({p, {}, {}, shares}, weights, scaled, Skinning::dual_quaternion));
    EXPECT_FALSE(deform({p, {}, {}, more}, weights, scaled, Skinning::dual_quaternion));
}

TEST(Deform, DualQuaternionsDoNotDependOnTheSignOfAQuaternion) {
    // Rotations by 350° and by -10° are the same matrix; a weight of 1/2 must end between the poses, not opposite.
    const SkinWeights weights = rows({{{0, 0.5f}, {1, 0.5f}}});
    const std::vector<Vec3> p{{1, 0, 0}};
    const std::vector<Transform> transforms{to_transform(turned(2, 350)), to_transform(turned(2, 30))};
    const Surface out = must_deform({p, {}, {}}, weights, transforms, Skinning::dual_quaternion);
    EXPECT_NEAR(out.positions[0].x, std::cos(10 * pi / 180), 1e-6);
    EXPECT_NEAR(out.positions[0].y, std::sin(10 * pi / 180), 1e-6);
}

TEST(Deform, DualQuaternionsBlendTranslationsLinearly) {
    const SkinWeights weights = rows({{{0, 0.75f}, {1, 0.25f}}});
    const std::vector<Vec3> p{{1, 2, 3}};
    JointPose moved;
    moved.translation = {4, 0, -8};
    const std::vector<Transform> transforms{Transform{}, to_transform(moved)};
    const Surface out = must_deform({p, {}, {}}, weights, transforms, Skinning::dual_quaternion);
    EXPECT_EQ(out.positions[0], (Vec3{2, 2, 1}));
}

// Milcho (2011) guarantees this: no crack opens between parts.
TEST(Deform, VerticesAtTheSamePlaceMoveTogether) {
    const test::Character whole = test::caped();
    test::Character c = whole;  // soup: every triangle has its own vertices
    c.positions.clear();
    for (Triangle& t : c.triangles)
        for (std::uint32_t& corner : t) {
            c.positions.push_back(whole.positions[corner]);
            corner = static_cast<std::uint32_t>(c.positions.size() - 1);
        }
    const SkinWeights weights = bound(c);
    const std::vector<Transform> transforms = wild_pose(c.skeleton);
    for (const Skinning skinning : both) {
        const Surface out = must_deform({c.positions, {}, {}}, weights, transforms, skinning);
        std::map<std::tuple<float, float, float>, Vec3> placed;
        std::size_t shared = 0;
        for (std::size_t v = 0; v < c.positions.size(); ++v) {
            const Vec3 p = c.positions[v];
            const auto [at, is_new] = placed.try_emplace({p.x, p.y, p.z}, out.positions[v]);
            shared += !is_new;
            ASSERT_EQ(at->second, out.positions[v]) << "vertex " << v;
        }
        EXPECT_GT(shared, c.positions.size() / 2);
    }
}

// Milcho (2011) on figures cut into parts: the parts stay joined at their seams, with equal or different normals.
TEST(Deform, PartsWithOwnNormalsStayTogether) {
    const test::Character whole = test::caped();
    test::Character c = whole;  // three parts of a third of the triangles each; they share no vertex
    c.positions.clear();
    std::vector<Vec3> normals;
    std::vector<std::array<float, 4>> tangents;
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> split;
    for (std::size_t t = 0; t < c.triangles.size(); ++t)
        for (std::uint32_t& corner : c.triangles[t]) {
            const std::size_t part = t % 3;
            const auto next = static_cast<std::uint32_t>(c.positions.size());
            const auto [at, is_new] = split.try_emplace({part, corner}, next);
            if (is_new) {
                c.positions.push_back(whole.positions[corner]);
                normals.push_back(part == 0 ? Vec3{1, 0, 0} : part == 1 ? Vec3{0, 1, 0} : Vec3{0, 0, 1});
                tangents.push_back(part == 0 ? std::array<float, 4>{0, 1, 0, 1}
                                             : std::array<float, 4>{0.6f, 0, 0.8f, -1});
            }
            corner = at->second;
        }
    ASSERT_GT(c.positions.size(), 2 * whole.positions.size());
    const SkinWeights weights = bound(c);
    const std::vector<Transform> transforms = wild_pose(c.skeleton);
    for (const Skinning skinning : both) {
        const Surface out = must_deform({c.positions, normals, tangents}, weights, transforms, skinning);
        std::map<std::tuple<float, float, float>, Vec3> placed;
        for (std::size_t v = 0; v < c.positions.size(); ++v) {
            const Vec3 p = c.positions[v];
            const auto at = placed.try_emplace({p.x, p.y, p.z}, out.positions[v]).first;
            ASSERT_EQ(at->second, out.positions[v]) << "vertex " << v;
        }
    }
}

TEST(Deform, ThreadsGiveTheSameBits) {
    const test::Character c = test::biped({.cell = 0.02});
    const SkinWeights weights = bound(c);
    const std::vector<Transform> transforms = wild_pose(c.skeleton);
    const Surface before = surface_of(c);
    for (const Skinning skinning : both) {
        Context one, four;
        one.threads = 1;
        four.threads = 4;
        const Surface a = must_deform(before.view(), weights, transforms, skinning, &one);
        const Surface b = must_deform(before.view(), weights, transforms, skinning, &four);
        EXPECT_EQ(a.positions, b.positions);
        EXPECT_EQ(a.normals, b.normals);
        EXPECT_EQ(a.tangents, b.tangents);
        EXPECT_NE(a.positions, before.positions);
    }
}

TEST(Deform, NormalsFollowTheInverseTranspose) {
    // Scaled along x by 1/2: a plane at 45° becomes steeper.
    const SkinWeights weights = rows({{{0, 1}}});
    JointPose squash;
    squash.scale = {0.5, 1, 1};
    const float s = static_cast<float>(std::sqrt(0.5));
    const std::vector<Vec3> p{{2, 2, 0}}, n{{s, s, 0}};
    const std::vector<std::array<float, 4>> t{{s, -s, 0, -1}};
    const std::vector<Transform> transforms{to_transform(squash)};
    const Surface out = must_deform({p, n, t}, weights, transforms, Skinning::linear_blend);
    EXPECT_EQ(out.positions[0], (Vec3{1, 2, 0}));
    EXPECT_NEAR(out.normals[0].x, 2 / std::sqrt(5), 1e-6);
    EXPECT_NEAR(out.normals[0].y, 1 / std::sqrt(5), 1e-6);
    EXPECT_NEAR(out.tangents[0][0], 1 / std::sqrt(5), 1e-6);
    EXPECT_NEAR(out.tangents[0][1], -2 / std::sqrt(5), 1e-6);
    EXPECT_EQ(out.tangents[0][3], -1);

    // A mirror reflects normals together with the surface.
    JointPose mirror;
    mirror.scale = {-1, 1, 1};
    const std::vector<Transform> mirrored{to_transform(mirror)};
    const Surface image = must_deform({p, n, {}}, weights, mirrored, Skinning::linear_blend);
    EXPECT_NEAR(image.normals[0].x, -s, 1e-6);
    EXPECT_NEAR(image.normals[0].y, s, 1e-6);

    // A normal of zero length stays zero.
    const std::vector<Vec3> no_normal{{0, 0, 0}};
    EXPECT_EQ(must_deform({p, no_normal, {}}, weights, transforms, Skinning::linear_blend).normals, no_normal);
}

TEST(Deform, VerticesWithoutWeightsStay) {
    const SkinWeights weights = rows({{}, {{0, 1}}});
    JointPose moved;
    moved.translation = {1, 0, 0};
    const std::vector<Vec3> p{{1, 2, 3}, {1, 2, 3}};
    const std::vector<Transform> transforms{to_transform(moved)};
    for (const Skinning skinning : both) {
        const Surface out = must_deform({p, {}, {}}, weights, transforms, skinning);
        EXPECT_EQ(out.positions, (std::vector<Vec3>{{1, 2, 3}, {2, 2, 3}}));
    }
}

TEST(Deform, BadInputIsAnError) {
    const SkinWeights weights = rows({{{0, 0.5f}, {1, 0.5f}}});
    const std::vector<Vec3> p{{1, 2, 3}};
    const std::vector<Transform> two(2);
    const auto refusal = [&](const SurfaceView& surface, std::span<const Transform> transforms,
                             Skinning skinning = Skinning::linear_blend) {
        const auto out = deform(surface, weights, transforms, skinning);
        EXPECT_FALSE(out.ok());
        return out ? "" : out.error().message;
    };
    const std::vector<Vec3> nowhere{{1, nan, 3}}, none;
    EXPECT_NE(refusal({nowhere, {}, {}}, two).find("vertex 0"), std::string::npos);
    EXPECT_NE(refusal({p, nowhere, {}}, two).find("normal"), std::string::npos);
    const std::vector<std::array<float, 4>> tangents{{nan, 0, 0, 1}};
    EXPECT_NE(refusal({p, {}, tangents}, two).find("tangent"), std::string::npos);
    EXPECT_NE(refusal({none, {}, {}}, two).find("rows"), std::string::npos);
    EXPECT_NE(refusal({p, std::vector<Vec3>(2), {}}, two).find("normals"), std::string::npos);
    EXPECT_NE(refusal({p, {}, {}}, std::span(two).first(1)).find("joint 1"), std::string::npos);
    std::vector<Transform> bad(2);
    bad[1](0, 3) = std::numeric_limits<double>::infinity();
    EXPECT_NE(refusal({p, {}, {}}, bad).find("joint 1"), std::string::npos);
    bad[1] = Transform{};
    bad[1](0, 3) = 1e300;
    EXPECT_NE(refusal({p, {}, {}}, bad).find("range of float"), std::string::npos);

    // Dual quaternions refuse scale, shear and mirrors, except at joints without weights.
    std::vector<Transform> scaled(3);
    scaled[1](1, 1) = 1.01;
    EXPECT_NE(refusal({p, {}, {}}, scaled, Skinning::dual_quaternion).find("joint 1"), std::string::npos);
    scaled[1](1, 1) = -1;
    EXPECT_NE(refusal({p, {}, {}}, scaled, Skinning::dual_quaternion).find("mirrored"), std::string::npos);
    scaled[1](1, 1) = 1 + 1e-5;
    scaled[2](0, 0) = 3;
    must_deform({p, {}, {}}, weights, scaled, Skinning::dual_quaternion);
}

TEST(Deform, CancellationIsAnError) {
    const SkinWeights weights = rows({{{0, 1}}});
    const std::vector<Vec3> p{{1, 2, 3}};
    Context context;
    context.cancel = true;
    const auto out = deform({p, {}, {}}, weights, std::vector<Transform>(1), Skinning::linear_blend, &context);
    ASSERT_FALSE(out.ok());
    EXPECT_EQ(out.error().code, ErrorCode::cancelled);
}

// ---- poses

Skeleton chain() {
    Skeleton s;
    s.joints.resize(3);
    // Parents come after children, to test any order. 2 (root) at the origin, 1 at (1,0,0), 0 at (2,0,0).
    s.joints[0] = {"hand", 1, {2, 0, 0}, {}};
    s.joints[1] = {"arm", 2, {1, 0, 0}, {}};
    s.joints[2] = {"root", -1, {0, 0, 0}, {}};
    return s;
}

Vec3 moved(const Transform& t, double x, double y, double z) {
    Vec3 out;
    out.x = static_cast<float>(t(0, 0) * x + t(0, 1) * y + t(0, 2) * z + t(0, 3));
    out.y = static_cast<float>(t(1, 0) * x + t(1, 1) * y + t(1, 2) * z + t(1, 3));
    out.z = static_cast<float>(t(2, 0) * x + t(2, 1) * y + t(2, 2) * z + t(2, 3));
    return out;
}

void expect_near(const Vec3& a, const Vec3& b) {
    EXPECT_NEAR(a.x, b.x, 1e-6);
    EXPECT_NEAR(a.y, b.y, 1e-6);
    EXPECT_NEAR(a.z, b.z, 1e-6);
}

TEST(Pose, DescendantsFollow) {
    std::vector<JointPose> pose(3);
    pose[1] = turned(2, 90);
    const auto out = skinning_matrices(chain(), pose);
    ASSERT_TRUE(out.ok());
    EXPECT_EQ((*out)[2], Transform{});
    EXPECT_EQ((*out)[0], (*out)[1]) << "an unposed joint has exactly the matrix of its parent";
    expect_near(moved((*out)[0], 3, 0, 0), {1, 2, 0});
    pose[0] = turned(2, 90);
    const auto both_turned = skinning_matrices(chain(), pose);
    ASSERT_TRUE(both_turned.ok());
    expect_near(moved((*both_turned)[0], 3, 0, 0), {0, 1, 0});
}

TEST(Pose, AxesAreTheJointsOwn) {
    Skeleton s = chain();
    // Along -z is the arm's own x; its own z is the scene's x.
    s.joints[1].axes = {Vec3{0, 0, -1}, Vec3{0, 1, 0}, Vec3{1, 0, 0}};
    std::vector<JointPose> pose(3);
    pose[1].translation = {0.5, 0, 0};
    auto out = skinning_matrices(s, pose);
    ASSERT_TRUE(out.ok());
    expect_near(moved((*out)[1], 1, 0, 0), {1, 0, -0.5f});
    pose[1] = turned(0, 90);  // about the scene's -z: clockwise
    out = skinning_matrices(s, pose);
    ASSERT_TRUE(out.ok());
    expect_near(moved((*out)[1], 2, 0, 0), {1, -1, 0});
    pose[1] = JointPose{};
    pose[1].scale = {1, 1, 3};
    out = skinning_matrices(s, pose);
    ASSERT_TRUE(out.ok());
    expect_near(moved((*out)[1], 2, 1, 1), {4, 1, 1});
}

TEST(Pose, BadInputIsAnErrorThatNamesTheJoint) {
    const auto refusal = [](const Skeleton& skeleton, const std::vector<JointPose>& pose) {
        const auto out = skinning_matrices(skeleton, pose);
        EXPECT_FALSE(out.ok());
        return out ? "" : out.error().message;
    };
    std::vector<JointPose> pose(3);
    EXPECT_NE(refusal(chain(), std::vector<JointPose>(2)).find("2 entries"), std::string::npos);
    pose[1].rotation = {0, 0, 0, 0};
    EXPECT_NE(refusal(chain(), pose).find("\"arm\""), std::string::npos);
    pose[1].rotation = {double{nan}, 0, 0, 1};
    EXPECT_NE(refusal(chain(), pose).find("rotation"), std::string::npos);
    pose[1] = JointPose{};
    pose[0].translation[2] = double{nan};
    EXPECT_NE(refusal(chain(), pose).find("\"hand\""), std::string::npos);
    pose[0] = JointPose{};
    pose[2].scale[1] = 0;
    EXPECT_NE(refusal(chain(), pose).find("\"root\""), std::string::npos);
    pose[2] = turned(0, 10);
    Skeleton flat = chain();
    flat.joints[2].axes[1] = flat.joints[2].axes[0];
    EXPECT_NE(refusal(flat, pose).find("axes"), std::string::npos);
    Skeleton cycle = chain();
    cycle.joints[2].parent = 0;
    EXPECT_NE(refusal(cycle, pose).find("ancestor"), std::string::npos);
}

TEST(Morph, AddsBeforeSkinning) {
    std::vector<Vec3> p{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
    const std::vector<Vec3> offsets{{0, 2, 0}, {0, 0, 4}}, bad{{0, nan, 0}};
    const std::vector<Morph> morphs{{1, 0.5f, offsets}, {0, 0, bad}};
    ASSERT_TRUE(add_morphs(p, morphs).ok());
    EXPECT_EQ(p, (std::vector<Vec3>{{0, 0, 0}, {1, 1, 0}, {2, 0, 2}}));
    EXPECT_FALSE(add_morphs(p, std::vector<Morph>{{2, 1, offsets}}).ok());
    EXPECT_FALSE(add_morphs(p, std::vector<Morph>{{0, nan, offsets}}).ok());
    EXPECT_FALSE(add_morphs(p, std::vector<Morph>{{0, 1, bad}}).ok());
}

}  // namespace
}  // namespace sinew::test_deform
