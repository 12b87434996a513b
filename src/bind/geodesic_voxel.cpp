// Distances through the volume (seed 003): voxels, octree, one sweep for the nearest joints, and from leaves to
// vertices.
#include <algorithm>
#include <array>
#include <cmath>

#include "bind/volume.h"

namespace sinew {
namespace {

// Makes rows of what is measured at the leaves. The same for the mesh of the volume and for one that reuses it.
class Sampler {
public:
    using Entry = DistanceRows::Entry;

    Sampler(const Task& task, const Domain& domain, DistanceRows& rows)
        : task_(task), domain_(domain), bones_(task.skeleton, task.bones), rows_(rows) {}

    /// Rows of a set for which there is nothing to measure: one joint has all the weight whatever its distance, and
    /// idle joints have no field.
    void straight(const JointSet& set) {
        parallel_for(task_.context, set.vertices.size(), 1024, [&](std::size_t i) {
            const Coverage how = straight_row(set, set.vertices[i]);
            Coverage& kept = rows_.coverage[set.vertices[i]];
            if (how == Coverage::euclidean && !set.idle) kept = Coverage::weighted;
        });
    }

    /// Rows of a set from a field of its joints, or of more than those.
    void from_leaves(const JointSet& set, const KeptField& kept) {
        const auto& field = std::get<LeafDistances>(kept.field);
        const bool every = field.joint.empty();
        const std::vector<std::uint32_t>& vertices = set.vertices;
        parallel_chunks(task_.context, vertices.size(), 1024, [&](std::size_t, std::size_t begin, std::size_t end) {
            std::vector<Entry> row;
            Means means(task_.skeleton.joints.size());
            // Some at a time, so that what is measured around the last of them comes while the first are read.
            std::array<Reading, 32> readings;
            for (std::size_t i = begin; i < end && !cancelled(task_.context); i += readings.size()) {
                const std::size_t count = std::min(readings.size(), end - i);
                for (std::size_t k = 0; k < count; ++k) {
                    readings[k] = read_at(task_, domain_, vertices[i + k]);
                    if (readings[k].leaves.count > 0)
                        __builtin_prefetch(&domain_.component[readings[k].leaves.leaf[0]]);
                    for (int c = 0; c < readings[k].leaves.count && !every; ++c) {
                        const std::size_t at = readings[k].leaves.leaf[static_cast<std::size_t>(c)] * field.width;
                        __builtin_prefetch(&field.joint[at]);
                        __builtin_prefetch(&field.distance[at]);
                    }
                }
                for (std::size_t k = 0; k < count; ++k)
                    store(set, vertices[i + k], readings[k], kept, field, every, means, row);
            }
        });
    }

    /// One joint's distance from the field of that joint alone, or of one slot of a field of several; +inf where it
    /// does not reach.
    float of_joint(const Reading& reading, std::uint32_t joint, const LeafDistances& field,
                   std::size_t slot = 0) const {
        double share = 0, sum = 0;
        for (int k = 0; k < reading.leaves.count; ++k) {
            const std::uint32_t d = field.distance[reading.leaves.leaf[k] * field.width + slot];
            if (d == LeafDistances::unreached) continue;
            share += reading.leaves.share[k];
            sum += reading.leaves.share[k] * d;
        }
        return share == 0 ? std::numeric_limits<float>::infinity() : distance(joint, reading.at, sum / share);
    }

    Coverage straight_row(const JointSet& set, std::uint32_t vertex) {
        std::vector<Entry> row;
        const Coverage how = sinew::straight_row(task_, bones_, set, vertex, row);
        rows_.store(vertex, row, how);
        return how;
    }

    Coverage coverage(const Reading& reading, const std::vector<bool>& seeded) const {
        if (reading.outside) return Coverage::outside;
        return seeded[domain_.component[reading.leaves.leaf[0]]] ? Coverage::weighted : Coverage::bridged;
    }

private:
    // Sums by joint. A joint's slot says where its sums are, if they are its: nothing has to be cleared.
    struct Means {
        static constexpr std::size_t kMost = 8 * GeodesicSolver::kMaxNearest;
        std::vector<std::uint32_t> slot_of;
        std::array<std::uint32_t, kMost> joint;
        std::array<double, kMost> share, sum;
        std::size_t count = 0;

        explicit Means(std::size_t joints) : slot_of(joints, 0) {}
        std::size_t slot(std::uint32_t of) {
            std::uint32_t& at = slot_of[of];
            if (at < count && joint[at] == of) return at;
            at = static_cast<std::uint32_t>(count);
            joint[count] = of;
            share[count] = sum[count] = 0;
            return count++;
        }
    };

