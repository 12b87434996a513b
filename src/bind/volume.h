// The first stages of every method that works in the volume.
#pragma once

#include "bind/bone_shapes.h"
#include "bind/method.h"

namespace sinew {

/// Voxelizes, lengthens the bones of leaf joints (Task::bones) and builds the domain, timed as "voxelize" and
/// "octree"; counts go to the report. `kind`: BindOptions::domain, unless the method needs another.
Result<Domain> build_volume(const Task& task, DomainKind kind);
inline Result<Domain> build_volume(const Task& task) { return build_volume(task, task.options.domain); }

/// Seeds of the bones; joints that had to be snapped and voxels that bones cross go to the report.
BoneSeeds seed_volume(const Task& task, const Domain& domain);

/// Vertices that no volume reaches: straight distances to the joints of the set (Coverage::euclidean; for a vertex
/// of no triangle the joint whose place is nearest, Coverage::unused). Entries are distance and joint, unsorted.
Coverage straight_row(const Task& task, const BoneShapes& shapes, const JointSet& set, std::uint32_t vertex,
                      std::vector<DistanceRows::Entry>& row);

}  // namespace sinew
