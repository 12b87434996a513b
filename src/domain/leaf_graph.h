// The graph of touching leaves in a compact form, for walks over all of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/large_pages.h"
#include "sinew/domain.h"

namespace sinew {

/// Directions to the 26 neighbours: (x, y, z) steps of -1, 0 or 1 have the number (z + 1)·9 + (y + 1)·3 + x + 1,
/// minus one past the middle. The opposite direction of d is 25 - d.
inline constexpr int kDirections = 26;
constexpr int direction_of(int x, int y, int z) {
    const int cell = (z + 1) * 9 + (y + 1) * 3 + x + 1;
    return cell - (cell > 13);
}
constexpr std::array<int, 3> step_of(int direction) {
    const int cell = direction + (direction >= 13);
    return {cell % 3 - 1, cell / 3 % 3 - 1, cell / 9 - 1};
}

/// Numbers for the contact of two leaves: their sizes, their relative position, and which are boundary. They
/// determine the cost of a step. Leaves of the kLevels smallest sizes have one of kTabled numbers; nearly all
/// contacts are of this kind.
namespace contacts {
inline constexpr int kLevels = 4;
/// Number of positions of a leaf of the lower level in and around one of the higher level, along an axis, by the
/// difference of levels.
constexpr std::uint32_t side(int difference) { return (1u << difference) + 2; }
/// The first number of each pair of levels; the last entry is the total.
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
/// The contact from n to u; also for numbers of Graph::rare.
constexpr std::uint32_t reversed(std::uint32_t contact) {
    if (contact >= kTabled) return kTabled + ((contact - kTabled) ^ 1u);
    return ((contact & ~3u) ^ 4u) | (contact & 1u) << 1 | (contact >> 1 & 1u);
}
/// Two leaves with this contact. For unused numbers below kTabled, the leaves do not touch.
std::pair<Domain::Leaf, Domain::Leaf> example(std::uint32_t contact);
}  // namespace contacts

/// The links of a domain. Leaves of the two finest levels form groups: leaves of one size in one cell of twice that
/// size, consecutive in the list of leaves. A group stores the 26 groups of its level around it, so a leaf only
/// needs the directions of its neighbours of the same size: a sixth of the memory of a list of links. Links between
/// leaves of different sizes, and between larger leaves, are listed with eight bytes each. Memory: about 70 bytes
/// per leaf.
struct Domain::Graph {
    static constexpr int kGrouped = 2;  ///< levels: 0 and 1
    struct Node {
        std::uint32_t all;       ///< of a leaf in a group: directions of its neighbours of the same size
        std::uint32_t boundary;  ///< directions of boundary neighbours among them
        std::uint32_t other;     ///< its other links are other[this .. that of the next node)
        /// Group · 32 + level · 16 + place in it (x + 2 y + 4 z) · 2 + 1 if it is boundary; none if larger.
        std::uint32_t place;

        bool is_grouped() const { return place != no_index; }
        std::uint32_t group() const { return place >> 5; }
        unsigned level() const { return place >> 4 & 1; }
        unsigned octant() const { return place >> 1 & 7; }
        bool is_boundary() const { return place & 1; }  ///< of a leaf in a group
    };
    static constexpr int kLeafBits = 26;
    static constexpr std::uint32_t kMostLeaves = 1u << kLeafBits;  ///< maximum for the bits of a link
    /// A group and the 26 cells of its size around it, in two cache lines. For each cell, `leaf` is: the first leaf
    /// of the group of the same level; at a corner, the leaf that touches this group; a larger leaf + kLarger; or
    /// none. `present` holds the occupied places of that group; corners share the last entry, which is empty.
    struct alignas(64) Cells {
        std::array<std::uint32_t, 27> leaf;
        std::array<std::uint8_t, 20> present;
    };
    /// How to find a neighbour in Cells.
    struct NeighbourPlace {
        std::uint8_t cell, slot;  ///< in Cells::leaf and Cells::present
        std::uint8_t below;       ///< mask of the places before that of the neighbour in its group
    };
    class Link {
    public:
        Link() = default;
        Link(std::uint32_t to, std::uint32_t contact, std::uint32_t back)
            : bits_(to | std::uint64_t{contact} << kLeafBits | std::uint64_t{back} << 56) {}
        /// The leaf at the other end.
        std::uint32_t to() const { return static_cast<std::uint32_t>(bits_) & (kMostLeaves - 1); }
        /// The number of the contact (contacts, `rare`).
        std::uint32_t contact() const { return static_cast<std::uint32_t>(bits_ >> kLeafBits) & ((1u << 30) - 1); }
        /// The same link in the list of the other end: 1 + its place there, or 0 if that exceeds kMostBack.
        std::uint32_t back() const { return static_cast<std::uint32_t>(bits_ >> 56); }

    private:
        std::uint64_t bits_;
    };
    static constexpr std::uint32_t kMostBack = 255 - kDirections;
    LargeVector<Node> nodes;   ///< N + 1
    LargeVector<Cells> cells;  ///< per group; the middle is itself
    LargeVector<Link> other;
    /// Pairs of leaves whose contact has no tabled number. Their number is kTabled + 2 × their place here, plus one
    /// for the opposite direction. A leaf touches at most 7 larger ones, which limits the numbers.
    std::vector<std::array<std::uint32_t, 2>> rare;
    static constexpr std::uint32_t kLarger = 0x80000000u;

    std::span<const Link> others(const Node& node) const {
        return std::span(other).subspan(node.other, (&node)[1].other - node.other);
    }

    /// Finds the neighbours of a leaf in a group.
    struct NeighbourFinder {
        const Cells& cells;
        const NeighbourPlace* places;
        /// The neighbour in direction e, which must be one of Node::all.
        std::uint32_t find(int e) const {
            const NeighbourPlace place = places[e];
            return cells.leaf[place.cell] + kCount[cells.present[place.slot] & place.below];
        }
    };
    NeighbourFinder neighbours_of(const Node& node) const {
        return {cells[node.group()], kNeighbourPlaces[node.octant()].data()};
    }
    std::uint32_t neighbour(const Node& node, int e) const { return neighbours_of(node).find(e); }

    /// Whether there are boundary leaves above level 0.
    bool large_boundary = false;
    /// Number of links, counted in both directions.
    std::size_t link_count = 0;
    /// Directions in which any leaf has a neighbour of its size.
    std::uint32_t directions = 0;

    /// Builds the graph from leaves and index, for build_domain.
    static std::shared_ptr<const Graph> make(const Domain& domain, Neighbours neighbours, Context* context);
    /// Numbers the components by their first leaf.
    void find_components(Domain& domain, Context* context) const;

    static const std::array<std::uint8_t, 256> kCount;  ///< bits

private:
    static const std::array<std::array<NeighbourPlace, kDirections>, 8> kNeighbourPlaces;
    /// Returns the cells of larger leaves among the 27 around each group, as bits.
    std::vector<std::uint32_t> link_groups(const Domain& domain, std::uint32_t allowed, Context* context);
    void link_others(const Domain& domain, std::span<const std::uint32_t> larger, Context* context);
};

}  // namespace sinew
