// Geodesic voxel binding (Dionne and de Lasa 2014): voxels, octree, one sweep for the nearest joints (section 6,
// algorithm 3), and distances at the vertices (sampling.h).
#include "bind/geodesic_voxel.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "bind/sampling.h"
#include "bind/volume.h"

namespace sinew {
namespace {

bool needs_no_field(const JointSet& set) { return set.joints.size() == 1 || set.idle; }

// Spreads distances from the bones through the domain, for one set of joints after the other.
class DistanceSpreader {
public:
    DistanceSpreader(const Task& task, const Domain& domain, const BoneSeeds& seeds)
        : task_(task),
          domain_(domain),
          seeds_(seeds),
          solver_(domain, {task.options.penalty}, task.context),
          bridge_finder_(domain),
          seeded_by_any_(domain.component_count, false) {}

    /// Begins the next set: finds the components that its bones reach, and bridges to the others.
    void begin(const JointSet& set) {
        seeded.assign(domain_.component_count, false);
        for (const std::uint32_t j : set.joints)
            for (const auto& seed : seeds_.of_joint[j]) seeded[domain_.component[seed.leaf]] = true;
        if (!set.vertices.empty())
            for (std::size_t c = 0; c < seeded.size(); ++c)
                if (seeded[c]) seeded_by_any_[c] = true;
        if (needs_no_field(set)) return;
        bridges_ = bridge_finder_.join(seeded);
        if (task_.options.as_published) bridges_ = lead_outwards(std::move(bridges_), domain_, seeded);
    }

    /// The nearest `width` joints of every leaf, in one sweep.
    Result<LeafDistances> nearest(const JointSet& set, std::size_t width) const {
        return solver_.nearest(seeds_, set.joints, bridges_, static_cast<int>(width), task_.context);
    }

    /// The same rows, from those that were measured before joints moved.
    Result<LeafDistances> renewed(const JointSet& set, const LeafDistances& before, const LeafMatch& match,
                                  std::span<const std::uint32_t> moved) const {
        return solver_.renewed(before, match, seeds_, set.joints, moved, bridges_, task_.context);
    }

    /// One sweep per joint of the set, in parallel: calls use(k, field of joint k).
    template <typename Use>
    Status each_joint(const JointSet& set, Use&& use) const {
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

    /// The fields of all joints of a set, to be kept.
    Result<EveryDistance> every_joint(const JointSet& set) const {
        EveryDistance field;
        field.width = set.joints.size();
        field.distance.resize(domain_.leaves.size() * field.width);
        Status swept = each_joint(set, [&](std::size_t k, const LeafDistances& one) {
            for (std::size_t i = 0; i < domain_.leaves.size(); ++i)
                field.distance[i * field.width + k] = one.distance(i);
        });
        if (!swept) return swept.error();
        return field;
    }

    /// Components that no bone of a set with vertices reached.
    std::size_t unseeded() const {
        return static_cast<std::size_t>(std::count(seeded_by_any_.begin(), seeded_by_any_.end(), false));
    }

    std::vector<bool> seeded;  ///< per component: a bone of the current set lies in it

private:
    const Task& task_;
    const Domain& domain_;
    const BoneSeeds& seeds_;
    const GeodesicSolver solver_;
    BridgeFinder bridge_finder_;
    std::vector<bool> seeded_by_any_;  // per component: the same of all sets that have vertices
    std::vector<Bridge> bridges_;
};

// Measures set by set and fills the rows. measure(set, spreader) returns the nearest joints of every leaf;
// changed_places(set, field) returns the places where existing rows may change.
template <typename Measure, typename Changed>
Result<std::vector<KeptField>> measure_sets(const Task& task, const Domain& domain, const BoneSeeds& seeds,
                                            DistanceRows& rows, Measure&& measure, Changed&& changed_places) {
    const bool all = task.options.finish.max_influences == all_influences, keep = task.options.keep_volume;
    DistanceSpreader spreader(task, domain, seeds);
    DistanceSampler sampler(task, domain, rows);
    std::vector<KeptField> fields;
    for (const JointSet& set : task.plan.sets) {
        // Another mesh may have vertices in a skin that is empty here.
        if (set.vertices.empty() && !keep) continue;
        spreader.begin(set);
        if (needs_no_field(set)) {
            sampler.fill_straight(set);
        } else if (all && !keep) {
            // One sweep per joint takes less time than one sweep for all, and its field is freed after it.
            const auto each_joint = [&](const auto& use) { return spreader.each_joint(set, use); };
            if (Status done = sampler.fill_all_joints(set, spreader.seeded, each_joint); !done) return done.error();
        } else {
            KeptField kept{set.joints, spreader.seeded, {}};
            const auto take = [&](auto&& field) -> Status {
                if (!field) return field.error();
                kept.field = std::move(*field);
                return Done{};
            };
            Status done = all ? take(spreader.every_joint(set)) : take(measure(set, spreader));
            if (!done) return done.error();
            sampler.fill_from_leaves(set, kept, changed_places(set, kept));
            if (keep) fields.push_back(std::move(kept));
        }
        if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
    }
    task.report.bridged_components = spreader.unseeded();
    return fields;
}

// A binding of the same mesh before joints moved.
class PreviousBinding {
public:
    /// Copies the previous rows into `rows`, where they have the same shape.
    PreviousBinding(const MovedJoints& before, const Task& task, const Domain& domain, DistanceRows& rows)
        : before_(before),
          domain_(domain),
          match_(match_leaves(before.volume.domain.leaves, domain.leaves)),
          moved_(moved_joints(task.skeleton, before.bones, task.bones)),
          has_rows_(before.table.width == rows.table.width && before.table.vertices == rows.table.vertices &&
                    before.table.unit == rows.table.unit),
          context_(task.context) {
        if (!has_rows_) return;
        rows.table = before.table;
        rows.coverage = before.coverage;
    }

