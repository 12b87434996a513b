#include "check_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "report/report.h"

namespace sinew::cli {
namespace {

using json = OrderedJson;

/// A path as a URI reference.
std::string uri_of(const std::string& path) {
    std::string out;
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) || std::string_view("-._~/").find(c) != std::string_view::npos)
            out += c;
        else
            out += fmt::format("%{:02X}", byte);
    }
    return out;
}

std::string message_of(const SkinFinding& f) {
    const SkinRule& rule = skin_rules()[f.rule];
    return fmt::format("{}: {:.4g}{}{}, at most {:g}{}", rule.what, f.value, rule.unit.empty() ? "" : " ",
                       rule.unit, f.threshold, f.detail.empty() ? "" : " (" + f.detail + ")");
}

}  // namespace

json make_check_sarif(const CheckRun& run) {
    json rules = json::array(), results = json::array();
    for (const SkinRule& rule : skin_rules())
        rules.push_back({{"id", rule.word},
                         {"shortDescription", {{"text", rule.what}}},
                         {"help", {{"text", in_words(rule.help)}}},
                         {"defaultConfiguration", {{"level", to_string(rule.level)}}}});
    for (const SkinFinding& f : run.findings) {
        if (!f.alarm) continue;
        const SkinRule& rule = skin_rules()[f.rule];
        json location = {{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(run.input)}}}}}};
        if (!f.vertices.empty()) {
            const auto [primitive, vertex] = place_of(*run.scene, f.vertices[0]);
            location["logicalLocations"] = json::array(
                {{{"fullyQualifiedName", fmt::format("{}/vertex {}", primitive, vertex)}, {"kind", "element"}}});
        }
        results.push_back({{"ruleId", rule.word},
                           {"ruleIndex", f.rule},
                           {"level", to_string(rule.level)},
                           {"message", {{"text", message_of(f)}}},
                           {"locations", json::array({location})}});
    }
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs",
             json::array(
                 {{{"tool", {{"driver", {{"name", "sinew check"}, {"version", SINEW_VERSION}, {"rules", rules}}}}},
                   {"results", results}}})}};
}

}  // namespace sinew::cli
