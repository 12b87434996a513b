// Which meshes of a document are bound apart: characters with skeletons of their own do not see each other; coarser
// levels of detail and meshes that no scene shows follow what is shown. glTF marks levels by MSFT_lod only, so
// names and places decide otherwise: a heuristic of sinew.
#include "io/gltf_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/nearest_in_triangle.h"
#include "core/vectors.h"
#include "io/gltf_nodes.h"
#include "sinew/parts.h"

namespace sinew::io {

namespace {

struct Box {
    Vec3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    void add(const Vec3& p) {
        low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    double diagonal() const {
        return std::hypot(double(high.x) - low.x, double(high.y) - low.y, double(high.z) - low.z);
    }
    bool within(const Box& b, double slack) const {
        return low.x >= b.low.x - slack && low.y >= b.low.y - slack && low.z >= b.low.z - slack &&
               high.x <= b.high.x + slack && high.y <= b.high.y + slack && high.z <= b.high.z + slack;
    }
};

/// The words of a name in lower case, split where separators, digits or capital letters begin: "BodyLOD1": body
/// lod 1.
std::vector<std::string> words_of(const std::string& name) {
    enum Kind { other, small, capital, digit };
    const auto kind = [&](std::size_t i) {
        const char c = i < name.size() ? name[i] : ' ';
        return c >= '0' && c <= '9'                        ? digit
               : c >= 'A' && c <= 'Z'                      ? capital
               : (c >= 'a' && c <= 'z') || (c & 0x80) != 0 ? small
                                                           : other;
    };
    std::vector<std::string> words;
    Kind before = other;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const Kind is = kind(i);
        if (is != other) {
            const bool goes_on = is == before || (is == small && before == capital);
            const bool last_capital = is == capital && before == capital && kind(i + 1) == small;  // "LODBody"
            if (!goes_on || last_capital) words.emplace_back();
            words.back() += is == capital ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
        }
        before = is;
    }
    return words;
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
    return out;
}

/// A name that may be that of a level: without what says so, and the number of the level.
struct Level {
    enum class By { nothing, number, word, lod };
    std::string stem;
    int number = 0;
    By by = By::nothing;
};

/// "Body_LOD1", "body lod 1", "lod1.body": the last such number. Otherwise the last word for quality as 0 (high) to
/// 2 (low), or the last number of the name.
Level level_of(const std::string& name) {
    const std::vector<std::string> words = words_of(name);
    const auto is_number = [&](std::size_t i) {
        return i < words.size() && words[i][0] >= '0' && words[i][0] <= '9';
    };
    const auto without = [&](std::size_t at, std::size_t count, int number, Level::By by) {
        std::vector<std::string> rest = words;
        const auto first = rest.begin() + static_cast<std::ptrdiff_t>(at);
        rest.erase(first, first + static_cast<std::ptrdiff_t>(count));
        return Level{joined(rest), number, by};
    };
    for (std::size_t i = words.size(); i-- > 0;)
        if (words[i] == "lod" && is_number(i + 1))
            return without(i, 2, std::stoi(words[i + 1].substr(0, 6)), Level::By::lod);
    static const std::map<std::string, int> qualities{
        {"high", 0},    {"hi", 0},      {"hp", 0},      {"hd", 0},     {"mid", 1},      {"medium", 1}, {"med", 1},
        {"mp", 1},      {"low", 2},     {"lo", 2},      {"lp", 2},     {"highpoly", 0}, {"hipoly", 0}, {"hires", 0},
        {"highres", 0}, {"midpoly", 1}, {"lowpoly", 2}, {"lopoly", 2}, {"lores", 2},    {"lowres", 2}};
    for (std::size_t i = words.size(); i-- > 0;)
        if (const auto quality = qualities.find(words[i]); quality != qualities.end()) {
            const bool two = i + 1 < words.size() && (words[i + 1] == "poly" || words[i + 1] == "res");
            return without(i, two ? 2 : 1, quality->second, Level::By::word);
        }
    for (std::size_t i = words.size(); i-- > 0;)
        if (is_number(i)) return without(i, 1, 0, Level::By::number);
    return {joined(words)};
}

/// A mesh under one skin.
struct Piece {
    std::size_t mesh = 0;
    std::vector<std::size_t> blocks, nodes;
    std::vector<std::string> names;  ///< their words
    std::vector<Level> levels;       ///< of each name, and of the groups above
    std::string name;
    std::uint32_t joint_set = 0, character = 0;
    std::size_t vertices = 0;
    std::vector<Triangle> triangles;
    double area = 0;
    Box box;
    bool rigid = false;  ///< follows one joint
    bool shown = false, follows = false;
};

class PartFinder {
public:
    PartFinder(const Document& document, Scene& scene)
        : document_(document), scene_(scene), rig_(document.rig), nodes_(document.rig.nodes) {}

