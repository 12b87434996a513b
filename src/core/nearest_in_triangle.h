// The point of a triangle that is nearest to another point.
#pragma once

#include <array>

#include "core/geometry.h"

namespace sinew {

/// The barycentric coordinates of the point of triangle abc that is nearest to p (Ericson 2005, section 5.1.5).
/// A triangle without area is treated as its longest side.
std::array<double, 3> nearest_in_triangle(const Point3& a, const Point3& b, const Point3& c, const Point3& p);

}  // namespace sinew
