// The only file that uses threads, with barrier.h and thread_pool.h. Threads come from oneTBB, from a pool of
// sinew's own (SINEW_THREADS=own, and in a child of fork), or there are none (SINEW_THREADS=serial, and WebAssembly
// without threads).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "sinew/core.h"

#if !defined(SINEW_SERIAL)
#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "core/barrier.h"
#include "core/fork.h"
#include "core/thread_pool.h"
#endif
#if !defined(SINEW_SERIAL) && !defined(SINEW_OWN_THREADS)
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace sinew {

#if !defined(SINEW_SERIAL)
inline int core_count() {
#if defined(__SANITIZE_THREAD__)
    return 4;  // more orders of events than with the cores of a small machine
#else
    static const int cores = [] {  // asking the system takes longer than a short loop
        const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#if defined(__EMSCRIPTEN__)
        return std::min(all, 8);  // as many as web/core/CMakeLists.txt gives the module
#else
        return all;
#endif
    }();
    return cores;
#endif
}
inline const MadeBeforeFork core_count_is_known([] { core_count(); });
#endif

/// Number of threads that the context allows: at most 32, or twice the cores. More would only take memory. In a
/// page at most the cores.
inline int thread_count(const Context* context) {
#if defined(SINEW_SERIAL)
    (void)context;
    return 1;
#else
    const int cores = core_count();
#if defined(__EMSCRIPTEN__)
    const int most = cores;
#else
    const int most = std::max(32, 2 * cores);
#endif
    return context && context->threads > 0 ? std::min(context->threads, most) : cores;
#endif
}

#if !defined(SINEW_SERIAL) && !defined(SINEW_OWN_THREADS)
/// Whether this process is a child of fork. Such a child has none of oneTBB's threads, and one of them may have
/// held a lock at the time of the fork: a call of oneTBB could wait for it for ever. It is not known of a fork
/// before the library was loaded.
#if defined(SINEW_HAS_FORK)
inline bool in_child_of_fork = false;
inline const int told_of_fork = pthread_atfork(nullptr, nullptr, [] { in_child_of_fork = true; });
#else
inline constexpr bool in_child_of_fork = false;
#endif

/// `wanted`, or as many threads as the system gives. oneTBB would end the program if it could not start one of
/// them, so this starts them once before. A failure counts for the rest of the process.
inline int startable_threads(int wanted) {
    static std::atomic<int> started{1}, refused{0};
    if (const int most = refused.load(); most > 0) return std::min(wanted, most);
    if (wanted <= started.load()) return wanted;
    std::promise<void> all;
    const std::shared_future<void> go = all.get_future().share();
    std::vector<std::thread> threads;
    try {
        while (static_cast<int>(threads.size()) + 1 < wanted) threads.emplace_back([go] { go.wait(); });
    } catch (const std::exception&) {
        // Counted below.
    }
    all.set_value();
    for (std::thread& thread : threads) thread.join();
    if (static_cast<int>(threads.size()) + 1 == wanted) {
        started.store(std::max(started.load(), wanted));
        return wanted;
    }
    // One fewer: what oneTBB needs beside its threads.
    const int got = std::max(1, static_cast<int>(threads.size()));
    refused.store(got);
    return got;
}

template <typename Run>
void run_in_onetbb(int threads, std::size_t items, const Run& run) {
    // Tests use more threads than cores. TBB would limit the number and print a warning.
    std::optional<tbb::global_control> more;
    if (threads > tbb::info::default_concurrency())
        more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    tbb::task_arena arena(threads);
    arena.execute([&] {
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, items, 1),
                          [&](const tbb::blocked_range<std::size_t>& range) {
                              for (std::size_t item = range.begin(); item != range.end(); ++item) run(item);
                          });
    });
}
#endif

