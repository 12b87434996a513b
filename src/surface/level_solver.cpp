#include "surface/level_solver.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/parallel.h"
#include "core/try.h"

namespace sinew {
namespace {

using At = LocalFields::At;
using Values = LocalFields::Values;
constexpr std::size_t kTogether = LocalFields::kTogether;

// On levels with fewer nodes a solution is cut off one node later: they are too coarse to tell where it is small.
constexpr std::size_t kLeastCut = 3000;
// Conjugate gradients end when the next step may be expected to change no value by more than this.
constexpr float kSmallStep = 0.001f;
constexpr int kMostSteps = 12;

/// Pᵀ D, lumped to a diagonal.
std::vector<double> restrict_diagonal(const SurfaceLevel& coarse, const Lists& readers,
                                      std::span<const double> fine, Context* context) {
    std::vector<double> out(coarse.nodes(), 0);
    parallel_for(context, out.size(), 1024, [&](std::size_t i) {
        for (const std::uint32_t reader : readers.of(i)) {
            const SurfaceLevel::Stencil& s = coarse.stencil[reader];
            for (std::size_t c = 0; c < 3; ++c)
                if (s.of[c] == i) out[i] += static_cast<double>(s.share[c]) * fine[reader];
        }
    });
    return out;
}

Values interpolated(const SurfaceLevel::Stencil& s, const std::vector<At>& coarse) {
    return s.share[0] * coarse[s.of[0]].of + s.share[1] * coarse[s.of[1]].of + s.share[2] * coarse[s.of[2]].of;
}

float largest_of(Values x) { return std::max({x[0], x[1], x[2], x[3]}); }

/// A step of Gauss and Seidel at one node. `x`: a dense field.
void relax(const SurfaceLevel& level, const std::vector<float>& inverse, std::uint32_t i, Values b,
           std::vector<At>& x) {
    for (const auto [to, weight] : level.links(i)) b += weight * x[to].of;
    x[i].of = inverse[i] * b;
}

/// b - (L + D) x at one node.
Values residual(const SurfaceLevel& level, const std::vector<float>& inverse, std::uint32_t i, Values b,
                const std::vector<At>& x) {
    b -= x[i].of / inverse[i];
    for (const auto [to, weight] : level.links(i)) b += weight * x[to].of;
    return b;
}

/// A set of nodes, as a bit for each; empty between its uses.
class Marks {
public:
    explicit Marks(std::size_t nodes) : bits_(nodes / 64 + 1, 0) {}
    void add(std::uint32_t node) { bits_[node / 64] |= std::uint64_t{1} << node % 64; }
    /// Replaces `nodes` by those of the set, ascending, and empties it.
    void take(std::vector<std::uint32_t>& nodes) {
        nodes.clear();
        for (std::uint32_t word = 0; word < bits_.size(); ++word)
            for (std::uint64_t& bits = bits_[word]; bits; bits &= bits - 1)
                nodes.push_back(64 * word + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }

private:
    std::vector<std::uint64_t> bits_;
};

}  // namespace

/// Fields of a thread that solves. The dense ones are 0 between their uses; the others are used again, so that
/// little memory is new to the system.
struct LevelSolver::Work {
    struct Level {
        std::vector<At> x, sum;             // dense: a field, and sums of what finer nodes give
        std::vector<std::uint32_t> source;  // nodes of the first right hand side, ascending
        std::vector<At> strength;           // at those
        std::vector<std::uint32_t> active;  // nodes at which a solution is not cut off, ascending
        // At active nodes: the solution, what it leaves of the right hand side, and half of a cycle's solution.
        std::vector<At> solution, b, kept;
        Marks marks;

        Level(std::size_t nodes, bool finest) : x(nodes, At{}), sum(finest ? 0 : nodes, At{}), marks(nodes) {}
    };
    std::vector<Level> at;
    std::vector<double> columns;         // of the coarsest
    std::vector<At> p;                   // at active nodes of a level: the direction of conjugate gradients
    std::array<double, kTogether> rz{};  // r z of the last step, where z is r after a cycle
    float rate = 1;  // how much smaller than the one before a step was, at this or a coarser level

