#include "command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>

namespace sinew::cli {
namespace {

std::atomic<bool>* g_cancel = nullptr;

void on_interrupt(int) {
    if (g_cancel) g_cancel->store(true);
}

void draw(const char* stage) {
    fmt::print(stderr, "\r\033[K  {}…", stage);
    std::fflush(stderr);
}

}  // namespace

int exit_code(ErrorCode code) {
    switch (code) {
        case ErrorCode::usage:
            return bad_usage;
        case ErrorCode::input:
        case ErrorCode::too_large:
        case ErrorCode::io:
            return bad_input;
        case ErrorCode::cancelled:
            return 128 + SIGINT;
        case ErrorCode::internal:
            return internal_error;
    }
    return internal_error;
}

int fail(const Error& error) {
    fmt::print(stderr, "sinew: error: {}\n", error.message);
    return exit_code(error.code);
}

Progress::Progress(Context& context, bool quiet) : shown_(!quiet && isatty(STDERR_FILENO)) {
    g_cancel = &context.cancel;
    std::signal(SIGINT, on_interrupt);
    if (shown_) {
        context.progress = [](const char* name, double fraction) {
            if (fraction < 1) draw(name);
        };
    }
}

Progress::~Progress() {
    g_cancel = nullptr;
    std::signal(SIGINT, SIG_DFL);
    if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::stage(const char* name) {
    if (shown_) draw(name);
}

}  // namespace sinew::cli
