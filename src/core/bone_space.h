// The space that a bone fills: a line, a capsule, a ball or a box.
#pragma once

#include "core/geometry.h"
#include "sinew/skeleton.h"

namespace sinew {

class BoneSpace {
public:
    explicit BoneSpace(const Bone& bone) : BoneSpace(bone, {0, 0, 0}, 1) {}
    explicit BoneSpace(const Vec3& point) : BoneSpace(to_point(point), to_point(point), 0) {}
    /// Coordinates are in a moved and scaled frame; lengths are in `unit`s.
    BoneSpace(const Bone& bone, const Point3& origin, double unit)
        : BoneSpace(placed(bone.head, origin, unit), placed(bone.tail, origin, unit), bone.radius / unit) {
        if (!bone.box) return;
        is_box_ = true;
        for (std::size_t k = 0; k < 3; ++k) axes_[k] = to_point(bone.box->axes[k]);
        half_ = {bone.box->half.x / unit, bone.box->half.y / unit, bone.box->half.z / unit};
    }

    /// Parameter of the point of the segment that is nearest to p.
    SegmentPosition beside(const Point3& p) const { return segment_.at(p); }

    /// Signed distance to the surface, negative inside. It is 1-Lipschitz: it never changes by more than the
    /// point moves. Never negative for a line.
    double signed_distance(const Point3& p) const { return is_box_ ? to_box(p) : beside(p).distance - radius_; }
    double distance(const Point3& p) const { return std::max(0.0, signed_distance(p)); }
    /// The same for a point whose parameter along the segment is known.
    double distance(const Point3& p, const SegmentPosition& there) const {
        return std::max(0.0, is_box_ ? to_box(p) : there.distance - radius_);
    }

    /// From the nearest point of the segment to p.
    Point3 way(const Point3& p) const { return segment_.way(p); }

    bool is_line() const { return !is_box_ && radius_ == 0; }
    bool is_box() const { return is_box_; }
    double radius() const { return radius_; }
    Point3 centre() const { return {(a_[0] + b_[0]) / 2, (a_[1] + b_[1]) / 2, (a_[2] + b_[2]) / 2}; }
    /// No point of the bone or of its shape is farther from the centre.
    double extent() const {
        const double length = std::hypot(b_[0] - a_[0], b_[1] - a_[1], b_[2] - a_[2]) / 2;
        return std::max(length + radius_, std::hypot(half_[0], half_[1], half_[2]));
    }
    const Point3& head() const { return a_; }
    const Point3& tail() const { return b_; }
    bool operator==(const BoneSpace&) const = default;

private:
    BoneSpace(const Point3& a, const Point3& b, double radius) : a_(a), b_(b), segment_(a, b), radius_(radius) {}
    static Point3 placed(const Vec3& p, const Point3& origin, double unit) {
        return {(p.x - origin[0]) / unit, (p.y - origin[1]) / unit, (p.z - origin[2]) / unit};
    }
    double to_box(const Point3& p) const {
        const Point3 c = centre(), d{p[0] - c[0], p[1] - c[1], p[2] - c[2]};
        double outside = 0, inside = -INFINITY;
        for (std::size_t k = 0; k < 3; ++k) {
            const Point3& axis = axes_[k];
            const double over = std::abs(d[0] * axis[0] + d[1] * axis[1] + d[2] * axis[2]) - half_[k];
            outside += over > 0 ? over * over : 0;
            inside = std::max(inside, over);
        }
        return inside > 0 ? std::sqrt(outside) : inside;
    }

    Point3 a_, b_;
    SegmentRuler segment_;
    double radius_;
    bool is_box_ = false;
    std::array<Point3, 3> axes_{};
    Point3 half_{};
};

}  // namespace sinew
