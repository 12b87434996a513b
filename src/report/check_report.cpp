#include "report/check_report.h"

#include <algorithm>
#include <cmath>

#include "core/try.h"
#include "picture/draw_character.h"
#include "report/report.h"
#include "sinew/content.h"

namespace sinew {
namespace {

using json = OrderedJson;

json finite(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

}  // namespace

Status take_profile(std::string_view word, SkinCheckOptions& options) {
    std::vector<std::string> known;
    for (const EngineProfile& p : engine_profiles()) {
        known.emplace_back(p.word);
        if (p.word != word) continue;
        if (p.influences) SINEW_TRY(set_threshold(options, *find_skin_rule("influences"), p.influences));
        if (p.joints) SINEW_TRY(set_threshold(options, *find_skin_rule("joints"), p.joints));
        return Done{};
    }
    std::string all;
    for (const std::string& one : known) all += (all.empty() ? "" : one == known.back() ? " and " : ", ") + one;
    return Error{ErrorCode::usage, "there is no profile '" + printable(word) + "'" + did_you_mean(word, known) +
                                       "; there are " + all};
}

Status take_thresholds(std::string_view text, const std::string& name, SkinCheckOptions& options) {
    SINEW_TRY(io::check_json_depth(text, name));
    const auto rows = Json::parse(text.begin(), text.end(), nullptr, false);
    if (!rows.is_object()) return Error{ErrorCode::input, name + ": it must be a JSON object of rules and numbers"};
    for (const auto& [word, value] : rows.items()) {
        Result<std::size_t> rule = find_skin_rule(word);
        if (!rule) return Error{ErrorCode::input, name + ": " + rule.error().message};
        if (!value.is_null() && !(value.is_number() && value.get<double>() >= 0))
            return Error{ErrorCode::input, name + ": " + word + " must be a number from 0 up, or null"};
        SINEW_TRY(set_threshold(options, *rule, value.is_null() ? INFINITY : value.get<double>()));
    }
    return Done{};
}

Status take_rules(std::span<const std::string> only, std::span<const std::string> skip, SkinCheckOptions& options) {
    options.skip.assign(skin_rules().size(), !only.empty());
    for (const auto* words : {&only, &skip})
        for (const std::string& word : *words) {
            SINEW_TRY_LET(std::size_t rule, find_skin_rule(word));
            options.skip[rule] = words == &skip;
        }
    if (std::all_of(options.skip.begin(), options.skip.end(), [](bool left_out) { return left_out; }))
        return Error{ErrorCode::usage, only.empty()
                                           ? "no rule is left to check: all are left out"
                                           : "no rule is left to check: those that are chosen are left out"};
    return Done{};
}

Result<std::vector<SkinFinding>> check_scene(const io::Scene& scene, const SkinWeights& weights, bool as_stored,
                                             const SkinCheckOptions& options, const std::optional<Vec3>& up,
                                             Context* context) {
    SINEW_TRY_LET(io::StoredWeights stored, io::stored_weights(scene));
    SINEW_TRY_LET(io::ScenePose rest, rest_of(scene, up));
    SkinToCheck skin;
    skin.mesh = scene.mesh();
    skin.skeleton = &scene.skeleton;
    skin.weights = &weights;
    skin.skin_faults = stored.faults;
    skin.other_pose = stored.other_pose;
    if (as_stored) {
        skin.stored_sums = stored.sums;
        skin.stored_invalid = stored.invalid;
        skin.stored_repeated = stored.repeated;
    }
    skin.rest = rest.skinning;
    const Transform& world = rest.to_world;
    const Vec3 row{static_cast<float>(world(1, 0)), static_cast<float>(world(1, 1)),
                   static_cast<float>(world(1, 2))};
    if (row != Vec3{}) skin.up = row;  // nodes may have a scale of zero
    return check_skin(skin, options, context);
}

Result<std::size_t> vertices_to_normalise(const io::Scene& scene, const SkinWeights& weights,
                                          const SkinCheckOptions& options, Context* context) {
    SkinCheckOptions stored_only = options;
    const std::string rules[] = {"sums", "invalid", "repeated"};
    SINEW_TRY(take_rules(rules, {}, stored_only));
    SINEW_TRY_LET(std::vector<SkinFinding> found,
                  check_scene(scene, weights, true, stored_only, std::nullopt, context));
    std::vector<std::uint8_t> wrong(weights.vertex_count(), 0);
    for (const SkinFinding& finding : found)
        for (std::size_t v = 0; v < finding.of_vertex.size(); ++v)
            if (finding.of_vertex[v] > 0) wrong[v] = 1;
    return static_cast<std::size_t>(std::count(wrong.begin(), wrong.end(), std::uint8_t{1}));
}

std::size_t CheckRun::count(SkinRuleLevel level) const {
    return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), [&](const SkinFinding& f) {
        return f.alarm && skin_rules()[f.rule].level == level;
    }));
}

void CheckRun::judge(bool strict) {
    passed = count(SkinRuleLevel::error) == 0 && (!strict || count(SkinRuleLevel::warning) == 0);
}

json make_check_report(const CheckRun& run) {
    json rules = json::array();
    for (const SkinFinding& f : run.findings) {
        const SkinRule& rule = skin_rules()[f.rule];
        json vertices = json::array();
        for (const std::uint32_t v : f.vertices) {
            const auto [primitive, vertex] = place_of(*run.scene, v);
            const Vec3& p = run.scene->positions[v];
            vertices.push_back({{"vertex", v},
                                {"primitive", primitive},
                                {"vertex_in_primitive", vertex},
                                {"position", {as_given(p.x), as_given(p.y), as_given(p.z)}}});
        }
        rules.push_back({{"rule", rule.word},
                         {"level", to_string(rule.level)},
                         {"value", f.value},
                         {"threshold", finite(f.threshold)},
                         {"alarm", f.alarm},
                         {"detail", f.detail},
                         {"vertices", vertices}});
    }
    json fixed = nullptr;
    if (run.fixed)
        fixed = {{"normalised", run.normalised},
                 {"limited", run.fixed->limited},
                 {"pruned", run.fixed->pruned},
                 {"welded", run.fixed->welded}};
    return {{"sinew", SINEW_VERSION},
            {"input", run.input},
            {"profile", run.profile},
            {"vertices", run.scene->positions.size()},
            {"joints", run.scene->skeleton.joints.size()},
            {"passed", run.passed},
            {"errors", run.count(SkinRuleLevel::error)},
            {"warnings", run.count(SkinRuleLevel::warning)},
            {"fixed", fixed},
            {"rules", rules}};
}

}  // namespace sinew
