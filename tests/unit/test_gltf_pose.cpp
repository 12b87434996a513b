#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "gltf_maker.h"
#include "sinew.h"

namespace sinew::test_gltf_pose {
namespace {

using namespace test;

/// Adds a channel to the quad's only animation.
void animate(Maker& m, std::size_t node, const char* path, std::size_t input, std::size_t output,
             const char* mode = nullptr) {
    if (!m.json.contains("animations"))
        m.json["animations"] = OrderedJson::array(
            {{{"name", "wave"}, {"channels", OrderedJson::array()}, {"samplers", OrderedJson::array()}}});
    OrderedJson& a = m.json["animations"][0];
    a["channels"].push_back({{"sampler", a["samplers"].size()}, {"target", {{"node", node}, {"path", path}}}});
    a["samplers"].push_back({{"input", input}, {"output", output}});
    if (mode) a["samplers"].back()["interpolation"] = mode;
}

io::ScenePose pose(const io::Scene& scene, std::optional<std::size_t> clip, double time) {
    auto out = io::pose_at(scene, clip, time);
    EXPECT_TRUE(out.ok()) << (out ? "" : out.error().message);
    return out ? std::move(*out) : io::ScenePose{};
}

constexpr std::size_t knee = 2, hip_joint = 0, knee_joint = 1;

TEST(GltfPose, RestIsTheIdentityWhereNodesAndBindPoseAgree) {
    const io::Scene scene = must_read(quad());
    const io::ScenePose at = pose(scene, std::nullopt, 0);
    ASSERT_EQ(at.skinning.size(), 2u);
    EXPECT_EQ(at.skinning[0], Transform{});
    EXPECT_EQ(at.skinning[1], Transform{});
    EXPECT_EQ(at.to_world, Transform{});
    EXPECT_TRUE(at.morphs.empty());
    EXPECT_FALSE(io::pose_at(scene, 0, 0).ok()) << "there is no clip";
    EXPECT_TRUE(io::clips(scene)->empty());
}

// The rest pose of the C interface: rows of three by four.
TEST(GltfPose, TheRestPoseIsGivenInC) {
    Maker m = quad();
    m.json["nodes"][knee]["rotation"] = {0, 0, std::sqrt(0.5), std::sqrt(0.5)};
    const io::ScenePose wanted = pose(must_read(m), std::nullopt, 0);
    EXPECT_FALSE(wanted.skinning[knee_joint] == Transform{});
    const std::vector<std::byte> bytes = m.glb();
    snw_model* model = nullptr;
    ASSERT_EQ(snw_model_open(bytes.data(), bytes.size(), "quad.glb", nullptr, nullptr, 0, nullptr, &model), SNW_OK)
        << snw_error();
    std::array<double, 24> matrices{};
    std::array<double, 12> to_world{};
    EXPECT_EQ(snw_rest_matrices(model, matrices.data(), to_world.data()), SNW_OK);
    for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t column = 0; column < 4; ++column) {
            const std::size_t at = 4 * row + column;
            EXPECT_EQ(matrices[at], wanted.skinning[hip_joint](row, column));
            EXPECT_EQ(matrices[12 + at], wanted.skinning[knee_joint](row, column));
            EXPECT_EQ(to_world[at], wanted.to_world(row, column));
        }
    EXPECT_EQ(snw_rest_matrices(model, nullptr, to_world.data()), SNW_USAGE);
    // As numbers: they lead to the same matrices; a joint that rests as it was bound has exactly that.
    std::array<double, 20> numbers{};
    EXPECT_EQ(snw_rest_pose(model, numbers.data()), SNW_OK);
    EXPECT_EQ(std::vector(numbers.begin(), numbers.begin() + 10),
              (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 1, 1}));
    EXPECT_NEAR(numbers[13], std::sqrt(0.5), 1e-6);
    std::array<double, 24> again{};
    EXPECT_EQ(snw_pose_matrices(model, numbers.data(), again.data()), SNW_OK);
    for (std::size_t i = 0; i < again.size(); ++i) EXPECT_NEAR(again[i], matrices[i], 1e-6) << i;
    EXPECT_EQ(snw_rest_pose(model, nullptr), SNW_USAGE);
    snw_model_free(model);
}

