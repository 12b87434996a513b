// The search for a skeleton among the nodes of a document without skins.
#include "io/gltf_skeleton_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/body_part.h"
#include "core/joint_names.h"
#include "core/joint_words.h"
#include "io/gltf_morphs.h"

namespace sinew::io {

namespace {

class SkeletonSearch {
public:
    explicit SkeletonSearch(const Document& document)
        : document_(document),
          children_(document.rig.nodes.children),
          parent_(document.rig.nodes.parent),
          top_down_(document.rig.nodes.top_down) {}

    std::vector<std::size_t> run() {
        find_possible_joints();
        leave_out_groups();
        std::vector<std::size_t> joints = search();
        // A robot may have a mesh on every joint.
        if (joints.size() < 2 && find_joints_with_meshes()) joints = search();
        return joints;
    }

private:
    std::vector<std::size_t> search() {
        count_below();
        std::vector<std::size_t> joints;
        for (const std::size_t root : without_holders(largest_tree())) collect(root, joints);
        if (joints.size() == 1 && !named_like_joint(joints[0])) joints.clear();
        return joints;
    }

    std::string name_of(std::size_t node) const {  // in lower case
        std::string name = string_of(member(*document_.at("nodes", node), "name"));
        for (char& c : name)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        return name;
    }

    /// Named like the object that holds a skeleton ("Armature", "rig.001", "Skeleton_3") rather than like a joint
    /// ("Skeleton_torso_joint_1", "RigPelvis").
    bool named_like_holder(std::size_t node) const {
        const std::string name = name_of(node);
        for (const std::string_view word : words_for(WordUse::holder).whole)
            if (name.starts_with(word) && name.find_first_not_of("0123456789._- ", word.size()) == name.npos)
                return true;
        return name.starts_with("rootnode") || name.starts_with("sketchfab");
    }

    bool named_like_joint(std::size_t node) const {
        const std::string name = name_of(node);
        for (const char* word : {"bone", "joint", "armature", "skeleton", "root", "hip", "pelvis", "rig"})
            if (name.find(word) != name.npos) return true;
        return false;
    }

    /// Nodes that may be joints: those without mesh, camera and light, and others that stand within the skeleton.
    void find_possible_joints() {
        possible_.resize(parent_.size());
        std::vector<std::size_t> plain(parent_.size(), 0);  // at the node and below it
        for (std::size_t k = top_down_.size(); k-- > 0;) {
            const std::size_t i = top_down_[k];
            const Json& node = *document_.at("nodes", i);
            possible_[i] =
                !member(node, "mesh") && !member(node, "camera") && !has_extension(node, "KHR_lights_punctual");
            plain[i] += possible_[i];
            if (parent_[i] != Rig::no_node) plain[parent_[i]] += plain[i];
        }
        for (const std::size_t i : top_down_) {
            if (possible_[i]) continue;
            std::size_t branches = 0, limbs = 0;
            for (const std::size_t child : children_[i]) branches += plain[child] > 0, limbs += plain[child] > 1;
            const bool within = has_possible_parent(i) && !named_like_holder(parent_[i]) && !at_parent(i);
            possible_[i] = limbs > 1 || (branches > 0 && within) ||
                           (branches > 1 && names_body_part(string_of(member(*document_.at("nodes", i), "name"))));
        }
    }

    /// A node at its parent's place that only groups meshes, that no animation moves, and that is not named after a
    /// part of the body, is no joint.
    void leave_out_groups() {
        std::set<std::size_t> moved;
        for (std::size_t a = 0; a < document_.count("animations"); ++a)
            if (const Json* channels = member(*document_.at("animations", a), "channels");
                channels && channels->is_array())
                for (const Json& channel : *channels)
                    if (const Json* target = member(channel, "target"))
                        if (const auto node = whole(member(*target, "node"))) moved.insert(*node);
        for (std::size_t k = top_down_.size(); k-- > 0;) {
            const std::size_t i = top_down_[k];
            if (!possible_[i] || children_[i].empty() || !has_possible_parent(i) || !at_parent(i) ||
                moved.contains(i) || named_like_joint(i) ||
                names_body_part(string_of(member(*document_.at("nodes", i), "name"))))
                continue;
            if (std::none_of(children_[i].begin(), children_[i].end(), [&](std::size_t c) { return possible_[c]; }))
                possible_[i] = false;
        }
    }

