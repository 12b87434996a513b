// What the subcommands share: exit codes, progress, and printing for people or for programs.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "sinew/core.h"

namespace sinew::cli {

// docs/conventions.md
enum ExitCode { done = 0, gate_failed = 1, bad_usage = 2, bad_input = 3, internal_error = 4 };

int exit_code(ErrorCode code);

/// Prints "sinew: error: …" to standard error and returns the exit code that belongs to it.
int fail(const Error& error);

/// A progress bar on standard error, only if that is a terminal and the user did not ask for quiet. Also turns an
/// interrupt (Ctrl-C) into Context::cancel.
class Progress {
public:
    Progress(Context& context, bool quiet);
    ~Progress();
    Progress(const Progress&) = delete;

    /// Shows a stage that does not report by itself.
    void stage(const char* name);

private:
    bool shown_ = false;
};

/// Registers a subcommand; its action stores the exit code in `exit`.
void add_bind(CLI::App& app, int& exit);
void add_apply(CLI::App& app, int& exit);

}  // namespace sinew::cli
