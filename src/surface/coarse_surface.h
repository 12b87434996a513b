// Fewer nodes of a surface, for fields that change slowly between them.
//
// The nodes are the centres of clusters. One between them reads from the corners of a triangle of the clusters'
// dual, as in "A Fast Geometric Multigrid Method for Curved Surfaces" (Wiersma, Nasikun, Eisemann and Hildebrandt,
// SIGGRAPH 2023). An equation A x = b of the surface becomes Pᵀ A P y = Pᵀ b, where x = P y reads so (Galerkin).
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "core/geometry.h"
#include "core/prefetch.h"
#include "sinew/core.h"
#include "solve/cholesky.h"
#include "surface/surface.h"

namespace sinew {

class CoarseSurface {
public:
    /// The coarse nodes between which a node lies, and their shares, ≥ 0, of sum 1.
    struct Stencil {
        std::array<std::uint32_t, 3> of{};
        std::array<float, 3> share{1, 0, 0};
    };

    /// Of some nodes of a surface, which must be whole components, ascending. Every one of them is within
    /// `spacing` (scene units, asked for some of them) of a coarse one, and the part of the surface within that
    /// ball joins the two. About O(nodes); the same bits on any number of threads.
    CoarseSurface(const MeshView& mesh, const MeshSurface& surface, std::span<const std::uint32_t> nodes,
                  const std::function<double(std::uint32_t)>& spacing, Context* context);
    /// All nodes of a surface: those of a small one are all kept. length: over which fields change at a node.
    CoarseSurface(const MeshView& mesh, const MeshSurface& surface,
                  const std::function<double(std::uint32_t)>& length, Context* context);

    std::size_t size() const { return node_.size(); }
    /// The node of the surface at which a value is.
    std::uint32_t node(std::size_t i) const { return node_[i]; }
    std::span<const std::uint32_t> nodes() const { return node_; }
    /// The values between which a node of the surface lies.
    Stencil stencil(std::uint32_t node) const {
        return stencil_.empty() ? Stencil{{node, node, node}, {1, 0, 0}} : stencil_[node];
    }
    void prefetch_stencil(std::uint32_t node) const { prefetch(stencil_.data() + node); }
    double at(std::span<const double> field, std::uint32_t node) const {
        const Stencil s = stencil(node);
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k) sum += static_cast<double>(s.share[k]) * field[s.of[k]];
        return sum;
    }
    /// Pᵀ (L + D) P of the Laplacian of edges, by their first node, and a diagonal matrix: entries on one side of
    /// the diagonal, each once. Edges between other nodes are left out.
    std::vector<MatrixEntry> restricted(std::span<const MeshSurface::Edge> edges,
                                        const std::function<double(std::uint32_t node)>& diagonal,
                                        Context* context) const;
    /// Pᵀ L P: edges between coarse nodes, each once; weights may be < 0.
    std::vector<MeshSurface::Edge> restricted(std::span<const MeshSurface::Edge> edges, Context* context) const;
    /// Pᵀ x of a number for each node of the surface.
    std::vector<double> restricted(std::span<const double> x, Context* context) const;
    /// Pᵀ B: b(node, add) calls add(column, value) for the entries of a node.
    using AddColumn = std::function<void(std::uint32_t column, double value)>;
    std::vector<MatrixEntry> restricted_rows(const std::function<void(std::uint32_t node, const AddColumn& add)>& b,
                                             Context* context) const;

private:
    std::vector<std::uint32_t> node_;
    LargeVector<std::uint32_t> fine_;  // the nodes that are thinned out
    LargeVector<Stencil> stencil_;     // per node of the surface; empty: all are kept
};

}  // namespace sinew
