#include "bind/enclosed_joints.h"

#include <algorithm>
#include <cmath>

#include "core/vectors.h"

namespace sinew {
namespace {

constexpr std::uint32_t kNone = MeshSurface::none;
// Winding numbers: of a joint, around which its part must be closed but for a hole that nobody sees (the back of an
// eyeball), and of what is inside with it.
constexpr double kClosed = 0.7, kInside = 0.5;
// A part so many times as long as the one that encloses a joint is another thing. A glove is not, around a hand.
constexpr double kLarger = 2;
// A bone of which more lies in other flesh, by length of its part, moves that flesh.
constexpr double kBeyond = 0.5;
constexpr int kSteps = 32;
// But not from the centre of a ball, wherever its tail may point: radii that spread by less than this share.
constexpr double kRound = 0.2;

bool in_box(const Box3& box, const Point3& p) {
    for (std::size_t k = 0; k < 3; ++k)
        if (p[k] < box.low[k] || p[k] > box.high[k]) return false;
    return true;
}

}  // namespace

EnclosedJoints::EnclosedJoints(const MeshView& mesh, const Skeleton& skeleton, const std::vector<Bone>& bones,
                               const std::vector<SurfacePart>& parts,
                               const std::function<bool(const Point3&)>& solid)
    : mesh_(mesh), skeleton_(skeleton), parts_(parts), within_(skeleton.joints.size(), kNone), ball_(within_.size(), false) {
    const std::size_t count = skeleton.joints.size();
    const auto encloses = [&](std::uint32_t part, std::size_t joint) {
        return holds(part, to_point(skeleton.joints[joint].position), kClosed);
    };
    for (std::size_t j = 0; j < count; ++j)
        for (std::uint32_t part = 0; part < parts.size() && skeleton.joints[j].deform; ++part) {
            const bool smaller =
                within_[j] == kNone || parts[part].box.longest() < parts[within_[j]].box.longest();
            if (smaller && encloses(part, j)) within_[j] = part;
        }
    for (const Bone& bone : bones) {
        std::uint32_t& own = within_[bone.joint];
        if (own == kNone) continue;
        ball_[bone.joint] = is_ball(own, to_point(skeleton.joints[bone.joint].position));
        if (ball_[bone.joint]) continue;
        // How much of the bone is inside the character, but not inside the part? In the open a bone moves nothing.
        const Point3 head = to_point(bone.head), way = to_point(bone.tail) - head;
        const double most = kBeyond * parts[own].box.longest(), step = norm(way) / kSteps;
        double beyond = 0;
        for (int k = 0; k < kSteps; ++k) {
            const Point3 p = head + ((k + 0.5) / kSteps) * way;
            if (solid(p) && !holds(own, p, kInside)) beyond += step;
        }
        if (beyond > most) own = kNone;
    }
    // Of a joint whose limb leads out of its part nothing is said.
    for (std::size_t j = 0; j < count; ++j) {
        if (!skeleton.joints[j].deform) continue;
        for (int up = skeleton.joints[j].parent; up >= 0; up = skeleton.joints[static_cast<std::size_t>(up)].parent) {
            std::uint32_t& above = within_[static_cast<std::size_t>(up)];
            if (above != kNone && above != within_[j] && !encloses(above, j)) above = kNone;
        }
    }
}

bool EnclosedJoints::apart(std::uint32_t joint, std::uint32_t part, const Point3& point) const {
    const std::uint32_t own = within_[joint];
    if (own == kNone || own == part) return false;
    if (parts_[part].box.longest() < kLarger * parts_[own].box.longest()) return false;
    // A foot in its shoe goes with it, and no face with an eye, though it may run through the eyeball.
    if (!ball_[joint] && holds(own, point, kInside)) return false;
    // Without another joint inside it might have none: the leg of a machine is made of many pieces.
    int above = skeleton_.joints[joint].parent;
    while (above >= 0 && !skeleton_.joints[static_cast<std::size_t>(above)].deform)
        above = skeleton_.joints[static_cast<std::size_t>(above)].parent;
    if (above < 0) return false;
    // Hair is open, and has the head in its box.
    const Point3 p = to_point(skeleton_.joints[static_cast<std::size_t>(above)].position);
    return ball_[joint] ? in_box(parts_[part].box, p) : holds(part, p, kInside);
}

bool EnclosedJoints::is_ball(std::uint32_t part, const Point3& centre) const {
    double sum = 0, squares = 0, count = 0;
    for (const Triangle& t : parts_[part].triangles)
        for (const std::uint32_t v : t) {
            const double radius = norm(to_point(mesh_.positions[v]) - centre);
            sum += radius, squares += radius * radius, ++count;
        }
    const double mean = sum / count;
    return squares / count - mean * mean < kRound * kRound * mean * mean;
}

bool EnclosedJoints::holds(std::uint32_t part, const Point3& point, double least) const {
    return in_box(parts_[part].box, point) &&
           std::abs(winding_number(mesh_, parts_[part].triangles, point)) >= least;
}

}  // namespace sinew
