#include "defects.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "shapes.h"

namespace sinew::test {

namespace {

/// The same numbers everywhere, unlike std::uniform_…_distribution.
class Random {
public:
    std::uint32_t below(std::uint32_t n) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>((state_ >> 33) % n);
    }

private:
    std::uint64_t state_ = 20140710;
};

P3 to_p3(Vec3 v) { return {v.x, v.y, v.z}; }

struct Bounds {
    P3 low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
    double size() const { return length(high - low); }
};
Bounds bounds(const Character& c) {
    Bounds b;
    for (const Vec3& p : c.positions) {
        b.low = {std::min<double>(b.low.x, p.x), std::min<double>(b.low.y, p.y), std::min<double>(b.low.z, p.z)};
        b.high = {std::max<double>(b.high.x, p.x), std::max<double>(b.high.y, p.y),
                  std::max<double>(b.high.z, p.z)};
    }
    return b;
}

P3 centroid(const Character& c, const Triangle& t) {
    return (1.0 / 3) * (to_p3(c.positions[t[0]]) + to_p3(c.positions[t[1]]) + to_p3(c.positions[t[2]]));
}
P3 normal(const Character& c, const Triangle& t) {
    const P3 a = to_p3(c.positions[t[0]]);
    const P3 n = cross(to_p3(c.positions[t[1]]) - a, to_p3(c.positions[t[2]]) - a);
    return length(n) > 0 ? unit(n) : P3{0, 1, 0};
}

void flip(Triangle& t) { std::swap(t[1], t[2]); }

std::uint32_t add_vertex(Character& c, P3 p, std::uint32_t like) {
    c.positions.push_back(to_vec3(p));
    if (!c.body_part.empty()) c.body_part.push_back(c.body_part[like]);
    return static_cast<std::uint32_t>(c.positions.size() - 1);
}

Character holes(const Character& c) {
    Character out = c;
    Random random;
    const double radius = 0.02 * bounds(c).size();
    std::vector<P3> centres;
    for (int k = 0; k < 12; ++k)
        centres.push_back(centroid(c, c.triangles[random.below(static_cast<std::uint32_t>(c.triangles.size()))]));
    std::erase_if(out.triangles, [&](const Triangle& t) {
        return std::any_of(centres.begin(), centres.end(),
                           [&](P3 at) { return length(centroid(c, t) - at) < radius; });
    });
    return out;
}

Character soup(const Character& c) {
    Character out = c;
    out.positions.clear();
    out.body_part.clear();
    for (Triangle& t : out.triangles)
        for (std::uint32_t& v : t) {
            out.positions.push_back(c.positions[v]);
            if (!c.body_part.empty()) out.body_part.push_back(c.body_part[v]);
            v = static_cast<std::uint32_t>(out.positions.size() - 1);
        }
    return out;
}

Character flipped_faces(const Character& c) {
    Character out = c;
    Random random;
    for (Triangle& t : out.triangles)
        if (random.below(10) < 3) flip(t);
    return out;
}

Character flipped_all(const Character& c) {
    Character out = c;
    for (Triangle& t : out.triangles) flip(t);
    return out;
}

/// Turns one part of several inside out (the one with the middle number of triangles), or else one half of the
/// body.
Character flipped_part(const Character& c) {
    Character out = c;
    std::vector<std::uint32_t> part(c.positions.size());
    std::iota(part.begin(), part.end(), 0u);
    const auto find = [&](std::uint32_t v) {
        while (part[v] != v) v = part[v] = part[part[v]];
        return v;
    };
    for (const Triangle& t : c.triangles)
        for (int k = 1; k < 3; ++k) part[find(t[k])] = find(t[0]);
    std::map<std::uint32_t, std::size_t> size;
    for (const Triangle& t : c.triangles) ++size[find(t[0])];
    if (size.size() > 1) {
        std::vector<std::pair<std::size_t, std::uint32_t>> order;
        for (const auto& [root, count] : size) order.emplace_back(count, root);
        std::sort(order.begin(), order.end());
        const std::uint32_t chosen = order[order.size() / 2].second;
        for (Triangle& t : out.triangles)
            if (find(t[0]) == chosen) flip(t);
    } else {
        const Bounds b = bounds(c);
        for (Triangle& t : out.triangles)
            if (centroid(c, t).x > 0.5 * (b.low.x + b.high.x)) flip(t);
    }
    return out;
}

Character duplicated(const Character& c) {
    Character out = c;
    Random random;
    bool reverse = false;
    for (const Triangle& t : c.triangles) {
        if (random.below(5) > 0) continue;
        out.triangles.push_back(t);
        if (reverse) flip(out.triangles.back());
        reverse = !reverse;
    }
    return out;
}

Character fins(const Character& c) {
    Character out = c;
    const double height = 0.01 * bounds(c).size();
    for (std::size_t i = 0; i < c.triangles.size(); i += 40) {
        const Triangle& t = c.triangles[i];
        const P3 middle = 0.5 * (to_p3(c.positions[t[0]]) + to_p3(c.positions[t[1]]));
        out.triangles.push_back({t[0], t[1], add_vertex(out, middle + height * normal(c, t), t[0])});
    }
    return out;
}

Character crossing(const Character& c) {
    Character out = c;
    const double shift = 0.03 * bounds(c).size();
    for (std::uint32_t v = 0; v < c.positions.size(); ++v)
        add_vertex(out, to_p3(c.positions[v]) + P3{shift, 0.5 * shift, 0.7 * shift}, v);
    const auto first = static_cast<std::uint32_t>(c.positions.size());
    for (const Triangle& t : c.triangles) out.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
    return out;
}

Character floating(const Character& c) {
    Character out = c;
    Random random;
    const double size = 0.008 * bounds(c).size();
    for (int k = 0; k < 10; ++k) {
        const Triangle& t = c.triangles[random.below(static_cast<std::uint32_t>(c.triangles.size()))];
        const P3 n = normal(c, t), at = centroid(c, t) + 2 * size * n;
        const Shape shape = k % 2 ? sphere(at, size, 1) : cylinder(at, at + 0.4 * size * n, size, 10, 2);
        append(out, shape.positions, shape.triangles, c.body_part.empty() ? 0 : c.body_part[t[0]]);
        if (c.body_part.empty()) out.body_part.clear();
    }
    return out;
}

Character zero_area(const Character& c) {
    Character out = c;
    for (std::size_t i = 0; i < c.triangles.size(); i += 25) {
        const Triangle& t = c.triangles[i];
        switch (i / 25 % 4) {
            case 0:
                out.triangles.push_back({t[0], t[0], t[1]});
                break;
            case 1:
                out.triangles.push_back({t[2], t[2], t[2]});
                break;
            case 2: {  // two vertices at one position
                const std::uint32_t twin = add_vertex(out, to_p3(c.positions[t[1]]), t[1]);
                out.triangles.push_back({t[0], t[1], twin});
                break;
            }
            default: {  // collinear except for rounding
                const P3 a = to_p3(c.positions[t[0]]), b = to_p3(c.positions[t[1]]);
                out.triangles.push_back({t[0], t[1], add_vertex(out, 0.5 * (a + b), t[0])});
            }
        }
    }
    return out;
}

Character with_coordinate(const Character& c, float value) {
    Character out = c;
    // A vertex in use, so that it must be bound.
    out.positions[c.triangles[c.triangles.size() / 2][1]].y = value;
    return out;
}
Character nan_coordinate(const Character& c) { return with_coordinate(c, std::numeric_limits<float>::quiet_NaN()); }
Character inf_coordinate(const Character& c) { return with_coordinate(c, -std::numeric_limits<float>::infinity()); }

Character empty_mesh(const Character& c) {
    Character out = c;
    out.positions.clear();
    out.triangles.clear();
    out.body_part.clear();
    return out;
}

Character unused(const Character& c) {
    Character out = c;
    const Bounds b = bounds(c);
    for (std::uint32_t k = 0; k < 20; ++k) {
        const auto like = static_cast<std::uint32_t>(k * c.positions.size() / 20);
        add_vertex(out, to_p3(c.positions[like]) + P3{0, 0.01 * k, 0}, like);
    }
    add_vertex(out, b.high + 1000 * b.size() * P3{1, 1, 1}, 0);
    return out;
}

Character single_triangle(const Character& c) {
    Character out = empty_mesh(c);
    const Bounds b = bounds(c);
    const std::uint32_t part = c.body_part.empty() ? 0 : c.body_part[0];
    append(out, {to_vec3(b.low), to_vec3({b.high.x, b.low.y, b.low.z}), to_vec3(b.high)}, {{0, 1, 2}}, part);
    return out;
}

Character bad_index(const Character& c) {
    Character out = c;
    out.triangles[c.triangles.size() / 3][2] = static_cast<std::uint32_t>(c.positions.size() + 7);
    return out;
}

}  // namespace

