#include "field/leaf_sample.h"

#include <algorithm>
#include <cmath>

#include "domain/leaf_index.h"
#include "domain/trace.h"
#include "field/corner_leaves.h"

namespace sinew {
namespace {

/// The pixel nearest to a point outside the figure, within the largest distance that the outline may have from
/// it.
std::uint32_t nearest_pixel(const Domain& domain, int x, int y) {
    constexpr int farthest = 64;  // OutlineOptions::tolerance
    for (int ring = 1; ring <= farthest; ++ring) {
        std::uint32_t best = no_index;
        int least = 0;
        for (int dy = -ring; dy <= ring; ++dy) {
            const int step = dy == -ring || dy == ring ? 1 : 2 * ring;
            for (int dx = -ring; dx <= ring; dx += step) {
                const std::uint32_t leaf = domain.leaf_at(x + dx, y + dy, 0);
                const int d = dx * dx + dy * dy;
                if (leaf != no_index && (best == no_index || d < least)) best = leaf, least = d;
            }
        }
        if (best != no_index) return best;
    }
    return no_index;
}

// For values in the range of int.
int floor_of(double x) {
    const int towards_zero = static_cast<int>(x);
    return towards_zero - (x < towards_zero);
}

bool within_grid(const Domain& domain, const Point3& v, double margin) {
    const double r = domain.transform.resolution;
    for (std::size_t k = 0; k < (domain.transform.depth() == 1 ? 2u : 3u); ++k)
        if (!(v[k] >= -margin && v[k] < r + margin)) return false;
    return true;
}

corner_leaves::Corners corners_around(const Point3& v, int level, std::size_t axes) {
    corner_leaves::Corners out;
    out.level = level;
    const double size = 1 << level;
    for (std::size_t k = 0; k < axes; ++k) {
        const double at = v[k] / size - 0.5;
        out.lower[k] = floor_of(at);
        out.upper_share[k] = at - out.lower[k];
    }
    return out;
}

}  // namespace

void prefetch_leaves_around(const Domain& domain, std::span<const Vec3> points) {
    corner_leaves::prefetch_around(domain, points);
}

LeafStencil leaf_stencil(const Domain& domain, const Vec3& position) {
    LeafStencil s;
    if (domain.leaves.empty()) return s;
    const Point3 v = to_voxels(domain.transform, position);
    const bool flat = domain.transform.depth() == 1;
    if (!within_grid(domain, v, flat ? 1 : 0)) return s;  // the outline of a picture may follow its border
    const int x = static_cast<int>(v[0]), y = static_cast<int>(v[1]);
    const Domain::Index::Voxel own = flat ? Domain::Index::Voxel{domain.leaf_at(x, y, 0), 0, false}
                                          : domain.index->voxel(x, y, static_cast<int>(v[2]));
    if (own.leaf == no_index && !flat) return s;
    double total = 0;
    if (flat || own.boundary) {
        const corner_leaves::Corners corners = corners_around(v, own.level, flat ? 2 : 3);
        total = corner_leaves::can_add(domain, corners) ? corner_leaves::add(domain, corners, s)
                                                        : corner_leaves::add_plain(domain, corners, s);
    }
    if (s.count == 0) {
        s.leaf[0] = own.leaf != no_index ? own.leaf
                                         : nearest_pixel(domain, static_cast<int>(std::floor(v[0])),
                                                         static_cast<int>(std::floor(v[1])));
        if (s.leaf[0] == no_index) return s;
        s.share[0] = total = 1;
        s.count = 1;
    }
    for (int k = 0; k < s.count; ++k) s.share[k] /= total;
    return s;
}

LeafStencil own_leaf(const Domain& domain, const Vec3& position) {
    LeafStencil s;
    const Point3 v = to_voxels(domain.transform, position);
    const bool flat = domain.transform.depth() == 1;
    if (!within_grid(domain, v, flat ? 1 : 0)) return s;
    const int x = floor_of(v[0]), y = floor_of(v[1]);
    s.leaf[0] = domain.leaf_at(x, y, flat ? 0 : static_cast<int>(v[2]));
    if (flat && s.leaf[0] == no_index) s.leaf[0] = nearest_pixel(domain, x, y);
    s.share[0] = 1;
    s.count = s.leaf[0] != no_index;
    return s;
}

}  // namespace sinew