    /// The field of a set: the previous one, repaired where joints moved, or a new one where it cannot be repaired.
    Result<LeafDistances> measure(const JointSet& set, const DistanceSpreader& spreader, std::size_t width) const {
        const LeafDistances* const before = repairable_field(set);
        return before ? spreader.renewed(set, *before, match_, moved_of(set)) : spreader.nearest(set, width);
    }

    /// The places where rows may differ from the previous ones, now that the field of the set is `now`.
    ChangedPlaces changed_places(const JointSet& set, const KeptField& now) const {
        const LeafDistances* const before = repairable_field(set);
        // Coverage depends on the components that have bones of their own.
        if (!has_rows_ || !before || find(set)->seeded != now.seeded) return {};
        return {domain_, *before, std::get<LeafDistances>(now.field), match_, moved_, context_};
    }

private:
    const KeptField* find(const JointSet& set) const {
        const KeptField* const found = before_.volume.find(set.joints);
        return found && found->joints == set.joints ? found : nullptr;
    }
    /// Null if there is none.
    const LeafDistances* repairable_field(const JointSet& set) const {
        const KeptField* const found = find(set);
        const auto* const field = found ? std::get_if<LeafDistances>(&found->field) : nullptr;
        // Labels refer to lists of links, which stay valid only if the previous graph is reused.
        return field && field->has_directions && before_.volume.domain.graph ? field : nullptr;
    }
    std::vector<std::uint32_t> moved_of(const JointSet& set) const {
        std::vector<std::uint32_t> out;
        for (const std::uint32_t j : set.joints)
            if (moved_[j]) out.push_back(j);
        return out;
    }

    const MovedJoints& before_;
    const Domain& domain_;
    const LeafMatch match_;
    const std::vector<bool> moved_;  // per joint: its bones differ
    const bool has_rows_;            // the previous rows were copied
    Context* const context_;
};

// Another mesh: reads its rows from the kept fields.
Result<GeodesicRows> read_other_mesh(const Task& task, const OtherMesh& start) {
    DistanceRows rows(task.row_shape());
    const KeptVolume& volume = start.volume;
    const Status filled = task.clock.run("distances", [&]() -> Status {
        DistanceSampler sampler(task, volume.domain, rows);
        for (const JointSet& set : task.plan.sets) {
            const KeptField* kept = volume.find(set.joints);
            if (needs_no_field(set)) {
                sampler.fill_straight(set);
            } else if (kept) {
                sampler.fill_from_leaves(set, *kept);
            } else if (!set.vertices.empty()) {
                return unknown_joints(task.skeleton, set);
            }
            if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
        }
        return Done{};
    });
    if (!filled) return filled.error();
    return GeodesicRows{std::move(rows), std::nullopt, {}};
}

// The same mesh with moved joints: repairs the kept fields, and the rows where fields changed.
Result<std::vector<KeptField>> repair_distances(const Task& task, const MovedJoints& start,
                                                const SeededVolume& volume, DistanceRows& rows) {
    const PreviousBinding previous(start, task, volume.domain, rows);
    return measure_sets(
        task, volume.domain, volume.seeds, rows,
        [&](const JointSet& set, const DistanceSpreader& spreader) {
            return previous.measure(set, spreader, rows.table.width);
        },
        [&](const JointSet& set, const KeptField& now) { return previous.changed_places(set, now); });
}

}  // namespace

Result<std::vector<KeptField>> spread_distances(const Task& task, const Domain& domain, const BoneSeeds& seeds,
                                                DistanceRows& rows) {
    return measure_sets(
        task, domain, seeds, rows,
        [&](const JointSet& set, const DistanceSpreader& spreader) {
            return spreader.nearest(set, rows.table.width);
        },
        [](const JointSet&, const KeptField&) { return ChangedPlaces(); });
}

Result<GeodesicRows> measure_geodesic(const Task& task) {
    if (const auto* other = std::get_if<OtherMesh>(&task.start)) return read_other_mesh(task, *other);
    Result<SeededVolume> volume = build_volume(task, task.options.domain, Links::compact);
    if (!volume) return volume.error();
    DistanceRows rows(task.row_shape());
    const auto* const moved = std::get_if<MovedJoints>(&task.start);
    Result<std::vector<KeptField>> fields = task.clock.run("distances", [&] {
        return moved ? repair_distances(task, *moved, *volume, rows)
                     : spread_distances(task, volume->domain, volume->seeds, rows);
    });
    if (!fields) return fields.error();
    return GeodesicRows{std::move(rows), std::move(volume->domain), std::move(*fields)};
}

Result<MethodRows> bind_geodesic_voxel(const Task& task) {
    Result<GeodesicRows> measured = measure_geodesic(task);
    if (!measured) return measured.error();
    MethodRows out = std::move(measured->rows);
    if (task.options.keep_volume && measured->domain)
        out.volume = keep_volume(std::move(*measured->domain), std::move(measured->fields));
    return out;
}

}  // namespace sinew
