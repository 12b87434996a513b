// Loops over threads, progress and cancellation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "core/stages.h"
#include "core/thread_pool.h"
#include "sinew/core.h"

namespace sinew {

/// Number of threads that the context allows.
inline int thread_count(const Context* context) {
    return context && context->threads > 0 ? std::min(context->threads, max_threads()) : core_count();
}

/// Calls body(chunk, begin, end) for every chunk of `grain` items of [0, n). Chunks do not depend on the number
/// of threads. So results that are collected per chunk and joined in chunk order are the same on any number of
/// threads.
template <typename Body>
void parallel_chunks(const Context* context, std::size_t n, std::size_t grain, Body&& body) {
    const std::size_t chunks = (n + grain - 1) / grain;
    const auto run = [&](std::size_t c) { body(c, c * grain, std::min(n, (c + 1) * grain)); };
    if (const int threads = chunks > 1 ? thread_count(context) : 1; threads > 1)
        return Team(static_cast<unsigned>(std::min<std::size_t>(threads, chunks))).share(chunks, std::ref(run));
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

/// `fraction`: of the stage, 0..1.
inline void report_progress(const Context* context, Stage stage, double fraction) {
    if (context && context->progress) context->progress(stage.name(), fraction);
}

}  // namespace sinew