// A mesh without a skin below a joint moves with it; another one stands still.
TEST(GltfPose, PropsAreShownWhereTheirNodesStand) {
    Maker m = quad();
    m.json["nodes"][knee]["rotation"] = {0, 0, std::sqrt(0.5), std::sqrt(0.5)};
    const auto corners = m.vec3({0, 0, 0, 1, 0, 0, 0, 1, 0});
    OrderedJson hat = {{"name", "hat"}, {"primitives", OrderedJson::array()}};
    hat["primitives"].push_back({{"attributes", {{"POSITION", corners}}}});
    m.json["meshes"].push_back(hat);
    const std::size_t mesh = m.json["meshes"].size() - 1, node = m.json["nodes"].size();
    m.json["nodes"].push_back({{"mesh", mesh}, {"translation", {0, 0.25, 0}}});
    m.json["nodes"][knee]["children"].push_back(node);
    m.json["nodes"].push_back({{"mesh", mesh}, {"translation", {5, 0, 0}}});
    m.json["scenes"][0]["nodes"].push_back(node + 1);
    m.json["extensions"]["VRM"] = OrderedJson::object();
    const io::Scene scene = must_read(m);
    EXPECT_EQ(io::vrm_of(scene), "0.x");
    const io::ScenePose rest = pose(scene, std::nullopt, 0);
    const std::vector<io::Prop> props = io::props_of(scene);
    ASSERT_EQ(props.size(), 2u);
    EXPECT_EQ(props[0].name, "hat/0");
    EXPECT_EQ(props[0].joint, knee_joint);
    EXPECT_EQ(props[1].joint, 0xffffffffu);
    EXPECT_EQ(props[0].triangles.size(), 1u);
    const auto shown = [&](const Vec3& p, const Transform& at) {
        std::array<double, 3> out{};
        for (std::size_t r = 0; r < 3; ++r) out[r] = at(r, 0) * p.x + at(r, 1) * p.y + at(r, 2) * p.z + at(r, 3);
        return out;
    };
    for (std::size_t v = 0; v < 3; ++v) {
        const Vec3 corner{v == 1 ? 1.0f : 0.0f, v == 2 ? 1.0f : 0.0f, 0};
        const auto found = shown(props[0].positions[v], rest.skinning[knee_joint]);
        const auto wanted = shown(corner, rest.nodes[node]);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], wanted[k], 1e-6) << v;
        EXPECT_NEAR(props[1].positions[v].x, corner.x + 5, 1e-6);
    }
    const std::vector<std::byte> bytes = m.glb();
    snw_model* model = nullptr;
    ASSERT_EQ(snw_model_open(bytes.data(), bytes.size(), "quad.glb", nullptr, nullptr, 0, nullptr, &model), SNW_OK)
        << snw_error();
    snw_prop prop;
    ASSERT_EQ(snw_model_prop(model, 1, &prop), SNW_OK);
    EXPECT_EQ(prop.joint, -1);
    EXPECT_EQ(prop.vertex_count, 3u);
    EXPECT_NEAR(prop.positions[3], 6, 1e-6);
    EXPECT_EQ(prop.triangle_count, 1u);
    EXPECT_EQ(snw_model_prop(model, 2, &prop), SNW_USAGE);
    snw_model_free(model);
}

