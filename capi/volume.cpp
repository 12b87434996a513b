// The volume of a bind, for pictures.
#include <cstring>

#include "core/try.h"
#include "handles.h"
#include "sinew/bind.h"
#include "sinew/domain.h"
#include "sinew/near.h"
#include "sinew/voxels.h"

using namespace sinew;
using namespace sinew::capi;

namespace {

/// The domain of a bind under these options.
Result<Domain> volume_of(const io::Scene& scene, const Skeleton& skeleton, const BindOptions& options,
                         Context* context) {
    SINEW_TRY(check(options));
    SINEW_TRY(check_skeleton(skeleton));
    const std::vector<Triangle> near = near_triangles(scene.mesh(), skeleton, context);
    const MeshView mesh{scene.positions, near, scene.skin_of_vertex};
    VoxelizeOptions voxels = options.voxels;
    std::vector<FinePlace> fine;
    if (voxels.resolution == 0 || options.local_resolution) {
        SINEW_TRY_LET(ResolutionChoice choice, choose_resolution(scene.mesh(), skeleton, options, context));
        fine = std::move(choice.fine);
        voxels.resolution = (fine.empty() ? 1 : 2) * choice.resolution;
    }
    SINEW_TRY_LET(const VoxelGrid grid, voxelize(mesh, analyse_mesh(mesh, context), voxels, context, fine));
    std::vector<Bone> bones = make_bones(skeleton);
    if (!options.as_published) extend_leaf_bones(bones, skeleton, grid);
    return build_domain(grid, bones, options.domain, context, Neighbours::all,
                        options.as_published ? MixedCells::whole : MixedCells::divided);
}

}  // namespace

extern "C" {

snw_status snw_volume(const snw_model* model, const snw_settings* settings, size_t max_leaves, snw_context* context,
                      snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model || !settings) return missing(!model ? "model" : "settings");
    return guarded([&]() -> Status {
        SINEW_TRY_LET(const Skeleton skeleton, selected(*model, settings));
        SINEW_TRY_LET(const Domain domain, volume_of(model->scene, skeleton, settings->bind, context_of(context)));
        const std::size_t count = domain.leaves.size();
        if (count > max_leaves)
            return Error{ErrorCode::too_large, "the volume has " + std::to_string(count) + " leaves, and " +
                                                   std::to_string(max_leaves) +
                                                   " is the maximum that was requested: use a lower resolution"};
        constexpr std::size_t row = 5;
        std::string bytes(count * row * sizeof(float), '\0');
        const GridTransform& t = domain.transform;
        for (std::size_t i = 0; i < count; ++i) {
            const std::array<float, 3> c = domain.centre(static_cast<std::uint32_t>(i));
            const Domain::Leaf& leaf = domain.leaves[i];
            float values[row];
            for (int k = 0; k < 3; ++k) values[k] = static_cast<float>(t.origin[k] + t.voxel * c[k]);
            values[3] = static_cast<float>(t.voxel * (1 << leaf.level));
            values[4] = leaf.boundary ? 1.f : 0.f;
            std::memcpy(bytes.data() + i * sizeof values, values, sizeof values);
        }
        *out = new_text(std::move(bytes));
        return Done{};
    });
}

}  // extern "C"
