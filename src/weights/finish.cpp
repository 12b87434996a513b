// From tables of strengths to skin weights.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "core/large_pages.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "weights/finish_row.h"

namespace sinew {

Status check(const FinishOptions& o) {
    if (o.max_influences != all_influences && (o.max_influences < 1 || o.max_influences > 8))
        return Error{ErrorCode::usage,
                     "`max-influences` must be 1 to 8, or all, not " + std::to_string(o.max_influences)};
    if (o.limit_rule != LimitRule::fade && o.limit_rule != LimitRule::cut)
        return Error{ErrorCode::usage, "`limit-rule`: no such rule"};
    if (!(o.prune >= 0 && o.prune <= 0.5f))  // NaN fails
        return Error{ErrorCode::usage, "`prune` must be from 0 to 0.5, not " + shortest_text(o.prune)};
    return Done{};
}

Result<SkinWeights> finish(const InfluenceTable& influences, const FinishOptions& options, Context* context) {
    SINEW_TRY(check(options));
    const std::size_t width = influences.width, slots = influences.vertices * width;
    if (influences.joint.size() != slots || influences.strength.size() != slots)
        return Error{ErrorCode::internal, "an influence table's columns are not vertices × width long"};

    const std::size_t keep =
        options.max_influences == all_influences ? width : static_cast<std::size_t>(options.max_influences);
    WeightRows rows(influences.vertices);
    std::atomic<std::size_t> bad{influences.vertices};
    parallel_chunks(context, influences.vertices, WeightRows::per_chunk,
                    [&](std::size_t c, std::size_t begin, std::size_t end) {
                        if (cancelled(context)) return;
                        std::vector<Share> row;
                        row.reserve(width);
                        std::vector<Influence>& out = rows.part[c];
                        out.reserve((end - begin) * std::min<std::size_t>(keep, 4));
                        for (std::size_t v = begin; v < end; ++v) {
                            row.clear();
                            for (std::size_t i = v * width; i < (v + 1) * width; ++i) {
                                if (influences.joint[i] == no_index) continue;
                                const float strength = influences.strength[i];
                                if (!(strength >= 0 && strength < INFINITY)) {
                                    std::size_t seen = bad.load();
                                    while (v < seen && !bad.compare_exchange_weak(seen, v)) {
                                    }
                                } else if (strength > 0) {
                                    row.push_back({influences.joint[i], strength});
                                }
                            }
                            if (!std::is_sorted(row.begin(), row.end(), heavier_first))
                                std::sort(row.begin(), row.end(), heavier_first);
                            const std::size_t n = finish_row(row, keep, options);
                            const std::size_t at = out.size();
                            out.resize(at + n);
                            rows.first[v + 1] = write_row(std::span(row).first(n), out.data() + at);
                            out.resize(at + rows.first[v + 1]);
                        }
                    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while finishing the weights"};
    if (const std::size_t v = bad.load(); v < influences.vertices)
        return Error{ErrorCode::internal,
                     "vertex " + std::to_string(v) + " has a strength that is negative or not finite"};
    return rows.assemble(context);
}

SkinWeights WeightRows::assemble(Context* context) {
    SkinWeights out;
    out.first_ = std::move(first);
    for (std::size_t v = 0; v + 1 < out.first_.size(); ++v) out.first_[v + 1] += out.first_[v];
    assign_large(out.influences_, out.first_.back(), Influence{}, context);
    parallel_for(context, part.size(), 1, [&](std::size_t c) {
        std::copy(part[c].begin(), part[c].end(),
                  out.influences_.begin() + static_cast<std::ptrdiff_t>(out.first_[c * per_chunk]));
        release(part[c]);
    });
    return out;
}

namespace {

/// Whether a row satisfies the invariant as it is, as most do that are read. Seen at once where it is short.
bool is_finished(std::span<const Influence> row) {
    if (row.size() > 8) return false;
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (!(row[i].weight > 0)) return false;
        for (std::size_t k = 0; k < i; ++k)
            if (row[k].joint == row[i].joint) return false;
        if (i > 0 && !heavier_first({row[i - 1].joint, row[i - 1].weight}, {row[i].joint, row[i].weight}))
            return false;
        sum += double{row[i].weight};
    }
    return std::abs(sum - 1) <= 1e-7 * static_cast<double>(row.size());
}

}  // namespace

Result<SkinWeights> SkinWeights::from_rows(std::span<const std::uint32_t> counts,
                                           std::vector<Influence> influences) {
    std::size_t total = 0;
    for (const std::uint32_t count : counts) total += count;
    if (total != influences.size())
        return Error{ErrorCode::input, "the rows of the weights hold " + std::to_string(total) +
                                           " influences, but " + std::to_string(influences.size()) + " are given"};
    SkinWeights out;
    out.first_.reserve(counts.size() + 1);
    out.first_.push_back(0);
    out.influences_.reserve(total);
    std::vector<Share> row;
    std::size_t next = 0;
    for (std::size_t v = 0; v < counts.size(); ++v) {
        if (const auto given = std::span(influences).subspan(next, counts[v]); is_finished(given)) {
            out.influences_.insert(out.influences_.end(), given.begin(), given.end());
            out.first_.push_back(out.influences_.size());
            next += counts[v];
            continue;
        }
        row.clear();
        for (std::uint32_t i = 0; i < counts[v]; ++i, ++next) {
            const Influence& in = influences[next];
            if (!(in.weight >= 0 && in.weight < INFINITY))
                return Error{ErrorCode::input, "vertex " + std::to_string(v) + " has the weight " +
                                                   shortest_text(in.weight) + " on joint " +
                                                   std::to_string(in.joint) +
                                                   ": weights must be finite and not negative"};
            if (in.weight > 0) row.push_back({in.joint, in.weight});
        }
        sort_and_normalise(row);
        const std::size_t begin = out.influences_.size();
        out.influences_.resize(begin + row.size());
        out.influences_.resize(begin + write_row(row, out.influences_.data() + begin));
        out.first_.push_back(out.influences_.size());
    }
    return out;
}

std::size_t SkinWeights::max_influences() const {
    std::size_t most = 0;
    for (std::size_t v = 0; v < vertex_count(); ++v) most = std::max<std::size_t>(most, first_[v + 1] - first_[v]);
    return most;
}

}  // namespace sinew
