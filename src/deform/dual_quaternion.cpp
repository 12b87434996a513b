// Dual quaternion skinning (Kavan et al. 2007).
#include <algorithm>
#include <cmath>
#include <string>

#include "deform/affine.h"
#include "deform/skinning.h"

namespace sinew {

namespace {

// Tolerance for scale: inverse bind matrices and animations are floats, and rotations in files are slightly
// inexact.
constexpr double rigid_tolerance = 1e-3;

using Quaternion = std::array<double, 4>;  // x, y, z, w

double dot4(const Quaternion& a, const Quaternion& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

Quaternion multiply(const Quaternion& a, const Quaternion& b) {
    return {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
            a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
            a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
            a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
}

/// Orthonormal, right-handed columns, within the tolerance.
bool rigid(const Transform& t) {
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = a; b < 3; ++b) {
            const double product = t(0, a) * t(0, b) + t(1, a) * t(1, b) + t(2, a) * t(2, b);
            if (!(std::abs(product - (a == b ? 1 : 0)) <= 2 * rigid_tolerance)) return false;
        }
    const double determinant = t(0, 0) * (t(1, 1) * t(2, 2) - t(1, 2) * t(2, 1)) -
                               t(0, 1) * (t(1, 0) * t(2, 2) - t(1, 2) * t(2, 0)) +
                               t(0, 2) * (t(1, 0) * t(2, 1) - t(1, 1) * t(2, 0));
    return determinant > 0;
}

/// From the largest of the four components, which never divides by a small number (Shepperd 1978).
Quaternion rotation_of(const Transform& t) {
    const double trace = t(0, 0) + t(1, 1) + t(2, 2);
    Quaternion q;
    if (trace >= std::max({t(0, 0), t(1, 1), t(2, 2)})) {
        q = {t(2, 1) - t(1, 2), t(0, 2) - t(2, 0), t(1, 0) - t(0, 1), 1 + trace};
    } else {
        const std::size_t i = t(0, 0) >= t(1, 1) && t(0, 0) >= t(2, 2) ? 0 : t(1, 1) >= t(2, 2) ? 1 : 2;
        const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1 + t(i, i) - t(j, j) - t(k, k);
        q[j] = t(j, i) + t(i, j);
        q[k] = t(k, i) + t(i, k);
        q[3] = t(k, j) - t(j, k);
    }
    const double length = std::sqrt(dot4(q, q));
    for (double& v : q) v /= length;
    return q;
}

}  // namespace

Result<std::vector<DualQuaternion>> to_dual_quaternions(std::span<const Transform> transforms,
                                                        const std::vector<bool>& used) {
    std::vector<DualQuaternion> out(transforms.size());
    for (std::size_t j = 0; j < transforms.size(); ++j) {
        if (!used[j]) continue;
        const Transform& t = transforms[j];
        if (!rigid(t))
            return Error{
                ErrorCode::input,
                "joint " + std::to_string(j) +
                    " is scaled, sheared or mirrored, and dual quaternions support rotation and translation "
                    "only: use linear blend skinning"};
        out[j].real = rotation_of(t);
        out[j].dual = multiply({t(0, 3) / 2, t(1, 3) / 2, t(2, 3) / 2, 0}, out[j].real);
    }
    return out;
}

Transform blend_dual(std::span<const Influence> row, std::span<const DualQuaternion> joints) {
    const Quaternion& pivot = joints[row[0].joint].real;  // rows are sorted: the strongest
    Quaternion real{0, 0, 0, 0}, dual{0, 0, 0, 0};
    for (const Influence& i : row) {
        const DualQuaternion& q = joints[i.joint];
        // q and -q are the same rotation; the sum needs the one on the pivot's side.
        const double w = dot4(q.real, pivot) < 0 ? -double{i.weight} : double{i.weight};
        for (std::size_t k = 0; k < 4; ++k) {
            real[k] += w * q.real[k];
            dual[k] += w * q.dual[k];
        }
    }
    // Never 0: no term has a negative component along the pivot, and that of the pivot itself is positive.
    const double length = std::sqrt(dot4(real, real));
    for (std::size_t k = 0; k < 4; ++k) {
        real[k] /= length;
        dual[k] /= length;
    }
    JointPose motion;
    motion.rotation = real;
    const Quaternion t = multiply(dual, {-real[0], -real[1], -real[2], real[3]});
    motion.translation = {2 * t[0], 2 * t[1], 2 * t[2]};
    return to_transform(motion);
}

}  // namespace sinew
