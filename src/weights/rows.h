// Rows of weights, computed one by one in parallel.
#pragma once

#include <algorithm>
#include <vector>

#include "core/parallel.h"
#include "sinew/weights.h"

namespace sinew {

/// fill(vertex, row) stores the influences of every vertex in `row`, which is empty at first; in any order, not
/// normalised.
template <typename Fill>
Result<SkinWeights> map_rows(std::size_t vertices, Context* context, Fill&& fill) {
    constexpr std::size_t grain = 2048;
    std::vector<std::vector<Influence>> parts((vertices + grain - 1) / grain);
    std::vector<std::uint32_t> counts(vertices, 0);
    parallel_chunks(context, vertices, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        std::vector<Influence> row;
        for (std::size_t v = begin; v < end && !cancelled(context); ++v) {
            row.clear();
            fill(v, row);
            counts[v] = static_cast<std::uint32_t>(row.size());
            parts[chunk].insert(parts[chunk].end(), row.begin(), row.end());
        }
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while editing weights"};
    std::vector<Influence> all;
    for (auto& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
        part = {};
    }
    return SkinWeights::from_rows(counts, std::move(all));
}

}  // namespace sinew
