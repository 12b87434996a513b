// Which leaves touch, compactly, for walks over all of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/large_pages.h"
#include "sinew/domain.h"

namespace sinew {

/// Directions to the 26 neighbours: (x, y, z) steps of -1, 0 or 1 make number (z + 1)·9 + (y + 1)·3 + x + 1, less
/// one past the middle; that of the opposite is 25 less it.
inline constexpr int kDirections = 26;
constexpr int direction_of(int x, int y, int z) {
    const int cell = (z + 1) * 9 + (y + 1) * 3 + x + 1;
    return cell - (cell > 13);
}
constexpr std::array<int, 3> step_of(int direction) {
    const int cell = direction + (direction >= 13);
    return {cell % 3 - 1, cell / 3 % 3 - 1, cell / 9 - 1};
}

/// Numbers for how two leaves touch: their sizes, where one lies at the other, which are boundary. What a step
/// costs follows from that. Two leaves of up to kLevels sizes have one of kTabled numbers, which is nearly all that
/// touch.
namespace touches {
inline constexpr int kLevels = 4;
/// Places of a leaf of the lower level in and around one of the higher, along an axis, by the difference.
constexpr std::uint32_t side(int difference) { return (1u << difference) + 2; }
/// The first place of a leaf of the lower level at one of the higher; behind them all, how many there are.
inline constexpr auto kFirst = [] {
    std::array<std::array<std::uint32_t, kLevels>, kLevels + 1> out{};
    std::uint32_t first = 0;
    for (int low = 0; low < kLevels; ++low)
        for (int high = low; high < kLevels; ++high) {
            out[static_cast<std::size_t>(low)][static_cast<std::size_t>(high)] = first;
            first += side(high - low) * side(high - low) * side(high - low);
        }
    out[kLevels][0] = first;
    return out;
}();
inline constexpr std::uint32_t kTabled = 8 * kFirst[kLevels][0];

/// From u to n, both of levels below kLevels.
std::uint32_t number(const Domain::Leaf& u, const Domain::Leaf& n);
/// From n to u; of numbers of Graph::rare, too.
constexpr std::uint32_t reversed(std::uint32_t touch) {
    if (touch >= kTabled) return kTabled + ((touch - kTabled) ^ 1u);
    return ((touch & ~3u) ^ 4u) | (touch & 1u) << 1 | (touch >> 1 & 1u);
}
/// Two leaves that touch so, or do not: then nothing does. For numbers below kTabled.
std::pair<Domain::Leaf, Domain::Leaf> example(std::uint32_t touch);
}  // namespace touches

/// The links of a domain. Leaves of the two finest levels come in groups: those of one size in one cell of twice
/// that size, which follow each other. A group knows the 26 of its level around it, so a leaf needs only the
/// directions in which it has a neighbour of its size: a sixth of the memory of a list of links. Links between
/// leaves of different sizes, and between larger ones, are listed, in eight bytes each. Memory about 70 bytes a
/// leaf.
struct Domain::Graph {
    static constexpr int kGrouped = 2;  ///< levels: 0 and 1
    struct Node {
        std::uint32_t all;       ///< of a leaf in a group: directions of its neighbours of the same size
        std::uint32_t boundary;  ///< those of them that are boundary
        std::uint32_t other;     ///< its other links are other[this .. that of the next node)
        /// Group · 32 + level · 16 + place in it (x + 2 y + 4 z) · 2 + whether it is boundary itself; Domain::none
        /// if larger.
        std::uint32_t place;

        bool is_grouped() const { return place != Domain::none; }
        std::uint32_t group() const { return place >> 5; }
        unsigned level() const { return place >> 4 & 1; }
        unsigned octant() const { return place >> 1 & 7; }
        bool is_boundary() const { return place & 1; }  ///< of a leaf in a group
    };
    static constexpr int kLeafBits = 26;
    static constexpr std::uint32_t kMostLeaves = 1u << kLeafBits;  ///< for which a link has room
    /// A group and the 26 cells of its size around it, in two cache lines. Of each, as `leaf`: the first leaf of
    /// the group of the same level there; at a corner, that which touches this group; a larger leaf + kLarger; or
    /// none. `present` has the places at which the group there has leaves; corners share the last, which is empty.
    struct alignas(64) Cells {
        std::array<std::uint32_t, 27> leaf;
        std::array<std::uint8_t, 20> present;
    };
    /// How to find a neighbour in Cells.
    struct NeighbourPlace {
        std::uint8_t cell, slot;  ///< in Cells::leaf and Cells::present
        std::uint8_t below;       ///< a mask of the places there before that of the neighbour
    };
    class Link {
    public:
        Link() = default;
        Link(std::uint32_t to, std::uint32_t touch, std::uint32_t back)
            : bits_(to | std::uint64_t{touch} << kLeafBits | std::uint64_t{back} << 56) {}
        /// The leaf of the other end.
        std::uint32_t to() const { return static_cast<std::uint32_t>(bits_) & (kMostLeaves - 1); }
        /// How the two touch (touches, `rare`).
        std::uint32_t touch() const { return static_cast<std::uint32_t>(bits_ >> kLeafBits) & ((1u << 30) - 1); }
        /// The same link in the list of the other end: 1 + its place there, or 0 if that is more than kMostBack.
        std::uint32_t back() const { return static_cast<std::uint32_t>(bits_ >> 56); }

