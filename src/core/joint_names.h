// Names of joints: their words, their side, patterns of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sinew/skeleton.h"

namespace sinew {

/// A name in lower-case words: split at anything but letters and digits, between letters and digits, and where
/// camel case begins a word, and between Latin letters and those of East Asia; full-width letters are folded. A
/// namespace ("mixamorig:") is dropped. "mixamorig:LeftHandThumb4" gives left, hand, thumb, 4; "kneeIK.l" gives
/// knee, ik, l; "Spike" gives spike; "足ＩＫ親" gives 足, ik, 親.
std::vector<std::string> name_words(std::string_view name);

/// The name of a joint without its side, and the side: "hand_L" and "LeftHand" are the left joints of one pair.
struct SidedName {
    std::string rest;  ///< words with a mark where the side was; the same for both of a pair
    int side = 0;      ///< -1 left, 1 right, 0 neither
};
SidedName read_side(std::string_view name);

/// Glob patterns: * matches any run of characters, ? one character, anything else itself.
bool matches_glob(std::string_view glob, std::string_view name);

/// The names of all joints, for did_you_mean.
std::vector<std::string> names_of(const Skeleton& skeleton);

}  // namespace sinew
