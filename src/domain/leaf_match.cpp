#include "domain/leaf_match.h"

#include <algorithm>

#include "core/morton.h"
#include "core/parallel.h"
#include "domain/leaf_index.h"
#include "sinew/voxels.h"

namespace sinew {

namespace {

// Whether a comes before b in the order of leaves (Domain); of two with the same lower corner, the larger does.
bool comes_before(const Domain::Leaf& a, const Domain::Leaf& b) {
    const std::uint64_t at_a = morton(a.x, a.y, a.z), at_b = morton(b.x, b.y, b.z);
    constexpr int block = 6;  // bits of a place in 4³ voxels
    if (at_a >> block != at_b >> block) return at_a < at_b;
    return a.level != b.level ? a.level > b.level : at_a < at_b;
}

}  // namespace

LeafMatch match_leaves(std::span<const Domain::Leaf> before, std::span<const Domain::Leaf> now) {
    LeafMatch match;
    const auto same = [](const Domain::Leaf& a, const Domain::Leaf& b) {
        return a.x == b.x && a.y == b.y && a.z == b.z && a.level == b.level && a.boundary == b.boundary;
    };
    std::size_t i = 0, k = 0;
    while (i < now.size() && k < before.size()) {
        if (same(now[i], before[k])) {
            const std::size_t first = i, other = k;
            while (i < now.size() && k < before.size() && same(now[i], before[k])) ++i, ++k;
            match.runs.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(other),
                                  static_cast<std::uint32_t>(i - first)});
        } else if (comes_before(now[i], before[k])) {
            ++i;
        } else {
            ++k;
        }
    }
    return match;
}

VoxelGrid voxels_of(const Domain& domain, Context* context) {
    const int r = domain.transform.resolution, depth = domain.transform.depth();
    VoxelGrid grid;
    grid.transform = domain.transform;
    grid.boundary = grid.interior = BitGrid(r, depth);
    const Domain::Index& index = *domain.index;
    constexpr int side = Domain::Index::kBlock;
    const auto layers = static_cast<std::size_t>(std::max(1, depth / side));
    BitGrid::Region used{depth, 0};
    for (const Domain::Leaf& leaf : domain.leaves) {
        used.first = std::min<int>(used.first, leaf.z);
        used.end = std::max(used.end, std::min(depth, leaf.z + (1 << leaf.level)));
    }
    if (used.first < used.end) {
        grid.boundary.restrict_to(used);
        grid.interior.restrict_to(used);
    }
    // Rows of four voxels, block by block; a layer of blocks has its own words.
    parallel_for(context, layers, 1, [&](std::size_t layer) {
        const auto bottom = static_cast<int>(layer) * side;
        for (int y = 0; y < r; y += side)
            for (int x = 0; x < r; x += side) {
                const std::uint32_t entry = index.entry(x, y, bottom);
                if (entry == no_index) continue;
                std::uint64_t boundary = 0, solid = ~std::uint64_t{0};  // by place in the block
                if (entry & Domain::Index::kDivided) {
                    const Domain::Index::Block& block = index.blocks[entry & ~Domain::Index::kDivided];
                    boundary = block.boundary;
                    solid = 0;
                    for (std::size_t place = 0; place < block.at.size(); ++place)
                        solid |= std::uint64_t{block.at[place] != 255} << place;
                } else if (domain.leaves[entry].boundary) {
                    boundary = solid;
                }
                for (int z = bottom; z < std::min(bottom + side, depth); ++z)
                    for (int row = y; row < y + side; ++row) {
                        const std::size_t word = grid.boundary.index(x, row, z);
                        grid.boundary.words()[word] |= (boundary & 15) << (x & 63);
                        grid.interior.words()[word] |= (solid & ~boundary & 15) << (x & 63);
                        boundary >>= side, solid >>= side;
                    }
            }
    });
    return grid;
}

}  // namespace sinew
