// bone-heat (Baran and Popović 2007, section 4). docs/methods/bone-heat.md lists the differences from the paper.
#include "bind/surface_diffusion.h"

namespace sinew {

Result<MethodRows> bind_bone_heat(const Task& task) {
    extend_leaf_bones(task);
    const WeldedSurface mesh(task);
    InfluenceRows rows(task.row_shape());
    const HeatPolicy policy;
    SurfaceDiffusion heat(task, mesh.surface, mesh.tree, policy, kLeastVisible, rows);
    if (Status filled = heat.fill_all(); !filled) return filled.error();
    if (heat.blind_parts() > 0)
        task.report.warnings.push_back(
            std::to_string(heat.blind_parts()) +
            " parts see (almost) none of their bones; their nearest bones heat them, visible or not (" +
            std::to_string(heat.blind_vertices()) + " vertices)");
    return MethodRows(std::move(rows));
}

}  // namespace sinew
