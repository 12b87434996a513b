// Distances from the joints of one set through a domain, as fields at its leaves.
#pragma once

#include <functional>
#include <vector>

#include "bind/kept_volume.h"
#include "bind/method.h"

namespace sinew {

/// The fields of a binding whose joints have moved since (MovedJoints), and what has changed. Without one, no
/// fields.
class PreviousFields {
public:
    PreviousFields() = default;
    /// `now`: the domain of the same voxels, divided by the bones of the task. Keeps a reference to task.start.
    PreviousFields(const Task& task, const Domain& now);

    /// The field of these joints, from which GeodesicSolver::renewed makes the one of now. Null if there is none.
    const LeafDistances* of(const std::vector<std::uint32_t>& joints) const;
    /// The leaves that both domains have.
    const LeafMatch& match() const { return match_; }
    /// Those of the joints that moved: their bones differ.
    std::vector<std::uint32_t> moved(const std::vector<std::uint32_t>& joints) const;

private:
    const KeptVolume* volume_ = nullptr;
    LeafMatch match_;
    std::vector<bool> moved_;  // per joint
};

/// What all sets of joints share: a domain, its seeds, and the solvers for it.
struct DistanceSpreader {
    DistanceSpreader(const Domain& on, const BoneSeeds& from, const BindOptions& options, Context* run)
        : domain(on),
          seeds(from),
          as_published(options.as_published),
          context(run),
          solver(on, {options.penalty}, run),
          bridges(on) {}

    const Domain& domain;
    const BoneSeeds& seeds;
    const bool as_published;  ///< bridges have one direction
    Context* const context;
    const GeodesicSolver solver;
    BridgeFinder bridges;
};

/// The fields of the joints of one set.
class JointFields {
public:
    /// Finds the components that bones of these joints lie in, and bridges to the others. Keeps references.
    JointFields(DistanceSpreader& spreader, const std::vector<std::uint32_t>& joints);

    /// Per component: a bone of these joints lies in it.
    const std::vector<bool>& seeded() const { return seeded_; }

    /// The nearest `width` joints of every leaf: renewed from a previous field, or else in one sweep.
    Result<KeptField> nearest(std::size_t width, const PreviousFields& previous) const;
    /// The distances of all joints at every leaf.
    Result<KeptField> all() const;
    /// One sweep per joint, in parallel: calls use(k, field of joint k).
    Status each_joint(const std::function<void(std::size_t k, const LeafDistances& field)>& use) const;

private:
    const DistanceSpreader& spreader_;
    const std::vector<std::uint32_t>& joints_;
    const std::vector<bool> seeded_;
    std::vector<Bridge> bridges_;
};

}  // namespace sinew
