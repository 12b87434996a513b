// Wavefront OBJ: positions, faces with texture coordinates and normals, groups, and the names of materials.
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "core/try.h"
#include "io/formats.h"
#include "io/gltf_scene.h"

namespace sinew::io {

namespace {

/// Walks the text word by word within logical lines: a backslash at a line's end continues it.
class Cursor {
public:
    explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    bool done() const { return at_ == end_; }
    std::size_t line() const { return line_; }

    /// Moves to the next word of this line; false at its end.
    bool skip_blank() {
        for (; at_ != end_; ++at_) {
            if (*at_ == ' ' || *at_ == '\t') continue;
            if (*at_ == '\\' && newline(at_ + 1)) {
                at_ += newline(at_ + 1);
                ++line_;
                continue;
            }
            return *at_ != '\n' && *at_ != '\r' && *at_ != '#';
        }
        return false;
    }

    std::string_view word() {
        const char* const start = at_;
        while (at_ != end_ && !is_break(*at_) && !(*at_ == '\\' && newline(at_ + 1))) ++at_;
        return {start, static_cast<std::size_t>(at_ - start)};
    }

    /// The rest of this line, without blanks at its ends.
    std::string rest() {
        std::string out;
        while (skip_blank()) out += (out.empty() ? "" : " ") + std::string(word());
        return out;
    }

