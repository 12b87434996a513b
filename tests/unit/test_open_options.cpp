// snw_open_options: what is said of a file beside its bytes. docs/notes/files.md.
#include <gtest/gtest.h>

#include "gltf_maker.h"
#include "sinew.h"

namespace sinew::test_open_options {
namespace {

using test::Bytes;
using test::Maker;

/// The model with weights of closest-distance, saved.
OrderedJson bound(const Bytes& bytes, const char* name, snw_open_options options) {
    options.size = sizeof options;
    snw_model* model = nullptr;
    snw_settings* settings = nullptr;
    snw_binding* binding = nullptr;
    snw_weights* weights = nullptr;
    snw_bytes* out = nullptr;
    EXPECT_EQ(snw_model_open_with(bytes.data(), bytes.size(), name, &options, nullptr, &model), SNW_OK)
        << snw_error();
    EXPECT_EQ(snw_settings_new(&settings), SNW_OK);
    EXPECT_EQ(snw_settings_set(settings, "method", "closest-distance"), SNW_OK);
    EXPECT_EQ(snw_settings_set(settings, "fit-check", "off"), SNW_OK);
    EXPECT_EQ(snw_bind(model, settings, nullptr, &binding), SNW_OK) << snw_error();
    EXPECT_EQ(snw_weights_of(binding, model, settings, nullptr, 0, nullptr, nullptr, &weights), SNW_OK)
        << snw_error();
    EXPECT_EQ(snw_save_glb(model, weights, settings, nullptr, &out), SNW_OK) << snw_error();
    OrderedJson json;
    if (out) {
        const auto* data = reinterpret_cast<const std::byte*>(snw_bytes_data(out));
        json = OrderedJson::parse(test::text_of(Bytes(data, data + snw_bytes_size(out))));
    }
    snw_bytes_free(out);
    snw_weights_free(weights);
    snw_binding_free(binding);
    snw_settings_free(settings);
    snw_model_free(model);
    return json;
}

TEST(OpenOptions, WithClipsWritesTheAnimationsOfTheSkeleton) {
    Maker rig = test::quad();
    const std::size_t times = rig.scalar(std::vector<float>{0, 1});
    rig.last_accessor().update({{"min", {0}}, {"max", {1}}});
    const std::size_t places = rig.vec3({0, 0.5f, 0, 0, 0.7f, 0});
    rig.json["animations"] = OrderedJson::array(
        {{{"name", "nod"},
          {"samplers", {{{"input", times}, {"output", places}}}},
          {"channels", {{{"sampler", 0}, {"target", {{"node", 2}, {"path", "translation"}}}}}}}});
    const Bytes skeleton = rig.glb(), mesh = test::as_bytes("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
    snw_open_options options{};
    options.skeleton = skeleton.data();
    options.skeleton_size = skeleton.size();
    EXPECT_FALSE(bound(mesh, "m.obj", options).contains("animations"));
    options.with_clips = 1;
    EXPECT_EQ(bound(mesh, "m.obj", options).at("animations").at(0).at("name"), "nod");

    const std::string bones = R"({"bones": [{"name": "a", "head": [0, 0, 0]}]})";
    snw_model* model = nullptr;
    for (const bool none : {false, true}) {
        options.skeleton = none ? nullptr : bones.data();
        options.skeleton_size = none ? 0 : bones.size();
        EXPECT_EQ(snw_model_open_with(mesh.data(), mesh.size(), "m.obj", &options, nullptr, &model), SNW_USAGE);
        EXPECT_EQ(model, nullptr);
    }
}

TEST(OpenOptions, OnlyMissingBindsMeshesWithoutASkin) {
    Maker file = test::quad();
    file.json["nodes"].push_back({{"mesh", 0}});
    file.json["scenes"][0]["nodes"].push_back(file.json["nodes"].size() - 1);
    snw_open_options options{};
    EXPECT_EQ(bound(file.glb(), "q.glb", options).at("skins").size(), 1u);
    options.only_missing = 1;
    const OrderedJson json = bound(file.glb(), "q.glb", options);
    EXPECT_EQ(json.at("skins").size(), 2u);
    EXPECT_TRUE(json.at("nodes").back().contains("skin"));
}

}  // namespace
}  // namespace sinew::test_open_options
