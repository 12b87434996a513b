#include "core/joint_axes.h"

#include <algorithm>
#include <array>

namespace sinew {
namespace {

constexpr double kAlong = 0.998;
// Exporters that align axes with bones do so for every bone. The tolerance allows for joints that were moved by
// hand.
constexpr double kMost = 0.9;
constexpr std::size_t kLeast = 3;

}  // namespace

bool leads_along(const Point3& direction, const Point3& axis) {
    const double length = norm(direction);
    return length > 0 && dot(direction, axis) / length > kAlong;
}

std::optional<std::size_t> common_axis(const Skeleton& skeleton, const std::vector<Bone>& bones) {
    std::size_t links = 0;
    std::array<std::size_t, 6> fits{};
    bool alike = true;
    const Joint* one = nullptr;
    for (std::size_t first = 0, end; first < bones.size(); first = end) {  // sorted by joint
        for (end = first; end < bones.size() && bones[end].joint == bones[first].joint;) ++end;
        const Bone& bone = bones[first];
        if (end - first != 1 || !bone.open_tail || bone.shaped()) continue;
        const Joint& joint = skeleton.joints[bone.joint];
        if (!one) one = &joint;
        alike = alike && joint.axes == one->axes;
        ++links;
        for (std::size_t axis = 0; axis < 6; ++axis)
            fits[axis] += leads_along(to_point(bone.tail) - to_point(bone.head), axis_of(joint, axis));
    }
    const auto best = std::max_element(fits.begin(), fits.end());
    const bool enough = static_cast<double>(*best) >= kMost * static_cast<double>(links);
    if (links < kLeast || !enough || alike) return std::nullopt;
    return static_cast<std::size_t>(best - fits.begin());
}

}  // namespace sinew
