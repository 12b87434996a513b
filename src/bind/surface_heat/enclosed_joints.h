// Joints inside a part of their own: an eye in its eyeball, a tongue, the wheel of a cart.
#pragma once

#include <functional>

#include "bind/surface_heat/rules.h"
#include "sinew/skeleton.h"
#include "surface/parts.h"

namespace sinew {

/// Finds joints that are enclosed by a closed part, together with all deforming joints below them. Such a joint
/// moves its part and everything inside the part; if the part is a ball, only the part itself. It does not move
/// larger parts around it, however near they are, if these have joints of their own: a face does not follow the
/// eye.
class EnclosedJoints {
public:
    /// Keeps the view of the mesh, and a reference to the parts. `solid`: whether a point is inside the character;
    /// a bone that continues there, outside the part, moves more than its part. O(joints x (parts + depth)), and
    /// winding numbers where a joint is in the box of a part; in parallel. Not valid if the context was cancelled.
    EnclosedJoints(const MeshView& mesh, const Skeleton& skeleton, const std::vector<Bone>& bones,
                   const std::vector<SurfacePart>& parts, const std::function<bool(const Point3&)>& solid,
                   Context* context = nullptr, const EnclosedRules& rules = {});

    /// Whether the joint must not move a point of a part: the part is much larger than the joint's own part and
    /// encloses the joint above, and the point is not inside the joint's own part, or that is a ball. O(triangles
    /// of the joint's part).
    bool is_separate(std::uint32_t joint, std::uint32_t part, const Point3& point) const;

    struct Enclosure {
        std::uint32_t part = no_index;  ///< the smallest part that encloses the joint
        bool is_ball = false;           ///< around the joint
        std::vector<bool> separate;     ///< per part: not moved by the joint; empty = none is

        bool operator==(const Enclosure&) const = default;
    };
    /// Per joint. All that is_separate depends on, beside the mesh.
    const std::vector<Enclosure>& enclosures() const { return enclosure_; }

private:
    void find_enclosing_parts(const Skeleton& skeleton, Context* context);
    void leave_out_long_bones(const Skeleton& skeleton, const std::vector<Bone>& bones,
                              const std::function<bool(const Point3&)>& solid);
    std::vector<int> enclosed_above(const Skeleton& skeleton) const;
    void leave_out_limbs(const Skeleton& skeleton);
    void find_separate_parts(const Skeleton& skeleton, Context* context);
    bool encloses(std::uint32_t part, const Point3& point, double least_winding) const;
    bool is_ball(std::uint32_t part, const Point3& centre) const;

    const MeshView mesh_;
    const std::vector<SurfacePart>& parts_;
    const EnclosedRules rules_;
    std::vector<Enclosure> enclosure_;  // per joint
};

}  // namespace sinew
