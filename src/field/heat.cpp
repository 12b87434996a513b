#include "field/heat.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel.h"

namespace sinew {
namespace {

constexpr std::size_t kWide = HeatSolver::kColumns;
constexpr std::size_t kCoarsest = 64;  // nodes; below it smoothing alone solves well enough
constexpr int kCoarsestSweeps = 4;     // forward and backward
constexpr int kMostIterations = 2000;  // far more than any domain has needed

using Row = HeatSolver::Row;
using Sums = std::array<double, kWide>;

Sums dot(const std::vector<Row>& a, const std::vector<Row>& b) {
    Sums total{};
    // Blocks keep float products accurate enough and the number of double sums small.
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t c = 0; c < kWide; ++c) total[c] += static_cast<double>(a[i][c]) * b[i][c];
    return total;
}

void let_go(std::span<const std::vector<HeatSolver::FixedValues>> columns, std::vector<Row>& x) {
    for (std::size_t c = 0; c < columns.size(); ++c)
        for (const HeatSolver::FixedValues& h : columns[c]) x[h.leaf][c] = 0;
}

void hold(std::span<const std::vector<HeatSolver::FixedValues>> columns, std::vector<Row>& x) {
    for (std::size_t c = 0; c < columns.size(); ++c)
        for (const HeatSolver::FixedValues& h : columns[c]) x[h.leaf][c] = h.value;
}

}  // namespace

// Right hand side and solution on every level; on the finest they are r and z of the iteration.
struct HeatSolver::Work {
    std::vector<std::vector<Row>> b, x;
};

HeatSolver::HeatSolver(const Conduction& conduction, std::vector<float> loss) : conduction_(conduction) {
    coarsen(loss);
}

HeatSolver::Graph HeatSolver::graph(std::size_t level) const {
    if (level == 0) return {conduction_.first.data(), conduction_.to.data(), conduction_.conductance.data()};
    const Level& l = levels_[level];
    return {l.first.data(), l.to.data(), l.conductance.data()};
}

// On each level, nodes in one octree cell are merged if conductances join them.
void HeatSolver::coarsen(const std::vector<float>& finest_loss) {
    std::vector<float> loss = finest_loss;
    std::vector<std::uint64_t> cell = conduction_.cell;
    for (int shift = 3;; shift += 3) {
        const std::size_t n = loss.size();
        if (levels_.empty()) levels_.emplace_back();
        Level& fine = levels_.back();
        const Graph g = graph(levels_.size() - 1);
        fine.diagonal.resize(n);
        fine.inverse.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            double sum = loss[i];
            for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k) sum += g.conductance[k];
            fine.diagonal[i] = static_cast<float>(sum);
            fine.inverse[i] = sum > 0 ? static_cast<float>(1 / sum) : 0;
        }
        if (n <= kCoarsest || shift > 30) return;

        // The cell of a node is its Morton number without the last bits.
        std::vector<std::uint32_t> piece(n);
        std::iota(piece.begin(), piece.end(), 0u);
        const auto root = [&](std::uint32_t i) {
            while (piece[i] != i) i = piece[i] = piece[piece[i]];
            return i;
        };
        const auto joined = [&](std::uint32_t i, std::uint32_t j) { return cell[i] >> shift == cell[j] >> shift; };
        for (std::uint32_t i = 0; i < n; ++i)
            for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k)
                if (g.to[k] < i && joined(i, g.to[k])) {
                    const std::uint32_t a = root(i), b = root(g.to[k]);
                    piece[std::max(a, b)] = std::min(a, b);  // the root is the first node of its piece
                }
        Level coarse;
        std::vector<float> coarse_loss;
        std::vector<std::uint64_t> coarse_cell;
        fine.parent.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t r = root(i);
            if (r == i) {
                fine.parent[i] = static_cast<std::uint32_t>(coarse_loss.size());
                coarse_loss.push_back(0);
                coarse_cell.push_back(cell[i]);
            }
            fine.parent[i] = fine.parent[r];
            coarse_loss[fine.parent[i]] += loss[i];
        }
        const std::size_t m = coarse_loss.size();
        // Links between different nodes, collected per coarse node; parallel fine links add up.
        std::vector<std::uint32_t> count(m + 1, 0);
        const auto each_link = [&](auto&& visit) {
            for (std::uint32_t i = 0; i < n; ++i)
                for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k)
                    if (fine.parent[i] != fine.parent[g.to[k]])
                        visit(fine.parent[i], fine.parent[g.to[k]], g.conductance[k]);
        };
        each_link([&](std::uint32_t a, std::uint32_t, float) { ++count[a + 1]; });
        for (std::size_t a = 0; a < m; ++a) count[a + 1] += count[a];
        std::vector<std::pair<std::uint32_t, float>> link(count[m]);
        std::vector<std::uint32_t> next(count.begin(), count.end() - 1);
        each_link([&](std::uint32_t a, std::uint32_t b, float conductance) {
            link[next[a]++] = {b, conductance / 2};  // centres are twice as far apart
        });
        coarse.first.push_back(0);
        for (std::size_t a = 0; a < m; ++a) {
            std::sort(link.begin() + count[a], link.begin() + count[a + 1]);
            for (std::uint32_t k = count[a]; k < count[a + 1]; ++k) {
                if (k > count[a] && link[k].first == link[k - 1].first)
                    coarse.conductance.back() += link[k].second;
                else {
                    coarse.to.push_back(link[k].first);
                    coarse.conductance.push_back(link[k].second);
                }
            }
            coarse.first.push_back(static_cast<std::uint32_t>(coarse.to.size()));
        }
        levels_.push_back(std::move(coarse));
        loss = std::move(coarse_loss);
        cell = std::move(coarse_cell);
    }
}

