// What a joint's name says about it. docs/methods/idle-joints.md measures these rules on real characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sinew/skeleton.h"

namespace sinew {

/// A name in lower-case words: split at anything but letters and digits, between letters and digits, and where
/// camel case begins a word. A namespace ("mixamorig:") is dropped. "mixamorig:LeftHandThumb4" gives left, hand,
/// thumb, 4; "kneeIK.l" gives knee, ik, l; "Spike" gives spike.
std::vector<std::string> name_words(std::string_view name);

/// The reason to hold each joint idle by name and structure, or DeformReason::deforms.
std::vector<DeformReason> idle_by_name(const Skeleton& skeleton);

}  // namespace sinew
