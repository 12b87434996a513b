#include "io/own_process.h"

#include "io/system_files.h"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <system_error>

extern char** environ;

namespace sinew::io {

Result<pid_t> start_process(const std::string& program, std::vector<std::string> arguments, int in, int out,
                            int err, bool group) {
    if (system::confined()) return Error{ErrorCode::usage, "this process starts no others"};
    std::vector<char*> words;
    for (std::string& word : arguments) words.push_back(word.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    for (const auto& [from, to] : {std::pair{in, STDIN_FILENO}, {out, STDOUT_FILENO}, {err, STDERR_FILENO}})
        ::posix_spawn_file_actions_adddup2(&files, from, to);
    posix_spawnattr_t how;
    ::posix_spawnattr_init(&how);
    // Signals that this process ignores or blocks would be ignored or blocked there, too.
    sigset_t none, usual;
    ::sigemptyset(&none);
    ::sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) ::sigaddset(&usual, signal);
    ::posix_spawnattr_setsigmask(&how, &none);
    ::posix_spawnattr_setsigdefault(&how, &usual);
    ::posix_spawnattr_setflags(&how, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                        (group ? POSIX_SPAWN_SETPGROUP : 0)));
    pid_t pid = -1;
    const int failed = ::posix_spawn(&pid, program.c_str(), &files, &how, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&how);
    if (failed) return Error{ErrorCode::internal, "no process: " + std::generic_category().message(failed)};
    return pid;
}

void end_with_parent([[maybe_unused]] pid_t parent, [[maybe_unused]] int signal) {
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, signal);
    if (::getppid() != parent) ::_exit(1);
#endif
}

bool exchange(int with, std::span<const std::byte> bytes, const Context* context, std::vector<std::byte>& answer) {
    std::size_t used = 0;
    for (bool sending = true;;) {
        if (sending && bytes.empty()) {
            ::shutdown(with, SHUT_WR);
            sending = false;
        }
        pollfd ready{with, static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN), 0};
        const int found = ::poll(&ready, 1, 50);
        if (context && context->cancel) return false;
        if (found <= 0) continue;
        if (sending && (ready.revents & (POLLOUT | POLLERR))) {
            const ssize_t put = ::send(with, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (put > 0) bytes = bytes.subspan(static_cast<std::size_t>(put));
            if (put < 0 && errno != EINTR && errno != EAGAIN) bytes = {};  // it has ended
        }
        if (!(ready.revents & ~POLLOUT)) continue;
        if (used == answer.size()) answer.resize(std::max<std::size_t>(1 << 16, used * 2));
        const ssize_t count = ::recv(with, answer.data() + used, answer.size() - used, MSG_DONTWAIT);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count <= 0) break;
        used += static_cast<std::size_t>(count);
    }
    answer.resize(used);
    return true;
}

std::vector<std::byte> all_input() {
    std::vector<std::byte> out;
    for (std::size_t used = 0;;) {
        out.resize(std::max<std::size_t>(1 << 16, used * 2));
        const ssize_t got = ::read(STDIN_FILENO, out.data() + used, out.size() - used);
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) used += static_cast<std::size_t>(got);
        if (got <= 0) {
            out.resize(used);
            return out;
        }
    }
}

bool write_output(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return true;
}

}  // namespace sinew::io
