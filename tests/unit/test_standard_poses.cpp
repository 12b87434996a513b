// Standard poses of a skeleton: the character must move as the name of the pose states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "characters/characters.h"
#include "deform/anatomy.h"
#include "sinew/deform.h"

namespace sinew::test_standard_poses {
namespace {

const NamedPose* find(const std::vector<NamedPose>& poses, const std::string& name) {
    for (const NamedPose& pose : poses)
        if (pose.name == name) return &pose;
    return nullptr;
}

std::vector<Point3> posed_joints(const Skeleton& skeleton, const NamedPose& pose) {
    const Result<std::vector<Transform>> moved = skinning_matrices(skeleton, pose.joints);
    std::vector<Point3> out;
    for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
        const Vec3& p = skeleton.joints[j].position;
        out.push_back(move_point(moved.value()[j], {p.x, p.y, p.z}));
    }
    return out;
}

struct Biped : ::testing::Test {
    static const test::Character& made() {
        static const test::Character once = test::biped();  // a second of work
        return once;
    }
    const test::Character& character = made();
    const Skeleton& skeleton = character.skeleton;
    std::vector<NamedPose> poses = standard_poses(skeleton);
    std::uint32_t at(const std::string& name) const { return character.joint(name); }
    std::vector<Point3> in(const std::string& name) const { return posed_joints(skeleton, *find(poses, name)); }
    std::vector<Point3> rest() const {
        return posed_joints(skeleton, {"", std::vector<JointPose>(skeleton.joints.size())});
    }
    std::size_t limbs(bool leg) const {
        std::size_t n = 0;
        for (const Limb& limb : read_anatomy(skeleton, {0, 1, 0}).limbs) n += limb.leg == leg;
        return n;
    }
};

TEST_F(Biped, HasAllPosesOfAPerson) {
    for (const char* name :
         {"arms up", "arms forward", "squat", "stride", "twist", "bend", "head turn", "fist", "curl"})
        EXPECT_TRUE(find(poses, name)) << name;
    EXPECT_FALSE(find(poses, "tail"));
    EXPECT_EQ(limbs(true), 2u);
    EXPECT_EQ(limbs(false), 2u);
}

TEST_F(Biped, FacesForward) {
    const Anatomy a = read_anatomy(skeleton, {0, 1, 0});
    EXPECT_GT(a.forward[2], 0.99);
    EXPECT_GT(a.lateral[0], 0.99);
}

TEST_F(Biped, ArmsUpLiftsWristsAboveTheHead) {
    const Anatomy a = read_anatomy(skeleton, {0, 1, 0});
    const auto up = in("arms up"), forward = in("arms forward");
    for (const Limb& limb : a.limbs) {
        if (limb.leg) continue;
        const std::uint32_t wrist = limb.chain[limb.wrist], shoulder = limb.chain[limb.root];
        EXPECT_GT(up[wrist][1], up[a.neck[0]][1] + 0.1);
        EXPECT_GT(forward[wrist][2] - forward[shoulder][2], 0.3);
        EXPECT_NEAR(forward[wrist][1], forward[shoulder][1], 0.15);
    }
}

TEST_F(Biped, SquatKeepsFeetFlatAndBringsHipsDown) {
    const Anatomy a = read_anatomy(skeleton, {0, 1, 0});
    const auto before = rest(), after = in("squat");
    for (const Limb& limb : a.limbs) {
        if (!limb.leg) continue;
        const std::uint32_t hip = limb.chain[limb.root], knee = limb.chain[*limb.knee],
                            ankle = limb.chain[limb.wrist], toe = limb.chain.back();
        EXPECT_LT(after[hip][1] - after[ankle][1], 0.85 * (before[hip][1] - before[ankle][1]));
        EXPECT_GT(after[knee][2] - after[hip][2], 0.2);
        const Point3 foot_before = before[toe] - before[ankle], foot_after = after[toe] - after[ankle];
        EXPECT_NEAR(foot_before[1], foot_after[1], 0.01);
    }
}

TEST_F(Biped, StrideMovesLegsApart) {
    const Anatomy a = read_anatomy(skeleton, {0, 1, 0});
    const auto after = in("stride");
    std::vector<double> ankles;
    for (const Limb& limb : a.limbs)
        if (limb.leg) ankles.push_back(after[limb.chain[limb.wrist]][2]);
    ASSERT_EQ(ankles.size(), 2u);
    EXPECT_GT(std::abs(ankles[0] - ankles[1]), 0.4);
}

TEST_F(Biped, FistBringsFingertipsTowardsThePalm) {
    const Anatomy a = read_anatomy(skeleton, {0, 1, 0});
    const auto before = rest(), after = in("fist");
    ASSERT_EQ(a.hands.size(), 2u);
    for (const Hand& hand : a.hands) {
        EXPECT_EQ(hand.fingers.size(), 5u);
        EXPECT_NEAR(norm(hand.palm), 1, 1e-9);
        std::size_t closer = 0;
        for (const Chain& finger : hand.fingers) {
            const std::uint32_t tip = finger.back();
            closer += norm(after[tip] - after[hand.wrist]) < 0.9 * norm(before[tip] - before[hand.wrist]);
            EXPECT_GT(dot(hand.palm, after[tip] - before[tip]), 0) << skeleton.joints[tip].name;
        }
        EXPECT_GE(closer, 4u);  // the thumb may lie across
    }
}

TEST_F(Biped, HeadTurnsAboutTheVertical) {
    const Anatomy a = read_anatomy(skeleton, {0, 1, 0});
    const auto before = rest(), after = in("head turn");
    for (const std::uint32_t j : a.spine) EXPECT_EQ(before[j], after[j]);
    const NamedPose* pose = find(poses, "head turn");
    EXPECT_NE(pose->joints[a.neck[0]].rotation[3], 1);
}

// Most poses are symmetric; a twist and a stride are not.
TEST_F(Biped, SymmetricPosesAreSymmetric) {
    const Anatomy a = read_anatomy(skeleton, {0, 1, 0});
    for (const char* name : {"arms up", "arms forward", "squat", "fist", "bend"}) {
        const auto after = in(name);
        for (const Limb& limb : a.limbs) {
            const Limb* other = nullptr;
            for (const Limb& l : a.limbs)
                if (l.leg == limb.leg && l.side != limb.side) other = &l;
            ASSERT_TRUE(other);
            for (std::size_t i = 0; i < limb.chain.size(); ++i) {
                const Point3 p = after[limb.chain[i]], q = after[other->chain[i]];
                EXPECT_NEAR(p[0], -q[0], 1e-3) << name;
                EXPECT_NEAR(p[1], q[1], 1e-3) << name;
                EXPECT_NEAR(p[2], q[2], 1e-3) << name;
            }
        }
    }
}

// Z up, in centimetres, turned: the same poses.
TEST_F(Biped, FollowsTheWayUp) {
    Skeleton lying = skeleton;
    auto turn = [](const Vec3& p) { return Vec3{p.x, -p.z, p.y}; };
    for (Joint& joint : lying.joints) {
        const Vec3 p = turn(joint.position);
        joint.position = {100 * p.x, 100 * p.y, 100 * p.z};
        for (Vec3& axis : joint.axes) axis = turn(axis);
    }
    const std::vector<NamedPose> other = standard_poses(lying, {0, 0, 1});
    ASSERT_EQ(other.size(), poses.size());
    for (std::size_t k = 0; k < poses.size(); ++k) {
        EXPECT_EQ(other[k].name, poses[k].name);
        const auto a = posed_joints(skeleton, poses[k]), b = posed_joints(lying, other[k]);
        for (std::size_t j = 0; j < a.size(); ++j) {
            EXPECT_NEAR(100 * a[j][0], b[j][0], 0.05) << poses[k].name;
            EXPECT_NEAR(100 * a[j][1], b[j][2], 0.05) << poses[k].name;
            EXPECT_NEAR(-100 * a[j][2], b[j][1], 0.05) << poses[k].name;
        }
    }
}

TEST(StandardPoses, ControlJointsStayAtRest) {
    const test::Character c = test::make_character("biped_controls");
    for (const NamedPose& pose : standard_poses(c.skeleton))
        for (std::size_t j = 0; j < pose.joints.size(); ++j) {
            if (c.skeleton.joints[j].name.rfind("ik_", 0) != 0) continue;
            EXPECT_EQ(pose.joints[j].rotation[3], 1) << pose.name;
        }
}

// A cape hangs from the chest, in the middle, and is longer than neck and head.
TEST(StandardPoses, ACapeIsNotTakenForANeck) {
    const test::Character c = test::make_character("caped");
    const Anatomy a = read_anatomy(c.skeleton, {0, 1, 0});
    EXPECT_GT(a.forward[2], 0.99);
    ASSERT_FALSE(a.neck.empty());
    EXPECT_EQ(a.neck[0], c.joint("neck"));
}

TEST(StandardPoses, AnAnimalWalksOnFourLegsAndHasATail) {
    const test::Character c = test::quadruped();
    const Anatomy a = read_anatomy(c.skeleton, {0, 1, 0});
    EXPECT_EQ(std::count_if(a.limbs.begin(), a.limbs.end(), [](const Limb& l) { return l.leg; }), 4);
    EXPECT_GT(a.forward[2], 0.99);
    const auto poses = standard_poses(c.skeleton);
    for (const char* name : {"squat", "stride", "bend", "head turn", "tail", "curl"})
        EXPECT_TRUE(find(poses, name)) << name;
    EXPECT_FALSE(find(poses, "arms up"));
}

/// A person whose joints point along their bones (y). The feet are roots, as in IK rigs, with a knee target in
/// front of one of them.
Skeleton with_feet_apart() {
    Skeleton s;
    const auto add = [&](const char* name, int parent, Vec3 at, Vec3 way) {
        Joint joint;
        joint.name = name, joint.parent = parent, joint.position = at;
        const Point3 y = unit({way.x, way.y, way.z});
        const Point3 x = unit(cross(y, std::abs(y[0]) < 0.9 ? Point3{1, 0, 0} : Point3{0, 1, 0})), z = cross(x, y);
        const auto vec = [](const Point3& p) {
            return Vec3{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])};
        };
        joint.axes = {vec(x), vec(y), vec(z)};
        s.joints.push_back(joint);
        return static_cast<int>(s.joints.size()) - 1;
    };
    const int hips = add("hips", -1, {0, 1, 0}, {0, 1, 0}), spine = add("spine", hips, {0, 1.2f, 0}, {0, 1, 0}),
              chest = add("chest", spine, {0, 1.4f, 0}, {0, 1, 0});
    add("head", add("neck", chest, {0, 1.6f, 0}, {0, 1, 0}), {0, 1.7f, 0}, {0, 1, 0});
    for (const float side : {1.0f, -1.0f}) {
        const std::string end = side > 0 ? "_l" : "_r";
        const auto place = [&](float x, float y, float z) { return Vec3{side * x, y, z}; };
        const int arm = add(("arm" + end).c_str(), chest, place(0.2f, 1.4f, 0), place(1, 0, 0)),
                  elbow = add(("elbow" + end).c_str(), arm, place(0.5f, 1.4f, 0), place(1, 0, 0));
        add(("hand" + end).c_str(), elbow, place(0.8f, 1.4f, 0), place(1, 0, 0));
        const int thigh = add(("thigh" + end).c_str(), hips, place(0.1f, 1, 0), place(0, -0.5f, 0.05f));
        add(("shin" + end).c_str(), thigh, place(0.1f, 0.5f, 0.05f), place(0, -0.4f, -0.08f));
        const int foot = add(("foot" + end).c_str(), -1, place(0.1f, 0.1f, -0.03f), place(0, -0.4f, 1));
        add(("toe" + end).c_str(), foot, place(0.1f, 0.02f, 0.17f), place(0, 0, 1));
        add(("knee_at" + end).c_str(), -1, place(0.1f, 0.5f, 1), place(0, 1, 0));
    }
    return s;
}

