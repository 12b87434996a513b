#include "bind/rigid_parts.h"

#include <algorithm>
#include <cmath>

#include "sinew/weights.h"
#include "surface/parts.h"

namespace sinew {
namespace {

constexpr double kNearlyAll = 0.7, kHalf = 0.5;
// Joints with less do not say where a part bends.
constexpr double kSome = 0.02;
// A point in the plane of a sleeve's opening has a half.
constexpr double kInside = 0.3;

bool is_above(const Skeleton& skeleton, std::uint32_t above, std::uint32_t joint) {
    for (int at = static_cast<int>(joint); at >= 0; at = skeleton.joints[static_cast<std::size_t>(at)].parent)
        if (at == static_cast<int>(above)) return true;
    return false;
}

bool holds(const MeshView& mesh, const Skeleton& skeleton, std::span<const Triangle> part, std::uint32_t joint) {
    return std::abs(winding_number(mesh, part, to_point(skeleton.joints[joint].position))) > kInside;
}

}  // namespace

std::uint32_t rigid_joint(const MeshView& mesh, const Skeleton& skeleton, std::span<const Triangle> part,
                          std::span<const JointShare> shares) {
    if (shares.empty()) return DistanceTable::none;
    const auto most = std::max_element(shares.begin(), shares.end(),
                                       [](const JointShare& a, const JointShare& b) { return a.share < b.share; });
    if (most->share >= kNearlyAll) return most->joint;
    if (most->share < kHalf) return DistanceTable::none;
    for (const JointShare& other : shares) {
        if (&other == &*most || other.share < kSome) continue;
        // Of two on one chain the lower one is where they turn against each other.
        const bool below = is_above(skeleton, most->joint, other.joint);
        const bool above = is_above(skeleton, other.joint, most->joint);
        if (!above && holds(mesh, skeleton, part, other.joint)) return DistanceTable::none;
        if (!below && holds(mesh, skeleton, part, most->joint)) return DistanceTable::none;
    }
    return most->joint;
}

}  // namespace sinew
