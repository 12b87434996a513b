// Grids of bits at half the resolution and back.
#pragma once

#include "sinew/domain.h"

namespace sinew {

/// A cell is set if any of its eight is. One layer stays one layer.
BitGrid halve(const BitGrid& fine, Context* context);

/// Bit i of the lower half becomes bits 2i and 2i + 1.
constexpr std::uint64_t doubled(std::uint64_t w) {
    w &= 0x00000000ffffffffu;
    w = (w | w << 16) & 0x0000ffff0000ffffu;
    w = (w | w << 8) & 0x00ff00ff00ff00ffu;
    w = (w | w << 4) & 0x0f0f0f0f0f0f0f0fu;
    w = (w | w << 2) & 0x3333333333333333u;
    w = (w | w << 1) & 0x5555555555555555u;
    return w | w << 1;
}

/// Voxels along the edge of a block of local resolution.
inline constexpr int kFineBlock = 8;

/// VoxelGrid::whole_cells: those of the cells of 2³ with a boundary voxel that lie outside of the fine blocks
/// (resolution / kFineBlock along a side).
BitGrid whole_cells(const BitGrid& boundary, const BitGrid& fine_blocks, Context* context);

/// Word `at` of a row of voxels, of which bits are set in cells that `cells`, at half the resolution, has.
inline std::uint64_t cells_word(const BitGrid& cells, int at, int y, int z) {
    return doubled(cells.words()[cells.index(32 * at, y / 2, z / 2)] >> (32 * (at & 1)));
}

}  // namespace sinew
