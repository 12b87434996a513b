// The part of the body in the name of a joint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sinew {

enum class BodyPart : std::uint8_t {
    finger,
    face,
    head,
    neck,
    clavicle,
    twist,
    hand,
    arm,
    foot,
    leg,
    hip,
    spine,
    tail,
    wing,
    cloth,
    prop,  ///< does not bend: a weapon, a bag, a hat, a horn
    unknown
};
inline constexpr std::size_t kBodyParts = 17;

/// The part that the words of a name (name_words) speak of, `unknown` if none is known. Of several parts the one
/// further from the trunk counts: "LeftHandThumb4" is a finger, "foot_index1" a foot, "lower_arm_twist" a twist
/// joint. English, the names of Biped, Mixamo, Rigify, MakeHuman and MMD, and some French, German and Spanish.
/// O(name).
BodyPart body_part_of(std::string_view name);

/// Whether any word speaks of a finger. O(name).
bool speaks_of_fingers(std::string_view name);

/// Whether a whole word of the name is a part of the body: not of a prop or a twist, and not a root. "Chair_root"
/// is none, and "Ball_root" neither. O(name).
bool names_body_part(std::string_view name);

}  // namespace sinew
