// The surface of a mesh as a graph over distinct positions: cotangent Laplacian, areas, normals, components. For
// any triangles: degenerate, duplicate, non-manifold, of any winding.
//
// After "A Laplacian for Nonmanifold Triangle Meshes" (Sharp and Crane, SGP 2020): intrinsic mollification,
// section 4.5. Their tufted cover is not built; instead weights are kept positive, which is what the maximum
// principle needs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/geometry.h"
#include "sinew/domain.h"

namespace sinew {

struct MeshSurface {
    static constexpr std::uint32_t none = 0xffffffffu;
    struct Edge {
        std::uint32_t a, b;  ///< nodes, a < b
        double weight;       ///< > 0, no unit: half the sum of the cotangents opposite to it
    };

    std::vector<std::uint32_t> node_of;    ///< V: the node at the vertex; none where it is of no triangle
    std::vector<std::uint32_t> vertex_of;  ///< N: the first vertex at the node
    std::vector<Edge> edges;               ///< E, by a, then by b; each once
    std::vector<double> mass;              ///< N: a third of the area of the triangles around, scene units², > 0
    std::vector<Point3> normal;            ///< N: outward unit normal, weighted by angle; 0 where none is defined
    std::vector<std::uint32_t> component;  ///< N: connected components of triangles, 0..components-1
    std::uint32_t components = 0;

    std::size_t nodes() const { return vertex_of.size(); }
};

/// Edges are lengthened by a constant, so that in every triangle the sum of two sides exceeds the third by at
/// least 1e-5 of the mean edge. Weights are then clamped to 1e-4..1e3, since an edge that is opposite only to
/// obtuse angles would have a negative weight. Masses are at least 1e-4 of their mean. So the rows of the
/// Laplacian stay within a range that double can solve. Triangles with two corners at one position become edges
/// of the smallest weight. O(V + T), memory about 200 bytes per triangle; the same bits on any
/// number of threads. Requires check_mesh; the mesh
/// must have a size.
MeshSurface build_surface(const MeshView& mesh, const MeshTopology& topology, Context* context = nullptr);

}  // namespace sinew