TEST(StandardPoses, FeetInOtherChainsMoveWithTheirLegs) {
    Skeleton s = with_feet_apart();
    const auto at = [&](const char* name) { return joints_called(s, name).at(0); };
    const std::vector<NamedPose> poses = standard_poses(s);
    ASSERT_TRUE(find(poses, "squat") && find(poses, "stride") && find(poses, "curl"));
    for (const NamedPose& pose : poses)
        for (const std::string side : {"_l", "_r"}) {
            const auto moved = skinning_matrices(s, pose.joints).value();
            const Transform &shin = moved[at(("shin" + side).c_str())], &foot = moved[at(("foot" + side).c_str())];
            const Vec3& place = s.joints[at(("foot" + side).c_str())].position;
            const Point3 a = move_point(shin, {place.x, place.y, place.z}),
                         b = move_point(foot, {place.x, place.y, place.z});
            for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(a[k], b[k], 1e-6) << pose.name << side;
            // The foot moves with the leg, except that in a squat the soles stay flat.
            const Transform expected = pose.name == "squat" ? Transform{} : shin;
            for (std::size_t r = 0; r < 3; ++r)
                for (std::size_t c = 0; c < 3; ++c)
                    EXPECT_NEAR(foot(r, c), expected(r, c), 1e-6) << pose.name << side;
            EXPECT_EQ(moved[at(("knee_at" + side).c_str())], Transform{}) << pose.name;
        }
    // If the directions of bones are unknown, feet stay in place.
    for (Joint& joint : s.joints) joint.axes = Joint{}.axes;
    for (const NamedPose& pose : standard_poses(s)) {
        const Transform foot = skinning_matrices(s, pose.joints).value()[at("foot_l")];
        EXPECT_LT(norm(move_point(foot, {0.1, 0.1, -0.03}) - Point3{0.1, 0.1, -0.03}), 1e-6) << pose.name;
    }
}

