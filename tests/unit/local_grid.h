// Grids of voxels of two sizes, for tests.
#pragma once

#include <memory>

#include "domain/grid_levels.h"
#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew::test {

/// The grid with its voxels in the given blocks of 8³, and cells of 2³ elsewhere.
inline VoxelGrid local_grid(const VoxelGrid& all, const BitGrid& blocks) {
    VoxelGrid local = all;
    const int r = all.boundary.resolution();
    local.boundary = local.interior = BitGrid(r);
    for (BitGrid* grid : {&local.boundary, &local.interior})
        grid->restrict_to({0, r, std::make_shared<const BitGrid>(blocks)});
    local.coarse_boundary = local.coarse_interior = BitGrid(r / 2);
    const BitGrid boundary = halve(all.boundary, nullptr), interior = halve(all.interior, nullptr);
    for (int z = 0; z < r; ++z)
        for (int y = 0; y < r; ++y)
            for (int x = 0; x < r; ++x) {
                if (blocks.get(x / 8, y / 8, z / 8)) {
                    if (all.boundary.get(x, y, z)) local.boundary.set(x, y, z);
                    if (all.interior.get(x, y, z)) local.interior.set(x, y, z);
                } else if (boundary.get(x / 2, y / 2, z / 2)) {
                    local.coarse_boundary.set(x / 2, y / 2, z / 2);
                } else if (interior.get(x / 2, y / 2, z / 2)) {
                    local.coarse_interior.set(x / 2, y / 2, z / 2);
                }
            }
    return local;
}

}  // namespace sinew::test
