// One pose for all skins. The inverse bind matrices give the pose of the joints when the mesh was bound; the rest
// pose of the nodes is often another. So the scene's space is the bind space of the first skin:
//
// - A stretch or turn that all bind matrices of that skin share is taken out: the space then has the shape that a
//   viewer shows.
// - A later skin is moved into it by the joints that both have. Where these disagree, it was bound in another pose,
//   and each of its vertices is moved by its weights, as a viewer would move it from the one pose to the other.
// - The matrix of a joint without weights has no effect in a viewer, so some exporters write a placeholder. Such a
//   joint stands where the rest pose puts it below its parent, unless its matrix says the same. Above all joints
//   with weights, where a matrix is often right and the rest pose another one, only the identity and the matrix of
//   another joint are taken for placeholders.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "core/try.h"
#include "io/gltf_builder.h"
#include "io/gltf_joints.h"
#include "io/gltf_nodes.h"
#include "io/gltf_skins.h"

namespace sinew::io {

namespace {

constexpr double kRounding = 1e-5;   ///< of a matrix; of the size for translations
constexpr double kSamePlace = 3e-3;  ///< of the size: places nearer than this are one
constexpr double kSameShape = 2e-3;  ///< of a matrix: shapes nearer than this are one
constexpr double kNearlyAll = 0.99;  ///< of the weights

double apart(const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return std::max({std::abs(a[0] - b[0]), std::abs(a[1] - b[1]), std::abs(a[2] - b[2])});
}
std::array<double, 3> place_of(const Matrix& m) { return {m(0, 3), m(1, 3), m(2, 3)}; }

/// L^T L of the linear part L: the squared stretch, whatever the rotation.
Matrix squared_stretch(const Matrix& m) {
    Matrix out;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) {
            out(r, c) = 0;
            for (std::size_t k = 0; k < 3; ++k) out(r, c) += m(k, r) * m(k, c);
        }
    return out;
}

double largest(const Matrix& m) {
    double out = 0;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) out = std::max(out, std::abs(m(r, c)));
    return out;
}

bool same_linear(const Matrix& a, const Matrix& b, double tolerance) {
    const double size = largest(b);
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c)
            if (!(std::abs(a(r, c) - b(r, c)) <= tolerance * size)) return false;
    return true;
}

/// Whether axes become axes, and all of them as much longer: results do not depend on such a motion.
bool keeps_axes(const Matrix& m) {
    const double size = largest(m), least = kSameShape * size;
    for (std::size_t r = 0; r < 3; ++r) {
        std::size_t across = 0, down = 0, full = 0;
        for (std::size_t c = 0; c < 3; ++c) {
            across += std::abs(m(r, c)) > least;
            down += std::abs(m(c, r)) > least;
            full += std::abs(m(r, c)) >= size - least;
        }
        if (across != 1 || down != 1 || full != 1) return false;
    }
    return true;
}

/// The symmetric factor S of the linear part R S, R a rotation (and reflection), by Higham's iteration for the
/// polar decomposition (SIAM J. Sci. Stat. Comput. 7(4), 1986, eq. 3.1); empty where the matrix is singular.
std::optional<Matrix> stretch_of(Matrix m) {
    for (std::size_t r = 0; r < 3; ++r) m(r, 3) = 0;
    Matrix turn = m;
    for (int step = 0; step < 100; ++step) {
        const Matrix before = turn;
        const auto back = inverse(turn);
        if (!back) return std::nullopt;
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 3; ++c) turn(r, c) = (before(r, c) + (*back)(c, r)) / 2;
        if (same_linear(turn, before, 1e-12)) break;
    }
    Matrix back;  // a rotation's inverse is its transpose
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) back(r, c) = turn(c, r);
    return back * m;
}

class BindPose {
public:
    BindPose(Document& document, Scene& scene, const UsedSkins& used_skins)
        : document_(document),
          scene_(scene),
          rig_(document.rig),
          nodes_(document.rig.nodes),
          used_skins_(used_skins) {
        for (std::size_t s = 0; s < used_skins.skins.size(); ++s) {
            order_.push_back(s);
            bound_.emplace_back();
            for (const Matrix& m : used_skins.skins[s].inverse_bind) bound_.back().push_back(inverse(m));
        }
        to_scene_.resize(order_.size());
        moves_.resize(order_.size());
        measure_use();
    }

