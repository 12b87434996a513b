#pragma once

#include "bind/method.h"
#include "bind/surface_heat/influence_features.h"
#include "bind/surface_heat/rules.h"

namespace sinew {

/// The last step of surface-heat: changes the rows of a set. `rigid`: per row, whether a rule made its part rigid.
using RowCorrection = std::function<void(const JointSet& set, const InfluenceFeatures& features,
                                         const std::vector<std::uint8_t>& rigid, SetRows& rows)>;

/// That of the method: as strong as the options say, or none. Keeps a reference.
RowCorrection learned_correction(const Task& task);

/// surface-heat with other numbers in its rules and another last step, for measurements (tests/tools). Without a
/// correction no features are measured.
Result<MethodRows> bind_surface_heat(const Task& task, const SurfaceHeatRules& rules,
                                     const RowCorrection& correction);

}  // namespace sinew
