// The median of numbers.
#pragma once

#include <algorithm>
#include <vector>

namespace sinew {

/// Of an even number of values the larger one of the two in the middle; 0 of none. Reorders the values. O(n).
inline double median(std::vector<double>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace sinew
