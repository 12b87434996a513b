#include "domain/grid_levels.h"

#include <algorithm>
#include <bit>

#include "core/parallel.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

// both(a, b) combines the bits of two voxels, and so those of a cell.
template <typename Both>
BitGrid halve_by(const BitGrid& fine, Context* context, Both&& both) {
    BitGrid coarse(fine.resolution() / 2, std::max(1, fine.layers() / 2));
    const int r = coarse.resolution();
    auto pairs = [&](std::uint64_t w) {  // bit i of the result: bits 2i and 2i+1 of w
        w = both(w, w >> 1) & 0x5555555555555555u;
        w = (w | w >> 1) & 0x3333333333333333u;
        w = (w | w >> 2) & 0x0f0f0f0f0f0f0f0fu;
        w = (w | w >> 4) & 0x00ff00ff00ff00ffu;
        w = (w | w >> 8) & 0x0000ffff0000ffffu;
        return (w | w >> 16) & 0x00000000ffffffffu;
    };
    const std::size_t layer = static_cast<std::size_t>(r) * static_cast<std::size_t>(fine.words_per_row());
    const int first = fine.region().first / 2, end = std::min((fine.region().end + 1) / 2, coarse.layers());
    coarse.restrict_to({first, end});
    const BitGrid* blocks = fine.region().blocks.get();
    const auto unused = [&](int y, int z) {  // a row of cells
        if (!blocks) return false;
        const auto row = blocks->words().subspan(blocks->index(0, 2 * y / BitGrid::kBlock, 2 * z / BitGrid::kBlock),
                                                 blocks->words_per_row());
        return std::all_of(row.begin(), row.end(), [](std::uint64_t word) { return word == 0; });
    };
    parallel_for(context, static_cast<std::size_t>(end - first), 1 + 65536 / layer, [&](std::size_t at) {
        const int z = first + static_cast<int>(at), upper = std::min(2 * z + 1, fine.layers() - 1);
        for (int y = 0; y < r; ++y) {
            if (unused(y, z)) continue;
            for (int k = 0; k < fine.words_per_row(); ++k) {
                const auto w = fine.words();
                const std::uint64_t four =
                    both(both(w[fine.index(64 * k, 2 * y, 2 * z)], w[fine.index(64 * k, 2 * y + 1, 2 * z)]),
                         both(w[fine.index(64 * k, 2 * y, upper)], w[fine.index(64 * k, 2 * y + 1, upper)]));
                if (four) coarse.words()[coarse.index(32 * k, y, z)] |= pairs(four) << (32 * (k & 1));
            }
        }
    });
    return coarse;
}

}  // namespace

BitGrid halve(const BitGrid& fine, Context* context) {
    return halve_by(fine, context, [](std::uint64_t a, std::uint64_t b) { return a | b; });
}

BitGrid halve_full(const BitGrid& fine, Context* context) {
    return halve_by(fine, context, [](std::uint64_t a, std::uint64_t b) { return a & b; });
}

}  // namespace sinew
