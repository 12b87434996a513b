// The fingers of a hand, whose wrist is known.
#pragma once

#include <string_view>
#include <vector>

#include "core/geometry.h"
#include "sinew/domain.h"

namespace sinew {

/// Where a hand is, in the scene.
struct HandPlace {
    Point3 wrist, tip;  ///< tip: of any finger
    Point3 front;       ///< where the character looks
};

struct Finger {
    std::string_view name;         ///< thumb, index, middle, ring or pinky
    std::array<Point3, 3> joints;  ///< from the palm on
    Point3 tip;
};

/// Three to five fingers in their order, the thumb first; empty if there are fewer. Of fewer than five, the last
/// ones are missing, and the thumb if none is like one. `grid`: the character; a finger should be at least four
/// voxels thick. O(voxels of the hand).
///
/// Fingers are the limbs of the hand's volume (VolumeTree). Each ends at the palm, where the voxels that are
/// connected within a ball around its path become more. They are ordered by their angle in the plane of the hand.
/// The thumb is at the end that leaves the palm nearer to the wrist and points farther away from the others.
std::vector<Finger> find_fingers(const VoxelGrid& grid, const HandPlace& hand, Context* context);

}  // namespace sinew