    Status run() {
        relate_skins();
        // Of skins in different poses, the one with most vertices gives the pose.
        const auto most = std::max_element(vertices_.begin(), vertices_.end());
        if (any_moves() && *most > vertices_[0]) {
            std::swap(order_[0], order_[static_cast<std::size_t>(most - vertices_.begin())]);
            relate_skins();
        }
        place_idle_joints();
        std::vector<Matrix> where;
        for (const std::size_t n : used_skins_.joint_nodes) where.push_back(*pose_[n]);
        SINEW_TRY(set_joints(document_, scene_, used_skins_.joint_nodes, std::move(where)));
        find_other_matrices();
        find_rest();
        SINEW_TRY(move_vertices());
        move_new_meshes();
        turn_mirrored();
        return Done{};
    }

private:
    bool is_new(const VertexBlock& block) const { return block.skin >= used_skins_.skins.size(); }

    bool any_moves() const {
        return std::any_of(moves_.begin(), moves_.end(), [](const auto& m) { return !m.empty(); });
    }

    /// Of each skin and each of its joints, the sum of weights. A skin without weights counts as using all joints.
    void measure_use() {
        vertices_.resize(used_skins_.skins.size());
        std::vector<std::vector<double>> use;
        has_weight_.clear();
        for (const Skin& skin : used_skins_.skins) use.emplace_back(skin.nodes.size());
        std::vector<std::size_t> at(used_skins_.joint_nodes.size());
        double total = 0;
        for (const VertexBlock& block : rig_.blocks) {
            if (is_new(block)) continue;
            vertices_[block.skin] += block.vertex_count;
            if (!scene_.weights) continue;
            const std::vector<std::uint32_t>& joints = rig_.skins[block.skin].joints;
            for (std::size_t j = joints.size(); j-- > 0;) at[joints[j]] = j;
            for (std::uint32_t v = block.first_vertex; v < block.first_vertex + block.vertex_count; ++v)
                for (const Influence& i : (*scene_.weights)[v]) {
                    use[block.skin][at[i.joint]] += double{i.weight};
                    total += double{i.weight};
                }
        }
        for (std::vector<double>& of_skin : use) {
            // The threshold of select_deforming.
            for (double& u : of_skin) u = u > 1e-6 * total ? u : 0;
            has_weight_.emplace_back();
            for (const double u : of_skin) has_weight_.back().push_back(u > 0);
            if (std::none_of(of_skin.begin(), of_skin.end(), [](double u) { return u > 0; }))
                std::fill(of_skin.begin(), of_skin.end(), 1.0);
        }
        use_ = std::move(use);
    }

    bool used(std::size_t skin, std::size_t j) const { return bound_[skin][j] && use_[skin][j] > 0; }

    void relate_skins() {
        pose_.assign(nodes_.parent.size(), std::nullopt);
        idle_.assign(nodes_.parent.size(), std::nullopt);
        reach_ = 0;
        bool first = true;
        for (const std::size_t s : order_) {
            const Skin& skin = used_skins_.skins[s];
            to_scene_[s] = first ? without_stretch(s) : from_first(s);
            moves_[s].clear();
            if (!first) find_other_pose(s);
            for (std::size_t j = 0; j < skin.nodes.size(); ++j) {
                if (!bound_[s][j]) continue;
                const Matrix own = (moves_[s].empty() ? to_scene_[s] : moves_[s][j]) * *bound_[s][j];
                std::optional<Matrix>&known = pose_[skin.nodes[j]], &by_idle = idle_[skin.nodes[j]];
                extend_reach(own);
                if (!by_idle) by_idle = own;
                if (!known && used(s, j)) known = near(own, *by_idle) ? by_idle : own;
            }
            first = false;
        }
        std::optional<Vec3> low, high;
        for (std::size_t n = 0; n < pose_.size(); ++n) {
            const auto& m = told(n);
            if (!m) continue;
            const Vec3 p = to_vec3(place_of(*m)), l = low.value_or(p), h = high.value_or(p);
            low = {std::min(l.x, p.x), std::min(l.y, p.y), std::min(l.z, p.z)};
            high = {std::max(h.x, p.x), std::max(h.y, p.y), std::max(h.z, p.z)};
        }
        if (low) size_ = apart({low->x, low->y, low->z}, {high->x, high->y, high->z});
    }

