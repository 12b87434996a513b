// A field over a surface that takes given values at given places and falls off around them.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "edits/edit_surface.h"
#include "solve/cholesky.h"
#include "surface/coarse_surface.h"

namespace sinew {

/// The field of least energy xᵀ Q x under given values, with Q = (L + M/l²) M⁻¹ (L + M/l²): it bends as little as
/// possible and is drawn to 0 over the length l. L is the Laplacian of the surface, whose weights fall where the
/// rows of weights at both ends of an edge differ; parts that nearly touch are joined by weak edges. l is less
/// where the joints cover little of the surface, or an answer beside is about one that has hardly any weight. On a
/// large surface the unknowns are coarse nodes, a quarter of l apart.
class PinField {
public:
    using Rows = std::span<const std::span<const Influence>>;  // of the nodes
    struct Answer {
        std::uint32_t node, joint;  ///< the joint that is to be the strongest there
    };

    /// reach: l as a share of √area, where joints are large. Factors Q: O(nodes of the surface), and the
    /// factorisation of the coarse ones.
    static Result<PinField> make(EditSurfaceState& surface, double reach, Rows rows,
                                 std::span<const Answer> answers, Context* context);

    /// Whether it was made for these, so that it can be kept. Of the answers only those about joints that have
    /// hardly any weight matter.
    bool made_for(double reach, Rows rows, std::span<const Answer> answers) const;

    /// Fields that take at the nodes of the surface, which differ, the values of each column (nodes × columns);
    /// nearly so where nodes are close and values differ. To be read by `at`. The response to a node is kept: a
    /// further one costs one solve.
    Status spread(std::span<const std::uint32_t> nodes, std::span<const double> values, std::size_t columns);
    /// Whether a field is at least `least` about the node.
    bool reaches(std::uint32_t node, float least) const {
        const CoarseSurface::Stencil s = coarse_->stencil(node);
        return std::max({strongest_[s.of[0]], strongest_[s.of[1]], strongest_[s.of[2]]}) >= least;
    }
    /// The value of a column at a node.
    float at(std::uint32_t node, std::size_t column) const {
        const CoarseSurface::Stencil s = coarse_->stencil(node);
        float sum = 0;
        for (std::size_t k = 0; k < 3; ++k) sum += s.share[k] * field_[s.of[k] * columns_ + column];
        return sum;
    }

private:
    PinField() = default;
    struct Response {
        std::uint32_t node;
        double own;                 // the root of its value at the node, by which it was divided
        std::vector<double> field;  // of each unknown
    };
    const Response& response(std::uint32_t node);
    std::vector<std::uint32_t> tiny(std::span<const Answer> answers) const;
    double size_of(std::uint32_t joint) const { return joint < size_.size() ? size_[joint] : 0; }

    double reach_ = 0;
    std::vector<double> size_;          // of each joint
    std::vector<std::uint32_t> tiny_;   // nodes of answers about joints of hardly any size
    std::vector<Influence> rows_;       // those it was made for, one after the other
    std::vector<std::uint32_t> count_;  // of each node
    std::optional<CoarseSurface> coarse_;
    Cholesky factor_;
    std::deque<Response> response_;
    std::size_t columns_ = 0;
    std::vector<float> field_;      // unknowns × columns
    std::vector<float> strongest_;  // of each unknown: of all columns
};

}  // namespace sinew
