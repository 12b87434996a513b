// (L + D) x = b on the levels of a surface, for many right hand sides that each concern a part of it.
#pragma once

#include <span>
#include <vector>

#include "core/lists.h"
#include "solve/cholesky.h"
#include "surface/surface_levels.h"

namespace sinew {

/// A right hand side that is 0 at most nodes.
struct LocalField {
    std::vector<std::uint32_t> node;  ///< n, ascending
    std::vector<float> value;         ///< n
};

/// Solutions that are 0 at most nodes, of right hand sides that follow each other.
struct LocalFields {
    static constexpr std::size_t kTogether = 4;
    using Values [[gnu::vector_size(kTogether * sizeof(float))]] = float;
    struct At {
        Values of;
    };
    std::vector<std::uint32_t> node;  ///< n, ascending
    std::vector<At> value;            ///< n
};

/// L is the Laplacian of the finest level, D a diagonal ≥ 0 that is > 0 somewhere in each component. The coarsest
/// level is solved directly. Its solution is interpolated at the next finer level, where conjugate gradients with a
/// multigrid cycle (Tatebe 1993) improve it until a step is small, and so on (nested iteration: Brandt 1977).
/// Right hand sides that follow each other share all passes over
/// the surface, so they should concern the same part of it.
class LevelSolver {
public:
    /// Solutions are cut off where they are smaller.
    static constexpr float kLeast = 1e-4f;

    /// Each thread that solves needs about 110 bytes for each node of the finest level.
    static constexpr std::size_t kMostThreads = 8;

    /// `levels`: at least two, from the finest to the coarsest; they must outlive the solver. `diagonal`: D, at
    /// each node of the finest. Errors of Cholesky::factor.
    static Result<LevelSolver> make(std::span<const SurfaceLevel> levels, std::span<const double> diagonal,
                                    Context* context);

    /// Right hand sides ≥ 0; element g has the solutions of those from g kTogether on. O(nodes at which one of
    /// them is not cut off); at most as many threads as elements, and
    /// kMostThreads. The bits do not depend on the number of threads.
    /// Incomplete if cancelled.
    std::vector<LocalFields> solve(std::span<const LocalField> b, Context* context) const;

private:
    struct Operator {
        std::vector<float> inverse;  ///< of the diagonal of L + D
        Lists readers;               ///< the nodes that read from each node of the next coarser level
    };
    struct Work;

    explicit LevelSolver(std::span<const SurfaceLevel> levels) : levels_(levels) {}
    std::size_t coarsest() const { return levels_.size() - 1; }
    void restrict(std::span<const LocalField> b, Work& work) const;
    void solve_coarsest(Work& work) const;
    void refine(std::size_t level, Work& work) const;
    void cycle(std::size_t from, Work& work) const;
    float step(std::size_t level, Work& work) const;

    std::span<const SurfaceLevel> levels_;
    std::vector<Operator> at_;  // of all levels but the coarsest
    Cholesky factors_;
};

}  // namespace sinew
