// The voxels of a bone that may have a shape.
#pragma once

#include <bit>

#include "core/bone_space.h"
#include "domain/trace.h"

namespace sinew {

/// A bone in voxel coordinates.
inline BoneSpace in_voxels(const GridTransform& g, const Bone& bone) {
    return {bone, {g.origin[0], g.origin[1], g.origin[2]}, g.voxel};
}

/// Calls visit(x, y, z) for the voxels of a bone's segment; for a box, for the voxel at its centre.
template <typename Visit>
void trace_bone(const GridTransform& g, const Bone& bone, Visit&& visit) {
    if (!bone.box) return trace_segment(g, bone.head, bone.tail, visit);
    const Vec3 middle{(bone.head.x + bone.tail.x) / 2, (bone.head.y + bone.tail.y) / 2,
                      (bone.head.z + bone.tail.z) / 2};
    trace_segment(g, middle, middle, visit);
}

namespace detail {
template <typename Visit>
void trace_surface(const BoneSpace& space, int level, int x, int y, int z, Visit&& visit) {
    const double size = 1 << level;
    const double d = space.signed_distance({(x + 0.5) * size, (y + 0.5) * size, (z + 0.5) * size});
    if (std::abs(d) > 0.5 * std::sqrt(3.0) * size) return;  // the surface does not cross it
    if (level == 0) return visit(x, y, z);
    for (int child = 0; child < 8; ++child)
        trace_surface(space, level - 1, 2 * x + (child & 1), 2 * y + (child >> 1 & 1), 2 * z + (child >> 2), visit);
}
}  // namespace detail

/// Calls visit(x, y, z) for the voxels of the grid whose centre is at most half a diagonal from the surface of
/// a bone's shape. O(these voxels).
template <typename Visit>
void trace_surface(const GridTransform& g, const Bone& bone, Visit&& visit) {
    detail::trace_surface(in_voxels(g, bone), std::countr_zero(static_cast<unsigned>(g.resolution)), 0, 0, 0,
                          visit);
}

}  // namespace sinew
