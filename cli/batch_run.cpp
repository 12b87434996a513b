#include "batch_run.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>
#include <list>
#include <map>

#include "batch_page.h"
#include "batch_progress.h"
#include "batch_results.h"
#include "child.h"
#include "command.h"
#include "core/machine.h"
#include "core/try.h"
#include "io/json.h"
#include "report/check_report.h"
#include "report/report.h"
#include "sinew/content.h"
#include "sinew/io.h"

namespace sinew::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
        end = std::min(text.find('\n', at), text.size());
        if (end > at) lines.push_back(text.substr(at, end - at));
    }
    return lines;
}

/// A line that a process wrote to its errors, without the program's name.
std::string plain_message(std::string_view line) {
    for (const std::string_view prefix : {"sinew: error: ", "sinew: "})
        if (line.starts_with(prefix)) return printable(line.substr(prefix.size()), 1000);
    return printable(line, 1000);
}

/// The last line of sinew; if none is of sinew, the first.
std::string last_message(const std::string& text) {
    std::string last;
    for (std::string& line : lines_of(text))
        if (last.empty() || line.find("sinew") != std::string::npos) last = std::move(line);
    return plain_message(last);
}

/// All lines of sinew, joined: one for each gate that failed.
std::string gate_messages(const std::string& text) {
    std::string all;
    for (const std::string& line : lines_of(text))
        if (line.starts_with("sinew: ")) all += (all.empty() ? "" : "; ") + plain_message(line);
    return all;
}

/// What the process of a character does, in this order.
enum class Stage { bind, against_previous, against_reference, check };

/// One character in work: first its bind, then the comparisons with what was there before and with its reference,
/// then the check of its skin.
struct Work {
    const BatchItem* item;
    std::string key;
    std::unique_ptr<BatchClaim> claim;
    std::unique_ptr<Child> child;
    bool alone = false;  // with all the memory
    OrderedJson line;
    Outcome outcome = Outcome::done;
    Stage stage = Stage::bind;
    std::string previous =
        {};  // folder with links to the output of an earlier run, which bind replaces; empty: none
};

class Batch {
public:
    /// `outputs`: of the whole list, also of characters that other machines bind.
    Batch(const BatchArguments& args, std::vector<BatchItem> items, std::set<std::string> outputs)
        : args_(args),
          items_(std::move(items)),
          outputs_(std::move(outputs)),
          results_(args.results),
          progress_(items_.size(), args.quiet, args.results) {
        jobs_ = args.jobs > 0 ? args.jobs : usable_processors();
        threads_ = args.threads > 0 ? args.threads : std::max(1, usable_processors() / jobs_);
        memory_ = args.memory_mb > 0 ? args.memory_mb : static_cast<std::int64_t>(usable_memory() * 0.75) >> 20;
        for (const BatchItem& item : items_) {
            waiting_.push_back({&item, false});
            effort_of_.push_back(expected_effort(item));
            progress_.expect(effort_of_.back());
        }
        // The largest first: then the last processes end at about the same time.
        std::stable_sort(waiting_.begin(), waiting_.end(),
                         [&](const Waiting& a, const Waiting& b) { return effort(*a.item) > effort(*b.item); });
    }

    Result<int> run() {
        Context context;
        Progress progress(context, true);  // the first signal only sets `cancel`
        SINEW_TRY(folder_.enter(locks()));
        SINEW_TRY(results_.refresh());
        progress_.begin();
        while (!context.cancel && (!waiting_.empty() || !busy_.empty() || !large_.empty())) {
            SINEW_TRY(start_some());
            wait_for_output();
            for (auto at = busy_.begin(); at != busy_.end();) {
                if (!at->child->step()) {
                    ++at;
                    continue;
                }
                SINEW_TRY(finish(*at));
                at = at->child ? std::next(at) : busy_.erase(at);
            }
            progress_.show();
        }
        progress_.clear();
        if (context.cancel) {
            for (Work& work : busy_)
                if (work.child) work.child->stop();
            for (const Work& work : busy_) drop_previous(work);
            busy_.clear();
            fmt::print(stderr, "sinew: stopped; {} characters are done or failed, run it again for the rest\n",
                       progress_.finished());
            return exit_code(ErrorCode::cancelled);
        }
        if (!args_.html.empty()) {
            std::vector<BatchPicture> pictures = worst_of(page_, args_.thumbnails);
            draw(pictures);
            const std::string page = make_batch_page(page_, pictures, progress_.seconds());
            SINEW_TRY(io::write_file(args_.html, std::as_bytes(std::span(page))));
        }
        progress_.print_summary();
        return progress_.bad() == 0 ? done : gate_failed;
    }

private:
    struct Waiting {
        const BatchItem* item;
        bool alone;
    };

