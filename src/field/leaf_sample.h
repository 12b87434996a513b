// What is measured at leaves, read at points between them.
#pragma once

#include <array>
#include <span>

#include "sinew/domain.h"

namespace sinew {

/// The leaves around a point and their shares in what is measured there; the shares sum to 1.
struct LeafStencil {
    int count = 0;  ///< 0: outside the volume
    std::array<std::uint32_t, 8> leaf{};
    std::array<double, 8> share{};
};

/// The boundary leaves among the eight voxels whose centres surround the point, by trilinear shares, so that what
/// is read is continuous over the surface. A point away from every surface takes the leaf it is in. O(levels).
/// In a domain of one layer (z is not looked at): the pixels among the four around the point, else the nearest
/// within 64 pixels.
LeafStencil leaf_stencil(const Domain& domain, const Vec3& position);

/// The leaf that contains the point, alone. O(levels).
LeafStencil own_leaf(const Domain& domain, const Vec3& position);

/// Asks for the memory that the stencils of points to come will read: vertices follow each other in no order, and
/// what is waited for is memory.
void ask_for_leaves(const Domain& domain, std::span<const Vec3> points);

}  // namespace sinew
