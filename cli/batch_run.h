// The processes of a batch: one for each character, several at a time.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "batch_items.h"
#include "sinew/core.h"

namespace sinew::cli {

/// The options of sinew batch.
struct BatchArguments {
    std::vector<std::string> inputs, options, gates;
    std::string folder, results, shard, only, html, give_up, check;
    int jobs = 0, threads = 0;
    std::size_t thumbnails = 0;
    double timeout = 600;
    std::int64_t memory_mb = 0;
    bool commands = false, retry = false, quiet = false, sheets = false;
};

inline constexpr std::string_view kDefaultCheck = "default";  // of --check: no engine's limits

/// Binds, compares and checks the items; returns the exit code. `outputs`: of the whole list, also of characters
/// that other machines bind.
Result<int> run_items(const BatchArguments& args, std::vector<BatchItem> items, std::set<std::string> outputs);

}  // namespace sinew::cli
