// Kernel: weighted means of the label rows of the leaves around a vertex, in vectors where the processor has them,
// beside a plain reference.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "core/processor.h"
#include "field/geodesic.h"
#include "field/leaf_sample.h"

namespace sinew {

/// Sums rows of eight labels, from the first one on, while they list the same joints in the same order. Rows of
/// neighbouring leaves mostly do. JointMeans adds the remaining rows label by label.
class MatchingRows {
public:
    static constexpr std::size_t kLabels = 8;

    MatchingRows(const LeafStencil& stencil, const LeafDistances& field)
        : MatchingRows(stencil, field, best_add()) {}
    /// The same label by label, and with the same bits: the reference.
    static MatchingRows plain(const LeafStencil& stencil, const LeafDistances& field) {
        return {stencil, field, add_plain};
    }

    std::size_t added() const { return added_; }  ///< number of rows in the sums, the first ones
    bool all_added() const { return added_ == row_count_; }
    double share() const { return share_; }                 ///< sum of the shares
    double sum(std::size_t k) const { return sums_[k]; }    ///< of distance times share, of label k
    double mean(std::size_t k) const { return means_[k]; }  ///< sum / share

private:
    using Add = std::size_t (*)(MatchingRows&);
    MatchingRows(const LeafStencil& stencil, const LeafDistances& field, Add add)
        : row_count_(static_cast<std::size_t>(stencil.count)) {
        for (std::size_t k = 0; k < row_count_; ++k) {
            rows_[k] = field.row(stencil.leaf[k]).data();
            shares_[k] = stencil.share[k];
        }
        added_ = add(*this);
    }

    static std::size_t add_plain(MatchingRows& to) {
        to.share_ = 0;
        to.sums_.fill(0);
        std::size_t k = 0;
        for (; k < to.row_count_; ++k) {
            bool same = true;
            for (std::size_t label = 0; label < kLabels; ++label)
                same = same && joint_of(to.rows_[k][label]) == joint_of(to.rows_[0][label]);
            if (!same) break;
            to.share_ += to.shares_[k];
            for (std::size_t label = 0; label < kLabels; ++label)
                to.sums_[label] += to.shares_[k] * distance_of(to.rows_[k][label]);
        }
        for (std::size_t label = 0; label < kLabels; ++label) to.means_[label] = to.sums_[label] / to.share_;
        return k;
    }

    using Labels = Label __attribute__((vector_size(32)));
    using Numbers = double __attribute__((vector_size(32)));

    [[gnu::always_inline]] static std::size_t add_vectors(MatchingRows& to) {
        // An integer below 2^52, put into the low bits of the double 2^52, is that double plus the integer.
        constexpr double two52 = 4503599627370496.0;
        constexpr auto bits = std::bit_cast<std::uint64_t>(two52);
        Labels first_low, first_high;
        std::memcpy(&first_low, to.rows_[0], sizeof first_low);
        std::memcpy(&first_high, to.rows_[0] + 4, sizeof first_high);
        Numbers low{}, high{};
        double share = 0;
        std::size_t k = 0;
        for (; k < to.row_count_; ++k) {
            Labels row_low, row_high;
            std::memcpy(&row_low, to.rows_[k], sizeof row_low);
            std::memcpy(&row_high, to.rows_[k] + 4, sizeof row_high);
            const Labels differ = ((row_low ^ first_low) | (row_high ^ first_high)) & kLabelJointMask;
            if (differ[0] | differ[1] | differ[2] | differ[3]) break;
            share += to.shares_[k];
            low += to.shares_[k] * (reinterpret_cast<Numbers>(row_low >> kLabelDistance | bits) - two52);
            high += to.shares_[k] * (reinterpret_cast<Numbers>(row_high >> kLabelDistance | bits) - two52);
        }
        to.share_ = share;
        std::memcpy(to.sums_.data(), &low, sizeof low);
        std::memcpy(to.sums_.data() + 4, &high, sizeof high);
        low /= share;
        high /= share;
        std::memcpy(to.means_.data(), &low, sizeof low);
        std::memcpy(to.means_.data() + 4, &high, sizeof high);
        return k;
    }
    static Add best_add() {
        static const Add best = choose();
        return best;
    }
#if defined(SINEW_VECTORS)
    SINEW_FOR_AVX2 static std::size_t add_avx2(MatchingRows& to) { return add_vectors(to); }
    static Add choose() { return best_of<Add>(add_narrow, add_avx2, add_avx2); }  // a row is two vectors of AVX2
#else
    static Add choose() { return add_narrow; }
#endif
    static std::size_t add_narrow(MatchingRows& to) { return add_vectors(to); }

    std::array<const Label*, 8> rows_;
    std::array<double, 8> shares_;
    std::size_t row_count_, added_ = 0;
    double share_ = 0;
    std::array<double, kLabels> sums_, means_;
};

}  // namespace sinew
