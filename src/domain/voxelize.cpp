// The uniform voxelization of seed 003, section 5.1, without a graphics card.
//
// The paper renders the mesh once per slice and view and asks whether the first surface seen is a back face.
// All slices of a view see the same surfaces, so it is enough to find where each voxel column crosses the mesh:
// between two consecutive crossings nothing changes. A view pair agrees on a gap if the crossing below it
// enters the mesh and the crossing above it leaves the mesh.
//
// Boundary voxels: triangle against box by separating axes (Akenine-Möller 2001), arranged as three projections
// and the plane (Schwarz and Seidel 2010).
//
// Everything is decided in integers on positions snapped to 1/512 voxel. At resolution 1024 a coordinate has 19
// bits, a plane normal 39 and a plane equation 60, so nothing overflows and no epsilon is needed.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/parallel.h"
#include "sinew/domain.h"

namespace sinew {
namespace {

constexpr std::int32_t kVoxel = 512;          // units per voxel
constexpr std::int32_t kCentre = kVoxel / 2;  // a voxel's centre, where columns are sampled

struct Point {
    std::int32_t c[3];
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    const std::int64_t q = a / b;
    return q * b > a ? q - 1 : q;  // b > 0
}

GridTransform fit(const MeshView& mesh, int resolution) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (const Triangle& t : mesh.triangles) {
        for (const std::uint32_t i : t) {
            const Vec3& p = mesh.positions[i];
            const double c[3] = {p.x, p.y, p.z};
            for (int a = 0; a < 3; ++a) {
                low[a] = std::min(low[a], c[a]);
                high[a] = std::max(high[a], c[a]);
            }
        }
    }
    GridTransform g;
    g.resolution = resolution;
    g.unit = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
    g.voxel = g.unit / (resolution - 2.5);
    for (int a = 0; a < 3; ++a) g.origin[a] = 0.5 * (low[a] + high[a]) - (resolution / 2 + 0.5) * g.voxel;
    return g;
}

Point snap(const GridTransform& g, const Vec3& p) {
    const double c[3] = {p.x, p.y, p.z};
    Point q;
    const double scale = kVoxel / g.voxel;
    for (int a = 0; a < 3; ++a) q.c[a] = static_cast<std::int32_t>(std::lround((c[a] - g.origin[a]) * scale));
    return q;
}

void set_shared(BitGrid& grid, int x, int y, int z) {
    std::atomic_ref<std::uint64_t> word(grid.words()[grid.index(x, y, z)]);
    const std::uint64_t bit = std::uint64_t{1} << (x & 63);
    if (!(word.load(std::memory_order_relaxed) & bit)) word.fetch_or(bit, std::memory_order_relaxed);
}

// A triangle seen along one axis: does its shadow touch the square [u, u + kVoxel] x [v, v + kVoxel]?
class Shadow {
public:
    Shadow(const Point* p, int u, int v) {
        const std::int64_t area = std::int64_t{p[1].c[u] - p[0].c[u]} * (p[2].c[v] - p[0].c[v]) -
                                  std::int64_t{p[2].c[u] - p[0].c[u]} * (p[1].c[v] - p[0].c[v]);
        for (int e = 0; e < 3; ++e) {
            const Point &a = p[e], &b = p[(e + 1) % 3];
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

void mark_boundary(BitGrid& grid, const Point* p) {
    const int r = grid.resolution();
    int low[3], high[3];
    int wide_axes = 0;
    for (int a = 0; a < 3; ++a) {
        // Boxes are closed: a point on a border touches both voxels.
        const auto [least, most] = std::minmax({p[0].c[a], p[1].c[a], p[2].c[a]});
        low[a] = std::max(0, static_cast<int>(floor_div(std::int64_t{least} - 1, kVoxel)));
        high[a] = std::min(r - 1, static_cast<int>(floor_div(most, kVoxel)));
        wide_axes += high[a] > low[a];
    }
    if (wide_axes <= 1) {  // a row of voxels, each of which the triangle must pass
        for (int z = low[2]; z <= high[2]; ++z)
            for (int y = low[1]; y <= high[1]; ++y)
                for (int x = low[0]; x <= high[0]; ++x) set_shared(grid, x, y, z);
        return;
    }

    std::int64_t e1[3], e2[3], n[3];
    for (int a = 0; a < 3; ++a) {
        e1[a] = p[1].c[a] - p[0].c[a];
        e2[a] = p[2].c[a] - p[0].c[a];
    }
    for (int a = 0; a < 3; ++a) n[a] = e1[(a + 1) % 3] * e2[(a + 2) % 3] - e1[(a + 2) % 3] * e2[(a + 1) % 3];
    // Walk columns along the axis that the triangle faces most: a column then meets few voxels of its plane.
    int w = 0;
    for (int a = 1; a < 3; ++a)
        if (std::abs(n[a]) > std::abs(n[w])) w = a;
    const int u = (w + 1) % 3, v = (w + 2) % 3;
    const Shadow uv(p, u, v), vw(p, v, w), wu(p, w, u);
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
                if (vw.touches(cv, cw) && wu.touches(cw, cu)) set_shared(grid, q[0], q[1], q[2]);
            }
        }
    }
}

// Where a voxel column meets a triangle, as one sortable number: column, then depth, then leaving before entering
// (so that of two coincident faces back to back the solid below ends before the solid above begins).
using Crossing = std::uint64_t;
constexpr int kDepthBits = 24;
constexpr int kDepthFraction = 4;  // depth is kept 16 times finer than positions

Crossing make_crossing(std::uint32_t column, std::int64_t depth, bool entering) {
    return (Crossing{column} << (kDepthBits + 1)) | (static_cast<Crossing>(depth) << 1) | Crossing{entering};
}
std::uint32_t column_of(Crossing c) { return static_cast<std::uint32_t>(c >> (kDepthBits + 1)); }
std::int64_t depth_of(Crossing c) { return static_cast<std::int64_t>(c >> 1 & ((1u << kDepthBits) - 1)); }
bool enters(Crossing c) { return c & 1; }

// All crossings of columns along axis w, in rows first_row to last_row of them, with one triangle. Columns are
// sampled at voxel centres; a centre exactly on an edge belongs to the triangle for which the edge is a top or left
// one, so a shared edge counts once.
void cross_triangle(std::vector<Crossing>& out, const Point* p, int w, bool turned, int r, int first_row,
                    int last_row) {
    const int u = (w + 1) % 3, v = (w + 2) % 3;
    std::int64_t area = std::int64_t{p[1].c[u] - p[0].c[u]} * (p[2].c[v] - p[0].c[v]) -
                        std::int64_t{p[2].c[u] - p[0].c[u]} * (p[1].c[v] - p[0].c[v]);
    if (area == 0) return;  // seen edge-on
    const Point* t[3] = {&p[0], &p[1], &p[2]};
    // The normal's w component has the sign of the area; a face that looks down the axis is where one enters.
    const bool entering = (area < 0) != turned;
    if (area < 0) {
        std::swap(t[1], t[2]);
        area = -area;
    }
    int low[2], high[2];
    const int axes[2] = {u, v};
    for (int k = 0; k < 2; ++k) {
        const int a = axes[k];
        const auto [least, most] = std::minmax({t[0]->c[a], t[1]->c[a], t[2]->c[a]});
        low[k] = std::max(0, static_cast<int>(-floor_div(-(std::int64_t{least} - kCentre), kVoxel)));
        high[k] = std::min(r - 1, static_cast<int>(floor_div(std::int64_t{most} - kCentre, kVoxel)));
        if (low[k] > high[k]) return;
    }
    low[1] = std::max(low[1], first_row);
    high[1] = std::min(high[1], last_row);
    if (low[1] > high[1]) return;
    struct Edge {
        std::int64_t u, v, d;
    } edge[3];
    for (int e = 0; e < 3; ++e) {
        const Point &a = *t[e], &b = *t[(e + 1) % 3];
        const std::int64_t du = b.c[u] - a.c[u], dv = b.c[v] - a.c[v];
        edge[e] = {-dv, du, dv * a.c[u] - du * a.c[v]};
        const bool owns = dv < 0 || (dv == 0 && du < 0);  // the half-open rule
        if (!owns) edge[e].d -= 1;                        // strictly inside: > 0 is >= 1 in integers
    }
    const auto [w_least, w_most] = std::minmax({t[0]->c[w], t[1]->c[w], t[2]->c[w]});
    const double inverse = 1.0 / static_cast<double>(area);
    for (int j = low[1]; j <= high[1]; ++j) {
        const std::int64_t cv = std::int64_t{j} * kVoxel + kCentre;
        for (int i = low[0]; i <= high[0]; ++i) {
            const std::int64_t cu = std::int64_t{i} * kVoxel + kCentre;
            std::int64_t s[3];
            bool inside = true;
            for (int e = 0; e < 3 && inside; ++e) {
                s[e] = edge[e].u * cu + edge[e].v * cv + edge[e].d;
                inside = s[e] >= 0;
            }
            if (!inside) continue;
            // Barycentric depth; edge e is opposite to corner e + 2.
            const double depth = (static_cast<double>(s[1]) * t[0]->c[w] + static_cast<double>(s[2]) * t[1]->c[w] +
                                  static_cast<double>(s[0]) * t[2]->c[w]) *
                                 inverse;
            const double clamped = std::clamp(depth, static_cast<double>(w_least), static_cast<double>(w_most));
            out.push_back(make_crossing(static_cast<std::uint32_t>(j * r + i),
                                        std::llround(clamped * (1 << kDepthFraction)), entering));
        }
    }
}

// One bit where a solid span begins and one where it ends, along axis w.
void toggle_spans(BitGrid& grid, const std::vector<Crossing>& crossings, int w) {
    const int r = grid.resolution();
    const int u = (w + 1) % 3, v = (w + 2) % 3;
    constexpr std::int64_t step = std::int64_t{kVoxel} << kDepthFraction, half = step / 2;
    auto flip = [&](int i, int j, std::int64_t k) {
        if (k >= r) return;
        int q[3];
        q[u] = i;
        q[v] = j;
        q[w] = static_cast<int>(k);
        grid.words()[grid.index(q[0], q[1], q[2])] ^= std::uint64_t{1} << (q[0] & 63);
    };
    for (std::size_t c = 0; c + 1 < crossings.size(); ++c) {
        const Crossing below = crossings[c], above = crossings[c + 1];
        if (!enters(below) || enters(above) || column_of(below) != column_of(above)) continue;
        // Voxels whose centre lies strictly between the two crossings.
        const std::int64_t first = std::max<std::int64_t>(0, floor_div(depth_of(below) - half, step) + 1);
        const std::int64_t last = -floor_div(-(depth_of(above) - half), step) - 1;
        if (first > last) continue;
        const int column = static_cast<int>(column_of(below));
        flip(column % r, column / r, first);
        flip(column % r, column / r, last + 1);
    }
}

// Running exclusive-or along axis w turns the ends of spans into spans, 64 columns at a time.
void fill_spans(BitGrid& grid, int w) {
    const int r = grid.resolution(), n = grid.words_per_row();
    const auto words = grid.words();
    if (w == 0) {
        for (std::size_t row = 0; row < words.size(); row += static_cast<std::size_t>(n)) {
            std::uint64_t carry = 0;
            for (int k = 0; k < n; ++k) {
                std::uint64_t x = words[row + k];
                for (int shift = 1; shift < 64; shift *= 2) x ^= x << shift;
                x ^= carry;
                carry = x >> 63 ? ~std::uint64_t{0} : 0;
                words[row + k] = x;
            }
        }
        return;
    }
    const std::size_t plane = static_cast<std::size_t>(r) * n;
    if (w == 1) {
        for (int z = 0; z < r; ++z)
            for (std::size_t k = n; k < plane; ++k) words[z * plane + k] ^= words[z * plane + k - n];
    } else {
        for (std::size_t k = plane; k < words.size(); ++k) words[k] ^= words[k - plane];
    }
}

}  // namespace

