// sinew/deform.h: skinning: a mesh in another pose.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

/// Scale, then rotation, then translation, as a matrix. The default pose is exactly the identity.
Transform to_transform(const JointPose& pose);

/// b first, then a.
Transform operator*(const Transform& a, const Transform& b);

/// Moves points; the identity changes no bit.
void move_points(std::span<Vec3> points, const Transform& transform);

/// The skinning matrix of each joint: from bind space to bind space.
///
/// S_j = S_parent · B_j · L_j · B_j⁻¹, where B_j is the frame of the joint at the bind pose (Joint::axes at
/// Joint::position) and L_j its local transform in that frame. A joint with L_j = identity has exactly the matrix
/// of its parent, and a root has the identity: joints without a pose change no bit. `local`: one per joint. An
/// entry that is not finite, a joint whose axes span no space and a number of entries that is not the skeleton's
/// are errors that name the joint. O(joints). An error if check_skeleton fails.
Result<std::vector<Transform>> skinning_matrices(const Skeleton& skeleton, std::span<const Transform> local);

/// The same from poses; a rotation of length zero or a scale of zero is an error as well.
Result<std::vector<Transform>> skinning_matrices(const Skeleton& skeleton, std::span<const JointPose> pose);

/// A pose with a name: one JointPose per joint.
struct NamedPose {
    std::string name;
    std::vector<JointPose> joints;
};

/// Poses that test a binding with typical movements, made for this skeleton. Limbs are recognised by the positions
/// of joints: they leave the trunk in pairs that mirror each other, legs reach the ground, fingers leave a wrist
/// together. The front follows from names of left and right, or from toes and a horizontal trunk. Idle joints are
/// skipped.
/// A foot in another chain (an IK rig) moves with the leg that points at it along the joints' axes. In this
/// order, each only if the skeleton has the joints that it moves: "arms up", "arms forward", "squat",
/// "stride", "twist", "bend", "head turn", "fist", "tail", and "curl", which turns every joint a little. `up`: the
/// way up in bind space, not zero. Empty for a skeleton that check_skeleton refuses. O(joints²) in the worst case.
std::vector<NamedPose> standard_poses(const Skeleton& skeleton, const Vec3& up = {0, 1, 0});

/// Every joint turned about an axis of its own (uniform on the sphere) by an angle uniform in ±degrees; the same
/// for the same seed, on every machine. O(joints).
std::vector<JointPose> random_pose(const Skeleton& skeleton, double degrees, std::uint64_t seed);

enum class Skinning {
    linear_blend,     ///< matrices are averaged: any transform, but volume is lost where a limb is twisted
    dual_quaternion,  ///< rigid motions are averaged (Kavan et al. 2007): volume is kept; rigid transforms only
};
std::string_view to_string(Skinning skinning);

/// A mesh's surface to deform. Normals and tangents are V or empty.
struct SurfaceView {
    std::span<const Vec3> positions;                 ///< V, bind space
    std::span<const Vec3> normals;                   ///< unit vectors
    std::span<const std::array<float, 4>> tangents;  ///< unit vector, and the sign of the bitangent
    /// V or empty, 0 to 1, for Skinning::dual_quaternion: its fraction of the motion; the rest is linear blend.
    std::span<const float> dual_share{};
};

struct Surface {
    std::vector<Vec3> positions, normals;
    std::vector<std::array<float, 4>> tangents;
    SurfaceView view() const { return {positions, normals, tangents}; }
};

/// The falloff in a pose: `base` with the values of `angles` added in order. Without a selection a value is set in
/// FalloffMap::of_joint; with a selection it is blended into the values of the selected vertices, by their
/// fraction. The angle of a joint is that of the rotation that leads from its parent's transform to its own, 0 at
/// the bind pose. `transforms`: one per joint (see skinning_matrices), or none for the bind pose. O(joints + angles
/// · V).
FalloffMap falloff_at(std::span<const AngleFalloff> angles, const Skeleton& skeleton,
                      std::span<const Transform> transforms, FalloffMap base = {});

/// A shape that is added to the surface before it is skinned, with a factor: offsets of the vertices from
/// first_vertex on.
struct Morph {
    std::uint32_t first_vertex = 0;
    float weight = 0;
    std::span<const Vec3> offsets;
};

/// Adds morphs to positions. One of weight 0 changes no bit. Morphs that reach past the last vertex, and weights or
/// offsets that are not finite, are errors. O(offsets).
Status add_morphs(std::span<Vec3> positions, std::span<const Morph> morphs);

/// The surface in the pose of `transforms` (one per joint, see skinning_matrices).
///
/// Linear blend: position and tangent by the weighted sum of the matrices, normal by its inverse transpose. Dual
/// quaternion (Kavan, Collins, Žára, O'Sullivan: Skinning with Dual Quaternions, 2007): every quaternion is taken
/// with the sign that is nearest to the vertex's strongest influence (q and -q are one rotation), and the sum is
/// normalised. A dual
/// quaternion has no scale: a joint with weights whose transform is not rigid within 1e-3 is an error that gives
/// its index; use linear blend instead.
///
/// Normals and tangents come back as unit vectors, and the fourth component of a tangent is kept; one of length
/// zero, before or after, is unchanged. A vertex whose joints all have the same transform moves by exactly that
/// transform; if it is the identity, the vertex keeps its bits. A vertex without weights does not move. Vertices
/// with the same position and the same weights come to the same place, in any part.
///
/// Errors: numbers of vertices that differ, a joint without a transform, input that is not finite (the first vertex
/// or joint is named), and a result that a float cannot hold. O(influences), parallel; the same bits on any number
/// of threads.
Result<Surface> deform(const SurfaceView& surface, const SkinWeights& weights,
                       std::span<const Transform> transforms, Skinning skinning, Context* context = nullptr);

}  // namespace sinew
