// Grids of bits at half the resolution.
#pragma once

#include "sinew/domain.h"

namespace sinew {

/// A cell is set if any of its eight is. One layer stays one layer, and of what is used only the layers are kept.
BitGrid halve(const BitGrid& fine, Context* context);

}  // namespace sinew