    void store(const JointSet& set, std::uint32_t vertex, const Reading& reading, const KeptField& kept,
               const LeafDistances& field, bool every, Means& means, std::vector<Entry>& row) {
        row.clear();
        if (every)
            every_joint(reading, kept, field, row);
        else
            nearest_joints(reading, field, means, row);
        if (set.joints.size() < kept.joints.size())
            std::erase_if(row, [&](const Entry& e) {
                return !std::binary_search(set.joints.begin(), set.joints.end(), e.second);
            });
        if (row.empty())
            straight_row(set, vertex);
        else
            rows_.store(vertex, row, coverage(reading, kept.seeded));
    }

    void nearest_joints(const Reading& reading, const LeafDistances& field, Means& means,
                        std::vector<Entry>& row) const {
        const LeafStencil& s = reading.leaves;
        if (s.count == 0) return;
        const std::uint32_t* first = &field.joint[s.leaf[0] * field.width];
        std::size_t wide = 0;  // what the first leaf has
        means.count = 0;
        for (; wide < field.width && first[wide] != DistanceTable::none; ++wide) means.slot(first[wide]);
        for (std::size_t k = 0; k < static_cast<std::size_t>(s.count); ++k) {
            const std::uint32_t* joint = &field.joint[s.leaf[k] * field.width];
            const std::uint32_t* distance = &field.distance[s.leaf[k] * field.width];
            const double share = s.share[k];
            // Leaves beside each other mostly have the same joints in the same order.
            if (std::equal(joint, joint + field.width, first)) {
                for (std::size_t slot = 0; slot < wide; ++slot) means.share[slot] += share;
                for (std::size_t slot = 0; slot < wide; ++slot) means.sum[slot] += share * distance[slot];
                continue;
            }
            for (std::size_t i = 0; i < field.width && joint[i] != DistanceTable::none; ++i) {
                const std::size_t slot = means.slot(joint[i]);
                means.share[slot] += share;
                means.sum[slot] += share * distance[i];
            }
        }
        for (std::size_t slot = 0; slot < means.count; ++slot) {
            const std::uint32_t joint = means.joint[slot];
            row.emplace_back(distance(joint, reading.at, means.sum[slot] / means.share[slot]), joint);
        }
    }

    void every_joint(const Reading& reading, const KeptField& kept, const LeafDistances& field,
                     std::vector<Entry>& row) const {
        for (std::size_t k = 0; k < kept.joints.size(); ++k)
            if (const float d = of_joint(reading, kept.joints[k], field, k); d < INFINITY)
                row.emplace_back(d, kept.joints[k]);
    }

    /// From the field's value (in its integer units) to scene units: never less than the straight distance to the
    /// joint's nearest bone, plus how far the vertex lies beyond that bone's open end.
    float distance(std::uint32_t joint, const Point3& p, double field) const {
        const double measured = field * domain_.transform.voxel / LeafDistances::units_per_voxel;
        const auto [nearest, beyond] = bones_.straight(joint, p);
        return static_cast<float>(std::max(measured, nearest) + task_.options.overshoot * beyond);
    }

    const Task& task_;
    const Domain& domain_;
    const BoneShapes bones_;
    DistanceRows& rows_;
};

bool needs_no_field(const JointSet& set) { return set.joints.size() == 1 || set.idle; }

// What spreads from the bones, set by set.
class Spread {
public:
    Spread(const Task& task, const Domain& domain)
        : task_(task),
          domain_(domain),
          seeds_(seed_volume(task, domain)),
          solver_(domain, {task.options.penalty}, task.context),
          bridge_finder_(domain),
          seeded_by_any_(domain.component_count, false) {}

    /// The next set of joints: which components they reach by themselves, and by which bridges the others.
    void take(const JointSet& set) {
        seeded.assign(domain_.component_count, false);
        for (const std::uint32_t j : set.joints)
            for (const auto& seed : seeds_.of_joint[j]) seeded[domain_.component[seed.leaf]] = true;
        if (!set.vertices.empty())
            for (std::size_t c = 0; c < seeded.size(); ++c)
                if (seeded[c]) seeded_by_any_[c] = true;
        if (!needs_no_field(set)) bridges_ = bridge_finder_.join(seeded);
    }

    /// One sweep for the nearest joints.
    Result<LeafDistances> nearest(const JointSet& set, std::size_t width) const {
        return solver_.nearest(seeds_, set.joints, bridges_, static_cast<int>(width), task_.context);
    }

    /// One sweep per joint of the set, several at once: use(k, field of joint k).
    template <typename Use>
    Status each(const JointSet& set, Use&& use) const {
        std::vector<std::optional<Error>> failed(set.joints.size());
        parallel_for(task_.context, set.joints.size(), 1, [&](std::size_t k) {
            const std::uint32_t joint[] = {set.joints[k]};
            Result<LeafDistances> one = solver_.nearest(seeds_, joint, bridges_, 1, task_.context);
            if (one)
                use(k, *one);
            else
                failed[k] = one.error();
        });
        for (const auto& error : failed)
            if (error) return *error;
        return Done{};
    }

