// A tree of boxes over triangles: what is the nearest point of a surface, and what stands between two points.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/geometry.h"
#include "sinew/core.h"

namespace sinew {

/// The point of a surface that is nearest to another point.
struct SurfacePoint {
    static constexpr std::uint32_t none = 0xffffffffu;
    std::uint32_t triangle = none;  ///< none: nothing within the distance that was asked for
    double distance = 0;            ///< scene units
    std::array<double, 3> share{};  ///< barycentric, of the triangle's corners; ≥ 0, sum 1
};

/// A binary tree, split at the median along the longest side; leaves of up to four triangles. Built in O(T log T);
/// about 150 bytes per triangle. Const and reentrant once it is built. Degenerate triangles
/// are segments and points; they are found like others, and never stand in the way.
class TriangleTree {
public:
    /// Corners are copied. `triangles` may be empty.
    TriangleTree(std::span<const Vec3> positions, std::span<const Triangle> triangles);

    /// The nearest point within `reach` (scene units, inclusive); of equally near ones that of the lowest triangle.
    /// `of`: which triangles count; all, where it is empty.
    SurfacePoint nearest(const Point3& p, double reach, const std::function<bool(std::uint32_t)>& of = {}) const;

    /// Whether a triangle stands between a and b. Triangles with `vertex` as a corner do not count, and neither do
    /// crossings within `slack` (scene units) of a or b. The segment that meets an edge is stopped: a closed
    /// surface lets nothing through. One that lies in a triangle's plane is not stopped by it.
    bool blocked(const Point3& a, const Point3& b, std::uint32_t vertex, double slack) const;

private:
    struct Box {
        Point3 low, high;
    };
    struct Node {
        Box box;
        std::uint32_t first = 0, count = 0;  // of a leaf: triangles
        std::uint32_t right = 0;             // of another: its second child; the first follows it
    };
    struct Corners {
        Point3 a, b, c;
    };
    std::uint32_t build(std::span<const Box> boxes, std::uint32_t first, std::uint32_t count);

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> order_;  // triangles as the leaves hold them
    std::vector<Corners> corners_;      // in that order
    std::vector<Triangle> vertices_;    // in that order
};

/// The point of the triangle abc that is nearest to p, as barycentric shares (Ericson, "Real-Time Collision
/// Detection", 2005, 5.1.5; a triangle without area is its longest side).
std::array<double, 3> nearest_in_triangle(const Point3& a, const Point3& b, const Point3& c, const Point3& p);

}  // namespace sinew
