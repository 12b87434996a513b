// Materials, textures and texture coordinates, for viewers.
#include <gtest/gtest.h>

#include "gltf_maker.h"

namespace sinew::test_gltf_look {
namespace {

using namespace test;

io::Look look(const io::Scene& scene) {
    auto out = io::look_of(scene);
    EXPECT_TRUE(out.ok()) << (out ? "" : out.error().message);
    return out ? std::move(*out) : io::Look{};
}

/// The quad with a material whose base colour is a picture.
Maker dressed() {
    Maker m = quad();
    OrderedJson& primitive = m.json["meshes"][0]["primitives"][0];
    primitive["material"] = 1;
    primitive["attributes"]["TEXCOORD_1"] = m.accessor(std::vector<float>{0, 0, 1, 0, 1, 1, 0, 0.25f}, "VEC2", 2);
    // Only the first bytes of a PNG: the library does not decode pictures.
    m.json["images"] =
        OrderedJson::array({{{"uri", "data:image/png;base64,iVBORw=="}}, {{"uri", "elsewhere.png"}}});
    m.json["samplers"] = OrderedJson::array({{{"wrapS", 33071}}});
    m.json["textures"] = OrderedJson::array({{{"source", 0}, {"sampler", 0}}});
    m.json["materials"] = OrderedJson::array(
        {{{"name", "plain"}},
         {{"name", "skin"},
          {"doubleSided", true},
          {"alphaMode", "MASK"},
          {"alphaCutoff", 0.25},
          {"pbrMetallicRoughness",
           {{"baseColorFactor", {1, 0.5, 0.25, 1}},
            {"baseColorTexture",
             {{"index", 0},
              {"texCoord", 1},
              {"extensions", {{"KHR_texture_transform", {{"offset", {0.5, 0}}, {"rotation", 0.1}}}}}}}}}}});
    return m;
}

TEST(GltfLook, ReadsColoursTexturesAndPlacesInThem) {
    const io::Look l = look(must_read(dressed()));
    ASSERT_EQ(l.material_of_primitive, std::vector<int>{1});
    ASSERT_EQ(l.materials.size(), 2u);
    EXPECT_EQ(l.materials[0].image, -1);
    const io::Look::Material& m = l.materials[1];
    EXPECT_EQ(m.colour, (std::array<float, 4>{1, 0.5f, 0.25f, 1}));
    EXPECT_EQ(m.image, 0);
    EXPECT_FALSE(m.repeats);
    EXPECT_EQ(m.offset, (std::array<float, 2>{0.5f, 0}));
    EXPECT_EQ(m.scale, (std::array<float, 2>{1, 1}));
    EXPECT_FLOAT_EQ(m.rotation, 0.1f);
    EXPECT_EQ(m.cutoff, 0.25f);
    EXPECT_TRUE(m.double_sided);
    EXPECT_FALSE(m.blends);
    ASSERT_EQ(l.uvs.size(), 4u);
    EXPECT_EQ(l.uvs[3], (std::array<float, 2>{0, 0.25f}));
    ASSERT_EQ(l.images.size(), 2u);
    EXPECT_EQ(l.images[0].mime, "image/png");
    EXPECT_EQ(l.images[0].bytes.size(), 4u);
    EXPECT_EQ(l.images[1].mime, "") << "no file may be read";
}

TEST(GltfLook, AModelWithoutMaterialsHasNone) {
    const io::Look l = look(must_read(quad()));
    EXPECT_EQ(l.material_of_primitive, std::vector<int>{-1});
    EXPECT_TRUE(l.uvs.empty() && l.materials.empty() && l.images.empty());
}

TEST(GltfLook, InvalidValuesAreLeftOut) {
    Maker m = dressed();
    m.json["materials"][1]["pbrMetallicRoughness"]["baseColorTexture"]["index"] = 7;
    m.json["materials"][1]["pbrMetallicRoughness"]["baseColorFactor"] = {1, "red"};
    m.json["meshes"][0]["primitives"][0]["attributes"].erase("TEXCOORD_1");
    const io::Look l = look(must_read(m));
    EXPECT_EQ(l.materials[1].image, -1);
    EXPECT_EQ(l.materials[1].colour, (std::array<float, 4>{1, 1, 1, 1}));
    EXPECT_TRUE(l.uvs.empty());

    Maker far = dressed();
    far.json["meshes"][0]["primitives"][0]["material"] = 99;
    EXPECT_EQ(look(must_read(far)).material_of_primitive, std::vector<int>{-1});
}

TEST(GltfLook, ABadAccessorIsAnErrorThatNamesIt) {
    Maker m = dressed();
    m.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_1"] = 99;
    const auto read = io::look_of(must_read(m));
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().message.find("TEXCOORD_1"), std::string::npos) << read.error().message;
}

}  // namespace
}  // namespace sinew::test_gltf_look
