// `sinew check` of a scene: its options as words, and its result as JSON, for the command line and the C interface.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "sinew/io.h"
#include "sinew/skin_check.h"

namespace sinew {

/// The limits of an engine, by the word of its profile. An error suggests the nearest.
Status take_profile(std::string_view word, SkinCheckOptions& options);

/// Thresholds as JSON: {"stretch": 4, "bleed": null}; null switches the alarm off. `name` begins errors.
Status take_thresholds(std::string_view json, const std::string& name, SkinCheckOptions& options);

/// Which rules are measured: those of `only`, or all if it is empty, without those of `skip`.
Status take_rules(std::span<const std::string> only, std::span<const std::string> skip, SkinCheckOptions& options);

/// Checks the weights on the scene's mesh. as_stored: they are those of the file, whose stored values are checked,
/// too. up: of a scene without a file; else y.
Result<std::vector<SkinFinding>> check_scene(const io::Scene& scene, const SkinWeights& weights, bool as_stored,
                                             const SkinCheckOptions& options, const std::optional<Vec3>& up,
                                             Context* context);

/// Vertices whose weights in the file have a wrong sum, an invalid weight or a joint twice: reading the file has
/// already repaired them, and writing it anew keeps the repair.
Result<std::size_t> vertices_to_normalise(const io::Scene& scene, const SkinWeights& weights,
                                          const SkinCheckOptions& options, Context* context);

struct CheckRun {
    std::string input, profile;  ///< as given
    const io::Scene* scene = nullptr;
    const SkinWeights* weights = nullptr;  ///< that were checked: the fixed ones after --fix
    std::vector<SkinFinding> findings;
    std::optional<SkinFixReport> fixed;
    std::size_t normalised = 0;  ///< with `fixed`: vertices_to_normalise
    bool passed = false;

    /// Alarms of a level.
    std::size_t count(SkinRuleLevel level) const;
    /// Sets `passed`. strict: warnings fail, too.
    void judge(bool strict);
};

/// The keys are documented in docs/check.md.
OrderedJson make_check_report(const CheckRun& run);

}  // namespace sinew
