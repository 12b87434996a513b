// Methods that measure straight distances: closest distance and closest in hierarchy (the methods that Dionne and
// de Lasa 2014 compare with, figure 2), and the closest bone with its neighbours in the skeleton (Milcho 2011).
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "bind/bone_shapes.h"
#include "bind/row_tables.h"
#include "core/vectors.h"

namespace sinew {
namespace {

using Entry = DistanceRows::Entry;

// Largest number of hops over the skeleton from the closest joint to an influence.
constexpr int kHops = 2;

// Calls fill(vertex, set, row) for every row, and stores the row.
template <typename Fill>
Result<MethodRows> each_row(const Task& task, Fill&& fill) {
    DistanceRows rows(task.row_shape());
    for (const JointSet& set : task.plan.sets)
        parallel_chunks(task.context, set.vertices.size(), 512,
                        [&](std::size_t, std::size_t begin, std::size_t end) {
                            if (cancelled(task.context)) return;
                            std::vector<Entry> row;
                            for (std::size_t i = begin; i < end; ++i) {
                                const std::uint32_t v = set.vertices[i];
                                row.clear();
                                fill(v, set, row);
                                if (!task.used[v] && row.size() > 1) row.resize(1);
                                const Coverage how = !task.used[v] ? Coverage::unused
                                                     : set.idle    ? Coverage::euclidean
                                                                   : Coverage::weighted;
                                rows.store(v, row, how);
                            }
                        });
    if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
    return MethodRows(std::move(rows));
}

float straight_distance(const BoneShapes& shapes, std::uint32_t joint, const Point3& p, float overshoot) {
    const auto [nearest, beyond] = shapes.straight(joint, p);
    return static_cast<float>(nearest + overshoot * beyond);
}

// For every joint the joints within kHops hops over the skeleton, itself included, ascending. A hop connects a
// joint with its nearest ancestor that deforms.
std::vector<std::vector<std::uint32_t>> neighbourhoods(const Skeleton& skeleton) {
    const std::size_t n = skeleton.joints.size();
    std::vector<std::vector<std::uint32_t>> near(n);
    for (std::uint32_t j = 0; j < n; ++j) {
        if (!skeleton.joints[j].deform) continue;
        int up = skeleton.joints[j].parent;
        while (up >= 0 && !skeleton.joints[up].deform) up = skeleton.joints[up].parent;
        if (up < 0) continue;
        near[j].push_back(static_cast<std::uint32_t>(up));
        near[static_cast<std::size_t>(up)].push_back(j);
    }
    std::vector<std::vector<std::uint32_t>> out(n);
    for (std::uint32_t j = 0; j < n; ++j) {
        std::vector<std::uint32_t>& found = out[j];
        found = {j};
        std::size_t ring = 0;
        for (int hop = 0; hop < kHops; ++hop) {
            const std::size_t end = found.size();
            for (; ring < end; ++ring)
                for (const std::uint32_t k : near[found[ring]])
                    if (std::find(found.begin(), found.end(), k) == found.end()) found.push_back(k);
        }
        std::sort(found.begin(), found.end());
    }
    return out;
}

// The bones that are connected to the two ends of each bone. If the joint names them (Joint::connected), each is
// connected at the nearer end; else these are the bones that begin or end at the same point, siblings included.
class Connections {
public:
    Connections(const Skeleton& skeleton, const std::vector<Bone>& bones) : of_bone_(bones.size()) {
        std::vector<std::pair<std::array<float, 3>, std::uint32_t>> ends;
        for (std::uint32_t b = 0; b < bones.size(); ++b)
            for (const Vec3& p : {bones[b].head, bones[b].tail}) ends.push_back({{p.x, p.y, p.z}, b});
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());  // both ends of a point
        for (const auto& end : ends) by_place_.push_back(end.second);
        const auto at = [&](const Vec3& p) {
            const std::array<float, 3> place{p.x, p.y, p.z};
            const auto before = [](const auto& x, const auto& y) { return x.first < y.first; };
            const auto [first, last] =
                std::equal_range(ends.begin(), ends.end(), std::pair{place, std::uint32_t{0}}, before);
            return Range{static_cast<std::size_t>(first - ends.begin()), static_cast<std::size_t>(last - first)};
        };
        std::vector<std::vector<std::uint32_t>> bones_of(skeleton.joints.size());
        for (std::uint32_t b = 0; b < bones.size(); ++b) bones_of[bones[b].joint].push_back(b);
        for (std::uint32_t b = 0; b < bones.size(); ++b) {
            of_bone_[b] = {at(bones[b].head), at(bones[b].tail), nullptr};
            if (const auto& names = skeleton.joints[bones[b].joint].connected)
                of_bone_[b].given = std::make_unique<Given>(given(skeleton, bones, bones_of, *names, b));
        }
    }

