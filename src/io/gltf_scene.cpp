// A glTF document as a character: one mesh and one skeleton in the space of the bind pose.
#include "io/gltf_scene.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "core/idle_joints.h"
#include "core/try.h"
#include "io/gltf_accessor.h"
#include "io/gltf_joints.h"
#include "io/gltf_meshes.h"
#include "io/gltf_nodes.h"
#include "io/gltf_parts.h"
#include "io/gltf_skeleton_search.h"
#include "io/gltf_skins.h"

namespace sinew::io {

namespace {

/// Required extensions that change neither geometry, skins nor transforms of nodes.
bool harmless(const std::string& extension) {
    for (const char* prefix : {"KHR_materials_",
                               "KHR_texture_",
                               "KHR_lights_",
                               "KHR_xmp",
                               "KHR_animation_pointer",
                               "KHR_audio",
                               "KHR_interactivity",
                               "KHR_node_visibility",
                               "KHR_node_selectability",
                               "KHR_node_hoverability",
                               "KHR_techniques_webgl",
                               "KHR_physics",
                               "KHR_rigid",
                               "KHR_implicit_shapes",
                               "EXT_texture_",
                               "EXT_lights_",
                               "EXT_structural_metadata",
                               "EXT_mesh_features",
                               "EXT_materials_",
                               "MSFT_texture_",
                               "MSFT_packing_",
                               "MSFT_audio",
                               "ADOBE_materials_",
                               "VRM",
                               "OMI_"})
        if (extension.starts_with(prefix)) return true;
    return false;
}

class SceneReader {
public:
    SceneReader(Document& document, Scene& scene, const Context* context)
        : document_(document),
          scene_(scene),
          rig_(document.rig),
          nodes_(document.rig.nodes),
          accessors_(document),
          meshes_(document, accessors_, scene, context) {
        document.rig = {};
    }

    Status read(SkeletonSource source) {
        std::optional<Skeleton>& skeleton = source.skeleton;
        scene_.warnings = document_.warnings;
        SINEW_TRY(check_extensions());
        SINEW_TRY(read_nodes(document_));
        bool skinned = false;
        for (std::size_t i = 0; i < document_.count("nodes"); ++i) {
            const Json& node = *document_.at("nodes", i);
            skinned = skinned || (member(node, "mesh") && member(node, "skin"));
        }
        if (skinned && skeleton && source.required)
            return Error{ErrorCode::usage, document_.name +
                                               ": the file has a skin, so its own skeleton is the one "
                                               "to bind to (leave `skeleton` out)"};
        SINEW_TRY(skinned    ? read_used_skins()
                  : skeleton ? add_skeleton(std::move(*skeleton))
                             : find_skeleton(source.prop));
        SINEW_TRY(skinned ? read_skinned_meshes(source.bind_unskinned) : read_static_meshes(!source.bind_parts));
        if (scene_.primitives.empty())
            return document_.error(scene_.skipped_primitives
                                       ? "its meshes have points and lines only, no triangles to bind"
                                       : "there is no mesh to bind");
        SINEW_TRY(meshes_.finish());
        if (skinned)
            SINEW_TRY(set_bind_pose(document_, scene_, used_skins_));
        else
            bind_parts_to_joints();
        if (!source.together) find_parts(document_, scene_);
        return Done{};
    }

    /// See read_skeleton_alone.
    Status read_skeleton_alone() {
        SINEW_TRY(check_extensions());
        SINEW_TRY(read_nodes(document_));
        if (document_.count("skins") > 0) {
            SINEW_TRY(read_used_skins());
            return set_bind_pose(document_, scene_, used_skins_);
        }
        std::vector<std::size_t> joints = find_skeleton_nodes(document_);
        if (joints.empty())
            return document_.error("there is no skeleton: no skin, and no hierarchy of nodes without meshes");
        std::vector<Matrix> where;
        for (const std::size_t n : joints) where.push_back(nodes_.world[n]);
        return set_joints(document_, scene_, std::move(joints), std::move(where));
    }

private:
    Status check_extensions() {
        const Json* required = member(document_.json, "extensionsRequired");
        if (!required) return Done{};
        static const std::set<std::string> known{draco_extension, meshopt_extensions[0], meshopt_extensions[1],
                                                 "KHR_mesh_quantization"};
        for (const Json& entry : *required) {
            const auto extension = entry.get<std::string>();
            if (!known.contains(extension) && !harmless(extension))
                return document_.error("the file requires the extension " + printable(extension) +
                                       ", which sinew does not know (export it without)");
        }
        return Done{};
    }

