#include "batch_progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <numeric>

namespace sinew::cli {
namespace {

constexpr std::size_t kMostNamed = 10;  // failures that the summary names

}  // namespace

void BatchProgress::skip(const OrderedJson& before, double effort) {
    ++skipped_;
    effort_left_ -= effort;
    if (before.value("outcome", "") == kOutcomes[0]) return;
    ++bad_;
    ++bad_before_;
    add_failure(before);
}

void BatchProgress::add(const OrderedJson& line, Outcome outcome, double effort) {
    ++of_[static_cast<std::size_t>(outcome)];
    effort_left_ -= effort;
    effort_made_ += effort;
    if (outcome == Outcome::done) return;
    ++bad_;
    add_failure(line);
}

bool BatchProgress::is_shown() const { return !quiet_ && ::isatty(STDERR_FILENO); }

std::size_t BatchProgress::ended() const { return std::accumulate(of_.begin(), of_.end(), std::size_t{0}); }

void BatchProgress::add_failure(const OrderedJson& line) {
    if (failures_.size() < kMostNamed)
        failures_.push_back(printable(line.value("input", ""), 300) + ": " + line.value("outcome", "") + ": " +
                            line.value("message", "no message"));
}

void BatchProgress::show() {
    if (!is_shown() || seconds() - shown_at_ < 0.2) return;
    const double now = shown_at_ = seconds();
    std::string text = fmt::format("{}/{}", finished(), items_);
    if (ended() > 0)
        text += fmt::format(", {:.2f} a second, {:.0f} s left", static_cast<double>(ended()) / now,
                            effort_left_ / effort_made_ * now);
    if (ended() > of_[0]) text += fmt::format(", {} not done", ended() - of_[0]);
    fmt::print(stderr, "\r\033[K  {}", text);
    std::fflush(stderr);
}

void BatchProgress::clear() const {
    if (is_shown()) fmt::print(stderr, "\r\033[K");
}

void BatchProgress::print_summary() const {
    for (const std::string& failure : failures_) fmt::print(stderr, "sinew: {}\n", failure);
    if (bad_ > failures_.size())
        fmt::print(stderr, "sinew: and {} more (in {})\n", bad_ - failures_.size(), results_);
    if (quiet_) return;
    fmt::print("{} character{} in {:.1f} s\n", items_, items_ == 1 ? "" : "s", seconds());
    for (std::size_t k = 0; k < kOutcomes.size(); ++k)
        if (of_[k] > 0) fmt::print("  {:<12} {}\n", kOutcomes[k], of_[k]);
    if (skipped_ > 0)
        fmt::print("  {:<12} {} ({})\n", "skipped", skipped_,
                   bad_before_ == 0 ? "finished before"
                                    : fmt::format("{} of them failed before; --retry tries again", bad_before_));
    fmt::print("  results      {}\n", results_);
}

}  // namespace sinew::cli
