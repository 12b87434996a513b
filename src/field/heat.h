// Steady-state heat over a domain, for voxel-heat, and the solver of its equations.
#pragma once

#include <array>

#include "field/heat_levels.h"

namespace sinew {

/// Solves Σⱼ gᵢⱼ (uᵢ - uⱼ) + lossᵢ uᵢ = 0 for fields u with fixed values at some leaves: conjugate gradients,
/// preconditioned by one V-cycle of multigrid over the octree (HeatLevels). Prepared once, then used for any number
/// of fields. The number of iterations hardly grows with the resolution.
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
    HeatSolver(const Conduction& conduction, std::vector<float> loss) : levels_(conduction, std::move(loss)) {}
    /// Another loss. Faster than a new solver.
    void set_loss(std::vector<float> loss) { levels_.set_loss(std::move(loss)); }

    const HeatLevels& levels() const { return levels_; }

    /// Far more than any domain has needed.
    static constexpr int kMostIterations = 2000;

    struct Outcome {
        int iterations = 0;
        double residual = 0;  ///< of the worst column, relative to that of a field with only the fixed values
        bool converged = true;
    };

    /// Replaces `u` (N rows; its old values are the start of the iteration) by the fields of up to kColumns
    /// columns; the others become 0. Sequential, const and reentrant; the bits of a column do not depend on the
    /// others. Time about 60 operations per leaf, column and iteration; 5.5 rows of memory a leaf. One column alone
    /// takes less of both. Stops early if cancelled.
    Outcome solve(std::span<const std::vector<FixedValues>> columns, std::vector<Row>& u, double tolerance = 1e-6,
                  Context* context = nullptr) const;

    /// Plain diffusion, for comparison: starts from 0 and replaces every leaf by the weighted average of its
    /// neighbours (the loss being a neighbour at 0), `sweeps` times.
    void diffuse(std::span<const std::vector<FixedValues>> columns, std::vector<Row>& u, int sweeps,
                 Context* context = nullptr) const;

private:
    HeatLevels levels_;
};

}  // namespace sinew
