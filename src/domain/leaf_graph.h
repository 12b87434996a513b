// Which leaves touch, compactly, for walks over all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

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

/// The links of a domain. Leaves of the finest level come in groups: those of one cell of twice their size, which
/// follow each other. A group knows the 26 around it, so a leaf needs only the directions in which it has a
/// neighbour: a sixth of the memory of a list of links. Links to and from larger leaves are listed. Memory about 45
/// bytes a leaf.
struct Domain::Graph {
    struct Node {
        std::uint32_t all = 0;       ///< of a leaf of the finest level: directions of its neighbours of that level
        std::uint32_t boundary = 0;  ///< those of them that are boundary
        std::uint32_t other = 0;     ///< its other links are other[this .. that of the next node)
        std::uint32_t place = 0;  ///< group · 16 + place in it (x + 2 y + 4 z) · 2 + whether it is boundary itself
    };
    struct Group {
        std::uint32_t first;    ///< leaf
        std::uint32_t present;  ///< bit k: there is a leaf at place k
    };
    struct alignas(64) Cells : std::array<std::uint32_t, 27> {};
    std::vector<Node> nodes;           ///< N + 1
    std::vector<Group> groups;         ///<
    std::vector<Cells> around;         ///< per group, by cell (the middle is itself): the group there,
                                       ///< a larger leaf + kLarger, or none
    std::vector<std::uint32_t> other;  ///< leaves of the other end
    static constexpr std::uint32_t kLarger = 0x80000000u;

    static bool is_group(std::uint32_t entry) { return entry < kLarger; }

    /// The neighbour in direction e, which must be one of Node::all.
    std::uint32_t neighbour(const Node& node, int e) const {
        const Way way = kWays[node.place >> 1 & 7][static_cast<std::size_t>(e)];
        const Group& group = groups[around[node.place >> 4][way.cell]];
        return group.first + kCount[group.present & way.below];
    }

    /// Number of links, both ways counted.
    std::size_t link_count = 0;

    /// What build_domain makes, of leaves and index.
    static std::shared_ptr<const Graph> make(const Domain& domain, Neighbours neighbours, Context* context);
    /// Numbers the components by their first leaf.
    void find_components(Domain& domain) const;

private:
    struct Way {
        std::uint8_t cell, below;  // the group, and a mask of the places there before that of the neighbour
    };
    static const std::array<std::array<Way, kDirections>, 8> kWays;
    static const std::array<std::uint8_t, 256> kCount;  // bits
    void link_fine(const Domain& domain, std::uint32_t allowed, Context* context);
    void link_others(const Domain& domain, Context* context);
};

}  // namespace sinew
