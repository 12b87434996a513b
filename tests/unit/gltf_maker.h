// Small glTF documents, made in code, for the tests of reader and writer.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "core/base64.h"
#include "io/gltf_document.h"
#include "sinew/io.h"
#include "temporary_folder.h"

namespace sinew::test {

using Bytes = std::vector<std::byte>;

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
    Bytes out(values.size() * sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
    return out;
}

template <typename T>
constexpr int component_type() {
    if constexpr (std::is_same_v<T, std::int8_t>) return 5120;
    if constexpr (std::is_same_v<T, std::uint8_t>) return 5121;
    if constexpr (std::is_same_v<T, std::int16_t>) return 5122;
    if constexpr (std::is_same_v<T, std::uint16_t>) return 5123;
    if constexpr (std::is_same_v<T, std::uint32_t>) return 5125;
    return 5126;
}

inline Bytes as_bytes(const std::string& text) {
    Bytes out(text.size());
    if (!out.empty()) std::memcpy(out.data(), text.data(), out.size());
    return out;
}

inline std::string as_string(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline void put_u32(Bytes& out, std::size_t value) {
    for (int k = 0; k < 4; ++k) out.push_back(static_cast<std::byte>(value >> (8 * k) & 0xff));
}

/// A GLB of this JSON text and BIN chunk.
inline Bytes pack_glb(std::string text, Bytes bin) {
    text.resize((text.size() + 3) / 4 * 4, ' ');
    bin.resize((bin.size() + 3) / 4 * 4);
    Bytes out = as_bytes("glTF");
    put_u32(out, 2);
    put_u32(out, 12 + 8 + text.size() + (bin.empty() ? 0 : 8 + bin.size()));
    put_u32(out, text.size());
    for (const std::byte b : as_bytes("JSON" + text)) out.push_back(b);
    if (bin.empty()) return out;
    put_u32(out, bin.size());
    put_u32(out, 0x004E4942);
    out.insert(out.end(), bin.begin(), bin.end());
    return out;
}

/// The JSON text of a GLB, with its padding.
inline std::string text_of(const Bytes& glb) {
    std::uint32_t length = 0;
    std::memcpy(&length, glb.data() + 12, 4);
    return as_string(std::span(glb).subspan(20, length));
}

/// A document under construction: everything in buffer 0.
struct Maker {
    OrderedJson json{{"asset", {{"version", "2.0"}}},
                     {"accessors", OrderedJson::array()},
                     {"bufferViews", OrderedJson::array()}};
    Bytes bin;

    std::size_t view(const Bytes& bytes, std::size_t stride = 0) {
        bin.resize((bin.size() + 3) / 4 * 4);
        OrderedJson view{{"buffer", 0}, {"byteOffset", bin.size()}, {"byteLength", bytes.size()}};
        if (stride) view["byteStride"] = stride;
        bin.insert(bin.end(), bytes.begin(), bytes.end());
        json["bufferViews"].push_back(view);
        return json["bufferViews"].size() - 1;
    }
    template <typename T>
    std::size_t accessor(const std::vector<T>& values, const std::string& type, std::size_t width) {
        json["accessors"].push_back({{"bufferView", view(bytes_of(values))},
                                     {"componentType", component_type<T>()},
                                     {"count", values.size() / width},
                                     {"type", type}});
        return json["accessors"].size() - 1;
    }
    std::size_t vec3(const std::vector<float>& values) { return accessor(values, "VEC3", 3); }
    template <typename T>
    std::size_t vec4(const std::vector<T>& values) {
        return accessor(values, "VEC4", 4);
    }
    template <typename T>
    std::size_t scalar(const std::vector<T>& values) {
        return accessor(values, "SCALAR", 1);
    }
    OrderedJson& last_accessor() { return json["accessors"].back(); }

    std::string gltf(const std::string& uri = {}) const {
        OrderedJson out = json;
        const std::string data = "data:application/octet-stream;base64," + encode_base64(bin);
        out["buffers"] = OrderedJson::array({{{"byteLength", bin.size()}, {"uri", uri.empty() ? data : uri}}});
        return out.dump(1, '\t');
    }
    Bytes glb() const {
        OrderedJson out = json;
        out["buffers"] = OrderedJson::array({{{"byteLength", bin.size()}}});
        return pack_glb(out.dump(), bin);
    }
};

/// Matrices of joints at (0, y, 0).
inline std::vector<float> bind_matrices(std::initializer_list<float> heights, float scale = 1) {
    std::vector<float> out;
    for (const float y : heights)
        out.insert(out.end(), {scale, 0, 0, 0, 0, scale, 0, 0, 0, 0, scale, 0, 0, -y, 0, 1});
    return out;
}

inline const std::vector<float>& quad_positions() {
    static const std::vector<float> positions{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    return positions;
}

/// A quad on two joints, hip (0,0,0) and knee (0,0.5,0): nodes 0 (mesh), 1 (hip), 2 (knee).
inline Maker quad(bool weighted = true) {
    Maker m;
    const auto position = m.vec3(quad_positions());
    m.last_accessor()["min"] = {0, 0, 0};
    m.last_accessor()["max"] = {1, 1, 0};
    const auto index = m.scalar<std::uint16_t>({0, 1, 2, 0, 2, 3});
    OrderedJson attributes{{"POSITION", position}};
    if (weighted) {
        attributes["JOINTS_0"] = m.vec4<std::uint8_t>({0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0});
        attributes["WEIGHTS_0"] =
            m.vec4<float>({0.75f, 0.25f, 0, 0, 0.75f, 0.25f, 0, 0, 1, 0, 0, 0, 0.5f, 0.5f, 0, 0});
    }
    const auto matrices = m.accessor(bind_matrices({0, 0.5f}), "MAT4", 16);
    m.json["scene"] = 0;
    m.json["scenes"] = OrderedJson::array({{{"nodes", {0, 1}}}});
    m.json["nodes"] = OrderedJson::array({{{"name", "quad"}, {"mesh", 0}, {"skin", 0}},
                                          {{"name", "hip"}, {"children", {2}}},
                                          {{"name", "knee"}, {"translation", {0, 0.5, 0}}}});
    m.json["meshes"] = OrderedJson::array(
        {{{"name", "body"},
          {"primitives", OrderedJson::array({{{"attributes", attributes}, {"indices", index}}})}}});
    m.json["skins"] = OrderedJson::array({{{"inverseBindMatrices", matrices}, {"joints", {1, 2}}}});
    return m;
}

inline OrderedJson& primitive(Maker& m, std::size_t mesh = 0, std::size_t number = 0) {
    return m.json["meshes"][mesh]["primitives"][number];
}

/// Loads a scene; fails the test with the error if it cannot.
inline io::Scene must_read(const Bytes& bytes, const std::string& name = "test.glb") {
    auto scene = io::load_bytes(bytes, name);
    EXPECT_TRUE(scene.ok()) << (scene ? "" : scene.error().message);
    return scene ? std::move(*scene) : io::Scene{};
}
inline io::Scene must_read(const Maker& m) { return must_read(m.glb()); }

/// Expects that reading fails; returns the message.
inline std::string refusal(const Maker& m) {
    const auto scene = io::load_bytes(as_bytes(m.gltf()), "test.gltf");
    EXPECT_FALSE(scene.ok());
    return scene ? "" : scene.error().message;
}

/// Weights every vertex to the first joint of its skin, or to several joints in equal parts.
inline SkinWeights spread_weights(const io::Scene& scene, std::size_t joints = 1) {
    std::vector<std::uint32_t> counts;
    std::vector<Influence> influences;
    for (std::size_t v = 0; v < scene.positions.size(); ++v) {
        counts.push_back(static_cast<std::uint32_t>(joints));
        for (std::uint32_t j = 0; j < joints; ++j) {
            const bool limited = !scene.skin_of_vertex.empty();
            const std::uint32_t joint = limited ? scene.skeleton.skins[scene.skin_of_vertex[v]][j] : j;
            influences.push_back({joint, 1.0f / static_cast<float>(j + 2)});
        }
    }
    auto weights = SkinWeights::from_rows(counts, std::move(influences));
    EXPECT_TRUE(weights.ok());
    return std::move(*weights);
}

inline Bytes read_bytes(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return as_bytes(text);
}

}  // namespace sinew::test
