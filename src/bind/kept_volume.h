// The fields that a voxel method measured in the volume, kept for Binding::rebind and Binding::move_joints.
#pragma once

#include <algorithm>
#include <variant>
#include <vector>

#include "field/geodesic.h"
#include "sinew/domain.h"

namespace sinew {

/// Strengths at the leaves, of every joint of a set: slot k is that of its k-th joint.
struct LeafStrengths {
    std::size_t width = 0;        ///< joints of the set
    std::vector<float> strength;  ///< leaves × width, finite
};

/// Distances at the leaves from every joint of a set, laid out likewise.
struct EveryDistance {
    std::size_t width = 0;                ///< joints of the set
    std::vector<std::uint32_t> distance;  ///< leaves × width, in units of LeafDistances
};

/// The field of the joints that one JointSet may use.
struct KeptField {
    std::vector<std::uint32_t> joints;  ///< of the set, ascending
    std::vector<bool> seeded;           ///< per component of the domain: a bone of the set lies in it
    std::variant<LeafDistances, EveryDistance, LeafStrengths> field;
};

struct KeptVolume {
    Domain domain;  ///< has a graph, with the links, only where the fields are LeafDistances
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

/// The places where rows may have changed since joints moved.
class ChangedPlaces {
public:
    /// Everywhere.
    ChangedPlaces() = default;
    /// Around leaves whose rows changed or list a moved joint (`moved`: per joint). O(leaves).
    ChangedPlaces(const Domain& domain, const LeafDistances& before, const LeafDistances& now,
                  const LeafMatch& match, const std::vector<bool>& moved, Context* context);
    /// Whether the row of a vertex here may have changed.
    bool contains(const GridTransform& grid, const Vec3& vertex) const;

private:
    std::vector<std::uint8_t> blocks_;  // of 4³ voxels; empty: all
    int per_side_ = 0;
};

}  // namespace sinew
