// Which vertices get a row of their own, and which joints it may have. The same for every method.
#pragma once

#include <cstdint>
#include <vector>

#include "sinew/core.h"
#include "sinew/skeleton.h"

namespace sinew {

/// Vertices that may use the same joints, and those joints.
struct JointSet {
    std::vector<std::uint32_t> joints;    ///< ascending
    std::vector<std::uint32_t> vertices;  ///< one per distinct position
    bool idle = false;                    ///< none of its skin's joints deforms, so all of them are used
};

struct RowPlan {
    std::vector<JointSet> sets;
    std::vector<std::uint32_t> source;  ///< per vertex: the vertex whose row it shares (itself if it has its own)
};

/// Vertices at one position get one row, so that seams cannot open. If they have different skins, the row uses the
/// joints that these share; if they share none, there is a row for each skin. `weld`: MeshTopology::weld.
RowPlan plan_rows(const MeshView& mesh, const Skeleton& skeleton, const std::vector<std::uint32_t>& weld);

}  // namespace sinew
