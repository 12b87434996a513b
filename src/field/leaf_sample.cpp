#include "field/leaf_sample.h"

#include <algorithm>
#include <cmath>

#include "domain/leaf_index.h"
#include "domain/trace.h"

namespace sinew {
namespace {

/// The pixel nearest to a point outside the figure, within the largest distance that the outline may have from
/// it.
std::uint32_t nearest_pixel(const Domain& domain, int x, int y) {
    constexpr int farthest = 64;  // OutlineOptions::tolerance
    for (int ring = 1; ring <= farthest; ++ring) {
        std::uint32_t best = Domain::none;
        int least = 0;
        for (int dy = -ring; dy <= ring; ++dy) {
            const int step = dy == -ring || dy == ring ? 1 : 2 * ring;
            for (int dx = -ring; dx <= ring; dx += step) {
                const std::uint32_t leaf = domain.leaf_at(x + dx, y + dy, 0);
                const int d = dx * dx + dy * dy;
                if (leaf != Domain::none && (best == Domain::none || d < least)) best = leaf, least = d;
            }
        }
        if (best != Domain::none) return best;
    }
    return Domain::none;
}

/// The boundary leaf in a cell of the given level, or none. For local resolution, where small and large
/// boundary leaves meet.
std::uint32_t boundary_in(const Domain& domain, int level, const int (&cell)[3]) {
    const int size = 1 << level;
    for (int z = 0; z < size; ++z)
        for (int y = 0; y < size; ++y)
            for (int x = 0; x < size; ++x) {
                const std::uint32_t leaf =
                    domain.leaf_at(cell[0] * size + x, cell[1] * size + y, cell[2] * size + z);
                if (leaf == Domain::none) continue;
                if (domain.leaves[leaf].boundary) return leaf;
                if (domain.leaves[leaf].level >= level) return Domain::none;  // it covers the whole cell
            }
    return Domain::none;
}

// For values in the range of int.
int floor_of(double x) {
    const int towards_zero = static_cast<int>(x);
    return towards_zero - (x < towards_zero);
}

// The boundary leaves among the eight voxels from `lower` on, all within the grid, and the sum of their shares.
// Branchless: the condition is unpredictable. Undivided blocks are never boundary.
double eight_voxels(const Domain& domain, const int (&lower)[3], const double (&upper_share)[3], LeafStencil& s) {
    using Index = Domain::Index;
    const Index& index = *domain.index;
    const auto blocks = static_cast<std::uint32_t>(index.blocks.size());
    // Offset, position and share of a corner, by axis.
    std::array<std::array<std::size_t, 2>, 3> block_of, place_of;
    std::array<std::array<double, 2>, 3> share_of;
    for (std::size_t upper = 0; upper < 2; ++upper) {
        const int more = static_cast<int>(upper);
        const int x = lower[0] + more, y = lower[1] + more, z = lower[2] + more;
        block_of[0][upper] = index.block_of(x, 0, 0);
        block_of[1][upper] = index.block_of(0, y, 0);
        block_of[2][upper] = index.block_of(0, 0, z);
        place_of[0][upper] = Index::place_in_block(x, 0, 0);
        place_of[1][upper] = Index::place_in_block(0, y, 0);
        place_of[2][upper] = Index::place_in_block(0, 0, z);
        for (std::size_t k = 0; k < 3; ++k) share_of[k][upper] = upper ? upper_share[k] : 1 - upper_share[k];
    }
    double total = 0;
    for (std::size_t corner = 0; corner < 8; ++corner) {
        const std::size_t x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
        const double share = share_of[0][x] * share_of[1][y] * share_of[2][z];
        const std::uint32_t number = index.top[block_of[0][x] + block_of[1][y] + block_of[2][z]] - Index::kDivided;
        const bool divided = number < blocks;
        const Index::Block& block = index.blocks[number & (0u - divided)];
        const std::size_t place = place_of[0][x] | place_of[1][y] | place_of[2][z];
        const bool counts = divided & (block.boundary >> place & 1) & (share > 0);
        const std::uint32_t leaf = (block.first + block.at[place]) & (0u - counts);
        s.leaf[static_cast<std::size_t>(s.count)] = leaf;
        s.share[static_cast<std::size_t>(s.count)] = share;
        s.count += counts;
        total += share * counts;
    }
    return total;
}

}  // namespace

void ask_for_leaves(const Domain& domain, std::span<const Vec3> points) {
    using Index = Domain::Index;
    const Index& index = *domain.index;
    if (index.blocks.empty()) return;
    const GridTransform& g = domain.transform;
    const double voxel = 1 / g.voxel;
    const auto within = [](double x, int size) { return static_cast<int>(std::clamp(x, 0.0, size - 1.0)); };
    constexpr std::size_t kSome = 32;
    std::array<std::size_t, kSome> block;
    for (; !points.empty(); points = points.subspan(std::min(kSome, points.size()))) {
        const auto some = points.first(std::min(kSome, points.size()));
        for (std::size_t k = 0; k < some.size(); ++k) {
            // Rounding may select the neighbouring voxel, which does no harm.
            block[k] = index.block_of(within((some[k].x - g.origin[0]) * voxel, g.resolution),
                                      within((some[k].y - g.origin[1]) * voxel, g.resolution),
                                      within((some[k].z - g.origin[2]) * voxel, g.depth()));
            index.top.ask_for(block[k]);
        }
        for (std::size_t k = 0; k < some.size(); ++k) {
            const std::uint32_t number = index.top[block[k]] - Index::kDivided;
            if (number >= index.blocks.size()) continue;
            __builtin_prefetch(&index.blocks[number]);
            __builtin_prefetch(&index.blocks[number].boundary);
        }
    }
}

LeafStencil leaf_stencil(const Domain& domain, const Vec3& position) {
    LeafStencil s;
    if (domain.leaves.empty()) return s;
    const auto v = to_voxels(domain.transform, position);
    const double r = domain.transform.resolution;
    const bool flat = domain.transform.depth() == 1;
    const double margin = flat ? 1 : 0;  // the outline of a picture may follow its border
    for (int k = 0; k < (flat ? 2 : 3); ++k)
        if (!(v[k] >= -margin && v[k] < r + margin)) return s;
    const int z = flat ? 0 : static_cast<int>(v[2]);
    const Domain::Index& index = *domain.index;
    const auto [own, own_level, own_boundary] =
        flat ? Domain::Index::Voxel{domain.leaf_at(static_cast<int>(v[0]), static_cast<int>(v[1]), z), 0, false}
             : index.voxel(static_cast<int>(v[0]), static_cast<int>(v[1]), z);
    if (own == Domain::none && !flat) return s;
    const bool alone = !flat && !own_boundary;
    double total = 0;
    const int axes = flat ? 2 : 3;
    // Along each axis the lower of the two nearest voxels (or cells of the own leaf's size), and the share of
    // the upper one.
    const int level = alone ? 0 : own_level;
    const double size = 1 << level;
    int lower[3] = {0, 0, 0};
    double upper_share[3] = {0, 0, 0};
    for (int k = 0; k < axes; ++k) {
        const double at = v[k] / size - 0.5;
        lower[k] = floor_of(at);
        upper_share[k] = at - lower[k];
    }
    const auto inner = [&](int a) { return lower[a] >= 0 && lower[a] + 1 < domain.transform.resolution; };
    const bool plain = !flat && level == 0 && inner(0) && inner(1) && inner(2) && !index.blocks.empty();
    if (plain && !alone) total = eight_voxels(domain, lower, upper_share, s);
    for (int corner = 0; corner < 1 << axes && !alone && !plain; ++corner) {
        int q[3] = {0, 0, 0};
        double share = 1;
        for (int k = 0; k < axes; ++k) {
            const int upper = corner >> k & 1;
            q[k] = lower[k] + upper;
            share *= upper ? upper_share[k] : 1 - upper_share[k];
        }
        const std::uint32_t leaf = level > 0 ? boundary_in(domain, level, q) : domain.leaf_at(q[0], q[1], q[2]);
        if (!(share > 0) || leaf == Domain::none || !(flat || domain.leaves[leaf].boundary)) continue;
        s.leaf[s.count] = leaf;
        s.share[s.count++] = share;
        total += share;
    }
    if (s.count == 0) {
        s.leaf[0] = own != Domain::none ? own
                                        : nearest_pixel(domain, static_cast<int>(std::floor(v[0])),
                                                        static_cast<int>(std::floor(v[1])));
        if (s.leaf[0] == Domain::none) return s;
        s.share[0] = total = 1;
        s.count = 1;
    }
    for (int k = 0; k < s.count; ++k) s.share[k] /= total;
    return s;
}

LeafStencil own_leaf(const Domain& domain, const Vec3& position) {
    LeafStencil s;
    const Point3 v = to_voxels(domain.transform, position);
    const double r = domain.transform.resolution, depth = domain.transform.depth();
    if (!(v[0] >= 0 && v[0] < r && v[1] >= 0 && v[1] < r && v[2] >= 0 && v[2] < depth)) return s;
    s.leaf[0] = domain.leaf_at(static_cast<int>(v[0]), static_cast<int>(v[1]), static_cast<int>(v[2]));
    s.share[0] = 1;
    s.count = s.leaf[0] != Domain::none;
    return s;
}

}  // namespace sinew
