// The ring of a joint: where a plane through it cuts the mesh around it (seed 004).
#pragma once

#include <span>
#include <vector>

#include "core/bone_space.h"
#include "field/edge_graph.h"

namespace sinew {

/// Finds rings. A plane cuts more of a character than the limb that is meant (both legs, the arms beside the body),
/// so the cut is taken apart into its loops, the connected sets of cut edges. The ring is the loop around the point
/// that is nearest to it by mean distance; where none goes around, the loop that passes nearest. A loop of another
/// part (clothes over a body) belongs to the ring too where it is about as near. Where no loop goes around and the
/// nearest position is much nearer than any loop (the tip of a leaf, a joint outside), the nearest positions stand
/// in. What of a loop lies farther from the point than half the least width of the loop there (and a tenth) starts
/// later by that much: a plane sideways through a collar bone cuts from shoulder to shoulder.
class RingFinder {
public:
    /// Keeps references.
    explicit RingFinder(const EdgeGraph& graph) : graph_(graph) {}

    enum class Kind {
        around,   ///< a loop around the point
        beside,   ///< a loop that passes beside it
        nearest,  ///< no loop: the nearest positions
    };
    struct Ring {
        Kind kind = Kind::nearest;
        /// From a loop: both ends of every cut edge, each with what is left of the edge. Else the nearest positions
        /// (within a tenth), each with its distance to the point. Never empty where the graph is not.
        std::vector<EdgeSource> sources;
    };
    /// `normal` of any length but 0. A position on the plane counts as above it. O(E + cut log cut).
    Ring find(const Point3& at, const Point3& normal) const;

    /// For a bone with a shape, in place of a ring: what lies within starts at 0, and the outer end of an edge that
    /// leaves the shape with what is left of it. Where nothing lies within, positions up to twice as far from the
    /// shape as the nearest start with that distance. O(E).
    std::vector<EdgeSource> within(const BoneSpace& space) const;

private:
    const EdgeGraph& graph_;
};

}  // namespace sinew
