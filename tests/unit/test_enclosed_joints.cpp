// Rules of surface-heat for joints enclosed in a part of their own, and for joints without a hierarchy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bind/method.h"
#include "bind/surface_heat/bones.h"
#include "bind/surface_heat/enclosed_joints.h"
#include "characters/shapes.h"
#include "core/vectors.h"
#include "sinew/bind.h"
#include "unit/support.h"

namespace sinew::test_enclosed_joints {
namespace {

using test::Character;

/// A head as a ball of radius 1, and in its front an eyeball of radius 0.2. The neck joint is inside the head.
struct Face {
    Character c;
    std::size_t first_of_eye;

    explicit Face(Vec3 stretch = {1, 1, 1}) {
        Joint neck, eye;
        neck.name = "neck", neck.position = {0, -0.8f, 0}, neck.tail = Vec3{0, 0.6f, 0};
        eye.name = "eye", eye.parent = 0, eye.position = {0, 0.2f, 0.9f};
        c.skeleton.joints = {neck, eye};
        const test::Shape head = test::sphere({0, 0, 0}, 1, 4);
        test::append(c, head.positions, head.triangles, 0);
        first_of_eye = c.positions.size();
        test::Shape ball = test::sphere({0, 0, 0}, 0.2, 3);
        for (Vec3& p : ball.positions) p = {p.x * stretch.x, 0.2f + p.y * stretch.y, 0.9f + p.z * stretch.z};
        test::append(c, ball.positions, ball.triangles, 1);
    }
    bool is_separate(std::uint32_t joint, bool from_eye, const Point3& p, bool solid = true) const {
        const MeshSurface surface = build_surface(c.mesh(), analyse_mesh(c.mesh()));
        const SurfaceParts parts = split_parts(c.mesh(), surface, nullptr);
        EXPECT_EQ(parts.part.size(), 2u);
        const EnclosedJoints joints(c.mesh(), c.skeleton, make_bones(c.skeleton), parts.part,
                                    [&](const Point3&) { return solid; });
        return joints.is_separate(joint, surface.component[surface.node_of[from_eye ? first_of_eye : 0]], p);
    }
};

TEST(EnclosedJoints, AnEyeDoesNotMoveTheFace) {
    const Face face;
    EXPECT_TRUE(face.is_separate(1, false, {0, 0.5, 0.86}));
    EXPECT_FALSE(face.is_separate(1, true, {0, 0.4, 0.9}));   // its own part
    EXPECT_TRUE(face.is_separate(1, false, {0, 0.2, 0.98}));  // also where it runs through the eyeball
    EXPECT_FALSE(
        face.is_separate(0, true, {0, 0.4, 0.9}));  // the head encloses the neck, but is not smaller than itself
}

TEST(EnclosedJoints, AFootFollowsItsShoe) {
    const Face shoe({1, 1, 0.3f});  // not a ball
    EXPECT_TRUE(shoe.is_separate(1, false, {0, 0.5, 0.86}));
    EXPECT_FALSE(shoe.is_separate(1, false, {0, 0.2, 0.92}));
}

TEST(EnclosedJoints, ALimbThatLeadsOnIsNotEnclosed) {
    Face face;
    Joint beyond;
    beyond.name = "beyond", beyond.parent = 1, beyond.position = {0, 0.8f, 0};
    face.c.skeleton.joints.push_back(beyond);
    EXPECT_FALSE(face.is_separate(1, false, {0, 0.5, 0.86}));
    face.c.skeleton.joints[2].deform = false;  // idle joints do not count
    EXPECT_TRUE(face.is_separate(1, false, {0, 0.5, 0.86}));
}

TEST(EnclosedJoints, ABoneThatLeadsThroughFleshMovesIt) {
    // The tail of a joint in a ball may point anywhere. In a part of another shape it must not lead through the
    // head.
    Face ball, slab({1, 1, 0.3f});
    for (Face* face : {&ball, &slab}) face->c.skeleton.joints[1].tail = Vec3{0, 0.2f, -0.5f};
    EXPECT_TRUE(ball.is_separate(1, false, {0, 0.5, 0.86}));
    EXPECT_FALSE(slab.is_separate(1, false, {0, 0.5, 0.86}));
    EXPECT_TRUE(slab.is_separate(1, false, {0, 0.5, 0.86}, false));  // through open space it may
}

TEST(EnclosedJoints, APartWithoutAnotherJointKeepsItsWeights) {
    Face face({1, 1, 0.3f});
    face.c.skeleton.joints[0].position = {0, -1.5f, 0};
    EXPECT_FALSE(face.is_separate(1, false, {0, 0.5, 0.86}));
}

TEST(EnclosedJoints, TheFaceStaysWhenTheEyeTurns) {
    const Face face;
    BindOptions options;
    options.voxels.resolution = 64;
    const Result<Binding> b = bind(face.c.mesh(), face.c.skeleton, options),
                          plain = bind(face.c.mesh(), face.c.skeleton, preset(Method::bone_heat));
    ASSERT_TRUE(b && plain);
    const SkinWeights w = *b->weights(), heat = *plain->weights();
    double pulled = 0;
    for (std::size_t v = 0; v < face.c.positions.size(); ++v) {
        if (v >= face.first_of_eye) {
            EXPECT_EQ(test::weight_of(w, v, 1), 1) << v;
        } else {
            EXPECT_EQ(test::weight_of(w, v, 1), 0) << v;
            pulled = std::max<double>(pulled, test::weight_of(heat, v, 1));
        }
    }
    EXPECT_GT(pulled, 0.5);  // otherwise the test shows nothing
}

/// A finger of four joints, bent by 15 degrees at each; every joint looks along its bone with the axis `along`.
Skeleton finger(std::size_t along, bool hierarchy = false) {
    Skeleton s;
    Vec3 at{0, 0, 0};
    for (int j = 0; j < 4; ++j) {
        const double turn = j * 15 * std::numbers::pi / 180;
        const Vec3 way{static_cast<float>(std::cos(turn)), static_cast<float>(std::sin(turn)), 0};
        const Vec3 side{-way.y, way.x, 0}, up{0, 0, 1};
        Joint joint;
        joint.name = "j" + std::to_string(j);
        joint.position = at;
        if (hierarchy) joint.parent = j - 1;
        joint.axes[along] = way;
        joint.axes[(along + 1) % 3] = side;
        joint.axes[(along + 2) % 3] = up;
        s.joints.push_back(joint);
        at = {at.x + way.x, at.y + way.y, 0};
    }
    std::reverse(s.joints.begin(), s.joints.end());
    if (hierarchy)
        for (int j = 0; j < 4; ++j) s.joints[static_cast<std::size_t>(j)].parent = j < 3 ? j + 1 : -1;
    return s;
}

TEST(LooseJoints, LookAlongTheirBones) {
    for (std::size_t along = 0; along < 3; ++along) {
        const Skeleton s = finger(along);
        std::vector<Bone> bones = make_bones(s);
        link_loose_joints(s, bones, [](const Point3&, const Point3&) { return true; });
        ASSERT_EQ(bones.size(), 4u);
        for (std::size_t j = 1; j < 4; ++j) {
            EXPECT_EQ(bones[j].tail, s.joints[j - 1].position) << along << " " << j;
            EXPECT_TRUE(bones[j].open_tail);
            EXPECT_EQ(bones[j].open_head, j < 3);
        }
        EXPECT_EQ(bones[0].tail, bones[0].head);
        EXPECT_TRUE(bones[0].open_head);
    }
}

TEST(LooseJoints, LeadOnlyThroughTheVolume) {
    const Skeleton s = finger(0);
    std::vector<Bone> bones = make_bones(s);
    link_loose_joints(s, bones, [](const Point3& a, const Point3&) { return norm(a) > 0.5; });
    EXPECT_EQ(bones[3].tail, bones[3].head);
    EXPECT_FALSE(bones[2].open_head);
    EXPECT_EQ(bones[2].tail, s.joints[1].position);
}

TEST(LooseJoints, DoNotChangeAHierarchy) {
    const auto all = [](const Point3&, const Point3&) { return true; };
    const Skeleton s = finger(0, true);
    std::vector<Bone> bones = make_bones(s);
    const std::vector<Bone> before = bones;
    link_loose_joints(s, bones, all);
    for (std::size_t b = 0; b < bones.size(); ++b) EXPECT_EQ(bones[b].tail, before[b].tail);
    // Joints without known axes use the axes of the scene, which mostly lead to no other joint.
    Skeleton scattered = finger(0);
    for (Joint& j : scattered.joints) j.axes = Joint{}.axes;
    scattered.joints[1].position = {5, 1, 2};
    scattered.joints[2].position = {2, 7, 3};
    bones = make_bones(scattered);
    link_loose_joints(scattered, bones, all);
    for (const Bone& bone : bones) EXPECT_EQ(bone.tail, bone.head);
}

TEST(LooseJoints, KeepStatedTails) {
    Skeleton s = finger(0);
    s.joints[2].tail = s.joints[2].position;
    std::vector<Bone> bones = make_bones(s);
    link_loose_joints(s, bones, [](const Point3&, const Point3&) { return true; });
    EXPECT_EQ(bones[2].tail, bones[2].head);
    EXPECT_FALSE(bones[2].open_tail);
    EXPECT_EQ(bones[3].tail, s.joints[1].position);  // skips the joint that states a bone of zero length
}

TEST(LooseJoints, MoveTheSkinBeforeTheNextJoint) {
    // A tube around the finger: each joint moves the vertices along its bone, up to the next joint.
    Character c;
    c.skeleton = finger(0);
    std::vector<test::P3> path;
    for (int ring = 0; ring <= 60; ++ring) {
        const double along = ring / 15.0;  // of four bones, the last of which ends with the tube
        test::P3 at{0, 0, 0};
        for (int j = 0; j < 4; ++j) {
            const double length = std::clamp(along - j, 0.0, 1.0), turn = j * 15 * std::numbers::pi / 180;
            at = {at.x + length * std::cos(turn), at.y + length * std::sin(turn), 0};
        }
        path.push_back(at);
    }
    const test::Shape skin = test::tube(path, std::vector<double>(path.size(), 0.15), {0, 0, 1}, 12);
    test::append(c, skin.positions, skin.triangles, 0);
    BindOptions options;
    options.voxels.resolution = 64;
    const Result<Binding> b = bind(c.mesh(), c.skeleton, options);
    ASSERT_TRUE(b) << b.error().message;
    const SkinWeights w = *b->weights();
    const auto middle_of = [&](std::size_t j) { return to_point(c.skeleton.joints[j].position); };
    int looked_at = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const Point3 p = to_point(c.positions[v]);
        for (std::size_t j = 1; j < 4; ++j) {  // the list runs from the tip to the root
            const Point3 way = middle_of(j - 1) - middle_of(j);
            const double t = dot(p - middle_of(j), way) / dot(way, way);
            if (t < 0.6 || t > 0.85 || norm(p - (middle_of(j) + t * way)) > 0.2) continue;
            // Without bones the border would be halfway between the joints.
            EXPECT_GT(test::weight_of(w, v, static_cast<std::uint32_t>(j)), 0.5) << v << " " << t;
            ++looked_at;
        }
    }
    EXPECT_GT(looked_at, 90);
}

}  // namespace
}  // namespace sinew::test_enclosed_joints
