// Small choices without branches, to sort a few numbers or to take the least and most of three: which is less
// nobody could foretell, and a guess that was wrong costs more than all the work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace sinew {

/// Ascending. Few are sorted by insertion without branches, more by std::sort.
inline void sort_keys(std::span<std::uint64_t> keys) {
    if (keys.size() > 16) return std::sort(keys.begin(), keys.end());
    for (std::size_t i = 1; i < keys.size(); ++i) {
        std::uint64_t most = keys[i];  // of those so far, from the front
        for (std::size_t k = 0; k < i; ++k) {
            const std::uint64_t key = keys[k];
            keys[k] = std::min(key, most);
            most = std::max(key, most);
        }
        keys[i] = most;
    }
}

/// The least and the most.
inline std::pair<int, int> range_of(int a, int b, int c) {
    return {std::min(std::min(a, b), c), std::max(std::max(a, b), c)};
}

}  // namespace sinew
