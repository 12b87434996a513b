// Polygons to triangles.
#include <algorithm>
#include <array>
#include <cmath>

#include "sinew/core.h"

namespace sinew {

namespace {

using Point2 = std::array<double, 2>;

double cross(const Point2& a, const Point2& b, const Point2& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// Cuts one polygon into triangles with its winding. Convex ones become the fan from their first corner, others are
/// clipped ear by ear in the plane of their area vector (Newell). Returns false if that fails because the polygon
/// crosses itself or has no area; the rest of it then becomes a fan.
class Triangulator {
public:
    bool cut(std::span<const std::uint32_t> polygon, std::span<const Vec3> positions,
             std::vector<Triangle>& triangles) {
        const std::size_t n = polygon.size();
        if (n == 3) {
            triangles.push_back({polygon[0], polygon[1], polygon[2]});
            return true;
        }
        // Ear clipping takes at least n² steps; only hostile files have polygons of this size.
        constexpr std::size_t max_clipped = 4096;
        flatten(polygon, positions);
        left_.resize(n);
        for (std::size_t i = 0; i < n; ++i) left_[i] = static_cast<std::uint32_t>(i);
        const bool clip = n <= max_clipped && !is_convex();
        bool clean = n <= max_clipped;
        while (clip && left_.size() > 3) {
            const std::size_t ear = find_ear();
            if (ear == left_.size()) {
                clean = false;
                break;
            }
            const std::size_t m = left_.size();
            triangles.push_back(
                {polygon[left_[(ear + m - 1) % m]], polygon[left_[ear]], polygon[left_[(ear + 1) % m]]});
            left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(ear));
        }
        for (std::size_t i = 1; i + 1 < left_.size(); ++i)
            triangles.push_back({polygon[left_[0]], polygon[left_[i]], polygon[left_[i + 1]]});
        return clean;
    }

private:
    /// Projects along the axis nearest to the polygon's normal, so that it is counter-clockwise.
    void flatten(std::span<const std::uint32_t> polygon, std::span<const Vec3> positions) {
        const auto point = [&](std::size_t i) {
            const Vec3& p = positions[polygon[i % polygon.size()]];
            return std::array<double, 3>{p.x, p.y, p.z};
        };
        const auto origin = point(0);
        std::array<double, 3> normal{};
        for (std::size_t i = 0; i < polygon.size(); ++i) {
            auto a = point(i), b = point(i + 1);
            for (int k = 0; k < 3; ++k) a[k] -= origin[k], b[k] -= origin[k];
            for (int k = 0; k < 3; ++k)
                normal[k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
        }
        int axis = 0;
        for (int k = 1; k < 3; ++k)
            if (std::abs(normal[k]) > std::abs(normal[axis])) axis = k;
        const int u = normal[axis] >= 0 ? (axis + 1) % 3 : (axis + 2) % 3, v = 3 - axis - u;
        flat_.resize(polygon.size());
        for (std::size_t i = 0; i < polygon.size(); ++i) {
            const auto p = point(i);
            flat_[i] = {p[u] - origin[u], p[v] - origin[v]};
        }
    }

    /// Every triangle of the fan from corner 0 and every corner turns left.
    bool is_convex() const {
        const std::size_t n = flat_.size();
        for (std::size_t i = 0; i < n; ++i)
            if (!(cross(flat_[i], flat_[(i + 1) % n], flat_[(i + 2) % n]) >= 0)) return false;
        for (std::size_t i = 1; i + 1 < n; ++i)
            if (!(cross(flat_[0], flat_[i], flat_[i + 1]) > 0)) return false;
        return true;
    }

    /// The corner of left_ with the least thin ear, so that slivers are cut last; left_.size() if there is none.
    std::size_t find_ear() const {
        const std::size_t m = left_.size();
        std::size_t best = m;
        double best_shape = 0;
        for (std::size_t i = 0; i < m; ++i) {
            const Point2 &a = flat_[left_[(i + m - 1) % m]], &b = flat_[left_[i]], &c = flat_[left_[(i + 1) % m]];
            const double area = cross(a, b, c);
            if (!(area > 0)) continue;
            const double du = c[0] - a[0], dv = c[1] - a[1];
            const double shape = area / (du * du + dv * dv + area);
            if (shape <= best_shape) continue;
            bool empty = true;
            for (std::size_t k = 2; k + 1 < m && empty; ++k) {
                const Point2& p = flat_[left_[(i + k) % m]];
                // A corner at the position of an ear's own corner (a seam to a hole) does not block it.
                if (p == a || p == b || p == c) continue;
                empty = cross(a, b, p) < 0 || cross(b, c, p) < 0 || cross(c, a, p) < 0;
            }
            if (empty) best = i, best_shape = shape;
        }
        return best;
    }

    std::vector<Point2> flat_;
    std::vector<std::uint32_t> left_;
};

}  // namespace

std::vector<Triangle> triangulate(std::span<const Vec3> positions, std::span<const std::uint32_t> first,
                                  std::span<const std::uint32_t> corners, std::size_t* fanned) {
    std::vector<Triangle> triangles;
    if (first.size() < 2) return triangles;
    triangles.reserve(corners.size() - 2 * (first.size() - 1));
    Triangulator triangulator;
    for (std::size_t f = 0; f + 1 < first.size(); ++f)
        if (!triangulator.cut(corners.subspan(first[f], first[f + 1] - first[f]), positions, triangles) && fanned)
            ++*fanned;
    return triangles;
}

}  // namespace sinew
