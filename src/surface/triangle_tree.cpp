#include "surface/triangle_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/curve_order.h"
#include "core/nearest_in_triangle.h"
#include "core/parallel.h"
#include "core/vectors.h"

namespace sinew {
namespace {

// Bits of a Morton number for each axis.
constexpr int kAxisBits = 10;
// Each step of a traversal leaves at most one node on the stack, and each halves a Morton number's range or the
// leaves of one Morton number, of which there are less than 2^30.
constexpr std::size_t kDepth = 3 * kAxisBits + 30 + 1;

// Parts of a segment up to its end are found in boxes despite rounding.
constexpr double kRounding = 4e-12;

using Place = std::array<float, 3>;

Place to_place(const Vec3& v) { return {v.x, v.y, v.z}; }

}  // namespace

struct TriangleTree::Builder {
    TriangleTree& tree;
    std::span<const std::uint32_t> key;  // of the first triangle of each leaf
    struct Box {
        Place low, high;
    };
    struct Part {
        std::uint32_t id;
        Box box;
    };
    struct Range {
        std::uint32_t first, last;  // leaves
    };

    static Box both(const Box& a, const Box& b) {
        Box out = a;
        for (std::size_t k = 0; k < 3; ++k) {
            out.low[k] = std::min(out.low[k], b.low[k]);
            out.high[k] = std::max(out.high[k], b.high[k]);
        }
        return out;
    }
    /// The last leaf of the first half: where the highest bit that differs becomes 1.
    std::uint32_t middle(const Range& range) const {
        const std::uint32_t differ = key[range.first] ^ key[range.last];
        if (differ == 0) return range.first + (range.last - range.first) / 2;
        const std::uint32_t border = key[range.last] >> (std::bit_width(differ) - 1)
                                                            << (std::bit_width(differ) - 1);
        const auto begin = key.begin() + range.first;
        return static_cast<std::uint32_t>(std::lower_bound(begin, key.begin() + range.last, border) - key.begin()) -
               1;
    }
    Part leaf(std::uint32_t at) const {
        const Place any = to_place(tree.positions_[tree.vertices_[at * kLeaf][0]]);
        Box box{any, any};
        for (std::uint32_t i = at * kLeaf; i < tree.leaf_end(at); ++i)
            for (const std::uint32_t v : tree.vertices_[i]) {
                const Place p = to_place(tree.positions_[v]);
                box = both(box, {p, p});
            }
        return {at | kLeafBit, box};
    }
    /// Ranges of the same depth, with which threads begin.
    void divide(const Range& range, int levels, std::vector<Range>& out) const {
        if (levels == 0 || range.first == range.last) return out.push_back(range);
        const std::uint32_t half = middle(range);
        divide({range.first, half}, levels - 1, out);
        divide({half + 1, range.last}, levels - 1, out);
    }
    /// `done`: the parts of `divide`, if there are any.
    Part build(const Range& range, int levels, const Part*& done) const {
        if (levels == 0 && done) return *done++;
        if (range.first == range.last) return done ? *done++ : leaf(range.first);
        const std::uint32_t half = middle(range);
        const Part a = build({range.first, half}, levels - 1, done),
                   b = build({half + 1, range.last}, levels - 1, done);
        Node& node = tree.nodes_[half];
        node.child = {a.id, b.id};
        for (std::size_t k = 0; k < 3; ++k) {
            node.low[k] = Pair{a.box.low[k], b.box.low[k]};
            node.high[k] = Pair{a.box.high[k], b.box.high[k]};
        }
        return {half, both(a.box, b.box)};
    }
};

TriangleTree::TriangleTree(std::span<const Vec3> positions, std::span<const Triangle> triangles, Context* context)
    : TriangleTree(positions, LargeVector<Triangle>(triangles.begin(), triangles.end()), {}, context) {}

TriangleTree::TriangleTree(std::span<const Vec3> positions, LargeVector<Triangle> triangles, CurveOrder curve,
                           Context* context)
    : vertices_(std::move(triangles)), positions_(positions) {
    if (vertices_.empty()) return;
    if (curve.point.empty()) {
        const auto middle = [&](std::size_t i) {
            const Triangle& t = vertices_[i];
            return (1.0 / 3) * (to_point(positions[t[0]]) + to_point(positions[t[1]]) + to_point(positions[t[2]]));
        };
        curve = CurveOrder(vertices_.size(), kAxisBits, middle, context);
        const LargeVector<Triangle> given = std::move(vertices_);
        vertices_.resize(given.size());
        parallel_for(context, given.size(), 4096, [&](std::size_t i) { vertices_[i] = given[curve.point[i]]; });
    }
    order_ = std::move(curve.point);
    const auto leaves = static_cast<std::uint32_t>((order_.size() + kLeaf - 1) / kLeaf);
    std::vector<std::uint32_t> leaf_key(leaves);
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) leaf_key[leaf] = curve.cell[leaf * kLeaf];
    nodes_.resize(leaves - 1);
    const Builder builder{*this, leaf_key};
    constexpr int depth = 6;
    std::vector<Builder::Range> ranges;
    builder.divide({0, leaves - 1}, depth, ranges);
    std::vector<Builder::Part> parts(ranges.size());
    parallel_for(context, ranges.size(), 1, [&](std::size_t r) {
        const Builder::Part* none = nullptr;
        parts[r] = builder.build(ranges[r], -1, none);
    });
    const Builder::Part* done = parts.data();
    root_ = builder.build({0, leaves - 1}, depth, done).id;
}

