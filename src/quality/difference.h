// The difference of two bindings, vertex by vertex and joint by joint.
#pragma once

#include "quality/measures.h"

namespace sinew {

/// Fills vertex_l1, l1, precision, recall, strongest_agreement, joints, worst_vertices, and the counts of both
/// sides in `out`. O(influences log joints per row), memory 4 bytes per vertex plus the limit of sum_grain.
Status measure_difference(const SkinWeights& a, const SkinWeights& b, std::size_t joint_count,
                          const CompareOptions& options, Context* context, Comparison& out);

}  // namespace sinew
