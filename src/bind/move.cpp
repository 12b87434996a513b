// Binding::move_joints: joints at other positions. What does not depend on them is not computed again.
#include <algorithm>

#include "bind/binding_state.h"
#include "bind/memory_sizes.h"
#include "bind/method_table.h"
#include "bind/near_mesh.h"
#include "core/try.h"
#include "sinew/bind.h"

namespace sinew {

namespace {

Status check_same_joints(const Skeleton& bound, const Skeleton& given) {
    if (bound.joints.size() != given.joints.size())
        return Error{ErrorCode::usage, "the skeleton has " + std::to_string(given.joints.size()) +
                                           " joints and that of the binding " +
                                           std::to_string(bound.joints.size()) +
                                           ": joints can be moved, not added or taken away"};
    for (std::size_t j = 0; j < bound.joints.size(); ++j) {
        const Joint &a = bound.joints[j], &b = given.joints[j];
        if (a.name != b.name || a.parent != b.parent || a.deform != b.deform)
            return Error{ErrorCode::usage, "joint " + std::to_string(j) + " '" + printable(b.name) +
                                               "' has another name, parent or deform than in the binding: joints "
                                               "can be moved, and all else needs another bind"};
    }
    return Done{};
}

}  // namespace

Result<Binding> Binding::move_joints(const MeshView& mesh, const Skeleton& skeleton, Context* context) const {
    const BindingState& bound = *state_;
    SINEW_TRY(check_mesh(mesh));
    SINEW_TRY(check_skeleton(skeleton));
    SINEW_TRY(check_same_joints(bound.skeleton, skeleton));
    if (!is_of(mesh, skeleton))
        return Error{ErrorCode::usage,
                     "this is not the mesh that was bound, or its skins are others: joints "
                     "move in that mesh only"};
    if (row_of(bound.options.method).is_flat())
        return Error{ErrorCode::usage, "a figure's mask is not kept: bind it anew"};
    const NearMesh near(mesh, skeleton, context);
    if (!bound.volume || bound.report.reused == Reuse::volume || bound.options.local_resolution ||
        bound.options.as_published || NearMesh(mesh, bound.skeleton, context).any_far() || near.any_far()) {
        // There is nothing to reuse; or the places of fine voxels, or the triangles that are bound, depend on the
        // joints; or bridges have one direction (as published), which the repair of distances does not support.
        BindOptions given = bound.options;
        if (bound.map_is_hardness) given.falloff.map.hardness_of_joint.clear();
        return bind(mesh, skeleton, given, context);
    }
    SINEW_TRY(check_memory(mesh, skeleton, bound.options, context));

    const auto binding = std::make_shared<BindingState>();
    binding->options = bound.options;
    binding->map_is_hardness = bound.map_is_hardness;
    binding->skeleton = skeleton;
    binding->mesh_hash = bound.mesh_hash;
    BindReport& report = binding->report;
    report = bound.report;
    report.reused = Reuse::none;
    report.coverage = {};
    report.seconds.clear();
    report.warnings.clear();
    SINEW_TRY(near.check_voxels(bound.options.voxels.resolution, report));
    binding->take_hardness();
    StageClock clock(report, context);
    binding->planned = bound.planned;
    if (!binding->planned) {
        PlannedMesh planned = plan_mesh(mesh, skeleton, clock, report);
        binding->planned = std::make_shared<const PlannedMesh>(std::move(planned));
    }
    const PlannedMesh& planned = *binding->planned;
    binding->bones = make_bones(skeleton);
    const Task task = make_task(mesh, binding->skeleton, bound.options, planned, binding->bones, clock,
                                MovedJoints{*bound.volume, bound.bones, bound.heat});
    SINEW_TRY_LET(MethodRows rows, run_method(task));
    binding->volume = std::move(rows.volume);
    binding->heat = std::move(rows.heat);
    binding->take_rows(planned.plan, std::move(rows));
    warn_of_snapped(skeleton, bound.options, report);
    return Binding(binding);
}

Result<Binding> Binding::move_joint(const MeshView& mesh, std::uint32_t joint, const Vec3& place,
                                    Context* context) const {
    const BindingState& bound = *state_;
    if (joint >= bound.skeleton.joints.size())
        return Error{ErrorCode::usage, "there is no joint " + std::to_string(joint) + ": the binding has " +
                                           std::to_string(bound.skeleton.joints.size())};
    Skeleton moved = bound.skeleton;
    Joint& j = moved.joints[joint];
    const Vec3 old = j.position;
    if (j.tail && !(*j.tail == old)) {
        j.tail = Vec3{j.tail->x + (place.x - old.x), j.tail->y + (place.y - old.y), j.tail->z + (place.z - old.z)};
    } else if (j.tail) {
        j.tail = place;
    }
    for (Joint& other : moved.joints)  // bones that end where the joint was go along
        if (&other != &j && other.tail == old) other.tail = place;
    j.position = place;
    return move_joints(mesh, moved, context);
}

}  // namespace sinew
