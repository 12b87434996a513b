// Bones along the axes of their joints.
#include <algorithm>
#include <cmath>

#include "bind/surface_heat/bones.h"
#include "core/joint_axes.h"

namespace sinew {
namespace {

Point3 head_to_tail(const Bone& bone) { return to_point(bone.tail) - to_point(bone.head); }
bool is_link(const Bone& bone) { return bone.open_tail && !bone.shaped(); }
bool is_point(const Bone& bone) { return bone.head == bone.tail && !bone.open_tail && !bone.shaped(); }

/// The bones of each joint; they are sorted by joint.
std::vector<std::span<const Bone>> bones_by_joint(const std::vector<Bone>& bones) {
    std::vector<std::span<const Bone>> ranges;
    for (std::size_t first = 0, end; first < bones.size(); first = end) {
        for (end = first; end < bones.size() && bones[end].joint == bones[first].joint;) ++end;
        ranges.emplace_back(bones.data() + first, end - first);
    }
    return ranges;
}

/// The highest deforming joint above a joint, or the joint itself.
std::uint32_t root_of(const std::vector<Joint>& joints, std::uint32_t joint) {
    for (int up = joints[joint].parent; up >= 0; up = joints[static_cast<std::size_t>(up)].parent)
        if (joints[static_cast<std::size_t>(up)].deform) joint = static_cast<std::uint32_t>(up);
    return joint;
}

}  // namespace

std::vector<Point3> align_with_axes(const Skeleton& skeleton, std::vector<Bone>& bones,
                                    const std::function<bool(const Point3&, const Point3&)>& joined) {
    const std::vector<Joint>& joints = skeleton.joints;
    const std::optional<std::size_t> axis = common_axis(skeleton, bones);
    if (!axis) return {};
    const auto position = [&](std::size_t j) { return to_point(joints[j].position); };
    std::vector<std::uint32_t> roots;
    for (std::uint32_t j = 0; j < joints.size(); ++j)
        if (joints[j].deform && root_of(joints, j) == j) roots.push_back(j);

    // The nearest root of another chain along the axis of a leaf joint; the joint itself if there is none.
    const auto root_along = [&](std::uint32_t joint, const Point3& along) {
        double nearest = INFINITY;
        std::uint32_t found = joint;
        for (const std::uint32_t root : roots) {
            const Point3 to_root = position(root) - position(joint);
            if (norm(to_root) >= nearest || !leads_along(to_root, along) || root == root_of(joints, joint))
                continue;
            nearest = norm(to_root), found = root;
        }
        return found != joint && joined(position(joint), position(found)) ? found : joint;
    };

    std::vector<Point3> directions(joints.size());
    std::vector<bool> is_end(joints.size(), false);  // of a bone of a leaf joint
    std::vector<Bone> aligned;
    for (const std::span<const Bone> own : bones_by_joint(bones)) {
        const std::uint32_t joint = own[0].joint;
        const Point3 along = axis_of(joints[joint], *axis);
        const bool leaf = own.size() == 1 && is_point(own[0]);
        const bool links = std::all_of(own.begin(), own.end(), is_link);
        if (joints[joint].states_bones() || (!leaf && !links)) {  // shapes, and stated tails
            aligned.insert(aligned.end(), own.begin(), own.end());
            continue;
        }
        const auto link = std::find_if(own.begin(), own.end(),
                                       [&](const Bone& b) { return leads_along(head_to_tail(b), along); });
        if (link != own.end()) {
            aligned.push_back(*link);
            continue;
        }
        Bone bone = own[0];
        bone.tail = bone.head, bone.open_tail = false;
        if (const std::uint32_t end = leaf ? root_along(joint, along) : joint; end != joint) {
            bone.tail = joints[end].position, bone.open_tail = true;
            is_end[end] = true;
        } else {
            directions[joint] = along;
        }
        aligned.push_back(bone);
    }
    for (Bone& bone : aligned) bone.open_head = bone.open_head || (is_end[bone.joint] && !bone.shaped());
    bones = std::move(aligned);
    return directions;
}

}  // namespace sinew
