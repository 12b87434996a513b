// sinew mcp: the commands as tools for agents, by the Model Context Protocol over standard input and output.
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>

#include "command.h"
#include "core/base64.h"
#include "core/numbers.h"
#include "core/try.h"
#include "io/json.h"
#include "sinew/content.h"

namespace sinew::cli {
namespace {

/// A tool is a command with some words fixed. Its schema is made of the options of the command.
struct Tool {
    const char* name;
    const char* what;
    const char* command;
    std::vector<std::string> fixed = {};
    std::vector<std::string> hidden = {};  ///< options that it does not have, beside kHidden
    bool reads_only = false;
};

const std::vector<Tool>& tools() {
    static const std::vector<Tool> rows = {
        {"inspect",
         "What is in a file: meshes, skeleton, skins, joints that deform, defects",
         "inspect",
         {},
         {},
         true},
        {"bind", "Computes skin weights for a character and writes it with them; nothing else in the file changes",
         "bind"},
        {"check",
         "Whether a character's skin is fit to ship: alarms of rules, each with its remedy",
         "check",
         {},
         {"fix", "output"}},
        {"fix",
         "Writes a character with faults of its skin repaired that need no decision, and checks it",
         "check",
         {"--fix"},
         {"fix"}},
        {"clean", "Cleans weights that another program made: bleeding, isolated spots, noise, torn seams", "clean"},
        {"compare", "Two bindings of one character in numbers: how far B is from the reference A", "compare"},
        {"rig", "Fits a template skeleton to a mesh without one", "rig"},
        {"transfer", "Copies weights to a mesh from another mesh at the same place: clothing, a level of detail",
         "transfer"},
        {"edit", "Edits the weights of a character: smooth, pins, locks, mirror, rigid … (an edit list)", "apply"},
        {"pose", "Writes a character in a pose, or in a pose of one of its clips", "pose"},
        {"render", "Draws a character and returns the picture: weights by joint, one joint, defects, poses",
         "render"},
    };
    return rows;
}
/// What a result is for, what agents must not set, and pages whose pictures other processes would draw.
const std::set<std::string> kHidden = {"help", "help-advanced", "json", "quiet", "follow-links", "html", "rules"};

constexpr std::size_t kMostRequest = std::size_t{64} << 20;
constexpr const char* kVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr int kParse = -32700, kInvalid = -32600, kNoMethod = -32601, kParameters = -32602, kInternal = -32603;

/// What is printed to a standard stream, which otherwise goes nowhere.
class Captured {
public:
    explicit Captured(int stream) {
#if defined(__linux__)
        file_ = ::memfd_create("sinew", MFD_CLOEXEC);
#else
        file_ = ::fileno(std::tmpfile());
#endif
        ::dup2(file_, stream);
    }
    std::string take() {
        std::string text(static_cast<std::size_t>(std::max<off_t>(::lseek(file_, 0, SEEK_END), 0)), '\0');
        const ssize_t got = ::pread(file_, text.data(), text.size(), 0);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (::ftruncate(file_, 0) == 0) ::lseek(file_, 0, SEEK_SET);
        return text;
    }

private:
    int file_ = -1;
};

/// An option of a command, as a property of a tool.
struct Property {
    const CLI::Option* option;
    std::string name, kind;  ///< kind: FILE, JSON, OUT, INT, …, without what a validator adds
    bool flag, many;

    explicit Property(const CLI::Option* of)
        : option(of),
          name(of->get_lnames().empty() ? of->get_name() : of->get_lnames()[0]),
          kind(of->get_type_name().substr(0, of->get_type_name().find_first_of(": "))),
          flag(of->get_items_expected_max() == 0),
          many(of->get_items_expected_max() > 1) {}

    bool is_file() const { return kind == "FILE" || kind == "OUT" || takes_json(); }
    /// Lists of edits, poses and limits, which an agent writes as it calls.
    bool takes_json() const { return kind == "JSON"; }
    bool is_pair() const { return option->get_items_expected_min() == 2; }
    bool is_whole() const { return kind == "INT" || kind == "UINT"; }
    bool is_number() const { return is_whole() || kind == "FLOAT" || kind == "NUMBER" || kind == "N" || is_pair(); }

