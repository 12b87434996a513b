// The anatomy of a skeleton, from the positions of its joints: trunk, legs, arms, hands, neck, tail.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/vectors.h"
#include "deform/affine.h"
#include "sinew/skeleton.h"

namespace sinew {

/// Joints from a first one outwards, each the child of the previous one.
using Chain = std::vector<std::uint32_t>;

/// A limb: one of a pair that leaves the trunk on both sides.
struct Limb {
    Chain chain;                      ///< from the joint at the trunk to the farthest tip
    double side = 0;                  ///< +1 or -1: its side along Anatomy::lateral
    bool leg = false;                 ///< reaches the ground
    std::size_t root = 0;             ///< into chain: shoulder or hip; 1 where a collar bone comes first
    std::optional<std::size_t> knee;  ///< into chain: elbow or knee; empty if the limb is too short
    std::size_t wrist = 0;            ///< into chain: wrist or ankle; the tip if there is no hand or foot
    std::vector<Chain> fingers;       ///< children of the wrist, each along its longest chain
    /// The joint at which the last bone ends, though it is in another chain: the foot of an IK rig.
    std::optional<std::uint32_t> foot;
};

struct Hand {
    std::uint32_t wrist = 0;
    std::vector<Chain> fingers;  ///< two or more
    Point3 palm{};               ///< the direction that the palm faces
};

struct Anatomy {
    Point3 up{}, lateral{}, forward{};                 ///< unit vectors, right-handed: lateral × up = forward
    std::vector<std::vector<std::uint32_t>> children;  ///< children that deform or have deforming descendants
    std::vector<double> reach;                         ///< per joint: the longest path to a tip below it
    std::vector<Point3> position;
    double size = 0;  ///< diagonal of the box of the joints
    std::vector<Limb> limbs;
    Chain spine;  ///< above the hips, up to the joint of the arms; the longest chain if there are no limbs
    Chain neck;   ///< from above the spine to the head and its tip
    Chain tail;
    std::vector<Hand> hands;
};

/// Idle joints are skipped; if all joints deform, those are skipped that select_deforming recognises by name.
/// `up` must not be zero. O(joints²) in the worst case, for the mirror images of joints. Requires
/// check_skeleton.
Anatomy read_anatomy(const Skeleton& skeleton, const Vec3& up);

}  // namespace sinew
