// The character in other poses.
#include <algorithm>
#include <cmath>

#include "core/try.h"
#include "handles.h"
#include "io/json.h"
#include "report/report.h"
#include "sinew/deform.h"

using namespace sinew;
using namespace sinew::capi;

namespace {

constexpr std::size_t kMatrix = 12;  // numbers per joint matrix

void copy_out(const std::vector<Transform>& transforms, double* out) {
    for (const Transform& t : transforms) out = std::copy(t.m.begin(), t.m.end(), out);
}

void write_pose(const std::vector<JointPose>& pose, double* out) {
    for (const JointPose& j : pose) {
        out = std::copy(j.rotation.begin(), j.rotation.end(), out);
        out = std::copy(j.translation.begin(), j.translation.end(), out);
        out = std::copy(j.scale.begin(), j.scale.end(), out);
    }
}

}  // namespace

std::vector<Transform> sinew::capi::transforms_of(const double* matrices, std::size_t joints) {
    std::vector<Transform> out(joints);
    for (std::size_t j = 0; j < joints; ++j)
        std::copy(matrices + j * kMatrix, matrices + (j + 1) * kMatrix, out[j].m.begin());
    return out;
}

std::vector<JointPose> sinew::capi::read_pose(const double* numbers, std::size_t joints) {
    std::vector<JointPose> out(joints);
    for (std::size_t j = 0; j < joints; ++j) {
        const double* p = numbers + j * kPoseNumbers;
        out[j].rotation = {p[0], p[1], p[2], p[3]};
        out[j].translation = {p[4], p[5], p[6]};
        out[j].scale = {p[7], p[8], p[9]};
    }
    return out;
}

Vec3 sinew::capi::up_of(const snw_model& model) {
    if (model.up) return *model.up;
    const Result<io::ScenePose> rest = io::pose_at(model.scene, std::nullopt, 0);
    if (!rest) return {0, 1, 0};
    // The row of the matrix for the world's height is the up direction in bind space.
    const Transform& t = rest->to_world;
    const Vec3 row{static_cast<float>(t(1, 0)), static_cast<float>(t(1, 1)), static_cast<float>(t(1, 2))};
    return row != Vec3{} ? row : Vec3{0, 1, 0};  // nodes may have a scale of zero
}

