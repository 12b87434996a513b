#include <gtest/gtest.h>

#include "io/formats.h"

namespace sinew::io::test_skeleton_file {
namespace {

std::string error_of(const std::string& text) {
    const Result<Skeleton> skeleton = parse_skeleton(text, "s");
    return skeleton ? "no error" : skeleton.error().message;
}

void expect_error(const std::string& text, const std::string& fragment) {
    EXPECT_NE(error_of(text).find(fragment), std::string::npos)
        << "of " << text.substr(0, 200) << "\nis:       " << error_of(text) << "\nexpected: " << fragment;
}

TEST(SkeletonJson, ReadsBonesAndPoints) {
    const Result<Skeleton> good = parse_skeleton(R"({"bones": [
        {"name": "arm", "parent": "hips", "head": [0, 1, 0.5], "tail": [1, 1e0, 0.5], "deform": false},
        {"name": "hips", "parent": -1, "head": [0, 0, 0], "hardness": 0.5, "range": [0, 1], "colour": "red"},
        {"parent": 0, "head": [2, 1, 0]},
        {"name": "free", "parent": null, "head": [9, 9, 9], "tail": null}],
        "points": [{"name": "chin", "position": [0, 2, 0], "parent": 1}, {"position": [1, 1, 1], "parent": "hips"}]})",
                                                 "s");
    ASSERT_TRUE(good) << good.error().message;
    const std::vector<Joint>& joints = good->joints;
    ASSERT_EQ(joints.size(), 6u);
    EXPECT_EQ(joints[0].name, "arm");
    EXPECT_EQ(joints[0].parent, 1);
    EXPECT_EQ(joints[0].position, (Vec3{0, 1, 0.5f}));
    EXPECT_EQ(joints[0].tail, (Vec3{1, 1, 0.5f}));
    EXPECT_FALSE(joints[0].deform);
    EXPECT_EQ(joints[0].reason, DeformReason::excluded);
    EXPECT_EQ(joints[1].parent, -1);
    EXPECT_TRUE(joints[1].deform);
    EXPECT_FALSE(joints[1].tail);
    EXPECT_EQ(joints[2].name, "bone_2");
    EXPECT_EQ(joints[2].parent, 0);
    EXPECT_EQ(joints[3].parent, -1);
    EXPECT_FALSE(joints[3].tail);
    EXPECT_EQ(joints[4].position, (Vec3{0, 2, 0}));
    EXPECT_EQ(joints[4].tail, joints[4].position) << "a point is a bone without length";
    EXPECT_EQ(joints[5].name, "point_1");
    EXPECT_EQ(joints[5].parent, 1);
}

TEST(SkeletonJson, TailsOfBonesWithChildrenAndPointsAreStated) {
    const Result<Skeleton> read = parse_skeleton(R"({"bones": [
        {"name": "hips", "head": [0, 0, 0], "tail": [0, 1, 0]},
        {"name": "spine", "parent": "hips", "head": [0, 1, 0], "tail": [0, 2, 0]},
        {"name": "leg", "parent": "hips", "head": [0, -1, 0], "tail": [0, -2, 0]}],
        "points": [{"name": "chin", "parent": "spine", "position": [0, 3, 0]},
                   {"name": "beard", "parent": "chin", "position": [0, 2.5, 0]}]})",
                                                 "s");
    ASSERT_TRUE(read) << read.error().message;
    const std::vector<Bone> bones = make_bones(*read);
    ASSERT_EQ(bones.size(), 5u);
    for (std::uint32_t j = 0; j < 5; ++j) {
        EXPECT_EQ(bones[j].joint, j);
        EXPECT_EQ(bones[j].tail, read->joints[j].tail) << j;
    }
    EXPECT_EQ(bones[3].tail, bones[3].head) << "a point has no length, though another hangs from it";
}