Status check(const VoxelizeOptions& options) {
    const int r = options.resolution;
    if (r < 32 || r > 1024 || !std::has_single_bit(static_cast<unsigned>(r))) {
        return Error{ErrorCode::usage,
                     "resolution " + std::to_string(r) + " is not a power of two from 32 to 1024 (try 256)"};
    }
    return Done{};
}

std::size_t BitGrid::count() const {
    std::size_t n = 0;
    for (const std::uint64_t word : words_) n += static_cast<std::size_t>(std::popcount(word));
    return n;
}

Result<VoxelGrid> voxelize(const MeshView& mesh, const MeshTopology& topology, const VoxelizeOptions& options,
                           Context* context) {
    if (Status ok = check(options); !ok) return ok.error();
    const int r = options.resolution;
    VoxelGrid grid;
    grid.transform = fit(mesh, r);
    if (!(grid.transform.unit > 0)) {
        return Error{ErrorCode::input, "all triangles lie in one point: the mesh has no extent"};
    }
    grid.boundary = BitGrid(r);

    auto corners = [&](std::size_t t, Point* p) {
        for (int k = 0; k < 3; ++k) p[k] = snap(grid.transform, mesh.positions[mesh.triangles[t][k]]);
    };
    parallel_for(context, mesh.triangles.size(), 4096, [&](std::size_t t) {
        Point p[3];
        corners(t, p);
        mark_boundary(grid.boundary, p);
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while voxelizing"};

    // Crossings are gathered in bands of rows, so that a heap of large overlapping triangles takes time and not
    // memory.
    constexpr double kCrossingsAtOnce = 8e6;
    std::array<BitGrid, 3> inside;
    parallel_for(context, 3, 1, [&](std::size_t axis) {
        const int w = static_cast<int>(axis), u = (w + 1) % 3, v = (w + 2) % 3;
        double expected = 0;
        for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
            Point p[3];
            corners(t, p);
            const std::int64_t area = std::int64_t{p[1].c[u] - p[0].c[u]} * (p[2].c[v] - p[0].c[v]) -
                                      std::int64_t{p[2].c[u] - p[0].c[u]} * (p[1].c[v] - p[0].c[v]);
            expected += 0.5 * static_cast<double>(std::abs(area)) / (double{kVoxel} * kVoxel);
        }
        const int bands = std::min(r, 1 + static_cast<int>(expected / kCrossingsAtOnce));
        inside[axis] = BitGrid(r);
        std::vector<Crossing> crossings;
        for (int band = 0; band < bands && !cancelled(context); ++band) {
            crossings.clear();
            for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
                Point p[3];
                corners(t, p);
                const bool turned = options.repair_facing && topology.turned[t];
                cross_triangle(crossings, p, w, turned, r, r * band / bands, r * (band + 1) / bands - 1);
            }
            std::sort(crossings.begin(), crossings.end());
            toggle_spans(inside[axis], crossings, w);
        }
        fill_spans(inside[axis], w);
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while voxelizing"};

    // Votes, 64 voxels at a time; interior takes the place of the first axis, ambiguous of the second.
    const auto a = inside[0].words(), b = inside[1].words(), c = inside[2].words();
    const auto edge = grid.boundary.words();
    for (std::size_t k = 0; k < a.size(); ++k) {
        const std::uint64_t two = (a[k] & b[k]) | (a[k] & c[k]) | (b[k] & c[k]);
        const std::uint64_t one = (a[k] | b[k] | c[k]) & ~two;
        a[k] = two & ~edge[k];
        b[k] = one & ~edge[k];
    }
    grid.interior = std::move(inside[0]);
    const BitGrid& ambiguous = inside[1];
    grid.ambiguous = ambiguous.count();
    if (options.keep_ambiguous) grid.ambiguous_voxels = ambiguous;
    if (grid.ambiguous == 0 || !options.winding_numbers) return grid;

    // No triangle passes between the centres of two neighbours that are not boundary, so a winding number changes
    // little along a run of ambiguous voxels (not at all in a closed mesh): one answer serves a run of up to eight.
    struct Run {
        std::size_t word;    // of the grid
        std::uint64_t bits;  // within it
    };
    std::vector<Run> runs;
    std::vector<Vec3> points;
    const GridTransform& g = grid.transform;
    for (int z = 0; z < r; ++z) {
        for (int y = 0; y < r; ++y) {
            for (int k = 0; k < ambiguous.words_per_row(); ++k) {
                const std::size_t at = ambiguous.index(64 * k, y, z);
                for (std::uint64_t left = ambiguous.words()[at]; left;) {
                    const int first = std::countr_zero(left);
                    const int length = std::min({std::countr_one(left >> first), 8, 64 - first});
                    const std::uint64_t bits = ((std::uint64_t{1} << length) - 1) << first;
                    left &= ~bits;
                    const int x = 64 * k + first + (length - 1) / 2;
                    runs.push_back({at, bits});
                    points.push_back({static_cast<float>(g.origin[0] + (x + 0.5) * g.voxel),
                                      static_cast<float>(g.origin[1] + (y + 0.5) * g.voxel),
                                      static_cast<float>(g.origin[2] + (z + 0.5) * g.voxel)});
                }
            }
        }
    }
    const std::vector<bool> as_given(mesh.triangles.size(), false);
    const std::vector<float> winding =
        winding_numbers(mesh, options.repair_facing ? topology.turned : as_given, points, context);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (winding[i] <= 0.5f) continue;
        grid.interior.words()[runs[i].word] |= runs[i].bits;
        grid.ambiguous_inside += static_cast<std::size_t>(std::popcount(runs[i].bits));
    }
    return grid;
}

}  // namespace sinew
