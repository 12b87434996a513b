#include "bind/surface_heat/enclosed_joints.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/vectors.h"

namespace sinew {
namespace {

constexpr std::uint32_t kNone = MeshSurface::none;
constexpr int kSteps = 32;
}  // namespace

EnclosedJoints::EnclosedJoints(const MeshView& mesh, const Skeleton& skeleton, const std::vector<Bone>& bones,
                               const std::vector<SurfacePart>& parts,
                               const std::function<bool(const Point3&)>& solid, Context* context,
                               const EnclosedRules& rules)
    : mesh_(mesh), parts_(parts), rules_(rules), of_(skeleton.joints.size()) {
    const std::size_t count = skeleton.joints.size();
    const auto place = [&](std::size_t joint) { return to_point(skeleton.joints[joint].position); };
    double largest = 0;
    for (const SurfacePart& part : parts) largest = std::max(largest, part.box.longest());
    // The smallest part around each joint, of those that are not among the largest themselves.
    parallel_for(context, count, 1, [&](std::size_t j) {
        std::uint32_t& within = of_[j].within;
        double least = std::nextafter(largest / rules_.larger, INFINITY);
        if (!skeleton.joints[j].deform || cancelled(context)) return;
        for (std::uint32_t part = 0; part < parts.size(); ++part)
            if (parts[part].box.longest() < least && holds(part, place(j), rules_.closed))
                within = part, least = parts[part].box.longest();
    });
    for (const Bone& bone : bones) {
        Own& own = of_[bone.joint];
        if (own.within == kNone) continue;
        own.ball = is_ball(own.within, place(bone.joint));
        if (own.ball) continue;
        // How much of the bone is inside the character, but not inside the part? In the open a bone moves nothing.
        const Point3 head = to_point(bone.head), way = to_point(bone.tail) - head;
        const double most = rules_.beyond * parts[own.within].box.longest(), step = norm(way) / kSteps;
        double beyond = 0;
        for (int k = 0; k < kSteps; ++k) {
            const Point3 p = head + ((k + 0.5) / kSteps) * way;
            if (solid(p) && !holds(own.within, p, rules_.inside)) beyond += step;
        }
        if (beyond > most) own.within = kNone;
    }
    const auto above = [&](std::size_t joint) { return skeleton.joints[joint].parent; };
    // Of a joint whose limb leads out of its part nothing is said.
    for (std::size_t j = 0; j < count; ++j) {
        if (!skeleton.joints[j].deform) continue;
        for (int up = above(j); up >= 0; up = above(static_cast<std::size_t>(up))) {
            std::uint32_t& within = of_[static_cast<std::size_t>(up)].within;
            if (within != kNone && within != of_[j].within && !holds(within, place(j), rules_.closed))
                within = kNone;
        }
    }
    // Which parts the joint is nothing to. Without another joint inside they might have none: the leg of a machine
    // is made of many pieces. Hair is open, and has the head in its box.
    parallel_for(context, count, 1, [&](std::size_t j) {
        Own& own = of_[j];
        int up = above(j);
        while (up >= 0 && !skeleton.joints[static_cast<std::size_t>(up)].deform)
            up = above(static_cast<std::size_t>(up));
        if (own.within == kNone || up < 0 || cancelled(context)) return;
        const Point3 joint_above = place(static_cast<std::size_t>(up));
        own.others.assign(parts.size(), false);
        for (std::uint32_t part = 0; part < parts.size(); ++part)
            own.others[part] =
                parts[part].box.longest() >= rules_.larger * parts[own.within].box.longest() &&
                (own.ball ? parts[part].box.holds(joint_above) : holds(part, joint_above, rules_.inside));
    });
}

bool EnclosedJoints::apart(std::uint32_t joint, std::uint32_t part, const Point3& point) const {
    const Own& own = of_[joint];
    if (own.others.empty() || !own.others[part]) return false;
    // A foot in its shoe goes with it, and no face with an eye, though it may run through the eyeball.
    return own.ball || !holds(own.within, point, rules_.inside);
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

bool EnclosedJoints::holds(std::uint32_t part, const Point3& point, double least) const {
    return parts_[part].box.holds(point) && std::abs(winding_number(mesh_, parts_[part].triangles, point)) >= least;
}

}  // namespace sinew
