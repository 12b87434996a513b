// A process of this program with limits, whose output is kept.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "sinew/core.h"

namespace sinew::cli {

/// How a process ended.
struct ChildResult {
    int exit = -1;      ///< of a process that ended by itself
    int signal = 0;     ///< that ended it
    bool late = false;  ///< it took longer than allowed and was ended
    double seconds = 0;
    std::size_t peak_memory = 0;  ///< bytes
    std::string out, err;         ///< at most kMostOutput bytes of each
};

/// Begins the arguments of such a process; then comes the number of the process that started it.
inline constexpr const char* kChildOf = "--child-of";

/// A process of this program that runs a command. It ends with this one.
///
/// It is ended in three steps, so that it removes its temporary files: by SIGTERM, which cancels its work; after
/// kGrace by SIGTERM again, which ends it wherever it is; and after kGrace more by SIGKILL.
class Child {
public:
    static constexpr std::size_t kMostOutput = 8 << 20;
    static constexpr double kGrace = 1;  ///< seconds

    /// Starts `sinew WORDS…` without standard input. `seconds`: of wall time, 0 = no limit.
    static Result<Child> start(const std::vector<std::string>& words, double seconds);
    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;
    /// Ends it, if it runs, and waits for that.
    ~Child();

    /// Descriptors to poll: its output, its errors, and its end; -1 when closed.
    std::array<int, 3> files() const { return {out_, err_, end_}; }

    /// Reads what is there, and ends a late process. Returns true when the process has ended; then `result` is
    /// final.
    bool step();
    /// Begins to end it. Before several are destroyed, so that they end at the same time.
    void stop();
    const ChildResult& result() const { return result_; }

private:
    Child() = default;

    void send(int signal) const;

    pid_t pid_ = -1;
    int steps_ = 0;  // of ending it, that were taken
    std::chrono::steady_clock::time_point stopped_;
    int out_ = -1, err_ = -1;
    int end_ = -1;  // readable when the process has ended; -1 where the system has no such descriptors
    double limit_ = 0;
    std::chrono::steady_clock::time_point begin_;
    ChildResult result_;
};

}  // namespace sinew::cli
