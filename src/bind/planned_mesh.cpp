// The steps before and after a method.
#include "bind/planned_mesh.h"

#include <algorithm>

#include "bind/method_table.h"

namespace sinew {

PlannedMesh plan_mesh(const MeshView& mesh, const Skeleton& skeleton, StageClock& clock, BindReport& report) {
    PlannedMesh planned;
    planned.topology = clock.run("topology", [&] { return analyse_mesh(mesh, clock.context()); });
    report.defects = planned.topology.defects;
    planned.used = planned.topology.at_triangle;
    planned.plan = plan_rows(mesh, skeleton, planned.topology.weld);
    return planned;
}

void share_rows(const RowPlan& plan, MethodRows& rows, BindReport& report) {
    const auto copy = [&](std::size_t width, auto& joint, auto& value) {
        for (std::size_t v = 0; v < plan.source.size(); ++v) {
            const std::size_t from = plan.source[v];
            if (from == v) continue;
            std::copy_n(joint.data() + from * width, width, joint.data() + v * width);
            std::copy_n(value.data() + from * width, width, value.data() + v * width);
        }
    };
    if (auto* distances = std::get_if<DistanceTable>(&rows.table)) {
        copy(distances->width, distances->joint, distances->distance);
    } else {
        auto& influences = std::get<InfluenceTable>(rows.table);
        copy(influences.width, influences.joint, influences.strength);
    }
    for (std::size_t v = 0; v < plan.source.size(); ++v) {
        rows.coverage[v] = rows.coverage[plan.source[v]];
        ++report.coverage[static_cast<std::size_t>(rows.coverage[v])];
    }
    for (const JointSet& set : plan.sets)
        if (set.idle && !set.vertices.empty())
            report.warnings.push_back(
                std::to_string(set.vertices.size()) +
                " vertices belong to a skin none of whose joints deforms; they are bound to its " +
                "idle joints (`include` lets joints deform)");
}

void warn_of_snapped(const Skeleton& skeleton, const BindOptions& options, BindReport& report) {
    const char* const what = row_of(options.method).is_flat() ? "figure; its distances start from the nearest pixel"
                             : options.as_published           ? "volume; as published, no distance starts from it"
                                                    : "volume; its distances start from the nearest voxel";
    const std::size_t count = report.snapped_joints.size();
    if (count == 0) return;
    std::string names;
    for (std::size_t k = 0; k < std::min<std::size_t>(count, 3); ++k)
        names += (k ? ", '" : "'") + printable(skeleton.joints[report.snapped_joints[k]].name) + "'";
    report.warnings.push_back((count == 1 ? "joint " + names + " lies outside the "
                                          : std::to_string(count) + " joints lie outside the ") +
                              what + (count == 1 ? "" : " (" + names + (count > 3 ? " …)" : ")")));
}

}  // namespace sinew
