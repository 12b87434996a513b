// Morton order: cells in the order of a depth-first walk through the octree.
#pragma once

#include <cstdint>

namespace sinew {

/// Inserts two zero bits between the lower 21 bits.
constexpr std::uint64_t spread_bits(std::uint64_t v) {
    v &= 0x1fffff;
    v = (v | v << 32) & 0x1f00000000ffffull;
    v = (v | v << 16) & 0x1f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    return (v | v << 2) & 0x1249249249249249ull;
}

/// Interleaves 21 bits of each coordinate, x lowest.
constexpr std::uint64_t morton(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return spread_bits(x) | spread_bits(y) << 1 | spread_bits(z) << 2;
}

}  // namespace sinew
