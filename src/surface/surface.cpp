#include "surface/surface.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/vectors.h"

namespace sinew {
namespace {

constexpr double kMollify = 1e-5;  // Sharp and Crane's delta, relative to the mean edge
constexpr double kLeastWeight = 1e-4, kMostWeight = 1e3;
constexpr double kLeastMass = 1e-4;  // relative to the mean

// Side lengths of a triangle, opposite to its corners. They satisfy the triangle inequality.
struct Cotangents {
    double area;
    std::array<double, 3> cot;  // at the corners
};

// Kahan's stable form of Heron's rule; lengths satisfy the strict triangle inequality.
Cotangents cotangents(const std::array<double, 3>& opposite) {
    std::array<double, 3> s = opposite;
    std::sort(s.begin(), s.end(), std::greater<>());
    const double inside =
        (s[0] + (s[1] + s[2])) * (s[2] - (s[0] - s[1])) * (s[2] + (s[0] - s[1])) * (s[0] + (s[1] - s[2]));
    const double area = std::sqrt(std::max(inside, 0.0)) / 4;
    Cotangents out{area, {}};
    for (std::size_t k = 0; k < 3; ++k) {
        const double a = opposite[k], b = opposite[(k + 1) % 3], c = opposite[(k + 2) % 3];
        const double twice = b * b + c * c - a * a;  // 2 b c cos
        out.cot[k] = area > 0 ? twice / (4 * area) : 0;
    }
    return out;
}

}  // namespace

MeshSurface build_surface(const MeshView& mesh, const MeshTopology& topology) {
    MeshSurface out;
    const std::size_t vertices = mesh.positions.size();
    out.node_of.assign(vertices, MeshSurface::none);
    std::vector<bool> used(vertices, false);
    for (const Triangle& t : mesh.triangles)
        for (const std::uint32_t v : t) used[topology.weld[v]] = true;
    for (std::uint32_t v = 0; v < vertices; ++v) {
        const std::uint32_t first = topology.weld[v];
        if (first == v && used[v]) {
            out.node_of[v] = static_cast<std::uint32_t>(out.vertex_of.size());
            out.vertex_of.push_back(v);
        } else if (used[first]) {
            out.node_of[v] = out.node_of[first];
        }
    }
    const std::size_t n = out.nodes();
    const auto place = [&](std::uint32_t node) { return to_point(mesh.positions[out.vertex_of[node]]); };

    // The length that must be added to every edge.
    double sum = 0, missing = 0;
    std::size_t sides = 0;
    const auto corners_of = [&](std::size_t t) {
        const Triangle& v = mesh.triangles[t];
        return Triangle{out.node_of[v[0]], out.node_of[v[1]], out.node_of[v[2]]};
    };
    const auto collapsed = [](const Triangle& c) { return c[0] == c[1] || c[1] == c[2] || c[2] == c[0]; };
    const auto lengths = [&](const Triangle& c) {
        const Point3 p[3] = {place(c[0]), place(c[1]), place(c[2])};
        return std::array<double, 3>{norm(p[2] - p[1]), norm(p[0] - p[2]), norm(p[1] - p[0])};
    };
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const Triangle c = corners_of(t);
        if (collapsed(c)) continue;
        const auto l = lengths(c);
        sum += l[0] + l[1] + l[2];
        sides += 3;
    }
    const double delta = sides ? kMollify * sum / static_cast<double>(sides) : 0;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const Triangle c = corners_of(t);
        if (collapsed(c)) continue;
        const auto l = lengths(c);
        for (std::size_t k = 0; k < 3; ++k)
            missing = std::max(missing, delta + l[k] - l[(k + 1) % 3] - l[(k + 2) % 3]);
    }

    out.mass.assign(n, 0);
    out.normal.assign(n, Point3{});
    std::vector<MeshSurface::Edge> half;
    half.reserve(3 * mesh.triangles.size());
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const Triangle c = corners_of(t);
        if (collapsed(c)) {
            for (std::size_t k = 0; k < 3; ++k) {
                const std::uint32_t a = c[k], b = c[(k + 1) % 3];
                if (a != b) half.push_back({std::min(a, b), std::max(a, b), 0});
            }
            continue;
        }
        const auto plain = lengths(c);
        const Cotangents own = cotangents({plain[0] + missing, plain[1] + missing, plain[2] + missing});
        const Point3 p[3] = {place(c[0]), place(c[1]), place(c[2])};
        Point3 face = cross(p[1] - p[0], p[2] - p[0]);
        const double twice_area = norm(face);
        if (twice_area > 0) face = ((topology.turned[t] ? -1 : 1) / twice_area) * face;
        for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t a = c[(k + 1) % 3], b = c[(k + 2) % 3];
            half.push_back({std::min(a, b), std::max(a, b), own.cot[k] / 2});
            out.mass[c[k]] += own.area / 3;
            if (!(twice_area > 0)) continue;
            const double angle = std::atan2(1.0, own.cot[k]);
            out.normal[c[k]] = out.normal[c[k]] + angle * face;
        }
    }
    for (Point3& normal : out.normal)
        if (const double length = norm(normal); length > 1e-6)
            normal = (1 / length) * normal;
        else
            normal = {};

    // Stable: contributions to an edge are added in the order of triangles.
    std::stable_sort(half.begin(), half.end(), [](const MeshSurface::Edge& x, const MeshSurface::Edge& y) {
        return x.a != y.a ? x.a < y.a : x.b < y.b;
    });
    for (const MeshSurface::Edge& e : half) {
        if (!out.edges.empty() && out.edges.back().a == e.a && out.edges.back().b == e.b)
            out.edges.back().weight += e.weight;
        else
            out.edges.push_back(e);
    }
    for (MeshSurface::Edge& e : out.edges) e.weight = std::clamp(e.weight, kLeastWeight, kMostWeight);
    const double total = std::accumulate(out.mass.begin(), out.mass.end(), 0.0);
    // A mesh of collapsed triangles has no area; any mass will do.
    const double least = total > 0 ? kLeastMass * total / static_cast<double>(n) : 1;
    for (double& m : out.mass) m = std::max(m, least);

    // Components, numbered by their first node.
    std::vector<std::uint32_t> root(n);
    std::iota(root.begin(), root.end(), 0u);
    const auto find = [&](std::uint32_t i) {
        while (root[i] != i) i = root[i] = root[root[i]];
        return i;
    };
    for (const MeshSurface::Edge& e : out.edges) {
        const std::uint32_t a = find(e.a), b = find(e.b);
        root[std::max(a, b)] = std::min(a, b);
    }
    out.component.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t r = find(i);
        out.component[i] = r == i ? out.components++ : out.component[r];
    }
    return out;
}

}  // namespace sinew
