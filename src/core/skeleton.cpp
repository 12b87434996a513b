#include "sinew/skeleton.h"

#include <algorithm>
#include <cmath>

#include "core/geometry.h"
#include "core/idle_joints.h"
#include "core/joint_names.h"
#include "core/try.h"

namespace sinew {

namespace {

std::string describe(const Skeleton& skeleton, std::size_t joint) {
    return "joint " + std::to_string(joint) + " (\"" + printable(skeleton.joints[joint].name) + "\")";
}

// Describes the fault of a shape; empty if it is valid.
std::string shape_fault(const JointShape& shape, const std::array<Vec3, 3>& own_axes) {
    const auto size = [](float x) { return x > 0 && x <= kLargestCoordinate; };
    if (shape.kind != JointShape::Kind::box)
        return size(shape.radius) ? "" : "a radius that is not above 0 and at most 1e18";
    if (!size(shape.half.x) || !size(shape.half.y) || !size(shape.half.z))
        return "a box whose half sides are not all above 0 and at most 1e18";
    const auto& axes = shape.axes.value_or(own_axes);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = i; k < 3; ++k) {
            const Point3 a = to_point(axes[i]), b = to_point(axes[k]);
            // Written so that NaN fails.
            if (!(std::abs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - (i == k ? 1 : 0)) < 1e-3))
                return "a box whose axes are not three unit vectors at right angles";
        }
    return "";
}

/// Whether p is nearer to a than to b.
bool nearer(const Vec3& p, const Vec3& a, const Vec3& b) {
    const auto squared = [&](const Vec3& q) {
        const double x = double(p.x) - q.x, y = double(p.y) - q.y, z = double(p.z) - q.z;
        return x * x + y * y + z * z;
    };
    return squared(a) < squared(b);
}

bool finite_position(const Vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

// All rules except the globs of the user.
Status check_structure(const Skeleton& skeleton) {
    const std::size_t n = skeleton.joints.size();
    if (n == 0) return Error{ErrorCode::input, "the skeleton has no joints"};
    if (n >= 0xffffu)
        return Error{ErrorCode::input, "the skeleton has " + std::to_string(n) +
                                           " joints: no more than 65534 can be bound at once, split it"};
    for (std::size_t j = 0; j < n; ++j) {
        const Joint& joint = skeleton.joints[j];
        if (joint.parent < -1 || joint.parent >= int(n))
            return Error{ErrorCode::input, describe(skeleton, j) + " has the parent " +
                                               std::to_string(joint.parent) + ", but there are only " +
                                               std::to_string(n) + " joints (-1 = a root)"};
        if (!finite_position(joint.position))
            return Error{ErrorCode::input, describe(skeleton, j) + " has a position that is not finite"};
        const Vec3& p = joint.position;
        if (std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}) > kLargestCoordinate)
            return Error{ErrorCode::input,
                         describe(skeleton, j) + " has a coordinate beyond 1e18: check its scale"};
        if (joint.tail && !finite_position(*joint.tail))
            return Error{ErrorCode::input, describe(skeleton, j) + " has a tail that is not finite"};
        if (joint.hard_range)
            if (const auto [from, to] = *joint.hard_range; !(std::isfinite(to - from) && from <= to))
                return Error{ErrorCode::input, describe(skeleton, j) +
                                                   " has a hard range that is not two numbers, smaller end first"};
    }
    for (std::size_t j = 0; j < n; ++j) {
        const Joint& joint = skeleton.joints[j];
        if (joint.shape)
            if (const std::string fault = shape_fault(*joint.shape, joint.axes); !fault.empty())
                return Error{ErrorCode::input, describe(skeleton, j) + " has " + fault};
        if (joint.ring_normal) {
            const Vec3 normal = *joint.ring_normal;
            // Written so that NaN fails.
            if (!(std::abs(std::hypot(double{normal.x}, double{normal.y}, double{normal.z}) - 1) < 1e-3))
                return Error{ErrorCode::input,
                             describe(skeleton, j) + " has a plane whose normal is not a unit vector"};
        }
        if (joint.hardness && !(*joint.hardness >= 0 && *joint.hardness <= 1))
            return Error{ErrorCode::input, describe(skeleton, j) + " has a hardness that is not within 0..1"};
        if (joint.connected)
            for (const std::string& name : *joint.connected)
                if (joints_called(skeleton, name).empty())
                    return Error{ErrorCode::input, describe(skeleton, j) + " is connected to '" + printable(name) +
                                                       "', which no joint is called"};
    }
    // 0 = not visited; otherwise the walk that visited it. Meeting the current walk again is a cycle.
    std::vector<std::uint32_t> seen(n, 0);
    for (std::size_t j = 0; j < n; ++j) {
        const std::uint32_t walk = std::uint32_t(j) + 1;
        int at = int(j);
        while (at >= 0 && seen[at] == 0) {
            seen[at] = walk;
            at = skeleton.joints[at].parent;
        }
        if (at >= 0 && seen[at] == walk)
            return Error{ErrorCode::input, describe(skeleton, std::size_t(at)) + " is its own ancestor"};
    }
    for (std::size_t s = 0; s < skeleton.skins.size(); ++s)
        for (const std::uint32_t j : skeleton.skins[s])
            if (j >= n)
                return Error{ErrorCode::input, "skin " + std::to_string(s) + " lists joint " + std::to_string(j) +
                                                   ", but there are only " + std::to_string(n)};
    return Done{};
}

}  // namespace

