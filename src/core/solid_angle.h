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
    /// Adds a triangle of any size that float can hold, with its corners relative to the point. A triangle whose
    /// plane contains the point adds nothing. Branchless, for kernels.
    void add(const Point3& a, const Point3& b, const Point3& c) {
        const double x = norm(a), y = norm(b), z = norm(c), volume = dot(a, cross(b, c));
        const double side = x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y;
        const double real = real_ * side - imaginary_ * volume, imaginary = real_ * volume + imaginary_ * side;
        // Both arguments are within half a turn. If their sum is not, its sign differs from that of both.
        const int over = (imaginary_ >= 0) & (volume > 0) & (imaginary < 0);
        const int under = (imaginary_ < 0) & (volume < 0) & (imaginary >= 0);
        turns_ += over - under;
        // The product is as large as a volume: it is brought back to the range of 1.
        const double re = std::abs(real), im = std::abs(imaginary), factor = 1 / (re > im ? re : im);
        real_ = volume != 0 ? factor * real : real_;
        imaginary_ = volume != 0 ? factor * imaginary : imaginary_;
    }
    /// Steradians. No -0: the argument of (-1, -0) would be -π, where turns count π.
    double sum() const { return 2 * (std::atan2(imaginary_ + 0.0, real_) + 2 * std::numbers::pi * turns_); }

private:
    double real_ = 1, imaginary_ = 0, turns_ = 0;
};

}  // namespace sinew
