// Kernels that say which steps of a sweep can be left out (the rules: steps.h), for many steps at once, beside
// plain references.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sinew {

/// Where a label goes on from a leaf u to neighbours of its size, by the direction in which it came.
struct Continuation {
    using Masks = std::uint32_t __attribute__((vector_size(16)));
    static constexpr std::size_t kMostCommon = 16;  ///< most common neighbours of the two ends of a step

    /// Directions from u that may be needed, into interior and boundary neighbours.
    std::uint32_t allowed[2];
    /// A neighbour v of u that may have a better path, as the bit of its direction from u, and the directions from
    /// u that are not needed if v exists. All entries are always tested, as vectors: their number is unpredictable.
    std::array<Masks, kMostCommon / 4> common{};
    std::array<std::array<Masks, kMostCommon / 4>, 2> saved{};

    /// Of the neighbours `all`, some of them boundary leaves, those that need the label. `serving`: the neighbours
    /// that count as v.
    [[gnu::always_inline]] std::uint32_t onwards(std::uint32_t all, std::uint32_t boundary,
                                                 std::uint32_t serving) const {
        Masks left_out[2] = {};
        for (std::size_t k = 0; k < common.size(); ++k) {
            const Masks exists = (common[k] & serving) != 0;
            left_out[0] |= saved[0][k] & exists;
            left_out[1] |= saved[1][k] & exists;
        }
        const Masks by_lane = (left_out[0] & ~boundary) | (left_out[1] & boundary);
        return all & ((allowed[0] & ~boundary) | (allowed[1] & boundary)) &
               ~(by_lane[0] | by_lane[1] | by_lane[2] | by_lane[3]);
    }
};

/// The box in which a leaf touches a leaf u of up to 128 voxels a side, in voxels from u's lower corner.
struct ContactBox {
    std::array<int, 3> low, high;
};

/// Whether two boxes touch: the reference.
constexpr bool touch_plain(const ContactBox& a, const ContactBox& b) {
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (a.low[axis] > b.high[axis] || b.low[axis] > a.high[axis]) return false;
    return true;
}

/// The same for boxes in one word, all axes in one subtraction: six fields of eight bits, each with a ninth bit to
/// borrow from. They hold the lower ends, and 255 minus the upper ends.
namespace packed_box {
inline constexpr int kField = 9;
inline constexpr std::uint64_t kGuard = 0x100ull * 0x201008040201ull, kValues = 0xffull * 0x201008040201ull;

constexpr std::uint64_t pack(const ContactBox& box) {
    std::uint64_t out = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
        out |= static_cast<std::uint64_t>(box.low[axis]) << (kField * axis) |
               static_cast<std::uint64_t>(255 - box.high[axis]) << (kField * (axis + 3));
    return out;
}
/// Touches no box.
inline constexpr std::uint64_t kNowhere = pack({{255, 255, 255}, {0, 0, 0}});

/// What other boxes are compared with: the upper ends, and 255 minus the lower ends. Other bits are ignored.
constexpr std::uint64_t limits_of(std::uint64_t box) {
    const std::uint64_t values = box & kValues;
    return ((values >> 3 * kField | values << 3 * kField) & kValues) ^ kValues;
}
constexpr bool touch(std::uint64_t limits, std::uint64_t box) {
    return (((limits | kGuard) - (box & kValues)) & kGuard) == kGuard;
}
}  // namespace packed_box

}  // namespace sinew
