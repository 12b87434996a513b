// A domain of the same voxels for bones at other places: what it shares with the one before, which it takes over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sinew/domain.h"

namespace sinew {

/// The leaves that two domains of the same voxels have in common: all but those that bones divide in one of them.
struct LeafMatch {
    struct Run {
        std::uint32_t now, before, count;  ///< leaves now.. are before.., as many as count
    };
    std::vector<Run> runs;  ///< ascending; what no run has is new
};
/// O(leaves).
LeafMatch match_leaves(std::span<const Domain::Leaf> before, std::span<const Domain::Leaf> now);

/// The voxels of which a domain was made, from its index. O(r³/64).
VoxelGrid voxels_of(const Domain& domain, Context* context = nullptr);

/// What build_domain makes with all neighbours, from a domain of the same voxels (voxels_of) whose leaves other
/// bones divide, and which has a graph. Components stay, and links are looked for only where leaves are others. The
/// lists of all other links are in the order of before. Time O(leaves), a third of build_domain's or less.
Result<Domain> redivide_domain(const VoxelGrid& grid, std::span<const Bone> bones, DomainKind kind,
                               const Domain& before, Context* context = nullptr, Links links = Links::listed);

}  // namespace sinew
