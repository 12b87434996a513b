#include "surface/parts.h"

#include <numbers>

#include "core/lists.h"
#include "core/solid_angle.h"

namespace sinew {

std::vector<SurfacePart> split_parts(const MeshView& mesh, const MeshSurface& surface, Context* context) {
    std::vector<std::uint32_t> part_of(mesh.triangles.size());
    parallel_for(context, part_of.size(), 4096,
                 [&](std::size_t t) { part_of[t] = surface.component[surface.node_of[mesh.triangles[t][0]]]; });
    const Lists of_part(surface.components, context, [&](const auto& to) {
        for (std::uint32_t t = 0; t < part_of.size(); ++t) to(part_of[t], t);
    });
    std::vector<SurfacePart> parts(surface.components);
    parallel_for(context, parts.size(), 1, [&](std::size_t p) {
        parts[p].triangles.reserve(of_part.of(p).size());
        for (const std::uint32_t t : of_part.of(p)) {
            parts[p].triangles.push_back(mesh.triangles[t]);
            for (const std::uint32_t v : mesh.triangles[t]) parts[p].box.add(to_point(mesh.positions[v]));
        }
    });
    return parts;
}

double winding_number(const MeshView& mesh, std::span<const Triangle> triangles, const Point3& point) {
    SolidAngle angle;
    for (const Triangle& t : triangles)
        angle.add(to_point(mesh.positions[t[0]]) - point, to_point(mesh.positions[t[1]]) - point,
                  to_point(mesh.positions[t[2]]) - point);
    return angle.sum() / (4 * std::numbers::pi);
}

}  // namespace sinew
