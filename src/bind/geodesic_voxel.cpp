// Geodesic voxel binding (Dionne and de Lasa 2014): voxels, octree, one sweep for the nearest joints (section 6,
// algorithm 3), and distances at the vertices (sampling.h).
#include "bind/geodesic_voxel.h"

#include <optional>

#include "bind/joint_fields.h"
#include "bind/sampling.h"
#include "bind/volume.h"

namespace sinew {
namespace {

// Another mesh: fills its rows from the kept fields. There are no new ones.
Result<std::vector<KeptField>> read_distances(const Task& task, const KeptVolume& volume, DistanceRows& rows) {
    const Status filled =
        fill_rows(task, volume.domain, rows, [&](const JointSet& set, DistanceSampler& sampler) -> Status {
            if (set.vertices.empty()) return Done{};
            Result<const KeptField*> field = volume.field_of(set.joints, task.skeleton);
            if (!field) return field.error();
            sampler.fill_from_leaves(**field);
            return Done{};
        });
    if (!filled) return filled.error();
    return std::vector<KeptField>();
}

}  // namespace

Result<std::vector<KeptField>> spread_distances(const Task& task, const Domain& domain, const BoneSeeds& seeds,
                                                DistanceRows& rows, const PreviousBinding& previous) {
    const bool all = task.options.finish.max_influences == all_influences, keep = task.options.keep_volume;
    DistanceSpreader spreader(domain, seeds, task.options, task.context);
    std::vector<KeptField> fields;
    const Status filled =
        fill_rows(task, domain, rows, [&](const JointSet& set, DistanceSampler& sampler) -> Status {
            // Another mesh may have vertices in a skin that is empty here.
            if (set.vertices.empty() && !keep) return Done{};
            const JointFields joints(spreader, set.joints);
            // One sweep per joint takes less time than one sweep for all, and its field is freed after it.
            if (all && !keep)
                return sampler.fill_all_joints(joints.seeded(),
                                               [&](const auto& use) { return joints.each_joint(use); });
            Result<KeptField> field = all ? joints.all() : joints.nearest(rows.table.width, previous);
            if (!field) return field.error();
            sampler.fill_from_leaves(*field, previous.changed_places(*field));
            if (keep) fields.push_back(std::move(*field));
            return Done{};
        });
    if (!filled) return filled.error();
    return fields;
}

Result<GeodesicRows> measure_geodesic(const Task& task) {
    const auto* const other = std::get_if<OtherMesh>(&task.start);
    const auto* const moved = std::get_if<MovedJoints>(&task.start);
    std::optional<SeededVolume> built;
    if (!other) {
        Result<SeededVolume> volume = build_volume(task, task.options.domain, Links::compact);
        if (!volume) return volume.error();
        built = std::move(*volume);
    }
    DistanceRows rows(task.row_shape());
    Result<std::vector<KeptField>> fields = task.clock.run("distances", [&] {
        if (other) return read_distances(task, other->volume, rows);
        const PreviousBinding previous = moved ? PreviousBinding(*moved, *built, task, rows) : PreviousBinding();
        return spread_distances(task, built->domain, built->seeds, rows, previous);
    });
    if (!fields) return fields.error();
    GeodesicRows out{std::move(rows), nullptr};
    if (built) out.volume = keep_volume(std::move(built->domain), std::move(*fields));
    return out;
}

Result<MethodRows> bind_geodesic_voxel(const Task& task) {
    Result<GeodesicRows> measured = measure_geodesic(task);
    if (!measured) return measured.error();
    MethodRows out = std::move(measured->rows);
    if (task.options.keep_volume) out.volume = std::move(measured->volume);
    return out;
}

}  // namespace sinew