TEST(GltfPose, RotationsTakeTheShorterArcAndMayBeIntegers) {
    Maker m = quad();
    // From 0° to 90° about z, with the second key written as -q. Halfway is 45°. The knee is at (0, 0.5, 0).
    const float h = static_cast<float>(std::sqrt(0.5));
    const auto times = m.scalar<float>({1, 2});
    animate(m, knee, "rotation", times, m.vec4<float>({0, 0, 0, 1, 0, 0, -h, -h}));
    const io::Scene scene = must_read(m);
    const auto clips = io::clips(scene);
    ASSERT_TRUE(clips.ok());
    ASSERT_EQ(clips->size(), 1u);
    EXPECT_EQ((*clips)[0].name, "wave");
    EXPECT_EQ((*clips)[0].start, 1);
    EXPECT_EQ((*clips)[0].end, 2);
    const io::ScenePose at = pose(scene, 0, 1.5);
    EXPECT_EQ(at.skinning[hip_joint], Transform{});
    EXPECT_NEAR(at.skinning[knee_joint](0, 0), h, 1e-6);
    EXPECT_NEAR(at.skinning[knee_joint](1, 0), h, 1e-6);
    EXPECT_NEAR(at.skinning[knee_joint](0, 3), 0.5 * h, 1e-6);
    EXPECT_NEAR(at.skinning[knee_joint](1, 3), 0.5 - 0.5 * h, 1e-6);
    EXPECT_EQ(pose(scene, 0, 9).time, 2);
    EXPECT_EQ(pose(scene, 0, -9).time, 1);

    Maker small = quad();
    const auto keys = small.scalar<float>({0, 1});
    const auto values = small.vec4<std::int16_t>({0, 0, 0, 32767, 0, 0, 23170, 23170});
    small.last_accessor()["normalized"] = true;
    animate(small, knee, "rotation", keys, values);
    EXPECT_NEAR(pose(must_read(small), 0, 0.5).skinning[knee_joint](1, 0), h, 1e-4);
}

TEST(GltfPose, InterpolatesStepLinearAndCubic) {
    const std::vector<float> keys{0, 0.5f, 0, 2, 0.5f, 0};  // of the knee's translation
    for (const auto& [mode, x] : {std::pair("STEP", 0.0), std::pair("LINEAR", 0.5)}) {
        Maker m = quad();
        const auto times = m.scalar<float>({0, 2});
        animate(m, knee, "translation", times, m.vec3(keys), mode);
        EXPECT_NEAR(pose(must_read(m), 0, 0.5).skinning[knee_joint](0, 3), x, 1e-6) << mode;
    }
    Maker m = quad();
    const auto times = m.scalar<float>({0, 2});
    // In-tangent, value, out-tangent; the curve leaves the first key with speed 3.
    animate(m, knee, "translation", times, m.vec3({0, 0, 0, 0, 0.5f, 0, 3, 0, 0, 0, 0, 0, 2, 0.5f, 0, 0, 0, 0}),
            "CUBICSPLINE");
    const double u = 0.25, hermite = 2 * (3 * u * u - 2 * u * u * u) + 2 * 3 * (u * u * u - 2 * u * u + u);
    EXPECT_NEAR(pose(must_read(m), 0, 0.5).skinning[knee_joint](0, 3), hermite, 1e-6);
}

TEST(GltfPose, MorphWeightsComeFromAnimationNodeAndMesh) {
    Maker m = quad();
    const auto offsets = m.vec3({0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4});
    primitive(m)["targets"] = OrderedJson::array({{{"POSITION", offsets}}, {{"POSITION", offsets}}});
    EXPECT_EQ(must_read(m).positions[3], (Vec3{0, 1, 0}));
    m.json["meshes"][0]["weights"] = {0, 0.25};
    EXPECT_EQ(must_read(m).positions[3], (Vec3{0, 1, 1}));
    m.json["nodes"][0]["weights"] = {0.5, 0};
    const auto times = m.scalar<float>({0, 1});
    animate(m, 0, "weights", times, m.scalar<float>({0, 0, 1, 0.5f}));
    const io::Scene scene = must_read(m);
    EXPECT_EQ(scene.positions[3], (Vec3{0, 1, 2}));
    EXPECT_TRUE(pose(scene, std::nullopt, 0).morphs.empty());
    EXPECT_EQ(pose(scene, 0, 0).morphs.at(0).weight, -0.5f);
    const auto moved = pose(scene, 0, 0.5).morphs;  // the first weight is that of the node
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_EQ(moved[0].weight, 0.25f);
    EXPECT_EQ(moved[0].offsets.at(3), (Vec3{0, 0, 4}));
}

