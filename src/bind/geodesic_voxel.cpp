// Distances through the volume (seed 003): voxels, octree, one sweep for the nearest joints, and from leaves to
// vertices.
#include <algorithm>
#include <array>
#include <cmath>

#include "bind/bone_shapes.h"
#include "bind/method.h"
#include "domain/trace.h"

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

    /// The leaves around a vertex and their shares in what is measured there.
    struct Stencil {
        int count = 0;  // 0: outside the volume
        std::array<std::uint32_t, 8> leaf;
        std::array<double, 8> share;
    };

    /// The boundary leaves among the eight voxels whose centres surround the vertex, by trilinear shares, so that
    /// distances are continuous over the surface. A vertex away from every surface takes the leaf it is in.
    Stencil stencil(std::uint32_t vertex) const {
        Stencil s;
        const auto v = to_voxels(domain_.transform, mesh_.positions[vertex]);
        const double r = domain_.transform.resolution;
        for (const double c : v)
            if (!(c >= 0 && c < r)) return s;
        const std::uint32_t own =
            domain_.leaf_at(static_cast<int>(v[0]), static_cast<int>(v[1]), static_cast<int>(v[2]));
        if (own == Domain::none) return s;
        double total = 0;
        for (int corner = 0; corner < 8; ++corner) {
            int q[3];
            double share = 1;
            for (int k = 0; k < 3; ++k) {
                const double base = std::floor(v[k] - 0.5), t = v[k] - 0.5 - base;
                const bool upper = corner >> k & 1;
                q[k] = static_cast<int>(base) + upper;
                share *= upper ? t : 1 - t;
            }
            const std::uint32_t leaf = domain_.leaf_at(q[0], q[1], q[2]);
            if (share <= 0 || leaf == Domain::none || !domain_.leaves[leaf].boundary) continue;
            s.leaf[s.count] = leaf;
            s.share[s.count++] = share;
            total += share;
        }
        if (!domain_.leaves[own].boundary || s.count == 0) {
            s.leaf[0] = own;
            s.share[0] = total = 1;
            s.count = 1;
        }
        for (int k = 0; k < s.count; ++k) s.share[k] /= total;
        return s;
    }

    /// The nearest joints of the leaves around a vertex become its row.
    void from_leaves(std::uint32_t vertex, const Stencil& s, const LeafDistances& field, bool bridged) {
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
    float from_field(std::uint32_t vertex, const Stencil& s, std::uint32_t joint,
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

    /// Straight distances, for what the field does not reach, and where there is but one joint to choose.
    void straight(std::uint32_t vertex, const std::vector<std::uint32_t>& joints, Coverage how) {
        const Point3 p = to_point(mesh_.positions[vertex]);
        std::vector<Entry> row;
        for (const std::uint32_t j : joints) row.emplace_back(distance(j, p, 0), j);
        rows_.store(vertex, row, how);
    }

    /// A vertex of no triangle, which nobody sees: the joint whose place is nearest has it to itself.
    void unused(std::uint32_t vertex, const std::vector<std::uint32_t>& joints) {
        const Point3 p = to_point(mesh_.positions[vertex]);
        Entry nearest{0, joints.front()};
        double best = INFINITY;
        for (const std::uint32_t j : joints) {
            const Point3& q = bones_.place(j);
            const double d =
                (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]);
            if (d < best) best = d, nearest = {static_cast<float>(std::sqrt(d)), j};
        }
        rows_.store(vertex, {&nearest, 1}, Coverage::unused);
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
    const BoneSeeds seeds = seed_bones(domain, task.bones, task.skeleton.joints.size());
    report.snapped_joints = seeds.snapped;
    std::vector<bool> crossed(domain.leaves.size(), false);
    for (const auto& list : seeds.of_joint)
        for (const auto& seed : list) crossed[seed.leaf] = true;
    report.bone_voxels = static_cast<std::size_t>(std::count(crossed.begin(), crossed.end(), true));

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
            const Coverage how = set.idle ? Coverage::euclidean : Coverage::weighted;
            parallel_for(context, set.vertices.size(), 1024, [&](std::size_t i) {
                const std::uint32_t v = set.vertices[i];
                task.used[v] ? sampler.straight(v, set.joints, how) : sampler.unused(v, set.joints);
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
        std::vector<Sampler::Stencil> stencils(all ? count : 0);
        if (all) {
            parallel_for(context, count, 4096,
                         [&](std::size_t i) { stencils[i] = sampler.stencil(set.vertices[i]); });
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
            const Sampler::Stencil s = all ? stencils[i] : sampler.stencil(v);
            const bool bridged = s.count > 0 && !seeded[domain.component[s.leaf[0]]];
            if (all) {
                sampler.sort_row(v, bridged);
            } else if (s.count > 0) {
                sampler.from_leaves(v, s, field, bridged);
            }
            if (rows.coverage[v] != Coverage::none) return;
            if (task.used[v]) {
                sampler.straight(v, set.joints, Coverage::euclidean);
            } else if (!cancelled(context)) {
                sampler.unused(v, set.joints);
            }
        });
        if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
    }
    report.bridged_components =
        static_cast<std::size_t>(std::count(seeded_by_any.begin(), seeded_by_any.end(), false));
    return Done{};
}

}  // namespace

Result<DistanceRows> bind_geodesic_voxel(const Task& task) {
    const MeshView& mesh = task.mesh;
    const BindOptions& options = task.options;
    BindReport& report = task.report;
    Context* const context = task.context;

    Result<VoxelGrid> grid =
        task.clock.run("voxelize", [&] { return voxelize(mesh, task.topology, options.voxels, context); });
    if (!grid) return grid.error();
    report.boundary_voxels = grid->boundary.count();
    report.interior_voxels = grid->interior.count();
    const auto r = static_cast<std::size_t>(options.voxels.resolution);
    report.exterior_voxels = r * r * r - report.boundary_voxels - report.interior_voxels;
    report.ambiguous_voxels = grid->ambiguous;
    report.ambiguous_inside = grid->ambiguous_inside;
    extend_leaf_bones(task.bones, task.skeleton, *grid);

    Result<Domain> built =
        task.clock.run("octree", [&] { return build_domain(*grid, task.bones, options.domain, context); });
    if (!built) return built.error();
    const Domain& domain = *built;
    report.leaves = domain.leaves.size();
    report.links = domain.link.size();
    report.components = domain.component_count;
    *grid = {};  // the domain holds all that is needed from here on

    DistanceRows rows(task);
    Status measured = task.clock.run("distances", [&] { return measure(task, domain, rows); });
    if (!measured) return measured.error();
    return rows;
}

}  // namespace sinew
