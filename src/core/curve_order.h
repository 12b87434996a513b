// Points in an order in which neighbours are near each other.
#pragma once

#include <functional>
#include <vector>

#include "core/geometry.h"
#include "core/large_pages.h"

namespace sinew {

/// The points 0, 1, … along the curve of Morton (1966) through a grid of 2^bits cells along each axis, at most 10
/// bits; points of a cell in ascending order. O(points); the same on any number of threads.
struct CurveOrder {
    LargeVector<std::uint32_t> point;  ///< in order
    LargeVector<std::uint32_t> cell;   ///< of each of these: its number along the curve

    CurveOrder() = default;
    /// `place`: of a point; asked twice.
    CurveOrder(std::size_t points, int bits, const std::function<Point3(std::size_t)>& place, Context* context);
};

}  // namespace sinew
