// Threads that are kept between calls. For builds without oneTBB (SINEW_THREADS=own, and the page), and for a child
// of fork. Only core/parallel.h uses it.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "core/fork.h"

namespace sinew {

class ThreadPool {
public:
    /// The pool of this process. It is never destroyed, because its threads wait for it. A child of fork has none
    /// of the threads of its parent, so it gets a new pool.
    static ThreadPool& shared() {
        const std::lock_guard lock(making_);
        if (!one_) one_ = new ThreadPool;
        return *one_;
    }

    /// Calls body(item) for every item of [0, items), in any order, on up to `wanted` threads, the caller among
    /// them. Fewer, if the system refuses some. Only the caller, if the pool is in use: by another caller, or by a
    /// body that calls this. Rethrows the first exception; items after it may not be run.
    void run(unsigned wanted, std::size_t items, const std::function<void(std::size_t)>& body) {
        std::atomic<std::size_t> next{0};
        std::atomic<bool> failed{false};
        std::exception_ptr thrown;
        const auto run_some = [&] {
            try {
                for (std::size_t item; !failed.load(std::memory_order_relaxed) &&
                                       (item = next.fetch_add(1, std::memory_order_relaxed)) < items;)
                    body(item);
            } catch (...) {
                if (!failed.exchange(true)) thrown = std::current_exception();
            }
        };
        const std::function<void()> work =
            std::ref(run_some);  // no allocation: nothing may throw once the pool is taken
        if (wanted < 2 || items < 2 || taken_.exchange(true, std::memory_order_acquire)) {
            for (std::size_t item = 0; item < items; ++item) body(item);
            return;
        }
        start_threads(wanted - 1);
        std::unique_lock lock(mutex_);
        work_ = &work;
        helpers_ = running_ = std::min<std::size_t>(wanted - 1, threads_.size());
        ++round_;
        lock.unlock();
        start_.notify_all();
        work();
        lock.lock();
        end_.wait(lock, [&] { return running_ == 0; });
        lock.unlock();
        taken_.store(false, std::memory_order_release);
        if (thrown) std::rethrow_exception(thrown);
    }

private:
    ThreadPool() = default;

    void start_threads(std::size_t count) {
        try {
            while (threads_.size() < count)
                threads_.emplace_back(&ThreadPool::serve, this, threads_.size(), round_);
        } catch (const std::exception&) {
            // The work is shared by the threads that were created.
        }
    }

    void serve(std::size_t number, unsigned long seen) {
        for (std::unique_lock lock(mutex_);;) {
            start_.wait(lock, [&] { return round_ != seen; });
            seen = round_;
            if (number >= helpers_) continue;
            const std::function<void()>& work = *work_;
            lock.unlock();
            work();
            lock.lock();
            if (--running_ == 0) end_.notify_one();
        }
    }

    static inline std::mutex making_;
    static inline ThreadPool* one_ = nullptr;
#if defined(SINEW_HAS_FORK)
    // When the library is loaded, so that no fork can come before it.
    static inline const int told_ = pthread_atfork(nullptr, nullptr, [] {
        new (&making_) std::mutex;  // another thread of the parent may have held it
        one_ = nullptr;
    });
#endif
    std::atomic<bool> taken_{false};
    std::vector<std::thread> threads_;  // the caller that took the pool may change it
    std::mutex mutex_;                  // of what follows
    std::condition_variable start_, end_;
    unsigned long round_ = 0;
    std::size_t helpers_ = 0, running_ = 0;
    const std::function<void()>* work_ = nullptr;
};

}  // namespace sinew
