// Powers of numbers from 0 to 1, the same bits on every machine.
#pragma once

#include <span>

namespace sinew {

/// x[i] becomes x[i]^exponent[i]. x in [1e-300, 1], exponent ≥ 0; 1 stays 1; what is below 2^-1000 becomes 2^-1000,
/// which no float can hold. The error of a power of 2^-n, in proportion to it, is below (4 + exponent + n) · 4e-16.
/// Only additions, products and quotients, so that every machine, and every width of its vectors, rounds alike;
/// std::pow may differ from one C library to the next. About 10 cycles each.
void raise(std::span<double> x, std::span<const double> exponent);

}  // namespace sinew
