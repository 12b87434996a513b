#include "render/figure.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/parallel.h"
#include "core/vectors.h"

namespace sinew {
namespace {

using Point = Point3;

/// A vector of length zero becomes the direction to the viewer.
Point direction_of(const Point& a) {
    const double l = norm(a);
    return l > 0 ? Point{a[0] / l, a[1] / l, a[2] / l} : Point{0, 0, 1};
}

Point apply(const Transform& t, const Point& p) {
    Point out;
    for (std::size_t r = 0; r < 3; ++r) out[r] = t(r, 0) * p[0] + t(r, 1) * p[1] + t(r, 2) * p[2] + t(r, 3);
    return out;
}

void set_normal(Corner& c, const Point& n) {
    const Point u = direction_of(n);
    for (std::size_t k = 0; k < 3; ++k) c.normal[k] = static_cast<std::int8_t>(std::lround(127 * u[k]));
    c.normal[3] = 0;
}

void set_colour(Corner& c, Rgb colour) {
    c.colour[0] = colour.r;
    c.colour[1] = colour.g;
    c.colour[2] = colour.b;
    c.colour[3] = 255;
}

// Above this number of triangles at one position, means take too long (quadratic time).
constexpr std::size_t kMostAround = 200;
constexpr double kCreaseCosine = 0.7071;

/// The normal of every corner of every triangle.
std::vector<Point> corner_normals(std::span<const Vec3> positions, std::span<const Triangle> triangles,
                                  const std::vector<Point>& placed, Context* context) {
    // The first vertex at each position: seams of the file are not creases.
    std::vector<std::uint32_t> order(positions.size()), place_of(positions.size());
    std::iota(order.begin(), order.end(), 0u);
    auto key = [&](std::uint32_t v) {
        return std::array<float, 3>{positions[v].x, positions[v].y, positions[v].z};
    };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::size_t i = 0; i < order.size(); ++i)
        place_of[order[i]] =
            i > 0 && positions[order[i]] == positions[order[i - 1]] ? place_of[order[i - 1]] : order[i];

