// Geodesic voxel binding (Dionne and de Lasa 2014): voxels, octree, one sweep for the nearest joints (section 6,
// algorithm 3), and distances at the vertices (sampling.h).
#include "bind/geodesic_voxel.h"

#include <optional>

#include "bind/sampling.h"
#include "bind/volume.h"
#include "core/try.h"

namespace sinew {
namespace {

// Another mesh: its rows are read from the kept fields.
Result<DistanceRows> read_kept_fields(const Task& task, const KeptVolume& volume) {
    return read_rows(task, volume.domain, [&](const JointSet& set) -> Result<SetField> {
        if (set.vertices.empty()) return SetField{};
        SINEW_TRY_LET(const KeptField* field, volume.field_of(set.joints, task.skeleton));
        return SetField{field};
    });
}

}  // namespace

Result<SpreadDistances> spread_distances(const Task& task, const Domain& domain, const BoneSeeds& seeds,
                                         const PreviousFields& previous) {
    const bool all = task.options.finish.max_influences == all_influences, keep = task.options.keep_volume;
    DistanceSpreader spreader(domain, seeds, task.options, task.context);
    std::vector<KeptField> fields;
    std::optional<JointFields> joints;  // of the set whose rows are being read
    Result<DistanceRows> rows = read_rows(task, domain, [&](const JointSet& set) -> Result<SetField> {
        if (!keep) fields.clear();
        // Another mesh may have vertices in a skin that is empty here.
        if (set.vertices.empty() && !keep) return SetField{};
        joints.emplace(spreader, set.joints);
        // One sweep per joint takes less time than one sweep for all, and its field is freed after it.
        if (all && !keep) return SetField{.each = &*joints};
        SINEW_TRY_LET(KeptField field, all ? joints->all() : joints->nearest(task.width(), previous));
        return SetField{&fields.emplace_back(std::move(field))};
    });
    if (!rows) return rows.error();
    if (!keep) fields.clear();
    return SpreadDistances{std::move(*rows), std::move(fields)};
}

Result<GeodesicRows> measure_geodesic(const Task& task) {
    if (const auto* const other = std::get_if<OtherMesh>(&task.start)) {
        SINEW_TRY_LET(DistanceRows rows,
                      task.clock.run("distances", [&] { return read_kept_fields(task, other->volume); }));
        return GeodesicRows{std::move(rows), nullptr};
    }
    SINEW_TRY_LET(SeededVolume volume, build_volume(task, task.options.domain, Links::compact));
    Result<SpreadDistances> spread = task.clock.run("distances", [&] {
        return spread_distances(task, volume.domain, volume.seeds, PreviousFields(task, volume.domain));
    });
    if (!spread) return spread.error();
    return GeodesicRows{std::move(spread->rows), keep_volume(std::move(volume.domain), std::move(spread->fields))};
}

Result<MethodRows> bind_geodesic_voxel(const Task& task) {
    SINEW_TRY_LET(GeodesicRows measured, measure_geodesic(task));
    MethodRows out = std::move(measured.rows);
    if (task.options.keep_volume) out.volume = std::move(measured.volume);
    return out;
}

}  // namespace sinew
