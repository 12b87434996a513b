#include "surface/triangle_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/parallel.h"
#include "core/vectors.h"

namespace sinew {
namespace {

constexpr std::uint32_t kLeaf = 4;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Deep enough for 2^32 triangles: each step of a traversal leaves at most one node on the stack.
constexpr std::size_t kDepth = 64;

double square_distance(const Point3& low, const Point3& high, const Point3& p) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        const double d = std::max({low[k] - p[k], 0.0, p[k] - high[k]});
        sum += d * d;
    }
    return sum;
}

std::array<double, 2> along_segment(const Point3& a, const Point3& b, const Point3& p) {
    const Point3 d = b - a;
    const double length2 = dot(d, d);
    const double t = length2 > 0 ? std::clamp(dot(d, p - a) / length2, 0.0, 1.0) : 0;
    return {1 - t, t};
}

/// Nodes of the trees over n and n + 1 triangles. O(log n).
std::array<std::size_t, 2> count_nodes(std::size_t n) {
    if (n < kLeaf) return {1, 1};
    const auto [half, more] = count_nodes(n / 2);
    const std::size_t odd = 1 + half + more;
    return {n <= kLeaf ? 1 : n % 2 ? odd : 1 + 2 * half, n % 2 ? 1 + 2 * more : odd};
}

}  // namespace

std::array<double, 3> nearest_in_triangle(const Point3& a, const Point3& b, const Point3& c, const Point3& p) {
    const Point3 ab = b - a, ac = c - a, ap = p - a;
    const Point3 n = cross(ab, ac);
    const double longest2 = std::max({dot(ab, ab), dot(ac, ac), dot(c - b, c - b)});
    if (dot(n, n) <= 1e-24 * longest2 * longest2) {
        if (dot(ab, ab) == longest2) {
            const auto [s, t] = along_segment(a, b, p);
            return {s, t, 0};
        }
        if (dot(ac, ac) == longest2) {
            const auto [s, t] = along_segment(a, c, p);
            return {s, 0, t};
        }
        const auto [s, t] = along_segment(b, c, p);
        return {0, s, t};
    }
    const double d1 = dot(ab, ap), d2 = dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return {1, 0, 0};
    const Point3 bp = p - b;
    const double d3 = dot(ab, bp), d4 = dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return {0, 1, 0};
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        const double t = d1 / (d1 - d3);
        return {1 - t, t, 0};
    }
    const Point3 cp = p - c;
    const double d5 = dot(ab, cp), d6 = dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return {0, 0, 1};
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        const double t = d2 / (d2 - d6);
        return {1 - t, 0, t};
    }
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        const double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return {0, 1 - t, t};
    }
    const double sum = va + vb + vc;
    return {va / sum, vb / sum, vc / sum};
}

TriangleTree::TriangleTree(std::span<const Vec3> positions, std::span<const Triangle> triangles, Context* context)
    : order_(triangles.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    std::vector<Box> boxes(triangles.size());
    parallel_for(context, triangles.size(), 4096, [&](std::size_t t) {
        const Point3 a = to_point(positions[triangles[t][0]]), b = to_point(positions[triangles[t][1]]),
                     c = to_point(positions[triangles[t][2]]);
        for (std::size_t k = 0; k < 3; ++k) {
            boxes[t].low[k] = std::min({a[k], b[k], c[k]});
            boxes[t].high[k] = std::max({a[k], b[k], c[k]});
        }
    });
    if (triangles.empty()) return;
    nodes_.resize(count_nodes(triangles.size())[0]);
    // Level by level until there are enough ranges for all threads.
    std::vector<Range> ranges{{0, 0, static_cast<std::uint32_t>(triangles.size())}};
    for (int level = 0; level < 6 && triangles.size() > 4096; ++level) {
        std::vector<std::vector<Range>> halves(ranges.size());
        parallel_for(context, ranges.size(), 1, [&](std::size_t r) { halves[r] = split(ranges[r], boxes); });
        ranges.clear();
        for (const auto& two : halves) ranges.insert(ranges.end(), two.begin(), two.end());
    }
    parallel_for(context, ranges.size(), 1, [&](std::size_t r) { build(ranges[r], boxes); });
    corners_.resize(order_.size());
    vertices_.resize(order_.size());
    parallel_for(context, order_.size(), 4096, [&](std::size_t i) {
        const Triangle& v = triangles[order_[i]];
        corners_[i] = {to_point(positions[v[0]]), to_point(positions[v[1]]), to_point(positions[v[2]])};
        vertices_[i] = v;
    });
}

void TriangleTree::build(const Range& range, std::span<const Box> boxes) {
    for (const Range& half : split(range, boxes)) build(half, boxes);
}

