// Where each joint's field starts.

#include <algorithm>
#include <limits>
#include <optional>

#include "domain/nearest_leaf.h"
#include "domain/trace.h"
#include "sinew/domain.h"

namespace sinew {
BoneSeeds seed_bones(const Domain& domain, std::span<const Bone> bones, std::size_t joint_count) {
    BoneSeeds seeds;
    seeds.of_joint.resize(joint_count);
    std::vector<std::vector<const Bone*>> bones_of(joint_count);
    for (const Bone& bone : bones) {
        bones_of[bone.joint].push_back(&bone);
        trace_segment(domain.transform, bone.head, bone.tail, [&](int x, int y, int z) {
            const std::uint32_t leaf = domain.leaf_at(x, y, z);
            if (leaf != Domain::none) seeds.of_joint[bone.joint].push_back({leaf, 0});
        });
    }
    std::optional<NearestLeaf> nearest;  // few characters need it
    for (std::size_t j = 0; j < joint_count; ++j) {
        std::vector<BoneSeeds::Seed>& list = seeds.of_joint[j];
        std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.leaf < b.leaf; });
        list.erase(
            std::unique(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.leaf == b.leaf; }),
            list.end());
        if (!list.empty() || bones_of[j].empty() || domain.leaves.empty()) continue;
        // All of it lies outside: start from the nearest leaf, at that distance.
        if (!nearest) nearest.emplace(domain);
        BoneSeeds::Seed best{0, std::numeric_limits<float>::infinity()};
        for (const Bone* bone : bones_of[j])
            nearest->find(to_voxels(domain.transform, bone->head), to_voxels(domain.transform, bone->tail), best);
        list.push_back(best);
        seeds.snapped.push_back(static_cast<std::uint32_t>(j));
    }
    return seeds;
}

}  // namespace sinew
