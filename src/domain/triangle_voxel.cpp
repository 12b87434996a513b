// Kernel: all separating axes for eight voxels at once, without a branch, in vectors. The plain reference is
// touches_voxel.
#include "domain/triangle_voxel.h"

#include "core/processor.h"

namespace sinew {

bool touches_voxel(const LatticePoint* p, const std::int64_t* n, const int* voxel) {
    std::int64_t corner[3];
    for (int a = 0; a < 3; ++a) corner[a] = std::int64_t{voxel[a]} * kVoxel;
    for (int w = 0; w < 3; ++w) {
        const int u = (w + 1) % 3, v = (w + 2) % 3;
        if (!Shadow(p, u, v, n[w]).touches(corner[u], corner[v])) return false;
    }
    const FacedPlane plane(p, n);
    if (!plane.exists()) return true;
    const auto [low, high] = plane.range_over(corner[plane.u], corner[plane.v]);
    return corner[plane.w] + kVoxel >= low && corner[plane.w] <= high;
}

namespace {

using Eight = std::int32_t __attribute__((vector_size(32)));
using Four = std::int64_t __attribute__((vector_size(32)));

[[gnu::always_inline]] inline unsigned touched(const LatticePoint* p, const int* low, const std::int64_t* n) {
    // A linear function of the voxel is its value at `low`, plus one step along an axis in some lanes.
    constexpr Eight far[3] = {
        {0, -1, 0, -1, 0, -1, 0, -1}, {0, 0, -1, -1, 0, 0, -1, -1}, {0, 0, 0, 0, -1, -1, -1, -1}};
    std::int32_t c[3][3];  // 11 bits
    for (int k = 0; k < 3; ++k)
        for (int a = 0; a < 3; ++a) c[k][a] = p[k].c[a] - low[a] * kVoxel;
    // As class Shadow: an edge's inward normal, at the corner of the square that is furthest inwards.
    Eight outside{};
    for (int w = 0; w < 3; ++w) {
        const int u = (w + 1) % 3, v = (w + 2) % 3;
        const std::int32_t sign = n[w] < 0 ? -1 : 1;
        for (int e = 0; e < 3; ++e) {
            const std::int32_t *const a = c[e], *const b = c[(e + 1) % 3];
            const std::int32_t nu = sign * (a[v] - b[v]), nv = sign * (b[u] - a[u]);
            const std::int32_t at =
                (std::max(nu, 0) + std::max(nv, 0)) * kVoxel - (nu * a[u] + nv * a[v]);  // 22 bits
            outside |= at + (nu * kVoxel & far[u]) + (nv * kVoxel & far[v]);
        }
    }
    // As class FacedPlane: the lowest and highest w over a square, rounded outwards, against those of the voxel.
    int w = std::abs(n[1]) > std::abs(n[0]) ? 1 : 0;
    w = std::abs(n[2]) > std::abs(n[w]) ? 2 : w;
    const int u = (w + 1) % 3, v = (w + 2) % 3;
    const std::int64_t sign = n[w] < 0 ? -1 : 1, nw = sign * n[w], nu = sign * n[u], nv = sign * n[v];
    const std::int64_t at = nw * c[0][w] + nu * c[0][u] + nv * c[0][v];  // 34 bits
    const std::int64_t above =
        nw * (kVoxel + 1) + (std::max<std::int64_t>(nu, 0) + std::max<std::int64_t>(nv, 0)) * kVoxel - at - 1;
    const std::int64_t below =
        at + nw - (std::min<std::int64_t>(nu, 0) + std::min<std::int64_t>(nv, 0)) * kVoxel - 1;
    std::int64_t step[3];
    step[w] = nw * kVoxel, step[u] = nu * kVoxel, step[v] = nv * kVoxel;
    const Four along = (step[0] & Four{0, -1, 0, -1}) + (step[1] & Four{0, 0, -1, -1});
    const Four near = (above + along) | (below - along),
               beyond = (above + step[2] + along) | (below - step[2] - along);
    const Four apart = ((near < 0) & Four{1, 2, 4, 8}) | ((beyond < 0) & Four{16, 32, 64, 128});
    const Eight not_in = (outside < 0) & Eight{1, 2, 4, 8, 16, 32, 64, 128};
    const Four any = apart | reinterpret_cast<Four>(not_in);
    const std::int64_t all = any[0] | any[1] | any[2] | any[3];
    return ~static_cast<unsigned>(all | all >> 32) & 255;
}

unsigned plain(const LatticePoint* p, const int* low, const std::int64_t* n) { return touched(p, low, n); }
#if defined(SINEW_VECTORS)
SINEW_FOR_AVX2 unsigned avx2(const LatticePoint* p, const int* low, const std::int64_t* n) {
    return touched(p, low, n);
}
#endif

}  // namespace

TouchedOfEight best_touched_of_eight() {
#if defined(SINEW_VECTORS)
    return best_of(plain, avx2, avx2);
#else
    return plain;
#endif
}

}  // namespace sinew
