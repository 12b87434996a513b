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

// Smaller values are cut off.
constexpr float kLeast = 1e-4f;
constexpr int kSweeps = 2;
// Conjugate gradients end when a step changes no value by more than this: most meshes take two.
constexpr float kSmallStep = 0.004f;
constexpr int kMostSteps = 12;

/// The start of each list where lists of `count` entries follow each other, and the end.
std::vector<std::uint32_t> starts(std::vector<std::uint32_t> count) {
    std::exclusive_scan(count.begin(), count.end(), count.begin(), 0u);
    return count;
}

/// Pᵀ D, lumped to a diagonal.
std::vector<double> restrict_diagonal(const SurfaceLevel& coarse, std::span<const double> fine) {
    std::vector<double> out(coarse.nodes(), 0);
    for (std::size_t i = 0; i < fine.size(); ++i)
        for (std::size_t c = 0; c < 3; ++c)
            out[coarse.stencil[i].of[c]] += static_cast<double>(coarse.stencil[i].share[c]) * fine[i];
    return out;
}

float interpolated(const SurfaceLevel::Stencil& s, const std::vector<float>& coarse) {
    return s.share[0] * coarse[s.of[0]] + s.share[1] * coarse[s.of[1]] + s.share[2] * coarse[s.of[2]];
}

}  // namespace

/// One right hand side.
struct LevelSolver::Job {
    std::vector<LocalField> b;                       // per level but the coarsest; nodes in any order
    std::vector<double> coarsest;                    // right hand side, then solution, per node
    std::vector<std::vector<std::uint32_t>> active;  // per level: where x is not cut off, ascending
    // At the active nodes of the finest level.
    std::vector<float> x, r, p;  // solution, b - (L + D) x, and the direction of the last step
    double rz = 0;               // r z, where z is r after a cycle
    bool done = false;
    // Of a cycle, per level but the coarsest, at active nodes: right hand side and solution.
    std::vector<std::vector<float>> cycle_b, cycle_x;
};

/// Fields of a thread, 0 between its uses.
struct LevelSolver::Scratch {
    std::vector<std::vector<float>> x, b;  // per level, per node
    std::vector<std::uint64_t> marked;     // a bit for each node

    explicit Scratch(std::span<const SurfaceLevel> levels) : marked(levels[0].nodes() / 64 + 1, 0) {
        for (const SurfaceLevel& level : levels) {
            x.emplace_back(level.nodes(), 0.0f);
            b.emplace_back(level.nodes(), 0.0f);
        }
    }
};

