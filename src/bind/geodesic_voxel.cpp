// Distances through the volume (seed 003): voxels, octree, one sweep for the nearest joints, and from leaves to
// vertices.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>

#include "bind/volume.h"
#include "core/processor.h"

namespace sinew {
namespace {

// Rows of eight labels around a vertex, summed up as long as they have the joints of the first one in its order, as
// leaves beside each other mostly do: then sums are vectors, and means, if all rows have them.
class AlikeRows {
public:
    static constexpr std::size_t kLabels = 8;

    AlikeRows(const LeafStencil& s, const LeafDistances& field) : count_(static_cast<std::size_t>(s.count)) {
        for (std::size_t k = 0; k < count_; ++k) {
            rows_[k] = field.row(s.leaf[k]).data();
            shares_[k] = s.share[k];
        }
        static const Add best_add = best();
        added_ = best_add(*this);
    }
    std::size_t added() const { return added_; }          ///< rows, the first ones
    double share() const { return share_; }               ///< sum
    double sum(std::size_t k) const { return sums_[k]; }  ///< of distances times shares
    bool all() const { return added_ == count_; }
    double mean(std::size_t k) const { return means_[k]; }  ///< sum / share, where all are added

private:
    using Labels = Label __attribute__((vector_size(32)));
    using Numbers = double __attribute__((vector_size(32)));

    [[gnu::always_inline]] static std::size_t add(AlikeRows& to) {
        constexpr double two52 = 4503599627370496.0;  // and a lesser number, as the bits of a double
        constexpr auto bits = std::bit_cast<std::uint64_t>(two52);
        Labels first_low, first_high;
        std::memcpy(&first_low, to.rows_[0], sizeof first_low);
        std::memcpy(&first_high, to.rows_[0] + 4, sizeof first_high);
        Numbers low{}, high{};
        double share = 0;
        std::size_t k = 0;
        for (; k < to.count_; ++k) {
            Labels row_low, row_high;
            std::memcpy(&row_low, to.rows_[k], sizeof row_low);
            std::memcpy(&row_high, to.rows_[k] + 4, sizeof row_high);
            const Labels differ = ((row_low ^ first_low) | (row_high ^ first_high)) & kLabelJointMask;
            if (differ[0] | differ[1] | differ[2] | differ[3]) break;
            share += to.shares_[k];
            low += to.shares_[k] * (reinterpret_cast<Numbers>(row_low >> kLabelDistance | bits) - two52);
            high += to.shares_[k] * (reinterpret_cast<Numbers>(row_high >> kLabelDistance | bits) - two52);
        }
        to.share_ = share;
        std::memcpy(to.sums_.data(), &low, sizeof low);
        std::memcpy(to.sums_.data() + 4, &high, sizeof high);
        low /= share;
        high /= share;
        std::memcpy(to.means_.data(), &low, sizeof low);
        std::memcpy(to.means_.data() + 4, &high, sizeof high);
        return k;
    }
    using Add = std::size_t (*)(AlikeRows&);
    static std::size_t plain(AlikeRows& to) { return add(to); }
#if defined(SINEW_VECTORS)
    SINEW_FOR_AVX2 static std::size_t avx2(AlikeRows& to) { return add(to); }
    static Add best() { return best_of(plain, avx2, avx2); }  // a row is two vectors of AVX2
#else
    static Add best() { return plain; }
#endif

    std::array<const Label*, 8> rows_;
    std::array<double, 8> shares_;
    std::size_t count_, added_ = 0;
    double share_ = 0;
    std::array<double, kLabels> sums_, means_;
};

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

    /// Rows of a set from a field of its joints, or of more than those; of those vertices that may have others than
    /// they have already.
    void from_leaves(const JointSet& set, const KeptField& kept, const ChangedPlaces& changed = {}) {
        const auto* const field = std::get_if<LeafDistances>(&kept.field);
        parallel_chunks(
            task_.context, set.vertices.size(), 1024, [&](std::size_t, std::size_t first, std::size_t last) {
                std::array<std::uint32_t, 1024> vertices;
                std::size_t count = 0;
                for (std::size_t i = first; i < last; ++i)
                    if (may_differ(set.vertices[i], changed)) vertices[count++] = set.vertices[i];
                Some some(task_.skeleton.joints.size());
                std::vector<std::uint64_t> row;
                for (std::size_t i = 0; i < count && !cancelled(task_.context); i += Some::kMost) {
                    const auto now = std::span(vertices).subspan(i, std::min<std::size_t>(Some::kMost, count - i));
                    read(now, field, some);
                    if (field) nearest_joints(now.size(), *field, some);
                    for (std::size_t k = 0; k < now.size(); ++k) {
                        if (field) {
                            store(set, now[k], some.readings[k], kept, some.keys_of(k));
                            continue;
                        }
                        row.clear();
                        every_joint(some.readings[k], kept, std::get<EveryDistance>(kept.field), row);
                        store(set, now[k], some.readings[k], kept, std::span(row));
                    }
                }
            });
    }

