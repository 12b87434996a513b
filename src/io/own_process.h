// Processes of this program, started by itself. Not on Windows and not in the page.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sinew/core.h"

namespace sinew::io {

/// Starts `program` with these arguments, the first of which is its name. Its standard streams become `in`, `out`
/// and `err`. Of this process it gets no signal handlers, and no descriptors but those without O_CLOEXEC. Safe in a
/// process with threads, unlike fork. `group`: in a process group of its own, so that Ctrl-C does not reach it.
Result<pid_t> start_process(const std::string& program, std::vector<std::string> arguments, int in, int out,
                            int err, bool group);

/// Called first by such a process: it gets this signal when `parent`, which has started it, ends; or ends now, if
/// `parent` has ended. Only on Linux.
void end_with_parent(pid_t parent, int signal);

/// Sends `bytes` to such a process, whose standard streams are the other end of the socket `with`, and receives
/// what it answers until it closes them; false if the context is cancelled.
bool exchange(int with, std::span<const std::byte> bytes, const Context* context, std::vector<std::byte>& answer);
/// In such a process: all of its standard input.
std::vector<std::byte> all_input();
/// In such a process: writes to its standard output. False if the process that started it has closed the other end.
bool write_output(std::span<const std::byte> bytes);

}  // namespace sinew::io
