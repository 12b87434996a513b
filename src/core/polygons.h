// Polygons to triangles, by corners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sinew/core.h"

namespace sinew {

/// As triangulate, but triangles have places in `corners`, and polygons of fewer than three corners have none.
std::vector<Triangle> triangulate_corners(std::span<const Vec3> positions, std::span<const std::uint32_t> first,
                                          std::span<const std::uint32_t> corners, std::size_t* fanned = nullptr);

}  // namespace sinew
