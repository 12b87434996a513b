// Runs work that may crash or never end in a child process.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sinew/core.h"

namespace sinew::io {

/// Returns the result of `work`, which runs in a child process. A crash, or more than `cpu_seconds` of time, is an
/// ErrorCode::input that begins with `name`, and does not harm this process. The child has a copy of this process's
/// memory and only the calling thread, so `work` must not wait for other threads. Its changes are lost. Where no
/// child process can be made, the work runs in this process.
Result<std::vector<std::byte>> run_apart(const std::function<Result<std::vector<std::byte>>()>& work,
                                         const std::string& name, unsigned cpu_seconds);

}  // namespace sinew::io