    std::size_t unseeded() const {
        return static_cast<std::size_t>(std::count(seeded_by_any_.begin(), seeded_by_any_.end(), false));
    }

    std::vector<bool> seeded;  ///< per component, by the set

private:
    const Task& task_;
    const Domain& domain_;
    const BoneSeeds seeds_;
    const GeodesicSolver solver_;
    BridgeFinder bridge_finder_;
    std::vector<bool> seeded_by_any_;
    std::vector<Bridge> bridges_;
};

// Where every joint is wanted and nothing is kept: one sweep per joint, which costs less than one for all, and no
// field outlives its sweep.
Status stream(const Task& task, const Domain& domain, const JointSet& set, const Spread& spread, Sampler& sampler,
              DistanceRows& rows) {
    const std::size_t count = set.vertices.size();
    std::vector<Reading> readings(count);
    parallel_for(task.context, count, 4096,
                 [&](std::size_t i) { readings[i] = read_at(task, domain, set.vertices[i]); });
    DistanceTable& table = rows.table;
    Status swept = spread.each(set, [&](std::size_t k, const LeafDistances& one) {
        for (std::size_t i = 0; i < count; ++i)
            table.distance[set.vertices[i] * table.width + k] = sampler.of_joint(readings[i], set.joints[k], one);
    });
    if (!swept) return swept;
    parallel_for(task.context, count, 1024, [&](std::size_t i) {
        const std::uint32_t v = set.vertices[i];
        std::vector<DistanceRows::Entry> row;
        for (std::size_t k = 0; k < set.joints.size(); ++k) {
            float& d = table.distance[v * table.width + k];
            if (d < INFINITY) row.emplace_back(d, set.joints[k]);
            d = INFINITY;
        }
        if (row.empty())
            sampler.straight_row(set, v);
        else
            rows.store(v, row, sampler.coverage(readings[i], spread.seeded));
    });
    return Done{};
}

// The fields of all joints of a set side by side, to be kept.
Result<LeafDistances> every_joint(const Domain& domain, const JointSet& set, const Spread& spread) {
    LeafDistances field;
    field.width = set.joints.size();
    field.distance.resize(domain.leaves.size() * field.width);
    Status swept = spread.each(set, [&](std::size_t k, const LeafDistances& one) {
        for (std::size_t i = 0; i < domain.leaves.size(); ++i)
            field.distance[i * field.width + k] = one.distance[i];
    });
    if (!swept) return swept.error();
    return field;
}

}  // namespace

Result<std::vector<KeptField>> measure_geodesic(const Task& task, const Domain& domain, DistanceRows& rows) {
    const bool all = task.options.finish.max_influences == all_influences, keep = task.options.keep_volume;
    Spread spread(task, domain);
    Sampler sampler(task, domain, rows);
    std::vector<KeptField> fields;
    for (const JointSet& set : task.plan.sets) {
        // A mesh that comes later may use a skin that this one does not.
        if (set.vertices.empty() && !keep) continue;
        spread.take(set);
        if (needs_no_field(set)) {
            sampler.straight(set);
        } else if (all && !keep) {
            if (Status done = stream(task, domain, set, spread, sampler, rows); !done) return done.error();
        } else {
            Result<LeafDistances> field =
                all ? every_joint(domain, set, spread) : spread.nearest(set, rows.table.width);
            if (!field) return field.error();
            KeptField kept{set.joints, spread.seeded, std::move(*field)};
            sampler.from_leaves(set, kept);
            if (keep) fields.push_back(std::move(kept));
        }
        if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
    }
    task.report.bridged_components = spread.unseeded();
    return fields;
}

Status remeasure_geodesic(const Task& task, DistanceRows& rows) {
    const KeptVolume& volume = task.reused->volume;
    Sampler sampler(task, volume.domain, rows);
    for (const JointSet& set : task.plan.sets) {
        const KeptField* kept = volume.find(set.joints);
        if (needs_no_field(set)) {
            sampler.straight(set);
        } else if (kept) {
            sampler.from_leaves(set, *kept);
        } else if (!set.vertices.empty()) {
            return unknown_joints(task, set);
        }
        if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
    }
    return Done{};
}

Result<MethodRows> bind_geodesic_voxel(const Task& task) {
    DistanceRows rows(task);
    if (task.reused) {
        Status measured = task.clock.run("distances", [&] { return remeasure_geodesic(task, rows); });
        if (!measured) return measured.error();
        return MethodRows(std::move(rows));
    }
    Result<Domain> domain = build_volume(task, Links::compact);
    if (!domain) return domain.error();
    Result<std::vector<KeptField>> fields =
        task.clock.run("distances", [&] { return measure_geodesic(task, *domain, rows); });
    if (!fields) return fields.error();
    MethodRows out = std::move(rows);
    if (task.options.keep_volume) out.volume = keep_volume(std::move(*domain), std::move(*fields));
    return out;
}

}  // namespace sinew
