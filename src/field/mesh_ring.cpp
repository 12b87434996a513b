// The source (Tokheim 2003) takes the vertices nearest to the cut. Here the cut itself is the source of
// distances: if the plane crosses an edge, each end of that edge starts with its distance to the crossing. So a
// ring does not jump from vertex to vertex as the joint moves.
#include "field/mesh_ring.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <tuple>

#include "core/forest.h"
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

// The cut of a plane through a point with the edges of the mesh, split into loops.
class PlaneCut {
public:
    PlaneCut(const EdgeGraph& graph, const Point3& at, const Point3& normal) : graph_(graph) {
        cut_edges(at, normal);
        const std::vector<Segment> segments = find_segments();
        connect(segments);
        measure(segments);
        for (std::uint32_t l = 0; l < loops_.size(); ++l)
            if (loops_[l].any && (best_ == no_index || rank(l) < rank(best_))) best_ = l;
    }

    /// From the point to the nearest position.
    double nearest() const { return nearest_; }
    /// The best loop, or null.
    const Loop* best() const { return best_ == no_index ? nullptr : &loops_[best_]; }

    /// Both ends of every edge that is cut by the best loop, or by the best loop of another part if it is about as
    /// near. Points farther than `reach` start later by the difference.
    std::vector<EdgeSource> sources(double reach) const {
        const std::vector<bool> chosen = choose_loops();
        std::vector<EdgeSource> out;
        for (std::uint32_t i = 0; i < crossings_.size(); ++i) {
            const Crossing& crossing = crossings_[i];
            if (!chosen[loop_of_[i]]) continue;
            const auto& [a, b, length] = graph_.edges[crossing.edge];
            const double late = std::max(0.0, std::hypot(crossing.u, crossing.v) - reach);
            out.push_back({a, static_cast<float>(late + crossing.t * length)});
            out.push_back({b, static_cast<float>(late + (1 - crossing.t) * length)});
        }
        return out;
    }

private:
    using Segment = std::pair<std::uint32_t, std::uint32_t>;  // two crossings

