#include "report/compare_gates.h"

#include <algorithm>

namespace sinew {

using json = nlohmann::ordered_json;

Result<CompareGates> parse_gates(std::string_view text, const std::string& name) {
    const auto rows = json::parse(text.begin(), text.end(), nullptr, false);
    if (!rows.is_object()) return Error{ErrorCode::input, name + ": it must be a JSON object of gates and numbers"};
    CompareGates gates;
    for (const auto& [word, value] : rows.items()) {
        if (!value.is_number() || !(value.get<double>() >= 0))
            return Error{ErrorCode::input, name + ": " + printable(word) + " must be a number from 0 up"};
        if (word == "max-l1") {
            gates.max_l1 = value.get<double>();
        } else if (word == "max-distance") {
            gates.max_distance = value.get<double>();
        } else if (word == "min-agreement") {
            gates.min_agreement = value.get<double>();
        } else if (word == "max-unweighted" && value.is_number_unsigned()) {
            gates.max_unweighted = value.get<std::size_t>();
        } else if (word == "max-unweighted") {
            return Error{ErrorCode::input, name + ": " + word + " must be a whole number"};
        } else {
            const std::vector<std::string> known = {"max-l1", "max-distance", "min-agreement", "max-unweighted"};
            return Error{ErrorCode::input,
                         name + ": there is no gate '" + printable(word) + "'" + did_you_mean(word, known)};
        }
    }
    return gates;
}

std::vector<GateResult> check_gates(const CompareGates& gates, const Comparison& c) {
    std::vector<GateResult> results;
    const auto at_most = [&](const char* option, double limit, double value) {
        results.push_back({option, limit, value, value <= limit});
    };
    if (gates.max_l1) at_most("--max-l1", *gates.max_l1, c.l1.mean);
    if (gates.max_distance) {
        double most = 0;
        for (const PoseComparison& p : c.poses) most = std::max(most, p.max);
        at_most("--max-distance", *gates.max_distance, most);
    }
    if (gates.min_agreement)
        results.push_back({"--min-agreement", *gates.min_agreement, c.strongest_agreement,
                           c.strongest_agreement >= *gates.min_agreement});
    if (gates.max_unweighted)
        at_most("--max-unweighted", static_cast<double>(*gates.max_unweighted),
                static_cast<double>(c.b.unweighted));
    return results;
}

json gates_json(const std::vector<GateResult>& results) {
    json rows = json::array();
    for (const GateResult& g : results)
        rows.push_back({{"option", g.option}, {"limit", g.limit}, {"value", g.value}, {"passed", g.passed}});
    return rows;
}

}  // namespace sinew
