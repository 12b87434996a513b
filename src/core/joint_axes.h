// Bone directions derived from the exported axes of joints.
#pragma once

#include <optional>
#include <vector>

#include "core/vectors.h"
#include "sinew/skeleton.h"

namespace sinew {

/// One of the six directions along a joint's axes: 0..2, and 3..5 for the opposite ones.
inline Point3 axis_of(const Joint& joint, std::size_t axis) {
    return (axis < 3 ? 1.0 : -1.0) * to_point(joint.axes[axis % 3]);
}

/// Whether a direction is parallel to an axis, within 3.6 degrees (exporters round). False for a direction of
/// length zero.
bool leads_along(const Point3& direction, const Point3& axis);

/// The axis that points along the bones of a skeleton. At least three joints must have exactly one link, and in
/// nine of ten of these the same axis must point along it. Empty otherwise, and empty if all joints have equal
/// axes: these are then the axes of the scene and say nothing about bones. `bones`: from make_bones. O(bones).
std::optional<std::size_t> common_axis(const Skeleton& skeleton, const std::vector<Bone>& bones);

}  // namespace sinew
