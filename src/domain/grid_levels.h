// Grids of bits at half the resolution.
#pragma once

#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew {

/// A cell is set if any of its eight voxels is. One layer stays one layer. Of BitGrid::Region only the layers
/// are kept.
BitGrid halve(const BitGrid& fine, Context* context);
/// The same, but a cell is set if all of its voxels are.
BitGrid halve_full(const BitGrid& fine, Context* context);

}  // namespace sinew