void HeatSolver::multiply(const std::vector<Row>& x, std::vector<Row>& out) const {
    const Graph g = graph(0);
    const float* diagonal = levels_[0].diagonal.data();
    for (std::size_t i = 0; i < x.size(); ++i) {
        Row sum;
        for (std::size_t c = 0; c < kWide; ++c) sum[c] = diagonal[i] * x[i][c];
        for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k) {
            const Row& other = x[g.to[k]];
            for (std::size_t c = 0; c < kWide; ++c) sum[c] -= g.conductance[k] * other[c];
        }
        out[i] = sum;
    }
}

// One V-cycle with one forward Gauss-Seidel sweep before and one backward sweep after: symmetric positive
// definite, as conjugate gradients require.
void HeatSolver::cycle(std::size_t level, Work& work) const {
    const Graph g = graph(level);
    const Level& l = levels_[level];
    const std::vector<Row>& b = work.b[level];
    std::vector<Row>& x = work.x[level];
    const std::size_t n = x.size();
    const auto relax = [&](std::size_t i) {
        Row sum = b[i];
        for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k) {
            const Row& other = x[g.to[k]];
            for (std::size_t c = 0; c < kWide; ++c) sum[c] += g.conductance[k] * other[c];
        }
        for (std::size_t c = 0; c < kWide; ++c) x[i][c] = l.inverse[i] * sum[c];
    };
    std::fill(x.begin(), x.end(), Row{});
    const bool coarsest = level + 1 == levels_.size();
    for (int sweep = 0; sweep < (coarsest ? kCoarsestSweeps : 1); ++sweep) {
        for (std::size_t i = 0; i < n; ++i) relax(i);
        if (coarsest)
            for (std::size_t i = n; i-- > 0;) relax(i);
    }
    if (coarsest) return;

    std::vector<Row>& below = work.b[level + 1];
    std::fill(below.begin(), below.end(), Row{});
    for (std::size_t i = 0; i < n; ++i) {
        Row rest = b[i];
        for (std::size_t c = 0; c < kWide; ++c) rest[c] -= l.diagonal[i] * x[i][c];
        for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k) {
            const Row& other = x[g.to[k]];
            for (std::size_t c = 0; c < kWide; ++c) rest[c] += g.conductance[k] * other[c];
        }
        Row& to = below[l.parent[i]];
        for (std::size_t c = 0; c < kWide; ++c) to[c] += rest[c];
    }
    cycle(level + 1, work);
    const std::vector<Row>& correction = work.x[level + 1];
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < kWide; ++c) x[i][c] += correction[l.parent[i]][c];
    for (std::size_t i = n; i-- > 0;) relax(i);
}

