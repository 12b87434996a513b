// The connected parts of a surface, each as triangles of its own.
#pragma once

#include <span>
#include <vector>

#include "surface/surface.h"

namespace sinew {

struct SurfacePart {
    std::vector<Triangle> triangles;
    Box3 box;
};

/// By component. O(T).
std::vector<SurfacePart> split_parts(const MeshView& mesh, const MeshSurface& surface);

/// The winding number of triangles around a point, signed: how often they enclose it, and a part of one where they
/// are open (solid angles: Van Oosterom and Strackee 1983). O(triangles).
double winding_number(const MeshView& mesh, std::span<const Triangle> triangles, const Point3& point);

}  // namespace sinew
