#include "surface/surface.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel.h"
#include "core/vectors.h"

namespace sinew {
namespace {

constexpr double kMollify = 1e-5;  // Sharp and Crane's delta, relative to the mean edge
constexpr double kLeastWeight = 1e-4, kMostWeight = 1e3;
constexpr double kLeastMass = 1e-4;  // relative to the mean

struct Cotangents {
    double area;
    std::array<double, 3> cot;  // at the corners
};

// From the side lengths opposite to the corners, which must satisfy the strict triangle inequality. Kahan's stable
// form of Heron's formula.
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

class SurfaceBuilder {
public:
    SurfaceBuilder(const MeshView& mesh, const MeshTopology& topology, Context* context)
        : mesh_(mesh), topology_(topology), context_(context) {}

    MeshSurface run() {
        number_nodes();
        list_triangles();
        const std::vector<Measured> measured = measure_triangles(find_missing_length());
        sum_at_nodes(measured);
        sum_at_edges(measured);
        limit_masses();
        number_components();
        return std::move(out_);
    }

private:
    // Nodes of the corners.
    Triangle corners_of(std::size_t t) const {
        const Triangle& v = mesh_.triangles[t];
        return {out_.node_of[v[0]], out_.node_of[v[1]], out_.node_of[v[2]]};
    }
    static bool collapsed(const Triangle& c) { return c[0] == c[1] || c[1] == c[2] || c[2] == c[0]; }
    Point3 position(std::uint32_t node) const { return to_point(mesh_.positions[out_.vertex_of[node]]); }
    // Of the sides opposite to the corners.
    std::array<double, 3> lengths(const Triangle& c) const {
        const Point3 p[3] = {position(c[0]), position(c[1]), position(c[2])};
        return {norm(p[2] - p[1]), norm(p[0] - p[2]), norm(p[1] - p[0])};
    }

    void number_nodes() {
        const std::size_t vertices = mesh_.positions.size();
        out_.node_of.assign(vertices, MeshSurface::none);
        std::vector<bool> used(vertices, false);
        for (const Triangle& t : mesh_.triangles)
            for (const std::uint32_t v : t) used[topology_.weld[v]] = true;
        for (std::uint32_t v = 0; v < vertices; ++v) {
            const std::uint32_t first = topology_.weld[v];
            if (first == v && used[v]) {
                out_.node_of[v] = static_cast<std::uint32_t>(out_.vertex_of.size());
                out_.vertex_of.push_back(v);
            } else if (used[first]) {
                out_.node_of[v] = out_.node_of[first];
            }
        }
    }

    // The length that must be added to every edge for the triangle inequality to hold with a margin.
    double find_missing_length() const {
        // Chunks so large that a mesh below the limit of the direct solver is one: its bits are those of one sum.
        constexpr std::size_t together = 1 << 17;
        struct Sum {
            double length = 0, missing = -INFINITY;
            std::size_t sides = 0;
        };
        const auto over_triangles = [&](const auto& work) {
            std::vector<Sum> sums((mesh_.triangles.size() + together - 1) / together);
            parallel_chunks(context_, mesh_.triangles.size(), together,
                            [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                                for (std::size_t t = begin; t < end; ++t)
                                    if (const Triangle c = corners_of(t); !collapsed(c))
                                        work(sums[chunk], lengths(c));
                            });
            Sum all;
            for (const Sum& sum : sums) {
                all.length += sum.length;
                all.sides += sum.sides;
                all.missing = std::max(all.missing, sum.missing);
            }
            return all;
        };
        const auto excess = [](const std::array<double, 3>& l, double margin) {
            double most = -INFINITY;
            for (std::size_t k = 0; k < 3; ++k)
                most = std::max(most, margin + l[k] - l[(k + 1) % 3] - l[(k + 2) % 3]);
            return most;
        };
        const Sum sides = over_triangles([&](Sum& sum, const std::array<double, 3>& l) {
            sum.length += l[0] + l[1] + l[2];
            sum.sides += 3;
            sum.missing = std::max(sum.missing, excess(l, 0));
        });
        const double margin = sides.sides ? kMollify * sides.length / static_cast<double>(sides.sides) : 0;
        if (sides.missing < -1.001 * margin) return 0;
        const double missing = std::max(0.0, over_triangles([&](Sum& sum, const std::array<double, 3>& l) {
                                                 sum.missing = std::max(sum.missing, excess(l, margin));
                                             }).missing);
        return missing;
    }

    struct Measured {
        Cotangents own{0, {}};
        Point3 face{};  // normal, of length 1 or 0
        bool collapsed = true;
    };

    std::vector<Measured> measure_triangles(double missing) const {
        std::vector<Measured> measured(mesh_.triangles.size());
        parallel_for(context_, measured.size(), 4096, [&](std::size_t t) {
            const Triangle c = corners_of(t);
            if (collapsed(c)) return;
            const auto l = lengths(c);
            measured[t].collapsed = false;
            measured[t].own = cotangents({l[0] + missing, l[1] + missing, l[2] + missing});
            const Point3 p[3] = {position(c[0]), position(c[1]), position(c[2])};
            const Point3 face = cross(p[1] - p[0], p[2] - p[0]);
            const double twice_area = norm(face);
            if (twice_area > 0) measured[t].face = ((topology_.turned[t] ? -1 : 1) / twice_area) * face;
        });
        return measured;
    }

