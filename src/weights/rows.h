// Rows of weights, computed one by one in parallel.
#pragma once

#include <vector>

#include "core/lists.h"
#include "sinew/weights.h"

namespace sinew {

/// fill(vertex, row) stores the influences of every vertex in `row`, which is empty at first; in any order, not
/// normalised.
template <typename Fill>
Result<SkinWeights> map_rows(std::size_t vertices, Context* context, Fill&& fill) {
    std::vector<std::uint32_t> counts(vertices, 0);
    std::vector<Influence> all = collect<Influence>(vertices, 2048, context, [&] {
        return [&, row = std::vector<Influence>()](std::vector<Influence>& to, std::size_t v) mutable {
            if (cancelled(context)) return;
            row.clear();
            fill(v, row);
            counts[v] = static_cast<std::uint32_t>(row.size());
            to.insert(to.end(), row.begin(), row.end());
        };
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while editing weights"};
    return SkinWeights::from_rows(counts, std::move(all));
}

}  // namespace sinew
