// Requests for memory that will be needed soon. They change how fast a loop runs, never its result.
#pragma once

namespace sinew {

#if defined(__GNUC__)
// The empty asm statement keeps GCC from removing calls of functions that do nothing but prefetch: it takes them
// for functions without side effects.
[[gnu::always_inline]] inline void prefetch(const void* address) {
    __builtin_prefetch(address);
    asm volatile("");
}
[[gnu::always_inline]] inline void prefetch_to_write(const void* address) {
    __builtin_prefetch(address, 1);
    asm volatile("");
}
#else
inline void prefetch(const void*) {}
inline void prefetch_to_write(const void*) {}
#endif

}  // namespace sinew
