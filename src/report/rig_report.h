// A placed template skeleton as JSON, the same for all interfaces. Its keys are documented in docs/rig.md.
#pragma once

#include <nlohmann/json.hpp>

#include "sinew/rig.h"

namespace sinew {

nlohmann::ordered_json rig_json(const Rig& rig, const RigOptions& options);

}  // namespace sinew
