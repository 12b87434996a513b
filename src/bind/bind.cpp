// One call from mesh and skeleton to a binding: the data flow of docs/architecture.md.

#include "sinew/bind.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "bind/binding_state.h"
#include "bind/memory_sizes.h"
#include "bind/method_table.h"
#include "bind/near_mesh.h"
#include "bind/planned_mesh.h"
#include "core/try.h"
#include "sinew/transfer.h"
#include "surface/triangle_tree.h"

namespace sinew {

Status check_fit(const MeshView& mesh, const Skeleton& skeleton, Context* context) {
    return NearMesh(mesh, skeleton, context).check_fit();
}

namespace {

Result<std::shared_ptr<BindingState>> bind_one(const MeshView& whole, const Skeleton& skeleton,
                                               const BindOptions& given, Context* context) {
    SINEW_TRY(check(given));
    SINEW_TRY(check_mesh(whole));
    SINEW_TRY(check_skeleton(skeleton));
    const NearMesh near(whole, skeleton, context);
    if (given.fit_check) SINEW_TRY(near.check_fit());
    const MeshView mesh = near.view();
    BindOptions options = given;
    auto binding = std::make_shared<BindingState>();
    BindReport& report = binding->report;
    StageClock clock(report, context);
    std::vector<FinePlace> fine;
    if (given.voxels.resolution == 0 || given.local_resolution) {
        SINEW_TRY_LET(ResolutionChoice choice,
                      clock.run("resolution", [&] { return choose_resolution(mesh, skeleton, given, context); }));
        options.voxels.resolution = choice.resolution;
        options.local_resolution = !choice.fine.empty();
        report.resolution_reason = std::move(choice.reason);
        fine = std::move(choice.fine);
    }
    SINEW_TRY(check_memory(mesh, skeleton, options, context));

    binding->options = options;
    binding->options.mask = nullptr;  // it need not live longer than this call
    // A request stays even if no place needs it yet: a moved joint may need it.
    if (given.voxels.resolution != 0) binding->options.local_resolution = given.local_resolution;
    binding->skeleton = skeleton;
    binding->take_hardness();

    if (row_of(options.method).has_volume())
        SINEW_TRY(near.check_voxels((fine.empty() ? 1 : 2) * options.voxels.resolution, report));
    PlannedMesh planned = plan_mesh(mesh, skeleton, clock, report);
    binding->bones = make_bones(skeleton);
    const Task task = make_task(mesh, skeleton, options, planned, binding->bones, clock, FreshBind{fine});
    SINEW_TRY_LET(MethodRows rows, run_method(task));
    binding->volume = std::move(rows.volume);
    binding->heat = std::move(rows.heat);
    binding->take_rows(planned.plan, std::move(rows));
    near.finish(binding->coverage, report);

    binding->mesh_hash = hash_mesh(whole, skeleton);
    if (binding->volume) binding->planned = std::make_shared<const PlannedMesh>(std::move(planned));

    warn_of_snapped(skeleton, options, report);
    return binding;
}

/// Copies a row of a table to a vertex of another one of at least its width.
template <typename Table>
void copy_row(const Table& from, std::vector<float> Table::*values, float empty, std::size_t source, Table& to,
              std::size_t target) {
    for (std::size_t k = 0; k < to.width; ++k) {
        const bool has = k < from.width;
        to.joint[target * to.width + k] = has ? from.joint[source * from.width + k] : no_index;
        (to.*values)[target * to.width + k] = has ? (from.*values)[source * from.width + k] : empty;
    }
}

void copy_row(const BindingState& from, std::size_t source, BindingState& to, std::size_t target) {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    copy_row(from.distances, &DistanceTable::distance, infinite, source, to.distances, target);
    copy_row(from.influences, &InfluenceTable::strength, 0.f, source, to.influences, target);
    to.coverage[target] = from.coverage[source];
}

/// Makes room for rows of this width.
template <typename Table>
void widen(Table& table, std::vector<float> Table::*values, float empty, std::size_t width) {
    if (width <= table.width) return;
    const Table old = table;
    table.width = width;
    table.joint.resize(table.vertices * width);
    (table.*values).resize(table.vertices * width);
    for (std::size_t v = 0; v < table.vertices; ++v) copy_row(old, values, empty, v, table, v);
}

/// The skeleton of a part: joints that no skin of its vertices lists do not deform. Empty if none is left.
std::optional<Skeleton> skeleton_of(const MeshView& part, const Skeleton& skeleton) {
    if (skeleton.skins.empty()) return skeleton;
    std::vector<bool> listed(skeleton.joints.size());
    std::set<std::uint32_t> skins;
    for (const Triangle& t : part.triangles) skins.insert(part.skin_of_vertex[t[0]]);
    for (const std::uint32_t s : skins)
        for (const std::uint32_t j : skeleton.skins[s]) listed[j] = true;
    Skeleton out = skeleton;
    bool any = false;
    for (std::size_t j = 0; j < listed.size(); ++j) {
        if (!listed[j]) out.joints[j].deform = false;
        any = any || out.joints[j].deform;
    }
    if (!any) return std::nullopt;
    return out;
}

/// Adds what a further part was bound with.
void add_report(const BindReport& part, BindReport& sum) {
    for (const auto count :
         {&BindReport::boundary_voxels, &BindReport::interior_voxels, &BindReport::exterior_voxels,
          &BindReport::ambiguous_voxels, &BindReport::ambiguous_inside, &BindReport::bone_voxels,
          &BindReport::leaves, &BindReport::links, &BindReport::components, &BindReport::bridged_components})
        sum.*count += part.*count;
    sum.snapped_joints.insert(sum.snapped_joints.end(), part.snapped_joints.begin(), part.snapped_joints.end());
    for (const StageTime& stage : part.seconds) {
        const auto same = std::find_if(sum.seconds.begin(), sum.seconds.end(),
                                       [&](const StageTime& s) { return s.stage == stage.stage; });
        if (same == sum.seconds.end())
            sum.seconds.push_back(stage);
        else
            same->seconds += stage.seconds;
    }
    for (const std::string& warning : part.warnings)
        if (std::find(sum.warnings.begin(), sum.warnings.end(), warning) == sum.warnings.end())
            sum.warnings.push_back(warning);
}

constexpr float kLeastDistance = 1e-6f;  ///< of the unit cube, to invert distances

/// Sets the row of a vertex from weights: its strengths are these times `scale`. As many as the table holds.
void put_row(std::span<const Influence> weights, double scale, BindingState& to, std::size_t vertex) {
    std::vector<Influence> row(weights.begin(), weights.end());
    std::stable_sort(row.begin(), row.end(), [](const Influence& a, const Influence& b) {
        return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
    });
    const bool distances = to.influences.width == 0;
    const std::size_t width = distances ? to.distances.width : to.influences.width;
    for (std::size_t k = 0; k < width; ++k) {
        const bool has = k < row.size();
        const std::uint32_t joint = has ? row[k].joint : no_index;
        const double strength = has ? double{row[k].weight} * scale : 0;
        (distances ? to.distances.joint : to.influences.joint)[vertex * width + k] = joint;
        if (distances)
            to.distances.distance[vertex * width + k] =
                has ? std::max(0.f, static_cast<float>(1 / strength) - kLeastDistance * to.distances.unit)
                    : std::numeric_limits<float>::infinity();
        else
            to.influences.strength[vertex * width + k] = static_cast<float>(strength);
    }
}

/// Rows as strengths that can be interpolated: of distances, their inverse.
InfluenceTable strengths_of(const BindingState& binding) {
    if (binding.influences.width > 0) return binding.influences;
    const DistanceTable& from = binding.distances;
    InfluenceTable out{from.vertices, from.width, from.joint, from.distance};
    for (float& x : out.strength) x = std::isfinite(x) ? 1 / (x + kLeastDistance * from.unit) : 0;
    return out;
}

/// Vertices of one skin that follow, and what they follow, each as a mesh of its own.
struct Following {
    std::vector<Triangle> leading, triangles;
    std::vector<std::uint32_t> vertices;
    std::vector<Vec3> positions;
};

/// Which joints a skin has; all where a skeleton has no lists.
std::vector<bool> joints_of(const Skeleton& skeleton, std::uint32_t skin) {
    std::vector<bool> out(skeleton.joints.size(), skeleton.skins.empty());
    if (!skeleton.skins.empty())
        for (const std::uint32_t j : skeleton.skins[skin]) out[j] = true;
    return out;
}

/// A row for a skin that lacks some of its joints: their weight goes to the next joint above that it has and that
/// deforms; of a row without any, to the nearest joint.
std::vector<Influence> within(std::span<const Influence> row, const Vec3& at_vertex, const Skeleton& skeleton,
                              const std::vector<bool>& has) {
    std::vector<Influence> out;
    for (const Influence& i : row) {
        auto j = static_cast<std::int32_t>(i.joint);
        const auto at = [&] { return static_cast<std::size_t>(j); };
        while (j >= 0 && (!has[at()] || (!skeleton.joints[at()].deform && at() != i.joint)))
            j = skeleton.joints[at()].parent;
        if (j < 0) continue;
        const auto same = std::find_if(out.begin(), out.end(), [&](const Influence& o) { return o.joint == at(); });
        if (same == out.end())
            out.push_back({static_cast<std::uint32_t>(j), i.weight});
        else
            same->weight += i.weight;
    }
    if (!out.empty()) return out;
    double nearest = std::numeric_limits<double>::infinity();
    for (std::uint32_t j = 0; j < skeleton.joints.size(); ++j) {
        const Vec3& p = skeleton.joints[j].position;
        const double distance =
            std::hypot(double(p.x) - at_vertex.x, double(p.y) - at_vertex.y, double(p.z) - at_vertex.z);
        if (has[j] && skeleton.joints[j].deform && distance < nearest) nearest = distance, out = {{j, 1.f}};
    }
    return out;
}

/// Rows of vertices that follow, by transfer (sinew/transfer.h) from the surfaces that lead them: those with the
/// same skin, or, if there is none, those whose skins share a joint with theirs.
Status follow(const MeshView& mesh, std::span<const std::uint32_t> part_of_vertex, const Skeleton& skeleton,
              BindingState& binding, Context* context) {
    const auto skin = [&](std::uint32_t v) { return mesh.skin_of_vertex.empty() ? 0u : mesh.skin_of_vertex[v]; };
    std::map<std::uint32_t, Following> by_skin;
    std::vector<std::uint32_t> place(part_of_vertex.size());  // in Following::vertices
    for (std::uint32_t v = 0; v < part_of_vertex.size(); ++v) {
        if (part_of_vertex[v] != kFollows) continue;
        Following& own = by_skin[skin(v)];
        place[v] = static_cast<std::uint32_t>(own.vertices.size());
        own.vertices.push_back(v);
        own.positions.push_back(mesh.positions[v]);
    }
    if (by_skin.empty()) return Done{};
    for (const Triangle& t : mesh.triangles) {
        const auto own = by_skin.find(skin(t[0]));
        if (own == by_skin.end()) continue;
        if (part_of_vertex[t[0]] == kFollows)
            own->second.triangles.push_back({place[t[0]], place[t[1]], place[t[2]]});
        else
            own->second.leading.push_back(t);
    }
    FinishOptions all;
    all.max_influences = all_influences;
    all.prune = 0;
    const InfluenceTable strengths = strengths_of(binding);
    SINEW_TRY_LET(const SkinWeights rows, finish(strengths, all, context));
    TransferOptions options;
    options.finish = all;
    for (auto& [number, own] : by_skin) {
        const std::vector<bool> has = joints_of(skeleton, number);
        if (own.leading.empty()) {
            std::vector<bool> related(std::max<std::size_t>(1, skeleton.skins.size()), skeleton.skins.empty());
            for (std::size_t s = 0; s < skeleton.skins.size(); ++s)
                related[s] = std::any_of(skeleton.skins[s].begin(), skeleton.skins[s].end(),
                                         [&](std::uint32_t j) { return has[j] && skeleton.joints[j].deform; });
            for (const Triangle& t : mesh.triangles)
                if (part_of_vertex[t[0]] != kFollows && related[skin(t[0])]) own.leading.push_back(t);
        }
        if (own.leading.empty()) continue;
        SINEW_TRY_LET(const Transfer found, transfer({mesh.positions, own.leading, {}}, rows,
                                                     {own.positions, own.triangles, {}}, options, context));
        const TriangleTree tree(mesh.positions, own.leading, context);
        for (std::uint32_t i = 0; i < own.vertices.size(); ++i) {
            const SurfacePoint at =
                tree.nearest(to_point(own.positions[i]), std::numeric_limits<double>::infinity());
            const auto corner = std::max_element(at.share.begin(), at.share.end()) - at.share.begin();
            const std::uint32_t near = own.leading[at.triangle][static_cast<std::size_t>(corner)];
            double sum = 0;  // the scale of the row there
            for (std::size_t k = near * strengths.width; k < (near + 1) * strengths.width; ++k)
                sum += double{strengths.strength[k]};
            const std::vector<Influence> row = within(found.weights[i], own.positions[i], skeleton, has);
            put_row(row, sum, binding, own.vertices[i]);
            binding.coverage[own.vertices[i]] = row.empty() ? Coverage::none : binding.coverage[near];
        }
    }
    return Done{};
}

/// What a binding says of its whole mesh.
void finish_parts(const MeshView& mesh, const Skeleton& skeleton, BindingState& all, Context* context) {
    all.mesh_hash = hash_mesh(mesh, skeleton);
    all.report.defects = analyse_mesh(mesh, context).defects;
    all.report.coverage.fill(0);
    for (const Coverage how : all.coverage) ++all.report.coverage[static_cast<std::size_t>(how)];
}

}  // namespace

Result<Binding> bind(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options, Context* context) {
    SINEW_TRY_LET(const auto bound, bind_one(mesh, skeleton, options, context));
    return BindingState::binding_of(bound);
}

Result<Binding> bind(const MeshView& mesh, std::span<const std::uint32_t> part_of_vertex, const Skeleton& skeleton,
                     const BindOptions& options, Context* context) {
    if (part_of_vertex.empty()) return sinew::bind(mesh, skeleton, options, context);
    SINEW_TRY(check_mesh(mesh));
    SINEW_TRY(check_skeleton(skeleton));
    if (part_of_vertex.size() != mesh.positions.size())
        return Error{ErrorCode::usage, "part_of_vertex needs a number for each vertex"};
    std::map<std::uint32_t, std::vector<Triangle>> triangles;
    for (const Triangle& t : mesh.triangles) {
        const std::uint32_t part = part_of_vertex[t[0]];
        if (part_of_vertex[t[1]] != part || part_of_vertex[t[2]] != part)
            return Error{ErrorCode::usage, "a triangle has vertices of several parts"};
        if (part != kFollows) triangles[options.keep_volume ? 0 : part].push_back(t);
    }
    std::map<std::uint32_t, Skeleton> skeletons;
    for (const auto& [part, list] : triangles) {
        auto own = skeleton_of({mesh.positions, list, mesh.skin_of_vertex}, skeleton);
        if (!own) return sinew::bind(mesh, skeleton, options, context);
        skeletons.emplace(part, std::move(*own));
    }
    std::shared_ptr<BindingState> all;
    for (const auto& [part, list] : triangles) {
        SINEW_TRY_LET(const auto own,
                      bind_one({mesh.positions, list, mesh.skin_of_vertex}, skeletons.at(part), options, context));
        if (!all) {
            all = own;
            continue;
        }
        widen(all->distances, &DistanceTable::distance, std::numeric_limits<float>::infinity(),
              own->distances.width);
        widen(all->influences, &InfluenceTable::strength, 0.f, own->influences.width);
        for (std::size_t v = 0; v < part_of_vertex.size(); ++v)
            if (part_of_vertex[v] == part) copy_row(*own, v, *all, v);
        add_report(own->report, all->report);
    }
    if (!all) return Error{ErrorCode::input, "no part of the mesh has triangles to bind"};
    SINEW_TRY(follow(mesh, part_of_vertex, skeleton, *all, context));
    all->skeleton = skeleton;
    all->bones = make_bones(skeleton);
    finish_parts(mesh, skeleton, *all, context);
    return BindingState::binding_of(all);
}

Result<Binding> rebind(const Binding& binding, const MeshView& mesh, std::span<const std::uint32_t> part_of_vertex,
                       const Skeleton& skeleton, Context* context) {
    std::vector<Triangle> leading;
    for (const Triangle& t : mesh.triangles) {
        if (std::any_of(t.begin(), t.end(), [&](std::uint32_t v) { return v >= part_of_vertex.size(); })) break;
        if (part_of_vertex[t[0]] != kFollows) leading.push_back(t);
    }
    if (leading.empty() || leading.size() == mesh.triangles.size() || binding.is_of(mesh, skeleton))
        return binding.rebind(mesh, skeleton, context);
    SINEW_TRY(check_mesh(mesh));
    SINEW_TRY_LET(const Binding led,
                  binding.rebind({mesh.positions, leading, mesh.skin_of_vertex}, skeleton, context));
    const auto all = std::make_shared<BindingState>(BindingState::of(led));
    SINEW_TRY(follow(mesh, part_of_vertex, all->skeleton, *all, context));
    finish_parts(mesh, skeleton, *all, context);
    return BindingState::binding_of(all);
}

}  // namespace sinew