    /// A viewer at rest shows the mesh by world · inverse bind. Where nearly all of it is moved alike, to another
    /// shape or out of the axes (an object that was scaled or turned when it was bound, positions quantised by
    /// axis), the same is returned here. Where the joints are posed, only the stretch that more than half of it
    /// shares; otherwise the identity.
    Matrix without_stretch(std::size_t s) const {
        const Skin& skin = used_skins_.skins[s];
        std::vector<std::size_t> joints;
        double total = 0;
        std::vector<Matrix> shown(skin.nodes.size()), stretch(skin.nodes.size());  // stretch: squared
        for (std::size_t j = 0; j < skin.nodes.size(); ++j) {
            if (!used(s, j)) continue;
            shown[j] = nodes_.world[skin.nodes[j]] * skin.inverse_bind[j];
            for (std::size_t r = 0; r < 3; ++r) shown[j](r, 3) = 0;
            stretch[j] = squared_stretch(shown[j]);
            joints.push_back(j);
            total += use_[s][j];
        }
        // Found among the joints that move most of it.
        std::vector<std::size_t> heaviest = joints;
        const std::size_t some = std::min<std::size_t>(heaviest.size(), 8);
        std::partial_sort(heaviest.begin(), heaviest.begin() + static_cast<std::ptrdiff_t>(some), heaviest.end(),
                          [&](std::size_t a, std::size_t b) {
                              return use_[s][a] != use_[s][b] ? use_[s][a] > use_[s][b] : a < b;
                          });
        heaviest.resize(some);
        const auto share = [&](const std::vector<Matrix>& of, std::size_t h) {
            double agree = 0;
            for (const std::size_t j : joints)
                if (same_linear(of[j], of[h], kSameShape)) agree += use_[s][j];
            return agree / total;
        };
        for (const std::size_t h : heaviest) {
            if (share(stretch, h) <= 0.5) continue;
            if (share(shown, h) >= kNearlyAll && inverse(shown[h]))
                return keeps_axes(shown[h]) ? Matrix{} : shown[h];
            Matrix even;
            const double mean = (stretch[h](0, 0) + stretch[h](1, 1) + stretch[h](2, 2)) / 3;
            for (std::size_t r = 0; r < 3; ++r) even(r, r) = mean;
            if (same_linear(stretch[h], even, kSameShape)) break;
            if (const auto found = stretch_of(shown[h])) return *found;
        }
        return {};
    }

    /// The matrix of a joint in the scene, as far as the skins before have told it.
    const std::optional<Matrix>& told(std::size_t node) const { return pose_[node] ? pose_[node] : idle_[node]; }

    /// From the bind space of a later skin to that of the scene.
    Matrix from_first(std::size_t s) {
        const Skin& skin = used_skins_.skins[s];
        // Joints that move vertices of both skins tell it best. Matrices of others may be placeholders: then the
        // one counts that most of those tell that move vertices of one skin, else most of the others.
        std::array<std::vector<Matrix>, 2> said;
        for (std::size_t j = 0; j < skin.nodes.size(); ++j) {
            const std::size_t n = skin.nodes[j];
            if (!bound_[s][j] || !told(n)) continue;
            const Matrix m = *told(n) * skin.inverse_bind[j];
            if (used(s, j) && pose_[n]) return snapped(m);
            std::vector<Matrix>& list = said[used(s, j) || pose_[n] ? 0 : 1];
            if (list.size() < 64) list.push_back(m);
        }
        for (const std::vector<Matrix>& list : said) {
            std::size_t best = 0, most = 0;
            for (std::size_t a = 0; a < list.size(); ++a) {
                std::size_t same = 0;
                for (const Matrix& b : list) same += near(list[a], b);
                if (same > most) most = same, best = a;
            }
            if (most > 1 || (most == 1 && list.size() == 1)) return snapped(list[best]);
        }
        const auto estimates = estimate();
        for (std::size_t j = 0; j < skin.nodes.size(); ++j)
            if (const auto& estimated = estimates[skin.nodes[j]]; estimated && used(s, j))
                return snapped(*estimated * skin.inverse_bind[j]);
        // No joint of this skin is below a known one: both skins are related by the rest pose of the nodes.
        for (std::size_t n = 0; n < pose_.size(); ++n)
            if (const auto to_node = pose_[n] ? inverse(nodes_.world[n]) : std::nullopt)
                for (std::size_t j = 0; j < skin.nodes.size(); ++j)
                    if (used(s, j))
                        return snapped(*pose_[n] * *to_node * nodes_.world[skin.nodes[j]] * skin.inverse_bind[j]);
        scene_.warnings.push_back("skin " + std::to_string(rig_.skins[s].number) +
                                  " cannot be related to the others: taken to be in the same space");
        return {};
    }