    void run() {
        collect();
        if (pieces_.size() < 2) return;
        describe();
        const std::size_t hidden = find_hidden();
        const std::size_t levels = find_levels();
        const std::size_t characters = find_characters();
        const bool rigid = set_rigid_apart(static_cast<std::uint32_t>(characters));
        if (hidden + levels == 0 && characters < 2 && !rigid) return;
        scene_.part_of_vertex.resize(scene_.positions.size());
        for (const Piece& piece : pieces_)
            for (const std::size_t b : piece.blocks) {
                const VertexBlock& block = rig_.blocks[b];
                std::fill_n(scene_.part_of_vertex.begin() + block.first_vertex, block.vertex_count,
                            piece.follows ? kFollows : piece.character);
            }
        const auto say = [&](std::size_t n, const char* one, const char* many, const std::string& then) {
            if (n) scene_.warnings.push_back(std::to_string(n) + (n == 1 ? one : many) + then);
        };
        say(levels, " mesh is a coarser level of detail or a copy",
            " meshes are coarser levels of detail or copies",
            " (first: " + in_quotes(first_level_) + "): weights are those of the finest (otherwise: `together`)");
        say(hidden, " mesh is shown by no scene", " meshes are shown by no scene",
            " (first: " + in_quotes(first_hidden_) +
                "): weights are those of what is shown (otherwise: `together`)");
        if (characters > 1)
            scene_.warnings.push_back(
                std::to_string(characters) +
                " characters with skeletons of their own are bound apart (otherwise: `together`)");
    }

private:
    void collect() {
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> piece_of;  // mesh and skin
        for (std::size_t b = 0; b < rig_.blocks.size(); ++b) {
            const VertexBlock& block = rig_.blocks[b];
            const std::size_t mesh = block.primitives[0].mesh;
            const auto [at, is_new] = piece_of.try_emplace({mesh, block.skin}, pieces_.size());
            if (is_new) {
                Piece piece;
                piece.mesh = mesh;
                piece.joint_set = rig_.skins[block.skin].joint_set;
                piece.rigid = rig_.skins[block.skin].is_part;
                piece.name = name_of(document_.mesh(mesh), "mesh", mesh);
                pieces_.push_back(std::move(piece));
            }
            Piece& piece = pieces_[at->second];
            piece.blocks.push_back(b);
            piece.vertices += block.vertex_count;
        }
    }

