// The volume of a mesh: the first step of every voxel method.
#pragma once

#include "bind/method.h"
#include "sinew/domain.h"

namespace sinew {

/// Voxels as leaves of an octree, and the leaves that bones cross.
struct SeededVolume {
    Domain domain;
    BoneSeeds seeds;
};
/// Voxelizes, or uses the voxels of MovedJoints; extends the bones of leaf joints (Task::bones; not as published);
/// builds the octree and seeds it. Timed as "voxelize" and "octree"; counts go to the report. `kind`:
/// BindOptions::domain, unless the method needs another.
Result<SeededVolume> build_volume(const Task& task, DomainKind kind);

/// Seeds of the task's bones. The report gets the snapped joints, the number of voxels that bones cross, and the
/// number of components that need a bridge. As published, a joint that would have to be snapped has no seed.
BoneSeeds seed_volume(const Task& task, const Domain& domain);

/// Per component of the domain: whether a bone of these joints lies in it.
std::vector<bool> seeded_components(const Domain& domain, const BoneSeeds& seeds,
                                    std::span<const std::uint32_t> joints);

}  // namespace sinew
