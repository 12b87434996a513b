// Poses for inspection and measurement, made from the anatomy of the skeleton (deform/anatomy.h).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "deform/anatomy.h"
#include "sinew/deform.h"

namespace sinew {
namespace {

struct Rotation {
    Point3 v{};
    double w = 1;
};

// b first, then a.
Rotation combine(const Rotation& a, const Rotation& b) {
    return {a.w * b.v + b.w * a.v + cross(a.v, b.v), a.w * b.w - dot(a.v, b.v)};
}

Rotation about(const Point3& axis, double degrees) {
    const double half = degrees * std::numbers::pi / 360;
    return {std::sin(half) * unit(axis), std::cos(half)};
}

Point3 turn(const Rotation& q, const Point3& p) {
    const Point3 across = cross(q.v, p);
    return p + 2.0 * (q.w * across + cross(q.v, across));
}

// Turns joints about axes of bind space, and converts the result to each joint's own axes.
class Poser {
public:
    Poser(const Skeleton& skeleton, const Anatomy& anatomy)
        : skeleton_(skeleton), a_(anatomy), turned_(skeleton.joints.size()), moved_by_(turned_.size()) {}

    void rotate(std::uint32_t joint, const Point3& axis, double degrees) {
        turned_[joint] = combine(about(axis, degrees), turned_[joint]);
        moved_ = true;
    }

    // Turns the joint so that `end` is in `direction` from it; by at most `limit` degrees.
    void aim(std::uint32_t joint, std::uint32_t end, const Point3& direction, double limit) {
        const Point3 from = unit(a_.position[end] - a_.position[joint]), to = unit(direction);
        Point3 axis = cross(from, to);
        const double angle = std::atan2(norm(axis), dot(from, to)) * 180 / std::numbers::pi;
        if (norm(axis) < 1e-6) axis = a_.forward;  // parallel or opposite: any perpendicular axis will do
        rotate(joint, axis, std::min(angle, limit));
    }

    // The same part of an angle for each joint of a chain.
    void spread(const Chain& chain, std::size_t count, const Point3& axis, double degrees) {
        count = std::min(count, chain.size());
        for (std::size_t i = 0; i < count; ++i) rotate(chain[i], axis, degrees / static_cast<double>(count));
    }

    // Feet in another chain move with the limbs that end at them, as rig controls would move them. They are
    // children of a joint above the limb, or roots, so the rotations between that joint and the limb's tip
    // apply to them.
    void take_feet_along() {
        for (const Limb& limb : a_.limbs) {
            if (!limb.foot) continue;
            const std::uint32_t foot = *limb.foot;
            Rotation turned;
            Point3 place = a_.position[foot];
            for (int at = static_cast<int>(limb.chain.back()); at != skeleton_.joints[foot].parent;) {
                const auto j = static_cast<std::size_t>(at);
                turned = combine(turned_[j], turned);
                place = a_.position[j] + moved_by_[j] + turn(turned_[j], place - a_.position[j]);
                at = skeleton_.joints[j].parent;
            }
            turned_[foot] = combine(turned, turned_[foot]);
            moved_by_[foot] = place - a_.position[foot];
        }
    }

    bool moved() const { return moved_; }

