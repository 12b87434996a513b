// Kernel: weights of many rows at a time, column by column, in vectors where the processor has them. The plain
// reference is apply_falloff and finish; all give the same bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sinew/weights.h"

namespace sinew {

/// A table of distances or of strengths.
struct TableRows {
    std::size_t vertices, width;
    std::span<const std::uint32_t> joint;
    std::span<const float> value;  // distances, or strengths
    double unit;                   // of distances; 0: values are strengths

    explicit TableRows(const DistanceTable& t)
        : vertices(t.vertices), width(t.width), joint(t.joint), value(t.distance), unit(t.unit) {}
    explicit TableRows(const InfluenceTable& t)
        : vertices(t.vertices), width(t.width), joint(t.joint), value(t.strength), unit(0) {}

    bool heat() const { return unit == 0; }
    /// NaN in an empty slot.
    double raw(std::size_t slot) const { return number(joint[slot], value[slot], heat() ? 0 : -INFINITY); }
    static float number(std::uint32_t joint, float value, float above) {
        const bool is = (joint != no_index) & (value < INFINITY) & (value > above);
        return is ? value : NAN;
    }
    /// The input of the law; NaN in an empty slot.
    double at(std::size_t slot) const { return heat() ? raw(slot) : raw(slot) / unit; }
};

/// The weights of rows begin to end, one row after the other. `count` gets the number of weights of each row. The
/// options must have passed check().
std::vector<Influence> weigh_batch(const TableRows& table, const FalloffOptions& falloff,
                                   const FinishOptions& finish, std::size_t begin, std::size_t end,
                                   std::uint64_t* count);

}  // namespace sinew
