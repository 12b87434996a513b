// sinew/field.h: what spreads from the bones over the domain.
#pragma once

#include <span>
#include <vector>

#include "sinew/core.h"
#include "sinew/domain.h"
#include "sinew/weights.h"

namespace sinew {

struct GeodesicOptions {
    float penalty = 4;         ///< factor on a step into a boundary voxel (seed 003, alg. 3), 1..100
    /// Distinct joints kept per leaf; 0 = all. The K nearest are exact: a joint that is not among the K nearest
    /// of a leaf cannot become so further along a path through it.
    int nearest = 8;
};
Status check(const GeodesicOptions& options);

/// A link that adjacency does not have: it bridges to a part of the volume that no bone reaches.
struct Bridge {
    std::uint32_t from, to;    ///< leaves
    float length;              ///< between centres, in voxels
};

/// Joins every component without a seed to its nearest component that has one or is joined already (a minimum
/// spanning forest over components). Components with seeds are never joined to each other.
/// `seeded`: per component. Time O(r³/512 + components log components).
std::vector<Bridge> bridge_components(const Domain& domain, const std::vector<bool>& seeded);

/// Graph distances over a domain, K nearest joints per leaf, exact and in integers (1/16384 voxel), so that
/// the answer does not depend on the order of work. `label` rows are sorted by distance, then by joint.
struct LeafDistances {
    static constexpr std::uint32_t unreached = 0xffffffffu;
    std::size_t width = 0;
    std::vector<std::uint32_t> joint;       ///< leaves × width; DistanceTable::none where unused
    std::vector<std::uint32_t> distance;    ///< leaves × width, 1/16384 voxel; unreached where unused
    static constexpr float units_per_voxel = 16384.0f;
};

/// One sweep for all joints (seed 003, alg. 3, for all bones at once): label-correcting Dijkstra with a bucket
/// queue. `allowed`: joints that take part, empty = all with seeds.
/// Time O(leaves · K · links), memory 8 K bytes a leaf.
Result<LeafDistances> geodesic_distances(const Domain& domain, const BoneSeeds& seeds,
                                         std::span<const Bridge> bridges, const GeodesicOptions& options,
                                         const std::vector<bool>& allowed = {}, Context* context = nullptr);

}  // namespace sinew
