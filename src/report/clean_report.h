// The report of `sinew clean` (docs/clean.md).
#pragma once

#include <vector>

#include "io/json.h"
#include "sinew/io.h"
#include "sinew/quality.h"
#include "sinew/skin_check.h"

namespace sinew {

/// What was found and done.
OrderedJson cleaned_json(const SkinCleanReport& cleaned);

struct CleanRun {
    std::string input, weights_from, output;
    SkinCleanOptions options;
    SkinCleanReport cleaned;
    std::vector<Bleed> bleed;  ///< before and after
    const io::Scene* scene = nullptr;
    std::vector<std::string> warnings, notes;
};
OrderedJson make_clean_report(const CleanRun& run);

}  // namespace sinew
