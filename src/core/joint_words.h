// The words of joint names: what each says about a joint. The one table of them; docs/methods/idle-joints.md
// evaluates the rules that read it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/body_part.h"

namespace sinew {

enum class WordUse : std::uint8_t {
    body,         ///< a part of the body; of several rows of a name the first counts
    ambiguous,    ///< of these, whole words that mean something else without another part of the body beside them
    control,      ///< a control, if no joint below it deforms
    control_end,  ///< the same, also at the end of a word that is written without a gap ("biktarget")
    carrier,      ///< a control by convention, even where it carries joints that deform
    foot_pivot,   ///< with "roll", a pivot of a reverse foot
    driver,       ///< first word of the layers of a Blender rig that drive its deforming "DEF-" joints
    slot,         ///< where something is attached
    beside,       ///< what stands on the root beside the body: a camera, a point of interaction
    root,         ///< the root, which only carries other joints
    filler,       ///< without meaning beside a root word
    side,         ///< left and right
    joint,        ///< says that a node of a file without a skin is a joint, also within a word
    limb,         ///< also a word of props ("head light", "chair leg"): four different ones say the same together
    holder,       ///< the object that holds a skeleton
};

/// One word of a name must be one of `whole`, or contain one of `stems`. Words that are often within others are
/// whole: "ear" is within "forearm", "arm" within "armature", "ring" within "earring".
struct WordRow {
    WordUse use;
    BodyPart part;  ///< of a row of use body, otherwise unknown
    std::vector<std::string_view> whole, stems;

    bool has(std::string_view word) const;  ///< whole
    bool speaks_of(std::string_view word) const;
};
std::span<const WordRow> word_rows();

/// The one row of a use other than body.
const WordRow& words_for(WordUse use);

/// Words of a single convention: they count only in a skeleton that has the joint or first word `sign` of it.
struct WordConvention {
    std::string_view sign;  ///< the words of a joint's name with dots ("c.traj"), or its first word
    std::vector<std::string_view>
        idle;  ///< joints of these whole names (words with dots, without sides and numbers)
    std::vector<std::string_view> words;  ///< joints that carry none and have one of these words after `first`
    std::string_view first;
};
std::span<const WordConvention> word_conventions();

}  // namespace sinew
