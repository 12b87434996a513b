// A document from plain arrays: one mesh with its normals. Saving adds the skeleton, as for any static mesh with a
// skeleton from another file.
#include <cmath>
#include <cstring>
#include <map>

#include "core/try.h"
#include "io/formats.h"
#include "io/gltf_builder.h"
#include "io/gltf_scene.h"

namespace sinew::io {

namespace {

/// The normals of the look, else smooth ones, weighted by the areas of faces; vertices at one position are only
/// merged where the look says so. If no face has an area, the normal points up: glTF requires a unit vector.
std::vector<Vec3> normals_of(const std::vector<Vec3>& positions, const std::vector<Triangle>& triangles,
                             const MeshLook& look) {
    const auto same = [&](std::size_t i) { return look.same_as.empty() ? i : look.same_as[i]; };
    std::vector<std::array<double, 3>> sums(positions.size(), {0, 0, 0});
    for (const Triangle& t : triangles) {
        const Vec3 &a = positions[t[0]], &b = positions[t[1]], &c = positions[t[2]];
        const double u[3] = {double(b.x) - a.x, double(b.y) - a.y, double(b.z) - a.z};
        const double v[3] = {double(c.x) - a.x, double(c.y) - a.y, double(c.z) - a.z};
        const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        for (const std::uint32_t i : t)
            for (std::size_t k = 0; k < 3; ++k) sums[same(i)][k] += n[k];
    }
    std::vector<Vec3> out(positions.size(), Vec3{0, 1, 0});
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::array<double, 3> s = sums[same(i)];
        if (!look.normals.empty())
            if (const Vec3& own = look.normals[i]; !(own == Vec3{})) s = {own.x, own.y, own.z};
        const double length = std::sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
        if (!(length > 0) || !std::isfinite(length)) continue;
        out[i] = {static_cast<float>(s[0] / length), static_cast<float>(s[1] / length),
                  static_cast<float>(s[2] / length)};
    }
    return out;
}

}  // namespace

Result<Scene> make_scene(std::vector<Vec3> positions, std::vector<Triangle> triangles, Skeleton skeleton,
                         const std::string& name) {
    SINEW_TRY_LET(auto document, mesh_document(positions, triangles, name));
    return read_scene(std::move(document), {std::move(skeleton)});
}

Result<std::shared_ptr<Document>> mesh_document(const std::vector<Vec3>& positions,
                                                const std::vector<Triangle>& triangles, const std::string& name,
                                                const MeshLook& look) {
    if (positions.empty() || triangles.empty()) return input_error(name, "the mesh has no triangles");
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const Vec3& p = positions[i];
        if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z))
            return input_error(name,
                               "vertex " + std::to_string(i) + ": its position is not finite (repair the mesh)");
    }
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (const std::uint32_t i : triangles[t])
            if (i >= positions.size())
                return input_error(name, "triangle " + std::to_string(t) + ": vertex " + std::to_string(i) +
                                             " of " + std::to_string(positions.size()));

    Builder builder;
    const auto floats = [](const auto& rows, std::size_t width) {
        std::vector<float> out(rows.size() * width);
        if (!out.empty()) std::memcpy(out.data(), rows.data(), out.size() * sizeof(float));
        return out;
    };
    Json attributes{{"POSITION", builder.bounded(floats(positions, 3), "VEC3", 3, vertices_target)}};
    attributes["NORMAL"] =
        builder.accessor(normals_of(positions, triangles, look), 5126, "VEC3", 3, vertices_target);
    if (!look.uvs.empty())
        attributes["TEXCOORD_0"] = builder.accessor(floats(look.uvs, 2), 5126, "VEC2", 2, vertices_target);

    std::map<const void*, std::size_t> texture_of;
    for (const MeshLook::Material& m : look.materials) {
        Json surface{
            {"baseColorFactor", m.color}, {"metallicFactor", m.metallic}, {"roughnessFactor", m.roughness}};
        if (m.pixels) {
            const auto [texture, is_new] = texture_of.try_emplace(m.pixels.get(), texture_of.size());
            if (is_new)
                builder.push(
                    "textures",
                    {{"source",
                      builder.push("images", {{"bufferView", builder.view(m.pixels->data(), m.pixels->size(), {})},
                                              {"mimeType", image_kind(*m.pixels)}})}});
            surface["baseColorTexture"] = {{"index", texture->second}};
        }
        Json material{{"name", m.name}, {"pbrMetallicRoughness", std::move(surface)}};
        if (m.color[3] < 1) material["alphaMode"] = "BLEND";
        builder.push("materials", std::move(material));
    }

    std::vector<MeshLook::Part> parts = look.parts;
    if (parts.empty()) parts.push_back({"", -1, static_cast<std::uint32_t>(triangles.size())});
    Json primitives = Json::array();
    std::size_t first = 0;
    for (const MeshLook::Part& part : parts) {
        const auto begin = triangles.begin() + static_cast<std::ptrdiff_t>(first);
        const std::vector<Triangle> own(begin, begin + part.triangle_count);
        Json primitive{{"attributes", attributes},
                       {"indices", builder.accessor(own, 5125, "SCALAR", 1, indices_target)}};
        if (part.material >= 0) primitive["material"] = part.material;
        if (!part.group.empty()) primitive["extras"] = {{"group", part.group}};
        primitives.push_back(std::move(primitive));
        first += part.triangle_count;
    }
    std::string title = std::filesystem::path(name).stem().string();
    if (title.empty()) title = "mesh";
    builder.root()["scene"] = 0;
    builder.push("scenes", {{"nodes", {0}}});
    builder.push("nodes", {{"name", title}, {"mesh", 0}});
    builder.push("meshes", {{"name", title}, {"primitives", std::move(primitives)}});
    return builder.document(name);
}

}  // namespace sinew::io
