// A glTF document as a character: one mesh and one skeleton in the space of the bind pose.
//
// The inverse bind matrices give the pose of the joints when the mesh was bound; the rest pose of the nodes is
// often another. So the scene's space is the bind space of the first skin. A later skin is moved into it by a joint
// that both share: its two bind matrices must agree.
#include "io/gltf_scene.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "io/gltf_accessor.h"
#include "io/gltf_skeleton_search.h"

namespace sinew::io {

namespace {

std::string in_quotes(const std::string& name) { return "'" + printable(name) + "'"; }

std::string name_of(const Json& object, const char* kind, std::size_t index) {
    const std::string name = string_of(member(object, "name"));
    return name.empty() ? std::string(kind) + " " + std::to_string(index) : name;
}

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
        : document_(document), scene_(scene), rig_(document.rig), accessors_(document), context_(context) {
        std::size_t bytes = document.text.size();
        for (const auto& buffer : document.buffers) bytes += buffer.bytes.size();
        budget_ = (std::size_t{1} << 22) + 16 * bytes;
    }

    Status read(SkeletonSource source) {
        std::optional<Skeleton>& skeleton = source.skeleton;
        scene_.warnings = document_.warnings;
        if (const Status s = check_extensions(); !s) return s;
        if (const Status s = read_nodes(); !s) return s;
        bool skinned = false;
        for (std::size_t i = 0; i < document_.count("nodes"); ++i) {
            const Json& node = *document_.at("nodes", i);
            skinned = skinned || (member(node, "mesh") && member(node, "skin"));
        }
        if (skinned && skeleton && source.required)
            return Error{ErrorCode::usage, document_.name +
                                               ": the file has a skin, so its own skeleton is the one "
                                               "to bind to (leave --skeleton out)"};
        const Status posed = skinned    ? read_skins()
                             : skeleton ? add_skeleton(std::move(*skeleton))
                                        : find_skeleton(source.prop);
        if (!posed) return posed;
        const Status read = skinned ? read_skinned_meshes() : read_static_meshes();
        if (!read) return read;
        if (scene_.primitives.empty())
            return document_.error(scene_.skipped_primitives
                                       ? "its meshes have points and lines only, no triangles to bind"
                                       : "there is no mesh to bind");
        return finish_weights();
    }

    /// See read_rest_skeleton.
    Status read_rest_skeleton() {
        if (const Status s = check_extensions(); !s) return s;
        if (const Status s = read_nodes(); !s) return s;
        std::vector<bool> is_joint(parent_.size());
        bool any = false;
        for (std::size_t s = 0; s < document_.count("skins"); ++s) {
            const auto skin = read_skin(s);
            if (!skin) return skin.error();
            for (const std::size_t n : skin->nodes) is_joint[n] = any = true;
        }
        std::vector<std::size_t> nodes;
        if (any) {
            for (const std::size_t n : top_down_)
                if (is_joint[n]) nodes.push_back(n);
        } else {
            nodes = find_skeleton_nodes(document_, children_);
        }
        if (nodes.empty())
            return document_.error("there is no skeleton: no skin, and no hierarchy of nodes without meshes");
        std::vector<Matrix> where;
        for (const std::size_t n : nodes) where.push_back(world_[n]);
        return make_joints(nodes, where);
    }

private:
    // ---- nodes

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

    Status read_nodes() {
        const std::size_t count = document_.count("nodes");
        parent_.assign(count, none);
        children_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            const Json* children = member(*document_.at("nodes", i), "children");
            if (!children) continue;
            if (!children->is_array())
                return document_.error("node " + std::to_string(i) + ": children must be an array");
            for (const Json& entry : *children) {
                const auto child = whole(&entry);
                if (!child || *child >= count)
                    return document_.error("node " + std::to_string(i) + " has a child that does not exist");
                if (parent_[*child] != none)
                    return document_.error("node " + std::to_string(*child) + " is a child of both node " +
                                           std::to_string(parent_[*child]) + " and node " + std::to_string(i));
                parent_[*child] = i;
                children_[i].push_back(*child);
            }
        }
        // From the roots down; nodes that are not reached are in a cycle.
        local_.resize(count);
        world_.resize(count);
        std::vector<std::size_t>& order = top_down_;
        for (std::size_t i = 0; i < count; ++i)
            if (parent_[i] == none) order.push_back(i);
        for (std::size_t k = 0; k < order.size(); ++k)
            order.insert(order.end(), children_[order[k]].begin(), children_[order[k]].end());
        if (order.size() != count) {
            std::vector<bool> reached(count);
            for (const std::size_t i : order) reached[i] = true;
            const auto lost =
                static_cast<std::size_t>(std::find(reached.begin(), reached.end(), false) - reached.begin());
            return document_.error("node " + std::to_string(lost) + " is its own ancestor");
        }
        for (const std::size_t i : order) {
            const auto local = local_transform(i);
            if (!local) return local.error();
            local_[i] = *local;
            world_[i] = parent_[i] == none ? local_[i] : world_[parent_[i]] * local_[i];
        }
        rig_.node_parent = parent_;
        rig_.nodes_top_down = top_down_;
        rig_.node_local = local_;
        return Done{};
    }

