// Rounding weights without losing their sum. A vertex whose weights sum to 254/255 shrinks towards the origin by
// 1/255 of its distance from it, which shows.
#include "io/gltf_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace sinew::io {

void quantise_shares(std::span<const float> weights, std::uint32_t one, std::span<std::uint32_t> out) {
    double sum = 0;
    for (const float w : weights) sum += w;
    std::vector<double> remainder(weights.size());
    std::uint32_t given = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double share = weights[i] / sum * one;
        out[i] = std::min(static_cast<std::uint32_t>(share), one - given);
        remainder[i] = share - out[i];
        given += out[i];
    }
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
    // The remaining units are fewer than the weights, so one pass is enough.
    for (std::size_t i = 0; given < one; i = (i + 1) % order.size(), ++given) ++out[order[i]];
}

void correct_sum(std::span<float> weights) {
    for (int round = 0; round < 4; ++round) {
        double sum = 0;
        for (const float w : weights) sum += w;
        if (std::abs(sum - 1) <= 1e-7) return;
        weights[0] = static_cast<float>(weights[0] + (1 - sum));
    }
}

}  // namespace sinew::io
