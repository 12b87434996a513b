// Distances from the joints of one set through a domain, as fields at its leaves.
#pragma once

#include <functional>
#include <vector>

#include "bind/previous_binding.h"

namespace sinew {

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

    /// The nearest `width` joints of every leaf: repaired from the previous binding, or else in one sweep.
    Result<KeptField> nearest(std::size_t width, const PreviousBinding& previous) const;
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
