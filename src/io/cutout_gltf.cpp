// A flat figure as glTF: textured planes with skins.
#include <cmath>

#include "core/try.h"
#include "io/gltf_builder.h"
#include "sinew/cutout_files.h"

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

/// Writes a figure: a node for every joint, and a textured mesh with a skin for every layer.
class FigureWriter {
public:
    FigureWriter(const CutoutFigure& figure, std::span<const CutoutPart> parts, const CutoutGltfOptions& options)
        : figure_(figure), parts_(parts), options_(options), scale_(1 / options.pixels_per_unit) {}

    Result<std::vector<std::byte>> run(bool glb) {
        Json& root = builder_.root();
        root["extensionsUsed"] = {"KHR_materials_unlit"};
        root["scene"] = 0;
        add_joints();
        root["samplers"] =
            Json::array({{{"magFilter", 9729}, {"minFilter", 9987}, {"wrapS", 33071}, {"wrapT", 33071}}});
        for (std::size_t l = 0; l < parts_.size(); ++l) add_layer(l);
        root["scenes"] = Json::array({{{"nodes", std::move(top_nodes_)}}});
        SINEW_TRY_LET(auto file, builder_.file("the figure", !glb));
        if (glb) return glb_bytes(file.text, file.data);
        const auto bytes = std::as_bytes(std::span(file.text));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    }

private:
    std::array<float, 2> position(std::size_t joint) const {
        const Vec3& p = figure_.skeleton.joints[joint].position;
        return {static_cast<float>(p.x * scale_), static_cast<float>(p.y * scale_)};
    }

    // Nodes without rotation. Translations are differences of positions as floats.
    void add_joints() {
        const std::vector<Joint>& joints = figure_.skeleton.joints;
        std::vector<Json> children(joints.size(), Json::array());
        for (std::size_t j = 0; j < joints.size(); ++j) {
            if (joints[j].parent < 0)
                top_nodes_.push_back(j);
            else
                children[static_cast<std::size_t>(joints[j].parent)].push_back(j);
        }
        for (std::size_t j = 0; j < joints.size(); ++j) {
            const auto p = position(j);
            std::array<double, 2> from{0, 0};
            if (joints[j].parent >= 0) {
                const auto q = position(static_cast<std::size_t>(joints[j].parent));
                from = {q[0], q[1]};
            }
            Json node{{"name", joints[j].name}, {"translation", {p[0] - from[0], p[1] - from[1], 0}}};
            if (!children[j].empty()) node["children"] = std::move(children[j]);
            if (const auto& tail = joints[j].tail)  // `sinew bind` then has the same bones
                node["extras"][tail_key] = {static_cast<float>(tail->x * scale_) - p[0],
                                            static_cast<float>(tail->y * scale_) - p[1], 0};
            builder_.push("nodes", std::move(node));
        }
    }

    void add_layer(std::size_t number) {
        const CutoutLayer& layer = figure_.layers[number];
        Json attributes = make_attributes(number);
        Json skin = make_skin(layer);
        Json material = make_material(layer);
        std::vector<std::uint32_t> indices;
        for (const Triangle& t : parts_[number].mesh.triangles) indices.insert(indices.end(), t.begin(), t.end());
        Json primitive{{"attributes", std::move(attributes)},
                       {"indices", builder_.accessor(indices, 5125, "SCALAR", 1, indices_target)},
                       {"material", builder_.push("materials", std::move(material))}};
        const std::size_t mesh =
            builder_.push("meshes", {{"name", layer.name}, {"primitives", Json::array({std::move(primitive)})}});
        top_nodes_.push_back(builder_.push(
            "nodes", {{"name", layer.name}, {"mesh", mesh}, {"skin", builder_.push("skins", std::move(skin))}}));
    }

    // Later layers are nearer to the viewer.
    Json make_attributes(std::size_t number) {
        const CutoutPart& part = parts_[number];
        const double z = static_cast<double>(number) * (0.001 * scale_ * std::max(figure_.width, figure_.height));
        std::vector<float> positions, uvs;
        for (const Vec3& p : part.mesh.positions)
            positions.insert(positions.end(), {static_cast<float>(p.x * scale_), static_cast<float>(p.y * scale_),
                                               static_cast<float>(z)});
        for (const auto& uv : part.mesh.uvs) uvs.insert(uvs.end(), uv.begin(), uv.end());
        Json attributes{{"POSITION", builder_.bounded(positions, "VEC3", 3, vertices_target)},
                        {"TEXCOORD_0", builder_.accessor(uvs, 5126, "VEC2", 2, vertices_target)}};
        add_weights(builder_, part.weights, figure_.layers[number].joints, attributes);
        return attributes;
    }

    Json make_skin(const CutoutLayer& layer) {
        std::vector<float> bind;
        for (const std::uint32_t j : layer.joints) {
            const auto p = position(j);
            bind.insert(bind.end(), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -p[0], -p[1], 0, 1});
        }
        return {{"name", layer.name},
                {"joints", layer.joints},
                {"inverseBindMatrices", builder_.accessor(bind, 5126, "MAT4", 16, std::nullopt)}};
    }

    Json make_material(const CutoutLayer& layer) {
        const std::size_t image = builder_.push(
            "images", {{"name", layer.name},
                       {"mimeType", "image/png"},
                       {"bufferView", builder_.view(layer.png.data(), layer.png.size(), std::nullopt)}});
        const std::size_t texture = builder_.push("textures", {{"sampler", 0}, {"source", image}});
        Json material{{"name", layer.name},
                      {"doubleSided", true},
                      {"alphaMode", options_.alpha_mode == AlphaMode::mask ? "MASK" : "BLEND"},
                      {"pbrMetallicRoughness",
                       {{"baseColorTexture", {{"index", texture}}}, {"metallicFactor", 0}, {"roughnessFactor", 1}}},
                      {"extensions", {{"KHR_materials_unlit", Json::object()}}}};
        if (options_.alpha_mode == AlphaMode::mask) material["alphaCutoff"] = options_.alpha_cutoff;
        return material;
    }

    const CutoutFigure& figure_;
    const std::span<const CutoutPart> parts_;
    const CutoutGltfOptions& options_;
    const double scale_;  // units per pixel
    Builder builder_;
    Json top_nodes_ = Json::array();
};

}  // namespace

Result<std::vector<std::byte>> cutout_gltf(const CutoutFigure& figure, std::span<const CutoutPart> parts,
                                           const CutoutGltfOptions& options, bool glb) {
    if (!(options.pixels_per_unit > 0 && std::isfinite(options.pixels_per_unit)))
        return Error{ErrorCode::usage, "pixels per unit must be above 0"};
    return FigureWriter(figure, parts, options).run(glb);
}

}  // namespace sinew::io
