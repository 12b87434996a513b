#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <limits>
#include <new>
#include <string_view>

#if defined(__linux__)
#include <sys/prctl.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "child.h"
#include "core/large_pages.h"
#include "core/numbers.h"
#include "io/own_process.h"
#include "system.h"

namespace sinew::cli::system {
namespace {

// A program may be started without standard streams. A file that it opens would then take their numbers, and get
// what is printed.
void open_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        // Writing to standard output is an error, as when it is closed.
        if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

// Memory that one stage frees is kept for the next stage, since getting new pages takes longer than most of the
// work on them. The system gets it back at exit.
void keep_freed_memory() {
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    mallopt(M_TOP_PAD, 16 << 20);
#endif
}

}  // namespace

void start(int& argc, char**& argv) {
    if (argc > 2 && std::string_view(argv[1]) == kChildOf) {
        io::end_with_parent(number_of<pid_t>(argv[2]).value_or(0), SIGTERM);
        argv[2] = argv[0];
        argv += 2, argc -= 2;
    }
    open_standard_streams();
    keep_freed_memory();
}

void handle_signals(void (*handler)(int)) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        // nohup and background jobs ignore some signals on purpose.
        if (std::signal(number, handler) == SIG_IGN) std::signal(number, SIG_IGN);
    }
    std::signal(SIGALRM, handler);
    // A closed pipe, or a limit of the size of files, is then an error of the write, after which nothing is left
    // behind.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

void end_after_cancelling() {
#if defined(__linux__)
    int signal = 0;
    ::prctl(PR_GET_PDEATHSIG, &signal);
    if (signal != 0) ::alarm(2);  // a process of batch (see Child); is the second signal
#endif
}

bool has_terminal() { return ::isatty(STDERR_FILENO); }

bool is_writable(const std::filesystem::path& folder) { return ::access(folder.c_str(), W_OK) == 0; }

}  // namespace sinew::cli::system

#if defined(__GLIBC__) && !defined(SINEW_SANITIZED)
// All large blocks of the program are on large pages, like those of LargeAllocator: with small ones, a bind of a
// large mesh takes 64,000 page faults, each longer than clearing its page.
void* operator new(std::size_t size) {
    using sinew::kLargePage;
    const bool large = size >= kLargePage && size < std::numeric_limits<std::size_t>::max() / 2;
    const std::size_t whole = large ? (size + kLargePage - 1) & ~(kLargePage - 1) : size > 0 ? size : 1;
    for (;;) {
        void* const at = std::malloc(whole);
        if (at && large) sinew::ask_for_large_pages(at, whole);
        if (at) return at;
        if (const auto handler = std::get_new_handler())
            handler();
        else
            throw std::bad_alloc();
    }
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
#endif
