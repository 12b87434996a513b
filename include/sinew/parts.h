// sinew/parts.h: numbers of parts that are bound apart.
#pragma once

#include "sinew/core.h"

namespace sinew {

/// In part_of_vertex of bind (sinew/bind.h): the vertex takes its row from the surface of another part with the
/// same skin.
inline constexpr std::uint32_t kFollows = no_index;

}  // namespace sinew