    /// Surfaces, nodes and names of the pieces.
    void describe() {
        std::vector<std::size_t> piece_at(scene_.positions.size());
        for (std::size_t p = 0; p < pieces_.size(); ++p)
            for (const std::size_t b : pieces_[p].blocks) {
                const VertexBlock& block = rig_.blocks[b];
                std::fill_n(piece_at.begin() + block.first_vertex, block.vertex_count, p);
                for (std::uint32_t v = block.first_vertex; v < block.first_vertex + block.vertex_count; ++v)
                    pieces_[p].box.add(scene_.positions[v]);
            }
        for (const Triangle& t : scene_.triangles) {
            Piece& piece = pieces_[piece_at[t[0]]];
            piece.triangles.push_back(t);
            const Point3 a = to_point(scene_.positions[t[0]]);
            const Point3 n = cross(to_point(scene_.positions[t[1]]) - a, to_point(scene_.positions[t[2]]) - a);
            piece.area += 0.5 * std::sqrt(dot(n, n));
        }
        std::map<std::size_t, std::vector<std::size_t>> nodes_of;  // of written meshes
        std::set<std::size_t> changed;
        for (const Rig::SkinnedNode& skinned : rig_.skinned_nodes) {
            nodes_of[skinned.mesh].push_back(skinned.node);
            changed.insert(skinned.node);
        }
        if (rig_.source == RigSource::skins)
            for (std::size_t n = 0; n < nodes_.parent.size(); ++n) {
                const Json& node = *document_.at("nodes", n);
                if (const auto mesh = whole(member(node, "mesh"));
                    mesh && member(node, "skin") && !changed.contains(n))
                    nodes_of[*mesh].push_back(n);
            }
        for (Piece& piece : pieces_) {
            const auto add = [&](const std::string& name) {
                piece.names.push_back(joined(words_of(name)));
                piece.levels.push_back(level_of(name));
            };
            piece.nodes = nodes_of[piece.mesh];
            add(string_of(member(document_.mesh(piece.mesh), "name")));
            for (const std::size_t n : piece.nodes) {
                add(string_of(member(*document_.at("nodes", n), "name")));
                // "Body" below the group "LOD1"
                for (std::size_t above = nodes_.parent[n]; above != none; above = nodes_.parent[above]) {
                    Level group = level_of(string_of(member(*document_.at("nodes", above), "name")));
                    if (group.by != Level::By::lod) continue;
                    group.stem += "/" + piece.names.back();
                    piece.levels.push_back(std::move(group));
                    break;
                }
            }
        }
    }

    /// Pieces that no scene shows, or that KHR_node_visibility hides. If all are, none counts as hidden.
    std::size_t find_hidden() {
        std::vector<bool> shown(nodes_.parent.size(), document_.count("scenes") == 0);
        for (std::size_t s = 0; s < document_.count("scenes"); ++s)
            if (const Json* roots = member(*document_.at("scenes", s), "nodes"); roots && roots->is_array())
                for (const Json& root : *roots)
                    if (const auto n = whole(&root); n && *n < shown.size()) shown[*n] = true;
        std::vector<bool> in_scene = shown;
        for (const std::size_t n : nodes_.top_down) {
            if (nodes_.parent[n] != none) {
                in_scene[n] = in_scene[n] || in_scene[nodes_.parent[n]];
                shown[n] = shown[n] || shown[nodes_.parent[n]];
            }
            const Json* extensions = member(*document_.at("nodes", n), "extensions");
            const Json* visibility = extensions ? member(*extensions, "KHR_node_visibility") : nullptr;
            const Json* visible = visibility ? member(*visibility, "visible") : nullptr;
            if (visible && visible->is_boolean() && !visible->get<bool>()) shown[n] = false;
        }
        for (Piece& piece : pieces_)
            piece.shown =
                std::any_of(piece.nodes.begin(), piece.nodes.end(), [&](std::size_t n) { return shown[n]; });
        std::size_t hidden = 0;
        for (Piece& piece : pieces_) {
            if (piece.shown || !leader_of(piece, [](const Piece& p) { return p.shown; })) continue;
            piece.follows = true;
            if (hidden++ == 0) first_hidden_ = piece.name;
        }
        return hidden;
    }

