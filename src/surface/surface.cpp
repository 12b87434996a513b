#include "surface/surface.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "core/curve_order.h"
#include "core/large_pages.h"
#include "core/lists.h"
#include "core/parallel.h"
#include "core/union_find.h"
#include "core/vectors.h"

namespace sinew {
namespace {

constexpr double kMollify = 1e-5;  // Sharp and Crane's delta, relative to the mean edge
constexpr double kLeastWeight = 1e-4, kMostWeight = 1e3;
constexpr double kLeastMass = 1e-4;   // relative to the mean
constexpr std::size_t kBlock = 4096;  // nodes whose triangles are measured together, in the processor's cache

struct Measured {
    Triangle corners;             // nodes
    double area = 0;              // 0 where two corners are one node
    std::array<double, 3> cot{};  // at the corners
    Point3 normal{};              // outward, of length 1 or 0
};

// From the side lengths opposite to the corners, which must satisfy the strict triangle inequality. Kahan's stable
// form of Heron's formula.
Measured cotangents(const Triangle& corners, const std::array<double, 3>& opposite) {
    const auto [x, y, z] = opposite;
    const double longest = std::max({x, y, z}), shortest = std::min({x, y, z}),
                 middle = std::max(std::min(x, y), std::min(std::max(x, y), z));
    const double inside = (longest + (middle + shortest)) * (shortest - (longest - middle)) *
                          (shortest + (longest - middle)) * (longest + (middle - shortest));
    const double area = std::sqrt(std::max(inside, 0.0)) / 4;
    Measured out{corners, area};
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

    MeshSurface run(SurfaceTriangles* triangles) {
        const LargeVector<std::uint32_t> cell = number_nodes();
        sort_triangles();
        added_ = missing_length();
        sum_at_nodes();
        limit_masses();
        number_components();
        if (triangles) *triangles = cell.empty() ? in_order_of_mesh() : along_curve(cell);
        return std::move(out_);
    }

private:
    static bool collapsed(const Triangle& c) { return c[0] == c[1] || c[1] == c[2] || c[2] == c[0]; }
    std::array<Point3, 3> positions(std::size_t i) const {
        const auto at = [&](std::size_t k) { return to_point(out_.position[corners_[i][k]]); };
        return {at(0), at(1), at(2)};
    }

    /// Returns their cells along the curve.
    LargeVector<std::uint32_t> number_nodes() {
        const std::size_t vertices = mesh_.positions.size();
        out_.node_of.assign(vertices, no_index);
        std::vector<std::uint8_t> used(vertices, 0);
        parallel_for(context_, mesh_.triangles.size(), 4096, [&](std::size_t t) {
            for (const std::uint32_t v : mesh_.triangles[t]) {
                const std::atomic_ref mine(used[topology_.weld[v]]);
                if (!mine.load(std::memory_order_relaxed)) mine.store(1, std::memory_order_relaxed);
            }
        });
        LargeVector<std::uint32_t>& vertex_of = out_.vertex_of;
        for (std::uint32_t v = 0; v < vertices; ++v)
            if (topology_.weld[v] == v && used[v]) vertex_of.push_back(v);
        LargeVector<std::uint32_t> cell;
        if (vertex_of.size() > MeshSurface::most_in_file_order) {
            const LargeVector<std::uint32_t> in_file = std::move(vertex_of);
            const auto place = [&](std::size_t i) { return to_point(mesh_.positions[in_file[i]]); };
            CurveOrder curve(in_file.size(), MeshSurface::curve_bits, place, context_);
            vertex_of = std::move(curve.point);
            for (std::uint32_t& v : vertex_of) v = in_file[v];
            cell = std::move(curve.cell);
        }
        out_.position.resize(vertex_of.size());
        parallel_for(context_, vertex_of.size(), 4096, [&](std::size_t node) {
            out_.node_of[vertex_of[node]] = static_cast<std::uint32_t>(node);
            out_.position[node] = mesh_.positions[vertex_of[node]];
        });
        parallel_for(context_, vertices, 4096, [&](std::size_t v) {
            if (const std::uint32_t first = topology_.weld[v]; first != v) out_.node_of[v] = out_.node_of[first];
        });
        return cell;
    }

    /// By their first nodes, so that those of a range of nodes follow each other; those of one node as in the mesh.
    void sort_triangles() {
        LargeVector<Triangle> in_mesh(mesh_.triangles.size());
        parallel_for(context_, in_mesh.size(), 4096, [&](std::size_t t) {
            for (std::size_t k = 0; k < 3; ++k) in_mesh[t][k] = out_.node_of[mesh_.triangles[t][k]];
        });
        sorted_ = Lists(out_.nodes(), context_, [&](const auto& to) {
            for (std::uint32_t t = 0; t < in_mesh.size(); ++t) to(first_of(in_mesh[t]), t);
        });
        LargeVector<std::uint32_t> place(in_mesh.size());
        corners_.resize(in_mesh.size());
        parallel_for(context_, in_mesh.size(), 4096, [&](std::size_t i) {
            place[sorted_.value[i]] = static_cast<std::uint32_t>(i);
            corners_[i] = in_mesh[sorted_.value[i]];
        });
        around_ = Lists(out_.nodes(), context_, [&](const auto& to) {
            for (std::uint32_t t = 0; t < in_mesh.size(); ++t)
                for (const std::uint32_t node : in_mesh[t]) to(node, place[t]);
        });
    }
    static std::uint32_t first_of(const Triangle& corners) {
        return std::min({corners[0], corners[1], corners[2]});
    }
    SurfaceTriangles in_order_of_mesh() const {
        SurfaceTriangles out;
        out.corners.resize(corners_.size());
        for (std::size_t i = 0; i < corners_.size(); ++i) out.corners[sorted_.value[i]] = corners_[i];
        return out;
    }
    /// `cell`: of each node.
    SurfaceTriangles along_curve(const LargeVector<std::uint32_t>& cell) {
        SurfaceTriangles out{std::move(corners_), {}};
        out.order.point = std::move(sorted_.value);
        out.order.cell.resize(out.corners.size());
        parallel_for(context_, out.corners.size(), 4096,
                     [&](std::size_t i) { out.order.cell[i] = cell[first_of(out.corners[i])]; });
        return out;
    }

    /// Lengths of the sides opposite to the corners.
    static std::array<double, 3> sides(const std::array<Point3, 3>& p) {
        return {norm(p[2] - p[1]), norm(p[0] - p[2]), norm(p[1] - p[0])};
    }
    /// The most that a margin and one side exceed the sum of the two others by. `perimeter`: in the order of the
    /// mesh, 0 if collapsed.
    double largest_excess(double margin, LargeVector<double>& perimeter) const {
        constexpr std::size_t together = 1 << 12;
        std::vector<double> excess((perimeter.size() + together - 1) / together, -INFINITY);
        parallel_chunks(context_, perimeter.size(), together,
                        [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                            double most = -INFINITY;
                            for (std::size_t i = begin; i < end; ++i) {
                                double& sum = perimeter[sorted_.value[i]] = 0;
                                if (collapsed(corners_[i])) continue;
                                const std::array<double, 3> l = sides(positions(i));
                                sum = l[0] + l[1] + l[2];
                                for (std::size_t k = 0; k < 3; ++k)
                                    most = std::max(most, margin + l[k] - l[(k + 1) % 3] - l[(k + 2) % 3]);
                            }
                            excess[chunk] = most;
                        });
        return excess.empty() ? -INFINITY : *std::max_element(excess.begin(), excess.end());
    }
    /// The length that must be added to every edge for the triangle inequality to hold with a margin: almost always
    /// none.
    double missing_length() const {
        LargeVector<double> perimeter(mesh_.triangles.size());
        const double most = largest_excess(0, perimeter);
        double length = 0, edges = 0;
        for (const double each : perimeter) length += each, edges += each > 0 ? 3 : 0;
        const double margin = edges > 0 ? kMollify * length / edges : 0;
        return most < -1.001 * margin ? 0 : std::max(0.0, largest_excess(margin, perimeter));
    }
    /// A triangle by its place in sorted_.
    Measured measured(std::size_t i) const {
        if (collapsed(corners_[i])) return {corners_[i]};
        const auto p = positions(i);
        const std::array<double, 3> l = sides(p);
        Measured out = cotangents(corners_[i], {l[0] + added_, l[1] + added_, l[2] + added_});
        const Point3 f = cross(p[1] - p[0], p[2] - p[0]);
        if (const double twice_area = norm(f); twice_area > 0)
            out.normal = ((topology_.turned[sorted_.value[i]] ? -1 : 1) / twice_area) * f;
        return out;
    }

    void count_edges() {
        out_.first_edge.assign(out_.nodes() + 1, 0);
        parallel_chunks(context_, out_.nodes(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
            std::vector<std::uint32_t> others;  // nodes of larger numbers
            for (auto node = static_cast<std::uint32_t>(begin); node < end; ++node) {
                others.clear();
                for (const std::uint32_t t : around_.of(node))
                    for (const std::uint32_t other : corners_[t]) {
                        if (other <= node) continue;
                        std::size_t at = 0;
                        while (at < others.size() && others[at] != other) ++at;
                        if (at == others.size()) others.push_back(other);
                    }
                out_.first_edge[node + 1] = static_cast<std::uint32_t>(others.size());
            }
        });
        for (std::size_t i = 0; i < out_.nodes(); ++i) out_.first_edge[i + 1] += out_.first_edge[i];
    }
    // Contributions are added in the order of triangles.
    void sum_at_nodes() {
        count_edges();
        out_.mass.resize(out_.nodes());
        out_.normal.resize(out_.nodes());
        parts_.emplace(out_.nodes(), context_);
        out_.edges.resize(out_.first_edge.back());
        parallel_chunks(context_, out_.nodes(), kBlock,
                        [&](std::size_t, std::size_t begin, std::size_t end) { sum_block(begin, end); });
        release(around_);
    }
    void sum_block(std::size_t begin, std::size_t end) {
        const std::size_t first = sorted_.first[begin];
        std::vector<Measured> own;
        own.reserve(sorted_.first[end] - first);
        for (std::size_t i = first; i < sorted_.first[end]; ++i) own.push_back(measured(i));
        Measured other;  // that begins at an earlier node
        const auto triangle = [&](std::size_t i) -> const Measured& {
            return i >= first ? own[i - first] : other = measured(i);
        };
        std::vector<MeshSurface::Edge> edges;
        for (auto node = static_cast<std::uint32_t>(begin); node < end; ++node) {
            edges.clear();
            sum_at_node(node, triangle, edges);
            MeshSurface::Edge* to = out_.edges.data() + out_.first_edge[node];
            for (const auto& [a, b, weight] : edges) {
                *to++ = {a, b, std::clamp(weight, kLeastWeight, kMostWeight)};
                parts_->join(a, b);
            }
        }
    }
    /// Mass and normal of a node, and its edges to nodes of larger numbers.
    template <typename MeasuredAt>
    void sum_at_node(std::uint32_t node, const MeasuredAt& triangle, std::vector<MeshSurface::Edge>& edges) {
        const auto add_edge = [&](std::uint32_t other, double weight) {
            if (other <= node) return;
            std::size_t at = 0;
            while (at < edges.size() && edges[at].b != other) ++at;
            if (at < edges.size())
                edges[at].weight += weight;
            else
                edges.push_back({node, other, weight});
        };
        double mass = 0;
        Point3 normal{};
        std::uint32_t before = no_index;
        for (const std::uint32_t t : around_.of(node)) {
            if (t == before) continue;  // collapsed
            before = t;
            const Measured& m = triangle(t);
            const Triangle& c = m.corners;
            const std::size_t k = c[0] == node ? 0 : c[1] == node ? 1 : 2;
            // The side to each other corner lies opposite to the third one.
            const std::size_t one = (k + 1) % 3, other = (k + 2) % 3;
            add_edge(c[one], m.cot[other] / 2);
            add_edge(c[other], m.cot[one] / 2);
            if (collapsed(c)) continue;
            mass += m.area / 3;
            normal = normal + (std::numbers::pi / 2 - std::atan(m.cot[k])) * m.normal;
        }
        std::sort(edges.begin(), edges.end(), [](const auto& x, const auto& y) { return x.b < y.b; });
        out_.mass[node] = mass;
        const double length = norm(normal);
        out_.normal[node] = length > 1e-6 ? (1 / length) * normal : Point3{};
    }

    void limit_masses() {
        const double total = std::accumulate(out_.mass.begin(), out_.mass.end(), 0.0);
        // A mesh of collapsed triangles has no area: then every node gets the mass 1.
        const double least = total > 0 ? kLeastMass * total / static_cast<double>(out_.nodes()) : 1;
        for (double& m : out_.mass) m = std::max(m, least);
    }

    // By their first node.
    void number_components() {
        out_.component.resize(out_.nodes());
        for (std::uint32_t i = 0; i < out_.nodes(); ++i) {
            const std::uint32_t root = parts_->root(i);  // the first node
            out_.component[i] = root == i ? out_.components++ : out_.component[root];
        }
    }

    const MeshView mesh_;
    const MeshTopology& topology_;
    Context* const context_;
    MeshSurface out_;
    double added_ = 0;                   // to the length of every edge
    Lists sorted_;                       // triangles by their first node
    LargeVector<Triangle> corners_;      // their nodes, in this order
    Lists around_;                       // places in sorted_ of those around each node, in the order of the mesh
    std::optional<DisjointSets> parts_;  // of nodes
};

}  // namespace

MeshSurface build_surface(const MeshView& mesh, const MeshTopology& topology, Context* context,
                          SurfaceTriangles* triangles) {
    return SurfaceBuilder(mesh, topology, context).run(triangles);
}

}  // namespace sinew
