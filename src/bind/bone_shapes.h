// The bones of every joint as shapes to measure from.
#pragma once

#include <cmath>
#include <vector>

#include "core/geometry.h"
#include "sinew/skeleton.h"

namespace sinew {

class BoneShapes {
public:
    BoneShapes(const Skeleton& skeleton, const std::vector<Bone>& bones) {
        for (const Joint& joint : skeleton.joints) place_.push_back(to_point(joint.position));
        of_joint_.resize(skeleton.joints.size());
        for (const Bone& bone : bones)
            of_joint_[bone.joint].push_back(
                {to_point(bone.head), to_point(bone.tail), bone.open_head, bone.open_tail});
        for (std::size_t j = 0; j < of_joint_.size(); ++j) {
            // Idle joints own no bone; where a skin has nothing else they still serve, as points.
            if (of_joint_[j].empty()) of_joint_[j].push_back({place_[j], place_[j], false, false});
        }
    }

    struct Distance {
        double nearest;  ///< to the nearest of the joint's bones
        double beyond;   ///< how far the point lies beyond that bone's open end
    };
    /// In scene units. O(bones of the joint).
    Distance straight(std::uint32_t joint, const Point3& p) const {
        Distance d{INFINITY, 0};
        for (const Segment& s : of_joint_[joint]) {
            const SegmentPosition at = segment_distance(s.a, s.b, p);
            const double slack = 1e-9 * at.distance;  // bones that share a joint are equally near behind it
            if (at.distance > d.nearest + slack) continue;
            double over = 0;
            if (s.open_head && at.along < 0) over = -at.along;
            if (s.open_tail && at.along > at.length) over = at.along - at.length;
            d.beyond = at.distance < d.nearest - slack ? over : std::min(d.beyond, over);
            d.nearest = std::min(d.nearest, at.distance);
        }
        return d;
    }

    /// Where the joint itself is.
    const Point3& place(std::uint32_t joint) const { return place_[joint]; }

private:
    struct Segment {
        Point3 a, b;
        bool open_head, open_tail;
    };
    std::vector<Point3> place_;                   // per joint
    std::vector<std::vector<Segment>> of_joint_;  // per joint; never empty
};

}  // namespace sinew
