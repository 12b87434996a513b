// The labels of a sweep for the K nearest joints: sorted rows, and offers to them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

/// Distance, joint, and direction of the last step, as one number that sorts by distance, then by joint:
/// distance · 2^24 + joint · 2^8 + direction.
using Label = std::uint64_t;
inline constexpr int kLabelDistance = 24, kLabelJoint = 8;
inline constexpr Label kLabelJointMask = Label{0xffff} << kLabelJoint, kLabelDirectionMask = 0xff;
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

/// The smallest labels of a leaf, ascending, no joint twice, at most K; padded with kNoLabel. A cache line for
/// K = 8.
template <int K>
struct alignas(K >= 8 ? 64 : 8 * K) LabelRow {
    Label label[K];
};

/// Branchless work on many rows at a time, since accepted offers are unpredictable. Uses vectors if the
/// processor has them, with the same result. K is 1, 4, 8 or 16.
template <int K>
struct RowKernel {
    /// Inserts each offer in order into its leaf's row if it is among the `width` (1..K) smallest and better
    /// than the label that its joint has there. Writes the accepted offers to `taken` (capacity n; may be
    /// `offers`) and returns their number.
    std::size_t (*take)(LabelRow<K>* rows, std::size_t width, const Offer* offers, std::size_t n, Offer* taken);
    /// Writes the labels that are still in the row of their leaf to `out` (capacity n) and returns their
    /// number.
    std::size_t (*keep_current)(const LabelRow<K>* rows, const Offer* labels, std::size_t n, Offer* out);

    /// The kernels for this processor.
    static const RowKernel& best();
    /// All kernels that this processor can run, the plain ones first: `count` of them. For tests.
    static const RowKernel* all(std::size_t& count);
};

}  // namespace sinew
