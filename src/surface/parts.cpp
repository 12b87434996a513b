#include "surface/parts.h"

#include <cmath>
#include <numbers>

#include "core/vectors.h"

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
    double sum = 0;
    for (const Triangle& t : triangles) {
        const Point3 a = to_point(mesh.positions[t[0]]) - point, b = to_point(mesh.positions[t[1]]) - point,
                     c = to_point(mesh.positions[t[2]]) - point;
        const double x = norm(a), y = norm(b), z = norm(c);
        sum += 2 * std::atan2(dot(a, cross(b, c)), x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y);
    }
    return sum / (4 * std::numbers::pi);
}

}  // namespace sinew
