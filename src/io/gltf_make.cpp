// A document from plain arrays: one mesh with its normals. Saving adds the skeleton, as for any static mesh with a
// skeleton from another file.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/try.h"
#include "io/formats.h"
#include "io/gltf_scene.h"

namespace sinew::io {

namespace {

/// Smooth normals, weighted by the areas of faces. Vertices at one position are not merged. If no face has an area,
/// the normal points up: glTF requires a unit vector.
std::vector<Vec3> smooth_normals(const std::vector<Vec3>& positions, const std::vector<Triangle>& triangles) {
    std::vector<std::array<double, 3>> sums(positions.size(), {0, 0, 0});
    for (const Triangle& t : triangles) {
        const Vec3 &a = positions[t[0]], &b = positions[t[1]], &c = positions[t[2]];
        const double u[3] = {double(b.x) - a.x, double(b.y) - a.y, double(b.z) - a.z};
        const double v[3] = {double(c.x) - a.x, double(c.y) - a.y, double(c.z) - a.z};
        const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        for (const std::uint32_t i : t)
            for (std::size_t k = 0; k < 3; ++k) sums[i][k] += n[k];
    }
    std::vector<Vec3> out(positions.size(), Vec3{0, 1, 0});
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto& s = sums[i];
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
                                                const std::vector<Triangle>& triangles, const std::string& name) {
    if (positions.empty() || triangles.empty()) return input_error(name, "the mesh has no triangles");
    Vec3 low = positions[0], high = positions[0];
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const Vec3& p = positions[i];
        if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z))
            return input_error(name,
                               "vertex " + std::to_string(i) + ": its position is not finite (repair the mesh)");
        low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (const std::uint32_t i : triangles[t])
            if (i >= positions.size())
                return input_error(name, "triangle " + std::to_string(t) + ": vertex " + std::to_string(i) +
                                             " of " + std::to_string(positions.size()));

    const std::vector<Vec3> normals = smooth_normals(positions, triangles);
    std::vector<std::byte> data;
    Json views = Json::array();
    const auto append = [&](const void* bytes, std::size_t size, int target) {
        views.push_back(Json{{"buffer", 0}, {"byteOffset", data.size()}, {"byteLength", size}, {"target", target}});
        const auto* from = static_cast<const std::byte*>(bytes);
        data.insert(data.end(), from, from + size);
    };
    append(positions.data(), positions.size() * sizeof(Vec3), 34962);
    append(normals.data(), normals.size() * sizeof(Vec3), 34962);
    append(triangles.data(), triangles.size() * sizeof(Triangle), 34963);

    std::string title = std::filesystem::path(name).stem().string();
    if (title.empty()) title = "mesh";
    Json root{
        {"asset", {{"version", "2.0"}, {"generator", "sinew"}}},
        {"scene", 0},
        {"scenes", {{{"nodes", {0}}}}},
        {"nodes", {{{"name", title}, {"mesh", 0}}}},
        {"meshes",
         {{{"name", title}, {"primitives", {{{"attributes", {{"POSITION", 0}, {"NORMAL", 1}}}, {"indices", 2}}}}}}},
        {"accessors",
         {{{"bufferView", 0},
           {"componentType", 5126},
           {"count", positions.size()},
           {"type", "VEC3"},
           {"min", {low.x, low.y, low.z}},
           {"max", {high.x, high.y, high.z}}},
          {{"bufferView", 1}, {"componentType", 5126}, {"count", positions.size()}, {"type", "VEC3"}},
          {{"bufferView", 2}, {"componentType", 5125}, {"count", triangles.size() * 3}, {"type", "SCALAR"}}}},
        {"bufferViews", std::move(views)},
        {"buffers", {{{"byteLength", data.size()}}}},
    };
    // A name may have any bytes; those that are not UTF-8 are replaced.
    const std::string text = root.dump(-1, ' ', false, Json::error_handler_t::replace);

    auto document = std::make_shared<Document>();
    document->name = name;
    document->glb = true;
    auto json = parse_json(text, name);
    if (!json) return Error{ErrorCode::internal, json.error().message};
    document->json = std::move(*json);
    document->text = text;
    document->bin_chunk = 0;
    document->chunks.push_back({0x004E4942, {}});
    document->buffers.push_back({Document::Origin::bin, std::move(data)});
    return document;
}

}  // namespace sinew::io
