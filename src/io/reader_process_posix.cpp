#include "io/reader_process.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

#include "core/numbers.h"
#include "io/foreign.h"
#include "io/own_process.h"
#include "io/system_files.h"
#include "sinew/io.h"

namespace sinew::io {

namespace {

// Then: parent, seconds, bytes of memory, name, folder, "links" or nothing. A program of another version does not
// know this word.
constexpr const char* kFollowLinks = "links";
constexpr const char* kRole = "--read-foreign-" SINEW_VERSION;
/// The answer: one byte, kGood or an ErrorCode; then bytes or a message; then kEnd.
constexpr std::uint8_t kGood = 255;
constexpr char kEnd[] = {'d', 'o', 'n', 'e'};

std::atomic<bool> can_start_itself{false};

/// Bytes of address space that this process has; 0 if the system does not say.
std::size_t address_space() {
    std::size_t pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void limit(const ReaderLimits& limits) {
    const rlimit no_core{0, 0}, cpu{limits.cpu_seconds, limits.cpu_seconds + 1};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_CPU, &cpu);
    rlimit space{};
    const std::size_t now = address_space();
    if (now == 0 || ::getrlimit(RLIMIT_AS, &space) != 0) return;
    space.rlim_cur = std::min<rlim_t>(space.rlim_cur, now + limits.memory);
    ::setrlimit(RLIMIT_AS, &space);
}

/// The work of the other process: the file from standard input, the answer to standard output.
int answer(const ReaderLimits& limits, const std::string& name, ModelFiles& files) {
    auto code = static_cast<std::uint8_t>(ErrorCode::too_large);
    std::vector<std::byte> bytes;
    std::string message;  // empty: not enough memory
    try {
        const std::vector<std::byte> file = all_input();
        limit(limits);
        auto result = foreign_bytes(file, name, files);
        if (result) {
            code = kGood;
            bytes = std::move(*result);
        } else {
            code = static_cast<std::uint8_t>(result.error().code);
            message = result.error().message;
        }
    } catch (const std::bad_alloc&) {
    }
    const bool sent =
        write_output(std::as_bytes(std::span(&code, 1))) &&
        write_output(code == kGood ? std::span<const std::byte>(bytes) : std::as_bytes(std::span(message))) &&
        write_output(std::as_bytes(std::span(kEnd)));
    return sent ? 0 : 1;
}

Error ended_early(const std::string& name, const ReaderLimits& limits, int signal, std::size_t peak) {
    // A reader may crash where it gets no memory. The system counts the memory of this process to its peak.
    rusage own{};
    ::getrusage(RUSAGE_SELF, &own);
    if (peak > limits.memory / 2 + (static_cast<std::size_t>(own.ru_maxrss) << 10) || signal == SIGKILL)
        return {ErrorCode::too_large,
                name + ": reading it takes more than " + std::to_string(limits.memory >> 20) +
                    " MB: it is damaged, or needs a higher `memory-limit` (or convert it to glTF "
                    "with another program)"};
    if (signal == SIGXCPU)
        return {ErrorCode::input,
                name + ": reading it takes more than " + std::to_string(limits.cpu_seconds) +
                    " seconds: it is damaged or too large (convert it to glTF with another program)"};
    return {ErrorCode::input, name +
                                  ": the file is damaged: its reader crashed "
                                  "(convert it to glTF with another program)"};
}

/// The program that reads: this one if it can, else the one that was installed with this library, in bin beside lib
/// or lib/MACHINE. Empty if there is none.
std::string reader_program() {
    if (can_start_itself) return "/proc/self/exe";
    Dl_info library{};
    if (!::dladdr(&can_start_itself, &library) || !library.dli_fname || *library.dli_fname != '/') return {};
    for (const char* const place : {"../bin/sinew", "../../bin/sinew"}) {
        const std::string program = std::filesystem::path(library.dli_fname).replace_filename(place).string();
        if (::access(program.c_str(), X_OK) == 0) return program;
    }
    return {};
}

}  // namespace

std::optional<int> serve_as_reader(int argc, char** argv) {
    can_start_itself = ::access("/proc/self/exe", X_OK) == 0;
    if (argc != 8 || std::string_view(argv[1]) != kRole) return std::nullopt;
    end_with_parent(number_of<pid_t>(argv[2]).value_or(0), SIGKILL);
    std::signal(SIGPIPE, SIG_IGN);
    // The process has its own limit of memory.
    Context context;
    context.memory_limit = ~std::size_t{0};
    ModelFiles files(argv[6], &context, argv[7] == std::string_view(kFollowLinks));
    return answer({number_of<unsigned>(argv[3]).value_or(0), number_of<std::size_t>(argv[4]).value_or(0)}, argv[5],
                  files);
}

Result<std::vector<std::byte>> read_in_own_process(std::span<const std::byte> bytes, const std::string& name,
                                                   ModelFiles& files, const ReaderLimits& limits,
                                                   const Context* context) {
    if (system::confined())
        return Error{ErrorCode::input, name +
                                           ": files of this format are read by a process of their own, and none is "
                                           "started here (convert it first, outside: `sinew bind`, to a .glb)"};
    const std::string program = reader_program();
    int ends[2];
    if (program.empty() || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return foreign_bytes(bytes, name, files);
    const auto pid = start_process(
        program,
        {"sinew", kRole, std::to_string(::getpid()), std::to_string(limits.cpu_seconds),
         std::to_string(limits.memory), name, files.folder().string(), files.follows_links() ? kFollowLinks : ""},
        ends[1], ends[1], STDERR_FILENO, false);
    ::close(ends[1]);
    if (!pid) {
        ::close(ends[0]);
        return foreign_bytes(bytes, name, files);
    }
    int status = 0;
    rusage used{};
    const auto end = [&] {
        ::close(ends[0]);
        while (::wait4(*pid, &status, 0, &used) < 0 && errno == EINTR) {
        }
    };
    std::vector<std::byte> got;
    try {
        if (!exchange(ends[0], bytes, context, got)) {
            ::kill(*pid, SIGKILL);
            end();
            return Error{ErrorCode::cancelled, "cancelled while reading " + name};
        }
    } catch (const std::bad_alloc&) {
        ::kill(*pid, SIGKILL);
        end();
        throw;
    }
    end();
    if (context && context->cancel) return Error{ErrorCode::cancelled, "cancelled while reading " + name};
    constexpr int bad_usage = 2;                                               // docs/conventions.md
    if (got.empty() && WIFEXITED(status) && WEXITSTATUS(status) == bad_usage)  // another version
        return foreign_bytes(bytes, name, files);
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (got.size() < 1 + sizeof kEnd || std::memcmp(got.data() + got.size() - sizeof kEnd, kEnd, sizeof kEnd) != 0)
        return ended_early(name, limits, signal, static_cast<std::size_t>(used.ru_maxrss) << 10);
    const auto code = static_cast<std::uint8_t>(got[0]);
    got.resize(got.size() - sizeof kEnd);
    got.erase(got.begin());
    if (code == kGood) return got;
    if (got.empty()) return ended_early(name, limits, SIGKILL, 0);
    return Error{static_cast<ErrorCode>(code), std::string(reinterpret_cast<const char*>(got.data()), got.size())};
}

}  // namespace sinew::io
