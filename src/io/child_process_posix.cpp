#include "io/child_process.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
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

/// Bytes of address space that this process has; 0 if the system does not say.
std::size_t address_space() {
    std::size_t pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void limit_child(const ChildLimits& limits, [[maybe_unused]] pid_t parent) {
#if defined(__linux__)
    // Also if the parent is killed. It may have died before this call.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
#endif
    const rlimit no_core{0, 0}, cpu{limits.cpu_seconds, limits.cpu_seconds + 1};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_CPU, &cpu);
    rlimit space{};
    const std::size_t now = address_space();
    if (now == 0 || ::getrlimit(RLIMIT_AS, &space) != 0) return;
    space.rlim_cur = std::min<rlim_t>(space.rlim_cur, now + limits.memory);
    ::setrlimit(RLIMIT_AS, &space);
}

[[noreturn]] void child(int to, const std::function<Result<std::vector<std::byte>>()>& work,
                        const ChildLimits& limits, pid_t parent) {
    // The signal handlers of the parent process must not run here.
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGXCPU})
        std::signal(number, SIG_DFL);
    std::signal(SIGPIPE, SIG_IGN);
    limit_child(limits, parent);
    auto code = static_cast<std::uint8_t>(ErrorCode::too_large);
    std::vector<std::byte> bytes;
    std::string message;  // empty: not enough memory
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

/// Reads all that the child sends; false if the context is cancelled.
bool receive(int from, const Context* context, std::vector<std::byte>& got) {
    std::size_t used = 0;
    for (bool more = true; more;) {
        pollfd ready{from, POLLIN, 0};
        const int found = ::poll(&ready, 1, 50);
        if (context && context->cancel) return false;
        if (found <= 0) continue;
        if (used == got.size()) got.resize(std::max<std::size_t>(1 << 16, used * 2));
        const ssize_t count = ::read(from, got.data() + used, got.size() - used);
        if (count < 0 && errno == EINTR) continue;
        more = count > 0;
        if (more) used += static_cast<std::size_t>(count);
    }
    got.resize(used);
    return true;
}

Error ended_early(const std::string& name, const ChildLimits& limits, int signal, std::size_t peak) {
    // A reader may crash where it gets no memory. The peak begins with the memory of this process.
    rusage own{};
    ::getrusage(RUSAGE_SELF, &own);
    if (peak > limits.memory / 2 + (static_cast<std::size_t>(own.ru_maxrss) << 10) || signal == SIGKILL)
        return {ErrorCode::too_large,
                name + ": reading it takes more than " + std::to_string(limits.memory >> 20) +
                    " MB: it is damaged, or needs a higher --memory-limit (or convert it to glTF "
                    "with another program)"};
    if (signal == SIGXCPU)
        return {ErrorCode::input,
                name + ": reading it takes more than " + std::to_string(limits.cpu_seconds) +
                    " seconds: it is damaged or too large (convert it to glTF with another program)"};
    return {ErrorCode::input, name +
                                  ": the file is damaged: its reader crashed "
                                  "(convert it to glTF with another program)"};
}

}  // namespace

Result<std::vector<std::byte>> run_in_child_process(const std::function<Result<std::vector<std::byte>>()>& work,
                                                    const std::string& name, const ChildLimits& limits,
                                                    const Context* context) {
    int ends[2];
    if (::pipe(ends) != 0) return work();
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
        ::close(ends[0]);
        ::close(ends[1]);
        return work();
    }
    if (pid == 0) {
        ::close(ends[0]);
        child(ends[1], work, limits, parent);
    }
    ::close(ends[1]);
    std::vector<std::byte> got;
    const auto end_child = [&](rusage& used) {
        ::close(ends[0]);
        int status = 0;
        pid_t waited = 0;
        do waited = ::wait4(pid, &status, 0, &used);
        while (waited < 0 && errno == EINTR);
        return waited == pid && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    };
    rusage used{};
    try {
        if (!receive(ends[0], context, got)) {
            ::kill(pid, SIGKILL);
            end_child(used);
            return Error{ErrorCode::cancelled, "cancelled while reading " + name};
        }
    } catch (const std::bad_alloc&) {
        ::kill(pid, SIGKILL);
        end_child(used);
        throw;
    }
    const int signal = end_child(used);
    if (context && context->cancel) return Error{ErrorCode::cancelled, "cancelled while reading " + name};
    if (got.size() < 1 + sizeof end || std::memcmp(got.data() + got.size() - sizeof end, end, sizeof end) != 0)
        return ended_early(name, limits, signal, static_cast<std::size_t>(used.ru_maxrss) << 10);
    const auto code = static_cast<std::uint8_t>(got[0]);
    got.resize(got.size() - sizeof end);
    got.erase(got.begin());
    if (code == good) return got;
    if (got.empty()) return ended_early(name, limits, SIGKILL, 0);
    return Error{static_cast<ErrorCode>(code), std::string(reinterpret_cast<const char*>(got.data()), got.size())};
}

}  // namespace sinew::io
