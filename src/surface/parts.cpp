#include "surface/parts.h"

#include <numbers>

#include "core/solid_angle.h"

namespace sinew {

std::vector<SurfacePart> split_parts(const MeshView& mesh, const MeshSurface& surface) {
    std::vector<SurfacePart> parts(surface.components);
    for (const Triangle& t : mesh.triangles) {
        SurfacePart& part = parts[surface.component[surface.node_of[t[0]]]];
        part.triangles.push_back(t);
        for (const std::uint32_t v : t) part.box.add(to_point(mesh.positions[v]));
    }
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
