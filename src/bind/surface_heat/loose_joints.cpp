// Bones for joints without a hierarchy: some exporters make every joint a child of one node.
#include <algorithm>
#include <cmath>

#include "bind/surface_heat/bones.h"
#include "core/vectors.h"

namespace sinew {
namespace {

// All pairs of joints are compared. Characters do not have more joints.
constexpr std::size_t kMostJoints = 4096;

struct NextJoint {
    std::uint32_t joint;
    double fit = 0;  // 1 on the axis, 0.5 at 6 degrees, 0 at 20 degrees
};

/// The joint nearest along an axis (0..2, and 3..5 for their opposites) of a joint, or itself.
NextJoint next_along(const Skeleton& skeleton, std::span<const std::uint32_t> among, std::uint32_t joint,
                     std::size_t axis, double least_cosine) {
    const Joint& from = skeleton.joints[joint];
    const Point3 along = (axis < 3 ? 1.0 : -1.0) * to_point(from.axes[axis % 3]);
    NextJoint next{joint};
    double nearest = INFINITY;
    for (const std::uint32_t other : among) {
        const Point3 to_other = to_point(skeleton.joints[other].position) - to_point(from.position);
        const double length = norm(to_other);
        if (length == 0 || length >= nearest || dot(to_other, along) < least_cosine * length) continue;
        next = {other, std::pow((dot(to_other, along) / length - least_cosine) / (1 - least_cosine), 8)};
        nearest = length;
    }
    return next;
}

}  // namespace

void link_loose_joints(const Skeleton& skeleton, std::vector<Bone>& bones,
                       const std::function<bool(const Point3&, const Point3&)>& joined, double least_cosine) {
    const auto is_loose = [&](const Bone& bone) {
        return bone.head == bone.tail && !bone.shaped() && !skeleton.joints[bone.joint].states_bones();
    };
    std::vector<std::uint32_t> loose;
    for (const Bone& bone : bones) {
        if (bone.open_head || bone.open_tail) return;  // there is a hierarchy
        if (is_loose(bone)) loose.push_back(bone.joint);
    }
    if (loose.size() < 3 || loose.size() > kMostJoints) return;
    // The opposite axis finds the joints of a finger, too, from its end, but deviates by the bends of its joints.
    std::vector<NextJoint> best;
    double most = 0;
    for (std::size_t axis = 0; axis < 6; ++axis) {
        std::vector<NextJoint> next;
        double fit = 0;
        std::size_t linked = 0;
        for (const std::uint32_t j : loose) {
            next.push_back(next_along(skeleton, loose, j, axis, least_cosine));
            fit += next.back().fit;
            linked += next.back().joint != j;
        }
        if (fit > most && 2 * linked >= loose.size()) most = fit, best = std::move(next);
    }
    if (best.empty()) return;
    std::vector<bool> reached(skeleton.joints.size(), false);
    std::vector<std::uint32_t> next_of(skeleton.joints.size());
    for (std::size_t k = 0; k < loose.size(); ++k) {
        const auto position = [&](std::uint32_t j) { return to_point(skeleton.joints[j].position); };
        const auto [joint, next] = std::pair(loose[k], best[k].joint);
        const bool linked = next != joint && joined(position(joint), position(next));
        next_of[joint] = linked ? next : joint;
        if (linked) reached[next] = true;
    }
    for (Bone& bone : bones) {
        if (!is_loose(bone)) continue;
        bone.open_head = reached[bone.joint];
        const std::uint32_t next = next_of[bone.joint];
        if (next == bone.joint) continue;
        bone.tail = skeleton.joints[next].position;
        bone.open_tail = true;
    }
}

}  // namespace sinew
