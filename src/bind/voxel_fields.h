// What methods share whose fields over the leaves of the volume are strengths: a field per joint, solved for, read
// at the vertices and dropped.
#pragma once

#include <functional>

#include "bind/method.h"
#include "field/heat.h"

namespace sinew {

/// One joint set in the volume. Lives as long as the fields of the set are solved for.
struct FieldProblem {
    const Task& task;
    const Domain& domain;
    const Conduction& conduction;  ///< with the bridges of this set
    const BoneSeeds& seeds;
    const std::vector<std::uint32_t>& joints;  ///< those of the set that have seeds; near ones beside each other
};

/// How a search ended.
struct FieldOutcome {
    bool converged = true;
    double residual = 0;
};

/// Fields of up to HeatSolver::kColumns joints, a column each: fills N rows. Called as FieldThreads says.
using SolveFields = std::function<Result<FieldOutcome>(std::span<const std::uint32_t> joints,
                                                       std::vector<HeatSolver::Row>& fields)>;
/// What the fields of one set share is prepared once.
using PrepareFields = std::function<Result<SolveFields>(const FieldProblem&)>;

/// Who calls SolveFields.
enum class FieldThreads {
    all,     ///< several threads at once
    caller,  ///< the thread that called bind_fields, one batch after the other
};

/// Builds the volume and keeps at every vertex the strongest of the fields there, as many as Task::width. Leaves
/// that fields do not reach give straight distances, to the power of the default falloff, and are counted. `stage`
/// names the work in the report, `what` the fields in a warning that some did not converge. Memory beyond the
/// solver's own: 32 bytes a leaf and thread, 100 + 8 width bytes a vertex.
Result<MethodRows> bind_fields(const Task& task, const char* stage, const char* what, const PrepareFields& prepare,
                               FieldThreads threads = FieldThreads::all);

}  // namespace sinew
