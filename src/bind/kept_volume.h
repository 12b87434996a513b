// What a voxel method measured in the volume, kept so that other meshes can be read from it (Binding::rebind).
#pragma once

#include <algorithm>
#include <variant>
#include <vector>

#include "field/geodesic.h"
#include "sinew/bind.h"

namespace sinew {

/// Strengths at the leaves, of every joint of a set: slot k is that of its k-th joint.
struct LeafStrengths {
    std::size_t width = 0;        ///< joints of the set
    std::vector<float> strength;  ///< leaves × width, finite
};

/// The field of the joints that one JointSet may use.
struct KeptField {
    std::vector<std::uint32_t> joints;  ///< of the set, ascending
    std::vector<bool> seeded;           ///< per component of the domain: a bone of the set lies in it
    /// Distances are of the nearest joints of each leaf; or, with LeafDistances::joint empty, of every joint of the
    /// set, as LeafStrengths has them.
    std::variant<LeafDistances, LeafStrengths> field;
};

struct KeptVolume {
    Domain domain;  ///< without links
    std::vector<KeptField> fields;

    /// The field of these joints (ascending), else that of the fewest joints that include them, else null.
    const KeptField* find(const std::vector<std::uint32_t>& joints) const {
        const KeptField* best = nullptr;
        for (const KeptField& field : fields)
            if (std::includes(field.joints.begin(), field.joints.end(), joints.begin(), joints.end()) &&
                (!best || field.joints.size() < best->joints.size()))
                best = &field;
        return best;
    }
};

/// A volume in which another mesh is measured: part of the Task of a rebind.
struct ReusedVolume {
    const KeptVolume& volume;
    /// Per vertex that has a row of its own and a triangle, but lies outside of the volume: the nearest leaf. Else
    /// Domain::none.
    std::vector<std::uint32_t> nearest;
};

}  // namespace sinew
