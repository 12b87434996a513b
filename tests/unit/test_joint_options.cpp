#include <gtest/gtest.h>

#include "io/formats.h"

namespace sinew::io::test_joint_options {
namespace {

Skeleton four() {
    Skeleton s;
    for (const char* name : {"hips", "leg_L", "leg_R", "ik_foot"}) {
        Joint joint;
        joint.name = name;
        joint.parent = static_cast<int>(s.joints.size()) - 1;
        joint.position = {static_cast<float>(s.joints.size()), 0, 0};
        s.joints.push_back(joint);
    }
    return s;
}

void expect_error(const std::string& text, const std::string& fragment) {
    Skeleton s = four();
    const Status status = parse_joint_options(text, "o", s);
    const std::string message = status ? "no error" : status.error().message;
    EXPECT_NE(message.find(fragment), std::string::npos) << message << "\nexpected: " << fragment;
    EXPECT_FALSE(s.joints[0].hardness || s.joints[0].shape) << "an error must change nothing";
}

TEST(JointOptions, ApplyByNameAndPattern) {
    Skeleton s = four();
    const Status ok = parse_joint_options(R"({"joints": {
        "leg_*": {"hardness": 0.5, "range": [0.25, 1], "shape": {"capsule": 0.1}},
        "leg_R": {"hardness": 1, "tail": [9, 8, 7]},
        "hips": {"shape": {"box": [1, 2, 3], "axes": [[0, 1, 0], [1, 0, 0], [0, 0, -1]]}, "deform": true},
        "ik_?oot": {"deform": false}}})",
                                          "o", s);
    ASSERT_TRUE(ok) << ok.error().message;
    EXPECT_EQ(s.joints[1].hardness, 0.5f);
    EXPECT_EQ(s.joints[2].hardness, 1.0f);  // a name outweighs a pattern
    EXPECT_EQ(s.joints[2].hard_range, (std::array{0.25f, 1.0f}));
    EXPECT_EQ(s.joints[2].tail, (Vec3{9, 8, 7}));
    EXPECT_FALSE(s.joints[1].tail);
    ASSERT_TRUE(s.joints[1].shape && s.joints[0].shape);
    EXPECT_EQ(s.joints[1].shape->kind, JointShape::Kind::capsule);
    EXPECT_EQ(s.joints[1].shape->radius, 0.1f);
    EXPECT_EQ(s.joints[0].shape->half, (Vec3{1, 2, 3}));
    EXPECT_EQ((*s.joints[0].shape->axes)[0], (Vec3{0, 1, 0}));
    EXPECT_TRUE(check_skeleton(s));
    EXPECT_EQ(s.joints[0].reason, DeformReason::included);
    EXPECT_FALSE(s.joints[3].deform);
    // "deform" outweighs the weights of the file, and --exclude outweighs "deform".
    ASSERT_TRUE(select_deforming(s, {0, 1, 1, 1}, {}));
    EXPECT_TRUE(s.joints[0].deform);
    EXPECT_EQ(s.joints[3].reason, DeformReason::excluded);
    DeformOptions exclude;
    exclude.exclude = {"hips"};
    ASSERT_TRUE(select_deforming(s, {0, 1, 1, 1}, exclude));
    EXPECT_FALSE(s.joints[0].deform);
}

TEST(JointOptions, NullRemoves) {
    Skeleton s = four();
    s.joints[0].tail = Vec3{1, 1, 1};
    s.joints[0].hardness = 0.5f;
    ASSERT_TRUE(
        parse_joint_options(R"({"joints": {"hips": {"tail": null, "hardness": null, "shape": null}}})", "o", s));
    EXPECT_FALSE(s.joints[0].tail || s.joints[0].hardness);
}

TEST(JointOptions, APlaneIsAlongTheJointsOwnAxes) {
    Skeleton s = four();
    s.joints[1].axes = s.joints[2].axes = {Vec3{0, 1, 0}, Vec3{0, 0, 1}, Vec3{1, 0, 0}};
    const Status ok = parse_joint_options(R"({"joints": {
        "leg_*": {"plane": "x"}, "leg_R": {"plane": [0, 3, -4]}, "hips": {"plane": [2, 0, 0]}}})",
                                          "o", s);
    ASSERT_TRUE(ok) << ok.error().message;
    EXPECT_EQ(s.joints[0].ring_normal, (Vec3{1, 0, 0}));
    EXPECT_EQ(s.joints[1].ring_normal, (Vec3{0, 1, 0}));
    EXPECT_EQ(s.joints[2].ring_normal, (Vec3{-0.8f, 0, 0.6f}));
    EXPECT_FALSE(s.joints[3].ring_normal);
    EXPECT_TRUE(check_skeleton(s));
    ASSERT_TRUE(parse_joint_options(R"({"joints": {"*": {"plane": null}}})", "o", s));
    EXPECT_FALSE(s.joints[0].ring_normal);
    for (const Vec3& wrong : {Vec3{0, 0, 0}, Vec3{2, 0, 0}, Vec3{NAN, 1, 0}}) {
        s.joints[1].ring_normal = wrong;
        EXPECT_FALSE(check_skeleton(s));
    }
}

