// The uniform voxelization of Dionne and de Lasa (2014, section 5.1): boundary voxels, the vote of three view pairs
// (by columns or by slices), and winding numbers where it is undecided.
//
// Boundary voxels: triangle against box by separating axes (Akenine-Möller 2001), arranged as three projections
// and the plane (Schwarz and Seidel 2010).
//
// Everything is decided in integers on positions snapped to 1/512 voxel, so no epsilon is needed.

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/branchless.h"
#include "core/large_pages.h"
#include "core/parallel.h"
#include "core/processor.h"
#include "domain/lattice.h"

namespace sinew {
namespace {

struct Fitted {
    GridTransform grid;
    BitGrid::Region used;  // layers that the box touches, and some more on either side
};
// A grid around the box of the vertices that are marked.
Fitted fit(const MeshView& mesh, std::span<const std::uint8_t> marked, int resolution, int layers,
           Context* context) {
    struct Box {
        float least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
    };
    constexpr std::size_t grain = 65536;
    std::vector<Box> boxes((mesh.positions.size() + grain - 1) / grain);
    parallel_chunks(context, mesh.positions.size(), grain,
                    [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                        Box box;
                        for (std::size_t v = begin; v < end; ++v) {
                            if (!marked[v]) continue;
                            const Vec3& p = mesh.positions[v];
                            const float c[3] = {p.x, p.y, p.z};
                            for (int a = 0; a < 3; ++a) {
                                box.least[a] = std::min(box.least[a], c[a]);
                                box.most[a] = std::max(box.most[a], c[a]);
                            }
                        }
                        boxes[chunk] = box;
                    });
    Box all;
    for (const Box& box : boxes)
        for (int a = 0; a < 3; ++a) {
            all.least[a] = std::min(all.least[a], box.least[a]);
            all.most[a] = std::max(all.most[a], box.most[a]);
        }
    const auto& least = all.least;
    const auto& most = all.most;
    const double low[3] = {least[0], least[1], least[2]}, high[3] = {most[0], most[1], most[2]};
    GridTransform g;
    g.resolution = resolution;
    g.unit = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
    g.voxel = g.unit / (resolution - 2.5);
    g.layers = layers;
    for (int a = 0; a < 3; ++a) {
        const int before = (a == 2 ? g.depth() : resolution) / 2;
        g.origin[a] = 0.5 * (low[a] + high[a]) - (before + 0.5) * g.voxel;
    }
    // Nothing along z, or not a number, where the box is a point: that is an error of whoever asked.
    const double thick = g.unit > 0 ? (high[2] - low[2]) / g.voxel : 0;
    const int middle = g.depth() / 2, half = static_cast<int>(0.5 * thick) + 3;
    return {g, {std::max(0, middle - half), std::min(g.depth(), middle + half + 1)}};
}

// Sets the voxels from x on that `row` has bits of, which lie in one word. Another thread may be setting it, too.
void set_shared(BitGrid& grid, int x, int y, int z, std::uint64_t row = 1) {
    std::atomic_ref<std::uint64_t> word(grid.words()[grid.index(x, y, z)]);
    const std::uint64_t bits = row << (x & 63);
    if (bits & ~word.load(std::memory_order_relaxed)) word.fetch_or(bits, std::memory_order_relaxed);
}

// A triangle seen along one axis: does its shadow touch the square [u, u + kVoxel] x [v, v + kVoxel]?
class Shadow {
public:
    // `area` is twice the signed area of the shadow.
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

// Of a box of at most 2³ voxels, as most triangles of a dense mesh have, which ones its triangle touches: all
// separating axes for all voxels at once, without a branch.
class TouchedOfEight {
public:
    /// For triangles that no axis sees edge-on: no component of the normal n is 0. Their corners lie no further
    /// than two voxels from those of voxel `low`. Bit x + 2 y + 4 z: voxel low + (x, y, z).
    static unsigned of(const LatticePoint* p, const int* low, const std::int64_t* n) {
        static const Of best_touched = best();
        return best_touched(p, low, n);
    }

private:
    using Eight = std::int32_t __attribute__((vector_size(32)));
    using Four = std::int64_t __attribute__((vector_size(32)));

