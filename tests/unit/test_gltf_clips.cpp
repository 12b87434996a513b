// Animations made of poses: the saved file plays the given poses.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "characters/characters.h"
#include "gltf_maker.h"
#include "sinew/deform.h"

namespace sinew::test_gltf_clips {
namespace {

using namespace test;

constexpr std::size_t hip_index = 0, knee_index = 1;

JointPose turned(double degrees, std::array<double, 3> axis = {0, 0, 1}) {
    const double half = degrees * 3.14159265358979 / 360;
    JointPose pose;
    for (std::size_t i = 0; i < 3; ++i) pose.rotation[i] = std::sin(half) * axis[i];
    pose.rotation[3] = std::cos(half);
    return pose;
}

/// Interpolates two poses as PoseClip defines it.
JointPose between(const JointPose& a, const JointPose& b, double u) {
    JointPose out;
    double cosine = 0;
    for (std::size_t i = 0; i < 4; ++i) cosine += a.rotation[i] * b.rotation[i];
    const double sign = cosine < 0 ? -1 : 1, angle = std::acos(std::min(std::abs(cosine), 1.0));
    for (std::size_t i = 0; i < 4; ++i)
        out.rotation[i] =
            angle < 1e-9
                ? a.rotation[i]
                : (std::sin((1 - u) * angle) * a.rotation[i] + sign * std::sin(u * angle) * b.rotation[i]) /
                      std::sin(angle);
    for (std::size_t i = 0; i < 3; ++i) {
        out.translation[i] = (1 - u) * a.translation[i] + u * b.translation[i];
        out.scale[i] = (1 - u) * a.scale[i] + u * b.scale[i];
    }
    return out;
}

std::vector<JointPose> pose_of(const io::PoseClip& clip, double time) {
    const auto& keys = clip.keys;
    if (time <= keys.front().time) return keys.front().joints;
    if (time >= keys.back().time) return keys.back().joints;
    std::size_t k = 0;
    while (keys[k + 1].time <= time) ++k;
    std::vector<JointPose> out = keys[k].joints;
    if (clip.step) return out;
    const double u = (time - keys[k].time) / (keys[k + 1].time - keys[k].time);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = between(out[j], keys[k + 1].joints[j], u);
    return out;
}

struct Saved {
    Bytes glb;
    OrderedJson json;
    std::vector<std::string> notes;
    io::Scene scene;
    const OrderedJson& animation(std::size_t i = 0) const { return json["animations"][i]; }
    /// "knee rotation", for each channel.
    std::vector<std::string> channels(std::size_t i = 0) const {
        std::vector<std::string> out;
        for (const OrderedJson& c : animation(i)["channels"])
            out.push_back(json["nodes"][c["target"]["node"].get<std::size_t>()]["name"].get<std::string>() + " " +
                          c["target"]["path"].get<std::string>());
        return out;
    }
};

Saved save(const io::Scene& scene, const io::PoseClip& clip) {
    io::SaveReport report;
    const auto bytes = io::save_glb_bytes(scene, spread_weights(scene, 2), {.clips = {clip}}, &report);
    EXPECT_TRUE(bytes.ok()) << (bytes ? "" : bytes.error().message);
    if (!bytes) return {};
    return {*bytes, OrderedJson::parse(text_of(*bytes)), report.notes, must_read(*bytes)};
}

/// Saves, reads back, and compares the poses at and between the keys with those of the clip.
Saved expect_plays(const io::Scene& scene, const io::PoseClip& clip, double tolerance = 2e-6) {
    Saved saved = save(scene, clip);
    const auto clips = io::clips(saved.scene);
    EXPECT_TRUE(clips.ok() && !clips->empty());
    if (!clips || clips->empty()) return saved;
    const std::size_t last = clips->size() - 1;
    EXPECT_EQ((*clips)[last].name, clip.name);
    EXPECT_FLOAT_EQ(static_cast<float>((*clips)[last].start), static_cast<float>(clip.keys.front().time));
    EXPECT_FLOAT_EQ(static_cast<float>((*clips)[last].end), static_cast<float>(clip.keys.back().time));
    double size = 1;
    for (const Joint& joint : scene.skeleton.joints)
        for (const float x : {joint.position.x, joint.position.y, joint.position.z})
            size = std::max(size, std::abs(double(x)));
    std::vector<double> times;
    for (std::size_t k = 0; k < clip.keys.size(); ++k) {
        times.push_back(clip.keys[k].time);
        if (k + 1 < clip.keys.size())
            for (const double u : {0.25, 0.5, 0.9})
                times.push_back((1 - u) * clip.keys[k].time + u * clip.keys[k + 1].time);
    }
    for (const double time : times) {
        const auto found = io::pose_at(saved.scene, last, time);
        const auto wanted = skinning_matrices(scene.skeleton, pose_of(clip, time));
        EXPECT_TRUE(found.ok() && wanted.ok()) << (found ? "" : found.error().message);
        if (!found || !wanted) return saved;
        double most = 0;
        for (std::size_t j = 0; j < wanted->size(); ++j)
            for (std::size_t i = 0; i < 12; ++i)
                most =
                    std::max(most, std::abs(found->skinning[j].m[i] - (*wanted)[j].m[i]) / (i % 4 == 3 ? size : 1));
        EXPECT_LT(most, tolerance) << "at " << time;
    }
    return saved;
}

io::PoseClip bend(const char* name = "Studio") {
    return {name, false, {{0.25, {{}, {}}}, {1, {{}, turned(90)}}, {2.5, {{}, turned(-60, {0.6, 0.8, 0})}}}};
}

TEST(GltfClips, AKeyedJointPlaysItsPoses) {
    const Saved saved = expect_plays(must_read(quad()), bend());
    EXPECT_EQ(saved.channels(), (std::vector<std::string>{"knee rotation"}));
    EXPECT_EQ(saved.animation()["name"], "Studio");
    EXPECT_EQ(saved.animation()["samplers"][0]["interpolation"], "LINEAR");
    const OrderedJson& times =
        saved.json["accessors"][saved.animation()["samplers"][0]["input"].get<std::size_t>()];
    EXPECT_EQ(times["min"], OrderedJson::array({0.25}));
    EXPECT_EQ(times["max"], OrderedJson::array({2.5}));
    EXPECT_TRUE(saved.notes.empty());
}

TEST(GltfClips, StepInterpolationHoldsItsValue) {
    io::PoseClip clip = bend();
    clip.step = true;
    const Saved saved = expect_plays(must_read(quad()), clip);
    EXPECT_EQ(saved.animation()["samplers"][0]["interpolation"], "STEP");
}

TEST(GltfClips, AnimationsOfTheFileAreKept) {
    Maker m = quad();
    const auto times = m.scalar<float>({0, 1});
    const auto turns = m.vec4<float>({0, 0, 0, 1, 0, 0, 0.6f, 0.8f});
    m.json["animations"] =
        OrderedJson::array({{{"name", "wave"},
                             {"channels", {{{"sampler", 0}, {"target", {{"node", 2}, {"path", "rotation"}}}}}},
                             {"samplers", {{{"input", times}, {"output", turns}}}}}});
    const io::Scene scene = must_read(m);
    const Saved saved = expect_plays(scene, bend("mine"));
    EXPECT_EQ(saved.animation(0), m.json["animations"][0]);
    EXPECT_EQ(saved.animation(1)["name"], "mine");
    const auto before = io::pose_at(scene, 0, 0.5), after = io::pose_at(saved.scene, 0, 0.5);
    ASSERT_TRUE(before.ok() && after.ok());
    EXPECT_EQ(before->skinning, after->skinning);
}

TEST(GltfClips, AJointWithAnotherRestPoseIsHeldAtTheBindPose) {
    Maker m = quad();
    m.json["nodes"][2]["rotation"] = {0, 0, 0.6, 0.8};
    m.json["nodes"][2]["translation"] = {0.25, 0.5, 0};
    const io::PoseClip clip{"", false, {{0, {turned(20), {}}}, {1, {turned(70), {}}}}};
    const Saved saved = expect_plays(must_read(m), clip);
    EXPECT_EQ(saved.channels(), (std::vector<std::string>{"hip rotation", "knee translation", "knee rotation"}));
    EXPECT_FALSE(saved.animation().contains("name"));
    ASSERT_EQ(saved.notes.size(), 1u);
    EXPECT_NE(saved.notes[0].find("sets 1 joint to the bind pose"), std::string::npos) << saved.notes[0];
}

TEST(GltfClips, ANodeMatrixIsDecomposed) {
    Maker m = quad();
    OrderedJson& node = m.json["nodes"][2];
    node.erase("translation");
    node["matrix"] = {0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0.5, 0, 1};
    const io::Scene scene = must_read(m);
    const Saved saved = expect_plays(scene, bend());
    const OrderedJson& written = saved.json["nodes"][2];
    EXPECT_FALSE(written.contains("matrix"));
    const auto before = io::pose_at(scene, std::nullopt, 0), after = io::pose_at(saved.scene, std::nullopt, 0);
    ASSERT_TRUE(before.ok() && after.ok());
    for (std::size_t i = 0; i < 12; ++i)
        EXPECT_NEAR(before->nodes[2].m[i], after->nodes[2].m[i], 1e-12) << "the rest pose is as it was";
}

TEST(GltfClips, PlaysUnderAScaledAndRotatedNode) {
    Maker m = quad();
    // An armature in centimetres, rotated by 90 degrees as exporters write it, with a node between hip and knee.
    const double h = std::sqrt(0.5);
    m.json["nodes"] = OrderedJson::array(
        {{{"name", "quad"}, {"mesh", 0}, {"skin", 0}},
         {{"name", "hip"}, {"children", {4}}, {"rotation", {0.6, 0, 0, 0.8}}},
         {{"name", "knee"}, {"translation", {0, 30, 0}}},
         {{"name", "armature"}, {"children", {1}}, {"rotation", {-h, 0, 0, h}}, {"scale", {0.01, 0.01, 0.01}}},
         {{"name", "twist"}, {"children", {2}}, {"translation", {0, 20, 0}}}});
    m.json["scenes"][0]["nodes"] = {0, 3};
    m.json["skins"][0]["inverseBindMatrices"] = m.accessor(bind_matrices({0, 0.5f}, 100), "MAT4", 16);
    const io::Scene scene = must_read(m);
    io::PoseClip clip = bend();
    clip.keys[1].joints[hip_index].translation = {0.2, 0.1, -0.3};
    clip.keys[2].joints[knee_index].scale = {1.5, 1.5, 1.5};
    const Saved saved = expect_plays(scene, clip, 1e-5);
    // The knee's scale is on its own node.
    const std::vector<std::string> channels = saved.channels();
    EXPECT_NE(std::find(channels.begin(), channels.end(), "knee scale"), channels.end());
    EXPECT_EQ(std::find(channels.begin(), channels.end(), "hip scale"), channels.end());
}

TEST(GltfClips, PlaysMirroredJoints) {
    Maker m = quad();
    m.json["nodes"][2]["scale"] = {1, -1, 1};
    m.json["skins"][0]["inverseBindMatrices"] = m.accessor<float>(
        {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0.5f, 0, 1},
        "MAT4", 16);
    expect_plays(must_read(m), bend());
}

TEST(GltfClips, PlaysInFilesThatGetASkinOrASkeleton) {
    Maker m = quad(false);
    m.json.erase("skins");
    m.json["nodes"][0].erase("skin");
    m.json["nodes"][2]["rotation"] = {0, 0, 0.6, 0.8};
    expect_plays(must_read(m), bend());

    for (const char* name : {"biped", "quadruped"}) {
        const Character c = make_character(name);
        auto scene = io::make_scene(c.positions, c.triangles, c.skeleton, name);
        ASSERT_TRUE(scene.ok());
        io::PoseClip clip{"random", false, {}};
        for (int k = 0; k < 4; ++k)
            clip.keys.push_back({0.5 * k, random_pose(scene->skeleton, 60, static_cast<std::uint64_t>(k))});
        const Saved saved = expect_plays(*scene, clip, 1e-5);
        // Again from the file that now has a skin.
        expect_plays(saved.scene, clip, 1e-5);
    }
}

TEST(GltfClips, InexactTransformsAreNoted) {
    io::PoseClip clip = bend();
    clip.keys[1].joints[hip_index].scale = {1, 3, 1};
    EXPECT_TRUE(save(must_read(quad()), clip).notes.empty()) << "a stretched joint alone is exact";
    Maker m = quad();
    m.json["nodes"][1]["scale"] = {1, 3, 1};
    m.json["skins"][0]["inverseBindMatrices"] = m.accessor<float>(
        {1, 0, 0, 0, 0, 1 / 3.0f, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -0.5f, 0, 1},
        "MAT4", 16);
    const Saved saved = save(must_read(m), bend());
    ASSERT_FALSE(saved.notes.empty());
    EXPECT_NE(saved.notes.back().find("nearest"), std::string::npos) << saved.notes.back();
}

TEST(GltfClips, AClipThatMovesNothingIsLeftOut) {
    const Saved saved = save(must_read(quad()), {"still", false, {{0, {{}, {}}}, {1, {{}, {}}}}});
    EXPECT_FALSE(saved.json.contains("animations"));
    ASSERT_EQ(saved.notes.size(), 1u);
    EXPECT_NE(saved.notes[0].find("\"still\" moves no joint"), std::string::npos) << saved.notes[0];
}

TEST(GltfClips, SavingAgainKeepsTheAnimationAndTheSize) {
    const Saved once = save(must_read(quad()), bend());
    const auto again = io::save_glb_bytes(once.scene, spread_weights(once.scene));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->size(), once.glb.size());
    const OrderedJson json = OrderedJson::parse(text_of(*again));
    EXPECT_EQ(json["animations"], once.json["animations"]);
}

TEST(GltfClips, ErrorsNameTheClip) {
    const io::Scene scene = must_read(quad());
    const auto refusal = [&](const io::PoseClip& clip) {
        const auto bytes = io::save_glb_bytes(scene, spread_weights(scene, 2), {.clips = {clip}});
        EXPECT_FALSE(bytes.ok());
        return bytes ? "" : bytes.error().message;
    };
    EXPECT_NE(refusal({"none", false, {}}).find("\"none\" has no keys"), std::string::npos);
    io::PoseClip clip = bend();
    clip.keys[0].time = -1;
    EXPECT_NE(refusal(clip).find("key 0 must have a time"), std::string::npos);
    clip = bend();
    clip.keys[2].time = clip.keys[1].time + 1e-12;
    EXPECT_NE(refusal(clip).find("key 2 must be later"), std::string::npos)
        << "equal times after rounding to float";
    clip = bend();
    clip.keys[1].joints.pop_back();
    EXPECT_NE(refusal(clip).find("key 1 has 1 joints"), std::string::npos);
    clip = bend();
    clip.keys[1].joints[knee_index].rotation = {0, 0, 0, 0};
    EXPECT_NE(refusal(clip).find("joint \"knee\""), std::string::npos);
    clip = bend();
    clip.keys[1].joints[knee_index].translation[1] = NAN;
    EXPECT_NE(refusal(clip).find("joint \"knee\""), std::string::npos);
    clip.keys[1].joints[knee_index].translation[1] = 1e200;
    EXPECT_NE(refusal(clip).find("beyond the range of float"), std::string::npos);
}

}  // namespace
}  // namespace sinew::test_gltf_clips
