// Work that may crash or never end, in a process of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sinew/core.h"

namespace sinew::io {

/// What `work` returns, from a child process: a crash, or more than `cpu_seconds`, is an ErrorCode::input that
/// begins with `name`, and nothing of ours is harmed. The child has a copy of this process's memory as it was and
/// only the calling thread; `work` must not wait for other threads. What it changes is lost with it. Where there
/// can be no child, the work is done here.
Result<std::vector<std::byte>> run_apart(const std::function<Result<std::vector<std::byte>>()>& work,
                                         const std::string& name, unsigned cpu_seconds);

}  // namespace sinew::io
