// The skeleton of a document for the mesh of another one: in the bind pose of its skins, in the world.
#include <algorithm>
#include <cmath>

#include "core/try.h"
#include "io/gltf_builder.h"
#include "io/gltf_joints.h"
#include "io/gltf_scene.h"
#include "io/gltf_skins.h"

namespace sinew::io {

namespace {

bool has_skinned_mesh(const Document& document) {
    for (std::size_t n = 0; n < document.count("nodes"); ++n) {
        const Json& node = *document.at("nodes", n);
        if (member(node, "mesh") && member(node, "skin")) return true;
    }
    return false;
}

bool states_bind_pose(const Document& document) {
    for (std::size_t s = 0; s < document.count("skins"); ++s)
        if (member(*document.at("skins", s), "inverseBindMatrices")) return true;
    return has_skinned_mesh(document);
}

/// Joints that move no vertex of their own mesh are not meant to move another. One joint alone is a placeholder.
std::size_t leave_out_unused(Skeleton& skeleton, const SkinWeights& weights) {
    const std::vector<double> use = joint_use(weights, skeleton.joints.size());
    double total = 0;
    for (const double u : use) total += u;
    const auto is_used = [&](double u) { return u > 1e-6 * total; };
    if (std::count_if(use.begin(), use.end(), is_used) < 2) return 0;
    std::size_t left_out = 0;
    for (std::size_t j = 0; j < use.size(); ++j) {
        if (is_used(use[j])) continue;
        skeleton.joints[j].deform = false;
        skeleton.joints[j].reason = DeformReason::excluded;
        ++left_out;
    }
    return left_out;
}

std::string joints_of(std::size_t n) { return std::to_string(n) + (n == 1 ? " joint" : " joints"); }

/// The skeleton of a scene in the world.
SkeletonFile in_the_world(Scene& scene, const Matrix& to_world) {
    SkeletonFile out{std::move(scene.skeleton), "", {}};
    const Rig& rig = scene.document->rig;
    out.skeleton.skins.clear();
    for (std::size_t j = 0; j < out.skeleton.joints.size(); ++j) {
        Joint& joint = out.skeleton.joints[j];
        if (joint.tail)
            joint.tail = to_vec3(
                transform_point(to_world, double(joint.tail->x), double(joint.tail->y), double(joint.tail->z)));
        set_frame(joint, to_world * rig.bind_pose[j]);
    }
    return out;
}

/// How many joints the rest pose of the nodes puts elsewhere.
std::size_t count_moved(const Skeleton& skeleton, const Rig& rig) {
    double size = 0;
    for (const Joint& a : skeleton.joints) {
        const Vec3 &p = a.position, &q = skeleton.joints[0].position;
        size =
            std::max({size, std::abs(double(p.x) - q.x), std::abs(double(p.y) - q.y), std::abs(double(p.z) - q.z)});
    }
    std::size_t moved = 0;
    for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
        const Matrix& rest = rig.nodes.world[rig.node_of_joint[j]];
        const Vec3& p = skeleton.joints[j].position;
        moved += std::max({std::abs(rest(0, 3) - double(p.x)), std::abs(rest(1, 3) - double(p.y)),
                           std::abs(rest(2, 3) - double(p.z))}) > 0.01 * size;
    }
    return moved;
}

}  // namespace

Result<SkeletonFile> read_skeleton(std::shared_ptr<Document> document, bool with_clips, const Context* context) {
    SINEW_TRY_LET(Scene scene,
                  has_skinned_mesh(*document) ? read_scene(document, {}, context) : read_skeleton_alone(document));
    std::vector<PoseClip> clips;
    if (with_clips) {
        SINEW_TRY_LET(clips, pose_clips(scene));
    }
    const Rig& rig = document->rig;
    const Matrix to_world = bind_to_world(rig, scene.skeleton);
    SkeletonFile out = in_the_world(scene, to_world);
    const double scale = std::cbrt(std::abs(determinant(to_world)));
    for (PoseClip& clip : clips)
        for (PoseKey& key : clip.keys)
            for (JointPose& pose : key.joints)
                for (double& t : pose.translation) t *= scale;
    out.clips = std::move(clips);
    out.pose = "the rest pose of its nodes";
    if (!states_bind_pose(*document)) return out;
    out.pose = "the bind pose of its skin";
    if (const std::size_t moved = count_moved(out.skeleton, rig))
        out.pose += ", which the nodes' rest pose differs from at " + joints_of(moved);
    if (scene.weights)
        if (const std::size_t left_out = leave_out_unused(out.skeleton, *scene.weights))
            out.pose += "; " + joints_of(left_out) + " without weights there do not deform";
    return out;
}

}  // namespace sinew::io