std::string_view to_string(DeformReason reason) {
    switch (reason) {
        case DeformReason::deforms:
            return "deforms";
        case DeformReason::included:
            return "included";
        case DeformReason::excluded:
            return "excluded";
        case DeformReason::unused_by_skin:
            return "unused_by_skin";
        case DeformReason::control_name:
            return "control_name";
        case DeformReason::end_name:
            return "end_name";
        case DeformReason::slot_name:
            return "slot_name";
        case DeformReason::root_structure:
            return "root_structure";
        case DeformReason::no_skin:
            return "no_skin";
    }
    return "unknown";
}

Status check_skeleton(const Skeleton& skeleton) {
    SINEW_TRY(check_structure(skeleton));
    if (std::none_of(skeleton.joints.begin(), skeleton.joints.end(), [](const Joint& j) { return j.deform; }))
        return Error{ErrorCode::input, "no joint of the skeleton deforms: there is nothing to bind to"};
    return Done{};
}

Status select_deforming(Skeleton& skeleton, const std::vector<double>& joint_use, const DeformOptions& options) {
    SINEW_TRY(check_structure(skeleton));
    const std::size_t n = skeleton.joints.size();
    if (!joint_use.empty() && joint_use.size() != n)
        return Error{ErrorCode::internal, "joint_use has " + std::to_string(joint_use.size()) + " entries for " +
                                              std::to_string(n) + " joints"};

    std::vector<bool> used(n);
    std::size_t used_count = 0;
    double total = 0;
    for (const double use : joint_use) total += use;
    for (std::size_t j = 0; j < joint_use.size(); ++j)
        if (joint_use[j] > 1e-6 * total) {
            used[j] = true;
            ++used_count;
        }

    DeformFrom from = options.from;
    if (from == DeformFrom::skin && used_count == 0)
        return Error{ErrorCode::input,
                     "the file has no skin weights that show which joints are idle: use names or all instead"};
    // A skin of one joint out of many is a placeholder, not evidence.
    if (from == DeformFrom::automatic)
        from = used_count >= 2 || (used_count == 1 && n == 1) ? DeformFrom::skin : DeformFrom::names;

    std::vector<DeformReason> reason(n, DeformReason::deforms);
    if (from == DeformFrom::skin) {
        for (std::size_t j = 0; j < n; ++j)
            if (!used[j]) reason[j] = DeformReason::unused_by_skin;
    } else if (from == DeformFrom::names) {
        reason = idle_by_name(skeleton);
    }
    std::vector<bool> listed(n, skeleton.skins.empty());
    for (const auto& skin : skeleton.skins)
        for (const std::uint32_t j : skin) listed[j] = true;
    // Names are a guess. If nothing is left to bind to (a prop on a single "root"), the guess was wrong.
    const auto left = [&] {
        for (std::size_t j = 0; j < n; ++j)
            if (reason[j] == DeformReason::deforms && listed[j]) return true;
        return false;
    };
    if (from == DeformFrom::names && !left()) reason.assign(n, DeformReason::deforms);

    for (std::size_t j = 0; j < n; ++j)
        if (skeleton.joints[j].deform ? skeleton.joints[j].reason == DeformReason::included
                                      : skeleton.joints[j].reason == DeformReason::excluded)
            reason[j] = skeleton.joints[j].reason;
    const auto apply = [&](const std::vector<std::string>& globs, const char* option, DeformReason why) -> Status {
        if (options.strict)
            if (const auto lost = unmatched_globs(skeleton, option, globs); !lost.empty())
                return Error{ErrorCode::usage, lost.front()};
        for (const std::string& glob : globs)
            for (std::size_t j = 0; j < n; ++j)
                if (matches_glob(glob, skeleton.joints[j].name)) reason[j] = why;
        return Done{};
    };
    SINEW_TRY(apply(options.exclude, "exclude", DeformReason::excluded));
    SINEW_TRY(apply(options.include, "include", DeformReason::included));
    // A joint that no skin of the file lists cannot have weight, whatever the user selects.
    bool any = false;
    for (std::size_t j = 0; j < n; ++j) {
        if (!listed[j]) reason[j] = DeformReason::no_skin;
        any |= reason[j] == DeformReason::deforms || reason[j] == DeformReason::included;
    }
    if (!any) return Error{ErrorCode::usage, "every joint is excluded: there is nothing left to bind to"};
    for (std::size_t j = 0; j < n; ++j) {
        skeleton.joints[j].reason = reason[j];
        skeleton.joints[j].deform = reason[j] == DeformReason::deforms || reason[j] == DeformReason::included;
    }
    return Done{};
}