    Result<Matrix> local_transform(std::size_t index) const {
        const Json& node = *document_.at("nodes", index);
        const auto numbers = [&](const char* key, std::span<double> out) -> Status {
            const Json* list = member(node, key);
            if (!list) return Done{};
            bool good = list->is_array() && list->size() == out.size();
            for (std::size_t i = 0; good && i < out.size(); ++i) {
                good = (*list)[i].is_number();
                if (good) out[i] = (*list)[i].get<double>();
            }
            if (good) return Done{};
            return document_.error("node " + std::to_string(index) + ": " + key + " must be " +
                                   std::to_string(out.size()) + " numbers");
        };
        Matrix out;
        if (member(node, "matrix")) {
            if (const Status s = numbers("matrix", out.m); !s) return s.error();
            return out;
        }
        std::array<double, 3> t{0, 0, 0}, s{1, 1, 1};
        std::array<double, 4> q{0, 0, 0, 1};
        if (const Status n = numbers("translation", t); !n) return n.error();
        if (const Status n = numbers("rotation", q); !n) return n.error();
        if (const Status n = numbers("scale", s); !n) return n.error();
        return compose(t, q, s);
    }

    std::string node_name(std::size_t node) const { return name_of(*document_.at("nodes", node), "node", node); }

    // ---- skeletons

    /// Makes the joints. `where`: their transforms in the scene.
    Status make_joints(const std::vector<std::size_t>& nodes, const std::vector<Matrix>& where) {
        // The nearest joint above each node, from the top down: a search upwards from each joint is quadratic on a
        // deep chain.
        std::vector<std::size_t> joint_of_node(parent_.size(), none), above(parent_.size(), none);
        for (std::size_t j = 0; j < nodes.size(); ++j) joint_of_node[nodes[j]] = j;
        for (const std::size_t n : top_down_)
            if (const std::size_t p = parent_[n]; p != none)
                above[n] = joint_of_node[p] != none ? joint_of_node[p] : above[p];
        for (std::size_t j = 0; j < nodes.size(); ++j) {
            Joint joint;
            joint.name = node_name(nodes[j]);
            if (above[nodes[j]] != none) joint.parent = static_cast<int>(above[nodes[j]]);
            const Matrix& m = where[j];
            joint.position = {static_cast<float>(m(0, 3)), static_cast<float>(m(1, 3)),
                              static_cast<float>(m(2, 3))};
            if (!std::isfinite(joint.position.x) || !std::isfinite(joint.position.y) ||
                !std::isfinite(joint.position.z))
                return document_.error("joint " + in_quotes(joint.name) + " (node " + std::to_string(nodes[j]) +
                                       ") has a position that is not finite");
            set_axes(joint, m);
            if (const Status s = read_tail(nodes[j], m, joint); !s) return s;
            scene_.skeleton.joints.push_back(std::move(joint));
        }
        join_tails();
        rig_.node_of_joint = nodes;
        rig_.bind_pose = where;
        return Done{};
    }

    /// Reads the end of a joint's bone from its node, in the node's space (docs/formats.md).
    Status read_tail(std::size_t node, const Matrix& m, Joint& joint) const {
        const Json* extras = member(*document_.at("nodes", node), "extras");
        const Json* tail = extras ? member(*extras, tail_key) : nullptr;
        if (!tail || tail->is_null()) return Done{};
        double p[3];
        bool good = tail->is_array() && tail->size() == 3;
        for (std::size_t k = 0; good && k < 3; ++k) {
            good = (*tail)[k].is_number();
            if (good) p[k] = (*tail)[k].get<double>();
        }
        const std::string place = "joint " + in_quotes(joint.name) + " (node " + std::to_string(node) +
                                  "): extras." + std::string(tail_key);
        if (!good)
            return document_.error(place + " must be three numbers, where its bone ends in the node's space");
        const auto q = transform_point(m, p[0], p[1], p[2]);
        // A bone of length zero keeps that length.
        const bool point = p[0] == 0 && p[1] == 0 && p[2] == 0;
        joint.tail = point ? joint.position
                           : Vec3{static_cast<float>(q[0]), static_cast<float>(q[1]), static_cast<float>(q[2])};
        if (!std::isfinite(joint.tail->x) || !std::isfinite(joint.tail->y) || !std::isfinite(joint.tail->z))
            return document_.error(place + " has a position that is not finite");
        return Done{};
    }

    /// Positions are rounded to floats in matrices: a tail that differs from a child's position by rounding only is
    /// set to it.
    void join_tails() {
        std::vector<Joint>& joints = scene_.skeleton.joints;
        const auto apart = [](const Vec3& a, const Vec3& b) {
            return std::max(
                {std::abs(double(a.x) - b.x), std::abs(double(a.y) - b.y), std::abs(double(a.z) - b.z)});
        };
        double size = 0;
        for (const Joint& joint : joints) size = std::max(size, apart(joint.position, {}));
        for (const Joint& joint : joints) {
            if (joint.parent < 0) continue;
            Joint& above = joints[static_cast<std::size_t>(joint.parent)];
            if (above.tail && !(*above.tail == above.position) && apart(*above.tail, joint.position) <= 1e-5 * size)
                above.tail = joint.position;
        }
    }

