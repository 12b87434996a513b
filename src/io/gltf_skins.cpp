#include "io/gltf_skins.h"

#include <algorithm>

#include "core/try.h"

namespace sinew::io {

Result<Skin> read_skin(const Document& document, AccessorReader& accessors, std::size_t index) {
    const std::string place = "skin " + std::to_string(index);
    SINEW_TRY_LET(const auto found, document.need("skins", index, place));
    Skin skin;
    const Json* joints = member(*found, "joints");
    if (!joints || !joints->is_array() || joints->empty()) return document.error(place + " has no joints");
    for (const Json& entry : *joints) {
        const auto node = whole(&entry);
        if (!node || *node >= document.rig.nodes.parent.size())
            return document.error(place + ": joint " + std::to_string(skin.nodes.size()) +
                                  " is not a node of the file");
        skin.nodes.push_back(*node);
    }
    skin.inverse_bind.resize(skin.nodes.size());
    const Json* accessor = member(*found, "inverseBindMatrices");
    if (!accessor) return skin;  // identity, as glTF defines
    for (Matrix& m : skin.inverse_bind) m.m.fill(0);
    const std::string name = place + ": inverseBindMatrices";
    const auto accessor_index = whole(accessor);
    const Result<Elements> elements = accessor_index ? accessors.read(*accessor_index, name)
                                                     : Result<Elements>(document.error(name + " must be an index"));
    if (!elements && elements.error().code != ErrorCode::input) return elements.error();
    if (!elements || elements->width != 16 || elements->component != Component::f32) {
        skin.fault = elements ? name + " must be MAT4 of floats" : elements.error().message;
        return skin;
    }
    const std::vector<float> values = as_floats(*elements, false);
    for (std::size_t j = 0; j < std::min(elements->count, skin.nodes.size()); ++j)
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(j * 16), 16, skin.inverse_bind[j].m.begin());
    return skin;
}

Result<UsedSkins> read_skins(Document& document, AccessorReader& accessors, Scene& scene) {
    Rig& rig = document.rig;
    UsedSkins used_skins;
    std::map<std::size_t, std::uint32_t> joint_of_node;
    std::vector<std::size_t> numbers;
    for (std::size_t n = 0; n < rig.nodes.parent.size(); ++n) {
        const Json& node = *document.at("nodes", n);
        if (!member(node, "mesh") || !member(node, "skin")) continue;
        const auto index = whole(member(node, "skin"));
        if (!index) return document.error("node " + std::to_string(n) + ": skin must be an index");
        numbers.push_back(*index);
    }
    const bool any_used = !numbers.empty();
    for (std::size_t s = 0; !any_used && s < document.count("skins"); ++s) numbers.push_back(s);
    for (const std::size_t index : numbers) {
        if (used_skins.place.contains(index)) continue;
        SINEW_TRY_LET(auto skin, read_skin(document, accessors, index));
        // Without matrices, glTF shows a mesh by the world of its joints, but says nothing of joints alone.
        if (!any_used && !member(*document.at("skins", index), "inverseBindMatrices"))
            for (Matrix& m : skin.inverse_bind) m.m.fill(0);
        if (!skin.fault.empty()) scene.warnings.push_back(skin.fault + ": the matrices are left out");
        RigSkin rig_skin;
        for (const std::size_t joint_node : skin.nodes) {
            const auto [at, is_new] =
                joint_of_node.try_emplace(joint_node, static_cast<std::uint32_t>(used_skins.joint_nodes.size()));
            if (is_new) used_skins.joint_nodes.push_back(joint_node);
            rig_skin.joints.push_back(at->second);
        }
        rig_skin.number = index;
        used_skins.place[index] = rig.skins.size();
        rig.skins.push_back(std::move(rig_skin));
        used_skins.skins.push_back(std::move(skin));
    }

    // Sets of joints only matter if skins differ in them.
    std::map<std::vector<std::uint32_t>, std::uint32_t> sets;
    for (RigSkin& skin : rig.skins) {
        std::vector<std::uint32_t> sorted = skin.joints;
        std::sort(sorted.begin(), sorted.end());
        sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
        const auto [at, is_new] = sets.try_emplace(std::move(sorted), static_cast<std::uint32_t>(sets.size()));
        skin.joint_set = at->second;
    }
    if (sets.size() > 1) {
        scene.skeleton.skins.resize(sets.size());
        for (const auto& [joints, number] : sets) scene.skeleton.skins[number] = joints;
    }
    return used_skins;
}

}  // namespace sinew::io
