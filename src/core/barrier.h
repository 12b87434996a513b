// Where threads wait for each other.
#pragma once

#if defined(_WIN32)
#include <condition_variable>
#include <cstddef>
#include <mutex>
#else
#include <barrier>
#endif

namespace sinew {

#if defined(_WIN32)
/// std::barrier of libstdc++ 12 can wait for ever on systems without futex: it compares the value that it waits for
/// before it takes the lock under which it waits, so it may miss the call that would wake it.
class Barrier {
public:
    explicit Barrier(std::ptrdiff_t threads) : threads_(threads), missing_(threads) {}
    void arrive_and_wait() {
        std::unique_lock lock(mutex_);
        const unsigned phase = phase_;
        arrive();
        next_.wait(lock, [&] { return phase_ != phase; });
    }
    void arrive_and_drop() {
        const std::lock_guard lock(mutex_);
        --threads_;
        arrive();
    }

private:
    void arrive() {
        if (--missing_ > 0) return;
        missing_ = threads_;
        ++phase_;
        next_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable next_;
    std::ptrdiff_t threads_, missing_;
    unsigned phase_ = 0;
};
#else
using Barrier = std::barrier<>;
#endif

}  // namespace sinew
