// Bones where the links between joints say too little or too much.
#pragma once

#include <functional>

#include "bind/surface_heat/rules.h"
#include "core/geometry.h"
#include "sinew/skeleton.h"

namespace sinew {

/// Two bones from a joint to children whose limbs are mirrored (as many joints, lengths that differ by less than 1
/// %) become one to the middle between these children, where the joint has a bone to another child, too. From the
/// hips to the legs, from the chest to the arms, from the head to the eyes: such links say where a limb begins, and
/// the body around them is the limb's or the middle's. Stated bones stay. `bones`: of make_bones. O(joints x
/// depth).
void join_mirrored_links(const Skeleton& skeleton, std::vector<Bone>& bones);

/// Where no joint that deforms hangs from another, the bone of each leads to the joint that lies nearest along that
/// axis on which most of them find one, if half of them do: joints look along their bones, whoever made them.
/// `joined`: whether a bone may lie between two places. `along`: the least cosine with the axis. Stated bones
/// stay. `bones`: of make_bones. O(joints²).
void link_loose_joints(const Skeleton& skeleton, std::vector<Bone>& bones,
                       const std::function<bool(const Point3&, const Point3&)>& joined,
                       double along = SurfaceHeatRules{}.loose_along);

/// Joints look along their bones, whoever made them. Where nine in ten that lead to one other joint do so along the
/// same one of their six axes, that axis is the bone of every joint: of several links the one along it is kept;
/// where none is, and for leaves, the bone becomes a point for extend_leaf_bones, with its way in what is returned.
/// But a leaf that looks at a root of another chain (the foot of an IK rig) ends there, if `joined` says that a
/// bone may. Shapes and stated bones stay. `bones`: of make_bones. Returns a unit vector for each joint with such a
/// way and zeros for the others, or nothing where no axis is common. O(joints x roots).
std::vector<Point3> look_along_axes(const Skeleton& skeleton, std::vector<Bone>& bones,
                                    const std::function<bool(const Point3&, const Point3&)>& joined);

}  // namespace sinew
