// The source (Tokheim 2003) takes the vertices nearest to the cut. Here the cut itself is the source of
// distances: if the plane crosses an edge, each end of that edge starts with its distance to the crossing. So a
// ring does not jump from vertex to vertex as the joint moves.
#include "field/mesh_ring.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>
#include <tuple>

#include "core/vectors.h"

namespace sinew {
namespace {

constexpr int kRays = 8;
// Loops of other parts belong to a ring if they are about as near.
constexpr double kOtherParts = 1.5;
// A loop that does not go around counts if no position is this many times nearer than it.
constexpr double kBeside = 2;
// The winding test is not exact: within this factor of the nearest, loops count as equally near.
constexpr double kSlack = 1.1;

// One edge that the plane cuts.
struct Crossing {
    std::uint32_t edge;
    double t;     // from the edge's a to its b
    double u, v;  // in the plane, from the point
};

struct Loop {
    double length = 0, moment = 0;  // of its segments: sum of length, sum of length times mean distance
    double nearest = std::numeric_limits<double>::infinity();
    std::array<bool, kRays> odd{};  // per ray from the point: crossed an odd number of times
    std::array<double, kRays> hit;  // and the first crossing
    std::uint32_t part = 0;
    bool any = false;

    double mean() const { return length > 0 ? moment / length : nearest; }
    // Most rays, not all: a loop may have a gap at a hole of the mesh.
    bool around() const { return std::count(odd.begin(), odd.end(), true) > kRays / 2; }
    // The smallest width of the area that the loop encloses, through the point.
    double width() const {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < kRays / 2; ++k) least = std::min(least, hit[k] + hit[k + kRays / 2]);
        return least;
    }
};

// Where the segment from a to b crosses the ray along +x; negative if it does not.
double cut_ray(double ax, double ay, double bx, double by) {
    if ((ay < 0) == (by < 0)) return -1;
    return ax + (bx - ax) * (ay / (ay - by));
}

}  // namespace

