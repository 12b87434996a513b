#include "child.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "command.h"
#include "io/own_process.h"

namespace sinew::cli {
namespace {

Error system_error(const char* what) {
    return {ErrorCode::internal, std::string(what) + ": " + std::generic_category().message(errno)};
}

/// Appends what can be read now. Closes the descriptor at its end.
void drain(int& file, std::string& text) {
    char bytes[1 << 16];
    while (file >= 0) {
        const ssize_t got = ::read(file, bytes, sizeof bytes);
        if (got > 0) {
            text.append(bytes, std::min(static_cast<std::size_t>(got), Child::kMostOutput - text.size()));
        } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        } else {
            ::close(file);
            file = -1;
        }
    }
}

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& words, double seconds) {
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) != 0) return system_error("no pipe");
    if (::pipe2(err, O_CLOEXEC) != 0) {
        ::close(out[0]), ::close(out[1]);
        return system_error("no pipe");
    }
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    std::vector<std::string> arguments{"sinew", kChildOf, std::to_string(::getpid())};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const auto pid = io::start_process("/proc/self/exe", std::move(arguments), nothing, out[1], err[1], true);
    for (const int file : {nothing, out[1], err[1]}) ::close(file);
    if (!pid) {
        ::close(out[0]), ::close(err[0]);
        return pid.error();
    }
    Child child;
    child.pid_ = *pid;
    child.out_ = out[0];
    child.err_ = err[0];
    child.end_ = static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0));
    child.limit_ = seconds;
    child.begin_ = std::chrono::steady_clock::now();
    for (const int file : {child.out_, child.err_}) ::fcntl(file, F_SETFL, O_NONBLOCK);
    return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      steps_(other.steps_),
      stopped_(other.stopped_),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      end_(std::exchange(other.end_, -1)),
      limit_(other.limit_),
      begin_(other.begin_),
      result_(std::move(other.result_)) {}

Child::~Child() {
    while (pid_ > 0) {
        stop();
        const pid_t ended = ::waitpid(pid_, nullptr, WNOHANG);
        if (ended == pid_ || (ended < 0 && errno != EINTR)) break;
        ::usleep(2000);
    }
    for (const int file : files())
        if (file >= 0) ::close(file);
}

void Child::send(int signal) const {
    ::kill(-pid_, signal);
    ::kill(pid_, signal);
}

void Child::stop() {
    if (pid_ <= 0) return;
    if (steps_ == 0) stopped_ = std::chrono::steady_clock::now();
    if (steps_ < 3 && seconds_since(stopped_) >= steps_ * kGrace) send(++steps_ < 3 ? SIGTERM : SIGKILL);
}

bool Child::step() {
    if (pid_ <= 0) return true;
    drain(out_, result_.out);
    drain(err_, result_.err);
    result_.seconds = seconds_since(begin_);
    if (limit_ > 0 && result_.seconds > limit_) {
        result_.late = true;
        stop();
    }
    int status = 0;
    rusage used{};
    const pid_t ended = ::wait4(pid_, &status, WNOHANG, &used);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
    pid_ = -1;
    drain(out_, result_.out);
    drain(err_, result_.err);
    result_.peak_memory = static_cast<std::size_t>(used.ru_maxrss) << 10;
    if (ended > 0 && WIFEXITED(status)) result_.exit = WEXITSTATUS(status);
    if (ended > 0 && WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    return true;
}

}  // namespace sinew::cli
