// Interpolation of values at leaves to points between them.
#pragma once

#include <array>
#include <span>

#include "sinew/domain.h"

namespace sinew {

/// The leaves around a point and their shares; the shares sum to 1.
struct LeafStencil {
    int count = 0;  ///< 0: outside the volume
    std::array<std::uint32_t, 8> leaf{};
    std::array<double, 8> share{};
};

/// The boundary leaves among the eight voxels whose centres surround the point, with trilinear shares, so that
/// interpolated values are continuous over the surface. A point away from every surface takes its own leaf.
/// O(levels). In a domain of one layer (z is ignored): the pixels among the four around the point, else the
/// nearest one within 64 pixels.
LeafStencil leaf_stencil(const Domain& domain, const Vec3& position);

/// Only the leaf that contains the point; in a domain of one layer, if none does, the nearest as above. O(levels).
LeafStencil own_leaf(const Domain& domain, const Vec3& position);

/// Prefetches the memory that the stencils of the next points will read.
void prefetch_leaves_around(const Domain& domain, std::span<const Vec3> points);

}  // namespace sinew
