// sinew/skeleton.h: joints, bones, and the selection of joints that deform the skin.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"

namespace sinew {

/// Why a joint does or does not deform the skin. Written to the report by these names.
enum class DeformReason {
    deforms,         ///< no rule makes it idle
    included,        ///< selected by the user (--include)
    excluded,        ///< the user or the skeleton file says so: --exclude, "deform": false, the end of a TGF bone
    unused_by_skin,  ///< the file has weights and none is on this joint
    control_name,    ///< its name is that of an IK, control, target or pole joint
    end_name,        ///< its name is that of an end marker (HeadEnd, Nub) of its parent
    slot_name,       ///< its name is that of an attachment: weapon slot, socket, prop
    root_structure,  ///< a root or trajectory joint that only carries the skeleton
    no_skin,         ///< no skin of the file lists it
};
std::string_view to_string(DeformReason reason);

/// An affine transform in double: the three upper rows of a 4x4 matrix, row by row. Acts on column vectors.
struct Transform {
    std::array<double, 12> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    double operator()(std::size_t row, std::size_t column) const { return m[row * 4 + column]; }
    double& operator()(std::size_t row, std::size_t column) { return m[row * 4 + column]; }
    friend bool operator==(const Transform&, const Transform&) = default;
};

/// How a joint is turned, moved and scaled away from its bind pose, along its own axes there (Joint::axes), with
/// the joint as the centre; the joint's descendants follow. Scale first, then rotation, then translation.
struct JointPose {
    std::array<double, 4> rotation{0, 0, 0, 1};  ///< quaternion x, y, z, w; normalised on use, not zero
    std::array<double, 3> translation{0, 0, 0};  ///< scene units
    std::array<double, 3> scale{1, 1, 1};        ///< not zero
};

/// A shape that replaces the segments of a joint's bones: points inside have distance 0.
struct JointShape {
    enum class Kind : std::uint8_t {
        sphere,   ///< around the joint
        capsule,  ///< around each of the joint's bones
        box,      ///< around the middle between the joint and its stated tail, or around the joint
    };
    Kind kind = Kind::sphere;
    float radius = 0;  ///< sphere and capsule: > 0, scene units
    Vec3 half;         ///< box: half of its sides, > 0, along its axes
    /// Box: unit vectors at right angles; Joint::axes where it has none of its own.
    std::optional<std::array<Vec3, 3>> axes = {};
};

/// A transform that the skin can follow. Only its place at the bind pose matters for binding.
struct Joint {
    std::string name;
    int parent = -1;  ///< index into Skeleton::joints, -1 = a root; any order
    Vec3 position;    ///< bind pose, scene units
    /// The end of the joint's bone, if the source states it: the joint then has only this bone, even if it has
    /// several children. Equal to `position`: a bone without length, which stays a point. Empty: see make_bones.
    std::optional<Vec3> tail;
    bool deform = true;
    DeformReason reason = DeformReason::deforms;
    /// The joint's own axes at the bind pose, unit vectors in scene space, right-handed. For posing, and
    /// surface-heat's bones; the scene's axes where the source states none (skeleton JSON, TGF).
    std::array<Vec3, 3> axes{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};
    /// BindOptions::hard_range for the bones of this joint.
    std::optional<std::array<float, 2>> hard_range = {};
    std::optional<JointShape> shape = {};
    /// FalloffOptions::alpha where this joint acts, 0..1: what bind puts in FalloffMap::hardness_of_joint if the
    /// options leave that empty.
    std::optional<float> hardness = {};
    /// Method mesh-geodesic: the normal of the plane through this joint that cuts its ring, a unit vector in bind
    /// space, instead of the planes that RingPlacement chooses.
    std::optional<Vec3> ring_normal = {};
    /// The source states the joint's bones as links to its children, idle ones included (TGF edges).
    bool stated_links = false;
    /// Method connectivity: the joints, by name (* and ?), whose bones share vertices near the ends of this joint's
    /// bones, instead of those that begin or end there. An empty list: no sharing.
    std::optional<std::vector<std::string>> connected = {};