TEST(SkeletonJson, ErrorsNameTheBoneAndTheRule) {
    expect_error("", "the skeleton file is empty");
    expect_error(" \n", "the skeleton file is empty");
    expect_error("{", "not valid JSON");
    expect_error("[]", "must be an object");
    expect_error("{}", "there is no bone");
    expect_error(R"({"bones": 3})", "\"bones\" must be an array");
    expect_error(R"({"bones": [3]})", "bone 0 must be an object");
    expect_error(R"({"bones": [{"name": 1, "head": [0,0,0]}]})", "\"name\" must be a string");
    expect_error(R"({"bones": [{"name": "a"}]})", "bone 0 ('a') has no \"head\"");
    expect_error(R"({"bones": [{"name": "a", "head": [0, 0]}]})", "\"head\" must be three finite numbers");
    expect_error(R"({"bones": [{"name": "a", "head": [0, 0, 1e39]}]})", "\"head\" must be three finite numbers");
    expect_error(R"({"bones": [{"name": "a", "head": [0, 0, 1e999]}]})", "not valid JSON: number overflow");
    expect_error(R"({"bones": [{"name": "a", "head": [0, 0, "1"]}]})", "\"head\" must be three finite numbers");
    expect_error(R"({"bones": [{"name": "a", "head": [0,0,0], "tail": [1]}]})", "\"tail\" must be three finite");
    expect_error(R"({"bones": [{"name": "a", "head": [0,0,0], "deform": 0}]})", "\"deform\" must be true or false");
    expect_error(R"({"points": [{"name": "a", "head": [0,0,0]}]})", "point 0 ('a') has no \"position\"");
    const std::string bone =
        R"({"bones": [{"name": "a", "head": [0,0,0]}, {"name": "b", "head": [0,0,0], "parent": )";
    expect_error(bone + "2}]}", "\"parent\" is 2, but there are only 2");
    expect_error(bone + "-2}]}", "\"parent\" is -2");
    expect_error(bone + "18446744073709551615}]}", "\"parent\" is 18446744073709551615");
    expect_error(bone + "0.5}]}", "\"parent\" must be a number, a name or null");
    expect_error(bone + "\"c\"}]}", "names 'c'");
    expect_error(bone + "1}]}", "bone 1 ('b') is its own ancestor");
    expect_error(bone + "\"a\"}, {\"name\": \"a\", \"head\": [0,0,0]}]}", "which several have");
    expect_error(R"({"bones": [{"head": [0,0,0], "parent": 1}, {"head": [0,0,0], "parent": 0}]})", "own ancestor");
    expect_error(R"({"points": [{"position": [0,0,0], "parent": 0}]})", "point 0 ('point_0') is its own ancestor");
    expect_error(std::string(100000, '['), "nested deeper");
}

TEST(Tgf, ReadsVerticesAsJointsAndEdgesAsBones) {
    const Result<Skeleton> read = parse_skeleton(
        "7\t0.5 1 -2e0 and more\r\n\r\nb 1 1 1\n3 +2 2 2\n9 8 8 8\n#\n7 b 1 0 0\nb 3 \n9 7 0 0 1\n#\nnoise", "s");
    ASSERT_TRUE(read) << read.error().message;
    const std::vector<Joint>& joints = read->joints;
    ASSERT_EQ(joints.size(), 4u);
    EXPECT_EQ(joints[0].name, "joint_7");
    EXPECT_EQ(joints[0].position, (Vec3{0.5f, 1, -2}));
    EXPECT_EQ(joints[0].parent, -1) << "the edge from 9 is a cage edge by its columns";
    EXPECT_EQ(joints[1].name, "joint_b");
    EXPECT_EQ(joints[1].parent, 0);
    EXPECT_EQ(joints[2].parent, 1);
    EXPECT_EQ(joints[3].parent, -1);
    EXPECT_FALSE(joints[0].tail);
}

