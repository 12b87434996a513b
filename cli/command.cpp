#include "command.h"
#include "core/numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <system_error>

#include "core/try.h"
#include "report/report.h"
#include "sinew/io.h"
#include "sinew/render.h"
#include "sinew/weights.h"
#include "system.h"

namespace sinew::cli {
namespace {

namespace fs = std::filesystem;

std::atomic<std::atomic<bool>*> g_cancel{nullptr};
std::mutex g_listening;  // of what follows, and of the life of what g_cancel names
std::function<void(const char*, double)> g_progress;
bool g_cancelled = false;
volatile std::sig_atomic_t g_signal = 0;
char g_removed[4096];  // of remove_on_signal

// The first signal cancels the work, which then cleans up; the second one, or one at another time, ends the
// program.
void on_signal(int number) {
    std::atomic<bool>* const cancel = g_cancel.load();
    if (cancel && !cancel->exchange(true)) {
        g_signal = number;
        system::end_after_cancelling();
        return;
    }
    io::remove_unfinished_files();
    if (g_removed[0]) std::remove(g_removed);
    std::signal(number, SIG_DFL);
    std::raise(number);
}

void draw(const char* stage) {
    fmt::print(stderr, "\r\033[K  {}…", stage);
    std::fflush(stderr);
}

/// Also for files that do not exist yet: "o.glb" and "./o.glb".
bool same_file(const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) return false;
    std::error_code failed;
    // Devices cannot be overwritten: both may be /dev/null.
    if (fs::is_character_file(a, failed)) return false;
    if (fs::equivalent(a, b, failed)) return true;
    const fs::path place = fs::weakly_canonical(a, failed);
    return !failed && place == fs::weakly_canonical(b, failed) && !failed;
}

Error same_error(const NamedFile& output, const NamedFile& other) {
    return {ErrorCode::usage,
            output.role + " " + output.path + " would overwrite " + other.role + " (name another file)"};
}

Status check_places(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs, bool may_replace) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const NamedFile& output = outputs[i];
        if (output.path.empty()) continue;
        SINEW_TRY(check_kept({&output, 1}, inputs.subspan(may_replace && i == 0 ? 1 : 0)));
        for (std::size_t k = 0; k < i; ++k)
            if (same_file(output.path, outputs[k].path)) return same_error(output, outputs[k]);
        const fs::path path(output.path);
        const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
        std::error_code ignored;
        if (!fs::is_directory(folder, ignored) || !system::is_writable(folder))
            return Error{ErrorCode::io, output.path + ": cannot be written: there is no folder '" +
                                            folder.string() + "', or it is read-only"};
        if (fs::is_directory(path, ignored)) return Error{ErrorCode::io, output.path + ": is a folder, not a file"};
    }
    return Done{};
}

/// "Method" of "Method: bone-heat".
std::string base_group(const CLI::Option& option) {
    return option.get_group().substr(0, option.get_group().find(':'));
}

/// See split_help.
class SplitFormatter : public CLI::Formatter {
public:
    explicit SplitFormatter(std::vector<std::string> everyday) : everyday_(std::move(everyday)) {}
    void show_all() { all_ = true; }

    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
        if (all_ || mode == CLI::AppFormatMode::Sub) return CLI::Formatter::make_help(app, name, mode);
        std::vector<std::pair<std::string, std::vector<const CLI::Option*>>> groups;
        std::size_t left_out = 0;
        for (const CLI::Option* option : app->get_options()) {
            if (!option->nonpositional() || option->get_group().empty()) continue;
            if (std::none_of(everyday_.begin(), everyday_.end(),
                             [&](const std::string& own) { return option->check_name(own); })) {
                ++left_out;
                continue;
            }
            const std::string group = base_group(*option);
            const auto known =
                std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == group; });
            if (known == groups.end())
                groups.push_back({group, {option}});
            else
                known->second.push_back(option);
        }
        std::string out = make_description(app) + make_usage(app, name) + make_positionals(app);
        for (const auto& [group, options] : groups) out += make_group(group, false, options);
        return out + fmt::format("\n--help-advanced shows {} more options, by method.\n", left_out);
    }

private:
    const std::vector<std::string> everyday_;
    bool all_ = false;
};

}  // namespace

void split_help(CLI::App& command, std::vector<std::string> everyday) {
    everyday.insert(everyday.end(), {"--help", "--help-advanced"});
    const auto formatter = std::make_shared<SplitFormatter>(std::move(everyday));
    formatter->column_width(command.get_formatter()->get_column_width());
    command.formatter(formatter);
    command.add_flag_callback(
        "--help-advanced",
        [formatter] {
            formatter->show_all();
            throw CLI::CallForHelp();
        },
        "Print this help with all options, by method, and exit");
}

