// Code that the measures share: checks, merged rows, and sums per joint that do not depend on threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/geometry.h"
#include "core/parallel.h"
#include "sinew/quality.h"

namespace sinew {

/// Checks that every vertex has a row, on joints of the skeleton.
Status check_fit(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& weights, const char* which);

/// Items per chunk, so that sums per joint and chunk stay small: at most 64 chunks and 2²⁰ sums.
inline std::size_t sum_grain(std::size_t items, std::size_t joints) {
    const std::size_t chunks =
        std::clamp<std::size_t>((std::size_t{1} << 20) / std::max<std::size_t>(joints, 1), 1, 64);
    return std::max<std::size_t>(2048, (items + chunks - 1) / chunks);
}

/// The joints of two rows, each once and ascending, with both weights. The buffer is reused between rows.
class RowPair {
public:
    struct Entry {
        std::uint32_t joint;
        float a, b;
    };

    std::span<const Entry> merge(std::span<const Influence> a, std::span<const Influence> b) {
        entries_.clear();
        for (const Influence& i : a) entries_.push_back({i.joint, i.weight, 0});
        for (const Influence& i : b) entries_.push_back({i.joint, 0, i.weight});
        std::sort(entries_.begin(), entries_.end(), [](const Entry& x, const Entry& y) {
            return x.joint != y.joint ? x.joint < y.joint : x.a > y.a;
        });
        std::size_t n = 0;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (n > 0 && entries_[n - 1].joint == entries_[i].joint) {
                entries_[n - 1].a += entries_[i].a;
                entries_[n - 1].b += entries_[i].b;
            } else {
                entries_[n++] = entries_[i];
            }
        }
        return {entries_.data(), n};
    }

    double l1(std::span<const Influence> a, std::span<const Influence> b) {
        double sum = 0;
        for (const Entry& e : merge(a, b)) sum += std::abs(double{e.a} - e.b);
        return sum;
    }

private:
    std::vector<Entry> entries_;
};

/// Interpolates between the two nearest ranks, as numpy does. Reorders `values`; 0 for an empty range.
double percentile(std::vector<float>& values, double share);

// For callers that know the topology, such as compare().
Result<std::vector<Bleed>> bleed_of(const MeshView& mesh, const MeshTopology& topology, const Skeleton& skeleton,
                                    std::span<const SkinWeights* const> weights, const BleedOptions& options,
                                    Context* context);

LimbProfile limb_profile(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& a, const SkinWeights& b,
                         std::span<const JointComparison> joints, int bins, Context* context);

}  // namespace sinew
