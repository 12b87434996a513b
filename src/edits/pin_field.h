// A field over a surface that takes given values at given places and falls off around them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "edits/edit_surface.h"
#include "solve/cholesky.h"
#include "surface/surface_levels.h"

namespace sinew {

/// The field of least energy xᵀ Q x under given values, with Q = (L + M/l²) M⁻¹ (L + M/l²): it bends as little as
/// possible and is drawn to 0 over the length l. L is the Laplacian of the surface, whose weights fall where the
/// rows of weights at both ends of an edge differ; parts that nearly touch are joined by weak edges. l is less
/// where the joints cover little of the surface. On a large surface the unknowns are coarse nodes, a quarter of l
/// apart.
class PinField {
public:
    /// reach: l as a share of √area, where joints are large. Factors Q: O(nodes of the surface), and the
    /// factorisation of the coarse ones.
    static Result<PinField> make(EditSurfaceState& surface, double reach,
                                 std::span<const std::span<const Influence>> rows, Context* context);

    /// Whether it was made for these, so that it can be kept.
    bool made_for(double reach, std::span<const std::span<const Influence>> rows) const;

    /// Fields that take at the nodes of the surface, which differ, the values of each column (nodes × columns);
    /// nearly so where nodes are close and values differ. To be read by `at`. The response to a node is kept: a
    /// further one costs one solve.
    Status spread(std::span<const std::uint32_t> nodes, std::span<const double> values, std::size_t columns);
    /// The value of a column at a node.
    double at(std::uint32_t node, std::size_t column) const {
        const SurfaceLevel::Stencil s = coarse_->stencil(node);
        float sum = 0;
        for (std::size_t k = 0; k < 3; ++k) sum += s.share[k] * field_[s.of[k] * columns_ + column];
        return sum;
    }

private:
    PinField() = default;
    const std::vector<double>& response(std::uint32_t node);

    double reach_ = 0;
    std::vector<Influence> rows_;       // those it was made for, one after the other
    std::vector<std::uint32_t> count_;  // of each node
    std::optional<CoarseSurface> coarse_;
    Cholesky factor_;
    std::vector<std::pair<std::uint32_t, std::vector<double>>> response_;  // by node
    std::size_t columns_ = 0;
    std::vector<float> field_;  // unknowns × columns
};

}  // namespace sinew
