#include "bind/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "bind/joint_means.h"
#include "core/prefetch.h"
#include "core/try.h"
#include "domain/trace.h"

namespace sinew {

Error measuring_cancelled() { return {ErrorCode::cancelled, "cancelled while measuring distances"}; }

Reading read_at(const Task& task, const Domain& domain, std::uint32_t vertex) {
    const Vec3& p = task.mesh.positions[vertex];
    const bool one = task.options.as_published || task.options.one_pixel;
    Reading reading{one ? own_leaf(domain, p) : leaf_stencil(domain, p), to_point(p), false, 0};
    if (task.options.as_published && reading.leaves.count > 0) {
        const Point3 v = to_voxels(domain.transform, p);
        const auto centre = domain.centre(reading.leaves.leaf[0]);
        reading.from_centre =
            domain.transform.voxel * std::hypot(v[0] - centre[0], v[1] - centre[1], v[2] - centre[2]);
    }
    if (reading.leaves.count > 0) return reading;
    const auto* const other = std::get_if<OtherMesh>(&task.start);
    if (!other || other->nearest_leaf[vertex] == no_index) return reading;
    const std::uint32_t leaf = other->nearest_leaf[vertex];
    reading.leaves.count = 1;
    reading.leaves.leaf[0] = leaf;
    reading.leaves.share[0] = 1;
    const auto centre = domain.centre(leaf);
    for (std::size_t k = 0; k < 3; ++k)
        reading.at[k] = domain.transform.origin[k] + centre[k] * domain.transform.voxel;
    reading.outside = true;
    return reading;
}

Coverage straight_row(const Task& task, const BoneShapes& shapes, const JointSet& set, std::uint32_t vertex,
                      std::vector<DistanceRows::Entry>& row) {
    const Point3 p = to_point(task.mesh.positions[vertex]);
    row.clear();
    if (task.used[vertex]) {
        for (const std::uint32_t j : set.joints) {
            const auto [nearest, beyond] = shapes.straight(j, p);
            row.emplace_back(static_cast<float>(nearest + task.options.overshoot * beyond), j);
        }
        return Coverage::euclidean;
    }
    // A vertex of no triangle is invisible: the nearest joint gets all its weight.
    DistanceRows::Entry nearest{INFINITY, set.joints.front()};
    for (const std::uint32_t j : set.joints) {
        const Point3& q = shapes.place(j);
        const auto d = static_cast<float>(std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
        if (d < nearest.first) nearest = {d, j};
    }
    row.push_back(nearest);
    return Coverage::unused;
}

// Fills the rows of one set of joints from fields at the leaves, of the mesh that was voxelized or of another
// mesh.
class DistanceSampler {
public:
    // Which rows there are.
    enum class RowOf { each_vertex, each_given };
    // Keeps references to all of them. `vertices`: to read.
    DistanceSampler(const Task& task, const Domain& domain, const BoneShapes& bones, const JointSet& set,
                    std::span<const std::uint32_t> vertices, DistanceRows& rows, RowOf which)
        : task_(task), domain_(domain), bones_(bones), set_(set), vertices_(vertices), rows_(rows), which_(which) {}

    // Of a set that needs no field.
    void fill_straight();

    // From a field of the joints; the field may have more joints.
    void fill_from_leaves(const KeptField& kept);

    // With the distances of all joints, from one field per joint.
    Status fill_all_joints(const JointFields& joints);

private:
    struct VertexBatch;

    void fill_chunk(std::size_t begin, std::size_t end, const KeptField& kept);
    void read(std::span<const std::uint32_t> vertices, const LeafDistances* field, VertexBatch& batch) const;
    void nearest_joints(std::size_t count, const LeafDistances& field, VertexBatch& batch) const;
    void add_straight(std::uint32_t joint, std::span<const std::uint32_t> places, VertexBatch& batch) const;
    void every_joint(const Reading& reading, const KeptField& kept, const EveryDistance& field,
                     std::vector<std::uint64_t>& row) const;
    void store(std::size_t i, const Reading& reading, const KeptField& kept, std::span<std::uint64_t> keys);

    Coverage fill_straight_row(std::size_t i);
    // Of the i-th of the vertices.
    std::uint32_t row(std::size_t i) const {
        return which_ == RowOf::each_given ? static_cast<std::uint32_t>(i) : vertices_[i];
    }
    Coverage coverage(const Reading& reading, const std::vector<bool>& seeded) const;
    template <typename DistanceAt>
    float mean_distance(const Reading& reading, std::uint32_t joint, DistanceAt&& distance_at) const;
    float distance(double field, const BoneShapes::Distance& straight) const;
    float distance_from_one(double field, const Reading& reading) const;
    double to_scene_units(double field) const;

    const Task& task_;
    const Domain& domain_;
    const BoneShapes& bones_;
    const JointSet& set_;
    const std::span<const std::uint32_t> vertices_;
    DistanceRows& rows_;
    const RowOf which_;
    const bool one_leaf_ = task_.options.as_published || task_.options.one_pixel;
};

inline double DistanceSampler::to_scene_units(double field) const {
    return field * domain_.transform.voxel / LeafDistances::units_per_voxel;
}

// From the field's value, in its integer units, to scene units: at least the straight distance to the joint's
// nearest bone, plus how far the vertex lies beyond that bone's open end.
inline float DistanceSampler::distance(double field, const BoneShapes::Distance& straight) const {
    return static_cast<float>(std::max(to_scene_units(field), straight.nearest) +
                              task_.options.overshoot * straight.beyond);
}

// Dionne and de Lasa (2014), eq. 7: adds the distance from the centre of the vertex's leaf, and nothing else. Of
// one pixel (VIDE 2012) that is 0.
inline float DistanceSampler::distance_from_one(double field, const Reading& reading) const {
    return static_cast<float>(to_scene_units(field) + reading.from_centre);
}

// From distance_at(leaf), in units of the field, to the distance at the vertex; +inf where no leaf has one.
template <typename DistanceAt>
float DistanceSampler::mean_distance(const Reading& reading, std::uint32_t joint, DistanceAt&& distance_at) const {
    double share = 0, sum = 0;
    for (int k = 0; k < reading.leaves.count; ++k) {
        const std::uint32_t d = distance_at(reading.leaves.leaf[k]);
        if (d == LeafDistances::unreached) continue;
        share += reading.leaves.share[k];
        sum += reading.leaves.share[k] * d;
    }
    if (share == 0) return std::numeric_limits<float>::infinity();
    return one_leaf_ ? distance_from_one(sum / share, reading)
                     : distance(sum / share, bones_.straight(joint, reading.at));
}

inline Coverage DistanceSampler::coverage(const Reading& reading, const std::vector<bool>& seeded) const {
    if (reading.outside) return Coverage::outside;
    return seeded[domain_.component[reading.leaves.leaf[0]]] ? Coverage::weighted : Coverage::bridged;
}

// Vertices that are processed together, so that memory can be prefetched, and straight distances from one joint to
// all of them are computed in vectors.
struct DistanceSampler::VertexBatch {
    static constexpr std::size_t kVertices = 32, kEntries = kVertices * JointMeans::kCapacity;
    std::array<Reading, kVertices> readings;
    JointMeans means;
    std::array<std::size_t, kVertices + 1> first{};  // per reading: its first entry in `measured` and `keys`
    std::unique_ptr<JointMean[]> measured{new JointMean[kEntries]};
    std::unique_ptr<std::uint64_t[]> keys{new std::uint64_t[kEntries]};
    std::unique_ptr<std::uint32_t[]> by_joint{new std::uint32_t[kEntries]};  // entries sorted by joint
    std::vector<std::uint32_t> end_of;                                       // per joint: its end in by_joint
    BoneShapes::PointBatch points;
    static_assert(kVertices <= BoneShapes::PointBatch::kCapacity);

    explicit VertexBatch(std::size_t joints) : means(joints), end_of(joints) {}
    std::span<std::uint64_t> keys_of(std::size_t reading) const {
        return {keys.get() + first[reading], first[reading + 1] - first[reading]};
    }
};

void DistanceSampler::fill_straight() {
    parallel_for(task_.context, vertices_.size(), 1024, [&](std::size_t i) {
        const Coverage how = fill_straight_row(i);
        Coverage& kept = rows_.coverage[row(i)];
        if (how == Coverage::euclidean && !set_.idle) kept = Coverage::weighted;
    });
}

Coverage DistanceSampler::fill_straight_row(std::size_t i) {
    std::vector<DistanceRows::Entry> found;
    const Coverage how = straight_row(task_, bones_, set_, vertices_[i], found);
    rows_.store(row(i), found, how);
    return how;
}

void DistanceSampler::fill_from_leaves(const KeptField& kept) {
    parallel_chunks(task_.context, vertices_.size(), 1024,
                    [&](std::size_t, std::size_t begin, std::size_t end) { fill_chunk(begin, end, kept); });
}

void DistanceSampler::fill_chunk(std::size_t begin, std::size_t end, const KeptField& kept) {
    const auto* const field = std::get_if<LeafDistances>(&kept.field);
    VertexBatch batch(task_.skeleton.joints.size());
    std::vector<std::uint64_t> keys;
    for (std::size_t i = begin; i < end && !cancelled(task_.context); i += VertexBatch::kVertices) {
        const auto now = vertices_.subspan(i, std::min<std::size_t>(VertexBatch::kVertices, end - i));
        read(now, field, batch);
        if (field) nearest_joints(now.size(), *field, batch);
        for (std::size_t k = 0; k < now.size(); ++k) {
            if (field) {
                store(i + k, batch.readings[k], kept, batch.keys_of(k));
                continue;
            }
            keys.clear();
            every_joint(batch.readings[k], kept, std::get<EveryDistance>(kept.field), keys);
            store(i + k, batch.readings[k], kept, std::span(keys));
        }
    }
}

Status DistanceSampler::fill_all_joints(const JointFields& joints) {
    const std::size_t count = vertices_.size();
    std::vector<Reading> readings(count);
    parallel_for(task_.context, count, 4096,
                 [&](std::size_t i) { readings[i] = read_at(task_, domain_, vertices_[i]); });
    DistanceTable& table = rows_.table;
    Status swept = joints.each_joint([&](std::size_t k, const LeafDistances& field) {
        for (std::size_t i = 0; i < count; ++i)
            table.distance[std::size_t{row(i)} * table.width + k] = mean_distance(
                readings[i], set_.joints[k], [&](std::uint32_t leaf) { return field.distance(leaf); });
    });
    if (!swept) return swept;
    parallel_for(task_.context, count, 1024, [&](std::size_t i) {
        std::vector<DistanceRows::Entry> found;
        for (std::size_t k = 0; k < set_.joints.size(); ++k) {
            float& d = table.distance[std::size_t{row(i)} * table.width + k];
            if (d < INFINITY) found.emplace_back(d, set_.joints[k]);
            d = INFINITY;
        }
        if (found.empty())
            fill_straight_row(i);
        else
            rows_.store(row(i), found, coverage(readings[i], joints.seeded()));
    });
    return Done{};
}

// Finds the leaves around the vertices, and prefetches their labels.
void DistanceSampler::read(std::span<const std::uint32_t> vertices, const LeafDistances* field,
                           VertexBatch& batch) const {
    std::array<Vec3, VertexBatch::kVertices> points;
    for (std::size_t k = 0; k < vertices.size(); ++k) points[k] = task_.mesh.positions[vertices[k]];
    prefetch_leaves_around(domain_, std::span(points).first(vertices.size()));
    for (std::size_t k = 0; k < vertices.size(); ++k) {
        Reading& reading = batch.readings[k];
        reading = read_at(task_, domain_, vertices[k]);
        if (reading.leaves.count > 0) prefetch(&domain_.component[reading.leaves.leaf[0]]);
        for (std::size_t c = 0; c < static_cast<std::size_t>(reading.leaves.count) && field; ++c)
            prefetch(field->row(reading.leaves.leaf[c]).data());
    }
}

// The joints and distances of the first `count` readings, as keys of DistanceRows.
void DistanceSampler::nearest_joints(std::size_t count, const LeafDistances& field, VertexBatch& batch) const {
    JointMean* const begin = batch.measured.get();
    JointMean* end = begin;
    for (std::size_t k = 0; k < count; ++k) {
        end = batch.means.measure(batch.readings[k].leaves, static_cast<std::uint32_t>(k), field, end);
        batch.first[k + 1] = static_cast<std::size_t>(end - begin);
    }
    if (one_leaf_) {
        for (const JointMean* m = begin; m < end; ++m)
            batch.keys[static_cast<std::size_t>(m - begin)] =
                DistanceRows::key(distance_from_one(m->field, batch.readings[m->reading]), m->joint);
        return;
    }
    std::fill(batch.end_of.begin(), batch.end_of.end(), 0);
    for (const JointMean* m = begin; m < end; ++m) ++batch.end_of[m->joint];
    std::exclusive_scan(batch.end_of.begin(), batch.end_of.end(), batch.end_of.begin(), 0u);
    for (const JointMean* m = begin; m < end; ++m)
        batch.by_joint[batch.end_of[m->joint]++] = static_cast<std::uint32_t>(m - begin);
    const std::span entries(batch.by_joint.get(), batch.first[count]);
    for (std::size_t from = 0, to = 0; from < entries.size(); from = to) {
        const std::uint32_t joint = begin[entries[from]].joint;
        to = batch.end_of[joint];
        add_straight(joint, entries.subspan(from, to - from), batch);
    }
}

// Combines the field of one joint with its straight distances, for these entries of the batch.
void DistanceSampler::add_straight(std::uint32_t joint, std::span<const std::uint32_t> entries,
                                   VertexBatch& batch) const {
    BoneShapes::PointBatch& points = batch.points;
    points.count = entries.size();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Point3& p = batch.readings[batch.measured[entries[i]].reading].at;
        points.x[i] = p[0];
        points.y[i] = p[1];
        points.z[i] = p[2];
    }
    bones_.straight(joint, points);
    for (std::size_t i = 0; i < entries.size(); ++i)
        batch.keys[entries[i]] = DistanceRows::key(
            distance(batch.measured[entries[i]].field, {points.nearest[i], points.beyond[i]}), joint);
}

void DistanceSampler::store(std::size_t i, const Reading& reading, const KeptField& kept,
                            std::span<std::uint64_t> keys) {
    if (set_.joints.size() < kept.joints.size()) {
        const auto end = std::remove_if(keys.begin(), keys.end(), [&](std::uint64_t key) {
            return !std::binary_search(set_.joints.begin(), set_.joints.end(), static_cast<std::uint32_t>(key));
        });
        keys = keys.first(static_cast<std::size_t>(end - keys.begin()));
    }
    if (keys.empty())
        fill_straight_row(i);
    else
        rows_.store(row(i), keys, coverage(reading, kept.seeded));
}

void DistanceSampler::every_joint(const Reading& reading, const KeptField& kept, const EveryDistance& field,
                                  std::vector<std::uint64_t>& row) const {
    for (std::size_t k = 0; k < kept.joints.size(); ++k) {
        const auto distance_at = [&](std::uint32_t leaf) { return field.distance[leaf * field.width + k]; };
        if (const float d = mean_distance(reading, kept.joints[k], distance_at); d < INFINITY)
            row.push_back(DistanceRows::key(d, kept.joints[k]));
    }
}

Result<DistanceRows> read_rows(const Task& task, const Domain& domain,
                               const std::function<Result<SetField>(const JointSet&)>& field_of) {
    DistanceRows rows(task.row_shape());
    const BoneShapes bones(task.skeleton, task.bones);
    for (const JointSet& set : task.plan.sets) {
        DistanceSampler sampler(task, domain, bones, set, set.vertices, rows, DistanceSampler::RowOf::each_vertex);
        if (!set.needs_field()) {
            sampler.fill_straight();
        } else {
            SINEW_TRY_LET(const SetField from, field_of(set));
            if (from.field)
                sampler.fill_from_leaves(*from.field);
            else if (from.each)
                SINEW_TRY(sampler.fill_all_joints(*from.each));
        }
        if (cancelled(task.context)) return measuring_cancelled();
    }
    return rows;
}

Result<DistanceRows> read_rows(const Task& task, const KeptVolume& volume, const BoneShapes& bones,
                               const JointSet& set, std::span<const std::uint32_t> vertices) {
    DistanceRows rows({vertices.size(), task.width(), task.unit, task.context});
    DistanceSampler sampler(task, volume.domain, bones, set, vertices, rows, DistanceSampler::RowOf::each_given);
    if (set.needs_field() && !vertices.empty()) {
        SINEW_TRY_LET(const KeptField* field, volume.field_of(set.joints, task.skeleton));
        sampler.fill_from_leaves(*field);
    } else {
        sampler.fill_straight();
    }
    if (cancelled(task.context)) return measuring_cancelled();
    return rows;
}

}  // namespace sinew
