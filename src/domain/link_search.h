// Links between leaves of different sizes or outside of groups: each link as one of its two ends finds it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "domain/leaf_graph.h"
#include "domain/leaf_index.h"

namespace sinew::link_search {

using Graph = Domain::Graph;

inline constexpr std::size_t kMiddle = 13;  ///< index of the group itself among its 27 cells

/// The index of a cell in Graph::Cells::present: corners, which need no entry, share the last slot.
inline constexpr std::uint8_t kCorner = 19;
inline constexpr auto kSlots = [] {
    std::array<std::uint8_t, 27> out{};
    std::uint8_t next = 0;
    for (std::size_t cell = 0; cell < 27; ++cell) {
        const bool corner = cell % 3 != 1 && cell / 3 % 3 != 1 && cell / 9 != 1;
        out[cell] = corner ? kCorner : next++;
    }
    return out;
}();

/// The places of a group whose leaves may touch one of the 27 cells around it, as bits.
inline constexpr auto kBorderingOn = [] {
    std::array<std::uint32_t, 27> out{};
    for (std::size_t place = 0; place < 8; ++place)
        for (int k = 0; k < 8; ++k) {
            std::size_t cell = 0;
            for (int axis = 2; axis >= 0; --axis)
                cell = 3 * cell + 1 + (k >> axis & 1 ? (place >> axis & 1 ? std::size_t{1} : ~std::size_t{0}) : 0);
            out[cell] |= 1u << place;
        }
    return out;
}();

/// The leaves of a group and the larger leaves that they touch: visit(leaf, larger one, as leaves). `larger`:
/// bits of the 27 cells around it that belong to larger leaves.
template <typename Visit>
void each_of_group(const Domain& domain, const Graph& graph, std::size_t group, std::uint32_t larger,
                   Visit&& visit) {
    const Graph::Cells& cells = graph.cells[group];
    std::array<std::uint32_t, 26> found;  // several cells may belong to one leaf
    std::array<std::uint32_t, 26> places;
    std::size_t count = 0;
    for (; larger; larger &= larger - 1) {
        const auto cell = static_cast<std::size_t>(std::countr_zero(larger));
        const std::uint32_t to = cells.leaf[cell] & ~Graph::kLarger;
        const auto at =
            static_cast<std::size_t>(std::find(found.begin(), found.begin() + count, to) - found.begin());
        if (at == count) {
            found[count] = to;
            places[count++] = 0;
        }
        places[at] |= kBorderingOn[cell];
    }
    if (count == 0) return;
    const std::uint32_t first = cells.leaf[kMiddle], present = cells.present[kSlots[kMiddle]];
    for (std::size_t k = 0; k < count; ++k) {
        const Domain::Leaf high = domain.leaves[found[k]];
        for (std::uint32_t left = places[k] & present; left; left &= left - 1) {
            const std::uint32_t i = first + Graph::kCount[present & (left ^ (left - 1)) >> 1];
            visit(i, found[k], domain.leaves[i], high);
        }
    }
}

/// A leaf in no group, and the leaves that it touches that are larger, or equally large and later.
template <typename Visit>
void each_of_large(const Domain& domain, std::uint32_t i, Visit&& visit) {
    const Domain::Leaf leaf = domain.leaves[i];
    std::array<std::uint32_t, kDirections> seen;  // several directions may find the same leaf
    std::size_t found = 0;
    const int size = 1 << leaf.level;
    for (int e = 0; e < kDirections; ++e) {
        const auto [x, y, z] = step_of(e);
        const std::uint32_t to = domain.leaf_at(leaf.x + x * size, leaf.y + y * size, leaf.z + z * size);
        if (to == no_index) continue;
        const Domain::Leaf there = domain.leaves[to];
        if (there.level < leaf.level || (there.level == leaf.level && to <= i)) continue;
        if (std::find(seen.begin(), seen.begin() + found, to) != seen.begin() + found) continue;
        seen[found++] = to;
        visit(i, to, leaf, there);
    }
}

}  // namespace sinew::link_search
