// A placed template skeleton as JSON, the same for all interfaces. Its keys are documented in docs/rig.md.
#pragma once

#include "io/json.h"
#include "sinew/rig.h"

namespace sinew {

OrderedJson rig_json(const Rig& rig, const RigOptions& options);

}  // namespace sinew