    explicit Work(std::span<const SurfaceLevel> levels) {
        for (const SurfaceLevel& level : levels) at.emplace_back(level.nodes(), at.empty());
    }
};

Result<LevelSolver> LevelSolver::make(std::span<const SurfaceLevel> levels, std::span<const double> diagonal,
                                      Context* context) {
    LevelSolver out(levels);
    std::vector<double> d(diagonal.begin(), diagonal.end());
    for (std::size_t k = 0; k < out.coarsest(); ++k) {
        Operator own;
        own.inverse.resize(levels[k].nodes());
        parallel_for(context, own.inverse.size(), 4096, [&](std::size_t i) {
            auto sum = static_cast<float>(d[i]);
            for (const auto [to, weight] : levels[k].links(i)) sum += weight;
            own.inverse[i] = sum == 0 ? 1 : 1 / sum;  // 0: a node by itself that nothing heats
        });
        const SurfaceLevel& coarse = levels[k + 1];
        own.readers = Lists(coarse.nodes(), context, [&](const auto& to) {
            for (std::uint32_t i = 0; i < coarse.stencil.size(); ++i)
                for (std::size_t c = 0; c < 3; ++c)
                    if (coarse.stencil[i].share[c] > 0) to(coarse.stencil[i].of[c], i);
        });
        d = restrict_diagonal(coarse, own.readers, d, context);
        out.at_.push_back(std::move(own));
    }
    std::vector<MatrixEntry> entries;
    for (std::uint32_t i = 0; i < d.size(); ++i)
        if (d[i] > 0) entries.push_back({i, i, d[i]});
    for (std::uint32_t i = 0; i < d.size(); ++i)
        for (const auto [to, weight] : levels.back().links(i)) {
            const auto w = static_cast<double>(weight);
            entries.push_back({i, i, w});
            if (i < to) entries.push_back({i, to, -w});
        }
    SINEW_TRY_LET(out.factors_, Cholesky::factor(d.size(), entries, context));
    return out;
}

/// Sets the first right hand side of every level: Pᵀ b.
void LevelSolver::restrict(std::span<const LocalField> b, Work& work) const {
    Work::Level& finest = work.at[0];
    for (std::size_t c = 0; c < b.size(); ++c)
        for (std::size_t n = 0; n < b[c].node.size(); ++n) {
            finest.marks.add(b[c].node[n]);
            finest.x[b[c].node[n]].of[c] += b[c].value[n];
        }
    for (std::size_t k = 0;; ++k) {
        Work::Level& fine = work.at[k];
        fine.marks.take(fine.source);
        fine.strength.clear();
        for (const std::uint32_t i : fine.source) {
            fine.strength.push_back(fine.x[i]);
            fine.x[i] = At{};
        }
        if (k == coarsest()) return;
        Work::Level& coarse = work.at[k + 1];
        for (std::size_t n = 0; n < fine.source.size(); ++n) {
            const SurfaceLevel::Stencil& around = levels_[k + 1].stencil[fine.source[n]];
            for (std::size_t c = 0; c < 3; ++c) {
                coarse.x[around.of[c]].of += around.share[c] * fine.strength[n].of;
                coarse.marks.add(around.of[c]);
            }
        }
    }
}

/// Replaces `sum` at the coarsest level by 0, and sets x there.
void LevelSolver::solve_coarsest(Work& work) const {
    constexpr std::size_t batch = Cholesky::kBatch;
    static_assert(kTogether <= batch);
    Work::Level& own = work.at.back();
    work.columns.assign(own.x.size() * batch, 0);
    for (std::size_t i = 0; i < own.x.size(); ++i)
        for (std::size_t c = 0; c < kTogether; ++c)
            work.columns[i * batch + c] = static_cast<double>(own.sum[i].of[c]);
    factors_.solve_batch(work.columns);
    for (std::size_t i = 0; i < own.x.size(); ++i) {
        own.sum[i] = At{};
        for (std::size_t c = 0; c < kTogether; ++c)
            own.x[i].of[c] = static_cast<float>(work.columns[i * batch + c]);
    }
}

/// Interpolates the dense x of the next coarser level, which becomes 0, and improves it.
void LevelSolver::refine(std::size_t level, Work& work) const {
    Work::Level &own = work.at[level], &coarse = work.at[level + 1];
    const std::vector<float>& inverse = at_[level].inverse;
    const auto add_readers = [&](std::uint32_t c) {
        for (const std::uint32_t reader : at_[level].readers.of(c)) own.marks.add(reader);
    };
    for (const std::uint32_t c : coarse.active) {
        if (!(largest_of(coarse.x[c].of) > kLeast)) continue;
        add_readers(c);
        if (coarse.x.size() < kLeastCut)
            for (const auto [to, weight] : levels_[level + 1].links(c)) add_readers(to);
    }
    for (const std::uint32_t i : own.source) own.marks.add(i);
    own.marks.take(own.active);
    for (const std::uint32_t i : own.active) own.x[i].of = interpolated(levels_[level + 1].stencil[i], coarse.x);
    for (const std::uint32_t i : coarse.active) coarse.x[i] = At{};
    own.b.clear();
    std::size_t s = 0;
    for (const std::uint32_t i : own.active) {
        while (s < own.source.size() && own.source[s] < i) ++s;
        own.b.push_back(s < own.source.size() && own.source[s] == i ? own.strength[s] : At{});
    }
    own.solution.clear();
    for (std::size_t n = 0; n < own.active.size(); ++n) {
        own.solution.push_back(own.x[own.active[n]]);
        own.b[n].of = residual(levels_[level], inverse, own.active[n], own.b[n].of, own.x);
    }
    for (const std::uint32_t i : own.active) own.x[i] = At{};
    work.p.clear();
    work.rz = {};
    float before = INFINITY;
    for (int steps = 0; steps < kMostSteps; ++steps) {
        const float size = step(level, work);
        if (steps > 0) work.rate = std::min(size / before, 1.0f);
        if (!(work.rate * size > kSmallStep)) break;
        before = size;
    }
}

/// x at a level from b there: a symmetric cycle.
void LevelSolver::cycle(std::size_t from, Work& work) const {
    for (std::size_t k = from; k < coarsest(); ++k) {
        const SurfaceLevel& level = levels_[k];
        const std::vector<SurfaceLevel::Stencil>& stencil = levels_[k + 1].stencil;
        Work::Level &own = work.at[k], &coarse = work.at[k + 1];
        for (std::size_t n = own.active.size(); n-- > 0;)
            relax(level, at_[k].inverse, own.active[n], own.b[n].of, own.x);
        for (std::size_t n = 0; n < own.active.size(); ++n) {
            const SurfaceLevel::Stencil& s = stencil[own.active[n]];
            const Values left = residual(level, at_[k].inverse, own.active[n], own.b[n].of, own.x);
            for (std::size_t c = 0; c < 3; ++c) coarse.sum[s.of[c]].of += s.share[c] * left;
        }
        own.kept.clear();
        for (const std::uint32_t i : own.active) {
            own.kept.push_back(own.x[i]);
            own.x[i] = At{};
        }
        // Nodes that are not active at the coarser level keep 0 there: the correction is 0 at them.
        coarse.b.clear();
        for (const std::uint32_t i : coarse.active) coarse.b.push_back(coarse.sum[i]);
        for (const std::uint32_t i : own.active)
            for (const std::uint32_t c : stencil[i].of) coarse.sum[c] = At{};
    }
    Work::Level& last = work.at.back();
    for (std::size_t n = 0; n < last.active.size(); ++n) last.sum[last.active[n]] = last.b[n];
    solve_coarsest(work);
    for (std::size_t k = coarsest(); k-- > from;) {
        Work::Level &own = work.at[k], &coarse = work.at[k + 1];
        for (std::size_t a = 0; a < own.active.size(); ++a)
            own.x[own.active[a]].of =
                own.kept[a].of + interpolated(levels_[k + 1].stencil[own.active[a]], coarse.x);
        for (const std::uint32_t i : coarse.active) coarse.x[i] = At{};
        for (std::size_t a = 0; a < own.active.size(); ++a)
            relax(levels_[k], at_[k].inverse, own.active[a], own.b[a].of, own.x);
    }
}

/// A step of preconditioned conjugate gradients (Hestenes and Stiefel 1952). Returns the largest change.
float LevelSolver::step(std::size_t level, Work& work) const {
    Work::Level& own = work.at[level];
    std::vector<At>& r = own.b;
    cycle(level, work);
    std::array<double, kTogether> rz{}, pap{};
    for (std::size_t n = 0; n < r.size(); ++n)
        for (std::size_t c = 0; c < kTogether; ++c)
            rz[c] += static_cast<double>(r[n].of[c]) * static_cast<double>(own.x[own.active[n]].of[c]);
    Values alpha{}, beta{};
    for (std::size_t c = 0; c < kTogether; ++c)
        beta[c] = static_cast<float>(work.rz[c] > 0 ? rz[c] / work.rz[c] : 0);
    work.p.resize(r.size(), At{});
    for (std::size_t n = 0; n < r.size(); ++n) {
        Values& z = own.x[own.active[n]].of;
        z = work.p[n].of = z + beta * work.p[n].of;
    }
    std::vector<At>& ap = own.kept;  // the cycle has ended
    for (std::size_t n = 0; n < r.size(); ++n) {
        ap[n].of = -residual(levels_[level], at_[level].inverse, own.active[n], Values{}, own.x);
        for (std::size_t c = 0; c < kTogether; ++c)
            pap[c] += static_cast<double>(work.p[n].of[c]) * static_cast<double>(ap[n].of[c]);
    }
    for (const std::uint32_t i : own.active) own.x[i] = At{};
    for (std::size_t c = 0; c < kTogether; ++c)
        if (rz[c] > 0 && pap[c] > 0) alpha[c] = static_cast<float>(rz[c] / pap[c]);  // else it is solved
    Values largest{};
    for (std::size_t n = 0; n < r.size(); ++n) {
        const Values change = alpha * work.p[n].of;
        own.solution[n].of += change;
        r[n].of -= alpha * ap[n].of;
        const Values size = change < 0 ? -change : change;
        largest = largest < size ? size : largest;
    }
    work.rz = rz;
    return largest_of(largest);
}

std::vector<LocalFields> LevelSolver::solve(std::span<const LocalField> b, Context* context) const {
    std::vector<LocalFields> out((b.size() + kTogether - 1) / kTogether);
    const auto group = [&](std::size_t g) {
        return b.subspan(g * kTogether, std::min(kTogether, b.size() - g * kTogether));
    };
    std::vector<std::size_t> cost(out.size(), 0), costly_first(out.size());
    for (std::size_t g = 0; g < out.size(); ++g)
        for (const LocalField& each : group(g)) cost[g] += each.node.size();
    std::iota(costly_first.begin(), costly_first.end(), std::size_t{0});
    std::stable_sort(costly_first.begin(), costly_first.end(),
                     [&](std::size_t i, std::size_t j) { return cost[i] > cost[j]; });
    std::atomic<std::size_t> next = 0;
    const std::size_t threads =
        std::min({out.size(), static_cast<std::size_t>(thread_count(context)), kMostThreads});
    parallel_for(context, threads, 1, [&](std::size_t) {
        Work work(levels_);
        Work::Level &finest = work.at[0], &last = work.at.back();
        last.active.resize(last.x.size());
        std::iota(last.active.begin(), last.active.end(), 0u);
        for (std::size_t n; (n = next++) < out.size() && !cancelled(context);) {
            restrict(group(costly_first[n]), work);
            for (std::size_t s = 0; s < last.source.size(); ++s) last.sum[last.source[s]] = last.strength[s];
            solve_coarsest(work);
            work.rate = 1;
            for (std::size_t k = coarsest(); k-- > 0 && !cancelled(context);) {
                refine(k, work);
                if (k > 0)
                    for (std::size_t a = 0; a < work.at[k].active.size(); ++a)
                        work.at[k].x[work.at[k].active[a]] = work.at[k].solution[a];
            }
            out[costly_first[n]] = {finest.active, finest.solution};
        }
    });
    return out;
}

}  // namespace sinew