TEST(StandardPoses, FeetMayHangOnAJointAboveTheirLegs) {
    Skeleton s = with_feet_apart();
    Joint ground;
    ground.name = "all", ground.position = {0, 0, 0};
    s.joints.push_back(ground);
    const auto all = static_cast<int>(s.joints.size()) - 1;
    for (int j = 0; j < all; ++j)
        if (int& parent = s.joints[static_cast<std::size_t>(j)].parent; parent < 0) parent = all;
    const auto at = [&](const char* name) { return joints_called(s, name).at(0); };
    const std::vector<NamedPose> poses = standard_poses(s);
    const NamedPose* stride = find(poses, "stride");
    ASSERT_TRUE(stride);
    const auto moved = skinning_matrices(s, stride->joints).value();
    for (std::size_t k = 0; k < 12; ++k) EXPECT_NEAR(moved[at("foot_l")].m[k], moved[at("shin_l")].m[k], 1e-6);
    EXPECT_NE(moved[at("foot_l")], Transform{});
}

TEST(StandardPoses, AChainCurls) {
    Skeleton s;
    for (int i = 0; i < 6; ++i) {
        Joint joint;
        joint.name = "j" + std::to_string(i);
        joint.parent = i - 1;
        joint.position = {0, 0, static_cast<float>(i)};
        s.joints.push_back(joint);
    }
    const auto poses = standard_poses(s);
    ASSERT_TRUE(find(poses, "curl"));
    for (const NamedPose& pose : poses) {
        ASSERT_EQ(pose.joints.size(), 6u);
        EXPECT_TRUE(skinning_matrices(s, pose.joints).ok());
    }
}

