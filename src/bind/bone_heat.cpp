// Bone heat: "Automatic Rigging and Animation of 3D Characters" (Baran and Popović, SIGGRAPH 2007), section 4. What
// differs, and why: docs/methods/bone-heat.md.
#include "bind/surface_diffusion.h"

namespace sinew {

Result<MethodRows> bind_bone_heat(const Task& task) {
    extend_leaf_bones(task);
    const WeldedSurface mesh(task);
    InfluenceRows rows(task.row_shape());
    const HeatPolicy usual;
    SurfaceDiffusion heat(task, mesh.surface, mesh.tree, usual, kLeastSeeing, rows);
    if (Status filled = heat.fill_all(); !filled) return filled.error();
    if (heat.blind_parts() > 0)
        task.report.warnings.push_back(
            std::to_string(heat.blind_parts()) +
            " parts see (almost) nothing of their bones and take the heat of the nearest ones, seen or not (" +
            std::to_string(heat.blind_vertices()) + " vertices)");
    return MethodRows(std::move(rows));
}

}  // namespace sinew
