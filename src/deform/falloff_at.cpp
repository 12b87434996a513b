// Falloff that follows the pose: seed 003, section 9.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "deform/affine.h"
#include "sinew/deform.h"

namespace sinew {
namespace {

/// Degrees between the rotations of two transforms; scale is left out of account.
double angle_between(const Transform& a, const Transform& b) {
    double trace = 0;
    for (std::size_t c = 0; c < 3; ++c) {
        double in_a = 0, in_b = 0, both = 0;
        for (std::size_t r = 0; r < 3; ++r) {
            in_a += a(r, c) * a(r, c);
            in_b += b(r, c) * b(r, c);
            both += a(r, c) * b(r, c);
        }
        if (!(in_a > 0 && in_b > 0)) return 0;
        trace += both / std::sqrt(in_a * in_b);
    }
    return std::acos(std::clamp((trace - 1) / 2, -1.0, 1.0)) * 180 / std::numbers::pi;
}

float value_at(const AngleFalloff& falloff, double degrees) {
    const auto& keys = falloff.keys;
    std::size_t k = 0;
    while (k < keys.size() && keys[k][0] <= degrees) ++k;
    if (k == 0) return keys.front()[1];
    if (k == keys.size()) return keys.back()[1];
    const double t = (degrees - keys[k - 1][0]) / (keys[k][0] - keys[k - 1][0]);
    return static_cast<float>(keys[k - 1][1] + t * (keys[k][1] - keys[k - 1][1]));
}

}  // namespace

std::vector<float> falloff_at(std::span<const AngleFalloff> angles, const Skeleton& skeleton,
                              std::span<const Transform> transforms, std::vector<float> base) {
    if (angles.empty()) return base;
    base.resize(skeleton.joints.size(), NAN);
    for (const AngleFalloff& falloff : angles) {
        if (falloff.keys.empty() || falloff.joint >= base.size()) continue;
        double degrees = 0;
        if (transforms.size() == base.size()) {
            const int parent = skeleton.joints[falloff.joint].parent;
            degrees = angle_between(parent < 0 ? Transform{} : transforms[static_cast<std::size_t>(parent)],
                                    transforms[falloff.joint]);
        }
        base[falloff.joint] = value_at(falloff, degrees);
    }
    return base;
}

}  // namespace sinew