    void cut_edges(const Point3& at, const Point3& normal) {
        const Point3 n = unit(normal);
        // Any two directions that span the plane.
        const std::size_t least = static_cast<std::size_t>(
            std::min_element(n.begin(), n.end(), [](double x, double y) { return std::abs(x) < std::abs(y); }) -
            n.begin());
        Point3 axis{};
        axis[least] = 1;
        const Point3 u = unit(cross(n, axis)), v = cross(n, u);

        std::vector<double> height(graph_.position.size());
        double nearest_squared = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < height.size(); ++i) {
            const Point3 d = to_point(graph_.position[i]) - at;
            height[i] = dot(d, n);
            nearest_squared = std::min(nearest_squared, dot(d, d));
        }
        nearest_ = std::sqrt(nearest_squared);
        for (std::uint32_t e = 0; e < graph_.edges.size(); ++e) {
            const double a = height[graph_.edges[e].a], b = height[graph_.edges[e].b];
            if ((a < 0) == (b < 0)) continue;
            const Point3 p = to_point(graph_.position[graph_.edges[e].a]) - at,
                         q = to_point(graph_.position[graph_.edges[e].b]) - at;
            const double t = a / (a - b);
            const Point3 c{p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])};
            crossings_.push_back({e, t, dot(c, u), dot(c, v)});
        }
    }

    // Two crossings of one triangle. Duplicate triangles count once; otherwise rays would count them twice.
    std::vector<Segment> find_segments() const {
        struct Side {
            std::uint32_t triangle, crossing;
            auto operator<=>(const Side&) const = default;
        };
        std::vector<Side> sides;
        for (std::uint32_t i = 0; i < crossings_.size(); ++i) {
            const std::uint32_t edge = crossings_[i].edge;
            for (std::uint32_t k = graph_.first_side[edge]; k < graph_.first_side[edge + 1]; ++k)
                sides.push_back({graph_.side[k], i});
        }
        std::sort(sides.begin(), sides.end());
        std::vector<Segment> segments;
        for (std::size_t k = 1; k < sides.size(); ++k)
            if (sides[k].triangle == sides[k - 1].triangle)
                segments.emplace_back(sides[k - 1].crossing, sides[k].crossing);
        std::sort(segments.begin(), segments.end());
        segments.erase(std::unique(segments.begin(), segments.end()), segments.end());
        return segments;
    }

    // Loops are numbered by their first crossing.
    void connect(const std::vector<Segment>& segments) {
        Forest loops(crossings_.size());
        for (const auto& [a, b] : segments) loops.join(a, b);
        loop_of_ = loops.roots();
    }

    void measure(const std::vector<Segment>& segments) {
        loops_.resize(crossings_.size());
        for (std::uint32_t i = 0; i < crossings_.size(); ++i) {
            Loop& loop = loops_[loop_of_[i]];
            if (!loop.any) loop.hit.fill(std::numeric_limits<double>::infinity());
            loop.any = true;
            loop.part = graph_.component[graph_.edges[crossings_[i].edge].a];
            loop.nearest = std::min(loop.nearest, std::hypot(crossings_[i].u, crossings_[i].v));
        }
        std::array<std::array<double, 2>, kRays> ray;
        for (int k = 0; k < kRays; ++k) {
            const double angle = 2 * std::numbers::pi * (k + 0.37) / kRays;  // parallel to no axis
            ray[static_cast<std::size_t>(k)] = {std::cos(angle), std::sin(angle)};
        }
        for (const auto& [i, j] : segments) {
            Loop& loop = loops_[loop_of_[i]];
            const Crossing &a = crossings_[i], &b = crossings_[j];
            const double length = std::hypot(b.u - a.u, b.v - a.v);
            loop.length += length;
            loop.moment += length * (std::hypot(a.u, a.v) + std::hypot(b.u, b.v)) / 2;
            loop.nearest =
                std::min(loop.nearest, segment_distance({a.u, a.v, 0}, {b.u, b.v, 0}, {0, 0, 0}).distance);
            for (std::size_t k = 0; k < kRays; ++k) {
                const auto [c, s] = ray[k];
                const double hit =
                    cut_ray(c * a.u + s * a.v, c * a.v - s * a.u, c * b.u + s * b.v, c * b.v - s * b.u);
                if (!(hit > 0)) continue;
                loop.odd[k] = !loop.odd[k];
                loop.hit[k] = std::min(loop.hit[k], hit);
            }
        }
    }

    // Loops around the point by mean distance, then the others by their nearest point.
    std::tuple<bool, double, std::uint32_t> rank(std::uint32_t l) const {
        const bool around = loops_[l].around();
        return {!around, around ? loops_[l].mean() : loops_[l].nearest, l};
    }

    // The best loop, and the best loop of every other part if it is about as near.
    std::vector<bool> choose_loops() const {
        const Loop& best = loops_[best_];
        std::vector<std::pair<std::uint32_t, std::uint32_t>> others;  // part, loop
        for (std::uint32_t l = 0; l < loops_.size(); ++l)
            if (loops_[l].any && loops_[l].part != best.part && loops_[l].mean() <= kOtherParts * best.mean())
                others.emplace_back(loops_[l].part, l);
        std::sort(others.begin(), others.end(), [&](const auto& x, const auto& y) {
            return std::pair{x.first, rank(x.second)} < std::pair{y.first, rank(y.second)};
        });
        std::vector<bool> chosen(loops_.size(), false);
        chosen[best_] = true;
        for (std::size_t k = 0; k < others.size(); ++k)
            if (k == 0 || others[k].first != others[k - 1].first) chosen[others[k].second] = true;
        return chosen;
    }

    const EdgeGraph& graph_;
    std::vector<Crossing> crossings_;
    std::vector<std::uint32_t> loop_of_;  // per crossing
    std::vector<Loop> loops_;             // `any` is false for unused numbers
    std::uint32_t best_ = no_index;
    double nearest_ = 0;
};

}  // namespace

RingFinder::Ring RingFinder::find(const Point3& at, const Point3& normal) const {
    const PlaneCut cut(graph_, at, normal);
    const Loop* const best = cut.best();
    const bool around = best && best->around();
    Ring ring;
    if (!best || (!around && best->nearest > kBeside * cut.nearest())) {
        for (std::uint32_t i = 0; i < graph_.position.size(); ++i) {
            const double d = norm(to_point(graph_.position[i]) - at);
            if (d <= kSlack * cut.nearest()) ring.sources.push_back({i, static_cast<float>(d)});
        }
        return ring;
    }
    ring.kind = around ? Kind::around : Kind::beside;
    ring.sources =
        cut.sources(around && late_ ? kSlack * best->width() / 2 : std::numeric_limits<double>::infinity());
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
