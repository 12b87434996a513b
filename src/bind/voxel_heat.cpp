// Volumetric heat (Rosen 2009): bones are heating filaments, and the heat at a vertex is the strength of the bone
// there. docs/methods/voxel-heat.md explains why the skin is cooled.
#include <memory>

#include "bind/voxel_fields.h"
#include "core/try.h"
#include "field/heat_hardware.h"

namespace sinew {
namespace {

// Leaves that get less heat than this from all bones together are not cooled. Only ratios of heats count, and so
// they stay within the precision of floats.
constexpr float kCold = 1e-3f;
// Tolerances of residuals. Where heat is small, weights are ratios of small numbers: with 1e-6, some weights of
// real characters were wrong by 0.0014.
constexpr double kFineTolerance = 1e-7;
constexpr double kRoughTolerance = 1e-4;  // of the heat of all bones together

std::vector<HeatSolver::FixedValues> filament(const BoneSeeds& seeds, std::uint32_t joint) {
    std::vector<HeatSolver::FixedValues> fixed;
    for (const BoneSeeds::Seed& seed : seeds.of_joint[joint]) fixed.push_back({seed.leaf, 1.0f});
    return fixed;
}

Result<SolveFields> prepare(const FieldProblem& problem, HeatHardware* hardware) {
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
    const auto solver = std::make_shared<HeatSolver>(problem.conduction, loss);
    if (loss_at_skin > 0) {
        std::vector<HeatSolver::Row> together;
        solver->solve({&every, 1}, together, kRoughTolerance, task.context);
        if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while heating"};
        for (std::size_t i = 0; i < n; ++i)
            if (together[i][0] < kCold) loss[i] = 0;
        solver->set_loss(std::move(loss));
    }
    if (hardware) SINEW_TRY(hardware->load(solver->levels()));

    const BoneSeeds& seeds = problem.seeds;
    return SolveFields(
        [solver, hardware, &seeds, &task](std::span<const std::uint32_t> joints,
                                          std::vector<HeatSolver::Row>& fields) -> Result<FieldOutcome> {
            std::vector<std::vector<HeatSolver::FixedValues>> columns;
            for (const std::uint32_t j : joints) columns.push_back(filament(seeds, j));
            if (const int sweeps = task.options.iterations; sweeps > 0) {
                if (hardware) {
                    SINEW_TRY(hardware->diffuse(columns, fields, sweeps, task.context));
                } else {
                    solver->diffuse(columns, fields, sweeps, task.context);
                }
                return FieldOutcome{};
            }
            if (hardware) {
                SINEW_TRY_LET(const auto outcome, hardware->solve(columns, fields, kFineTolerance, task.context));
                return FieldOutcome{true, outcome.residual};
            }
            fields.assign(fields.size(), HeatSolver::Row{});
            const HeatSolver::Outcome outcome = solver->solve(columns, fields, kFineTolerance, task.context);
            return FieldOutcome{outcome.converged, outcome.residual};
        });
}

}  // namespace

Result<MethodRows> bind_voxel_heat(const Task& task) {
    std::unique_ptr<HeatHardware> hardware;
    if (task.options.heat == HeatBy::hardware && !std::holds_alternative<OtherMesh>(task.start)) {
        SINEW_TRY_LET(hardware, HeatHardware::open());
        if (hardware->software())
            task.report.warnings.push_back("heat hardware: " + hardware->renderer() +
                                           " computes on the processor, where heat cpu is faster");
    }
    // A context of OpenGL belongs to one thread.
    return bind_fields(
        task, "heat", "heat", [&](const FieldProblem& problem) { return prepare(problem, hardware.get()); },
        hardware ? FieldThreads::caller : FieldThreads::all);
}

}  // namespace sinew
