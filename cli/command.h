// Code that the subcommands share: exit codes, progress, and output for people or for programs.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sinew/core.h"
#include "sinew/io.h"

namespace sinew::cli {

// docs/conventions.md
enum ExitCode { done = 0, gate_failed = 1, bad_usage = 2, bad_input = 3, internal_error = 4 };

int exit_code(ErrorCode code);

/// Prints "sinew: error: …" to standard error and returns the exit code of the error.
int fail(const Error& error);
/// The exit code of a command; prints its error.
inline int exit_of(const Result<int>& outcome) { return outcome ? *outcome : fail(outcome.error()); }
/// A message of the library as on a command line: `resolution 128` becomes --resolution 128 (docs/conventions.md).
std::string in_words(std::string_view text);
/// The text of in_words with control characters replaced, cut after max_length characters.
std::string shown(std::string_view text, std::size_t max_length = 2000);

double seconds_since(std::chrono::steady_clock::time_point start);

/// A file of the command line, with its name in messages.
struct NamedFile {
    std::string role;  ///< "--report"; "the input"
    std::string path;  ///< empty: not given
};

/// What a command does with a file. reads_json: an agent may give the JSON itself (docs/mcp.md).
enum class FileUse { reads, reads_json, writes };
/// Says that the values of an option name files: files_of finds them, and the help shows FILE, JSON or OUT.
CLI::Option* names_file(CLI::Option* option, FileUse use);
/// The files that the parsed words of a command name, in the order of its options; JSON is read.
std::vector<NamedFile> files_of(const CLI::App& command, FileUse use);

/// Checks files before any work or output. The first output is the model: it must have a supported extension,
/// and it may replace the first input. All other outputs must be different files in writable folders.
Status check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

/// The same for a command that writes no model: no output may replace an input.
Status check_files(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

/// Checks that no output would replace one of these, by any spelling of its path.
Status check_kept(std::span<const NamedFile> outputs, std::span<const NamedFile> kept);

/// Checks that no output would replace a file that this model refers to.
Status check_kept(std::span<const NamedFile> outputs, const io::Scene& scene);

/// An option with a few allowed words; passes the meaning of the word to `set`.
template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::function<void(T)> set,
                        std::vector<std::pair<std::string, T>> choices, const std::string& help) {
    std::string type;
    for (const auto& [choice, meaning] : choices) type += (type.empty() ? "" : "|") + choice;
    CLI::Option* const option = app.add_option_function<std::string>(
        name,
        [name, set = std::move(set), choices = std::move(choices)](const std::string& word) {
            std::string words;
            std::vector<std::string> known;
            for (const auto& [choice, meaning] : choices) {
                if (word == choice) return set(meaning);
                words += (words.empty() ? "" : choice == choices.back().first ? " or " : ", ") + choice;
                known.push_back(choice);
            }
            throw CLI::ValidationError(name + " " + word + ": choose " + words + did_you_mean(word, known));
        },
        help);
    return option->type_name(type);
}
template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& value,
                        std::vector<std::pair<std::string, T>> choices, const std::string& help) {
    return add_choice<T>(
        app, name, [&value](T meaning) { value = meaning; }, std::move(choices), help);
}

/// For options with numbers: lower and upper end included. Unlike CLI::Range it refuses "nan".
CLI::Validator number_within(double lower, double upper);

/// For a command of many options: --help shows these only ("--output"), and --help-advanced all. Groups such as
/// "Method: bone-heat", for the options that one method reads, are one group "Method" in the short help.
void split_help(CLI::App& command, std::vector<std::string> everyday);

constexpr int kMostThreads = 1000000;  ///< largest value of --threads

/// "sinew bind" while the words of `sinew bind` are parsed, "sinew" before any command.
std::string words_of_command(const CLI::App& app);

/// Says which word of the command line is not known, if that is what a failed parse was about, with the options of
/// the command that are spelled like it. Empty otherwise.
std::string unknown_option(const CLI::App& app);

/// Makes SIGINT, SIGTERM and SIGHUP remove temporary files before they end the program.
void handle_signals();

/// A file that a signal which ends the program removes; empty: none.
void remove_on_signal(const std::string& path);