std::vector<std::string> unmatched_globs(const Skeleton& skeleton, std::string_view option,
                                         std::span<const std::string> globs) {
    std::vector<std::string> out;
    for (const std::string& glob : globs)
        if (std::none_of(skeleton.joints.begin(), skeleton.joints.end(),
                         [&](const Joint& joint) { return matches_glob(glob, joint.name); }))
            out.push_back("`" + std::string(option) + " \"" + printable(glob) +
                          "\"` matches no joint of the skeleton" + did_you_mean(glob, names_of(skeleton)));
    return out;
}

std::vector<std::uint32_t> joints_called(const Skeleton& skeleton, std::string_view name) {
    std::vector<std::uint32_t> exact, like;
    for (std::uint32_t j = 0; j < skeleton.joints.size(); ++j) {
        if (skeleton.joints[j].name == name) exact.push_back(j);
        if (matches_glob(name, skeleton.joints[j].name)) like.push_back(j);
    }
    return exact.empty() ? like : exact;
}

namespace {

// Makes the bones of one joint after the other.
class BoneMaker {
public:
    explicit BoneMaker(const Skeleton& skeleton)
        : joints_(skeleton.joints),
          children_(joints_.size()),
          by_name_(idle_by_name(skeleton)),
          carries_(joints_.size()) {
        for (std::size_t j = 0; j < joints_.size(); ++j)
            if (joints_[j].parent >= 0) children_[joints_[j].parent].push_back(std::uint32_t(j));
        for (std::size_t j = 0; j < joints_.size(); ++j)
            if (joints_[j].deform)
                for (int at = int(j); at >= 0 && !carries_[at]; at = joints_[at].parent) carries_[at] = true;
    }

