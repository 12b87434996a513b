// Disjoint sets, for one thread (for many: core/union_find.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace sinew {

/// Union-find. The root of a set is its smallest member.
class Forest {
public:
    explicit Forest(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
    std::uint32_t root(std::uint32_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    void join(std::uint32_t a, std::uint32_t b) {
        a = root(a), b = root(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }
    /// Per member, the root of its set.
    std::vector<std::uint32_t> roots() {
        for (std::uint32_t i = 0; i < parent_.size(); ++i) parent_[i] = root(i);
        return parent_;
    }

private:
    std::vector<std::uint32_t> parent_;
};

}  // namespace sinew
