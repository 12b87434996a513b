// Graph distances from the bones to every vertex, through a volume or a flat figure: for geodesic-voxel,
// surface-heat and pixel-geodesic.
#pragma once

#include <optional>

#include "bind/kept_volume.h"
#include "bind/row_tables.h"

namespace sinew {

/// The result of measure_geodesic.
struct GeodesicRows {
    DistanceRows rows;
    std::optional<Domain> domain;   ///< the volume that was built; none for OtherMesh
    std::vector<KeptField> fields;  ///< with BindOptions::keep_volume; empty for OtherMesh
};

/// Builds a volume, or uses the volume of Task::start, and measures distances in it. Time and memory: see
/// GeodesicSolver.
Result<GeodesicRows> measure_geodesic(const Task& task);

/// Measures distances in an existing domain, of voxels or of pixels: fills the rows set by set. Returns the fields
/// if BindOptions::keep_volume is set.
Result<std::vector<KeptField>> spread_distances(const Task& task, const Domain& domain, const BoneSeeds& seeds,
                                                DistanceRows& rows);

}  // namespace sinew
