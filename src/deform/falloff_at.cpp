// Falloff that depends on the pose (Dionne and de Lasa 2014, section 9).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "deform/affine.h"
#include "sinew/deform.h"

namespace sinew {
namespace {

/// Degrees between the rotations of two transforms; scale is ignored.
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

FalloffMap falloff_at(std::span<const AngleFalloff> angles, const Skeleton& skeleton,
                      std::span<const Transform> transforms, FalloffMap base) {
    const std::size_t joints = skeleton.joints.size();
    for (const AngleFalloff& falloff : angles) {
        if (falloff.keys.empty() || falloff.joint >= joints) continue;
        double degrees = 0;
        if (transforms.size() == joints) {
            const int parent = skeleton.joints[falloff.joint].parent;
            degrees = angle_between(parent < 0 ? Transform{} : transforms[static_cast<std::size_t>(parent)],
                                    transforms[falloff.joint]);
        }
        const float value = value_at(falloff, degrees);
        if (falloff.selection.empty()) {
            base.of_joint.resize(joints, NAN);
            base.of_joint[falloff.joint] = value;
        }
        for (std::size_t v = 0; v < falloff.selection.size(); ++v)
            base.put(v, falloff.selection.size(), value, falloff.selection[v]);
    }
    return base;
}

}  // namespace sinew
