// A path of a VolumeTree as points of the scene, on which joints are placed.
#pragma once

#include <cstdint>
#include <vector>

#include "rig/volume_tree.h"

namespace sinew {

/// Smoothed, with lengths from its beginning.
struct LimbPath {
    std::vector<Point3> points;
    std::vector<double> length, depth;  ///< scene units

    double whole() const { return length.back(); }
    Point3 at(double distance) const;
    /// Computes `length` from `points`.
    void measure();
};

LimbPath make_path(const BodyVolume& volume, const std::vector<std::uint32_t>& voxels);

/// From this length on.
LimbPath part_of(const LimbPath& path, double from);

/// The part of a path that is in the limb. It leaves the ball that fits into the trunk, and begins `inset` times
/// its own radius before that, straight on: a path turns to the middle of the trunk, a thigh does not.
LimbPath limb_of(const LimbPath& path, double inset);

}  // namespace sinew
