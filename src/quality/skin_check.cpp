// check_skin: the table of rules and of engines, and the loop over them.
#include "sinew/skin_check.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "core/try.h"
#include "quality/skin_rules.h"

namespace sinew {

namespace {

struct Row {
    SkinRule rule;
    SkinMeasure measure;
};

constexpr double off = std::numeric_limits<double>::infinity();
constexpr SkinRuleLevel error = SkinRuleLevel::error, warning = SkinRuleLevel::warning;

// One row per rule: word, what, unit, level, threshold, help, fixable. docs/notes/check.md has the alarms on real
// characters from which the thresholds were chosen.
constexpr Row kRows[] = {
    {{"unweighted", "vertices of triangles without weights", "vertices", error, 0,
      "`sinew bind only-missing` gives weights to these alone", false},
     measure_unweighted},
    {{"invalid", "vertices with a negative or not finite weight", "vertices", error, 0,
      "`fix` drops such weights and normalises the rest", true},
     measure_invalid},
    {{"sums", "largest difference of a vertex's sum of weights from 1", "", error, 0.01, "`fix` normalises", true},
     measure_sums},
    {{"repeated", "vertices that list a joint twice with weight", "vertices", error, 0, "`fix` adds the weights up",
      true},
     measure_repeated},
    {{"influences", "maximum of joints at a vertex", "", error, 4,
      "`fix` keeps the strongest; `sinew bind max-influences` chooses better ones", true},
     measure_influences},
    {{"joints", "joints of the largest skin", "", error, off, "remove joints that move nothing, or split the mesh",
      false},
     measure_joints},
    {{"tiny", "fraction of the influences that are below 0.001", "%", warning, 5, "`fix` drops them", true},
     measure_tiny},
    {{"control-joints",
      "vertices with weight on joints named like controls or end markers, which are nowhere the strongest",
      "vertices", warning, 0, "move the weight to the joint that deforms: `sinew bind exclude`", false},
     measure_control_joints},
    {{"torn", "vertices of seams whose two sides have different weights", "vertices", error, 0,
      "`fix` gives both sides the mean", true},
     measure_torn},
    {{"islands", "vertices of small patches of a joint's weight, apart from the rest of it on one surface",
      "vertices", warning, 0, "paint them over, or smooth them: docs/edits.md", false},
     measure_islands},
    {{"bleed", "fraction of the weight that is on joints far away through the body", "%", warning, 25,
      "look at it with `sinew render view joint`", false},
     measure_bleed},
    {{"asymmetry", "mean L1 between mirrored vertices, where the skeleton is symmetric", "", warning, 0.1,
      "mirror one side onto the other: docs/edits.md", false},
     measure_asymmetry},
    {{"stretch", "99th percentile of the stretch of edges in the worst standard pose", "times", warning, 5,
      "look at the pose with `sinew render pose`", false},
     measure_stretch},
    {{"volume", "largest change of a closed mesh's volume in a standard pose", "%", warning, 35,
      "look at the pose with `sinew render pose`", false},
     measure_volume},
    {{"rigid-parts", "small closed parts without a joint inside that do not move as one", "parts", warning, 0,
      "give each part one row of weights: rigid regions in docs/edits.md", false},
     measure_rigid_parts},
    {{"bind-pose", "largest distance of a joint with weight at rest from the bind pose, of the diagonal", "%",
      warning, 1, "export the rest pose as the bind pose, or accept that viewers show another shape", false},
     measure_bind_pose},
    {{"other-pose", "vertices of skins that bind shared joints in another pose than most of the mesh", "vertices",
      warning, 0, "bind all meshes in one pose: weights that differ at rest show a gap", false},
     measure_other_pose},
    {{"skin", "rules of glTF about skins that the file breaks", "rules", error, 0,
      "export again, or repair the file", false},
     measure_skin_faults},
};
constexpr std::size_t kCount = std::size(kRows);

constexpr EngineProfile kProfiles[] = {
    {"unity", 4, 0, "https://docs.unity3d.com/2021.1/Documentation/ScriptReference/ModelImporterSkinWeights.html"},
    {"unreal", 8, 256,
     "https://dev.epicgames.com/documentation/en-us/unreal-engine/skeletal-mesh-rendering-paths-in-unreal-engine"},
    {"godot", 8, 0, "https://docs.godotengine.org/en/stable/classes/class_mesh.html"},
    {"webgl", 4, 256, "https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html#skinned-mesh-attributes"},
    {"mobile", 4, 90, "https://docs.vrchat.com/docs/avatar-performance-ranking-system"},
};

/// The vertices with the largest values, worst first.
std::vector<std::uint32_t> worst(const std::vector<float>& values) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t v = 0; v < values.size(); ++v)
        if (values[v] > 0) out.push_back(v);
    const std::size_t most = std::min<std::size_t>(20, out.size());
    std::partial_sort(
        out.begin(), out.begin() + static_cast<std::ptrdiff_t>(most), out.end(),
        [&](std::uint32_t a, std::uint32_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
    out.resize(most);
    return out;
}

Status check_sizes(const SkinToCheck& in, const SkinCheckOptions& options) {
    const std::size_t n = in.mesh.positions.size();
    const auto fits = [](std::size_t size, std::size_t wanted) { return size == 0 || size == wanted; };
    if (!in.skeleton || !in.weights) return Error{ErrorCode::usage, "a skeleton and weights are needed"};
    if (!fits(in.stored_sums.size(), n) || !fits(in.stored_invalid.size(), n) ||
        !fits(in.stored_repeated.size(), n) || !fits(in.other_pose.size(), n) ||
        !fits(in.rest.size(), in.skeleton->joints.size()) || !fits(options.thresholds.size(), kCount) ||
        !fits(options.skip.size(), kCount))
        return Error{ErrorCode::usage, "stored weights are per vertex, transforms per joint, options per rule"};
    return Done{};
}

}  // namespace

std::string_view to_string(SkinRuleLevel level) { return level == SkinRuleLevel::error ? "error" : "warning"; }

std::span<const SkinRule> skin_rules() {
    static const std::vector<SkinRule> rules = [] {
        std::vector<SkinRule> out;
        for (const Row& row : kRows) out.push_back(row.rule);
        return out;
    }();
    return rules;
}

Result<std::size_t> find_skin_rule(std::string_view word) {
    std::vector<std::string> known;
    for (std::size_t r = 0; r < kCount; ++r) {
        if (kRows[r].rule.word == word) return r;
        known.emplace_back(kRows[r].rule.word);
    }
    return Error{ErrorCode::usage, "there is no rule '" + printable(word) + "'" + did_you_mean(word, known)};
}

std::span<const EngineProfile> engine_profiles() { return kProfiles; }

Status set_threshold(SkinCheckOptions& options, std::size_t rule, double threshold) {
    if (rule >= kCount)
        return Error{ErrorCode::usage,
                     "there is no rule " + std::to_string(rule) + ": skin_rules() has " + std::to_string(kCount)};
    options.thresholds.resize(kCount, std::nan(""));
    options.thresholds[rule] = threshold;
    return Done{};
}

Result<std::vector<SkinFinding>> check_skin(const SkinToCheck& in, const SkinCheckOptions& options,
                                            Context* context) {
    SINEW_TRY(check_sizes(in, options));
    SINEW_TRY(check_mesh(in.mesh));
    SINEW_TRY(check_skeleton(*in.skeleton));
    SINEW_TRY(check_fit(in.mesh, *in.skeleton, *in.weights, "the weights"));
    CheckedSkin skin{in, options, analyse_mesh(in.mesh, context), *in.skeleton, 0, {}, context};
    const std::vector<double> use = joint_use(*in.weights, skin.skeleton.joints.size());
    if (std::any_of(use.begin(), use.end(), [](double w) { return w > 0; }))
        SINEW_TRY(select_deforming(skin.skeleton, use, {DeformFrom::skin, {}, {}}));
    skin.diagonal = in.mesh.positions.empty() ? 0 : box_of(in.mesh).diagonal();
    std::vector<SkinFinding> out;
    for (std::size_t r = 0; r < kCount; ++r) {
        if (!options.skip.empty() && options.skip[r]) continue;
        if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled"};
        report_progress(context, "check", static_cast<double>(r) / kCount);
        SkinFinding found;
        found.rule = r;
        const bool own = !options.thresholds.empty() && !std::isnan(options.thresholds[r]);
        found.threshold = own ? options.thresholds[r] : kRows[r].rule.threshold;
        SINEW_TRY(kRows[r].measure(skin, found));
        found.alarm = found.value > found.threshold;
        if (found.vertices.empty()) found.vertices = worst(found.of_vertex);
        out.push_back(std::move(found));
    }
    report_progress(context, "check", 1);
    return out;
}

}  // namespace sinew