/// Writes out what was printed. An error if it could not be.
Status flush_output();

/// A progress bar on standard error, only on a terminal and without --quiet. As long as it lives, the first SIGINT
/// (Ctrl-C), SIGTERM or SIGHUP only sets Context::cancel.
class Progress {
public:
    Progress(Context& context, bool quiet);
    ~Progress();
    Progress(const Progress&) = delete;

    /// Shows a stage that does not report progress.
    void stage(const char* name);

    /// Prints what the command has to say, and then lets its files appear: if standard output is full, or the
    /// command was cancelled, there are none.
    Status publish(io::OutputBatch& batch, const std::function<void()>& print);

private:
    const Context& context_;
    bool shown_ = false;
};

/// Options of all commands that read a character.
struct MachineOptions {
    int threads = 0;
    std::int64_t memory_limit_mb = 0;
    bool follow_links = false;

    void apply(Context& context) const;
    io::LoadOptions reading() const;
};
/// Takes the MB of what was read and stays in memory off the limit of the context, for other files and for the
/// work.
void keep_in_memory(std::size_t bytes, Context* context);
/// io::load, with keep_in_memory.
Result<io::Scene> load_model(const std::string& path, const io::LoadOptions& options, Context* context);
/// --threads, --memory-limit and --follow-links, in this group.
void add_machine_options(CLI::App& command, MachineOptions& options, const std::string& group = "Machine");

/// Options of all commands that compute weights.
struct RunOptions : MachineOptions {
    std::string report;
    double require_coverage = 1.0;
    bool json = false, quiet = false;
};
void add_run_options(CLI::App& command, RunOptions& options);

/// Options of commands that read a character to bind, or to show.
struct InputOptions {
    std::string skeleton;
    double skeleton_scale = 1;
    bool prop = false, bind_parts = false, together = false;

    io::LoadOptions load(const MachineOptions& machine) const;
};
/// --skeleton, --skeleton-scale, --prop, --bind-parts and --together, in this group.
void add_input_options(CLI::App& command, InputOptions& options, const std::string& group = "Options");

/// --deform-from, in this group.
void add_deform_option(CLI::App& command, DeformOptions& options, const std::string& group = "Options");

/// --weight-format and --decompress, in this group.
void add_save_options(CLI::App& command, io::SaveOptions& options, const std::string& group = "Options");

/// --max-influences: 1..8 or "all".
Result<int> influence_limit(const std::string& word);

/// --size: "1600x1200", 64 to 8192 each.
Result<std::array<int, 2>> picture_size(const std::string& word);

/// Registers a subcommand; its action stores the exit code in `exit`.
void add_bind(CLI::App& app, int& exit);
/// `bind_options`: the words after "--", which are for bind.
void add_batch(CLI::App& app, int& exit, const std::vector<std::string>& bind_options);
void add_rig(CLI::App& app, int& exit);
void add_apply(CLI::App& app, int& exit);
void add_pose(CLI::App& app, int& exit);
void add_render(CLI::App& app, int& exit);
void add_compare(CLI::App& app, int& exit);
void add_check(CLI::App& app, int& exit);
void add_questions(CLI::App& app, int& exit);
void add_clean(CLI::App& app, int& exit);
void add_transfer(CLI::App& app, int& exit);
void add_cutout(CLI::App& app, int& exit);
void add_inspect(CLI::App& app, int& exit);
void add_studio(CLI::App& app, int& exit);
void add_mcp(CLI::App& app, int& exit);

/// The program with this command, or with all if there is none of this name: to make the options of all takes
/// longer than many a command.
std::unique_ptr<CLI::App> make_program(int& exit, std::string_view command = {},
                                       const std::vector<std::string>& bind_options = {});
/// Runs a command line, given without the name of the program: prints, and returns the exit code.
int run_command(std::vector<std::string> words, const std::vector<std::string>& bind_options = {});
/// Commands that run from now on report their progress to this function, if it is one, and are not cancelled yet.
void listen_to_commands(std::function<void(const char* stage, double share)> progress);
/// Cancels the command that runs, or that begins before the next listen_to_commands. From any thread.
void cancel_command();

}  // namespace sinew::cli
