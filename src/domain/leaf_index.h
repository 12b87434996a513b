// The index of a domain, made anew for leaves that come from bytes.
#pragma once

#include "sinew/domain.h"

namespace sinew {

/// Fills Domain::index from the leaves, as build_domain does. False where they cannot be the leaves of a domain:
/// one out of the grid, off the multiple of its size, over another, or out of Morton order among its neighbours.
/// The resolution must be one that build_domain takes. O(r³/64 + leaves).
bool index_leaves(Domain& domain);

}  // namespace sinew