    Status read_used_skins() {
        SINEW_TRY_LET(used_skins_, read_skins(document_, accessors_, scene_));
        return Done{};
    }

    /// A skeleton from a file of its own, in world space.
    Status add_skeleton(Skeleton skeleton) {
        if (skeleton.joints.empty())
            return Error{ErrorCode::usage, document_.name + ": the skeleton given has no joints"};
        rig_.source = RigSource::added;
        scene_.skeleton = std::move(skeleton);
        return Done{};
    }

    /// The joints of the largest skin: skins that no mesh uses still say what the joints are.
    Result<std::vector<std::size_t>> joints_of_largest_skin() {
        std::vector<std::size_t> largest;
        for (std::size_t i = 0; i < document_.count("skins"); ++i) {
            SINEW_TRY_LET(auto skin, read_skin(document_, accessors_, i));
            if (skin.nodes.size() > largest.size()) largest = std::move(skin.nodes);
        }
        std::vector<std::size_t> joints;
        for (const std::size_t n : largest)
            if (std::find(joints.begin(), joints.end(), n) == joints.end()) joints.push_back(n);
        return joints;
    }

    /// Whether nodes are at one place, so that they cannot be the joints of anything.
    bool at_one_place(const std::vector<std::size_t>& nodes) const {
        double apart = 0, size = 0;
        for (const std::size_t n : nodes)
            for (std::size_t r = 0; r < 3; ++r) {
                apart = std::max(apart, std::abs(nodes_.world[n](r, 3) - nodes_.world[nodes[0]](r, 3)));
                size = std::max(size, std::abs(nodes_.world[n](r, 3)));
            }
        return apart <= 1e-6 * size;
    }

    /// A mesh and the joints of its skin must be in the same scenes. Nodes of scenes are roots.
    Status check_scenes(const std::vector<std::size_t>& joints) const {
        std::vector<std::size_t> root(nodes_.parent.size());
        std::set<std::size_t> of_meshes, of_joints;
        for (const std::size_t n : nodes_.top_down) {
            root[n] = nodes_.parent[n] == none ? n : root[nodes_.parent[n]];
            if (member(*document_.at("nodes", n), "mesh")) of_meshes.insert(root[n]);
        }
        for (const std::size_t n : joints) of_joints.insert(root[n]);
        for (std::size_t s = 0; s < document_.count("scenes"); ++s) {
            const Json* nodes = member(*document_.at("scenes", s), "nodes");
            if (!nodes || !nodes->is_array()) continue;
            bool has_mesh = false;
            std::set<std::size_t> missing = of_joints;
            for (const Json& entry : *nodes) {
                const auto node = whole(&entry);
                if (!node) continue;
                has_mesh |= of_meshes.contains(*node);
                missing.erase(*node);
            }
            if (has_mesh && !missing.empty())
                return document_.error("scene " + std::to_string(s) + " has a mesh, but not the skeleton below " +
                                       in_quotes(node_name(document_, *missing.begin())) +
                                       ": a skin cannot join them (add node " + std::to_string(*missing.begin()) +
                                       " to the scene, or give a skeleton: `skeleton FILE`)");
        }
        return Done{};
    }

    /// A file without skinned meshes: the skeleton is an unused skin or a hierarchy of nodes, as the nodes pose it.
    Status find_skeleton(bool prop) {
        rig_.source = RigSource::nodes;
        std::vector<std::size_t> joints;
        if (document_.count("skins") > 0) {
            SINEW_TRY_LET(joints, joints_of_largest_skin());
        } else {
            joints = find_skeleton_nodes(document_);
            if (joints.empty())
                return document_.error(
                    "the file has no skin and no node hierarchy that could be a skeleton "
                    "(`skeleton FILE` gives one; `sinew rig` places one)");
            if (!prop && at_one_place(joints))
                return document_.error(
                    "the file has no skin, and of its nodes only " +
                    (joints.size() == 1 ? in_quotes(node_name(document_, joints[0]))
                                        : std::to_string(joints.size()) + " at one place, below " +
                                              in_quotes(node_name(document_, joints[0])) + ",") +
                    " could be a skeleton: this is a prop, not a character (give a skeleton: `skeleton FILE`; with "
                    "`prop` all of it follows that node)");
            if (!prop && are_groups_of_a_prop(document_, joints))
                return document_.error(
                    "the file has no skin, and the " + std::to_string(joints.size()) + " nodes below " +
                    in_quotes(node_name(document_, joints[0])) +
                    " are groups of its meshes without names of a character: this is a prop (give "
                    "a skeleton: `skeleton FILE`; with `prop` these nodes are its joints)");
        }
        if (const Status s = check_scenes(joints); !s) return s;
        std::vector<Matrix> where;
        for (const std::size_t n : joints) {
            if (!inverse(nodes_.world[n]))
                return document_.error("joint " + in_quotes(node_name(document_, n)) + " (node " +
                                       std::to_string(n) + ") has a scale of 0, so no vertex can be bound to it");
            where.push_back(nodes_.world[n]);
        }
        scene_.warnings.push_back("the file has no skin: " + std::to_string(joints.size()) + " nodes below " +
                                  in_quotes(node_name(document_, joints[0])) + " are taken as its skeleton");
        return set_joints(document_, scene_, std::move(joints), std::move(where));
    }

