// Graph distances from the bones to every vertex, through a volume or a flat figure: for geodesic-voxel,
// surface-heat and pixel-geodesic.
#pragma once

#include <vector>

#include "bind/joint_fields.h"
#include "bind/row_tables.h"

namespace sinew {

/// The field of every set that has vertices, or of every set if BindOptions::keep_volume is set. Where joints moved
/// (MovedJoints), fields are renewed. Time and memory: see GeodesicSolver.
Result<std::vector<KeptField>> measure_fields(const Task& task, const Domain& domain, const BoneSeeds& seeds);

/// Distances at all vertices, in an existing domain, of voxels or of pixels. A field is freed before the next set.
Result<DistanceRows> measure_rows(const Task& task, const Domain& domain, const BoneSeeds& seeds);

}  // namespace sinew
