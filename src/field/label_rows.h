// The labels of a sweep for the K nearest joints: rows of sorted numbers, and what is offered to them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

/// Distance, joint, and how the last step came, as one number that sorts by distance, then by joint:
/// distance · 2^24 + joint · 2^8 + way.
using Label = std::uint64_t;
inline constexpr int kLabelDistance = 24, kLabelJoint = 8;
inline constexpr Label kLabelJointMask = Label{0xffff} << kLabelJoint, kLabelWayMask = 0xff;
inline constexpr Label kNoLabel = (Label{1} << 56) - 1;

constexpr Label make_label(std::uint32_t distance, std::uint16_t joint, std::uint8_t way) {
    return Label{distance} << kLabelDistance | Label{joint} << kLabelJoint | way;
}

constexpr std::uint32_t distance_of(Label label) { return static_cast<std::uint32_t>(label >> kLabelDistance); }
constexpr std::uint32_t joint_of(Label label) {
    return static_cast<std::uint32_t>((label & kLabelJointMask) >> kLabelJoint);
}

struct Offer {
    Label label;
    std::uint32_t leaf;
};

/// The least labels of a leaf, rising, no joint twice, at most K; kNoLabel behind them. A cache line for K = 8.
template <int K>
struct alignas(K >= 8 ? 64 : 8 * K) LabelRow {
    Label label[K];
};

/// Work on many rows at a time, without branches: which offers are taken cannot be foretold. Vectors where the
/// processor has them; the same numbers come out. K is 1, 4, 8 or 16.
template <int K>
struct RowKernel {
    /// Puts each offer into its leaf's row if it is among the `width` (1..K) least and better than what its joint
    /// has there, one after the other. Writes those that were to `taken` (room for n; may be `offers`), returns how
    /// many.
    std::size_t (*take)(LabelRow<K>* rows, std::size_t width, const Offer* offers, std::size_t n, Offer* taken);
    /// Writes those labels that are still in the row of their leaf to `out` (room for n), returns how many.
    std::size_t (*still_there)(const LabelRow<K>* rows, const Offer* labels, std::size_t n, Offer* out);

    /// For this processor.
    static const RowKernel& best();
    /// Every one that this processor can run, the plain one first: `count` of them. For tests.
    static const RowKernel* all(std::size_t& count);
};

}  // namespace sinew
