#include "core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "core/barrier.h"
#include "core/machine.h"
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace sinew {

namespace {

thread_local bool in_a_team = false;

long process_id() {
#if defined(__unix__) || defined(__APPLE__)
    return ::getpid();
#else
    return 0;  // there is no fork
#endif
}

}  // namespace

int core_count() {
#if defined(__SANITIZE_THREAD__)
    return 4;  // more orders of events than with the cores of a small machine
#else
    // Asking the system takes longer than a short loop. No static variable that is locked while it is initialised:
    // a child of fork would wait for ever if another thread was doing that.
    static std::atomic<int> known{0};
    if (const int cores = known.load(std::memory_order_relaxed)) return cores;
    int cores = usable_processors();
#if defined(__EMSCRIPTEN__)
    cores = std::min(cores, 8);  // as many as web/core/CMakeLists.txt gives the module
#endif
    known.store(cores, std::memory_order_relaxed);
    return cores;
#endif
}

int max_threads() {
#if defined(__EMSCRIPTEN__)
    return core_count();
#else
    return std::max(32, 2 * core_count());
#endif
}

/// A thread of the pool. It is never destroyed.
struct Team::Thread {
    enum State { resting, asked, working };

    Thread* next = nullptr;  // that is idle, or of the same team
    unsigned rank = 0;
    const std::function<void(unsigned)>* work = nullptr;
    std::atomic<State> state{resting};
    std::mutex mutex;  // to change the state
    std::condition_variable changed;

    bool change(State from, State to) {
        {
            const std::lock_guard lock(mutex);
            if (state.load(std::memory_order_relaxed) != from) return false;
            state.store(to, std::memory_order_release);
        }
        changed.notify_one();
        return true;
    }

    /// Most waits are short: going to sleep and being woken takes tens of microseconds.
    void wait_for(State wanted) {
        for (int k = 0; k < 100; ++k) {
            if (state.load(std::memory_order_acquire) == wanted) return;
            std::this_thread::yield();
        }
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return state.load(std::memory_order_relaxed) == wanted; });
    }

    void serve() {
        in_a_team = true;
        for (;;) {
            wait_for(asked);
            if (!change(asked, working)) continue;  // it came too late
            (*work)(rank);
            change(working, resting);
        }
    }
};

struct Team::Pool {
    std::mutex mutex;  // of what follows
    Thread* idle = nullptr;
    unsigned started = 0, most = static_cast<unsigned>(max_threads());
    unsigned teams = 0;
    const long process = process_id();

    /// Makes one more thread, which is idle. If the system refuses, there will be no more.
    void start_one() {
        try {
            auto thread = std::make_unique<Thread>();
            std::thread(&Thread::serve, thread.get()).detach();
            thread->next = idle;
            idle = thread.release();
            ++started;
        } catch (const std::exception&) {
            most = started;
        }
    }

    /// The pool of this process. It is never destroyed, because its threads wait for it. A child of fork has none
    /// of the threads of its parent, and locks may be held for ever there: it gets a new pool.
    static Pool& shared() {
        static std::atomic<Pool*> one{nullptr};
        Pool* known = one.load();
        if (known && known->process == process_id()) return *known;
        auto made = std::make_unique<Pool>();
        return one.compare_exchange_strong(known, made.get()) ? *made.release() : *known;
    }
};

Team::Team(unsigned wanted) {
    if (wanted < 2 || in_a_team) return;
    pool_ = &Pool::shared();
    const std::lock_guard lock(pool_->mutex);
    const unsigned part = std::max(1u, pool_->most / ++pool_->teams);
    for (; size_ < std::min(wanted, part + 1); ++size_) {
        if (!pool_->idle && pool_->started < pool_->most) pool_->start_one();
        if (!pool_->idle) break;
        Thread* const thread = pool_->idle;
        pool_->idle = thread->next;
        thread->next = threads_;
        thread->rank = size_;
        threads_ = thread;
    }
}

Team::~Team() {
    if (!pool_) return;
    const std::lock_guard lock(pool_->mutex);
    --pool_->teams;
    while (threads_) {
        Thread* const thread = threads_;
        threads_ = thread->next;
        thread->next = pool_->idle;
        pool_->idle = thread;
    }
}

/// Calls of_rank(rank), which does not throw, for all ranks. A thread that has not begun when the caller ends may
/// be left out.
void Team::work(const std::function<void(unsigned)>& of_rank, Late late) {
    for (Thread* thread = threads_; thread; thread = thread->next) {
        thread->work = &of_rank;
        thread->change(Thread::resting, Thread::asked);
    }
    const bool before = std::exchange(in_a_team, true);
    of_rank(0);
    in_a_team = before;
    for (Thread* thread = threads_; thread; thread = thread->next)
        if (late == Late::awaited || !thread->change(Thread::asked, Thread::resting))
            thread->wait_for(Thread::resting);
}

void Team::run(const std::function<void(unsigned, const std::function<bool()>&)>& body) {
    Barrier meeting(size_);
    std::atomic<bool> failed{false};
    std::exception_ptr thrown;
    const std::function<bool()> barrier = [&] {
        meeting.arrive_and_wait();
        return !failed.load();
    };
    const auto of_rank = [&](unsigned rank) {
        try {
            body(rank, barrier);
        } catch (...) {
            if (!failed.exchange(true)) thrown = std::current_exception();
        }
        // A rank that leaves is not waited for: another rank may see the failure later and wait at the barrier.
        meeting.arrive_and_drop();
    };
    work(std::ref(of_rank), Late::awaited);
    if (thrown) std::rethrow_exception(thrown);
}

void Team::share(std::size_t items, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr thrown;
    const auto of_rank = [&](unsigned) {
        try {
            for (std::size_t item; !failed.load(std::memory_order_relaxed) &&
                                   (item = next.fetch_add(1, std::memory_order_relaxed)) < items;)
                body(item);
        } catch (...) {
            if (!failed.exchange(true)) thrown = std::current_exception();
        }
    };
    work(std::ref(of_rank), Late::left_out);
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace sinew