    std::vector<JointPose> pose() const {
        std::vector<JointPose> out(turned_.size());
        for (std::size_t j = 0; j < out.size(); ++j) {
            const Rotation& q = turned_[j];
            const Point3& by = moved_by_[j];
            if (q.w == 1 && by == Point3{}) continue;
            // Orthonormal, as skinning_matrices makes them.
            const auto& axes = skeleton_.joints[j].axes;
            const Point3 x = unit({axes[0].x, axes[0].y, axes[0].z});
            Point3 y{axes[1].x, axes[1].y, axes[1].z};
            y = unit(y - dot(x, y) * x);
            const Point3 z = cross(x, y);
            out[j].rotation = {dot(x, q.v), dot(y, q.v), dot(z, q.v), q.w};
            if (by != Point3{}) out[j].translation = {dot(x, by), dot(y, by), dot(z, by)};
        }
        return out;
    }

private:
    const Skeleton& skeleton_;
    const Anatomy& a_;
    std::vector<Rotation> turned_;
    std::vector<Point3> moved_by_;  // in bind space, before the motion of the joints above
    bool moved_ = false;
};

// The axis about which a knee or elbow bends further in its present direction. If it is straight, knees bend
// backwards and elbows forwards.
Point3 hinge(const Anatomy& a, const Limb& limb) {
    const Point3 root = a.position[limb.chain[limb.root]], knee = a.position[limb.chain[*limb.knee]],
                 wrist = a.position[limb.chain[limb.wrist]];
    const Point3 upper = unit(knee - root), lower = *limb.knee == limb.wrist ? upper : unit(wrist - knee);
    const Point3 axis = cross(upper, lower);
    if (norm(axis) > 0.1) return unit(axis);
    const Point3 towards = limb.leg ? -1.0 * a.forward : a.forward;
    const Point3 bent = cross(lower, towards);
    return norm(bent) > 1e-3 ? unit(bent) : a.lateral;
}

void raise_arms(Poser& p, const Anatomy& a, bool forward) {
    for (const Limb& limb : a.limbs) {
        if (limb.leg) continue;
        const std::uint32_t root = limb.chain[limb.root], end = limb.chain[limb.knee.value_or(limb.wrist)];
        const Point3 out = limb.side * a.lateral;
        p.aim(root, end, forward ? a.forward + 0.15 * out : a.up + 0.35 * out, 150);
    }
}

void crouch(Poser& p, const Anatomy& a) {
    constexpr double bend = 90;
    for (const Limb& limb : a.limbs) {
        if (!limb.leg || !limb.knee) continue;
        const Point3 axis = hinge(a, limb);
        p.rotate(limb.chain[limb.root], axis, -bend / 2);
        p.rotate(limb.chain[*limb.knee], axis, bend);
        if (limb.wrist > *limb.knee)
            p.rotate(limb.chain[limb.wrist], axis, -bend / 2);
        else if (limb.foot)
            p.rotate(*limb.foot, axis, -bend / 2);
    }
}

// Legs swing alternately, arms against them; first the legs of a pair, then pair after pair.
void stride(Poser& p, const Anatomy& a) {
    std::vector<std::uint32_t> hips;  // roots of the pairs so far, by their joint at the trunk
    for (const Limb& limb : a.limbs) {
        const Point3 axis = -1.0 * a.lateral;  // rotation about it swings a hanging limb forward
        if (limb.leg) {
            // Diagonal pairs move together: the second pair steps against the first.
            const Point3 at = a.position[limb.chain[0]];
            const double pair = dot(a.forward, at - a.position[a.limbs[0].chain[0]]) > 0.2 * a.size ||
                                        dot(a.forward, at - a.position[a.limbs[0].chain[0]]) < -0.2 * a.size
                                    ? -1
                                    : 1;
            const double swing = 32 * limb.side * pair;
            p.rotate(limb.chain[limb.root], axis, swing);
            if (limb.knee && swing < 0) p.rotate(limb.chain[*limb.knee], hinge(a, limb), 40);
        } else {
            // From its present direction towards the side of the body and slightly before or behind it.
            const std::uint32_t root = limb.chain[limb.root], end = limb.chain[limb.knee.value_or(limb.wrist)];
            p.aim(root, end, -1.0 * a.up + (0.25 * limb.side) * a.lateral - (0.5 * limb.side) * a.forward, 80);
            if (limb.knee) p.rotate(limb.chain[*limb.knee], hinge(a, limb), 30);
        }
    }
}

void twist(Poser& p, const Anatomy& a) {
    if (!a.spine.empty()) {
        const Point3 axis = a.position[a.spine.back()] - a.position[a.spine[0]];
        p.spread(a.spine, a.spine.size(), norm(axis) > 0 ? axis : a.up, 60);
    }
    for (const Limb& limb : a.limbs) {
        if (limb.leg || limb.wrist == 0) continue;
        const Point3 axis = a.position[limb.chain[limb.wrist]] - a.position[limb.chain[limb.wrist - 1]];
        p.rotate(limb.chain[limb.wrist], axis, 90 * limb.side);
    }
}

void fist(Poser& p, const Anatomy& a) {
    for (const Hand& hand : a.hands) {
        Point3 mean{};
        for (const Chain& f : hand.fingers) mean = mean + unit(a.position[f.back()] - a.position[hand.wrist]);
        mean = unit(mean);
        // The thumb is the finger that points away from the others.
        std::size_t thumb = 0;
        double least = 2;
        for (std::size_t i = 0; i < hand.fingers.size(); ++i) {
            const Chain& f = hand.fingers[i];
            const double along = dot(mean, unit(a.position[f.back()] - a.position[hand.wrist]));
            if (along < least) {
                least = along;
                thumb = i;
            }
        }
        for (std::size_t i = 0; i < hand.fingers.size(); ++i) {
            const Chain& f = hand.fingers[i];
            const Point3 direction = unit(a.position[f.back()] - a.position[f[0]]);
            const Point3 axis = cross(norm(direction) > 0 ? direction : mean, hand.palm);
            const bool is_thumb = i == thumb && hand.fingers.size() >= 3;
            // Five joints: the first is inside the palm, and the last is the tip.
            const std::size_t first = f.size() >= 5 ? 1 : 0;
            for (std::size_t k = first; k < std::min(first + 3, f.size()); ++k)
                p.rotate(f[k], axis, is_thumb ? 25 : 65);
        }
    }
}

// Turns every joint a little, so that all of them move.
void curl(Poser& p, const Anatomy& a) {
    std::size_t deepest = 1;
    std::vector<std::size_t> depth(a.children.size(), 0);
    std::vector<std::uint32_t> order;
    std::vector<bool> child(a.children.size(), false);
    for (const auto& list : a.children)
        for (const std::uint32_t c : list) child[c] = true;
    for (std::uint32_t j = 0; j < a.children.size(); ++j)
        if (!child[j]) order.push_back(j);
    for (std::size_t i = 0; i < order.size(); ++i)
        for (const std::uint32_t c : a.children[order[i]]) {
            depth[c] = depth[order[i]] + 1;
            deepest = std::max(deepest, depth[c]);
            order.push_back(c);
        }
    // A skeleton without hierarchy has only roots.
    const bool flat = deepest == 1 && std::none_of(child.begin(), child.end(), [](bool c) { return c; });
    for (const std::uint32_t j : order)
        if (child[j] || flat) p.rotate(j, a.lateral, std::min(12.0, 90.0 / static_cast<double>(deepest)));
}

}  // namespace

std::vector<NamedPose> standard_poses(const Skeleton& skeleton, const Vec3& up) {
    if (!check_skeleton(skeleton)) return {};
    const Anatomy a = read_anatomy(skeleton, up);
    std::vector<NamedPose> poses;
    auto add = [&](const char* name, auto&& make) {
        Poser p(skeleton, a);
        make(p);
        p.take_feet_along();
        if (p.moved()) poses.push_back({name, p.pose()});
    };
    add("arms up", [&](Poser& p) { raise_arms(p, a, false); });
    add("arms forward", [&](Poser& p) { raise_arms(p, a, true); });
    add("squat", [&](Poser& p) { crouch(p, a); });
    add("stride", [&](Poser& p) { stride(p, a); });
    add("twist", [&](Poser& p) { twist(p, a); });
    add("bend", [&](Poser& p) { p.spread(a.spine, a.spine.size(), a.lateral, 70); });
    // The tip of the head has no joint beyond it.
    add("head turn", [&](Poser& p) {
        p.spread(a.neck, std::clamp<std::size_t>(a.neck.size() - std::min<std::size_t>(a.neck.size(), 1), 1, 3),
                 a.up, 60);
    });
    add("fist", [&](Poser& p) { fist(p, a); });
    add("tail", [&](Poser& p) { p.spread(a.tail, a.tail.size(), a.up, 100); });
    add("curl", [&](Poser& p) { curl(p, a); });
    return poses;
}

std::vector<JointPose> random_pose(const Skeleton& skeleton, double degrees, std::uint64_t seed) {
    // SplitMix64 (Steele et al. 2014): the distributions of the standard library differ between
    // implementations.
    auto next = [state = seed]() mutable {
        state += 0x9e3779b97f4a7c15u;
        std::uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        return static_cast<double>(z >> 11) * 0x1p-53;
    };
    std::vector<JointPose> pose(skeleton.joints.size());
    for (JointPose& joint : pose) {
        const double z = 2 * next() - 1, phi = 2 * std::numbers::pi * next(), r = std::sqrt(1 - z * z);
        const Rotation q = about({r * std::cos(phi), r * std::sin(phi), z}, degrees * (2 * next() - 1));
        joint.rotation = {q.v[0], q.v[1], q.v[2], q.w};
    }
    return pose;
}

}  // namespace sinew
