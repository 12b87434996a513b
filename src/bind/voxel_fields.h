// The steps shared by methods that solve for a field of strengths per joint over the leaves of the volume: solve,
// read the field at the vertices, and free it.
#pragma once

#include <functional>

#include "bind/method.h"
#include "field/heat.h"

namespace sinew {

/// One joint set in the volume. Valid while its fields are being solved for.
struct FieldProblem {
    const Task& task;
    const Domain& domain;
    const Conduction& conduction;  ///< with the bridges of this set
    const BoneSeeds& seeds;
    const std::vector<std::uint32_t>&
        joints;  ///< joints of the set that have seeds; neighbours are near each other in the list
};

/// The result of an iterative solver.
struct FieldOutcome {
    bool converged = true;
    double residual = 0;
};

/// Solves for the fields of up to HeatSolver::kColumns joints, one per column: fills N rows. FieldThreads says
/// which threads call it.
using SolveFields = std::function<Result<FieldOutcome>(std::span<const std::uint32_t> joints,
                                                       std::vector<HeatSolver::Row>& fields)>;
/// Called once per set, to prepare the data that its fields share.
using PrepareFields = std::function<Result<SolveFields>(const FieldProblem&)>;

/// The threads that call SolveFields.
enum class FieldThreads {
    all,     ///< several threads at once
    caller,  ///< the thread that called bind_fields, one batch after the other
};

/// Builds the volume, and keeps the strongest fields of every vertex, as many as Task::width. Vertices that no
/// field reaches get strengths from straight distances by the default falloff, and are counted. `stage` is the name
/// of the work in the report, `field_name` the name of the fields in warnings. Memory in addition to the solver's:
/// 32 bytes a leaf and thread, 100 + 8 width bytes a vertex.
Result<MethodRows> bind_fields(const Task& task, Stage stage, const char* field_name, const PrepareFields& prepare,
                               FieldThreads threads = FieldThreads::all);

}  // namespace sinew
