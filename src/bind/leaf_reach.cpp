// Length of the bones of leaf joints, for methods without a volume.
#include <algorithm>
#include <cmath>

#include "bind/bone_shapes.h"
#include "bind/bone_tree.h"
#include "bind/method.h"
#include "core/sums.h"

namespace sinew {
namespace {

Point3 direction_into(const Skeleton& skeleton, std::uint32_t joint, double& length) {
    const Point3 at = to_point(skeleton.joints[joint].position);
    for (int up = skeleton.joints[joint].parent; up >= 0; up = skeleton.joints[up].parent) {
        const Point3 from = to_point(skeleton.joints[up].position);
        const Point3 d{at[0] - from[0], at[1] - from[1], at[2] - from[2]};
        length = std::hypot(d[0], d[1], d[2]);
        if (length > 0) return {d[0] / length, d[1] / length, d[2] / length};
    }
    length = 0;
    return {};
}

}  // namespace

void extend_leaf_bones(const Task& task, std::span<const Point3> directions) {
    const auto grows = [&](const Bone& bone) {
        return bone.head == bone.tail && !bone.open_tail && !bone.shaped() &&
               !task.skeleton.joints[bone.joint].states_bones();
    };
    const BoneShapes shapes(task.skeleton, task.bones);
    std::vector<double> reach(task.skeleton.joints.size(), 0);
    std::vector<Point3> direction(reach.size());
    std::vector<double> limit(reach.size(), 0);
    std::vector<bool> is_leaf(reach.size(), false);
    for (const Bone& bone : task.bones)
        if (grows(bone)) {
            is_leaf[bone.joint] = true;
            direction[bone.joint] = direction_into(task.skeleton, bone.joint, limit[bone.joint]);
            if (directions.empty() || directions[bone.joint] == Point3{}) continue;
            direction[bone.joint] = directions[bone.joint];
            if (limit[bone.joint] == 0) limit[bone.joint] = INFINITY;
        }
    const auto along = [&](std::uint32_t leaf, const Point3& p) {
        const Point3& at = shapes.place(leaf);
        const Point3& d = direction[leaf];
        return std::min((p[0] - at[0]) * d[0] + (p[1] - at[1]) * d[1] + (p[2] - at[2]) * d[2], 2 * limit[leaf]);
    };
    for (const JointSet& set : task.plan.sets) {
        std::vector<BoneSpace> spaces;
        std::vector<std::uint32_t> joint_of, leaves;
        for (const std::uint32_t j : set.joints) {
            shapes.each(j, [&](const BoneSpace& space) { spaces.push_back(space), joint_of.push_back(j); });
            if (is_leaf[j]) leaves.push_back(j);
        }
        if (leaves.empty()) continue;
        const BoneTree tree(spaces);
        struct Farthest {
            std::vector<double> reach;                           // per joint
            std::vector<std::pair<std::uint32_t, double>> near;  // joints and distances of bones
            std::uint32_t last = 0;                              // the nearest bone of the vertex before
        };
        const auto add = [&](Farthest& to, std::size_t i) {
            to.reach.resize(reach.size(), 0);
            const std::uint32_t v = set.vertices[i];
            const Point3 p = to_point(task.mesh.positions[v]);
            const auto is_farther = [&](std::uint32_t leaf) { return along(leaf, p) > to.reach[leaf]; };
            if (!task.used[v] || std::none_of(leaves.begin(), leaves.end(), is_farther)) return;
            to.near.clear();
            double least = spaces[to.last].distance(p);
            const auto counts_below = [&] { return least * (1 + 1e-6); };
            tree.visit(p, counts_below, [&](std::uint32_t bone) {
                const double d = spaces[bone].distance(p);
                if (d > counts_below()) return;
                to.near.emplace_back(joint_of[bone], d);
                if (d < least) least = d, to.last = bone;
            });
            std::erase_if(to.near, [&](const auto& each) { return each.second > counts_below(); });
            std::sort(to.near.begin(), to.near.end());
            least = INFINITY;
            std::uint32_t nearest = 0;
            for (const auto& [j, d] : to.near) {
                // The parent's bone ends at the leaf joint, so points beyond it are nearest to the leaf joint, too.
                const bool wins = is_leaf[j] && !is_leaf[nearest] && d <= least * (1 + 1e-9);
                if (d < least || wins) least = d, nearest = j;
            }
            if (is_leaf[nearest]) to.reach[nearest] = std::max(to.reach[nearest], along(nearest, p));
        };
        const auto join = [&](Farthest& to, const Farthest& more) {
            for (std::size_t j = 0; j < reach.size(); ++j) to.reach[j] = std::max(to.reach[j], more.reach[j]);
        };
        const auto found = sum_of<Farthest>(task.context, set.vertices.size(), add, join, 2048);
        for (std::size_t j = 0; j < found.reach.size(); ++j) reach[j] = std::max(reach[j], found.reach[j]);
    }
    for (Bone& bone : task.bones) {
        if (!grows(bone)) continue;
        const Point3& d = direction[bone.joint];
        const double r = reach[bone.joint];
        bone.tail = {static_cast<float>(bone.head.x + r * d[0]), static_cast<float>(bone.head.y + r * d[1]),
                     static_cast<float>(bone.head.z + r * d[2])};
    }
}

}  // namespace sinew