    /// Whether two matrices move a mesh of the scene to the same place.
    bool near(const Matrix& a, const Matrix& b) const {
        return same_linear(a, b, kSameShape) && apart(place_of(a), place_of(b)) <= kSameShape * reach_;
    }

    void extend_reach(const Matrix& joint) { reach_ = std::max(reach_, apart(place_of(joint), {0, 0, 0})); }

    /// Rounding must not separate vertices at one position: a matrix that differs from the identity by noise only
    /// becomes the identity.
    Matrix snapped(const Matrix& m) const {
        const Matrix identity;
        const bool noise =
            same_linear(m, identity, kRounding) && apart(place_of(m), place_of(identity)) <= kRounding * reach_;
        return noise ? identity : m;
    }

    /// The pose of every node, from the nearest node above for which it is known.
    std::vector<std::optional<Matrix>> estimate() const {
        std::vector<std::optional<Matrix>> out(nodes_.parent.size());
        for (const std::size_t n : nodes_.top_down) {
            if (pose_[n])
                out[n] = pose_[n];
            else if (nodes_.parent[n] != none && out[nodes_.parent[n]])
                out[n] = *out[nodes_.parent[n]] * nodes_.local[n];
        }
        return out;
    }

    /// Sets moves_ of a skin that binds joints of earlier ones in another pose.
    void find_other_pose(std::size_t s) {
        const Skin& skin = used_skins_.skins[s];
        std::vector<std::optional<Matrix>> by_node(nodes_.parent.size());
        bool same = true;
        for (std::size_t j = 0; j < skin.nodes.size(); ++j) {
            const std::size_t n = skin.nodes[j];
            if (!used(s, j) || !pose_[n]) continue;
            by_node[n] = *pose_[n] * skin.inverse_bind[j];
            same = same && near(*by_node[n], to_scene_[s]);
        }
        if (same) return;
        // A joint that only this skin has follows the nearest one above that both have.
        for (const std::size_t n : nodes_.top_down)
            if (!by_node[n] && nodes_.parent[n] != none) by_node[n] = by_node[nodes_.parent[n]];
        std::vector<Matrix> moves;
        for (const std::size_t n : skin.nodes) moves.push_back(by_node[n].value_or(to_scene_[s]));
        // Joints may disagree where no vertex notices.
        moves_[s] = std::move(moves);
        double most = 0, size = 0;
        for (const VertexBlock& block : rig_.blocks) {
            if (block.skin != s) continue;
            for (std::uint32_t v = 0; v < block.vertex_count; ++v) {
                const Vec3& p = scene_.positions[block.first_vertex + v];
                const auto there = transform_point(to_scene_[s], p.x, p.y, p.z);
                const auto own = transform_point(blend(block, v, moves_[s]), p.x, p.y, p.z);
                most = std::max(most, apart(there, own));
                size = std::max(size, apart(there, {0, 0, 0}));
            }
        }
        if (most <= kSamePlace * size) moves_[s].clear();
    }