    /// One joint's distance, at(leaf) being that at a leaf; +inf where it does not reach.
    template <typename At>
    float of_joint(const Reading& reading, std::uint32_t joint, At&& at) const {
        double share = 0, sum = 0;
        for (int k = 0; k < reading.leaves.count; ++k) {
            const std::uint32_t d = at(reading.leaves.leaf[k]);
            if (d == LeafDistances::unreached) continue;
            share += reading.leaves.share[k];
            sum += reading.leaves.share[k] * d;
        }
        if (share == 0) return std::numeric_limits<float>::infinity();
        return task_.options.as_published ? distance_as_published(sum / share, reading)
                                          : distance(sum / share, bones_.straight(joint, reading.at));
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
    bool may_differ(std::uint32_t vertex, const ChangedPlaces& changed) const {
        const Coverage how = rows_.coverage[vertex];
        return (how != Coverage::weighted && how != Coverage::bridged) ||
               changed.hold(domain_.transform, task_.mesh.positions[vertex]);
    }

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

    // What is measured of a joint at one of some readings.
    struct Measured {
        double field;  // in its integer units
        std::uint32_t joint, reading;
    };

    // Some vertices at a time: what is measured around the last of them comes while the first are read, and
    // straight distances from a joint to all that need them are one vector.
    struct Some {
        static constexpr std::size_t kMost = 32, kRoom = kMost * Means::kMost;
        std::array<Reading, kMost> readings;
        Means means;
        std::array<std::size_t, kMost + 1> first{};  // of each reading, in `measured` and `keys`
        std::unique_ptr<Measured[]> measured{new Measured[kRoom]};
        std::unique_ptr<std::uint64_t[]> keys{new std::uint64_t[kRoom]};
        std::unique_ptr<std::uint32_t[]> by_joint{new std::uint32_t[kRoom]};  // places in both
        std::vector<std::uint32_t> end_of;                                    // by joint, in by_joint
        BoneShapes::Many points;
        static_assert(kMost <= BoneShapes::Many::kMost);

        explicit Some(std::size_t joints) : means(joints), end_of(joints) {}
        std::span<std::uint64_t> keys_of(std::size_t reading) const {
            return {keys.get() + first[reading], first[reading + 1] - first[reading]};
        }
    };

    void read(std::span<const std::uint32_t> vertices, const LeafDistances* field, Some& some) const {
        std::array<Vec3, Some::kMost> points;
        for (std::size_t k = 0; k < vertices.size(); ++k) points[k] = task_.mesh.positions[vertices[k]];
        ask_for_leaves(domain_, std::span(points).first(vertices.size()));
        for (std::size_t k = 0; k < vertices.size(); ++k) {
            Reading& reading = some.readings[k];
            reading = read_at(task_, domain_, vertices[k]);
            if (reading.leaves.count > 0) __builtin_prefetch(&domain_.component[reading.leaves.leaf[0]]);
            for (int c = 0; c < reading.leaves.count && field; ++c)
                __builtin_prefetch(field->row(reading.leaves.leaf[static_cast<std::size_t>(c)]).data());
        }
    }

    // Of the first `count` readings.
    void nearest_joints(std::size_t count, const LeafDistances& field, Some& some) const {
        Measured* const begin = some.measured.get();
        Measured* end = begin;
        for (std::size_t k = 0; k < count; ++k) {
            end = measure(some.readings[k].leaves, static_cast<std::uint32_t>(k), field, some.means, end);
            some.first[k + 1] = static_cast<std::size_t>(end - begin);
        }
        if (task_.options.as_published) {
            for (const Measured* m = begin; m < end; ++m)
                some.keys[static_cast<std::size_t>(m - begin)] =
                    DistanceRows::key(distance_as_published(m->field, some.readings[m->reading]), m->joint);
            return;
        }
        std::fill(some.end_of.begin(), some.end_of.end(), 0);
        for (const Measured* m = begin; m < end; ++m) ++some.end_of[m->joint];
        std::exclusive_scan(some.end_of.begin(), some.end_of.end(), some.end_of.begin(), 0u);
        for (const Measured* m = begin; m < end; ++m)
            some.by_joint[some.end_of[m->joint]++] = static_cast<std::uint32_t>(m - begin);
        const std::span places(some.by_joint.get(), some.first[count]);
        for (std::size_t from = 0, to = 0; from < places.size(); from = to) {
            const std::uint32_t joint = begin[places[from]].joint;
            to = some.end_of[joint];
            straight(joint, places.subspan(from, to - from), some);
        }
    }

    // Of one joint, at these places.
    void straight(std::uint32_t joint, std::span<const std::uint32_t> places, Some& some) const {
        BoneShapes::Many& points = some.points;
        points.count = places.size();
        for (std::size_t i = 0; i < places.size(); ++i) {
            const Point3& p = some.readings[some.measured[places[i]].reading].at;
            points.x[i] = p[0];
            points.y[i] = p[1];
            points.z[i] = p[2];
        }
        bones_.straight(joint, points);
        for (std::size_t i = 0; i < places.size(); ++i)
            some.keys[places[i]] = DistanceRows::key(
                distance(some.measured[places[i]].field, {points.nearest[i], points.beyond[i]}), joint);
    }

    // Keys of DistanceRows.
    void store(const JointSet& set, std::uint32_t vertex, const Reading& reading, const KeptField& kept,
               std::span<std::uint64_t> keys) {
        if (set.joints.size() < kept.joints.size()) {
            const auto end = std::remove_if(keys.begin(), keys.end(), [&](std::uint64_t key) {
                return !std::binary_search(set.joints.begin(), set.joints.end(), static_cast<std::uint32_t>(key));
            });
            keys = keys.first(static_cast<std::size_t>(end - keys.begin()));
        }
        if (keys.empty())
            straight_row(set, vertex);
        else
            rows_.store(vertex, keys, coverage(reading, kept.seeded));
    }

    // Writes the joints around a reading, returns the end.
    static Measured* measure(const LeafStencil& s, std::uint32_t reading, const LeafDistances& field, Means& means,
                             Measured* out) {
        if (s.count == 0) return out;
        const std::span<const Label> first = field.row(s.leaf[0]);
        std::size_t wide = 0;  // what the first leaf has
        while (wide < first.size() && first[wide] != kNoLabel) ++wide;
        std::size_t alike = 0;
        means.count = 0;
        if (first.size() == AlikeRows::kLabels) {
            const AlikeRows rows(s, field);
            if (rows.all()) {
                for (std::size_t k = 0; k < wide; ++k) *out++ = {rows.mean(k), joint_of(first[k]), reading};
                return out;
            }
            alike = rows.added();
            for (std::size_t k = 0; k < wide; ++k) {
                const std::size_t slot = means.slot(joint_of(first[k]));
                means.share[slot] = rows.share();
                means.sum[slot] = rows.sum(slot);
            }
        }
        for (std::size_t k = alike; k < static_cast<std::size_t>(s.count); ++k) {
            const std::span<const Label> labels = field.row(s.leaf[k]);
            const double share = s.share[k];
            if (k > 0 && same_joints(labels, first)) {
                for (std::size_t slot = 0; slot < wide; ++slot) means.share[slot] += share;
                for (std::size_t slot = 0; slot < wide; ++slot)
                    means.sum[slot] += share * distance_of(labels[slot]);
                continue;
            }
            for (std::size_t i = 0; i < labels.size() && labels[i] != kNoLabel; ++i) {
                const std::size_t slot = means.slot(joint_of(labels[i]));
                means.share[slot] += share;
                means.sum[slot] += share * distance_of(labels[i]);
            }
        }
        for (std::size_t slot = 0; slot < means.count; ++slot)
            *out++ = {means.sum[slot] / means.share[slot], means.joint[slot], reading};
        return out;
    }

    static bool same_joints(std::span<const Label> a, std::span<const Label> b) {
        Label differ = 0;
        for (std::size_t k = 0; k < a.size(); ++k) differ |= a[k] ^ b[k];
        return (differ & kLabelJointMask) == 0;
    }

    void every_joint(const Reading& reading, const KeptField& kept, const EveryDistance& field,
                     std::vector<std::uint64_t>& row) const {
        for (std::size_t k = 0; k < kept.joints.size(); ++k) {
            const auto at = [&](std::uint32_t leaf) { return field.distance[leaf * field.width + k]; };
            if (const float d = of_joint(reading, kept.joints[k], at); d < INFINITY)
                row.push_back(DistanceRows::key(d, kept.joints[k]));
        }
    }

    /// From the field's value (in its integer units) to scene units: never less than the straight distance to the
    /// joint's nearest bone, plus how far the vertex lies beyond that bone's open end.
    float distance(double field, const BoneShapes::Distance& straight) const {
        return static_cast<float>(std::max(in_scene(field), straight.nearest) +
                                  task_.options.overshoot * straight.beyond);
    }
    /// Eq. 7: the way from the centre of the leaf that contains the vertex is added, and nothing else.
    float distance_as_published(double field, const Reading& reading) const {
        return static_cast<float>(in_scene(field) + reading.from_centre);
    }
    double in_scene(double field) const { return field * domain_.transform.voxel / LeafDistances::units_per_voxel; }

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
        if (needs_no_field(set)) return;
        bridges_ = bridge_finder_.join(seeded);
        if (task_.options.as_published) bridges_ = lead_outwards(std::move(bridges_), domain_, seeded);
    }

