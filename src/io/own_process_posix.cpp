#include "io/own_process.h"

#include <spawn.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <system_error>

extern char** environ;

namespace sinew::io {

Result<pid_t> start_process(const std::string& program, std::vector<std::string> arguments, int in, int out,
                            int err, bool group) {
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

}  // namespace sinew::io