TEST(Tgf, EdgesAreTheBones) {
    // 1 - 2, from 2 two ends; 5 is a vertex alone.
    Skeleton s = *parse_skeleton("1 0 0 0\n2 0 1 0\n3 1 2 0\n4 -1 2 0\n5 9 9 9\n#\n1 2\n2 3\n2 4\n", "s");
    for (const std::size_t j : {0u, 1u, 4u}) EXPECT_TRUE(s.joints[j].deform) << j;
    for (const std::size_t j : {2u, 3u}) {
        EXPECT_FALSE(s.joints[j].deform) << "the end of a bone has no bone";
        EXPECT_EQ(s.joints[j].reason, DeformReason::excluded);
    }
    ASSERT_TRUE(select_deforming(s, {}, {DeformFrom::all, {}, {}}));
    std::vector<Bone> bones = make_bones(s);
    ASSERT_EQ(bones.size(), 4u);
    EXPECT_EQ(bones[0].tail, s.joints[1].position);
    EXPECT_EQ(bones[1].joint, 1u);
    EXPECT_EQ(bones[1].tail, s.joints[2].position);
    EXPECT_EQ(bones[2].joint, 1u);
    EXPECT_EQ(bones[2].tail, s.joints[3].position);
    EXPECT_EQ(bones[3].joint, 4u);
    EXPECT_EQ(bones[3].tail, bones[3].head);
    EXPECT_TRUE(s.joints[4].states_bones());
    // An end that should deform needs a statement.
    ASSERT_TRUE(select_deforming(s, {}, {DeformFrom::all, {}, {"joint_3"}}));
    bones = make_bones(s);
    ASSERT_EQ(bones.size(), 5u);
    EXPECT_TRUE(bones[1].open_tail);
    EXPECT_EQ(bones[3].joint, 2u);
}

TEST(Tgf, ErrorsNameTheLine) {
    expect_error("1 0 0\n#\n", "line 1: a vertex needs an id and three numbers");
    expect_error("1 0 0 0\n2 0 x 0\n#\n", "line 2: 'x' is not a finite number");
    expect_error("1 0 0 nan\n", "line 1: 'nan' is not a finite number");
    expect_error("1 0 0 1e39\n", "line 1: '1e39' is not a finite number");
    expect_error("1 0 0 0\n\n1 0 0 1\n", "line 3: vertex id 1 is given twice");
    expect_error("#\n1 2\n", "line 2: no vertex has the id 1");
    expect_error("1 0 0 0\n#\n1\n", "line 3: an edge needs two vertex ids");
    expect_error("1 0 0 0\n#\n1 2\n", "line 3: no vertex has the id 2");
    expect_error("1 0 0 0\n#\n1 1\n", "line 3: the edge joins vertex 1 to itself");
    expect_error("1 0 0 0\n2 0 0 1\n3 0 0 2\n#\n1 3\n2 3\n", "line 6: vertex 3 already has a parent from line 5");
    expect_error("1 0 0 0\n2 0 0 1\n#\n1 2\n2 1\n", "becomes its own ancestor");
    expect_error("#\n#\n", "there is no vertex");
}

TEST(SkeletonFile, AMissingFileIsAnIoError) {
    const Result<Skeleton> read = load_skeleton("/nowhere/skeleton.json");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::io);
}

/// Every prefix of a valid file is read or refused, without a crash or a sanitizer report.
TEST(SkeletonFile, EveryTruncationIsSurvived) {
    const std::string json = R"({"bones":[{"name":"a\u00e4","parent":-1,"head":[0,1,2],"tail":[1,1,2.5e-1]},
        {"name":"b","parent":"a\u00e4","head":[0,1,2]}],"points":[{"position":[1,2,3],"parent":1}]})";
    const std::string tgf = "1 0 0 0\n2 0 1 0\n3 0 2 0\n#\n1 2\n2 3\n";
    ASSERT_TRUE(parse_skeleton(json, "s"));
    ASSERT_TRUE(parse_skeleton(tgf, "s"));
    for (std::size_t n = 0; n < json.size(); ++n) EXPECT_FALSE(parse_skeleton(json.substr(0, n), "s")) << n;
    for (std::size_t n = 0; n < tgf.size(); ++n) (void)parse_skeleton(tgf.substr(0, n), "s");
}

}  // namespace
}  // namespace sinew::io::test_skeleton_file
