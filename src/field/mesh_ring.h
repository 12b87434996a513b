// The ring of a joint: the intersection of a plane through it with the mesh around it (Tokheim 2003).
#pragma once

#include <span>
#include <vector>

#include "core/bone_space.h"
#include "field/edge_graph.h"

namespace sinew {

/// Finds rings. A plane cuts more of a character than the intended limb (both legs, the arms beside the body),
/// so the cut is split into its loops, the connected sets of cut edges. The ring is the loop around the point
/// with the smallest mean distance. If no loop surrounds the point, it is the loop that passes nearest. A loop
/// of another part (clothes over a body) also belongs to the ring if it is about as near. If no loop surrounds
/// the point and the nearest position is much nearer than any loop (the tip of a leaf, a joint outside), the
/// nearest positions are used. With a late start, points of a loop that are farther from the joint than half
/// the smallest width of the loop (plus a tenth) start later by the difference.
class RingFinder {
public:
    /// Keeps references.
    explicit RingFinder(const EdgeGraph& graph, bool late = true) : graph_(graph), late_(late) {}

    enum class Kind {
        around,   ///< a loop around the point
        beside,   ///< a loop that passes beside it
        nearest,  ///< no loop: the nearest positions
    };
    struct Ring {
        Kind kind = Kind::nearest;
        /// Sources from a loop: both ends of every cut edge, each with its distance to the crossing. Otherwise
        /// the nearest positions (within a tenth), each with its distance to the point. Empty only for an empty
        /// graph.
        std::vector<EdgeSource> sources;
    };
    /// `normal` of any length but 0. A position on the plane counts as above it. O(E + cut log cut).
    Ring find(const Point3& at, const Point3& normal) const;

    /// For a bone with a shape: positions inside start at 0, and the outer end of an edge that leaves the shape
    /// starts with the length outside. If no position is inside, positions up to twice as far from the shape as
    /// the nearest one start with their distance. O(E).
    std::vector<EdgeSource> within(const BoneSpace& space) const;

private:
    const EdgeGraph& graph_;
    bool late_;
};

}  // namespace sinew