    /// How a viewer moves a vertex, if each joint moves it by one of `by`. Without weights: as its nearest joint.
    Matrix blend(const VertexBlock& block, std::uint32_t v, const std::vector<Matrix>& by) const {
        const std::vector<std::uint32_t>& joints = rig_.skins[block.skin].joints;
        const auto row = scene_.weights ? (*scene_.weights)[block.first_vertex + v] : std::span<const Influence>();
        if (row.empty()) {
            const Vec3& p = scene_.positions[block.first_vertex + v];
            std::size_t nearest = 0;
            double best = -1;
            for (std::size_t j = 0; j < by.size(); ++j) {
                if (!used(block.skin, j)) continue;
                const auto q = place_of(*bound_[block.skin][j]);
                const double d = std::hypot(q[0] - double{p.x}, q[1] - double{p.y}, q[2] - double{p.z});
                if (best < 0 || d < best) best = d, nearest = j;
            }
            return by[nearest];
        }
        return blended(row, [&](std::uint32_t joint) -> const Matrix& {
            return by[static_cast<std::size_t>(std::find(joints.begin(), joints.end(), joint) - joints.begin())];
        });
    }

    /// Of each node, whether its inverse bind matrix is the identity or that of another joint.
    std::vector<bool> find_stock_matrices() const {
        std::vector<bool> out(nodes_.parent.size());
        for (const Skin& skin : used_skins_.skins) {
            std::map<std::array<double, 16>, std::size_t> first;
            for (std::size_t j = 0; j < skin.nodes.size(); ++j) {
                const auto [at, is_new] = first.try_emplace(skin.inverse_bind[j].m, j);
                if (!is_new) out[skin.nodes[j]] = out[skin.nodes[at->second]] = true;
                if (skin.inverse_bind[j] == Matrix{}) out[skin.nodes[j]] = true;
            }
        }
        return out;
    }

    /// Of each node, where the nearest joint with weights below it and the rest pose put it.
    std::vector<std::optional<Matrix>> places_from_below() const {
        std::vector<std::optional<Matrix>> out(nodes_.parent.size());
        for (auto n = nodes_.top_down.rbegin(); n != nodes_.top_down.rend(); ++n) {
            const std::size_t above = nodes_.parent[*n];
            const auto& here = pose_[*n] ? pose_[*n] : out[*n];
            if (above == none || !here) continue;
            if (const auto back = inverse(nodes_.local[*n])) out[above] = *here * *back;
        }
        return out;
    }

    /// Joints without weights: where the rest pose of the nodes puts them below a joint with weights, unless their
    /// own matrix agrees. Joints above all of these: where it puts them above it, if they have no matrix of their
    /// own.
    void place_idle_joints() {
        std::vector<bool> is_joint(nodes_.parent.size()), below_used(nodes_.parent.size());
        for (const std::size_t n : used_skins_.joint_nodes) is_joint[n] = true;
        const std::vector<std::optional<Matrix>> from_below = places_from_below();
        const std::vector<bool> stock = find_stock_matrices();
        std::vector<std::optional<Matrix>> estimates(nodes_.parent.size());
        std::string first;
        std::size_t placeholders = 0;
        for (const std::size_t n : nodes_.top_down) {
            if (const std::size_t above = nodes_.parent[n]; above != none && estimates[above]) {
                estimates[n] = *estimates[above] * nodes_.local[n];
                below_used[n] = below_used[above];
            }
            if (!is_joint[n]) continue;
            if (pose_[n]) {
                below_used[n] = true;
            } else {
                if (!below_used[n] && from_below[n] && (stock[n] || !idle_[n])) estimates[n] = from_below[n];
                const bool judged = below_used[n] || (from_below[n] && stock[n]);
                const bool disagrees =
                    idle_[n] && judged && apart(place_of(*idle_[n]), place_of(*estimates[n])) > kSamePlace * size_;
                if (disagrees && placeholders++ == 0) first = node_name(document_, n);
                pose_[n] = idle_[n] && !disagrees ? *idle_[n] : estimates[n].value_or(nodes_.world[n]);
            }
            estimates[n] = pose_[n];
        }
        if (placeholders)
            scene_.warnings.push_back(std::to_string(placeholders) + (placeholders == 1 ? " joint" : " joints") +
                                      " without weights stand elsewhere by their inverse bind matrices "
                                      "(placeholders?) than by the nodes: "
                                      "placed by the nodes (first: " +
                                      in_quotes(first) + ")");
    }

