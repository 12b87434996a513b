// The factorisation is Eigen's (simplicial L D Lᵀ, up-looking: Davis, "Direct Methods for Sparse Linear Systems",
// 2006); the solves are ours, so that one pass over the factor serves a batch of right hand sides.
#define EIGEN_MPL2_ONLY

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <cmath>
#include <string>

#include "core/parallel.h"
#include "solve/cholesky.h"

namespace sinew {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

// Opens what Eigen keeps to itself: the number of entries of L is known after the symbolic step.
class Factor : public Eigen::SimplicialLDLT<Matrix, Eigen::Lower> {
public:
    double entries() const {
        double sum = 0;
        for (Eigen::Index j = 0; j < this->m_nonZerosPerCol.size(); ++j) sum += this->m_nonZerosPerCol[j];
        return sum;
    }
};

Error too_large(double bytes, std::size_t limit) {
    return {ErrorCode::too_large, "the factors of a sparse matrix need " +
                                      std::to_string(static_cast<std::size_t>(bytes) >> 20) +
                                      " MB, more than the limit of " + std::to_string(limit >> 20) + " MB"};
}

}  // namespace

double estimate_cholesky_memory(double rows, double row_entries) {
    // Fill grows as n log n on planar graphs (nested dissection); the factor is a guess on the safe side, doubled
    // for our copy. What is really needed is counted before the numbers are computed.
    const double fill = 0.45 * row_entries * std::log2(std::max(rows, 2.0));
    return rows * (2 * 12 * fill + 40 * row_entries);
}

Result<Cholesky> Cholesky::factor(std::size_t size, std::span<const MatrixEntry> entries, Context* context) {
    constexpr double most = std::numeric_limits<int>::max();
    if (static_cast<double>(size) > most || static_cast<double>(entries.size()) > most)
        return Error{ErrorCode::too_large, "a sparse matrix has more than 2^31 rows or entries"};
    const auto n = static_cast<Eigen::Index>(size);
    Matrix a(n, n);
    {
        std::vector<Eigen::Triplet<double, int>> lower;
        lower.reserve(entries.size());
        for (const MatrixEntry& e : entries)
            lower.emplace_back(static_cast<int>(std::max(e.row, e.column)),
                               static_cast<int>(std::min(e.row, e.column)), e.value);
        a.setFromTriplets(lower.begin(), lower.end());
    }
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while factoring"};

    Factor factor;
    factor.analyzePattern(a);
    const double filled = factor.entries();
    if (filled > most) return Error{ErrorCode::too_large, "the factors of a sparse matrix have over 2^31 entries"};
    if (context && context->memory_limit) {
        const double bytes = 24 * filled + 60 * static_cast<double>(size);
        if (bytes > static_cast<double>(context->memory_limit)) return too_large(bytes, context->memory_limit);
    }
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while factoring"};
    factor.factorize(a);
    const auto pivots = factor.vectorD();
    for (Eigen::Index i = 0; i < pivots.size(); ++i) {
        if (pivots[i] > 0 && std::isfinite(pivots[i])) continue;
        const int row = size ? factor.permutationPinv().indices()[i] : 0;
        return Error{ErrorCode::internal, "a sparse matrix is not positive definite at row " + std::to_string(row)};
    }
    if (factor.info() != Eigen::Success)
        return Error{ErrorCode::internal, "a sparse matrix is not positive definite"};

    Cholesky out;
    const auto& l = factor.matrixL().nestedExpression();
    out.first_.reserve(size + 1);
    out.first_.push_back(0);
    out.row_.reserve(static_cast<std::size_t>(filled));
    out.value_.reserve(static_cast<std::size_t>(filled));
    out.diagonal_.reserve(size);
    for (Eigen::Index j = 0; j < n; ++j) {
        for (Matrix::InnerIterator it(l, j); it; ++it) {
            if (it.row() <= j) continue;
            out.row_.push_back(static_cast<std::uint32_t>(it.row()));
            out.value_.push_back(it.value());
        }
        out.first_.push_back(out.row_.size());
        out.diagonal_.push_back(1 / pivots[j]);
    }
    out.place_.resize(size);
    for (std::size_t i = 0; i < size; ++i)
        out.place_[i] = static_cast<std::uint32_t>(factor.permutationP().indices()[static_cast<Eigen::Index>(i)]);
    return out;
}

void Cholesky::solve_batch(std::span<double> columns) const {
    constexpr std::size_t w = kBatch;
    const std::size_t n = size();
    std::vector<double> x(n * w);
    for (std::size_t i = 0; i < n; ++i)
        std::copy_n(columns.data() + i * w, w, x.data() + std::size_t{place_[i]} * w);
    for (std::size_t j = 0; j < n; ++j) {
        double own[w];
        std::copy_n(x.data() + j * w, w, own);
        for (std::uint64_t k = first_[j]; k < first_[j + 1]; ++k) {
            double* const to = x.data() + std::size_t{row_[k]} * w;
            const double l = value_[k];
            for (std::size_t c = 0; c < w; ++c) to[c] -= l * own[c];
        }
    }
    for (std::size_t j = n; j-- > 0;) {
        double own[w];
        for (std::size_t c = 0; c < w; ++c) own[c] = x[j * w + c] * diagonal_[j];
        for (std::uint64_t k = first_[j]; k < first_[j + 1]; ++k) {
            const double* const from = x.data() + std::size_t{row_[k]} * w;
            const double l = value_[k];
            for (std::size_t c = 0; c < w; ++c) own[c] -= l * from[c];
        }
        std::copy_n(own, w, x.data() + j * w);
    }
    for (std::size_t i = 0; i < n; ++i)
        std::copy_n(x.data() + std::size_t{place_[i]} * w, w, columns.data() + i * w);
}

std::vector<double> Cholesky::solve(std::span<const double> b) const {
    std::vector<double> batch(size() * kBatch, 0.0), out(size());
    for (std::size_t i = 0; i < size(); ++i) batch[i * kBatch] = b[i];
    solve_batch(batch);
    for (std::size_t i = 0; i < size(); ++i) out[i] = batch[i * kBatch];
    return out;
}

}  // namespace sinew
