// One row of strengths to one row of weights: limit, prune, normalise. The default limit is continuous: it
// subtracts the next strongest strength, then normalises.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "sinew/weights.h"

namespace sinew {

struct Share {
    std::uint32_t joint;
    double weight;
};

inline constexpr auto heavier_first = [](const Share& a, const Share& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
};

/// Divides by the sum. Returns the number of entries: 0 if the sum is 0.
inline std::size_t normalise(std::span<Share> row) {
    double sum = 0;
    for (const Share& s : row) sum += s.weight;
    if (!(sum > 0)) return 0;
    for (Share& s : row) s.weight /= sum;
    return row.size();
}

/// The invariant of SkinWeights for one row of weights above 0 of different joints: it is sorted by `heavier_first`
/// and normalised. A row that satisfies it keeps its bits: reading back written weights changes nothing. Returns
/// the number of entries.
inline std::size_t sort_and_normalise_distinct(std::span<Share> row) {
    std::sort(row.begin(), row.end(), heavier_first);
    double sum = 0;
    for (const Share& s : row) sum += s.weight;
    return std::abs(sum - 1) > 1e-7 * static_cast<double>(row.size()) ? normalise(row) : row.size();
}

/// The same for any weights above 0: entries of one joint are added.
inline void sort_and_normalise(std::vector<Share>& row) {
    std::stable_sort(row.begin(), row.end(), [](const Share& a, const Share& b) { return a.joint < b.joint; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < row.size(); ++i) {
        if (row[i].joint == row[kept].joint)
            row[kept].weight += row[i].weight;
        else
            row[++kept] = row[i];
    }
    if (!row.empty()) row.resize(kept + 1);
    row.resize(sort_and_normalise_distinct(row));
}

/// `row`: strengths above 0, sorted by `heavier_first`. Returns the number of remaining entries, as weights.
inline std::size_t finish_row(std::span<Share> row, std::size_t keep, const FinishOptions& options) {
    std::size_t n = row.size();
    if (n > keep) {
        // If all are equal nothing would be left; then any K of them are kept.
        const double next = options.limit_rule == LimitRule::fade ? row[keep].weight : 0;
        n = keep;
        if (row[0].weight > next) {
            for (std::size_t k = 0; k < n; ++k) row[k].weight -= next;
            while (n > 0 && !(row[n - 1].weight > 0)) --n;  // sorted: zeros are at the end
        }
    }
    if (normalise(row.first(n)) == 0) return 0;
    const std::size_t whole = n;
    while (n > 1 && row[n - 1].weight < options.prune) --n;
    return n < whole ? normalise(row.first(n)) : n;
}

/// Appends the row as floats. They sum to 1 within half an ulp each. Rounding can make two weights equal or the
/// smallest ones 0, so order and positivity are restored. Returns the number of entries; `to` must have
/// capacity for all.
inline std::uint32_t write_row(std::span<const Share> row, Influence* to) {
    std::uint32_t n = 0;
    for (const Share& s : row) {
        const auto weight = static_cast<float>(s.weight);
        if (!(weight > 0)) continue;
        std::uint32_t at = n++;
        to[at] = {s.joint, weight};
        for (; at > 0 && to[at - 1].weight == weight && to[at - 1].joint > s.joint; --at)
            std::swap(to[at], to[at - 1]);
    }
    return n;
}

/// Rows of weights by chunks of vertices, to be assembled into SkinWeights.
struct WeightRows {
    static constexpr std::size_t per_chunk = 2048;
    std::vector<std::vector<Influence>> part;
    std::vector<std::uint64_t> first;  ///< V + 1: first counts, shifted by one

    explicit WeightRows(std::size_t vertices)
        : part((vertices + per_chunk - 1) / per_chunk), first(vertices + 1, 0) {}
    /// Leaves this object empty.
    SkinWeights assemble(Context* context);
};

}  // namespace sinew
