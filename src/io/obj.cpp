// Wavefront OBJ: positions and faces. Texture coordinates, normals, groups and materials do not matter here.
#include <charconv>
#include <cmath>

#include "core/try.h"
#include "io/formats.h"

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

/// Faces in file order; they are triangulated when all positions are known.
struct Faces {
    std::vector<std::uint32_t> corners;
    std::vector<std::uint32_t> first{0};  ///< faces + 1
    std::vector<std::size_t> line;        ///< faces
};

/// The vertex number of a corner v, v/vt, v//vn or v/vt/vn; empty if the word is none of these.
std::optional<std::int64_t> parse_corner(std::string_view word) {
    const char* at = word.data();
    const char* const end = at + word.size();
    std::int64_t vertex = 0;
    for (int part = 0; part < 3; ++part) {
        std::int64_t value = 0;
        const auto [rest, error] = std::from_chars(at, end, value);
        // v//vn has no texture coordinate, and some writers end with a slash.
        const bool absent = part > 0 && (at == end || *at == '/');
        if (!absent && (error != std::errc{} || value == 0)) return std::nullopt;
        if (!absent) at = rest;
        if (part == 0) vertex = value;
        if (at == end) return vertex;
        if (*at != '/' || part == 2) return std::nullopt;
        ++at;
    }
    return std::nullopt;
}

}  // namespace

Result<ObjMesh> parse_obj(std::string_view text, const std::string& name, const Context* context) {
    ObjMesh mesh;
    Faces faces;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const auto fail = [&](std::size_t line, const std::string& message) {
        return input_error(name, "line " + std::to_string(line) + ": " + message);
    };
    constexpr std::size_t most = 0xffffff00u;  // vertices and corners have 32-bit numbers
    for (Cursor cursor(text); !cursor.done(); cursor.next_line()) {
        if (context && context->cancel) return Error{ErrorCode::cancelled, "cancelled while reading " + name};
        if (!cursor.skip_blank()) continue;
        const std::size_t line = cursor.line();
        const std::string_view keyword = cursor.word();
        if (keyword == "v") {
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
        } else if (keyword == "f" || keyword == "fo") {
            const std::size_t first = faces.corners.size();
            while (cursor.skip_blank()) {
                const std::string_view word = cursor.word();
                const std::optional<std::int64_t> corner = parse_corner(word);
                if (!corner)
                    return fail(line,
                                "'" + printable(word) + "' is not a corner of a face: v, v/vt, v//vn or v/vt/vn");
                const auto count = static_cast<std::int64_t>(mesh.positions.size());
                // Numbers start at 1; negative ones count back from the last vertex so far.
                const std::int64_t vertex = *corner > 0 ? *corner - 1 : count + *corner;
                if (vertex < 0 || vertex >= static_cast<std::int64_t>(most))
                    return fail(line, "the face names vertex " + std::to_string(*corner) + ", but there are only " +
                                          std::to_string(count) + " vertices before it");
                if (faces.corners.size() >= most) return fail(line, "more corners than 32-bit numbers can count");
                faces.corners.push_back(static_cast<std::uint32_t>(vertex));
            }
            if (faces.corners.size() - first < 3) {
                faces.corners.resize(first);
                ++mesh.skipped;
                continue;
            }
            faces.first.push_back(static_cast<std::uint32_t>(faces.corners.size()));
            faces.line.push_back(line);
        } else if (keyword == "l" || keyword == "p") {
            ++mesh.skipped;
        }
    }

    if (mesh.positions.empty()) return input_error(name, "there is no vertex (\"v x y z\"): is this an OBJ file?");
    if (faces.line.empty()) return input_error(name, "there is no face (\"f a b c\"): there is no surface to bind");
    // At the end: a face may come before its vertices.
    for (std::size_t f = 0; f < faces.line.size(); ++f)
        for (std::size_t i = faces.first[f]; i < faces.first[f + 1]; ++i)
            if (const std::size_t vertex = faces.corners[i]; vertex >= mesh.positions.size())
                return fail(faces.line[f], "the face names vertex " + std::to_string(vertex + 1) +
                                               ", but there are only " + std::to_string(mesh.positions.size()));
    mesh.triangles = triangulate(mesh.positions, faces.first, faces.corners, &mesh.fanned);
    return mesh;
}

Result<Scene> read_obj(std::string_view text, const std::string& name, Skeleton skeleton, const Context* context) {
    Result<ObjMesh> mesh = parse_obj(text, name, context);
    if (!mesh) return mesh.error();
    SINEW_TRY_LET(Scene scene,
                  make_scene(std::move(mesh->positions), std::move(mesh->triangles), std::move(skeleton), name));
    scene.skipped_primitives = mesh->skipped;
    if (mesh->fanned > 0)
        scene.warnings.push_back(std::to_string(mesh->fanned) +
                                 " polygons cross themselves or have no area: cut into triangles as a fan");
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
