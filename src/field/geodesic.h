// Graph distances from the bones over the domain (Dionne and de Lasa 2014, algorithm 3), and bridges between
// components.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "domain/leaf_match.h"
#include "field/label_rows.h"
#include "sinew/core.h"
#include "sinew/domain.h"
#include "sinew/weights.h"

namespace sinew {

/// A link in addition to adjacency: a bridge to a part of the volume that no bone reaches.
struct Bridge {
    std::uint32_t from, to;  ///< leaves
    float length;            ///< between centres, in voxels
    bool one_way = false;    ///< no path goes back
};

/// The same bridges in one direction only, away from components with seeds. Then bridges do not change
/// distances within components that have seeds. `seeded`: per component, as given to BridgeFinder::join.
/// O(bridges + components).
std::vector<Bridge> lead_outwards(std::vector<Bridge> bridges, const Domain& domain,
                                  const std::vector<bool>& seeded);

/// Finds bridges. The gaps between components are measured once, at the first call that needs them, on a grid
/// of at most 128³ cells (1024² in one layer); "nearest" has that accuracy. Time O(r³/8 + components log
/// components), memory 12 bytes per cell of that grid and 20 per pair of facing leaves. Keeps a reference to
/// the domain; not reentrant.
class BridgeFinder {
public:
    explicit BridgeFinder(const Domain& domain) : domain_(domain) {}

    /// Joins every component without a seed to the nearest component that has a seed or is already joined (a
    /// minimum spanning forest over components). All pairs of facing leaves whose gap is at most twice the
    /// narrowest become bridges, so that a loose skirt takes its distances from the body around it and not
    /// through one point. Components with seeds are never joined to each other. `seeded`: per component; all
    /// false = no bridges.
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

/// Graph distances over a domain: the K nearest joints per leaf. Exact, and in integers, so that the result
/// does not depend on the order of processing. The rows are immutable; copies share them.
struct LeafDistances {
    static constexpr std::uint32_t unreached = no_index;
    static constexpr float units_per_voxel = 16384.0f;
    std::size_t leaves = 0;               ///< rows
    std::size_t width = 0;                ///< K
    std::size_t stride = 0;               ///< labels from one row to the next, at least K
    bool has_directions = false;          ///< labels store their last step; not after they were read from bytes
    std::shared_ptr<const Label> labels;  ///< leaves × stride

    /// K labels, sorted by distance, then by joint; padded with kNoLabel. Whole cache lines for K = 8.
    std::span<const Label> row(std::size_t leaf) const { return {labels.get() + leaf * stride, width}; }
    /// In 1/16384 voxel; `unreached` in unused slots.
    std::uint32_t distance(std::size_t leaf, std::size_t k = 0) const { return distance_of(row(leaf)[k]); }
    /// none in unused slots.
    std::uint32_t joint(std::size_t leaf, std::size_t k = 0) const {
        const Label label = row(leaf)[k];
        return label == kNoLabel ? no_index : joint_of(label);
    }
};

struct SweepGraph;  ///< sweep.h

/// Shortest paths over the volume from the seeds of every joint (Dionne and de Lasa 2014, algorithm 3).
/// Prepared once per domain, then run for any set of joints.
class GeodesicSolver {
public:
    /// Maximum number of joints that one sweep keeps per leaf.
    static constexpr int kMaxNearest = 16;
    /// Labels for which a leaf's row has room if `nearest` (1..kMaxNearest) are kept: 8 bytes each.
    static constexpr int row_room(int nearest) {
        return nearest <= 1 ? 1 : nearest <= 4 ? 4 : nearest <= 8 ? 8 : 16;
    }

    /// Computes the cost of steps. O(types of contact between leaves). Keeps a reference to the domain.
    GeodesicSolver(const Domain& domain, const GeodesicOptions& options, Context* context = nullptr);

    struct Steps;  ///< steps between leaves of one size, nearly all of them (steps.h)
    /// The step between two leaves that are linked by a listed link.
    struct ContactStep {
        std::uint32_t cost;
        std::uint64_t pruning;  ///< which steps can be left out after it, or before it (steps.h)
    };

    /// One sweep for all joints at once that keeps the `nearest` (1..kMaxNearest) joints of every leaf. Exact:
    /// a joint that is not among the K nearest of a leaf cannot be among them further along a path through it.
    /// `joints`: those that take part, ascending; joints without seeds are ignored. Time O(leaves · K · links
    /// per leaf), memory 8 K bytes a leaf. Const and reentrant. Paths as long as `limit` are not followed.
    Result<LeafDistances> nearest(const BoneSeeds& seeds, std::span<const std::uint32_t> joints,
                                  std::span<const Bridge> bridges, int nearest, Context* context = nullptr,
                                  std::uint32_t limit = LeafDistances::unreached) const;

    /// The same after some bones moved: the exact rows of nearest(), from the rows of a domain of the same
    /// voxels in which only the joints `moved` (ascending, a subset of `joints`) had other bones. `before` must
    /// have directions, and `match` maps its leaves. Labels that came over removed leaves or from moved bones
    /// are deleted; the missing labels are then computed again (after Ramalingam and Reps 1996). Time: one pass
    /// over all rows, and a sweep for the changes.
    Result<LeafDistances> renewed(const LeafDistances& before, const LeafMatch& match, const BoneSeeds& seeds,
                                  std::span<const std::uint32_t> joints, std::span<const std::uint32_t> moved,
                                  std::span<const Bridge> bridges, Context* context = nullptr) const;

private:
    SweepGraph graph(std::span<const Bridge> bridges) const;

    const Domain& domain_;
    float penalty_;
    std::vector<ContactStep> contact_steps_;           // by Domain::Graph::Link::contact
    std::shared_ptr<const std::vector<Steps>> steps_;  // by level
};

}  // namespace sinew