    std::vector<Bone> run() {
        for (std::uint32_t j = 0; j < joints_.size(); ++j) {
            if (!joints_[j].deform) continue;
            const std::optional<JointShape>& shape = joints_[j].shape;
            if (shape && shape->kind != JointShape::Kind::capsule)
                add_shape(j, *shape);
            else
                add_segments(j);
        }
        return std::move(bones_);
    }

private:
    void add_shape(std::uint32_t j, const JointShape& shape) {
        Bone bone{j, joints_[j].position, joints_[j].position, false, false};
        if (shape.kind == JointShape::Kind::sphere) {
            bone.radius = shape.radius;
        } else {
            bone.tail = joints_[j].tail.value_or(bone.tail);
            bone.box = Bone::Box{shape.half, shape.axes.value_or(joints_[j].axes)};
        }
        bones_.push_back(bone);
    }

    // To the stated tail, along the stated links, to the deforming joints below, or to a marked end.
    void add_segments(std::uint32_t j) {
        const Joint& joint = joints_[j];
        bool open_head = false;
        for (int up = joint.parent; up >= 0 && !open_head; up = joints_[up].parent) open_head = joints_[up].deform;
        const auto add = [&](const Vec3& tail, bool open_tail) {
            bones_.push_back({j, joint.position, tail, open_head, open_tail});
        };
        const std::vector<std::uint32_t> next = deforming_below(j);
        const std::size_t first = bones_.size();
        if (joint.tail) {
            add(*joint.tail, std::any_of(next.begin(), next.end(), [&](std::uint32_t c) {
                return nearer(joints_[c].position, *joint.tail, joint.position);
            }));
        } else if (joint.stated_links && !children_[j].empty()) {
            for (const std::uint32_t c : children_[j])
                if (!(joints_[c].position == joint.position)) add(joints_[c].position, carries_[c]);
        } else if (next.empty()) {
            add(marked_end(j).value_or(joint.position), false);
        } else {
            for (const std::uint32_t c : next)
                if (!(joints_[c].position == joint.position)) add(joints_[c].position, true);
        }
        if (bones_.size() == first) add(joint.position, true);  // all its children are at its own position
        if (joint.shape)
            for (std::size_t k = first; k < bones_.size(); ++k) bones_[k].radius = joint.shape->radius;
    }

    // The nearest deforming joints below, in order.
    std::vector<std::uint32_t> deforming_below(std::uint32_t j) const {
        std::vector<std::uint32_t> found, stack(children_[j].rbegin(), children_[j].rend());
        while (!stack.empty()) {
            const std::uint32_t c = stack.back();
            stack.pop_back();
            if (joints_[c].deform)
                found.push_back(c);
            else
                stack.insert(stack.end(), children_[c].rbegin(), children_[c].rend());
        }
        return found;
    }

    // A leaf bone ends at an idle child whose name marks an end, or at its only child if that is a leaf and no
    // control or slot (an IK target or a weapon may be anywhere). Markers at the joint itself are followed
    // downwards.
    std::optional<Vec3> marked_end(std::uint32_t j) const {
        for (std::uint32_t at = j;;) {
            const auto& below = children_[at];
            const auto end = std::find_if(below.begin(), below.end(),
                                          [&](std::uint32_t c) { return by_name_[c] == DeformReason::end_name; });
            if (end != below.end())
                at = *end;
            else if (below.size() == 1 && children_[below[0]].empty() &&
                     by_name_[below[0]] == DeformReason::deforms)
                at = below[0];
            else
                return std::nullopt;
            if (!(joints_[at].position == joints_[j].position)) return joints_[at].position;
        }
    }

    const std::vector<Joint>& joints_;
    std::vector<std::vector<std::uint32_t>> children_;
    const std::vector<DeformReason> by_name_;
    std::vector<bool> carries_;  // the joint or a joint below it deforms
    std::vector<Bone> bones_;
};

}  // namespace

std::vector<Bone> make_bones(const Skeleton& skeleton) { return BoneMaker(skeleton).run(); }

}  // namespace sinew
