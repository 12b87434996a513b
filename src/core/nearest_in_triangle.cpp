#include "core/nearest_in_triangle.h"

#include <algorithm>

#include "core/vectors.h"

namespace sinew {
namespace {

std::array<double, 2> along_segment(const Point3& a, const Point3& b, const Point3& p) {
    const Point3 d = b - a;
    const double length2 = dot(d, d);
    const double t = length2 > 0 ? std::clamp(dot(d, p - a) / length2, 0.0, 1.0) : 0;
    return {1 - t, t};
}

}  // namespace

std::array<double, 3> nearest_in_triangle(const Point3& a, const Point3& b, const Point3& c, const Point3& p) {
    const Point3 ab = b - a, ac = c - a, ap = p - a;
    const Point3 n = cross(ab, ac);
    const double longest2 = std::max({dot(ab, ab), dot(ac, ac), dot(c - b, c - b)});
    if (dot(n, n) <= 1e-24 * longest2 * longest2) {
        if (dot(ab, ab) == longest2) {
            const auto [s, t] = along_segment(a, b, p);
            return {s, t, 0};
        }
        if (dot(ac, ac) == longest2) {
            const auto [s, t] = along_segment(a, c, p);
            return {s, 0, t};
        }
        const auto [s, t] = along_segment(b, c, p);
        return {0, s, t};
    }
    const double d1 = dot(ab, ap), d2 = dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return {1, 0, 0};
    const Point3 bp = p - b;
    const double d3 = dot(ab, bp), d4 = dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return {0, 1, 0};
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        const double t = d1 / (d1 - d3);
        return {1 - t, t, 0};
    }
    const Point3 cp = p - c;
    const double d5 = dot(ab, cp), d6 = dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return {0, 0, 1};
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        const double t = d2 / (d2 - d6);
        return {1 - t, 0, t};
    }
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        const double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return {0, 1 - t, t};
    }
    const double sum = va + vb + vc;
    return {va / sum, vb / sum, vc / sum};
}

}  // namespace sinew
