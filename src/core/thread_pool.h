// The threads of the library: one pool for a process. Only core/parallel.h uses it.
#pragma once

#include <cstddef>
#include <functional>

namespace sinew {

/// Processors that the process may use (usable_processors), in a page as many as the module has threads; 1 in a
/// build without threads.
int core_count();

/// Maximum number of threads of one call: 32, or twice the processors. More would only take memory.
int max_threads();

/// The caller and threads of the pool, which work for this team alone until it ends. There may be fewer than
/// requested; call size() before planning the work. Teams of callers at the same time share the pool: each gets at
/// most its part of max_threads(), and the system divides the processors between them. A team that is made within
/// the work of another one has one thread.
class Team {
public:
    explicit Team(unsigned wanted);
    Team(const Team&) = delete;
    ~Team();

    unsigned size() const { return size_; }

    /// Runs body(rank, barrier) once for every rank. barrier() waits for all other ranks. It returns false
    /// after a rank has thrown, and then body must return. The first exception is rethrown here.
    void run(const std::function<void(unsigned, const std::function<bool()>&)>& body);

    /// Calls body(item) for every item of [0, items), in any order. The first exception is rethrown here; items
    /// after it may not be run.
    void share(std::size_t items, const std::function<void(std::size_t)>& body);

private:
    struct Thread;
    struct Pool;
    enum class Late { awaited, left_out };
    void work(const std::function<void(unsigned)>& of_rank, Late late);

    unsigned size_ = 1;
    Pool* pool_ = nullptr;       // null: only the caller
    Thread* threads_ = nullptr;  // a list
};

}  // namespace sinew
