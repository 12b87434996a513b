#include "gl/compare_votes.h"
#include "sinew/voxels.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace sinew::test {
namespace {

__extension__ typedef __int128 Wide;

// Depth as a fraction, in lattice units: a numerator of at most 60 bits over an area of at most 40.
struct Crossing {
    Wide numerator;
    std::int64_t area;  // > 0
    bool leaves;

    bool below(std::int64_t depth) const { return numerator < Wide{depth} * area; }
};

struct Column {
    std::vector<Crossing> crossings;
    bool on_edge = false;
};

Column cross(const Lattice& lattice, int axis, int i, int j) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const std::int64_t at[2] = {std::int64_t{i} * kVoxel + kCentre, std::int64_t{j} * kVoxel + kCentre};
    Column column;
    for (std::size_t t = 0; t < lattice.triangles.size(); ++t) {
        const auto p = lattice.outward(t);
        std::int64_t side[3], area = 0;
        for (int e = 0; e < 3; ++e) {  // twice the signed area that the column makes with the edge opposite to e
            const LatticePoint &a = p[(e + 1) % 3], &b = p[(e + 2) % 3];
            side[e] = (a.c[u] - at[0]) * (b.c[v] - at[1]) - (b.c[u] - at[0]) * (a.c[v] - at[1]);
            area += side[e];
        }
        if (area == 0) continue;  // seen edge-on: not drawn
        const std::int64_t sign = area < 0 ? -1 : 1;
        if (std::any_of(side, side + 3, [&](std::int64_t s) { return s * sign < 0; })) continue;
        bool owned = true;
        for (int e = 0; e < 3; ++e) {
            if (side[e] != 0) continue;
            column.on_edge = true;
            const LatticePoint &a = p[(e + 1) % 3], &b = p[(e + 2) % 3];
            const std::int64_t du = sign * (b.c[u] - a.c[u]), dv = sign * (b.c[v] - a.c[v]);
            owned &= dv < 0 || (dv == 0 && du < 0);
        }
        if (!owned) continue;
        Wide sum = 0;
        for (int e = 0; e < 3; ++e) sum += Wide{side[e]} * p[e].c[axis];
        column.crossings.push_back({sum * sign, area * sign, area > 0});
    }
    std::sort(column.crossings.begin(), column.crossings.end(),
              [](const Crossing& a, const Crossing& b) { return a.numerator * b.area < b.numerator * a.area; });
    return column;
}

// Whether two crossings of opposite direction are closer than two roundings of 1/16 lattice unit.
bool has_tie(const Column& column) {
    const auto& c = column.crossings;
    for (std::size_t a = 0; a < c.size(); ++a) {
        for (std::size_t b = a + 1; b < c.size(); ++b) {
            const Wide apart = c[b].numerator * c[a].area - c[a].numerator * c[b].area;
            if (apart * kDepthUnits > 2 * Wide{c[a].area} * c[b].area) break;
            if (c[a].leaves != c[b].leaves) return true;
        }
    }
    return false;
}

bool inside(const Column& column, int k, ViewPairs pairs) {
    const std::int64_t centre = std::int64_t{k} * kVoxel + kCentre;
    const auto above = std::partition_point(column.crossings.begin(), column.crossings.end(),
                                            [&](const Crossing& c) { return c.below(centre); });
    const bool downwards = above != column.crossings.begin() && !std::prev(above)->leaves;
    const bool upwards = above != column.crossings.end() && above->leaves;
    return pairs == ViewPairs::both ? downwards && upwards : downwards || upwards;
}

}  // namespace

Disagreement compare_votes(const Lattice& lattice, const BitGrid& boundary, const PairVotes& first,
                           const PairVotes& second, ViewPairs pairs) {
    const int r = lattice.resolution;
    Disagreement found;
    for (int axis = 0; axis < 3; ++axis) {
        const BitGrid &a = first[static_cast<std::size_t>(axis)], &b = second[static_cast<std::size_t>(axis)];
        struct Voxel {
            int i, j, k;
        };
        std::vector<Voxel> differ;
        for (int z = 0; z < r; ++z)
            for (int y = 0; y < r; ++y)
                for (int x = 0; x < r; x += 64) {
                    const std::size_t at = a.index(x, y, z);
                    const std::uint64_t valid = r < 64 ? (std::uint64_t{1} << r) - 1 : ~std::uint64_t{0};
                    const std::uint64_t open = valid & ~boundary.words()[at];
                    found.compared += static_cast<std::size_t>(std::popcount(open));
                    found.inside += static_cast<std::size_t>(std::popcount(a.words()[at] & open));
                    for (std::uint64_t left = (a.words()[at] ^ b.words()[at]) & open; left; left &= left - 1) {
                        const int q[3] = {x + std::countr_zero(left), y, z};
                        differ.push_back({q[(axis + 1) % 3], q[(axis + 2) % 3], q[axis]});
                    }
                }
        std::sort(differ.begin(), differ.end(),
                  [](const Voxel& p, const Voxel& q) { return std::tie(p.i, p.j, p.k) < std::tie(q.i, q.j, q.k); });
        Column column;
        int column_i = -1, column_j = -1;
        for (const Voxel& voxel : differ) {
            if (voxel.i != column_i || voxel.j != column_j)
                column = cross(lattice, axis, column_i = voxel.i, column_j = voxel.j);
            ++found.differ;
            if (has_tie(column)) {
                ++found.tied;
                continue;
            }
            int q[3];
            q[axis] = voxel.k;
            q[(axis + 1) % 3] = voxel.i;
            q[(axis + 2) % 3] = voxel.j;
            const bool truth = inside(column, voxel.k, pairs);
            const bool first_right = a.get(q[0], q[1], q[2]) == truth;
            if (first_right && column.on_edge) {
                ++found.on_edge;
                continue;
            }
            ++(first_right ? found.second_wrong : found.first_wrong);
            found.example = "axis " + std::to_string(axis) + ", voxel " + std::to_string(q[0]) + " " +
                            std::to_string(q[1]) + " " + std::to_string(q[2]) + ", " +
                            std::to_string(column.crossings.size()) + " crossings";
        }
    }
    return found;
}

}  // namespace sinew::test
