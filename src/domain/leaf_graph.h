// Which leaves touch, compactly, for walks over all of them.
#pragma once

#include <array>
#include <cstdint>
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

/// The links of a domain. Leaves of the two finest levels come in groups: those of one size in one cell of twice
/// that size, which follow each other. A group knows the 26 of its level around it, so a leaf needs only the
/// directions in which it has a neighbour of its size: a sixth of the memory of a list of links. Links between
/// leaves of different sizes, and between larger ones, are listed. Memory about 45 bytes a leaf.
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
    static constexpr std::size_t kMostLeaves = std::size_t{1} << 27;  ///< for which `place` has room
    /// A group and the 26 cells of its size around it, in two cache lines. Of each, as `leaf`: the first leaf of
    /// the group of the same level there; at a corner, that which touches this group; a larger leaf + kLarger; or
    /// none. `present` has the places at which the group there has leaves; corners share the last, which is empty.
    struct alignas(64) Cells {
        std::array<std::uint32_t, 27> leaf;
        std::array<std::uint8_t, 20> present;
    };
    struct Way {
        std::uint8_t cell, slot;  ///< in Cells::leaf and Cells::present
        std::uint8_t below;       ///< a mask of the places there before that of the neighbour
    };
    LargeVector<Node> nodes;           ///< N + 1
    LargeVector<Cells> around;         ///< per group; the middle is itself
    LargeVector<std::uint32_t> other;  ///< leaves of the other end
    /// The same link in the list of the other end: its place there, or kFarBack if that is too large.
    LargeVector<std::uint8_t> back;
    static constexpr std::uint8_t kFarBack = 255;
    static constexpr std::uint32_t kLarger = 0x80000000u;

    /// What lies around a leaf in a group.
    struct Around {
        const Cells& cells;
        const Way* ways;
        /// The neighbour in direction e, which must be one of Node::all.
        std::uint32_t neighbour(int e) const {
            const Way way = ways[e];
            return cells.leaf[way.cell] + kCount[cells.present[way.slot] & way.below];
        }
    };
    Around around_of(const Node& node) const { return {around[node.group()], kWays[node.octant()].data()}; }
    std::uint32_t neighbour(const Node& node, int e) const { return around_of(node).neighbour(e); }

    /// Whether there are boundary leaves above level 0.
    bool large_boundary = false;
    /// Number of links, both ways counted.
    std::size_t link_count = 0;
    /// Directions in which any leaf has a neighbour of its size.
    std::uint32_t directions = 0;

    /// What build_domain makes, of leaves and index.
    static std::shared_ptr<const Graph> make(const Domain& domain, Neighbours neighbours, Context* context);
    /// Numbers the components by their first leaf.
    void find_components(Domain& domain, Context* context) const;

private:
    static const std::array<std::array<Way, kDirections>, 8> kWays;
    static const std::array<std::uint8_t, 256> kCount;  // bits
    /// Returns which of the 27 cells around each group are of larger leaves, as bits.
    std::vector<std::uint32_t> link_groups(const Domain& domain, std::uint32_t allowed, Context* context);
    void link_others(const Domain& domain, std::span<const std::uint32_t> larger, Context* context);
};

}  // namespace sinew
