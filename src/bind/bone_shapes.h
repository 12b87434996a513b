// The bones of every joint as shapes to measure from.
#pragma once

#include <cmath>
#include <vector>

#include "core/bone_space.h"
#include "sinew/skeleton.h"

namespace sinew {

class BoneShapes {
public:
    BoneShapes(const Skeleton& skeleton, const std::vector<Bone>& bones) {
        for (const Joint& joint : skeleton.joints) place_.push_back(to_point(joint.position));
        of_joint_.resize(skeleton.joints.size());
        for (const Bone& bone : bones)
            of_joint_[bone.joint].push_back(
                {BoneSpace(bone), bone.open_head ? 1.0 : 0.0, bone.open_tail ? 1.0 : 0.0});
        for (std::size_t j = 0; j < of_joint_.size(); ++j) {
            // Idle joints have no bones. If a skin lists only idle joints, they are used as points.
            if (of_joint_[j].empty()) of_joint_[j].push_back({BoneSpace(skeleton.joints[j].position), 0, 0});
        }
    }

    struct Distance {
        double nearest;  ///< to the nearest of the joint's bones; 0 within its shape
        double beyond;   ///< how far the point lies beyond that bone's open end, its shape included
    };
    /// In scene units. O(bones of the joint).
    Distance straight(std::uint32_t joint, const Point3& p) const {
        Distance d{INFINITY, 0};
        for (const Shape& s : of_joint_[joint]) {
            const SegmentPosition at = s.space.beside(p);
            d = nearer(d, s, at, s.space.distance(p, at));
        }
        return d;
    }

    /// Points, and their distances from the bones of a joint.
    struct PointBatch {
        static constexpr std::size_t kCapacity = 64;
        std::size_t count = 0;
        double x[kCapacity], y[kCapacity], z[kCapacity];
        double nearest[kCapacity], beyond[kCapacity];
    };
    /// The same for many points, in vectors where the processor has them: the same bits.
    void straight(std::uint32_t joint, PointBatch& points) const;

    /// Calls work(space) for each bone of a joint.
    template <typename Work>
    void each(std::uint32_t joint, const Work& work) const {
        for (const Shape& s : of_joint_[joint]) work(s.space);
    }

    /// Where the joint itself is.
    const Point3& place(std::uint32_t joint) const { return place_[joint]; }

private:
    struct Shape {
        BoneSpace space;
        double open_head, open_tail;  // 1 if it is, else 0
    };
    // The nearer of d and the bone s of the same joint; of equally near ones the smaller `beyond`. Branchless: the
    // conditions are unpredictable.
    static Distance nearer(const Distance& d, const Shape& s, const SegmentPosition& at, double distance) {
        const double slack = 1e-9 * distance;  // bones that share a joint are equally near behind it
        const double before = s.open_head * -at.along, behind = s.open_tail * (at.along - at.length);
        const double most = before > behind ? before : behind;
        const double over = most > s.space.radius() ? most - s.space.radius() : 0;
        const double both = over < d.beyond ? over : d.beyond;
        const double beyond = distance < d.nearest - slack ? over : both;
        const bool farther = distance > d.nearest + slack;
        return {distance < d.nearest ? distance : d.nearest, farther ? d.beyond : beyond};
    }
    struct Kernel;

    std::vector<Point3> place_;                 // per joint
    std::vector<std::vector<Shape>> of_joint_;  // per joint; never empty
};

}  // namespace sinew