std::uint32_t TriangleTree::leaf_end(std::uint32_t leaf) const {
    return static_cast<std::uint32_t>(std::min<std::size_t>((leaf + std::size_t{1}) * kLeaf, order_.size()));
}

SurfacePoint TriangleTree::nearest(const Point3& p, double reach,
                                   const std::function<bool(std::uint32_t)>& of) const {
    SurfacePoint best;
    double best2 = reach * reach;
    struct StackEntry {
        std::uint32_t node;
        double distance2;
    };
    std::array<StackEntry, kDepth> stack;
    std::size_t waiting = 0;
    if (!order_.empty()) stack[waiting++] = {root_, 0};
    while (waiting > 0) {
        const StackEntry next = stack[--waiting];
        if (next.distance2 > best2) continue;
        if (!(next.node & kLeafBit)) {
            const Node& node = nodes_[next.node];
            std::array<double, 2> square{};
            for (std::size_t k = 0; k < 3; ++k)
                for (std::size_t c = 0; c < 2; ++c) {
                    const double way = std::max({static_cast<double>(node.low[k][c]) - p[k], 0.0,
                                                 p[k] - static_cast<double>(node.high[k][c])});
                    square[c] += way * way;
                }
            StackEntry left{node.child[0], square[0]}, right{node.child[1], square[1]};
            if (right.distance2 < left.distance2) std::swap(left, right);
            stack[waiting++] = right;
            stack[waiting++] = left;
            continue;
        }
        const std::uint32_t leaf = next.node & ~kLeafBit;
        for (std::uint32_t i = leaf * kLeaf; i < leaf_end(leaf); ++i) {
            if (of && !of(order_[i])) continue;
            const auto [a, b, c] = corners(i);
            const std::array<double, 3> share = nearest_in_triangle(a, b, c, p);
            const Point3 d = share[0] * a + share[1] * b + share[2] * c - p;
            const double d2 = dot(d, d);
            if (d2 < best2 || (d2 == best2 && order_[i] < best.triangle)) {
                best2 = d2;
                best.triangle = order_[i];
                best.share = share;
            }
        }
    }
    best.distance = best.triangle == no_index ? 0 : std::sqrt(best2);
    return best;
}

bool TriangleTree::blocked(const Point3& a, const Point3& b, std::uint32_t vertex, double slack) const {
    const Point3 d = b - a;
    const double length = std::sqrt(dot(d, d));
    if (!(length > 2 * slack) || order_.empty()) return false;
    const double from = slack / length, to = 1 - from;
    // The interval of the segment within the three slabs of each child's box. Along an axis in which the segment
    // does not move, it enters and leaves at infinity, or nowhere (0 / 0).
    const Point3 inverse{1 / d[0], 1 / d[1], 1 / d[2]};
    const auto meets = [&](const Node& node) {
        using Both = Lanes<double, 2>;
        Both enter{from, from}, leave{to + kRounding, to + kRounding};
        for (std::size_t k = 0; k < 3; ++k) {
            const Both low = (__builtin_convertvector(node.low[k], Both) - a[k]) * inverse[k],
                       high = (__builtin_convertvector(node.high[k], Both) - a[k]) * inverse[k];
            const Both &first = inverse[k] > 0 ? low : high, &last = inverse[k] > 0 ? high : low;
            enter = first > enter ? first : enter;
            leave = last + kRounding < leave ? last + kRounding : leave;
        }
        return std::array<bool, 2>{enter[0] <= leave[0], enter[1] <= leave[1]};
    };
    // Möller and Trumbore 1997, in double, with slightly widened edges.
    const auto crosses = [&](const std::array<Point3, 3>& c) {
        constexpr double hair = 1e-9;
        const Point3 corner = c[0], e1 = c[1] - corner, e2 = c[2] - corner, p = cross(d, e2);
        const double det = dot(e1, p);
        if (std::abs(det) <= 1e-12 * std::sqrt(dot(e1, e1) * dot(e2, e2)) * length) return false;
        const Point3 s = a - corner;
        const double u = dot(s, p) / det;
        if (u < -hair || u > 1 + hair) return false;
        const Point3 q = cross(s, e1);
        const double v = dot(d, q) / det;
        if (v < -hair || u + v > 1 + hair) return false;
        const double t = dot(e2, q) / det;
        return t > from && t < to;
    };
    std::array<std::uint32_t, kDepth> stack;
    std::size_t waiting = 0;
    stack[waiting++] = root_;
    while (waiting > 0) {
        const std::uint32_t at = stack[--waiting];
        if (!(at & kLeafBit)) {
            const std::array<bool, 2> met = meets(nodes_[at]);
            for (std::size_t c = 2; c-- > 0;)
                if (met[c]) stack[waiting++] = nodes_[at].child[c];
            continue;
        }
        const std::uint32_t leaf = at & ~kLeafBit;
        for (std::uint32_t i = leaf * kLeaf; i < leaf_end(leaf); ++i) {
            const Triangle& v = vertices_[i];
            if (v[0] == vertex || v[1] == vertex || v[2] == vertex) continue;
            if (crosses(corners(i))) return true;
        }
    }
    return false;
}

}  // namespace sinew