    /// Includes bones of the same joint, and the bone itself.
    std::span<const std::uint32_t> at_head(std::uint32_t bone) const {
        const OfBone& b = of_bone_[bone];
        return b.given ? b.given->at_head : list(b.head);
    }
    std::span<const std::uint32_t> at_tail(std::uint32_t bone) const {
        const OfBone& b = of_bone_[bone];
        return b.given ? b.given->at_tail : list(b.tail);
    }

private:
    struct Range {
        std::size_t first = 0, count = 0;
    };
    struct Given {
        std::vector<std::uint32_t> at_head, at_tail;
    };
    struct OfBone {
        Range head, tail;  // of by_place_: bones at one point share their list
        std::unique_ptr<Given> given;
    };

    std::span<const std::uint32_t> list(Range range) const {
        return std::span(by_place_).subspan(range.first, range.count);
    }

    static Given given(const Skeleton& skeleton, const std::vector<Bone>& bones,
                       const std::vector<std::vector<std::uint32_t>>& bones_of,
                       const std::vector<std::string>& names, std::uint32_t own) {
        const Point3 head = to_point(bones[own].head), tail = to_point(bones[own].tail);
        Given out;
        for (const std::string& name : names)
            for (const std::uint32_t j : joints_called(skeleton, name)) {
                double to_head = INFINITY, to_tail = INFINITY;
                std::uint32_t nearest_head = 0, nearest_tail = 0;
                for (const std::uint32_t b : bones_of[j]) {
                    const Point3 from = to_point(bones[b].head), to = to_point(bones[b].tail);
                    const double h = segment_distance(from, to, head).distance;
                    const double t = segment_distance(from, to, tail).distance;
                    if (h < to_head) to_head = h, nearest_head = b;
                    if (t < to_tail) to_tail = t, nearest_tail = b;
                }
                if (bones_of[j].empty()) continue;
                to_head <= to_tail ? out.at_head.push_back(nearest_head) : out.at_tail.push_back(nearest_tail);
            }
        return out;
    }

    std::vector<std::uint32_t> by_place_;  // bones, by the places of their ends
    std::vector<OfBone> of_bone_;
};

struct Connected {
    std::vector<std::uint32_t> at_head, at_tail;  // bones
};

// The bones of a joint may not begin where the stated bones of the joint above end. Then the hierarchy connects
// them: the heads of the joint's bones with the nearer end of the nearest bone of the joint above.
std::vector<Connected> connect_by_hierarchy(const Skeleton& skeleton, const std::vector<Bone>& bones) {
    const std::vector<Joint>& joints = skeleton.joints;
    std::vector<std::vector<std::uint32_t>> bones_of(joints.size());
    for (std::uint32_t b = 0; b < bones.size(); ++b) bones_of[bones[b].joint].push_back(b);
    std::vector<Connected> out(bones.size());
    for (std::uint32_t j = 0; j < joints.size(); ++j) {
        int up = joints[j].parent;
        while (up >= 0 && !joints[static_cast<std::size_t>(up)].deform)
            up = joints[static_cast<std::size_t>(up)].parent;
        if (up < 0 || !joints[static_cast<std::size_t>(up)].states_bones()) continue;
        const Point3 here = to_point(joints[j].position);
        double nearest = INFINITY;
        std::uint32_t above = 0;
        bool by_tail = true;
        for (const std::uint32_t b : bones_of[static_cast<std::size_t>(up)])
            for (const bool tail : {true, false})
                if (const double d = norm(to_point(tail ? bones[b].tail : bones[b].head) - here); d < nearest)
                    nearest = d, above = b, by_tail = tail;
        if (nearest == INFINITY || (nearest == 0 && by_tail)) continue;  // no bone, or connected already
        const auto own_list = [&](std::uint32_t bone) { return joints[bones[bone].joint].connected.has_value(); };
        for (const std::uint32_t b : bones_of[j]) {
            if (!own_list(b)) out[b].at_head.push_back(above);
            if (!own_list(above)) (by_tail ? out[above].at_tail : out[above].at_head).push_back(b);
        }
    }
    return out;
}

}  // namespace

Result<MethodRows> bind_closest_distance(const Task& task) {
    return task.clock.run("distances", [&]() -> Result<MethodRows> {
        extend_leaf_bones(task);
        const BoneShapes shapes(task.skeleton, task.bones);
        return each_row(task, [&](std::uint32_t v, const JointSet& set, std::vector<Entry>& row) {
            const Point3 p = to_point(task.mesh.positions[v]);
            for (const std::uint32_t j : set.joints)
                row.emplace_back(straight_distance(shapes, j, p, task.options.overshoot), j);
            std::sort(row.begin(), row.end());
        });
    });
}