TEST(GltfPose, JointsKeepTheirOwnAxes) {
    Maker m = quad();
    // The knee's bind matrix: x of the joint is y of the scene, scaled by 2; at (0, 0.5, 0).
    m.json["skins"][0]["inverseBindMatrices"] =
        m.accessor<float>({1, 0,     0, 0, 0,    1, 0, 0, 0, 0, 1,    0, 0,      0, 0, 1,  //
                           0, -0.5f, 0, 0, 0.5f, 0, 0, 0, 0, 0, 0.5f, 0, -0.25f, 0, 0, 1},
                          "MAT4", 16);
    const io::Scene scene = must_read(m);
    const auto& axes = scene.skeleton.joints[knee_joint].axes;
    EXPECT_EQ(axes[0], (Vec3{0, 1, 0}));
    EXPECT_EQ(axes[1], (Vec3{-1, 0, 0}));
    EXPECT_EQ(axes[2], (Vec3{0, 0, 1}));
}

TEST(GltfPose, BadAnimationsAreErrors) {
    const auto refusal = [](const Maker& m) {
        const io::Scene scene = must_read(m);
        const auto out = io::pose_at(scene, 0, 0);
        EXPECT_FALSE(out.ok());
        EXPECT_FALSE(io::clips(scene).ok());
        return out ? "" : out.error().message;
    };
    Maker back = quad();
    const auto times = back.scalar<float>({1, 0});
    animate(back, knee, "scale", times, back.vec3({1, 1, 1, 1, 1, 1}));
    EXPECT_NE(refusal(back).find("goes back"), std::string::npos);
    Maker few = quad();
    animate(few, knee, "rotation", few.scalar<float>({0, 1}), few.vec4<float>({0, 0, 0, 1}));
    EXPECT_NE(refusal(few).find("1 values for 2 keys"), std::string::npos);
    Maker wide = quad();
    animate(wide, knee, "scale", wide.scalar<float>({0}), wide.vec4<float>({0, 0, 0, 1}));
    EXPECT_NE(refusal(wide).find("4 numbers"), std::string::npos);
    Maker nowhere = quad();
    animate(nowhere, 77, "scale", nowhere.scalar<float>({0}), nowhere.vec3({1, 1, 1}));
    EXPECT_NE(refusal(nowhere).find("node"), std::string::npos);
}

TEST(PoseJson, BadInputNamesTheJoint) {
    TemporaryFolder folder;
    const io::Scene scene = must_read(quad());
    const auto refusal = [&](std::string_view text) {
        write_text(folder / "p.json", text);
        const auto out = io::load_pose(scene.skeleton, folder / "p.json");
        EXPECT_FALSE(out.ok()) << text;
        return out ? "" : out.error().message;
    };
    EXPECT_NE(refusal("[]").find("joints"), std::string::npos);
    EXPECT_NE(refusal(R"({"joints": {"kne": {}}})").find("did you mean 'knee'"), std::string::npos);
    EXPECT_NE(refusal(R"({"joints": {"knee": {"rotate": [1, 2]}}})").find("3 finite numbers"), std::string::npos);
    EXPECT_NE(refusal(R"({"joints": {"knee": {"rotation": [1, 2, 3]}}})").find("not known"), std::string::npos);
    EXPECT_NE(refusal(R"({"joints": {"knee": {"quaternion": [0, 0, 0, 0]}}})").find("zero"), std::string::npos);
    EXPECT_NE(
        refusal(R"({"joints": {"knee": {"rotate": [0, 0, 0], "quaternion": [0, 0, 0, 1]}}})").find("give one"),
        std::string::npos);
    write_text(folder / "p.json", R"({"joints": {"knee": {"rotate": [90, 90, 0], "translate": [1, 2, 3]}}})");
    const auto good = io::load_pose(scene.skeleton, folder / "p.json");
    ASSERT_TRUE(good.ok());
    // First about x, then about y: z goes to -y; -y stays. The quaternion is (1, 1, -1, 1) / 2.
    const auto& q = (*good)[knee_joint].rotation;
    EXPECT_NEAR(q[0], 0.5, 1e-12);
    EXPECT_NEAR(q[1], 0.5, 1e-12);
    EXPECT_NEAR(q[2], -0.5, 1e-12);
    EXPECT_NEAR(q[3], 0.5, 1e-12);
    EXPECT_EQ((*good)[knee_joint].translation[2], 3);
}

}  // namespace
}  // namespace sinew::test_gltf_pose