/// Calls body(chunk, begin, end) for every chunk of `grain` items of [0, n). Chunks do not depend on the number
/// of threads. So results that are collected per chunk and joined in chunk order are the same on any number of
/// threads.
template <typename Body>
void parallel_chunks(const Context* context, std::size_t n, std::size_t grain, Body&& body) {
    const std::size_t chunks = (n + grain - 1) / grain;
    auto run = [&](std::size_t c) { body(c, c * grain, std::min(n, (c + 1) * grain)); };
#if !defined(SINEW_SERIAL)
    if (const int wanted = chunks > 1 ? thread_count(context) : 1; wanted > 1) {
#if !defined(SINEW_OWN_THREADS)
        if (!in_child_of_fork) {
            if (const int threads = startable_threads(wanted); threads > 1)
                return run_in_onetbb(threads, chunks, run);
            for (std::size_t c = 0; c < chunks; ++c) run(c);
            return;
        }
#endif
        ThreadPool::shared().run(static_cast<unsigned>(wanted), chunks, run);
        return;
    }
#endif
    (void)context;
    for (std::size_t c = 0; c < chunks; ++c) run(c);
}

/// Calls body(i) for every i of [0, n), in chunks of `grain`.
template <typename Body>
void parallel_for(const Context* context, std::size_t n, std::size_t grain, Body&& body) {
    parallel_chunks(context, n, grain, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) body(i);
    });
}

/// Threads that run one body together and can wait for each other. There may be fewer than requested; call
/// size() before planning the work.
class Team {
public:
    explicit Team([[maybe_unused]] unsigned wanted) {
#if !defined(SINEW_SERIAL)
        try {
            while (threads_.size() + 1 < wanted)
                threads_.emplace_back(&Team::wait_and_run, this, started_by_, threads_.size() + 1);
        } catch (const std::exception&) {
            // Continue with the threads that were created.
        }
#endif
    }
    Team(const Team&) = delete;
    ~Team() { finish(); }

    unsigned size() const {
#if !defined(SINEW_SERIAL)
        return static_cast<unsigned>(threads_.size() + 1);
#else
        return 1;
#endif
    }

    /// Runs body(rank, barrier) once for every rank. barrier() waits for all other ranks. It returns false
    /// after a rank has thrown, and then body must return. The exception is rethrown here. Call once.
    void run(const std::function<void(unsigned, const std::function<bool()>&)>& body) {
#if !defined(SINEW_SERIAL)
        if (size() > 1) {
            body_ = &body;
            meeting_.emplace(size());
            go_.set_value();
            started_ = true;
            work(0);
            finish();
            if (thrown_) std::rethrow_exception(thrown_);
            return;
        }
#endif
        body(0, [] { return true; });
    }

private:
#if !defined(SINEW_SERIAL)
    void wait_and_run(std::shared_future<void> go, std::size_t rank) {
        go.wait();
        if (body_) work(static_cast<unsigned>(rank));
    }
    void work(unsigned rank) {
        try {
            (*body_)(rank, [&] {
                meeting_->arrive_and_wait();
                return !failed_.load();
            });
        } catch (...) {
            if (!failed_.exchange(true)) thrown_ = std::current_exception();
        }
        // A rank that leaves is not waited for: another rank may see the failure later and wait at the barrier.
        meeting_->arrive_and_drop();
    }
    void finish() {
        if (!started_ && !threads_.empty()) go_.set_value();  // no body was run: the threads end
        started_ = true;
        for (std::thread& t : threads_) t.join();
        threads_.clear();
    }
    std::promise<void> go_;
    std::shared_future<void> started_by_ = go_.get_future().share();
    std::vector<std::thread> threads_;
    std::optional<Barrier> meeting_;
    const std::function<void(unsigned, const std::function<bool()>&)>* body_ = nullptr;
    std::atomic<bool> failed_{false};
    std::exception_ptr thrown_;
    bool started_ = false;
#else
    void finish() {}
#endif
};

inline bool cancelled(const Context* context) { return context && context->cancel.load(std::memory_order_relaxed); }

inline void report_progress(const Context* context, const char* stage, double fraction) {
    if (context && context->progress) context->progress(stage, fraction);
}

}  // namespace sinew
