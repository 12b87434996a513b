// Graph distances from the bones through a volume or a flat figure, at every vertex: the measurement of
// geodesic-voxel, which surface-heat and pixel-geodesic use, too.
#pragma once

#include <optional>

#include "bind/kept_volume.h"
#include "bind/method.h"

namespace sinew {

/// What measure_geodesic returns.
struct GeodesicRows {
    DistanceRows rows;
    std::optional<Domain> domain;   ///< the volume that was built; none for OtherMesh
    std::vector<KeptField> fields;  ///< with BindOptions::keep_volume; empty for OtherMesh
};

/// Builds a volume, or takes the one that Task::start has, and measures distances in it. Time and memory: see
/// GeodesicSolver.
Result<GeodesicRows> measure_geodesic(const Task& task);

/// Measures distances in a domain that is there, of voxels or of pixels: fills the rows set by set. Returns the
/// fields with BindOptions::keep_volume.
Result<std::vector<KeptField>> spread_distances(const Task& task, const Domain& domain, const BoneSeeds& seeds,
                                                DistanceRows& rows);

}  // namespace sinew