Result<LevelSolver> LevelSolver::make(std::span<const SurfaceLevel> levels, std::span<const double> diagonal,
                                      Context* context) {
    LevelSolver out(levels);
    std::vector<double> d(diagonal.begin(), diagonal.end());
    for (std::size_t k = 0; k < out.coarsest(); ++k) {
        Operator own;
        const std::size_t nodes = levels[k].nodes();
        own.diagonal.resize(nodes);
        for (std::size_t i = 0; i < nodes; ++i) {
            own.diagonal[i] = static_cast<float>(d[i]);
            for (const auto [to, weight] : levels[k].links(i)) own.diagonal[i] += weight;
            if (own.diagonal[i] == 0) own.diagonal[i] = 1;  // a node by itself that nothing heats
        }
        const SurfaceLevel& coarse = levels[k + 1];
        std::vector<std::uint32_t> count(coarse.nodes() + 1, 0);
        const auto each_read = [&](const auto& work) {
            for (std::uint32_t i = 0; i < nodes; ++i)
                for (std::size_t c = 0; c < 3; ++c)
                    if (coarse.stencil[i].share[c] > 0) work(i, coarse.stencil[i].of[c]);
        };
        each_read([&](std::uint32_t, std::uint32_t of) { ++count[of]; });
        own.first_reader = starts(std::move(count));
        own.reader.resize(own.first_reader.back());
        std::vector<std::uint32_t> next = own.first_reader;
        each_read([&](std::uint32_t i, std::uint32_t of) { own.reader[next[of]++] = i; });
        out.at_.push_back(std::move(own));
        d = restrict_diagonal(coarse, d);
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

/// Sets b at every level: Pᵀ b.
void LevelSolver::restrict(LocalField finest, Job& job, Scratch& scratch) const {
    job.b.clear();
    job.b.push_back(std::move(finest));
    job.coarsest.assign(levels_.back().nodes(), 0);
    for (std::size_t k = 0; k < coarsest(); ++k) {
        const LocalField& fine = job.b[k];
        const auto& stencil = levels_[k + 1].stencil;
        std::vector<float>& sum = scratch.b[k + 1];
        LocalField coarse;
        for (std::size_t n = 0; n < fine.node.size(); ++n) {
            const SurfaceLevel::Stencil& around = stencil[fine.node[n]];
            for (std::size_t c = 0; c < 3; ++c) {
                const float part = around.share[c] * fine.value[n];
                if (part == 0) continue;
                float& to = sum[around.of[c]];
                if (to == 0) coarse.node.push_back(around.of[c]);
                to += part;
            }
        }
        for (const std::uint32_t i : coarse.node) {
            // Values of both signs may meet as 0, and a node then occurs twice.
            coarse.value.push_back(sum[i]);
            sum[i] = 0;
        }
        if (k + 1 == coarsest())
            for (std::size_t n = 0; n < coarse.node.size(); ++n)
                job.coarsest[coarse.node[n]] += static_cast<double>(coarse.value[n]);
        else
            job.b.push_back(std::move(coarse));
    }
}

void LevelSolver::solve_coarsest(std::vector<Job>& jobs, Context* context) const {
    if (cancelled(context)) return;  // jobs may have been left out
    constexpr std::size_t batch = Cholesky::kBatch;
    parallel_for(context, (jobs.size() + batch - 1) / batch, 1, [&](std::size_t b) {
        std::vector<double> columns(factors_.size() * batch, 0);
        const std::size_t count = std::min(batch, jobs.size() - b * batch);
        for (std::size_t c = 0; c < count; ++c)
            for (std::size_t i = 0; i < factors_.size(); ++i)
                columns[i * batch + c] = jobs[b * batch + c].coarsest[i];
        factors_.solve_batch(columns);
        for (std::size_t c = 0; c < count; ++c)
            for (std::size_t i = 0; i < factors_.size(); ++i)
                jobs[b * batch + c].coarsest[i] = columns[i * batch + c];
    });
}

/// A step of Gauss and Seidel at one node.
void LevelSolver::relax(std::size_t level, std::uint32_t i, float b, std::vector<float>& x) const {
    for (const auto [to, weight] : levels_[level].links(i)) b += weight * x[to];
    x[i] = b / at_[level].diagonal[i];
}

/// The nodes of a level which read from active nodes of the next coarser one.
std::vector<std::uint32_t> LevelSolver::readers(std::size_t level, std::span<const std::uint32_t> of,
                                                Scratch& scratch) const {
    const Operator& own = at_[level];
    for (const std::uint32_t c : of)
        for (std::uint32_t r = own.first_reader[c]; r < own.first_reader[c + 1]; ++r)
            scratch.marked[own.reader[r] / 64] |= std::uint64_t{1} << own.reader[r] % 64;
    std::vector<std::uint32_t> out;
    for (std::uint32_t word = 0; word < levels_[level].nodes() / 64 + 1; ++word)
        for (std::uint64_t& bits = scratch.marked[word]; bits; bits &= bits - 1)
            out.push_back(64 * word + static_cast<std::uint32_t>(std::countr_zero(bits)));
    return out;
}

/// x at the finest level from b at all levels and x at the coarsest.
std::vector<float> LevelSolver::descend(Job& job, Scratch& scratch) const {
    job.active.resize(levels_.size());
    for (std::uint32_t i = 0; i < job.coarsest.size(); ++i)
        if (job.coarsest[i] > static_cast<double>(kLeast)) job.active.back().push_back(i);
    for (const std::uint32_t i : job.active.back()) scratch.x.back()[i] = static_cast<float>(job.coarsest[i]);
    for (std::size_t k = coarsest(); k-- > 0;) {
        std::vector<float>&x = scratch.x[k], &coarse = scratch.x[k + 1], &b = scratch.b[k];
        job.active[k] = readers(k, job.active[k + 1], scratch);
        for (const std::uint32_t i : job.active[k]) x[i] = interpolated(levels_[k + 1].stencil[i], coarse);
        for (const std::uint32_t i : job.active[k + 1]) coarse[i] = 0;
        for (std::size_t n = 0; n < job.b[k].node.size(); ++n) b[job.b[k].node[n]] += job.b[k].value[n];
        for (int sweep = 0; sweep < kSweeps; ++sweep)
            for (const std::uint32_t i : job.active[k]) relax(k, i, b[i], x);
        for (const std::uint32_t i : job.b[k].node) b[i] = 0;
    }
    std::vector<float> out;
    out.reserve(job.active[0].size());
    for (const std::uint32_t i : job.active[0]) {
        out.push_back(scratch.x[0][i]);
        scratch.x[0][i] = 0;
    }
    return out;
}

/// b - (L + D) x at active nodes. `x`: a dense field.
std::vector<float> LevelSolver::residual(std::size_t level, std::span<const std::uint32_t> active,
                                         std::span<const float> b, const std::vector<float>& x) const {
    std::vector<float> out(active.size());
    for (std::size_t n = 0; n < active.size(); ++n) {
        const std::uint32_t i = active[n];
        float sum = (b.empty() ? 0 : b[n]) - at_[level].diagonal[i] * x[i];
        for (const auto [to, weight] : levels_[level].links(i)) sum += weight * x[to];
        out[n] = sum;
    }
    return out;
}

/// The first half of a symmetric cycle for r: from the finest level to the right hand side of the coarsest.
void LevelSolver::cycle_down(Job& job, Scratch& scratch) const {
    job.cycle_b.assign(coarsest(), {});
    job.cycle_x.assign(coarsest(), {});
    job.coarsest.assign(levels_.back().nodes(), 0);
    job.cycle_b[0] = job.r;
    for (std::size_t k = 0; k < coarsest(); ++k) {
        const std::vector<std::uint32_t>& active = job.active[k];
        std::vector<float>&x = scratch.x[k], &coarse = scratch.b[k + 1];
        for (std::size_t n = active.size(); n-- > 0;) relax(k, active[n], job.cycle_b[k][n], x);
        const std::vector<float> left = residual(k, active, job.cycle_b[k], x);
        for (std::size_t n = 0; n < active.size(); ++n) {
            const SurfaceLevel::Stencil& s = levels_[k + 1].stencil[active[n]];
            for (std::size_t c = 0; c < 3; ++c) coarse[s.of[c]] += s.share[c] * left[n];
            job.cycle_x[k].push_back(x[active[n]]);
        }
        for (const std::uint32_t i : active) x[i] = 0;
        // Nodes that are not active at the coarser level keep 0 there: the correction is 0 at them.
        for (const std::uint32_t i : job.active[k + 1])
            if (k + 1 == coarsest())
                job.coarsest[i] = static_cast<double>(coarse[i]);
            else
                job.cycle_b[k + 1].push_back(coarse[i]);
        for (const std::uint32_t i : active)
            for (const std::uint32_t c : levels_[k + 1].stencil[i].of) coarse[c] = 0;
    }
}

/// The second half: z at the finest level.
std::vector<float> LevelSolver::cycle_up(Job& job, Scratch& scratch) const {
    for (const std::uint32_t i : job.active.back()) scratch.x.back()[i] = static_cast<float>(job.coarsest[i]);
    for (std::size_t k = coarsest(); k-- > 0;) {
        const std::vector<std::uint32_t>& active = job.active[k];
        std::vector<float>&x = scratch.x[k], &coarse = scratch.x[k + 1];
        for (std::size_t n = 0; n < active.size(); ++n)
            x[active[n]] = job.cycle_x[k][n] + interpolated(levels_[k + 1].stencil[active[n]], coarse);
        for (const std::uint32_t i : job.active[k + 1]) coarse[i] = 0;
        for (std::size_t n = 0; n < active.size(); ++n) relax(k, active[n], job.cycle_b[k][n], x);
    }
    std::vector<float> z;
    z.reserve(job.active[0].size());
    for (const std::uint32_t i : job.active[0]) {
        z.push_back(scratch.x[0][i]);
        scratch.x[0][i] = 0;
    }
    return z;
}

/// A step of preconditioned conjugate gradients (Hestenes and Stiefel 1952) with the cycle's z.
void LevelSolver::step(Job& job, Scratch& scratch) const {
    const std::vector<std::uint32_t>& active = job.active[0];
    const std::vector<float> z = cycle_up(job, scratch);
    const auto product = [](const std::vector<float>& a, const std::vector<float>& b) {
        double sum = 0;
        for (std::size_t n = 0; n < a.size(); ++n) sum += static_cast<double>(a[n]) * static_cast<double>(b[n]);
        return sum;
    };
    const double rz = product(job.r, z);
    const auto beta = static_cast<float>(job.rz > 0 ? rz / job.rz : 0);
    job.p.resize(z.size(), 0.0f);
    for (std::size_t n = 0; n < z.size(); ++n) job.p[n] = z[n] + beta * job.p[n];
    for (std::size_t n = 0; n < z.size(); ++n) scratch.x[0][active[n]] = job.p[n];
    const std::vector<float> minus_ap = residual(0, active, {}, scratch.x[0]);
    for (const std::uint32_t i : active) scratch.x[0][i] = 0;
    const double pap = -product(job.p, minus_ap);
    if (!(rz > 0 && pap > 0)) {  // solved
        job.done = true;
        return;
    }
    const auto alpha = static_cast<float>(rz / pap);
    float largest = 0;
    for (std::size_t n = 0; n < z.size(); ++n) {
        job.x[n] += alpha * job.p[n];
        job.r[n] += alpha * minus_ap[n];
        largest = std::max(largest, std::abs(alpha * job.p[n]));
    }
    job.rz = rz;
    job.done = largest < kSmallStep;
}

std::vector<LocalField> LevelSolver::solve(std::span<const LocalField> b, Context* context) const {
    std::vector<Job> jobs(b.size());
    std::vector<std::size_t> largest_first(b.size());
    std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
    std::stable_sort(largest_first.begin(), largest_first.end(),
                     [&](std::size_t i, std::size_t j) { return b[i].node.size() > b[j].node.size(); });
    std::vector<Scratch> scratch(std::min<std::size_t>(b.size(), static_cast<std::size_t>(thread_count(context))),
                                 Scratch(levels_));
    const auto each_job = [&](const auto& work) {
        std::atomic<std::size_t> next = 0;
        parallel_for(context, scratch.size(), 1, [&](std::size_t thread) {
            for (std::size_t n; (n = next++) < jobs.size() && !cancelled(context);)
                if (!jobs[largest_first[n]].done) work(largest_first[n], scratch[thread]);
        });
    };
    each_job([&](std::size_t j, Scratch& own) { restrict(b[j], jobs[j], own); });
    solve_coarsest(jobs, context);
    each_job([&](std::size_t j, Scratch& own) { jobs[j].x = descend(jobs[j], own); });
    each_job([&](std::size_t j, Scratch& own) {
        Job& job = jobs[j];
        for (std::size_t n = 0; n < job.x.size(); ++n) own.x[0][job.active[0][n]] = job.x[n];
        for (std::size_t n = 0; n < b[j].node.size(); ++n) own.b[0][b[j].node[n]] = b[j].value[n];
        std::vector<float> right;
        for (const std::uint32_t i : job.active[0]) right.push_back(own.b[0][i]);
        job.r = residual(0, job.active[0], right, own.x[0]);
        for (const std::uint32_t i : job.active[0]) own.x[0][i] = 0;
        for (const std::uint32_t i : b[j].node) own.b[0][i] = 0;
        job.b.clear();
    });
    for (int steps = 0; steps < kMostSteps && !cancelled(context); ++steps) {
        each_job([&](std::size_t j, Scratch& own) { cycle_down(jobs[j], own); });
        solve_coarsest(jobs, context);
        each_job([&](std::size_t j, Scratch& own) { step(jobs[j], own); });
        if (std::all_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.done; })) break;
    }
    std::vector<LocalField> out;
    for (Job& job : jobs)
        out.push_back(
            {job.active.empty() ? std::vector<std::uint32_t>{} : std::move(job.active[0]), std::move(job.x)});
    return out;
}

}  // namespace sinew
