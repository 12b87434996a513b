// The steps before and after a method: the plan of a mesh, its task, and rows that vertices share.
#pragma once

#include <cstdint>
#include <vector>

#include "bind/method.h"

namespace sinew {

/// A mesh that has been analysed, and the plan of its rows.
struct PlannedMesh {
    MeshTopology topology;
    RowPlan plan;
    std::vector<std::uint8_t> used;  ///< see Task
};

/// The report and the context are those of the clock. All arguments but `start` must outlive the task.
inline Task make_task(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                      const PlannedMesh& planned, std::vector<Bone>& bones, StageClock& clock,
                      const BindStart& start = FreshBind{}) {
    Box3 box;  // of the triangles
    for (std::size_t v = 0; v < planned.used.size(); ++v)
        if (planned.used[v]) box.add(to_point(mesh.positions[v]));
    return {mesh,
            skeleton,
            options,
            planned.topology,
            planned.plan,
            planned.used,
            static_cast<float>(box.longest()),
            clock.context(),
            clock,
            clock.report(),
            bones,
            start};
}

/// Analyses the mesh, timed as "topology", and plans its rows. The report gets the defects.
PlannedMesh plan_mesh(const MeshView& mesh, const Skeleton& skeleton, StageClock& clock, BindReport& report);

/// Warns of joints that lie outside of the volume or figure.
void warn_of_snapped(const Skeleton& skeleton, const BindOptions& options, BindReport& report);
/// Copies rows to the vertices that share them, counts coverage, and warns of skins that have idle joints only.
void share_rows(const RowPlan& plan, MethodRows& rows, BindReport& report);

}  // namespace sinew
