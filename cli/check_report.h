// The result of `sinew check` as JSON, as SARIF, and as a page.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compare_report.h"
#include "sinew/io.h"
#include "sinew/skin_check.h"

namespace sinew::cli {

struct CheckRun {
    std::string input, profile;  ///< as given
    const io::Scene* scene = nullptr;
    const SkinWeights* weights = nullptr;  ///< that were checked: the fixed ones after --fix
    std::vector<SkinFinding> findings;
    std::optional<SkinFixReport> fixed;
    bool passed = false;

    /// Alarms of a level.
    std::size_t count(SkinRuleLevel level) const;
};

/// The keys are documented in docs/check.md.
nlohmann::ordered_json make_check_report(const CheckRun& run);

/// A SARIF 2.1.0 log (OASIS 2020): a rule for each row of the table, a result for each alarm.
nlohmann::ordered_json make_check_sarif(const CheckRun& run);

/// One self-contained page: a table, and pictures of the alarms with a value per vertex, where OpenGL is available.
std::string make_check_page(const CheckRun& run, Context& context);

}  // namespace sinew::cli
