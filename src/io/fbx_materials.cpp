#include "io/fbx_materials.h"

#include <algorithm>
#include <cmath>

namespace sinew::io {

std::size_t FbxMaterials::number(std::size_t object, std::size_t model) {
    const auto [found, added] = of_object_.emplace(object, scene_.materials.size());
    if (added) scene_.materials.push_back(read(object, model));
    return found->second;
}

ForeignMaterial FbxMaterials::read(std::size_t object, std::size_t model) {
    ForeignMaterial out;
    out.name = objects_[object].name;
    const auto color = [&](const char* name, const char* factor, double otherwise) {
        auto value = objects_.triple(object, name, {otherwise, otherwise, otherwise});
        for (double& x : value) x *= objects_.number(object, factor, 1);
        return value;
    };
    const auto base = color("DiffuseColor", "DiffuseFactor", 1);
    const auto emissive = color("EmissiveColor", "EmissiveFactor", 0);
    const auto clear = color("TransparentColor", "TransparencyFactor", 0);
    double opacity = 1 - (clear[0] + clear[1] + clear[2]) / 3;
    opacity = objects_.number(object, "Opacity", opacity);
    for (std::size_t k = 0; k < 3; ++k) {
        out.base_color[k] = static_cast<float>(base[k]);
        out.emissive[k] = static_cast<float>(emissive[k]);
    }
    out.base_color[3] = static_cast<float>(opacity);
    // Blender's programs write it so, and read it back.
    if (const auto shininess = objects_.values(object, "Shininess"); !shininess.empty())
        out.roughness = static_cast<float>(
            std::clamp(1 - std::sqrt(std::max(0.0, objects_.number(object, "Shininess", 0))) / 10, 0.0, 1.0));
    // Beside the properties of the format: of Maya's standard surface and Stingray, and of 3ds Max's Physical
    // Material.
    out.base_image = image(
        object, {"DiffuseColor", "Maya|baseColor", "Maya|TEX_color_map|file", "3dsMax|Parameters|base_color_map"});
    out.normal_image = image(object, {"NormalMap", "Bump", "Maya|normalCamera", "Maya|TEX_normal_map|file",
                                      "3dsMax|Parameters|bump_map"});
    out.emissive_image = image(object, {"EmissiveColor", "Maya|emissionColor", "Maya|TEX_emissive_map|file",
                                        "3dsMax|Parameters|emit_color_map"});
    if (out.base_image == ForeignMaterial::none) out.base_image = image(model, {""});
    return out;
}

/// The image of the first texture of one of these properties.
std::size_t FbxMaterials::image(std::size_t object, std::initializer_list<std::string_view> properties) {
    for (const std::string_view property : properties)
        for (const FbxObjects::Link& link : objects_[object].sources) {
            std::size_t texture = link.object;
            if (link.property != property) continue;
            if (objects_[texture].is("LayeredTexture")) texture = objects_.source(texture, "Texture");
            if (texture == FbxObjects::missing || !objects_[texture].is("Texture")) continue;
            const auto [found, added] = image_of_texture_.emplace(texture, ForeignMaterial::none);
            if (added) found->second = find_image(texture);
            if (found->second != ForeignMaterial::none) return found->second;
        }
    return ForeignMaterial::none;
}

std::size_t FbxMaterials::find_image(std::size_t texture) {
    const FbxFile& file = objects_.file();
    std::string uri;
    std::vector<std::byte> bytes;
    for (const std::size_t object : {texture, objects_.source(texture, "Video")}) {
        if (object == FbxObjects::missing) continue;
        for (const char* const name : {"RelativeFilename", "FileName", "Filename"})
            if (const FbxRecord* found = objects_[object].record->find(name);
                uri.empty() && found && !found->values.empty())
                uri = file.text(found->values[0]);
        if (const FbxRecord* content = objects_[object].record->find("Content")) bytes = file.raw(*content);
    }
    return add_image(scene_, std::move(uri), std::move(bytes), files_);
}

}  // namespace sinew::io
