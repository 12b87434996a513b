// The nearest of many points.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/vectors.h"
#include "sinew/core.h"

namespace sinew {

/// Finds the nearest of a set of points: a balanced tree, built by medians. A few points are not divided further.
class NearestPoint {
public:
    explicit NearestPoint(std::vector<std::pair<Point3, std::uint32_t>> points) : points_(std::move(points)) {
        build(0, points_.size(), 0);
    }

    /// The point nearest to p within `limit`; ties go to the lower number; empty if there is no such point.
    std::uint32_t find(const Point3& p, double limit) const {
        Found best{limit * limit, no_index};
        search(p, 0, points_.size(), 0, best);
        return best.number;
    }

private:
    static constexpr std::size_t kFew = 8;
    struct Found {
        double square;
        std::uint32_t number;
    };

    void build(std::size_t begin, std::size_t end, std::size_t axis) {
        if (end - begin <= kFew) return;
        const std::size_t middle = begin + (end - begin) / 2;
        const auto at = [&](std::size_t i) { return points_.begin() + static_cast<std::ptrdiff_t>(i); };
        std::nth_element(at(begin), at(middle), at(end), [axis](const auto& x, const auto& y) {
            return x.first[axis] != y.first[axis] ? x.first[axis] < y.first[axis] : x.second < y.second;
        });
        build(begin, middle, (axis + 1) % 3);
        build(middle + 1, end, (axis + 1) % 3);
    }

    void search(const Point3& p, std::size_t begin, std::size_t end, std::size_t axis, Found& best) const {
        const bool few = end - begin <= kFew;
        const std::size_t middle = begin + (end - begin) / 2;
        for (std::size_t i = few ? begin : middle; i < (few ? end : middle + 1); ++i) {
            const auto& [at, number] = points_[i];
            const Point3 d = p - at;
            const double square = dot(d, d);
            if (square < best.square || (square == best.square && number < best.number)) best = {square, number};
        }
        if (few) return;
        const double d = p[axis] - points_[middle].first[axis];
        const bool low = d < 0;
        const std::size_t next = (axis + 1) % 3;
        low ? search(p, begin, middle, next, best) : search(p, middle + 1, end, next, best);
        if (d * d <= best.square)
            low ? search(p, middle + 1, end, next, best) : search(p, begin, middle, next, best);
    }

    std::vector<std::pair<Point3, std::uint32_t>> points_;
};

}  // namespace sinew
