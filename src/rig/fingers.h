// The wrist and the fingers of a hand.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/geometry.h"
#include "sinew/domain.h"
#include "sinew/voxels.h"

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

/// The narrowest place of the arm between the palm and the forearm, if there is one: going from the tip to the
/// elbow, where the section of the volume is smallest after it was larger, and before it becomes larger again.
/// `hand`: about where it is; the wrist may be at 0.6 to 1.6 times that distance from the tip. A hand should be at
/// least 24 voxels long. O(voxels of the hand).
std::optional<Point3> find_wrist(const VoxelGrid& grid, const HandPlace& hand, const Point3& elbow);

/// Three to five fingers in their order, the thumb first; empty if there are fewer. Of fewer than five, the last
/// ones are missing, and the thumb if none is like one. `grid`: the character; a finger should be at least four
/// voxels thick. O(voxels of the hand).
///
/// Fingers are the limbs of the hand's volume (VolumeTree). Each ends at the palm, where the voxels that are
/// connected within a ball around its path become more. They are ordered by their angle in the plane of the hand.
/// The thumb is at the end that leaves the palm nearer to the wrist and points farther away from the others.
std::vector<Finger> find_fingers(const VoxelGrid& grid, const HandPlace& hand, Context* context);

}  // namespace sinew
