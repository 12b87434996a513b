// Writing glTF: only weights change, sums are exact, and no unused object remains.
#include <draco/compression/encode.h>
#include <gtest/gtest.h>
#include <meshoptimizer.h>
#include <sys/stat.h>

#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "gltf_maker.h"
#include "io/gltf_weights.h"
#include "io/matrix.h"

namespace sinew::test::test_gltf_writer {
namespace {

Bytes must_save(const io::Scene& scene, const SkinWeights& weights,
                io::WeightFormat format = io::WeightFormat::f32) {
    auto bytes = io::save_glb_bytes(scene, weights, {.weight_format = format});
    EXPECT_TRUE(bytes.ok()) << (bytes ? "" : bytes.error().message);
    return bytes ? std::move(*bytes) : Bytes{};
}

OrderedJson json_of(const Bytes& glb) { return OrderedJson::parse(text_of(glb)); }

Bytes bin_of(const Bytes& glb) {
    const std::size_t at = 20 + text_of(glb).size() + 8;
    return {glb.begin() + static_cast<std::ptrdiff_t>(std::min(at, glb.size())), glb.end()};
}

/// Bytes of a view in buffer 0.
Bytes view_bytes(const OrderedJson& json, const Bytes& bin, std::size_t view) {
    const OrderedJson& v = json["bufferViews"][view];
    const auto at = bin.begin() + static_cast<std::ptrdiff_t>(v.value("byteOffset", std::size_t{0}));
    return {at, at + static_cast<std::ptrdiff_t>(v["byteLength"].get<std::size_t>())};
}

template <typename T>
std::vector<T> values_of(const Bytes& glb, std::size_t accessor) {
    const OrderedJson json = json_of(glb);
    const Bytes bytes = view_bytes(json, bin_of(glb), json["accessors"][accessor]["bufferView"]);
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

void expect_same_weights(const io::Scene& scene, const SkinWeights& weights, float tolerance = 0) {
    ASSERT_TRUE(scene.weights);
    ASSERT_EQ(scene.weights->vertex_count(), weights.vertex_count());
    for (std::size_t v = 0; v < weights.vertex_count(); ++v) {
        ASSERT_EQ((*scene.weights)[v].size(), weights[v].size()) << v;
        for (std::size_t i = 0; i < weights[v].size(); ++i) {
            EXPECT_EQ((*scene.weights)[v][i].joint, weights[v][i].joint) << v;
            EXPECT_NEAR((*scene.weights)[v][i].weight, weights[v][i].weight, tolerance) << v;
        }
    }
}

/// A skinned quad with many joints in a row.
Maker many_joints(std::size_t count) {
    Maker m = quad();
    m.json["nodes"] = OrderedJson::array({{{"mesh", 0}, {"skin", 0}}});
    OrderedJson joints = OrderedJson::array();
    for (std::size_t j = 0; j < count; ++j) {
        OrderedJson node{{"name", "j" + std::to_string(j)}};
        if (j + 1 < count) node["children"] = {j + 2};
        m.json["nodes"].push_back(node);
        joints.push_back(j + 1);
    }
    m.json["skins"][0] = {{"joints", joints}};
    return m;
}

SkinWeights random_weights(const io::Scene& scene, std::size_t most) {
    std::mt19937 dealer(7);
    std::vector<std::uint32_t> counts;
    std::vector<Influence> influences;
    for (std::size_t v = 0; v < scene.positions.size(); ++v) {
        std::set<std::uint32_t> joints;
        const std::size_t n = 1 + dealer() % most;
        while (joints.size() < n)
            joints.insert(static_cast<std::uint32_t>(dealer() % scene.skeleton.joints.size()));
        for (const std::uint32_t j : joints)
            influences.push_back({j, std::exp(-static_cast<float>(dealer() % 1000) / 100)});
        counts.push_back(static_cast<std::uint32_t>(n));
    }
    auto weights = SkinWeights::from_rows(counts, std::move(influences));
    EXPECT_TRUE(weights.ok());
    return std::move(*weights);
}

// ---- shares

TEST(GltfWeights, SharesAddUpExactly) {
    std::mt19937 dealer(1);
    for (int round = 0; round < 20000; ++round) {
        std::vector<float> weights(1 + dealer() % 12);
        float sum = 0;
        for (float& w : weights) sum += w = std::exp(-static_cast<float>(dealer() % 2000) / 100);
        for (float& w : weights) w /= sum;
        std::sort(weights.rbegin(), weights.rend());
        for (const std::uint32_t one : {255u, 65535u}) {
            std::vector<std::uint32_t> shares(weights.size());
            io::quantise_shares(weights, one, shares);
            ASSERT_EQ(std::accumulate(shares.begin(), shares.end(), 0u), one);
            ASSERT_TRUE(std::is_sorted(shares.rbegin(), shares.rend()));
            for (std::size_t i = 0; i < weights.size(); ++i)
                ASSERT_LE(std::abs(static_cast<double>(shares[i]) - double(weights[i]) * one), 1.01);
        }
    }
}

TEST(GltfWeights, TiesGoToTheEarlierJoint) {
    std::vector<std::uint32_t> shares(4);
    io::quantise_shares(std::vector<float>(4, 0.25f), 255, shares);
    EXPECT_EQ(shares, (std::vector<std::uint32_t>{64, 64, 64, 63}));
    shares.resize(1);
    io::quantise_shares(std::vector<float>{1.0f}, 65535, shares);
    EXPECT_EQ(shares[0], 65535u);
}

TEST(GltfWeights, CorrectsFloatSums) {
    std::vector<float> weights{0.5f, 0.3f, 0.3f};
    io::correct_sum(weights);
    EXPECT_NEAR(double(weights[0]) + weights[1] + weights[2], 1, 1e-7);
    EXPECT_EQ(weights[1], 0.3f);
}

// ---- kept data

TEST(GltfWriter, RoundTripOfEveryFormat) {
    const io::Scene scene = must_read(many_joints(40));
    for (const std::size_t most : {1u, 4u, 5u, 12u}) {
        const SkinWeights weights = random_weights(scene, most);
        expect_same_weights(must_read(must_save(scene, weights)), weights, 1e-7f);
        const auto sum_of = [&](auto type, io::WeightFormat format) {
            const Bytes glb = must_save(scene, weights, format);
            const OrderedJson json = json_of(glb);
            const OrderedJson& attributes = json["meshes"][0]["primitives"][0]["attributes"];
            std::vector<std::size_t> sums(4);
            for (std::size_t s = 0; attributes.contains("WEIGHTS_" + std::to_string(s)); ++s) {
                const std::size_t w = attributes["WEIGHTS_" + std::to_string(s)];
                const std::size_t j = attributes["JOINTS_" + std::to_string(s)];
                EXPECT_TRUE(json["accessors"][w]["normalized"].get<bool>());
                const auto shares = values_of<decltype(type)>(glb, w);
                const auto joints = values_of<std::uint8_t>(glb, j);
                for (std::size_t i = 0; i < 16; ++i) {
                    sums[i / 4] += shares[i];
                    if (shares[i] == 0) {
                        EXPECT_EQ(joints[i], 0) << "an unused slot names joint 0";
                    }
                }
            }
            return sums;
        };
        EXPECT_EQ(sum_of(std::uint8_t{}, io::WeightFormat::u8), std::vector<std::size_t>(4, 255));
        EXPECT_EQ(sum_of(std::uint16_t{}, io::WeightFormat::u16), std::vector<std::size_t>(4, 65535));
    }
}

TEST(GltfWriter, JointsHaveTheSmallestTypeThatFits) {
    for (const auto& [count, type] : std::vector<std::pair<std::size_t, int>>{{256, 5121}, {257, 5123}}) {
        const io::Scene scene = must_read(many_joints(count));
        std::vector<Influence> influences(4, {static_cast<std::uint32_t>(count - 1), 1.0f});
        const auto weights = SkinWeights::from_rows(std::vector<std::uint32_t>(4, 1), influences);
        const Bytes glb = must_save(scene, *weights);
        const OrderedJson json = json_of(glb);
        EXPECT_EQ(json["accessors"][json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"].get<std::size_t>()]
                      ["componentType"],
                  type);
        expect_same_weights(must_read(glb), *weights);
    }
}

TEST(GltfWriter, TheTextIsKeptByteForByte) {
    // Odd spacing, odd numbers, unknown keys, keys out of order: only the numbers that must change do change.
    Maker m = quad();
    m.json["extensions"] = {{"ACME_x", {{"bufferView", 0}, {"n", 1}}}};
    std::string text = [&] {
        OrderedJson json = m.json;
        json["buffers"] = OrderedJson::array({{{"byteLength", m.bin.size()}}});
        return json.dump(2);
    }();
    const auto replace = [&](const std::string& from, const std::string& to) {
        ASSERT_NE(text.find(from), std::string::npos) << from;
        text.replace(text.find(from), from.size(), to);
    };
    replace("\"n\": 1", "\"n\"  :\t1.000e0, \"u\\u0041\" : \"\\/\"");
    replace("0.5", "5.0E-1");
    replace("\"asset\": {", "\"zzz\"   :[ ] ,\"asset\": {\r\n");
    const io::Scene scene = must_read(pack_glb(text, m.bin));
    const Bytes saved = must_save(scene, *scene.weights);
    // With the same joints, weights and formats nothing else changes.
    std::string expected = text;
    expected.resize((expected.size() + 3) / 4 * 4, ' ');
    std::string got = text_of(saved);
    // The only difference: buffer view targets, which the test document leaves out.
    for (std::size_t at; (at = got.find(",\n      \"target\": 34962")) != got.npos;) got.erase(at, 23);
    while (got.ends_with(' ')) got.pop_back();
    while (expected.ends_with(' ')) expected.pop_back();
    EXPECT_EQ(got, expected);
    Bytes bin = m.bin;
    bin.resize((bin.size() + 3) / 4 * 4);
    EXPECT_EQ(bin_of(saved), bin);
}

TEST(GltfWriter, OtherBytesAndChunksAreKept) {
    Maker m = quad();
    const Bytes image = as_bytes("not really a picture");
    m.json["images"] = OrderedJson::array({{{"bufferView", m.view(image)}, {"mimeType", "image/png"}}});
    Bytes glb = m.glb();
    for (const std::byte b : as_bytes(std::string("\4\0\0\0ACMEdata", 12))) glb.push_back(b);
    const auto length = static_cast<std::uint32_t>(glb.size());
    std::memcpy(glb.data() + 8, &length, 4);
    const io::Scene scene = must_read(glb);
    const Bytes saved = must_save(scene, spread_weights(scene, 2), io::WeightFormat::u8);
    EXPECT_TRUE(as_string(saved).ends_with(std::string("\4\0\0\0ACMEdata", 12)));
    const OrderedJson json = json_of(saved);
    EXPECT_EQ(view_bytes(json, bin_of(saved), json["images"][0]["bufferView"]), image);
    EXPECT_EQ(values_of<float>(saved, 0), quad_positions());
}

TEST(GltfWriter, SavingAgainDoesNotGrow) {
    for (const io::WeightFormat format : {io::WeightFormat::f32, io::WeightFormat::u16, io::WeightFormat::u8})
        for (const std::size_t joints : {1u, 2u}) {
            const io::Scene scene = must_read(quad());
            const Bytes once = must_save(scene, spread_weights(scene, joints), format);
            const io::Scene again = must_read(once);
            EXPECT_EQ(must_save(again, spread_weights(again, joints), format), once);
        }
    // From eight influences back to four: the second set is removed.
    const io::Scene scene = must_read(many_joints(12));
    const Bytes four = must_save(scene, random_weights(scene, 4));
    const io::Scene first = must_read(four);
    const Bytes eight = must_save(first, random_weights(first, 8));
    const io::Scene second = must_read(eight);
    EXPECT_TRUE(json_of(eight)["meshes"][0]["primitives"][0]["attributes"].contains("JOINTS_1"));
    const Bytes back = must_save(second, random_weights(second, 4));
    EXPECT_FALSE(json_of(back)["meshes"][0]["primitives"][0]["attributes"].contains("JOINTS_1"));
    EXPECT_EQ(back.size(), four.size());
}

/// Counts accessors and views that are not referenced.
std::size_t unused_objects(const OrderedJson& json) {
    std::set<std::size_t> accessors, views;
    for (const OrderedJson& mesh : json["meshes"])
        for (const OrderedJson& p : mesh["primitives"]) {
            for (const auto& [name, a] : p["attributes"].items()) accessors.insert(a.get<std::size_t>());
            if (p.contains("indices")) accessors.insert(p["indices"].get<std::size_t>());
        }
    for (const OrderedJson& skin : json.value("skins", OrderedJson::array()))
        if (skin.contains("inverseBindMatrices")) accessors.insert(skin["inverseBindMatrices"].get<std::size_t>());
    for (const std::size_t a : accessors)
        if (json["accessors"][a].contains("bufferView"))
            views.insert(json["accessors"][a]["bufferView"].get<std::size_t>());
    return json["accessors"].size() - accessors.size() + json["bufferViews"].size() - views.size();
}

TEST(GltfWriter, LeavesNoObjectUnused) {
    // Sets in the middle of the lists cannot be removed without renumbering. They stay, filled with zeros.
    Maker m = many_joints(12);
    auto& attributes = primitive(m)["attributes"];
    attributes["JOINTS_1"] = m.vec4(std::vector<std::uint8_t>(16));
    attributes["WEIGHTS_1"] = m.vec4(std::vector<float>(16));
    primitive(m)["indices"] = m.scalar<std::uint16_t>({0, 1, 2, 0, 2, 3});
    m.json["accessors"][1] = m.json["accessors"][5];  // the old accessor is still used
    attributes["_EXTRA"] = 1;
    attributes["_MATRICES"] = 4;
    ASSERT_EQ(unused_objects(m.json), 1u);  // the view of the old indices
    const io::Scene scene = must_read(m);
    const Bytes saved = must_save(scene, random_weights(scene, 4));
    const OrderedJson json = json_of(saved);
    EXPECT_EQ(unused_objects(json), 1u);
    EXPECT_TRUE(json["meshes"][0]["primitives"][0]["attributes"].contains("WEIGHTS_1"));
    EXPECT_EQ(json["accessors"].size(), m.json["accessors"].size());
    expect_same_weights(must_read(saved), random_weights(scene, 4), 1e-7f);
    EXPECT_EQ(unused_objects(json_of(must_save(scene, random_weights(scene, 12)))), 1u);
}

TEST(GltfWriter, SharedAccessorsAreSplitUnlessVerticesAreShared) {
    // One view for weights and positions, and one JOINTS accessor for two meshes with different positions.
    Maker m = quad();
    m.json["meshes"].push_back(m.json["meshes"][0]);
    std::vector<float> moved = quad_positions();
    for (float& x : moved) x += 3;
    m.json["meshes"][1]["primitives"][0]["attributes"]["POSITION"] = m.vec3(moved);
    m.json["nodes"].push_back({{"mesh", 1}, {"skin", 0}});
    io::Scene scene = must_read(m);
    ASSERT_EQ(scene.positions.size(), 8u);
    std::vector<Influence> influences;
    for (std::uint32_t v = 0; v < 8; ++v) influences.push_back({v / 4, 1});
    const auto weights = SkinWeights::from_rows(std::vector<std::uint32_t>(8, 1), influences);
    Bytes saved = must_save(scene, *weights);
    expect_same_weights(must_read(saved), *weights);
    OrderedJson json = json_of(saved);
    EXPECT_NE(json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"],
              json["meshes"][1]["primitives"][0]["attributes"]["JOINTS_0"]);
    EXPECT_EQ(unused_objects(json), 0u);

    // Primitives that share their vertices still share their weights.
    m = quad();
    m.json["meshes"][0]["primitives"].push_back(primitive(m));
    scene = must_read(m);
    saved = must_save(scene, spread_weights(scene, 2));
    json = json_of(saved);
    EXPECT_EQ(json["meshes"][0]["primitives"][0], json["meshes"][0]["primitives"][1]);
    EXPECT_EQ(json["accessors"].size(), m.json["accessors"].size());
}

TEST(GltfWriter, SharedWeightsAreKept) {
    Maker m = quad();
    const std::size_t joints = primitive(m)["attributes"]["JOINTS_0"],
                      shares = primitive(m)["attributes"]["WEIGHTS_0"];
    primitive(m)["attributes"]["COLOR_0"] = shares;
    // Primitives of lines keep their weights.
    m.json["meshes"][0]["primitives"].push_back(primitive(m));
    m.json["meshes"][0]["primitives"][1]["mode"] = 1;
    const io::Scene scene = must_read(m);
    const Bytes saved = must_save(scene, spread_weights(scene, 2));
    EXPECT_EQ(values_of<float>(saved, shares), values_of<float>(m.glb(), shares));
    EXPECT_EQ(values_of<std::uint8_t>(saved, joints), values_of<std::uint8_t>(m.glb(), joints));
    EXPECT_EQ(json_of(saved)["meshes"][0]["primitives"][1], m.json["meshes"][0]["primitives"][1]);
    expect_same_weights(must_read(saved), spread_weights(scene, 2), 1e-7f);
}

TEST(GltfWriter, JointNumbersAreThoseOfEachSkin) {
    Maker m = quad();
    m.json["nodes"].push_back({{"mesh", 1}, {"skin", 1}});
    m.json["meshes"].push_back(m.json["meshes"][0]);
    m.json["skins"].push_back(
        {{"joints", {2}}, {"inverseBindMatrices", m.accessor(bind_matrices({0.5f}), "MAT4", 16)}});
    m.json["meshes"][1]["primitives"][0]["attributes"].erase("JOINTS_0");
    m.json["meshes"][1]["primitives"][0]["attributes"].erase("WEIGHTS_0");
    const io::Scene scene = must_read(m);
    ASSERT_EQ(scene.skin_of_vertex.size(), 8u);
    std::vector<Influence> influences(8, {1, 1});
    const auto weights = SkinWeights::from_rows(std::vector<std::uint32_t>(8, 1), influences);
    const Bytes saved = must_save(scene, *weights);
    expect_same_weights(must_read(saved), *weights);
    const OrderedJson json = json_of(saved);
    // Joint 1 of the skeleton is joint 1 of the first skin and joint 0 of the second.
    EXPECT_EQ(values_of<std::uint8_t>(saved, json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"])[0], 1);
    EXPECT_EQ(values_of<std::uint8_t>(saved, json["meshes"][1]["primitives"][0]["attributes"]["JOINTS_0"])[0], 0);
    influences[7] = {0, 1};
    const auto outside =
        io::save_glb_bytes(scene, *SkinWeights::from_rows(std::vector<std::uint32_t>(8, 1), influences));
    ASSERT_FALSE(outside.ok());
    EXPECT_EQ(outside.error().code, ErrorCode::input);
    EXPECT_NE(outside.error().message.find("vertex 7 is weighted to joint 'hip'"), std::string::npos)
        << outside.error().message;
}

TEST(GltfWriter, RefusesInputsThatDoNotMatch) {
    const io::Scene scene = must_read(quad());
    EXPECT_FALSE(io::save_glb_bytes(scene, SkinWeights{}).ok());
    const std::vector<std::uint32_t> counts{1, 1, 0, 1};
    const auto empty_row = SkinWeights::from_rows(counts, std::vector<Influence>(3, {0, 1}));
    const auto saved = io::save_glb_bytes(scene, *empty_row);
    ASSERT_FALSE(saved.ok());
    EXPECT_NE(saved.error().message.find("vertex 2"), std::string::npos);
    EXPECT_FALSE(io::save_glb_bytes(io::Scene{}, SkinWeights{}).ok());
}

// ---- skins that are made

/// Expects that skinning without motion leaves the vertices of a scene where they are.
void expect_rest_pose(const Bytes& glb, const std::vector<std::array<float, 3>>& expected) {
    // Reading maps every skin by its bind matrices; world positions follow from the first skin's first joint.
    const io::Scene scene = must_read(glb);
    const OrderedJson json = json_of(glb);
    const auto matrices = values_of<float>(glb, json["skins"][0]["inverseBindMatrices"]);
    io::Matrix bind;
    std::copy_n(matrices.begin(), 16, bind.m.begin());
    io::Matrix world;
    const std::size_t joint = json["skins"][0]["joints"][0];
    for (std::size_t k = 0; k < 3; ++k)
        world(k, 3) = json["nodes"][joint].value("translation", std::vector<double>{0, 0, 0})[k];
    ASSERT_EQ(scene.positions.size(), expected.size());
    for (std::size_t v = 0; v < expected.size(); ++v) {
        const Vec3& p = scene.positions[v];
        const auto q = io::transform_point(world * bind, p.x, p.y, p.z);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(q[k], expected[v][k], 1e-5) << v;
    }
}

std::vector<std::array<float, 3>> as_rows(const std::vector<Vec3>& points) {
    std::vector<std::array<float, 3>> out;
    for (const Vec3& p : points) out.push_back({p.x, p.y, p.z});
    return out;
}

TEST(GltfWriter, MakesSkinsForASkeletonWithoutOne) {
    Maker m = quad(false);
    m.json.erase("skins");
    m.json["accessors"].erase(2);
    m.json["bufferViews"].erase(2);
    m.json["nodes"][0] = {{"mesh", 0}, {"translation", {0, 0, 3}}, {"scale", {2, 2, 2}}};
    m.json["nodes"][1]["translation"] = {0, 1, 0};
    m.json["nodes"].push_back({{"mesh", 0}, {"rotation", {0, 0, 1, 0}}});  // the same mesh elsewhere
    m.json["scenes"][0]["nodes"] = {0, 1, 3};
    const io::Scene scene = must_read(m);
    ASSERT_EQ(scene.positions.size(), 8u);
    EXPECT_EQ(scene.positions[2], (Vec3{2, 2, 3}));
    EXPECT_NEAR(scene.positions[6].x, -1, 1e-6f);
    std::vector<Influence> influences;
    for (std::uint32_t v = 0; v < 8; ++v) influences.push_back({v / 4, 1});
    const auto weights = SkinWeights::from_rows(std::vector<std::uint32_t>(8, 1), influences);
    const Bytes saved = must_save(scene, *weights);
    const OrderedJson json = json_of(saved);
    EXPECT_EQ(json["skins"].size(), 2u);
    EXPECT_EQ(json["meshes"].size(), 2u);
    EXPECT_EQ(json["nodes"].size(), 4u);
    EXPECT_EQ(json["nodes"][0]["skin"], 0);
    EXPECT_EQ(json["nodes"][3]["mesh"], 1);
    EXPECT_EQ(json["skins"][1]["joints"], OrderedJson({1, 2}));
    EXPECT_EQ(unused_objects(json), 0u);
    expect_same_weights(must_read(saved), *weights);
    expect_rest_pose(saved, as_rows(scene.positions));
    const io::Scene again = must_read(saved);
    EXPECT_EQ(must_save(again, *weights), saved);
}

TEST(GltfWriter, AddsASkeletonFromElsewhere) {
    Maker m = quad(false);
    m.json.erase("skins");
    m.json["nodes"] = OrderedJson::array({{{"mesh", 0}, {"translation", {1, 0, 0}}}, {{"name", "lamp"}}});
    m.json["scenes"] = OrderedJson::array({{{"nodes", {1}}}, {{"nodes", {0}}}});
    const TemporaryFolder folder;
    write_text(folder / "s.json",
               R"({"bones":[{"name":"a","parent":-1,"head":[0,0,0],"tail":[0,1,0]},
                            {"name":"b\"","parent":0,"head":[0.1,1,0.3],"tail":[0,2,0]},
                            {"name":"c","parent":-1,"head":[5,0,0],"tail":[5,1,0]}]})");
    const auto scene = io::load_bytes(m.glb(), "t.glb", {}, {.skeleton = folder / "s.json"});
    ASSERT_TRUE(scene.ok()) << scene.error().message;
    const SkinWeights weights = spread_weights(*scene, 3);
    const Bytes saved = must_save(*scene, weights);
    const OrderedJson json = json_of(saved);
    EXPECT_EQ(json["nodes"].size(), 6u);  // three joints and a common parent of the two roots
    EXPECT_EQ(json["nodes"][3]["name"], "b\"");
    EXPECT_EQ(json["scenes"][0]["nodes"], OrderedJson::array({1}));
    EXPECT_EQ(json["scenes"][1]["nodes"], OrderedJson({0, 5}));
    const io::Scene again = must_read(saved);
    EXPECT_EQ(again.skeleton.joints.size(), 3u);
    EXPECT_EQ(again.skeleton.joints[1].parent, 0);
    // The scene is now in the space of the mesh, which is at (1, 0, 0).
    EXPECT_NEAR(again.skeleton.joints[1].position.x, 0.1f - 1, 1e-6f);
    expect_same_weights(again, weights, 1e-7f);
    expect_rest_pose(saved, as_rows(scene->positions));
    // Its bones are the same, in the space of the mesh.
    const std::vector<Bone> before = make_bones(scene->skeleton), after = make_bones(again.skeleton);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t b = 0; b < before.size(); ++b) {
        EXPECT_EQ(after[b].joint, before[b].joint);
        EXPECT_NEAR(after[b].tail.x, before[b].tail.x - 1, 1e-6f);
        EXPECT_NEAR(after[b].tail.y, before[b].tail.y, 1e-6f);
        EXPECT_NEAR(after[b].tail.z, before[b].tail.z, 1e-6f);
    }
}

TEST(GltfWriter, TailsOfAnAddedSkeletonRoundTrip) {
    Maker m = quad(false);
    m.json.erase("skins");
    m.json["nodes"] = OrderedJson::array({{{"mesh", 0}}});
    m.json["scenes"] = OrderedJson::array({{{"nodes", {0}}}});
    const TemporaryFolder folder;
    write_text(folder / "s.json", R"({"bones":[{"name":"a","head":[0,0.1,0],"tail":[0.3,0.7,0]},
        {"name":"b","parent":"a","head":[0.3,0.7,0],"tail":[0.3,1,0]},{"name":"c","parent":"b","head":[0.1,1,0.7]}],
        "points":[{"name":"p","parent":"a","position":[0.7,0.1,0.3]}]})");
    write_text(folder / "s.tgf", "1 0 0 0\n2 0 0.3 0\n3 0.3 0.7 0\n4 0 0.7 0\n#\n1 2\n2 3\n2 4\n");
    const auto round = [&](const std::string& name) {
        const auto scene = io::load_bytes(m.glb(), "t.glb", {}, {.skeleton = folder / name});
        EXPECT_TRUE(scene.ok()) << scene.error().message;
        return std::pair{scene->skeleton.joints,
                         must_read(must_save(*scene, spread_weights(*scene))).skeleton.joints};
    };
    const auto [json, json_again] = round("s.json");
    ASSERT_EQ(json_again.size(), 4u);
    EXPECT_EQ(json_again[0].tail, json_again[1].position);
    EXPECT_NEAR(json_again[1].tail->y, 1, 1e-6f);
    EXPECT_FALSE(json_again[2].tail);
    EXPECT_EQ(json_again[3].tail, json_again[3].position);
    // A single edge is a tail. Two edges from one vertex are links to its children, as without stated tails.
    const auto [tgf, tgf_again] = round("s.tgf");
    EXPECT_EQ(tgf_again[0].tail, tgf_again[1].position);
    EXPECT_FALSE(tgf_again[1].tail);
}

TEST(GltfWriter, MakesAFileFromArrays) {
    Skeleton skeleton;
    skeleton.joints.resize(2);
    skeleton.joints[0].name = "root";
    skeleton.joints[1].name = "tip \xff";
    skeleton.joints[1].parent = 0;
    skeleton.joints[1].position = {0, 0.1f, 0};
    const std::vector<Vec3> positions{{0, 0, 0}, {1, 0, 0}, {0, 0.1f, 0}, {9, 9, 9}};
    const auto scene = io::make_scene(positions, {{0, 1, 2}}, skeleton, "dir/some \"mesh\".obj");
    ASSERT_TRUE(scene.ok()) << scene.error().message;
    EXPECT_EQ(scene->positions, positions);
    const SkinWeights weights = spread_weights(*scene, 2);
    const Bytes saved = must_save(*scene, weights);
    const OrderedJson json = json_of(saved);
    EXPECT_EQ(json["accessors"][0]["max"], OrderedJson({9, 9, 9}));
    EXPECT_EQ(values_of<float>(saved, 1), (std::vector<float>{0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 0}));
    const io::Scene again = must_read(saved);
    EXPECT_EQ(again.positions, positions);
    EXPECT_EQ(again.triangles, scene->triangles);
    EXPECT_EQ(again.skeleton.joints[1].position, (Vec3{0, 0.1f, 0}));
    expect_same_weights(again, weights, 1e-7f);

    EXPECT_FALSE(io::make_scene({}, {}, skeleton, "a").ok());
    EXPECT_FALSE(io::make_scene(positions, {{0, 1, 4}}, skeleton, "a").ok());
    EXPECT_FALSE(io::make_scene({{NAN, 0, 0}, {}, {}}, {{0, 1, 2}}, skeleton, "a").ok());
    EXPECT_FALSE(io::make_scene(positions, {{0, 1, 2}}, {}, "a").ok());
}

// ---- containers

TEST(GltfWriter, ConvertsBetweenContainers) {
    const TemporaryFolder folder;
    const Maker m = quad();
    write_text(folder / "in.gltf", m.gltf());
    const auto scene = io::load(folder / "in.gltf");
    ASSERT_TRUE(scene.ok());
    const SkinWeights weights = spread_weights(*scene, 2);
    ASSERT_TRUE(io::save(*scene, weights, folder / "out.gltf").ok());
    ASSERT_TRUE(io::save(*scene, weights, folder / "out.glb").ok());
    ASSERT_TRUE(io::save(must_read(m), weights, folder / "from_glb.gltf").ok());
    for (const char* name : {"out.gltf", "out.glb", "from_glb.gltf"}) {
        const auto again = io::load(folder / name);
        ASSERT_TRUE(again.ok()) << name << again.error().message;
        expect_same_weights(*again, weights, 1e-7f);
        EXPECT_EQ(again->positions, scene->positions);
    }
    EXPECT_FALSE(json_of(read_bytes(folder / "out.glb"))["buffers"][0].contains("uri"));
    // Embedded data stays one buffer and does not grow.
    const auto again = io::load(folder / "out.gltf");
    ASSERT_TRUE(io::save(*again, weights, folder / "twice.gltf").ok());
    EXPECT_EQ(read_bytes(folder / "twice.gltf"), read_bytes(folder / "out.gltf"));
    const auto wrong = io::save(*scene, weights, folder / "out.dae");
    ASSERT_FALSE(wrong.ok());
    EXPECT_EQ(wrong.error().code, ErrorCode::usage);
}

TEST(GltfWriter, ExternalFilesAreCopied) {
    const TemporaryFolder folder, other;
    Maker m = quad();
    m.json["images"] = OrderedJson::array(
        {{{"uri", "tex/a%20b.png"}}, {{"uri", "missing.png"}}, {{"uri", "data:image/png;base64,AAAA"}}});
    std::filesystem::create_directory(folder / "tex");
    write_text(folder / "tex/a b.png", "picture");
    write_text(folder / "b.bin", as_string(m.bin));
    write_text(folder / "in.gltf", m.gltf("b.bin"));
    const auto scene = io::load(folder / "in.gltf");
    ASSERT_TRUE(scene.ok());
    const SkinWeights weights = spread_weights(*scene, 2);
    // In the same folder no file is copied, and the buffer file is not changed.
    const auto beside = io::save(*scene, weights, folder / "out.gltf");
    ASSERT_TRUE(beside.ok());
    EXPECT_TRUE(beside->notes.empty());
    EXPECT_EQ(read_bytes(folder / "b.bin"), m.bin);
    // A file of this name with other content is not overwritten: nothing is written.
    write_text(other / "b.bin", "mine");
    EXPECT_FALSE(io::save(*scene, weights, other / "out.gltf").ok());
    EXPECT_FALSE(std::filesystem::exists(other / "out.gltf"));
    EXPECT_FALSE(std::filesystem::exists(other / "tex"));
    std::filesystem::remove(other / "b.bin");
    const auto report = io::save(*scene, weights, other / "out.gltf");
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(report->notes.size(), 3u);
    EXPECT_EQ(as_string(read_bytes(other / "tex/a b.png")), "picture");
    const auto again = io::load(other / "out.gltf");
    ASSERT_TRUE(again.ok());
    expect_same_weights(*again, weights, 1e-7f);
    // A GLB contains the buffer.
    ASSERT_TRUE(io::save(*scene, weights, folder / "out.glb").ok());
    std::filesystem::remove(folder / "b.bin");
    EXPECT_TRUE(io::load(folder / "out.glb").ok());
}

TEST(GltfWriter, TheBytesThatWereReadAreWritten) {
    // Between reading and saving the buffer is lost, or another program writes it.
    for (const bool lost : {true, false}) {
        const TemporaryFolder folder, other;
        const Maker m = quad();
        write_text(folder / "b.bin", as_string(m.bin));
        write_text(folder / "in.gltf", m.gltf("b.bin"));
        const auto scene = io::load(folder / "in.gltf");
        ASSERT_TRUE(scene.ok());
        const SkinWeights weights = spread_weights(*scene, 2);
        if (lost)
            std::filesystem::remove(folder / "b.bin");
        else
            write_text(folder / "b.bin", std::string(m.bin.size(), 'x'));
        for (const bool decompress : {false, true}) {
            io::SaveOptions options;
            options.decompress = decompress;
            const std::string name = decompress ? "plain.gltf" : "out.gltf";
            const auto saved = io::save(*scene, weights, other / name, options);
            ASSERT_TRUE(saved.ok()) << saved.error().message;
            const auto again = io::load(other / name);
            ASSERT_TRUE(again.ok()) << again.error().message;
            EXPECT_EQ(again->positions, scene->positions);
        }
        EXPECT_EQ(read_bytes(other / "b.bin"), m.bin);
        // In the folder of the input another buffer has the name, which is not ours to replace.
        const auto beside = io::save(*scene, weights, folder / "out.gltf");
        ASSERT_EQ(beside.ok(), lost);
        if (lost) {
            EXPECT_EQ(read_bytes(folder / "b.bin"), m.bin);
        } else {
            EXPECT_NE(beside.error().message.find("or it has changed"), std::string::npos);
        }
        EXPECT_EQ(std::filesystem::exists(folder / "out.gltf"), lost);
    }
}

TEST(GltfWriter, ModelsThatShareTheNameOfABufferDoNotMix) {
    // Both are ready before one of them appears: nothing was in the folder when they were checked.
    const TemporaryFolder a, b, out;
    Maker one = quad();
    write_text(a / "scene.bin", as_string(one.bin));
    write_text(a / "hero.gltf", one.gltf("scene.bin"));
    one.bin[0] = std::byte{1};
    write_text(b / "scene.bin", as_string(one.bin));
    write_text(b / "orc.gltf", one.gltf("scene.bin"));
    const auto hero = io::load(a / "hero.gltf"), orc = io::load(b / "orc.gltf");
    ASSERT_TRUE(hero.ok() && orc.ok());
    for (const bool same : {false, true}) {
        io::OutputBatch first, second;
        ASSERT_TRUE(io::save(*hero, spread_weights(*hero), out / "hero.gltf", {}, first).ok());
        ASSERT_TRUE(io::save(same ? *hero : *orc, spread_weights(*orc), out / "orc.gltf", {}, second).ok());
        ASSERT_TRUE(second.commit());
        const Status late = first.commit();
        ASSERT_EQ(late.ok(), same);
        if (!same) {
            EXPECT_NE(late.error().message.find("is another file"), std::string::npos);
        }
        EXPECT_EQ(std::filesystem::exists(out / "hero.gltf"), same);
        EXPECT_EQ(io::load(out / "orc.gltf")->positions, (same ? hero : orc)->positions);
        for (const char* name : {"hero.gltf", "orc.gltf", "scene.bin"}) std::filesystem::remove(out / name);
        EXPECT_TRUE(std::filesystem::is_empty(out / "."));
    }
    // A file that was there, and that changes or goes before the model appears.
    for (const bool gone : {true, false}) {
        write_text(out / "scene.bin", as_string(read_bytes(a / "scene.bin")));
        io::OutputBatch batch;
        ASSERT_TRUE(io::save(*hero, spread_weights(*hero), out / "hero.gltf", {}, batch).ok());
        std::filesystem::remove(out / "scene.bin");
        if (!gone) write_text(out / "scene.bin", "another");
        EXPECT_FALSE(batch.commit());
        EXPECT_FALSE(std::filesystem::exists(out / "hero.gltf"));
    }
}

TEST(GltfWriter, AGlbWithoutBinChunkGetsOne) {
    // Positions without a buffer view, and no buffers.
    OrderedJson json{
        {"asset", {{"version", "2.0"}}},
        {"scenes", OrderedJson::array({{{"nodes", {0, 1}}}})},
        {"nodes", OrderedJson::array({{{"mesh", 0}, {"skin", 0}}, {{"name", "a"}}})},
        {"skins", OrderedJson::array({{{"joints", {1}}}})},
        {"meshes",
         OrderedJson::array({{{"primitives", OrderedJson::array({{{"attributes", {{"POSITION", 0}}}}})}}})},
        {"accessors", OrderedJson::array({{{"componentType", 5126}, {"count", 3}, {"type", "VEC3"}}})}};
    const io::Scene scene = must_read(pack_glb(json.dump(), {}));
    const Bytes saved = must_save(scene, spread_weights(scene));
    EXPECT_EQ(json_of(saved)["buffers"].size(), 1u);
    expect_same_weights(must_read(saved), spread_weights(scene));
}

// ---- compression

TEST(GltfWriter, MeshoptWeightsAreWrittenUncompressed) {
    for (const bool everything : {false, true}) {
        Maker m = quad();
        const auto compress = [&](std::size_t view, std::size_t stride) {
            const Bytes plain = view_bytes(m.json, m.bin, view);
            Bytes stream(4000);
            stream.resize(meshopt_encodeVertexBuffer(reinterpret_cast<unsigned char*>(stream.data()), stream.size(),
                                                     plain.data(), plain.size() / stride, stride));
            const std::size_t at = m.bin.size();
            m.bin.insert(m.bin.end(), stream.begin(), stream.end());
            m.json["bufferViews"][view]["extensions"]["EXT_meshopt_compression"] = {
                {"buffer", 0},
                {"byteOffset", at},
                {"byteLength", stream.size()},
                {"count", plain.size() / stride},
                {"byteStride", stride},
                {"mode", "ATTRIBUTES"}};
        };
        compress(2, 4);
        compress(3, 16);
        if (everything) compress(0, 12);
        m.json["extensionsUsed"] = {"KHR_materials_unlit", "EXT_meshopt_compression"};
        m.json["extensionsRequired"] = {"EXT_meshopt_compression"};
        const io::Scene scene = must_read(m);
        ASSERT_TRUE(scene.weights);
        const auto saved = io::save_glb_bytes(scene, *scene.weights);
        ASSERT_TRUE(saved.ok());
        const OrderedJson json = json_of(*saved);
        EXPECT_FALSE(json["bufferViews"][2].contains("extensions"));
        EXPECT_EQ(json["bufferViews"][0], m.json["bufferViews"][0]);
        EXPECT_EQ(json["extensionsUsed"].size(), everything ? 2u : 1u);
        EXPECT_EQ(json.contains("extensionsRequired"), everything);
        EXPECT_EQ(unused_objects(json), 0u);
        expect_same_weights(must_read(*saved), *scene.weights);

        io::SaveOptions plain;
        plain.decompress = true;
        const auto decompressed = io::save_glb_bytes(scene, *scene.weights, plain);
        ASSERT_TRUE(decompressed.ok()) << decompressed.error().message;
        const OrderedJson open = json_of(*decompressed);
        for (const OrderedJson& view : open["bufferViews"]) EXPECT_FALSE(view.contains("extensions"));
        EXPECT_EQ(open["buffers"].size(), 1u);
        EXPECT_EQ(open["extensionsUsed"], OrderedJson({"KHR_materials_unlit"}));
        EXPECT_FALSE(open.contains("extensionsRequired"));
        EXPECT_EQ(values_of<float>(*decompressed, 0), quad_positions());
        expect_same_weights(must_read(*decompressed), *scene.weights);
    }
}

/// A quad compressed with Draco, including joints, weights and a custom attribute of three bytes.
Maker draco_quad(float size = 1) {
    std::vector<float> positions = quad_positions();
    for (float& x : positions) x *= size;
    draco::Mesh mesh;
    mesh.set_num_points(4);
    const auto add = [&](draco::GeometryAttribute::Type kind, auto type, draco::DataType data_type, int width,
                         const auto& values) {
        using T = decltype(type);
        draco::GeometryAttribute attribute;
        attribute.Init(kind, nullptr, static_cast<std::uint8_t>(width), data_type, false,
                       static_cast<std::int64_t>(sizeof(T)) * width, 0);
        const int id = mesh.AddAttribute(attribute, true, 4);
        for (std::uint32_t v = 0; v < 4; ++v)
            mesh.attribute(id)->SetAttributeValue(draco::AttributeValueIndex(v),
                                                  &values[v * static_cast<std::size_t>(width)]);
        return mesh.attribute(id)->unique_id();
    };
    const std::vector<std::uint8_t> joints{0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0},
        colors{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const std::vector<float> weights{0.75f, 0.25f, 0, 0, 0.75f, 0.25f, 0, 0, 1, 0, 0, 0, 0.5f, 0.5f, 0, 0};
    OrderedJson ids{
        {"POSITION", add(draco::GeometryAttribute::POSITION, float{}, draco::DT_FLOAT32, 3, positions)},
        {"JOINTS_0", add(draco::GeometryAttribute::GENERIC, std::uint8_t{}, draco::DT_UINT8, 4, joints)},
        {"WEIGHTS_0", add(draco::GeometryAttribute::GENERIC, float{}, draco::DT_FLOAT32, 4, weights)},
        {"COLOR_0", add(draco::GeometryAttribute::COLOR, std::uint8_t{}, draco::DT_UINT8, 3, colors)}};
    mesh.AddFace({draco::PointIndex(0), draco::PointIndex(1), draco::PointIndex(2)});
    mesh.AddFace({draco::PointIndex(0), draco::PointIndex(2), draco::PointIndex(3)});
    draco::Encoder encoder;
    encoder.SetEncodingMethod(draco::MESH_SEQUENTIAL_ENCODING);  // keeps the order
    draco::EncoderBuffer buffer;
    EXPECT_TRUE(encoder.EncodeMeshToBuffer(mesh, &buffer).ok());
    Bytes blob(buffer.size());
    std::memcpy(blob.data(), buffer.data(), buffer.size());

    Maker m = quad(false);
    m.json["accessors"] = OrderedJson::array(
        {{{"componentType", 5126}, {"count", 4}, {"type", "VEC3"}, {"min", {0, 0, 0}}, {"max", {1, 1.5, 0}}},
         {{"componentType", 5123}, {"count", 6}, {"type", "SCALAR"}},
         {{"bufferView", 2}, {"componentType", 5126}, {"count", 2}, {"type", "MAT4"}},
         {{"componentType", 5121}, {"count", 4}, {"type", "VEC4"}},
         {{"componentType", 5126}, {"count", 4}, {"type", "VEC4"}},
         {{"componentType", 5121}, {"count", 4}, {"type", "VEC3"}, {"normalized", true}}});
    primitive(m)["attributes"] = {{"POSITION", 0}, {"JOINTS_0", 3}, {"WEIGHTS_0", 4}, {"COLOR_0", 5}};
    primitive(m)["extensions"] = {
        {"KHR_draco_mesh_compression", {{"bufferView", m.view(blob)}, {"attributes", ids}}}};
    m.json["extensionsUsed"] = m.json["extensionsRequired"] = {"KHR_draco_mesh_compression"};
    return m;
}

TEST(GltfWriter, DracoPrimitivesAreWrittenUncompressed) {
    const Maker m = draco_quad();
    const io::Scene scene = must_read(m);
    EXPECT_EQ(scene.positions.size(), 4u);
    EXPECT_EQ(scene.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
    ASSERT_TRUE(scene.weights);
    EXPECT_EQ((*scene.weights)[0][0], (Influence{0, 0.75f}));
    const Bytes saved = must_save(scene, *scene.weights);
    const OrderedJson json = json_of(saved);
    EXPECT_FALSE(json["meshes"][0]["primitives"][0].contains("extensions"));
    EXPECT_FALSE(json.contains("extensionsUsed"));
    EXPECT_FALSE(json.contains("extensionsRequired"));
    EXPECT_EQ(values_of<float>(saved, 0), quad_positions());
    EXPECT_EQ(json["accessors"][0]["max"], OrderedJson({1, 1, 0}));  // the decompressed data, not the original
    EXPECT_EQ(values_of<std::uint16_t>(saved, 1), (std::vector<std::uint16_t>{0, 1, 2, 0, 2, 3}));
    // Rows of three bytes are padded to four.
    EXPECT_EQ(values_of<std::uint8_t>(saved, 5),
              (std::vector<std::uint8_t>{1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 10, 11, 12, 0}));
    EXPECT_EQ(json["bufferViews"][json["accessors"][5]["bufferView"].get<std::size_t>()]["byteStride"], 4);
    const io::Scene again = must_read(saved);
    EXPECT_EQ(again.positions, scene.positions);
    EXPECT_EQ(again.triangles, scene.triangles);
    expect_same_weights(again, *scene.weights);
    const TemporaryFolder folder;
    EXPECT_EQ(io::save(scene, *scene.weights, folder / "a.glb")->notes.size(), 1u);
}

TEST(GltfWriter, DecompressWritesRigidMeshesPlain) {
    // A mesh on a node without a skin is not bound: its data stays as it is, unless everything is decompressed.
    Maker m = draco_quad();
    Maker other = draco_quad(2);
    const std::size_t view = primitive(other)["extensions"]["KHR_draco_mesh_compression"]["bufferView"];
    OrderedJson mesh = m.json["meshes"][0];
    mesh["primitives"][0]["extensions"]["KHR_draco_mesh_compression"]["bufferView"] =
        m.view(view_bytes(other.json, other.bin, view));
    m.json["nodes"].push_back({{"mesh", m.json["meshes"].size()}});
    m.json["scenes"][0]["nodes"].push_back(m.json["nodes"].size() - 1);
    m.json["meshes"].push_back(mesh);
    const io::Scene scene = must_read(m);
    ASSERT_EQ(scene.positions.size(), 4u);
    const auto kept = json_of(must_save(scene, *scene.weights));
    EXPECT_TRUE(kept["meshes"][1]["primitives"][0].contains("extensions"));
    EXPECT_EQ(kept["extensionsUsed"], OrderedJson({"KHR_draco_mesh_compression"}));
    io::SaveOptions plain;
    plain.decompress = true;
    const auto saved = io::save_glb_bytes(scene, *scene.weights, plain);
    ASSERT_TRUE(saved.ok()) << saved.error().message;
    const OrderedJson json = json_of(*saved);
    EXPECT_EQ(json.dump().find("draco"), std::string::npos);
    EXPECT_FALSE(json.contains("extensionsUsed"));
    const OrderedJson& rigid = json["meshes"][1]["primitives"][0];
    EXPECT_EQ(json["accessors"][rigid["attributes"]["POSITION"].get<std::size_t>()]["max"], OrderedJson({2, 2, 0}));
    EXPECT_EQ(values_of<std::uint8_t>(*saved, rigid["attributes"]["JOINTS_0"]).size(), 16u);
    expect_same_weights(must_read(*saved), *scene.weights);
}

TEST(GltfWriter, WritesDracoWithoutAnAccessorForIndices) {
    Maker m = draco_quad();
    primitive(m).erase("indices");
    const io::Scene scene = must_read(m);
    EXPECT_EQ(scene.triangles.size(), 2u);
    EXPECT_EQ(must_read(must_save(scene, *scene.weights)).triangles, scene.triangles);
}

TEST(GltfWriter, WritesDracoPrimitivesThatShareAnAccessor) {
    // For compressed primitives an accessor only states the type of the data.
    Maker m = draco_quad();
    Maker twice = draco_quad(2);
    const std::size_t view = primitive(twice)["extensions"]["KHR_draco_mesh_compression"]["bufferView"];
    m.json["meshes"][0]["primitives"].push_back(primitive(m));
    m.json["meshes"][0]["primitives"][1]["extensions"]["KHR_draco_mesh_compression"]["bufferView"] =
        m.view(view_bytes(twice.json, twice.bin, view));
    const io::Scene scene = must_read(m);
    ASSERT_EQ(scene.positions.size(), 8u);
    EXPECT_EQ(scene.positions[6], (Vec3{2, 2, 0}));
    const Bytes saved = must_save(scene, spread_weights(scene, 2));
    const io::Scene again = must_read(saved);
    EXPECT_EQ(again.positions, scene.positions);
    EXPECT_EQ(again.triangles, scene.triangles);
    const OrderedJson json = json_of(saved);
    EXPECT_EQ(unused_objects(json), 2u);  // two views that were unused before
    const std::size_t second = json["meshes"][0]["primitives"][1]["attributes"]["POSITION"];
    EXPECT_NE(second, 0u);
    EXPECT_EQ(json["accessors"][second]["max"], OrderedJson({2, 2, 0}));
}

TEST(GltfWriter, DracoBoundsAreThoseOfTheData) {
    // Bounds of all accessors, as some writers state them, of the data before compression.
    Maker m = draco_quad();
    m.json["accessors"][1].update({{"min", {1}}, {"max", {9}}});
    m.json["accessors"][5].update({{"min", {0, 2, 3}}, {"max", {255, 11, 12}}});
    const io::Scene scene = must_read(m);
    const Bytes saved = must_save(scene, *scene.weights);
    const OrderedJson json = json_of(saved);
    EXPECT_EQ(json["accessors"][0]["min"], OrderedJson({0, 0, 0}));
    EXPECT_EQ(json["accessors"][0]["max"], OrderedJson({1, 1, 0}));
    EXPECT_EQ(json["accessors"][1]["min"], OrderedJson::array({0}));
    EXPECT_EQ(json["accessors"][1]["max"], OrderedJson({3}));
    EXPECT_EQ(json["accessors"][5]["min"], OrderedJson({1, 2, 3}));
    EXPECT_EQ(json["accessors"][5]["max"], OrderedJson({10, 11, 12}));
    for (const std::size_t replaced : {3, 4}) EXPECT_FALSE(json["accessors"][replaced].contains("min"));
}

TEST(GltfWriter, RefusesDamagedDraco) {
    const Maker m = draco_quad();
    const std::size_t view =
        primitive(const_cast<Maker&>(m))["extensions"]["KHR_draco_mesh_compression"]["bufferView"];
    const std::size_t at = m.json["bufferViews"][view]["byteOffset"],
                      size = m.json["bufferViews"][view]["byteLength"];
    for (std::size_t i = 0; i < size; ++i)
        for (const int value : {0, 0x7f, 0xff}) {
            Maker damaged = m;
            damaged.bin[at + i] = static_cast<std::byte>(value);
            const auto scene = io::load_bytes(damaged.glb(), "t.glb");
            if (!scene) {
                EXPECT_FALSE(scene.error().message.empty());
            }
        }
    Maker wrong = m;
    wrong.json["accessors"][0]["count"] = 5;
    EXPECT_NE(refusal(wrong).find("KHR_draco_mesh_compression"), std::string::npos);
    wrong = m;
    wrong.json["accessors"][1]["componentType"] = 5146;
    EXPECT_NE(refusal(wrong).find("does not fit 2 triangles"), std::string::npos);
    wrong = m;
    primitive(wrong)["extensions"]["KHR_draco_mesh_compression"]["attributes"]["POSITION"] = 77;
    EXPECT_NE(refusal(wrong).find("no such attribute"), std::string::npos);
}

}  // namespace
}  // namespace sinew::test::test_gltf_writer