    /// In bytes of the input, of which every process costs some.
    static double expected_effort(const BatchItem& item) {
        std::error_code failed;
        const std::uintmax_t size = fs::file_size(item.input, failed);
        return 1e5 + (failed ? 0 : static_cast<double>(size));
    }
    double effort(const BatchItem& item) const {
        return effort_of_[static_cast<std::size_t>(&item - items_.data())];
    }

    std::string locks() const { return (fs::path(args_.folder) / ".sinew-batch").string(); }

    /// The profile by which an item is checked; empty: it is not.
    const std::string& check_of(const BatchItem& item) const {
        return item.check.empty() ? args_.check : item.check;
    }

    /// What follows links in one command of an item does so in all.
    bool follows_links(const BatchItem* item) const {
        const auto has = [](const std::vector<std::string>& words) {
            return std::find(words.begin(), words.end(), "--follow-links") != words.end();
        };
        return has(args_.options) || (item && (has(item->options) || has(item->gates)));
    }

    /// Words that decide the result, and everything that is read.
    Result<std::string> key_of(const BatchItem& item) const {
        std::string words = std::string("sinew ") + SINEW_VERSION;
        for (const auto* list : {&args_.options, &item.options, &args_.gates, &item.gates})
            for (const std::string& word : *list) words += '\0' + word;
        words += '\0' + item.output;
        if (const std::string& check = check_of(item); !check.empty()) words += std::string("\0check", 6) + check;
        std::vector<io::KeyFile> files;
        for (const auto& [role, path] : item.reads) files.push_back({role, path});
        Context context;
        context.memory_limit = static_cast<std::size_t>(memory_) << 20;
        return io::key_of_files(files, words, &context);
    }

    Status start_some() {
        // A character that needs all the memory runs alone, after the others.
        if (waiting_.empty() && busy_.empty() && !large_.empty()) {
            waiting_.push_back({large_.front(), true});
            large_.pop_front();
        }
        std::size_t looked = waiting_.size();
        while (static_cast<int>(busy_.size()) < jobs_ && looked-- > 0) {
            const Waiting next = waiting_.front();
            waiting_.pop_front();
            SINEW_TRY(begin(next));
        }
        return Done{};
    }

    Status begin(const Waiting& next) {
        const BatchItem& item = *next.item;
        Work work{.item = &item, .key = {}, .claim = {}, .child = {}, .alone = next.alone, .line = {}};
        work.line = {{"key", nullptr}, {"input", item.input}, {"output", item.output}, {"sinew", SINEW_VERSION}};
        Result<std::string> key = key_of(item);
        if (!key) {
            work.line["message"] = shown(key.error().message, 1000);
            work.outcome = Outcome::failed;
            return close(work);
        }
        work.line["key"] = work.key = *key;
        if (!args_.give_up.empty()) {
            work.line["message"] = printable(args_.give_up, 1000);
            work.outcome = Outcome::crashed;
            return close(work);
        }
        std::error_code failed;
        work.claim = std::make_unique<BatchClaim>((fs::path(locks()) / (*key + ".lock")).string());
        if (!work.claim->opened())
            return Error{ErrorCode::io, locks() + " cannot be written: " + std::generic_category().message(errno) +
                                            " (another folder for the results?)"};
        if (!work.claim->held()) {  // another batch binds it
            waiting_.push_back(next);
            return Done{};
        }
        SINEW_TRY(results_.refresh());
        if (const OrderedJson* before = results_.of(*key); before && is_valid(*before, item)) {
            progress_.skip(*before, effort(item));
            if (!args_.html.empty()) {
                page_.push_back(*before);
                page_.back().erase("changed");  // that was an earlier run
            }
            return Done{};
        }
        if (const fs::path at = fs::path(item.output).parent_path(); !at.empty())
            fs::create_directories(at, failed);
        keep_previous(work);
        make_room(item);
        std::vector<std::string> words = item.bind_words();
        words.insert(words.end(), args_.options.begin(), args_.options.end());
        const std::int64_t share = next.alone ? memory_ : memory_ / jobs_;
        const auto add_default = [&](const char* word, const std::string& value) {
            if (std::find(words.begin(), words.end(), word) == words.end())
                words.insert(words.end(), {word, value});
        };
        if (follows_links(&item) && std::find(words.begin(), words.end(), "--follow-links") == words.end())
            words.push_back("--follow-links");
        add_default("--threads", std::to_string(next.alone ? 0 : threads_));
        add_default("--memory-limit", std::to_string(share));
        words.push_back("--json");
        return launch(std::move(work), words);
    }

