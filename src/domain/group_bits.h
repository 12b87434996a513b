// Kernels on the 4 x 4 x 4 cells that are a group of 2 x 2 x 2 leaves and the cells of leaf size around it, as the
// bits of a word: cell (x, y, z) is bit x + 4 y + 16 z, and the group itself is in the middle.
#pragma once

#include <array>
#include <cstdint>

#include "domain/leaf_graph.h"

namespace sinew::group_bits {

/// The directions (leaf_graph.h) in which cells are set around a place of the group, one by one: the reference.
constexpr std::uint32_t directions_around_plain(std::uint64_t cells, int place) {
    std::uint32_t out = 0;
    for (int d = 0; d < kDirections; ++d) {
        const auto [x, y, z] = step_of(d);
        const int bit = (1 + (place & 1) + x) + 4 * (1 + (place >> 1 & 1) + y) + 16 * (1 + (place >> 2 & 1) + z);
        out |= static_cast<std::uint32_t>(cells >> bit & 1) << d;
    }
    return out;
}

/// The same by shifts of all rows and layers at once.
constexpr std::uint32_t directions_around(std::uint64_t cells, int place) {
    const std::uint64_t from = cells >> ((place & 1) + (place & 2) * 2 + (place & 4) * 4);
    // In each layer of 16 bits the three rows of three bits are moved together; then the layers are.
    const std::uint64_t closed =
        (from & 0x0007'0007'0007u) | (from >> 1 & 0x0038'0038'0038u) | (from >> 2 & 0x01c0'01c0'01c0u);
    const auto rows =
        static_cast<std::uint32_t>((closed & 0x1ffu) | (closed >> 7 & 0x1ffu << 9) | (closed >> 14 & 0x1ffu << 18));
    return (rows & 0x1fffu) | (rows >> 14 << 13);
}

/// For a group at one of the 27 positions around a group (itself included), and the set of its places as bits: the
/// bits that it sets among the 4 x 4 x 4 cells.
using CellsOfNeighbour = std::array<std::array<std::uint64_t, 256>, 27>;
inline const CellsOfNeighbour& cells_of_neighbour() {
    static const CellsOfNeighbour table = [] {
        CellsOfNeighbour out{};
        for (std::size_t position = 0; position < 27; ++position) {
            const int at[3] = {static_cast<int>(position % 3), static_cast<int>(position / 3 % 3),
                               static_cast<int>(position / 9)};
            for (std::size_t places = 0; places < 256; ++places)
                for (int place = 0; place < 8; ++place) {
                    if (!(places >> place & 1)) continue;
                    int bit = 0;
                    bool borders = true;
                    for (int axis = 0; axis < 3; ++axis) {
                        const int c = 2 * at[axis] - 1 + (place >> axis & 1);
                        borders = borders && c >= 0 && c < 4;
                        bit += c << (2 * axis);
                    }
                    if (borders) out[position][places] |= std::uint64_t{1} << bit;
                }
        }
        return out;
    }();
    return table;
}

}  // namespace sinew::group_bits