TEST(StandardPoses, DegenerateSkeletonsTerminate) {
    EXPECT_TRUE(standard_poses({}).empty());
    Skeleton one;
    one.joints.resize(1);
    for (const NamedPose& pose : standard_poses(one)) EXPECT_TRUE(skinning_matrices(one, pose.joints).ok());
    // All joints at one place.
    Skeleton heap;
    heap.joints.resize(40);
    for (int j = 1; j < 40; ++j) heap.joints[static_cast<std::size_t>(j)].parent = (j - 1) / 3;
    for (const NamedPose& pose : standard_poses(heap, {0, 0, 1})) {
        const auto moved = skinning_matrices(heap, pose.joints);
        EXPECT_TRUE(moved.ok()) << pose.name;
    }
}

TEST(RandomPose, RepeatsForASeedAndStaysWithinItsAngle) {
    Skeleton s;
    s.joints.resize(200);
    const auto a = random_pose(s, 25, 7), b = random_pose(s, 25, 7), c = random_pose(s, 25, 8);
    double sum = 0, largest = 0;
    bool differs = false;
    for (std::size_t j = 0; j < a.size(); ++j) {
        EXPECT_EQ(a[j].rotation, b[j].rotation);
        differs |= a[j].rotation != c[j].rotation;
        const double angle = 2 * std::acos(std::min(1.0, std::abs(a[j].rotation[3]))) * 180 / 3.14159265358979;
        sum += angle;
        largest = std::max(largest, angle);
    }
    EXPECT_TRUE(differs);
    EXPECT_LE(largest, 25.0001);
    EXPECT_NEAR(sum / 200, 12.5, 2);  // uniform
}

}  // namespace
}  // namespace sinew::test_standard_poses
