#include "shapes.h"

#include <cmath>
#include <map>
#include <numbers>

#include "rig.h"

namespace sinew::test {

namespace {

/// Gives points numbers, the same to the same point.
class Welder {
public:
    explicit Welder(Shape& shape) : shape_(shape) {}
    std::uint32_t operator()(P3 p) {
        const Vec3 v = to_vec3(p);
        const auto [found, fresh] =
            index_.try_emplace({v.x, v.y, v.z}, static_cast<std::uint32_t>(shape_.positions.size()));
        if (fresh) shape_.positions.push_back(v);
        return found->second;
    }

private:
    Shape& shape_;
    std::map<std::array<float, 3>, std::uint32_t> index_;
};

void quad(Shape& shape, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    shape.triangles.push_back({a, b, c});
    shape.triangles.push_back({a, c, d});
}

Character with_joints(const char* name, Shape shape) {
    Character c;
    c.name = name;
    c.positions = std::move(shape.positions);
    c.triangles = std::move(shape.triangles);
    return c;
}

}  // namespace

void append(Shape& to, const Shape& shape) {
    const auto first = static_cast<std::uint32_t>(to.positions.size());
    to.positions.insert(to.positions.end(), shape.positions.begin(), shape.positions.end());
    for (const Triangle& t : shape.triangles) to.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
}

Shape open_box(P3 centre, P3 half, int n, unsigned missing) {
    Shape shape;
    Welder weld(shape);
    const double h[3] = {half.x, half.y, half.z};
    for (unsigned face = 0; face < 6; ++face) {
        if (missing >> face & 1) continue;
        const unsigned axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
        const auto corner = [&](int i, int j) {
            double p[3];
            p[axis] = face & 1 ? h[axis] : -h[axis];
            p[u] = h[u] * (2.0 * i / n - 1);
            p[v] = h[v] * (2.0 * j / n - 1);
            return weld(centre + P3{p[0], p[1], p[2]});
        };
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                if (face & 1)
                    quad(shape, corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1));
                else
                    quad(shape, corner(i, j), corner(i, j + 1), corner(i + 1, j + 1), corner(i + 1, j));
            }
    }
    return shape;
}

Shape box(P3 centre, P3 half, int n, Frame axes) {
    Shape shape = open_box({}, half, n, 0);
    for (Vec3& p : shape.positions)
        p = to_vec3(centre + double(p.x) * axes.x + double(p.y) * axes.y + double(p.z) * axes.z);
    return shape;
}

