// sinew batch: binds many characters, each in a process of its own.

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>
#include <list>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "batch_items.h"
#include "batch_page.h"
#include "batch_results.h"
#include "child.h"
#include "command.h"
#include "core/numbers.h"
#include "core/try.h"
#include "io/json.h"
#include "report/check_report.h"
#include "report/report.h"
#include "sinew/content.h"
#include "sinew/io.h"

namespace sinew::cli {
namespace {

namespace fs = std::filesystem;

struct BatchArguments {
    std::vector<std::string> inputs, options, gates;
    std::string folder, results, shard, only, html, give_up, check;
    int jobs = 0, threads = 0;
    std::size_t thumbnails = 0;
    double timeout = 600;
    std::int64_t memory_mb = 0;
    bool commands = false, retry = false, quiet = false, sheets = false;
};

constexpr std::string_view kDefaultCheck = "default";  // of --check: no engine's limits
constexpr std::size_t kMostNamed = 10;                 // failures that the summary names

struct Counts {
    std::size_t skipped = 0, bad_before = 0;  // of those that are skipped
    std::array<std::size_t, kOutcomes.size()> of{};

    std::size_t bad() const { return sum() - of[0]; }
    std::size_t sum() const {
        std::size_t all = 0;
        for (const std::size_t n : of) all += n;
        return all;
    }
};

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

/// Physical memory in MB.
std::int64_t memory_of_machine() {
    return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE) >> 20;
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
        : args_(args), items_(std::move(items)), outputs_(std::move(outputs)), results_(args.results) {
        jobs_ = args.jobs > 0 ? args.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
        threads_ = args.threads > 0 ? args.threads
                                    : std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / jobs_);
        memory_ = args.memory_mb > 0 ? args.memory_mb : memory_of_machine() * 3 / 4;
        for (const BatchItem& item : items_) {
            waiting_.push_back({&item, false});
            effort_of_.push_back(expected_effort(item));
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
        begin_ = std::chrono::steady_clock::now();
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
            show();
        }
        clear_line();
        if (context.cancel) {
            for (Work& work : busy_)
                if (work.child) work.child->stop();
            for (const Work& work : busy_) drop_previous(work);
            busy_.clear();
            fmt::print(stderr, "sinew: stopped; {} characters are done or failed, run it again for the rest\n",
                       counts_.sum() + counts_.skipped);
            return exit_code(ErrorCode::cancelled);
        }
        if (!args_.html.empty()) {
            std::vector<BatchPicture> pictures = worst_of(page_, args_.thumbnails);
            draw(pictures);
            const std::string page = make_batch_page(page_, pictures, seconds_since(begin_));
            SINEW_TRY(io::write_file(args_.html, std::as_bytes(std::span(page))));
        }
        print_summary();
        return bad_ == 0 ? done : gate_failed;
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
            ++counts_.skipped;
            effort_skipped_ += effort(item);
            if (!args_.html.empty()) {
                page_.push_back(*before);
                page_.back().erase("changed");  // that was an earlier run
            }
            if (before->value("outcome", "") != kOutcomes[0]) {
                ++bad_;
                ++counts_.bad_before;
                add_failure(*before);
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
        ++counts_.of[static_cast<std::size_t>(work.outcome)];
        effort_made_ += effort(*work.item);
        bad_ += work.outcome != Outcome::done;
        if (!args_.html.empty()) page_.push_back(work.line);
        if (work.outcome != Outcome::done) add_failure(work.line);
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

    bool is_shown() const { return !args_.quiet && ::isatty(STDERR_FILENO); }

    void show() {
        if (!is_shown()) return;
        const double seconds = seconds_since(begin_);
        if (seconds - shown_at_ < 0.2) return;
        shown_at_ = seconds;
        std::string text = fmt::format("{}/{}", counts_.sum() + counts_.skipped, items_.size());
        if (counts_.sum() > 0) {
            double left = -effort_made_ - effort_skipped_;
            for (const double one : effort_of_) left += one;
            text += fmt::format(", {:.2f} a second, {:.0f} s left", static_cast<double>(counts_.sum()) / seconds,
                                left / effort_made_ * seconds);
        }
        if (counts_.bad() > 0) text += fmt::format(", {} not done", counts_.bad());
        fmt::print(stderr, "\r\033[K  {}", text);
        std::fflush(stderr);
    }
    void clear_line() const {
        if (is_shown()) fmt::print(stderr, "\r\033[K");
    }

    void add_failure(const OrderedJson& line) {
        if (failures_.size() < kMostNamed)
            failures_.push_back(printable(line.value("input", ""), 300) + ": " + line.value("outcome", "") + ": " +
                                line.value("message", "no message"));
    }

    /// Also with --quiet: a job of a queue manager must say why it failed.
    void print_failures() const {
        for (const std::string& failure : failures_) fmt::print(stderr, "sinew: {}\n", failure);
        if (bad_ > failures_.size())
            fmt::print(stderr, "sinew: and {} more (in {})\n", bad_ - failures_.size(), args_.results);
    }

    void print_summary() const {
        print_failures();
        if (args_.quiet) return;
        const double seconds = seconds_since(begin_);
        fmt::print("{} character{} in {:.1f} s\n", items_.size(), items_.size() == 1 ? "" : "s", seconds);
        for (std::size_t k = 0; k < kOutcomes.size(); ++k)
            if (counts_.of[k] > 0) fmt::print("  {:<12} {}\n", kOutcomes[k], counts_.of[k]);
        if (counts_.skipped > 0)
            fmt::print("  {:<12} {} ({})\n", "skipped", counts_.skipped,
                       counts_.bad_before == 0
                           ? "finished before"
                           : fmt::format("{} of them failed before; --retry tries again", counts_.bad_before));
        fmt::print("  results      {}\n", args_.results);
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
    std::vector<double> effort_of_;                // per item
    double effort_made_ = 0, effort_skipped_ = 0;  // of the items that are finished
    std::list<Work> busy_;
    Counts counts_;
    std::vector<OrderedJson> page_;  // a line for each character, for --html
    std::size_t bad_ = 0;
    std::vector<std::string> failures_;  // the first kMostNamed, for people
    std::chrono::steady_clock::time_point begin_;
    double shown_at_ = 0;
};

/// One command for each of these items, for queue managers. Each works on the item of that number alone, with the
/// other options of the batch.
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

/// The files that words of a command name.
struct WordFiles {
    std::vector<NamedFile> reads, writes;
};

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

/// The output is no option after --.
Status check_output_words(const BatchArguments& args) {
    for (const std::string& word : args.options)
        if (const std::string name = word.substr(0, word.find('=')); name == "--output" || name.starts_with("-o"))
            return Error{ErrorCode::usage,
                         "after --: " + name + " is an option of the batch: give it before --, and a folder"};
    return Done{};
}

/// Options after -- that name a file to write: each character would write it.
Status check_shared_files(const WordFiles& shared, std::size_t count) {
    if (count <= 1 || shared.writes.empty()) return Done{};
    return Error{ErrorCode::usage, "after --: " + shared.writes[0].role +
                                       " would name one file for all characters (give each its own in the "
                                       "\"options\" of a manifest)"};
}

/// Reads options and gates of all items, before any work: a misspelled one would fail every character. Sets the
/// files that the items read and write, without those that all would write, which it returns.
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
    Result<std::vector<std::size_t>> chosen = std::vector<std::size_t>(items.size());
    std::iota(chosen->begin(), chosen->end(), std::size_t{0});
    if (!args.only.empty()) chosen = only_these(*chosen, args.only);
    if (chosen && !args.shard.empty()) chosen = share_of(*chosen, args.shard);
    if (!chosen) return chosen.error();
    SINEW_TRY(check_shared_files(shared, chosen->size()));
    if (args.commands) {
        print_commands(command, args, *chosen);
        return done;
    }
    std::vector<BatchItem> own;
    std::set<std::string> places;
    for (const BatchItem& item : items) places.insert(item.output);
    for (const std::size_t k : *chosen) {
        own.push_back(items[k]);
        own.back().writes.insert(own.back().writes.end(), shared.writes.begin(), shared.writes.end());
    }
    std::error_code failed;
    fs::create_directories(args.folder, failed);
    if (failed) return Error{ErrorCode::io, args.folder + " cannot be made: " + failed.message()};
    SINEW_TRY(check_files(outputs, {}));
    return Batch(args, std::move(own), std::move(places)).run();
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
    c->add_option(
         "--memory", args->memory_mb,
         "MB for all together; 0 = three quarters of the machine. Each gets an equal part; what needs more "
         "runs alone at the end")
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
