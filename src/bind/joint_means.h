// The mean distance of every joint at the leaves around a vertex.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "field/geodesic.h"
#include "field/leaf_sample.h"

namespace sinew {

/// The field of one joint at one reading.
struct JointMean {
    double field;  ///< in its integer units
    std::uint32_t joint, reading;
};

/// Sums by joint. Reused for many stencils, by one thread.
class JointMeans {
public:
    /// The most joints of one stencil.
    static constexpr std::size_t kCapacity = 8 * GeodesicSolver::kMaxNearest;

    explicit JointMeans(std::size_t joints) : slot_of_(joints, 0) {}

    /// Writes the weighted mean of every joint at the leaves of a stencil; returns the end of the output.
    JointMean* measure(const LeafStencil& stencil, std::uint32_t reading, const LeafDistances& field,
                       JointMean* out);

private:
    std::size_t slot(std::uint32_t joint);

    std::vector<std::uint32_t> slot_of_;  // never cleared: a slot counts only if joint_[slot] confirms it
    std::array<std::uint32_t, kCapacity> joint_;
    std::array<double, kCapacity> share_, sum_;
    std::size_t count_ = 0;
};

}  // namespace sinew