Result<MethodRows> bind_closest_hierarchy(const Task& task) {
    return task.clock.run("distances", [&]() -> Result<MethodRows> {
        extend_leaf_bones(task);
        const BoneShapes shapes(task.skeleton, task.bones);
        const auto near = neighbourhoods(task.skeleton);
        return each_row(task, [&](std::uint32_t v, const JointSet& set, std::vector<Entry>& row) {
            if (set.joints.empty()) return;
            const Point3 p = to_point(task.mesh.positions[v]);
            Entry closest{INFINITY, set.joints[0]};
            for (const std::uint32_t j : set.joints)
                closest = std::min(closest, Entry{straight_distance(shapes, j, p, task.options.overshoot), j});
            row.push_back(closest);
            for (const std::uint32_t j : near[closest.second])
                if (j != closest.second && std::binary_search(set.joints.begin(), set.joints.end(), j))
                    row.emplace_back(straight_distance(shapes, j, p, task.options.overshoot), j);
            std::sort(row.begin(), row.end());
        });
    });
}

Result<MethodRows> bind_connectivity(const Task& task) {
    return task.clock.run("distances", [&]() -> Result<MethodRows> {
        extend_leaf_bones(task);
        const std::vector<Bone>& bones = task.bones;
        const Connections connected(task.skeleton, bones);
        const std::vector<Connected> by_hierarchy = connect_by_hierarchy(task.skeleton, bones);
        std::vector<BoneSpace> shapes;
        std::vector<std::vector<std::uint32_t>> of_joint(task.skeleton.joints.size());
        for (std::uint32_t b = 0; b < bones.size(); ++b) {
            shapes.emplace_back(bones[b]);
            of_joint[bones[b].joint].push_back(b);
        }
        const auto to_centre = [&](std::uint32_t b, const Point3& p) {
            const Point3 c = shapes[b].centre();
            return static_cast<float>(std::hypot(p[0] - c[0], p[1] - c[1], p[2] - c[2]));
        };
        return each_row(task, [&](std::uint32_t v, const JointSet& set, std::vector<Entry>& row) {
            if (set.joints.empty()) return;
            const Point3 p = to_point(task.mesh.positions[v]);
            // The parent bone is the closest one. Of two equally close bones (behind a shared joint) it is the one
            // beyond whose ends the vertex lies less far.
            std::uint32_t parent = no_index;
            SegmentPosition place{INFINITY, 0, 0};
            double least_over = 0;
            for (const std::uint32_t j : set.joints)
                for (const std::uint32_t b : of_joint[j]) {
                    SegmentPosition at = shapes[b].beside(p);
                    at.distance = shapes[b].distance(p);
                    const double over = std::max({0.0, -at.along, at.along - at.length});
                    const double slack = 1e-9 * at.distance;
                    if (at.distance > place.distance + slack) continue;
                    if (at.distance < place.distance - slack || over < least_over) {
                        place = at;
                        least_over = over;
                        parent = b;
                    }
                }
            if (parent == no_index) {  // a skin of idle joints only
                for (const std::uint32_t j : set.joints) {
                    const Point3 q = to_point(task.skeleton.joints[j].position);
                    row.emplace_back(static_cast<float>(std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2])), j);
                }
                std::sort(row.begin(), row.end());
                return;
            }
            row.emplace_back(to_centre(parent, p), bones[parent].joint);
            const double ratio = place.length > 0 ? place.along / place.length : 0.5;
            const Joint& joint = task.skeleton.joints[bones[parent].joint];
            const auto [lower, upper] = joint.hard_range.value_or(task.options.hard_range);
            if ((ratio >= lower && ratio <= upper) || place.length == 0) return;
            const auto add = [&](std::span<const std::uint32_t> at_end) {
                for (const std::uint32_t b : at_end) {
                    const std::uint32_t j = bones[b].joint;
                    if (j != bones[parent].joint && std::binary_search(set.joints.begin(), set.joints.end(), j))
                        row.emplace_back(to_centre(b, p), j);
                }
            };
            const bool by_head = ratio < 0.5;
            add(by_head ? connected.at_head(parent) : connected.at_tail(parent));
            add(by_head ? by_hierarchy[parent].at_head : by_hierarchy[parent].at_tail);
            // A joint with several bones counts once, with the nearest of them.
            std::sort(row.begin() + 1, row.end(), [](const Entry& x, const Entry& y) {
                return std::pair{x.second, x.first} < std::pair{y.second, y.first};
            });
            row.erase(std::unique(row.begin() + 1, row.end(),
                                  [](const Entry& x, const Entry& y) { return x.second == y.second; }),
                      row.end());
        });
    });
}

}  // namespace sinew
