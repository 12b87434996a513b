// Connected parts of a surface, each with its own triangles.
#pragma once

#include <span>
#include <vector>

#include "surface/surface.h"

namespace sinew {

struct SurfacePart {
    std::span<const Triangle> triangles;
    Box3 box;
};

struct SurfaceParts {
    std::vector<SurfacePart> part;  ///< by component
    std::vector<Triangle> sorted;   ///< to which they refer; none if there is one part, which has those of the mesh
};

/// Splits a surface by component. The triangles of the mesh must outlive it. O(V + T).
SurfaceParts split_parts(const MeshView& mesh, const MeshSurface& surface, Context* context);

/// The signed winding number of triangles around a point: how often they enclose it, a fraction for open
/// surfaces (solid angles: Van Oosterom and Strackee 1983). O(triangles).
double winding_number(const MeshView& mesh, std::span<const Triangle> triangles, const Point3& point);

}  // namespace sinew
