#include "bind/surface_heat/enclosed_joints.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/vectors.h"

namespace sinew {
namespace {

constexpr int kSamplesOfBone = 32;

Point3 position_of(const Skeleton& skeleton, std::size_t joint) {
    return to_point(skeleton.joints[joint].position);
}

}  // namespace

EnclosedJoints::EnclosedJoints(const MeshView& mesh, const Skeleton& skeleton, const std::vector<Bone>& bones,
                               const std::vector<SurfacePart>& parts,
                               const std::function<bool(const Point3&)>& solid, Context* context,
                               const EnclosedRules& rules)
    : mesh_(mesh), parts_(parts), rules_(rules), enclosure_(skeleton.joints.size()) {
    find_enclosing_parts(skeleton, context);
    leave_out_long_bones(skeleton, bones, solid);
    leave_out_limbs(skeleton);
    find_separate_parts(skeleton, context);
}

// The smallest part around each joint, unless it is among the largest parts.
void EnclosedJoints::find_enclosing_parts(const Skeleton& skeleton, Context* context) {
    double largest = 0;
    for (const SurfacePart& part : parts_) largest = std::max(largest, part.box.longest());
    parallel_for(context, enclosure_.size(), 1, [&](std::size_t j) {
        std::uint32_t& enclosing = enclosure_[j].part;
        double least = std::nextafter(largest / rules_.larger, INFINITY);
        if (!skeleton.joints[j].deform || cancelled(context)) return;
        for (std::uint32_t part = 0; part < parts_.size(); ++part)
            if (parts_[part].box.longest() < least && encloses(part, position_of(skeleton, j), rules_.closed))
                enclosing = part, least = parts_[part].box.longest();
    });
}

// A joint is not enclosed if too much of its bone is inside the character but outside the part. Where the bone is
// outside the character it moves nothing.
void EnclosedJoints::leave_out_long_bones(const Skeleton& skeleton, const std::vector<Bone>& bones,
                                          const std::function<bool(const Point3&)>& solid) {
    for (const Bone& bone : bones) {
        Enclosure& own = enclosure_[bone.joint];
        if (own.part == no_index) continue;
        own.is_ball = is_ball(own.part, position_of(skeleton, bone.joint));
        if (own.is_ball) continue;
        const Point3 head = to_point(bone.head), to_tail = to_point(bone.tail) - head;
        const double most = rules_.beyond * parts_[own.part].box.longest(), step = norm(to_tail) / kSamplesOfBone;
        double outside = 0;
        for (int k = 0; k < kSamplesOfBone; ++k) {
            const Point3 p = head + ((k + 0.5) / kSamplesOfBone) * to_tail;
            if (solid(p) && !encloses(own.part, p, rules_.inside)) outside += step;
        }
        if (outside > most) own.part = no_index;
    }
}

// For each joint the nearest one above it that has a part, or -1. O(joints).
std::vector<int> EnclosedJoints::enclosed_above(const Skeleton& skeleton) const {
    constexpr int unknown = -2;
    std::vector<int> above(enclosure_.size(), unknown);
    std::vector<std::size_t> path;
    for (std::size_t j = 0; j < above.size(); ++j) {
        path.clear();
        for (std::size_t at = j; above[at] == unknown;) {
            path.push_back(at);
            const int up = skeleton.joints[at].parent;
            if (up < 0)
                above[at] = -1;
            else if (enclosure_[static_cast<std::size_t>(up)].part != no_index)
                above[at] = up;
            else
                at = static_cast<std::size_t>(up);
        }
        if (path.empty()) continue;
        const int up = skeleton.joints[path.back()].parent;
        const int found = above[path.back()] != unknown ? above[path.back()] : above[static_cast<std::size_t>(up)];
        for (const std::size_t at : path) above[at] = found;
    }
    return above;
}

// A joint is not enclosed if a joint below it lies outside the part. Joints above each other with one part are
// tested together: a chain may have tens of thousands.
void EnclosedJoints::leave_out_limbs(const Skeleton& skeleton) {
    const std::vector<int> above = enclosed_above(skeleton);
    const auto part_of = [&](int joint) -> std::uint32_t& {
        return enclosure_[static_cast<std::size_t>(joint)].part;
    };
    std::vector<std::uint32_t> before;  // per joint: its part at the start
    for (const Enclosure& own : enclosure_) before.push_back(own.part);
    const auto same_part = [&](int a, int b) {
        return b >= 0 && before[static_cast<std::size_t>(a)] == before[static_cast<std::size_t>(b)];
    };
    // For each joint with a part: the nearest one above with another part.
    std::vector<int> other(above.size(), -1);
    std::vector<int> path;
    std::vector<bool> known(above.size(), false);
    for (std::size_t j = 0; j < above.size(); ++j) {
        if (before[j] == no_index || known[j]) continue;
        path.assign(1, static_cast<int>(j));
        while (same_part(path.back(), above[static_cast<std::size_t>(path.back())]) &&
               !known[static_cast<std::size_t>(above[static_cast<std::size_t>(path.back())])])
            path.push_back(above[static_cast<std::size_t>(path.back())]);
        const int up = above[static_cast<std::size_t>(path.back())];
        const int end = same_part(path.back(), up) ? other[static_cast<std::size_t>(up)] : up;
        for (const int at : path)
            other[static_cast<std::size_t>(at)] = end, known[static_cast<std::size_t>(at)] = true;
    }
    for (std::size_t j = 0; j < enclosure_.size(); ++j) {
        if (!skeleton.joints[j].deform) continue;
        for (int up = above[j]; up >= 0; up = other[static_cast<std::size_t>(up)]) {
            const std::uint32_t part = part_of(up);
            // Where one has lost its part, those above it with the same part have, too.
            if (part == no_index || part == enclosure_[j].part ||
                encloses(part, position_of(skeleton, j), rules_.closed))
                continue;
            for (int at = up; same_part(up, at); at = above[static_cast<std::size_t>(at)]) part_of(at) = no_index;
        }
    }
}

// Much larger parts that enclose the joint above. Without another joint inside, a part might get no joint at all:
// the leg of a machine is made of many pieces. For the part of a ball the box decides, since hair is open, and has
// the head in its box.
void EnclosedJoints::find_separate_parts(const Skeleton& skeleton, Context* context) {
    parallel_for(context, enclosure_.size(), 1, [&](std::size_t j) {
        Enclosure& own = enclosure_[j];
        if (own.part == no_index) return;
        int up = skeleton.joints[j].parent;
        while (up >= 0 && !skeleton.joints[static_cast<std::size_t>(up)].deform)
            up = skeleton.joints[static_cast<std::size_t>(up)].parent;
        if (up < 0 || cancelled(context)) return;
        const Point3 above = position_of(skeleton, static_cast<std::size_t>(up));
        own.separate.assign(parts_.size(), false);
        for (std::uint32_t part = 0; part < parts_.size(); ++part)
            own.separate[part] =
                parts_[part].box.longest() >= rules_.larger * parts_[own.part].box.longest() &&
                (own.is_ball ? parts_[part].box.holds(above) : encloses(part, above, rules_.inside));
    });
}

bool EnclosedJoints::is_separate(std::uint32_t joint, std::uint32_t part, const Point3& point) const {
    const Enclosure& own = enclosure_[joint];
    if (own.separate.empty() || !own.separate[part]) return false;
    // A foot inside its shoe moves with the shoe. A face never moves with an eye, even if it passes through the
    // eyeball.
    return own.is_ball || !encloses(own.part, point, rules_.inside);
}

bool EnclosedJoints::is_ball(std::uint32_t part, const Point3& centre) const {
    double sum = 0, squares = 0, count = 0;
    for (const Triangle& t : parts_[part].triangles)
        for (const std::uint32_t v : t) {
            const double radius = norm(to_point(mesh_.positions[v]) - centre);
            sum += radius, squares += radius * radius, ++count;
        }
    const double mean = sum / count;
    return squares / count - mean * mean < rules_.round * rules_.round * mean * mean;
}

bool EnclosedJoints::encloses(std::uint32_t part, const Point3& point, double least_winding) const {
    return parts_[part].box.holds(point) &&
           std::abs(winding_number(mesh_, parts_[part].triangles, point)) >= least_winding;
}

}  // namespace sinew
