// Rows of weights while a skin is cleaned, each by joint: their sums and differences.
#pragma once

#include <bit>
#include <cmath>

#include "core/parallel.h"
#include "quality/skin_rules.h"

namespace sinew {

/// Rows one after the other. A weight's number is its place in `value`.
struct CleanRows {
    std::vector<std::uint32_t> first;  ///< rows + 1
    InfluenceList value;

    std::size_t size() const { return first.size() - 1; }
    std::span<const Influence> operator[](std::size_t row) const {
        return {value.data() + first[row], value.data() + first[row + 1]};
    }
    std::uint32_t number(const Influence& weight) const {
        return static_cast<std::uint32_t>(&weight - value.data());
    }
};

/// A sum of rows.
class RowSum {
public:
    explicit RowSum(std::size_t joints) : sum_(joints, 0), has_((joints + 63) / 64, 0) {}
    void add(std::span<const Influence> row, double factor) {
        for (const Influence& w : row) {
            sum_[w.joint] += factor * w.weight;
            has_[w.joint / 64] |= std::uint64_t{1} << w.joint % 64;
        }
    }
    /// Then it is empty.
    void take(InfluenceList& row) {
        row.clear();
        for (std::size_t k = 0; k < has_.size(); ++k)
            for (; has_[k] != 0; has_[k] &= has_[k] - 1) {
                const std::size_t j = 64 * k + static_cast<std::size_t>(std::countr_zero(has_[k]));
                row.push_back({static_cast<std::uint32_t>(j), static_cast<float>(sum_[j])});
                sum_[j] = 0;
            }
    }

private:
    std::vector<double> sum_;
    std::vector<std::uint64_t> has_;
};

/// fill(i, an empty sum, row i, which is empty) sets each row, in several threads.
template <typename Fill>
CleanRows make_rows(std::size_t rows, std::size_t joints, Context* context, const Fill& fill) {
    constexpr std::size_t grain = 512;
    std::vector<InfluenceList> parts((rows + grain - 1) / grain);
    CleanRows out{std::vector<std::uint32_t>(rows + 1, 0), {}};
    parallel_chunks(context, rows, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        RowSum sum(joints);
        InfluenceList row, &part = parts[chunk];
        for (std::size_t i = begin; i < end; ++i, row.clear()) {
            fill(static_cast<std::uint32_t>(i), sum, row);
            part.insert(part.end(), row.begin(), row.end());
            out.first[i + 1] = static_cast<std::uint32_t>(row.size());
        }
    });
    for (std::size_t i = 0; i < rows; ++i) out.first[i + 1] += out.first[i];
    out.value.reserve(out.first.back());
    for (const InfluenceList& part : parts) out.value.insert(out.value.end(), part.begin(), part.end());
    return out;
}

/// Calls use(x, y) for each joint of two rows; null: the row does not have it.
template <typename Use>
void each_of_both(std::span<const Influence> a, std::span<const Influence> b, const Use& use) {
    for (auto x = a.begin(), y = b.begin(); x != a.end() || y != b.end();) {
        const bool first = y == b.end() || (x != a.end() && x->joint <= y->joint);
        const bool second = x == a.end() || (y != b.end() && y->joint <= x->joint);
        use(first ? &*x : nullptr, second ? &*y : nullptr);
        x += first, y += second;
    }
}

inline double l1(std::span<const Influence> a, std::span<const Influence> b) {
    double sum = 0;
    each_of_both(a, b, [&](const Influence* x, const Influence* y) {
        sum += std::abs(double{x ? x->weight : 0} - (y ? y->weight : 0));
    });
    return sum;
}

/// Drops what is below `least` of the whole, and scales the rest to 1.
inline void normalise(InfluenceList& row, double least = 0) {
    double all = 0, kept = 0;
    for (const Influence& w : row) all += w.weight;
    std::erase_if(row, [&](const Influence& w) { return !(w.weight > least * all); });
    for (const Influence& w : row) kept += w.weight;
    for (Influence& w : row) w.weight = static_cast<float>(w.weight / kept);
}

}  // namespace sinew
