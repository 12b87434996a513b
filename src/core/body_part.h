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
    unknown
};
inline constexpr std::size_t kBodyParts = 16;

/// The first part, in the order of BodyPart, of which the name contains a word in any case; `unknown` if it
/// contains none. "LeftHandThumb4" is a finger, "lower_arm_twist" is a twist joint. O(name).
BodyPart body_part_of(std::string_view name);

}  // namespace sinew
