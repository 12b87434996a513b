// What a child of fork must find ready.
#pragma once

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
#define SINEW_HAS_FORK
#include <pthread.h>
#endif

namespace sinew {

/// Calls `make` before each fork of the process. For a static local variable that takes long to initialise: if
/// another thread is initialising it, the fork waits until that is done. Otherwise the child would inherit a
/// variable that is locked for initialisation, and its first use would never return.
struct MadeBeforeFork {
#if defined(SINEW_HAS_FORK)
    explicit MadeBeforeFork(void (*make)()) { pthread_atfork(make, nullptr, nullptr); }
#else
    explicit MadeBeforeFork(void (*)()) {}
#endif
};

}  // namespace sinew
