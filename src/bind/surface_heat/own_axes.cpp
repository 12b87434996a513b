// Bones along the axes of their joints.
#include <algorithm>
#include <cmath>

#include "bind/surface_heat/bones.h"
#include "core/joint_axes.h"

namespace sinew {
namespace {

Point3 way_of(const Bone& bone) { return to_point(bone.tail) - to_point(bone.head); }
bool is_link(const Bone& bone) { return bone.open_tail && !bone.shaped(); }
bool is_point(const Bone& bone) { return bone.head == bone.tail && !bone.open_tail && !bone.shaped(); }

/// The bones of each joint, as ranges: they come joint by joint.
std::vector<std::span<const Bone>> by_joint(const std::vector<Bone>& bones) {
    std::vector<std::span<const Bone>> ranges;
    for (std::size_t first = 0, end; first < bones.size(); first = end) {
        for (end = first; end < bones.size() && bones[end].joint == bones[first].joint;) ++end;
        ranges.emplace_back(bones.data() + first, end - first);
    }
    return ranges;
}

}  // namespace

std::vector<Point3> look_along_axes(const Skeleton& skeleton, std::vector<Bone>& bones,
                                    const std::function<bool(const Point3&, const Point3&)>& joined) {
    const std::vector<Joint>& joints = skeleton.joints;
    const std::vector<std::span<const Bone>> ranges = by_joint(bones);
    const std::optional<std::size_t> axis = common_axis(skeleton, bones);
    if (!axis) return {};
    const auto place = [&](std::size_t j) { return to_point(joints[j].position); };

    // The joint above all others above a joint that deform; itself where there is none.
    const auto root_of = [&](std::uint32_t joint) {
        for (int up = joints[joint].parent; up >= 0; up = joints[static_cast<std::size_t>(up)].parent)
            if (joints[static_cast<std::size_t>(up)].deform) joint = static_cast<std::uint32_t>(up);
        return joint;
    };
    std::vector<std::uint32_t> roots;
    for (std::uint32_t j = 0; j < joints.size(); ++j)
        if (joints[j].deform && root_of(j) == j) roots.push_back(j);

    std::vector<Point3> ways(joints.size());
    std::vector<bool> led_to(joints.size(), false);
    std::vector<Bone> kept;
    for (const std::span<const Bone> of : ranges) {
        const std::uint32_t joint = of[0].joint;
        const Point3 along = axis_of(joints[joint], *axis);
        const auto off = [&](const Point3& way) { return !leads_along(way, along); };
        const bool leaf = of.size() == 1 && is_point(of[0]);
        const bool links = std::all_of(of.begin(), of.end(), is_link);
        if (joints[joint].states_bones() || (!leaf && !links)) {  // shapes, and ends of their own
            kept.insert(kept.end(), of.begin(), of.end());
            continue;
        }
        // Of several links the one that is the bone; else the bone ends where nothing is, or at a root.
        const auto link = std::find_if(of.begin(), of.end(), [&](const Bone& b) { return !off(way_of(b)); });
        Bone bone = link == of.end() ? of[0] : *link;
        if (link == of.end()) {
            bone.tail = bone.head, bone.open_tail = false;
            double nearest = INFINITY;
            std::uint32_t next = joint;
            for (const std::uint32_t root : roots) {
                const Point3 way = place(root) - place(joint);
                if (!leaf || norm(way) >= nearest || off(way) || root == root_of(joint)) continue;
                nearest = norm(way), next = root;
            }
            if (next != joint && joined(place(joint), place(next))) {
                bone.tail = joints[next].position, bone.open_tail = true;
                led_to[next] = true;
            } else {
                ways[joint] = along;
            }
        }
        kept.push_back(bone);
    }
    for (Bone& bone : kept) bone.open_head = bone.open_head || (led_to[bone.joint] && !bone.shaped());
    bones = std::move(kept);
    return ways;
}

}  // namespace sinew
