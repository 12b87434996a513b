// Where each joint's field starts.

#include <algorithm>
#include <cmath>

#include "core/geometry.h"
#include "domain/trace.h"
#include "sinew/domain.h"

namespace sinew {

BoneSeeds seed_bones(const Domain& domain, std::span<const Bone> bones, std::size_t joint_count) {
    BoneSeeds seeds;
    seeds.of_joint.resize(joint_count);
    std::vector<bool> has_bones(joint_count, false);
    for (const Bone& bone : bones) {
        has_bones[bone.joint] = true;
        trace_segment(domain.transform, bone.head, bone.tail, [&](int x, int y, int z) {
            const std::uint32_t leaf = domain.leaf_at(x, y, z);
            if (leaf != Domain::none) seeds.of_joint[bone.joint].push_back({leaf, 0});
        });
    }
    for (std::size_t j = 0; j < joint_count; ++j) {
        std::vector<BoneSeeds::Seed>& list = seeds.of_joint[j];
        std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.leaf < b.leaf; });
        list.erase(
            std::unique(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.leaf == b.leaf; }),
            list.end());
        if (!list.empty() || !has_bones[j] || domain.leaves.empty()) continue;
        // All of it lies outside: start from the nearest leaf, at that distance.
        double best = INFINITY;
        std::uint32_t nearest = 0;
        for (const Bone& bone : bones) {
            if (bone.joint != j) continue;
            const auto a = to_voxels(domain.transform, bone.head), b = to_voxels(domain.transform, bone.tail);
            for (std::uint32_t i = 0; i < domain.leaves.size(); ++i) {
                const auto c = domain.centre(i);
                const double d = segment_distance(a, b, {c[0], c[1], c[2]}).distance;
                if (d < best) best = d, nearest = i;
            }
        }
        list.push_back({nearest, static_cast<float>(best)});
        seeds.snapped.push_back(static_cast<std::uint32_t>(j));
    }
    return seeds;
}

}  // namespace sinew
