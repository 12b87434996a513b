// The start of each joint's field.

#include <algorithm>
#include <limits>
#include <optional>

#include "domain/nearest_leaf.h"
#include "domain/shape_voxels.h"
#include "sinew/domain.h"

namespace sinew {

BoneSeeds seed_bones(const Domain& domain, std::span<const Bone> bones, std::size_t joint_count) {
    BoneSeeds seeds;
    seeds.of_joint.resize(joint_count);
    std::vector<std::vector<const Bone*>> bones_of(joint_count);
    for (const Bone& bone : bones) {
        bones_of[bone.joint].push_back(&bone);
        std::vector<BoneSeeds::Seed>& list = seeds.of_joint[bone.joint];
        trace_bone(domain.transform, bone, [&](int x, int y, int z) {
            const std::uint32_t leaf = domain.leaf_at(x, y, z);
            if (leaf != no_index) list.push_back({leaf, 0});
        });
        if (!bone.shaped()) continue;
        const BoneSpace space = in_voxels(domain.transform, bone);
        for (std::uint32_t leaf = 0; leaf < domain.leaves.size(); ++leaf) {
            const auto c = domain.centre(leaf);
            if (space.signed_distance({c[0], c[1], c[2]}) <= 0) list.push_back({leaf, 0});
        }
    }
    std::optional<NearestLeaf> nearest;  // few characters need it
    for (std::size_t j = 0; j < joint_count; ++j) {
        std::vector<BoneSeeds::Seed>& list = seeds.of_joint[j];
        std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.leaf < b.leaf; });
        list.erase(
            std::unique(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.leaf == b.leaf; }),
            list.end());
        if (!list.empty() || bones_of[j].empty() || domain.leaves.empty()) continue;
        // The bone is entirely outside: start from the nearest leaf, at that distance.
        if (!nearest) nearest.emplace(domain);
        BoneSeeds::Seed best{0, std::numeric_limits<float>::infinity()};
        for (const Bone* bone : bones_of[j]) {
            const BoneSpace space = in_voxels(domain.transform, *bone);
            nearest->find([&](const Point3& p) { return space.distance(p); }, best);
        }
        list.push_back(best);
        seeds.snapped.push_back(static_cast<std::uint32_t>(j));
    }
    return seeds;
}

}  // namespace sinew
