#include "bind/joint_fields.h"

#include <algorithm>
#include <optional>

#include "bind/volume.h"
#include "core/parallel.h"
#include "core/try.h"

namespace sinew {
namespace {

// Per joint: whether its bones differ.
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

}  // namespace

PreviousFields::PreviousFields(const Task& task, const Domain& now) {
    const auto* const before = std::get_if<MovedJoints>(&task.start);
    if (!before) return;
    volume_ = &before->volume;
    match_ = match_leaves(volume_->domain.leaves, now.leaves);
    moved_ = moved_joints(task.skeleton, before->bones, task.bones);
}

const LeafDistances* PreviousFields::of(const std::vector<std::uint32_t>& joints) const {
    const KeptField* const found = volume_ ? volume_->find(joints) : nullptr;
    const auto* const field =
        found && found->joints == joints ? std::get_if<LeafDistances>(&found->field) : nullptr;
    return field && field->has_directions ? field : nullptr;
}

std::vector<std::uint32_t> PreviousFields::moved(const std::vector<std::uint32_t>& joints) const {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t j : joints)
        if (moved_[j]) out.push_back(j);
    return out;
}

JointFields::JointFields(DistanceSpreader& spreader, const std::vector<std::uint32_t>& joints)
    : spreader_(spreader),
      joints_(joints),
      seeded_(seeded_components(spreader.domain, spreader.seeds, joints)),
      bridges_(spreader.bridges.join(seeded_)) {
    if (spreader.as_published) bridges_ = lead_outwards(std::move(bridges_), spreader.domain, seeded_);
}

Result<KeptField> JointFields::nearest(std::size_t width, const PreviousFields& previous) const {
    const LeafDistances* const before = previous.of(joints_);
    SINEW_TRY_LET(LeafDistances field,
                  before ? spreader_.solver.renewed(*before, previous.match(), spreader_.seeds, joints_,
                                                    previous.moved(joints_), bridges_, spreader_.context)
                         : spreader_.solver.nearest(spreader_.seeds, joints_, bridges_, static_cast<int>(width),
                                                    spreader_.context));
    return KeptField{joints_, seeded_, std::move(field)};
}

Result<KeptField> JointFields::all() const {
    const std::size_t leaves = spreader_.domain.leaves.size(), width = joints_.size();
    EveryDistance every{width, std::vector<std::uint32_t>(leaves * width)};
    const Status swept = each_joint([&](std::size_t k, const LeafDistances& one) {
        for (std::size_t i = 0; i < leaves; ++i) every.distance[i * width + k] = one.distance(i);
    });
    if (!swept) return swept.error();
    return KeptField{joints_, seeded_, std::move(every)};
}

Status JointFields::each_joint(const std::function<void(std::size_t k, const LeafDistances& field)>& use) const {
    std::vector<std::optional<Error>> failed(joints_.size());
    parallel_for(spreader_.context, joints_.size(), 1, [&](std::size_t k) {
        const std::uint32_t joint[] = {joints_[k]};
        Result<LeafDistances> one =
            spreader_.solver.nearest(spreader_.seeds, joint, bridges_, 1, spreader_.context);
        if (one)
            use(k, *one);
        else
            failed[k] = one.error();
    });
    for (const auto& error : failed)
        if (error) return *error;
    return Done{};
}

}  // namespace sinew
