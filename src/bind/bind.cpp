// One call from mesh and skeleton to distances, and from distances to weights: the data flow of
// docs/architecture.md.

#include "sinew/bind.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "core/geometry.h"
#include "core/parallel.h"
#include "domain/trace.h"

namespace sinew {
namespace {

constexpr MethodInfo kMethods[] = {
    {Method::geodesic_voxel, "geodesic-voxel",
     "sparse voxels, graph distance with boundary penalty, inverse power (Dionne and de Lasa 2014)"},
};

// How many joints are kept per vertex: more than are shown, because overshoot and falloff edits reorder them.
int kept_joints(const FinishOptions& finish) { return std::max(8, 2 * finish.max_influences); }

class StageClock {
public:
    StageClock(BindReport& report, Context* context) : report_(report), context_(context) {}

    template <typename Work>
    auto run(const char* stage, Work&& work) {
        report_progress(context_, stage, 0);
        const auto start = std::chrono::steady_clock::now();
        auto result = work();
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        report_.seconds.push_back({stage, passed.count()});
        report_progress(context_, stage, 1);
        return result;
    }

private:
    BindReport& report_;
    Context* context_;
};

// Vertices that may use the same joints, and those joints.
struct JointSet {
    std::vector<std::uint32_t> joints;    // ascending
    std::vector<std::uint32_t> vertices;  // one per distinct position
    bool idle = false;                    // none of its skin's joints deforms, so all of them are used
};

struct Plan {
    std::vector<JointSet> sets;
    std::vector<std::uint32_t> source;  // per vertex: the vertex whose row it shares (itself if it has its own)
};

// Vertices at one position get one row, so that seams cannot tear. Where skins differ there, the row uses the
// joints that they share; where they share none, each vertex keeps to its own skin.
Plan plan_rows(const MeshView& mesh, const Skeleton& skeleton, const std::vector<std::uint32_t>& weld) {
    const std::size_t n = mesh.positions.size();
    Plan plan;
    plan.source.resize(n);
    std::vector<std::vector<std::uint32_t>> allowed;  // per skin: deforming joints, ascending
    std::vector<bool> idle;
    auto deforming = [&](std::vector<std::uint32_t> joints) {
        std::vector<std::uint32_t> kept;
        std::sort(joints.begin(), joints.end());
        joints.erase(std::unique(joints.begin(), joints.end()), joints.end());
        for (const std::uint32_t j : joints)
            if (skeleton.joints[j].deform) kept.push_back(j);
        idle.push_back(kept.empty());
        return kept.empty() ? joints : kept;
    };
    if (skeleton.skins.empty() || mesh.skin_of_vertex.empty()) {
        std::vector<std::uint32_t> all(skeleton.joints.size());
        std::iota(all.begin(), all.end(), 0u);
        plan.sets.push_back({deforming(std::move(all)), {}, false});
        for (std::size_t v = 0; v < n; ++v) {
            plan.source[v] = weld[v];
            if (weld[v] == v) plan.sets[0].vertices.push_back(static_cast<std::uint32_t>(v));
        }
        return plan;
    }
    for (const auto& skin : skeleton.skins) allowed.push_back(deforming(skin));

    std::vector<std::vector<std::uint32_t>> skins_at(n);  // per distinct position
    for (std::size_t v = 0; v < n; ++v) {
        auto& list = skins_at[weld[v]];
        if (std::find(list.begin(), list.end(), mesh.skin_of_vertex[v]) == list.end())
            list.push_back(mesh.skin_of_vertex[v]);
    }
    std::map<std::vector<std::uint32_t>, std::size_t> set_of;  // joints -> set
    auto set_for = [&](const std::vector<std::uint32_t>& joints, bool is_idle) {
        const auto [it, fresh] = set_of.try_emplace(joints, plan.sets.size());
        if (fresh) plan.sets.push_back({joints, {}, is_idle});
        return it->second;
    };
    std::vector<std::size_t> set_of_skin(allowed.size());
    for (std::size_t k = 0; k < allowed.size(); ++k) set_of_skin[k] = set_for(allowed[k], idle[k]);
    constexpr std::size_t none_shared = ~std::size_t{0};
    std::map<std::vector<std::uint32_t>, std::size_t> set_of_skins;  // of a seam: the set of what its skins share
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
        own_row;  // position, skin -> vertex with the row
    for (std::size_t v = 0; v < n; ++v) {
        const std::uint32_t place = weld[v], skin = mesh.skin_of_vertex[v];
        auto& skins = skins_at[place];
        if (skins.size() == 1) {
            plan.source[v] = place;
            if (place == v) plan.sets[set_of_skin[skin]].vertices.push_back(place);
            continue;
        }
        std::sort(skins.begin(), skins.end());
        const auto [seam, fresh] = set_of_skins.try_emplace(skins, none_shared);
        if (fresh) {
            std::vector<std::uint32_t> common = allowed[skins[0]];
            for (std::size_t k = 1; k < skins.size(); ++k) {
                std::vector<std::uint32_t> both;
                std::set_intersection(common.begin(), common.end(), allowed[skins[k]].begin(),
                                      allowed[skins[k]].end(), std::back_inserter(both));
                common = std::move(both);
            }
            if (!common.empty()) seam->second = set_for(common, false);
        }
        if (seam->second != none_shared) {
            plan.source[v] = place;
            if (place == v) plan.sets[seam->second].vertices.push_back(place);
        } else {
            const auto [row, first] = own_row.try_emplace({place, skin}, static_cast<std::uint32_t>(v));
            plan.source[v] = row->second;
            if (first) plan.sets[set_of_skin[skin]].vertices.push_back(row->second);
        }
    }
    return plan;
}

// Measures the vertices of one joint set and fills their rows of the table.
class Sampler {
public:
    Sampler(const MeshView& mesh, const Skeleton& skeleton, const std::vector<Bone>& bones, const Domain& domain,
            float overshoot, DistanceTable& table, std::vector<Coverage>& coverage)
        : mesh_(mesh), domain_(domain), overshoot_(overshoot), table_(table), coverage_(coverage) {
        for (const Joint& joint : skeleton.joints) place_of_.push_back(to_point(joint.position));
        bones_of_.resize(skeleton.joints.size());
        for (const Bone& bone : bones) {
            bones_of_[bone.joint].push_back(
                {to_point(bone.head), to_point(bone.tail), bone.open_head, bone.open_tail});
        }
        for (std::size_t j = 0; j < bones_of_.size(); ++j) {
            // Idle joints own no bone; where a skin has nothing else they still serve, as points.
            if (bones_of_[j].empty()) bones_of_[j].push_back({place_of_[j], place_of_[j], false, false});
        }
    }

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
        store(vertex, {row.data(), count}, bridged ? Coverage::bridged : Coverage::weighted);
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
        store(vertex, row, how);
    }

