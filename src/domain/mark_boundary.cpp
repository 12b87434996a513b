// Boundary voxels of a triangle, by the shape of its box: rows, layers, small boxes of at most 2 x 2 x 2 voxels,
// and all others (Dionne and de Lasa 2014, section 5.1; triangle against voxel: triangle_voxel.h).
#include "domain/mark_boundary.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "core/branchless.h"
#include "domain/triangle_voxel.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

// The voxels that the bounding box of a triangle touches.
struct VoxelBox {
    int low[3], high[3];
    int wide_axes = 0;  // axes along which it has more than one voxel
    bool small = true;  // at most two voxels along each axis

    VoxelBox(const BitGrid& grid, const LatticePoint* p) {
        for (int a = 0; a < 3; ++a) {
            const auto [least, most] = range_of(p[0].c[a], p[1].c[a], p[2].c[a]);
            low[a] = std::max(0, (least - 1) >> kVoxelBits);
            high[a] = std::min((a == 2 ? grid.layers() : grid.resolution()) - 1, most >> kVoxelBits);
            wide_axes += high[a] > low[a];
            small &= high[a] <= low[a] + 1;
        }
    }
};

// Bits of a word for voxels first to last of a row, which lie in one word.
std::uint64_t bits_of(int first, int last) {
    return (~std::uint64_t{0} << (first & 63)) & (~std::uint64_t{0} >> (63 - (last & 63)));
}

// Whether all voxels of a box are set already. Another thread may be setting them.
bool all_set(BitGrid& grid, const VoxelBox& box) {
    const int *const low = box.low, *const high = box.high;
    const auto word_at = [&](int x, int y, int z) {
        return std::atomic_ref<std::uint64_t>(grid.words()[grid.index(x, y, z)]).load(std::memory_order_relaxed);
    };
    const auto one_or_two = [&](int axis) { return high[axis] == low[axis] || high[axis] == low[axis] + 1; };
    if ((low[0] >> 6) == (high[0] >> 6) && one_or_two(1) && one_or_two(2)) {
        // Nearly all boxes. Always four rows, some of them repeated: the number of rows is unpredictable.
        const std::uint64_t set = word_at(low[0], low[1], low[2]) & word_at(low[0], high[1], low[2]) &
                                  word_at(low[0], low[1], high[2]) & word_at(low[0], high[1], high[2]);
        return (bits_of(low[0], high[0]) & ~set) == 0;
    }
    for (int z = low[2]; z <= high[2]; ++z)
        for (int y = low[1]; y <= high[1]; ++y)
            for (int x = low[0]; x <= high[0]; x = (x | 63) + 1) {
                if (bits_of(x, std::min(high[0], x | 63)) & ~word_at(x, y, z)) return false;
            }
    return true;
}

// Whether any block is set that contains voxels of a box.
bool any_block(const BitGrid& blocks, const VoxelBox& box) {
    constexpr int side = BitGrid::kBlock;
    for (int z = box.low[2] / side; z <= box.high[2] / side; ++z)
        for (int y = box.low[1] / side; y <= box.high[1] / side; ++y)
            for (int x = box.low[0] / side; x <= box.high[0] / side; ++x)
                if (blocks.get(x, y, z)) return true;
    return false;
}

// Sets voxels of a grid that other threads set too.
class Marker {
public:
    explicit Marker(BitGrid& grid) : grid_(grid), blocks_(grid.region().blocks.get()) {}

    const BitGrid* blocks() const { return blocks_; }
    void mark(int x, int y, int z) const {
        constexpr int side = BitGrid::kBlock;
        if (!blocks_ || blocks_->get(x / side, y / side, z / side)) mark_row(x, y, z, 1);
    }
    // Sets voxels of a row from x on, by the bits of `row`; they lie in one word. Blocks are ignored.
    void mark_row(int x, int y, int z, std::uint64_t row) const {
        std::atomic_ref<std::uint64_t> word(grid_.words()[grid_.index(x, y, z)]);
        const std::uint64_t bits = row << (x & 63);
        if (bits & ~word.load(std::memory_order_relaxed)) word.fetch_or(bits, std::memory_order_relaxed);
    }

private:
    BitGrid& grid_;
    const BitGrid* blocks_;
};

