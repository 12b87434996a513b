// A flat figure as glTF: textured planes with skins.
#include <cmath>

#include "io/gltf_builder.h"
#include "sinew/cutout.h"

namespace sinew::io {

namespace {

/// JOINTS_n and WEIGHTS_n of a layer, four influences a set. Joints are numbers in the layer's skin.
void add_weights(Builder& builder, const SkinWeights& weights, const std::vector<std::uint32_t>& joints,
                 Json& attributes) {
    const std::size_t sets = std::max<std::size_t>(1, (weights.max_influences() + 3) / 4);
    for (std::size_t s = 0; s < sets; ++s) {
        std::vector<std::uint16_t> joint(4 * weights.vertex_count(), 0);
        std::vector<float> weight(joint.size(), 0.0f);
        for (std::size_t v = 0; v < weights.vertex_count(); ++v)
            for (std::size_t k = 0; k < 4 && 4 * s + k < weights[v].size(); ++k) {
                const Influence& i = weights[v][4 * s + k];
                joint[4 * v + k] = static_cast<std::uint16_t>(
                    std::lower_bound(joints.begin(), joints.end(), i.joint) - joints.begin());
                weight[4 * v + k] = i.weight;
            }
        const std::string number = std::to_string(s);
        attributes["JOINTS_" + number] = builder.accessor(joint, 5123, "VEC4", 4, vertices_target);
        attributes["WEIGHTS_" + number] = builder.accessor(weight, 5126, "VEC4", 4, vertices_target);
    }
}

}  // namespace

Result<std::vector<std::byte>> cutout_gltf(const CutoutFigure& figure, std::span<const CutoutPart> parts,
                                           const CutoutGltfOptions& options, bool glb) {
    if (!(options.pixels_per_unit > 0 && std::isfinite(options.pixels_per_unit)))
        return Error{ErrorCode::usage, "pixels per unit must be above 0"};
    const double scale = 1 / options.pixels_per_unit;
    const std::vector<Joint>& joints = figure.skeleton.joints;
    Builder builder;
    Json& root = builder.root();
    root["extensionsUsed"] = {"KHR_materials_unlit"};
    root["scene"] = 0;

    // A node for every joint, without rotation. Translations are differences of positions as floats.
    const auto place = [&](std::size_t j) {
        return std::array<float, 2>{static_cast<float>(joints[j].position.x * scale),
                                    static_cast<float>(joints[j].position.y * scale)};
    };
    Json tops = Json::array();
    std::vector<Json> children(joints.size(), Json::array());
    for (std::size_t j = 0; j < joints.size(); ++j) {
        if (joints[j].parent < 0)
            tops.push_back(j);
        else
            children[static_cast<std::size_t>(joints[j].parent)].push_back(j);
    }
    for (std::size_t j = 0; j < joints.size(); ++j) {
        const auto p = place(j);
        std::array<double, 2> from{0, 0};
        if (joints[j].parent >= 0) {
            const auto q = place(static_cast<std::size_t>(joints[j].parent));
            from = {q[0], q[1]};
        }
        Json node{{"name", joints[j].name}, {"translation", {p[0] - from[0], p[1] - from[1], 0}}};
        if (!children[j].empty()) node["children"] = std::move(children[j]);
        if (const auto& tail = joints[j].tail)  // `sinew bind` then has the same bones
            node["extras"][tail_key] = {static_cast<float>(tail->x * scale) - p[0],
                                        static_cast<float>(tail->y * scale) - p[1], 0};
        builder.push("nodes", std::move(node));
    }

    root["samplers"] =
        Json::array({{{"magFilter", 9729}, {"minFilter", 9987}, {"wrapS", 33071}, {"wrapT", 33071}}});
    const double step = 0.001 * scale * std::max(figure.width, figure.height);
    for (std::size_t l = 0; l < parts.size(); ++l) {
        const CutoutLayer& layer = figure.layers[l];
        const CutoutPart& part = parts[l];
        std::vector<float> positions, uvs;
        for (const Vec3& p : part.mesh.positions)
            positions.insert(positions.end(), {static_cast<float>(p.x * scale), static_cast<float>(p.y * scale),
                                               static_cast<float>(static_cast<double>(l) * step)});
        for (const auto& uv : part.mesh.uvs) uvs.insert(uvs.end(), uv.begin(), uv.end());
        std::vector<std::uint32_t> indices;
        for (const Triangle& t : part.mesh.triangles) indices.insert(indices.end(), t.begin(), t.end());
        Json attributes{{"POSITION", builder.bounded(positions, "VEC3", 3, vertices_target)},
                        {"TEXCOORD_0", builder.accessor(uvs, 5126, "VEC2", 2, vertices_target)}};
        add_weights(builder, part.weights, layer.joints, attributes);

        std::vector<float> bind;
        for (const std::uint32_t j : layer.joints) {
            const auto p = place(j);
            bind.insert(bind.end(), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -p[0], -p[1], 0, 1});
        }
        Json skin{{"name", layer.name},
                  {"joints", layer.joints},
                  {"inverseBindMatrices", builder.accessor(bind, 5126, "MAT4", 16, std::nullopt)}};
        const std::size_t image = builder.push(
            "images", {{"name", layer.name},
                       {"mimeType", "image/png"},
                       {"bufferView", builder.view(layer.png.data(), layer.png.size(), std::nullopt)}});
        const std::size_t texture = builder.push("textures", {{"sampler", 0}, {"source", image}});
        Json material{{"name", layer.name},
                      {"doubleSided", true},
                      {"alphaMode", options.alpha_mode == AlphaMode::mask ? "MASK" : "BLEND"},
                      {"pbrMetallicRoughness",
                       {{"baseColorTexture", {{"index", texture}}}, {"metallicFactor", 0}, {"roughnessFactor", 1}}},
                      {"extensions", {{"KHR_materials_unlit", Json::object()}}}};
        if (options.alpha_mode == AlphaMode::mask) material["alphaCutoff"] = options.alpha_cutoff;
        Json primitive{{"attributes", std::move(attributes)},
                       {"indices", builder.accessor(indices, 5125, "SCALAR", 1, indices_target)},
                       {"material", builder.push("materials", std::move(material))}};
        const std::size_t mesh =
            builder.push("meshes", {{"name", layer.name}, {"primitives", Json::array({std::move(primitive)})}});
        tops.push_back(builder.push(
            "nodes", {{"name", layer.name}, {"mesh", mesh}, {"skin", builder.push("skins", std::move(skin))}}));
    }
    root["scenes"] = Json::array({{{"nodes", std::move(tops)}}});
    auto file = builder.file("the figure", !glb);
    if (!file) return file.error();
    if (glb) return glb_bytes(file->text, file->data);
    const auto bytes = std::as_bytes(std::span(file->text));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace sinew::io
