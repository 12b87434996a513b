#include <cmath>
#include <numbers>

#include "rig.h"
#include "shapes.h"

namespace sinew::test {

namespace {

/// A grid of (nu + 1) × (nv + 1) points, or nu × (nv + 1) where it closes round.
Shape grid(const std::function<P3(double, double)>& point, int nu, int nv, bool round) {
    Shape shape;
    const int columns = round ? nu : nu + 1;
    for (int j = 0; j <= nv; ++j)
        for (int i = 0; i < columns; ++i) shape.positions.push_back(to_vec3(point(double(i) / nu, double(j) / nv)));
    const auto at = [&](int i, int j) { return static_cast<std::uint32_t>(j * columns + i % columns); };
    for (int j = 0; j < nv; ++j)
        for (int i = 0; i < nu; ++i) {
            shape.triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j + 1)});
            shape.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i + 1, j)});
        }
    return shape;
}

}  // namespace

Character build_caped(double cell) {
    Character c = biped({.cell = cell});
    c.name = "caped";
    Rig rig(c.skeleton);
    const std::uint32_t head = c.joint("head"), chest = c.joint("chest");
    const std::vector<Vec3> body = c.positions;
    // The z of the body's front or back at a height, near the middle.
    const auto depth = [&](double x, double y, double sign) {
        double best = 0;
        for (const Vec3& p : body)
            if (std::abs(p.x - x) < 0.02 && std::abs(p.y - y) < 0.015) best = std::max(best, sign * p.z);
        return sign * best;
    };

    // The cape hangs from the shoulders, free of the back, in shallow folds.
    const auto cape = [&](double u, double v) {
        const double x = 1 - 2 * u, y = 1.445 - 1.13 * v;
        return P3{x * (0.17 + 0.20 * v), y,
                  -0.140 - 0.20 * std::sqrt(v) - 0.03 * v + 0.03 * x * x * v -
                      0.022 * v * std::cos(5 * std::numbers::pi * u)};
    };
    std::string parent = "chest";
    std::vector<std::uint32_t> cape_joints;
    for (int k = 0; k < 4; ++k) {
        const std::string name = "cape_0" + std::to_string(k + 1);
        cape_joints.push_back(rig.add(name, parent, cape(0.5, 0.25 * k)));
        parent = name;
    }
    c.skeleton.joints.back().tail = to_vec3(cape(0.5, 1));
    const Shape cloth = grid(cape, 24, 36, false);
    append(c, cloth.positions, cloth.triangles, chest);
    for (std::size_t i = 0; i < cloth.positions.size(); ++i) {
        const double v = (1.445 - cloth.positions[i].y) / 1.13;
        c.body_part[c.body_part.size() - cloth.positions.size() + i] = cape_joints[std::min(3, int(4 * v))];
    }

    // The skirt is a cone, open at both ends.
    const auto skirt = [&](double u, double v) {
        const double a = 2 * std::numbers::pi * u, wave = 1 + 0.05 * v * std::cos(8 * a);
        return P3{(0.180 + 0.15 * v) * wave * std::sin(a), 1.02 - 0.40 * v,
                  -0.012 + (0.150 + 0.11 * v) * wave * std::cos(a)};
    };
    const char* const sides[4] = {"F", "L", "B", "R"};
    std::vector<std::uint32_t> skirt_joints;
    for (int side = 0; side < 4; ++side) {
        const std::string name = std::string("skirt_") + sides[side];
        skirt_joints.push_back(rig.add(name + "_01", "hips", skirt(side / 4.0, 0)));
        skirt_joints.push_back(rig.add(name + "_02", name + "_01", skirt(side / 4.0, 0.5)));
        c.skeleton.joints.back().tail = to_vec3(skirt(side / 4.0, 1));
    }
    constexpr int columns = 64, rows = 14;
    const Shape cone = grid(skirt, columns, rows, true);
    append(c, cone.positions, cone.triangles, skirt_joints[0]);
    for (int j = 0; j <= rows; ++j)
        for (int i = 0; i < columns; ++i) {
            const int side = (i + columns / 8) / (columns / 4) % 4;
            c.body_part[c.body_part.size() - cone.positions.size() + j * columns + i] =
                skirt_joints[2 * side + (2 * j > rows)];
        }

    // Hair cards: strips that hang from the back of the head without touching it.
    for (int k = 0; k < 7; ++k) {
        const double a = (k - 3) * 0.42;
        const auto card = [&](double u, double v) {
            const double w = a - 0.30 * (u - 0.5), r = 0.108 + 0.012 * v;
            return P3{0.85 * r * std::sin(w), 1.715 - 0.19 * v, -0.006 - r * std::cos(w) - 0.012 * v * v};
        };
        const Shape hair = grid(card, 2, 8, false);
        append(c, hair.positions, hair.triangles, head);
    }
    // Eyeballs and buttons float a few millimetres off the skin.
    for (const double s : {1.0, -1.0}) {
        const Shape eye = sphere({s * 0.032, 1.640, depth(s * 0.032, 1.640, 1) + 0.0125}, 0.011, 2);
        append(c, eye.positions, eye.triangles, head);
    }
    for (int k = 0; k < 3; ++k) {
        const double y = 1.12 + 0.09 * k, z = depth(0, y, 1) + 0.005;
        const Shape button = cylinder({0, y, z}, {0, y, z + 0.005}, 0.011, 12, 2);
        append(c, button.positions, button.triangles, k == 0 ? c.joint("spine") : chest);
    }
    return c;
}

}  // namespace sinew::test