    /// A vertex of no triangle, which nobody sees: the joint whose place is nearest has it to itself.
    void unused(std::uint32_t vertex, const std::vector<std::uint32_t>& joints) {
        const Point3 p = to_point(mesh_.positions[vertex]);
        Entry nearest{0, joints.front()};
        double best = INFINITY;
        for (const std::uint32_t j : joints) {
            const Point3& q = place_of_[j];
            const double d =
                (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]);
            if (d < best) best = d, nearest = {static_cast<float>(std::sqrt(d)), j};
        }
        store(vertex, {&nearest, 1}, Coverage::unused);
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
        store(vertex, row, bridged ? Coverage::bridged : Coverage::weighted);
    }

private:
    using Entry = std::pair<float, std::uint32_t>;  // distance, joint
    struct Segment {
        Point3 a, b;
        bool open_head, open_tail;
    };

    /// From the field's value (in its integer units) to scene units: never less than the straight distance to the
    /// joint's nearest bone, plus how far the vertex lies beyond that bone's open end.
    float distance(std::uint32_t joint, const Point3& p, double field) const {
        double nearest = INFINITY, beyond = 0;
        for (const Segment& s : bones_of_[joint]) {
            const SegmentPosition at = segment_distance(s.a, s.b, p);
            const double slack = 1e-9 * at.distance;  // bones that share a joint are equally near behind it
            if (at.distance > nearest + slack) continue;
            double over = 0;
            if (s.open_head && at.along < 0) over = -at.along;
            if (s.open_tail && at.along > at.length) over = at.along - at.length;
            beyond = at.distance < nearest - slack ? over : std::min(beyond, over);
            nearest = std::min(nearest, at.distance);
        }
        const double measured = field * domain_.transform.voxel / LeafDistances::units_per_voxel;
        return static_cast<float>(std::max(measured, nearest) + overshoot_ * beyond);
    }

    void store(std::uint32_t vertex, std::span<Entry> row, Coverage how) {
        std::sort(row.begin(), row.end());
        const std::size_t n = std::min(row.size(), table_.width);
        for (std::size_t k = 0; k < n; ++k) {
            table_.distance[vertex * table_.width + k] = row[k].first;
            table_.joint[vertex * table_.width + k] = row[k].second;
        }
        coverage_[vertex] = row.empty() ? Coverage::none : how;
    }

    const MeshView& mesh_;
    const Domain& domain_;
    const float overshoot_;
    DistanceTable& table_;
    std::vector<Coverage>& coverage_;
    std::vector<Point3> place_of_;                // per joint
    std::vector<std::vector<Segment>> bones_of_;  // per joint; never empty
};

}  // namespace

