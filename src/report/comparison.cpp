#include "report/comparison.h"

#include <algorithm>
#include <cmath>

#include "core/try.h"
#include "sinew/content.h"

namespace sinew {

using json = OrderedJson;

namespace {

json side_json(const WeightsQuality& q, bool bleed) {
    json out = {
        {"unweighted", q.unweighted},         {"joints", q.joints},
        {"max_influences", q.max_influences}, {"torn", q.torn},
        {"dirichlet", q.smoothness.total},    {"mean_influences", q.mean_influences},
    };
    out["symmetry_error"] =
        q.symmetry ? json{{"mean", q.symmetry->mean}, {"p95", q.symmetry->p95}, {"max", q.symmetry->max}}
                   : json(nullptr);
    out["bleed"] = bleed ? json{{"share", q.bleed.share}, {"vertices", q.bleed.vertices}} : json(nullptr);
    return out;
}

/// The pose with the largest value on each side; null if no pose has a value.
template <typename Of>
std::array<const PoseComparison*, 2> worst_poses(const Comparison& c, Of&& of) {
    std::array<const PoseComparison*, 2> worst{};
    for (const PoseComparison& p : c.poses) {
        if (of(p.a) >= 0 && (!worst[0] || of(p.a) > of(worst[0]->a))) worst[0] = &p;
        if (of(p.b) >= 0 && (!worst[1] || of(p.b) > of(worst[1]->b))) worst[1] = &p;
    }
    return worst;
}

}  // namespace

json comparison_json(const Comparison& c, bool bleed) {
    json deformation = json::object();
    for (const PoseKind kind : {PoseKind::standard, PoseKind::random, PoseKind::given}) {
        const PoseSummary s = summarise(c.poses, kind);
        deformation[std::string(to_string(kind))] = {
            {"poses", s.poses}, {"mean", s.mean}, {"mean_max", s.mean_max}, {"max", s.max}};
    }
    return {{"l1", {{"mean", c.l1.mean}, {"median", c.l1.median}, {"p95", c.l1.p95}, {"max", c.l1.max}}},
            {"precision", c.precision},
            {"recall", c.recall},
            {"strongest_agreement", c.strongest_agreement},
            {"trimmed", {{"l1", c.trimmed.l1}, {"precision", c.trimmed.precision}, {"recall", c.trimmed.recall}}},
            {"a", side_json(c.a, bleed)},
            {"b", side_json(c.b, bleed)},
            {"deformation", std::move(deformation)}};
}

std::vector<MeasureRow> measure_rows(const Comparison& c, bool bleed) {
    const WeightsQuality &a = c.a, &b = c.b;
    const auto whole = [](const char* what, std::size_t of_a, std::size_t of_b) {
        return MeasureRow{what, static_cast<double>(of_a), static_cast<double>(of_b), 0, {}};
    };
    const auto pair = [](std::size_t of_a, std::size_t of_b) {
        return std::to_string(of_a) + " and " + std::to_string(of_b);
    };
    std::vector<MeasureRow> rows = {
        whole("Vertices without weights", a.unweighted, b.unweighted),
        {"Influences of a vertex", a.mean_influences, b.mean_influences, 2,
         "maximum " + pair(a.max_influences, b.max_influences)},
        whole("Joints with weight", a.joints, b.joints),
        whole("Torn vertices", a.torn, b.torn),
        {"Dirichlet energy", a.smoothness.total, b.smoothness.total, 3, {}},
    };
    if (bleed)
        rows.push_back({"Bleed, % of the weight", 100 * a.bleed.share, 100 * b.bleed.share, 3,
                        pair(a.bleed.vertices, b.bleed.vertices) + " vertices"});
    if (c.symmetry)
        rows.push_back({"Symmetry error, mean", a.symmetry->mean, b.symmetry->mean, 4,
                        std::to_string(std::lround(100 * c.symmetry->vertex_share)) + " % of the vertices and " +
                            std::to_string(std::lround(100 * c.symmetry->joint_share)) +
                            " % of the joints have a partner"});
    const auto volume =
        worst_poses(c, [](const PoseShape& s) { return s.volume_change ? std::abs(*s.volume_change) : -1.0; });
    if (volume[0] && volume[1])
        rows.push_back({"Volume, worst pose, %", 100 * *volume[0]->a.volume_change,
                        100 * *volume[1]->b.volume_change, 2, volume[0]->name + "; " + volume[1]->name});
    const auto stretch = worst_poses(c, [](const PoseShape& s) { return double{s.stretch_max}; });
    if (stretch[0] && stretch[1])
        rows.push_back({"Longest stretch, worst pose", stretch[0]->a.stretch_max, stretch[1]->b.stretch_max, 3,
                        stretch[0]->name + "; " + stretch[1]->name});
    return rows;
}

Result<CompareGates> parse_gates(std::string_view text, const std::string& name) {
    SINEW_TRY(io::check_json_depth(text, name));
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
    if (gates.max_l1) at_most("max-l1", *gates.max_l1, c.l1.mean);
    if (gates.max_distance) {
        double most = 0;
        for (const PoseComparison& p : c.poses) most = std::max(most, p.max);
        at_most("max-distance", *gates.max_distance, most);
    }
    if (gates.min_agreement)
        results.push_back({"min-agreement", *gates.min_agreement, c.strongest_agreement,
                           c.strongest_agreement >= *gates.min_agreement});
    if (gates.max_unweighted)
        at_most("max-unweighted", static_cast<double>(*gates.max_unweighted), static_cast<double>(c.b.unweighted));
    return results;
}

json gates_json(const std::vector<GateResult>& results) {
    json rows = json::array();
    for (const GateResult& g : results)
        rows.push_back({{"option", g.option}, {"limit", g.limit}, {"value", g.value}, {"passed", g.passed}});
    return rows;
}

}  // namespace sinew
