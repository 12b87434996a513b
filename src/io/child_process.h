// Runs work that may crash or never end in a child process.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sinew/core.h"

namespace sinew::io {

/// What a child process may use.
struct ChildLimits {
    unsigned cpu_seconds = 0;
    std::size_t memory = 0;  ///< bytes beyond what this process has
};

/// Returns the result of `work`, which runs in a child process. A crash, or more time than allowed, is an
/// ErrorCode::input that begins with `name`, more memory an ErrorCode::too_large; neither harms this process. The
/// child ends with this process, and when the context is cancelled. It has a copy of this process's memory and only
/// the calling thread, so `work` must not wait for other threads. Its changes are lost. Where no child process can
/// be made, the work runs in this process.
Result<std::vector<std::byte>> run_in_child_process(const std::function<Result<std::vector<std::byte>>()>& work,
                                                    const std::string& name, const ChildLimits& limits,
                                                    const Context* context = nullptr);

}  // namespace sinew::io
