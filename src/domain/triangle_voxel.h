// Kernels that decide exactly, in integers, which voxels a triangle touches: one voxel as the reference, and a box
// of 2 x 2 x 2 voxels by vector code.
//
// Triangle against box by separating axes (Akenine-Möller 2001), arranged as three projections and the plane
// (Schwarz and Seidel 2010).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "domain/lattice.h"

namespace sinew {

/// The cross product of two edges. O(1), exact.
inline std::array<std::int64_t, 3> normal_of(const LatticePoint* p) {
    std::int64_t e1[3], e2[3];
    for (int a = 0; a < 3; ++a) {
        e1[a] = p[1].c[a] - p[0].c[a];
        e2[a] = p[2].c[a] - p[0].c[a];
    }
    std::array<std::int64_t, 3> n;
    for (std::size_t a = 0; a < 3; ++a)
        n[a] = e1[(a + 1) % 3] * e2[(a + 2) % 3] - e1[(a + 2) % 3] * e2[(a + 1) % 3];
    return n;
}

/// A triangle seen along one axis: does its shadow touch the square [u, u + kVoxel] x [v, v + kVoxel]?
class Shadow {
public:
    /// `area`: twice the signed area of the shadow.
    Shadow(const LatticePoint* p, int u, int v, std::int64_t area) {
        for (int e = 0; e < 3; ++e) {
            const LatticePoint &a = p[e], &b = p[(e + 1) % 3];
            // Inward normal of the edge (for a positive area), and its value at the corner furthest inwards.
            std::int64_t nu = -(b.c[v] - a.c[v]), nv = b.c[u] - a.c[u];
            if (area < 0) nu = -nu, nv = -nv;
            const std::int64_t d = -(nu * a.c[u] + nv * a.c[v]);
            const std::int64_t reach = (std::max<std::int64_t>(nu, 0) + std::max<std::int64_t>(nv, 0)) * kVoxel;
            edge_[count_++] = {nu, nv, d + reach};
            if (area == 0) {  // a line: the square must not lie on either side
                const std::int64_t back =
                    (std::max<std::int64_t>(-nu, 0) + std::max<std::int64_t>(-nv, 0)) * kVoxel;
                edge_[count_++] = {-nu, -nv, -d + back};
            }
        }
    }

    bool touches(std::int64_t u, std::int64_t v) const {
        for (int e = 0; e < count_; ++e) {
            if (edge_[e].u * u + edge_[e].v * v + edge_[e].d < 0) return false;
        }
        return true;
    }

private:
    struct Edge {
        std::int64_t u, v, d;
    };
    std::array<Edge, 6> edge_;
    int count_ = 0;
};

/// The plane of a triangle, seen along the axis w that it faces most.
class FacedPlane {
public:
    FacedPlane(const LatticePoint* p, const std::int64_t* n) : p_(*p) {
        for (int a = 1; a < 3; ++a)
            if (std::abs(n[a]) > std::abs(n[w])) w = a;
        u = (w + 1) % 3;
        v = (w + 2) % 3;
        const std::int64_t sign = n[w] < 0 ? -1 : 1;
        nw_ = sign * n[w];
        nu_ = sign * n[u];
        nv_ = sign * n[v];
    }
    /// False for triangles that are points or lines: these have no plane.
    bool exists() const { return nw_ != 0; }
    /// The lowest and highest w of the plane over the square with the corner (cu, cv), rounded outwards to the
    /// lattice.
    std::pair<std::int64_t, std::int64_t> range_over(std::int64_t cu, std::int64_t cv) const {
        // nu (x - p)_u + nv (x - p)_v + nw (x - p)_w = 0
        const std::int64_t at = nu_ * (cu - p_.c[u]) + nv_ * (cv - p_.c[v]);
        const std::int64_t least =
            at + std::min<std::int64_t>(nu_, 0) * kVoxel + std::min<std::int64_t>(nv_, 0) * kVoxel;
        const std::int64_t most =
            at + std::max<std::int64_t>(nu_, 0) * kVoxel + std::max<std::int64_t>(nv_, 0) * kVoxel;
        return {p_.c[w] + floor_div(-most, nw_), p_.c[w] - floor_div(least, nw_)};
    }

    int w = 0, u, v;

private:
    LatticePoint p_;
    std::int64_t nw_, nu_, nv_;
};

/// Whether a triangle with the normal n touches a voxel: the reference for everything that is faster. Boxes are
/// closed. For triangles whose bounding box touches the voxel.
bool touches_voxel(const LatticePoint* p, const std::int64_t* n, const int* voxel);

using TouchedOfEight = unsigned (*)(const LatticePoint* p, const int* low, const std::int64_t* n);
/// The fastest version for this processor; all give the same bits.
TouchedOfEight best_touched_of_eight();
/// Which of the eight voxels from `low` on a triangle touches: bit x + 2 y + 4 z stands for voxel low + (x, y, z).
/// For triangles in the box of these voxels, with no component of the normal n equal to 0. Bits of voxels that the
/// triangle's bounding box does not touch may have any value.
inline unsigned touched_of_eight(const LatticePoint* p, const int* low, const std::int64_t* n) {
    static const TouchedOfEight best = best_touched_of_eight();
    return best(p, low, n);
}

}  // namespace sinew
