#include "field/heat.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"

namespace sinew {
namespace {

constexpr int kCoarsestSweeps = 4;  // pairs of a forward and a backward sweep

// Conjugate gradients for up to `Wide` columns at once. Columns share the passes over the matrix and nothing else,
// so the bits of a column do not depend on the others.
template <std::size_t Wide>
class ConjugateGradients {
public:
    using Row = std::array<float, Wide>;
    using Columns = std::span<const std::vector<HeatSolver::FixedValues>>;

    ConjugateGradients(const HeatLevels& levels, Columns columns) : levels_(levels), columns_(columns) {
        for (std::size_t level = 0; level < levels.count(); ++level) {
            b_.emplace_back(levels[level].size());
            x_.emplace_back(levels[level].size());
        }
    }

    HeatSolver::Outcome run(std::vector<Row>& u, double tolerance, Context* context) {
        const std::size_t n = levels_[0].size();
        std::vector<Row>&r = b_[0], &z = x_[0];
        std::vector<Row> p(n), q(n);

        set_fixed(p);  // residuals are relative to that of a field with only the fixed values
        multiply(p, r);
        clear_fixed(r);
        const Sums whole = dot(r, r);

        set_fixed(u);
        multiply(u, r);
        clear_fixed(r);
        for (Row& row : r)
            for (float& value : row) value = -value;
        Sums rest = dot(r, r), rz{};
        std::fill(p.begin(), p.end(), Row{});
        HeatSolver::Outcome outcome;
        const auto open = [&](std::size_t c) { return rest[c] > tolerance * tolerance * whole[c]; };
        const auto any_open = [&] {
            for (std::size_t c = 0; c < Wide; ++c)
                if (open(c)) return true;
            return false;
        };
        for (; any_open() && !cancelled(context); ++outcome.iterations) {
            if (outcome.iterations == HeatSolver::kMostIterations) {
                outcome.converged = false;
                break;
            }
            cycle(0);
            clear_fixed(z);
            const Sums next = dot(r, z);
            Row keep{};
            for (std::size_t c = 0; c < Wide; ++c)
                keep[c] = open(c) && rz[c] > 0 ? static_cast<float>(next[c] / rz[c]) : 0;
            rz = next;
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t c = 0; c < Wide; ++c) p[i][c] = z[i][c] + keep[c] * p[i][c];
            multiply(p, q);
            clear_fixed(q);
            const Sums along = dot(p, q);
            Row step{};  // 0 for a column that has converged
            for (std::size_t c = 0; c < Wide; ++c)
                step[c] = open(c) && along[c] > 0 ? static_cast<float>(rz[c] / along[c]) : 0;
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t c = 0; c < Wide; ++c) {
                    u[i][c] += step[c] * p[i][c];
                    r[i][c] -= step[c] * q[i][c];
                }
            rest = dot(r, r);
        }
        for (std::size_t c = 0; c < Wide; ++c)
            if (whole[c] > 0) outcome.residual = std::max(outcome.residual, std::sqrt(rest[c] / whole[c]));
        return outcome;
    }

private:
    using Sums = std::array<double, Wide>;