    [[gnu::always_inline]] static unsigned touched(const LatticePoint* p, const int* low, const std::int64_t* n) {
        // What is linear in a voxel's place is that at `low`, and for some lanes a step more along each axis.
        constexpr Eight far[3] = {
            {0, -1, 0, -1, 0, -1, 0, -1}, {0, 0, -1, -1, 0, 0, -1, -1}, {0, 0, 0, 0, -1, -1, -1, -1}};
        std::int32_t c[3][3];  // 11 bits
        for (int k = 0; k < 3; ++k)
            for (int a = 0; a < 3; ++a) c[k][a] = p[k].c[a] - low[a] * kVoxel;
        // As Shadow: an edge's inward normal, at the corner of the square that is furthest inwards.
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
        // The plane, seen along the axis that it faces most: the least and the most of w over a square, rounded
        // outwards to the lattice as in mark_boundary, against the voxel's.
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
    using Of = unsigned (*)(const LatticePoint*, const int*, const std::int64_t*);
    static unsigned plain(const LatticePoint* p, const int* low, const std::int64_t* n) {
        return touched(p, low, n);
    }
#if defined(SINEW_VECTORS)
    SINEW_FOR_AVX2 static unsigned avx2(const LatticePoint* p, const int* low, const std::int64_t* n) {
        return touched(p, low, n);
    }
    static Of best() { return best_of(plain, avx2, avx2); }
#else
    static Of best() { return plain; }
#endif
};

// Whether all voxels of a box are set already. Another thread may be setting them.
bool all_set(BitGrid& grid, const int* low, const int* high) {
    const auto word_at = [&](int x, int y, int z) {
        return std::atomic_ref<std::uint64_t>(grid.words()[grid.index(x, y, z)]).load(std::memory_order_relaxed);
    };
    const auto bits = [](int first, int last) {  // of one word
        return (~std::uint64_t{0} << (first & 63)) & (~std::uint64_t{0} >> (63 - (last & 63)));
    };
    const auto one_or_two = [&](int axis) { return high[axis] == low[axis] || high[axis] == low[axis] + 1; };
    if ((low[0] >> 6) == (high[0] >> 6) && one_or_two(1) && one_or_two(2)) {
        // Nearly all, and how many rows they have nobody could foretell: always four.
        const std::uint64_t set = word_at(low[0], low[1], low[2]) & word_at(low[0], high[1], low[2]) &
                                  word_at(low[0], low[1], high[2]) & word_at(low[0], high[1], high[2]);
        return (bits(low[0], high[0]) & ~set) == 0;
    }
    for (int z = low[2]; z <= high[2]; ++z)
        for (int y = low[1]; y <= high[1]; ++y)
            for (int x = low[0]; x <= high[0]; x = (x | 63) + 1) {
                if (bits(x, std::min(high[0], x | 63)) & ~word_at(x, y, z)) return false;
            }
    return true;
}

// Whether any block is set that has voxels of a box.
bool any_block(const BitGrid& blocks, const int* low, const int* high) {
    constexpr int side = BitGrid::kBlock;
    for (int z = low[2] / side; z <= high[2] / side; ++z)
        for (int y = low[1] / side; y <= high[1] / side; ++y)
            for (int x = low[0] / side; x <= high[0] / side; ++x)
                if (blocks.get(x, y, z)) return true;
    return false;
}

void mark_boundary(BitGrid& grid, const LatticePoint* p) {
    const int r = grid.resolution();
    const BitGrid* blocks = grid.region().blocks.get();
    int low[3], high[3];
    int wide_axes = 0;
    bool small = true;
    for (int a = 0; a < 3; ++a) {
        // Boxes are closed: a point on a border touches both voxels.
        const auto [least, most] = range_of(p[0].c[a], p[1].c[a], p[2].c[a]);
        low[a] = std::max(0, (least - 1) >> kVoxelBits);
        high[a] = std::min((a == 2 ? grid.layers() : r) - 1, most >> kVoxelBits);
        wide_axes += high[a] > low[a];
        small &= high[a] <= low[a] + 1;
    }
    if (blocks && !any_block(*blocks, low, high)) return;
    // On a dense mesh most triangles lie where others have been.
    if (all_set(grid, low, high)) return;
    const auto mark = [&](int x, int y, int z) {
        constexpr int side = BitGrid::kBlock;
        if (!blocks || blocks->get(x / side, y / side, z / side)) set_shared(grid, x, y, z);
    };
    std::int64_t e1[3], e2[3], n[3];
    for (int a = 0; a < 3; ++a) {
        e1[a] = p[1].c[a] - p[0].c[a];
        e2[a] = p[2].c[a] - p[0].c[a];
    }
    for (int a = 0; a < 3; ++a) n[a] = e1[(a + 1) % 3] * e2[(a + 2) % 3] - e1[(a + 2) % 3] * e2[(a + 1) % 3];
    if (small && n[0] != 0 && n[1] != 0 && n[2] != 0) {
        const auto of_axis = [&](int a, unsigned near) { return high[a] > low[a] ? 255 : near; };
        unsigned touched = TouchedOfEight::of(p, low, n) & of_axis(0, 0x55) & of_axis(1, 0x33) & of_axis(2, 0x0f);
        if (blocks || (low[0] & 63) == 63) {
            for (; touched; touched &= touched - 1) {
                const int k = std::countr_zero(touched);
                mark(low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2));
            }
            return;
        }
        for (int z = low[2]; z <= high[2]; ++z)
            for (int y = low[1]; y <= high[1]; ++y)
                set_shared(grid, low[0], y, z, touched >> (2 * (y - low[1]) + 4 * (z - low[2])) & 3);
        return;
    }
    if (wide_axes <= 1) {  // a row of voxels, each of which the triangle must pass
        for (int z = low[2]; z <= high[2]; ++z)
            for (int y = low[1]; y <= high[1]; ++y)
                for (int x = low[0]; x <= high[0]; ++x) mark(x, y, z);
        return;
    }

