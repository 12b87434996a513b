// A domain of the same voxels for bones at other positions, and the leaves that both have in common.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sinew/domain.h"

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

struct RedividedDomain {
    Domain domain;
    LeafMatch match;  ///< the leaves that it has in common with the domain before
};
/// The result of build_domain with all neighbours, from a domain of the same voxels (voxels_of) that has a
/// graph and whose leaves other bones divide. Components stay; links are only searched where leaves differ. The
/// lists of all other links keep their order. Time O(leaves), at most a third of build_domain's.
Result<RedividedDomain> redivide_domain(const VoxelGrid& grid, std::span<const Bone> bones, DomainKind kind,
                                        const Domain& before, Context* context = nullptr,
                                        Links links = Links::listed);

}  // namespace sinew
