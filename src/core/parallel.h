// The only file that knows of threads: oneTBB, or its serial twin where there is none (WebAssembly).
#pragma once

#include <algorithm>
#include <cstddef>

#include "sinew/core.h"

#ifndef SINEW_SERIAL
#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace sinew {

/// How many threads the context grants.
inline int thread_count(const Context* context) {
#ifdef SINEW_SERIAL
    (void)context;
    return 1;
#else
    return context && context->threads > 0 ? context->threads : tbb::info::default_concurrency();
#endif
}

/// Calls body(chunk, begin, end) for every chunk of `grain` items of [0, n). Chunks do not depend on the number of
/// threads, so what is gathered per chunk and joined in chunk order is the same on 1 thread and on N.
template <typename Body>
void parallel_chunks(const Context* context, std::size_t n, std::size_t grain, Body&& body) {
    const std::size_t chunks = (n + grain - 1) / grain;
    auto run = [&](std::size_t c) { body(c, c * grain, std::min(n, (c + 1) * grain)); };
#ifndef SINEW_SERIAL
    if (const int threads = thread_count(context); threads > 1 && chunks > 1) {
        tbb::task_arena arena(threads);
        arena.execute([&] {
            tbb::parallel_for(tbb::blocked_range<std::size_t>(0, chunks, 1),
                              [&](const tbb::blocked_range<std::size_t>& range) {
                                  for (std::size_t c = range.begin(); c != range.end(); ++c) run(c);
                              });
        });
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

inline bool cancelled(const Context* context) { return context && context->cancel.load(std::memory_order_relaxed); }

inline void report_progress(const Context* context, const char* stage, double fraction) {
    if (context && context->progress) context->progress(stage, fraction);
}

}  // namespace sinew