const std::vector<Defect>& defects() {
    static const std::vector<Defect> all{
        {"holes", "twelve patches removed", holes, ""},
        {"soup", "no triangle shares a vertex with another", soup, ""},
        {"flipped_faces", "three in ten triangles face inwards", flipped_faces, ""},
        {"flipped_part", "one part, or one half of a body in one piece, faces inwards", flipped_part, ""},
        {"flipped_all", "everything faces inwards", flipped_all, ""},
        {"duplicated", "one in five triangles is there twice, every other time reversed", duplicated, ""},
        {"fins", "fins on one edge in sixty make edges of three triangles", fins, ""},
        {"crossing", "a second copy of the body, slightly offset, intersects the first", crossing, ""},
        {"floating", "ten small closed parts float off the surface", floating, ""},
        {"zero_area", "extra triangles that are points, needles or lines", zero_area, ""},
        {"unused", "21 vertices in no triangle, one of them very far away", unused, ""},
        {"single_triangle", "one triangle is all there is", single_triangle, ""},
        {"nan", "a coordinate is not a number", nan_coordinate, "not finite"},
        {"infinite", "a coordinate is infinite", inf_coordinate, "not finite"},
        {"empty", "no vertex and no triangle", empty_mesh, "no triangles"},
        {"bad_index", "a triangle names a vertex that is not there", bad_index, "names vertex"},
    };
    return all;
}

const Defect* find_defect(const std::string& name) {
    for (const Defect& defect : defects())
        if (name == defect.name) return &defect;
    return nullptr;
}

}  // namespace sinew::test
