#pragma once

#include "bind/method.h"
#include "bind/surface_heat/rules.h"

namespace sinew {

/// surface-heat with other numbers in its rules, for measurements (tests/tools/heat_rules.cpp).
Result<MethodRows> bind_surface_heat(const Task& task, const SurfaceHeatRules& rules);

}  // namespace sinew
