// The part of a mesh that lies near the skeleton. Voxels and tolerances are shares of its size, so one triangle far
// away must not count.
#pragma once

#include <cstdint>
#include <vector>

#include "core/geometry.h"
#include "sinew/domain.h"

namespace sinew {

/// Largest side of a part around the bones, in longest sides of their box.
inline constexpr double kLargestAround = 25;

/// Far triangles are those that reach farther from the box of the bones than its longest side; but a part that
/// begins within that distance is near as a whole if it is at most three times as large as the box, or if it is
/// around the bones and at most 25 times as large. Triangles without area count as far where they reach out of the
/// box of the others. Nothing is far if all bones are at one point, or if there would be no other triangles.
struct NearPart {
    Box3 bones;                        // of the bones that deform, with their tails; empty if there are none
    Box3 joints;                       // of all joints, also idle ones
    Box3 box;                          // of the near triangles
    Box3 whole;                        // of all triangles with area
    std::vector<Triangle> triangles;   // the near ones, if there are far ones
    std::size_t far = 0;               // how many are far
    double farthest = 0;               // distance of a far corner from the box of the bones
    bool only_fragments = false;       // no part is near as a whole, or by half
    MeshDefects defects;               // of the whole mesh, if something is far
    std::vector<std::uint8_t> at_far;  // per vertex, if something is far: of a far triangle and of no near one

    /// `mesh` without the far triangles.
    MeshView view(const MeshView& mesh) const {
        return {mesh.positions, far > 0 ? std::span<const Triangle>(triangles) : mesh.triangles,
                mesh.skin_of_vertex};
    }
};
/// O(V + T); if something is far, also the time of analyse_mesh.
NearPart find_near_part(const MeshView& mesh, const Skeleton& skeleton, Context* context = nullptr);

}  // namespace sinew