    /// One sweep for the nearest joints.
    Result<LeafDistances> nearest(const JointSet& set, std::size_t width) const {
        return solver_.nearest(seeds_, set.joints, bridges_, static_cast<int>(width), task_.context);
    }

    /// The same rows, from those that were measured before joints moved.
    Result<LeafDistances> renewed(const JointSet& set, const LeafDistances& before, const LeafMatch& match,
                                  std::span<const std::uint32_t> moved) const {
        return solver_.renewed(before, match, seeds_, set.joints, moved, bridges_, task_.context);
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
            table.distance[set.vertices[i] * table.width + k] = sampler.of_joint(
                readings[i], set.joints[k], [&](std::uint32_t leaf) { return one.distance(leaf); });
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
Result<EveryDistance> every_joint(const Domain& domain, const JointSet& set, const Spread& spread) {
    EveryDistance field;
    field.width = set.joints.size();
    field.distance.resize(domain.leaves.size() * field.width);
    Status swept = spread.each(set, [&](std::size_t k, const LeafDistances& one) {
        for (std::size_t i = 0; i < domain.leaves.size(); ++i)
            field.distance[i * field.width + k] = one.distance(i);
    });
    if (!swept) return swept.error();
    return field;
}

// What moved since a volume was measured, and what it had.
struct Since {
    const Task& task;
    LeafMatch match;
    std::vector<bool> moved;  ///< per joint: its bones are others
    bool has_rows;            ///< the rows are those of before

    Since(const Task& of, const Domain& domain, DistanceRows& rows)
        : task(of),
          match(match_leaves(of.moved->volume.domain.leaves, domain.leaves)),
          moved(moved_joints(of.skeleton, of.moved->bones, of.bones)),
          has_rows(of.moved->table.width == rows.table.width && of.moved->table.vertices == rows.table.vertices &&
                   of.moved->table.unit == rows.table.unit) {
        if (!has_rows) return;
        rows.table = of.moved->table;
        rows.coverage = of.moved->coverage;
    }

    const KeptField* kept(const JointSet& set) const {
        const KeptField* const found = task.moved->volume.find(set.joints);
        return found && found->joints == set.joints ? found : nullptr;
    }
    /// What can be mended, or null.
    const LeafDistances* field(const JointSet& set) const {
        const KeptField* const found = kept(set);
        const auto* const field = found ? std::get_if<LeafDistances>(&found->field) : nullptr;
        // Ways are places in the lists of links, which stay as they are only where they are taken over.
        return field && field->ways && task.moved->volume.domain.graph ? field : nullptr;
    }
    std::vector<std::uint32_t> moved_of(const JointSet& set) const {
        std::vector<std::uint32_t> out;
        for (const std::uint32_t j : set.joints)
            if (moved[j]) out.push_back(j);
        return out;
    }
    ChangedPlaces changed(const JointSet& set, const Domain& domain, const KeptField& now) const {
        const LeafDistances* const before = field(set);
        // Which parts have bones of their own shows in how their vertices are covered.
        if (!has_rows || !before || kept(set)->seeded != now.seeded) return {};
        return {domain, *before, std::get<LeafDistances>(now.field), match, moved, task.context};
    }
};

}  // namespace

Result<std::vector<KeptField>> measure_geodesic(const Task& task, const Domain& domain, DistanceRows& rows) {
    const bool all = task.options.finish.max_influences == all_influences, keep = task.options.keep_volume;
    Spread spread(task, domain);
    Sampler sampler(task, domain, rows);
    std::vector<KeptField> fields;
    std::optional<Since> since;
    if (task.moved) since.emplace(task, domain, rows);
    for (const JointSet& set : task.plan.sets) {
        // A mesh that comes later may use a skin that this one does not.
        if (set.vertices.empty() && !keep) continue;
        spread.take(set);
        if (needs_no_field(set)) {
            sampler.straight(set);
        } else if (all && !keep) {
            if (Status done = stream(task, domain, set, spread, sampler, rows); !done) return done.error();
        } else {
            KeptField kept{set.joints, spread.seeded, {}};
            const auto measured = [&](auto&& field) -> Status {
                if (!field) return field.error();
                kept.field = std::move(*field);
                return Done{};
            };
            const LeafDistances* const before = since ? since->field(set) : nullptr;
            if (Status done = all      ? measured(every_joint(domain, set, spread))
                              : before ? measured(spread.renewed(set, *before, since->match, since->moved_of(set)))
                                       : measured(spread.nearest(set, rows.table.width));
                !done)
                return done.error();
            sampler.from_leaves(set, kept, since ? since->changed(set, domain, kept) : ChangedPlaces());
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