    /// Takes nodes with meshes for joints, too; false where no mesh hangs on another one's node, at another place.
    bool find_joints_with_meshes() {
        const auto has_mesh = [&](std::size_t i) { return member(*document_.at("nodes", i), "mesh") != nullptr; };
        bool any = false;
        for (std::size_t i = 0; i < possible_.size(); ++i) {
            if (!has_mesh(i)) continue;
            possible_[i] = true;
            any = any || (parent_[i] != Rig::no_node && has_mesh(parent_[i]) && !at_parent(i));
        }
        return any;
    }

    bool at_parent(std::size_t node) const {
        const Matrix& local = document_.rig.nodes.local[node];
        return local(0, 3) == 0 && local(1, 3) == 0 && local(2, 3) == 0;
    }

    bool has_possible_parent(std::size_t node) const {
        return parent_[node] != Rig::no_node && possible_[parent_[node]];
    }

    /// Size of the tree of possible joints below each of them, itself included.
    void count_below() {
        size_.assign(possible_.size(), 0);
        for (std::size_t k = top_down_.size(); k-- > 0;) {
            const std::size_t i = top_down_[k];
            if (!possible_[i]) continue;
            ++size_[i];
            if (has_possible_parent(i)) size_[parent_[i]] += size_[i];
        }
    }

    /// The root of the largest tree of possible joints; nothing where there is none.
    std::vector<std::size_t> largest_tree() const {
        std::vector<std::size_t> root;
        for (const std::size_t i : top_down_)
            if (possible_[i] && !has_possible_parent(i) && (root.empty() || size_[i] > size_[root[0]])) root = {i};
        return root;
    }

    /// Nodes at the top that only hold the skeleton (and the meshes beside it) are no joints, and neither are the
    /// nodes above such a holder.
    std::vector<std::size_t> without_holders(std::vector<std::size_t> roots) const {
        std::vector<bool> holder(possible_.size());
        for (std::size_t k = top_down_.size(); k-- > 0;) {
            const std::size_t i = top_down_[k];
            if (named_like_holder(i)) holder[i] = true;
            if (holder[i] && parent_[i] != Rig::no_node) holder[parent_[i]] = true;
        }
        while (roots.size() == 1) {
            const std::size_t root = roots[0];
            std::vector<std::size_t> below;
            for (const std::size_t child : children_[root])
                if (possible_[child]) below.push_back(child);
            if (below.empty() || (!holder[root] && (carries_limbs(root) || !holds_body(root)))) break;
            const auto largest = *std::max_element(below.begin(), below.end(), [&](std::size_t a, std::size_t b) {
                return size_[a] < size_[b] || (size_[a] == size_[b] && a > b);
            });
            if (is_armature(root))  // all of its children are roots of the skeleton
                roots = below;
            else if (size_[largest] >= 2 || holder[root])
                roots = {largest};
            else
                break;
        }
        return roots;
    }

    /// Whether a node that holds a mesh is a joint (hips with a belt) rather than the holder of mesh and skeleton:
    /// of these three at least two are true: several limbs begin here, it is not at its parent's place, and it is
    /// named after a part of the body.
    bool carries_limbs(std::size_t node) const {
        std::size_t limbs = 0;
        for (const std::size_t child : children_[node]) limbs += possible_[child] && size_[child] > 1;
        const bool named = names_body_part(string_of(member(*document_.at("nodes", node), "name")));
        return int{limbs > 1} + int{!at_parent(node)} + int{named} > 1;
    }

    /// Whether the meshes that hang on a node, not on joints below it, are around most of these joints. Other
    /// meshes (a prop at the root) do not make it a holder.
    bool holds_body(std::size_t root) const {
        const NodeTree& nodes = document_.rig.nodes;
        Box box;
        std::vector<std::size_t> stack{root};
        while (!stack.empty()) {
            const std::size_t i = stack.back();
            stack.pop_back();
            add_mesh(i, box);
            for (const std::size_t child : children_[i])
                if (!possible_[child]) stack.push_back(child);
        }
        std::vector<std::size_t> joints;
        collect(root, joints);
        const auto around = std::count_if(joints.begin() + 1, joints.end(), [&](std::size_t n) {
            const Matrix& at = nodes.world[n];
            return box.contains({at(0, 3), at(1, 3), at(2, 3)});
        });
        return 2 * static_cast<std::size_t>(around) >= joints.size();
    }

    struct Box {
        std::array<double, 3> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
        void add(const std::array<double, 3>& p) {
            for (std::size_t k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
        }
        bool contains(const std::array<double, 3>& p) const {
            for (std::size_t k = 0; k < 3; ++k)
                if (!(p[k] >= low[k] && p[k] <= high[k])) return false;
            return true;
        }
    };