std::string words_of_command(const CLI::App& app) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    return chosen.empty() ? "sinew" : "sinew " + chosen.back()->get_name();
}

std::string unknown_option(const CLI::App& app) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const CLI::App& command = chosen.empty() ? app : *chosen.back();
    for (const std::string& word : app.remaining(true)) {
        if (word.size() < 2 || word[0] != '-' || word == "--") continue;
        const std::string name = word.substr(0, word.find('='));
        std::vector<std::string> known;
        for (const CLI::Option* option : command.get_options())
            for (const std::string& own : option->get_lnames()) known.push_back("--" + own);
        const auto of_bind = app.get_subcommands([](const CLI::App* c) { return c->get_name() == "bind"; });
        if (command.get_name() == "batch" && !of_bind.empty() && of_bind[0]->get_option_no_throw(name))
            return fmt::format(
                "sinew batch has no option {} of its own (options of bind go to the end, after \"--\")",
                printable(name));
        const auto owners = app.get_subcommands([&](const CLI::App* c) {
            return (chosen.empty() || c == chosen.back()) && c->get_option_no_throw(name) != nullptr;
        });
        if (!owners.empty())  // CLI11 gives it to the program if it stands before the command
            return fmt::format("{} goes after the command: sinew {} {}", printable(name), owners[0]->get_name(),
                               printable(name));
        const std::string near = did_you_mean(name, known);
        return fmt::format("{} has no option {}{}", words_of_command(app), printable(name),
                           near.empty() ? fmt::format(" ({} --help lists them)", words_of_command(app)) : near);
    }
    if (!chosen.empty() && !app.remaining(true).empty())
        return fmt::format("{} takes no further file or word: {}{}", words_of_command(app),
                           printable(app.remaining(true).front()),
                           command.get_name() == "bind" ? " (sinew batch binds many characters)" : "");
    return {};
}

CLI::Option* names_file(CLI::Option* option, FileUse use) {
    return option->type_name(use == FileUse::reads ? "FILE" : use == FileUse::writes ? "OUT" : "JSON");
}

std::vector<NamedFile> files_of(const CLI::App& command, FileUse use) {
    std::vector<NamedFile> out;
    for (const CLI::Option* option : command.get_options())
        if (const std::string type = option->get_type_name();
            use == FileUse::writes ? type == "OUT" : type == "FILE" || type == "JSON")
            for (const std::string& path : option->results())
                out.push_back({(option->get_positional() ? "the " : "") + option->get_name(), path});
    return out;
}

Status check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
    SINEW_TRY(io::check_output(outputs[0].path));
    return check_places(outputs, inputs, true);
}

Status check_files(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
    return check_places(outputs, inputs, false);
}

Status check_kept(std::span<const NamedFile> outputs, std::span<const NamedFile> kept) {
    for (const NamedFile& output : outputs)
        for (const NamedFile& file : kept)
            if (same_file(output.path, file.path)) return same_error(output, file);
    return Done{};
}

