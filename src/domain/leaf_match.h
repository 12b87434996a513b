// What a domain has in common with one of the same voxels, divided by bones at other positions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew {

/// The common leaves of two domains of the same voxels: all but those that bones divide in one of them.
struct LeafMatch {
    struct Run {
        std::uint32_t now, before, count;  ///< leaves from `now` on are those from `before` on, `count` of them
    };
    std::vector<Run> runs;  ///< ascending; leaves in no run are new
};
/// O(leaves).
LeafMatch match_leaves(std::span<const Domain::Leaf> before, std::span<const Domain::Leaf> now);

/// The voxels from which a domain was built, from its index. O(r³/64).
VoxelGrid voxels_of(const Domain& domain, Context* context = nullptr);

}  // namespace sinew
