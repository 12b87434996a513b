// Rigid parts: the joint they follow, and the weights of hidden parts under surface-heat.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "bind/method.h"
#include "bind/surface_heat/bones.h"
#include "bind/surface_heat/rigid_parts.h"
#include "characters/defects.h"
#include "characters/shapes.h"
#include "sinew/bind.h"
#include "unit/support.h"

namespace sinew::test_rigid_parts {
namespace {

using test::Character;

Skeleton chain(std::vector<Vec3> places) {
    Skeleton s;
    for (std::size_t j = 0; j < places.size(); ++j) {
        Joint joint;
        joint.name = "joint" + std::to_string(j);
        joint.parent = static_cast<int>(j) - 1;
        joint.position = places[j];
        s.joints.push_back(joint);
    }
    return s;
}

std::uint32_t owner(const test::Shape& part, const Skeleton& skeleton, std::vector<JointShare> shares) {
    return rigid_joint({part.positions, part.triangles, {}}, skeleton, part.triangles, shares);
}

TEST(RigidParts, APartBendsWhereAPivotIsInside) {
    const test::Shape ball = test::sphere({0, 0, 0}, 1, 3);
    const Skeleton inside = chain({{-3, 0, 0}, {0.9f, 0, 0}}), outside = chain({{-3, 0, 0}, {1.2f, 0, 0}});
    EXPECT_EQ(owner(ball, inside, {{0, 0.6}, {1, 0.4}}), no_index);
    EXPECT_EQ(owner(ball, outside, {{0, 0.6}, {1, 0.4}}), 0u);
    // On a chain only the lower joint is a pivot: that the upper one is inside says nothing.
    const Skeleton upper = chain({{0, 0, 0}, {1.2f, 0, 0}});
    EXPECT_EQ(owner(ball, upper, {{0, 0.6}, {1, 0.4}}), 0u);
    EXPECT_EQ(owner(ball, upper, {{0, 0.4}, {1, 0.6}}), 1u);
    // Beside each other both are.
    Skeleton siblings = upper;
    siblings.joints[1].parent = -1;
    EXPECT_EQ(owner(ball, siblings, {{0, 0.6}, {1, 0.4}}), no_index);
}

TEST(RigidParts, APartFollowsAJointWithNearlyAllOfIt) {
    const test::Shape ball = test::sphere({0, 0, 0}, 1, 3);
    const Skeleton inside = chain({{-3, 0, 0}, {0, 0, 0}, {3, 0, 0}});
    EXPECT_EQ(owner(ball, inside, {{0, 0.3}, {1, 0.7}}), 1u);  // nearly all, independent of the joints inside
    EXPECT_EQ(owner(ball, inside, {{0, 0.31}, {1, 0.69}}), no_index);
    EXPECT_EQ(owner(ball, inside, {{0, 0.19}, {1, 0.01}, {2, 0.69}}), 2u);  // too little of 1 to count
    EXPECT_EQ(owner(ball, inside, {{0, 0.4}, {1, 0.2}, {2, 0.4}}), no_index);
    EXPECT_EQ(owner(ball, inside, {}), no_index);
}

TEST(RigidParts, ASleeveMayBeOpenAndInsideOut) {
    const test::Shape whole = test::sphere({0, 0, 0}, 1, 3);
    test::Shape sleeve = whole;
    std::erase_if(sleeve.triangles, [&](const Triangle& t) {
        return std::abs(whole.positions[t[0]].x) > 0.7f && std::abs(whole.positions[t[1]].x) > 0.7f;
    });
    ASSERT_LT(sleeve.triangles.size(), whole.triangles.size());
    const Skeleton elbow = chain({{-3, 0, 0}, {0, 0, 0}});
    EXPECT_EQ(owner(sleeve, elbow, {{0, 0.5}, {1, 0.5}}), no_index);
    for (Triangle& t : sleeve.triangles) std::swap(t[0], t[1]);
    EXPECT_EQ(owner(sleeve, elbow, {{0, 0.5}, {1, 0.5}}), no_index);
}

// Hips with a spine and two legs; `left` is how long the left leg is.
Skeleton hips(float left, bool spine = true) {
    Skeleton s = chain({{0, 0, 0},
                        {0, 1, 0},
                        {0, 2, 0},
                        {-0.5f, -0.5f, 0},
                        {-0.5f, -2, 0},
                        {0.5f, -0.5f, 0},
                        {0.5f, -0.5f - left, 0}});
    s.joints[3].parent = 0;
    s.joints[5].parent = 0;
    if (!spine) s.joints[1].deform = s.joints[2].deform = false;
    return s;
}

std::vector<Vec3> ends_of(std::uint32_t joint, const Skeleton& skeleton) {
    std::vector<Bone> bones = make_bones(skeleton);
    join_mirrored_links(skeleton, bones);
    std::vector<Vec3> ends;
    for (const Bone& b : bones)
        if (b.joint == joint) ends.push_back(b.tail);
    return ends;
}

TEST(MirroredLinks, APairOfLimbsIsOneBoneToItsMiddle) {
    const std::vector<Vec3> ends = ends_of(0, hips(1.5f));
    ASSERT_EQ(ends.size(), 2u);
    EXPECT_EQ(ends[0], (Vec3{0, 1, 0}));
    EXPECT_EQ(ends[1], (Vec3{0, -0.5f, 0}));
    // Another length: no pair. Nothing but the pair: it stays. Other joints' bones are left alone.
    EXPECT_EQ(ends_of(0, hips(1.6f)).size(), 3u);
    EXPECT_EQ(ends_of(0, hips(1.5f, false)).size(), 2u);
    EXPECT_EQ(ends_of(0, hips(1.5f, false))[0], (Vec3{-0.5f, -0.5f, 0}));
    EXPECT_EQ(ends_of(3, hips(1.5f)), (std::vector<Vec3>{{-0.5f, -2, 0}}));
    // Stated bones are as they are.
    Skeleton stated = hips(1.5f);
    stated.joints[0].stated_links = true;
    EXPECT_EQ(ends_of(0, stated).size(), 3u);
    stated.joints[0].tail = Vec3{0, 0.5f, 0};
    EXPECT_EQ(ends_of(0, stated), (std::vector<Vec3>{{0, 0.5f, 0}}));
}

Binding bound(const MeshView& mesh, const Skeleton& skeleton, int threads = 0, int resolution = 64) {
    Context context;
    context.threads = threads;
    BindOptions options = preset(Method::surface_heat);
    options.voxels.resolution = resolution;
    options.fit_check = false;  // random points are no character
    Result<Binding> b = bind(mesh, skeleton, options, &context);
    EXPECT_TRUE(b) << (b ? "" : b.error().message);
    return std::move(*b);
}

TEST(SurfaceHeat, APlateKeepsItsShape) {
    // A ball on the bar, most of it over the second bone: every vertex follows that one, and the bar bends as
    // before.
    Character c = test::bar(32);
    const std::size_t of_bar = c.positions.size();
    const test::Shape ball = test::sphere({0.1, 0.3, 0}, 0.25, 2);
    test::append(c, ball.positions, ball.triangles, c.joint("bar_b"));
    const SkinWeights w = *bound(c.mesh(), c.skeleton).weights();
    for (std::size_t v = of_bar; v < c.positions.size(); ++v)
        EXPECT_EQ(w[v][0], (Influence{c.joint("bar_b"), 1})) << v;
    std::size_t shared = 0;
    for (std::size_t v = 0; v < of_bar; ++v) shared += w[v].size() > 1;
    EXPECT_GT(shared, 0u);
}

TEST(SurfaceHeat, ASheetDoesNotSeeABoneAcrossOpenSpace) {
    // Two plates, each with its bone, and a sheet that hangs from the upper one down to the lower.
    Character c;
    Joint upper, lower;
    upper.name = "upper", upper.position = {-2, 0, 0}, upper.tail = Vec3{2, 0, 0};
    lower.name = "lower", lower.position = {-2, -1, 0}, lower.tail = Vec3{2, -1, 0};
    c.skeleton.joints = {upper, lower};
    const auto add = [&](const test::Shape& part, std::uint32_t joint) {
        test::append(c, part.positions, part.triangles, joint);
    };
    add(test::sheet({0, 0, 0}, {2, 0, 0}, {0, 0, 0.3}, 40, 6), 0);
    add(test::sheet({0, -1, 0}, {2, 0, 0}, {0, 0, 0.3}, 40, 6), 1);
    const std::size_t first = c.positions.size();
    add(test::sheet({0, -0.4, 0.32}, {1, 0, 0}, {0, -0.4, 0}, 20, 12), 0);
    const SkinWeights w = *bound(c.mesh(), c.skeleton).weights();
    const SkinWeights heat = *bind(c.mesh(), c.skeleton, preset(Method::bone_heat))->weights();
    std::size_t pulled = 0;
    for (std::size_t v = first; v < c.positions.size(); ++v) {
        ASSERT_FALSE(w[v].empty());
        EXPECT_EQ(w[v][0].joint, 0u) << c.positions[v].y;
        pulled += heat[v][0].joint == 1;
    }
    EXPECT_GT(pulled, 0u);  // otherwise the test shows nothing: the nearest bone is the lower one
}

TEST(SurfaceHeat, EveryDefectiveMeshHasAllItsWeights) {
    const Character good = test::biped({.cell = 0.06});
    for (const test::Defect& defect : test::defects()) {
        if (*defect.error) continue;
        const Character c = defect.apply(good);
        const Binding b = bound(c.mesh(), c.skeleton);
        const SkinWeights w = *b.weights();
        for (std::size_t v = 0; v < c.positions.size(); ++v) ASSERT_FALSE(w[v].empty()) << defect.name << " " << v;
        EXPECT_EQ(b.report().coverage[static_cast<std::size_t>(Coverage::none)], 0u) << defect.name;
        EXPECT_EQ(b.report().vertices(), c.positions.size()) << defect.name;
    }
}

TEST(SurfaceHeat, BindsSoupOfAnySize) {
    std::mt19937 random(5);
    for (int round = 0; round < 40; ++round) {
        const Character c = test::random_soup(round, random);
        const SkinWeights w = *bound(c.mesh(), c.skeleton, 0, 32).weights();
        for (std::size_t v = 0; v < c.positions.size(); ++v) ASSERT_FALSE(w[v].empty()) << round << " " << v;
    }
}

TEST(SurfaceHeat, ThreadsDoNotMatter) {
    const Character c = test::biped({.cell = 0.05});
    const SkinWeights one = *bound(c.mesh(), c.skeleton, 1).weights();
    EXPECT_EQ(one, *bound(c.mesh(), c.skeleton, 3).weights());
    EXPECT_EQ(one, *bound(c.mesh(), c.skeleton, 8).weights());
}

}  // namespace
}  // namespace sinew::test_rigid_parts
