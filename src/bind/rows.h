// Which vertices get a row of their own, which joints it may have, and how many. The same for every method.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sinew/core.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

/// Vertices that may use the same joints, and those joints.
struct JointSet {
    std::vector<std::uint32_t> joints;    ///< ascending
    std::vector<std::uint32_t> vertices;  ///< one per distinct position
    bool idle = false;                    ///< none of its skin's joints deforms, so all of them are used

    /// False for a single joint, which has all the weight at any distance, and for idle joints, which have no
    /// bones.
    bool needs_field() const { return joints.size() > 1 && !idle; }
};

struct RowPlan {
    std::vector<JointSet> sets;
    std::vector<std::uint32_t> source;  ///< per vertex: the vertex whose row it shares (itself if it has its own)
};

/// Vertices at one position get one row, so that seams cannot open. If they have different skins, the row uses the
/// joints that these share; if they share none, there is a row for each skin. `weld`: MeshTopology::weld.
RowPlan plan_rows(const MeshView& mesh, const Skeleton& skeleton, const std::vector<std::uint32_t>& weld);

/// Joints kept per vertex: more than the limit of influences, because overshoot and falloff edits reorder them.
inline std::size_t kept_joints(const FinishOptions& finish) {
    return static_cast<std::size_t>(std::max(8, 2 * finish.max_influences));
}

/// Dimensions of a table of rows.
struct RowShape {
    std::size_t vertices, width;
    float unit;
    Context* context;
};

}  // namespace sinew
