#include "field/biharmonic.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"

namespace sinew {
namespace {

constexpr std::size_t kWide = BiharmonicSolver::kColumns;
using Row = BiharmonicSolver::Row;

// The side, 0 to 5, of the larger leaf at which the smaller one shares a face; -1 if there is no shared face.
int side_of(const Domain::Leaf& large, const Domain::Leaf& small) {
    const int s = 1 << large.level, t = 1 << small.level;
    const int low[3] = {small.x - large.x, small.y - large.y, small.z - large.z};
    int side = -1;
    for (int k = 0; k < 3; ++k) {
        if (low[k] >= 0 && low[k] + t <= s) continue;
        if (side >= 0 || (low[k] + t != 0 && low[k] != s)) return -1;
        side = 2 * k + (low[k] == s);
    }
    return side;
}

}  // namespace

BiharmonicSolver::BiharmonicSolver(const Domain& domain, const Conduction& conduction,
                                   const std::vector<bool>& fixed)
    : conduction_(conduction) {
    const auto n = static_cast<std::uint32_t>(conduction.size());
    first_.push_back(0);
    diagonal_.assign(n, 0);
    for (std::uint32_t i = 0; i < n; ++i) {
        const Domain::Leaf& leaf = domain.leaves[i];
        std::array<std::vector<std::uint32_t>, 6> smaller;
        for (std::uint32_t k = conduction.first[i]; k < conduction.first[i + 1]; ++k) {
            const std::uint32_t j = conduction.to[k];
            const Domain::Leaf& other = domain.leaves[j];
            if (other.level < leaf.level) {
                if (const int side = side_of(leaf, other); side >= 0) {
                    smaller[static_cast<std::size_t>(side)].push_back(j);
                    continue;
                }
            } else if (other.level > leaf.level && side_of(other, leaf) >= 0) {
                continue;  // found from the other side
            }
            to_.push_back(j);
            conductance_.push_back(conduction.conductance[k]);
            diagonal_[i] += conduction.conductance[k];
        }
        first_.push_back(static_cast<std::uint32_t>(to_.size()));
        for (const std::vector<std::uint32_t>& members : smaller) {
            if (members.empty()) continue;
            double area = 0, moment = 0;
            for (const std::uint32_t j : members) {
                const double edge = 1 << domain.leaves[j].level;
                area += edge * edge;
                moment += edge * edge * 0.5 * (edge + (1 << leaf.level));
            }
            side_.push_back({i, static_cast<std::uint32_t>(member_.size()), area * area / moment});
            for (const std::uint32_t j : members) {
                const double edge = 1 << domain.leaves[j].level;
                member_.push_back({j, edge * edge / area});
            }
        }
    }
    side_.push_back({n, static_cast<std::uint32_t>(member_.size()), 0});

    // |L| x for x ≥ 0: Σ|Lᵢⱼ| / Vⱼ Σ|Lⱼₖ| bounds the rows of |Q| = |L| V⁻¹ |L|, and those over the metric bound the
    // eigenvalues of the iteration.
    const auto absolute = [&](const std::vector<double>& x) {
        std::vector<double> out(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            out[i] = diagonal_[i] * x[i];
            for (std::uint32_t k = first_[i]; k < first_[i + 1]; ++k) out[i] += conductance_[k] * x[to_[k]];
        }
        for (std::size_t s = 0; s + 1 < side_.size(); ++s) {
            double mean = 0;
            for (std::uint32_t m = side_[s].first; m < side_[s + 1].first; ++m)
                mean += member_[m].share * x[member_[m].leaf];
            const double flow = side_[s].conductance * (mean + x[side_[s].large]);
            out[side_[s].large] += flow;
            for (std::uint32_t m = side_[s].first; m < side_[s + 1].first; ++m)
                out[member_[m].leaf] += member_[m].share * flow;
        }
        return out;
    };
    std::vector<double> rows = absolute(std::vector<double>(n, 1.0));
    for (std::uint32_t i = 0; i < n; ++i) rows[i] /= static_cast<double>(conduction.volume[i]);
    rows = absolute(rows);
    // With the row's own sum as metric every bound is 1, for all combinations of sizes.
    step_.assign(n, 0);
    for (std::uint32_t i = 0; i < n; ++i)
        if (!fixed[i] && rows[i] > 0) step_[i] = 1 / rows[i];
}

void BiharmonicSolver::laplacian(const std::vector<Row>& w, std::vector<Row>& out) const {
    for (std::size_t i = 0; i < w.size(); ++i) {
        Row sum;
        for (std::size_t k = 0; k < kWide; ++k) sum[k] = diagonal_[i] * w[i][k];
        for (std::uint32_t e = first_[i]; e < first_[i + 1]; ++e) {
            const Row& other = w[to_[e]];
            const double g = conductance_[e];
            for (std::size_t k = 0; k < kWide; ++k) sum[k] -= g * other[k];
        }
        out[i] = sum;
    }
    for (std::size_t s = 0; s + 1 < side_.size(); ++s) {
        const Row& large = w[side_[s].large];
        Row flow;
        for (std::size_t k = 0; k < kWide; ++k) flow[k] = -large[k];
        for (std::uint32_t m = side_[s].first; m < side_[s + 1].first; ++m)
            for (std::size_t k = 0; k < kWide; ++k) flow[k] += member_[m].share * w[member_[m].leaf][k];
        for (std::size_t k = 0; k < kWide; ++k) flow[k] *= side_[s].conductance;
        for (std::size_t k = 0; k < kWide; ++k) out[side_[s].large][k] -= flow[k];
        for (std::uint32_t m = side_[s].first; m < side_[s + 1].first; ++m)
            for (std::size_t k = 0; k < kWide; ++k) out[member_[m].leaf][k] += member_[m].share * flow[k];
    }
}

Row BiharmonicSolver::energy(const std::vector<Row>& w) const {
    std::vector<Row> bent(w.size());
    laplacian(w, bent);
    Row total{};
    for (std::size_t i = 0; i < w.size(); ++i)
        for (std::size_t k = 0; k < kWide; ++k)
            total[k] += 0.5 * bent[i][k] * bent[i][k] / static_cast<double>(conduction_.volume[i]);
    return total;
}

BiharmonicSolver::Outcome BiharmonicSolver::solve(std::vector<Row>& w, double tolerance, int most,
                                                  Context* context) const {
    const std::size_t n = w.size();
    std::vector<Row> y(w), bent(n), slope(n);
    Row momentum, change{};
    momentum.fill(1);
    std::array<bool, kWide> open;
    open.fill(true);
    Outcome outcome;
    while (std::find(open.begin(), open.end(), true) != open.end() && !cancelled(context)) {
        if (outcome.iterations == most) {
            outcome.converged = false;
            break;
        }
        ++outcome.iterations;
        laplacian(y, bent);
        for (std::size_t i = 0; i < n; ++i) {
            const double over = 1 / static_cast<double>(conduction_.volume[i]);
            for (std::size_t k = 0; k < kWide; ++k) bent[i][k] *= over;
        }
        laplacian(bent, slope);
        Row keep, next, uphill{}, largest{};
        for (std::size_t k = 0; k < kWide; ++k) {
            next[k] = 0.5 * (1 + std::sqrt(1 + 4 * momentum[k] * momentum[k]));
            keep[k] = (momentum[k] - 1) / next[k];
        }
        for (std::size_t i = 0; i < n; ++i) {
            if (step_[i] == 0) continue;
            const double metric = 1 / step_[i];
            for (std::size_t k = 0; k < kWide; ++k) {
                const double old = w[i][k], at = y[i][k];
                const double to = std::min(1.0, std::max(0.0, at - step_[i] * slope[i][k]));
                uphill[k] += metric * (at - to) * (to - old);
                largest[k] = std::max(largest[k], std::abs(at - to));
                // A column that has converged stays as it is.
                w[i][k] = open[k] ? to : old;
                y[i][k] = open[k] ? to + keep[k] * (to - old) : old;
            }
        }
        for (std::size_t k = 0; k < kWide; ++k) {
            if (!open[k]) continue;
            change[k] = largest[k];
            momentum[k] = next[k];
            if (uphill[k] > 0) {  // restart from here
                momentum[k] = 1;
                for (std::size_t i = 0; i < n; ++i) y[i][k] = w[i][k];
            }
            open[k] = largest[k] > tolerance;
        }
    }
    outcome.residual = *std::max_element(change.begin(), change.end());
    return outcome;
}

}  // namespace sinew
