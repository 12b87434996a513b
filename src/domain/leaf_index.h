// How a domain finds leaves by place, and how that is made anew for leaves that come from bytes.
#pragma once

#include "sinew/domain.h"

namespace sinew {

struct Domain::Index {
    static constexpr int kBlock = 4;
    static constexpr std::uint32_t kDivided = 0x80000000u;
    struct Block {
        std::uint32_t first;              // leaf number of the block's first leaf
        std::array<std::uint8_t, 64> at;  // per voxel: leaf number - first, or 255
    };
    int per_side = 0;
    std::vector<std::uint32_t> top;  // per block: none, a leaf, or kDivided + block number
    std::vector<Block> blocks;

    /// What `top` has of the block of a voxel within the grid.
    std::uint32_t entry(int x, int y, int z) const {
        return top[(static_cast<std::size_t>(z >> 2) * per_side + (y >> 2)) * per_side + (x >> 2)];
    }
    static std::size_t place_in_block(int x, int y, int z) {
        return static_cast<std::size_t>(((z & 3) << 4) | ((y & 3) << 2) | (x & 3));
    }

    /// The leaf of a voxel within the grid, or Domain::none.
    std::uint32_t leaf(int x, int y, int z) const {
        const std::uint32_t found = entry(x, y, z);
        if (found == none || !(found & kDivided)) return found;
        const Block& block = blocks[found & ~kDivided];
        const std::uint8_t in_block = block.at[place_in_block(x, y, z)];
        return in_block == 255 ? none : block.first + in_block;
    }
};

/// Fills Domain::index from the leaves, as build_domain does. False where they cannot be the leaves of a domain:
/// one out of the grid, off the multiple of its size, over another, or out of Morton order among its neighbours.
/// The resolution must be one that build_domain takes. O(r³/64 + leaves).
bool index_leaves(Domain& domain);

/// The voxels of which a domain was made. O(leaves + r³/64).
VoxelGrid voxels_of(const Domain& domain);

}  // namespace sinew
