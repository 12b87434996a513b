#include "bind/surface_heat/rigid_parts.h"

#include <algorithm>
#include <cmath>

#include "core/vectors.h"
#include "domain/winding.h"
#include "sinew/weights.h"

namespace sinew {
namespace {

// Joints with a smaller share of the weight do not bend a part.
constexpr double kLeastShare = 0.02;
// Least winding number of a point inside. A point in the plane of a sleeve's opening has 0.5.
constexpr double kInside = 0.3;
constexpr int kStepsAlongBone = 16;

bool is_ancestor(const Skeleton& skeleton, std::uint32_t ancestor, std::uint32_t joint) {
    for (int at = static_cast<int>(joint); at >= 0; at = skeleton.joints[static_cast<std::size_t>(at)].parent)
        if (at == static_cast<int>(ancestor)) return true;
    return false;
}

bool encloses(const MeshView& mesh, const Skeleton& skeleton, std::span<const Triangle> part, std::uint32_t joint) {
    return std::abs(winding_number(mesh, part, to_point(skeleton.joints[joint].position))) > kInside;
}

}  // namespace

std::uint32_t rigid_joint(const MeshView& mesh, const Skeleton& skeleton, std::span<const Triangle> part,
                          std::span<const JointShare> shares, const PartRules& rules) {
    if (shares.empty()) return no_index;
    const auto most = std::max_element(shares.begin(), shares.end(),
                                       [](const JointShare& a, const JointShare& b) { return a.share < b.share; });
    if (most->share >= rules.nearly_all) return most->joint;
    if (most->share < rules.half) return no_index;
    for (const JointShare& other : shares) {
        if (&other == &*most || other.share < kLeastShare) continue;
        // Two joints of one chain turn against each other about the lower one.
        const bool below = is_ancestor(skeleton, most->joint, other.joint);
        const bool above = is_ancestor(skeleton, other.joint, most->joint);
        if (!above && encloses(mesh, skeleton, part, other.joint)) return no_index;
        if (!below && encloses(mesh, skeleton, part, most->joint)) return no_index;
    }
    return most->joint;
}

std::vector<JointShare> bones_within(const MeshView& mesh, const SurfacePart& part, std::span<const Bone> bones) {
    const WindingTree winding({mesh.positions, part.triangles, {}}, {});
    std::vector<JointShare> within;
    for (const Bone& bone : bones) {
        const Point3 head = to_point(bone.head), to_tail = to_point(bone.tail) - head;
        const int steps = bone.head == bone.tail ? 1 : kStepsAlongBone;
        int inside = 0;
        for (int k = 0; k < steps; ++k) {
            const Point3 p = head + ((k + 0.5) / steps) * to_tail;
            if (!part.box.holds(p)) continue;
            const Vec3 at = to_vec3(p);
            inside += std::abs(winding(at)) > kInside;
        }
        if (inside == 0) continue;
        const double share = static_cast<double>(inside) / steps;
        if (!within.empty() && within.back().joint == bone.joint)
            within.back().share = std::max(within.back().share, share);
        else
            within.push_back({bone.joint, share});
    }
    return within;
}

std::uint32_t bone_of_part(std::span<const JointShare> within, const PartRules& rules) {
    std::uint32_t whole = no_index;
    for (const JointShare& bone : within) {
        if (bone.share <= rules.other_bone) continue;
        if (bone.share < rules.whole_bone || whole != no_index) return no_index;
        whole = bone.joint;
    }
    return whole;
}

}  // namespace sinew
