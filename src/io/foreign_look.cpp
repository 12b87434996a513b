// Images and materials of a foreign scene.
#include <algorithm>

#include "io/foreign_parts.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

void write_images(const ForeignScene& scene, Builder& builder) {
    for (const ForeignImage& image : scene.images) {
        const bool png = as_text(image.bytes).starts_with("\x89PNG");
        const std::size_t view = builder.view(image.bytes.data(), image.bytes.size(), {});
        Json out{{"bufferView", view}, {"mimeType", png ? "image/png" : "image/jpeg"}};
        if (!image.name.empty()) out["name"] = image.name;
        builder.push("images", std::move(out));
        builder.push("textures", Json{{"source", builder.root()["images"].size() - 1}});
    }
}

void write_materials(const ForeignScene& scene, Builder& builder) {
    const auto share = [](float x) { return x > 0 ? std::min(x, 1.f) : 0.f; };
    for (const ForeignMaterial& m : scene.materials) {
        Json pbr{{"metallicFactor", share(m.metallic)}, {"roughnessFactor", share(m.roughness)}};
        std::array<float, 4> color = m.base_color;
        // A texture replaces the colour: exporters of these formats leave black or grey there.
        if (m.base_image != ForeignMaterial::none) {
            pbr["baseColorTexture"] = Json{{"index", m.base_image}};
            color = {1, 1, 1, color[3]};
        }
        pbr["baseColorFactor"] = {share(color[0]), share(color[1]), share(color[2]), share(color[3])};
        Json out{{"pbrMetallicRoughness", std::move(pbr)}};
        if (!m.name.empty()) out["name"] = m.name;
        if (m.normal_image != ForeignMaterial::none) out["normalTexture"] = Json{{"index", m.normal_image}};
        if (m.emissive_image != ForeignMaterial::none) {
            out["emissiveTexture"] = Json{{"index", m.emissive_image}};
            out["emissiveFactor"] = {1, 1, 1};
        } else if (share(m.emissive[0]) + share(m.emissive[1]) + share(m.emissive[2]) > 0) {
            out["emissiveFactor"] = {share(m.emissive[0]), share(m.emissive[1]), share(m.emissive[2])};
        }
        if (share(color[3]) < 1) out["alphaMode"] = "BLEND";
        if (m.two_sided) out["doubleSided"] = true;
        builder.push("materials", std::move(out));
    }
}

}  // namespace

void write_look(const ForeignScene& scene, Builder& builder) {
    write_images(scene, builder);
    write_materials(scene, builder);
}

std::size_t add_image(ForeignScene& scene, std::string uri, std::vector<std::byte> bytes, ModelFiles& files) {
    // Paths are those of the author's machine: try the relative path, then the folder of the model.
    std::replace(uri.begin(), uri.end(), '\\', '/');
    if (bytes.empty() && !files.folder().empty())
        for (const std::string& candidate : {uri, uri.substr(uri.rfind('/') + 1)}) {
            const auto path = files.place_of(candidate, "", "");
            if (!path) continue;
            std::error_code ignored;
            if (!std::filesystem::is_regular_file(*path, ignored)) continue;
            const auto read = files.read_now(*path);
            if (!read) continue;
            bytes = **read;
            break;
        }
    const std::string_view start = as_text(bytes);
    const bool known = start.starts_with("\x89PNG") || start.starts_with("\xff\xd8\xff");
    if (!known) {
        scene.warnings.push_back("the texture " + printable(uri) +
                                 (bytes.empty() ? " is neither in the file nor beside it: left out"
                                                : " is neither PNG nor JPEG, the formats of glTF: left out"));
        return ForeignMaterial::none;
    }
    std::string name = std::filesystem::path(uri).stem().string();
    if (name.starts_with('*')) name.clear();
    scene.images.push_back({std::move(name), std::move(bytes)});
    return scene.images.size() - 1;
}

}  // namespace sinew::io