    /// Skips the rest of this line.
    void next_line() {
        while (at_ != end_ && *at_ != '\n' && *at_ != '\r') {
            if (*at_ == '\\' && newline(at_ + 1)) {
                at_ += newline(at_ + 1);
                ++line_;
            }
            ++at_;
        }
        at_ += newline(at_);
        ++line_;
    }

private:
    static bool is_break(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

    /// Length of the line break at p: 0 (none), 1 or 2.
    std::ptrdiff_t newline(const char* p) const {
        if (p == end_) return 0;
        if (*p == '\n') return 1;
        if (*p == '\r') return p + 1 != end_ && p[1] == '\n' ? 2 : 1;
        return 0;
    }

    const char* at_;
    const char* end_;
    std::size_t line_ = 1;
};

/// The numbers of a corner: vertex, texture coordinate, normal. 0 = none.
using Corner = std::array<std::int64_t, 3>;

/// Faces in file order; they are triangulated when all positions are known.
struct Faces {
    std::vector<std::array<std::uint32_t, 3>> corners;  ///< places in the lists of the file; no_index = none
    std::vector<std::uint32_t> first{0};                ///< faces + 1
    std::vector<std::size_t> line;                      ///< faces
    std::vector<std::uint32_t> part;                    ///< faces
};

/// The numbers of a corner v, v/vt, v//vn or v/vt/vn; empty if the word is none of these.
std::optional<Corner> parse_corner(std::string_view word) {
    const char* at = word.data();
    const char* const end = at + word.size();
    Corner corner{};
    for (std::size_t part = 0; part < 3; ++part) {
        // v//vn has no texture coordinate, and some writers end with a slash.
        const bool absent = part > 0 && (at == end || *at == '/');
        if (!absent) {
            const auto [rest, error] = std::from_chars(at, end, corner[part]);
            if (error != std::errc{} || corner[part] == 0) return std::nullopt;
            at = rest;
        }
        if (at == end) return corner;
        if (*at != '/' || part == 2) return std::nullopt;
        ++at;
    }
    return std::nullopt;
}

/// The first of equal rows for each row.
template <typename Row>
std::vector<std::uint32_t> first_equal(const std::vector<Row>& rows) {
    std::map<Row, std::uint32_t> seen;
    std::vector<std::uint32_t> out;
    for (const Row& row : rows)
        out.push_back(seen.try_emplace(row, static_cast<std::uint32_t>(out.size())).first->second);
    return out;
}

/// Gives each combination of vertex, texture coordinate and normal a vertex of its own: the first one of a `v`
/// keeps its number, further ones are appended. Returns the vertex of each corner.
std::vector<std::uint32_t> split_corners(const Faces& faces, const std::vector<std::array<float, 2>>& uvs,
                                         const std::vector<std::array<float, 3>>& normals, ObjMesh& mesh) {
    const std::vector<std::uint32_t> uv_of = first_equal(uvs), normal_of = first_equal(normals);
    using Look = std::array<std::uint32_t, 2>;
    std::vector<std::optional<Look>> first(mesh.positions.size());
    std::map<std::array<std::uint32_t, 3>, std::uint32_t> further;
    MeshLook& look = mesh.look;
    look.uvs.resize(uvs.empty() ? 0 : first.size());
    look.normals.resize(normals.empty() ? 0 : first.size());
    const auto set = [&](std::uint32_t vertex, const Look& of) {
        if (of[0] != no_index) look.uvs[vertex] = uvs[of[0]];
        if (of[1] != no_index) look.normals[vertex] = {normals[of[1]][0], normals[of[1]][1], normals[of[1]][2]};
    };
    std::vector<std::uint32_t> out;
    for (const auto& [v, uv, normal] : faces.corners) {
        mesh.lost += (uv != no_index && uv >= uvs.size()) + (normal != no_index && normal >= normals.size());
        const Look of{uv < uvs.size() ? uv_of[uv] : no_index,
                      normal < normals.size() ? normal_of[normal] : no_index};
        if (!first[v]) {
            first[v] = of;
            set(v, of);
        }
        if (*first[v] == of) {
            out.push_back(v);
            continue;
        }
        const auto [at, is_new] =
            further.try_emplace({v, of[0], of[1]}, static_cast<std::uint32_t>(mesh.positions.size()));
        out.push_back(at->second);
        if (!is_new) continue;
        if (look.same_as.empty())
            for (std::uint32_t i = 0; i < first.size(); ++i) look.same_as.push_back(i);
        look.same_as.push_back(v);
        mesh.positions.push_back(mesh.positions[v]);
        if (!look.uvs.empty()) look.uvs.emplace_back();
        if (!look.normals.empty()) look.normals.emplace_back();
        set(at->second, of);
    }
    return out;
}

/// Sorts the triangles by part, in the order in which the parts begin. A polygon of n corners has n - 2 triangles.
void sort_by_part(const Faces& faces, ObjMesh& mesh) {
    std::vector<MeshLook::Part>& parts = mesh.look.parts;
    std::vector<std::vector<Triangle>> of_part(parts.size());
    std::size_t next = 0;
    for (std::size_t f = 0; f < faces.line.size(); ++f)
        for (std::uint32_t n = faces.first[f + 1] - faces.first[f]; n > 2; --n)
            of_part[faces.part[f]].push_back(mesh.triangles[next++]);
    mesh.triangles.clear();
    for (std::size_t p = 0; p < parts.size(); ++p) {
        parts[p].triangle_count = static_cast<std::uint32_t>(of_part[p].size());
        mesh.triangles.insert(mesh.triangles.end(), of_part[p].begin(), of_part[p].end());
    }
}

// Vertices and corners have 32-bit numbers; corners become vertices.
constexpr std::size_t most = 0x7fffff00u;

/// Reads the lines of a file, in order.
struct ObjLines {
    const std::string& name;
    ObjMesh& mesh;
    Faces& faces;
    std::vector<std::array<float, 2>> uvs{};
    std::vector<std::array<float, 3>> normals{};
    std::string group{};
    int material = -1;
    std::map<std::string, int> material_of{};
    std::map<std::pair<std::string, int>, std::uint32_t> part_of{};

    Error fail(std::size_t line, const std::string& message) const {
        return input_error(name, "line " + std::to_string(line) + ": " + message);
    }

