// Vectors of numbers, of the width of the processor that a function is compiled for (core/processor.h).
#pragma once

#include <cstddef>
#include <cstring>

#include "core/processor.h"

namespace sinew {

template <typename T, std::size_t n>
struct LanesOf {
    using type [[gnu::vector_size(n * sizeof(T))]] = T;
};
template <typename T>
struct LanesOf<T, 1> {
    using type = T;
};

/// n numbers in a register. Wider vectors than the processor has are kept in memory, number by number.
template <typename T, std::size_t n>
using Lanes = typename LanesOf<T, n>::type;

/// How many bytes a vector has: in any function, and in those for the two attributes.
constexpr std::size_t kAnyVector = 16, kAvx2Vector = 32, kAvx512Vector = 64;

/// `size` numbers in vectors of n. How vectors are passed depends on the processor: only by reference.
template <typename T, std::size_t size, std::size_t n>
struct Row {
    static_assert(size % n == 0);
    static constexpr std::size_t parts = size / n;
    Lanes<T, n> part[parts];

    void load(const T* from) {
        for (std::size_t k = 0; k < parts; ++k) std::memcpy(&part[k], from + k * n, sizeof part[k]);
    }
    void store(T* to) const {
        for (std::size_t k = 0; k < parts; ++k) std::memcpy(to + k * n, &part[k], sizeof part[k]);
    }
    void add(T factor, const Row& row) {
        for (std::size_t k = 0; k < parts; ++k) part[k] += factor * row.part[k];
    }
    void subtract(T factor, const Row& row) {
        for (std::size_t k = 0; k < parts; ++k) part[k] -= factor * row.part[k];
    }
    void raise_to_zero() {
        for (std::size_t k = 0; k < parts; ++k) part[k] = part[k] < 0 ? Lanes<T, n>{} : part[k];
    }
    void divide(T by) {
        for (std::size_t k = 0; k < parts; ++k) part[k] /= by;
    }
};

}  // namespace sinew