    /// A new mesh with the same content, for the node n.
    Result<std::size_t> copy_of(std::size_t mesh, std::size_t n) {
        // Each copy repeats the mesh's JSON.
        const std::size_t text = document_.at("meshes", mesh)->dump(-1, ' ', true).size();
        SINEW_TRY(meshes_.spend(text, "node " + std::to_string(n)));
        rig_.mesh_copies.push_back(mesh);
        return document_.count("meshes") + rig_.mesh_copies.size() - 1;
    }

    Status read_skinned_meshes(bool bind_unskinned) {
        // The mesh as written, by mesh and skin. JOINTS_n are places in the list of a skin, so a mesh cannot serve
        // two skins with different lists: the second one gets a copy.
        std::map<std::pair<std::size_t, std::vector<std::uint32_t>>, std::size_t> written;
        std::set<std::size_t> used;
        std::size_t copies = 0;
        std::string first_copied;
        std::vector<bool> with_joint(nodes_.parent.size());  // a joint, or below one
        for (const std::size_t n : used_skins_.joint_nodes) with_joint[n] = true;
        for (const std::size_t n : nodes_.top_down)
            if (nodes_.parent[n] != none && with_joint[nodes_.parent[n]]) with_joint[n] = true;
        std::vector<std::size_t> rigid, beside;  // nodes without a skin that hang on a joint, and others
        for (std::size_t n = 0; n < nodes_.parent.size(); ++n) {
            const Json& node = *document_.at("nodes", n);
            if (!member(node, "mesh")) continue;
            const auto mesh = whole(member(node, "mesh"));
            SINEW_TRY(document_.need("meshes", mesh, "node " + std::to_string(n)));
            if (!member(node, "skin")) {
                (with_joint[n] ? rigid : beside).push_back(n);
                continue;
            }
            const std::size_t skin = used_skins_.place.at(*whole(member(node, "skin")));
            const auto [at, is_new] = written.try_emplace({*mesh, rig_.skins[skin].joints}, *mesh);
            if (is_new && !used.insert(*mesh).second) {
                SINEW_TRY_LET(at->second, copy_of(*mesh, n));
                if (copies++ == 0) first_copied = name_of(*document_.at("meshes", *mesh), "mesh", *mesh);
            }
            if (at->second != *mesh) rig_.skinned_nodes.push_back({n, at->second, skin});
            if (!is_new) continue;
            if (const Status s = meshes_.read(*mesh, at->second, skin, Matrix{}, determinant(nodes_.world[n]) < 0);
                !s)
                return s;
        }
        if (copies)
            scene_.warnings.push_back(
                std::to_string(copies) + (copies == 1 ? " mesh is" : " meshes are") +
                " copied, because one mesh is used with several skins (first: " + in_quotes(first_copied) + ")");
        const auto say = [&](const std::vector<std::size_t>& nodes, const std::string& what) {
            if (nodes.empty()) return;
            scene_.warnings.push_back(std::to_string(nodes.size()) + (nodes.size() == 1 ? " mesh" : " meshes") +
                                      " on nodes without a skin " + what +
                                      " (first: " + in_quotes(node_name(document_, nodes[0])) + ")");
        };
        say(rigid, "left as they are: they hang on joints");
        if (!bind_unskinned) {
            say(beside, "left as they are: `only-missing` binds them");
            return Done{};
        }
        say(beside, "bound to the joints of the file's skin");
        const auto largest =
            std::max_element(rig_.skins.begin(), rig_.skins.end(),
                             [](const RigSkin& a, const RigSkin& b) { return a.joints.size() < b.joints.size(); });
        return read_for_new_skins(beside, *largest, used, std::vector<std::size_t>(nodes_.parent.size(), none));
    }

