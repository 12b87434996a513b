// A foreign scene as a glTF document.
//
// Two spaces need care. Units: all of the scene is scaled by S (metres per unit), which conjugates every transform
// M to S M S⁻¹ and so changes translations only; joints keep their axes and scales, clips their rotations. Axes:
// the rotation R is a node above all others. In glTF, the node tree does not move a skinned mesh. So its vertices
// are placed where the file binds them in the world, v' = R S W v with W the world transform of its node, and a
// bone with the offset O (mesh to bone) gets the inverse bind matrix S O W⁻¹ S⁻¹ R⁻¹. That is the inverse of the
// bone's world transform at the bind pose, the same for every mesh.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/try.h"
#include "io/foreign_parts.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

bool finite(const Matrix& a) {
    return std::all_of(a.m.begin(), a.m.end(), [](double v) { return std::isfinite(v); });
}

class Converter {
public:
    Converter(ForeignScene scene, const std::string& name) : in_(std::move(scene)), name_(name) {}

    Result<std::shared_ptr<Document>> convert() {
        SINEW_TRY(place_nodes());
        find_joints();
        write_look(in_, builder_);
        write_meshes();
        write_nodes();
        write_skins();
        write_clips(in_, written_, builder_);
        Result<std::shared_ptr<Document>> out = builder_.document(name_);
        if (!out) return out;
        (*out)->warnings = std::move(in_.warnings);
        if (in_.fbx) {
            in_.fbx->object_of_node.resize((*out)->count("nodes"));
            for (std::size_t n = 0; n < written_.size(); ++n)
                if (written_[n] != none && !added_.contains(n))
                    in_.fbx->object_of_node[written_[n]] = in_.nodes[n].source;
            for (const Skin& skin : skins_) {
                auto& to = in_.fbx->skins.emplace_back();
                for (const auto& [node, bind] : skin.inverse_bind)
                    if (const auto back = inverse(bind); back && !added_.contains(node))
                        to.emplace(in_.nodes[node].source, *back);
            }
            in_.fbx->metres = in_.metres;
            in_.fbx->turn = in_.turn;
            (*out)->fbx = std::move(in_.fbx);
        }
        return out;
    }

private:
    void warn(std::string text) { in_.warnings.push_back(std::move(text)); }

    // ---- nodes and joints

    /// S M S⁻¹
    Matrix scaled(Matrix m) const {
        for (std::size_t r = 0; r < 3; ++r) m(r, 3) *= in_.metres;
        return m;
    }

    /// S M
    Matrix in_metres(Matrix m) const {
        for (std::size_t c = 0; c < 4; ++c)
            for (std::size_t r = 0; r < 3; ++r) m(r, c) *= in_.metres;
        return m;
    }

    bool skinned(std::size_t node) const {
        const auto& meshes = in_.nodes[node].meshes;
        return std::any_of(meshes.begin(), meshes.end(),
                           [&](std::size_t m) { return !in_.meshes[m].bones.empty(); });
    }

    Status place_nodes() {
        std::vector<Matrix> world;
        for (std::size_t n = 0; n < in_.nodes.size(); ++n) {
            ForeignNode& node = in_.nodes[n];
            if (!finite(node.local) || !finite(node.geometry) || !finite(node.bind.value_or(Matrix{})))
                return input_error(name_, "node '" + printable(node.name) + "': its transform is not finite");
            world.push_back(node.parent == Rig::no_node ? node.local : world[node.parent] * node.local);
            top_.push_back(node.parent == Rig::no_node || node.parent == 0 ? n : top_[node.parent]);
        }
        for (std::size_t n = 0; n < in_.nodes.size(); ++n) {
            bind_.push_back(in_.nodes[n].bind.value_or(world[n]));
            if (skinned(n) && !inverse(bind_[n])) {
                warn("node '" + printable(in_.nodes[n].name) +
                     "' has a singular transform: its mesh is bound without it");
                bind_[n] = Matrix{};
            }
        }
        return Done{};
    }

