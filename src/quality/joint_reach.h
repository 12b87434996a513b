// How far vertices are from joints through the volume, for measures and repairs that judge weights by it.
#pragma once

#include <functional>

#include "field/geodesic.h"
#include "quality/measures.h"

namespace sinew {

/// The rows of one binding, transposed: for every joint its vertices, ascending, and weights.
struct JointColumns {
    std::vector<std::size_t> first;  // joints + 1
    std::vector<std::uint32_t> vertex;
    std::vector<float> weight;

    JointColumns(const SkinWeights& weights, std::size_t joints);
    bool uses(std::size_t joint) const { return first[joint + 1] > first[joint]; }
};

/// Per vertex its leaf, and how far its joints may be. Units of the field.
struct VertexReach {
    std::vector<std::uint32_t> leaf;  ///< none: not measured
    std::vector<double> most;         ///< the largest distance that is not far
    double limit = 0;                 ///< larger distances are not measured
};

/// One joint, seen from vertices.
struct JointReach {
    const LeafDistances& field;
    const VertexReach& vertices;

    /// False where nothing was measured.
    bool far(std::uint32_t v) const {
        const std::uint32_t leaf = vertices.leaf[v];
        return leaf != no_index && field.distance(leaf) > vertices.most[v];
    }
    /// In voxels, at most the limit; 0 where nothing was measured.
    double distance(std::uint32_t v) const {
        const std::uint32_t leaf = vertices.leaf[v];
        return leaf == no_index
                   ? 0
                   : std::min<double>(field.distance(leaf), vertices.limit) / LeafDistances::units_per_voxel;
    }
};

/// Calls use(joint, reach) once for each of these joints (ascending), from several threads: one sweep each over the
/// volume, at this resolution, as far as no vertex is far. Far is as in BleedOptions, of these joints, with a
/// margin of 1 / strength of that.
Status each_joint_reach(const MeshView& mesh, const MeshTopology& topology, const Skeleton& skeleton,
                        const std::vector<std::uint32_t>& joints, int resolution, double strength,
                        const std::function<void(std::uint32_t joint, const JointReach& reach)>& use,
                        Context* context);

}  // namespace sinew
