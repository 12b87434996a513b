// What a comparison says in every interface, for the command line and the C interface: its numbers as JSON, its
// measures as rows of a table, and gates: limits that it must keep.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "sinew/quality.h"

namespace sinew {

/// The keys "l1" to "deformation" of docs/compare-report.md. `bleed`: whether it was measured.
OrderedJson comparison_json(const Comparison& comparison, bool bleed);

/// A measure of both sides.
struct MeasureRow {
    const char* what;  ///< "Dirichlet energy"
    double a, b;
    int digits;        ///< decimals that are shown
    std::string note;  ///< more about it; mostly empty
};
std::vector<MeasureRow> measure_rows(const Comparison& comparison, bool bleed);

/// Limits on the other weights, in the units of docs/compare-report.md.
struct CompareGates {
    std::optional<double> max_l1, max_distance, min_agreement;
    std::optional<std::size_t> max_unweighted;
};

/// Gates as JSON, by the options of the command: {"max-l1": 0.01, "max-unweighted": 0}. `name` begins errors.
Result<CompareGates> parse_gates(std::string_view json, const std::string& name);

/// A gate, and the measured value.
struct GateResult {
    std::string option;  ///< "max-l1"
    double limit = 0, value = 0;
    bool passed = true;
};
/// The gates that are set.
std::vector<GateResult> check_gates(const CompareGates& gates, const Comparison& comparison);

/// The key "gates" of docs/compare-report.md.
OrderedJson gates_json(const std::vector<GateResult>& results);

}  // namespace sinew
