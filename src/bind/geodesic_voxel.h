// Graph distances from the bones to every vertex, through a volume or a flat figure: for geodesic-voxel,
// surface-heat and pixel-geodesic.
#pragma once

#include <memory>
#include <vector>

#include "bind/joint_fields.h"
#include "bind/row_tables.h"

namespace sinew {

/// The result of measure_geodesic.
struct GeodesicRows {
    DistanceRows rows;
    /// The volume that was built, with its fields if BindOptions::keep_volume is set. Null for OtherMesh.
    std::shared_ptr<const KeptVolume> volume;
};

/// Builds a volume, or uses the volume of Task::start, and measures distances in it. Time and memory: see
/// GeodesicSolver.
Result<GeodesicRows> measure_geodesic(const Task& task);

struct SpreadDistances {
    DistanceRows rows;
    std::vector<KeptField> fields;  ///< if BindOptions::keep_volume is set
};

/// Measures distances in an existing domain, of voxels or of pixels. Where joints moved, previous fields are
/// renewed.
Result<SpreadDistances> spread_distances(const Task& task, const Domain& domain, const BoneSeeds& seeds,
                                         const PreviousFields& previous = {});

}  // namespace sinew