    OrderedJson schema() const {
        OrderedJson one;
        if (flag)
            one["type"] = "boolean";
        else if (is_whole())
            one["type"] = "integer";
        else if (is_number())
            one["type"] = kind == "N" ? OrderedJson({"integer", "string"}) : OrderedJson("number");
        else if (takes_json())
            one["type"] = {"string", "object", "array"};
        else
            one["type"] = "string";
        if (kind.find('|') != kind.npos) one["enum"] = CLI::detail::split(kind, '|');
        OrderedJson all = one;
        if (is_pair())
            all = {{"type", "array"}, {"items", one}, {"minItems", 2}, {"maxItems", 2}};
        else if (many)
            all = {{"anyOf", {one, {{"type", "array"}, {"items", one}}}}};
        all["description"] = option->get_description();
        if (takes_json()) all["description"] = option->get_description() + "; a file, or the JSON itself";
        if (const std::string text = option->get_default_str(); !text.empty() && !flag) {
            const Json value = Json::parse(text, nullptr, false);
            all["default"] =
                is_number() && value.is_number() ? OrderedJson(value.get<double>()) : OrderedJson(text);
            if (is_whole() && value.is_number()) all["default"] = value.get<std::int64_t>();
        }
        return all;
    }
};

/// Files that exist while a call runs.
class CallFiles {
public:
    ~CallFiles() {
        std::error_code ignored;
        for (const std::string& path : paths_) std::filesystem::remove(path, ignored);
    }
    std::string name(const std::string& extension) {
        paths_.push_back(fmt::format(".sinew-mcp-{}-{}{}", ::getpid(), paths_.size(), extension));
        remove_on_signal(paths_.back());
        return paths_.back();
    }
    Result<std::string> write(const Json& value) {
        const std::string path = name(".json"), text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
        SINEW_TRY(io::write_file(path, std::as_bytes(std::span(text))));
        return path;
    }

private:
    std::vector<std::string> paths_;
};

Error usage(std::string message) { return {ErrorCode::usage, std::move(message)}; }

/// The value of a property as the words of a command line.
Status add_words(const Property& p, const Json& value, CallFiles& files, std::vector<std::string>& words,
                 std::vector<std::string>& last) {
    if (p.flag) {
        if (!value.is_boolean())
            return usage(fmt::format("'{}' is true or false (leave it out for false)", p.name));
        if (value.get<bool>()) words.push_back("--" + p.name);
        return Done{};
    }
    std::vector<std::string> texts;
    const bool json_itself = p.takes_json() && (value.is_object() || (value.is_array() && !p.many));
    const Json list = value.is_array() && !json_itself ? value : Json::array({value});
    for (const Json& one : list) {
        if (p.takes_json() && one.is_structured()) {
            SINEW_TRY_LET(std::string path, files.write(one));
            texts.push_back(std::move(path));
        } else if (one.is_string()) {
            texts.push_back(one.get<std::string>());
        } else if (one.is_number() && p.is_number()) {
            texts.push_back(one.dump());
        } else {
            return usage(fmt::format("'{}' is a {}{}, not {} (tools/list has its schema)", p.name,
                                     p.is_number() ? "number" : "text", p.many ? ", or a list of such" : "",
                                     printable(one.dump(), 60)));
        }
        if (texts.back().find('\0') != std::string::npos || texts.back().empty())
            return usage(fmt::format("'{}' must not be empty, nor have a zero byte (leave it out)", p.name));
        if (p.is_file()) SINEW_TRY(io::check_confined(texts.back()));
    }
    if (texts.size() != 1 && !p.many)
        return usage(fmt::format("'{}' takes one value (call the tool once for each)", p.name));
    if (p.option->get_positional()) {
        for (const std::string& text : texts) last.push_back(text.starts_with("-") ? "./" + text : text);
    } else if (p.is_pair()) {
        words.push_back("--" + p.name);
        words.insert(words.end(), texts.begin(), texts.end());
    } else {
        for (const std::string& text : texts) words.push_back("--" + p.name + "=" + text);
    }
    return Done{};
}

class Server {
public:
    Server(const CLI::App& program, int answers) : program_(program), answers_(answers) {}

