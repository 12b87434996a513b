#include "bind/rigid_parts.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/vectors.h"
#include "sinew/weights.h"

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

/// Solid angles of the triangles as seen from the joint (Van Oosterom and Strackee 1983), in full spheres.
bool holds(const MeshView& mesh, const Skeleton& skeleton, std::span<const Triangle> part, std::uint32_t joint) {
    const Point3 eye = to_point(skeleton.joints[joint].position);
    double sum = 0;
    for (const Triangle& t : part) {
        const Point3 a = to_point(mesh.positions[t[0]]) - eye, b = to_point(mesh.positions[t[1]]) - eye,
                     c = to_point(mesh.positions[t[2]]) - eye;
        const double x = norm(a), y = norm(b), z = norm(c);
        sum += 2 * std::atan2(dot(a, cross(b, c)), x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y);
    }
    return std::abs(sum) > kInside * 4 * std::numbers::pi;
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
