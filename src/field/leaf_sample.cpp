#include "field/leaf_sample.h"

#include <cmath>

#include "domain/trace.h"

namespace sinew {

LeafStencil leaf_stencil(const Domain& domain, const Vec3& position) {
    LeafStencil s;
    const auto v = to_voxels(domain.transform, position);
    const double r = domain.transform.resolution;
    for (const double c : v)
        if (!(c >= 0 && c < r)) return s;
    const std::uint32_t own =
        domain.leaf_at(static_cast<int>(v[0]), static_cast<int>(v[1]), static_cast<int>(v[2]));
    if (own == Domain::none) return s;
    double total = 0;
    for (int corner = 0; corner < 8; ++corner) {
        int q[3];
        double share = 1;
        for (int k = 0; k < 3; ++k) {
            const double base = std::floor(v[k] - 0.5), t = v[k] - 0.5 - base;
            const bool upper = corner >> k & 1;
            q[k] = static_cast<int>(base) + upper;
            share *= upper ? t : 1 - t;
        }
        const std::uint32_t leaf = domain.leaf_at(q[0], q[1], q[2]);
        if (share <= 0 || leaf == Domain::none || !domain.leaves[leaf].boundary) continue;
        s.leaf[s.count] = leaf;
        s.share[s.count++] = share;
        total += share;
    }
    if (!domain.leaves[own].boundary || s.count == 0) {
        s.leaf[0] = own;
        s.share[0] = total = 1;
        s.count = 1;
    }
    for (int k = 0; k < s.count; ++k) s.share[k] /= total;
    return s;
}

}  // namespace sinew