    if (wide_axes == 2) {  // a layer of voxels, in which the triangle lies whole: its shadow decides
        const int w = low[0] == high[0] ? 0 : low[1] == high[1] ? 1 : 2, u = (w + 1) % 3, v = (w + 2) % 3;
        const Shadow uv(p, u, v, n[w]);
        int q[3];
        q[w] = low[w];
        for (q[v] = low[v]; q[v] <= high[v]; ++q[v])
            for (q[u] = low[u]; q[u] <= high[u]; ++q[u])
                if (uv.touches(std::int64_t{q[u]} * kVoxel, std::int64_t{q[v]} * kVoxel)) mark(q[0], q[1], q[2]);
        return;
    }

    // Walk columns along the axis that the triangle faces most: a column then meets few voxels of its plane.
    int w = 0;
    for (int a = 1; a < 3; ++a)
        if (std::abs(n[a]) > std::abs(n[w])) w = a;
    const int u = (w + 1) % 3, v = (w + 2) % 3;
    const Shadow uv(p, u, v, n[w]), vw(p, v, w, n[u]), wu(p, w, u, n[v]);
    const std::int64_t nw = std::abs(n[w]), sign = n[w] < 0 ? -1 : 1;
    const std::int64_t nu = sign * n[u], nv = sign * n[v];
    int q[3];
    for (q[v] = low[v]; q[v] <= high[v]; ++q[v]) {
        for (q[u] = low[u]; q[u] <= high[u]; ++q[u]) {
            const std::int64_t cu = std::int64_t{q[u]} * kVoxel, cv = std::int64_t{q[v]} * kVoxel;
            if (!uv.touches(cu, cv)) continue;
            int first = low[w], last = high[w];
            if (nw != 0) {
                // Plane: nu (x - p0)_u + nv (x - p0)_v + nw (x - p0)_w = 0; its range of w over the square.
                const std::int64_t at = nu * (cu - p[0].c[u]) + nv * (cv - p[0].c[v]);
                const std::int64_t least =
                    at + std::min<std::int64_t>(nu, 0) * kVoxel + std::min<std::int64_t>(nv, 0) * kVoxel;
                const std::int64_t most =
                    at + std::max<std::int64_t>(nu, 0) * kVoxel + std::max<std::int64_t>(nv, 0) * kVoxel;
                const std::int64_t w_low = p[0].c[w] + floor_div(-most, nw);
                const std::int64_t w_high = p[0].c[w] - floor_div(least, nw);
                first = std::max<int>(first, static_cast<int>(floor_div(w_low - 1, kVoxel)));
                last = std::min<int>(last, static_cast<int>(floor_div(w_high, kVoxel)));
            }
            for (q[w] = first; q[w] <= last; ++q[w]) {
                const std::int64_t cw = std::int64_t{q[w]} * kVoxel;
                if (vw.touches(cv, cw) && wu.touches(cw, cu)) mark(q[0], q[1], q[2]);
            }
        }
    }
}

}  // namespace

Status check(const VoxelizeOptions& options) {
    const int r = options.resolution;
    if (r < 32 || r > 1024 || !std::has_single_bit(static_cast<unsigned>(r))) {
        return Error{ErrorCode::usage,
                     "resolution " + std::to_string(r) + " is not a power of two from 32 to 1024 (try 256)"};
    }
    if (options.voxelizer == Voxelizer::hardware) return check_slices();
    return Done{};
}

Lattice make_lattice(const GridTransform& g, const MeshView& mesh, const std::vector<bool>* turned,
                     Context* context) {
    Lattice lattice;
    lattice.resolution = g.resolution;
    lattice.used = {0, g.depth()};
    lattice.triangles = mesh.triangles;
    lattice.turned = turned;
    lattice.points.resize(mesh.positions.size());
    const double scale = kVoxel / g.voxel, end = double{kVoxel} * g.resolution;
    parallel_for(context, mesh.positions.size(), 8192, [&](std::size_t v) {
        const Vec3& p = mesh.positions[v];
        const double c[3] = {p.x, p.y, p.z};
        // Only vertices of no triangle lie outside, and they may be anywhere.
        for (int a = 0; a < 3; ++a) {
            const double at = std::clamp((c[a] - g.origin[a]) * scale, 0.0, end);
            lattice.points[v].c[a] = static_cast<std::int32_t>(at + 0.5);  // as lround does, where positive
        }
    });
    return lattice;
}

BitGrid::BitGrid(int resolution, int layers)
    : r_(resolution), layers_(layers), wpr_((resolution + 63) / 64), region_{0, layers} {
    const std::size_t count = static_cast<std::size_t>(layers) * resolution * wpr_;
    words_ = {static_cast<std::uint64_t*>(take_zeros(count * sizeof(std::uint64_t))), WordsDeleter{count}};
}

BitGrid::BitGrid(const BitGrid& other) : BitGrid(other.r_, other.layers_) {
    restrict_to(other.region());
    for (int z = 0; z < layers_; ++z)
        each_word_range(z, [&](std::size_t first, std::size_t end) {
            for (std::size_t k = first; k < end; ++k)
                if (other.words_[k]) words_[k] = other.words_[k];
        });
}

BitGrid& BitGrid::operator=(BitGrid other) noexcept {
    std::swap(r_, other.r_);
    std::swap(layers_, other.layers_);
    std::swap(wpr_, other.wpr_);
    std::swap(region_, other.region_);
    words_.swap(other.words_);
    return *this;
}

void BitGrid::WordsDeleter::operator()(std::uint64_t* words) const {
    give_zeros_back(words, count * sizeof(std::uint64_t));
}

std::size_t BitGrid::count(Context* context) const {
    std::vector<std::size_t> counts(static_cast<std::size_t>(layers_), 0);
    parallel_for(context, counts.size(), 4, [&](std::size_t z) {
        std::size_t n = 0;
        each_word_range(static_cast<int>(z), [&](std::size_t first, std::size_t end) {
            for (std::size_t k = first; k < end; ++k)
                if (words_[k]) n += static_cast<std::size_t>(std::popcount(words_[k]));
        });
        counts[z] = n;
    });
    std::size_t n = 0;
    for (const std::size_t count : counts) n += count;
    return n;
}

Result<VoxelGrid> pixel_grid(const MeshView& flat, int resolution, Context* context) {
    if (resolution < 32 || resolution > most_pixels || !std::has_single_bit(static_cast<unsigned>(resolution)))
        return Error{ErrorCode::usage, "resolution " + std::to_string(resolution) +
                                           " must be a power of two from 32 to " + std::to_string(most_pixels)};
    std::vector<Vec3> positions(flat.positions.begin(), flat.positions.end());
    for (Vec3& p : positions) p.z = 0;
    const MeshView mesh{positions, flat.triangles, {}};
    VoxelGrid grid;
    std::vector<std::uint8_t> at_triangle(positions.size(), 0);
    for (const Triangle& t : mesh.triangles)
        for (const std::uint32_t v : t) at_triangle[v] = 1;
    grid.transform = fit(mesh, at_triangle, resolution, 1, context).grid;
    if (!(grid.transform.unit > 0))
        return Error{ErrorCode::input, "all triangles lie in one point: the mesh has no extent"};
    grid.boundary = grid.interior = BitGrid(resolution, 1);
    // Edges of shadows have 22 bits here and the only component of the normal 43: still exact in 64.
    const Lattice lattice = make_lattice(grid.transform, mesh, nullptr, context);
    parallel_for(context, mesh.triangles.size(), 4096,
                 [&](std::size_t t) { mark_boundary(grid.interior, lattice.outward(t).data()); });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while rasterising"};
    return grid;
}

Result<VoxelGrid> pixel_grid(const PixelMask& mask) {
    const std::string size = std::to_string(mask.width) + " x " + std::to_string(mask.height);
    if (mask.width < 1 || mask.height < 1 || mask.width > most_pixels || mask.height > most_pixels)
        return Error{ErrorCode::usage,
                     "a mask of " + size + " pixels: each side must have 1 to " + std::to_string(most_pixels)};
    const auto width = static_cast<std::size_t>(mask.width);
    if (mask.inside.size() != width * static_cast<std::size_t>(mask.height))
        return Error{ErrorCode::usage, "a mask of " + size + " pixels has " + std::to_string(mask.inside.size()) +
                                           " entries: there must be one for each"};
    if (!(mask.pixel > 0 && std::isfinite(mask.pixel) && std::isfinite(mask.origin[0]) &&
          std::isfinite(mask.origin[1])))
        return Error{ErrorCode::usage, "a mask's pixel must have a size above 0, and its corner a finite place"};
    VoxelGrid grid;
    GridTransform& g = grid.transform;
    g.resolution =
        std::max(32, static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(mask.width, mask.height)))));
    g.layers = 1;
    g.voxel = mask.pixel;
    g.unit = mask.pixel * std::max(mask.width, mask.height);
    g.origin[0] = mask.origin[0];
    g.origin[1] = mask.origin[1];
    g.origin[2] = -0.5 * mask.pixel;
    grid.boundary = grid.interior = BitGrid(g.resolution, 1);
    for (int y = 0; y < mask.height; ++y)
        for (int x = 0; x < mask.width; ++x)
            if (mask.inside[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)])
                grid.interior.set(x, y, 0);
    return grid;
}