    /// Adds the corners of a node's mesh, as its accessors state them, in the world.
    void add_mesh(std::size_t node, Box& box) const {
        const auto mesh = whole(member(*document_.at("nodes", node), "mesh"));
        const Json* json = mesh ? document_.at("meshes", *mesh) : nullptr;
        const Json* primitives = json ? member(*json, "primitives") : nullptr;
        if (!primitives || !primitives->is_array()) return;
        for (const Json& primitive : *primitives) {
            const Json* attributes = member(primitive, "attributes");
            const auto index = attributes ? whole(member(*attributes, "POSITION")) : std::nullopt;
            const Json* accessor = index ? document_.at("accessors", *index) : nullptr;
            if (!accessor) continue;
            const std::vector<double> ends[] = {numbers_of(*accessor, "min"), numbers_of(*accessor, "max")};
            if (ends[0].size() != 3 || ends[1].size() != 3) continue;
            const Json* normalised = member(*accessor, "normalized");
            double unit = 1;  // of a stated number
            if (normalised && normalised->is_boolean() && normalised->get<bool>()) {
                const auto type = whole(member(*accessor, "componentType"));
                unit = type == 5120 ? 127 : type == 5121 ? 255 : type == 5122 ? 32767 : 65535;
            }
            for (std::size_t corner = 0; corner < 8; ++corner)
                box.add(transform_point(document_.rig.nodes.world[node], ends[corner & 1][0] / unit,
                                        ends[corner >> 1 & 1][1] / unit, ends[corner >> 2][2] / unit));
        }
    }

    bool is_armature(std::size_t node) const {
        const std::string name = name_of(node);
        return named_like_holder(node) &&
               (name.starts_with("armature") || name.starts_with("skeleton") || name.starts_with("rig"));
    }

    /// The tree of possible joints below a root, parents first.
    void collect(std::size_t root, std::vector<std::size_t>& out) const {
        std::vector<std::size_t> stack{root};
        while (!stack.empty()) {
            const std::size_t i = stack.back();
            stack.pop_back();
            out.push_back(i);
            for (std::size_t k = children_[i].size(); k-- > 0;)
                if (possible_[children_[i][k]]) stack.push_back(children_[i][k]);
        }
    }

    const Document& document_;
    const std::vector<std::vector<std::size_t>>& children_;
    const std::vector<std::size_t>& parent_;
    const std::vector<std::size_t>& top_down_;
    std::vector<bool> possible_;
    std::vector<std::size_t> size_;
};

bool named_like_character(const Document& document, const std::vector<std::size_t>& joints) {
    std::set<std::string> body;
    for (const std::size_t node : joints) {
        const std::string name = string_of(member(*document.at("nodes", node), "name"));
        std::string lower = name;
        for (char& c : lower)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (words_for(WordUse::joint).speaks_of(lower)) return true;
        for (const std::string& word : name_words(name))
            if (words_for(WordUse::limb).has(word)) body.insert(word);
    }
    return body.size() >= 4;
}

}  // namespace

bool are_groups_of_a_prop(const Document& document, const std::vector<std::size_t>& joints) {
    const std::vector<std::size_t>& parent = document.rig.nodes.parent;
    const std::vector<std::vector<std::size_t>>& children = document.rig.nodes.children;
    const auto has_mesh = [&](std::size_t node) { return member(*document.at("nodes", node), "mesh") != nullptr; };
    std::vector<std::uint8_t> joint(parent.size(), 0), below(parent.size(), 0);
    for (const std::size_t j : joints) joint[j] = 1;
    for (const std::size_t node : document.rig.nodes.top_down) {
        below[node] = joint[node] || (parent[node] != Rig::no_node && below[parent[node]]);
        if (has_mesh(node) && !below[node]) return false;
    }
    std::size_t ends = 0, with_mesh = 0;
    for (const std::size_t j : joints) {
        const auto is_joint = [&](std::size_t child) { return joint[child] != 0; };
        if (std::any_of(children[j].begin(), children[j].end(), is_joint)) continue;
        ++ends;
        with_mesh += has_mesh(j) || std::any_of(children[j].begin(), children[j].end(), has_mesh);
    }
    return 2 * with_mesh >= ends && !named_like_character(document, joints);
}

std::vector<std::size_t> find_skeleton_nodes(const Document& document) { return SkeletonSearch(document).run(); }

}  // namespace sinew::io
