// (L + D) x = b on the levels of a surface, for many right hand sides that each concern a part of it.
#pragma once

#include <span>
#include <vector>

#include "solve/cholesky.h"
#include "surface/surface_levels.h"

namespace sinew {

/// A field that is 0 at most nodes.
struct LocalField {
    std::vector<std::uint32_t> node;  ///< n, ascending
    std::vector<float> value;         ///< n
};

/// L is the Laplacian of the finest level, D a diagonal ≥ 0 that is > 0 somewhere in each component. First the
/// coarsest level is solved directly; its solution is interpolated at the next finer level and improved by sweeps
/// of Gauss and Seidel, and so on (cascadic multigrid: Bornemann and Deuflhard 1996). A solution is cut off where
/// it is below 1e-4. Where it is not, conjugate gradients with a multigrid cycle (Tatebe 1993) improve it until a
/// step is small.
class LevelSolver {
public:
    /// `levels`: at least two, from the finest to the coarsest; they must outlive the solver. `diagonal`: D, at
    /// each node of the finest. Errors of Cholesky::factor.
    static Result<LevelSolver> make(std::span<const SurfaceLevel> levels, std::span<const double> diagonal,
                                    Context* context);

    /// Right hand sides ≥ 0. O(nodes at which a solution is not cut off), one right hand side in each thread at a
    /// time; the bits do not depend on the number of threads. Incomplete if cancelled.
    std::vector<LocalField> solve(std::span<const LocalField> b, Context* context) const;

private:
    struct Operator {
        std::vector<float> diagonal;  ///< of L + D at one level
        /// The nodes that read from each node of the next coarser level.
        std::vector<std::uint32_t> first_reader, reader;
    };
    struct Scratch;
    struct Job;

    explicit LevelSolver(std::span<const SurfaceLevel> levels) : levels_(levels) {}
    std::size_t coarsest() const { return levels_.size() - 1; }
    void restrict(LocalField finest, Job& job, Scratch& scratch) const;
    void solve_coarsest(std::vector<Job>& jobs, Context* context) const;
    std::vector<std::uint32_t> readers(std::size_t level, std::span<const std::uint32_t> of,
                                       Scratch& scratch) const;
    std::vector<float> descend(Job& job, Scratch& scratch) const;
    void relax(std::size_t level, std::uint32_t i, float b, std::vector<float>& x) const;
    std::vector<float> residual(std::size_t level, std::span<const std::uint32_t> active, std::span<const float> b,
                                const std::vector<float>& x) const;
    void cycle_down(Job& job, Scratch& scratch) const;
    std::vector<float> cycle_up(Job& job, Scratch& scratch) const;
    void step(Job& job, Scratch& scratch) const;

    std::span<const SurfaceLevel> levels_;
    std::vector<Operator> at_;  // of all levels but the coarsest
    Cholesky factors_;
};

}  // namespace sinew
