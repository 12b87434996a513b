// The part of a mesh that is bound: what lies near the skeleton.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "domain/near_part.h"
#include "sinew/binding.h"

namespace sinew {

/// The triangles near the skeleton (domain/near_part.h), and whether the skeleton is that of the mesh.
class NearMesh {
public:
    /// Keeps the mesh's spans and the skeleton. O(V + T); if something is far, also the time of analyse_mesh.
    NearMesh(const MeshView& mesh, const Skeleton& skeleton, Context* context)
        : mesh_(mesh), skeleton_(skeleton), part_(find_near_part(mesh, skeleton, context)) {}

    /// The mesh without the far triangles. Vertices of these only are then of no triangle: methods give them to the
    /// nearest joint.
    MeshView view() const { return part_.view(mesh_); }
    bool any_far() const { return part_.far > 0; }

    /// Whether the skeleton belongs to this mesh: the error says how they differ, and what to do.
    Status check_fit() const;

    /// Warns if bones are shorter than a voxel of view(), voxelized at this resolution. An error if all bones
    /// together are shorter than two: distances of different joints would then be the same.
    Status check_voxels(int resolution, BindReport& report) const;

    /// Completes a binding of view(): far vertices count as bridged, defects are those of the whole mesh, and a
    /// warning says how many triangles are far.
    void finish(std::vector<Coverage>& coverage, BindReport& report) const;

private:
    MeshView mesh_;
    const Skeleton& skeleton_;
    NearPart part_;
};

}  // namespace sinew
