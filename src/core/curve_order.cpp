#include "core/curve_order.h"

#include <array>
#include <numeric>
#include <utility>

#include "core/morton.h"
#include "core/parallel.h"
#include "core/sums.h"

namespace sinew {
namespace {

constexpr std::size_t kTogether = 1 << 16;

/// The numbers 0, 1, … in the order of their keys, which have 3 `bits` bits; equal keys in ascending order.
LargeVector<std::uint32_t> sorted_by(LargeVector<std::uint32_t> key, int bits, Context* context) {
    constexpr std::size_t most_digits = 1 << 10;
    const std::uint32_t digits = 1u << bits;
    LargeVector<std::uint32_t> order(key.size()), next_order(key.size()), next_key(key.size());
    std::iota(order.begin(), order.end(), 0u);
    std::vector<std::array<std::uint32_t, most_digits>> to((key.size() + kTogether - 1) / kTogether);
    for (int shift = 0; shift < 3 * bits; shift += bits) {
        parallel_chunks(context, key.size(), kTogether, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            to[chunk].fill(0);
            for (std::size_t i = begin; i < end; ++i) ++to[chunk][(key[i] >> shift) % digits];
        });
        std::uint32_t before = 0;
        for (std::uint32_t d = 0; d < digits; ++d)
            for (auto& of_chunk : to) before += std::exchange(of_chunk[d], before);
        parallel_chunks(context, key.size(), kTogether, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint32_t at = to[chunk][(key[i] >> shift) % digits]++;
                next_key[at] = key[i];
                next_order[at] = order[i];
            }
        });
        key.swap(next_key);
        order.swap(next_order);
    }
    return order;
}

}  // namespace

CurveOrder::CurveOrder(std::size_t points, int bits, const std::function<Point3(std::size_t)>& place,
                       Context* context)
    : cell(points) {
    LargeVector<Point3> at(points);
    const auto box = sum_of<Box3>(
        context, points, [&](Box3& of, std::size_t i) { of.add(at[i] = place(i)); },
        [](Box3& of, const Box3& more) { of.add(more.low), of.add(more.high); });
    const double size = box.longest(), cells = 1 << bits;
    parallel_for(context, points, 4096, [&](std::size_t i) {
        std::array<std::uint64_t, 3> step{};
        for (std::size_t k = 0; k < 3 && size > 0; ++k)
            step[k] =
                static_cast<std::uint64_t>(std::clamp((at[i][k] - box.low[k]) / size * cells, 0.0, cells - 1));
        cell[i] = static_cast<std::uint32_t>(morton(step[0], step[1], step[2]));
    });
    point = sorted_by(cell, bits, context);
}

}  // namespace sinew
