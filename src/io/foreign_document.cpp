// A foreign scene as a glTF document.
//
// Two spaces need care. Units: all of the scene is scaled by S (metres per unit), which conjugates every transform
// M to S M S⁻¹ and so changes translations only; joints keep their axes and scales, clips their rotations. Axes:
// the rotation R is a node above all others. In glTF, the node tree does not move a skinned mesh. So its vertices
// are placed where the file binds them in the world, v' = R S W v with W the world transform of its node, and a
// bone with the offset O (mesh to bone) gets the inverse bind matrix S O W⁻¹ S⁻¹ R⁻¹. That is the inverse of the
// bone's world transform at the bind pose, the same for every mesh.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "core/try.h"
#include "io/foreign.h"
#include "io/formats.h"
#include "io/gltf_builder.h"

namespace sinew::io {

namespace {

bool finite(const Matrix& a) {
    return std::all_of(a.m.begin(), a.m.end(), [](double v) { return std::isfinite(v); });
}

/// The vertices of a mesh without duplicates: the old vertex of each new one, and the triangles. Vertices are equal
/// if all bits of all attributes are, with weights and shapes.
struct Joined {
    std::vector<std::uint32_t> from;
    std::span<const Triangle> triangles;
    std::vector<Triangle> made;  // or those of the mesh
};

/// Rows of weights, one after the other; without any where nothing is skinned.
struct Rows {
    std::vector<std::size_t> first;  // V + 1
    std::vector<Influence> all;
    std::span<const Influence> operator[](std::size_t v) const {
        return std::span(all).subspan(first[v], first[v + 1] - first[v]);
    }
};

class Converter {
public:
    Converter(ForeignScene scene, const std::string& name) : in_(std::move(scene)), name_(name) {}

