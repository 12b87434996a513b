// From a pose, joint by joint, to skinning matrices.
#include <cmath>
#include <string>

#include "core/bind_frame.h"
#include "core/geometry.h"
#include "core/try.h"
#include "deform/affine.h"
#include "sinew/deform.h"

namespace sinew {

namespace {

Error joint_error(const Skeleton& skeleton, std::size_t joint, const std::string& what) {
    return {ErrorCode::input,
            "joint " + std::to_string(joint) + " (\"" + printable(skeleton.joints[joint].name) + "\") " + what};
}

}  // namespace

Transform operator*(const Transform& a, const Transform& b) {
    Transform out;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 4; ++c)
            out(r, c) = a(r, 0) * b(0, c) + a(r, 1) * b(1, c) + a(r, 2) * b(2, c) + (c == 3 ? a(r, 3) : 0.0);
    return out;
}

void move_points(std::span<Vec3> points, const Transform& transform) {
    if (transform == Transform{}) return;
    for (Vec3& p : points) {
        const Point3 moved = move_point(transform, {p.x, p.y, p.z});
        p = to_vec3(moved);
    }
}

Transform to_transform(const JointPose& pose) {
    auto [x, y, z, w] = pose.rotation;
    const double length = std::sqrt(x * x + y * y + z * z + w * w);
    x /= length;
    y /= length;
    z /= length;
    w /= length;
    const double rotation[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                                   {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                                   {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    Transform out;
    for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t c = 0; c < 3; ++c) out(r, c) = rotation[r][c] * pose.scale[c];
        out(r, 3) = pose.translation[r];
    }
    return out;
}

Result<std::vector<Transform>> skinning_matrices(const Skeleton& skeleton, std::span<const Transform> local) {
    SINEW_TRY(check_skeleton(skeleton));
    const std::size_t n = skeleton.joints.size();
    if (local.size() != n)
        return Error{ErrorCode::input, "the pose has " + std::to_string(local.size()) +
                                           " entries, but the skeleton has " + std::to_string(n) + " joints"};
    std::vector<Transform> out(n);
    std::vector<bool> known(n);
    std::vector<std::size_t> chain;
    for (std::size_t j = 0; j < n; ++j) {
        // Go up to a known joint (parents may come later in the list), and down again.
        chain.clear();
        for (int at = static_cast<int>(j); at >= 0 && !known[static_cast<std::size_t>(at)];
             at = skeleton.joints[static_cast<std::size_t>(at)].parent)
            chain.push_back(static_cast<std::size_t>(at));
        for (std::size_t k = chain.size(); k-- > 0;) {
            const std::size_t i = chain[k];
            const Joint& joint = skeleton.joints[i];
            if (!finite(local[i])) return joint_error(skeleton, i, "has a pose that is not finite");
            out[i] = joint.parent < 0 ? Transform{} : out[static_cast<std::size_t>(joint.parent)];
            if (!(local[i] == Transform{})) {
                Transform frame, inverse;
                if (!bind_frame(joint, frame, inverse))
                    return joint_error(skeleton, i, "has axes that are linearly dependent, so it cannot be posed");
                out[i] = out[i] * (frame * local[i] * inverse);
            }
            if (!finite(out[i])) return joint_error(skeleton, i, "is moved beyond the range of float by the pose");
            known[i] = true;
        }
    }
    return out;
}

Result<std::vector<Transform>> skinning_matrices(const Skeleton& skeleton, std::span<const JointPose> pose) {
    if (pose.size() != skeleton.joints.size())
        return Error{ErrorCode::input, "the pose has " + std::to_string(pose.size()) +
                                           " entries, but the skeleton has " +
                                           std::to_string(skeleton.joints.size()) + " joints"};
    std::vector<Transform> local;
    for (std::size_t j = 0; j < pose.size(); ++j) {
        const auto& [q, translation, scale] = pose[j];
        const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(length > 1e-12 && std::isfinite(length)))
            return joint_error(skeleton, j, "has a rotation that is zero or not finite");
        for (const double s : scale)
            if (s == 0) return joint_error(skeleton, j, "has a scale of zero");
        local.push_back(to_transform(pose[j]));
    }
    return skinning_matrices(skeleton, local);
}

}  // namespace sinew