Status check_kept(std::span<const NamedFile> outputs, const io::Scene& scene) {
    for (const std::filesystem::path& file : io::external_files(scene)) {
        const NamedFile kept{"a file that an input refers to", file.string()};
        SINEW_TRY(check_kept(outputs, {&kept, 1}));
    }
    return Done{};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int exit_code(ErrorCode code) {
    switch (code) {
        case ErrorCode::usage:
            return bad_usage;
        case ErrorCode::input:
        case ErrorCode::too_large:
        case ErrorCode::io:
            return bad_input;
        case ErrorCode::cancelled:
            return 128 + (g_signal ? g_signal : SIGINT);
        case ErrorCode::internal:
            return internal_error;
    }
    return internal_error;
}

std::string in_words(std::string_view text) {
    std::string out;
    for (;;) {
        const auto begin = text.find('`'), end = begin == text.npos ? begin : text.find('`', begin + 1);
        if (end == text.npos) return out.append(text);
        const std::string_view token = text.substr(begin + 1, end - begin - 1);
        const auto command = token.starts_with("sinew ") ? std::min(token.find(' ', 6), token.size()) : 0;
        const std::string_view option = token.substr(std::min(command + (command > 0), token.size()));
        const auto word = option.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-");
        const bool is_option = word == option.npos ? !option.empty() : word > 0 && option[word] == ' ';
        if (is_option || (command && option.empty())) {
            out.append(text.substr(0, begin)).append(token.substr(0, command));
            if (is_option) out.append(command ? " --" : "--").append(option);
            text.remove_prefix(end + 1);
        } else {
            out.append(text.substr(0, end));  // the second one may be the first of a pair
            text.remove_prefix(end);
        }
    }
}

std::string shown(std::string_view text, std::size_t max_length) { return printable(in_words(text), max_length); }

int fail(const Error& error) {
    try {
        // Names of files may have any character, too.
        fmt::print(stderr, "sinew: error: {}\n", shown(error.message, std::string::npos));
    } catch (const std::system_error&) {
        // Nobody reads it; the exit code still says that it failed.
    }
    return exit_code(error.code);
}

void MachineOptions::apply(Context& context) const {
    context.threads = threads;
    context.memory_limit = static_cast<std::size_t>(memory_limit_mb) << 20;
}

io::LoadOptions MachineOptions::reading() const {
    io::LoadOptions load;
    load.follow_links = follow_links;
    return load;
}

void keep_in_memory(std::size_t bytes, Context* context) {
    if (context->memory_limit) context->memory_limit -= std::min(context->memory_limit - 1, bytes >> 20 << 20);
}

Result<io::Scene> load_model(const std::string& path, const io::LoadOptions& options, Context* context) {
    Result<io::Scene> scene = io::load(path, options, context);
    if (scene) keep_in_memory(io::memory_of(*scene), context);
    return scene;
}

void add_machine_options(CLI::App& command, MachineOptions& options, const std::string& group) {
    command
        .add_option("--threads", options.threads,
                    "Worker threads; 0 = one per core. The result does not depend on it")
        ->check(CLI::Range(0, kMostThreads))
        ->capture_default_str()
        ->group(group);
    command
        .add_option("--memory-limit", options.memory_limit_mb,
                    "MB; error before the work if it may need more; 0 = no limit")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 32))
        ->capture_default_str()
        ->group(group);
    command
        .add_flag("--follow-links", options.follow_links,
                  "Read buffers and images that are symbolic links out of the model's folder")
        ->group(group);
}

void add_run_options(CLI::App& command, RunOptions& options) {
    names_file(command.add_option("--report", options.report, "Write a JSON report to this file (docs/report.md)"),
               FileUse::writes)
        ->group("Input and output");
    command
        .add_option("--require-coverage", options.require_coverage,
                    "Exit 1 if the method reaches a smaller fraction of the vertices")
        ->check(number_within(0, 1))
        ->capture_default_str()
        ->group("Input and output");
    command.add_flag("--json", options.json, "Print the report instead of a summary")->group("Input and output");
    command.add_flag("--quiet", options.quiet, "Print errors only")->group("Input and output");
    add_machine_options(command, options);
}

io::LoadOptions InputOptions::load(const MachineOptions& machine) const {
    io::LoadOptions load = machine.reading();
    load.skeleton = skeleton;
    load.skeleton_scale = skeleton_scale;
    load.prop = prop;
    load.bind_parts = bind_parts;
    load.together = together;
    return load;
}

void add_input_options(CLI::App& command, InputOptions& options, const std::string& group) {
    names_file(command.add_option(
                   "--skeleton", options.skeleton,
                   "The skeleton of a mesh that has none: JSON, TGF, or a GLB, VRM or FBX, in the bind pose of its "
                   "skin"),
               FileUse::reads)
        ->group(group);
    command
        .add_option("--skeleton-scale", options.skeleton_scale,
                    "Factor on the lengths of --skeleton: 0.01 for centimetres where the mesh has metres")
        ->check(number_within(1e-9, 1e9))
        ->group(group);
    command
        .add_flag(
            "--prop", options.prop,
            "Accept a file without a skin whose nodes are at one place, or groups of parts: all of it follows them")
        ->group(group);
    command
        .add_flag(
            "--bind-parts", options.bind_parts,
            "In a file without a skin, bind meshes below joints as others; otherwise each follows its joint whole")
        ->group(group);
    command
        .add_flag(
            "--together", options.together,
            "Take levels of detail, meshes that no scene shows and characters with skeletons of their own as one "
            "mesh")
        ->group(group);
}

void add_deform_option(CLI::App& command, DeformOptions& options, const std::string& group) {
    add_choice<DeformFrom>(
        command, "--deform-from", options.from, deform_from_words,
        "Which joints deform: auto (default), skin (joints with weights in the file), names, all")
        ->group(group);
}

