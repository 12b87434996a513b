// Graph distances from the bones over the domain (seed 003, algorithm 3), and the bridges that they may take.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "domain/redivide.h"
#include "field/label_rows.h"
#include "sinew/core.h"
#include "sinew/domain.h"
#include "sinew/weights.h"

namespace sinew {

/// A link that adjacency does not have: it bridges to a part of the volume that no bone reaches.
struct Bridge {
    std::uint32_t from, to;  ///< leaves
    float length;            ///< between centres, in voxels
    bool one_way = false;    ///< no path goes back
};

/// The same bridges, from what has a seed outwards and one way. Then distances within components that have seeds
/// are those without bridges. `seeded`: per component, as given to BridgeFinder::join. O(bridges + components).
std::vector<Bridge> lead_outwards(std::vector<Bridge> bridges, const Domain& domain,
                                  const std::vector<bool>& seeded);

/// Finds bridges. The gaps between components are measured once, at the first call that needs them, on a grid of at
/// most 128³ (1024² in one layer), and nearest is meant to that accuracy. Time O(r³/8 + components log components),
/// memory 12 bytes per cell of that grid and 20 per pair of facing leaves. Keeps a reference to the domain; not
/// reentrant.
class BridgeFinder {
public:
    explicit BridgeFinder(const Domain& domain) : domain_(domain) {}

    /// Joins every component without a seed to its nearest component that has one or is joined already (a minimum
    /// spanning forest over components). All pairs of facing leaves whose gap is at most twice the narrowest become
    /// bridges, so that a loose skirt takes its distances from the body around it and not through one point.
    /// Components with seeds are never joined to each other. `seeded`: per component; none at all = no bridges.
    std::vector<Bridge> join(const std::vector<bool>& seeded);

private:
    struct Gap {
        std::uint32_t a, b;  // components, a < b
        float length;
        std::uint32_t leaf_a, leaf_b;
        auto operator<=>(const Gap&) const = default;
    };
    void measure();

    const Domain& domain_;
    bool measured_ = false;
    std::vector<Gap> gaps_;              // sorted
    std::vector<std::size_t> shortest_;  // first gap of each pair of components, by length
};

/// Graph distances over a domain: per leaf the K nearest joints. Exact, and in integers, so that the answer does
/// not depend on the order of work. The rows of a sweep as it left them, never changed again: copies share them.
struct LeafDistances {
    static constexpr std::uint32_t unreached = 0xffffffffu;
    static constexpr float units_per_voxel = 16384.0f;
    std::size_t leaves = 0;               ///< rows
    std::size_t width = 0;                ///< K
    std::size_t stride = 0;               ///< labels from one row to the next, at least K
    bool ways = false;                    ///< labels say how they came; not after they were bytes
    std::shared_ptr<const Label> labels;  ///< leaves × stride

    /// K labels, sorted by distance, then by joint; kNoLabel where there are fewer. Whole cache lines for K = 8.
    std::span<const Label> row(std::size_t leaf) const { return {labels.get() + leaf * stride, width}; }
    /// 1/16384 voxel, unreached where there are fewer.
    std::uint32_t distance(std::size_t leaf, std::size_t k = 0) const { return distance_of(row(leaf)[k]); }
    /// DistanceTable::none where there are fewer.
    std::uint32_t joint(std::size_t leaf, std::size_t k = 0) const {
        const Label label = row(leaf)[k];
        return label == kNoLabel ? DistanceTable::none : joint_of(label);
    }
};

struct SweepGraph;  ///< sweep.h

/// Shortest paths over V from the seeds of every joint (seed 003, alg. 3). Prepared once per domain, then
/// run for any set of joints.
class GeodesicSolver {
public:
    /// The most joints that one sweep keeps per leaf.
    static constexpr int kMaxNearest = 16;

    /// Computes what steps cost. O(ways in which leaves touch). Keeps references to domain.
    GeodesicSolver(const Domain& domain, const GeodesicOptions& options, Context* context = nullptr);

    struct Steps;  ///< between leaves of one size, nearly all of them: what they cost, and which can be left out
    struct Touch {
        std::uint32_t cost;   ///< of the step from the one leaf to the other
        std::uint64_t about;  ///< which others it may leave out (steps.h)
    };

    /// One sweep for all joints at once that keeps the `nearest` (1..kMaxNearest) of every leaf. Exact: a joint
    /// that is not among the K nearest of a leaf cannot become so further along a path through it. `joints`: those
    /// that take part, ascending; joints without seeds are ignored. Time O(leaves · K · links per leaf), memory 8
    /// K bytes a leaf. Const and reentrant.
    Result<LeafDistances> nearest(const BoneSeeds& seeds, std::span<const std::uint32_t> joints,
                                  std::span<const Bridge> bridges, int nearest, Context* context = nullptr) const;

    /// The same, where some bones moved: the very rows of nearest(), from those of a domain of the same voxels
    /// (`before`, which must have ways, with `match`) in which only the joints `moved` (ascending, some of
    /// `joints`) had other bones. Labels that came over leaves that are gone, or from bones that moved, are
    /// deleted; what is missing then flows in again (after Ramalingam and Reps 1996). Time: that of looking at
    /// every row, and of a sweep for what changed.
    Result<LeafDistances> renewed(const LeafDistances& before, const LeafMatch& match, const BoneSeeds& seeds,
                                  std::span<const std::uint32_t> joints, std::span<const std::uint32_t> moved,
                                  std::span<const Bridge> bridges, Context* context = nullptr) const;

private:
    SweepGraph graph(std::span<const Bridge> bridges) const;

    const Domain& domain_;
    float penalty_;
    std::vector<Touch> touches_;                       // by Domain::Graph::Link::touch
    std::shared_ptr<const std::vector<Steps>> steps_;  // by level
};

}  // namespace sinew
