// Volumetric heat (seed 001, Rosen 2009): bones are heating filaments, and what heat arrives at a vertex is the
// strength of the bone there. docs/methods/voxel-heat.md says why the skin is cooled, and what was measured.
#include <memory>

#include "bind/voxel_fields.h"

namespace sinew {
namespace {

// Where even all bones together leave less heat than this, nothing is cooled any more: from there on heat is passed
// on as it came. Ratios of heats, which are all that counts, stay within what floats can tell.
constexpr float kCold = 1e-3f;

std::vector<HeatSolver::FixedValues> filament(const BoneSeeds& seeds, std::uint32_t joint) {
    std::vector<HeatSolver::FixedValues> held;
    for (const BoneSeeds::Seed& seed : seeds.of_joint[joint]) held.push_back({seed.leaf, 1.0f});
    return held;
}

Result<SolveFields> prepare(const FieldProblem& problem) {
    const Task& task = problem.task;
    const Domain& domain = problem.domain;
    const std::size_t n = domain.leaves.size();
    // A boundary leaf is one voxel and loses heat over the area of one of its faces.
    const auto loss_at_skin =
        static_cast<float>(task.options.cooling * domain.transform.voxel / domain.transform.unit);
    std::vector<float> loss(n, 0.0f);
    for (std::size_t i = 0; i < n; ++i)
        if (domain.leaves[i].boundary) loss[i] = loss_at_skin;

    std::vector<bool> lit(n, false);
    std::vector<HeatSolver::FixedValues> every;
    for (const std::uint32_t j : problem.joints)
        for (const BoneSeeds::Seed& seed : problem.seeds.of_joint[j]) {
            if (!lit[seed.leaf]) every.push_back({seed.leaf, 1.0f});
            lit[seed.leaf] = true;
        }
    std::vector<HeatSolver::Row> together;
    HeatSolver(problem.conduction, loss).solve({&every, 1}, together, 1e-4, task.context);
    if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while heating"};
    for (std::size_t i = 0; i < n; ++i)
        if (together[i][0] < kCold) loss[i] = 0;

    const auto solver = std::make_shared<const HeatSolver>(problem.conduction, std::move(loss));
    const BoneSeeds& seeds = problem.seeds;
    return SolveFields([solver, &seeds, &task](std::span<const std::uint32_t> joints,
                                               std::vector<HeatSolver::Row>& fields) -> Result<FieldOutcome> {
        std::vector<std::vector<HeatSolver::FixedValues>> columns;
        for (const std::uint32_t j : joints) columns.push_back(filament(seeds, j));
        if (task.options.iterations > 0) {
            solver->diffuse(columns, fields, task.options.iterations, task.context);
            return FieldOutcome{};
        }
        fields.assign(fields.size(), HeatSolver::Row{});
        const HeatSolver::Outcome outcome = solver->solve(columns, fields, 1e-6, task.context);
        return FieldOutcome{outcome.converged, outcome.residual};
    });
}

}  // namespace

Result<MethodRows> bind_voxel_heat(const Task& task) { return bind_fields(task, "heat", "heat", prepare); }

}  // namespace sinew
