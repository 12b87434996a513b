// Rows of weights while a skin is cleaned, each by joint: their sums and differences.
#pragma once

#include <bit>
#include <cmath>
#include <utility>

#include "core/lists.h"
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
        add(row, factor, [](std::uint32_t joint) { return joint; });
    }
    /// With the weight of each joint on another one.
    template <typename Joint>
    void add(std::span<const Influence> row, double factor, const Joint& other) {
        for (const Influence& w : row) {
            const std::uint32_t joint = other(w.joint);
            sum_[joint] += factor * w.weight;
            has_[joint / 64] |= std::uint64_t{1} << joint % 64;
        }
    }
    /// Sets the row, and returns the sum of its weights. Then it is empty.
    double take(InfluenceList& row) {
        row.clear();
        double all = 0;
        for (std::size_t k = 0; k < has_.size(); ++k)
            for (; has_[k] != 0; has_[k] &= has_[k] - 1) {
                const std::size_t j = 64 * k + static_cast<std::size_t>(std::countr_zero(has_[k]));
                row.push_back({static_cast<std::uint32_t>(j), static_cast<float>(sum_[j])});
                all += std::exchange(sum_[j], 0);
            }
        return all;
    }

private:
    std::vector<double> sum_;
    std::vector<std::uint64_t> has_;
};

/// fill(i, an empty sum, row i, which is empty) sets each row, in several threads.
template <typename Fill>
CleanRows make_rows(std::size_t rows, std::size_t joints, Context* context, const Fill& fill) {
    CleanRows out{std::vector<std::uint32_t>(rows + 1, 0), {}};
    out.value = collect<Influence>(rows, 512, context, [&] {
        return [&, sum = RowSum(joints), row = InfluenceList()](InfluenceList& to, std::size_t i) mutable {
            row.clear();
            fill(static_cast<std::uint32_t>(i), sum, row);
            to.insert(to.end(), row.begin(), row.end());
            out.first[i + 1] = static_cast<std::uint32_t>(row.size());
        };
    });
    for (std::size_t i = 0; i < rows; ++i) out.first[i + 1] += out.first[i];
    return out;
}

/// Calls use(x, y) for each joint that both rows have.
template <typename Use>
void each_common(std::span<const Influence> a, std::span<const Influence> b, const Use& use) {
    for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
        const std::uint32_t first = x->joint, second = y->joint;
        if (first == second) use(*x, *y);
        x += first <= second, y += second <= first;
    }
}

inline double l1(std::span<const Influence> a, std::span<const Influence> b) {
    double sum = 0;
    for (const Influence& w : a) sum += w.weight;
    for (const Influence& w : b) sum += w.weight;
    each_common(a, b, [&](const Influence& x, const Influence& y) { sum -= 2 * std::min(x.weight, y.weight); });
    return std::max(sum, 0.0);
}

/// Drops what is not above `least`, and scales the rest to 1.
inline void normalise(InfluenceList& row, double least = 0) {
    double sum = 0;
    std::size_t n = 0;
    for (const Influence w : row) {  // without a branch, which would be unpredictable
        const bool keeps = w.weight > least;
        row[n] = w, n += keeps, sum += keeps ? w.weight : 0;
    }
    row.resize(n);
    for (Influence& w : row) w.weight = static_cast<float>(w.weight * (1 / sum));
}

}  // namespace sinew
