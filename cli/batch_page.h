// The page of `sinew batch --html`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/json.h"

namespace sinew::cli {

/// A character that is among the worst of a measure.
struct BatchPicture {
    std::string measure;           ///< "L1 to the reference 0.31"
    std::string input, output;     ///< files
    std::vector<std::byte> png;    ///< empty: not drawn
    std::vector<std::byte> sheet;  ///< all standard poses; empty: not drawn
};

/// The characters that are done and the worst by each measure: L1 to the reference, change since the last run,
/// coverage, seconds; at most `most` for each, without pictures.
std::vector<BatchPicture> worst_of(const std::vector<OrderedJson>& lines, std::size_t count);

/// One self-contained page over lines of results: counts, causes of failures, pictures, and a table that can be
/// searched and sorted. The rows are data; a script shows the first 200 that match, so that 10,000 open at once.
std::string make_batch_page(const std::vector<OrderedJson>& lines, const std::vector<BatchPicture>& pictures,
                            double seconds);

}  // namespace sinew::cli