    Status vertex(Cursor& cursor, std::size_t line) {
        float xyz[3];
        for (float& x : xyz) {
            if (!cursor.skip_blank()) return fail(line, "a vertex needs three numbers: v x y z");
            const std::string_view word = cursor.word();
            const std::optional<float> value = parse_float(word);
            if (!value) return fail(line, "'" + printable(word) + "' is not a finite number");
            x = *value;
        }
        if (mesh.positions.size() >= most) return fail(line, "more vertices than 32-bit numbers can count");
        mesh.positions.push_back({xyz[0], xyz[1], xyz[2]});
        return Done{};
    }

    Status corner(std::string_view word, std::size_t line) {
        const std::optional<Corner> corner = parse_corner(word);
        if (!corner)
            return fail(line, "'" + printable(word) + "' is not a corner of a face: v, v/vt, v//vn or v/vt/vn");
        // Numbers start at 1; negative ones count back from the last vertex so far.
        const auto place = [](std::int64_t number, std::size_t so_far) {
            return number > 0 ? number - 1 : static_cast<std::int64_t>(so_far) + number;
        };
        const std::int64_t vertex = place((*corner)[0], mesh.positions.size());
        if (vertex < 0 || vertex >= static_cast<std::int64_t>(most))
            return fail(line, "the face names vertex " + std::to_string((*corner)[0]) + ", but there are only " +
                                  std::to_string(mesh.positions.size()) + " vertices before it");
        if (faces.corners.size() >= most) return fail(line, "more corners than 32-bit numbers can count");
        const auto look = [&](std::size_t part, std::size_t so_far) {
            const std::int64_t at = place((*corner)[part], so_far);
            return (*corner)[part] == 0       ? no_index
                   : at < 0 || at >= no_index ? no_index - 1
                                              : static_cast<std::uint32_t>(at);
        };
        faces.corners.push_back({static_cast<std::uint32_t>(vertex), look(1, uvs.size()), look(2, normals.size())});
        return Done{};
    }

    Status face(Cursor& cursor, std::size_t line) {
        const std::size_t first = faces.corners.size();
        while (cursor.skip_blank()) SINEW_TRY(corner(cursor.word(), line));
        if (faces.corners.size() - first < 3) {
            faces.corners.resize(first);
            ++mesh.skipped;
            return Done{};
        }
        faces.first.push_back(static_cast<std::uint32_t>(faces.corners.size()));
        faces.line.push_back(line);
        const auto [at, is_new] =
            part_of.try_emplace({group, material}, static_cast<std::uint32_t>(part_of.size()));
        if (is_new) mesh.look.parts.push_back({group, material});
        faces.part.push_back(at->second);
        return Done{};
    }