// At most 2 x 2 x 2 voxels, as most triangles of a dense mesh have.
void mark_small_box(const Marker& marker, const VoxelBox& box, const LatticePoint* p, const std::int64_t* n) {
    const int *const low = box.low, *const high = box.high;
    const auto in_box = [&](int a, unsigned first_half) { return high[a] > low[a] ? 255 : first_half; };
    unsigned touched = touched_of_eight(p, low, n) & in_box(0, 0x55) & in_box(1, 0x33) & in_box(2, 0x0f);
    if (marker.blocks() || (low[0] & 63) == 63) {
        for (; touched; touched &= touched - 1) {
            const int k = std::countr_zero(touched);
            marker.mark(low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2));
        }
        return;
    }
    for (int z = low[2]; z <= high[2]; ++z)
        for (int y = low[1]; y <= high[1]; ++y)
            marker.mark_row(low[0], y, z, touched >> (2 * (y - low[1]) + 4 * (z - low[2])) & 3);
}

// A row of voxels: the triangle passes each of them.
void mark_row_box(const Marker& marker, const VoxelBox& box) {
    for (int z = box.low[2]; z <= box.high[2]; ++z)
        for (int y = box.low[1]; y <= box.high[1]; ++y)
            for (int x = box.low[0]; x <= box.high[0]; ++x) marker.mark(x, y, z);
}

// A layer of voxels that contains the whole triangle: its shadow decides.
void mark_layer_box(const Marker& marker, const VoxelBox& box, const LatticePoint* p, const std::int64_t* n) {
    const int *const low = box.low, *const high = box.high;
    const int w = low[0] == high[0] ? 0 : low[1] == high[1] ? 1 : 2, u = (w + 1) % 3, v = (w + 2) % 3;
    const Shadow uv(p, u, v, n[w]);
    int q[3];
    q[w] = low[w];
    for (q[v] = low[v]; q[v] <= high[v]; ++q[v])
        for (q[u] = low[u]; q[u] <= high[u]; ++q[u])
            if (uv.touches(std::int64_t{q[u]} * kVoxel, std::int64_t{q[v]} * kVoxel)) marker.mark(q[0], q[1], q[2]);
}

// Any box: walks columns along the axis that the triangle faces most, so that a column meets few voxels of the
// plane.
void mark_columns(const Marker& marker, const VoxelBox& box, const LatticePoint* p, const std::int64_t* n) {
    const FacedPlane plane(p, n);
    const int w = plane.w, u = plane.u, v = plane.v;
    const Shadow uv(p, u, v, n[w]), vw(p, v, w, n[u]), wu(p, w, u, n[v]);
    int q[3];
    for (q[v] = box.low[v]; q[v] <= box.high[v]; ++q[v]) {
        for (q[u] = box.low[u]; q[u] <= box.high[u]; ++q[u]) {
            const std::int64_t cu = std::int64_t{q[u]} * kVoxel, cv = std::int64_t{q[v]} * kVoxel;
            if (!uv.touches(cu, cv)) continue;
            int first = box.low[w], last = box.high[w];
            if (plane.exists()) {
                const auto [low, high] = plane.range_over(cu, cv);
                first = std::max<int>(first, static_cast<int>(floor_div(low - 1, kVoxel)));
                last = std::min<int>(last, static_cast<int>(floor_div(high, kVoxel)));
            }
            for (q[w] = first; q[w] <= last; ++q[w]) {
                const std::int64_t cw = std::int64_t{q[w]} * kVoxel;
                if (vw.touches(cv, cw) && wu.touches(cw, cu)) marker.mark(q[0], q[1], q[2]);
            }
        }
    }
}

}  // namespace

void mark_boundary(BitGrid& grid, const LatticePoint* p) {
    const VoxelBox box(grid, p);
    const Marker marker(grid);
    if (marker.blocks() && !any_block(*marker.blocks(), box)) return;
    // On a dense mesh, most triangles lie in voxels that other triangles have set.
    if (all_set(grid, box)) return;
    const std::array<std::int64_t, 3> n = normal_of(p);
    if (box.small && n[0] != 0 && n[1] != 0 && n[2] != 0)
        mark_small_box(marker, box, p, n.data());
    else if (box.wide_axes <= 1)
        mark_row_box(marker, box);
    else if (box.wide_axes == 2)
        mark_layer_box(marker, box, p, n.data());
    else
        mark_columns(marker, box, p, n.data());
}

}  // namespace sinew
