// Arithmetic of Transform for posing and skinning.
#pragma once

#include <array>
#include <cmath>

#include "core/geometry.h"
#include "sinew/skeleton.h"

namespace sinew {

inline bool finite(const Transform& t) {
    for (const double v : t.m)
        if (!std::isfinite(v)) return false;
    return true;
}

inline Point3 move_point(const Transform& t, const Point3& p) {
    return {t(0, 0) * p[0] + t(0, 1) * p[1] + t(0, 2) * p[2] + t(0, 3),
            t(1, 0) * p[0] + t(1, 1) * p[1] + t(1, 2) * p[2] + t(1, 3),
            t(2, 0) * p[0] + t(2, 1) * p[1] + t(2, 2) * p[2] + t(2, 3)};
}

inline Point3 move_direction(const Transform& t, const Point3& d) {
    return {t(0, 0) * d[0] + t(0, 1) * d[1] + t(0, 2) * d[2], t(1, 0) * d[0] + t(1, 1) * d[1] + t(1, 2) * d[2],
            t(2, 0) * d[0] + t(2, 1) * d[1] + t(2, 2) * d[2]};
}

/// Transforms by the inverse transpose, up to a positive factor: the cofactor matrix, which also exists for
/// flat transforms, with the sign of the determinant.
inline Point3 move_normal(const Transform& t, const Point3& n) {
    double c[3][3];
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t r1 = (r + 1) % 3, r2 = (r + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            c[r][k] = t(r1, k1) * t(r2, k2) - t(r1, k2) * t(r2, k1);
        }
    const double determinant = t(0, 0) * c[0][0] + t(0, 1) * c[0][1] + t(0, 2) * c[0][2];
    const double sign = determinant < 0 ? -1 : 1;
    Point3 out;
    for (std::size_t r = 0; r < 3; ++r) out[r] = sign * (c[r][0] * n[0] + c[r][1] * n[1] + c[r][2] * n[2]);
    return out;
}

}  // namespace sinew
