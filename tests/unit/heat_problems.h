// Domains and graphs for tests of heat.
#pragma once

#include <utility>
#include <vector>

#include "characters/characters.h"
#include "field/conduction.h"
#include "sinew/voxels.h"

namespace sinew::test {

/// A row of n unit cells along x. With `gap` cells `gap - 1` and `gap` do not conduct to each other.
inline Conduction chain(std::uint32_t n, std::uint32_t gap = 0) {
    Conduction c;
    c.first.push_back(0);
    for (std::uint32_t i = 0; i < n; ++i) {
        for (const std::uint32_t j : {i - 1, i + 1})
            if (j < n && (i < gap) == (j < gap)) {
                c.to.push_back(j);
                c.conductance.push_back(1);
            }
        c.first.push_back(static_cast<std::uint32_t>(c.to.size()));
        c.volume.push_back(1);
        std::uint64_t cell = 0;
        for (int bit = 0; bit < 16; ++bit) cell |= static_cast<std::uint64_t>(i >> bit & 1) << (3 * bit);
        c.cell.push_back(cell);
    }
    return c;
}

inline Domain domain_of(const Character& c, int resolution, DomainKind kind = DomainKind::sparse) {
    VoxelizeOptions options;
    options.resolution = resolution;
    const Result<VoxelGrid> grid = voxelize(c.mesh(), analyse_mesh(c.mesh()), options);
    std::vector<Bone> bones = make_bones(c.skeleton);
    extend_leaf_bones(bones, c.skeleton, *grid);
    return std::move(*build_domain(*grid, bones, kind));
}

}  // namespace sinew::test
