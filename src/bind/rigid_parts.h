// Parts that do not bend: plates, buckles, eyes, a backpack, the limbs of a machine.
#pragma once

#include <span>

#include "sinew/core.h"
#include "sinew/skeleton.h"

namespace sinew {

/// A joint and its share of all weight on a part, 0..1.
struct JointShare {
    std::uint32_t joint;
    double share;
};

/// The joint that a part follows as one body, or DistanceTable::none where it bends. It follows the joint that has
/// most of it if that is nearly all of it; or half of it, and none of the pivots between that joint and the others
/// lies within the part. A sleeve has its elbow inside, a shoulder plate has the shoulder below it. Whether a pivot
/// is inside says the part's winding number around it, whatever its sign: sleeves are open.
/// `part`: its triangles. `shares`: ascending by joint. O(triangles x joints of weight).
std::uint32_t rigid_joint(const MeshView& mesh, const Skeleton& skeleton, std::span<const Triangle> part,
                          std::span<const JointShare> shares);

}  // namespace sinew
