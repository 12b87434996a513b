#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "characters/characters.h"
#include "characters/rig.h"
#include "characters/shapes.h"
#include "sinew/bind.h"
#include "sinew/quality.h"
#include "unit/support.h"

namespace sinew::test_quality {
namespace {

using test::Character;
using test::must;
using test::Rows;
using test::weights_of;

/// The weight moves linearly from joint 0 to joint 1 between x = -half and half.
Rows ramp(const std::vector<Vec3>& positions, double half) {
    Rows rows;
    for (const Vec3& p : positions) {
        const auto t = static_cast<float>(std::clamp((p.x + half) / (2 * half), 0.0, 1.0));
        rows.push_back({{0, 1 - t}, {1, t}});
    }
    return rows;
}

Rows rigid(const Character& c) {
    Rows rows;
    for (const std::uint32_t part : c.body_part) rows.push_back({{part, 1}});
    return rows;
}

Character scaled(Character c, float by) {
    auto times = [by](Vec3& p) { p = {p.x * by, p.y * by, p.z * by}; };
    for (Vec3& p : c.positions) times(p);
    for (Joint& j : c.skeleton.joints) {
        times(j.position);
        if (j.tail) times(*j.tail);
    }
    return c;
}

CompareOptions quick() {
    CompareOptions options;
    options.random_poses = 2;
    options.bleed_options.resolution = 32;
    return options;
}

Comparison compared(const Character& c, const Rows& a, const Rows& b, const CompareOptions& options = quick(),
                    Context* context = nullptr) {
    auto out = compare(c.mesh(), c.skeleton, weights_of(a), weights_of(b), options, context);
    EXPECT_TRUE(out.ok()) << (out ? "" : out.error().message);
    return out ? std::move(*out) : Comparison{};
}

JointPose turned_about_x(double degrees) {
    JointPose pose;
    const double half = degrees * std::numbers::pi / 360;
    pose.rotation = {std::sin(half), 0, 0, std::cos(half)};
    return pose;
}

TEST(Compare, WeightsDoNotDifferFromThemselves) {
    const Character c = test::bar();
    const Comparison out = compared(c, ramp(c.positions, 0.4), ramp(c.positions, 0.4));
    EXPECT_EQ(out.l1.mean, 0);
    EXPECT_EQ(out.l1.max, 0);
    EXPECT_EQ(out.precision, 1);
    EXPECT_EQ(out.recall, 1);
    EXPECT_EQ(out.strongest_agreement, 1);
    EXPECT_TRUE(out.worst_vertices.empty());
    EXPECT_TRUE(out.limb.joints.empty());
    for (const PoseComparison& p : out.poses) {
        EXPECT_EQ(p.max, 0);
        EXPECT_EQ(p.a.stretch_max, p.b.stretch_max);
    }
}

TEST(Compare, DisjointJointsHaveTheLargestDistance) {
    const Character c = test::bar();
    const Rows a(c.positions.size(), {{0, 1}}), b(c.positions.size(), {{1, 1}});
    const Comparison out = compared(c, a, b);
    const auto n = static_cast<double>(c.positions.size());
    EXPECT_EQ(out.l1.mean, 2);
    EXPECT_EQ(out.l1.median, 2);
    EXPECT_EQ(out.l1.p95, 2);
    EXPECT_EQ(out.precision, 0);
    EXPECT_EQ(out.recall, 0);
    EXPECT_EQ(out.strongest_agreement, 0);
    ASSERT_EQ(out.joints.size(), 2u);
    EXPECT_EQ(out.joints[0].joint, 0u);  // a tie: the lower index
    EXPECT_EQ(out.joints[0].mass_a, n);
    EXPECT_EQ(out.joints[0].mass_b, 0);
    EXPECT_EQ(out.joints[0].l1_share, 0.5);
    EXPECT_EQ(out.joints[0].strongest_a, c.positions.size());
    EXPECT_EQ(out.joints[0].strongest_both, 0u);
    EXPECT_EQ(out.worst_vertices.size(), 20u);
    EXPECT_EQ(out.worst_vertices[3], 3u);
}

TEST(Compare, TrimmedRowsHaveNoSmallWeights) {
    Character c = test::strip(1);
    const std::size_t n = c.positions.size();
    Rows a(n, {{0, 1}}), b = a;
    a[0] = {{0, 0.9f}, {1, 0.1f}};    // 0.1 < 0.15 * 0.9: dropped
    a[1] = {{0, 0.85f}, {1, 0.15f}};  // kept
    b[1] = {{0, 0.75f}, {1, 0.25f}};
    const Comparison out = compared(c, a, b);
    const auto count = static_cast<double>(n);
    EXPECT_NEAR(out.trimmed.l1, 0.2 / count, 1e-6);
    EXPECT_EQ(out.trimmed.precision, 1);
    EXPECT_EQ(out.trimmed.recall, 1);
    EXPECT_NEAR(out.l1.mean, 0.4 / count, 1e-6);
}

TEST(Compare, MeasuresEqualValuesComputedByHand) {
    Character c = test::strip(1);
    const std::size_t n = c.positions.size();
    ASSERT_GE(n, 4u);
    Rows a(n, {{0, 1}}), b = a;
    a[0] = {{0, 0.75f}, {1, 0.25f}};
    b[1] = {{0, 0.5f}, {1, 0.5f}};          // a tie: the strongest is joint 0, as in A
    b[2] = {{0, 0.99995f}, {1, 0.00005f}};  // below the threshold: no influence
    b[3] = {};
    const Comparison out = compared(c, a, b);
    const auto count = static_cast<double>(n);
    EXPECT_NEAR(out.l1.mean, (0.5 + 1 + 0.0001 + 1) / count, 1e-6);
    EXPECT_EQ(out.l1.max, 1);
    EXPECT_EQ(out.precision, (count - 1) / count);
    EXPECT_EQ(out.recall, (count - 1) / (count + 1));
    EXPECT_EQ(out.strongest_agreement, (count - 1) / count);
    // Trimmed, b[2] has one influence.
    EXPECT_NEAR(out.trimmed.l1, (0.5 + 1 + 1) / count, 1e-6);
    EXPECT_EQ(out.trimmed.precision, (count - 1) / count);
    EXPECT_EQ(out.trimmed.recall, (count - 1) / (count + 1));
    EXPECT_EQ(out.a.unweighted, 0u);
    EXPECT_EQ(out.b.unweighted, 1u);
    EXPECT_EQ(out.a.max_influences, 2u);
    EXPECT_EQ(out.worst_vertices, (std::vector<std::uint32_t>{1, 3, 0, 2}));
}

TEST(Compare, PercentilesLieBetweenRanks) {
    const Character c = test::strip(2);
    const std::size_t n = c.positions.size();
    Rows a(n, {{0, 1}}), b;
    for (std::size_t v = 0; v < n; ++v) {
        const float t = static_cast<float>(v) / static_cast<float>(n - 1);
        b.push_back({{0, 1 - t}, {1, t}});
    }
    const Comparison out = compared(c, a, b);  // L1 = 0 … 2, evenly
    EXPECT_NEAR(out.l1.median, 1, 1e-6);
    EXPECT_NEAR(out.l1.p95, 1.9, 1e-6);
    EXPECT_EQ(out.l1.max, 2);
}

TEST(Compare, DistanceInAPoseIsExact) {
    const Character c = test::bar();
    const Rows a(c.positions.size(), {{0, 1}}), b(c.positions.size(), {{1, 1}});
    CompareOptions options = quick();
    options.standard_poses = false;
    NamedPose lift{"lift", std::vector<JointPose>(2)};
    lift.joints[1].translation = {0, 0.25, 0};
    options.poses = {lift};
    const Comparison out = compared(c, a, b, options);
    ASSERT_EQ(out.poses.size(), 1u);  // the given pose replaces random ones
    EXPECT_EQ(out.poses[0].kind, PoseKind::given);
    EXPECT_NEAR(out.poses[0].mean, 25 / out.diagonal, 1e-5);
    EXPECT_NEAR(out.poses[0].max, 25 / out.diagonal, 1e-5);
    const PoseSummary given = summarise(out.poses, PoseKind::given);
    EXPECT_EQ(given.poses, 1u);
    EXPECT_EQ(given.mean, out.poses[0].mean);
    EXPECT_EQ(summarise(out.poses, PoseKind::random).poses, 0u);
}

TEST(Compare, AStretchedSideIsFound) {
    const Character c = test::bar(3);  // rings at -1, 0 and 1
    const Rows a = rigid(c);
    CompareOptions options = quick();
    options.standard_poses = false;
    NamedPose pull{"pull", std::vector<JointPose>(2)};
    pull.joints[1].translation = {2, 0, 0};
    options.poses = {pull};
    const Comparison out = compared(c, a, a, options);
    // From -1 to 0 becomes -1 to 2.
    EXPECT_NEAR(out.poses[0].a.stretch_max, 3, 1e-5);
    const auto ends = out.poses[0].a.stretched;
    EXPECT_NE(c.positions[ends[0]].x < -0.5f, c.positions[ends[1]].x < -0.5f);
}

TEST(Compare, TwistedVolumeShrinksByLinearBlendAndStaysByDualQuaternions) {
    const Character c = test::bar(128);
    CompareOptions options = quick();
    options.standard_poses = false;
    options.poses = {{"twist", {JointPose{}, turned_about_x(170)}}};
    const Rows a = ramp(c.positions, 0.9);
    const Comparison linear = compared(c, a, a, options);
    options.skinning = Skinning::dual_quaternion;
    const Comparison dual = compared(c, a, a, options);
    ASSERT_TRUE(linear.poses[0].a.volume_change && dual.poses[0].a.volume_change);
    EXPECT_LT(*linear.poses[0].a.volume_change, -0.2);
    EXPECT_NEAR(*dual.poses[0].a.volume_change, 0, 0.02);
}

TEST(Compare, VolumeIsTranslationInvariant) {
    Character c = test::strip();  // open
    CompareOptions options = quick();
    options.standard_poses = false;
    NamedPose away{"away", std::vector<JointPose>(2)};
    away.joints[0].translation = {5, -3, 2};
    options.poses = {away};
    EXPECT_FALSE(compared(c, rigid(c), rigid(c), options).poses[0].a.volume_change);
    c = test::bar();
    c.triangles.resize(c.triangles.size() / 2);  // half of the wall, no caps
    const Comparison out = compared(c, rigid(c), rigid(c), options);
    ASSERT_TRUE(out.poses[0].a.volume_change);
    EXPECT_NEAR(*out.poses[0].a.volume_change, 0, 1e-5);
}

TEST(Compare, LimbProfileFollowsTheChain) {
    const Character c = test::bar();
    CompareOptions options = quick();
    options.profile_bins = 20;
    const Comparison out = compared(c, ramp(c.positions, 0.4), rigid(c), options);
    const LimbProfile& limb = out.limb;
    ASSERT_EQ(limb.joints, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_NEAR(limb.length, 2, 1e-6);  // to the stated tail
    EXPECT_NEAR(limb.joint_at[1], 1, 1e-6);
    ASSERT_EQ(limb.a[0].size(), 20u);
    for (std::size_t k = 0; k < 20; ++k) {
        ASSERT_GT(limb.vertices[k], 0u);
        EXPECT_NEAR(limb.a[0][k] + limb.a[1][k], 1, 1e-5);
        const double x = -1 + 0.1 * (static_cast<double>(k) + 0.5);
        EXPECT_NEAR(limb.a[1][k], std::clamp((x + 0.4) / 0.8, 0.0, 1.0), 0.07) << x;
        EXPECT_NEAR(limb.b[1][k], x < 0 ? 0 : 1, 0.51);
    }
}

TEST(Compare, LimbProfileEndsAtAStatedTail) {
    Character c = test::bar();
    Joint leaf;
    leaf.name = "finger";
    leaf.parent = 1;
    leaf.position = {0.2f, 0, 0};
    c.skeleton.joints.push_back(leaf);
    const LimbProfile limb = compared(c, ramp(c.positions, 0.4), rigid(c), quick()).limb;
    EXPECT_EQ(limb.joints.back(), 1u);
    EXPECT_NEAR(limb.length, 2, 1e-6);
}

TEST(Compare, StandardPosesUseTheUpDirection) {
    const Character c = test::biped({.cell = 0.04});
    Character lying = c;  // z is up, and the face looks along -y
    auto turn = [](Vec3& p) { p = {p.x, -p.z, p.y}; };
    for (Vec3& p : lying.positions) turn(p);
    for (Joint& j : lying.skeleton.joints) {
        turn(j.position);
        for (Vec3& axis : j.axes) turn(axis);
    }
    const Rows a = rigid(c), b(c.positions.size(), {{c.joint("hips"), 1}});
    CompareOptions options = quick();
    options.random_poses = 0;
    const Comparison upright = compared(c, a, b, options);
    options.up = {0, 0, 1};
    const Comparison turned = compared(lying, a, b, options);
    ASSERT_EQ(upright.poses.size(), turned.poses.size());
    ASSERT_GT(upright.poses.size(), 5u);
    for (std::size_t k = 0; k < upright.poses.size(); ++k) {
        EXPECT_EQ(upright.poses[k].name, turned.poses[k].name);
        EXPECT_NEAR(upright.poses[k].mean, turned.poses[k].mean, 1e-3) << upright.poses[k].name;
        EXPECT_EQ(upright.poses[k].joints.size(), c.skeleton.joints.size());
    }
}

TEST(Compare, ErrorsNameTheElement) {
    const Character c = test::bar();
    const Rows good = rigid(c);
    Rows few = good, wrong = good;
    few.pop_back();
    wrong[5] = {{7, 1}};
    const auto error = [&](const Rows& a, const Rows& b, const CompareOptions& options = quick()) {
        const auto out = compare(c.mesh(), c.skeleton, weights_of(a), weights_of(b), options);
        EXPECT_FALSE(out);
        return out ? Error{} : out.error();
    };
    EXPECT_NE(error(good, few).message.find(std::to_string(few.size())), std::string::npos);
    EXPECT_NE(error(good, wrong).message.find("vertex 5 on joint 7"), std::string::npos);
    CompareOptions options = quick();
    options.random_degrees = 200;
    EXPECT_EQ(error(good, good, options).code, ErrorCode::usage);
    options = quick();
    options.up = {0, 0, 0};
    EXPECT_EQ(error(good, good, options).code, ErrorCode::usage);
    options = quick();
    options.poses = {{"short", std::vector<JointPose>(1)}};
    EXPECT_NE(error(good, good, options).message.find("pose \"short\""), std::string::npos);
    Context context;
    context.cancel = true;
    const auto out = compare(c.mesh(), c.skeleton, weights_of(good), weights_of(good), quick(), &context);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().code, ErrorCode::cancelled);
}

TEST(Smoothness, IsExactOnALinearRamp) {
    // ½ ∫ |∇w|² of a ramp over a rectangle: ½ · (1 / 2)² · 2 × 0.2, for either joint.
    for (const float scale : {1.0f, 100.0f, 0.01f}) {
        const Character c = scaled(test::strip(), scale);
        const Smoothness s = must(smoothness(c.mesh(), c.skeleton, weights_of(ramp(c.positions, scale))));
        EXPECT_NEAR(s.energy[0], 0.05, 1e-6) << scale;
        EXPECT_NEAR(s.energy[1], 0.05, 1e-6) << scale;
        EXPECT_NEAR(s.total, 0.1, 1e-6) << scale;
    }
}

TEST(Smoothness, IsZeroForConstantWeightsAndGrowsWithTheSlope) {
    const Character c = test::strip();
    const Rows constant(c.positions.size(), {{0, 0.25f}, {1, 0.75f}});
    EXPECT_EQ(must(smoothness(c.mesh(), c.skeleton, weights_of(constant))).total, 0);
    // Twice as steep over half the length: twice the energy.
    const double soft = must(smoothness(c.mesh(), c.skeleton, weights_of(ramp(c.positions, 0.5)))).total;
    const double hard = must(smoothness(c.mesh(), c.skeleton, weights_of(ramp(c.positions, 0.25)))).total;
    EXPECT_NEAR(hard / soft, 2, 1e-5);
}

TEST(Smoothness, DegenerateTrianglesAreBounded) {
    Character c = test::strip();
    const double clean = must(smoothness(c.mesh(), c.skeleton, weights_of(ramp(c.positions, 1)))).total;
    // A needle without area from end to end, and a triangle that is a point.
    const auto last = static_cast<std::uint32_t>(c.positions.size() - 1);
    c.triangles.push_back({0, last, last});
    c.triangles.push_back({0, 0, 0});
    const double with = must(smoothness(c.mesh(), c.skeleton, weights_of(ramp(c.positions, 1)))).total;
    EXPECT_TRUE(std::isfinite(with));
    EXPECT_LT(with - clean, 2 * 25.0 + 1e-6);
    EXPECT_GE(with, clean);
}

TEST(SymmetryTest, ASymmetricCharacterHasNoError) {
    const Character c = test::biped({.cell = 0.04});
    const std::optional<Symmetry> s = must(find_symmetry(c.mesh(), c.skeleton));
    ASSERT_TRUE(s);
    EXPECT_NEAR(std::abs(s->normal[0]), 1, 1e-6);
    EXPECT_EQ(s->joint_share, 1);
    EXPECT_GT(s->vertex_share, 0.95);
    for (std::size_t j = 0; j < c.skeleton.joints.size(); ++j) {
        std::string name = c.skeleton.joints[j].name;
        const std::size_t at = name.rfind("_L") != std::string::npos ? name.rfind("_L") : name.rfind("_R");
        if (at != std::string::npos) name[at + 1] = name[at + 1] == 'L' ? 'R' : 'L';
        EXPECT_EQ(c.skeleton.joints[s->joint[j]].name, name);
    }
    // Weights that are symmetric by construction: mirrored from the partner of each vertex.
    Rows rows = rigid(c);
    for (std::size_t v = 0; v < rows.size(); ++v) {
        const Vec3& p = c.positions[v];
        const std::uint32_t joint = c.joint(p.x > 0 ? "upper_arm_L" : p.x < 0 ? "upper_arm_R" : "head");
        rows[v] = {{joint, 0.5f}, {c.joint("head"), 0.5f}};
    }
    const SymmetryError none = must(symmetry_error(*s, weights_of(rows)));
    EXPECT_NEAR(none.p95, 0, 1e-6);
    // One arm is weighted to the leg: each of its vertices and their partners differ by 1.
    for (std::size_t v = 0; v < rows.size(); ++v)
        if (c.positions[v].x > 0.02f) rows[v] = {{c.joint("upper_leg_L"), 0.5f}, {c.joint("head"), 0.5f}};
    const SymmetryError some = must(symmetry_error(*s, weights_of(rows)));
    EXPECT_GT(some.mean, 0.8);
    EXPECT_NEAR(some.max, 1, 1e-6);
}

TEST(SymmetryTest, ThePlaneMayLieAnywhere) {
    Character c = test::biped({.cell = 0.04});
    const double a = 0.7;
    auto turn = [&](Vec3& p) {
        p = {static_cast<float>(std::cos(a) * p.x + std::sin(a) * p.z + 3), p.y - 1,
             static_cast<float>(-std::sin(a) * p.x + std::cos(a) * p.z + 2)};
    };
    for (Vec3& p : c.positions) turn(p);
    for (Joint& j : c.skeleton.joints) turn(j.position);
    const std::optional<Symmetry> s = must(find_symmetry(c.mesh(), c.skeleton));
    ASSERT_TRUE(s);
    EXPECT_NEAR(std::abs(s->normal[0] * std::cos(a) - s->normal[2] * std::sin(a)), 1, 1e-5);
    EXPECT_GT(s->vertex_share, 0.95);
}

TEST(SymmetryTest, OneSidedSkeletonsHaveNoPlane) {
    for (const Character& c : {test::bar(), test::l_corner()})
        EXPECT_FALSE(must(find_symmetry(c.mesh(), c.skeleton))) << c.name;
    // A person whose left arm is raised: only the legs pair, which is not enough.
    Character c = test::biped({.cell = 0.04});
    for (Joint& j : c.skeleton.joints)
        if (j.name.find("_L") != std::string::npos && j.position.y > 0.95f) j.position.y += 0.3f;
    EXPECT_FALSE(must(find_symmetry(c.mesh(), c.skeleton)));
}

TEST(SymmetryTest, CoincidentJointsAreDistinguished) {
    Character c = test::bar();
    c.skeleton = {};
    test::Rig rig(c.skeleton);
    rig.add("root", "", {0, 0, 0});
    rig.add("arm.L", "root", {0.5, 0, 0});
    rig.add("arm_twist.L", "root", {0.5, 0, 0});
    rig.add("arm_twist.R", "root", {-0.5, 0, 0});
    rig.add("arm.R", "root", {-0.5, 0, 0});
    const std::optional<Symmetry> s = must(find_symmetry(c.mesh(), c.skeleton));
    ASSERT_TRUE(s);
    EXPECT_EQ(s->joint, (std::vector<std::uint32_t>{0, 4, 3, 2, 1}));
}

double bleed_share(const Character& c, const Rows& rows, int resolution = 64) {
    const SkinWeights weights = weights_of(rows);
    const SkinWeights* list[] = {&weights};
    return must(bleed(c.mesh(), c.skeleton, list, {resolution}))[0].share;
}

TEST(BleedTest, IsZeroOnACleanBar) {
    const Character c = test::bar();
    EXPECT_EQ(bleed_share(c, rigid(c)), 0);
    EXPECT_EQ(bleed_share(c, ramp(c.positions, 0.4)), 0);
}

TEST(BleedTest, CountsAFarVertex) {
    const Character c = test::bar();
    Rows rows = rigid(c);
    const auto far =
        static_cast<std::size_t>(std::max_element(c.positions.begin(), c.positions.end(),
                                                  [](const Vec3& a, const Vec3& b) { return a.x < b.x; }) -
                                 c.positions.begin());
    rows[far] = {{1, 0.75f}, {0, 0.25f}};
    EXPECT_NEAR(bleed_share(c, rows), 0.25 / static_cast<double>(rows.size()), 1e-9);
    const SkinWeights weights = weights_of(rows), clean = weights_of(rigid(c));
    const SkinWeights* both[] = {&clean, &weights};
    const std::vector<Bleed> out = must(bleed(c.mesh(), c.skeleton, both, {64}));
    EXPECT_EQ(out[0].share, 0);
    EXPECT_EQ(out[1].vertices, 1u);
    EXPECT_EQ(out[1].far_weight, (std::vector<double>{0.25, 0}));
    // The scale of the scene does not matter.
    EXPECT_EQ(bleed_share(scaled(c, 50), rows), bleed_share(c, rows));
}

TEST(BleedTest, DistanceGoesThroughTheVolume) {
    // Two legs side by side: the other leg is near in a straight line, but far through the volume.
    const Character c = test::u_tube();
    Rows rows = rigid(c);
    std::size_t moved = 0;
    for (std::size_t v = 0; v < rows.size(); ++v)
        if (c.positions[v].x < 0 && c.positions[v].y > 0.8f) {
            rows[v] = {{2, 1}};
            ++moved;
        }
    ASSERT_GT(moved, 0u);
    // All vertices bleed except at the top, near the end of the right leg's bone.
    EXPECT_NEAR(bleed_share(c, rows, 128), static_cast<double>(moved) / static_cast<double>(rows.size()), 1e-9);
}

TEST(TornTest, CountsDifferencesAtOnePosition) {
    Character c = test::bar();
    Rows rows = rigid(c);
    c.positions.push_back(c.positions[0]);
    c.positions.push_back(c.positions[0]);
    rows.push_back(rows[0]);
    rows.push_back({{1, 1}});
    EXPECT_EQ(count_torn(analyse_mesh(c.mesh()), weights_of(rows)), 1u);
}

TEST(MatchJoints, ByIndexElseByName) {
    Skeleton a, b;
    test::Rig rig(a);
    rig.add("root", "", {0, 0, 0});
    rig.add("arm", "root", {1, 0, 0});
    EXPECT_TRUE(match_joints(a, a).same_list);
    test::Rig other(b);
    other.add("armature", "", {9, 0, 0});
    other.add("root", "armature", {0, 0, 0});
    other.add("helper", "root", {2, 0, 0});
    const JointMatch match = match_joints(a, b);
    EXPECT_FALSE(match.same_list);
    EXPECT_EQ(match.joint_of, (std::vector<std::uint32_t>{2, 0, 3}));
    EXPECT_EQ(match.only_reference, (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(match.only_other, (std::vector<std::uint32_t>{2, 3}));
    ASSERT_EQ(match.skeleton.joints.size(), 4u);
    EXPECT_EQ(match.skeleton.joints[3].name, "helper");
    EXPECT_EQ(match.skeleton.joints[3].parent, 0);
    EXPECT_TRUE(check_skeleton(match.skeleton).ok());
    const SkinWeights moved = must(renumber(weights_of({{{0, 0.5f}, {2, 0.5f}}, {{1, 1}}}), match.joint_of));
    EXPECT_EQ(moved[0][0].joint, 2u);
    EXPECT_EQ(moved[0][1].joint, 3u);
    EXPECT_EQ(moved[1][0].joint, 0u);
    EXPECT_FALSE(renumber(weights_of({{{9, 1}}}), match.joint_of));
}

TEST(MatchJoints, NamesMayRepeat) {
    Skeleton a, b;
    for (const char* name : {"root", "x", "x"}) a.joints.push_back({name, -1, {}, {}, true, {}, {}});
    for (const char* name : {"x", "x", "x", "root"}) b.joints.push_back({name, -1, {}, {}, true, {}, {}});
    EXPECT_EQ(match_joints(a, b).joint_of, (std::vector<std::uint32_t>{1, 2, 3, 0}));
}

TEST(MatchVertices, GoTogetherByPlaceAndOrderThere) {
    const std::vector<Vec3> a{{0, 0, 0}, {1, 0, 0}, {0, 0, 0}, {2, 0, 0}};
    const std::vector<Vec3> b{{2, 0, 1e-6f}, {0, 0, 0}, {1, 0, 0}, {0, 0, 0}};
    using Numbers = std::optional<std::vector<std::uint32_t>>;
    EXPECT_EQ(match_vertices(a, b, 1e-5), (Numbers{{1, 2, 3, 0}}));
    EXPECT_EQ(match_vertices(a, std::span(b).first(3), 1e-5), (Numbers{{1, 2, 1, 0}}));
    EXPECT_EQ(match_vertices(a, b, 1e-7), Numbers{});                      // one of the other is elsewhere
    EXPECT_EQ(match_vertices(a, std::span(b).first(2), 1e-5), Numbers{});  // one of the reference is
}

}  // namespace
}  // namespace sinew::test_quality