    private:
        std::uint64_t bits_;
    };
    static constexpr std::uint32_t kMostBack = 255 - kDirections;
    LargeVector<Node> nodes;    ///< N + 1
    LargeVector<Cells> around;  ///< per group; the middle is itself
    LargeVector<Link> other;
    /// Two leaves each whose way to touch has no number of its own: they have kTabled + 2 × their place here, and
    /// the way back one more. A leaf touches at most 7 larger ones, so there is room for the numbers.
    std::vector<std::array<std::uint32_t, 2>> rare;
    static constexpr std::uint32_t kLarger = 0x80000000u;

    std::span<const Link> others(const Node& node) const {
        return std::span(other).subspan(node.other, (&node)[1].other - node.other);
    }

    /// What lies around a leaf in a group.
    struct Around {
        const Cells& cells;
        const NeighbourPlace* places;
        /// The neighbour in direction e, which must be one of Node::all.
        std::uint32_t neighbour(int e) const {
            const NeighbourPlace place = places[e];
            return cells.leaf[place.cell] + kCount[cells.present[place.slot] & place.below];
        }
    };
    Around around_of(const Node& node) const {
        return {around[node.group()], kNeighbourPlaces[node.octant()].data()};
    }
    std::uint32_t neighbour(const Node& node, int e) const { return around_of(node).neighbour(e); }

    /// Whether there are boundary leaves above level 0.
    bool large_boundary = false;
    /// Number of links, both ways counted.
    std::size_t link_count = 0;
    /// Directions in which any leaf has a neighbour of its size.
    std::uint32_t directions = 0;

    /// What build_domain makes, of leaves and index. `previous`: a graph to copy unchanged parts from, or null.
    struct PreviousGraph;
    static std::shared_ptr<const Graph> make(const Domain& domain, Neighbours neighbours,
                                             const PreviousGraph* previous, Context* context);
    /// Numbers the components by their first leaf.
    void find_components(Domain& domain, Context* context) const;

    static const std::array<std::uint8_t, 256> kCount;  ///< bits

private:
    struct Pair;  // of leaves that are to be linked
    static const std::array<std::array<NeighbourPlace, kDirections>, 8> kNeighbourPlaces;
    /// Returns which of the 27 cells around each group are of larger leaves, as bits; not of groups that were taken
    /// over.
    std::vector<std::uint32_t> link_groups(const Domain& domain, std::uint32_t allowed,
                                           const PreviousGraph* previous, Context* context);
    void link_others(const Domain& domain, std::span<const std::uint32_t> larger, Context* context);
    void relink_others(const Domain& domain, std::span<const std::uint32_t> larger, const PreviousGraph& previous,
                       Context* context);
};

/// A graph of the same voxels whose leaves other bones divide (redivide.h), and what of it is as it was.
struct Domain::Graph::PreviousGraph {
    /// The domain of before must have a graph, and both their index.
    PreviousGraph(const Domain& before, const Domain& domain);

    /// Whether all is as it was in and around the block of 4³ voxels in which a leaf of a group lies.
    bool far(const Leaf& leaf) const {
        const std::size_t side = static_cast<std::size_t>(per_side);
        return !near[((leaf.z >> 2) * side + (leaf.y >> 2)) * side + (leaf.x >> 2)];
    }
    /// Puts what lies around group g, which is far, and the directions of its leaves, into a graph of now.
    void take_group(Graph& to, std::size_t g, std::uint32_t first_leaf) const;
    /// The components, which are those of the voxels: only their numbers can be others.
    void take_components(Domain& domain) const;

    const Domain& domain;
    const Graph& graph;
    int per_side;                    ///< blocks of 4³ voxels
    std::vector<std::uint32_t> now;  ///< per leaf of before, and one more: its number now, or none
    std::vector<std::uint32_t> was;  ///< per leaf now: its number before, or none
    ZeroArray<std::uint8_t> near;    ///< per block: in it or beside it is a new leaf
};

}  // namespace sinew
