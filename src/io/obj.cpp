// Wavefront OBJ: positions and faces. Texture coordinates, normals, groups and materials do not matter here.
#include <charconv>
#include <cmath>

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

using Point2 = std::array<double, 2>;

double cross(const Point2& a, const Point2& b, const Point2& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// Cuts one polygon into triangles with its winding. Convex ones become the fan from their first corner, others are
/// clipped ear by ear in the plane of their area vector (Newell). Returns false if that fails because the polygon
/// crosses itself or has no area; the rest of it then becomes a fan.
class Triangulator {
public:
    bool cut(std::span<const std::uint32_t> polygon, const std::vector<Vec3>& positions,
             std::vector<Triangle>& triangles) {
        const std::size_t n = polygon.size();
        if (n == 3) {
            triangles.push_back({polygon[0], polygon[1], polygon[2]});
            return true;
        }
        // Ear clipping takes at least n² steps; only hostile files have polygons of this size.
        constexpr std::size_t max_clipped = 4096;
        flatten(polygon, positions);
        left_.resize(n);
        for (std::size_t i = 0; i < n; ++i) left_[i] = static_cast<std::uint32_t>(i);
        const bool clip = n <= max_clipped && !is_convex();
        bool clean = n <= max_clipped;
        while (clip && left_.size() > 3) {
            const std::size_t ear = find_ear();
            if (ear == left_.size()) {
                clean = false;
                break;
            }
            const std::size_t m = left_.size();
            triangles.push_back(
                {polygon[left_[(ear + m - 1) % m]], polygon[left_[ear]], polygon[left_[(ear + 1) % m]]});
            left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(ear));
        }
        for (std::size_t i = 1; i + 1 < left_.size(); ++i)
            triangles.push_back({polygon[left_[0]], polygon[left_[i]], polygon[left_[i + 1]]});
        return clean;
    }

private:
    /// Projects along the axis nearest to the polygon's normal, so that it is counter-clockwise.
    void flatten(std::span<const std::uint32_t> polygon, const std::vector<Vec3>& positions) {
        const auto point = [&](std::size_t i) {
            const Vec3& p = positions[polygon[i % polygon.size()]];
            return std::array<double, 3>{p.x, p.y, p.z};
        };
        const auto origin = point(0);
        std::array<double, 3> normal{};
        for (std::size_t i = 0; i < polygon.size(); ++i) {
            auto a = point(i), b = point(i + 1);
            for (int k = 0; k < 3; ++k) a[k] -= origin[k], b[k] -= origin[k];
            for (int k = 0; k < 3; ++k)
                normal[k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
        }
        int axis = 0;
        for (int k = 1; k < 3; ++k)
            if (std::abs(normal[k]) > std::abs(normal[axis])) axis = k;
        const int u = normal[axis] >= 0 ? (axis + 1) % 3 : (axis + 2) % 3, v = 3 - axis - u;
        flat_.resize(polygon.size());
        for (std::size_t i = 0; i < polygon.size(); ++i) {
            const auto p = point(i);
            flat_[i] = {p[u] - origin[u], p[v] - origin[v]};
        }
    }

    /// Every triangle of the fan from corner 0 and every corner turns left.
    bool is_convex() const {
        const std::size_t n = flat_.size();
        for (std::size_t i = 0; i < n; ++i)
            if (!(cross(flat_[i], flat_[(i + 1) % n], flat_[(i + 2) % n]) >= 0)) return false;
        for (std::size_t i = 1; i + 1 < n; ++i)
            if (!(cross(flat_[0], flat_[i], flat_[i + 1]) > 0)) return false;
        return true;
    }

    /// The corner of left_ with the least thin ear, so that slivers are cut last; left_.size() if there is none.
    std::size_t find_ear() const {
        const std::size_t m = left_.size();
        std::size_t best = m;
        double best_shape = 0;
        for (std::size_t i = 0; i < m; ++i) {
            const Point2 &a = flat_[left_[(i + m - 1) % m]], &b = flat_[left_[i]], &c = flat_[left_[(i + 1) % m]];
            const double area = cross(a, b, c);
            if (!(area > 0)) continue;
            const double du = c[0] - a[0], dv = c[1] - a[1];
            const double shape = area / (du * du + dv * dv + area);
            if (shape <= best_shape) continue;
            bool empty = true;
            for (std::size_t k = 2; k + 1 < m && empty; ++k) {
                const Point2& p = flat_[left_[(i + k) % m]];
                // A corner at the position of an ear's own corner (a seam to a hole) does not block it.
                if (p == a || p == b || p == c) continue;
                empty = cross(a, b, p) < 0 || cross(b, c, p) < 0 || cross(c, a, p) < 0;
            }
            if (empty) best = i, best_shape = shape;
        }
        return best;
    }

    std::vector<Point2> flat_;
    std::vector<std::uint32_t> left_;
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

Result<ObjMesh> parse_obj(std::string_view text, const std::string& name) {
    ObjMesh mesh;
    Faces faces;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const auto fail = [&](std::size_t line, const std::string& message) {
        return input_error(name, "line " + std::to_string(line) + ": " + message);
    };
    constexpr std::size_t most = 0xffffff00u;  // vertices and corners have 32-bit numbers
    for (Cursor cursor(text); !cursor.done(); cursor.next_line()) {
        if (!cursor.skip_blank()) continue;
        const std::size_t line = cursor.line();
        const std::string_view keyword = cursor.word();
        if (keyword == "v") {
            float xyz[3];
            for (float& x : xyz) {
                if (!cursor.skip_blank()) return fail(line, "a vertex needs three numbers: v x y z");
                const std::string_view word = cursor.word();
                const std::optional<float> value = parse_float(word);
                if (!value) return fail(line, "'" + std::string(word) + "' is not a finite number");
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
                                "'" + std::string(word) + "' is not a corner of a face: v, v/vt, v//vn or v/vt/vn");
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
    mesh.triangles.reserve(faces.corners.size() - 2 * faces.line.size());
    Triangulator triangulator;
    for (std::size_t f = 0; f < faces.line.size(); ++f) {
        const std::span<const std::uint32_t> polygon(faces.corners.data() + faces.first[f],
                                                     faces.corners.data() + faces.first[f + 1]);
        // At the end: a face may come before its vertices.
        for (const std::uint32_t vertex : polygon)
            if (vertex >= mesh.positions.size())
                return fail(faces.line[f], "the face names vertex " + std::to_string(std::size_t{vertex} + 1) +
                                               ", but there are only " + std::to_string(mesh.positions.size()));
        if (!triangulator.cut(polygon, mesh.positions, mesh.triangles)) ++mesh.fanned;
    }
    return mesh;
}

Result<Scene> read_obj(std::string_view text, const std::string& name, Skeleton skeleton) {
    Result<ObjMesh> mesh = parse_obj(text, name);
    if (!mesh) return mesh.error();
    Result<Scene> scene =
        make_scene(std::move(mesh->positions), std::move(mesh->triangles), std::move(skeleton), name);
    if (!scene) return scene;
    scene->skipped_primitives = mesh->skipped;
    if (mesh->fanned > 0)
        scene->warnings.push_back(std::to_string(mesh->fanned) +
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