extern "C" {

snw_status snw_pose_matrices(const snw_model* model, const double* pose, double* matrices) {
    if (!model || !pose || !matrices) return missing(!model ? "model" : !pose ? "pose" : "matrices");
    return guarded([&]() -> Status {
        const Skeleton& skeleton = model->scene.skeleton;
        SINEW_TRY_LET(const std::vector<Transform> made,
                      skinning_matrices(skeleton, read_pose(pose, skeleton.joints.size())));
        copy_out(made, matrices);
        return Done{};
    });
}

snw_status snw_random_pose(const snw_model* model, double degrees, uint64_t seed, double* pose) {
    if (!model || !pose) return missing(!model ? "model" : "pose");
    if (!std::isfinite(degrees) || degrees < 0 || degrees > 180)
        return fail({ErrorCode::usage, "degrees must be from 0 to 180"});
    return guarded([&]() -> Status {
        write_pose(random_pose(model->scene.skeleton, degrees, seed), pose);
        return Done{};
    });
}

snw_status snw_pose_json(const snw_model* model, const void* text, size_t size, double* pose) {
    if (!model || !text || !pose) return missing(!model ? "model" : !text ? "text" : "pose");
    return guarded([&]() -> Status {
        SINEW_TRY_LET(const std::vector<JointPose> read,
                      io::parse_pose(model->scene.skeleton, {static_cast<const char*>(text), size}, "pose"));
        write_pose(read, pose);
        return Done{};
    });
}

snw_status snw_clip_matrices(const snw_model* model, size_t clip, double time, double* matrices) {
    if (!model || !matrices) return missing(!model ? "model" : "matrices");
    return guarded([&]() -> Status {
        SINEW_TRY_LET(const io::ScenePose pose, io::pose_at(model->scene, clip, time));
        copy_out(pose.skinning, matrices);
        return Done{};
    });
}

snw_status snw_rest_matrices(const snw_model* model, double* matrices, double* to_world) {
    if (!model || !matrices || !to_world) return missing(!model ? "model" : !matrices ? "matrices" : "to_world");
    return guarded([&]() -> Status {
        std::vector<Transform> joints(model->scene.skeleton.joints.size());
        Transform world;
        if (model->scene.document) {
            SINEW_TRY_LET(io::ScenePose rest, io::pose_at(model->scene, std::nullopt, 0));
            if (rest.skinning.size() == joints.size()) joints = std::move(rest.skinning);
            world = rest.to_world;
        }
        copy_out(joints, matrices);
        copy_out({world}, to_world);
        return Done{};
    });
}

snw_status snw_rest_pose(const snw_model* model, double* pose) {
    if (!model || !pose) return missing(!model ? "model" : "pose");
    return guarded([&]() -> Status {
        std::vector<Transform> joints(model->scene.skeleton.joints.size());
        if (model->scene.document) {
            SINEW_TRY_LET(io::ScenePose rest, io::pose_at(model->scene, std::nullopt, 0));
            if (rest.skinning.size() == joints.size()) joints = std::move(rest.skinning);
        }
        write_pose(io::joint_poses(model->scene.skeleton, joints), pose);
        return Done{};
    });
}

snw_status snw_standard_poses(const snw_model* model, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model) return missing("model");
    return guarded([&]() -> Status {
        auto list = OrderedJson::array();
        for (const NamedPose& pose : standard_poses(model->scene.skeleton, up_of(*model))) {
            std::vector<double> numbers(pose.joints.size() * kPoseNumbers);
            write_pose(pose.joints, numbers.data());
            list.push_back({{"name", pose.name}, {"pose", std::move(numbers)}});
        }
        *out = new_text(compact_text(list));
        return Done{};
    });
}

snw_status snw_deform(const snw_model* model, const snw_weights* weights, const double* matrices, int skinning,
                      snw_context* context, float* positions, float* normals) {
    if (!model || !weights || !matrices || !positions)
        return missing(!model ? "model" : !weights ? "weights" : !matrices ? "matrices" : "positions");
    if (skinning != SNW_LINEAR_BLEND && skinning != SNW_DUAL_QUATERNION)
        return fail({ErrorCode::usage, "skinning must be SNW_LINEAR_BLEND or SNW_DUAL_QUATERNION"});
    return guarded([&]() -> Status {
        SINEW_TRY(fits(*model, weights->weights));
        const io::Scene& scene = model->scene;
        const std::vector<Transform> transforms = transforms_of(matrices, scene.skeleton.joints.size());
        SurfaceView surface{scene.positions, {}, {}, model->frames.dual_share};
        if (normals) surface.normals = model->frames.normals;
        std::vector<Vec3> places, turned;
        if (!scene.other_poses.empty() &&
            scene.weights == weights->weights) {  // the file's own, as a viewer shows it
            places = scene.positions;
            turned.assign(surface.normals.begin(), surface.normals.end());
            io::start_from_other_poses(scene, transforms, places, turned);
            surface = {places, turned, {}, model->frames.dual_share};
        }
        SINEW_TRY_LET(const Surface made,
                      deform(surface, weights->weights, transforms,
                             skinning == SNW_LINEAR_BLEND ? Skinning::linear_blend : Skinning::dual_quaternion,
                             context_of(context)));
        const auto put = [](const std::vector<Vec3>& from, float* to) {
            for (const Vec3& v : from) *to++ = v.x, *to++ = v.y, *to++ = v.z;
        };
        put(made.positions, positions);
        if (normals) put(made.normals, normals);
        return Done{};
    });
}

}  // extern "C"
