// Reading glTF: accessors, primitives, skins and their spaces, and hostile files.
#include <gtest/gtest.h>
#include <meshoptimizer.h>

#include <cmath>
#include <numeric>
#include <random>

#include "core/base64.h"
#include "gltf_maker.h"
#include "io/gltf_accessor.h"

namespace sinew::test::test_gltf_reader {
namespace {

std::vector<float> flat(const std::vector<Vec3>& points) {
    std::vector<float> out;
    for (const Vec3& p : points) out.insert(out.end(), {p.x, p.y, p.z});
    return out;
}

TEST(GltfReader, ReadsASkinnedQuad) {
    const io::Scene scene = must_read(quad());
    EXPECT_EQ(flat(scene.positions), quad_positions());
    EXPECT_EQ(scene.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
    ASSERT_EQ(scene.skeleton.joints.size(), 2u);
    EXPECT_EQ(scene.skeleton.joints[0].name, "hip");
    EXPECT_EQ(scene.skeleton.joints[0].parent, -1);
    EXPECT_EQ(scene.skeleton.joints[1].parent, 0);
    EXPECT_EQ(scene.skeleton.joints[1].position, (Vec3{0, 0.5f, 0}));
    EXPECT_TRUE(scene.skeleton.skins.empty());
    EXPECT_TRUE(scene.skin_of_vertex.empty());
    ASSERT_TRUE(scene.weights);
    EXPECT_EQ((*scene.weights)[0][0], (Influence{0, 0.75f}));
    EXPECT_EQ((*scene.weights)[2].size(), 1u);
    ASSERT_EQ(scene.primitives.size(), 1u);
    EXPECT_EQ(scene.primitives[0].name, "body/0");
    EXPECT_EQ(scene.mesh_count, 1u);
    EXPECT_TRUE(scene.warnings.empty());
    EXPECT_EQ(flat(must_read(as_bytes(quad().gltf()), "t.gltf").positions), quad_positions());
}

// ---- accessors

TEST(GltfReader, ReadsEveryIndexType) {
    const std::vector<Triangle> expected{{0, 1, 2}, {0, 2, 3}};
    const auto with = [&](auto type) {
        Maker m = quad();
        primitive(m)["indices"] = m.scalar<decltype(type)>({0, 1, 2, 0, 2, 3});
        return must_read(m).triangles;
    };
    EXPECT_EQ(with(std::uint8_t{}), expected);
    EXPECT_EQ(with(std::uint16_t{}), expected);
    EXPECT_EQ(with(std::uint32_t{}), expected);
}

template <typename T>
void expect_positions(bool normalized, const std::vector<T>& raw, const std::vector<float>& expected) {
    Maker m = quad();
    // Rows of three small integers are padded to four bytes.
    const std::size_t row = (3 * sizeof(T) + 3) / 4 * 4;
    Bytes padded(raw.size() / 3 * row);
    for (std::size_t i = 0; i < raw.size() / 3; ++i)
        std::memcpy(padded.data() + i * row, &raw[3 * i], 3 * sizeof(T));
    const auto view = m.view(padded, row);
    m.json["accessors"][0] = {
        {"bufferView", view}, {"componentType", component_type<T>()}, {"count", 4}, {"type", "VEC3"}};
    if (normalized) m.json["accessors"][0]["normalized"] = true;
    m.json["extensionsRequired"] = {"KHR_mesh_quantization"};
    EXPECT_EQ(flat(must_read(m).positions), expected);
}

TEST(GltfReader, ReadsQuantisedPositions) {
    expect_positions<std::int8_t>(true, {-128, -127, 0, 127, 0, 0, 0, 127, 0, 0, 0, 127},
                                  {-1, -1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
    expect_positions<std::uint8_t>(true, {0, 255, 51, 0, 0, 0, 255, 0, 0, 0, 0, 0},
                                   {0, 1, 0.2f, 0, 0, 0, 1, 0, 0, 0, 0, 0});
    expect_positions<std::int16_t>(true, {-32768, 32767, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},
                                   {-1, 1, 0, 0, 0, 0, 1 / 32767.0f, 0, 0, 0, 0, 0});
    expect_positions<std::uint16_t>(false, {0, 65535, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0},
                                    {0, 65535, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0});
}

TEST(GltfReader, QuantisationScaleIsInTheBindMatrices) {
    Maker m = quad();
    // The mesh is stored at twice its size, with matching bind matrices. The scene keeps the stored space.
    m.json["skins"][0]["inverseBindMatrices"] = m.accessor(bind_matrices({0, 0.5f}, 0.5f), "MAT4", 16);
    EXPECT_EQ(must_read(m).skeleton.joints[1].position, (Vec3{0, 1, 0}));
}

TEST(GltfReader, ReadsInterleavedAttributes) {
    Maker m = quad();
    Bytes rows(4 * 36);
    for (std::size_t v = 0; v < 4; ++v) {
        const std::uint8_t joints[4] = {1, 0, 0, 0};
        const float weights[4] = {1, 0, 0, 0};
        std::memcpy(&rows[v * 36], &quad_positions()[3 * v], 12);
        std::memcpy(&rows[v * 36 + 12], joints, 4);
        std::memcpy(&rows[v * 36 + 16], weights, 16);
    }
    rows.resize(rows.size() - 4);  // no padding after the last row
    const auto view = m.view(rows, 36);
    const auto add = [&](std::size_t offset, int type, const char* shape) {
        m.json["accessors"].push_back(
            {{"bufferView", view}, {"byteOffset", offset}, {"componentType", type}, {"count", 4}, {"type", shape}});
        return m.json["accessors"].size() - 1;
    };
    primitive(m)["attributes"] = {{"POSITION", add(0, 5126, "VEC3")},
                                  {"JOINTS_0", add(12, 5121, "VEC4")},
                                  {"WEIGHTS_0", add(16, 5126, "VEC4")}};
    const io::Scene scene = must_read(m);
    EXPECT_EQ(flat(scene.positions), quad_positions());
    EXPECT_EQ((*scene.weights)[3][0], (Influence{1, 1}));
    // Of old weights a warning, of positions an error.
    m.json["accessors"].back()["count"] = 5;
    const std::vector<std::string> warnings = must_read(m).warnings;
    EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const std::string& w) {
        return w.find("has 5 elements, but bufferView") != w.npos;
    }));
    m.json["accessors"][m.json["accessors"].size() - 3]["count"] = 5;
    EXPECT_NE(refusal(m).find("has 5 elements, but bufferView"), std::string::npos);
}

TEST(GltfReader, ReadsSparseAccessors) {
    for (const bool with_view : {true, false}) {
        Maker m = quad();
        const auto indices = m.view(bytes_of<std::uint8_t>({1, 3}));
        const auto values = m.view(bytes_of<float>({5, 6, 7, 8, 9, 10}));
        m.json["accessors"][0]["sparse"] = {{"count", 2},
                                            {"indices", {{"bufferView", indices}, {"componentType", 5121}}},
                                            {"values", {{"bufferView", values}}}};
        if (!with_view) m.json["accessors"][0].erase("bufferView");
        const auto expected = with_view ? std::vector<float>{0, 0, 0, 5, 6, 7, 1, 1, 0, 8, 9, 10}
                                        : std::vector<float>{0, 0, 0, 5, 6, 7, 0, 0, 0, 8, 9, 10};
        EXPECT_EQ(flat(must_read(m).positions), expected);
        m.json["accessors"][0]["sparse"]["count"] = 3;
        EXPECT_NE(refusal(m).find("past bufferView"), std::string::npos);
        m.json["accessors"][0]["sparse"]["count"] = 2;
        m.json["accessors"][0]["sparse"]["indices"]["bufferView"] = m.view(bytes_of<std::uint8_t>({1, 4}));
        EXPECT_NE(refusal(m).find("index 4 of 4"), std::string::npos);
        m.json["accessors"][0]["sparse"]["indices"]["bufferView"] = m.view(bytes_of<std::uint8_t>({3, 1}));
        EXPECT_NE(refusal(m).find("must rise"), std::string::npos);
    }
}

TEST(GltfReader, RefusesCountsBeyondTheBuffer) {
    Maker m = quad();
    m.json["accessors"][0] = {{"componentType", 5126}, {"count", std::uint64_t{1} << 40}, {"type", "VEC3"}};
    EXPECT_NE(refusal(m).find("without a bufferView"), std::string::npos);
    m.json["accessors"][0] = {
        {"bufferView", 0}, {"componentType", 5126}, {"count", 0xffffffffffffffffull}, {"type", "VEC3"}};
    EXPECT_NE(refusal(m).find("holds 4"), std::string::npos);
    m.json["accessors"][0]["byteOffset"] = 0xffffffffffffffffull;
    EXPECT_NE(refusal(m).find("holds 0"), std::string::npos);
    m = quad();
    m.json["bufferViews"][0]["byteOffset"] = 0xfffffffffffffff0ull;
    EXPECT_NE(refusal(m).find("of buffer 0"), std::string::npos);
}

TEST(GltfReader, ExcessivelySharedDataIsRefused) {
    Maker m = quad();
    // One set of 20,000 vertices, used with 1,000 sets of weights: 20 million vertices.
    const std::size_t n = 20000;
    primitive(m) = {{"attributes", {{"POSITION", m.vec3(std::vector<float>(3 * n))}}}};
    const auto joints = m.vec4(std::vector<std::uint8_t>(4 * n));
    const auto weights = m.vec4(std::vector<std::uint8_t>(4 * n));
    for (int i = 0; i < 1000; ++i) {
        m.json["accessors"].push_back(m.json["accessors"][weights]);
        primitive(m, 0, 0)["attributes"]["JOINTS_0"] = joints;
        primitive(m, 0, 0)["attributes"]["WEIGHTS_0"] = m.json["accessors"].size() - 1;
        m.json["meshes"][0]["primitives"].push_back(primitive(m));
    }
    const auto scene = io::load_bytes(m.glb(), "t.glb");
    ASSERT_FALSE(scene.ok());
    EXPECT_NE(scene.error().message.find("share data"), std::string::npos);
}

TEST(GltfReader, SkinsOfManyJointsInManyPlacesAreRefused) {
    // 2,000 nodes with one mesh at different positions, and 3,000 joints: 6 million matrices.
    const auto with = [](std::size_t places) {
        Maker m = quad(false);
        m.json.erase("skins");
        OrderedJson& nodes = m.json["nodes"];
        nodes[0].erase("skin");
        for (int i = 0; i < 3000; ++i) {
            nodes[nodes.size() - 1]["children"] = OrderedJson::array({nodes.size()});
            nodes.push_back(OrderedJson::object());
        }
        for (std::size_t i = 0; i < places; ++i) nodes.push_back({{"mesh", 0}, {"translation", {i + 1, 0, 0}}});
        return io::load_bytes(m.glb(), "t.glb");
    };
    const auto refused = with(2000);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::input);
    EXPECT_NE(refused.error().message.find("inverse bind matrices"), std::string::npos) << refused.error().message;
    const auto fits = with(20);
    ASSERT_TRUE(fits.ok()) << fits.error().message;
    EXPECT_EQ(fits->positions.size(), 4 * 21u);
}

TEST(GltfReader, ParentsAreFoundOverLongChainsOfNodes) {
    // A chain of 30,000 nodes that are not joints, each with a joint as a child. Their nearest joint above is the
    // first node of the chain.
    constexpr std::size_t n = 30000;
    Maker m = quad();
    m.json["nodes"] = OrderedJson::array({{{"mesh", 0}, {"skin", 0}}});
    OrderedJson joints = OrderedJson::array({1});
    std::vector<float> matrices = bind_matrices({0});
    for (std::size_t i = 0; i < n; ++i) {
        OrderedJson node{{"children", {2 * i + 2}}};
        if (i + 1 < n) node["children"].push_back(2 * i + 3);
        m.json["nodes"].push_back(node);
        m.json["nodes"].push_back(OrderedJson::object());
        joints.push_back(2 * i + 2);
        for (const float x : bind_matrices({0})) matrices.push_back(x);
    }
    m.json["skins"] =
        OrderedJson::array({{{"joints", joints}, {"inverseBindMatrices", m.accessor(matrices, "MAT4", 16)}}});
    const io::Scene scene = must_read(m);
    ASSERT_EQ(scene.skeleton.joints.size(), n + 1);
    EXPECT_EQ(scene.skeleton.joints[0].parent, -1);
    for (std::size_t j = 1; j <= n; ++j) ASSERT_EQ(scene.skeleton.joints[j].parent, 0);
}

// ---- primitives

TEST(GltfReader, StripsTurnEverySecondTriangle) {
    Maker m = quad();
    primitive(m)["mode"] = 5;
    primitive(m)["indices"] = m.scalar<std::uint8_t>({0, 1, 3, 2, 2, 0});
    // The last two triangles only connect strips and have no area.
    EXPECT_EQ(must_read(m).triangles, (std::vector<Triangle>{{0, 1, 3}, {1, 2, 3}}));
}

TEST(GltfReader, ReadsFans) {
    Maker m = quad();
    primitive(m)["mode"] = 6;
    primitive(m).erase("indices");
    EXPECT_EQ(must_read(m).triangles, (std::vector<Triangle>{{1, 2, 0}, {2, 3, 0}}));
}

TEST(GltfReader, ReadsTrianglesWithoutIndices) {
    Maker m = quad();
    primitive(m).erase("indices");
    const io::Scene scene = must_read(m);
    EXPECT_EQ(scene.triangles, (std::vector<Triangle>{{0, 1, 2}}));
    EXPECT_EQ(scene.warnings.size(), 1u);  // the fourth corner belongs to no triangle
}

TEST(GltfReader, PointsAndLinesAreCounted) {
    Maker m = quad();
    for (int mode = 0; mode < 4; ++mode) {
        m.json["meshes"][0]["primitives"].push_back(primitive(m));
        m.json["meshes"][0]["primitives"].back()["mode"] = mode;
    }
    const io::Scene scene = must_read(m);
    EXPECT_EQ(scene.skipped_primitives, 4u);
    EXPECT_EQ(scene.primitives.size(), 1u);
    primitive(m)["mode"] = 1;
    EXPECT_NE(refusal(m).find("points and lines only"), std::string::npos);
    primitive(m)["mode"] = 7;
    EXPECT_NE(refusal(m).find("unknown mode"), std::string::npos);
}

TEST(GltfReader, PrimitivesThatShareVerticesShareThemInTheScene) {
    Maker m = quad();
    m.json["meshes"][0]["primitives"].push_back(primitive(m));
    m.json["meshes"][0]["primitives"][1]["indices"] = m.scalar<std::uint8_t>({0, 1, 3});
    const io::Scene scene = must_read(m);
    EXPECT_EQ(scene.positions.size(), 4u);
    ASSERT_EQ(scene.primitives.size(), 2u);
    EXPECT_EQ(scene.primitives[1].first_vertex, 0u);
    EXPECT_EQ(scene.primitives[1].first_triangle, 2u);
    EXPECT_EQ(scene.triangles[2], (Triangle{0, 1, 3}));
}

// ---- skins

TEST(GltfReader, MissingBindMatricesAreTheIdentity) {
    Maker m = quad();
    m.json["skins"][0].erase("inverseBindMatrices");
    EXPECT_EQ(must_read(m).skeleton.joints[1].position, (Vec3{0, 0, 0}));
}

TEST(GltfReader, ExtrasStateTails) {
    Maker m = quad();
    m.json["nodes"][1]["extras"] = {{"sinew_tail", {0.25, 0.5, 0}}, {"other", 1}};
    m.json["nodes"][2]["extras"] = {{"sinew_tail", nullptr}};
    m.json["nodes"][0]["extras"] = "no object";
    io::Scene scene = must_read(m);
    EXPECT_EQ(scene.skeleton.joints[0].tail, (Vec3{0.25f, 0.5f, 0}));
    EXPECT_FALSE(scene.skeleton.joints[1].tail);
    // In bind space: rotated by 90 degrees about z (x to y) and twice as large.
    m.json["skins"][0]["inverseBindMatrices"] =
        m.accessor(std::vector<float>{0, -0.5f, 0, 0, 0.5f, 0, 0, 0, 0, 0, 0.5f, 0, -0.5f, 0.5f,  0, 1,  //
                                      1, 0,     0, 0, 0,    1, 0, 0, 0, 0, 1,    0, 0,     -0.5f, 0, 1},
                   "MAT4", 16);
    m.json["nodes"][2]["extras"] = {{"sinew_tail", {0, 0, 0}}};
    scene = must_read(m);
    const Joint& hip = scene.skeleton.joints[0];
    EXPECT_NEAR(hip.position.x, 1, 1e-6);
    EXPECT_NEAR(hip.position.y, 1, 1e-6);
    ASSERT_TRUE(hip.tail);
    EXPECT_NEAR(hip.tail->x, 1 - 2 * 0.5, 1e-6);
    EXPECT_NEAR(hip.tail->y, 1 + 2 * 0.25, 1e-6);
    EXPECT_EQ(scene.skeleton.joints[1].tail, scene.skeleton.joints[1].position) << "a bone without length";
    // The same without a skin.
    Maker nodes = quad(false);
    nodes.json.erase("skins");
    nodes.json["nodes"][0].erase("skin");
    nodes.json["nodes"][1]["extras"] = {{"sinew_tail", {0, 0.5 + 1e-7, 0}}};
    const io::Scene plain = must_read(nodes);
    ASSERT_EQ(plain.skeleton.joints.size(), 2u);
    EXPECT_EQ(plain.skeleton.joints[0].tail, plain.skeleton.joints[1].position)
        << "a tail at the child except for rounding is the child's position";
}

TEST(GltfReader, SkinsAreMappedToTheSpaceOfTheFirst) {
    Maker m = quad();
    // The same quad, bound at twice the size and moved. Undoing this gives the bind matrices of the first.
    std::vector<float> moved = quad_positions();
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t k = 0; k < 3; ++k) moved[3 * i + k] *= 2;
        moved[3 * i] += 10;
    }
    std::vector<float> matrices = bind_matrices({0.5f, 0}, 0.5f);  // knee first
    matrices[12] = matrices[28] = -5;
    m.json["meshes"].push_back(m.json["meshes"][0]);
    m.json["meshes"][1]["primitives"][0]["attributes"]["POSITION"] = m.vec3(moved);
    m.json["skins"].push_back({{"joints", {2, 1}}, {"inverseBindMatrices", m.accessor(matrices, "MAT4", 16)}});
    m.json["nodes"].push_back({{"mesh", 1}, {"skin", 1}});
    const io::Scene scene = must_read(m);
    ASSERT_EQ(scene.positions.size(), 8u);
    for (std::size_t v = 0; v < 4; ++v) {
        EXPECT_NEAR(scene.positions[v + 4].x, scene.positions[v].x, 1e-6f);
        EXPECT_NEAR(scene.positions[v + 4].y, scene.positions[v].y, 1e-6f);
    }
    EXPECT_EQ(scene.skeleton.joints.size(), 2u);
    EXPECT_TRUE(scene.skin_of_vertex.empty());  // skins with the same joints in another order add no limit
    // Its joint 0 is the knee.
    EXPECT_EQ((*scene.weights)[4][0].joint, 1u);
}

