// A surface with fewer and fewer nodes, for fields that change slowly between them.
//
// The nodes of a level are the centres of clusters of the finer one. A node between them reads from the corners of
// a triangle of the clusters' dual, as in "A Fast Geometric Multigrid Method for Curved Surfaces" (Wiersma,
// Nasikun, Eisemann and Hildebrandt, SIGGRAPH 2023), and the Laplacian of a level is that of fields which do so
// (Galerkin).
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "core/geometry.h"
#include "sinew/core.h"
#include "surface/surface.h"

namespace sinew {

struct SurfaceLevel {
    /// The nodes of this level between which a node of the finer one lies, and their shares, ≥ 0, of sum 1.
    struct Stencil {
        std::array<std::uint32_t, 3> of{};
        std::array<float, 3> share{1, 0, 0};
    };
    struct Link {
        std::uint32_t to;
        float weight;  ///< may be < 0 at coarse levels
    };
    std::vector<std::uint32_t> finer;      ///< n: the same node in the finer level
    std::vector<Point3> place;             ///< n, scene units
    std::vector<std::uint32_t> component;  ///< n
    std::vector<Triangle> cells;           ///< triangles of nodes; {a, b, b} for an edge of none
    std::vector<std::uint32_t> first;      ///< n + 1: where the links of each node begin
    std::vector<Link> link;                ///< the Laplacian without its diagonal, by rows; both sides
    std::vector<Stencil> stencil;          ///< per node of the finer level; empty at the finest

    std::size_t nodes() const { return place.size(); }
    std::span<const Link> links(std::size_t i) const {
        return {link.data() + first[i], link.data() + first[i + 1]};
    }
};

/// The same nodes in an order in which neighbours are near each other, whatever the order of the file: along the
/// curve of Morton (1966) through a grid. O(nodes).
std::vector<std::uint32_t> along_curve(const MeshView& mesh, const MeshSurface& surface,
                                       std::span<const std::uint32_t> nodes);

/// The finest level: these nodes of a surface, which must be whole components. `of_node`: the index of each node of
/// the surface, or MeshSurface::none.
SurfaceLevel finest_level(const MeshView& mesh, const MeshSurface& surface, std::span<const std::uint32_t> nodes,
                          const std::vector<std::uint32_t>& of_node, Context* context);

/// A level with a few times fewer nodes: every node of the finer level is within `spacing` (scene units, asked for
/// nodes of the finer level) of one that is kept, and the part of the surface within that ball joins the two. Few
/// nodes are kept if nodes near each other follow each other, as along_curve orders them. About O(nodes); the same
/// bits on any number of threads.
SurfaceLevel coarsen(const SurfaceLevel& fine, const std::function<double(std::uint32_t)>& spacing,
                     Context* context);

/// Where fields of a surface have their values, if they change slowly: at all nodes of a small surface, at those of
/// a coarser level of a large one.
class CoarseSurface {
public:
    /// length: over which fields change at a node of the surface, scene units.
    CoarseSurface(const MeshView& mesh, const MeshSurface& surface,
                  const std::function<double(std::uint32_t)>& length, Context* context);

    std::size_t size() const { return node_.size(); }
    /// The node of the surface at which a value is.
    std::uint32_t node(std::size_t i) const { return node_[i]; }
    /// The values between which a node of the surface lies.
    SurfaceLevel::Stencil stencil(std::uint32_t node) const {
        return stencil_.empty() ? SurfaceLevel::Stencil{{node, node, node}, {1, 0, 0}} : stencil_[node];
    }
    double at(std::span<const double> field, std::uint32_t node) const {
        const SurfaceLevel::Stencil s = stencil(node);
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k) sum += static_cast<double>(s.share[k]) * field[s.of[k]];
        return sum;
    }
    /// Pᵀ L P of the Laplacian of edges between nodes of the surface, and Pᵀ x of a number for each.
    std::vector<MeshSurface::Edge> restricted(std::span<const MeshSurface::Edge> edges, Context* context) const;
    std::vector<double> restricted(std::span<const double> x) const;

private:
    std::vector<std::uint32_t> node_;
    std::vector<SurfaceLevel::Stencil> stencil_;  // per node of the surface; empty: it has few
};

/// Pᵀ L P: the Laplacian of a coarser level of `nodes` nodes. L: given by the edges of the finer level; P: by the
/// stencils of its nodes. Each edge once, in no order; weights may be < 0. The same bits on any number of threads.
std::vector<MeshSurface::Edge> restrict_laplacian(std::span<const MeshSurface::Edge> fine,
                                                  std::span<const SurfaceLevel::Stencil> stencil, std::size_t nodes,
                                                  Context* context);

}  // namespace sinew
