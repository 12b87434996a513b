#include "characters.h"

#include <stdexcept>

namespace sinew::test {

std::uint32_t Character::joint(const std::string& joint_name) const {
    for (std::size_t i = 0; i < skeleton.joints.size(); ++i)
        if (skeleton.joints[i].name == joint_name) return static_cast<std::uint32_t>(i);
    throw std::out_of_range(name + " has no joint " + joint_name);
}

void append(Character& a, const std::vector<Vec3>& positions, const std::vector<Triangle>& triangles,
            std::uint32_t body_part) {
    const auto first = static_cast<std::uint32_t>(a.positions.size());
    a.positions.insert(a.positions.end(), positions.begin(), positions.end());
    a.body_part.resize(a.positions.size(), body_part);
    for (const Triangle& t : triangles) a.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
}

std::vector<std::string> character_names() { return {"biped", "biped_controls", "quadruped", "robot", "caped"}; }

Character make_character(const std::string& name) {
    if (name == "biped") return biped();
    if (name == "biped_controls") return biped({.control_joints = true});
    if (name == "quadruped") return quadruped();
    if (name == "robot") return robot();
    if (name == "caped") return caped();
    return {};
}

}  // namespace sinew::test