HeatSolver::Outcome HeatSolver::solve(std::span<const std::vector<FixedValues>> columns, std::vector<Row>& u,
                                      double tolerance, Context* context) const {
    const std::size_t n = conduction_.size();
    Work work;
    for (const Level& level : levels_) {
        work.b.emplace_back(level.diagonal.size());
        work.x.emplace_back(level.diagonal.size());
    }
    std::vector<Row>&r = work.b[0], &z = work.x[0];
    std::vector<Row> p(n), q(n);
    u.resize(n);
    for (Row& row : u) std::fill(row.begin() + static_cast<std::ptrdiff_t>(columns.size()), row.end(), 0.0f);

    hold(columns, p);  // residuals are relative to that of the fixed leaves alone
    multiply(p, r);
    let_go(columns, r);
    const Sums whole = dot(r, r);

    hold(columns, u);
    multiply(u, r);
    let_go(columns, r);
    for (Row& row : r)
        for (float& value : row) value = -value;
    Sums rest = dot(r, r), rz{};
    std::fill(p.begin(), p.end(), Row{});
    Outcome outcome;
    const auto open = [&](std::size_t c) { return rest[c] > tolerance * tolerance * whole[c]; };
    const auto any_open = [&] {
        for (std::size_t c = 0; c < kWide; ++c)
            if (open(c)) return true;
        return false;
    };
    for (; any_open() && !cancelled(context); ++outcome.iterations) {
        if (outcome.iterations == kMostIterations) {
            outcome.converged = false;
            break;
        }
        cycle(0, work);
        let_go(columns, z);
        const Sums next = dot(r, z);
        Row keep{};
        for (std::size_t c = 0; c < kWide; ++c)
            keep[c] = open(c) && rz[c] > 0 ? static_cast<float>(next[c] / rz[c]) : 0;
        rz = next;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t c = 0; c < kWide; ++c) p[i][c] = z[i][c] + keep[c] * p[i][c];
        multiply(p, q);
        let_go(columns, q);
        const Sums along = dot(p, q);
        Row step{};  // 0: a column that has converged stays as it is
        for (std::size_t c = 0; c < kWide; ++c)
            step[c] = open(c) && along[c] > 0 ? static_cast<float>(rz[c] / along[c]) : 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t c = 0; c < kWide; ++c) {
                u[i][c] += step[c] * p[i][c];
                r[i][c] -= step[c] * q[i][c];
            }
        rest = dot(r, r);
    }
    for (std::size_t c = 0; c < kWide; ++c)
        if (whole[c] > 0) outcome.residual = std::max(outcome.residual, std::sqrt(rest[c] / whole[c]));
    return outcome;
}

void HeatSolver::diffuse(std::span<const std::vector<FixedValues>> columns, std::vector<Row>& u, int sweeps,
                         Context* context) const {
    const Graph g = graph(0);
    u.assign(conduction_.size(), Row{});
    hold(columns, u);
    std::vector<Row> next(u.size());
    for (int sweep = 0; sweep < sweeps && !cancelled(context); ++sweep) {
        for (std::size_t i = 0; i < u.size(); ++i) {
            Row sum{};
            for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k) {
                const Row& other = u[g.to[k]];
                for (std::size_t c = 0; c < kWide; ++c) sum[c] += g.conductance[k] * other[c];
            }
            for (std::size_t c = 0; c < kWide; ++c) next[i][c] = levels_[0].inverse[i] * sum[c];
        }
        hold(columns, next);
        u.swap(next);
    }
}

}  // namespace sinew