    Result<std::shared_ptr<Document>> convert() {
        SINEW_TRY(place_nodes());
        find_joints();
        write_images();
        write_materials();
        write_meshes();
        write_nodes();
        write_skins();
        write_clips();
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
        std::map<std::size_t, std::size_t> joint_of_node;
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

    /// Valid rows of weights: positive, finite, no joint twice, sum 1; empty where there are none.
    Rows rows_of(const ForeignMesh& mesh, const Skin& skin) {
        const auto counts = [](float weight) { return weight > 0 && std::isfinite(weight); };
        Rows rows;
        rows.first.resize(mesh.positions.size() + 1);
        std::size_t bad = 0;
        for (const ForeignBone& bone : mesh.bones)
            for (const auto& [vertex, weight] : bone.weights) {
                rows.first[vertex + 1] += counts(weight);
                bad += weight != 0 && !counts(weight);
            }
        std::partial_sum(rows.first.begin(), rows.first.end(), rows.first.begin());
        rows.all.resize(rows.first.back());
        std::vector<std::size_t> next(rows.first.begin(), rows.first.end() - 1);
        for (const ForeignBone& bone : mesh.bones) {
            const auto joint = static_cast<std::uint32_t>(skin.joint_of_node.at(bone.node));
            for (const auto& [vertex, weight] : bone.weights)
                if (counts(weight)) rows.all[next[vertex]++] = {joint, weight};
        }
        Influence* to = rows.all.data();
        for (std::size_t v = 0; v < next.size(); ++v) {
            Influence* const row = to;
            double sum = 0;
            for (std::size_t k = rows.first[v]; k < next[v]; ++k) {
                const Influence in = rows.all[k];
                Influence* const known =
                    std::find_if(row, to, [&](const Influence& i) { return i.joint == in.joint; });
                if (known == to)
                    *to++ = in;
                else
                    known->weight += in.weight;
            }
            for (const Influence* i = row; i != to; ++i) sum += i->weight;
            for (Influence* i = row; i != to; ++i) i->weight = static_cast<float>(i->weight / sum);
            std::sort(row, to, [](const Influence& a, const Influence& b) {
                return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
            });
            while (to != row && to[-1].weight == 0) --to;
            rows.first[v] = static_cast<std::size_t>(row - rows.all.data());
        }
        rows.first.back() = static_cast<std::size_t>(to - rows.all.data());
        if (bad)
            warn("mesh '" + printable(mesh.name) + "': " + std::to_string(bad) +
                 " negative or not finite weights of the file count as 0");
        return rows;
    }

    /// Vertices with the same data become one; those of FBX are so already (fbx_meshes.cpp).
    static Joined join(const ForeignMesh& mesh, const Rows& rows) {
        Joined out;
        if (!mesh.points.empty()) {
            out.from.resize(mesh.positions.size());
            std::iota(out.from.begin(), out.from.end(), 0u);
            out.triangles = mesh.triangles;
            return out;
        }
        // All data of a vertex as bytes. -0 and 0 differ, which keeps a duplicate at worst.
        std::vector<std::pair<const char*, std::size_t>> lists;  // and the bytes of an element
        const auto add = [&](const auto& list) {
            if (!list.empty()) lists.emplace_back(reinterpret_cast<const char*>(list.data()), sizeof list[0]);
        };
        add(mesh.positions), add(mesh.normals), add(mesh.tangents), add(mesh.tangent_signs), add(mesh.colors);
        add(mesh.dual_quaternion);
        for (const auto& set : mesh.uvs) add(set);
        for (const ForeignTarget& target : mesh.targets) add(target.positions), add(target.normals);
        const auto hash = [&](std::uint32_t v) {
            std::size_t sum = 0;
            for (const auto& [begin, size] : lists)
                sum = 31 * sum + std::hash<std::string_view>()({begin + v * size, size});
            return sum;
        };
        const auto equal = [&](std::uint32_t u, std::uint32_t v) {
            for (const auto& [begin, size] : lists)
                if (std::memcmp(begin + u * size, begin + v * size, size) != 0) return false;
            if (rows.first.empty()) return true;
            const auto a = rows[u], b = rows[v];
            return std::equal(a.begin(), a.end(), b.begin(), b.end());
        };
        std::unordered_map<std::uint32_t, std::uint32_t, decltype(hash), decltype(equal)> known(
            mesh.positions.size() / 3, hash, equal);
        std::vector<std::uint32_t> to(mesh.positions.size(), no_index);
        for (const Triangle& t : mesh.triangles) {
            Triangle triangle{};
            for (std::size_t k = 0; k < 3; ++k) {
                std::uint32_t& place = to[t[k]];
                if (place == no_index) {
                    const auto [found, added] = known.emplace(t[k], static_cast<std::uint32_t>(out.from.size()));
                    if (added) out.from.push_back(t[k]);
                    place = found->second;
                }
                triangle[k] = place;
            }
            out.made.push_back(triangle);
        }
        out.triangles = out.made;
        return out;
    }

    /// An accessor of floats, those of each vertex: of(old vertex), an array.
    template <typename Of>
    std::size_t floats(const Joined& joined, const Of& of, bool bounded = false,
                       std::optional<int> target = vertices_target) {
        constexpr std::size_t width = std::tuple_size_v<std::invoke_result_t<const Of&, std::uint32_t>>;
        static constexpr const char* types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
        const std::size_t count = width * joined.from.size();
        const float* values = nullptr;
        const std::size_t out =
            builder_.accessor<float>(count, 5126, types[width - 1], width, target, [&](float* to) {
                values = to;
                for (const std::uint32_t v : joined.from) {
                    const std::array<float, width> own = of(v);
                    to = std::copy(own.begin(), own.end(), to);
                }
            });
        if (bounded) builder_.bound(out, {values, count}, width);
        return out;
    }

    /// An accessor of the corners of triangles.
    template <typename T>
    std::size_t corners(std::span<const Triangle> triangles, int component, bool mirrored) {
        return builder_.accessor<T>(3 * triangles.size(), component, "SCALAR", 1, indices_target, [&](T* to) {
            for (const Triangle& t : triangles)
                for (const std::uint32_t corner : {t[0], t[mirrored ? 2 : 1], t[mirrored ? 1 : 2]})
                    *to++ = static_cast<T>(corner);
        });
    }

    /// A primitive of glTF, or null where there is no triangle. `to`: from the mesh to the space of POSITION.
    /// `points` becomes ForeignMesh::points of its vertices.
    Json primitive(const ForeignMesh& mesh, const Matrix& to, const Skin* skin,
                   std::vector<std::uint32_t>& points) {
        Rows rows;
        if (skin) rows = rows_of(mesh, *skin);
        const Joined joined = join(mesh, rows);
        if (joined.triangles.empty()) return nullptr;
        points = mesh.points;
        using Three = std::array<float, 3>;
        const auto three = [](const Vec3& v) { return Three{v.x, v.y, v.z}; };

        Json attributes;
        const auto position = [&](std::uint32_t v) {
            const Vec3& p = mesh.positions[v];
            return three(to_vec3(transform_point(to, p.x, p.y, p.z)));
        };
        attributes["POSITION"] = floats(joined, position, true);
        const Matrix turn = normal_matrix(to);
        if (!mesh.normals.empty())
            attributes["NORMAL"] = floats(joined, [&](std::uint32_t v) {
                return three(unit(direction(turn, mesh.normals[v]), {0, 1, 0}));
            });
        const bool mirrored = determinant(to) < 0;
        if (!mesh.tangents.empty())
            attributes["TANGENT"] = floats(joined, [&](std::uint32_t v) {
                const Vec3 t = unit(direction(to, mesh.tangents[v]), {1, 0, 0});
                return std::array{t.x, t.y, t.z, mirrored ? -mesh.tangent_signs[v] : mesh.tangent_signs[v]};
            });
        for (std::size_t set = 0; set < mesh.uvs.size(); ++set)
            attributes["TEXCOORD_" + std::to_string(set)] = floats(joined, [&](std::uint32_t v) {
                std::array<float, 2> uv = mesh.uvs[set][v];
                for (float& x : uv) x = std::isfinite(x) ? x : 0;
                return uv;
            });
        if (!mesh.colors.empty())
            attributes["COLOR_0"] = floats(joined, [&](std::uint32_t v) {
                std::array<float, 4> color = mesh.colors[v];
                for (float& x : color) x = x > 0 ? std::min(x, 1.f) : 0;
                return color;
            });
        if (skin && skin->joints.size() <= 256) put_weights<std::uint8_t>(attributes, joined, rows, 5121);
        if (skin && skin->joints.size() > 256) put_weights<std::uint16_t>(attributes, joined, rows, 5123);
        if (skin && !mesh.dual_quaternion.empty())
            attributes[dual_quaternion_attribute] =
                floats(joined, [&](std::uint32_t v) { return std::array{mesh.dual_quaternion[v]}; });

        Json out{{"attributes", std::move(attributes)}};
        if (!mesh.targets.empty()) {
            Json& targets = out["targets"] = Json::array();
            for (const ForeignTarget& target : mesh.targets) {
                Json& entry = targets.emplace_back();
                const auto offsets = [&](const Matrix& by, const std::vector<Vec3>& from, bool bounded) {
                    const auto offset = [&](std::uint32_t v) {
                        const Vec3 d = to_vec3(direction(by, from[v]));
                        return std::isfinite(d.x + d.y + d.z) ? three(d) : Three{};
                    };
                    return floats(joined, offset, bounded, {});
                };
                entry["POSITION"] = offsets(to, target.positions, true);
                if (!target.normals.empty()) entry["NORMAL"] = offsets(turn, target.normals, false);
            }
        }
        out["indices"] = joined.from.size() <= 0xffff ? corners<std::uint16_t>(joined.triangles, 5123, mirrored)
                                                      : corners<std::uint32_t>(joined.triangles, 5125, mirrored);
        if (mesh.material < in_.materials.size()) out["material"] = mesh.material;
        return out;
    }

    /// JOINTS_n of numbers of type J, and WEIGHTS_n.
    template <typename J>
    void put_weights(Json& attributes, const Joined& joined, const Rows& rows, int component) {
        const std::size_t count = 4 * joined.from.size();
        std::size_t most = 1;
        for (const std::uint32_t v : joined.from) most = std::max(most, rows[v].size());
        for (std::size_t set = 0; 4 * set < most; ++set) {
            /// Calls put(number, influence) for those of the set, four a vertex.
            const auto each = [&](const auto& put) {
                for (std::size_t v = 0; v < joined.from.size(); ++v) {
                    const std::span<const Influence> row = rows[joined.from[v]];
                    for (std::size_t k = 4 * set; k < std::min(row.size(), 4 * set + 4); ++k)
                        put(4 * v + k % 4, row[k]);
                }
            };
            const std::string suffix = std::to_string(set);
            attributes["JOINTS_" + suffix] = builder_.accessor<J>(
                count, component, "VEC4", 4, vertices_target,
                [&](J* to) { each([&](std::size_t k, const Influence& i) { to[k] = static_cast<J>(i.joint); }); });
            attributes["WEIGHTS_" + suffix] = builder_.accessor<float>(
                count, 5126, "VEC4", 4, vertices_target,
                [&](float* to) { each([&](std::size_t k, const Influence& i) { to[k] = i.weight; }); });
        }
    }

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
                std::vector<std::uint32_t> points;
                Json out = primitive(in_.meshes[m], to, skin, points);
                if (out.is_null()) continue;
                if (in_.fbx)
                    in_.fbx->meshes[{mesh_count_, primitives.size()}] = {in_.meshes[m].source, std::move(points),
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

    void write_images() {
        for (const ForeignImage& image : in_.images) {
            const bool png = as_text(image.bytes).starts_with("\x89PNG");
            const std::size_t view = builder_.view(image.bytes.data(), image.bytes.size(), {});
            Json out{{"bufferView", view}, {"mimeType", png ? "image/png" : "image/jpeg"}};
            if (!image.name.empty()) out["name"] = image.name;
            builder_.push("images", std::move(out));
            builder_.push("textures", Json{{"source", builder_.root()["images"].size() - 1}});
        }
    }

    void write_materials() {
        const auto share = [](float x) { return x > 0 ? std::min(x, 1.f) : 0.f; };
        for (const ForeignMaterial& m : in_.materials) {
            Json pbr{{"metallicFactor", share(m.metallic)}, {"roughnessFactor", share(m.roughness)}};
            std::array<float, 4> color = m.base_color;
            // A texture replaces the colour: exporters of these formats leave black or grey there.
            if (m.base_image != ForeignMaterial::none) {
                pbr["baseColorTexture"] = Json{{"index", m.base_image}};
                color = {1, 1, 1, color[3]};
            }
            pbr["baseColorFactor"] = {share(color[0]), share(color[1]), share(color[2]), share(color[3])};
            Json out{{"pbrMetallicRoughness", std::move(pbr)}};
            if (!m.name.empty()) out["name"] = m.name;
            if (m.normal_image != ForeignMaterial::none) out["normalTexture"] = Json{{"index", m.normal_image}};
            if (m.emissive_image != ForeignMaterial::none) {
                out["emissiveTexture"] = Json{{"index", m.emissive_image}};
                out["emissiveFactor"] = {1, 1, 1};
            } else if (share(m.emissive[0]) + share(m.emissive[1]) + share(m.emissive[2]) > 0) {
                out["emissiveFactor"] = {share(m.emissive[0]), share(m.emissive[1]), share(m.emissive[2])};
            }
            if (share(color[3]) < 1) out["alphaMode"] = "BLEND";
            if (m.two_sided) out["doubleSided"] = true;
            builder_.push("materials", std::move(out));
        }
    }

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

    void write_clips() {
        std::map<std::vector<float>, std::size_t> accessor_of_times;
        for (ForeignClip& clip : in_.clips) {
            float first = 0;  // glTF has no times before 0: the clip starts later
            for (const ForeignChannel& c : clip.channels)
                for (const float t : c.times)
                    if (std::isfinite(t)) first = std::min(first, t);
            Json samplers = Json::array(), channels = Json::array();
            for (const ForeignChannel& c : clip.channels) {
                if (written_[c.node] == none) continue;  // a skinned mesh, which is not moved by its node
                const std::size_t width = c.values.size() / c.times.size();
                std::vector<float> times, values;
                for (std::size_t k = 0; k < c.times.size(); ++k) {
                    const float time = c.times[k] - first;
                    std::vector<float> key(c.values.begin() + static_cast<std::ptrdiff_t>(k * width),
                                           c.values.begin() + static_cast<std::ptrdiff_t>((k + 1) * width));
                    bool good = std::isfinite(time) && (times.empty() || time > times.back());
                    for (const float v : key) good = good && std::isfinite(v);
                    if (!good) continue;
                    if (c.path == "translation")
                        for (float& v : key) v = static_cast<float>(v * in_.metres);
                    if (c.path == "rotation") {
                        double length = 0;
                        for (const float v : key) length += double{v} * v;
                        if (!(length > 0)) continue;
                        for (float& v : key) v = static_cast<float>(v / std::sqrt(length));
                    }
                    times.push_back(time);
                    values.insert(values.end(), key.begin(), key.end());
                }
                if (times.empty()) continue;
                auto known = accessor_of_times.find(times);
                if (known == accessor_of_times.end())
                    known = accessor_of_times.emplace(times, builder_.bounded(times, "SCALAR", 1, {})).first;
                const std::size_t output = builder_.accessor(values, 5126, width == 4 ? "VEC4" : "VEC3", width, {});
                channels.push_back(
                    Json{{"sampler", samplers.size()}, {"target", {{"node", written_[c.node]}, {"path", c.path}}}});
                samplers.push_back(Json{{"input", known->second}, {"output", output}});
            }
            if (channels.empty()) continue;
            Json out{{"samplers", std::move(samplers)}, {"channels", std::move(channels)}};
            if (!clip.name.empty()) out["name"] = clip.name;
            builder_.push("animations", std::move(out));
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

std::size_t add_image(ForeignScene& scene, std::string uri, std::vector<std::byte> bytes, ModelFiles& files) {
    // Paths are those of the author's machine: try the relative path, then the folder of the model.
    std::replace(uri.begin(), uri.end(), '\\', '/');
    if (bytes.empty() && !files.folder().empty())
        for (const std::string& candidate : {uri, uri.substr(uri.rfind('/') + 1)}) {
            const auto path = files.place_of(candidate, "", "");
            if (!path) continue;
            std::error_code ignored;
            if (!std::filesystem::is_regular_file(*path, ignored)) continue;
            const auto read = files.read_now(*path);
            if (!read) continue;
            bytes = **read;
            break;
        }
    const std::string_view start = as_text(bytes);
    const bool known = start.starts_with("\x89PNG") || start.starts_with("\xff\xd8\xff");
    if (!known) {
        scene.warnings.push_back("the texture " + printable(uri) +
                                 (bytes.empty() ? " is neither in the file nor beside it: left out"
                                                : " is neither PNG nor JPEG, the formats of glTF: left out"));
        return ForeignMaterial::none;
    }
    std::string name = std::filesystem::path(uri).stem().string();
    if (name.starts_with('*')) name.clear();
    scene.images.push_back({std::move(name), std::move(bytes)});
    return scene.images.size() - 1;
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
