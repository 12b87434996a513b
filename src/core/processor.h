// Vector extensions of the processor, for functions that are compiled for several of them and chosen at run
// time. All versions give the same bits.
#pragma once

#include <cstdlib>
#include <cstring>

#if defined(__GNUC__) && defined(__x86_64__)
#define SINEW_VECTORS 1
/// Attributes of functions that are compiled for several processors. All callees are inlined. Fused
/// multiply-add is not used, since it rounds differently (-ffp-contract=off).
#define SINEW_FOR_AVX2 __attribute__((flatten, target("avx2")))
#define SINEW_FOR_AVX512 __attribute__((flatten, target("avx512f,avx512dq,avx512bw,avx512vl")))
#endif

namespace sinew {

enum class Vectors { none, avx2, avx512 };

/// The best available extension. The environment variable SINEW_VECTORS (none, avx2) limits it, for tests.
inline Vectors vectors() {
    static const Vectors found = [] {
#if defined(SINEW_VECTORS)
        const char* const at_most = std::getenv("SINEW_VECTORS");
        const auto only = [&](const char* name) { return at_most && std::strcmp(at_most, name) == 0; };
        if (!__builtin_cpu_supports("avx2") || only("none")) return Vectors::none;
        const bool all = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
        return all && !only("avx2") ? Vectors::avx512 : Vectors::avx2;
#else
        return Vectors::none;
#endif
    }();
    return found;
}

/// Selects one of three implementations of a function.
template <typename Function>
Function best_of(Function any, [[maybe_unused]] Function avx2, [[maybe_unused]] Function avx512) {
    return vectors() == Vectors::avx512 ? avx512 : vectors() == Vectors::avx2 ? avx2 : any;
}

}  // namespace sinew