    std::vector<Point> face(triangles.size()), direction(triangles.size());
    parallel_for(context, triangles.size(), 4096, [&](std::size_t t) {
        const Triangle& v = triangles[t];
        face[t] = cross(placed[v[1]] - placed[v[0]], placed[v[2]] - placed[v[0]]);
        direction[t] = direction_of(face[t]);
    });
    std::vector<std::uint32_t> first(positions.size() + 1, 0), around(3 * triangles.size());
    for (const Triangle& t : triangles)
        for (const std::uint32_t v : t) ++first[place_of[v] + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (const std::uint32_t v : triangles[t]) around[next[place_of[v]]++] = static_cast<std::uint32_t>(t);

    std::vector<Point> normals(3 * triangles.size());
    parallel_for(context, triangles.size(), 1024, [&](std::size_t t) {
        for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t place = place_of[triangles[t][k]];
            Point sum{0, 0, 0};
            if (first[place + 1] - first[place] <= kMostAround) {
                for (std::uint32_t i = first[place]; i < first[place + 1]; ++i) {
                    const double c = dot(direction[around[i]], direction[t]);
                    if (std::abs(c) < kCreaseCosine) continue;
                    for (std::size_t d = 0; d < 3; ++d) sum[d] += (c < 0 ? -1 : 1) * face[around[i]][d];
                }
            }
            normals[3 * t + k] = dot(sum, sum) > 0 ? sum : face[t];
        }
    });
    return normals;
}

void add_triangle(std::vector<Corner>& out, const Point& a, const Point& b, const Point& c, Rgb colour,
                  const Point* normals = nullptr) {
    const Point n = cross(b - a, c - a);
    const Point* p[3] = {&a, &b, &c};
    for (std::size_t k = 0; k < 3; ++k) {
        Corner corner{static_cast<float>((*p[k])[0]),
                      static_cast<float>((*p[k])[1]),
                      static_cast<float>((*p[k])[2]),
                      {},
                      {},
                      0};
        set_normal(corner, normals ? normals[k] : n);
        set_colour(corner, colour);
        out.push_back(corner);
    }
}

/// An octahedron subdivided twice: round enough for a ball of a few pixels.
void add_ball(std::vector<Corner>& out, const Point& centre, double radius, Rgb colour) {
    auto cut = [&](auto&& self, Point a, Point b, Point c, int level) -> void {
        if (level == 0) {
            const Point n[3] = {a, b, c};
            auto at = [&](const Point& p) {
                return Point{centre[0] + radius * p[0], centre[1] + radius * p[1], centre[2] + radius * p[2]};
            };
            add_triangle(out, at(a), at(b), at(c), colour, n);
            return;
        }
        auto mid = [](const Point& p, const Point& q) {
            return direction_of({p[0] + q[0], p[1] + q[1], p[2] + q[2]});
        };
        const Point ab = mid(a, b), bc = mid(b, c), ca = mid(c, a);
        self(self, a, ab, ca, level - 1);
        self(self, ab, b, bc, level - 1);
        self(self, ca, bc, c, level - 1);
        self(self, ab, bc, ca, level - 1);
    };
    for (int octant = 0; octant < 8; ++octant) {
        const double sx = octant & 1 ? -1 : 1, sy = octant & 2 ? -1 : 1, sz = octant & 4 ? -1 : 1;
        const Point x{sx, 0, 0}, y{0, sy, 0}, z{0, 0, sz};
        sx* sy* sz > 0 ? cut(cut, x, y, z, 2) : cut(cut, y, x, z, 2);
    }
}

constexpr Rgb kBoneColour{242, 242, 244};

/// A thin bar with three sides.
void add_stick(std::vector<Corner>& out, const Point& a, const Point& b, double radius, Rgb colour) {
    const Point along = b - a;
    if (!(dot(along, along) > 0)) return;
    const Point d = direction_of(along);
    const Point u = direction_of(cross(d, std::abs(d[2]) < 0.9 ? Point{0, 0, 1} : Point{1, 0, 0})), v = cross(d, u);
    Point from[3], to[3];
    for (std::size_t i = 0; i < 3; ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / 3;
        for (std::size_t k = 0; k < 3; ++k) {
            const double side = radius * (std::cos(angle) * u[k] + std::sin(angle) * v[k]);
            from[i][k] = a[k] + side;
            to[i][k] = b[k] + side;
        }
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t j = (i + 1) % 3;
        add_triangle(out, from[i], from[j], to[j], colour);
        add_triangle(out, from[i], to[j], to[i], colour);
    }
}

/// The lines of a bone's shape: the edges of a box; for a capsule its outline in two planes and a ring at both
/// ends.
std::vector<std::pair<Point, Point>> shape_lines(const Bone& bone) {
    std::vector<std::pair<Point, Point>> lines;
    const Point a = to_point(bone.head), b = to_point(bone.tail);
    const auto moved = [](const Point& p, double x, const Point& u, double y, const Point& v, double z,
                          const Point& w) {
        Point out;
        for (std::size_t k = 0; k < 3; ++k) out[k] = p[k] + x * u[k] + y * v[k] + z * w[k];
        return out;
    };
    if (bone.box) {
        const Point centre{(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2};
        const double half[3] = {bone.box->half.x, bone.box->half.y, bone.box->half.z};
        const Point axis[3] = {to_point(bone.box->axes[0]), to_point(bone.box->axes[1]),
                               to_point(bone.box->axes[2])};
        const auto corner = [&](int i) {
            return moved(centre, i & 1 ? half[0] : -half[0], axis[0], i & 2 ? half[1] : -half[1], axis[1],
                         i & 4 ? half[2] : -half[2], axis[2]);
        };
        for (int i = 0; i < 8; ++i)
            for (const int bit : {1, 2, 4})
                if (!(i & bit)) lines.emplace_back(corner(i), corner(i | bit));
        return lines;
    }
    const Point along = b - a;
    const Point d = dot(along, along) > 0 ? direction_of(along) : Point{0, 1, 0};
    const Point u = direction_of(cross(d, std::abs(d[2]) < 0.9 ? Point{0, 0, 1} : Point{1, 0, 0})), v = cross(d, u);
    constexpr int kSteps = 24;
    const auto turn = [](int i) { return 2 * std::numbers::pi * i / kSteps; };
    const double r = bone.radius;
    for (const Point& side : {u, v}) {
        std::vector<Point> outline;  // half around the tail, then half around the head
        for (int i = 0; i <= kSteps / 2; ++i)
            outline.push_back(moved(b, r * std::sin(turn(i)), d, r * std::cos(turn(i)), side, 0, d));
        for (int i = kSteps / 2; i <= kSteps; ++i)
            outline.push_back(moved(a, r * std::sin(turn(i)), d, r * std::cos(turn(i)), side, 0, d));
        for (std::size_t k = 0; k < outline.size(); ++k)
            lines.emplace_back(outline[k], outline[(k + 1) % outline.size()]);
    }
    for (int i = 0; i < kSteps; ++i)
        for (const Point& end : {a, b})
            lines.emplace_back(moved(end, 0, d, r * std::cos(turn(i)), u, r * std::sin(turn(i)), v),
                               moved(end, 0, d, r * std::cos(turn(i + 1)), u, r * std::sin(turn(i + 1)), v));
    return lines;
}

}  // namespace

std::optional<Viewpoint> viewpoint(std::string_view name) {
    if (name == "front") return Viewpoint{0, 0};
    if (name == "back") return Viewpoint{180, 0};
    if (name == "left") return Viewpoint{90, 0};
    if (name == "right") return Viewpoint{-90, 0};
    if (name == "top") return Viewpoint{0, 90};
    if (name == "three-quarter") return Viewpoint{35, 15};
    return std::nullopt;
}

Eye eye_at(const Viewpoint& from) {
    const double degree = 3.14159265358979323846 / 180;
    const double y = from.yaw * degree, p = from.pitch * degree;
    Eye eye;
    eye.right = {std::cos(y), 0, -std::sin(y)};
    eye.back = {std::sin(y) * std::cos(p), std::sin(p), std::cos(y) * std::cos(p)};
    eye.up = cross(eye.back, eye.right);
    return eye;
}

void Extent::add(const Point& p) {
    if (empty()) {
        low = high = p;
        return;
    }
    for (std::size_t k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
}

void Extent::add(const Extent& other) {
    if (other.empty()) return;
    add(other.low);
    add(other.high);
}

Extent extent_of(const Panel& panel) {
    const Eye eye = eye_at(panel.from);
    Extent extent;
    auto add = [&](const Point& p) {
        const Point q = apply(panel.transform, p);
        extent.add(Point{dot(eye.right, q), dot(eye.up, q), dot(eye.back, q)});
    };
    if (panel.voxels) {
        const GridTransform& t = panel.voxels->grid->transform;
        const VoxelBox box = occupied_box(*panel.voxels->grid);
        for (int corner = 0; corner < 8; ++corner) {
            Point p;
            for (std::size_t k = 0; k < 3; ++k)
                p[k] = t.origin[k] + t.voxel * (corner >> k & 1 ? box.high[k] : box.low[k]);
            add(p);
        }
    } else {
        // Only vertices of triangles: others are not visible.
        for (const Triangle& t : panel.triangles)
            for (const std::uint32_t v : t) add(to_point(panel.positions[v]));
    }
    for (const Bone& bone : panel.bones) {
        add(to_point(bone.head));
        add(to_point(bone.tail));
    }
    return extent;
}

Point Placement::operator()(const Point& p) const {
    Point out;
    for (std::size_t r = 0; r < 3; ++r)
        out[r] = m[4 * r] * p[0] + m[4 * r + 1] * p[1] + m[4 * r + 2] * p[2] + m[4 * r + 3];
    return out;
}

std::array<double, 3> Placement::normal(std::size_t axis) const {
    // By the inverse transpose; only the direction matters: cross product of the images of the other two axes.
    const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
    const Point x{m[b], m[4 + b], m[8 + b]}, y{m[c], m[4 + c], m[8 + c]}, own{m[axis], m[4 + axis], m[8 + axis]};
    const Point n = direction_of(cross(x, y));
    return dot(n, own) < 0 ? Point{-n[0], -n[1], -n[2]} : n;
}

Rgb plain_colour() { return {203, 199, 193}; }

Placement place(const Panel& panel, const Extent& frame, const Box& box, double scale) {
    const Eye eye = eye_at(panel.from);
    const Point* axis[3] = {&eye.right, &eye.up, &eye.back};
    const double middle[3] = {box.width / 2.0, box.height / 2.0, 0};
    Placement out;
    out.scale = scale;
    for (std::size_t r = 0; r < 3; ++r) {
        const Point& a = *axis[r];
        for (std::size_t k = 0; k < 4; ++k)
            out.m[4 * r + k] = scale * (a[0] * panel.transform(0, k) + a[1] * panel.transform(1, k) +
                                        a[2] * panel.transform(2, k));
        out.m[4 * r + 3] += middle[r] - scale * (frame.low[r] + frame.high[r]) / 2;
    }
    return out;
}

std::vector<Corner> surface_corners(const Panel& panel, const Placement& placement, Context* context) {
    std::vector<Point> placed(panel.positions.size());
    parallel_for(context, placed.size(), 4096,
                 [&](std::size_t v) { placed[v] = placement(to_point(panel.positions[v])); });
    const std::vector<Point> normals = corner_normals(panel.positions, panel.triangles, placed, context);
    const Paint plain;
    const Paint& paint = panel.paint ? *panel.paint : plain;
    const bool pieces = !paint.pieces.empty();
    std::vector<Corner> corners(3 * (pieces ? paint.pieces.size() : panel.triangles.size()));
    auto corner = [](const Point& p, const Point& n) {
        Corner c{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]), {}, {}, 0};
        set_normal(c, n);
        return c;
    };
    if (pieces) {
        parallel_for(context, paint.pieces.size(), 4096, [&](std::size_t i) {
            const Paint::Piece& piece = paint.pieces[i];
            const Triangle& t = panel.triangles[piece.triangle];
            for (std::size_t k = 0; k < 3; ++k) {
                const double b = piece.corners[k][0], c = piece.corners[k][1], a = 1 - b - c;
                Point p, n{0, 0, 0};
                for (std::size_t d = 0; d < 3; ++d) {
                    p[d] = a * placed[t[0]][d] + b * placed[t[1]][d] + c * placed[t[2]][d];
                    for (std::size_t j = 0; j < 3; ++j)
                        n[d] += (j == 0 ? a : j == 1 ? b : c) * direction_of(normals[3 * piece.triangle + j])[d];
                }
                Corner& out = corners[3 * i + k] = corner(p, n);
                set_colour(out, piece.colour);
            }
        });
        return corners;
    }
    parallel_for(context, panel.triangles.size(), 4096, [&](std::size_t t) {
        for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t v = panel.triangles[t][k];
            Corner& out = corners[3 * t + k] = corner(placed[v], normals[3 * t + k]);
            if (!paint.colours.empty()) set_colour(out, paint.colours[v]);
            if (!paint.values.empty() && std::isfinite(paint.values[v])) {
                out.value = paint.values[v];
                out.colour[3] = 255;
            }
        }
    });
    return corners;
}

