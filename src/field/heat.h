// Steady-state heat over a domain, for voxel-heat, and the solver of its equations.
#pragma once

#include <array>

#include "field/conduction.h"

namespace sinew {

/// Solves Σⱼ gᵢⱼ (uᵢ - uⱼ) + lossᵢ uᵢ = 0 for fields u with fixed values at some leaves: conjugate gradients,
/// preconditioned by one V-cycle of multigrid over the octree. Prepared once, then used for any number of
/// fields.
///
/// The coarse levels are the cells of the octree: leaves of a cell become one unknown if they conduct to each
/// other, with halved conductances because centres are twice as far apart (aggregation as preconditioner: Notay
/// 2010; over-correction: Braess 1995). The number of iterations hardly grows with the resolution.
class HeatSolver {
public:
    /// Number of fields that are solved together, so that one pass over the matrix serves all of them.
    static constexpr std::size_t kColumns = 8;
    using Row = std::array<float, kColumns>;

    /// A field: the leaves with fixed values, each once, and the value.
    struct FixedValues {
        std::uint32_t leaf;
        float value;
    };

    /// `loss`: per leaf ≥ 0, in conductances. O(links). Keeps a reference to `conduction`.
    HeatSolver(const Conduction& conduction, std::vector<float> loss);

    struct Outcome {
        int iterations = 0;
        double residual = 0;  ///< of the worst column, relative to that of all zero but the held leaves
        bool converged = true;
    };

    /// Replaces `u` (N rows; the initial guess) by the fields of up to kColumns columns; the others become 0.
    /// Sequential, const and reentrant; columns do not affect each other. Time about 60 operations per leaf,
    /// column and iteration; 5.5 rows of memory a leaf. Stops early if cancelled.
    Outcome solve(std::span<const std::vector<FixedValues>> columns, std::vector<Row>& u, double tolerance = 1e-6,
                  Context* context = nullptr) const;

    /// The naive method, for comparison: starts from 0 and replaces every leaf by the weighted average of its
    /// neighbours (the loss is a neighbour at 0), `sweeps` times.
    void diffuse(std::span<const std::vector<FixedValues>> columns, std::vector<Row>& u, int sweeps,
                 Context* context = nullptr) const;

private:
    struct Level {
        std::vector<std::uint32_t> first, to;  // levels after the finest, which is conduction_
        std::vector<float> conductance;
        std::vector<float> diagonal, inverse;
        std::vector<std::uint32_t> parent;  // per node: its node on the next level
    };
    struct Graph {
        const std::uint32_t *first, *to;
        const float* conductance;
    };
    Graph graph(std::size_t level) const;
    void coarsen(const std::vector<float>& loss);
    void multiply(const std::vector<Row>& x, std::vector<Row>& out) const;
    struct Work;
    void cycle(std::size_t level, Work& work) const;

    const Conduction& conduction_;
    std::vector<Level> levels_;
};

}  // namespace sinew