    static Sums dot(const std::vector<Row>& a, const std::vector<Row>& b) {
        Sums total{};
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t c = 0; c < Wide; ++c) total[c] += static_cast<double>(a[i][c]) * b[i][c];
        return total;
    }
    void clear_fixed(std::vector<Row>& x) const {
        for (std::size_t c = 0; c < columns_.size(); ++c)
            for (const HeatSolver::FixedValues& h : columns_[c]) x[h.leaf][c] = 0;
    }
    void set_fixed(std::vector<Row>& x) const {
        for (std::size_t c = 0; c < columns_.size(); ++c)
            for (const HeatSolver::FixedValues& h : columns_[c]) x[h.leaf][c] = h.value;
    }

    void multiply(const std::vector<Row>& x, std::vector<Row>& out) const {
        const HeatLevels::Graph g = levels_.graph(0);
        const float* diagonal = levels_[0].diagonal.data();
        for (std::size_t i = 0; i < x.size(); ++i) {
            Row sum;
            for (std::size_t c = 0; c < Wide; ++c) sum[c] = diagonal[i] * x[i][c];
            for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k) {
                const Row& other = x[g.to[k]];
                for (std::size_t c = 0; c < Wide; ++c) sum[c] -= g.conductance[k] * other[c];
            }
            out[i] = sum;
        }
    }

    // One V-cycle with a Gauss-Seidel sweep before and one back after: a symmetric positive definite operation, as
    // conjugate gradients require.
    void cycle(std::size_t level) {
        const HeatLevels::Graph g = levels_.graph(level);
        const HeatLevels::Level& l = levels_[level];
        const std::vector<Row>& b = b_[level];
        std::vector<Row>& x = x_[level];
        const std::size_t n = x.size();
        const auto relax = [&](std::size_t i) {
            Row sum = b[i];
            for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k) {
                const Row& other = x[g.to[k]];
                for (std::size_t c = 0; c < Wide; ++c) sum[c] += g.conductance[k] * other[c];
            }
            for (std::size_t c = 0; c < Wide; ++c) x[i][c] = l.inverse[i] * sum[c];
        };
        std::fill(x.begin(), x.end(), Row{});
        const bool coarsest = level + 1 == levels_.count();
        for (int sweep = 0; sweep < (coarsest ? kCoarsestSweeps : 1); ++sweep) {
            for (std::size_t i = 0; i < n; ++i) relax(i);
            if (coarsest)
                for (std::size_t i = n; i-- > 0;) relax(i);
        }
        if (coarsest) return;

        std::vector<Row>& below = b_[level + 1];
        std::fill(below.begin(), below.end(), Row{});
        for (std::size_t i = 0; i < n; ++i) {
            Row rest = b[i];
            for (std::size_t c = 0; c < Wide; ++c) rest[c] -= l.diagonal[i] * x[i][c];
            for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k) {
                const Row& other = x[g.to[k]];
                for (std::size_t c = 0; c < Wide; ++c) rest[c] += g.conductance[k] * other[c];
            }
            Row& to = below[l.parent[i]];
            for (std::size_t c = 0; c < Wide; ++c) to[c] += rest[c];
        }
        cycle(level + 1);
        const std::vector<Row>& correction = x_[level + 1];
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t c = 0; c < Wide; ++c) x[i][c] += correction[l.parent[i]][c];
        for (std::size_t i = n; i-- > 0;) relax(i);
    }

    const HeatLevels& levels_;
    const Columns columns_;
    // Right hand side and solution on every level; those of the finest are r and z of the iteration.
    std::vector<std::vector<Row>> b_, x_;
};

}  // namespace

HeatSolver::Outcome HeatSolver::solve(std::span<const std::vector<FixedValues>> columns, std::vector<Row>& u,
                                      double tolerance, Context* context) const {
    const std::size_t n = levels_[0].size();
    u.resize(n);
    for (Row& row : u) std::fill(row.begin() + static_cast<std::ptrdiff_t>(columns.size()), row.end(), 0.0f);
    if (columns.size() != 1) return ConjugateGradients<kColumns>(levels_, columns).run(u, tolerance, context);
    // A single field takes a third of the time.
    std::vector<std::array<float, 1>> alone(n);
    for (std::size_t i = 0; i < n; ++i) alone[i][0] = u[i][0];
    const Outcome outcome = ConjugateGradients<1>(levels_, columns).run(alone, tolerance, context);
    for (std::size_t i = 0; i < n; ++i) u[i][0] = alone[i][0];
    return outcome;
}

void HeatSolver::diffuse(std::span<const std::vector<FixedValues>> columns, std::vector<Row>& u, int sweeps,
                         Context* context) const {
    const HeatLevels::Graph g = levels_.graph(0);
    const auto set_fixed = [&](std::vector<Row>& x) {
        for (std::size_t c = 0; c < columns.size(); ++c)
            for (const FixedValues& h : columns[c]) x[h.leaf][c] = h.value;
    };
    u.assign(levels_[0].size(), Row{});
    set_fixed(u);
    std::vector<Row> next(u.size());
    for (int sweep = 0; sweep < sweeps && !cancelled(context); ++sweep) {
        for (std::size_t i = 0; i < u.size(); ++i) {
            Row sum{};
            for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k) {
                const Row& other = u[g.to[k]];
                for (std::size_t c = 0; c < kColumns; ++c) sum[c] += g.conductance[k] * other[c];
            }
            for (std::size_t c = 0; c < kColumns; ++c) next[i][c] = levels_[0].inverse[i] * sum[c];
        }
        set_fixed(next);
        u.swap(next);
    }
}

}  // namespace sinew