    /// The inverse of a bone's transform in the document's world at the bind pose of a mesh.
    Matrix inverse_bind(std::size_t mesh_node, const Matrix& offset) const {
        const Matrix from_world = inverse(bind_[mesh_node]).value_or(Matrix{});
        const Matrix out = scaled(offset * from_world);
        Matrix back;  // R⁻¹ = Rᵀ
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 3; ++c) back(r, c) = in_.turn(c, r);
        return out * back;
    }

    struct Skin {
        std::size_t top = none;
        std::map<std::size_t, Matrix> inverse_bind;  // by node
        std::vector<std::size_t> joints;             // set at the end, in the order of nodes
        JointOfNode joint_of_node;
    };

    void find_joints() {
        skin_of_node_.assign(in_.nodes.size(), none);
        const std::size_t count = in_.nodes.size();
        for (std::size_t n = 0; n < count; ++n) {
            if (!skinned(n)) continue;
            std::map<std::size_t, Matrix> needed;
            for (const std::size_t m : in_.nodes[n].meshes)
                for (ForeignBone& bone : in_.meshes[m].bones) {
                    Matrix bind = inverse_bind(n, bone.offset);
                    if (!finite(bind) || !inverse(bind)) {
                        warn("bone '" + printable(bone.name) +
                             "' has a singular bind matrix: the identity is used");
                        bind = Matrix{};
                    }
                    if (bone.node == ForeignBone::missing) bone.node = add_missing(bone.name, bind);
                    needed.emplace(bone.node, bind);
                }
            // Meshes of one skeleton share a skin if their common joints are bound at the same places. A separate
            // skeleton, of the eyes for example, keeps its own skin.
            const std::size_t top = top_[needed.begin()->first];
            std::size_t s = 0;
            for (; s < skins_.size(); ++s)
                if (skins_[s].top == top && std::all_of(needed.begin(), needed.end(), [&](const auto& joint) {
                        const auto found = skins_[s].inverse_bind.find(joint.first);
                        return found == skins_[s].inverse_bind.end() || agree(found->second, joint.second);
                    }))
                    break;
            if (s == skins_.size()) {
                skins_.emplace_back();
                skins_[s].top = top;
            }
            skins_[s].inverse_bind.insert(needed.begin(), needed.end());
            skin_of_node_[n] = s;
        }
        skin_of_node_.resize(in_.nodes.size(), none);
        is_joint_.assign(in_.nodes.size(), false);
        for (Skin& skin : skins_) {
            add_ends(skin);
            for (const std::size_t n : skin.joints) is_joint_[n] = true;
        }
    }

    /// A node for a bone without one, at the place where the bone is bound.
    std::size_t add_missing(const std::string& bone, const Matrix& bind) {
        const auto [found, added] = missing_.emplace(bone, in_.nodes.size());
        if (added) {
            warn("bone '" + printable(bone) + "' has no node in the file: one is added at its bind pose");
            ForeignNode node;
            node.name = bone;
            in_.nodes.push_back(std::move(node));
            added_.emplace(found->second, inverse(bind).value_or(Matrix{}));
            bind_.emplace_back();
            top_.push_back(found->second);
        }
        return found->second;
    }

    /// Nodes below a joint without any mesh on them or below them are joints too.
    void add_ends(Skin& skin) {
        std::vector<bool> meshes(in_.nodes.size());
        for (std::size_t n = in_.nodes.size(); n-- > 0;) {
            if (!in_.nodes[n].meshes.empty()) meshes[n] = true;
            if (meshes[n] && in_.nodes[n].parent != Rig::no_node) meshes[in_.nodes[n].parent] = true;
        }
        for (std::size_t n = 0; n < in_.nodes.size(); ++n) {  // parents first
            std::size_t parent = in_.nodes[n].parent;
            if (parent == Rig::no_node || meshes[n] || in_.nodes[n].between || skin.inverse_bind.contains(n))
                continue;
            Matrix local = in_.nodes[n].local;
            for (; in_.nodes[parent].between; parent = in_.nodes[parent].parent)
                local = in_.nodes[parent].local * local;
            const auto above = skin.inverse_bind.find(parent);
            if (above == skin.inverse_bind.end()) continue;
            if (const auto back = inverse(scaled(local))) skin.inverse_bind.emplace(n, *back * above->second);
        }
        for (const auto& [node, bind] : skin.inverse_bind) {
            skin.joint_of_node.emplace(node, skin.joints.size());
            skin.joints.push_back(node);
        }
    }

    // ---- meshes

    void write_meshes() {
        mesh_of_node_.assign(in_.nodes.size(), none);
        std::size_t bytes = 0;  // about
        for (const ForeignMesh& mesh : in_.meshes)
            bytes += mesh.positions.size() * (80 + 8 * mesh.uvs.size()) + mesh.triangles.size() * sizeof(Triangle);
        builder_.reserve(bytes);
        std::map<std::pair<std::vector<std::size_t>, std::array<double, 16>>, std::size_t>
            shared;  // meshes that move with their nodes
        for (std::size_t n = 0; n < in_.nodes.size(); ++n) {
            const ForeignNode& node = in_.nodes[n];
            if (node.meshes.empty()) continue;
            const bool bound = skin_of_node_[n] != none;
            if (const auto known = shared.find({node.meshes, node.geometry.m}); !bound && known != shared.end()) {
                mesh_of_node_[n] = known->second;
                continue;
            }
            const Skin* skin = bound ? &skins_[skin_of_node_[n]] : nullptr;
            const Matrix to = bound ? in_.turn * in_metres(bind_[n] * node.geometry) : in_metres(node.geometry);
            Json primitives = Json::array(), weights = Json::array(), names = Json::array();
            // All primitives of a mesh have the same shapes, or none has any.
            const auto& shapes = in_.meshes[node.meshes[0]].targets;
            bool shaped = true;
            for (const std::size_t m : node.meshes)
                shaped = shaped && in_.meshes[m].targets.size() == shapes.size();
            if (!shaped)
                warn("node '" + printable(node.name) + "': its parts have different morph targets: left out");
            for (const ForeignTarget& t : shapes) {
                weights.push_back(std::isfinite(t.weight) ? t.weight : 0);
                names.push_back(t.name);
            }
            for (const std::size_t m : node.meshes) {
                if (!shaped) in_.meshes[m].targets.clear();
                const ForeignMesh& mesh = in_.meshes[m];
                Json out =
                    foreign_primitive(mesh, to, skin ? &skin->joint_of_node : nullptr, builder_, in_.warnings);
                if (out.is_null()) continue;
                if (mesh.material < in_.materials.size()) out["material"] = mesh.material;
                if (in_.fbx)
                    in_.fbx->meshes[{mesh_count_, primitives.size()}] = {mesh.source, mesh.points,
                                                                         skin_of_node_[n]};
                primitives.push_back(std::move(out));
            }
            if (primitives.empty()) continue;
            Json mesh{{"primitives", std::move(primitives)}};
            const std::string& mesh_name = in_.meshes[node.meshes[0]].name;
            mesh["name"] = mesh_name.empty() ? node.name : mesh_name;
            if (shaped && !shapes.empty()) {
                mesh["weights"] = std::move(weights);
                mesh["extras"]["targetNames"] = std::move(names);
            }
            mesh_of_node_[n] = builder_.push("meshes", std::move(mesh));
            ++mesh_count_;
            if (!bound) shared.emplace(std::pair(node.meshes, node.geometry.m), mesh_of_node_[n]);
        }
    }

    // ---- the rest

    Json node_json(const std::string& name, const Matrix& local) {
        const Trs trs = decompose(local);
        Json out = Json::object();
        if (!name.empty()) out["name"] = name;
        const auto put = [&](const char* key, const auto& values, const auto& standard) {
            if (values == standard) return;
            Json list = Json::array();
            for (const double v : values) list.push_back(v);
            out[key] = std::move(list);
        };
        const Trs standard;
        put("translation", trs.t, standard.t);
        put("rotation", trs.q, standard.q);
        put("scale", trs.s, standard.s);
        const Matrix again = compose(trs.t, trs.q, trs.s);
        if (!agree(again, local))
            warn("node '" + printable(name) +
                 "': its transform has shear, which glTF nodes do not support: left out");
        return out;
    }

    void write_nodes() {
        const bool turned = !(in_.turn == Matrix{});
        Json roots = Json::array();
        std::vector<Json> out;
        // assimp adds a root that only holds the others: it is not a node of the file.
        const bool idle_root = in_.nodes[0].local == Matrix{} && mesh_of_node_[0] == none && !is_joint_[0] &&
                               std::none_of(in_.clips.begin(), in_.clips.end(), [](const ForeignClip& clip) {
                                   return std::any_of(clip.channels.begin(), clip.channels.end(),
                                                      [](const ForeignChannel& c) { return c.node == 0; });
                               });
        written_.assign(in_.nodes.size(), none);
        std::vector<bool> has_child(in_.nodes.size());
        for (const ForeignNode& node : in_.nodes)
            if (node.parent != Rig::no_node) has_child[node.parent] = true;
        if (turned) {
            out.push_back(node_json("y_up", in_.turn));
            roots.push_back(0);
        }
        for (std::size_t n = 0; n < in_.nodes.size(); ++n) {
            if (n == 0 && idle_root) continue;
            const ForeignNode& node = in_.nodes[n];
            const bool bound = skin_of_node_[n] != none && mesh_of_node_[n] != none;
            if (const auto at = added_.find(n); at != added_.end()) {
                written_[n] = out.size();
                roots.push_back(out.size());
                out.push_back(node_json(node.name, at->second));
                continue;
            }
            // A skinned mesh is in world space: its node becomes a root, unless it has children.
            if (!bound || has_child[n] || is_joint_[n]) {
                written_[n] = out.size();
                out.push_back(node_json(node.name, scaled(node.local)));
                const std::size_t parent = node.parent == Rig::no_node ? none : written_[node.parent];
                if (parent != none)
                    out[parent]["children"].push_back(written_[n]);
                else if (turned)
                    out[0]["children"].push_back(written_[n]);
                else
                    roots.push_back(written_[n]);
                if (!bound && mesh_of_node_[n] != none) out[written_[n]]["mesh"] = mesh_of_node_[n];
            }
            if (bound) {
                Json mesh{{"mesh", mesh_of_node_[n]}, {"skin", skin_of_node_[n]}};
                if (!node.name.empty()) mesh["name"] = node.name;
                roots.push_back(out.size());
                out.push_back(std::move(mesh));
            }
        }
        for (Json& node : out) builder_.push("nodes", std::move(node));
        Json scene = Json::object();
        if (!roots.empty()) scene["nodes"] = std::move(roots);
        builder_.root()["scene"] = 0;
        builder_.push("scenes", std::move(scene));
    }

    void write_skins() {
        for (const Skin& skin : skins_) {
            Json joints = Json::array();
            std::vector<float> matrices;
            for (const std::size_t n : skin.joints) {
                joints.push_back(written_[n]);
                Matrix bind = skin.inverse_bind.at(n);
                // Rounding has changed it; the format requires the exact value.
                bind(3, 0) = bind(3, 1) = bind(3, 2) = 0;
                bind(3, 3) = 1;
                for (const double v : bind.m) matrices.push_back(static_cast<float>(v));
            }
            const std::size_t accessor = builder_.accessor(matrices, 5126, "MAT4", 16, {});
            builder_.push("skins", Json{{"inverseBindMatrices", accessor}, {"joints", std::move(joints)}});
        }
    }

    ForeignScene in_;
    const std::string& name_;
    Builder builder_;
    std::vector<Matrix> bind_;               // of nodes: in the file's world, where their meshes are bound
    std::vector<std::size_t> top_;           // of nodes: the ancestor directly below the root
    std::vector<std::size_t> skin_of_node_;  // of the mesh on it
    std::vector<std::size_t> mesh_of_node_;  // in the document
    std::size_t mesh_count_ = 0;             // in the document
    std::vector<std::size_t> written_;       // node of the document
    std::map<std::string, std::size_t> missing_;
    std::map<std::size_t, Matrix> added_;  // transforms of added nodes for missing bones
    std::vector<Skin> skins_;
    std::vector<bool> is_joint_;  // of nodes
};

}  // namespace

bool is_foreign(const std::string& extension) {
    static const std::vector<std::string> known{".fbx", ".dae", ".x",   ".b3d", ".ms3d", ".md5mesh",
                                                ".smd", ".3ds", ".lwo", ".ply", ".stl",  ".off"};
    return std::find(known.begin(), known.end(), extension) != known.end();
}

Result<std::shared_ptr<Document>> foreign_document(ForeignScene scene, const std::string& name) {
    if (scene.nodes.empty()) return input_error(name, "the file has no nodes");
    return Converter(std::move(scene), name).convert();
}

Result<std::vector<std::byte>> foreign_bytes(std::span<const std::byte> bytes, const std::string& name,
                                             ModelFiles& files) {
    SINEW_TRY_LET(ForeignScene scene, read_foreign(bytes, name, files));
    SINEW_TRY_LET(const std::shared_ptr<Document> document, foreign_document(std::move(scene), name));
    return packed(*document);
}

}  // namespace sinew::io
