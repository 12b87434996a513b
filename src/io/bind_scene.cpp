#include "sinew/bind_scene.h"

#include "core/try.h"

namespace sinew {

Result<Skeleton> deforming_skeleton(const io::Scene& scene, const DeformOptions& deform) {
    Skeleton skeleton = scene.skeleton;
    const std::vector<double> use =
        scene.weights ? joint_use(*scene.weights, skeleton.joints.size()) : std::vector<double>{};
    SINEW_TRY(select_deforming(skeleton, use, deform));
    return skeleton;
}

Result<Binding> bind(io::Scene& scene, const BindOptions& options, const DeformOptions& deform, Context* context) {
    SINEW_TRY_LET(Skeleton skeleton, deforming_skeleton(scene, deform));
    scene.skeleton = std::move(skeleton);
    return sinew::bind(scene.mesh(), scene.part_of_vertex, scene.skeleton, options, context);
}

}  // namespace sinew
