// sinew studio: serves the page to this machine only.

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <thread>

#include "command.h"
#include "core/try.h"
#include "sinew/content.h"
#include "sinew/cutout.h"
#include "sinew/cutout_files.h"
#include "sinew/io.h"
#include "studio_site.h"

namespace sinew::cli {
namespace {

namespace fs = std::filesystem;

struct StudioArguments : InputOptions, MachineOptions {
    std::string input, page, fit_check;
    int port = 0;
    bool no_open = false;
};

/// The folder of the page: from the option, else next to the installed or built program.
Result<std::string> find_page(const std::string& option) {
    if (!option.empty()) return option;
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed).parent_path();
    for (const char* place : {"../share/sinew/studio", "../studio"})
        if (fs::exists(program / place / "index.html", failed))
            return (program / place).lexically_normal().string();
    return Error{
        ErrorCode::io,
        "the studio's page was not found next to the program (make web builds it; --page gives its folder)"};
}

std::string encoded(const std::string& name) {
    std::string out;
    for (const unsigned char c : name)
        out += std::isalnum(c) || c == '.' || c == '-' || c == '_' ? std::string(1, static_cast<char>(c))
                                                                   : fmt::format("%{:02X}", c);
    return out;
}

/// The files that the input refers to. The input is read here once, so that errors appear in the shell. `remark`:
/// what to print of a mesh without a skeleton.
Result<std::vector<fs::path>> files_beside(const StudioArguments& args, Context& context, std::string& remark) {
    const fs::path input(args.input);
    const std::string kind = io::extension_of(args.input);
    if ((kind == ".png" || kind == ".json") && (args.skeleton_scale != 1 || args.prop || !args.fit_check.empty()))
        return Error{ErrorCode::usage, "--skeleton-scale, --prop and --fit-check are for a mesh, not for " +
                                           printable(args.input) + " (leave them out)"};
    if (kind == ".png" && args.skeleton.empty()) {
        // Bones are drawn in the page.
        SINEW_TRY_LET(const std::vector<std::byte> bytes, io::read_file(input, &context));
        if (const Result<RgbaImage> picture = decode_png(bytes, args.input, &context); !picture)
            return picture.error();
        return std::vector<fs::path>();
    }
    if (kind == ".json" && !args.skeleton.empty())
        return Error{ErrorCode::usage,
                     args.input + " contains bones: --skeleton needs a mesh or a picture as input"};
    if (kind == ".png" || kind == ".json") {
        SINEW_TRY_LET(const CutoutFigure figure, kind == ".png" ? io::load_cutout(args.skeleton, input, &context)
                                                                : io::load_cutout(input, std::nullopt, &context));
        std::vector<fs::path> pictures;
        if (kind == ".json")
            for (const CutoutLayer& layer : figure.layers) pictures.emplace_back(layer.path);
        return pictures;
    }
    const Result<io::Scene> scene = load_model(args.input, args.load(args), &context);
    if (scene) return io::external_files(*scene);
    if (!args.skeleton.empty() || args.skeleton_scale != 1 || args.prop) return scene.error();
    // A mesh without a skeleton opens with any one. Then the page gives it another.
    Skeleton one;
    one.joints.emplace_back().name = "root";
    io::LoadOptions load = args.reading();
    load.own_skeleton = {std::move(one), "", {}};
    const Result<io::Scene> bare = load_model(args.input, load, &context);
    if (!bare) return scene.error();
    remark = shown(scene.error().message, std::string::npos) +
             "\nThe page opens the mesh without a skeleton: choose a template or draw one there.";
    return io::external_files(*bare);
}

/// The character and its files, under open/.
Status add_input(Site& site, const StudioArguments& args, Context& context, std::string& query,
                 std::string& remark) {
    const auto add = [&](const fs::path& path, const std::string& name) -> Status {
        SINEW_TRY_LET(std::vector<std::byte> bytes, io::read_file(path, &context));
        site.files["open/" + name] = std::move(bytes);
        return Done{};
    };
    if (args.input.empty()) {
        if (args.skeleton_scale == 1 && !args.prop && args.fit_check.empty()) return Done{};
        return Error{ErrorCode::usage, "--skeleton-scale, --prop and --fit-check need a file to open"};
    }
    SINEW_TRY_LET(const std::vector<fs::path> beside, files_beside(args, context, remark));
    const fs::path input(args.input), folder = input.has_parent_path() ? input.parent_path() : fs::path(".");
    // The page reads glTF only.
    SINEW_TRY_LET(std::vector<std::byte> converted, io::converted_to_glb(input, &context, args.follow_links));
    std::string opened = input.filename().string();
    if (!converted.empty()) {
        opened = input.stem().string() + ".glb";
        site.files["open/" + opened] = std::move(converted);
    } else if (Status ok = add(input, opened); !ok) {
        return ok;
    }
    query = "?open=" + encoded(opened);
    for (const fs::path& file : beside) {
        std::string name = file.lexically_proximate(folder).generic_string();
        // Pictures may be in any folder; browsers do not send paths with .., and the page finds them by name.
        if (name.starts_with("..") || fs::path(name).is_absolute()) name = file.filename().string();
        if (site.files.contains("open/" + name)) continue;  // named twice
        SINEW_TRY(add(file, name));
        query += "&with=" + encoded(name);
    }
    if (!args.skeleton.empty()) {
        const std::string name = fs::path(args.skeleton).filename().string();
        SINEW_TRY(add(args.skeleton, name));
        query += "&skeleton=" + encoded(name);
    }
    if (args.skeleton_scale != 1) query += fmt::format("&skeleton-scale={}", args.skeleton_scale);
    if (args.prop) query += "&prop=on";
    if (!args.fit_check.empty()) query += "&fit-check=" + args.fit_check;
    return Done{};
}

/// A secret of 128 random bits.
std::string secret() {
    std::random_device device;
    std::string out;
    for (int i = 0; i < 4; ++i) out += fmt::format("{:08x}", device());
    return out;
}

struct Socket {
    int at = -1;
    explicit Socket(int descriptor) : at(descriptor) {}
    Socket(const Socket&) = delete;
    ~Socket() {
        if (at >= 0) ::close(at);
    }
};

Error system_error(const std::string& what) { return {ErrorCode::io, what + ": " + std::strerror(errno)}; }

using Clock = std::chrono::steady_clock;

/// Waits until the socket can be read or written; false after the deadline.
bool wait_for(int socket, short what, Clock::time_point deadline) {
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        pollfd ready{socket, what, 0};
        const int found = ::poll(&ready, 1, static_cast<int>(left));
        if (found > 0) return true;
        if (found < 0 && errno != EINTR) return false;
    }
}

