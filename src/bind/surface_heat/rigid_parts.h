// Parts that do not bend: plates, buckles, eyes, a backpack, the limbs of a machine.
#pragma once

#include <span>
#include <vector>

#include "bind/surface_heat/rules.h"
#include "sinew/core.h"
#include "sinew/skeleton.h"
#include "surface/parts.h"

namespace sinew {

/// A joint and its share of something, 0..1.
struct JointShare {
    std::uint32_t joint;
    double share;
};

/// The joint that a part follows as one body, or DistanceTable::none where it bends. It follows the joint that has
/// most of it if that is nearly all of it; or half of it, and none of the pivots between that joint and the others
/// lies within the part. A sleeve has its elbow inside, a shoulder plate has the shoulder below it. Whether a pivot
/// is inside says the part's winding number around it, whatever its sign: sleeves are open.
/// `part`: its triangles. `shares`: of weight, ascending by joint. O(triangles x joints of weight).
std::uint32_t rigid_joint(const MeshView& mesh, const Skeleton& skeleton, std::span<const Triangle> part,
                          std::span<const JointShare> shares, const PartRules& rules = {});

/// How much of each joint's bone lies within a part, by its winding number; of several bones the one that does
/// most. Joints without any are left out. `bones`: joint by joint, as make_bones has them. A joint that is a point
/// is within or not. Ascending. O(triangles log triangles), and for each bone that meets the part's box O(log
/// triangles).
std::vector<JointShare> bones_within(const MeshView& mesh, const SurfacePart& part, std::span<const Bone> bones);

/// The joint whose bone a part is built around: nearly all of it lies within, and little of any other. Else
/// DistanceTable::none. `within`: of bones_within.
std::uint32_t bone_of_part(std::span<const JointShare> within, const PartRules& rules = {});

}  // namespace sinew