std::span<const MethodInfo> methods() { return kMethods; }

std::string_view to_string(Coverage coverage) {
    switch (coverage) {
        case Coverage::weighted:
            return "weighted";
        case Coverage::bridged:
            return "bridged";
        case Coverage::euclidean:
            return "euclidean";
        case Coverage::unused:
            return "unused";
        case Coverage::none:
            return "none";
    }
    return "";
}

std::size_t BindReport::vertices() const {
    return std::accumulate(coverage.begin(), coverage.end(), std::size_t{0});
}

double BindReport::covered() const {
    auto count = [&](Coverage how) { return coverage[static_cast<std::size_t>(how)]; };
    const std::size_t matter = vertices() - count(Coverage::unused);
    if (matter == 0) return 0;
    return static_cast<double>(count(Coverage::weighted) + count(Coverage::bridged)) / static_cast<double>(matter);
}

Status check(const BindOptions& options) {
    if (Status ok = check(options.voxels); !ok) return ok;
    if (Status ok = check(GeodesicOptions{options.penalty}); !ok) return ok;
    if (Status ok = check(options.falloff); !ok) return ok;
    if (Status ok = check(options.finish); !ok) return ok;
    if (!(options.overshoot >= 0 && options.overshoot <= 100)) {
        return Error{ErrorCode::usage, "overshoot " + std::to_string(options.overshoot) + " is not within 0..100"};
    }
    return Done{};
}

std::size_t estimate_memory(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options) {
    Point3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    double area = 0;
    for (const Triangle& t : mesh.triangles) {
        const Point3 a = to_point(mesh.positions[t[0]]), b = to_point(mesh.positions[t[1]]),
                     c = to_point(mesh.positions[t[2]]);
        Point3 n;
        for (int k = 0; k < 3; ++k) {
            low[k] = std::min({low[k], a[k], b[k], c[k]});
            high[k] = std::max({high[k], a[k], b[k], c[k]});
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            n[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
        }
        area += 0.5 * std::hypot(n[0], n[1], n[2]);
    }
    const double r = options.voxels.resolution;
    const double voxel = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]}) / (r - 2.5);
    const double cells = r * r * r;
    // A surface touches about 2.2 voxels per voxel face of its area; as many again are their undivided siblings.
    const double volume_share = options.domain == DomainKind::uniform ? cells : 4.4 * area / (voxel * voxel);
    const double leaves = std::min(cells, volume_share);
    const bool all = options.finish.max_influences == all_influences;
    const double kept = all ? static_cast<double>(skeleton.joints.size()) : kept_joints(options.finish);
    const double per_leaf = 350 + 16 * (all ? 2.0 * thread_count(nullptr) : kept);
    const auto vertices = static_cast<double>(mesh.positions.size());
    return static_cast<std::size_t>(cells * 5 / 8 + leaves * per_leaf + vertices * (40 + 24 * kept) +
                                    static_cast<double>(mesh.triangles.size()) * 120);
}