void send_all(int to, const void* data, std::size_t size, Clock::time_point deadline) {
    const auto* at = static_cast<const char*>(data);
    while (size > 0) {
        if (!wait_for(to, POLLOUT, deadline)) return;
        const ssize_t put = ::send(to, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (put <= 0) return;
        at += put;
        size -= static_cast<std::size_t>(put);
    }
}

/// One request, one response. Each has one deadline for all of its bytes, so that a client which sends them slowly
/// cannot hold a connection.
void converse(const Site& site, int to) {
    const Socket socket(to);
    std::string request;
    char chunk[4096];
    const auto deadline = Clock::now() + std::chrono::seconds(5);
    while (!is_whole(request)) {
        if (!wait_for(to, POLLIN, deadline)) return;
        const ssize_t got = ::recv(to, chunk, sizeof chunk, MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return;
        request.append(chunk, static_cast<std::size_t>(got));
    }
    const Answer answer = answer_to(site, request);
    const std::size_t megabytes = answer.body ? answer.body->size() >> 20 : 0;
    const auto end = Clock::now() + std::chrono::seconds(30 + megabytes);
    send_all(to, answer.head.data(), answer.head.size(), end);
    if (answer.body) send_all(to, answer.body->data(), answer.body->size(), end);
}

/// A page of its own, which only this user can read, that leads to the address. Every user of the machine can read
/// the command lines of all programs, so the address with its secret must not be on one. Empty if it cannot be
/// written.
std::string redirecting_page(const std::string& url) {
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    std::error_code failed;
    const fs::path folder = runtime && *runtime ? fs::path(runtime) : fs::temp_directory_path(failed);
    std::string path = (folder / "sinew-studio-XXXXXX.html").string();
    const int file = ::mkostemps(path.data(), 5, O_CLOEXEC);  // with mode 0600
    if (file < 0) return {};
    const std::string page = fmt::format(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
        "<meta http-equiv=\"refresh\" content=\"0; url={0}\">\n<title>sinew studio</title>\n<a "
        "href=\"{0}\">studio</a>\n",
        url);
    const bool written = ::write(file, page.data(), page.size()) == static_cast<ssize_t>(page.size());
    ::close(file);
    if (!written) ::unlink(path.c_str());
    return written ? path : std::string();
}

/// Opens a file in the desktop's browser; does nothing without a desktop.
void open_browser(const std::string& page) {
    const pid_t child = ::fork();
    if (child == 0) {
        // Double fork, so that the browser is not a child of this process.
        if (::fork() == 0) {
            std::signal(SIGPIPE, SIG_DFL);
            ::execlp("xdg-open", "xdg-open", page.c_str(), static_cast<char*>(nullptr));
            ::_exit(127);
        }
        ::_exit(0);
    }
    int status = 0;
    if (child > 0) ::waitpid(child, &status, 0);
}

/// Answers requests until the process ends.
Result<int> serve(const Site& site, int listener) {
    static std::atomic<int> open{0};
    constexpr int max_open = 64;
    for (;;) {
        const int to = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (to < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            // Descriptors or memory are used up: some connections end soon.
            if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
                return system_error("accept");
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            continue;
        }
        if (open >= max_open) {
            ::close(to);
            continue;
        }
        ++open;
        try {
            // The threads do not outlive the site: this loop ends with the process.
            std::thread([&site, to] {
                converse(site, to);
                --open;
            }).detach();
        } catch (const std::system_error&) {  // no more threads
            --open;
            ::close(to);
        }
    }
}

Result<int> run_studio(const StudioArguments& args) {
    Site site;
    SINEW_TRY_LET(const std::string page, find_page(args.page));
    SINEW_TRY(add_page(site, page));
    std::string query, remark;
    Context context;
    args.apply(context);
    SINEW_TRY(add_input(site, args, context, query, remark));
    site.secret = secret();

    const Socket listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (listener.at < 0) return system_error("no socket");
    const int yes = 1;
    ::setsockopt(listener.at, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(args.port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener.at, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return system_error(fmt::format("port {} (--port 0 takes a free one)", args.port));
    socklen_t size = sizeof address;
    ::getsockname(listener.at, reinterpret_cast<sockaddr*>(&address), &size);
    site.port = ntohs(address.sin_port);
    if (::listen(listener.at, 64) != 0) return system_error("listen");

    const std::string url = fmt::format("http://127.0.0.1:{}/{}/{}", site.port, site.secret, query);
    fmt::print("sinew studio is at {}\n{}{}Ctrl-C ends it.\n", url, remark, remark.empty() ? "" : "\n");
    std::fflush(stdout);
    if (!args.no_open) {
        const std::string opened = redirecting_page(url);
        remove_on_signal(opened);
        if (!opened.empty()) open_browser(opened);
    }
    return serve(site, listener.at);
}

}  // namespace

void add_studio(CLI::App& app, int& exit) {
    auto args = std::make_shared<StudioArguments>();
    CLI::App* c = app.add_subcommand(
        "studio",
        "Opens the studio in a browser: bind, tune, pose and paint a character while looking at it.\n"
        "The page runs in the browser; this program serves it to this machine only.\n\n"
        "  sinew studio\n"
        "  sinew studio hero.glb\n"
        "  sinew studio scan.obj                        a mesh; choose a template or draw its skeleton in the "
        "page\n"
        "  sinew studio scan.obj --skeleton scan.json\n"
        "  sinew studio doll.png                        a flat figure; draw its bones in the page\n"
        "  sinew studio --no-open --port 8000\n");
    c->add_option(
        "input", args->input,
        "GLB, glTF, VRM, OBJ, FBX, PLY (docs/formats.md has more) or PNG; JSON of bones and layers; without "
        "it, choose in the page");
    add_input_options(*c, *args);
    add_machine_options(*c, *args, "Options");
    c->get_option("--skeleton")
        ->description("Skeleton JSON or TGF, for a mesh without skeleton; bones JSON, for a PNG");
    c->add_option("--fit-check", args->fit_check, "off: bind a skeleton in another place or unit than the mesh")
        ->check(CLI::IsMember({"on", "off"}));
    c->add_option("--port", args->port, "Port on 127.0.0.1; 0 = a free port")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    c->add_flag("--no-open", args->no_open, "Only print the address");
    c->add_option("--page", args->page, "Folder of the page, if it is not next to the program");
    c->callback([args, &exit] { exit = exit_of(run_studio(*args)); });
}

}  // namespace sinew::cli