    void run() {
        std::thread reader([this] { read(); });
        for (;;) {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return ended_ || !calls_.empty(); });
            if (ended_) break;
            Json call = std::move(calls_.front());
            calls_.pop_front();
            running_ = call["id"];
            stopped_ = false;
            listen_to_commands({});
            lock.unlock();
            OrderedJson answer;
            try {
                answer = answer_of(call);
            } catch (const std::exception& error) {  // such as no memory
                answer = failure(call["id"], kInternal, std::string("internal error: ") + error.what());
            }
            lock.lock();
            running_ = nullptr;
            const bool silent = stopped_;  // a cancelled request has no answer
            lock.unlock();
            if (!silent) send(answer);
        }
        reader.join();
    }

private:
    // ---- The thread that reads.

    void read() {
        std::string line;
        for (bool more = true; more;) {
            line.clear();
            int c = 0;
            bool too_long = false;
            while ((c = std::getc(stdin)) != EOF && c != '\n')
                if (line.size() < kMostRequest)
                    line.push_back(static_cast<char>(c));
                else
                    too_long = true;
            more = c != EOF;
            if (too_long)
                send(failure(nullptr, kInvalid, "the message is longer than 64 MB (give files by their names)"));
            else if (line.find_first_not_of(" \t\r") != line.npos)
                take(line);
        }
        // The client is gone: what runs is cancelled, so that nothing is written.
        const std::lock_guard lock(mutex_);
        ended_ = true;
        calls_.clear();
        cancel_command();
        wake_.notify_one();
    }

