// What the processor has beyond what every one has, for functions that are compiled for it as well and chosen at
// run time. Whatever is chosen gives the same bits.
#pragma once

#include <cstdlib>
#include <cstring>

#if defined(__GNUC__) && defined(__x86_64__)
#define SINEW_VECTORS 1
/// Of functions that are compiled for several processors: all that they call becomes part of them. No processor's
/// fused multiplication is used, which would round otherwise (-ffp-contract=off).
#define SINEW_FOR_AVX2 __attribute__((flatten, target("avx2")))
#define SINEW_FOR_AVX512 __attribute__((flatten, target("avx512f,avx512dq,avx512bw,avx512vl")))
#endif

namespace sinew {

enum class Vectors { none, avx2, avx512 };

/// The most that there is. The environment variable SINEW_VECTORS (none, avx2) says that less is to be used: a way
/// to see whether something depends on it.
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

/// One of three functions that do the same.
template <typename Function>
Function best_of(Function any, [[maybe_unused]] Function avx2, [[maybe_unused]] Function avx512) {
    return vectors() == Vectors::avx512 ? avx512 : vectors() == Vectors::avx2 ? avx2 : any;
}

}  // namespace sinew
