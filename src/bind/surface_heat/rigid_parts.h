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

/// The joint that a part follows as a rigid body, or none if the part bends. The part follows the
/// joint with the largest share of its weight if that share is nearly all; or if it is half, and no joint about
/// which that joint and the others turn lies within the part. A sleeve has its elbow inside; a shoulder plate has
/// the shoulder below it. A joint is inside if the part's winding number around it is large; its sign does not
/// count, since sleeves are open. `part`: its triangles. `shares`: of weight, ascending by joint. O(triangles x
/// joints of weight).
std::uint32_t rigid_joint(const MeshView& mesh, const Skeleton& skeleton, std::span<const Triangle> part,
                          std::span<const JointShare> shares, const PartRules& rules = {});

/// For each joint the share of its bone that lies within a part, by the part's winding number; of several bones the
/// largest share. Joints with a share of 0 are left out. A bone that is a point has the share 0 or 1. `bones`:
/// sorted by joint, like those of make_bones. Ascending. O(triangles log triangles), and for each bone that meets
/// the part's box O(log triangles).
std::vector<JointShare> bones_within(const MeshView& mesh, const SurfacePart& part, std::span<const Bone> bones);

/// The only joint whose bone lies within a part almost completely, if little of any other bone does; else
/// none. `within`: of bones_within.
std::uint32_t bone_of_part(std::span<const JointShare> within, const PartRules& rules = {});

}  // namespace sinew
