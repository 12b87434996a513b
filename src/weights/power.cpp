// Kernel: powers, in vectors where the processor has them, and plain.
//
// log2 by the series of the inverse hyperbolic tangent, exp2 by Taylor's. Both are accurate to the last bits of
// a double in the small range that remains after the binary exponent is split off. Written without branches, so
// that compilers can vectorise it.
#include "weights/power.h"

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/processor.h"

namespace sinew {
namespace {

#if defined(__GNUC__)
#define SINEW_INLINE inline __attribute__((always_inline))
#else
#define SINEW_INLINE inline
#endif

constexpr std::uint64_t kOne = std::uint64_t{1023} << 52;

// log2 of a positive, normal number.
SINEW_INLINE double log2_of(double x) {
    // Centred range of the mantissa: m from √½ to √2.
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t biased = (bits + (kOne - 0x3fe6a09e667f3bcdull)) >> 52;
    const double m = std::bit_cast<double>(bits - (biased << 52) + kOne);
    const double whole = std::bit_cast<double>(biased | 0x4330000000000000ull) - (4503599627370496.0 + 1023.0);
    constexpr double c = 2.885390081777926814719849362;  // 2 / ln 2
    const double s = (m - 1) / (m + 1), z = s * s;
    double p = c / 17;
    p = p * z + c / 15;
    p = p * z + c / 13;
    p = p * z + c / 11;
    p = p * z + c / 9;
    p = p * z + c / 7;
    p = p * z + c / 5;
    p = p * z + c / 3;
    p = p * z + c;
    return whole + s * p;
}

// 2^y for y from -1000 to 0.
SINEW_INLINE double exp2_of(double y) {
    constexpr double shift = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to a whole number
    const double shifted = y + shift;
    const double t = (y - (shifted - shift)) * 0.693147180559945309417232121;
    double p = 1.0 / 479001600;
    p = p * t + 1.0 / 39916800;
    p = p * t + 1.0 / 3628800;
    p = p * t + 1.0 / 362880;
    p = p * t + 1.0 / 40320;
    p = p * t + 1.0 / 5040;
    p = p * t + 1.0 / 720;
    p = p * t + 1.0 / 120;
    p = p * t + 1.0 / 24;
    p = p * t + 1.0 / 6;
    p = p * t + 0.5;
    p = p * t + 1;
    p = p * t + 1;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) + (std::bit_cast<std::uint64_t>(shifted) << 52));
}

SINEW_INLINE void raise_all(double* x, const double* exponent, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double y = exponent[i] * log2_of(x[i]);
        x[i] = exp2_of(y < -1000 ? -1000 : y);
    }
}

void raise_plain(double* x, const double* exponent, std::size_t n) { raise_all(x, exponent, n); }

#if defined(SINEW_VECTORS)
// In vectors of four and eight.
SINEW_FOR_AVX2 void raise_avx2(double* x, const double* exponent, std::size_t n) { raise_all(x, exponent, n); }
SINEW_FOR_AVX512 void raise_avx512(double* x, const double* exponent, std::size_t n) { raise_all(x, exponent, n); }
const auto kBest = best_of(raise_plain, raise_avx2, raise_avx512);
#else
const auto kBest = raise_plain;
#endif

}  // namespace

void raise(std::span<double> x, std::span<const double> exponent) { kBest(x.data(), exponent.data(), x.size()); }

double portable_log2(double x) { return log2_of(x); }
double portable_exp2(double y) { return exp2_of(y); }

}  // namespace sinew
