// Triangles for the inside of polygons: a constrained Delaunay triangulation, refined until no angle is small.
#pragma once

#include <cstdint>
#include <vector>

#include "sinew/core.h"

namespace sinew {

/// A point of the plane in 1/256 pixel, y up. Coordinates within ±2^21, so that predicates are exact in 128 bits.
struct GridPoint {
    std::int32_t x = 0, y = 0;
    friend bool operator==(const GridPoint&, const GridPoint&) = default;
};
inline constexpr std::int32_t grid_units = 256;  ///< per pixel

/// Twice the signed area of a triangle; above 0 is counter-clockwise.
inline std::int64_t area2(const GridPoint& a, const GridPoint& b, const GridPoint& c) {
    return (std::int64_t{b.x} - a.x) * (std::int64_t{c.y} - a.y) -
           (std::int64_t{b.y} - a.y) * (std::int64_t{c.x} - a.x);
}

using GridLoop = std::vector<GridPoint>;

struct TriangulateOptions {
    double angle = 24;      ///< degrees: triangles with a smaller one are split, 0..28
    double spacing = 0;     ///< grid units: triangles much larger than an equilateral one of this edge are split
    double least_edge = 0;  ///< grid units: no point is added where that makes an edge shorter than this
};

struct Triangulation {
    std::vector<GridPoint> points;          ///< points of the loops first, loop by loop, then interior points
    std::vector<Triangle> triangles;        ///< counter-clockwise
    std::vector<std::uint32_t> loop_sizes;  ///< number of points of each loop, with the added ones
    bool sound = true;  ///< false: the loops cross, or their nesting contradicts their directions
};

/// The inside of loops that neither cross nor touch: outer ones counter-clockwise, holes clockwise. `inner`: points
/// to be used inside, at some distance from the loops.
///
/// Incremental insertion with Lawson's flips, segments by Sloan's flips (1993), then Ruppert's refinement (1995):
/// a segment with a vertex in its diametral circle is halved; the centre of a bad triangle's circumcircle is
/// inserted unless it would encroach on a segment, which is halved instead. Between segments that meet under less
/// than 60 degrees lengths are halved on common circles, and triangles that span such a corner are left alone
/// (Miller, Pav and Walkington 2003): no point of the plane can repair a sharp corner of the outline. Expected
/// O(n log n) with points that are in some spatial order.
Triangulation triangulate(const std::vector<GridLoop>& loops, const std::vector<GridPoint>& inner,
                          const TriangulateOptions& options, Context* context);

}  // namespace sinew
