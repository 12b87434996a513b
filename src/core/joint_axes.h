// What joints say of bones by the axes that they are exported with.
#pragma once

#include <optional>
#include <vector>

#include "core/vectors.h"
#include "sinew/skeleton.h"

namespace sinew {

/// One of the six ways along a joint's axes: 0..2, and 3..5 for their opposites.
inline Point3 axis_of(const Joint& joint, std::size_t axis) {
    return (axis < 3 ? 1.0 : -1.0) * to_point(joint.axes[axis % 3]);
}

/// Whether a way leads along an axis, within 3.6 degrees: exporters state it to rounding. A way without length does
/// not.
bool leads_along(const Point3& way, const Point3& axis);

/// The axis along which joints look, whoever made them: of the joints with one link, three or more, nine in ten
/// have it along the same one. None where that is not so, or where all their axes are alike: those are the scene's,
/// of which nothing follows. `bones`: of make_bones. O(bones).
std::optional<std::size_t> common_axis(const Skeleton& skeleton, const std::vector<Bone>& bones);

}  // namespace sinew