    /// The columns of the joint's matrix without scale, made right-handed and orthogonal; the axes of the scene if
    /// the matrix is singular.
    static void set_axes(Joint& joint, const Matrix& m) {
        double x[3], y[3], x_length = 0, y_length = 0, along = 0;
        for (std::size_t r = 0; r < 3; ++r) x_length += m(r, 0) * m(r, 0);
        for (std::size_t r = 0; r < 3; ++r) x[r] = m(r, 0) / std::sqrt(x_length);
        for (std::size_t r = 0; r < 3; ++r) along += x[r] * m(r, 1);
        for (std::size_t r = 0; r < 3; ++r) y[r] = m(r, 1) - along * x[r];
        for (std::size_t r = 0; r < 3; ++r) y_length += y[r] * y[r];
        for (double& v : y) v /= std::sqrt(y_length);
        const double z[3] = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
        if (!std::isfinite(z[0] + z[1] + z[2])) return;
        const auto vec3 = [](const double* v) {
            return Vec3{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
        };
        joint.axes = {vec3(x), vec3(y), vec3(z)};
    }

    struct Skin {
        std::vector<std::size_t> nodes;
        std::vector<Matrix> inverse_bind;
        Matrix to_scene;
    };

    Result<Skin> read_skin(std::size_t index) {
        const std::string place = "skin " + std::to_string(index);
        const auto found = document_.need("skins", index, place);
        if (!found) return found.error();
        Skin skin;
        const Json* joints = member(**found, "joints");
        if (!joints || !joints->is_array() || joints->empty()) return document_.error(place + " has no joints");
        for (const Json& entry : *joints) {
            const auto node = whole(&entry);
            if (!node || *node >= parent_.size())
                return document_.error(place + ": joint " + std::to_string(skin.nodes.size()) +
                                       " is not a node of the file");
            skin.nodes.push_back(*node);
        }
        skin.inverse_bind.resize(skin.nodes.size());
        const Json* accessor = member(**found, "inverseBindMatrices");
        if (!accessor) return skin;  // identity, as glTF defines
        const auto accessor_index = whole(accessor);
        if (!accessor_index) return document_.error(place + ": inverseBindMatrices must be an index");
        const auto elements = accessors_.read(*accessor_index, place + ": inverseBindMatrices");
        if (!elements) return elements.error();
        if (elements->width != 16 || elements->component != Component::f32)
            return document_.error(place + ": inverseBindMatrices must be MAT4 of floats");
        if (elements->count < skin.nodes.size())
            return document_.error(place + " has " + std::to_string(skin.nodes.size()) + " joints, but " +
                                   std::to_string(elements->count) + " inverse bind matrices");
        const std::vector<float> values = as_floats(*elements, false);
        for (std::size_t j = 0; j < skin.nodes.size(); ++j)
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(j * 16), 16, skin.inverse_bind[j].m.begin());
        return skin;
    }

    /// The transform of every node at the bind pose, from the nearest ancestor for which it is known.
    std::vector<std::optional<Matrix>> estimate_bind(const std::map<std::size_t, Matrix>& bind) const {
        std::vector<std::optional<Matrix>> out(parent_.size());
        for (const std::size_t n : top_down_) {
            if (const auto found = bind.find(n); found != bind.end())
                out[n] = found->second;
            else if (parent_[n] != none && out[parent_[n]])
                out[n] = *out[parent_[n]] * local_[n];
        }
        return out;
    }

    /// Joints of all skins that a mesh uses, in the bind space of the first.
    Status read_skins() {
        std::map<std::size_t, Matrix> bind;  // node -> its transform at the bind pose, scene space
        std::vector<std::size_t> joint_nodes;
        std::map<std::size_t, std::uint32_t> joint_of_node;
        for (std::size_t n = 0; n < parent_.size(); ++n) {
            const Json& node = *document_.at("nodes", n);
            if (!member(node, "mesh") || !member(node, "skin")) continue;
            const auto index = whole(member(node, "skin"));
            if (!index) return document_.error("node " + std::to_string(n) + ": skin must be an index");
            if (rig_skin_.contains(*index)) continue;
            auto skin = read_skin(*index);
            if (!skin) return skin.error();

            std::vector<std::optional<Matrix>> bound(skin->nodes.size());
            for (std::size_t j = 0; j < bound.size(); ++j) bound[j] = inverse(skin->inverse_bind[j]);
            if (!bind.empty()) skin->to_scene = between(*skin, bound, bind, *index);
            RigSkin rig_skin;
            for (std::size_t j = 0; j < bound.size(); ++j) {
                const std::size_t joint_node = skin->nodes[j];
                if (bound[j]) bind.try_emplace(joint_node, skin->to_scene * *bound[j]);
                const auto [at, is_new] =
                    joint_of_node.try_emplace(joint_node, static_cast<std::uint32_t>(joint_nodes.size()));
                if (is_new) joint_nodes.push_back(joint_node);
                rig_skin.joints.push_back(at->second);
            }
            rig_skin_[*index] = rig_.skins.size();
            rig_.skins.push_back(std::move(rig_skin));
            skins_.push_back(std::move(*skin));
        }

        std::vector<Matrix> where;
        std::size_t estimated = 0;
        const auto estimates = estimate_bind(bind);
        for (const std::size_t n : joint_nodes) {
            estimated += !bind.contains(n);
            where.push_back(estimates[n].value_or(world_[n]));
        }
        if (estimated)
            scene_.warnings.push_back(std::to_string(estimated) +
                                      " joints have an inverse bind matrix that cannot be inverted: placed by the "
                                      "nodes' rest pose");

        // Sets of joints only matter if skins differ in them.
        std::map<std::vector<std::uint32_t>, std::uint32_t> sets;
        for (const RigSkin& skin : rig_.skins) {
            std::vector<std::uint32_t> sorted = skin.joints;
            std::sort(sorted.begin(), sorted.end());
            sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
            const auto [at, is_new] = sets.try_emplace(std::move(sorted), static_cast<std::uint32_t>(sets.size()));
            set_of_skin_.push_back(at->second);
        }
        if (sets.size() > 1) {
            scene_.skeleton.skins.resize(sets.size());
            for (const auto& [joints, number] : sets) scene_.skeleton.skins[number] = joints;
        } else {
            set_of_skin_.clear();
        }
        return make_joints(joint_nodes, where);
    }

