// Distances through the volume (seed 003): voxels, octree, one sweep for the nearest joints, and from leaves to
// vertices.
#include <algorithm>
#include <array>
#include <cmath>

#include "bind/bone_shapes.h"
#include "bind/volume.h"
#include "field/geodesic.h"
#include "field/leaf_sample.h"

namespace sinew {
namespace {

// Measures the vertices of one joint set and fills their rows of the table.
class Sampler {
public:
    Sampler(const Task& task, const BoneShapes& bones, const Domain& domain, DistanceRows& rows)
        : mesh_(task.mesh),
          bones_(bones),
          domain_(domain),
          overshoot_(task.options.overshoot),
          rows_(rows),
          table_(rows.table) {}

    /// The nearest joints of the leaves around a vertex become its row.
    void from_leaves(std::uint32_t vertex, const LeafStencil& s, const LeafDistances& field, bool bridged) {
        struct Mean {
            std::uint32_t joint;
            double share, sum;
        };
        std::array<Mean, 8 * GeodesicSolver::kMaxNearest> means;
        std::size_t count = 0;
        for (int k = 0; k < s.count; ++k) {
            for (std::size_t slot = 0; slot < field.width; ++slot) {
                const std::size_t at = s.leaf[k] * field.width + slot;
                if (field.joint[at] == DistanceTable::none) break;
                std::size_t m = 0;
                while (m < count && means[m].joint != field.joint[at]) ++m;
                if (m == count) means[count++] = {field.joint[at], 0, 0};
                means[m].share += s.share[k];
                means[m].sum += s.share[k] * field.distance[at];
            }
        }
        const Point3 p = to_point(mesh_.positions[vertex]);
        std::array<Entry, means.size()> row;
        for (std::size_t m = 0; m < count; ++m)
            row[m] = {distance(means[m].joint, p, means[m].sum / means[m].share), means[m].joint};
        rows_.store(vertex, {row.data(), count}, bridged ? Coverage::bridged : Coverage::weighted);
    }

    /// One joint's distance at a vertex from what the field of that joint alone says there, or +inf.
    float from_field(std::uint32_t vertex, const LeafStencil& s, std::uint32_t joint,
                     const LeafDistances& field) const {
        double share = 0, sum = 0;
        for (int k = 0; k < s.count; ++k) {
            if (field.joint[s.leaf[k]] == DistanceTable::none) continue;
            share += s.share[k];
            sum += s.share[k] * field.distance[s.leaf[k]];
        }
        if (share == 0) return std::numeric_limits<float>::infinity();
        return distance(joint, to_point(mesh_.positions[vertex]), sum / share);
    }

    /// Puts a row that was filled joint by joint into order.
    void sort_row(std::uint32_t vertex, bool bridged) {
        std::vector<Entry> row;
        for (std::size_t k = 0; k < table_.width; ++k) {
            const std::size_t at = vertex * table_.width + k;
            if (table_.joint[at] != DistanceTable::none) row.emplace_back(table_.distance[at], table_.joint[at]);
            table_.joint[at] = DistanceTable::none;
            table_.distance[at] = std::numeric_limits<float>::infinity();
        }
        rows_.store(vertex, row, bridged ? Coverage::bridged : Coverage::weighted);
    }

private:
    using Entry = DistanceRows::Entry;

    /// From the field's value (in its integer units) to scene units: never less than the straight distance to the
    /// joint's nearest bone, plus how far the vertex lies beyond that bone's open end.
    float distance(std::uint32_t joint, const Point3& p, double field) const {
        const auto [nearest, beyond] = bones_.straight(joint, p);
        const double measured = field * domain_.transform.voxel / LeafDistances::units_per_voxel;
        return static_cast<float>(std::max(measured, nearest) + overshoot_ * beyond);
    }

