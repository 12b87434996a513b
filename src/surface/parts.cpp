#include "surface/parts.h"

#include <numbers>

#include "core/lists.h"
#include "core/solid_angle.h"

namespace sinew {

SurfaceParts split_parts(const MeshView& mesh, const MeshSurface& surface, Context* context) {
    SurfaceParts out{std::vector<SurfacePart>(surface.components), {}};
    for (std::uint32_t node = 0; node < surface.nodes(); ++node)
        out.part[surface.component[node]].box.add(to_point(surface.position[node]));
    if (surface.components == 1) {
        out.part[0].triangles = mesh.triangles;
        return out;
    }
    std::vector<std::uint32_t> part_of(mesh.triangles.size());
    parallel_for(context, part_of.size(), 4096,
                 [&](std::size_t t) { part_of[t] = surface.component[surface.node_of[mesh.triangles[t][0]]]; });
    const Lists of_part(surface.components, context, [&](const auto& to) {
        for (std::uint32_t t = 0; t < part_of.size(); ++t) to(part_of[t], t);
    });
    out.sorted.resize(mesh.triangles.size());
    parallel_for(context, out.sorted.size(), 4096,
                 [&](std::size_t i) { out.sorted[i] = mesh.triangles[of_part.value[i]]; });
    for (std::size_t p = 0; p < out.part.size(); ++p)
        out.part[p].triangles = std::span(out.sorted).subspan(of_part.first[p], of_part.of(p).size());
    return out;
}

double winding_number(const MeshView& mesh, std::span<const Triangle> triangles, const Point3& point) {
    SolidAngle angle;
    for (const Triangle& t : triangles)
        angle.add(to_point(mesh.positions[t[0]]) - point, to_point(mesh.positions[t[1]]) - point,
                  to_point(mesh.positions[t[2]]) - point);
    return angle.sum() / (4 * std::numbers::pi);
}

}  // namespace sinew
