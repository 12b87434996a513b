#include "batch_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/numbers.h"
#include "core/try.h"
#include "report/check_report.h"
#include "report/report.h"

namespace sinew::cli {
namespace {

/// Parses words as the command would, without running it.
Result<WordFiles> files_of_words(void (*add)(CLI::App&, int&), std::vector<std::string> words) {
    CLI::App app;
    int unused = done;
    add(app, unused);
    // Ends before the callback of the command, which owns the command's arguments: to replace it would free them.
    struct Parsed {};
    app.parse_complete_callback([] { throw Parsed{}; });
    const CLI::App* const command = app.get_subcommand(words.front());
    std::reverse(words.begin(), words.end());
    try {
        app.parse(words);
    } catch (const Parsed&) {
    } catch (const CLI::ParseError& error) {
        const std::string unknown = unknown_option(app);
        return Error{ErrorCode::usage, unknown.empty() ? printable(error.what(), 500) : unknown};
    }
    WordFiles files{files_of(*command, FileUse::reads), files_of(*command, FileUse::writes)};
    // The model that stands for all, and what bind writes or what compare is given.
    const bool binds = command->get_name() == "bind";
    files.reads.erase(files.reads.begin(), files.reads.begin() + (binds ? 1 : 2));
    if (binds) files.writes.erase(files.writes.begin());
    return files;
}

/// "3/16", with '/' between: 3 and 16; zeros if it is something else.
std::pair<std::size_t, std::size_t> two_numbers(std::string_view text, char between) {
    const std::size_t at = std::min(text.find(between), text.size());
    const auto a = number_of<std::size_t>(text.substr(0, at));
    const auto b = number_of<std::size_t>(text.substr(std::min(at + 1, text.size())));
    return a && b ? std::pair{*a, *b} : std::pair{std::size_t{0}, std::size_t{0}};
}

/// "3/16": of 16 parts of the list the third.
Result<std::vector<std::size_t>> share_of(const std::vector<std::size_t>& items, const std::string& shard) {
    const auto [part, parts] = two_numbers(shard, '/');
    if (part < 1 || part > parts)
        return Error{ErrorCode::usage, "--shard " + printable(shard) + ": write N/M with N from 1 to M, as 3/16"};
    std::vector<std::size_t> out;
    for (std::size_t k = part - 1; k < items.size(); k += parts) out.push_back(items[k]);
    return out;
}

/// "7" or "7-9": these of the list.
Result<std::vector<std::size_t>> only_these(const std::vector<std::size_t>& items, const std::string& range) {
    const auto [first, last] = two_numbers(range.find('-') == std::string::npos ? range + "-" + range : range, '-');
    if (first < 1 || first > last)
        return Error{ErrorCode::usage,
                     "--only " + printable(range) + ": write N or N-M, numbers of the list from 1"};
    if (last > items.size())
        return Error{ErrorCode::usage, fmt::format("--only {}: there are {} characters", range, items.size())};
    return std::vector<std::size_t>(items.begin() + static_cast<std::ptrdiff_t>(first - 1),
                                    items.begin() + static_cast<std::ptrdiff_t>(last));
}

}  // namespace

Status check_output_words(const BatchArguments& args) {
    for (const std::string& word : args.options)
        if (const std::string name = word.substr(0, word.find('=')); name == "--output" || name.starts_with("-o"))
            return Error{ErrorCode::usage,
                         "after --: " + name + " is an option of the batch: give it before --, and a folder"};
    return Done{};
}

Status check_shared_files(const WordFiles& shared, std::size_t count) {
    if (count <= 1 || shared.writes.empty()) return Done{};
    return Error{ErrorCode::usage, "after --: " + shared.writes[0].role +
                                       " would name one file for all characters (give each its own in the "
                                       "\"options\" of a manifest)"};
}

Result<WordFiles> read_words(const BatchArguments& args, std::vector<BatchItem>& items) {
    std::map<std::vector<std::string>, WordFiles> known;
    const auto files_in = [&](void (*add)(CLI::App&, int&), std::vector<std::string> words,
                              const std::vector<std::string>& more, const std::string& place) -> Result<WordFiles> {
        words.insert(words.end(), more.begin(), more.end());
        if (const auto before = known.find(words); before != known.end()) return before->second;
        Result<WordFiles> files = files_of_words(add, words);
        if (!files) return Error{files.error().code, (place.empty() ? "" : place + ": ") + files.error().message};
        return known[words] = *files;
    };
    const std::vector<std::string> bind{"bind", "in.glb", "-o", "out.glb"}, compare{"compare", "a.glb", "b.glb"};
    const auto known_check = [](const std::string& word, const std::string& place) -> Status {
        SkinCheckOptions ignored;
        if (word.empty() || word == kDefaultCheck) return Done{};
        if (Status ok = take_profile(word, ignored); !ok)
            return Error{ErrorCode::usage, place + ok.error().message + "; \"default\" has no limits of an engine"};
        return Done{};
    };
    const Result<WordFiles> shared = files_in(add_bind, bind, args.options, "after --");
    if (!shared) return shared;
    SINEW_TRY(known_check(args.check, "--check: "));
    for (BatchItem& item : items) {
        std::vector<std::string> words = item.options;
        words.insert(words.end(), args.options.begin(), args.options.end());
        if (auto all = files_in(add_bind, bind, words, item.place); !all) return all;
        const auto own = files_in(add_bind, bind, item.options, item.place);
        const auto gates = files_in(add_compare, compare, item.gates, item.place);
        if (!own || !gates) return own ? gates : own;
        SINEW_TRY(known_check(item.check, item.place + ": gates.check: "));
        item.reads = {{"an input", item.input}};
        for (const auto& [role, path] : {std::pair{"the reference", item.reference},
                                         {"the skeleton", item.skeleton},
                                         {"the edits", item.edits}})
            if (!path.empty()) item.reads.push_back({role, path});
        for (const WordFiles* files : {&*shared, &*own, &*gates})
            item.reads.insert(item.reads.end(), files->reads.begin(), files->reads.end());
        item.writes = {{"the result", item.output}};
        for (const WordFiles* files : {&*own, &*gates})
            item.writes.insert(item.writes.end(), files->writes.begin(), files->writes.end());
    }
    const bool compared =
        std::any_of(items.begin(), items.end(), [](const BatchItem& item) { return !item.reference.empty(); });
    if (!args.gates.empty() && !compared)
        return Error{
            ErrorCode::usage,
            args.gates[0] + " compares with a reference, and no character has one (give them in a manifest)"};
    return shared;
}

Result<std::vector<std::size_t>> chosen_items(const BatchArguments& args, std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (!args.only.empty()) {
        SINEW_TRY_LET(all, only_these(all, args.only));
    }
    if (args.shard.empty()) return all;
    return share_of(all, args.shard);
}

void print_commands(const CLI::App& command, const BatchArguments& args, const std::vector<std::size_t>& chosen) {
    constexpr std::string_view replaced[] = {"--commands", "--only", "--shard", "--quiet"};
    std::string rest, jobs = " --jobs 1";
    const auto add = [&](const std::string& word) { rest += " " + shell_word(word); };
    for (const std::string& input : args.inputs) add(input);
    for (const CLI::Option* option : command.get_options()) {
        const std::string name = option->get_name();
        if (option->count() == 0 || option->get_positional() ||
            std::find(std::begin(replaced), std::end(replaced), name) != std::end(replaced))
            continue;
        if (name == "--jobs") jobs.clear();
        if (option->get_expected_max() == 0)
            add(name);
        else
            for (const std::string& value : option->results()) add(name), add(value);
    }
    if (!args.options.empty()) {
        add("--");
        for (const std::string& word : args.options) add(word);
    }
    for (const std::size_t k : chosen) fmt::print("sinew batch --only {}{} --quiet{}\n", k + 1, jobs, rest);
}

}  // namespace sinew::cli
