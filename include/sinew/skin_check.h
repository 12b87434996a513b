// sinew/skin_check.h: whether a character's skin is fit to ship: one table of rules, each with a number and a
// threshold. docs/check.md says what each rule means and where its threshold comes from.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"
#include "sinew/deform.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

/// How much an alarm of a rule matters.
enum class SkinRuleLevel {
    error,    ///< the skin is wrong wherever it is used
    warning,  ///< it may be meant
};
std::string_view to_string(SkinRuleLevel level);

/// A rule: a number that is measured, and the largest that raises no alarm.
struct SkinRule {
    std::string_view word;  ///< its name in options and results: "unweighted"
    std::string_view what;  ///< what the number is: "vertices of triangles without weights"
    std::string_view unit;  ///< of the number: "vertices", "%", or empty
    SkinRuleLevel level = SkinRuleLevel::error;
    double threshold = 0;   ///< default; infinity: measured, and without alarm
    std::string_view help;  ///< what to do after an alarm
    bool fixable = false;   ///< fix_skin removes the alarm
};
/// All rules, in the order of results.
std::span<const SkinRule> skin_rules();

/// The place of a rule in skin_rules() by its word; an error suggests the nearest words.
Result<std::size_t> find_skin_rule(std::string_view word);

/// Limits of an engine. A limit that is 0 is not known or does not exist.
struct EngineProfile {
    std::string_view word;  ///< "unity"
    int influences = 0;     ///< at a vertex
    int joints = 0;         ///< of one skin
    std::string_view source;
};
std::span<const EngineProfile> engine_profiles();

/// A skin and what else the rules need. Spans may be empty: the rules that read them then find nothing.
struct SkinToCheck {
    MeshView mesh;
    const Skeleton* skeleton = nullptr;
    const SkinWeights* weights = nullptr;
    std::span<const float> stored_sums;             ///< V: sums of the file's weights
    std::span<const std::uint8_t> stored_invalid;   ///< V: 1 where a weight is negative or not finite
    std::span<const std::uint8_t> stored_repeated;  ///< V: 1 where a joint is listed twice with weight
    std::span<const std::uint8_t> other_pose;       ///< V: 1 where bound in another pose than most of the mesh
    std::span<const std::string> skin_faults;       ///< sentences: rules of the format that skins break
    std::span<const Transform> rest;                ///< per joint: from the bind pose to the rest pose
    Vec3 up{0, 1, 0};                               ///< the way up in bind space, for standard poses
};

struct SkinCheckOptions {
    /// Per rule of skin_rules(): the threshold instead of the default, NaN for the default; or empty.
    std::vector<double> thresholds;
    /// Per rule: 1 to leave it out; or empty.
    std::vector<std::uint8_t> skip;
    int bleed_resolution = 64;  ///< as BleedOptions::resolution
};
/// Gives a rule a threshold; ErrorCode::usage if there is no such rule.
Status set_threshold(SkinCheckOptions& options, std::size_t rule, double threshold);

/// What a rule found.
struct SkinFinding {
    std::size_t rule = 0;  ///< into skin_rules()
    double value = 0, threshold = 0;
    bool alarm = false;                   ///< value is above the threshold
    std::string detail;                   ///< what and where, as a sentence or empty
    std::vector<std::uint32_t> vertices;  ///< the worst ones, at most 20
    std::vector<float> of_vertex;         ///< V or empty: how bad each vertex is, 0 = not at all
};

/// Measures every rule that is not left out. Time: about that of one side of compare(), of which bleed takes most.
/// Errors if check_mesh or check_skeleton fails, or the sizes do not fit.
Result<std::vector<SkinFinding>> check_skin(const SkinToCheck& skin, const SkinCheckOptions& options = {},
                                            Context* context = nullptr);

struct SkinFixOptions {
    int max_influences = 4;  ///< as FinishOptions, and so is prune
    float prune = 1e-3f;
    bool weld_seams = true;  ///< vertices of torn seams get the mean of their weights
};
/// What fix_skin changed: vertices.
struct SkinFixReport {
    std::size_t limited = 0, pruned = 0, welded = 0;
};
/// Repairs faults that have a single correct repair: limits the influences to the strongest, drops tiny weights,
/// normalises, and joins torn seams within a skin. Rows without a fault keep their bits. O(influences + T log T).
Result<SkinWeights> fix_skin(const MeshView& mesh, const SkinWeights& weights, const SkinFixOptions& options,
                             SkinFixReport* report = nullptr, Context* context = nullptr);

struct SkinCleanOptions {
    double strength = 1;     ///< 0..4: how much is doubted; 0 welds seams and fills empty rows only
    int max_influences = 4;  ///< of rows that change: 1..8, or all_influences
    int resolution = 64;     ///< as BleedOptions::resolution
};
Status check(const SkinCleanOptions& options);
/// What clean_skin found and did.
struct SkinCleanReport {
    std::size_t pulled = 0;  ///< vertices that lost weight of joints far away
    std::size_t filled = 0;  ///< vertices without a plausible weight, filled from their surroundings
    std::size_t welded = 0;  ///< vertices of torn seams
    double noise = 0;        ///< standard deviation of a row's noise; 0: none was found
    double change = 0;       ///< mean L1 between a vertex's row before and after
};
/// Keeps what is plausible of weights that another program made. Weight of a joint far away (Bleed) goes unless it
/// is connected over the surface with weight that is not, or has most of its part; then rows unlike all around them
/// whose joints are farther away than those. What is left open is filled in as heat spreads, and noise that
/// neighbours do not share is smoothed, but not across borders. docs/clean.md has the steps. Rows that nothing is
/// wrong with keep their bits. Time: a sweep over the volume around each joint, and ten passes over the rows if
/// there is noise. Memory 20 bytes per influence, 300 per vertex and 200 per triangle.
Result<SkinWeights> clean_skin(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& weights,
                               const SkinCleanOptions& options, SkinCleanReport* report = nullptr,
                               Context* context = nullptr);

}  // namespace sinew
