// Branchless sorting of a few numbers, and minimum and maximum of three. The comparisons are unpredictable, and
// a mispredicted branch costs more than the work itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace sinew {

/// Ascending. Short ranges use branchless insertion sort, longer ones std::sort.
inline void sort_keys(std::span<std::uint64_t> keys) {
    if (keys.size() > 16) return std::sort(keys.begin(), keys.end());
    for (std::size_t i = 1; i < keys.size(); ++i) {
        std::uint64_t most = keys[i];  // largest key so far, from the front
        for (std::size_t k = 0; k < i; ++k) {
            const std::uint64_t key = keys[k];
            keys[k] = std::min(key, most);
            most = std::max(key, most);
        }
        keys[i] = most;
    }
}

/// Minimum and maximum.
inline std::pair<int, int> range_of(int a, int b, int c) {
    return {std::min(std::min(a, b), c), std::max(std::max(a, b), c)};
}

}  // namespace sinew
