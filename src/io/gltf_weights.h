// Skin weights as the numbers that a glTF primitive holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sinew/weights.h"

namespace sinew::io {

/// Shares that add up to exactly `one` (255 or 65535): rounded down, and the rest goes to the largest remainders,
/// the earlier of equal ones first. Keeps the order of the weights. Weights must sum to about 1; at least one.
void quantise_shares(std::span<const float> weights, std::uint32_t one, std::span<std::uint32_t> out);

/// Moves the largest (first) weight until the sum of all, in order and in double, is within 1e-7 of 1.
void correct_sum(std::span<float> weights);

}  // namespace sinew::io