    const MeshView& mesh_;
    const BoneShapes& bones_;
    const Domain& domain_;
    const float overshoot_;
    DistanceRows& rows_;
    DistanceTable& table_;
};

// Fills the rows set by set.
Status measure(const Task& task, const Domain& domain, DistanceRows& rows) {
    Context* const context = task.context;
    BindReport& report = task.report;
    DistanceTable& table = rows.table;
    const bool all = task.options.finish.max_influences == all_influences;
    const BoneSeeds seeds = seed_volume(task, domain);
    const GeodesicSolver solver(domain, {task.options.penalty}, context);
    const BoneShapes bones(task.skeleton, task.bones);
    Sampler sampler(task, bones, domain, rows);
    std::vector<bool> seeded_by_any(domain.component_count, false);
    BridgeFinder bridge_finder(domain);
    for (const JointSet& set : task.plan.sets) {
        if (set.vertices.empty()) continue;
        std::vector<bool> seeded(domain.component_count, false);
        for (const std::uint32_t j : set.joints)
            for (const auto& seed : seeds.of_joint[j])
                seeded[domain.component[seed.leaf]] = seeded_by_any[domain.component[seed.leaf]] = true;
        if (set.joints.size() == 1 || set.idle) {
            // Nothing to measure: one joint has all the weight whatever its distance, and idle joints have no
            // field.
            parallel_for(context, set.vertices.size(), 1024, [&](std::size_t i) {
                const std::uint32_t v = set.vertices[i];
                std::vector<DistanceRows::Entry> row;
                const Coverage how = straight_row(task, bones, set, v, row);
                rows.store(v, row, how == Coverage::euclidean && !set.idle ? Coverage::weighted : how);
            });
            continue;
        }
        const std::vector<Bridge> bridges = bridge_finder.join(seeded);

        // One sweep for the K nearest; where every joint is wanted, one per joint, which costs less than K =
        // all.
        LeafDistances field;
        if (!all) {
            Result<LeafDistances> swept =
                solver.nearest(seeds, set.joints, bridges, static_cast<int>(table.width), context);
            if (!swept) return swept.error();
            field = std::move(*swept);
        } else {
            field.width = set.joints.size();
        }
        const std::size_t count = set.vertices.size();
        std::vector<LeafStencil> stencils(all ? count : 0);
        if (all) {
            parallel_for(context, count, 4096, [&](std::size_t i) {
                stencils[i] = leaf_stencil(domain, task.mesh.positions[set.vertices[i]]);
            });
            std::vector<std::optional<Error>> failed(set.joints.size());
            parallel_for(context, set.joints.size(), 1, [&](std::size_t k) {
                const std::uint32_t joint[] = {set.joints[k]};
                Result<LeafDistances> one = solver.nearest(seeds, joint, bridges, 1, context);
                if (!one) {
                    failed[k] = one.error();
                    return;
                }
                for (std::size_t i = 0; i < count; ++i) {
                    const std::size_t at = set.vertices[i] * table.width + k;
                    table.distance[at] = sampler.from_field(set.vertices[i], stencils[i], joint[0], *one);
                    if (table.distance[at] < std::numeric_limits<float>::infinity()) table.joint[at] = joint[0];
                }
            });
            for (const auto& error : failed)
                if (error) return *error;
        }
        parallel_for(context, count, 1024, [&](std::size_t i) {
            const std::uint32_t v = set.vertices[i];
            const LeafStencil s = all ? stencils[i] : leaf_stencil(domain, task.mesh.positions[v]);
            const bool bridged = s.count > 0 && !seeded[domain.component[s.leaf[0]]];
            if (all) {
                sampler.sort_row(v, bridged);
            } else if (s.count > 0) {
                sampler.from_leaves(v, s, field, bridged);
            }
            if (rows.coverage[v] != Coverage::none || cancelled(context)) return;
            std::vector<DistanceRows::Entry> row;
            const Coverage how = straight_row(task, bones, set, v, row);
            rows.store(v, row, how);
        });
        if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
    }
    report.bridged_components =
        static_cast<std::size_t>(std::count(seeded_by_any.begin(), seeded_by_any.end(), false));
    return Done{};
}

}  // namespace

Result<MethodRows> bind_geodesic_voxel(const Task& task) {
    Result<Domain> domain = build_volume(task);
    if (!domain) return domain.error();
    DistanceRows rows(task);
    Status measured = task.clock.run("distances", [&] { return measure(task, *domain, rows); });
    if (!measured) return measured.error();
    return MethodRows(std::move(rows));
}

}  // namespace sinew
