// The distance field of one joint, sampled on the surface, for pictures of distances.

#include <limits>

#include "core/parallel.h"
#include "core/try.h"
#include "domain/near_part.h"
#include "field/geodesic.h"
#include "field/leaf_sample.h"
#include "sinew/voxels.h"

namespace sinew {

Result<std::vector<float>> joint_distance(const MeshView& whole, const Skeleton& skeleton, std::uint32_t joint,
                                          const VoxelizeOptions& voxels, const GeodesicOptions& geodesic,
                                          Context* context) {
    SINEW_TRY(check(voxels));
    SINEW_TRY(check(geodesic));
    SINEW_TRY(check_mesh(whole));
    SINEW_TRY(check_skeleton(skeleton));
    if (joint >= skeleton.joints.size())
        return Error{ErrorCode::usage, "there is no joint " + std::to_string(joint) + ": the skeleton has " +
                                           std::to_string(skeleton.joints.size())};
    if (!skeleton.joints[joint].deform)
        return Error{ErrorCode::usage, "joint '" + printable(skeleton.joints[joint].name) +
                                           "' deforms nothing, so it has no bone to measure from"};
    const NearPart near = find_near_part(whole, skeleton, context);
    const MeshView mesh = near.view(whole);
    const MeshTopology topology = analyse_mesh(mesh, context);
    SINEW_TRY_LET(VoxelGrid grid, voxelize(mesh, topology, voxels, context));
    std::vector<Bone> bones = make_bones(skeleton);
    extend_leaf_bones(bones, skeleton, grid);
    SINEW_TRY_LET(Domain domain, build_domain(grid, bones, DomainKind::sparse, context));
    const BoneSeeds seeds = seed_bones(domain, bones, skeleton.joints.size());
    // Parts without any bone are reached over bridges, as in a bind. Parts with bones of other joints are not.
    std::vector<bool> seeded(domain.component_count, false);
    for (const auto& list : seeds.of_joint)
        for (const BoneSeeds::Seed& seed : list) seeded[domain.component[seed.leaf]] = true;
    const std::vector<Bridge> bridges = BridgeFinder(domain).join(seeded);
    const GeodesicSolver solver(domain, geodesic, context);
    const std::uint32_t joints[] = {joint};
    SINEW_TRY_LET(LeafDistances field, solver.nearest(seeds, joints, bridges, 1, context));

    std::vector<float> out(mesh.positions.size(), std::numeric_limits<float>::infinity());
    parallel_for(context, out.size(), 2048, [&](std::size_t v) {
        if (near.far > 0 && near.at_far[v]) return;
        const LeafStencil s = leaf_stencil(domain, mesh.positions[v]);
        double share = 0, sum = 0;
        for (int k = 0; k < s.count; ++k) {
            if (field.distance(s.leaf[k]) == LeafDistances::unreached) continue;
            share += s.share[k];
            sum += s.share[k] * field.distance(s.leaf[k]);
        }
        if (share > 0)
            out[v] = static_cast<float>(sum / share * domain.transform.voxel / LeafDistances::units_per_voxel);
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
    return out;
}

}  // namespace sinew
