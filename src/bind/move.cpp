// Binding::move_joints: joints at other positions. What does not depend on them is not computed again.
#include <algorithm>
#include <cmath>

#include "bind/binding_state.h"
#include "bind/memory_sizes.h"
#include "bind/method_table.h"
#include "bind/near_mesh.h"
#include "bind/volume.h"
#include "domain/trace.h"
#include "sinew/bind.h"

namespace sinew {

std::vector<bool> moved_joints(const Skeleton& skeleton, const std::vector<Bone>& before,
                               const std::vector<Bone>& now) {
    const auto by_joint = [&](const std::vector<Bone>& bones) {
        std::vector<std::vector<const Bone*>> out(skeleton.joints.size());
        for (const Bone& bone : bones) out[bone.joint].push_back(&bone);
        return out;
    };
    const auto same = [](const Bone* a, const Bone* b) {
        return a->head == b->head && a->tail == b->tail && a->open_head == b->open_head &&
               a->open_tail == b->open_tail && a->radius == b->radius && a->box.has_value() == b->box.has_value() &&
               (!a->box || (a->box->half == b->box->half && a->box->axes == b->box->axes));
    };
    const auto old = by_joint(before), fresh = by_joint(now);
    std::vector<bool> moved(skeleton.joints.size());
    for (std::size_t j = 0; j < moved.size(); ++j)
        moved[j] = !std::equal(old[j].begin(), old[j].end(), fresh[j].begin(), fresh[j].end(), same);
    return moved;
}

ChangedPlaces::ChangedPlaces(const Domain& domain, const LeafDistances& before, const LeafDistances& now,
                             const LeafMatch& match, const std::vector<bool>& moved, Context* context)
    : per_side_(domain.transform.resolution / 4) {
    const int slabs = std::max(1, domain.transform.depth() / 4);
    blocks_.resize(static_cast<std::size_t>(per_side_) * per_side_ * slabs, 0);
    // A vertex reads leaves up to a voxel from its own. Those that follow each other mostly lie in the same blocks.
    struct Box {
        std::array<int, 3> first, last;
        bool operator==(const Box&) const = default;
    };
    const auto read_from = [&](std::size_t at) {
        const Domain::Leaf& leaf = domain.leaves[at];
        const int size = 1 << leaf.level;
        const auto first = [](int low) { return std::max(0, low - 1) >> 2; };
        const auto last = [&](int low, int side) { return std::min(side - 1, (low + size) >> 2); };
        return Box{{first(leaf.x), first(leaf.y), first(leaf.z)},
                   {last(leaf.x, per_side_), last(leaf.y, per_side_), last(leaf.z, slabs)}};
    };
    const auto mark = [&](const Box& box) {
        for (int z = box.first[2]; z <= box.last[2]; ++z)
            for (int y = box.first[1]; y <= box.last[1]; ++y)
                for (int x = box.first[0]; x <= box.last[0]; ++x)
                    blocks_[(static_cast<std::size_t>(z) * per_side_ + y) * per_side_ + x] = 1;
    };
    std::vector<std::uint8_t> of_moved(moved.begin(), moved.end());
    constexpr std::size_t grain = 8192;
    std::size_t next = 0;
    for (const LeafMatch::Run& run : match.runs) {
        for (; next < run.now; ++next) mark(read_from(next));
        next = run.now + run.count;
        std::vector<std::vector<Box>> changed((run.count + grain - 1) / grain);
        parallel_chunks(context, run.count, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::span<const Label> a = before.row(run.before + i), b = now.row(run.now + i);
                Label differ = 0;
                for (std::size_t k = 0; k < a.size(); ++k) differ |= a[k] ^ b[k];
                bool touched = (differ & ~kLabelDirectionMask) != 0;
                for (std::size_t k = 0; !touched && k < b.size() && b[k] != kNoLabel; ++k)
                    touched = of_moved[joint_of(b[k])];
                if (!touched) continue;
                const Box box = read_from(run.now + i);
                if (changed[chunk].empty() || changed[chunk].back() != box) changed[chunk].push_back(box);
            }
        });
        for (const auto& list : changed)
            for (const Box& box : list) mark(box);
    }
    for (; next < domain.leaves.size(); ++next) mark(read_from(next));
}

bool ChangedPlaces::contains(const GridTransform& grid, const Vec3& vertex) const {
    if (blocks_.empty()) return true;
    const Point3 v = to_voxels(grid, vertex);
    std::size_t at = 0;
    for (int axis = 2; axis >= 0; --axis) {
        const double c = v[static_cast<std::size_t>(axis)];
        if (!(c >= 0 && c < 4.0 * per_side_)) return true;
        at = at * static_cast<std::size_t>(per_side_) + (static_cast<std::size_t>(c) >> 2);
    }
    return at >= blocks_.size() || blocks_[at] != 0;
}

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
    if (Status ok = check_mesh(mesh); !ok) return ok.error();
    if (Status ok = check_skeleton(skeleton); !ok) return ok.error();
    if (Status ok = check_same_joints(bound.skeleton, skeleton); !ok) return ok.error();
    if (!is_of(mesh, skeleton))
        return Error{ErrorCode::usage,
                     "this is not the mesh that was bound, or its skins are others: joints "
                     "move in that mesh only"};
    if (row_of(bound.options.method).is_flat())
        return Error{ErrorCode::usage, "a figure's mask is not kept: bind it anew"};
    if (!bound.volume || bound.report.reused == Reuse::volume || bound.options.local_resolution ||
        bound.options.as_published || NearMesh(mesh, bound.skeleton, context).any_far() ||
        NearMesh(mesh, skeleton, context).any_far()) {
        // There is nothing to reuse; or the places of fine voxels, or the triangles that are bound, depend on the
        // joints; or bridges have one direction (as published), which the repair of distances does not support.
        BindOptions given = bound.options;
        if (bound.map_is_hardness) given.falloff.map.hardness_of_joint.clear();
        return bind(mesh, skeleton, given, context);
    }
    if (Status ok = check_memory(mesh, skeleton, bound.options, context); !ok) return ok.error();

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
                                MovedJoints{*bound.volume, bound.bones, bound.distances, bound.coverage});
    Result<MethodRows> rows = run_method(task);
    if (!rows) return rows.error();
    binding->volume = std::move(rows->volume);
    binding->take_rows(planned.plan, std::move(*rows));
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