    /// Its bones are stated: no method lengthens, joins, turns or drops them.
    bool states_bones() const { return tail.has_value() || stated_links; }
};

/// A segment from a joint towards a child (or a tail, or a point) that carries that joint's index. It may have a
/// shape around it (JointShape).
struct Bone {
    std::uint32_t joint = 0;
    Vec3 head, tail;        ///< scene units; equal = a point
    bool open_head = true;  ///< a vertex can overshoot the head: something else lies beyond it
    bool open_tail = true;  ///< the same for the tail; false where no joint that deforms follows
    float radius = 0;       ///< of a capsule around the segment (of a ball around a point); 0 = a line
    struct Box {
        Vec3 half;
        std::array<Vec3, 3> axes;
    };
    std::optional<Box> box = {};  ///< instead of the segment: a box around its middle
    bool shaped() const { return radius > 0 || box; }
};

/// Joints in any order; several roots are fine.
struct Skeleton {
    std::vector<Joint> joints;
    /// Joint lists that limit vertices (MeshView::skin_of_vertex); empty = no limits.
    std::vector<std::vector<std::uint32_t>> skins;
};

/// Checks the requirements of all stages: 1 to 65534 joints, parents in range and without cycles, finite
/// positions, skins in range, shapes of positive size, at least one joint that deforms. The error names the joint.
/// O(joints).
Status check_skeleton(const Skeleton& skeleton);

/// The evidence by which joints are classified as idle.
enum class DeformFrom {
    automatic,  ///< skin if joint_use has more than one joint in use, else names
    skin,       ///< joints without weights are idle
    names,      ///< by name and structure: control, end, slot, root
    all,        ///< every joint deforms
};

struct DeformOptions {
    DeformFrom from = DeformFrom::automatic;
    std::vector<std::string> exclude;  ///< globs on joint names (* and ?, case-sensitive); override evidence
    std::vector<std::string> include;  ///< globs; override exclude
    bool strict = false;               ///< a glob that matches no joint is an error
};

/// A sentence for each of these globs that matches no joint, with the nearest names. An option begins it:
/// `exclude "ik_*"`.
std::vector<std::string> unmatched_globs(const Skeleton& skeleton, std::string_view option,
                                         std::span<const std::string> globs);

/// Sets Joint::deform and Joint::reason. joint_use: for each joint the sum of the weights that the file's own
/// skin gives it, or empty where it has none. A joint that comes with reason `excluded` (its file says so) stays
/// so unless included, and one with reason `included` is so unless excluded; one that no skin lists cannot be
/// included. A glob that matches no joint changes nothing, unless DeformOptions::strict. If no joint is left that
/// deforms, this is an error, unless only names led to it: then all joints deform. O(joints).
Status select_deforming(Skeleton& skeleton, const std::vector<double>& joint_use, const DeformOptions& options);

/// The joints with this name; if there is no such joint, those that match it as a glob (* and ?). Ascending.
/// O(joints).
std::vector<std::uint32_t> joints_called(const Skeleton& skeleton, std::string_view name);

/// The direction in which a character faces, perpendicular to `up`, from the positions of joints whose names differ
/// only in left and right. A unit vector in bind space; empty if there are fewer than two such pairs, or if pairs
/// disagree. O(joints log joints).
std::optional<Vec3> facing(const Skeleton& skeleton, const Vec3& up = {0, 1, 0});

/// The bones of the deforming joints. A joint with a stated tail has one: the segment from the joint to that tail.
/// One with stated links has a segment to each child. Any other has a segment to each nearest deforming descendant;
/// if it is a leaf, to an idle end child, else a point at its head for extend_leaf_bones to lengthen. Segments
/// without length are dropped where the joint has others. A sphere or box takes the place of all of its joint's
/// segments and has no end to overshoot. Joints that do not deform own none. The tail is open where a joint that
/// deforms follows: for a stated tail, where one of the nearest below lies nearer to the tail than to the head.
/// Requires check_skeleton. Order: by joint, then by child. O(joints).
std::vector<Bone> make_bones(const Skeleton& skeleton);

}  // namespace sinew
