// The solid angle of many triangles, with a single arc tangent.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/vectors.h"

namespace sinew {

/// The sum of the signed solid angles of triangles seen from a point. Half the angle of a triangle is the argument of
/// a complex number (Van Oosterom and Strackee 1983, equation 8). Their product has the sum of the arguments as its
/// own, except for whole turns, which are counted.
class SolidAngle {
public:
    /// Adds a triangle, with its corners relative to the point. A triangle whose plane contains the point adds zero.
    void add(const Point3& a, const Point3& b, const Point3& c) {
        const double volume = dot(a, cross(b, c));
        if (volume == 0) return;
        const double x = norm(a), y = norm(b), z = norm(c);
        const double side = x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y;
        const double real = real_ * side - imaginary_ * volume, imaginary = real_ * volume + imaginary_ * side;
        // Both arguments are within half a turn. If their sum is not, its sign differs from that of both.
        const bool before = imaginary_ < 0, added = volume < 0, after = imaginary < 0;
        if (before == added && after != before) turns_ += added ? -1 : 1;
        const double size = std::max(std::abs(real), std::abs(imaginary));  // keeps the product in range
        real_ = real / size;
        imaginary_ = imaginary / size + 0.0;  // no -0: the argument of (-1, -0) would be -π instead of π
    }
    /// Steradians.
    double sum() const { return 2 * (std::atan2(imaginary_, real_) + 2 * std::numbers::pi * turns_); }

private:
    double real_ = 1, imaginary_ = 0;
    int turns_ = 0;
};

}  // namespace sinew
