// Arithmetic of points in double precision.
#pragma once

#include <cmath>

#include "core/geometry.h"

namespace sinew {

inline Point3 operator-(const Point3& a, const Point3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Point3 operator+(const Point3& a, const Point3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Point3 operator*(double s, const Point3& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline double dot(const Point3& a, const Point3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Point3 cross(const Point3& a, const Point3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double norm(const Point3& a) { return std::sqrt(dot(a, a)); }
/// A vector of length zero is returned unchanged.
inline Point3 unit(const Point3& a) {
    const double length = norm(a);
    return length > 0 ? (1 / length) * a : Point3{};
}

}  // namespace sinew
