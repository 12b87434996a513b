// The page of `sinew batch --html`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sinew::cli {

/// One self-contained page over lines of results: counts, causes of failures, and a table that can be searched and
/// sorted. The rows are data; a script shows the first 200 that match, so that 10,000 open at once.
std::string make_batch_page(const std::vector<nlohmann::ordered_json>& lines, double seconds);

}  // namespace sinew::cli
