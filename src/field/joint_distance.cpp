// The field of one joint, sampled on the surface: what a picture of distances shows.

#include <cmath>
#include <limits>
#include <numeric>

#include "core/parallel.h"
#include "domain/trace.h"
#include "sinew/field.h"

namespace sinew {

Result<std::vector<float>> joint_distance(const MeshView& mesh, const Skeleton& skeleton, std::uint32_t joint,
                                          const VoxelizeOptions& voxels, const GeodesicOptions& geodesic,
                                          Context* context) {
    if (Status ok = check(voxels); !ok) return ok.error();
    if (Status ok = check(geodesic); !ok) return ok.error();
    if (Status ok = check_mesh(mesh); !ok) return ok.error();
    if (Status ok = check_skeleton(skeleton); !ok) return ok.error();
    if (joint >= skeleton.joints.size())
        return Error{ErrorCode::usage, "there is no joint " + std::to_string(joint) + ": the skeleton has " +
                                           std::to_string(skeleton.joints.size())};
    if (!skeleton.joints[joint].deform)
        return Error{ErrorCode::usage, "joint '" + skeleton.joints[joint].name +
                                           "' deforms nothing, so it has no bone to measure from"};
    const MeshTopology topology = analyse_mesh(mesh);
    Result<VoxelGrid> grid = voxelize(mesh, topology, voxels, context);
    if (!grid) return grid.error();
    std::vector<Bone> bones = make_bones(skeleton);
    extend_leaf_bones(bones, skeleton, *grid);
    Result<Domain> domain = build_domain(*grid, bones, DomainKind::sparse, context);
    if (!domain) return domain.error();
    const BoneSeeds seeds = seed_bones(*domain, bones, skeleton.joints.size());
    // Parts without any bone are reached over bridges, as when the character is bound; those of other bones are
    // not.
    std::vector<bool> seeded(domain->component_count, false);
    for (const auto& list : seeds.of_joint)
        for (const BoneSeeds::Seed& seed : list) seeded[domain->component[seed.leaf]] = true;
    const std::vector<Bridge> bridges = BridgeFinder(*domain).join(seeded);
    const GeodesicSolver solver(*domain, geodesic, context);
    const std::uint32_t joints[] = {joint};
    Result<LeafDistances> field = solver.nearest(seeds, joints, bridges, 1, context);
    if (!field) return field.error();

    const GridTransform& t = domain->transform;
    constexpr float nowhere = std::numeric_limits<float>::infinity();
    std::vector<float> out(mesh.positions.size(), nowhere);
    parallel_for(context, out.size(), 2048, [&](std::size_t v) {
        const std::array<double, 3> p = to_voxels(t, mesh.positions[v]);
        double share = 0, sum = 0;
        auto take = [&](int x, int y, int z, double weight, bool boundary_only) {
            const int r = t.resolution;
            if (x < 0 || y < 0 || z < 0 || x >= r || y >= r || z >= r) return;
            const std::uint32_t leaf = domain->leaf_at(x, y, z);
            if (leaf == Domain::none || field->joint[leaf] == DistanceTable::none) return;
            if (boundary_only && !domain->leaves[leaf].boundary) return;
            share += weight;
            sum += weight * field->distance[leaf];
        };
        int base[3];
        double f[3];
        for (std::size_t k = 0; k < 3; ++k) {
            if (!(p[k] >= 0 && p[k] < t.resolution)) return;
            base[k] = static_cast<int>(std::floor(p[k] - 0.5));
            f[k] = p[k] - 0.5 - base[k];
        }
        // Among the eight voxels around the vertex, so that lines of equal distance are smooth.
        for (int corner = 0; corner < 8; ++corner) {
            const int i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
            const double weight = (i ? f[0] : 1 - f[0]) * (j ? f[1] : 1 - f[1]) * (k ? f[2] : 1 - f[2]);
            if (weight > 0) take(base[0] + i, base[1] + j, base[2] + k, weight, true);
        }
        if (share == 0) take(static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2]), 1, false);
        if (share > 0) out[v] = static_cast<float>(sum / share * t.voxel / LeafDistances::units_per_voxel);
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
    return out;
}

}  // namespace sinew