    Status read(Cursor& cursor) {
        const std::size_t line = cursor.line();
        const std::string_view keyword = cursor.word();
        if (keyword == "v") return vertex(cursor, line);
        if (keyword == "f" || keyword == "fo") return face(cursor, line);
        if (keyword == "vt" || keyword == "vn") {
            // Numbers that are missing or wrong count as 0: they do not move the surface.
            std::array<float, 3> row{};
            for (float& x : row)
                if (cursor.skip_blank()) x = parse_float(cursor.word()).value_or(0);
            if (keyword == "vt")
                uvs.push_back({row[0], 1 - row[1]});
            else
                normals.push_back(row);
        } else if (keyword == "g" || keyword == "o") {
            group = cursor.rest();
        } else if (keyword == "mtllib") {
            mesh.libraries.push_back(cursor.rest());
        } else if (keyword == "usemtl") {
            const std::string named = cursor.rest();
            const auto [at, is_new] = material_of.try_emplace(named, static_cast<int>(material_of.size()));
            if (is_new) mesh.look.materials.emplace_back().name = named;
            material = at->second;
        } else if (keyword == "l" || keyword == "p") {
            ++mesh.skipped;
        }
        return Done{};
    }
};

}  // namespace

Result<ObjMesh> parse_obj(std::string_view text, const std::string& name, const Context* context) {
    ObjMesh mesh;
    Faces faces;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    ObjLines lines{name, mesh, faces};
    for (Cursor cursor(text); !cursor.done(); cursor.next_line()) {
        if (context && context->cancel) return Error{ErrorCode::cancelled, "cancelled while reading " + name};
        if (cursor.skip_blank()) SINEW_TRY(lines.read(cursor));
    }
    if (mesh.positions.empty()) return input_error(name, "there is no vertex (\"v x y z\"): is this an OBJ file?");
    if (faces.line.empty()) return input_error(name, "there is no face (\"f a b c\"): there is no surface to bind");
    // At the end: a face may come before its vertices.
    for (std::size_t f = 0; f < faces.line.size(); ++f)
        for (std::size_t i = faces.first[f]; i < faces.first[f + 1]; ++i)
            if (const std::size_t vertex = faces.corners[i][0]; vertex >= mesh.positions.size())
                return lines.fail(faces.line[f], "the face names vertex " + std::to_string(vertex + 1) +
                                                     ", but there are only " +
                                                     std::to_string(mesh.positions.size()));
    const std::vector<std::uint32_t> corners = split_corners(faces, lines.uvs, lines.normals, mesh);
    // In pieces, between which it can be cancelled: large polygons take the square of their corners.
    const auto ends = std::span(faces.first);
    for (std::size_t from = 0, to = 0; from < faces.line.size(); from = to) {
        constexpr std::size_t piece = 4096;  // corners
        for (to = from + 1; to < faces.line.size() && faces.first[to + 1] - faces.first[from] <= piece;) ++to;
        std::size_t fanned = 0;
        const std::vector<Triangle> cut =
            triangulate(mesh.positions, ends.subspan(from, to - from + 1), corners, &fanned);
        mesh.triangles.insert(mesh.triangles.end(), cut.begin(), cut.end());
        mesh.fanned += fanned;
        if (context && context->cancel) return Error{ErrorCode::cancelled, "cancelled while reading " + name};
    }
    sort_by_part(faces, mesh);
    return mesh;
}

Result<Scene> read_obj(std::string_view text, const std::string& name, std::shared_ptr<ModelFiles> files,
                       Skeleton skeleton, const Context* context) {
    SINEW_TRY_LET(ObjMesh mesh, parse_obj(text, name, context));
    std::vector<std::string> warnings;
    constexpr std::size_t most_parts = 4096;  // each is a primitive, with about 300 bytes of JSON
    if (mesh.look.parts.size() > most_parts || mesh.look.materials.size() > most_parts) {
        warnings.push_back(std::to_string(mesh.look.parts.size()) + " groups and materials become one");
        mesh.look.parts.clear();
        mesh.look.materials.clear();
    }
    SINEW_TRY(read_obj_materials(mesh.libraries, name, *files, mesh.look.materials, warnings));
    if (mesh.lost)
        warnings.push_back(std::to_string(mesh.lost) +
                           " corners name texture coordinates or normals that do not exist");
    if (mesh.fanned)
        warnings.push_back(std::to_string(mesh.fanned) +
                           " polygons cross themselves or have no area: cut into triangles as a fan");
    SINEW_TRY_LET(auto document, mesh_document(mesh.positions, mesh.triangles, name, mesh.look));
    document->warnings = std::move(warnings);
    SINEW_TRY_LET(Scene scene, read_scene(std::move(document), {std::move(skeleton)}, context));
    scene.skipped_primitives = mesh.skipped;
    return scene;
}

std::string obj_text(std::span<const Vec3> positions, std::span<const Triangle> triangles) {
    std::string text = "# sinew\n";
    char number[32];
    const auto add = [&](auto value) {
        const auto [end, error] =
            std::to_chars(number, number + sizeof number, value);  // the shortest that is exact
        (void)error;
        text += ' ';
        text.append(number, end);
    };
    for (const Vec3& p : positions) {
        text += 'v';
        for (const float x : {p.x, p.y, p.z}) add(x);
        text += '\n';
    }
    for (const Triangle& t : triangles) {
        text += 'f';
        for (const std::uint32_t i : t) add(std::uint64_t{i} + 1);
        text += '\n';
    }
    return text;
}

}  // namespace sinew::io