    /// Whether a line of an earlier run still holds: everything that it wrote is there, or it failed and --retry is
    /// not given.
    bool is_valid(const OrderedJson& line, const BatchItem& item) const {
        const auto is_there = [](const std::string& path) {
            std::error_code ignored;
            return fs::exists(path, ignored);
        };
        const std::string outcome = line.value("outcome", "");
        if (outcome != kOutcomes[0] && outcome != kOutcomes[1]) return !args_.retry;
        const std::vector<std::string> files = files_in(line);
        return std::all_of(files.begin(), files.end(), is_there) &&
               std::all_of(item.writes.begin(), item.writes.end(),
                           [&](const NamedFile& file) { return is_there(file.path); });
    }

    /// The files that a result refers to, beside it.
    static std::vector<std::string> companions_of(const std::string& model, const std::string& output) {
        std::vector<std::string> out;
        if (io::extension_of(output) != ".gltf") return out;
        if (const auto files = io::files_beside(model))
            for (const io::ReferencedFile& file : *files)
                out.push_back((fs::path(output).parent_path() / file.name).lexically_normal().string());
        return out;
    }

    /// What this result brings along may be there from an earlier run, with another content, and bind does not
    /// replace it. If only results of this batch refer to it, their input has changed, too, and all are bound
    /// again: it goes, with them.
    void make_room(const BatchItem& item) const {
        const std::vector<std::string> there = companions_of(item.input, item.output);
        const auto from =
            there.empty() ? Result<std::vector<io::ReferencedFile>>(Error{}) : io::files_beside(item.input);
        std::error_code ignored;
        for (std::size_t k = 0; from && k < std::min(there.size(), from->size()); ++k) {
            const Result<bool> same = io::same_bytes((*from)[k].path, there[k]);
            if (!same || *same) continue;
            const std::set<std::string> users = results_.that_refer_to(there[k]);
            if (users.empty() || !std::includes(outputs_.begin(), outputs_.end(), users.begin(), users.end()))
                continue;
            for (const std::string& user : users) fs::remove(user, ignored);
            fs::remove(there[k], ignored);
        }
    }

    Status launch(Work work, const std::vector<std::string>& words) {
        Result<Child> child = Child::start(words, args_.timeout);
        if (!child) {
            work.line["message"] = child.error().message;
            work.outcome = Outcome::failed;
            return close(work);
        }
        work.child = std::make_unique<Child>(std::move(*child));
        busy_.push_back(std::move(work));
        return Done{};
    }

    /// With --html: keeps the output of an earlier run, with the files that a .gltf refers to, for a comparison.
    /// Links suffice, since bind writes other files.
    void keep_previous(Work& work) const {
        std::error_code failed;
        const fs::path output = work.item->output;
        if (args_.html.empty() || !fs::exists(output, failed)) return;
        auto files = io::files_beside(output);
        if (!files) return;
        files->push_back({output, output.filename()});
        work.previous = (fs::path(locks()) / (work.key + ".before")).string();
        drop_previous(work);  // of a batch that was killed
        for (const auto& [file, name] : *files) {
            const fs::path link = work.previous / name;
            fs::create_directories(link.parent_path(), failed);
            fs::create_hard_link(file, link, failed);
        }
        if (!failed) return;  // the output itself is the last
        drop_previous(work);
        work.previous.clear();
    }

