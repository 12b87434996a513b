// Kernels: the boundary leaves at the eight corners around a point, all at once beside a plain reference, and
// prefetching for them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/prefetch.h"
#include "domain/leaf_index.h"
#include "field/leaf_sample.h"

namespace sinew::corner_leaves {

/// The eight cells whose centres surround a point; in a domain of one layer, the four.
struct Corners {
    int level = 0;                        ///< cells are 2^level voxels wide
    std::array<int, 3> lower{};           ///< of the two nearest cells along each axis the lower one, in cells
    std::array<double, 3> upper_share{};  ///< along each axis the share of the upper one, in [0, 1)
};

/// The boundary leaf in a cell, or none. Small and large boundary leaves meet where resolution is local.
inline std::uint32_t boundary_leaf_in(const Domain& domain, int level, const std::array<int, 3>& cell) {
    const int size = 1 << level;
    for (int z = 0; z < size; ++z)
        for (int y = 0; y < size; ++y)
            for (int x = 0; x < size; ++x) {
                const std::uint32_t leaf =
                    domain.leaf_at(cell[0] * size + x, cell[1] * size + y, cell[2] * size + z);
                if (leaf == no_index) continue;
                if (domain.leaves[leaf].boundary) return leaf;
                if (domain.leaves[leaf].level >= level) return no_index;  // it covers the whole cell
            }
    return no_index;
}

/// Adds the boundary leaves at the corners to a stencil, with trilinear shares, and returns the sum of the shares.
/// In a domain of one layer it adds all leaves. One corner after the other: the reference.
inline double add_plain(const Domain& domain, const Corners& corners, LeafStencil& s) {
    const bool flat = domain.transform.depth() == 1;
    const std::size_t axes = flat ? 2 : 3;
    double total = 0;
    for (std::size_t corner = 0; corner < std::size_t{1} << axes; ++corner) {
        std::array<int, 3> cell{};
        double share = 1;
        for (std::size_t k = 0; k < axes; ++k) {
            const int upper = static_cast<int>(corner >> k & 1);
            cell[k] = corners.lower[k] + upper;
            share *= upper ? corners.upper_share[k] : 1 - corners.upper_share[k];
        }
        const std::uint32_t leaf = corners.level > 0 ? boundary_leaf_in(domain, corners.level, cell)
                                                     : domain.leaf_at(cell[0], cell[1], cell[2]);
        if (!(share > 0) || leaf == no_index || !(flat || domain.leaves[leaf].boundary)) continue;
        s.leaf[static_cast<std::size_t>(s.count)] = leaf;
        s.share[static_cast<std::size_t>(s.count++)] = share;
        total += share;
    }
    return total;
}

/// Whether `add` is for these corners: voxels of a volume, all within the grid.
inline bool can_add(const Domain& domain, const Corners& corners) {
    const auto inner = [&](std::size_t axis) {
        return corners.lower[axis] >= 0 && corners.lower[axis] + 1 < domain.transform.resolution;
    };
    return domain.transform.depth() > 1 && corners.level == 0 && inner(0) && inner(1) && inner(2) &&
           !domain.index->blocks.empty();
}

/// The same without a branch, since it is unpredictable which corners are boundary. Undivided blocks are never
/// boundary.
inline double add(const Domain& domain, const Corners& corners, LeafStencil& s) {
    using Index = Domain::Index;
    const Index& index = *domain.index;
    const auto blocks = static_cast<std::uint32_t>(index.blocks.size());
    // Offset, position and share of a corner, by axis.
    std::array<std::array<std::size_t, 2>, 3> block_of, place_of;
    std::array<std::array<double, 2>, 3> share_of;
    for (std::size_t upper = 0; upper < 2; ++upper) {
        const int more = static_cast<int>(upper);
        const int x = corners.lower[0] + more, y = corners.lower[1] + more, z = corners.lower[2] + more;
        block_of[0][upper] = index.block_of(x, 0, 0);
        block_of[1][upper] = index.block_of(0, y, 0);
        block_of[2][upper] = index.block_of(0, 0, z);
        place_of[0][upper] = Index::place_in_block(x, 0, 0);
        place_of[1][upper] = Index::place_in_block(0, y, 0);
        place_of[2][upper] = Index::place_in_block(0, 0, z);
        for (std::size_t k = 0; k < 3; ++k)
            share_of[k][upper] = upper ? corners.upper_share[k] : 1 - corners.upper_share[k];
    }
    double total = 0;
    for (std::size_t corner = 0; corner < 8; ++corner) {
        const std::size_t x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
        const double share = share_of[0][x] * share_of[1][y] * share_of[2][z];
        const std::uint32_t number = index.top[block_of[0][x] + block_of[1][y] + block_of[2][z]] - Index::kDivided;
        const bool divided = number < blocks;
        const Index::Block& block = index.blocks[number & (0u - divided)];
        const std::size_t place = place_of[0][x] | place_of[1][y] | place_of[2][z];
        const bool counts = divided & (block.boundary >> place & 1) & (share > 0);
        const std::uint32_t leaf = (block.first + block.at[place]) & (0u - counts);
        s.leaf[static_cast<std::size_t>(s.count)] = leaf;
        s.share[static_cast<std::size_t>(s.count)] = share;
        s.count += counts;
        total += share * counts;
    }
    return total;
}

/// Prefetches the memory that the stencils of the next points will read: vertices have no spatial order, and the
/// lookup is limited by memory latency.
inline void prefetch_around(const Domain& domain, std::span<const Vec3> points) {
    using Index = Domain::Index;
    const Index& index = *domain.index;
    if (index.blocks.empty()) return;
    const GridTransform& g = domain.transform;
    const double voxel = 1 / g.voxel;
    const auto within = [](double x, int size) { return static_cast<int>(std::clamp(x, 0.0, size - 1.0)); };
    constexpr std::size_t kSome = 32;
    std::array<std::size_t, kSome> block;
    for (; !points.empty(); points = points.subspan(std::min(kSome, points.size()))) {
        const auto some = points.first(std::min(kSome, points.size()));
        for (std::size_t k = 0; k < some.size(); ++k) {
            // Rounding may select the neighbouring voxel, which does no harm.
            block[k] = index.block_of(within((some[k].x - g.origin[0]) * voxel, g.resolution),
                                      within((some[k].y - g.origin[1]) * voxel, g.resolution),
                                      within((some[k].z - g.origin[2]) * voxel, g.depth()));
            index.top.prefetch_entry(block[k]);
        }
        for (std::size_t k = 0; k < some.size(); ++k) {
            const std::uint32_t number = index.top[block[k]] - Index::kDivided;
            if (number >= index.blocks.size()) continue;
            prefetch(&index.blocks[number]);
            prefetch(&index.blocks[number].boundary);
        }
    }
}

}  // namespace sinew::corner_leaves
