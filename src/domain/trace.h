// The voxels that a segment crosses.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/geometry.h"
#include "sinew/domain.h"

namespace sinew {

/// A scene position in voxel coordinates.
inline Point3 to_voxels(const GridTransform& g, const Point3& p) {
    return {(p[0] - g.origin[0]) / g.voxel, (p[1] - g.origin[1]) / g.voxel, (p[2] - g.origin[2]) / g.voxel};
}
inline Point3 to_voxels(const GridTransform& g, const Vec3& p) { return to_voxels(g, to_point(p)); }

/// Calls visit(x, y, z) for every voxel that the segment crosses, in order from a to b (Amanatides and Woo
/// 1987). Parts outside the grid are skipped. O(crossed voxels).
template <typename Visit>
void trace_segment(const GridTransform& g, const Vec3& a, const Vec3& b, Visit&& visit) {
    const Point3 p = to_voxels(g, a), q = to_voxels(g, b);
    // Clip to the grid first: a bone may be arbitrarily far outside.
    const int last_voxel[3] = {g.resolution - 1, g.resolution - 1, g.depth() - 1};
    double from = 0, to = 1;
    for (int k = 0; k < 3; ++k) {
        const double d = q[k] - p[k], size = last_voxel[k] + 1;
        if (std::abs(d) < 1e-12) {
            if (p[k] < 0 || p[k] >= size) return;
            continue;
        }
        const double t0 = (0 - p[k]) / d, t1 = (size - p[k]) / d;
        from = std::max(from, std::min(t0, t1));
        to = std::min(to, std::max(t0, t1));
    }
    if (!(from <= to)) return;
    int cell[3], last[3], step[3];
    double next[3], delta[3];
    for (int k = 0; k < 3; ++k) {
        const double d = q[k] - p[k], start = p[k] + from * d, end = p[k] + to * d;
        cell[k] = std::clamp(static_cast<int>(std::floor(start)), 0, last_voxel[k]);
        last[k] = std::clamp(static_cast<int>(std::floor(end)), 0, last_voxel[k]);
        step[k] = last[k] > cell[k] ? 1 : -1;
        const bool moves = last[k] != cell[k];
        delta[k] = moves ? 1 / std::abs(d) : INFINITY;
        next[k] = moves ? ((step[k] > 0 ? cell[k] + 1 : cell[k]) - p[k]) / d : INFINITY;
    }
    // Each axis takes exactly the steps between its first and last cell, so that rounding cannot make the walk
    // miss its end.
    int steps = std::abs(last[0] - cell[0]) + std::abs(last[1] - cell[1]) + std::abs(last[2] - cell[2]);
    visit(cell[0], cell[1], cell[2]);
    for (; steps > 0; --steps) {
        int k = -1;
        for (int c = 0; c < 3; ++c)
            if (cell[c] != last[c] && (k < 0 || next[c] < next[k])) k = c;
        cell[k] += step[k];
        next[k] += delta[k];
        visit(cell[0], cell[1], cell[2]);
    }
}

}  // namespace sinew