    /// Where the file's matrices are not those of the scene. Says which are missing or singular.
    void find_other_matrices() {
        using Written = BindMatrix::Written;
        std::size_t lost = 0, collapsing = 0;
        std::string names;
        reach_ = 0;  // placeholders may have been far away
        for (const auto& joint : pose_)
            if (joint) extend_reach(*joint);
        for (std::size_t s = 0; s < used_skins_.skins.size(); ++s) {
            const Skin& skin = used_skins_.skins[s];
            const bool moved = !moves_[s].empty();
            for (std::size_t j = 0; j < skin.nodes.size(); ++j) {
                const std::size_t n = skin.nodes[j];
                const bool shows = has_weight_[s][j];
                if (!bound_[s][j]) {
                    if (lost++ < 3) names += (lost > 1 ? ", " : "") + in_quotes(node_name(document_, n));
                    collapsing += shows;
                } else if (!moved && near(*pose_[n] * skin.inverse_bind[j], to_scene_[s])) {
                    continue;
                }
                // A mesh in another pose is written in that of the scene, and in its space.
                if (const auto to_joint = inverse(*pose_[n]))
                    rig_.skins[s].other_matrices[j] = {moved ? *to_joint : *to_joint * to_scene_[s],
                                                       moved                    ? Written::always
                                                       : shows && !bound_[s][j] ? Written::on_request
                                                                                : Written::if_used};
            }
        }
        if (lost)
            scene_.warnings.push_back(
                std::to_string(lost) + (lost == 1 ? " joint has" : " joints have") +
                " no inverse bind matrix that can be inverted (" + names + (lost > 3 ? " …" : "") +
                "): placed by the nodes' rest pose" +
                (collapsing ? "; what follows them collapses in viewers unless the matrices are written anew "
                              "(`repair-matrices`)"
                            : ""));
    }

    /// Sets to_rest_each of the blocks, and the other poses of the scene.
    void find_rest() {
        if (!any_moves()) return;
        const Matrix from_world = inverse(bind_to_world(rig_, scene_.skeleton)).value_or(Matrix{});
        for (VertexBlock& block : rig_.blocks) {
            if (is_new(block) || moves_[block.skin].empty()) continue;
            std::vector<Matrix> shown = moves_[block.skin];
            for (std::size_t j = 0; j < shown.size(); ++j) {
                const std::size_t n = used_skins_.skins[block.skin].nodes[j];
                if (const auto to_joint = inverse(*pose_[n]))
                    shown[j] = from_world * nodes_.world[n] * *to_joint * shown[j];
            }
            for (std::uint32_t v = 0; v < block.vertex_count; ++v)
                block.to_rest_each.push_back(blend(block, v, shown));
            OtherPose& other = scene_.other_poses.emplace_back();
            other.first_vertex = block.first_vertex;
            other.vertex_count = block.vertex_count;
            other.moves.resize(scene_.skeleton.joints.size());
            const std::vector<std::uint32_t>& joints = rig_.skins[block.skin].joints;
            for (std::size_t j = joints.size(); j-- > 0;)
                other.moves[joints[j]] = to_transform(moves_[block.skin][j]);
        }
    }

    std::string name_of_skin(std::size_t s) const {
        std::string out = "skin " + std::to_string(rig_.skins[s].number);
        for (const VertexBlock& block : rig_.blocks)
            if (block.skin == s && !block.primitives.empty()) {
                const std::size_t mesh = block.primitives[0].mesh;
                return out + " (mesh " + in_quotes(name_of(document_.mesh(mesh), "mesh", mesh)) + ")";
            }
        return out;
    }

