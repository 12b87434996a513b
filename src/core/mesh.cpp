#include "sinew/core.h"

#include <algorithm>
#include <cmath>

#include "core/geometry.h"

namespace sinew {

namespace {

// Half-edges (topology.cpp) and vertices have 32-bit numbers.
constexpr std::size_t max_vertices = 0xfffffff0u;
constexpr std::size_t max_triangles = 0xfffffff0u / 3;

bool finite(const Vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }
bool measurable(const Vec3& p) {
    return std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}) <= kLargestCoordinate;
}

}  // namespace

Status check_mesh(const MeshView& mesh) {
    const std::size_t vertices = mesh.positions.size();
    if (mesh.triangles.empty())
        return Error{ErrorCode::input, "the mesh has no triangles: there is no surface to bind"};
    if (vertices > max_vertices || mesh.triangles.size() > max_triangles)
        return Error{ErrorCode::too_large,
                     "the mesh has " + std::to_string(vertices) + " vertices and " +
                         std::to_string(mesh.triangles.size()) +
                         " triangles: more than 32-bit numbers can count; split or simplify it"};
    if (!mesh.skin_of_vertex.empty() && mesh.skin_of_vertex.size() != vertices)
        return Error{ErrorCode::input, "skin_of_vertex has " + std::to_string(mesh.skin_of_vertex.size()) +
                                           " entries for " + std::to_string(vertices) +
                                           " vertices: it must be empty or have one entry per vertex"};
    for (std::size_t v = 0; v < vertices; ++v)
        if (!finite(mesh.positions[v]))
            return Error{ErrorCode::input, "vertex " + std::to_string(v) +
                                               " has a coordinate that is not finite (NaN or infinity): repair or "
                                               "remove it"};
    for (std::size_t v = 0; v < vertices; ++v)
        if (!measurable(mesh.positions[v]))
            return Error{ErrorCode::input,
                         "vertex " + std::to_string(v) +
                             " has a coordinate beyond 1e18, where squares of distances no longer "
                             "fit a float: check its scale"};
    bool one_point = true;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        for (const std::uint32_t v : mesh.triangles[t]) {
            if (v >= vertices)
                return Error{ErrorCode::input, "triangle " + std::to_string(t) + " names vertex " +
                                                   std::to_string(v) + ", but there are only " +
                                                   std::to_string(vertices)};
            one_point = one_point && mesh.positions[v] == mesh.positions[mesh.triangles[0][0]];
        }
    if (one_point)
        return Error{ErrorCode::input,
                     "all corners of triangles are at one position: the mesh has no size, check its scale"};
    return Done{};
}

}  // namespace sinew
