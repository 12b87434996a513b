// What a batch tells people: a line while it runs, and a summary.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "batch_results.h"
#include "command.h"
#include "io/json.h"

namespace sinew::cli {

class BatchProgress {
public:
    /// `results`: the file that has all lines, for messages.
    BatchProgress(std::size_t items, bool quiet, std::string results)
        : items_(items), quiet_(quiet), results_(std::move(results)) {}

    /// The expected effort of one more character, in any unit.
    void expect(double effort) { effort_left_ += effort; }
    void begin() { begin_ = std::chrono::steady_clock::now(); }
    /// A character that an earlier run has finished, and its line.
    void skip(const OrderedJson& before, double effort);
    void add(const OrderedJson& line, Outcome outcome, double effort);

    double seconds() const { return seconds_since(begin_); }
    std::size_t finished() const { return ended() + skipped_; }
    /// Of all that are finished, those that are not done.
    std::size_t bad() const { return bad_; }

    /// The line; nothing where errors are no terminal.
    void show();
    void clear() const;
    /// Failures are printed with --quiet, too: a job of a queue manager must say why it failed.
    void print_summary() const;

private:
    bool is_shown() const;
    std::size_t ended() const;
    void add_failure(const OrderedJson& line);

    std::size_t items_;
    bool quiet_;
    std::string results_;
    std::array<std::size_t, kOutcomes.size()> of_{};
    std::size_t skipped_ = 0, bad_before_ = 0;  // of those that are skipped
    std::size_t bad_ = 0;
    std::vector<std::string> failures_;  // the first ones
    double effort_left_ = 0, effort_made_ = 0;
    std::chrono::steady_clock::time_point begin_;
    double shown_at_ = 0;
};

}  // namespace sinew::cli
