// Powers of numbers from 0 to 1, with the same bits on every machine.
#pragma once

#include <span>

namespace sinew {

/// x[i] becomes x[i]^exponent[i]. x in [1e-300, 1], exponent ≥ 0; 1 stays 1. Results below 2^-1000 become
/// 2^-1000, which is 0 as a float. The relative error of a power of 2^-n is below (4 + exponent + n) · 4e-16.
/// Uses only additions, products and quotients, so that all machines and vector widths round equally; std::pow
/// may differ between C libraries. About 10 cycles each.
void raise(std::span<double> x, std::span<const double> exponent);

/// The binary logarithm of a positive, normal number; within 1e-15, relative to the larger of 1 and the result.
double portable_log2(double x);
/// 2^y for y in [-1000, 0].
double portable_exp2(double y);

}  // namespace sinew
