#include "bind/volume.h"

#include <algorithm>

#include "bind/kept_volume.h"
#include "core/try.h"
#include "domain/leaf_graph.h"
#include "domain/leaf_match.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

// Leaf joints without a tail are points at the end of the parent bone, so no vertex is nearer to them than to it.
void warn_of_points(const std::vector<Bone>& bones, const Skeleton& skeleton, BindReport& report) {
    const auto points = std::count_if(bones.begin(), bones.end(), [&](const Bone& bone) {
        return bone.head == bone.tail && !bone.open_tail && !bone.shaped() &&
               skeleton.joints[bone.joint].parent >= 0;
    });
    if (points > 0)
        report.warnings.push_back(std::to_string(points) +
                                  " leaf joints state no tail. As published, their bones are points, and vertices "
                                  "beyond them are shared with the parent's bone: state tails in `joint-options`");
}

// Components without a bone of any set that has vertices.
std::size_t count_unseeded(const Domain& domain, const BoneSeeds& seeds, const RowPlan& plan) {
    std::vector<bool> seeded(domain.component_count, false);
    for (const JointSet& set : plan.sets) {
        if (set.vertices.empty()) continue;
        const std::vector<bool> of_set = seeded_components(domain, seeds, set.joints);
        for (std::size_t c = 0; c < seeded.size(); ++c) seeded[c] = seeded[c] || of_set[c];
    }
    return static_cast<std::size_t>(std::count(seeded.begin(), seeded.end(), false));
}

}  // namespace

Result<SeededVolume> build_volume(const Task& task, DomainKind kind) {
    const auto* const moved = std::get_if<MovedJoints>(&task.start);
    const auto* const fresh = std::get_if<FreshBind>(&task.start);
    const std::span<const FinePlace> fine = fresh ? fresh->fine : std::span<const FinePlace>();
    VoxelizeOptions voxels = task.options.voxels;
    if (!fine.empty()) voxels.resolution *= 2;  // local resolution
    BindReport& report = task.report;
    Result<VoxelGrid> grid = task.clock.run("voxelize", [&]() -> Result<VoxelGrid> {
        if (moved) return voxels_of(moved->volume.domain, task.context);
        return voxelize(task.mesh, task.topology, voxels, task.context, fine);
    });
    if (!grid) return grid.error();
    if (!moved) {  // else the report has them from the previous binding
        report.boundary_voxels = grid->boundary.count(task.context) + 8 * grid->coarse_boundary.count(task.context);
        report.interior_voxels = grid->interior.count(task.context) + 8 * grid->coarse_interior.count(task.context);
        const auto r = static_cast<std::size_t>(voxels.resolution);
        report.exterior_voxels = r * r * r - report.boundary_voxels - report.interior_voxels;
        report.ambiguous_voxels = grid->ambiguous;
        report.ambiguous_inside = grid->ambiguous_inside;
    }
    if (task.options.as_published)
        warn_of_points(task.bones, task.skeleton, report);
    else
        extend_leaf_bones(task.bones, task.skeleton, *grid);

    Result<SeededVolume> volume = task.clock.run("octree", [&]() -> Result<SeededVolume> {
        const MixedCells mixed = task.options.as_published ? MixedCells::whole : MixedCells::divided;
        SINEW_TRY_LET(Domain domain, build_domain(*grid, task.bones, kind, task.context, Neighbours::all, mixed));
        BoneSeeds seeds = seed_volume(task, domain);
        return SeededVolume{std::move(domain), std::move(seeds)};
    });
    if (!volume) return volume.error();
    report.leaves = volume->domain.leaves.size();
    report.links = volume->domain.graph->link_count;
    report.components = volume->domain.component_count;
    return volume;
}

BoneSeeds seed_volume(const Task& task, const Domain& domain) {
    BindReport& report = task.report;
    BoneSeeds seeds = seed_bones(domain, task.bones, task.skeleton.joints.size());
    report.snapped_joints = seeds.snapped;
    if (task.options.as_published)
        for (const std::uint32_t j : seeds.snapped) seeds.of_joint[j].clear();
    std::vector<bool> crossed(domain.leaves.size(), false);
    for (const auto& list : seeds.of_joint)
        for (const auto& seed : list) crossed[seed.leaf] = true;
    report.bone_voxels = static_cast<std::size_t>(std::count(crossed.begin(), crossed.end(), true));
    report.bridged_components = count_unseeded(domain, seeds, task.plan);
    return seeds;
}

std::vector<bool> seeded_components(const Domain& domain, const BoneSeeds& seeds,
                                    std::span<const std::uint32_t> joints) {
    std::vector<bool> seeded(domain.component_count, false);
    for (const std::uint32_t j : joints)
        for (const BoneSeeds::Seed& seed : seeds.of_joint[j]) seeded[domain.component[seed.leaf]] = true;
    return seeded;
}

}  // namespace sinew
