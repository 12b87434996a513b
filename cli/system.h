// What the program needs of the operating system. The file that implements it ends in _posix or _windows.
#pragma once

#include <filesystem>

namespace sinew::cli::system {

/// Prepares the standard streams and the memory of the process, and gives its arguments in UTF-8, without the word
/// of a process of batch (see Child). Called first.
void start(int& argc, char**& argv);

/// Calls `handler` for signals that ask the program to end (SIGINT, SIGTERM …).
void handle_signals(void (*handler)(int));

/// Called by the handler at the first signal: a process that gets only one, from batch, ends soon even if it does
/// not notice that it is cancelled.
void end_after_cancelling();

/// Whether standard error is a terminal, which understands escape sequences.
bool has_terminal();

/// Whether files can be created in a folder.
bool is_writable(const std::filesystem::path& folder);

}  // namespace sinew::cli::system
