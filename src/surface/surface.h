// The surface of a mesh as a graph over distinct positions: cotangent Laplacian, areas, normals, components. For
// any triangles: degenerate, duplicate, non-manifold, of any winding.
//
// After "A Laplacian for Nonmanifold Triangle Meshes" (Sharp and Crane, SGP 2020): intrinsic mollification,
// section 4.5. Their tufted cover is not built; instead weights are kept positive, which is what the maximum
// principle needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/curve_order.h"
#include "core/geometry.h"
#include "core/large_pages.h"
#include "sinew/domain.h"

namespace sinew {

struct MeshSurface {
    /// More nodes than this are numbered along a curve (core/curve_order.h), fewer by their first vertices.
    static constexpr std::size_t most_in_file_order = 40'000;
    static constexpr int curve_bits = 7;
    struct Edge {
        std::uint32_t a, b;  ///< nodes, a < b
        double weight;       ///< > 0, no unit: half the sum of the cotangents opposite to it
    };

    LargeVector<std::uint32_t> node_of;     ///< V: the node at the vertex; none where it is of no triangle
    LargeVector<std::uint32_t> vertex_of;   ///< N: the first vertex at the node
    LargeVector<Vec3> position;             ///< N
    LargeVector<Edge> edges;                ///< E, by a, then by b; each once
    LargeVector<std::uint32_t> first_edge;  ///< N + 1: where the edges of each node as `a` begin
    LargeVector<double> mass;               ///< N: a third of the area of the triangles around, scene units², > 0
    LargeVector<Point3> normal;             ///< N: outward unit normal, weighted by angle; 0 where none is defined
    LargeVector<std::uint32_t> component;   ///< N: connected components of triangles, 0..components-1
    std::uint32_t components = 0;

    std::size_t nodes() const { return vertex_of.size(); }
    /// The edges to nodes of larger numbers.
    std::span<const Edge> edges_at(std::uint32_t node) const {
        return {edges.data() + first_edge[node], edges.data() + first_edge[node + 1]};
    }
};

/// The triangles of a mesh between the nodes of its surface: by their first nodes where these lie along a curve,
/// else as in the mesh.
struct SurfaceTriangles {
    LargeVector<Triangle> corners;  ///< T: nodes
    CurveOrder order;               ///< their numbers in the mesh, and cells of their first nodes; or empty
};

/// Edges are lengthened by a constant, so that in every triangle the sum of two sides exceeds the third by at
/// least 1e-5 of the mean edge. Weights are then clamped to 1e-4..1e3, since an edge that is opposite only to
/// obtuse angles would have a negative weight. Masses are at least 1e-4 of their mean. So the rows of the
/// Laplacian stay within a range that double can solve. Triangles with two corners at one position become edges
/// of the smallest weight. O(V + T), memory about 100 bytes per triangle; the same bits on any
/// number of threads. Requires check_mesh; the mesh must have a size. `triangles`: null, or where to leave them.
MeshSurface build_surface(const MeshView& mesh, const MeshTopology& topology, Context* context = nullptr,
                          SurfaceTriangles* triangles = nullptr);

/// Lists edges by node: those of node i are link[first[i]] to link[first[i + 1]], make(edge, the other node) each.
template <typename Link, typename Make>
void link_nodes(std::size_t nodes, std::span<const MeshSurface::Edge> edges, std::vector<std::uint32_t>& first,
                std::vector<Link>& link, const Make& make) {
    first.assign(nodes + 1, 0);
    for (const MeshSurface::Edge& e : edges) ++first[e.a + 1], ++first[e.b + 1];
    for (std::size_t i = 0; i < nodes; ++i) first[i + 1] += first[i];
    link.resize(first.back());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (const MeshSurface::Edge& e : edges) {
        link[next[e.a]++] = make(e, e.b);
        link[next[e.b]++] = make(e, e.a);
    }
}

/// The energy |(L + D) x|² / M, where L is the Laplacian of the edges: calls add(i, j, value) for entries of its
/// matrix, each pair on one side of the diagonal, in parts that add up. `diagonal`: D; empty: 0. Nodes with more
/// edges than `most_edges` have no term of their own, which costs the square of their number.
template <typename Add>
void square_laplacian(std::span<const MeshSurface::Edge> edges, std::span<const double> diagonal,
                      std::span<const double> mass, std::size_t most_edges, const Add& add) {
    struct Term {
        std::uint32_t node;
        double value;
    };
    std::vector<std::uint32_t> first;
    std::vector<Term> around, row;
    link_nodes(mass.size(), edges, first, around, [](const MeshSurface::Edge& e, std::uint32_t to) {
        return Term{to, -e.weight};
    });
    for (std::uint32_t i = 0; i < mass.size(); ++i) {
        if (first[i + 1] - first[i] > most_edges) continue;
        row.assign(around.begin() + first[i], around.begin() + first[i + 1]);
        double sum = diagonal.empty() ? 0 : diagonal[i];
        for (const Term& t : row) sum -= t.value;
        row.push_back({i, sum});
        for (std::size_t a = 0; a < row.size(); ++a)
            for (std::size_t b = 0; b <= a; ++b)
                // Two entries of one place beside the diagonal stand for both orders of them.
                add(row[a].node, row[b].node,
                    row[a].value * row[b].value / mass[i] * (a != b && row[a].node == row[b].node ? 2 : 1));
    }
}

}  // namespace sinew