    /// From the bind space of a skin to that of the scene.
    Matrix between(const Skin& skin, const std::vector<std::optional<Matrix>>& bound,
                   const std::map<std::size_t, Matrix>& bind, std::size_t index) {
        for (std::size_t j = 0; j < bound.size(); ++j)
            if (const auto shared = bind.find(skin.nodes[j]); shared != bind.end() && bound[j])
                return snapped(shared->second * skin.inverse_bind[j], bind);
        const auto estimates = estimate_bind(bind);
        for (std::size_t j = 0; j < bound.size(); ++j)
            if (const auto& estimate = estimates[skin.nodes[j]]; estimate && bound[j])
                return snapped(*estimate * skin.inverse_bind[j], bind);
        // No joint of this skin is below a known one: both skins are related by the rest pose of the nodes.
        for (const auto& [node, matrix] : bind)
            if (const auto to_node = inverse(world_[node]))
                for (std::size_t j = 0; j < bound.size(); ++j)
                    if (bound[j])
                        return snapped(matrix * *to_node * world_[skin.nodes[j]] * skin.inverse_bind[j], bind);
        scene_.warnings.push_back("skin " + std::to_string(index) +
                                  " cannot be related to the others: taken to be in the same space");
        return {};
    }

    /// Rounding must not separate vertices at one position: a matrix that differs from the identity by noise only
    /// becomes the identity.
    static Matrix snapped(const Matrix& m, const std::map<std::size_t, Matrix>& bind) {
        double size = 0;  // of the skeleton, for the translation
        for (const auto& [node, matrix] : bind)
            for (std::size_t r = 0; r < 3; ++r) size = std::max(size, std::abs(matrix(r, 3)));
        const Matrix identity;
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 4; ++c)
                if (!(std::abs(m(r, c) - identity(r, c)) <= 1e-5 * (c == 3 ? size : 1))) return m;
        return identity;
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
            auto skin = read_skin(i);
            if (!skin) return skin.error();
            if (skin->nodes.size() > largest.size()) largest = std::move(skin->nodes);
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
                apart = std::max(apart, std::abs(world_[n](r, 3) - world_[nodes[0]](r, 3)));
                size = std::max(size, std::abs(world_[n](r, 3)));
            }
        return apart <= 1e-6 * size;
    }

    /// A mesh and the joints of its skin must be in the same scenes. Nodes of scenes are roots.
    Status check_scenes(const std::vector<std::size_t>& joints) const {
        std::vector<std::size_t> root(parent_.size());
        std::set<std::size_t> of_meshes, of_joints;
        for (const std::size_t n : top_down_) {
            root[n] = parent_[n] == none ? n : root[parent_[n]];
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
                                       in_quotes(node_name(*missing.begin())) +
                                       ": a skin cannot join them (add node " + std::to_string(*missing.begin()) +
                                       " to the scene, or give a skeleton with " + "--skeleton FILE)");
        }
        return Done{};
    }

    /// A file without skinned meshes: the skeleton is an unused skin or a hierarchy of nodes, as the nodes pose it.
    Status find_skeleton(bool prop) {
        rig_.source = RigSource::nodes;
        std::vector<std::size_t> joints;
        if (document_.count("skins") > 0) {
            auto found = joints_of_largest_skin();
            if (!found) return found.error();
            joints = std::move(*found);
        } else {
            joints = find_skeleton_nodes(document_, children_);
            if (joints.empty())
                return document_.error(
                    "the file has no skin and no node hierarchy that could be a skeleton "
                    "(sinew bind takes one with --skeleton FILE; sinew rig places one)");
            if (!prop && at_one_place(joints))
                return document_.error(
                    "the file has no skin, and of its nodes only " +
                    (joints.size() == 1 ? in_quotes(node_name(joints[0]))
                                        : std::to_string(joints.size()) + " at one place, below " +
                                              in_quotes(node_name(joints[0])) + ",") +
                    " could be a skeleton: this is a prop, not a character (give a skeleton with --skeleton FILE; "
                    "with --prop all of it follows that node)");
            if (!prop && are_groups_of_a_prop(document_, joints, children_))
                return document_.error(
                    "the file has no skin, and the " + std::to_string(joints.size()) + " nodes below " +
                    in_quotes(node_name(joints[0])) +
                    " are groups of its meshes without names of a character: this is a prop (give "
                    "a skeleton with --skeleton FILE; with --prop these nodes are its joints)");
        }
        if (const Status s = check_scenes(joints); !s) return s;
        for (const std::size_t n : joints) {
            if (!inverse(world_[n]))
                return document_.error("joint " + in_quotes(node_name(n)) + " (node " + std::to_string(n) +
                                       ") has a scale of 0, so no vertex can be bound to it");
            rig_.joint_to_world.push_back(world_[n]);
        }
        rig_.joint_nodes = joints;
        scene_.warnings.push_back("the file has no skin: " + std::to_string(joints.size()) + " nodes below " +
                                  in_quotes(node_name(joints[0])) + " are taken as its skeleton");
        return make_joints(joints, rig_.joint_to_world);
    }

    // ---- meshes

    /// A new mesh with the same content, for the node n.
    Result<std::size_t> copy_of(std::size_t mesh, std::size_t n) {
        // Each copy repeats the mesh's JSON.
        const std::size_t text = document_.at("meshes", mesh)->dump(-1, ' ', true).size();
        if (const Status s = spend(text, "node " + std::to_string(n)); !s) return s.error();
        rig_.mesh_copies.push_back(mesh);
        return document_.count("meshes") + rig_.mesh_copies.size() - 1;
    }

    Status read_skinned_meshes() {
        // The mesh as written, by mesh and skin. JOINTS_n are places in the list of a skin, so a mesh cannot serve
        // two skins with different lists: the second one gets a copy.
        std::map<std::pair<std::size_t, std::vector<std::uint32_t>>, std::size_t> written;
        std::set<std::size_t> used;
        std::size_t rigid = 0, copies = 0;
        std::string first_rigid, first_copied;
        for (std::size_t n = 0; n < parent_.size(); ++n) {
            const Json& node = *document_.at("nodes", n);
            if (!member(node, "mesh")) continue;
            const auto mesh = whole(member(node, "mesh"));
            if (const auto found = document_.need("meshes", mesh, "node " + std::to_string(n)); !found)
                return found.error();
            if (!member(node, "skin")) {
                if (rigid++ == 0) first_rigid = node_name(n);
                continue;
            }
            const std::size_t skin = rig_skin_.at(*whole(member(node, "skin")));
            const auto [at, is_new] = written.try_emplace({*mesh, rig_.skins[skin].joints}, *mesh);
            if (is_new && !used.insert(*mesh).second) {
                const auto copy = copy_of(*mesh, n);
                if (!copy) return copy.error();
                at->second = *copy;
                if (copies++ == 0) first_copied = name_of(*document_.at("meshes", *mesh), "mesh", *mesh);
            }
            if (at->second != *mesh) rig_.skinned_nodes.push_back({n, at->second, skin});
            if (!is_new) continue;
            copying_ = at->second != *mesh;
            if (const Status s = read_mesh(*mesh, at->second, skin, skins_[skin].to_scene); !s) return s;
        }
        if (copies)
            scene_.warnings.push_back(
                std::to_string(copies) + (copies == 1 ? " mesh is" : " meshes are") +
                " copied, because one mesh is worn with several skins (first: " + in_quotes(first_copied) + ")");
        if (rigid)
            scene_.warnings.push_back(
                std::to_string(rigid) + (rigid == 1 ? " mesh" : " meshes") +
                " on nodes without a skin left as they are (first: " + in_quotes(first_rigid) + ")");
        return Done{};
    }

    Status read_static_meshes() {
        std::vector<std::uint32_t> all(scene_.skeleton.joints.size());
        for (std::size_t j = 0; j < all.size(); ++j) all[j] = static_cast<std::uint32_t>(j);
        std::set<std::size_t> used;
        std::map<std::array<std::uint64_t, 16>, std::size_t> skin_at;
        for (std::size_t n = 0; n < parent_.size(); ++n) {
            const Json& node = *document_.at("nodes", n);
            if (!member(node, "mesh")) continue;
            const auto mesh = whole(member(node, "mesh"));
            if (const auto found = document_.need("meshes", mesh, "node " + std::to_string(n)); !found)
                return found.error();
            // Meshes with the same world transform share a skin.
            std::array<std::uint64_t, 16> place;
            for (std::size_t k = 0; k < 16; ++k)
                place[k] = std::bit_cast<std::uint64_t>(world_[n].m[k] + 0.0);  // -0 is 0
            const auto [at, is_new] = skin_at.try_emplace(place, rig_.skins.size());
            const std::size_t skin = at->second;
            if (is_new) {
                // One matrix per joint, with the memory of four vertices.
                if (const Status s = spend(4 * all.size(), "node " + std::to_string(n)); !s) return s;
                rig_.skins.push_back({all, world_[n]});
            }
            std::size_t written = *mesh;
            if (!used.insert(*mesh).second) {
                const auto copy = copy_of(*mesh, n);
                if (!copy) return copy.error();
                written = *copy;
            }
            const std::size_t before = scene_.primitives.size();
            if (const Status s = read_mesh(*mesh, written, skin, world_[n]); !s) return s;
            if (scene_.primitives.size() > before)
                rig_.skinned_nodes.push_back({n, written, skin});
            else if (written != *mesh)
                rig_.mesh_copies.pop_back();
        }
        return Done{};
    }

    /// Primitives with equal keys have the same vertices: skin, POSITION, Draco data, JOINTS_n and WEIGHTS_n.
    using BlockKey = std::tuple<std::size_t, std::size_t, std::size_t, std::vector<std::size_t>>;

    Status read_mesh(std::size_t mesh, std::size_t written_mesh, std::size_t skin, const Matrix& to_scene) {
        const Json& json = *document_.at("meshes", mesh);
        const std::string mesh_name = name_of(json, "mesh", mesh);
        const Json* primitives = member(json, "primitives");
        if (!primitives || !primitives->is_array())
            return document_.error("mesh " + in_quotes(mesh_name) + " has no primitives");
        bool contributes = false;
        for (std::size_t p = 0; p < primitives->size(); ++p) {
            if (context_ && context_->cancel)
                return Error{ErrorCode::cancelled, "cancelled while reading " + document_.name};
            const Json& primitive = (*primitives)[p];
            const std::string place = "mesh " + in_quotes(mesh_name) + " primitive " + std::to_string(p);
            const auto mode = whole_or(primitive, "mode", 4);
            if (!mode || *mode > 6) return document_.error(place + ": unknown mode");
            if (*mode < 4) {
                ++scene_.skipped_primitives;
                continue;
            }
            const Json* attributes = member(primitive, "attributes");
            const Json* position = attributes ? member(*attributes, "POSITION") : nullptr;
            if (!position) {
                scene_.warnings.push_back(place + " has no POSITION: left out");
                continue;
            }
            if (const Status s = read_primitive(primitive, {written_mesh, p}, *mode, skin, to_scene, place); !s)
                return s;
            Primitive& read = scene_.primitives.back();
            read.name = mesh_name + "/" + std::to_string(p);
            read.mesh = mesh_name;
            const Json* materials = member(document_.json, "materials");
            const auto material = whole(member(primitive, "material"));
            if (material && materials && materials->is_array() && *material < materials->size())
                read.material = name_of((*materials)[*material], "material", *material);
            contributes = true;
        }
        scene_.mesh_count += contributes;
        return Done{};
    }

    /// A primitive while it is read.
    struct PrimitiveSource {
        const Json& json;
        std::string place;  // in messages
        DracoMesh draco;
        bool compressed = false;
    };

    Status read_primitive(const Json& primitive, PrimitiveRef ref, std::size_t mode, std::size_t skin,
                          const Matrix& to_scene, const std::string& place) {
        PrimitiveSource source{primitive, place, {}, has_extension(primitive, draco_extension)};
        if (source.compressed) {
            auto decoded = read_draco(document_, primitive, place);
            if (!decoded) return decoded.error();
            source.draco = std::move(*decoded);
            budget_ += source.draco.indices.count;  // Draco compresses far better than the budget allows for
        }
        const auto block_index = find_or_read_block(source, skin, to_scene);
        if (!block_index) return block_index.error();
        VertexBlock& block = rig_.blocks[*block_index];
        block.primitives.push_back(ref);

        Primitive out;
        out.first_vertex = block.first_vertex;
        out.vertex_count = block.vertex_count;
        out.first_triangle = static_cast<std::uint32_t>(scene_.triangles.size());
        const auto indices = read_indices(source);
        if (!indices) return indices.error();
        if (source.compressed) mode = 4;  // Draco turns strips into triangles
        if (const Status s = add_triangles(*indices, mode, block, place); !s) return s;
        out.triangle_count = static_cast<std::uint32_t>(scene_.triangles.size()) - out.first_triangle;
        scene_.primitives.push_back(std::move(out));
        return Done{};
    }

    Result<Elements> read_attribute(const PrimitiveSource& source, const std::string& name) {
        if (const auto found = source.draco.attributes.find(name); found != source.draco.attributes.end())
            return found->second;
        const auto accessor = whole(member(*member(source.json, "attributes"), name.c_str()));
        if (!accessor) return document_.error(source.place + ": " + name + " must be an accessor's index");
        return accessors_.read(*accessor, source.place + ": " + name);
    }

    Result<BlockKey> block_key(const PrimitiveSource& source, std::size_t skin) const {
        const Json& attributes = *member(source.json, "attributes");
        const auto position = whole(member(attributes, "POSITION"));
        if (!position) return document_.error(source.place + ": POSITION must be an accessor's index");
        BlockKey key{rig_.source == RigSource::skins ? skin : rig_.skinned_nodes.size() + 1, *position, none, {}};
        if (source.compressed)
            std::get<2>(key) =
                whole(member(*member(*member(source.json, "extensions"), draco_extension), "bufferView"))
                    .value_or(none);
        for (std::size_t set = 0;; ++set) {
            const Json* joints = member(attributes, ("JOINTS_" + std::to_string(set)).c_str());
            const Json* weights = member(attributes, ("WEIGHTS_" + std::to_string(set)).c_str());
            if (!joints || !weights) break;
            for (const Json* accessor : {joints, weights})
                std::get<3>(key).push_back(whole(accessor).value_or(none));
        }
        return key;
    }

    /// The vertices of a primitive: those of an earlier one with the same accessors, or new ones. Returns a place
    /// in Rig::blocks.
    Result<std::size_t> find_or_read_block(const PrimitiveSource& source, std::size_t skin,
                                           const Matrix& to_scene) {
        auto key = block_key(source, skin);
        if (!key) return key.error();
        if (const auto known = block_of_.find(*key); known != block_of_.end()) return known->second;
        const std::string& place = source.place;
        const auto elements = read_attribute(source, "POSITION");
        if (!elements) return elements.error();
        if (elements->width != 3 || elements->component == Component::u32)
            return document_.error(place + ": POSITION must be VEC3 of floats (or of small integers)");
        if (const Status s = spend(elements->count, place); !s) return s.error();
        VertexBlock block;
        block.first_vertex = static_cast<std::uint32_t>(scene_.positions.size());
        block.vertex_count = static_cast<std::uint32_t>(elements->count);
        block.skin = skin;
        block.to_scene = to_scene;
        if (const Status s = add_positions(*elements, to_scene, place); !s) return s.error();
        if (!set_of_skin_.empty()) scene_.skin_of_vertex.resize(scene_.positions.size(), set_of_skin_[skin]);
        counts_.resize(scene_.positions.size(), 0);
        const std::size_t sets = std::get<3>(*key).size() / 2;
        if (sets > 0 && rig_.source == RigSource::skins) {
            std::vector<Elements> data;
            for (std::size_t set = 0; set < sets; ++set)
                for (const char* kind : {"JOINTS_", "WEIGHTS_"}) {
                    auto values = read_attribute(source, kind + std::to_string(set));
                    if (!values) return values.error();
                    data.push_back(std::move(*values));
                }
            if (const Status s = add_weights(data, block, place); !s) return s.error();
        }
        rig_.blocks.push_back(std::move(block));
        block_of_[std::move(*key)] = rig_.blocks.size() - 1;
        return rig_.blocks.size() - 1;
    }

    /// Empty where the primitive has no indices.
    Result<std::optional<std::vector<std::uint32_t>>> read_indices(const PrimitiveSource& source) {
        if (source.compressed) return std::optional(as_unsigned(source.draco.indices));
        const Json* accessor = member(source.json, "indices");
        if (!accessor) return std::optional<std::vector<std::uint32_t>>();
        const std::string asker = source.place + ": indices";
        const auto index = whole(accessor);
        if (!index) return document_.error(asker + " must be an accessor's index");
        const auto elements = accessors_.read(*index, asker);
        if (!elements) return elements.error();
        if (elements->width != 1 || elements->component == Component::f32 || elements->component == Component::i8 ||
            elements->component == Component::i16)
            return document_.error(asker + " must be SCALAR u8, u16 or u32");
        return std::optional(as_unsigned(*elements));
    }

    /// Primitives may share accessors, and every world transform of a mesh needs a skin of its own, so a small file
    /// can request any number of vertices, triangles and matrices. The limit is four million plus 16 per byte of
    /// the file.
    Status spend(std::size_t elements, const std::string& place) {
        if (elements > budget_ || scene_.positions.size() + elements > 0xfffffffeu ||
            scene_.triangles.size() + elements > 0xfffffffeu)
            return document_.error(place +
                                   ": the meshes of the file share data and have too many vertices, "
                                   "triangles and inverse bind matrices in total (join meshes, or remove copies)");
        budget_ -= elements;
        return Done{};
    }

    Status add_positions(const Elements& elements, const Matrix& to_scene, const std::string& place) {
        const std::vector<float> values = as_floats(elements, elements.normalized);
        const bool moved = !(to_scene == Matrix{});
        for (std::size_t i = 0; i < elements.count; ++i) {
            Vec3 p{values[3 * i], values[3 * i + 1], values[3 * i + 2]};
            if (moved) {
                const auto q = transform_point(to_scene, p.x, p.y, p.z);
                p = {static_cast<float>(q[0]), static_cast<float>(q[1]), static_cast<float>(q[2])};
            }
            if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z))
                return document_.error(place + " vertex " + std::to_string(i) +
                                       ": its position is not finite (repair the mesh)");
            scene_.positions.push_back(p);
        }
        return Done{};
    }

    Status add_weights(const std::vector<Elements>& data, const VertexBlock& block, const std::string& place) {
        std::vector<std::vector<std::uint32_t>> joints;
        std::vector<std::vector<float>> weights;
        for (std::size_t s = 0; s < data.size(); s += 2) {
            const std::string set = std::to_string(s / 2);
            if (data[s].width != 4 || data[s].component == Component::f32 || data[s].component == Component::i8 ||
                data[s].component == Component::i16)
                return document_.error(place + ": JOINTS_" + set + " must be VEC4 of u8 or u16");
            if (data[s + 1].width != 4) return document_.error(place + ": WEIGHTS_" + set + " must be VEC4");
            if (data[s].count != block.vertex_count || data[s + 1].count != block.vertex_count)
                return document_.error(place + ": JOINTS_" + set + " and WEIGHTS_" + set + " must have the " +
                                       std::to_string(block.vertex_count) + " elements of POSITION");
            joints.push_back(as_unsigned(data[s]));
            // Integers count as normalised even if the accessor does not say so: rows are normalised later.
            weights.push_back(as_floats(data[s + 1], data[s + 1].component != Component::f32));
        }
        const std::vector<std::uint32_t>& skin_joints = rig_.skins[block.skin].joints;
        std::size_t bad = 0, first_bad = 0;
        for (std::uint32_t v = 0; v < block.vertex_count; ++v) {
            std::uint32_t& count = counts_[block.first_vertex + v];
            for (std::size_t s = 0; s < joints.size(); ++s)
                for (std::size_t k = 4 * std::size_t{v}; k < 4 * std::size_t{v} + 4; ++k) {
                    const float weight = weights[s][k];
                    if (weight == 0) continue;
                    if (!(weight > 0 && std::isfinite(weight))) {
                        if (bad++ == 0) first_bad = v;
                        continue;
                    }
                    if (joints[s][k] >= skin_joints.size() && copying_) continue;
                    if (joints[s][k] >= skin_joints.size())
                        return document_.error(place + " vertex " + std::to_string(v) + ": JOINTS_" +
                                               std::to_string(s) + " names joint " + std::to_string(joints[s][k]) +
                                               " of a skin of " + std::to_string(skin_joints.size()));
                    influences_.push_back({skin_joints[joints[s][k]], weight});
                    ++count;
                }
        }
        if (bad)
            scene_.warnings.push_back(place + ": " + std::to_string(bad) +
                                      " negative or not finite weights of the file count as 0 (first: vertex " +
                                      std::to_string(first_bad) + ")");
        has_weights_ = true;
        return Done{};
    }

    Status add_triangles(const std::optional<std::vector<std::uint32_t>>& indices, std::size_t mode,
                         const VertexBlock& block, const std::string& place) {
        const std::size_t corners = indices ? indices->size() : block.vertex_count;
        if (indices)
            for (std::size_t i = 0; i < corners; ++i)
                if ((*indices)[i] >= block.vertex_count)
                    return document_.error(place + ": index " + std::to_string(i) + " is " +
                                           std::to_string((*indices)[i]) + ", but there are " +
                                           std::to_string(block.vertex_count) + " vertices");
        const std::size_t count = triangle_count(mode, corners);
        if (const Status s = spend(count, place); !s) return s;
        if (mode == 4 && corners % 3 != 0)
            scene_.warnings.push_back(place + ": the last " + std::to_string(corners % 3) +
                                      " corners after the last whole triangle are left out");
        const auto corner = [&](std::size_t i) {
            return block.first_vertex + (indices ? (*indices)[i] : static_cast<std::uint32_t>(i));
        };
        for (std::size_t i = 0; i < count; ++i) {
            const auto [a, b, c] = triangle_corners(mode, i);
            const Triangle t{corner(a), corner(b), corner(c)};
            // Strips are joined by triangles without area; these are not defects of the mesh.
            if (mode == 5 && (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])) continue;
            scene_.triangles.push_back(t);
        }
        return Done{};
    }

    Status finish_weights() {
        if (!has_weights_) return Done{};
        auto weights = SkinWeights::from_rows(counts_, std::move(influences_));
        if (!weights) return Error{ErrorCode::internal, document_.name + ": " + weights.error().message};
        scene_.weights = std::move(*weights);
        return Done{};
    }

    Document& document_;
    Scene& scene_;
    Rig& rig_;
    AccessorReader accessors_;
    const Context* const context_;
    std::size_t budget_ = 0;  // vertices and triangles that may still be read

    std::vector<std::size_t> parent_;
    std::vector<std::vector<std::size_t>> children_;
    std::vector<std::size_t> top_down_;  // nodes, parents first
    std::vector<Matrix> local_, world_;

    std::map<std::size_t, std::size_t> rig_skin_;  // skin of the file -> Rig::skins
    std::vector<Skin> skins_;                      // as Rig::skins
    std::vector<std::uint32_t> set_of_skin_;       // Rig::skins -> Skeleton::skins; empty = no limits

    std::map<BlockKey, std::size_t> block_of_;
    std::vector<std::uint32_t> counts_;
    std::vector<Influence> influences_;
    bool has_weights_ = false;
    bool copying_ = false;  // a mesh for another skin than that of its JOINTS_n, which may not fit
};

}  // namespace

Result<Scene> read_scene(std::shared_ptr<Document> document, SkeletonSource source, const Context* context) {
    Scene scene;
    SceneReader reader(*document, scene, context);
    if (const Status read = reader.read(std::move(source)); !read) return read.error();
    scene.document = std::move(document);
    return scene;
}

Result<Skeleton> read_rest_skeleton(Document& document) {
    Scene scene;
    SceneReader reader(document, scene, nullptr);
    if (const Status read = reader.read_rest_skeleton(); !read) return read.error();
    return std::move(scene.skeleton);
}

}  // namespace sinew::io
