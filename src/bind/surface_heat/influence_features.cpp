#include "bind/surface_heat/influence_features.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/body_part.h"
#include "core/joint_axes.h"
#include "core/lists.h"
#include "core/median.h"
#include "core/sums.h"
#include "core/vectors.h"
#include "weights/power.h"

namespace sinew {
namespace {

constexpr double kLeastWeight = 1e-4;     // of a candidate
constexpr double kParentOfWeight = 0.02;  // the parent of a joint with this weight is a candidate
constexpr double kFar = 6;                // the largest ratio of distances, and of a distance to a thickness
constexpr double kShort = 0.01;           // share of the size: added to lengths whose logarithm is taken
constexpr double kDeep = 12;
constexpr double kAlong = 0.998;

constexpr double kLogOf2 = 0.693147180559945309417232121;
double log_of(double x) { return kLogOf2 * portable_log2(x); }
double limit(double x, double least, double most) { return std::clamp(x, least, most); }

double length_of(const Bone& bone) { return norm(to_point(bone.tail) - to_point(bone.head)); }
SegmentRuler ruler_of(const Bone& bone) { return {to_point(bone.head), to_point(bone.tail)}; }
Point3 direction_of(const Bone& bone) { return unit(to_point(bone.tail) - to_point(bone.head)); }

}  // namespace

InfluenceFeatures::InfluenceFeatures(const Task& task, const MeshSurface& surface, const JointSet& set,
                                     const SetRows& rows, const DistanceTable& volume,
                                     const std::vector<Bone>& links)
    : task_(task),
      surface_(surface),
      set_(set),
      rows_(rows),
      volume_(volume),
      links_(links),
      slot_(task.skeleton.joints.size(), kNone),
      size_(static_cast<double>(task.unit)),
      facts_(set.joints.size()) {
    for (std::uint32_t slot = 0; slot < set.joints.size(); ++slot) slot_[set.joints[slot]] = slot;
    std::vector<std::uint32_t> rows_at(surface.nodes(), 0);
    for (const std::uint32_t v : rows.vertices) ++rows_at[surface.node_of[v]];
    part_of_.resize(rows.vertices.size());
    mass_.resize(rows.vertices.size());
    sum_.resize(rows.vertices.size());
    parallel_for(task.context, mass_.size(), 4096, [&](std::size_t i) {
        const std::uint32_t node = surface.node_of[rows.vertices[i]];
        part_of_[i] = surface.component[node];
        mass_[i] = rows.area[i] / rows_at[node];
        double sum = 0;
        for (std::size_t k = 0; k < rows.kept[i]; ++k)
            sum += static_cast<double>(rows.entries[i * rows.width + k].first);
        sum_[i] = sum > 0 ? sum : 1;
    });
    const double whole = std::accumulate(mass_.begin(), mass_.end(), 0.0);
    for (double& m : mass_) m /= whole;
    collect_bones();
    measure_edges(rows_at);
    measure_parts();
    measure_thickness();
    describe_joints();
    describe_mesh();
}

double InfluenceFeatures::weight(std::size_t row, std::uint32_t slot) const {
    const std::size_t first = row * rows_.width;
    for (std::size_t k = first; k < first + rows_.kept[row]; ++k)
        if (rows_.entries[k].second == set_.joints[slot])
            return static_cast<double>(rows_.entries[k].first) / sum_[row];
    return 0;
}

double InfluenceFeatures::distance(const Point3& p, std::span<const SegmentRuler> bones) {
    double least = INFINITY;
    for (const SegmentRuler& bone : bones) least = std::min(least, bone.at(p).distance);
    return least;
}

void InfluenceFeatures::collect_bones() {
    for (std::uint32_t slot = 0; slot < facts_.size(); ++slot) {
        JointFacts& own = facts_[slot];
        const Joint& joint = task_.skeleton.joints[set_.joints[slot]];
        own.bone = own.link = {set_.joints[slot], joint.position, joint.position};
        own.first_bone = bones_.size();
        for (const Bone& bone : task_.bones)
            if (bone.joint == set_.joints[slot]) {
                bones_.push_back(bone);
                if (length_of(bone) > length_of(own.bone)) own.bone = bone;
            }
        if (bones_.size() == own.first_bone) bones_.push_back(own.bone);
        own.bones = bones_.size() - own.first_bone;
        const auto before = [](const Bone& bone, std::uint32_t j) { return bone.joint < j; };
        const auto first = std::lower_bound(links_.begin(), links_.end(), set_.joints[slot], before);
        own.first_link = static_cast<std::size_t>(first - links_.begin());
        for (auto at = first; at != links_.end() && at->joint == set_.joints[slot]; ++at, ++own.links)
            if (length_of(*at) > length_of(own.link)) own.link = *at;
        own.at = ruler_of(own.bone);
        own.length = length_of(own.bone);
        own.direction = direction_of(own.bone);
        own.link_direction = direction_of(own.link);
        for (int up = joint.parent; up >= 0 && own.parent == kNone;
             up = task_.skeleton.joints[static_cast<std::size_t>(up)].parent)
            own.parent = slot_of(static_cast<std::uint32_t>(up));
    }
    for (std::uint32_t slot = 0; slot < facts_.size(); ++slot)
        if (facts_[slot].parent != kNone) facts_[facts_[slot].parent].children.push_back(slot);
    for (const Bone& bone : bones_) bone_at_.push_back(ruler_of(bone));
    for (const Bone& link : links_) link_at_.push_back(ruler_of(link));
}

void InfluenceFeatures::measure_edges(const std::vector<std::uint32_t>& rows_at) {
    edge_.assign(surface_.nodes(), 0);
    std::vector<std::uint32_t> count(surface_.nodes(), 0);
    const auto place = [&](std::uint32_t node) { return to_point(surface_.position[node]); };
    each_key_range(task_.context, surface_.nodes(), [&](const auto& is_mine) {
        for (const MeshSurface::Edge& e : surface_.edges) {
            if (!is_mine(e.a) && !is_mine(e.b)) continue;
            if (rows_at[e.a] == 0 && rows_at[e.b] == 0) continue;
            const double length = norm(place(e.a) - place(e.b));
            for (const std::uint32_t node : {e.a, e.b})
                if (is_mine(node)) edge_[node] += length, ++count[node];
        }
    });
    for (std::size_t node = 0; node < edge_.size(); ++node)
        if (count[node] > 0) edge_[node] /= count[node];
}

void InfluenceFeatures::measure_parts() {
    struct Part {
        double area = 0;
        std::map<std::uint32_t, double> weight;  // by slot
    };
    struct Sum {
        std::map<std::uint32_t, Part> parts;
        std::uint32_t last = kNone;  // the part of the last row: few rows change it
        Part* part = nullptr;
        std::vector<double*> weight;  // in that part, by slot
    };
    const auto sum = sum_of<Sum>(
        task_.context, mass_.size(),
        [&](Sum& to, std::size_t i) {
            if (const std::uint32_t part = part_of_[i]; part != to.last) {
                to.last = part;
                to.part = &to.parts[part];
                to.weight.assign(facts_.size(), nullptr);
            }
            to.part->area += mass_[i];
            for (std::size_t k = 0; k < rows_.kept[i]; ++k) {
                const auto& [strength, joint] = rows_.entries[i * rows_.width + k];
                double*& weight = to.weight[slot_of(joint)];
                if (!weight) weight = &to.part->weight[slot_of(joint)];
                *weight += mass_[i] * static_cast<double>(strength) / sum_[i];
            }
        },
        [](Sum& to, const Sum& more) {
            for (const auto& [number, part] : more.parts) {
                Part& own = to.parts[number];
                own.area += part.area;
                for (const auto& [slot, weight] : part.weight) own.weight[slot] += weight;
            }
        });
    parts_.resize(surface_.components);
    for (const auto& [number, part] : sum.parts) {
        PartFacts& own = parts_[number];
        own.area = part.area;
        for (const auto& [slot, weight] : part.weight) {
            facts_[slot].territory += weight;
            own.share.emplace_back(slot, weight / part.area);
            own.largest = std::max(own.largest, own.share.back().second);
        }
    }
}

void InfluenceFeatures::measure_thickness() {
    std::vector<double> from_bones(mass_.size());
    std::vector<std::uint32_t> strongest(mass_.size(), kNone);
    parallel_for(task_.context, mass_.size(), 1024, [&](std::size_t i) {
        if (rows_.kept[i] == 0) return;
        strongest[i] = slot_of(rows_.entries[i * rows_.width].second);
        const JointFacts& joint = facts_[strongest[i]];
        from_bones[i] = distance(place(i), {&bone_at_[joint.first_bone], joint.bones});
    });
    std::vector<std::vector<WeightedValue>> own(facts_.size());
    for (std::size_t i = 0; i < mass_.size(); ++i)
        if (strongest[i] != kNone) own[strongest[i]].push_back({from_bones[i], rows_.count[i]});
    parallel_for(task_.context, own.size(), 1,
                 [&](std::size_t slot) { facts_[slot].thickness = median(own[slot]); });
    std::vector<double> known;
    for (std::size_t slot = 0; slot < own.size(); ++slot)
        if (!own[slot].empty()) known.push_back(facts_[slot].thickness);
    const double typical = known.empty() ? 0.05 * size_ : median(known);
    // A joint without vertices: as thick as the next joint above that has some.
    for (std::size_t slot = 0; slot < own.size(); ++slot) {
        if (!own[slot].empty()) continue;
        std::uint32_t up = facts_[slot].parent;
        while (up != kNone && own[up].empty()) up = facts_[up].parent;
        facts_[slot].thickness = up == kNone ? typical : facts_[up].thickness;
    }
    for (JointFacts& each : facts_) each.thickness = std::max(each.thickness, 1e-3 * size_);
}

void InfluenceFeatures::describe_joints() {
    joint_.assign(facts_.size() * kJoint, 0);
    std::vector<double> below(facts_.size(), 1), depth(facts_.size(), 0);
    for (std::size_t slot = 0; slot < facts_.size(); ++slot)
        for (std::uint32_t up = facts_[slot].parent; up != kNone; up = facts_[up].parent)
            ++below[up], ++depth[slot];
    for (std::uint32_t slot = 0; slot < facts_.size(); ++slot) {
        const JointFacts& own = facts_[slot];
        const std::uint32_t up = own.parent == kNone ? slot : own.parent;
        const JointFacts& parent = facts_[up];
        const double length = own.length, link = length_of(own.link), parent_length = parent.length;
        const double gap = norm(head(slot) - head(up)), small = kShort * size_;
        double near = 9 * size_;
        for (std::uint32_t other = 0; other < facts_.size(); ++other)
            if (const double d = norm(head(slot) - head(other)); d >= 1e-6 * size_) near = std::min(near, d);
        bool mirrored = false;
        if (own.parent != kNone && gap > 0)
            for (const std::uint32_t other : parent.children)
                mirrored =
                    mirrored || (other != slot && std::abs(norm(head(other) - head(up)) - gap) < 0.02 * gap &&
                                 norm(head(other) - head(slot)) > 0.1 * gap);
        const std::size_t siblings = own.parent == kNone ? 1 : parent.children.size();
        const std::array<double, 20> numbers{
            log_of(length / size_ + 0.003),
            log_of(own.thickness / size_),
            log_of((length + small) / own.thickness),
            log_of((gap + small) / parent.thickness),
            log_of((own.thickness + 1e-3 * size_) / parent.thickness),
            log_of(near / size_ + 0.003),
            near / parent.thickness,
            own.children.empty() ? 1.0 : 0.0,
            own.children.size() >= 2 ? 1.0 : 0.0,
            static_cast<double>(std::min<std::size_t>(siblings, 6)) / 6,
            mirrored ? 1.0 : 0.0,
            dot(own.direction, parent.direction),
            dot(own.direction, own.link_direction),
            std::min(depth[slot], kDeep) / kDeep,
            log_of(below[slot]),
            std::sqrt(own.territory),
            std::sqrt(parent.territory),
            log_of((length + small) / (parent_length + small)),
            log_of((link + small) / (length + small)),
            own.parent == kNone ? 1.0 : 0.0,
        };
        float* const out = joint_.data() + slot * kJoint;
        std::transform(numbers.begin(), numbers.end(), out, [](double x) { return static_cast<float>(x); });
        const auto part = [&](std::uint32_t s) {
            return static_cast<std::size_t>(body_part_of(task_.skeleton.joints[set_.joints[s]].name));
        };
        out[numbers.size() + part(slot)] = 1;
        if (own.parent != kNone) out[numbers.size() + kBodyParts + part(up)] = 1;
    }
}

void InfluenceFeatures::describe_mesh() {
    // The share of bones along the second axis of their joints, and along the most frequent of the six directions.
    const auto along_axes = [&](const std::vector<Bone>& bones) {
        std::array<double, 6> along{};
        double count = 0;
        for (const Bone& bone : bones) {
            if (slot_of(bone.joint) == kNone || length_of(bone) <= 1e-6 * size_) continue;
            ++count;
            for (std::size_t axis = 0; axis < 6; ++axis)
                along[axis] += dot(direction_of(bone), axis_of(task_.skeleton.joints[bone.joint], axis)) > kAlong;
        }
        for (double& a : along) a /= std::max(count, 1.0);
        return std::array<double, 2>{along[1], *std::max_element(along.begin(), along.end())};
    };
    const auto [second, most] = along_axes(bones_);
    const auto [second_link, most_link] = along_axes(links_);
    double links = 0;
    for (const Bone& bone : bones_)
        links += std::any_of(links_.begin(), links_.end(),
                             [&](const Bone& link) { return link.joint == bone.joint && link.tail == bone.tail; });
    std::vector<WeightedValue> edges(mass_.size());
    std::vector<double> thick;
    struct Sum {
        double roots = 0, largest = 0;
    };
    const auto [roots, largest] = sum_of<Sum>(
        task_.context, mass_.size(),
        [&](Sum& to, std::size_t i) {
            edges[i] = {edge_[surface_.node_of[rows_.vertices[i]]], rows_.count[i]};
            double sum = 0, most_here = 0;
            for (std::size_t k = 0; k < rows_.kept[i]; ++k) {
                const double w = static_cast<double>(rows_.entries[i * rows_.width + k].first) / sum_[i];
                sum += std::sqrt(w), most_here = std::max(most_here, w);
            }
            to.roots += mass_[i] * sum, to.largest += mass_[i] * most_here;
        },
        [](Sum& to, const Sum& more) { to.roots += more.roots, to.largest += more.largest; });
    double count = 0, squares = 0;
    for (const JointFacts& own : facts_) thick.push_back(own.thickness);
    for (const PartFacts& part : parts_) count += part.area > 0, squares += part.area * part.area;
    const auto joints = static_cast<double>(facts_.size());
    const double vertices = std::accumulate(rows_.count.begin(), rows_.count.end(), 0.0);
    const std::array<double, kMesh> numbers{
        second,
        most,
        second_link,
        most_link,
        links / static_cast<double>(bones_.size()),
        log_of((median(edges) + 1e-4 * size_) / median(thick)),
        log_of(vertices / joints),
        log_of(joints),
        log_of(std::max(count, 1.0)),
        squares,
        roots - 1,
        largest,
    };
    std::transform(numbers.begin(), numbers.end(), mesh_.begin(), [](double x) { return static_cast<float>(x); });
}

InfluenceFeatures::Candidates InfluenceFeatures::candidates(std::size_t row) const {
    Candidates found;
    const auto add = [&](std::uint32_t slot, double w) {
        const auto end = found.slot.begin() + static_cast<std::ptrdiff_t>(found.count);
        if (found.count == kMost || std::find(found.slot.begin(), end, slot) != end) return;
        found.slot[found.count] = slot;
        found.logarithm[found.count] = portable_log2(w + kFloor);
        found.weight[found.count++] = w;
    };
    const std::size_t first = row * rows_.width;
    std::size_t heated = 0;
    for (std::size_t k = first; k < first + rows_.kept[row] && found.count + 3 < kMost; ++k, ++heated) {
        const double w = static_cast<double>(rows_.entries[k].first) / sum_[row];
        if (w < kLeastWeight) break;
        add(slot_of(rows_.entries[k].second), w);
    }
    for (std::size_t k = 0; k < heated; ++k)
        if (const std::uint32_t up = facts_[found.slot[k]].parent;
            up != kNone && found.weight[k] >= kParentOfWeight)
            add(up, weight(row, up));
    return found;
}

void InfluenceFeatures::pair_features(std::size_t row, const Candidates& among, std::span<float> out) const {
    const Point3 p = place(row);
    const PartFacts& part = parts_[part_of_[row]];
    std::array<double, kMost> through, straight, linked;
    double nearest_through = INFINITY, nearest_straight = INFINITY, nearest_linked = INFINITY;
    for (std::size_t c = 0; c < among.count; ++c) {
        const JointFacts& own = facts_[among.slot[c]];
        through[c] = INFINITY;
        const std::size_t first = row * volume_.width;
        for (std::size_t k = first; k < first + volume_.width; ++k)
            if (volume_.joint[k] == set_.joints[among.slot[c]])
                through[c] = static_cast<double>(volume_.distance[k]);
        straight[c] = distance(p, {&bone_at_[own.first_bone], own.bones});
        linked[c] = own.links ? distance(p, {&link_at_[own.first_link], own.links}) : norm(p - head(among.slot[c]));
        nearest_through = std::min(nearest_through, through[c]);
        nearest_straight = std::min(nearest_straight, straight[c]);
        nearest_linked = std::min(nearest_linked, linked[c]);
    }
    const double least = 1e-3 * size_;
    const auto ratio = [&](double d, double nearest) {
        return std::isfinite(d) ? limit(d / std::max(nearest, least), 1, kFar) : kFar;
    };
    double largest = 0, several = 0;
    for (std::size_t k = 0; k < rows_.kept[row]; ++k) {
        const double w = static_cast<double>(rows_.entries[row * rows_.width + k].first) / sum_[row];
        largest = std::max(largest, w), several += w > 0.05;
    }
    for (std::size_t c = 0; c < among.count; ++c) {
        const std::uint32_t slot = among.slot[c];
        const auto on_part = std::lower_bound(part.share.begin(), part.share.end(), slot,
                                              [](const auto& each, std::uint32_t s) { return each.first < s; });
        const JointFacts& own = facts_[slot];
        const JointFacts& parent = own.parent == kNone ? own : facts_[own.parent];
        const double thick = own.thickness, length = own.length, w = among.weight[c];
        const SegmentPosition at = own.at->at(p);
        const Point3 from_head = p - head(slot);
        double children = 0, child_gap = 9 * thick;
        for (const std::uint32_t child : own.children) {
            children += weight(row, child);
            child_gap = std::min(child_gap, norm(p - head(child)));
        }
        const bool has_parent = own.parent != kNone;
        const std::array<double, kPair> numbers{
            w,
            std::sqrt(w),
            kLogOf2 * among.logarithm[c],
            ratio(through[c], nearest_through),
            ratio(straight[c], nearest_straight),
            ratio(linked[c], nearest_linked),
            limit(at.along / std::max(length, 0.2 * thick), -2, 3),
            limit(at.along / thick, -4, kFar),
            limit((at.along - length) / thick, -kFar, 4),
            has_parent ? limit(dot(from_head, parent.direction) / thick, -5, 5) : 0,
            has_parent ? limit(dot(from_head, parent.link_direction) / thick, -5, 5) : 0,
            limit(dot(from_head, own.link_direction) / thick, -5, 5),
            std::min(at.distance / thick, kFar),
            std::min(norm(from_head) / std::max(thick, length), kFar),
            has_parent ? 1.0 : 0.0,
            has_parent ? weight(row, own.parent) : 0,
            children,
            limit(child_gap / thick, 0, kFar),
            on_part == part.share.end() || on_part->first != slot ? 0 : on_part->second,
            largest,
            several / 8,
            std::sqrt(part.area),
            part.largest,
        };
        std::transform(numbers.begin(), numbers.end(), out.begin() + static_cast<std::ptrdiff_t>(c * kPair),
                       [](double x) { return static_cast<float>(x); });
    }
}

}  // namespace sinew
