// bone-heat (Baran and Popović 2007, section 4). docs/methods/bone-heat.md lists the differences from the paper.
#include "bind/heat_equation.h"
#include "core/try.h"

namespace sinew {
namespace {

struct OccludedCount {
    std::size_t parts = 0, vertices = 0;
};

/// The rows of one set.
Status bind_set(const Task& task, const WeldedSurface& mesh, const JointSet& set, InfluenceRows& rows,
                OccludedCount& count) {
    const MeshSurface& surface = mesh.surface;
    store_without_heat(task, surface, set, rows);
    const Unknowns unknowns =
        choose_unknowns(surface, vertices_with_heat(surface, set, task.context), task.context);
    if (unknowns.size() == 0) return Done{};
    KeptHeat::Set none;
    SINEW_TRY_LET(const Heat heat, find_heat(task, mesh, set, unknowns, nullptr, none));
    if (cancelled(task.context)) return heat_cancelled();
    SINEW_TRY_LET(SetRows found, solve_heat(task, surface, set, unknowns, heat, 0, none));
    const auto occluded = [&](std::uint32_t v) { return heat.occluded[surface.component[surface.node_of[v]]]; };
    count.parts += static_cast<std::size_t>(std::count(heat.occluded.begin(), heat.occluded.end(), true));
    count.vertices +=
        static_cast<std::size_t>(std::count_if(unknowns.vertices.begin(), unknowns.vertices.end(), occluded));
    store_rows(
        task, surface, unknowns, heat, found,
        [&](std::uint32_t v) {
            return set.idle ? Coverage::euclidean : occluded(v) ? Coverage::bridged : Coverage::weighted;
        },
        rows);
    return Done{};
}

}  // namespace

Result<MethodRows> bind_bone_heat(const Task& task) {
    extend_leaf_bones(task);
    const WeldedSurface mesh(task);
    InfluenceRows rows(task.row_shape());
    OccludedCount occluded;
    SINEW_TRY(task.clock.run("heat", [&]() -> Status {
        for (const JointSet& set : task.plan.sets) {
            if (cancelled(task.context)) return heat_cancelled();
            SINEW_TRY(bind_set(task, mesh, set, rows, occluded));
        }
        return Done{};
    }));
    if (occluded.parts > 0)
        task.report.warnings.push_back(
            std::to_string(occluded.parts) +
            " parts see (almost) none of their bones; their nearest bones heat them, visible or not (" +
            std::to_string(occluded.vertices) + " vertices)");
    return MethodRows(std::move(rows));
}

}  // namespace sinew
