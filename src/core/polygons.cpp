// Polygons to triangles.
#include "core/polygons.h"

#include <algorithm>
#include <array>
#include <cmath>

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
    /// `base` is added to the places in the polygon.
    bool cut(std::span<const std::uint32_t> polygon, std::span<const Vec3> positions, std::uint32_t base,
             std::vector<Triangle>& triangles) {
        const auto n = static_cast<std::uint32_t>(polygon.size());
        if (n == 3) {
            triangles.push_back({base, base + 1, base + 2});
            return true;
        }
        // Ear clipping takes n² steps; only hostile files have polygons of this size.
        constexpr std::size_t max_clipped = 4096;
        flatten(polygon, positions);
        const bool clip = n <= max_clipped && !is_convex();
        bool clean = n <= max_clipped;
        if (!clip) {
            for (std::uint32_t i = 1; i + 1 < n; ++i) triangles.push_back({base, base + i, base + i + 1});
            return clean;
        }
        begin(n);
        for (left_count_ = n; left_count_ > 3; --left_count_) {
            const std::uint32_t ear = find_ear();
            if (ear == n) {
                clean = false;
                break;
            }
            triangles.push_back({base + before_[ear], base + ear, base + after_[ear]});
            remove(ear);
        }
        const std::uint32_t first = first_left();
        for (std::uint32_t i = after_[first]; after_[i] != first; i = after_[i])
            triangles.push_back({base + first, base + i, base + after_[i]});
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

    void begin(std::size_t n) {
        before_.resize(n), after_.resize(n), shape_.assign(n, 0), blocker_.resize(n);
        left_.assign(n, true);
        for (std::size_t i = 0; i < n; ++i) {
            before_[i] = static_cast<std::uint32_t>((i + n - 1) % n);
            after_[i] = static_cast<std::uint32_t>((i + 1) % n);
        }
        for (std::uint32_t i = 0; i < n; ++i) measure(i);
    }

    std::uint32_t first_left() const {
        return static_cast<std::uint32_t>(std::find(left_.begin(), left_.end(), true) - left_.begin());
    }

    void remove(std::uint32_t ear) {
        const std::uint32_t a = before_[ear], c = after_[ear];
        left_[ear] = false;
        after_[a] = c, before_[c] = a;
        measure(a), measure(c);
    }

    /// The triangle of a corner whose neighbours are new.
    void measure(std::uint32_t i) {
        const Point2 &a = flat_[before_[i]], &b = flat_[i], &c = flat_[after_[i]];
        const double area = cross(a, b, c), du = c[0] - a[0], dv = c[1] - a[1];
        shape_[i] = area > 0 ? area / (du * du + dv * dv + area) : 0;
        blocker_[i] = after_[after_[i]];
    }

    /// Whether no other corner is in the triangle of a corner. Those that are not, stay so: the search goes on
    /// where it ended, and all searches between two changes of a corner take n steps together.
    bool is_empty(std::uint32_t i) {
        const std::uint32_t end = before_[i];
        const Point2 &a = flat_[end], &b = flat_[i], &c = flat_[after_[i]];
        for (std::uint32_t& k = blocker_[i]; k != end; k = after_[k]) {
            if (!left_[k]) continue;  // its `after_` is one that was behind it
            const Point2& p = flat_[k];
            // A corner at the position of an ear's own corner (a seam to a hole) does not block it.
            if (p == a || p == b || p == c) continue;
            if (!(cross(a, b, p) < 0 || cross(b, c, p) < 0 || cross(c, a, p) < 0)) return false;
        }
        return true;
    }

    /// The corner with the least thin ear, so that slivers are cut last; n if there is none.
    std::uint32_t find_ear() {
        auto best = static_cast<std::uint32_t>(flat_.size());
        double best_shape = 0;
        for (std::uint32_t i = first_left(), k = 0; k < left_count_; ++k, i = after_[i])
            if (shape_[i] > best_shape && is_empty(i)) best = i, best_shape = shape_[i];
        return best;
    }

    std::vector<Point2> flat_;
    // By corner: neighbours among those that are left, shape of the ear (0: it turns right), where its search
    // stands.
    std::vector<std::uint32_t> before_, after_, blocker_;
    std::vector<double> shape_;
    std::vector<bool> left_;
    std::size_t left_count_ = 0;
};

}  // namespace

std::vector<Triangle> triangulate_corners(std::span<const Vec3> positions, std::span<const std::uint32_t> first,
                                          std::span<const std::uint32_t> corners, std::size_t* fanned) {
    std::vector<Triangle> triangles;
    std::size_t count = 0;
    for (std::size_t f = 1; f < first.size(); ++f) count += std::max(first[f] - first[f - 1], 2u) - 2;
    triangles.reserve(count);
    Triangulator triangulator;
    for (std::size_t f = 1; f < first.size(); ++f) {
        const auto polygon = corners.subspan(first[f - 1], first[f] - first[f - 1]);
        if (polygon.size() >= 3 && !triangulator.cut(polygon, positions, first[f - 1], triangles) && fanned)
            ++*fanned;
    }
    return triangles;
}

std::vector<Triangle> triangulate(std::span<const Vec3> positions, std::span<const std::uint32_t> first,
                                  std::span<const std::uint32_t> corners, std::size_t* fanned) {
    std::vector<Triangle> triangles = triangulate_corners(positions, first, corners, fanned);
    for (Triangle& triangle : triangles)
        for (std::uint32_t& corner : triangle) corner = corners[corner];
    return triangles;
}

}  // namespace sinew
