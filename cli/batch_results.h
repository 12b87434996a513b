// The results file of a batch, and who works on which character. Several batches, also on several machines with one
// file system, may share both.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "sinew/core.h"

namespace sinew::cli {

/// How the work on a character ended. Every line of the results has one of these words.
enum class Outcome { done, gate, failed, memory, late, crashed };
inline constexpr std::array<std::string_view, 6> kOutcomes{"done",   "gate failed", "failed",
                                                           "memory", "timeout",     "crashed"};

/// The files beside the output that a line says it refers to.
std::vector<std::string> files_in(const OrderedJson& line);

/// A file that belongs to one batch as long as it is open: two batches do not bind the same character at a time.
/// The system releases it when its process ends.
class BatchClaim {
public:
    explicit BatchClaim(const std::string& path);
    BatchClaim(const BatchClaim&) = delete;
    ~BatchClaim();
    bool opened() const { return file_ >= 0; }
    /// False while another batch holds it.
    bool held() const { return held_; }

private:
    std::string path_;
    int file_ = -1;
    bool held_ = false;
};

/// The folder of the claims, which all batches of one output folder share. It is there as long as one of them runs:
/// the last one removes it.
class BatchFolder {
public:
    BatchFolder() = default;
    BatchFolder(const BatchFolder&) = delete;
    ~BatchFolder();
    Status enter(const std::string& path);

private:
    std::string path_, in_use_;
    int file_ = -1;
};

/// The lines of a results file, by "key". Each line is one write to its end, so that several batches can write at
/// once.
class BatchResults {
public:
    explicit BatchResults(std::string path) : path_(std::move(path)) {}

    /// Reads lines that were added since the last call. Incomplete and foreign lines are skipped.
    Status refresh();
    /// The last line of a key that was read; null: there is none.
    const OrderedJson* of(const std::string& key) const;
    /// Outputs whose lines say that they refer to this file.
    std::set<std::string> that_refer_to(const std::string& file) const;
    /// A half line of a batch that was killed, or of a full disk, is not continued.
    Status add(const OrderedJson& line);

private:
    std::string path_;
    std::size_t read_ = 0;  // bytes
    std::map<std::string, OrderedJson> last_;
};

}  // namespace sinew::cli
