// Another mesh in the volume of an earlier binding: meshes of similar shape share one voxelization (Dionne and
// de Lasa 2014, section 9).
#include <cmath>

#include "bind/binding_state.h"
#include "bind/near_mesh.h"
#include "core/numbers.h"
#include "core/try.h"
#include "domain/nearest_leaf.h"
#include "domain/trace.h"
#include "field/leaf_sample.h"

namespace sinew {
namespace {

/// Checks that the skeleton of the mesh is the one that was bound.
Status check_joints(const Skeleton& bound, const Skeleton& given, double unit) {
    const auto differs = [&](std::size_t j, const std::string& how) {
        return Error{ErrorCode::input, "joint " + std::to_string(j) + " '" + printable(given.joints[j].name) +
                                           "' " + how +
                                           ": only a mesh on the same skeleton can be weighted from a binding"};
    };
    for (std::size_t j = 0; j < std::min(bound.joints.size(), given.joints.size()); ++j) {
        const Joint &a = bound.joints[j], &b = given.joints[j];
        if (a.name != b.name) return differs(j, "is '" + printable(a.name) + "' in the binding");
        if (a.parent != b.parent)
            return differs(
                j, (a.parent < 0 ? std::string("is a root")
                                 : "has the parent '" +
                                       printable(bound.joints[static_cast<std::size_t>(a.parent)].name) + "'") +
                       " in the binding");
        const double apart = std::hypot(static_cast<double>(a.position.x) - b.position.x,
                                        static_cast<double>(a.position.y) - b.position.y,
                                        static_cast<double>(a.position.z) - b.position.z);
        if (!(apart <= 0.01 * unit))
            return differs(j,
                           "lies " + short_number(apart) +
                               " scene units from its place in the binding (another bind pose, or another space)");
    }
    if (bound.joints.size() != given.joints.size())
        return Error{ErrorCode::input, "the skeleton has " + std::to_string(given.joints.size()) +
                                           " joints and that of the binding " +
                                           std::to_string(bound.joints.size()) +
                                           ": only a mesh on the same skeleton can be weighted from a binding"};
    return Done{};
}

/// The nearest leaf of every vertex outside the volume, and how far it is.
struct Outside {
    std::vector<std::uint32_t> leaf;  ///< V; none for a vertex inside, without a triangle or without a row
    std::vector<float> distance;      ///< V, in voxels
};
Outside find_outside(const MeshView& mesh, const PlannedMesh& planned, const Domain& domain, Context* context) {
    const std::size_t n = mesh.positions.size();
    Outside outside{std::vector<std::uint32_t>(n, no_index), std::vector<float>(n, 0.0f)};
    const NearestLeaf nearest(domain);
    parallel_for(context, n, 256, [&](std::size_t v) {
        if (planned.plan.source[v] != v || !planned.used[v] || cancelled(context)) return;
        if (leaf_stencil(domain, mesh.positions[v]).count > 0) return;
        const Point3 p = to_voxels(domain.transform, mesh.positions[v]);
        BoneSeeds::Seed best{no_index, std::numeric_limits<float>::infinity()};
        nearest.find(p, p, best);
        outside.leaf[v] = best.leaf;
        outside.distance[v] = best.distance;
    });
    return outside;
}

/// Checks that the mesh is in the space of the volume: not far away, and not of another size. A mesh closely around
/// the volume (a coat) passes, although all of it may be outside.
Status check_space(BindReport& report, const MeshView& mesh, const PlannedMesh& planned, const Outside& outside,
                   const Domain& domain) {
    std::size_t vertices = 0, out = 0, far = 0;
    Box3 box;
    const float far_away = 0.1f * static_cast<float>(domain.transform.unit / domain.transform.voxel);
    for (std::size_t v = 0; v < mesh.positions.size(); ++v) {
        if (!planned.used[v]) continue;
        const std::size_t row = planned.plan.source[v];
        ++vertices;
        out += outside.leaf[row] != no_index;
        far += outside.distance[row] > far_away;
        box.add(to_point(mesh.positions[v]));
    }
    const double size = box.longest();
    const bool other_size = size > 10 * domain.transform.unit || size < 0.02 * domain.transform.unit;
    const auto percent = [&](std::size_t count) {
        return std::to_string((100 * count + vertices / 2) / vertices) + " %";
    };
    if (2 * far > vertices || (2 * out > vertices && other_size))
        return Error{ErrorCode::input,
                     percent(out) + " of the vertices lie outside the volume of the binding, " + percent(far) +
                         " by more than a tenth of its size, and the longest side of the mesh is " +
                         short_number(size / domain.transform.unit) +
                         " times that of the mesh that was bound: the mesh is in another space (scale or place)"};
    if (other_size)
        report.warnings.push_back("the longest side of the mesh is " + short_number(size / domain.transform.unit) +
                                  " times that of the mesh that was bound: is it in another unit?");
    return Done{};
}

}  // namespace

Result<Binding> Binding::rebind(const MeshView& whole, const Skeleton& skeleton, Context* context) const {
    const BindingState& bound = *state_;
    SINEW_TRY(check_mesh(whole));
    Skeleton own = skeleton;
    SINEW_TRY(check_joints(bound.skeleton, own,
                           bound.volume ? bound.volume->domain.transform.unit : bound.distances.unit));
    for (std::size_t j = 0; j < own.joints.size(); ++j) {
        own.joints[j].deform = bound.skeleton.joints[j].deform;
        own.joints[j].reason = bound.skeleton.joints[j].reason;
        own.joints[j].position = bound.skeleton.joints[j].position;  // the field starts there
        own.joints[j].hardness = bound.skeleton.joints[j].hardness;  // it is in the options
    }
    SINEW_TRY(check_skeleton(own));
    if (is_of(whole, skeleton)) {
        const auto same = std::make_shared<BindingState>(bound);
        same->report.reused = Reuse::table;
        same->report.seconds.clear();
        return Binding(same);
    }
    if (!bound.volume)
        return Error{ErrorCode::usage, "this is not the mesh that was bound, and the binding keeps no volume (" +
                                           std::string(to_string(bound.options.method)) +
                                           "): bind it anew, or keep the volume if the method has one"};

    const auto binding = std::make_shared<BindingState>();
    binding->options = bound.options;
    binding->map_is_hardness = bound.map_is_hardness;
    binding->skeleton = std::move(own);
    binding->bones = bound.bones;
    binding->volume = bound.volume;
    binding->mesh_hash = hash_mesh(whole, skeleton);
    BindReport& report = binding->report;
    report = bound.report;
    report.reused = Reuse::volume;
    report.coverage = {};
    report.seconds.clear();
    report.warnings.clear();
    if (!bound.options.falloff.map.of_vertex.empty()) {
        binding->options.falloff.map.of_vertex.clear();
        binding->options.falloff.map.share_of_vertex.clear();
        report.warnings.push_back("the falloff by vertex belongs to the mesh that was bound and is left out");
    }

    const NearMesh near(whole, binding->skeleton, context);
    const MeshView mesh = near.view();
    StageClock clock(report, context);
    const PlannedMesh planned = plan_mesh(mesh, binding->skeleton, clock, report);
    const Domain& domain = bound.volume->domain;
    const Outside outside = clock.run("outside", [&] { return find_outside(mesh, planned, domain, context); });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while looking for the nearest voxels"};
    SINEW_TRY(check_space(report, mesh, planned, outside, domain));
    report.farthest_outside = 0;
    for (const float d : outside.distance)
        report.farthest_outside = std::max(report.farthest_outside, d * static_cast<float>(domain.transform.voxel));

    Task task = make_task(mesh, binding->skeleton, bound.options, planned, binding->bones, clock,
                          OtherMesh{*bound.volume, outside.leaf});
    // The unit of the table, so that a vertex at the same position gets the same bits.
    task.unit = bound.distances.width > 0 ? bound.distances.unit : static_cast<float>(domain.transform.unit);
    SINEW_TRY_LET(MethodRows rows, run_method(task));
    binding->take_rows(planned.plan, std::move(rows));
    near.finish(binding->coverage, report);
    if (const std::size_t n = report.coverage[static_cast<std::size_t>(Coverage::outside)])
        report.warnings.push_back(std::to_string(n) + " vertices lie outside the volume of the binding, up to " +
                                  short_number(report.farthest_outside) +
                                  " scene units from the nearest voxel, and are bound to it");
    return Binding(binding);
}

}  // namespace sinew