namespace {

// Blocks that a place touches.
BitGrid fine_blocks(const GridTransform& grid, std::span<const FinePlace> places) {
    constexpr int side = BitGrid::kBlock;
    const int n = grid.resolution / side;
    BitGrid fine(n);
    for (const FinePlace& place : places) {
        int low[3], high[3];
        for (std::size_t k = 0; k < 3; ++k) {
            const double at = (place.at[k] - grid.origin[k]) / grid.voxel, reach = place.radius / grid.voxel;
            low[k] = static_cast<int>(std::clamp((at - reach) / side, 0.0, n - 1.0));
            high[k] = static_cast<int>(std::clamp((at + reach) / side, 0.0, n - 1.0));
        }
        for (int z = low[2]; z <= high[2]; ++z)
            for (int y = low[1]; y <= high[1]; ++y)
                for (int x = low[0]; x <= high[0]; ++x) fine.set(x, y, z);
    }
    return fine;
}

// The voxels of blocks of 8³: of a row of blocks, as bits of a word of voxels that are 8 >> `halvings` along a
// block.
std::uint64_t voxels_in(const BitGrid& blocks, int k, int y, int z, int halvings) {
    const int side = BitGrid::kBlock >> halvings, in_word = 64 / side;
    std::uint64_t left = blocks.words()[blocks.index(in_word * k, y / side, z / side)] >> (in_word * k & 63);
    if (in_word < 64) left &= (std::uint64_t{1} << in_word) - 1;
    std::uint64_t voxels = 0;
    for (; left; left &= left - 1) voxels |= ((std::uint64_t{1} << side) - 1) << (side * std::countr_zero(left));
    return voxels;
}

// What lies in blocks, or outside of them, is no longer set.
void clear(BitGrid& grid, const BitGrid& blocks, bool inside, Context* context) {
    const int halvings =
        std::countr_zero(static_cast<unsigned>(BitGrid::kBlock * blocks.resolution() / grid.resolution()));
    const BitGrid::Region& used = grid.region();
    parallel_for(context, static_cast<std::size_t>(used.end - used.first), 8, [&](std::size_t at) {
        const int z = used.first + static_cast<int>(at);
        for (int y = 0; y < grid.resolution(); ++y)
            for (int k = 0; k < grid.words_per_row(); ++k) {
                std::uint64_t& word = grid.words()[grid.index(64 * k, y, z)];
                if (word == 0) continue;
                const std::uint64_t there = voxels_in(blocks, k, y, z, halvings);
                if (const std::uint64_t left = word & (inside ? ~there : there); left != word) word = left;
            }
    });
}

// The voxels of one size.
struct Voxels {
    GridTransform transform;
    BitGrid boundary, interior, ambiguous;
    std::size_t ambiguous_inside = 0;
};

Result<Voxels> vote(const GridTransform& transform, const BitGrid::Region& used, const MeshView& mesh,
                    const MeshTopology& topology, const VoxelizeOptions& options, Context* context) {
    Lattice lattice = make_lattice(transform, mesh, options.repair_facing ? &topology.turned : nullptr, context);
    lattice.used = used;
    Voxels voxels{transform, BitGrid(transform.resolution), {}, {}};
    voxels.boundary.restrict_to(used);
    parallel_for(context, mesh.triangles.size(), 4096, [&](std::size_t t) {
        lattice.soon(t);
        mark_boundary(voxels.boundary, lattice.outward(t).data());
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while voxelizing"};

    const bool slices = options.voxelizer == Voxelizer::hardware;
    Result<PairVotes> votes = slices ? vote_by_slices(lattice, context) : vote_by_columns(lattice, context);
    if (!votes) return votes.error();
    PairVotes& inside = *votes;

    // Votes, 64 voxels at a time; interior takes the place of the first axis, ambiguous of the second.
    for (BitGrid& of_axis : inside) {
        if (slices && used.blocks) clear(of_axis, *used.blocks, false, context);
        of_axis.restrict_to(used);
    }
    const auto a = inside[0].words(), b = inside[1].words(), c = inside[2].words(), edge = voxels.boundary.words();
    parallel_for(context, static_cast<std::size_t>(transform.resolution), 4, [&](std::size_t z) {
        voxels.boundary.each_word_range(static_cast<int>(z), [&](std::size_t first, std::size_t end) {
            for (std::size_t k = first; k < end; ++k) {
                if (!(a[k] | b[k] | c[k])) continue;
                const std::uint64_t two = (a[k] & b[k]) | (a[k] & c[k]) | (b[k] & c[k]);
                const std::uint64_t one = (a[k] | b[k] | c[k]) & ~two;
                a[k] = two & ~edge[k];
                b[k] = one & ~edge[k];
            }
        });
    });
    voxels.interior = std::move(inside[0]);
    voxels.ambiguous = std::move(inside[1]);
    return voxels;
}

// Which of the ambiguous voxels are inside goes to the interior, by winding number.
//
// No triangle passes between the centres of two neighbours that are not boundary, so a winding number changes
// little among ambiguous voxels beside each other (not at all in a closed mesh): one answer serves a run of up to
// eight, of two rows by two where all four have it.
void settle_ambiguous(std::span<Voxels> sizes, const MeshView& mesh, const std::vector<bool>& turned,
                      Context* context) {
    struct Run {
        Voxels* voxels;
        std::array<std::size_t, 4> word;
        int rows;
        std::uint64_t bits;  // within them
    };
    std::vector<Run> runs;
    std::vector<Vec3> points;
    for (Voxels& voxels : sizes) {
        const GridTransform& g = voxels.transform;
        const BitGrid& ambiguous = voxels.ambiguous;
        const auto add_runs = [&](const std::array<std::size_t, 4>& word, int rows, std::uint64_t left, int k,
                                  double y, double z) {
            while (left) {
                const int first = std::countr_zero(left);
                const int length = std::min({std::countr_one(left >> first), 8, 64 - first});
                const std::uint64_t bits = ((std::uint64_t{1} << length) - 1) << first;
                left &= ~bits;
                const int x = 64 * k + first + (length - 1) / 2;
                runs.push_back({&voxels, word, rows, bits});
                points.push_back({static_cast<float>(g.origin[0] + (x + 0.5) * g.voxel),
                                  static_cast<float>(g.origin[1] + y * g.voxel),
                                  static_cast<float>(g.origin[2] + z * g.voxel)});
            }
        };
        for (int z = ambiguous.region().first & ~1; z < ambiguous.region().end; z += 2)
            for (int y = 0; y < g.resolution; y += 2)
                for (int k = 0; k < ambiguous.words_per_row(); ++k) {
                    if (!ambiguous.word_in_region(k, y, z)) continue;
                    std::array<std::size_t, 4> word{};
                    std::uint64_t all = ~std::uint64_t{0}, any = 0;
                    for (std::size_t row = 0; row < 4; ++row) {
                        word[row] =
                            ambiguous.index(64 * k, y + static_cast<int>(row & 1), z + static_cast<int>(row >> 1));
                        all &= ambiguous.words()[word[row]];
                        any |= ambiguous.words()[word[row]];
                    }
                    if (any == 0) continue;
                    add_runs(word, 4, all, k, y + 1, z + 1);
                    for (std::size_t row = 0; row < 4; ++row)
                        add_runs({word[row]}, 1, ambiguous.words()[word[row]] & ~all, k,
                                 y + static_cast<double>(row & 1) + 0.5, z + static_cast<double>(row >> 1) + 0.5);
                }
    }
    const std::vector<float> winding = winding_numbers(mesh, turned, points, context);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (winding[i] <= 0.5f) continue;
        Voxels& voxels = *runs[i].voxels;
        for (std::size_t row = 0; row < static_cast<std::size_t>(runs[i].rows); ++row) {
            const std::size_t at = runs[i].word[row];
            const std::uint64_t bits = voxels.ambiguous.words()[at] & runs[i].bits;
            voxels.interior.words()[at] |= bits;
            voxels.ambiguous_inside += static_cast<std::size_t>(std::popcount(bits));
        }
    }
}

}  // namespace

Result<VoxelGrid> voxelize(const MeshView& mesh, const MeshTopology& topology, const VoxelizeOptions& options,
                           Context* context, std::span<const FinePlace> fine) {
    if (Status ok = check(options); !ok) return ok.error();
    const int r = options.resolution;
    if (!fine.empty() && r < 64)
        return Error{ErrorCode::usage, "local resolution takes 64 or more in its fine blocks"};
    const auto [transform, used] = fit(mesh, topology.at_triangle, r, r, context);
    if (!(transform.unit > 0)) {
        return Error{ErrorCode::input, "all triangles lie in one point: the mesh has no extent"};
    }
    std::vector<Voxels> sizes;  // the finest first
    const auto add = [&](const GridTransform& of_size, const BitGrid::Region& where) -> Status {
        Result<Voxels> voxels = vote(of_size, where, mesh, topology, options, context);
        if (!voxels) return voxels.error();
        sizes.push_back(std::move(*voxels));
        return Done{};
    };
    if (fine.empty()) {
        if (Status added = add(transform, used); !added) return added.error();
    } else {
        const auto blocks = std::make_shared<const BitGrid>(fine_blocks(transform, fine));
        if (Status added = add(transform, {used.first, used.end, blocks}); !added) return added.error();
        GridTransform coarse = transform;
        coarse.resolution /= 2;
        coarse.layers /= 2;
        coarse.voxel *= 2;
        if (Status added = add(coarse, {used.first / 2, (used.end + 1) / 2}); !added) return added.error();
        for (BitGrid* of_coarse : {&sizes[1].boundary, &sizes[1].interior, &sizes[1].ambiguous})
            clear(*of_coarse, *blocks, true, context);
    }

    VoxelGrid grid;
    grid.transform = transform;
    const auto sum = [&](auto&& of) { return of(sizes[0]) + (sizes.size() > 1 ? 8 * of(sizes[1]) : 0); };
    grid.ambiguous = sum([&](const Voxels& voxels) { return voxels.ambiguous.count(context); });
    if (grid.ambiguous > 0 && options.winding_numbers) {
        const std::vector<bool> as_given(options.repair_facing ? 0 : mesh.triangles.size(), false);
        settle_ambiguous(sizes, mesh, options.repair_facing ? topology.turned : as_given, context);
    }
    grid.ambiguous_inside = sum([](const Voxels& voxels) { return voxels.ambiguous_inside; });
    grid.boundary = std::move(sizes[0].boundary);
    grid.interior = std::move(sizes[0].interior);
    if (options.keep_ambiguous) grid.ambiguous_voxels = std::move(sizes[0].ambiguous);
    if (sizes.size() > 1) {
        grid.coarse_boundary = std::move(sizes[1].boundary);
        grid.coarse_interior = std::move(sizes[1].interior);
    }
    return grid;
}

}  // namespace sinew