/// Sets a node. Returns its halves; nothing for a leaf.
std::vector<TriangleTree::Range> TriangleTree::split(const Range& range, std::span<const Box> boxes) {
    const auto [at, first, count] = range;
    Box box{{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}}, centres = box;
    for (std::uint32_t i = first; i < first + count; ++i)
        for (std::size_t k = 0; k < 3; ++k) {
            const Box& one = boxes[order_[i]];
            box.low[k] = std::min(box.low[k], one.low[k]);
            box.high[k] = std::max(box.high[k], one.high[k]);
            const double twice = one.low[k] + one.high[k];
            centres.low[k] = std::min(centres.low[k], twice);
            centres.high[k] = std::max(centres.high[k], twice);
        }
    nodes_[at].box = box;
    if (count <= kLeaf) {
        nodes_[at].first = first;
        nodes_[at].count = count;
        return {};
    }
    std::size_t axis = 0;
    for (std::size_t k = 1; k < 3; ++k)
        if (centres.high[k] - centres.low[k] > centres.high[axis] - centres.low[axis]) axis = k;
    const auto begin = order_.begin() + first;
    std::nth_element(begin, begin + count / 2, begin + count, [&](std::uint32_t i, std::uint32_t j) {
        const double x = boxes[i].low[axis] + boxes[i].high[axis], y = boxes[j].low[axis] + boxes[j].high[axis];
        return x != y ? x < y : i < j;
    });
    const auto left = static_cast<std::uint32_t>(count_nodes(count / 2)[0]);
    nodes_[at].right = at + 1 + left;
    return {{at + 1, first, count / 2}, {at + 1 + left, first + count / 2, count - count / 2}};
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
    if (!nodes_.empty()) stack[waiting++] = {0, square_distance(nodes_[0].box.low, nodes_[0].box.high, p)};
    while (waiting > 0) {
        const StackEntry next = stack[--waiting];
        if (next.distance2 > best2) continue;
        const Node& node = nodes_[next.node];
        if (node.count == 0) {
            StackEntry left{next.node + 1, 0}, right{node.right, 0};
            left.distance2 = square_distance(nodes_[left.node].box.low, nodes_[left.node].box.high, p);
            right.distance2 = square_distance(nodes_[right.node].box.low, nodes_[right.node].box.high, p);
            if (right.distance2 < left.distance2) std::swap(left, right);
            stack[waiting++] = right;
            stack[waiting++] = left;
            continue;
        }
        for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
            if (of && !of(order_[i])) continue;
            const Corners& c = corners_[i];
            const std::array<double, 3> share = nearest_in_triangle(c.a, c.b, c.c, p);
            const Point3 d = share[0] * c.a + share[1] * c.b + share[2] * c.c - p;
            const double d2 = dot(d, d);
            if (d2 < best2 || (d2 == best2 && order_[i] < best.triangle)) {
                best2 = d2;
                best.triangle = order_[i];
                best.share = share;
            }
        }
    }
    best.distance = best.triangle == SurfacePoint::none ? 0 : std::sqrt(best2);
    return best;
}

bool TriangleTree::blocked(const Point3& a, const Point3& b, std::uint32_t vertex, double slack) const {
    const Point3 d = b - a;
    const double length = std::sqrt(dot(d, d));
    if (!(length > 2 * slack) || nodes_.empty()) return false;
    const double from = slack / length, to = 1 - from;
    // The interval of the segment within the three slabs of a box. A direction of 0 gives infinities of either
    // sign.
    const auto meets = [&](const Box& box) {
        double enter = from, leave = to;
        for (std::size_t k = 0; k < 3; ++k) {
            if (d[k] == 0) {
                if (a[k] < box.low[k] || a[k] > box.high[k]) return false;
                continue;
            }
            double t0 = (box.low[k] - a[k]) / d[k], t1 = (box.high[k] - a[k]) / d[k];
            if (t0 > t1) std::swap(t0, t1);
            // Rounding must not lose points in the box's own face.
            enter = std::max(enter, t0 - 1e-12 * std::abs(t0));
            leave = std::min(leave, t1 + 1e-12 * std::abs(t1));
        }
        return enter <= leave;
    };
    // Möller and Trumbore 1997, in double, with slightly widened edges.
    const auto crosses = [&](const Corners& c) {
        constexpr double hair = 1e-9;
        const Point3 e1 = c.b - c.a, e2 = c.c - c.a, p = cross(d, e2);
        const double det = dot(e1, p);
        if (std::abs(det) <= 1e-12 * std::sqrt(dot(e1, e1) * dot(e2, e2)) * length) return false;
        const Point3 s = a - c.a;
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
    stack[waiting++] = 0;
    while (waiting > 0) {
        const std::uint32_t at = stack[--waiting];
        const Node& node = nodes_[at];
        if (!meets(node.box)) continue;
        if (node.count == 0) {
            stack[waiting++] = node.right;
            stack[waiting++] = at + 1;
            continue;
        }
        for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
            const Triangle& v = vertices_[i];
            if (v[0] == vertex || v[1] == vertex || v[2] == vertex) continue;
            if (crosses(corners_[i])) return true;
        }
    }
    return false;
}

}  // namespace sinew