std::vector<Corner> line_corners(const Panel& panel, const Placement& placement, double width) {
    std::vector<Corner> out;
    if (!panel.paint) return out;
    out.reserve(6 * panel.paint->lines.size());
    const Point towards_eye{0, 0, 1};
    for (const Paint::Line& line : panel.paint->lines) {
        Point a = placement(to_point(panel.positions[line.from])),
              b = placement(to_point(panel.positions[line.to]));
        const double x = b[0] - a[0], y = b[1] - a[1], length = std::hypot(x, y);
        // Longer by half a width at both ends, so that strips that meet leave no gap. A line along the view
        // direction is a dot.
        const double half = width / 2, ux = length > 0 ? half * x / length : half,
                     uy = length > 0 ? half * y / length : 0;
        a = {a[0] - ux, a[1] - uy, a[2] + width};
        b = {b[0] + ux, b[1] + uy, b[2] + width};
        const Point side{-uy, ux, 0};
        const Point p[4] = {a - side, b - side, a + side, b + side};
        const Point n[3] = {towards_eye, towards_eye, towards_eye};
        add_triangle(out, p[0], p[1], p[2], line.colour, n);
        add_triangle(out, p[2], p[1], p[3], line.colour, n);
    }
    return out;
}

std::vector<Corner> bone_corners(const Panel& panel, const Placement& placement, double smallest) {
    std::vector<Corner> out;
    for (const Bone& bone : panel.bones) {
        const Rgb colour = bone.joint < panel.bone_colours.size() ? panel.bone_colours[bone.joint] : kBoneColour;
        const Point a = placement(to_point(bone.head)), b = placement(to_point(bone.tail));
        const Point along = b - a;
        const double length = std::sqrt(dot(along, along));
        const double radius = std::max(smallest, std::min(0.08 * length, 5 * smallest));
        add_ball(out, a, length > 0 ? 0.75 * radius : radius, colour);
        if (bone.shaped())
            for (const auto& [from, to] : shape_lines(bone))
                add_stick(out, placement(from), placement(to), 0.6 * smallest, colour);
        if (!(length > 0)) continue;
        const Point d = direction_of(along);
        const Point u = direction_of(cross(d, std::abs(d[2]) < 0.9 ? Point{0, 0, 1} : Point{1, 0, 0})),
                    v = cross(d, u);
        Point ring[4];
        for (std::size_t i = 0; i < 4; ++i) {
            const double s = i == 0 ? radius : i == 2 ? -radius : 0, t = i == 1 ? radius : i == 3 ? -radius : 0;
            for (std::size_t k = 0; k < 3; ++k) ring[i][k] = a[k] + 0.15 * along[k] + s * u[k] + t * v[k];
        }
        for (std::size_t i = 0; i < 4; ++i) {
            add_triangle(out, a, ring[(i + 1) % 4], ring[i], colour);
            add_triangle(out, b, ring[i], ring[(i + 1) % 4], colour);
        }
    }
    return out;
}

}  // namespace sinew
