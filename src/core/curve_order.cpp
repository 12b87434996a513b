#include "core/curve_order.h"

#include <array>
#include <utility>

#include "core/morton.h"
#include "core/parallel.h"
#include "core/sums.h"

namespace sinew {
namespace {

constexpr std::size_t kTogether = 1 << 16, kMostDigits = 1 << 10;

/// Sorts by `bits` bits from `shift` on; entries where these are equal keep their order.
void sort_by_digit(LargeVector<std::uint64_t>& entry, LargeVector<std::uint64_t>& next, int shift, int bits,
                   Context* context) {
    const std::size_t digits = std::size_t{1} << bits;
    const auto digit = [&](std::uint64_t of) { return static_cast<std::size_t>(of >> shift) % digits; };
    std::vector<std::array<std::uint32_t, kMostDigits>> to((entry.size() + kTogether - 1) / kTogether);
    parallel_chunks(context, entry.size(), kTogether, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        to[chunk].fill(0);
        for (std::size_t i = begin; i < end; ++i) ++to[chunk][digit(entry[i])];
    });
    std::uint32_t before = 0;
    for (std::size_t d = 0; d < digits; ++d)
        for (auto& of_chunk : to) before += std::exchange(of_chunk[d], before);
    parallel_chunks(context, entry.size(), kTogether, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) next[to[chunk][digit(entry[i])]++] = entry[i];
    });
    entry.swap(next);
}

}  // namespace

CurveOrder::CurveOrder(std::size_t points, int bits, const std::function<Point3(std::size_t)>& place,
                       Context* context)
    : point(points), cell(points) {
    const auto box = sum_of<Box3>(
        context, points, [&](Box3& of, std::size_t i) { of.add(place(i)); },
        [](Box3& of, const Box3& more) { of.add(more.low), of.add(more.high); });
    const double size = box.longest(), cells = 1 << bits;
    LargeVector<std::uint64_t> entry(points), next(points);  // cells and, in the lower half, points
    parallel_for(context, points, 4096, [&](std::size_t i) {
        const Point3 at = place(i);
        std::array<std::uint64_t, 3> step{};
        for (std::size_t k = 0; k < 3 && size > 0; ++k)
            step[k] = static_cast<std::uint64_t>(std::clamp((at[k] - box.low[k]) / size * cells, 0.0, cells - 1));
        entry[i] = morton(step[0], step[1], step[2]) << 32 | i;
    });
    for (int k = 0; k < 3; ++k) sort_by_digit(entry, next, 32 + k * bits, bits, context);
    parallel_for(context, points, 4096, [&](std::size_t i) {
        point[i] = static_cast<std::uint32_t>(entry[i]);
        cell[i] = static_cast<std::uint32_t>(entry[i] >> 32);
    });
}

}  // namespace sinew
