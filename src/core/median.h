// The median of numbers.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace sinew {

/// Of an even number of values the larger one of the two in the middle; 0 of none. Reorders the values. O(n).
inline double median(std::vector<double>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The same of values that count `second` times each. Changes their order. O(n log n).
inline double median(std::vector<std::pair<double, double>>& values) {
    std::sort(values.begin(), values.end());
    double all = 0, before = 0;
    for (const auto& [value, count] : values) all += count;
    for (const auto& [value, count] : values)
        if ((before += count) > all / 2) return value;
    return values.empty() ? 0 : values.back().first;
}

}  // namespace sinew
