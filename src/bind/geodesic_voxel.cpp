// Geodesic voxel binding (Dionne and de Lasa 2014): voxels, octree, one sweep for the nearest joints (section 6,
// algorithm 3), and distances at the vertices (sampling.h).
#include "bind/geodesic_voxel.h"

#include <optional>

#include "bind/sampling.h"
#include "bind/volume.h"
#include "core/try.h"

namespace sinew {
namespace {

bool keeps_all(const Task& task) { return task.options.finish.max_influences == all_influences; }

Result<DistanceRows> read_kept_fields(const Task& task, const KeptVolume& volume) {
    return read_rows(task, volume.domain, [&](const JointSet& set) -> Result<SetField> {
        if (set.vertices.empty()) return SetField{};
        SINEW_TRY_LET(const KeptField* field, volume.field_of(set.joints, task.skeleton));
        return SetField{field};
    });
}

}  // namespace

Result<std::vector<KeptField>> measure_fields(const Task& task, const Domain& domain, const BoneSeeds& seeds) {
    const PreviousFields previous(task, domain);
    DistanceSpreader spreader(domain, seeds, task.options, task.context);
    std::vector<KeptField> fields;
    for (const JointSet& set : task.plan.sets) {
        // Another mesh may have vertices in a skin that is empty here.
        if (!set.needs_field() || (set.vertices.empty() && !task.options.keep_volume)) continue;
        const JointFields joints(spreader, set.joints);
        SINEW_TRY_LET(KeptField field, keeps_all(task) ? joints.all() : joints.nearest(task.width(), previous));
        fields.push_back(std::move(field));
        if (cancelled(task.context)) return measuring_cancelled();
    }
    return fields;
}

Result<DistanceRows> measure_rows(const Task& task, const Domain& domain, const BoneSeeds& seeds) {
    DistanceSpreader spreader(domain, seeds, task.options, task.context);
    std::optional<KeptField> nearest;
    std::optional<JointFields> joints;  // of the set whose rows are being read
    return read_rows(task, domain, [&](const JointSet& set) -> Result<SetField> {
        nearest.reset();
        if (set.vertices.empty()) return SetField{};
        joints.emplace(spreader, set.joints);
        // One sweep per joint takes less time than one sweep for all, and its field is freed after it.
        if (keeps_all(task)) return SetField{.each = &*joints};
        SINEW_TRY_LET(KeptField field, joints->nearest(task.width(), {}));
        return SetField{&nearest.emplace(std::move(field))};
    });
}

Result<MethodRows> bind_geodesic_voxel(const Task& task) {
    const auto timed = [&](const auto& work) { return task.clock.run("distances", work); };
    if (const auto* const other = std::get_if<OtherMesh>(&task.start)) {
        SINEW_TRY_LET(DistanceRows rows, timed([&] { return read_kept_fields(task, other->volume); }));
        return MethodRows(std::move(rows));
    }
    SINEW_TRY_LET(SeededVolume volume, build_volume(task, task.options.domain));
    if (!task.options.keep_volume) {
        SINEW_TRY_LET(DistanceRows rows, timed([&] { return measure_rows(task, volume.domain, volume.seeds); }));
        return MethodRows(std::move(rows));
    }
    std::shared_ptr<const KeptVolume> kept;
    SINEW_TRY_LET(DistanceRows rows, timed([&]() -> Result<DistanceRows> {
                      SINEW_TRY_LET(std::vector<KeptField> fields,
                                    measure_fields(task, volume.domain, volume.seeds));
                      kept = keep_volume(std::move(volume.domain), std::move(fields));
                      return read_kept_fields(task, *kept);
                  }));
    MethodRows out = std::move(rows);
    out.volume = std::move(kept);
    return out;
}

}  // namespace sinew