    /// The process of this work has ended. Starts the next one, or writes the line and leaves `child` empty.
    Status finish(Work& work) {
        const ChildResult result = work.child->result();
        work.child.reset();
        const auto report = OrderedJson::parse(result.out, nullptr, false);
        OrderedJson& line = work.line;
        if (work.stage == Stage::against_previous) {
            if (report.is_object()) line["changed"] = report["l1"]["mean"];
        } else if (work.stage == Stage::against_reference) {
            if (report.is_object())
                line["compare"] = {{"l1", report["l1"]["mean"]},
                                   {"strongest_agreement", report["strongest_agreement"]}};
            conclude(work, result);
            if (work.outcome == Outcome::failed)
                line["message"] =
                    "no comparison with the reference: " +
                    with_words(with_words(line.value("message", ""), work.item->reference, "the reference"),
                               work.item->output, "the result");
        } else if (work.stage == Stage::check) {
            conclude_check(work, result, report);
        } else {
            line["seconds"] = result.seconds;
            line["peak_memory_bytes"] = result.peak_memory;
            if (report.is_object() && report.contains("coverage")) {
                line["vertices"] = report["counts"]["vertices"];
                line["coverage"] = report["coverage"]["share"];
                line["warnings"] = report["warnings"];
            }
            // Not enough memory beside others: again, alone.
            if (!work.alone && jobs_ > 1 && result.exit == bad_input && is_memory(result.err)) {
                large_.push_back(work.item);
                drop_previous(work);
                return Done{};
            }
            conclude(work, result);
        }
        const bool bound = work.outcome == Outcome::done || work.outcome == Outcome::gate;
        if (work.stage == Stage::bind && bound && !work.previous.empty())
            return compare(work, Stage::against_previous,
                           (fs::path(work.previous) / fs::path(work.item->output).filename()).string(),
                           {"--no-standard-poses", "--no-bleed"});
        if (work.stage < Stage::against_reference && work.outcome == Outcome::done &&
            !work.item->reference.empty()) {
            std::vector<std::string> gates = args_.gates;
            gates.insert(gates.end(), work.item->gates.begin(), work.item->gates.end());
            return compare(work, Stage::against_reference, work.item->reference, gates);
        }
        if (const std::string& profile = check_of(*work.item);
            work.stage < Stage::check && bound && !profile.empty()) {
            std::vector<std::string> words{"check", work.item->output, "--json", "--threads",
                                           std::to_string(threads_)};
            if (profile != kDefaultCheck) words.insert(words.end(), {"--profile", profile});
            return next_stage(work, Stage::check, words);
        }
        return close(work);
    }

    /// Each picture by a process of its own, `jobs` at a time. One that fails stays empty.
    void draw(std::vector<BatchPicture>& pictures) const {
        struct Drawn {
            std::vector<std::byte> view, sheet;
        };
        struct Drawing {
            std::string output;
            std::vector<std::byte> Drawn::*to;
            std::vector<std::string> words;
            std::string file = {};
            std::unique_ptr<Child> child = {};
        };
        std::map<std::string, Drawn> of_output;
        for (const BatchPicture& picture : pictures) of_output[picture.output];
        std::deque<Drawing> waiting;
        for (const auto& [output, drawn] : of_output) {
            waiting.push_back({output, &Drawn::view, {"--size", "240x240", "--from", "three-quarter"}});
            if (args_.sheets) waiting.push_back({output, &Drawn::sheet, {"--size", "1600x1200", "--sheet"}});
        }
        std::list<Drawing> busy;
        std::error_code ignored;
        std::size_t number = 0;
        while (!waiting.empty() || !busy.empty()) {
            if (!waiting.empty() && static_cast<int>(busy.size()) < jobs_) {
                Drawing next = std::move(waiting.front());
                waiting.pop_front();
                next.file = (fs::path(locks()) / fmt::format("{}-{}.png", ::getpid(), number++)).string();
                std::vector<std::string> words{"render",      next.output, "-o",        next.file,
                                               "--no-legend", "--quiet",   "--threads", std::to_string(threads_)};
                words.insert(words.end(), next.words.begin(), next.words.end());
                if (follows_links(nullptr)) words.push_back("--follow-links");
                Result<Child> child = Child::start(words, args_.timeout);
                if (!child) continue;
                next.child = std::make_unique<Child>(std::move(*child));
                busy.push_back(std::move(next));
                continue;
            }
            ::usleep(5000);
            busy.remove_if([&](Drawing& drawing) {
                if (!drawing.child->step()) return false;
                if (Result<std::vector<std::byte>> png = io::read_file(drawing.file))
                    of_output[drawing.output].*drawing.to = std::move(*png);
                fs::remove(drawing.file, ignored);
                return true;
            });
        }
        for (BatchPicture& picture : pictures) {
            picture.png = of_output[picture.output].view;
            picture.sheet = of_output[picture.output].sheet;
        }
    }

    /// Replaces every mention of a file in a message.
    static std::string with_words(std::string text, const std::string& file, std::string_view words) {
        for (std::size_t at = 0; (at = text.find(file, at)) != std::string::npos; at += words.size())
            text.replace(at, file.size(), words);
        return text;
    }

    /// How the process ended, in the line.
    static void conclude(Work& work, const ChildResult& result) {
        work.line["exit"] = result.exit;
        if (result.signal != 0) work.line["signal"] = strsignal(result.signal);
        const std::string message =
            result.exit == gate_failed ? gate_messages(result.err) : last_message(result.err);
        if (!message.empty() && result.exit != done) work.line["message"] = message;
        work.outcome = result.late && result.exit != done                 ? Outcome::late
                       : result.exit == done                              ? Outcome::done
                       : result.exit == gate_failed                       ? Outcome::gate
                       : result.exit < 0 || result.exit == internal_error ? Outcome::crashed
                       : is_memory(result.err)                            ? Outcome::memory
                                                                          : Outcome::failed;
    }