RingFinder::Ring RingFinder::find(const Point3& at, const Point3& normal) const {
    const Point3 n = unit(normal);
    // Any two directions that span the plane.
    const std::size_t least = static_cast<std::size_t>(
        std::min_element(n.begin(), n.end(), [](double x, double y) { return std::abs(x) < std::abs(y); }) -
        n.begin());
    Point3 axis{};
    axis[least] = 1;
    const Point3 u = unit(cross(n, axis)), v = cross(n, u);

    std::vector<Crossing> cut;
    double nearest_squared = std::numeric_limits<double>::infinity();
    {
        std::vector<double> height(graph_.position.size());
        for (std::size_t i = 0; i < height.size(); ++i) {
            const Point3 d = to_point(graph_.position[i]) - at;
            height[i] = dot(d, n);
            nearest_squared = std::min(nearest_squared, dot(d, d));
        }
        for (std::uint32_t e = 0; e < graph_.edges.size(); ++e) {
            const double a = height[graph_.edges[e].a], b = height[graph_.edges[e].b];
            if ((a < 0) == (b < 0)) continue;
            const Point3 p = to_point(graph_.position[graph_.edges[e].a]) - at,
                         q = to_point(graph_.position[graph_.edges[e].b]) - at;
            const double t = a / (a - b);
            const Point3 c{p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])};
            cut.push_back({e, t, dot(c, u), dot(c, v)});
        }
    }

    // Segments: two crossings of one triangle. Duplicate triangles count once; otherwise rays would count them
    // twice.
    struct Side {
        std::uint32_t triangle, crossing;
        auto operator<=>(const Side&) const = default;
    };
    std::vector<Side> sides;
    for (std::uint32_t i = 0; i < cut.size(); ++i)
        for (std::uint32_t k = graph_.first_side[cut[i].edge]; k < graph_.first_side[cut[i].edge + 1]; ++k)
            sides.push_back({graph_.side[k], i});
    std::sort(sides.begin(), sides.end());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> segments;
    for (std::size_t k = 1; k < sides.size(); ++k)
        if (sides[k].triangle == sides[k - 1].triangle)
            segments.emplace_back(sides[k - 1].crossing, sides[k].crossing);
    std::sort(segments.begin(), segments.end());
    segments.erase(std::unique(segments.begin(), segments.end()), segments.end());

    std::vector<std::uint32_t> group(cut.size());
    std::iota(group.begin(), group.end(), 0u);
    const auto root = [&](std::uint32_t i) {
        while (group[i] != i) i = group[i] = group[group[i]];
        return i;
    };
    for (const auto& [a, b] : segments) {
        const std::uint32_t x = root(a), y = root(b);
        group[std::max(x, y)] = std::min(x, y);
    }

    std::vector<Loop> loops(cut.size());
    for (std::uint32_t i = 0; i < cut.size(); ++i) {
        Loop& loop = loops[root(i)];
        if (!loop.any) loop.hit.fill(std::numeric_limits<double>::infinity());
        loop.any = true;
        loop.part = graph_.component[graph_.edges[cut[i].edge].a];
        loop.nearest = std::min(loop.nearest, std::hypot(cut[i].u, cut[i].v));
    }
    std::array<std::array<double, 2>, kRays> ray;
    for (int k = 0; k < kRays; ++k) {
        const double angle = 2 * std::numbers::pi * (k + 0.37) / kRays;  // parallel to no axis
        ray[static_cast<std::size_t>(k)] = {std::cos(angle), std::sin(angle)};
    }
    for (const auto& [i, j] : segments) {
        Loop& loop = loops[root(i)];
        const Crossing &a = cut[i], &b = cut[j];
        const double l = std::hypot(b.u - a.u, b.v - a.v);
        loop.length += l;
        loop.moment += l * (std::hypot(a.u, a.v) + std::hypot(b.u, b.v)) / 2;
        loop.nearest = std::min(loop.nearest, segment_distance({a.u, a.v, 0}, {b.u, b.v, 0}, {0, 0, 0}).distance);
        for (std::size_t k = 0; k < kRays; ++k) {
            const auto [c, s] = ray[k];
            const double hit = cut_ray(c * a.u + s * a.v, c * a.v - s * a.u, c * b.u + s * b.v, c * b.v - s * b.u);
            if (!(hit > 0)) continue;
            loop.odd[k] = !loop.odd[k];
            loop.hit[k] = std::min(loop.hit[k], hit);
        }
    }

    // Loops around the point by mean distance, then the others by their nearest point.
    const auto rank = [&](std::uint32_t l) {
        const bool around = loops[l].around();
        return std::tuple{!around, around ? loops[l].mean() : loops[l].nearest, l};
    };
    std::uint32_t best = EdgeGraph::none;
    for (std::uint32_t l = 0; l < loops.size(); ++l)
        if (loops[l].any && (best == EdgeGraph::none || rank(l) < rank(best))) best = l;

    Ring ring;
    const double nearest = std::sqrt(nearest_squared);
    const bool around = best != EdgeGraph::none && loops[best].around();
    if (best == EdgeGraph::none || (!around && loops[best].nearest > kBeside * nearest)) {
        for (std::uint32_t i = 0; i < graph_.position.size(); ++i) {
            const double d = norm(to_point(graph_.position[i]) - at);
            if (d <= kSlack * nearest) ring.sources.push_back({i, static_cast<float>(d)});
        }
        return ring;
    }
    ring.kind = around ? Kind::around : Kind::beside;
    // The best loop of every other part, if it is about as near.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> others;  // part, loop
    for (std::uint32_t l = 0; l < loops.size(); ++l)
        if (loops[l].any && loops[l].part != loops[best].part &&
            loops[l].mean() <= kOtherParts * loops[best].mean())
            others.emplace_back(loops[l].part, l);
    std::sort(others.begin(), others.end(), [&](const auto& x, const auto& y) {
        return std::pair{x.first, rank(x.second)} < std::pair{y.first, rank(y.second)};
    });
    std::vector<bool> wanted(loops.size(), false);
    wanted[best] = true;
    for (std::size_t k = 0; k < others.size(); ++k)
        if (k == 0 || others[k].first != others[k - 1].first) wanted[others[k].second] = true;
    // A plane may cut far along a body (sideways through a collar bone, from one shoulder to the other). Points
    // of the loop that are farther away than half of the smallest width start later by the difference.
    const double reach = around ? kSlack * loops[best].width() / 2 : std::numeric_limits<double>::infinity();
    for (std::uint32_t i = 0; i < cut.size(); ++i) {
        if (!wanted[root(i)]) continue;
        const auto& [a, b, l] = graph_.edges[cut[i].edge];
        const double late = std::max(0.0, std::hypot(cut[i].u, cut[i].v) - reach);
        ring.sources.push_back({a, static_cast<float>(late + cut[i].t * l)});
        ring.sources.push_back({b, static_cast<float>(late + (1 - cut[i].t) * l)});
    }
    return ring;
}

std::vector<EdgeSource> RingFinder::within(const BoneSpace& space) const {
    const std::size_t n = graph_.position.size();
    std::vector<double> to(n);
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i)
        nearest = std::min(nearest, to[i] = space.signed_distance(to_point(graph_.position[i])));
    std::vector<EdgeSource> sources;
    for (std::uint32_t i = 0; i < n; ++i)
        if (to[i] <= std::max(0.0, 2 * nearest)) sources.push_back({i, static_cast<float>(std::max(0.0, to[i]))});
    if (nearest > 0) return sources;
    for (const auto& [a, b, l] : graph_.edges) {
        if ((to[a] <= 0) == (to[b] <= 0)) continue;
        const std::uint32_t in = to[a] <= 0 ? a : b, out = to[a] <= 0 ? b : a;
        const Point3 p = to_point(graph_.position[in]), q = to_point(graph_.position[out]);
        // Shapes are convex, so an edge leaves once; bisection finds the point.
        double low = 0, high = 1;
        for (int step = 0; step < 30; ++step) {
            const double t = (low + high) / 2;
            const Point3 at{p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])};
            (space.signed_distance(at) <= 0 ? low : high) = t;
        }
        sources.push_back({out, static_cast<float>((1 - low) * l)});
    }
    return sources;
}

}  // namespace sinew