Result<Binding> bind(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options, Context* context) {
    if (Status ok = check(options); !ok) return ok.error();
    if (Status ok = check_mesh(mesh); !ok) return ok.error();
    if (Status ok = check_skeleton(skeleton); !ok) return ok.error();
    if (context && context->memory_limit) {
        const std::size_t need = estimate_memory(mesh, skeleton, options);
        if (need > context->memory_limit) {
            BindOptions smaller = options;
            while (smaller.voxels.resolution > 32 &&
                   estimate_memory(mesh, skeleton, smaller) > context->memory_limit)
                smaller.voxels.resolution /= 2;
            const bool fits = estimate_memory(mesh, skeleton, smaller) <= context->memory_limit;
            return Error{ErrorCode::too_large,
                         "resolution " + std::to_string(options.voxels.resolution) + " may need " +
                             std::to_string(need >> 20) + " MB, more than the limit of " +
                             std::to_string(context->memory_limit >> 20) + " MB; " +
                             (fits ? "resolution " + std::to_string(smaller.voxels.resolution) + " would fit"
                                   : std::string("no resolution would fit"))};
        }
    }

    Binding binding;
    binding.falloff_ = options.falloff;
    binding.finish_ = options.finish;
    BindReport& report = binding.report_;
    StageClock clock(report, context);

    const MeshTopology topology = clock.run("topology", [&] { return analyse_mesh(mesh); });
    report.defects = topology.defects;

    Result<VoxelGrid> grid =
        clock.run("voxelize", [&] { return voxelize(mesh, topology, options.voxels, context); });
    if (!grid) return grid.error();
    report.boundary_voxels = grid->boundary.count();
    report.interior_voxels = grid->interior.count();
    const auto r = static_cast<std::size_t>(options.voxels.resolution);
    report.exterior_voxels = r * r * r - report.boundary_voxels - report.interior_voxels;
    report.ambiguous_voxels = grid->ambiguous;
    report.ambiguous_inside = grid->ambiguous_inside;

    binding.bones_ = make_bones(skeleton);
    extend_leaf_bones(binding.bones_, skeleton, *grid);

    Result<Domain> built =
        clock.run("octree", [&] { return build_domain(*grid, binding.bones_, options.domain, context); });
    if (!built) return built.error();
    const Domain& domain = *built;
    report.leaves = domain.leaves.size();
    report.links = domain.link.size();
    report.components = domain.component_count;
    *grid = {};  // the domain holds all that is needed from here on

    const Plan plan = plan_rows(mesh, skeleton, topology.weld);
    const bool all = options.finish.max_influences == all_influences;
    std::size_t widest = 0;
    for (const JointSet& set : plan.sets) widest = std::max(widest, set.joints.size());
    DistanceTable& table = binding.distances_;
    table.vertices = mesh.positions.size();
    table.width = all ? widest : std::min<std::size_t>(widest, kept_joints(options.finish));
    table.unit = static_cast<float>(domain.transform.unit);
    table.joint.assign(table.vertices * table.width, DistanceTable::none);
    table.distance.assign(table.vertices * table.width, std::numeric_limits<float>::infinity());
    binding.coverage_.assign(table.vertices, Coverage::none);

    Status measured = clock.run("distances", [&]() -> Status {
        const BoneSeeds seeds = seed_bones(domain, binding.bones_, skeleton.joints.size());
        report.snapped_joints = seeds.snapped;
        std::vector<bool> crossed(domain.leaves.size(), false);
        for (const auto& list : seeds.of_joint)
            for (const auto& seed : list) crossed[seed.leaf] = true;
        report.bone_voxels = static_cast<std::size_t>(std::count(crossed.begin(), crossed.end(), true));

        const GeodesicSolver solver(domain, {options.penalty}, context);
        Sampler sampler(mesh, skeleton, binding.bones_, domain, options.overshoot, table, binding.coverage_);
        // Which positions belong to a triangle.
        std::vector<bool> used(mesh.positions.size(), false);
        for (const Triangle& t : mesh.triangles)
            for (const std::uint32_t v : t) used[topology.weld[v]] = true;
        std::vector<bool> seeded_by_any(domain.component_count, false);
        BridgeFinder bridge_finder(domain);
        for (const JointSet& set : plan.sets) {
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
                    used[topology.weld[v]] ? sampler.straight(v, set.joints, how) : sampler.unused(v, set.joints);
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
                if (binding.coverage_[v] != Coverage::none) return;
                if (used[topology.weld[v]]) {
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
    });
    if (!measured) return measured.error();

    for (std::size_t v = 0; v < table.vertices; ++v) {
        const std::uint32_t from = plan.source[v];
        if (from != v) {
            std::copy_n(table.joint.begin() + static_cast<std::ptrdiff_t>(from * table.width), table.width,
                        table.joint.begin() + static_cast<std::ptrdiff_t>(v * table.width));
            std::copy_n(table.distance.begin() + static_cast<std::ptrdiff_t>(from * table.width), table.width,
                        table.distance.begin() + static_cast<std::ptrdiff_t>(v * table.width));
            binding.coverage_[v] = binding.coverage_[from];
        }
        ++report.coverage[static_cast<std::size_t>(binding.coverage_[v])];
    }

    for (const JointSet& set : plan.sets) {
        if (set.idle && !set.vertices.empty()) {
            report.warnings.push_back(
                std::to_string(set.vertices.size()) +
                " vertices belong to a skin none of whose joints deforms; they are bound to its " +
                "idle joints (see --include)");
        }
    }
    for (const std::uint32_t j : report.snapped_joints) {
        report.warnings.push_back("joint '" + skeleton.joints[j].name +
                                  "' lies outside the volume; its distances start from the nearest voxel");
    }
    return binding;
}

Result<SkinWeights> Binding::weights(const FalloffOptions& falloff, const FinishOptions& finish_options,
                                     Context* context) const {
    if (Status ok = check(finish_options); !ok) return ok.error();
    const bool kept_all = finish_.max_influences == all_influences;
    if (!kept_all &&
        (finish_options.max_influences == all_influences || finish_options.max_influences > kept_joints(finish_))) {
        return Error{ErrorCode::usage, "only the " + std::to_string(distances_.width) +
                                           " nearest joints were kept: bind again with a larger limit"};
    }
    Result<InfluenceTable> influences = apply_falloff(distances_, falloff, context);
    if (!influences) return influences.error();
    return finish(*influences, finish_options, context);
}

}  // namespace sinew