TEST(JointOptions, ErrorsNameTheJointAndTheRule) {
    expect_error("", "o: ");
    expect_error("[]", "must be an object with \"joints\"");
    expect_error(R"({"joints": 3})", "must be an object with \"joints\"");
    expect_error(R"({"joints": {}, "bones": []})", "\"bones\" is not known");
    expect_error(R"({"joints": {"leg_l": {}}})", "there is no joint 'leg_l' (did you mean 'leg_L' or 'leg_R'?)");
    expect_error(R"({"joints": {"arm*": {}}})", "no joint's name matches 'arm*'");
    expect_error(R"({"joints": {"hips": 1}})", "joint 'hips' must be an object");
    expect_error(R"({"joints": {"hips": {"hardnes": 1}}})", "joint 'hips': \"hardnes\" is not known");
    expect_error(R"({"joints": {"hips": {"connected": "leg_L"}}})", "\"connected\" must be a list of names");
    expect_error(R"({"joints": {"hips": {"hardness": 2}}})", "joint 'hips': \"hardness\" must be a number from 0");
    expect_error(R"({"joints": {"hips": {"hardness": 0.5}, "leg_L": {"range": [1, 0]}}})", "\"range\" must be two");
    for (const char* plane : {"\"w\"", "3", "[]", "[0, 0, 0]", "[1, 0]", "[1, 0, 1e99]", "\"xy\""})
        expect_error(R"({"joints": {"hips": {"plane": )" + std::string(plane) + "}}}",
                     "joint 'hips': \"plane\" must be x, y or z");
    expect_error(R"({"joints": {"hips": {"deform": 1}}})", "\"deform\" must be true or false");
    expect_error(R"({"joints": {"leg_*": {"tail": [1, 2, 3]}}})", "\"tail\" is for one joint, and 2");
    expect_error(R"({"joints": {"leg_*": {"hardness": 0}, "*L": {"hardness": 1}}})",
                 "joint 'leg_L': \"hardness\" is set by both");
    for (const char* shape :
         {"3", "{}", R"({"ball": 1})", R"({"sphere": 0})", R"({"sphere": -1})", R"({"sphere": "1"})",
          R"({"sphere": 1e99})", R"({"box": [1, 1]})", R"({"box": [1, 1, 0]})", R"({"sphere": 1, "capsule": 1})",
          R"({"sphere": 1, "axes": [[1,0,0],[0,1,0],[0,0,1]]})", R"({"box": [1,1,1], "axes": [1, 2, 3]})"})
        expect_error(R"({"joints": {"hips": {"shape": )" + std::string(shape) + "}}}", "joint 'hips': \"shape\"");
}

TEST(SkeletonJson, ReadsShapesAndHardness) {
    const Result<Skeleton> s = parse_skeleton(R"({"bones": [
        {"name": "a", "head": [0, 0, 0], "tail": [1, 0, 0], "shape": {"capsule": 0.25}, "hardness": 0.75,
         "plane": [0, 0, -2]}],
        "points": [{"name": "p", "position": [0, 1, 0], "shape": {"sphere": 2}}]})",
                                              "s");
    ASSERT_TRUE(s) << s.error().message;
    EXPECT_EQ(s->joints[0].shape->radius, 0.25f);
    EXPECT_EQ(s->joints[0].hardness, 0.75f);
    EXPECT_EQ(s->joints[0].ring_normal, (Vec3{0, 0, -1}));  // a joint without own axes uses those of the scene
    EXPECT_EQ(s->joints[1].shape->kind, JointShape::Kind::sphere);
    EXPECT_FALSE(parse_skeleton(R"({"bones": [{"head": [0, 0, 0], "shape": {"cone": 1}}]})", "s"));
}

}  // namespace
}  // namespace sinew::io::test_joint_options
