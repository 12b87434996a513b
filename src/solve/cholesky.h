// Sparse symmetric positive definite systems: factored once, then solved for many right hand sides.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/large_pages.h"
#include "sinew/core.h"

namespace sinew {

/// One entry of a symmetric matrix. Each pair of row and column is given once, on either side of the diagonal, and
/// stands for both sides; entries of the same place add up.
struct MatrixEntry {
    std::uint32_t row, column;
    double value;
};

/// The factorisation P A Pᵀ = L Lᵀ of a symmetric positive definite matrix, columns ordered by approximate minimum
/// degree. Columns with the same rows below them make a front, a dense matrix (multifrontal: Duff and Reid 1983;
/// Liu 1992): nearly all of the work is dense, and fronts that do not depend on each other are factored in
/// parallel. For matrices of surfaces: about 10 to 20 nonzeros of L per row and vertex of a mesh of 10⁵ vertices,
/// more for the square of a Laplacian. A matrix of a volume fills up, and iteration is better for it.
class Cholesky {
public:
    /// Right hand sides that are solved together: one pass over L serves all of them.
    static constexpr std::size_t kBatch = 8;

    /// What depends only on the places of the entries: the order of elimination and the fronts. Mostly on one
    /// thread.
    struct Plan;

    /// The factors of another matrix, or null: their plan is used if that matrix has entries at the same places,
    /// and their fronts where its entries are the same. Only factors that were kept have fronts to take; these
    /// need more memory, about 20 MB for a surface of 43,000 nodes.
    struct Again {
        const Cholesky* earlier = nullptr;
        bool keep = false;
    };

    /// Factors the matrix of `size` rows. The entries of L are counted first and checked against
    /// Context::memory_limit (too_large). A pivot that is not positive is an error (internal) that names its row:
    /// the matrix has a component without a constraint. The same bits on any number of threads, and whatever was
    /// factored earlier.
    static Result<Cholesky> factor(std::size_t size, std::span<const MatrixEntry> entries,
                                   Context* context = nullptr, const Again& again = {nullptr, false});

    const std::shared_ptr<const Plan>& plan() const { return plan_; }
    std::size_t size() const;
    /// How many fronts are those of the earlier matrix.
    std::size_t fronts_taken() const { return fronts_taken_; }
    /// The place of a row in the order of elimination.
    std::uint32_t place(std::size_t row) const;
    /// Stored entries of L, including some zeros; 8 bytes each.
    std::size_t nonzeros() const;

    /// kBatch right hand sides and, after solve(), their solutions. 64 bytes for each row. Batches of the same
    /// factors may be used in several threads, each in one at a time.
    class Batch {
    public:
        /// All 0. Keeps a reference.
        explicit Batch(const Cholesky& factors);
        /// Adds to a right hand side.
        void add(std::size_t row, std::size_t column, double value);
        /// O(nonzeros). The bits of a solution do not depend on the other columns. Where right hand sides are 0 at
        /// most rows the cost is less, and less again if solutions may become 0 where all around them are at most
        /// `least`.
        void solve(double least = 0);
        /// The kBatch solutions at a row, or null where all are 0.
        const double* row(std::size_t row) const { return row_at(factors_->place(row)); }
        /// The same at a place.
        const double* row_at(std::size_t place) const;
        /// All 0 again.
        void clear();

    private:
        const Cholesky* factors_;
        LargeVector<double> x_;           // rows in the order of elimination
        std::vector<std::uint8_t> live_;  // per front: whether one of its rows may not be 0
    };
    /// One right hand side.
    std::vector<double> solve(std::span<const double> b) const;

private:
    struct Updates;

    std::shared_ptr<const Plan> plan_;
    std::unique_ptr<double[]> value_;         // of each front: rows() × columns, column by column
    std::shared_ptr<const Updates> updates_;  // Again::keep
    std::size_t fronts_taken_ = 0;
};

/// Estimate of the memory, in bytes, for factoring the matrix of a surface.
/// `row_entries` is the mean number of entries of a row of A (7 for the Laplacian of a mesh, 19 for its square).
double estimate_cholesky_memory(double rows, double row_entries);

}  // namespace sinew