    void take(const std::string& line) {
        if (Status ok = io::check_json_depth(line, "the message"); !ok)
            return send(failure(nullptr, kParse, ok.error().message));
        const Json message = Json::parse(line, nullptr, false);
        if (message.is_discarded())
            return send(
                failure(nullptr, kParse, "the message is not JSON (write one JSON-RPC message on each line)"));
        if (message.is_object() && !message.contains("method") &&
            (message.contains("result") || message.contains("error")))
            return;  // an answer to nothing that was asked
        const Json id = message.is_object() && message.contains("id") ? message["id"] : Json();
        if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0" ||
            !message.value("method", Json()).is_string() || !(id.is_null() || id.is_string() || id.is_number()))
            return send(failure(
                id.is_structured() ? Json() : id, kInvalid,
                "this is not a request of JSON-RPC 2.0 (an object with \"jsonrpc\": \"2.0\", a method and an id; "
                "one in each message)"));
        const std::string method = message["method"];
        const Json parameters = message.value("params", Json::object());
        if (!parameters.is_object()) {
            if (!id.is_null()) send(failure(id, kParameters, method + ": \"params\" must be an object"));
            return;
        }
        if (id.is_null()) {
            if (method == "notifications/cancelled") cancel(parameters.value("requestId", Json()));
            return;
        }
        if (method == "initialize") return send(success(id, greeting(parameters)));
        if (method == "ping") return send(success(id, OrderedJson::object()));
        if (method == "tools/list") return send(success(id, list()));
        if (method != "tools/call")
            return send(failure(id, kNoMethod,
                                fmt::format("there is no method '{}' (methods: initialize, ping, tools/list, "
                                            "tools/call)",
                                            printable(method))));
        const std::lock_guard lock(mutex_);
        calls_.push_back({{"id", id}, {"params", parameters}});
        wake_.notify_one();
    }

    void cancel(const Json& id) {
        const std::lock_guard lock(mutex_);
        if (!id.is_null() && running_ == id) {
            stopped_ = true;
            cancel_command();
        }
        std::erase_if(calls_, [&](const Json& call) { return call["id"] == id; });
    }

    OrderedJson greeting(const Json& parameters) const {
        const Json asked = parameters.value("protocolVersion", Json());
        const bool known = std::find(std::begin(kVersions), std::end(kVersions), asked) != std::end(kVersions);
        return {
            {"protocolVersion", known ? asked.get<std::string>() : kVersions[0]},
            {"capabilities", {{"tools", OrderedJson::object()}}},
            {"serverInfo", {{"name", "sinew"}, {"title", "sinew: skin weights"}, {"version", SINEW_VERSION}}},
            {"instructions",
             "Files are named relative to one folder and stay below it. Begin with inspect; bind gives weights; "
             "check "
             "names what is wrong and its remedy; render returns a picture to look at. An output may replace the "
             "input. docs/mcp.md has a session."}};
    }

    // ---- Tools.

    std::vector<Property> properties(const Tool& tool) const {
        std::vector<Property> out;
        for (const CLI::Option* option : program_.get_subcommand(tool.command)->get_options()) {
            const Property p(option);
            if (kHidden.contains(p.name) ||
                std::find(tool.hidden.begin(), tool.hidden.end(), p.name) != tool.hidden.end())
                continue;
            out.push_back(p);
        }
        return out;
    }
    static bool required(const Tool& tool, const Property& p) {
        if (std::string_view(tool.name) == "render" && p.name == "output") return false;  // the picture is returned
        return p.option->get_required() || p.name == "inputs" || (!tool.fixed.empty() && p.name == "output");
    }

    OrderedJson list() const {
        OrderedJson rows = OrderedJson::array();
        for (const Tool& tool : tools()) {
            OrderedJson schemas = OrderedJson::object(), needed = OrderedJson::array();
            for (const Property& p : properties(tool)) {
                schemas[p.name] = p.schema();
                if (required(tool, p)) needed.push_back(p.name);
            }
            rows.push_back(
                {{"name", tool.name},
                 {"description", tool.what},
                 {"inputSchema",
                  {{"type", "object"},
                   {"properties", schemas},
                   {"required", needed},
                   {"additionalProperties", false}}},
                 {"annotations",
                  {{"readOnlyHint", tool.reads_only}, {"idempotentHint", true}, {"openWorldHint", false}}}});
        }
        return {{"tools", rows}};
    }

    OrderedJson answer_of(const Json& call) {
        const Json &id = call["id"], &parameters = call["params"];
        const Json name = parameters.value("name", Json());
        std::vector<std::string> known;
        for (const Tool& tool : tools()) {
            known.emplace_back(tool.name);
            if (name != tool.name) continue;
            Result<OrderedJson> content = run_tool(tool, parameters);
            if (content) return success(id, *content);
            return success(id, text_result(shown(content.error().message), true));
        }
        std::string all;
        for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
        const std::string wanted = name.is_string() ? name.get<std::string>() : name.dump();
        return failure(id, kParameters,
                       fmt::format("there is no tool '{}'{} (tools: {})", printable(wanted),
                                   did_you_mean(wanted, known), all));
    }

    Result<OrderedJson> run_tool(const Tool& tool, const Json& parameters) {
        const Json given = parameters.value("arguments", Json::object());
        if (!given.is_object()) return usage(fmt::format("{}: \"arguments\" must be an object", tool.name));
        const std::vector<Property> all = properties(tool);
        CallFiles files;
        std::vector<std::string> words{tool.command}, last, known;
        words.insert(words.end(), tool.fixed.begin(), tool.fixed.end());
        for (const Property& p : all) known.push_back(p.name);
        for (const auto& [key, value] : given.items())
            if (std::find(known.begin(), known.end(), key) == known.end()) {
                const std::string near = did_you_mean(key, known);
                return usage(fmt::format("{} has no option '{}'{}", tool.name, printable(key),
                                         near.empty() ? " (tools/list has its options)" : near));
            }
        std::string picture;
        for (const Property& p : all) {
            if (given.contains(p.name)) {
                SINEW_TRY(add_words(p, given[p.name], files, words, last));
            } else if (required(tool, p)) {
                return usage(fmt::format("{} needs '{}': {}", tool.name, p.name, p.option->get_description()));
            } else if (p.option->get_required()) {
                picture = files.name(".png");
                words.push_back("--" + p.name + "=" + picture);
            }
        }
        if (given.contains("output") && std::string_view(tool.name) == "render" && given["output"].is_string())
            picture = given["output"];
        const CLI::App& command = *program_.get_subcommand(tool.command);
        if (command.get_option_no_throw("--json")) words.push_back("--json");
        words.insert(words.end(), last.begin(), last.end());
        report_to(parameters);
        const int exit = run_command(words);
        std::fflush(stdout);
        std::fflush(stderr);
        std::string out = out_.take(), err = err_.take();
        if (exit != done && exit != gate_failed) return text_result(without_name(err), true);
        OrderedJson result = text_result(out + without_name(err), false);
        if (const OrderedJson value = OrderedJson::parse(out, nullptr, false); value.is_object())
            result["structuredContent"] = value;
        if (!picture.empty()) {
            SINEW_TRY_LET(const std::vector<std::byte> bytes, io::read_file(picture));
            result["content"].push_back(
                {{"type", "image"}, {"data", encode_base64(bytes)}, {"mimeType", "image/png"}});
        }
        return result;
    }

    /// Progress of the command that is about to run, if the client asked for it: stages, and shares of each.
    void report_to(const Json& parameters) {
        const Json meta = parameters.value("_meta", Json());
        const Json token = meta.is_object() ? meta.value("progressToken", Json()) : Json();
        if (!token.is_string() && !token.is_number()) return;
        listen_to_commands(
            [this, token, stage = std::string(), base = 0.0, sent = -1.0,
             last = std::chrono::steady_clock::time_point()](const char* name, double share) mutable {
                const bool next = stage != name;
                if (next) base += stage.empty() ? 0 : 1, stage = name;
                const double at = base + std::clamp(share, 0.0, 0.999);
                const auto now = std::chrono::steady_clock::now();
                if (at <= sent || (!next && now - last < std::chrono::milliseconds(100))) return;
                sent = at, last = now;
                send({{"jsonrpc", "2.0"},
                      {"method", "notifications/progress"},
                      {"params", {{"progressToken", token}, {"progress", at}, {"message", stage}}}});
            });
    }

    /// What a command printed about its failure, without the name of the program at each line.
    static std::string without_name(std::string text) {
        for (const std::string_view begin : {"sinew: error: ", "sinew: "})
            if (text.starts_with(begin)) text.erase(0, begin.size());
        while (text.ends_with('\n')) text.pop_back();
        return text;
    }

    // ---- Messages.

    static OrderedJson text_result(const std::string& text, bool error) {
        return {{"content", OrderedJson::array({{{"type", "text"}, {"text", text.empty() ? "done" : text}}})},
                {"isError", error}};
    }
    static OrderedJson success(const Json& id, const OrderedJson& result) {
        return {{"jsonrpc", "2.0"}, {"id", id}, {"result", result}};
    }
    static OrderedJson failure(const Json& id, int code, const std::string& message) {
        return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
    }
    void send(const OrderedJson& message) {
        const std::string text = message.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
        const std::lock_guard lock(sending_);
        // A client that is gone reads nothing: the rest is dropped, and its closed input ends the server.
        for (std::size_t at = 0; at < text.size();) {
            const ssize_t put = ::write(answers_, text.data() + at, text.size() - at);
            if (put < 0 && errno == EINTR) continue;
            if (put <= 0) return;
            at += static_cast<std::size_t>(put);
        }
    }

    const CLI::App& program_;
    const int answers_;
    Captured out_{STDOUT_FILENO}, err_{STDERR_FILENO};
    std::mutex mutex_, sending_;  // mutex_: of what follows
    std::condition_variable wake_;
    std::deque<Json> calls_;
    Json running_;  // the id of the call
    bool stopped_ = false, ended_ = false;
};

int run_mcp(const std::string& root) {
    std::error_code failed;
    std::filesystem::current_path(root, failed);
    if (failed)
        return fail({ErrorCode::usage, "--root " + printable(root) + ": it is not a folder that can be entered"});
    if (Status ok = io::confine("."); !ok) return fail(ok.error());
    const int answers = ::dup(STDOUT_FILENO);
    int exit = done;
    const std::unique_ptr<CLI::App> program = make_program(exit);
    Server(*program, answers).run();
    return done;
}

}  // namespace

void add_mcp(CLI::App& app, int& exit) {
    auto root = std::make_shared<std::string>(".");
    CLI::App* c = app.add_subcommand(
        "mcp",
        "Serves agents: the commands as tools, by the Model Context Protocol (docs/mcp.md).\n\n"
        "  sinew mcp --root characters        reads and writes files of this folder only; starts no program\n");
    c->add_option("--root", *root, "The folder whose files tools read and write")->capture_default_str();
    c->callback([root, &exit] { exit = run_mcp(*root); });
}

}  // namespace sinew::cli
