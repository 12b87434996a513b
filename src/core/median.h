// The median of numbers.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace sinew {

/// Of an even number of values the larger one of the two in the middle; 0 of none. Reorders the values. O(n).
inline double median(std::vector<double>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct WeightedValue {
    double value, weight;  ///< weight ≥ 0
};

/// The least value so that it and the smaller ones have more than half of the weight; 0 of none. With equal weights
/// it is the median above. Reorders the values. O(n).
inline double median(std::vector<WeightedValue>& values) {
    const auto total = [](std::span<const WeightedValue> some) {
        double sum = 0;
        for (const WeightedValue& each : some) sum += each.weight;
        return sum;
    };
    const double half = total(values) / 2;
    double below = 0;
    std::span<WeightedValue> among = values;
    while (among.size() > 1) {
        const std::size_t middle = among.size() / 2;
        std::nth_element(among.begin(), among.begin() + static_cast<std::ptrdiff_t>(middle), among.end(),
                         [](const WeightedValue& a, const WeightedValue& b) { return a.value < b.value; });
        const double lower = total(among.first(middle));
        const bool in_lower = below + lower > half;
        if (!in_lower) below += lower;
        among = in_lower ? among.first(middle) : among.subspan(middle);
    }
    return among.empty() ? 0 : among[0].value;
}

}  // namespace sinew
