// How a domain finds leaves by position, and how this index is rebuilt for leaves that were read from bytes.
#pragma once

#include "core/large_pages.h"
#include "core/prefetch.h"
#include "sinew/domain.h"

namespace sinew {

struct Domain::Index {
    static constexpr int kBlock = 4;
    static constexpr std::uint32_t kDivided = 0x80000000u;
    static std::size_t place_in_block(int x, int y, int z) {
        return static_cast<std::size_t>(((z & 3) << 4) | ((y & 3) << 2) | (x & 3));
    }
    struct Block {
        std::uint32_t first;              // leaf number of the block's first leaf
        std::array<std::uint8_t, 64> at;  // per voxel: leaf number - first, or 255
        std::uint64_t boundary;           // per voxel, as bits: its leaf is boundary

        explicit Block(std::uint32_t first_leaf = 0) : first(first_leaf), boundary(0) { at.fill(255); }
        /// Enters the voxels of a leaf of level 0 or 1. False if they are occupied already.
        bool put(const Leaf& leaf, std::uint32_t number) {
            const int size = 1 << leaf.level;
            bool free = true;
            for (int z = 0; z < size; ++z)
                for (int y = 0; y < size; ++y)
                    for (int x = 0; x < size; ++x) {
                        const std::size_t place = place_in_block(leaf.x + x, leaf.y + y, leaf.z + z);
                        free = free && at[place] == 255;
                        at[place] = static_cast<std::uint8_t>(number - first);
                        boundary |= std::uint64_t{leaf.boundary} << place;
                    }
            return free;
        }
    };
    /// Per block: none, a leaf, or kDivided + block number. Most blocks are empty, stored as zero: a large grid
    /// takes memory only near the mesh.
    class BlockTable {
    public:
        BlockTable() = default;
        explicit BlockTable(std::size_t count) : inverted_(count) {}
        std::size_t size() const { return inverted_.size(); }
        std::uint32_t operator[](std::size_t block) const { return ~inverted_[block]; }
        void prefetch_entry(std::size_t block) const { prefetch(&inverted_[block]); }
        void put(std::size_t block, std::uint32_t entry) { inverted_[block] = ~entry; }

    private:
        static_assert(~no_index == 0);
        ZeroArray<std::uint32_t> inverted_;
    };
    int per_side = 0;
    BlockTable top;
    std::vector<Block> blocks;

    /// The position in `top` of the block of a voxel within the grid.
    std::size_t block_of(int x, int y, int z) const {
        return (static_cast<std::size_t>(z >> 2) * per_side + (y >> 2)) * per_side + (x >> 2);
    }
    std::uint32_t entry(int x, int y, int z) const { return top[block_of(x, y, z)]; }

    struct Voxel {
        std::uint32_t leaf;  // or none
        int level;           // of a boundary leaf
        bool boundary;
    };
    /// The leaf of a voxel within the grid and its level.
    Voxel voxel(int x, int y, int z) const {
        const std::uint32_t found = entry(x, y, z);
        if (found == no_index || !(found & kDivided)) return {found, 0, false};
        const Block& block = blocks[found & ~kDivided];
        const std::size_t place = place_in_block(x, y, z);
        const std::uint8_t in_block = block.at[place];
        if (in_block == 255) return {no_index, 0, false};
        // A leaf of level 1 also has the neighbouring voxel.
        return {block.first + in_block, block.at[place ^ 1] == in_block, (block.boundary >> place & 1) != 0};
    }
    /// The leaf of a voxel within the grid, or none.
    std::uint32_t leaf(int x, int y, int z) const { return voxel(x, y, z).leaf; }
};

/// Fills Domain::index from the leaves, as build_domain does. False if the leaves are invalid: outside the
/// grid, not aligned to their size, overlapping, or out of Morton order. The resolution must be one that
/// build_domain accepts. O(r³/64 + leaves).
bool index_leaves(Domain& domain);

}  // namespace sinew
