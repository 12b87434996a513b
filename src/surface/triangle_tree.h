// A tree of boxes over triangles, for the nearest point of a surface and for line of sight.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/curve_order.h"
#include "core/geometry.h"
#include "core/lanes.h"
#include "core/large_pages.h"
#include "sinew/core.h"

namespace sinew {

/// The point of a surface that is nearest to another point.
struct SurfacePoint {
    std::uint32_t triangle = no_index;  ///< no_index: nothing within the given distance
    double distance = 0;                ///< scene units
    std::array<double, 3> share{};      ///< barycentric coordinates at the triangle's corners; ≥ 0, sum 1
};

/// A binary tree along the curve of Morton (1966) through the middles or first corners of the triangles (Lauterbach
/// et al. 2009); leaves of four triangles. Built in O(T); about 35 bytes per triangle. Const and reentrant after
/// construction. Degenerate triangles are segments and points: they are found like others, but never block the line
/// of sight.
class TriangleTree {
public:
    /// `positions` must stay where they are; `triangles` may be empty.
    TriangleTree(std::span<const Vec3> positions, std::span<const Triangle> triangles, Context* context = nullptr);
    /// With the order of all triangles, in which they are given; if it is empty, it is found.
    TriangleTree(std::span<const Vec3> positions, LargeVector<Triangle> triangles, CurveOrder order,
                 Context* context);

    /// The nearest point within `reach` (scene units, inclusive). Ties go to the triangle with the lowest
    /// number. `of`: the triangles that count; empty = all.
    SurfacePoint nearest(const Point3& p, double reach, const std::function<bool(std::uint32_t)>& of = {}) const;

    /// Whether a triangle blocks the segment from a to b. Triangles with `vertex` as a corner do not count, nor
    /// do crossings within `slack` (scene units) of a or b. A segment that meets an edge is blocked: a closed
    /// surface has no gaps. A segment in the plane of a triangle is not blocked by it.
    bool blocked(const Point3& a, const Point3& b, std::uint32_t vertex, double slack) const;

private:
    /// A range of leaves that is divided in two. A child is a node, or a leaf with kLeafBit. A line of the cache.
    using Pair = Lanes<float, 2>;
    struct alignas(64) Node {
        std::array<Pair, 3> low, high;  // by axis: of the boxes of both children
        std::array<std::uint32_t, 2> child;
    };
    struct Builder;
    static constexpr std::uint32_t kLeafBit = 0x80000000u, kLeaf = 4;
    std::uint32_t leaf_end(std::uint32_t leaf) const;
    std::array<Point3, 3> corners(std::uint32_t i) const {
        const auto at = [&](std::size_t k) { return to_point(positions_[vertices_[i][k]]); };
        return {at(0), at(1), at(2)};
    }

    LargeVector<Node> nodes_;  // by the last leaf of their first half
    std::uint32_t root_ = kLeafBit;
    LargeVector<std::uint32_t> order_;  // triangles in the order of the leaves
    LargeVector<Triangle> vertices_;    // in that order
    std::span<const Vec3> positions_;
};

}  // namespace sinew
