#include "bind/volume.h"

#include <algorithm>

#include "bind/near_mesh.h"
#include "domain/leaf_graph.h"
#include "domain/leaf_index.h"
#include "domain/redivide.h"
#include "domain/trace.h"

namespace sinew {
namespace {

// Leaf joints without a tail are points at the end of the parent bone, so no vertex is nearer to them than to it.
void warn_of_points(const Task& task) {
    const auto points = std::count_if(task.bones.begin(), task.bones.end(), [&](const Bone& bone) {
        return bone.head == bone.tail && !bone.open_tail && !bone.shaped() &&
               task.skeleton.joints[bone.joint].parent >= 0;
    });
    if (points > 0)
        task.report.warnings.push_back(std::to_string(points) +
                                       " leaf joints state no tail. As published, their bones are points, and "
                                       "vertices beyond them are shared with the parent's bone: state tails in "
                                       "--joint-options");
}

}  // namespace

Result<SeededVolume> build_volume(const Task& task, DomainKind kind, Links links) {
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
    if (Status ok = check_voxels(task.skeleton, make_bones(task.skeleton), grid->transform.voxel, report); !ok)
        return ok.error();
    if (task.options.as_published)
        warn_of_points(task);
    else
        extend_leaf_bones(task.bones, task.skeleton, *grid);

    Result<SeededVolume> volume = task.clock.run("octree", [&]() -> Result<SeededVolume> {
        Result<Domain> domain =
            moved && moved->volume.domain.graph
                ? redivide_domain(*grid, task.bones, kind, moved->volume.domain, task.context, links)
                : build_domain(*grid, task.bones, kind, task.context, Neighbours::all, links);
        if (!domain) return domain.error();
        BoneSeeds seeds =
            seed_volume(*domain, task.bones, task.skeleton.joints.size(), task.options.as_published, report);
        return SeededVolume{std::move(*domain), std::move(seeds)};
    });
    if (!volume) return volume.error();
    report.leaves = volume->domain.leaves.size();
    report.links = volume->domain.graph->link_count;
    report.components = volume->domain.component_count;
    return volume;
}

BoneSeeds seed_volume(const Domain& domain, const std::vector<Bone>& bones, std::size_t joints, bool as_published,
                      BindReport& report) {
    BoneSeeds seeds = seed_bones(domain, bones, joints);
    report.snapped_joints = seeds.snapped;
    if (as_published)
        for (const std::uint32_t j : seeds.snapped) seeds.of_joint[j].clear();
    std::vector<bool> crossed(domain.leaves.size(), false);
    for (const auto& list : seeds.of_joint)
        for (const auto& seed : list) crossed[seed.leaf] = true;
    report.bone_voxels = static_cast<std::size_t>(std::count(crossed.begin(), crossed.end(), true));
    return seeds;
}

Error unknown_joints(const Skeleton& skeleton, const JointSet& set) {
    std::string names;
    for (std::size_t k = 0; k < std::min<std::size_t>(set.joints.size(), 3); ++k)
        names += (k ? ", '" : "'") + printable(skeleton.joints[set.joints[k]].name) + "'";
    if (set.joints.size() > 3) names += " and " + std::to_string(set.joints.size() - 3) + " more";
    return {
        ErrorCode::input,
        "a skin of the mesh lists joints (" + names +
            ") that no single skin of the kept binding has: bind this mesh anew instead of reusing the binding"};
}

std::shared_ptr<const KeptVolume> keep_volume(Domain domain, std::vector<KeptField> fields) {
    domain.first_link = {};
    domain.link = {};
    // Only move_joints reads the graph again, with fields of distances.
    if (std::none_of(fields.begin(), fields.end(),
                     [](const KeptField& kept) { return std::holds_alternative<LeafDistances>(kept.field); }))
        domain.graph = nullptr;
    return std::make_shared<const KeptVolume>(KeptVolume{std::move(domain), std::move(fields)});
}

}  // namespace sinew