    /// The same for the check of its skin: alarms of level error are a gate. A gate that failed before stays.
    static void conclude_check(Work& work, const ChildResult& result, const OrderedJson& report) {
        const bool failed_before = work.outcome == Outcome::gate;
        const std::string before = work.line.value("message", "");
        if (!failed_before || (result.exit != done && result.exit != gate_failed)) conclude(work, result);
        if (!report.is_object() || !report.contains("rules")) return;
        work.line["check"] = {{"errors", report["errors"]}, {"warnings", report["warnings"]}};
        if (result.exit != gate_failed) return;
        std::string alarms;
        for (const OrderedJson& rule : report["rules"])
            if (rule["alarm"] && rule["level"] == "error") {
                const std::string detail = rule["detail"];
                alarms += (alarms.empty() ? "" : ", ") + rule["rule"].get<std::string>() +
                          (detail.empty() ? "" : " (" + detail + ")");
            }
        work.outcome = Outcome::gate;
        work.line["message"] = (before.empty() ? "" : before + "; ") + "the check fails: " + alarms;
    }

    Status compare(Work& work, Stage stage, const std::string& reference, const std::vector<std::string>& more) {
        std::vector<std::string> words{"compare", reference, work.item->output, "--json", "--random-poses", "0"};
        words.insert(words.end(), more.begin(), more.end());
        return next_stage(work, stage, words);
    }

    Status next_stage(Work& work, Stage stage, std::vector<std::string> words) {
        work.stage = stage;
        if (follows_links(work.item)) words.push_back("--follow-links");
        SINEW_TRY_LET(Child child, Child::start(words, args_.timeout));
        work.child = std::make_unique<Child>(std::move(child));
        return Done{};
    }

    static void drop_previous(const Work& work) {
        std::error_code ignored;
        if (!work.previous.empty()) fs::remove_all(work.previous, ignored);
    }

    static bool is_memory(const std::string& message) {
        // Of the estimate, of files, and of the process that reads other formats.
        for (const char* words : {"limit of ", "reading it takes more than "})
            if (const std::size_t at = message.find(words); at != std::string::npos) {
                const std::size_t number = at + std::string_view(words).size();
                if (message.find(" MB", number) == message.find_first_not_of("0123456789", number)) return true;
            }
        return message.find("out of memory") != std::string::npos;
    }

    Status close(Work& work) {
        drop_previous(work);
        work.line["outcome"] = kOutcomes[static_cast<std::size_t>(work.outcome)];
        if (work.outcome == Outcome::done || work.outcome == Outcome::gate)
            if (const auto files = companions_of(work.item->output, work.item->output); !files.empty())
                work.line["files"] = files;
        progress_.add(work.line, work.outcome, effort(*work.item));
        if (!args_.html.empty()) page_.push_back(work.line);
        return results_.add(work.line);
    }

    void wait_for_output() const {
        if (busy_.empty() && waiting_.empty()) return;
        // Also wakes up for limits of time.
        int milliseconds = busy_.empty() && !waiting_.empty() ? 500 : 100;
        std::vector<pollfd> files;
        for (const Work& work : busy_) {
            const std::size_t others = files.size();
            for (const int file : work.child->files())
                if (file >= 0) files.push_back({file, POLLIN, 0});
            if (files.size() == others) milliseconds = 5;  // the system does not tell that it has ended
        }
        ::poll(files.data(), files.size(), milliseconds);
    }

    const BatchArguments& args_;
    std::vector<BatchItem> items_;
    std::set<std::string> outputs_;
    BatchFolder folder_;
    BatchResults results_;
    int jobs_ = 1, threads_ = 1;
    std::int64_t memory_ = 0;  // MB
    std::deque<Waiting> waiting_;
    std::deque<const BatchItem*> large_;
    std::vector<double> effort_of_;  // per item
    std::list<Work> busy_;
    BatchProgress progress_;
    std::vector<OrderedJson> page_;  // a line for each character, for --html
};

}  // namespace

Result<int> run_items(const BatchArguments& args, std::vector<BatchItem> items, std::set<std::string> outputs) {
    return Batch(args, std::move(items), std::move(outputs)).run();
}

}  // namespace sinew::cli
