#include "bind/volume.h"

#include <algorithm>
#include <cmath>

#include "domain/leaf_graph.h"
#include "domain/leaf_index.h"
#include "domain/redivide.h"
#include "domain/trace.h"

namespace sinew {
namespace {

// A leaf joint without a tail is a point at the end of the bone before it, and no nearer to anything than that
// bone.
void warn_of_points(const Task& task) {
    const auto points = std::count_if(task.bones.begin(), task.bones.end(), [&](const Bone& bone) {
        return bone.head == bone.tail && !bone.open_tail && !bone.shaped() &&
               task.skeleton.joints[bone.joint].parent >= 0;
    });
    if (points > 0)
        task.report.warnings.push_back(std::to_string(points) +
                                       " leaf joints state no tail; as published they are points, which share all "
                                       "that is beyond them with the "
                                       "bones of their parents (--joint-options can state tails)");
}

}  // namespace

Result<Domain> build_volume(const Task& task, DomainKind kind, Links links) {
    VoxelizeOptions voxels = task.options.voxels;
    if (!task.fine.empty()) voxels.resolution *= 2;  // local resolution
    BindReport& report = task.report;
    Result<VoxelGrid> grid = task.clock.run("voxelize", [&]() -> Result<VoxelGrid> {
        if (task.moved)
            return voxels_of(task.moved->volume.domain, task.context);  // which the report knows already
        return voxelize(task.mesh, task.topology, voxels, task.context, task.fine);
    });
    if (!grid) return grid.error();
    if (!task.moved) {
        report.boundary_voxels = grid->boundary.count(task.context) + 8 * grid->coarse_boundary.count(task.context);
        report.interior_voxels = grid->interior.count(task.context) + 8 * grid->coarse_interior.count(task.context);
        const auto r = static_cast<std::size_t>(voxels.resolution);
        report.exterior_voxels = r * r * r - report.boundary_voxels - report.interior_voxels;
        report.ambiguous_voxels = grid->ambiguous;
        report.ambiguous_inside = grid->ambiguous_inside;
    }
    if (task.options.as_published)
        warn_of_points(task);
    else
        extend_leaf_bones(task.bones, task.skeleton, *grid);

    Result<Domain> domain = task.clock.run("octree", [&] {
        if (task.moved && task.moved->volume.domain.graph)
            return redivide_domain(*grid, task.bones, kind, task.moved->volume.domain, task.context, links);
        return build_domain(*grid, task.bones, kind, task.context, Neighbours::all, links);
    });
    if (!domain) return domain.error();
    report.leaves = domain->leaves.size();
    report.links = domain->graph->link_count;
    report.components = domain->component_count;
    return domain;
}

BoneSeeds seed_volume(const Task& task, const Domain& domain) {
    BoneSeeds seeds = seed_bones(domain, task.bones, task.skeleton.joints.size());
    task.report.snapped_joints = seeds.snapped;
    if (task.options.as_published)
        for (const std::uint32_t j : seeds.snapped) seeds.of_joint[j].clear();
    std::vector<bool> crossed(domain.leaves.size(), false);
    for (const auto& list : seeds.of_joint)
        for (const auto& seed : list) crossed[seed.leaf] = true;
    task.report.bone_voxels = static_cast<std::size_t>(std::count(crossed.begin(), crossed.end(), true));
    return seeds;
}

Coverage straight_row(const Task& task, const BoneShapes& shapes, const JointSet& set, std::uint32_t vertex,
                      std::vector<DistanceRows::Entry>& row) {
    const Point3 p = to_point(task.mesh.positions[vertex]);
    row.clear();
    if (task.used[vertex]) {
        for (const std::uint32_t j : set.joints) {
            const auto [nearest, beyond] = shapes.straight(j, p);
            row.emplace_back(static_cast<float>(nearest + task.options.overshoot * beyond), j);
        }
        return Coverage::euclidean;
    }
    // Nobody sees it: the joint whose place is nearest has it to itself.
    DistanceRows::Entry nearest{INFINITY, set.joints.front()};
    for (const std::uint32_t j : set.joints) {
        const Point3& q = shapes.place(j);
        const auto d = static_cast<float>(std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
        if (d < nearest.first) nearest = {d, j};
    }
    row.push_back(nearest);
    return Coverage::unused;
}

Reading read_at(const Task& task, const Domain& domain, std::uint32_t vertex) {
    const Vec3& p = task.mesh.positions[vertex];
    const bool as_published = task.options.as_published;
    Reading reading{as_published ? own_leaf(domain, p) : leaf_stencil(domain, p), to_point(p), false, 0};
    if (as_published && reading.leaves.count > 0) {
        const Point3 v = to_voxels(domain.transform, p);
        const auto centre = domain.centre(reading.leaves.leaf[0]);
        reading.from_centre =
            domain.transform.voxel * std::hypot(v[0] - centre[0], v[1] - centre[1], v[2] - centre[2]);
    }
    if (reading.leaves.count > 0 || !task.reused || task.reused->nearest[vertex] == Domain::none) return reading;
    const std::uint32_t leaf = task.reused->nearest[vertex];
    reading.leaves.count = 1;
    reading.leaves.leaf[0] = leaf;
    reading.leaves.share[0] = 1;
    const auto centre = domain.centre(leaf);
    for (std::size_t k = 0; k < 3; ++k)
        reading.at[k] = domain.transform.origin[k] + centre[k] * domain.transform.voxel;
    reading.outside = true;
    return reading;
}

Error unknown_joints(const Task& task, const JointSet& set) {
    std::string names;
    for (std::size_t k = 0; k < std::min<std::size_t>(set.joints.size(), 3); ++k)
        names += (k ? ", '" : "'") + task.skeleton.joints[set.joints[k]].name + "'";
    if (set.joints.size() > 3) names += " and " + std::to_string(set.joints.size() - 3) + " more";
    return {ErrorCode::input, "a skin of the mesh lists joints (" + names +
                                  ") that no skin of the binding lists together: bind the mesh anew"};
}

std::shared_ptr<const KeptVolume> keep_volume(Domain domain, std::vector<KeptField> fields) {
    domain.first_link = {};
    domain.link = {};
    // Only where joints move are links asked for again.
    if (std::none_of(fields.begin(), fields.end(),
                     [](const KeptField& kept) { return std::holds_alternative<LeafDistances>(kept.field); }))
        domain.graph = nullptr;
    return std::make_shared<const KeptVolume>(KeptVolume{std::move(domain), std::move(fields)});
}

}  // namespace sinew
