#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>

#include "core/numbers.h"
#include "core/try.h"
#include "io/own_process.h"
#include "painter.h"

namespace sinew::cli {
namespace {

constexpr const char* kRole = "--draw-" SINEW_VERSION;  // then: the parent
constexpr unsigned kSeconds = 120;
/// The answer: one byte, kGood or an ErrorCode; then a PNG or a message.
constexpr std::byte kGood{255};

/// Numbers and lists as they are in memory: both processes are the same program.
struct Writer {
    std::vector<std::byte> bytes;

    void raw(const void* from, std::size_t size) {
        const auto* at = static_cast<const std::byte*>(from);
        bytes.insert(bytes.end(), at, at + size);
    }
    template <typename T>
    void operator()(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        raw(&value, sizeof value);
    }
    template <typename T>
    void list(std::span<const T> values) {
        (*this)(values.size());
        raw(values.data(), values.size_bytes());
    }
    template <typename T>
    void operator()(const std::vector<T>& values) {
        list(std::span<const T>(values));
    }
    void operator()(const std::string& text) { list(std::span<const char>(text)); }
};

struct Reader {
    std::span<const std::byte> bytes;

    void raw(void* to, std::size_t size) {
        if (size > bytes.size()) throw std::length_error("a picture is cut off");
        if (size) std::memcpy(to, bytes.data(), size);
        bytes = bytes.subspan(size);
    }
    template <typename T>
    void operator()(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        raw(&value, sizeof value);
    }
    template <typename List>
    void list(List& values) {
        std::size_t size = 0;
        (*this)(size);
        if (size > bytes.size()) throw std::length_error("a picture is cut off");
        values.resize(size);
        raw(values.data(), size * sizeof values[0]);
    }
    template <typename T>
    void operator()(std::vector<T>& values) {
        list(values);
    }
    void operator()(std::string& text) { list(text); }
};

/// Either way.
template <typename Archive, typename Of>
void paint(Archive& a, Of& p) {
    a(p.colours), a(p.values), a(p.isolines), a(p.zero_is_plain), a(p.pieces), a(p.lines);
    auto& l = p.legend;
    a(l.title), a(l.ramp), a(l.low), a(l.high), a(l.ticks);
    std::size_t entries = l.entries.size();
    a(entries);
    if constexpr (!std::is_const_v<Of>) l.entries.resize(entries);
    for (auto& entry : l.entries) a(entry.name), a(entry.colour);
}
template <typename Archive, typename Of>
void frame(Archive& a, Of& p) {
    a(p.width), a(p.height), a(p.title), a(p.columns), a(p.same_scale), a(p.legend), a(p.background);
}
template <typename Archive, typename Of>
void view(Archive& a, Of& p) {
    a(p.title), a(p.transform), a(p.from), a(p.focus);
}

std::vector<std::byte> sent(const Picture& picture) {
    Writer out;
    frame(out, picture);
    out(picture.panels.size());
    for (const Panel& panel : picture.panels) {
        view(out, panel);
        out.list(panel.positions);
        out.list(panel.triangles);
        out(panel.paint != nullptr);
        if (panel.paint) paint(out, *panel.paint);
    }
    return std::move(out.bytes);
}

struct Received {
    Picture picture;
    std::deque<std::vector<Vec3>> positions;
    std::deque<std::vector<Triangle>> triangles;
    std::deque<Paint> paints;

    explicit Received(std::span<const std::byte> bytes) {
        Reader in{bytes};
        frame(in, picture);
        std::size_t panels = 0;
        in(panels);
        for (std::size_t k = 0; k < panels; ++k) {
            Panel& panel = picture.panels.emplace_back();
            view(in, panel);
            in(positions.emplace_back());
            in(triangles.emplace_back());
            panel.positions = positions.back();
            panel.triangles = triangles.back();
            bool painted = false;
            in(painted);
            if (!painted) continue;
            paint(in, paints.emplace_back());
            panel.paint = &paints.back();
        }
    }
};

Result<std::vector<std::byte>> drawn(std::span<const std::byte> bytes) {
    const Received received(bytes);
    SINEW_TRY_LET(const Image image, render(received.picture));
    return encode_png(image);
}

}  // namespace

std::optional<int> serve_as_painter(int argc, char** argv) {
    if (argc != 3 || std::string_view(argv[1]) != kRole) return std::nullopt;
    io::end_with_parent(number_of<pid_t>(argv[2]).value_or(0), SIGKILL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::alarm(kSeconds);
    std::vector<std::byte> answer{kGood};
    try {
        const Result<std::vector<std::byte>> png = drawn(io::all_input());
        if (png) {
            answer.insert(answer.end(), png->begin(), png->end());
        } else {
            answer[0] = static_cast<std::byte>(png.error().code);
            for (const char c : png.error().message) answer.push_back(static_cast<std::byte>(c));
        }
    } catch (const std::exception&) {
        return 1;
    }
    // Not by `exit`: the driver has its own ideas of the end.
    ::_exit(io::write_output(answer) ? 0 : 1);
}

Result<std::vector<std::byte>> draw_apart(const Picture& picture, Context& context) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return Error{ErrorCode::internal, "no process to draw pictures in"};
    const auto pid = io::start_process("/proc/self/exe", {"sinew", kRole, std::to_string(::getpid())}, ends[1],
                                       ends[1], STDERR_FILENO, true);
    ::close(ends[1]);
    std::vector<std::byte> answer;
    bool heard = true;
    if (pid) {
        heard = io::exchange(ends[0], sent(picture), &context, answer);
        if (!heard) ::kill(*pid, SIGKILL);
    }
    ::close(ends[0]);
    if (!pid) return pid.error();
    int status = 0;
    while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!heard) return Error{ErrorCode::cancelled, "cancelled while drawing"};
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || answer.empty())
        return Error{ErrorCode::internal, std::string("OpenGL: the process that draws pictures ") +
                                              (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
                                                   ? "took more than " + std::to_string(kSeconds) + " seconds"
                                                   : "crashed")};
    const std::byte code = answer[0];
    answer.erase(answer.begin());
    if (code == kGood) return answer;
    return Error{static_cast<ErrorCode>(code), {reinterpret_cast<const char*>(answer.data()), answer.size()}};
}

}  // namespace sinew::cli
