// The solid angle of many triangles, with a single arc tangent.
#pragma once

#include <cmath>
#include <numbers>

#include "core/vectors.h"

namespace sinew {

/// The sum of the signed solid angles of triangles seen from a point. Half the angle of a triangle is the argument
/// of a complex number (Van Oosterom and Strackee 1983, equation 8). Their product has the sum of the arguments as
/// its own, except for whole turns, which are counted.
class SolidAngle {
public:
    /// Multiplies by the number of a triangle, whose corners are relative to the point. A triangle whose plane
    /// contains the point adds nothing. Branchless, for kernels; scale() must follow after at most eight triangles
    /// in a unit box.
    void multiply(const Point3& a, const Point3& b, const Point3& c) {
        const double x = norm(a), y = norm(b), z = norm(c), volume = dot(a, cross(b, c));
        const double side = x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y;
        const double real = real_ * side - imaginary_ * volume;
        // No -0: the argument of (-1, -0) would be -π instead of π.
        const double imaginary = real_ * volume + imaginary_ * side + 0.0;
        // Both arguments are within half a turn. If their sum is not, its sign differs from that of both.
        const int over = (imaginary_ >= 0) & (volume > 0) & (imaginary < 0);
        const int under = (imaginary_ < 0) & (volume < 0) & (imaginary >= 0);
        turns_ += over - under;
        real_ = volume != 0 ? real : real_;
        imaginary_ = volume != 0 ? imaginary : imaginary_;
    }
    /// Keeps the product within the range of double.
    void scale() {
        const double re = std::abs(real_), im = std::abs(imaginary_), factor = 1 / (re > im ? re : im);
        real_ *= factor;
        imaginary_ = imaginary_ * factor + 0.0;
    }
    /// Adds a triangle of any size.
    void add(const Point3& a, const Point3& b, const Point3& c) {
        multiply(a, b, c);
        scale();
    }
    /// Steradians.
    double sum() const { return 2 * (std::atan2(imaginary_, real_) + 2 * std::numbers::pi * turns_); }

private:
    double real_ = 1, imaginary_ = 0, turns_ = 0;
};

}  // namespace sinew
