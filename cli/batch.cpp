// sinew batch: binds many characters, each in a process of its own.

#include <fmt/core.h>

#include <filesystem>
#include <set>

#include "batch_items.h"
#include "batch_run.h"
#include "batch_words.h"
#include "command.h"
#include "core/try.h"
#include "report/report.h"

namespace sinew::cli {
namespace {

namespace fs = std::filesystem;

Result<int> run_batch(const CLI::App& command, BatchArguments args) {
    if (args.results.empty()) args.results = (fs::path(args.folder) / "results.jsonl").string();
    const NamedFile outputs[] = {{"--results", args.results}, {"--html", args.html}};
    SINEW_TRY_LET(BatchList list, read_batch(args.inputs, args.folder));
    std::vector<BatchItem>& items = list.items;
    const std::string left_out =
        list.left_out.empty()
            ? ""
            : fmt::format(
                  "{} .obj file{} of the folders hold{} no skeleton (the first is {}): give each its \"skeleton\" "
                  "in a manifest",
                  list.left_out.size(), list.left_out.size() == 1 ? "" : "s", list.left_out.size() == 1 ? "s" : "",
                  printable(list.left_out.front()));
    if (items.empty())
        return Error{ErrorCode::input,
                     "there is nothing to bind: no .glb, .gltf, .vrm, .fbx or .dae in the inputs" +
                         (left_out.empty() ? "" : "; " + left_out)};
    if (!left_out.empty() && !args.quiet) fmt::print(stderr, "sinew: left out: {}\n", left_out);
    const Result<std::string> apart = keep_companions_apart(items, args.folder);
    if (!apart) return apart.error();
    if (!apart->empty() && !args.quiet) fmt::print(stderr, "sinew: kept apart: {}\n", *apart);
    SINEW_TRY(check_output_words(args));
    SINEW_TRY_LET(const WordFiles shared, read_words(args, items));
    SINEW_TRY(keep_apart(items, outputs));
    std::vector<NamedFile> inputs;
    for (const std::string& input : args.inputs) inputs.push_back({"an input", input});
    SINEW_TRY(check_kept(outputs, inputs));
    if (args.commands && !args.html.empty())
        return Error{ErrorCode::usage,
                     "--commands prints commands for single characters, which write no page: leave "
                     "--html out, and run the batch with --html when they are done"};
    if (args.sheets && args.thumbnails == 0)
        return Error{ErrorCode::usage, "--sheets needs --thumbnails, which says of how many characters"};
    if (args.thumbnails > 0 && args.html.empty())
        return Error{ErrorCode::usage, "--thumbnails needs --html, the page that shows them"};
    if (!args.give_up.empty() && args.only.empty())
        return Error{ErrorCode::usage, "--give-up needs --only, which says on which characters"};
    SINEW_TRY_LET(const std::vector<std::size_t> chosen, chosen_items(args, items.size()));
    SINEW_TRY(check_shared_files(shared, chosen.size()));
    if (args.commands) {
        print_commands(command, args, chosen);
        return done;
    }
    std::vector<BatchItem> own;
    std::set<std::string> places;
    for (const BatchItem& item : items) places.insert(item.output);
    for (const std::size_t k : chosen) {
        own.push_back(items[k]);
        own.back().writes.insert(own.back().writes.end(), shared.writes.begin(), shared.writes.end());
    }
    std::error_code failed;
    fs::create_directories(args.folder, failed);
    if (failed) return Error{ErrorCode::io, args.folder + " cannot be made: " + failed.message()};
    SINEW_TRY(check_files(outputs, {}));
    return run_items(args, std::move(own), std::move(places));
}

}  // namespace

void add_batch(CLI::App& app, int& exit, const std::vector<std::string>& bind_options) {
    auto args = std::make_shared<BatchArguments>();
    CLI::App* c = app.add_subcommand(
        "batch",
        "Binds many characters, each in a process of its own (docs/batch.md).\n\n"
        "  sinew batch characters -o bound                         every model in a folder and its folders\n"
        "  sinew batch night.jsonl -o bound --jobs 8               a manifest: options, references and gates of "
        "each\n"
        "  sinew batch characters -o bound -- --method bone-heat   options of bind, for all\n"
        "  sinew batch characters -o bound --commands              one command for each, for a queue manager\n"
        "  sinew batch characters -o bound --shard 3/16            the third of 16 machines\n\n"
        "Run it again after an interruption: what is done is skipped, unless its input or an option has changed.");
    c->add_option("INPUTS", args->inputs, "Folders, models, lists (.txt) and manifests (.jsonl)")->required();
    c->add_option("-o,--output", args->folder, "Folder for the results")->required();
    c->add_option("--results", args->results,
                  "JSON lines, one for each character; default: results.jsonl in the folder");
    c->add_option("--jobs", args->jobs, "Characters at a time; 0 = one for each processor")
        ->check(CLI::Range(0, 4096));
    c->add_option("--threads", args->threads, "Threads of each; 0 = processors / jobs")->check(CLI::Range(0, 4096));
    c->add_option("--timeout", args->timeout, "Seconds for each; 0 = no limit")->check(number_within(0, 1e6));
    c->add_option("--memory", args->memory_mb,
                  "MB for all together; 0 = three quarters of the machine or its container. Each gets an equal "
                  "part; what needs more runs alone at the end")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
    for (const auto& [word, help] :
         {std::pair{"--max-l1", "mean L1 to the reference, 0 to 2"},
          {"--max-distance", "distance of a vertex in a pose, in % of the diagonal"},
          {"--min-agreement", "fraction of vertices whose strongest joint agrees, 0 to 1"}})
        c->add_option_function<std::string>(
             word,
             [args, word = std::string(word)](const std::string& value) {
                 args->gates.insert(args->gates.end(), {word, value});
             },
             std::string("Gate for characters with a reference: ") + help)
            ->check(CLI::Number)
            ->group("Gates");
    c->add_option(
         "--check", args->check,
         "PROFILE: check every result as sinew check does, with the limits of an engine, or \"default\". Errors "
         "fail the gate")
        ->group("Gates");
    c->add_option("--shard", args->shard, "N/M: only the N-th of M parts of the list");
    c->add_option("--only", args->only, "N or N-M: only the characters with these numbers in the list");
    c->add_option("--give-up", args->give_up,
                  "MESSAGE: with --only, record these characters as crashed instead of binding them");
    c->add_option("--html", args->html, "Write a page over all characters of this run to this file");
    c->add_option("--thumbnails", args->thumbnails,
                  "Pictures of this many characters in the page, the worst by each measure (needs OpenGL)")
        ->check(CLI::Range(0, 1000));
    c->add_flag("--sheets", args->sheets,
                "With --thumbnails: a contact sheet of each, all standard poses, behind its picture");
    c->add_flag("--commands", args->commands, "Print one command for each character, and do nothing");
    c->add_flag("--retry", args->retry, "Try again what failed before");
    c->add_flag("--quiet", args->quiet, "Print errors only");
    c->callback([args, c, &exit, &bind_options] {
        args->options = bind_options;
        exit = exit_of(run_batch(*c, *args));
    });
}

}  // namespace sinew::cli
