#include "io/apart.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>

namespace sinew::io {

namespace {

bool write_all(int to, const void* data, std::size_t size) {
    const auto* at = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t put = ::write(to, at, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        size -= static_cast<std::size_t>(put);
    }
    return true;
}

/// The child sends one byte, 255 or an ErrorCode; then bytes or a message up to the end of the pipe; then `end`.
constexpr std::uint8_t good = 255;
constexpr char end[] = {'d', 'o', 'n', 'e'};

[[noreturn]] void child(int to, const std::function<Result<std::vector<std::byte>>()>& work, unsigned cpu_seconds) {
    // The signal handlers of the parent process must not run here.
    for (const int number : {SIGINT, SIGTERM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGXCPU})
        std::signal(number, SIG_DFL);
    std::signal(SIGPIPE, SIG_IGN);
    const rlimit no_core{0, 0}, cpu{cpu_seconds, cpu_seconds + 1};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_CPU, &cpu);
    std::uint8_t code = static_cast<std::uint8_t>(ErrorCode::too_large);
    std::vector<std::byte> bytes;
    std::string message = "there is not enough memory";
    try {
        auto result = work();
        if (result) {
            code = good;
            bytes = std::move(*result);
        } else {
            code = static_cast<std::uint8_t>(result.error().code);
            message = result.error().message;
        }
    } catch (const std::bad_alloc&) {
    }
    const bool sent = write_all(to, &code, 1) &&
                      (code == good ? write_all(to, bytes.data(), bytes.size())
                                    : write_all(to, message.data(), message.size())) &&
                      write_all(to, end, sizeof end);
    ::_exit(sent ? 0 : 1);  // without the parent's destructors and buffers
}

}  // namespace

Result<std::vector<std::byte>> run_apart(const std::function<Result<std::vector<std::byte>>()>& work,
                                         const std::string& name, unsigned cpu_seconds) {
    int ends[2];
    if (::pipe(ends) != 0) return work();
    const pid_t pid = ::fork();
    if (pid < 0) {
        ::close(ends[0]);
        ::close(ends[1]);
        return work();
    }
    if (pid == 0) {
        ::close(ends[0]);
        child(ends[1], work, cpu_seconds);
    }
    ::close(ends[1]);
    std::vector<std::byte> got;
    std::size_t used = 0;
    for (;;) {
        if (used == got.size()) got.resize(std::max<std::size_t>(1 << 16, used * 2));
        const ssize_t count = ::read(ends[0], got.data() + used, got.size() - used);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        used += static_cast<std::size_t>(count);
    }
    ::close(ends[0]);
    int status = 0;
    pid_t waited = 0;
    do waited = ::waitpid(pid, &status, 0);
    while (waited < 0 && errno == EINTR);
    if (used < 1 + sizeof end || std::memcmp(got.data() + used - sizeof end, end, sizeof end) != 0) {
        const int signal = waited == pid && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        if (signal == SIGXCPU || signal == SIGKILL)
            return Error{ErrorCode::input, name + ": reading it takes more than " + std::to_string(cpu_seconds) +
                                               " seconds, or all memory: it is damaged or too large "
                                               "(convert it to glTF with another program)"};
        return Error{ErrorCode::input, name +
                                           ": the file is damaged: its reader crashed "
                                           "(convert it to glTF with another program)"};
    }
    const auto code = static_cast<std::uint8_t>(got[0]);
    got.resize(used - sizeof end);
    got.erase(got.begin());
    if (code == good) return got;
    return Error{static_cast<ErrorCode>(code), std::string(reinterpret_cast<const char*>(got.data()), got.size())};
}

}  // namespace sinew::io
