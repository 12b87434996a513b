// A joint's own frame at the bind pose, which poses are relative to.
#pragma once

#include "core/vectors.h"
#include "sinew/skeleton.h"

namespace sinew {

/// The frame (Joint::axes at Joint::position) and its inverse. Returns false if the axes span no space. Axes
/// are stored as floats and are made orthonormal here; otherwise turning a joint back and forth would scale it
/// slightly.
inline bool bind_frame(const Joint& joint, Transform& frame, Transform& inverse) {
    const auto& a = joint.axes;
    Point3 x{a[0].x, a[0].y, a[0].z}, y{a[1].x, a[1].y, a[1].z};
    const double x_length = std::sqrt(dot(x, x));
    for (double& v : x) v /= x_length;
    const double along = dot(x, y);
    for (std::size_t i = 0; i < 3; ++i) y[i] -= along * x[i];
    const double y_length = std::sqrt(dot(y, y));
    if (!(x_length > 1e-6 && y_length > 1e-6)) return false;  // also true for NaN
    for (double& v : y) v /= y_length;
    const Point3 z = cross(x, y);
    const Point3 at{joint.position.x, joint.position.y, joint.position.z};
    const Point3 axes[3] = {x, y, z};
    bool finite = true;
    for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t c = 0; c < 3; ++c) {
            frame(r, c) = axes[c][r];
            inverse(r, c) = axes[r][c];
        }
        frame(r, 3) = at[r];
        inverse(r, 3) = -dot(axes[r], at);
    }
    for (std::size_t i = 0; i < 12; ++i)
        finite = finite && std::isfinite(frame.m[i]) && std::isfinite(inverse.m[i]);
    return finite;
}

}  // namespace sinew
