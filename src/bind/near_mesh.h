// The part of a mesh that is bound: what lies near the skeleton. Voxels and tolerances are shares of its size, so
// one triangle far away must not count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/geometry.h"
#include "sinew/binding.h"

namespace sinew {

/// The triangles near the skeleton. Far ones are those that reach farther from the box of the bones than its
/// longest side; but a part that begins within that distance is near as a whole if it is at most three times as
/// large as the box, or if it is around the bones and at most 25 times as large. Triangles without area count as
/// far where they reach out of the box of the others. Nothing is far if all bones are at one point, or if there
/// would be no other triangles.
class NearMesh {
public:
    /// Keeps the mesh's spans and the skeleton. O(V + T); if something is far, also the time of analyse_mesh.
    NearMesh(const MeshView& mesh, const Skeleton& skeleton, Context* context);

    /// The mesh without the far triangles. Vertices of these only are then of no triangle: methods give them to the
    /// nearest joint.
    MeshView view() const {
        return {mesh_.positions, any_far() ? triangles_ : mesh_.triangles, mesh_.skin_of_vertex};
    }
    bool any_far() const { return far_ > 0; }

    /// Whether the skeleton belongs to this mesh: the error says how they differ, and what to do.
    Status check_fit() const;

    /// Warns if bones are shorter than a voxel of view(), voxelized at this resolution. An error if all bones
    /// together are shorter than two: distances of different joints would then be the same.
    Status check_voxels(int resolution, BindReport& report) const;

    /// Completes a binding of view(): far vertices count as bridged, defects are those of the whole mesh, and a
    /// warning says how many triangles are far.
    void finish(std::vector<Coverage>& coverage, BindReport& report) const;

private:
    void find_far(Context* context);

    MeshView mesh_;
    const Skeleton& skeleton_;
    Box3 bones_;                       // of the bones that deform, with their tails
    Box3 joints_;                      // of all joints, also idle ones
    Box3 box_;                         // of the near triangles
    std::vector<Triangle> triangles_;  // the near ones, if there are far ones
    std::size_t far_ = 0;
    double farthest_ = 0;               // distance of a far corner from the box of the bones
    bool only_fragments_ = false;       // no part is near as a whole, or by half
    MeshDefects defects_;               // of the whole mesh, if something is far
    std::vector<std::uint8_t> at_far_;  // per vertex: of a far triangle and of no near one
    Box3 whole_;                        // of all triangles with area
};

}  // namespace sinew
