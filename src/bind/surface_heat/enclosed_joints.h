// Joints that lie in a part of their own: an eye in its eyeball, a tongue, the wheel of a cart.
#pragma once

#include <functional>

#include "bind/surface_heat/rules.h"
#include "sinew/skeleton.h"
#include "surface/parts.h"

namespace sinew {

/// A joint that lies, with all joints below it that deform, in a closed part is there to move that part and, unless
/// it is a ball, what is in it. Surfaces of larger parts around it have joints of their own: a face does not follow
/// the eye, however near it is.
class EnclosedJoints {
public:
    /// Keeps the view of the mesh, and a reference to the parts. `solid`: whether a place is inside the character:
    /// a bone that leads on through it moves more than its part. O(joints x (parts + depth)), and winding numbers
    /// where a joint is in the box of a part; in parallel. Of a cancelled context nothing is to be asked.
    EnclosedJoints(const MeshView& mesh, const Skeleton& skeleton, const std::vector<Bone>& bones,
                   const std::vector<SurfacePart>& parts, const std::function<bool(const Point3&)>& solid,
                   Context* context = nullptr, const EnclosedRules& rules = {});

    /// Whether the joint is nothing to a point on a part: the part is much larger than the joint's, has the joint
    /// above inside, and the point is not in the joint's part or that is a ball. O(triangles of the joint's part).
    bool apart(std::uint32_t joint, std::uint32_t part, const Point3& point) const;

private:
    struct Own {
        std::uint32_t within = MeshSurface::none;  // the smallest part that encloses the joint
        bool ball = false;                         // which is a ball around it
        std::vector<bool> others;                  // per part: the joint is nothing to it; empty = to none
    };
    bool holds(std::uint32_t part, const Point3& point, double least) const;
    bool is_ball(std::uint32_t part, const Point3& centre) const;

    const MeshView mesh_;
    const std::vector<SurfacePart>& parts_;
    const EnclosedRules rules_;
    std::vector<Own> of_;  // per joint
};

}  // namespace sinew
