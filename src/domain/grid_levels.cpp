#include "domain/grid_levels.h"

#include <algorithm>
#include <bit>

#include "core/parallel.h"

namespace sinew {

BitGrid halve(const BitGrid& fine, Context* context) {
    BitGrid coarse(fine.resolution() / 2, std::max(1, fine.layers() / 2));
    const int r = coarse.resolution();
    auto pairs = [](std::uint64_t w) {  // bit i of the result: bits 2i or 2i+1 of w
        w = (w | w >> 1) & 0x5555555555555555u;
        w = (w | w >> 1) & 0x3333333333333333u;
        w = (w | w >> 2) & 0x0f0f0f0f0f0f0f0fu;
        w = (w | w >> 4) & 0x00ff00ff00ff00ffu;
        w = (w | w >> 8) & 0x0000ffff0000ffffu;
        return (w | w >> 16) & 0x00000000ffffffffu;
    };
    const std::size_t layer = static_cast<std::size_t>(r) * static_cast<std::size_t>(fine.words_per_row());
    const int first = fine.used().first / 2, end = std::min((fine.used().end + 1) / 2, coarse.layers());
    coarse.use_only({first, end});
    parallel_for(context, static_cast<std::size_t>(end - first), 1 + 65536 / layer, [&](std::size_t at) {
        const int z = first + static_cast<int>(at), upper = std::min(2 * z + 1, fine.layers() - 1);
        for (int y = 0; y < r; ++y) {
            for (int k = 0; k < fine.words_per_row(); ++k) {
                const auto w = fine.words();
                const std::uint64_t any =
                    w[fine.index(64 * k, 2 * y, 2 * z)] | w[fine.index(64 * k, 2 * y + 1, 2 * z)] |
                    w[fine.index(64 * k, 2 * y, upper)] | w[fine.index(64 * k, 2 * y + 1, upper)];
                if (any) coarse.words()[coarse.index(32 * k, y, z)] |= pairs(any) << (32 * (k & 1));
            }
        }
    });
    return coarse;
}

BitGrid whole_cells(const BitGrid& boundary, const BitGrid& fine_blocks, Context* context) {
    constexpr int cells = kFineBlock / 2;  // of a block, along an axis
    BitGrid whole = halve(boundary, context);
    const auto [first, end] = whole.used();
    parallel_for(context, static_cast<std::size_t>(end - first), 8, [&, first = first](std::size_t at) {
        const int z = first + static_cast<int>(at);
        for (int y = 0; y < whole.resolution(); ++y)
            for (int k = 0; k < fine_blocks.words_per_row(); ++k)
                for (std::uint64_t left = fine_blocks.words()[fine_blocks.index(64 * k, y / cells, z / cells)];
                     left; left &= left - 1) {
                    const int x = cells * (64 * k + std::countr_zero(left));
                    whole.words()[whole.index(x, y, z)] &= ~(std::uint64_t{0xf} << (x & 63));
                }
    });
    return whole;
}

}  // namespace sinew