Shape sphere(P3 centre, double radius, int levels) {
    const double g = (1 + std::sqrt(5.0)) / 2;
    std::vector<P3> points{{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                           {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    for (P3& p : points) p = unit(p);
    Shape shape;
    shape.triangles = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                       {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                       {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    for (int level = 0; level < levels; ++level) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middle;
        const auto between = [&](std::uint32_t a, std::uint32_t b) {
            const auto [found, fresh] =
                middle.try_emplace({std::min(a, b), std::max(a, b)}, static_cast<std::uint32_t>(points.size()));
            if (fresh) points.push_back(unit(points[a] + points[b]));
            return found->second;
        };
        std::vector<Triangle> finer;
        for (const auto& [a, b, c] : shape.triangles) {
            const std::uint32_t ab = between(a, b), bc = between(b, c), ca = between(c, a);
            finer.insert(finer.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
        }
        shape.triangles = std::move(finer);
    }
    for (const P3& p : points) shape.positions.push_back(to_vec3(centre + radius * p));
    return shape;
}

Shape torus(double ring_radius, double tube_radius, int around, int along) {
    Shape shape;
    for (int i = 0; i < along; ++i)
        for (int j = 0; j < around; ++j) {
            const double a = 2 * std::numbers::pi * i / along, b = 2 * std::numbers::pi * j / around;
            const double r = ring_radius + tube_radius * std::cos(b);
            shape.positions.push_back(to_vec3({r * std::cos(a), tube_radius * std::sin(b), -r * std::sin(a)}));
        }
    const auto at = [&](int i, int j) { return static_cast<std::uint32_t>(i % along * around + j % around); };
    for (int i = 0; i < along; ++i)
        for (int j = 0; j < around; ++j) quad(shape, at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
    return shape;
}

Shape tube(const std::vector<P3>& path, const std::vector<double>& radius, P3 normal, int around) {
    Shape shape;
    const int n = static_cast<int>(path.size());
    const auto add = [&](P3 p) {
        shape.positions.push_back(to_vec3(p));
        return static_cast<std::uint32_t>(shape.positions.size() - 1);
    };
    for (int i = 0; i < n; ++i) {
        const P3 along = unit(path[std::min(i + 1, n - 1)] - path[std::max(i - 1, 0)]);
        const P3 side = unit(cross(normal, along));
        for (int j = 0; j < around; ++j) {
            const double a = 2 * std::numbers::pi * j / around;
            add(path[i] + radius[i] * (std::cos(a) * side + std::sin(a) * cross(along, side)));
        }
    }
    const auto at = [&](int i, int j) { return static_cast<std::uint32_t>(i * around + j % around); };
    for (int i = 0; i + 1 < n; ++i)
        for (int j = 0; j < around; ++j) quad(shape, at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
    const std::uint32_t first = add(path.front()), last = add(path.back());
    for (int j = 0; j < around; ++j) {
        shape.triangles.push_back({first, at(0, j + 1), at(0, j)});
        shape.triangles.push_back({last, at(n - 1, j), at(n - 1, j + 1)});
    }
    return shape;
}

Shape cylinder(P3 from, P3 to, double radius, int around, int rings) {
    const P3 d = to - from;
    const P3 other = std::abs(d.x) < std::abs(d.y) || std::abs(d.x) < std::abs(d.z) ? P3{1, 0, 0} : P3{0, 1, 0};
    std::vector<P3> path;
    for (int i = 0; i < rings; ++i) path.push_back(from + (double(i) / (rings - 1)) * d);
    return tube(path, std::vector<double>(path.size(), radius), unit(cross(d, other)), around);
}

Shape cells(const std::function<bool(int, int, int)>& filled, int nx, int ny, int nz, int n, double size) {
    Shape shape;
    Welder weld(shape);
    const int count[3] = {nx, ny, nz};
    const auto full = [&](const int(&c)[3]) {
        for (int k = 0; k < 3; ++k)
            if (c[k] < 0 || c[k] >= count[k]) return false;
        return filled(c[0], c[1], c[2]);
    };
    for (int z = 0; z < nz; ++z)
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x) {
                const int c[3] = {x, y, z};
                if (!full(c)) continue;
                for (int face = 0; face < 6; ++face) {
                    const int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3, side = face & 1;
                    int beyond[3] = {x, y, z};
                    beyond[axis] += side ? 1 : -1;
                    if (full(beyond)) continue;
                    const auto corner = [&](int i, int j) {
                        double p[3];
                        p[axis] = c[axis] + side;
                        p[u] = c[u] + double(i) / n;
                        p[v] = c[v] + double(j) / n;
                        return weld(size * P3{p[0], p[1], p[2]});
                    };
                    for (int i = 0; i < n; ++i)
                        for (int j = 0; j < n; ++j) {
                            if (side)
                                quad(shape, corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1));
                            else
                                quad(shape, corner(i, j), corner(i, j + 1), corner(i + 1, j + 1), corner(i + 1, j));
                        }
                }
            }
    return shape;
}

Shape sheet(P3 centre, P3 u, P3 v, int nu, int nv) {
    Shape shape;
    for (int j = 0; j <= nv; ++j)
        for (int i = 0; i <= nu; ++i)
            shape.positions.push_back(to_vec3(centre + (2.0 * i / nu - 1) * u + (2.0 * j / nv - 1) * v));
    const auto at = [&](int i, int j) { return static_cast<std::uint32_t>(j * (nu + 1) + i); };
    for (int j = 0; j < nv; ++j)
        for (int i = 0; i < nu; ++i) quad(shape, at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
    return shape;
}

Shape nested_boxes(int n) {
    Shape shape = box({}, {1, 1, 1}, n);
    append(shape, box({}, {0.5, 0.5, 0.5}, n));
    return shape;
}

Shape intersecting_shells(int n) {
    Shape shape = box({}, {1, 1, 1}, n);
    append(shape, box({0.9, 0, 0}, {0.4, 0.6, 0.6}, n));
    append(shape, box({0, 0.9, 0}, {0.6, 0.4, 0.6}, n));
    return shape;
}

Character bar(int rings) {
    Character c = with_joints("bar", cylinder({-1, 0, 0}, {1, 0, 0}, 0.1, 24, rings));
    Rig rig(c.skeleton);
    rig.add("bar_a", "", {-1, 0, 0});
    rig.add("bar_b", "bar_a", {0, 0, 0});
    c.skeleton.joints[1].tail = Vec3{1, 0, 0};
    for (const Vec3& p : c.positions) c.body_part.push_back(p.x < 0 ? 0 : 1);
    return c;
}

Character u_tube(int rings) {
    constexpr double half_gap = 0.15, leg = 1;
    const double arc = std::numbers::pi * half_gap, total = 2 * leg + arc;
    std::vector<P3> path;
    for (int i = 0; i < rings; ++i) {
        const double s = total * i / (rings - 1);
        if (s <= leg)
            path.push_back({-half_gap, leg - s, 0});
        else if (s >= leg + arc)
            path.push_back({half_gap, s - leg - arc, 0});
        else
            path.push_back(
                {-half_gap * std::cos((s - leg) / half_gap), -half_gap * std::sin((s - leg) / half_gap), 0});
    }
    Character c = with_joints("u_tube", tube(path, std::vector<double>(path.size(), 0.1), {0, 0, 1}, 24));
    Rig rig(c.skeleton);
    rig.add("left", "", {-half_gap, leg, 0});
    rig.add("bend", "left", {-half_gap, 0, 0});
    rig.add("right", "bend", {half_gap, 0, 0});
    c.skeleton.joints[2].tail = Vec3{float(half_gap), float(leg), 0};
    for (const Vec3& p : c.positions) c.body_part.push_back(p.y < 0 ? 1 : p.x < 0 ? 0 : 2);
    return c;
}

Character l_corner(int n) {
    Character c = with_joints("l_corner", cells([](int x, int y, int) { return x == 0 || y == 0; }, 2, 2, 1, n, 1));
    Rig rig(c.skeleton);
    rig.add("corner_y", "", {0.5, 1.9, 0.5});
    rig.add("corner_x", "corner_y", {0.5, 0.5, 0.5});
    c.skeleton.joints[1].tail = Vec3{1.9f, 0.5f, 0.5f};
    for (const Vec3& p : c.positions) c.body_part.push_back(p.y > p.x ? 0 : 1);
    return c;
}

Character strip(int n) {
    Character c = with_joints("strip", sheet({}, {1, 0, 0}, {0, 0, -0.1}, n, 4));
    Rig rig(c.skeleton);
    rig.add("strip_a", "", {-1, 0, 0});
    rig.add("strip_b", "strip_a", {0, 0, 0});
    c.skeleton.joints[1].tail = Vec3{1, 0, 0};
    for (const Vec3& p : c.positions) c.body_part.push_back(p.x < 0 ? 0 : 1);
    return c;
}

}  // namespace sinew::test