    /// The joint at or nearest above each node, or none.
    std::vector<std::size_t> joints_above() const {
        std::vector<std::size_t> out(nodes_.parent.size(), none);
        for (std::size_t j = 0; j < rig_.node_of_joint.size(); ++j) out[rig_.node_of_joint[j]] = j;
        for (const std::size_t n : nodes_.top_down)
            if (out[n] == none && nodes_.parent[n] != none) out[n] = out[nodes_.parent[n]];
        return out;
    }

    /// `parts`: meshes below joints get skins of their own, for bind_parts_to_joints.
    Status read_static_meshes(bool parts) {
        RigSkin all;
        for (std::size_t j = 0; j < scene_.skeleton.joints.size(); ++j)
            all.joints.push_back(static_cast<std::uint32_t>(j));
        std::vector<std::size_t> nodes;
        for (std::size_t n = 0; n < nodes_.parent.size(); ++n)
            if (member(*document_.at("nodes", n), "mesh")) nodes.push_back(n);
        std::set<std::size_t> used;
        return read_for_new_skins(nodes, all, used,
                                  parts ? joints_above() : std::vector<std::size_t>(nodes_.parent.size(), none));
    }

    /// Meshes of nodes, where these stand in the world, for new skins with the joints of `like`. `used`: meshes
    /// that have been read before. `carrier`: of each node the joint that its mesh follows whole, or none.
    Status read_for_new_skins(const std::vector<std::size_t>& nodes, RigSkin like, std::set<std::size_t>& used,
                              const std::vector<std::size_t>& carrier) {
        like.number = none;
        like.other_matrices.clear();
        std::map<std::array<std::uint64_t, 16>, std::size_t> skin_at;
        for (const std::size_t n : nodes) {
            const auto mesh = whole(member(*document_.at("nodes", n), "mesh"));
            SINEW_TRY(document_.need("meshes", mesh, "node " + std::to_string(n)));
            // Meshes with the same world transform share a skin.
            std::array<std::uint64_t, 16> place;
            for (std::size_t k = 0; k < 16; ++k)
                place[k] = std::bit_cast<std::uint64_t>(nodes_.world[n].m[k] + 0.0);  // -0 is 0
            const bool part = carrier[n] != none;
            const auto [at, is_new] =
                part ? std::pair(skin_at.end(), true) : skin_at.try_emplace(place, rig_.skins.size());
            const std::size_t skin = part ? rig_.skins.size() : at->second;
            if (part) part_of_skin_[skin] = carrier[n];
            if (is_new) {
                // One matrix per joint, with the memory of four vertices.
                SINEW_TRY(meshes_.spend(4 * like.joints.size(), "node " + std::to_string(n)));
                like.to_scene = nodes_.world[n];
                rig_.skins.push_back(like);
            }
            std::size_t written = *mesh;
            if (!used.insert(*mesh).second) {
                SINEW_TRY_LET(written, copy_of(*mesh, n));
            }
            const std::size_t before = scene_.primitives.size();
            SINEW_TRY(meshes_.read(*mesh, written, skin, nodes_.world[n], determinant(nodes_.world[n]) < 0));
            if (scene_.primitives.size() > before)
                rig_.skinned_nodes.push_back({n, written, skin});
            else if (written != *mesh)
                rig_.mesh_copies.pop_back();
        }
        return Done{};
    }

