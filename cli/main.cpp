// sinew: the command line. Each subcommand has its own file; they contain no algorithms.

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "command.h"
#include "painter.h"
#include "system.h"

namespace {

/// A full disk or a closed pipe: the printed text was not written.
int report_output_failure(int exit) {
    using namespace sinew::cli;
    if (exit != done && exit != gate_failed) return exit;
    const sinew::Status flushed = flush_output();
    return flushed ? exit : fail(flushed.error());
}

/// Without this, CLI11 would only report that a command is missing. Empty if the command is known.
std::string unknown_command(const CLI::App& app, std::string_view word) {
    if (word.starts_with("-")) return {};
    std::vector<std::string> known;
    std::string all;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (command->get_name() == word) return {};
        known.push_back(command->get_name());
        all += (all.empty() ? "" : ", ") + command->get_name();
    }
    const std::string near = sinew::did_you_mean(word, known);
    return fmt::format("there is no command '{}'{}", sinew::printable(word),
                       near.empty() ? " (commands: " + all + ")" : near);
}

/// `sinew batch … -- WORDS` gives the words to bind. They are taken from the command line.
std::vector<std::string> take_words_after_dashes(int& argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != "batch") return {};
    for (int k = 2; k < argc; ++k)
        if (std::string_view(argv[k]) == "--") {
            std::vector<std::string> words(argv + k + 1, argv + argc);
            argc = k;
            return words;
        }
    return {};
}

/// The help of the program lists commands by the first sentence of their descriptions; examples are in the help of
/// each.
class ShortCommands : public CLI::Formatter {
    std::string make_subcommand(const CLI::App* command) const override {
        const std::string text = command->get_description();
        const std::size_t end = std::min(text.find(". "), text.find(".\n"));
        std::stringstream out;
        CLI::detail::format_help(out, command->get_display_name(true),
                                 end == std::string::npos ? text : text.substr(0, end + 1), get_column_width());
        return out.str();
    }
};

}  // namespace

namespace sinew::cli {

std::unique_ptr<CLI::App> make_program(int& exit, std::string_view command,
                                       const std::vector<std::string>& bind_options) {
    auto app = std::make_unique<CLI::App>(
        "sinew binds skin to bones: skin weights for real production meshes.\n\n"
        "  sinew bind hero.glb -o hero.skinned.glb\n"
        "  sinew bind statue.obj --skeleton statue.json -o statue.glb\n"
        "  sinew pose hero.skinned.glb --clip Walk --time 0.4 -o step.glb\n"
        "  sinew render hero.skinned.glb -o hero.png\n"
        "  sinew cutout figure.png --bones bones.json -o figure.glb\n\n"
        "Exit codes: 0 done, 1 done but a quality gate failed, 2 bad usage, 3 bad input, 4 internal error.");
    app->name("sinew");
    app->footer("sinew COMMAND --help shows its options and examples.");
    app->allow_windows_style_options(false);  // "/folder/hero.glb" is a file everywhere
    app->set_version_flag("--version", "sinew " SINEW_VERSION);
    app->require_subcommand(1);
    const std::pair<std::string, std::function<void(CLI::App&, int&)>> commands[] = {
        {"bind", add_bind},
        {"rig", add_rig},
        {"batch", [&](CLI::App& to, int& code) { add_batch(to, code, bind_options); }},
        {"apply", add_apply},
        {"pose", add_pose},
        {"render", add_render},
        {"compare", add_compare},
        {"check", add_check},
        {"questions", add_questions},
        {"clean", add_clean},
        {"transfer", add_transfer},
        {"cutout", add_cutout},
        {"inspect", add_inspect},
        {"studio", add_studio},
        {"mcp", add_mcp},
    };
    const bool known = std::ranges::any_of(commands, [&](const auto& c) { return c.first == command; });
    const bool with_bind = command == "batch";  // it says which words are options of bind
    for (const auto& [name, add] : commands) {
        if (known && name != command && !(with_bind && name == "bind")) continue;
        add(*app, exit);
        app->get_subcommand(name);  // throws if a command has another name than its row
    }
    // Commands keep the formatter that they have.
    app->formatter(std::make_shared<ShortCommands>());
    app->get_formatter()->column_width(14);
    return app;
}

int run_command(std::vector<std::string> words, const std::vector<std::string>& bind_options) {
    int exit = done;
    const std::unique_ptr<CLI::App> app = make_program(exit, words.empty() ? "" : words[0], bind_options);
    if (words.empty()) {
        std::fputs(app->help().c_str(), stderr);
        return bad_usage;
    }
    if (const std::string unknown = unknown_command(*app, words[0]); !unknown.empty())
        return fail({ErrorCode::usage, unknown});
    try {
        std::reverse(words.begin(), words.end());  // as CLI11 takes them
        app->parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        // CLI11 treats help and version as errors of code 0.
        if (error.get_exit_code() == 0) {
            app->exit(error);
            return report_output_failure(done);
        }
        std::string message = unknown_option(*app);
        if (message.empty())
            message = fmt::format("{} ({} --help shows options and examples)", printable(error.what(), 500),
                                  words_of_command(*app));
        return fail({ErrorCode::usage, message});
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "sinew: error: out of memory (use a lower --resolution)\n");
        return bad_input;
    } catch (const std::exception& error) {
        // fmt throws if it cannot write.
        if (std::ferror(stdout)) return report_output_failure(done);
        if (std::ferror(stderr)) return internal_error;
        fmt::print(stderr, "sinew: internal error: {}\n", printable(error.what(), 300));
        return internal_error;
    }
    return report_output_failure(exit);
}

}  // namespace sinew::cli

int main(int argc, char** argv) {
    using namespace sinew::cli;
    if (const auto exit = sinew::io::serve_as_reader(argc, argv)) return *exit;
    if (const auto exit = serve_as_painter(argc, argv)) return *exit;
    system::start(argc, argv);
    handle_signals();
    const std::vector<std::string> bind_options = take_words_after_dashes(argc, argv);
    return run_command({argv + std::min(argc, 1), argv + argc}, bind_options);
}
