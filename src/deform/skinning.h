// The two ways to blend transforms of a vertex. Each turns a row of influences into one Transform, so that
// positions, normals and tangents are transformed in one place.
#pragma once

#include <span>
#include <vector>

#include "sinew/deform.h"

namespace sinew {

/// The weighted mean of the matrices.
Transform blend_linear(std::span<const Influence> row, std::span<const Transform> transforms);

struct DualQuaternion {
    std::array<double, 4> real{0, 0, 0, 1}, dual{0, 0, 0, 0};  // x, y, z, w
};

/// Dual quaternions of the joints in use; the others keep the identity. An error if one of them is not rigid.
Result<std::vector<DualQuaternion>> to_dual_quaternions(std::span<const Transform> transforms,
                                                        const std::vector<bool>& used);

/// The rigid motion of the blended dual quaternion.
Transform blend_dual(std::span<const Influence> row, std::span<const DualQuaternion> joints);

}  // namespace sinew
