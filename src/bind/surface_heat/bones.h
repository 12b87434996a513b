// Bones of surface-heat where the hierarchy does not say where bones run.
#pragma once

#include <functional>

#include "bind/surface_heat/rules.h"
#include "core/geometry.h"
#include "sinew/skeleton.h"

namespace sinew {

/// Joins the bones that lead from a joint to mirrored limbs: two limbs are mirrored if they have the same number of
/// joints and lengths that differ by less than 1 %. If the joint has a bone to another child, too, each such pair
/// becomes one bone, which ends halfway between the two children. Examples: from the hips to the legs, from the
/// chest to the arms, from the head to the eyes. The links only say where the limbs begin. Stated bones are not
/// changed. `bones`: of make_bones. O(joints x depth).
void join_mirrored_links(const Skeleton& skeleton, std::vector<Bone>& bones);

/// Gives bones to joints without a hierarchy. If no deforming joint has a deforming child, the bone of each joint
/// ends at the nearest joint along one axis of its own: the axis along which most joints find another one, if at
/// least half of them do. `joined`: whether a bone may lie between two points. `least_cosine`: between the axis and
/// the direction to the other joint. Stated bones are not changed. `bones`: of make_bones. O(joints²).
void link_loose_joints(const Skeleton& skeleton, std::vector<Bone>& bones,
                       const std::function<bool(const Point3&, const Point3&)>& joined,
                       double least_cosine = SurfaceHeatRules{}.loose_along);

/// Aligns bones with the axes of their joints. Most programs that make skeletons let one axis of a joint point
/// along its bone. If nine in ten bones that lead to a single joint lie along the same one of the six axis
/// directions, this axis gives the bone of every joint:
/// - of several links, the link along the axis is kept;
/// - without such a link, and for leaf joints, the bone becomes a point, and the axis is returned: the direction in
///   which extend_leaf_bones extends it;
/// - the bone of a leaf joint whose axis points at the root of another chain (the foot of an IK rig) ends there, if
///   `joined` allows a bone.
/// Shapes and stated bones are not changed. `bones`: of make_bones. Returns a unit vector for each joint of the
/// second kind and zeros for the others; nothing if there is no common axis. O(joints x roots).
std::vector<Point3> align_with_axes(const Skeleton& skeleton, std::vector<Bone>& bones,
                                    const std::function<bool(const Point3&, const Point3&)>& joined);

}  // namespace sinew
