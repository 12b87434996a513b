// The fields that a voxel method measured in the volume, kept for Binding::rebind and Binding::move_joints.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "field/geodesic.h"
#include "sinew/domain.h"
#include "sinew/skeleton.h"

namespace sinew {

/// Strengths at the leaves, of every joint of a set: slot k is that of its k-th joint.
struct LeafStrengths {
    std::size_t width = 0;        ///< joints of the set
    std::vector<float> strength;  ///< leaves × width, finite
};

/// Distances at the leaves from every joint of a set, in the same layout.
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
    Domain domain;  ///< without its links
    std::vector<KeptField> fields;

    /// The field of these joints (ascending), else that of the fewest joints that include them, else null.
    const KeptField* find(const std::vector<std::uint32_t>& joints) const;
    /// The same, never null: joints without a field are an error that names them.
    Result<const KeptField*> field_of(const std::vector<std::uint32_t>& joints, const Skeleton& skeleton) const;
};

/// The domain and the fields as a volume to keep. Frees the links.
std::shared_ptr<const KeptVolume> keep_volume(Domain domain, std::vector<KeptField> fields);

}  // namespace sinew