TEST(GltfReader, SkinsOfOtherJointsLimitTheirVertices) {
    Maker m = quad();
    m.json["nodes"].push_back({{"mesh", 1}, {"skin", 1}});
    m.json["nodes"].push_back({{"name", "foot"}, {"translation", {0, 0.25, 0}}});
    m.json["nodes"][2]["children"] = {4};
    m.json["meshes"].push_back(m.json["meshes"][0]);
    // Bound far away, without a common joint: the foot is a child of the knee, which gives its position.
    m.json["skins"].push_back(
        {{"joints", {4}}, {"inverseBindMatrices", m.accessor(bind_matrices({100}), "MAT4", 16)}});
    for (auto& p : m.json["meshes"][1]["primitives"]) {
        p["attributes"].erase("JOINTS_0");
        p["attributes"].erase("WEIGHTS_0");
    }
    const io::Scene scene = must_read(m);
    ASSERT_EQ(scene.skeleton.joints.size(), 3u);
    EXPECT_EQ(scene.skeleton.joints[2].name, "foot");
    EXPECT_EQ(scene.skeleton.joints[2].parent, 1);
    EXPECT_NEAR(scene.skeleton.joints[2].position.y, 0.75f, 1e-6f);
    EXPECT_NEAR(scene.positions[4].y, -99.25f, 1e-4f);
    EXPECT_EQ(scene.skeleton.skins, (std::vector<std::vector<std::uint32_t>>{{0, 1}, {2}}));
    EXPECT_EQ(scene.skin_of_vertex, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
    EXPECT_FALSE((*scene.weights)[0].empty());
    EXPECT_TRUE((*scene.weights)[4].empty());  // not weighted yet
}

TEST(GltfReader, ASharedMeshIsBoundOnceForEachListOfJoints) {
    Maker m = quad();
    m.json["nodes"].push_back({{"mesh", 0}, {"skin", 0}, {"scale", {2, 2, 2}}});
    m.json["scenes"][0]["nodes"].push_back(3);
    io::Scene scene = must_read(m);
    EXPECT_EQ(scene.positions.size(), 4u);
    EXPECT_TRUE(scene.warnings.empty());
    m.json["skins"].push_back({{"joints", {2}}});
    m.json["nodes"][3]["skin"] = 1;
    scene = must_read(m);
    EXPECT_EQ(scene.positions.size(), 8u);
    EXPECT_EQ(scene.skin_of_vertex, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
    EXPECT_EQ(scene.warnings.size(), 1u);
    // A skin with the same list shares the mesh, whatever its matrices are.
    m.json["skins"][1] = m.json["skins"][0];
    EXPECT_EQ(must_read(m).positions.size(), 4u);
}

TEST(GltfReader, SingularBindMatricesFallBackToTheNodes) {
    Maker m = quad();
    std::vector<float> matrices = bind_matrices({0, 0});
    std::fill(matrices.begin() + 16, matrices.end(), 0.0f);
    m.json["skins"][0]["inverseBindMatrices"] = m.accessor(matrices, "MAT4", 16);
    const io::Scene scene = must_read(m);
    EXPECT_EQ(scene.skeleton.joints[1].position, (Vec3{0, 0.5f, 0}));
    EXPECT_EQ(scene.warnings.size(), 1u);
}

TEST(GltfReader, ReadsTwoSetsOfWeights) {
    Maker m = quad();
    auto& attributes = primitive(m)["attributes"];
    attributes["JOINTS_1"] = m.vec4<std::uint16_t>({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99});
    attributes["WEIGHTS_1"] = m.vec4<std::uint8_t>({255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    const io::Scene scene = must_read(m);
    // 0.75 on joint 0, 0.25 + 1 on joint 1, of 2.
    EXPECT_EQ((*scene.weights)[0][0], (Influence{1, 0.625f}));
    EXPECT_EQ((*scene.weights)[0][1], (Influence{0, 0.375f}));
    attributes["WEIGHTS_1"] = m.vec4<std::uint8_t>({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    const io::Scene outside = must_read(m);
    ASSERT_EQ(outside.warnings.size(), 1u);
    EXPECT_NE(outside.warnings[0].find("first: vertex 3, joint 99"), std::string::npos) << outside.warnings[0];
}

TEST(GltfReader, DamagedWeightsAreIgnored) {
    Maker m = quad();
    primitive(m)["attributes"]["WEIGHTS_0"] =
        m.vec4<float>({NAN, 1, 0, 0, -1, 1, 0, 0, INFINITY, 0, 0, 0, 0, 0, 0, 0});
    const io::Scene scene = must_read(m);
    EXPECT_EQ((*scene.weights)[0].size(), 1u);
    EXPECT_TRUE((*scene.weights)[2].empty());
    EXPECT_TRUE((*scene.weights)[3].empty());
    ASSERT_EQ(scene.warnings.size(), 1u);
    EXPECT_NE(scene.warnings[0].find("3 negative or not finite"), std::string::npos);
}

// ---- files without a skin

Maker unskinned() {
    Maker m = quad(false);
    m.json.erase("skins");
    m.json["nodes"][0].erase("skin");
    return m;
}

TEST(GltfReader, FindsASkeletonWithoutSkin) {
    Maker m = unskinned();
    m.json["nodes"][0]["translation"] = {0, 0, 3};
    m.json["nodes"][1]["translation"] = {0, 1, 0};
    const io::Scene scene = must_read(m);
    ASSERT_EQ(scene.skeleton.joints.size(), 2u);
    EXPECT_EQ(scene.skeleton.joints[1].position, (Vec3{0, 1.5f, 0}));
    EXPECT_EQ(scene.positions[2], (Vec3{1, 1, 3}));
    EXPECT_FALSE(scene.weights);
}

TEST(GltfReader, ContainersAreNotJoints) {
    Maker m = unskinned();
    m.json["nodes"].push_back({{"name", "Armature"}, {"children", {0, 1}}});
    m.json["nodes"].push_back({{"name", "World"}, {"children", {3, 5}}});
    m.json["nodes"].push_back({{"name", "lamp"}});
    m.json["scenes"][0]["nodes"] = {4};
    io::Scene scene = must_read(m);
    ASSERT_EQ(scene.skeleton.joints.size(), 2u);
    EXPECT_EQ(scene.skeleton.joints[0].name, "hip");
    // A mesh in a joint's hand does not end the skeleton.
    m.json["nodes"].push_back({{"name", "sword"}, {"mesh", 0}});
    m.json["nodes"][2]["children"] = {6, 7};
    m.json["nodes"].push_back({{"name", "toe"}});
    scene = must_read(m);
    ASSERT_EQ(scene.skeleton.joints.size(), 3u);
    EXPECT_EQ(scene.skeleton.joints[2].name, "toe");
    EXPECT_EQ(scene.positions.size(), 8u);
}

TEST(GltfReader, AMissingSkeletonIsAnError) {
    Maker m = unskinned();
    m.json["nodes"] = OrderedJson::array({{{"mesh", 0}}, {{"name", "lamp"}}});
    EXPECT_NE(refusal(m).find("`skeleton FILE`"), std::string::npos);
}

TEST(GltfReader, AJointScaledToZeroIsAnError) {
    Maker m = unskinned();
    m.json["nodes"][2]["scale"] = {0, 1, 1};
    EXPECT_NE(refusal(m).find("joint 'knee' (node 2) has a scale of 0"), std::string::npos);
}

TEST(GltfReader, ASkeletonFileForASkinnedFileIsAnError) {
    const TemporaryFolder folder;
    write_text(folder / "s.json", R"({"bones":[{"name":"a","parent":-1,"head":[0,0,0],"tail":[0,1,0]}]})");
    const auto scene = io::load_bytes(quad().glb(), "t.glb", {}, {.skeleton = folder / "s.json"});
    ASSERT_FALSE(scene.ok());
    EXPECT_EQ(scene.error().code, ErrorCode::usage);
    const auto bound = io::load_bytes(unskinned().glb(), "t.glb", {}, {.skeleton = folder / "s.json"});
    ASSERT_TRUE(bound.ok());
    EXPECT_EQ(bound->skeleton.joints[0].name, "a");
}

// ---- files and buffers

TEST(GltfReader, ReadsExternalBuffersInItsFolderOnly) {
    const TemporaryFolder folder;
    const Maker m = quad();
    std::filesystem::create_directory(folder / "da ta");
    write_text(folder / "da ta/b.bin", as_string(m.bin));
    write_text(folder / "t.gltf", m.gltf("da%20ta/b.bin"));
    const auto scene = io::load(folder / "t.gltf");
    ASSERT_TRUE(scene.ok()) << scene.error().message;
    EXPECT_EQ(flat(scene->positions), quad_positions());
    for (const char* uri : {"missing.bin", "../b.bin", "/etc/passwd", "file:///etc/passwd",
                            "http://example.org/b.bin", "a/../../b.bin", "%2e%2e/b.bin", "."}) {
        write_text(folder / "u.gltf", m.gltf(uri));
        const auto refused = io::load(folder / "u.gltf");
        ASSERT_FALSE(refused.ok()) << uri;
        EXPECT_NE(refused.error().message.find("buffer 0"), std::string::npos) << refused.error().message;
    }
    // A file in memory has no folder.
    EXPECT_FALSE(io::load_bytes(as_bytes(m.gltf("b.bin")), "t.gltf").ok());
    write_text(folder / "da ta/b.bin", as_string(std::span(m.bin).first(20)));
    const auto cut = io::load(folder / "t.gltf");
    ASSERT_FALSE(cut.ok());
    EXPECT_NE(cut.error().message.find("cut off"), std::string::npos);
}

TEST(GltfReader, ReadsBase64) {
    for (std::size_t n = 0; n < 9; ++n) {
        Bytes bytes(n);
        for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * 83 + 251);
        std::string text = encode_base64(bytes);
        EXPECT_EQ(decode_base64(text), bytes);
        while (text.ends_with('=')) text.pop_back();
        EXPECT_EQ(decode_base64(text), bytes);
    }
    EXPECT_EQ(encode_base64(as_bytes("any carnal pleas")), "YW55IGNhcm5hbCBwbGVhcw==");
    EXPECT_FALSE(decode_base64("A"));
    EXPECT_FALSE(decode_base64("AA A"));
}

TEST(GltfReader, RefusesInvalidContainers) {
    const auto message = [](const Bytes& bytes, const char* name) {
        const auto scene = io::load_bytes(bytes, name);
        EXPECT_FALSE(scene.ok());
        return scene ? "" : scene.error().message;
    };
    EXPECT_NE(message({}, "a.glb").find("empty"), std::string::npos);
    EXPECT_NE(message(as_bytes("PK\x03\x04"), "a.glb").find("glTF"), std::string::npos);
    EXPECT_NE(message(as_bytes("Cinema"), "a.c4d").find("not a file that sinew reads"), std::string::npos);
    EXPECT_NE(message(as_bytes("{\"bones\":[]}"), "a.json").find("not glTF"), std::string::npos);
    EXPECT_NE(message(as_bytes("{\"asset\":{\"version\":\"1.0\"}}"), "a.gltf").find("only 2.x"), std::string::npos);
    EXPECT_NE(message(as_bytes("{\"asset\""), "a.gltf").find("JSON"), std::string::npos);
    Bytes old = quad().glb();
    old[4] = std::byte{1};
    EXPECT_NE(message(old, "a.glb").find("version 1"), std::string::npos);
    EXPECT_FALSE(io::load("/nonexistent/a.glb").ok());
    const std::string deep =
        "{\"asset\":{\"version\":\"2.0\"},\"extras\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
    EXPECT_NE(message(as_bytes(deep), "a.gltf").find("nested"), std::string::npos);
}

TEST(GltfReader, EveryTruncationIsAnError) {
    const Bytes glb = quad().glb();
    for (std::size_t n = 0; n < glb.size(); ++n) {
        const auto scene = io::load_bytes(std::span(glb).first(n), "t.glb");
        ASSERT_FALSE(scene.ok()) << n;
        EXPECT_EQ(scene.error().code, ErrorCode::input);
    }
    const Bytes text = as_bytes(quad().gltf());
    for (std::size_t n = 0; n < text.size(); ++n)
        ASSERT_FALSE(io::load_bytes(std::span(text).first(n), "t.gltf").ok()) << n;
}

TEST(GltfReader, RandomBytesAreRefusedOrHarmless) {
    // Replaces each byte by random values. Reading must not crash, and a scene that loads must be valid.
    const Bytes glb = quad().glb();
#ifdef SINEW_SANITIZED
    constexpr int rounds = 1;  // fuzz_gltf does the same, and more
#else
    constexpr int rounds = 4;
#endif
    std::mt19937 dealer(1);
    for (std::size_t n = 0; n < glb.size(); ++n)
        for (int round = 0; round < rounds; ++round) {
            Bytes damaged = glb;
            damaged[n] = static_cast<std::byte>(dealer());
            const auto scene = io::load_bytes(damaged, "t.glb");
            if (!scene) {
                EXPECT_FALSE(scene.error().message.empty());
                continue;
            }
            for (const Triangle& t : scene->triangles)
                for (const std::uint32_t v : t) ASSERT_LT(v, scene->positions.size());
        }
}

TEST(GltfReader, ErrorsNameTheRule) {
    const auto with = [](const std::function<void(Maker&)>& change) {
        Maker m = quad();
        change(m);
        return refusal(m);
    };
    const auto expect = [](const std::string& message, const char* part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
        EXPECT_TRUE(message.starts_with("test.gltf: ")) << message;
    };
    expect(with([](Maker& m) {
               primitive(m)["indices"] = m.scalar<std::uint8_t>({0, 1, 4});
           }),
           "mesh 'body' primitive 0: index 2 is 4, but there are 4 vertices");
    expect(with([](Maker& m) { primitive(m)["indices"] = 99; }), "refers to accessors[99]");
    expect(with([](Maker& m) { primitive(m)["indices"] = -1; }), "indices must be");
    expect(with([](Maker& m) { primitive(m)["attributes"]["POSITION"] = "x"; }), "POSITION must be");
    expect(with([](Maker& m) { m.json["accessors"][0]["type"] = "VEC9"; }), "unknown type");
    expect(with([](Maker& m) { m.json["accessors"][0]["type"] = "VEC2"; }), "POSITION must be VEC3");
    expect(with([](Maker& m) { m.json["accessors"][0]["componentType"] = 5130; }), "unknown componentType");
    expect(with([](Maker& m) { m.json["accessors"][0]["count"] = 0; }), "there is no mesh to bind");
    expect(with([](Maker& m) { m.json["accessors"][0]["count"] = -1; }), "count must be");
    expect(with([](Maker& m) { m.json["bufferViews"][0]["byteStride"] = 4; }), "byteStride 4 is less");
    expect(with([](Maker& m) { m.json["bufferViews"][0]["buffer"] = 3; }), "refers to buffers[3]");
    expect(with([](Maker& m) { m.json["nodes"][2]["children"] = {1}; }), "node 1 is its own ancestor");
    expect(with([](Maker& m) { m.json["nodes"][0]["children"] = {2}; }), "child of both");
    expect(with([](Maker& m) { m.json["nodes"][1]["children"] = {77}; }), "does not exist");
    expect(with([](Maker& m) { m.json["nodes"][1]["translation"] = {1, 2}; }), "translation must be 3 numbers");
    for (const OrderedJson& tail :
         {OrderedJson(2), OrderedJson({1, 2}), OrderedJson({1, 2, "3"}), OrderedJson({{"x", 1}})})
        expect(with([&](Maker& m) { m.json["nodes"][2]["extras"]["sinew_tail"] = tail; }),
               "joint 'knee' (node 2): extras.sinew_tail must be three numbers");
    expect(with([](Maker& m) {
               m.json["nodes"][2]["extras"]["sinew_tail"] = {1, 1e300, 1};
           }),
           "position that is not finite");
    expect(with([](Maker& m) { m.json["skins"][0]["joints"] = OrderedJson::array(); }), "skin 0 has no joints");
    expect(with([](Maker& m) { m.json["nodes"][0]["skin"] = 5; }), "refers to skins[5]");
    expect(with([](Maker& m) { m.json["nodes"][0]["mesh"] = 5; }), "refers to meshes[5]");
    expect(with([](Maker& m) { m.json["extensionsRequired"] = {"KHR_hair"}; }), "requires the extension KHR_hair");
    expect(with([](Maker& m) {
               primitive(m)["attributes"]["POSITION"] = m.vec3({0, 0, 0, 1, 0, NAN, 0, 0, 0, 0, 0, 0});
           }),
           "vertex 1: its position is not finite");
    expect(with([](Maker& m) { m.json["meshes"] = {1, 2}; }), "meshes[0] must be an object");
}

TEST(GltfReader, AcceptsHarmlessRequiredExtensions) {
    Maker m = quad();
    m.json["extensionsRequired"] = {"KHR_materials_unlit", "EXT_texture_webp", "VRMC_vrm", "KHR_texture_transform"};
    must_read(m);
}

// ---- meshopt

TEST(GltfReader, ReadsMeshopt) {
    for (const char* extension : {"EXT_meshopt_compression", "KHR_meshopt_compression"}) {
        Maker m = quad();
        const auto compress = [&](std::size_t view, const Bytes& stream, std::size_t count, std::size_t stride,
                                  const char* mode) {
            const std::size_t at = m.bin.size();
            m.bin.insert(m.bin.end(), stream.begin(), stream.end());
            OrderedJson& json = m.json["bufferViews"][view];
            json["extensions"][extension] = {
                {"buffer", 0},    {"byteOffset", at},     {"byteLength", stream.size()},
                {"count", count}, {"byteStride", stride}, {"mode", mode}};
            json["buffer"] = 1;
            json["byteOffset"] = 0;
        };
        Bytes stream(1000);
        auto* raw = reinterpret_cast<unsigned char*>(stream.data());
        stream.resize(meshopt_encodeVertexBuffer(raw, stream.size(), quad_positions().data(), 4, 12));
        compress(0, stream, 4, 12, "ATTRIBUTES");
        const std::vector<unsigned> indices{0, 1, 2, 0, 2, 3};
        meshopt_encodeIndexVersion(1);
        stream.assign(1000, {});
        raw = reinterpret_cast<unsigned char*>(stream.data());
        stream.resize(meshopt_encodeIndexBuffer(raw, stream.size(), indices.data(), 6));
        compress(1, stream, 6, 2, "TRIANGLES");
        // A fallback buffer without bytes, as the extension allows.
        OrderedJson json = m.json;
        json["extensionsRequired"] = {extension};
        json["buffers"] = OrderedJson::array({{{"byteLength", m.bin.size()}}, {{"byteLength", 64}}});
        const Bytes glb = pack_glb(json.dump(), m.bin);
        const io::Scene scene = must_read(glb);
        EXPECT_EQ(flat(scene.positions), quad_positions());
        EXPECT_EQ(scene.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));

        for (const auto& [key, value] : std::vector<std::pair<const char*, OrderedJson>>{{"count", 1 << 30},
                                                                                         {"byteStride", 13},
                                                                                         {"mode", "X"},
                                                                                         {"filter", "X"},
                                                                                         {"byteLength", 7},
                                                                                         {"count", "x"}}) {
            OrderedJson wrong = json;
            wrong["bufferViews"][0]["extensions"][extension][key] = value;
            EXPECT_FALSE(io::load_bytes(pack_glb(wrong.dump(), m.bin), "t.glb").ok()) << key;
        }
    }
}

TEST(GltfReader, ReadsMeshoptFiltersAndSequences) {
    // Exponential: 24-bit mantissa, 8-bit exponent.
    std::vector<std::uint32_t> packed{0x00000003, 0xff000005, 0x01000001, 0x00ffffff};
    Bytes stream(1000);
    stream.resize(meshopt_encodeVertexBuffer(reinterpret_cast<unsigned char*>(stream.data()), stream.size(),
                                             packed.data(), 1, 16));
    auto decoded = io::decode_meshopt(stream, 1, 16, "ATTRIBUTES", "EXPONENTIAL");
    ASSERT_TRUE(decoded.ok());
    std::array<float, 4> values{};
    std::memcpy(values.data(), decoded->data(), 16);
    EXPECT_EQ(values, (std::array<float, 4>{3, 2.5f, 2, -1}));

    const std::vector<unsigned> indices{5, 4, 3, 100, 7};
    stream.assign(1000, {});
    stream.resize(meshopt_encodeIndexSequence(reinterpret_cast<unsigned char*>(stream.data()), stream.size(),
                                              indices.data(), 5));
    decoded = io::decode_meshopt(stream, 5, 4, "INDICES", "NONE");
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(0, std::memcmp(decoded->data(), indices.data(), 20));
    EXPECT_FALSE(io::decode_meshopt(stream, 5, 4, "INDICES", "OCTAHEDRAL").ok());
    EXPECT_FALSE(io::decode_meshopt(stream, 5000, 4, "INDICES", "NONE").ok());
    EXPECT_FALSE(io::decode_meshopt(stream, 7, 4, "TRIANGLES", "NONE").ok());
}

}  // namespace
}  // namespace sinew::test::test_gltf_reader
