// The volume of a mesh: the first step of every voxel method.
#pragma once

#include "bind/kept_volume.h"
#include "bind/method.h"

namespace sinew {

/// Voxels as leaves of an octree, and the leaves that bones cross.
struct SeededVolume {
    Domain domain;
    BoneSeeds seeds;
};
/// Voxelizes, or uses the voxels of MovedJoints; extends the bones of leaf joints (Task::bones; not as published);
/// builds the octree and seeds it. Timed as "voxelize" and "octree"; counts go to the report. `kind`:
/// BindOptions::domain, unless the method needs another.
Result<SeededVolume> build_volume(const Task& task, DomainKind kind, Links links = Links::listed);

/// Seeds of the bones. The report gets the snapped joints and the number of voxels that bones cross. As published,
/// a joint that would have to be snapped has no seed.
BoneSeeds seed_volume(const Domain& domain, const std::vector<Bone>& bones, std::size_t joints, bool as_published,
                      BindReport& report);

/// Per joint: whether its bones differ.
std::vector<bool> moved_joints(const Skeleton& skeleton, const std::vector<Bone>& before,
                               const std::vector<Bone>& now);

/// The error of a set of joints for which a kept volume has no field.
Error unknown_joints(const Skeleton& skeleton, const JointSet& set);

/// The domain and the fields as a volume to keep. Frees the lists of links, and the graph if no field needs it.
std::shared_ptr<const KeptVolume> keep_volume(Domain domain, std::vector<KeptField> fields);

}  // namespace sinew
