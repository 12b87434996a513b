// Skins: the inverse bind matrices give the pose of the joints when the mesh was bound; the rest pose of the nodes
// is often another. So the scene's space is the bind space of the first skin. A later skin is moved into it by a
// joint that both share: its two bind matrices must agree.
#include "io/gltf_skins.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/try.h"
#include "io/gltf_joints.h"
#include "io/gltf_nodes.h"

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
    const auto accessor_index = whole(accessor);
    if (!accessor_index) return document.error(place + ": inverseBindMatrices must be an index");
    const auto elements = accessors.read(*accessor_index, place + ": inverseBindMatrices");
    if (!elements) return elements.error();
    if (elements->width != 16 || elements->component != Component::f32)
        return document.error(place + ": inverseBindMatrices must be MAT4 of floats");
    const std::vector<float> values = as_floats(*elements, false);
    for (std::size_t j = elements->count; j < skin.nodes.size(); ++j) skin.inverse_bind[j].m.fill(0);
    for (std::size_t j = 0; j < std::min(elements->count, skin.nodes.size()); ++j)
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(j * 16), 16, skin.inverse_bind[j].m.begin());
    return skin;
}

namespace {

/// The transform of every node at the bind pose, from the nearest ancestor for which it is known.
std::vector<std::optional<Matrix>> estimate_bind(const NodeTree& nodes, const std::map<std::size_t, Matrix>& bind) {
    std::vector<std::optional<Matrix>> out(nodes.parent.size());
    for (const std::size_t n : nodes.top_down) {
        if (const auto found = bind.find(n); found != bind.end())
            out[n] = found->second;
        else if (nodes.parent[n] != none && out[nodes.parent[n]])
            out[n] = *out[nodes.parent[n]] * nodes.local[n];
    }
    return out;
}

/// Rounding must not separate vertices at one position: a matrix that differs from the identity by noise only
/// becomes the identity.
Matrix snapped(const Matrix& m, const std::map<std::size_t, Matrix>& bind) {
    double size = 0;  // of the skeleton, for the translation
    for (const auto& [node, matrix] : bind)
        for (std::size_t r = 0; r < 3; ++r) size = std::max(size, std::abs(matrix(r, 3)));
    const Matrix identity;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 4; ++c)
            if (!(std::abs(m(r, c) - identity(r, c)) <= 1e-5 * (c == 3 ? size : 1))) return m;
    return identity;
}

/// From the bind space of a skin to that of the scene.
Matrix between(const NodeTree& nodes, const Skin& skin, const std::vector<std::optional<Matrix>>& bound,
               const std::map<std::size_t, Matrix>& bind, std::size_t index, std::vector<std::string>& warnings) {
    for (std::size_t j = 0; j < bound.size(); ++j)
        if (const auto shared = bind.find(skin.nodes[j]); shared != bind.end() && bound[j])
            return snapped(shared->second * skin.inverse_bind[j], bind);
    const auto estimates = estimate_bind(nodes, bind);
    for (std::size_t j = 0; j < bound.size(); ++j)
        if (const auto& estimate = estimates[skin.nodes[j]]; estimate && bound[j])
            return snapped(*estimate * skin.inverse_bind[j], bind);
    // No joint of this skin is below a known one: both skins are related by the rest pose of the nodes.
    for (const auto& [node, matrix] : bind)
        if (const auto to_node = inverse(nodes.world[node]))
            for (std::size_t j = 0; j < bound.size(); ++j)
                if (bound[j])
                    return snapped(matrix * *to_node * nodes.world[skin.nodes[j]] * skin.inverse_bind[j], bind);
    warnings.push_back("skin " + std::to_string(index) +
                       " cannot be related to the others: taken to be in the same space");
    return {};
}

}  // namespace

Result<WornSkins> read_skins(Document& document, AccessorReader& accessors, Scene& scene) {
    Rig& rig = document.rig;
    const NodeTree& nodes = rig.nodes;
    WornSkins worn;
    std::map<std::size_t, Matrix> bind;  // node -> its transform at the bind pose, scene space
    std::vector<std::size_t> joint_nodes;
    std::map<std::size_t, std::uint32_t> joint_of_node;
    std::size_t lost = 0;  // matrices that are missing or cannot be inverted
    std::string lost_names;
    for (std::size_t n = 0; n < nodes.parent.size(); ++n) {
        const Json& node = *document.at("nodes", n);
        if (!member(node, "mesh") || !member(node, "skin")) continue;
        const auto index = whole(member(node, "skin"));
        if (!index) return document.error("node " + std::to_string(n) + ": skin must be an index");
        if (worn.place.contains(*index)) continue;
        SINEW_TRY_LET(auto skin, read_skin(document, accessors, *index));

        std::vector<std::optional<Matrix>> bound(skin.nodes.size());
        for (std::size_t j = 0; j < bound.size(); ++j) bound[j] = inverse(skin.inverse_bind[j]);
        if (!bind.empty()) skin.to_scene = between(nodes, skin, bound, bind, *index, scene.warnings);
        RigSkin rig_skin;
        rig_skin.source = *index;
        for (std::size_t j = 0; j < bound.size(); ++j) {
            const std::size_t joint_node = skin.nodes[j];
            if (bound[j]) {
                bind.try_emplace(joint_node, skin.to_scene * *bound[j]);
            } else {
                rig_skin.repaired[j] = {};
                if (lost++ < 3) lost_names += (lost > 1 ? ", " : "") + in_quotes(node_name(document, joint_node));
            }
            const auto [at, is_new] =
                joint_of_node.try_emplace(joint_node, static_cast<std::uint32_t>(joint_nodes.size()));
            if (is_new) joint_nodes.push_back(joint_node);
            rig_skin.joints.push_back(at->second);
        }
        worn.place[*index] = rig.skins.size();
        rig.skins.push_back(std::move(rig_skin));
        worn.skins.push_back(std::move(skin));
    }

    std::vector<Matrix> where;
    const auto estimates = estimate_bind(nodes, bind);
    for (const std::size_t n : joint_nodes) where.push_back(estimates[n].value_or(nodes.world[n]));
    for (std::size_t s = 0; s < rig.skins.size(); ++s)
        for (auto at = rig.skins[s].repaired.begin(); at != rig.skins[s].repaired.end();) {
            const auto to_joint = inverse(where[rig.skins[s].joints[at->first]]);
            if (to_joint) at->second = *to_joint * worn.skins[s].to_scene;
            at = to_joint ? std::next(at) : rig.skins[s].repaired.erase(at);
        }
    if (lost)
        scene.warnings.push_back(
            std::to_string(lost) + (lost == 1 ? " joint has" : " joints have") +
            " no inverse bind matrix that can be inverted (" + lost_names + (lost > 3 ? " …" : "") +
            "): placed by the nodes' rest pose; what follows them collapses in viewers unless the matrices are "
            "written anew (--repair-matrices)");

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
    SINEW_TRY(set_joints(document, scene, std::move(joint_nodes), std::move(where)));
    return worn;
}

}  // namespace sinew::io
