#include "characters.h"

#include <map>
#include <mutex>
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

namespace {

/// The result of `build`, cached by `key` in `made`. One thread builds at a time.
template <typename Key, typename Build>
Character remembered(std::map<Key, Character>& made, const Key& key, Build build) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const auto found = made.find(key);
    return found != made.end() ? found->second : made.emplace(key, build()).first->second;
}

}  // namespace

Character biped(const BipedOptions& options) {
    static std::map<BipedOptions, Character> made;
    return remembered(made, options, [&] {
        return build_biped(options,
                           "biped " + std::to_string(options.cell) + " " + std::to_string(options.arms_down));
    });
}

Character quadruped(double cell) {
    static std::map<double, Character> made;
    return remembered(made, cell, [&] { return build_quadruped(cell, "quadruped " + std::to_string(cell)); });
}

Character caped(double cell) {
    static std::map<double, Character> made;
    return remembered(made, cell, [&] { return build_caped(cell); });
}

std::vector<std::string> character_names() { return {"biped", "biped_controls", "quadruped", "robot", "caped"}; }

Character make_character(const std::string& name, double coarseness) {
    const double cell = BipedOptions{}.cell * coarseness;
    if (name == "biped") return biped({.cell = cell});
    if (name == "biped_controls") return biped({.cell = cell, .control_joints = true});
    if (name == "quadruped") return quadruped(0.014 * coarseness);
    if (name == "robot") return robot();
    if (name == "caped") return caped(cell);
    return {};
}

}  // namespace sinew::test
