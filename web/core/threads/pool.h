// oneTBB's names as far as core/parallel.h needs them, over threads that are kept: for WebAssembly with threads,
// and for builds without oneTBB (SINEW_THREADS=own). A page starts a thread only between calls of the module, so
// what a call needs must be there before: the module comes with as many as CMakeLists.txt says, and this pool takes
// its own of them at its first use.
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

#if defined(__unix__) && !defined(__EMSCRIPTEN__)
#include <pthread.h>
#endif

namespace tbb {

namespace info {
/// In a page as many as CMakeLists.txt gives the module, with the one that calls.
inline int default_concurrency() {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#if defined(__EMSCRIPTEN__)
    return std::min(cores, 8);
#else
    return cores;
#endif
}
}  // namespace info

/// More threads than cores: not here.
struct global_control {
    enum parameter { max_allowed_parallelism };
    global_control(parameter, std::size_t) {}
};

class pool {
public:
    static pool& shared() {
        const std::lock_guard lock(making_);
        if (!one_) {
            one_ = new pool;  // never ended: its threads wait for it
#if defined(__unix__) && !defined(__EMSCRIPTEN__)
            // A child of fork has none of the threads, so it makes a pool of its own.
            static const int once = pthread_atfork(nullptr, nullptr, [] {
                new (&making_) std::mutex;
                one_ = nullptr;
            });
            (void)once;
#endif
        }
        return *one_;
    }
    /// Whether the caller has it now, and gives it back by release(). Not within what runs in it.
    bool take() { return !taken_.exchange(true, std::memory_order_acquire); }
    void release() { taken_.store(false, std::memory_order_release); }

    /// Calls body on up to `wanted` threads at a time, this one among them, and waits for all. It must not throw.
    void run(unsigned wanted, const std::function<void()>& body) {
        std::unique_lock lock(mutex_);
        body_ = &body;
        helpers_ = left_ = std::min<unsigned>(wanted - 1, static_cast<unsigned>(threads_.size()));
        ++round_;
        lock.unlock();
        start_.notify_all();
        body();
        lock.lock();
        end_.wait(lock, [&] { return left_ == 0; });
    }

private:
    pool() {
        try {
            while (static_cast<int>(threads_.size()) + 1 < info::default_concurrency())
                threads_.emplace_back(&pool::serve, this, static_cast<unsigned>(threads_.size()));
        } catch (const std::system_error&) {
            // What was granted will do.
        }
    }
    void serve(unsigned number) {
        std::unique_lock lock(mutex_);
        for (unsigned long seen = 0;;) {
            start_.wait(lock, [&] { return round_ != seen; });
            seen = round_;
            if (number >= helpers_) continue;
            const std::function<void()>& body = *body_;
            lock.unlock();
            body();
            lock.lock();
            if (--left_ == 0) end_.notify_one();
        }
    }

    static inline std::mutex making_;
    static inline pool* one_ = nullptr;
    std::atomic<bool> taken_{false};
    std::mutex mutex_;
    std::condition_variable start_, end_;
    unsigned long round_ = 0;
    unsigned helpers_ = 0, left_ = 0;
    const std::function<void()>* body_ = nullptr;
    std::vector<std::thread> threads_;
};

template <typename T>
class blocked_range {
public:
    blocked_range(T begin, T end, T) : begin_(begin), end_(end) {}
    T begin() const { return begin_; }
    T end() const { return end_; }

private:
    T begin_, end_;
};

class task_arena {
public:
    explicit task_arena(int threads) : before_(threads_) { threads_ = threads; }
    ~task_arena() { threads_ = before_; }
    template <typename F>
    void execute(F&& f) {
        f();
    }
    static int threads() { return threads_; }

private:
    int before_;
    static inline thread_local int threads_ = 1;
};

/// One item at a time, in any order; within another one, on this thread alone. What is thrown is thrown again here.
template <typename T, typename Body>
void parallel_for(const blocked_range<T>& range, const Body& body) {
    pool& all = pool::shared();
    if (task_arena::threads() < 2 || !all.take()) return body(range);
    std::atomic<T> next{range.begin()};
    std::atomic<bool> failed{false};
    std::exception_ptr thrown;
    all.run(static_cast<unsigned>(task_arena::threads()), [&] {
        try {
            for (T at; !failed.load(std::memory_order_relaxed) && (at = next.fetch_add(1)) < range.end();)
                body(blocked_range<T>(at, at + 1, 1));
        } catch (...) {
            if (!failed.exchange(true)) thrown = std::current_exception();
        }
    });
    all.release();
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace tbb