void add_save_options(CLI::App& command, io::SaveOptions& options, const std::string& group) {
    add_choice<io::WeightFormat>(command, "--weight-format", options.weight_format, weight_format_words,
                                 "f32 (default), u16 or u8; integers sum exactly")
        ->group(group);
    add_choice<io::FbxUnit>(command, "--fbx-unit", options.fbx_unit, fbx_unit_words,
                            "Unit of a new .fbx: cm (default) or m; an FBX that was read keeps its own")
        ->group(group);
    command
        .add_flag("--decompress", options.decompress,
                  "Write no Draco and no meshopt, for programs that cannot read them")
        ->group(group);
    command
        .add_flag("--repair-matrices", options.repair_matrices,
                  "Write inverse bind matrices that are missing or zero, as the rest pose gives them")
        ->group(group);
}

Result<int> influence_limit(const std::string& word) {
    if (word == "all") return all_influences;
    const std::optional<int> n = number_of<int>(word);
    if (!n || *n < 1 || *n > 8)
        return Error{ErrorCode::usage, "--max-influences takes 1..8 or 'all', not '" + printable(word) + "'"};
    return *n;
}

Result<std::array<int, 2>> picture_size(const std::string& word) {
    const std::size_t at = std::min(word.find('x'), word.size());
    const auto width = number_of<int>(std::string_view(word).substr(0, at));
    const auto height = number_of<int>(std::string_view(word).substr(std::min(at + 1, word.size())));
    if (!width || !height)
        return Error{ErrorCode::usage, "--size " + word + ": give WIDTHxHEIGHT in pixels, for example 1600x1200"};
    if (std::min(*width, *height) < Picture::min_side || std::max(*width, *height) > Picture::max_side)
        return Error{ErrorCode::usage, fmt::format("--size {}: each side must be within {} to {} pixels", word,
                                                   Picture::min_side, Picture::max_side)};
    return std::array{*width, *height};
}

CLI::Validator number_within(double lower, double upper) {
    const std::string range = "a number from " + fmt::format("{:g}", lower) +
                              (std::isinf(upper) ? " up" : " to " + fmt::format("{:g}", upper));
    return CLI::Validator(
        [=](const std::string& word) {
            double value = 0;
            if (CLI::detail::lexical_cast(word, value) && value >= lower && value <= upper) return std::string();
            return "'" + printable(word) + "' is not " + range;
        },
        std::isinf(upper) ? "NUMBER" : fmt::format("[{:g} - {:g}]", lower, upper));
}

void handle_signals() { system::handle_signals(on_signal); }

void remove_on_signal(const std::string& path) {
    if (path.size() < sizeof g_removed) std::memcpy(g_removed, path.c_str(), path.size() + 1);
}

Status flush_output() {
    errno = 0;
    std::cout.flush();
    const bool flushed = std::fflush(stdout) == 0;
    if (flushed && std::cout && !std::ferror(stdout)) return Done{};
    return Error{ErrorCode::io, std::string("standard output cannot be written") +
                                    (errno ? std::string(": ") + std::strerror(errno) : "")};
}

Progress::Progress(Context& context, bool quiet) : context_(context), shown_(!quiet && system::has_terminal()) {
    {
        const std::lock_guard lock(g_listening);
        g_cancel = &context.cancel;
        if (g_cancelled) context.cancel = true;
        if (g_progress) context.progress = g_progress;
    }
    if (shown_) {
        context.progress = [](const char* name, double fraction) {
            if (fraction < 1) draw(name);
        };
    }
}

Progress::~Progress() {
    {
        const std::lock_guard lock(g_listening);
        g_cancel = nullptr;
    }
    if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::stage(const char* name) {
    if (shown_)
        draw(name);
    else if (context_.progress)
        context_.progress(name, 0);
}

void listen_to_commands(std::function<void(const char*, double)> progress) {
    const std::lock_guard lock(g_listening);
    g_progress = std::move(progress);
    g_cancelled = false;
}

void cancel_command() {
    const std::lock_guard lock(g_listening);
    g_cancelled = true;
    if (std::atomic<bool>* const cancel = g_cancel.load()) *cancel = true;
}

Status Progress::publish(io::OutputBatch& batch, const std::function<void()>& print) {
    SINEW_TRY(batch.write_devices());
    if (shown_) fmt::print(stderr, "\r\033[K");
    try {
        print();
    } catch (const std::system_error&) {
        // fmt throws if it cannot write; flush_output finds the reason.
    }
    SINEW_TRY(flush_output());
    if (context_.cancel) return Error{ErrorCode::cancelled, "cancelled before any file was written"};
    return batch.commit();
}

}  // namespace sinew::cli
