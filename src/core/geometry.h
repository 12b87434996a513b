// Small pieces of geometry that several stages share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "sinew/core.h"

namespace sinew {

using Point3 = std::array<double, 3>;

/// Largest coordinate whose square still fits a float. Checked on input (check_mesh, check_skeleton).
inline constexpr float kLargestCoordinate = 1e18f;

inline Point3 to_point(const Vec3& p) { return {p.x, p.y, p.z}; }
inline Vec3 to_vec3(const Point3& p) {
    return {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])};
}

/// The bounding box of the points that were added. An empty box has sides of -inf.
struct Box3 {
    Point3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};

    void add(const Point3& p) {
        for (std::size_t k = 0; k < 3; ++k) {
            low[k] = std::min(low[k], p[k]);
            high[k] = std::max(high[k], p[k]);
        }
    }
    /// Includes the faces of the box.
    bool holds(const Point3& p) const {
        for (std::size_t k = 0; k < 3; ++k)
            if (p[k] < low[k] || p[k] > high[k]) return false;
        return true;
    }
    Point3 sides() const { return {high[0] - low[0], high[1] - low[1], high[2] - low[2]}; }
    double longest() const { return std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]}); }
    double diagonal() const { return std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]); }
};

/// Bounding box of all points.
inline Box3 box_of(std::span<const Vec3> points) {
    Box3 box;
    for (const Vec3& p : points) box.add(to_point(p));
    return box;
}
/// Bounding box of the triangles: unused vertices must not count.
inline Box3 box_of(const MeshView& mesh) {
    Box3 box;
    for (const Triangle& t : mesh.triangles)
        for (const std::uint32_t v : t) box.add(to_point(mesh.positions[v]));
    return box;
}

/// Parameter, 0..1, of the point of a segment that is nearest to p.
struct SegmentPosition {
    double distance;  ///< to the nearest point of the segment
    double along;     ///< signed length of the projection from a; below 0 or above `length` = beyond an end
    double length;    ///< of the segment; 0 for a point, and then along is 0
};

/// A segment for repeated queries: values that do not depend on the point are precomputed.
class SegmentRuler {
public:
    SegmentRuler(const Point3& a, const Point3& b)
        : a_(a),
          d_{b[0] - a[0], b[1] - a[1], b[2] - a[2]},
          length_(std::sqrt(d_[0] * d_[0] + d_[1] * d_[1] + d_[2] * d_[2])),
          per_length_(length_ > 0 ? 1 / length_ : 0) {}

    SegmentPosition at(const Point3& p) const {
        const Point3 v{p[0] - a_[0], p[1] - a_[1], p[2] - a_[2]};
        const double along = (d_[0] * v[0] + d_[1] * v[1] + d_[2] * v[2]) * per_length_;
        const Point3 w = way(v, along);
        return {std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), along, length_};
    }
    /// From the nearest point of the segment to p.
    Point3 way(const Point3& p) const {
        const Point3 v{p[0] - a_[0], p[1] - a_[1], p[2] - a_[2]};
        return way(v, (d_[0] * v[0] + d_[1] * v[1] + d_[2] * v[2]) * per_length_);
    }
    bool operator==(const SegmentRuler&) const = default;

private:
    Point3 way(const Point3& v, double along) const {
        const double t = std::clamp(along * per_length_, 0.0, 1.0);
        return {v[0] - t * d_[0], v[1] - t * d_[1], v[2] - t * d_[2]};
    }

    Point3 a_, d_;
    double length_, per_length_;
};

inline SegmentPosition segment_distance(const Point3& a, const Point3& b, const Point3& p) {
    return SegmentRuler(a, b).at(p);
}

}  // namespace sinew
