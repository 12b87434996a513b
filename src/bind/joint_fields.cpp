#include "bind/joint_fields.h"

#include <optional>

#include "bind/volume.h"
#include "core/parallel.h"
#include "core/try.h"

namespace sinew {

JointFields::JointFields(DistanceSpreader& spreader, const std::vector<std::uint32_t>& joints)
    : spreader_(spreader),
      joints_(joints),
      seeded_(seeded_components(spreader.domain, spreader.seeds, joints)),
      bridges_(spreader.bridges.join(seeded_)) {
    if (spreader.as_published) bridges_ = lead_outwards(std::move(bridges_), spreader.domain, seeded_);
}

Result<KeptField> JointFields::nearest(std::size_t width, const PreviousBinding& previous) const {
    const LeafDistances* const before = previous.repairable_field(joints_);
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