    void list_triangles() {
        first_.assign(out_.nodes() + 1, 0);
        for (std::size_t t = 0; t < mesh_.triangles.size(); ++t)
            for (const std::uint32_t node : corners_of(t)) ++first_[node + 1];
        for (std::size_t i = 0; i < out_.nodes(); ++i) first_[i + 1] += first_[i];
        around_.resize(first_.back());
        std::vector<std::uint32_t> next = first_;
        for (std::size_t t = 0; t < mesh_.triangles.size(); ++t)
            for (const std::uint32_t node : corners_of(t)) around_[next[node]++] = static_cast<std::uint32_t>(t);
    }

    // Masses and normals, in the order of triangles.
    void sum_at_nodes(const std::vector<Measured>& measured) {
        out_.mass.assign(out_.nodes(), 0);
        out_.normal.assign(out_.nodes(), Point3{});
        parallel_for(context_, out_.nodes(), 4096, [&](std::size_t i) {
            Point3 normal{};
            for (std::uint32_t at = first_[i]; at < first_[i + 1]; ++at) {
                const Measured& m = measured[around_[at]];
                if (m.collapsed) continue;
                const Triangle c = corners_of(around_[at]);
                const std::size_t k = c[0] == i ? 0 : c[1] == i ? 1 : 2;
                out_.mass[i] += m.own.area / 3;
                if (m.face != Point3{}) normal = normal + std::atan2(1.0, m.own.cot[k]) * m.face;
            }
            const double length = norm(normal);
            out_.normal[i] = length > 1e-6 ? (1 / length) * normal : Point3{};
        });
    }

    // Contributions to an edge are added in the order of triangles.
    void sum_at_edges(const std::vector<Measured>& measured) {
        constexpr std::size_t together = 4096;
        std::vector<std::vector<MeshSurface::Edge>> edges((out_.nodes() + together - 1) / together);
        parallel_chunks(context_, out_.nodes(), together,
                        [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                            for (std::size_t i = begin; i < end; ++i) {
                                const auto own = static_cast<std::ptrdiff_t>(edges[chunk].size());
                                for (std::uint32_t at = first_[i]; at < first_[i + 1]; ++at) {
                                    const std::uint32_t t = around_[at];
                                    if (at > first_[i] && t == around_[at - 1]) continue;  // collapsed
                                    add_sides(static_cast<std::uint32_t>(i), t, measured[t].own, edges[chunk], own);
                                }
                                std::sort(edges[chunk].begin() + own, edges[chunk].end(),
                                          [](const auto& x, const auto& y) { return x.b < y.b; });
                            }
                            for (MeshSurface::Edge& e : edges[chunk])
                                e.weight = std::clamp(e.weight, kLeastWeight, kMostWeight);
                        });
        std::size_t count = 0;
        for (const auto& some : edges) count += some.size();
        out_.edges.reserve(count);
        for (const auto& some : edges) out_.edges.insert(out_.edges.end(), some.begin(), some.end());
    }

    // The sides of a triangle that lead from a node to nodes of larger numbers. `own`: where the node's edges
    // begin.
    void add_sides(std::uint32_t node, std::size_t t, const Cotangents& measured,
                   std::vector<MeshSurface::Edge>& edges, std::ptrdiff_t own) const {
        const Triangle c = corners_of(t);
        for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t a = c[(k + 1) % 3], b = c[(k + 2) % 3], other = std::max(a, b);
            if (a == b || std::min(a, b) != node) continue;
            const double weight = measured.cot[k] / 2;
            const auto at =
                std::find_if(edges.begin() + own, edges.end(), [&](const auto& e) { return e.b == other; });
            if (at != edges.end())
                at->weight += weight;
            else
                edges.push_back({node, other, weight});
        }
    }

    void limit_masses() {
        const double total = std::accumulate(out_.mass.begin(), out_.mass.end(), 0.0);
        // A mesh of collapsed triangles has no area: then every node gets the mass 1.
        const double least = total > 0 ? kLeastMass * total / static_cast<double>(out_.nodes()) : 1;
        for (double& m : out_.mass) m = std::max(m, least);
    }

    // By their first node.
    void number_components() {
        std::vector<std::uint32_t> root(out_.nodes());
        std::iota(root.begin(), root.end(), 0u);
        const auto find = [&](std::uint32_t i) {
            while (root[i] != i) i = root[i] = root[root[i]];
            return i;
        };
        for (const MeshSurface::Edge& e : out_.edges) {
            const std::uint32_t a = find(e.a), b = find(e.b);
            root[std::max(a, b)] = std::min(a, b);
        }
        out_.component.resize(root.size());
        for (std::uint32_t i = 0; i < root.size(); ++i) {
            const std::uint32_t r = find(i);
            out_.component[i] = r == i ? out_.components++ : out_.component[r];
        }
    }

    const MeshView mesh_;
    const MeshTopology& topology_;
    Context* const context_;
    MeshSurface out_;
    std::vector<std::uint32_t> first_, around_;  // the triangles around each node, ascending
};

}  // namespace

MeshSurface build_surface(const MeshView& mesh, const MeshTopology& topology, Context* context) {
    return SurfaceBuilder(mesh, topology, context).run();
}

}  // namespace sinew