    Status move_vertices() {
        const Matrix identity;
        for (VertexBlock& block : rig_.blocks) {
            if (is_new(block)) continue;
            const std::size_t s = block.skin;
            block.to_scene = to_scene_[s];
            const std::uint32_t first = block.first_vertex;
            if (!moves_[s].empty()) {
                bool any = false;
                for (std::uint32_t v = 0; v < block.vertex_count; ++v)
                    any = any || (scene_.weights && !(*scene_.weights)[first + v].empty());
                if (!any)
                    return document_.error(
                        name_of_skin(s) + " and " + name_of_skin(order_[0]) +
                        " bind the same joints in different poses, and the first has no weights "
                        "that lead from the one pose to the other (bind it in a file of its own)");
                for (std::uint32_t v = 0; v < block.vertex_count; ++v)
                    block.to_scene_each.push_back(blend(block, v, moves_[s]));
            }
            if (moves_[s].empty() && block.to_scene == identity) continue;
            for (std::uint32_t v = 0; v < block.vertex_count; ++v) {
                Vec3& p = scene_.positions[first + v];
                const auto q = transform_point(block.to_scene_of(v), p.x, p.y, p.z);
                p = to_vec3(q);
                if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z))
                    return document_.error(name_of_skin(s) + ": vertex " + std::to_string(v) +
                                           " is not finite in the bind pose (repair the inverse bind matrices)");
            }
        }
        std::size_t moved = 0, one = 0;
        for (std::size_t s = 0; s < moves_.size(); ++s)
            if (!moves_[s].empty() && moved++ == 0) one = s;
        if (moved)
            scene_.warnings.push_back(
                name_of_skin(one) + (moved > 1 ? " and " + std::to_string(moved - 1) + " more" : "") +
                (moved > 1 ? " bind" : " binds") + " joints in another pose than " + name_of_skin(order_[0]) +
                ": moved into that pose by the weights of the file");
        return Done{};
    }

    /// Meshes without a skin are where the nodes put them, in the world.
    void move_new_meshes() {
        const Matrix to_world = bind_to_world(rig_, scene_.skeleton);
        const auto from_world = inverse(to_world);
        if (to_world == Matrix{} || !from_world) return;
        for (std::size_t s = used_skins_.skins.size(); s < rig_.skins.size(); ++s)
            rig_.skins[s].to_scene = *from_world * rig_.skins[s].to_scene;
        for (VertexBlock& block : rig_.blocks) {
            if (!is_new(block)) continue;
            block.to_scene = *from_world * block.to_scene;
            for (std::uint32_t v = block.first_vertex; v < block.first_vertex + block.vertex_count; ++v) {
                Vec3& p = scene_.positions[v];
                p = to_vec3(transform_point(*from_world, p.x, p.y, p.z));
            }
        }
    }

    /// Triangles face as a viewer shows them in the world: the scene's space may be its mirror image.
    void turn_mirrored() {
        if (!(determinant(bind_to_world(rig_, scene_.skeleton)) < 0)) return;
        for (Triangle& t : scene_.triangles) std::swap(t[1], t[2]);
    }

    Document& document_;
    Scene& scene_;
    Rig& rig_;
    const NodeTree& nodes_;
    const UsedSkins& used_skins_;
    std::vector<std::size_t> order_;                         // of the skins; the first gives the space and the pose
    std::vector<std::vector<std::optional<Matrix>>> bound_;  // of each skin and joint: in the skin's space
    std::vector<std::vector<double>> use_;                   // the same: the sum of weights
    std::vector<std::vector<bool>> has_weight_;              // the same: whether the file's weights use it
    std::vector<std::size_t> vertices_;                      // of each skin
    std::vector<Matrix> to_scene_;                           // the same
    std::vector<std::vector<Matrix>> moves_;                 // by joint, of a skin in another pose; otherwise empty
    std::vector<std::optional<Matrix>> pose_, idle_;  // of each node: told by joints that are used, by others
    double reach_ = 0;  // the largest distance of a joint of pose_ or idle_ from the origin
    double size_ = 0;   // of the skeleton
};

}  // namespace

Matrix bind_to_world(const Rig& rig, const Skeleton& skeleton) {
    double size = 0;
    for (const Matrix& m : rig.bind_pose)
        for (std::size_t r = 0; r < 3; ++r) size = std::max(size, std::abs(m(r, 3)));
    for (std::size_t j = 0; j < rig.bind_pose.size(); ++j) {
        if (skeleton.joints[j].parent >= 0) continue;
        const auto to_joint = inverse(rig.bind_pose[j]);
        if (!to_joint) continue;
        const Matrix out = rig.nodes.world[rig.node_of_joint[j]] * *to_joint, identity;
        if (!inverse(out)) continue;
        // Bind matrices are floats: a result that differs from the identity by rounding only is set to the
        // identity.
        bool same = true;
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 4; ++c)
                same = same && std::abs(out(r, c) - identity(r, c)) <= 1e-5 * (c == 3 ? size : 1);
        return same ? identity : out;
    }
    return {};
}

Status set_bind_pose(Document& document, Scene& scene, const UsedSkins& used_skins) {
    return BindPose(document, scene, used_skins).run();
}

}  // namespace sinew::io