    /// Of the parts, those that are around most joints of the skeleton, none of which has a part of its own: such a
    /// mesh is the body, whatever it hangs on.
    std::vector<std::size_t> find_bodies() const {
        const std::vector<Joint>& joints = scene_.skeleton.joints;
        std::vector<bool> has_part(joints.size());
        for (const auto& [skin, joint] : part_of_skin_) has_part[joint] = true;
        std::vector<std::size_t> joint_of_node(nodes_.parent.size(), none), order;
        for (std::size_t j = 0; j < joints.size(); ++j) joint_of_node[rig_.node_of_joint[j]] = j;
        for (const std::size_t n : nodes_.top_down)
            if (joint_of_node[n] != none) order.push_back(joint_of_node[n]);
        std::vector<std::pair<Vec3, Vec3>> box(
            rig_.skins.size(), {Vec3{INFINITY, INFINITY, INFINITY}, Vec3{-INFINITY, -INFINITY, -INFINITY}});
        for (const VertexBlock& block : rig_.blocks)
            for (std::uint32_t v = block.first_vertex; v < block.first_vertex + block.vertex_count; ++v) {
                const Vec3& p = scene_.positions[v];
                auto& [low, high] = box[block.skin];
                low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
                high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
            }
        std::vector<std::size_t> bodies;
        for (const auto& [skin, joint] : part_of_skin_) {
            const auto& [low, high] = box[skin];
            std::vector<bool> below(joints.size());
            std::size_t around = 0;
            for (const std::size_t j : order) {
                const auto parent = static_cast<std::size_t>(joints[j].parent);
                below[j] = joints[j].parent >= 0 && (parent == joint || below[parent]);
                const Vec3& p = joints[j].position;
                around += below[j] && !has_part[j] && p.x > low.x && p.x < high.x && p.y > low.y && p.y < high.y &&
                          p.z > low.z && p.z < high.z;
            }
            if (2 * around > joints.size()) bodies.push_back(skin);
        }
        return bodies;
    }

    /// In a file without a skin, a mesh below a joint follows that joint: its skin has no other one.
    void bind_parts_to_joints() {
        if (part_of_skin_.empty()) return;
        for (const std::size_t skin : find_bodies()) part_of_skin_.erase(skin);
        if (part_of_skin_.empty()) return;
        std::vector<Joint>& joints = scene_.skeleton.joints;
        // A joint that carries a part deforms it, whatever its name is; other meshes keep off the idle ones.
        const std::vector<DeformReason> by_name = idle_by_name(scene_.skeleton);
        std::vector<std::uint32_t> others;
        std::vector<bool> has_part(joints.size());
        for (const auto& [skin, joint] : part_of_skin_) has_part[joint] = true;
        for (std::size_t j = 0; j < joints.size(); ++j) {
            if (!has_part[j] || by_name[j] == DeformReason::deforms)
                others.push_back(static_cast<std::uint32_t>(j));
            if (has_part[j] && by_name[j] != DeformReason::deforms) joints[j].reason = DeformReason::included;
        }
        std::map<std::vector<std::uint32_t>, std::uint32_t> sets;
        for (std::size_t s = 0; s < rig_.skins.size(); ++s) {
            RigSkin& skin = rig_.skins[s];
            const auto part = part_of_skin_.find(s);
            skin.is_part = part != part_of_skin_.end();
            skin.joints = skin.is_part ? std::vector{static_cast<std::uint32_t>(part->second)} : others;
            const auto [at, is_new] = sets.try_emplace(skin.joints, static_cast<std::uint32_t>(sets.size()));
            skin.joint_set = at->second;
            if (is_new) scene_.skeleton.skins.push_back(skin.joints);
        }
        scene_.skin_of_vertex.resize(scene_.positions.size());
        for (const VertexBlock& block : rig_.blocks)
            std::fill_n(scene_.skin_of_vertex.begin() + block.first_vertex, block.vertex_count,
                        rig_.skins[block.skin].joint_set);
        scene_.warnings.push_back(std::to_string(part_of_skin_.size()) +
                                  (part_of_skin_.size() == 1 ? " mesh below a joint follows it whole"
                                                             : " meshes below joints follow them whole") +
                                  " (`bind-parts` binds such meshes as others)");
    }

    Document& document_;
    Scene& scene_;
    Rig& rig_;
    const NodeTree& nodes_;
    AccessorReader accessors_;
    MeshReader meshes_;
    UsedSkins used_skins_;
    std::map<std::size_t, std::size_t> part_of_skin_;  // Rig::skins -> the joint that its meshes hang on
};

}  // namespace

Result<Scene> read_scene(std::shared_ptr<Document> document, SkeletonSource source, const Context* context) {
    Scene scene;
    SceneReader reader(*document, scene, context);
    SINEW_TRY(reader.read(std::move(source)));
    scene.document = std::move(document);
    return scene;
}

Result<Scene> read_skeleton_alone(std::shared_ptr<Document> document) {
    Scene scene;
    SceneReader reader(*document, scene, nullptr);
    if (const Status read = reader.read_skeleton_alone(); !read) return read.error();
    scene.document = std::move(document);
    return scene;
}

}  // namespace sinew::io
