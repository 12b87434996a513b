// Sums over many items.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/parallel.h"

namespace sinew {

/// The sum of n items: add(sum, i) adds item i to a sum that begins as Sum{}. Blocks of `together` items are summed
/// in parallel, and join(sum, block) adds the blocks in their order, so that threads do not change the bits.
template <typename Sum, typename Add, typename Join>
Sum sum_of(const Context* context, std::size_t n, const Add& add, const Join& join,
           std::size_t together = std::size_t{1} << 16) {
    std::vector<Sum> sums(std::max<std::size_t>(1, (n + together - 1) / together));
    parallel_chunks(context, n, together, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        Sum own{};
        for (std::size_t i = begin; i < end; ++i) add(own, i);
        sums[chunk] = std::move(own);
    });
    for (std::size_t k = 1; k < sums.size(); ++k) join(sums[0], sums[k]);
    return std::move(sums[0]);
}

}  // namespace sinew
