// Which joints deform nothing, by their names and places. docs/methods/idle-joints.md evaluates these rules on real
// characters.
#pragma once

#include <vector>

#include "sinew/skeleton.h"

namespace sinew {

/// Per joint, the reason why it is idle by name and structure, or DeformReason::deforms.
std::vector<DeformReason> idle_by_name(const Skeleton& skeleton);

}  // namespace sinew