    /// Whether the joints of the first are also those of the second.
    bool has_its_joints(const Piece& piece, const Piece& of) const {
        if (piece.joint_set == of.joint_set) return true;
        const auto& own = scene_.skeleton.skins[piece.joint_set];
        const auto& all = scene_.skeleton.skins[of.joint_set];  // both are sorted
        return std::includes(all.begin(), all.end(), own.begin(), own.end());
    }

    /// The mesh of the document that a piece shows: several skins have copies of it.
    std::size_t source_of(const Piece& piece) const {
        const std::size_t count = document_.count("meshes");
        return piece.mesh < count ? piece.mesh : rig_.mesh_copies[piece.mesh - count];
    }

    /// A piece that another one may follow: one that has its joints.
    template <typename May>
    bool leader_of(const Piece& piece, const May& may) const {
        return std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& p) {
            return &p != &piece && !p.follows && may(p) && has_its_joints(piece, p);
        });
    }

    std::size_t find_levels() {
        std::set<std::size_t> of_lists;  // nodes that MSFT_lod names as lower levels, and those below them
        for (std::size_t n = 0; n < nodes_.parent.size(); ++n) {
            const Json* extensions = member(*document_.at("nodes", n), "extensions");
            const Json* lod = extensions ? member(*extensions, "MSFT_lod") : nullptr;
            const Json* ids = lod ? member(*lod, "ids") : nullptr;
            if (ids && ids->is_array())
                for (const Json& id : *ids)
                    if (const auto node = whole(&id); node && *node < nodes_.parent.size()) of_lists.insert(*node);
        }
        for (const std::size_t n : nodes_.top_down)
            if (nodes_.parent[n] != none && of_lists.contains(nodes_.parent[n])) of_lists.insert(n);
        std::size_t levels = 0;
        std::vector<std::size_t> finest(pieces_.size());
        std::iota(finest.begin(), finest.end(), std::size_t{0});
        std::sort(finest.begin(), finest.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(pieces_[a].vertices, b) < std::pair(pieces_[b].vertices, a);
        });
        for (const std::size_t p : finest) {  // the coarsest first, so that a leader is known to stay
            Piece& piece = pieces_[p];
            if (piece.follows) continue;
            const bool listed = std::any_of(piece.nodes.begin(), piece.nodes.end(),
                                            [&](std::size_t n) { return of_lists.contains(n); });
            const auto finer = [&](const Piece& other) { return listed || is_finer(other, piece); };
            if (!leader_of(piece, finer)) continue;
            piece.follows = true;
            if (levels++ == 0) first_level_ = piece.name;
        }
        return levels;
    }

    /// Whether samples of one piece lie on the surface of the other one, or near it.
    bool covers(const Piece& there, const Piece& piece, double distance) {
        constexpr std::size_t samples = 64;
        for (const std::size_t b : piece.blocks) {
            const VertexBlock& block = rig_.blocks[b];
            const std::uint32_t step = std::max<std::uint32_t>(1, block.vertex_count / samples);
            for (std::uint32_t v = 0; v < block.vertex_count; v += step) {
                if (comparisons_ < there.triangles.size()) return false;
                comparisons_ -= there.triangles.size();
                const Point3 p = to_point(scene_.positions[block.first_vertex + v]);
                const bool near =
                    std::any_of(there.triangles.begin(), there.triangles.end(), [&](const Triangle& t) {
                        const std::array corners{to_point(scene_.positions[t[0]]), to_point(scene_.positions[t[1]]),
                                                 to_point(scene_.positions[t[2]])};
                        for (std::size_t k = 0; k < 3; ++k)
                            if (p[k] < std::min({corners[0][k], corners[1][k], corners[2][k]}) - distance ||
                                p[k] > std::max({corners[0][k], corners[1][k], corners[2][k]}) + distance)
                                return false;
                        const auto share = nearest_in_triangle(corners[0], corners[1], corners[2], p);
                        double square = 0;
                        for (std::size_t k = 0; k < 3; ++k) {
                            const double d = share[0] * corners[0][k] + share[1] * corners[1][k] +
                                             share[2] * corners[2][k] - p[k];
                            square += d * d;
                        }
                        return square <= distance * distance;
                    });
                if (!near) return false;
            }
        }
        return true;
    }

    bool is_finer(const Piece& fine, const Piece& coarse) {
        const double size = std::max(fine.box.diagonal(), coarse.box.diagonal());
        if (!coarse.box.within(fine.box, 0.1 * size)) return false;
        bool alike = false;
        for (const Level& b : coarse.levels) {
            const bool ordered =
                b.by == Level::By::lod || (b.by == Level::By::word && coarse.vertices < fine.vertices);
            // "Body" and "Body_LOD1"
            if (ordered && b.number > 0 &&
                std::find(fine.names.begin(), fine.names.end(), b.stem) != fine.names.end())
                return true;
            for (const Level& a : fine.levels) {
                if (ordered && a.by == b.by && a.number < b.number &&
                    (a.stem == b.stem || (b.by == Level::By::lod && coarse.box.within(fine.box, 0.02 * size))))
                    return true;
                if (a.by == Level::By::lod && b.by == Level::By::lod && a.number != b.number) return false;
                alike = alike || a.stem == b.stem;
            }
        }
        // Otherwise the surfaces decide: by their area, since the box of ten finger tips is that of two hands.
        const double extent = std::sqrt(std::min(fine.area, coarse.area));
        const double distance = (alike ? 0.05 : 0.02) * extent;
        return coarse.vertices < fine.vertices && source_of(coarse) != source_of(fine) &&
               coarse.area <= 2 * fine.area && fine.area <= 2 * coarse.area &&
               fine.box.within(coarse.box, 0.05 * extent) && coarse.box.within(fine.box, 0.05 * extent) &&
               covers(fine, coarse, distance) && covers(coarse, fine, distance);
    }

    /// Numbers the pieces by the root joints of their skins: those that share one are one character.
    std::size_t find_characters() {
        const std::vector<Joint>& joints = scene_.skeleton.joints;
        const auto& sets = scene_.skeleton.skins;
        if (sets.empty()) return 1;
        std::vector<std::uint32_t> same(joints.size() + sets.size());
        std::iota(same.begin(), same.end(), 0u);
        const auto find = [&](std::uint32_t x) {
            while (same[x] != x) x = same[x] = same[same[x]];
            return x;
        };
        for (std::uint32_t j = 0; j < joints.size(); ++j)
            if (joints[j].parent >= 0) same[find(j)] = find(static_cast<std::uint32_t>(joints[j].parent));
        const auto of_set = [&](std::size_t s) { return static_cast<std::uint32_t>(joints.size() + s); };
        for (std::size_t s = 0; s < sets.size(); ++s)
            for (const std::uint32_t j : sets[s]) same[find(of_set(s))] = find(j);
        std::map<std::uint32_t, std::uint32_t> number;
        for (Piece& piece : pieces_)
            piece.character =
                number.try_emplace(find(of_set(piece.joint_set)), static_cast<std::uint32_t>(number.size()))
                    .first->second;
        return number.size();
    }

    /// Meshes that follow one joint are a part of their own, which does not disturb the others; false without
    /// others.
    bool set_rigid_apart(std::uint32_t number) {
        bool others = false, any = false;
        for (Piece& piece : pieces_) {
            (piece.rigid ? any : others) = true;
            if (piece.rigid) piece.character = number;
        }
        return any && others;
    }

    const Document& document_;
    Scene& scene_;
    const Rig& rig_;
    const NodeTree& nodes_;
    std::vector<Piece> pieces_;
    std::size_t comparisons_ = 200'000'000;  ///< of points with triangles: a bound on the time
    std::string first_level_, first_hidden_;
};

}  // namespace

void find_parts(const Document& document, Scene& scene) { PartFinder(document, scene).run(); }

}  // namespace sinew::io
