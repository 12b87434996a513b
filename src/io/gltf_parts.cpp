// Which meshes of a document are bound apart: characters with skeletons of their own do not see each other; coarser
// levels of detail and meshes that no scene shows follow what is shown. glTF marks levels by MSFT_lod only, so
// names and places decide otherwise: a heuristic of sinew.
#include "io/gltf_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

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

/// A name that may be that of a level: without a number, and the number.
struct Level {
    std::string stem;
    int number = 0;
    bool named = false;  ///< "LOD" stands before the number
};

std::string lower(std::string name) {
    for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return name;
}

/// "Body_LOD1", "body lod 1", "lod1.body": their number of level, of the last such word. Otherwise the last number
/// of the name, or 0.
Level level_of(const std::string& name) {
    const std::string text = lower(name);
    const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    const auto letter = [&](std::size_t i) { return i < text.size() && text[i] >= 'a' && text[i] <= 'z'; };
    const auto cut = [&](std::size_t from, std::size_t digits, bool named) {
        std::size_t end = digits;
        while (digit(end)) ++end;
        const std::string number = text.substr(digits, std::min<std::size_t>(end - digits, 6));
        if (from == 0) end = std::min(text.find_first_not_of(" _.-", end), text.size());
        return Level{text.substr(0, from) + text.substr(end), number.empty() ? 0 : std::stoi(number), named};
    };
    for (std::size_t at = text.rfind("lod"); at != text.npos; at = at > 0 ? text.rfind("lod", at - 1) : text.npos) {
        if (at > 0 && letter(at - 1) && !(name[at] == 'L' && name[at - 1] >= 'a')) continue;  // "explode"
        std::size_t digits = text.find_first_not_of(" _.-", at + 3);
        if (digits != text.npos && digit(digits)) {
            std::size_t from = at;
            while (from > 0 && std::string_view(" _.-").find(text[from - 1]) != std::string_view::npos) --from;
            return cut(from, digits, true);
        }
    }
    std::size_t end = text.size();
    while (end > 0 && !digit(end - 1)) --end;
    if (end == 0) return {text, 0, false};
    std::size_t from = end;
    while (from > 0 && digit(from - 1)) --from;
    std::size_t before = from;
    while (before > 0 && std::string_view(" _.-").find(text[before - 1]) != std::string_view::npos) --before;
    return cut(before, from, false);
}

/// A mesh under one skin.
struct Piece {
    std::size_t mesh = 0;
    std::vector<std::size_t> blocks, nodes;
    std::vector<std::string> names;  ///< in lower case
    std::vector<Level> levels;       ///< of each name, and of the groups above
    std::string name;
    std::uint32_t joint_set = 0, character = 0;
    std::size_t vertices = 0;
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
        say(levels, " mesh is a coarser level of detail", " meshes are coarser levels of detail",
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
            for (std::uint32_t v = block.first_vertex; v < block.first_vertex + block.vertex_count; ++v)
                piece.box.add(scene_.positions[v]);
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
                piece.names.push_back(lower(name));
                piece.levels.push_back(level_of(name));
            };
            piece.nodes = nodes_of[piece.mesh];
            add(string_of(member(document_.mesh(piece.mesh), "name")));
            for (const std::size_t n : piece.nodes) {
                add(string_of(member(*document_.at("nodes", n), "name")));
                // "Body" below the group "LOD1"
                for (std::size_t above = nodes_.parent[n]; above != none; above = nodes_.parent[above]) {
                    Level group = level_of(string_of(member(*document_.at("nodes", above), "name")));
                    if (!group.named) continue;
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

    /// A piece that another one may follow: one with the same joints.
    template <typename May>
    bool leader_of(const Piece& piece, const May& may) const {
        return std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& p) {
            return &p != &piece && !p.follows && p.joint_set == piece.joint_set && may(p);
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
        std::stable_sort(finest.begin(), finest.end(),
                         [&](std::size_t a, std::size_t b) { return pieces_[a].vertices < pieces_[b].vertices; });
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

    /// Whether samples of one piece have a vertex of the other one near them.
    bool covers(const Piece& there, const Piece& piece, double distance) const {
        constexpr std::size_t samples = 64;
        for (const std::size_t b : piece.blocks) {
            const VertexBlock& block = rig_.blocks[b];
            const std::uint32_t step = std::max<std::uint32_t>(1, block.vertex_count / samples);
            for (std::uint32_t v = 0; v < block.vertex_count; v += step) {
                const Vec3& p = scene_.positions[block.first_vertex + v];
                const bool near = std::any_of(there.blocks.begin(), there.blocks.end(), [&](std::size_t other) {
                    const auto first = scene_.positions.begin() + rig_.blocks[other].first_vertex;
                    return std::any_of(first, first + rig_.blocks[other].vertex_count, [&](const Vec3& q) {
                        return std::hypot(double(p.x) - q.x, double(p.y) - q.y, double(p.z) - q.z) <= distance;
                    });
                });
                if (!near) return false;
            }
        }
        return true;
    }

    /// Whether all pieces with names of this stem fill the box. Numbered segments of a body do not.
    bool all_at_one_place(const std::string& stem, const Box& box, double distance) const {
        return std::all_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
            const bool named = std::any_of(piece.levels.begin(), piece.levels.end(),
                                           [&](const Level& level) { return level.stem == stem; });
            return !named || (piece.box.within(box, distance) && box.within(piece.box, distance));
        });
    }

    bool is_finer(const Piece& fine, const Piece& coarse) const {
        const double size = std::max(fine.box.diagonal(), coarse.box.diagonal());
        for (const Level& b : coarse.levels)  // "Body" and "Body_LOD1"
            if (b.named && b.number > 0 && coarse.box.within(fine.box, 0.1 * size) &&
                std::find(fine.names.begin(), fine.names.end(), b.stem) != fine.names.end())
                return true;
        for (const Level& a : fine.levels)
            for (const Level& b : coarse.levels) {
                if (a.named && b.named && a.number < b.number &&
                    (a.stem == b.stem ? coarse.box.within(fine.box, 0.1 * size)
                                      : coarse.box.within(fine.box, 0.02 * size)))
                    return true;
                // Without the word: clearly fewer vertices, and the same place on all sides and between.
                if (!(a.named && b.named) && a.stem == b.stem && a.number != b.number &&
                    4 * coarse.vertices <= 3 * fine.vertices && all_at_one_place(a.stem, fine.box, 0.03 * size) &&
                    covers(fine, coarse, 0.02 * size) && covers(coarse, fine, 0.1 * size))
                    return true;
            }
        return false;
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
    std::string first_level_, first_hidden_;
};

}  // namespace

void find_parts(const Document& document, Scene& scene) { PartFinder(document, scene).run(); }

}  // namespace sinew::io
