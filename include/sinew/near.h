// sinew/near.h: the part of a mesh that lies near its skeleton.
#pragma once

#include <vector>

#include "sinew/core.h"
#include "sinew/skeleton.h"

namespace sinew {

/// The triangles that a bind takes into its volume: all, but for those far from the skeleton (a ground plane, a
/// stray triangle), which would take the voxels from the character (docs/formats.md). Joints must be marked
/// (select_deforming). O(V + T); if something is far, also the time of analyse_mesh.
std::vector<Triangle> near_triangles(const MeshView& mesh, const Skeleton& skeleton, Context* context = nullptr);

/// The diagonal of the box of these triangles if others are far; 0 if none is: lengths are then fractions of the
/// whole mesh. Cost as above.
double near_diagonal(const MeshView& mesh, const Skeleton& skeleton, Context* context = nullptr);

}  // namespace sinew
