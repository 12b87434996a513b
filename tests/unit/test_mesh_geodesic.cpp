// Distances along the mesh, on tubes with known distances and against all pairs computed naively.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>

#include "characters/defects.h"
#include "characters/shapes.h"
#include "field/edge_graph.h"
#include "field/mesh_ring.h"
#include "sinew/bind.h"
#include "unit/support.h"

namespace sinew::test_mesh_geodesic {
namespace {

using test::bound;
using test::Shape;

struct Graph {
    MeshTopology topology;
    EdgeGraph graph;
    explicit Graph(const Shape& s) : Graph(MeshView{s.positions, s.triangles, {}}) {}
    explicit Graph(const MeshView& mesh) : topology(analyse_mesh(mesh)), graph(mesh, topology) {}
};

// A tube along x from -1 to 1 with `rings` rings of 16 positions, joints a and b on its axis.
test::Character tube_of_two(int rings, float a, float b) {
    test::Character c;
    const Shape s = test::cylinder({-1, 0, 0}, {1, 0, 0}, 0.1, 16, rings);
    c.positions = s.positions;
    c.triangles = s.triangles;
    for (const float x : {a, b}) {
        Joint joint;
        joint.name = x == a ? "a" : "b";
        joint.parent = x == a ? -1 : 0;
        joint.position = {x, 0, 0};
        c.skeleton.joints.push_back(joint);
    }
    c.skeleton.joints[1].tail = Vec3{1, 0, 0};
    return c;
}

float distance_of(const Binding& b, std::size_t vertex, std::uint32_t joint) {
    const DistanceTable& t = b.distances();
    for (std::size_t k = 0; k < t.width; ++k)
        if (t.joint[vertex * t.width + k] == joint) return t.distance[vertex * t.width + k];
    return INFINITY;
}

TEST(EdgeGraph, ShortestPathsAgreeWithAllPairsByHand) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> coordinate(-1, 1);
    for (int round = 0; round < 20; ++round) {
        Shape s;
        for (int i = 0; i < 14; ++i)
            s.positions.push_back({coordinate(random), coordinate(random), coordinate(random)});
        for (int i = 0; i < 9; ++i)
            s.triangles.push_back({static_cast<std::uint32_t>(random() % 14),
                                   static_cast<std::uint32_t>(random() % 14),
                                   static_cast<std::uint32_t>(random() % 14)});
        const Graph g(s);
        const std::size_t n = g.graph.position.size();
        // The Floyd-Warshall algorithm over the edges of all triangles.
        std::vector<double> d(n * n, INFINITY);
        for (std::size_t i = 0; i < n; ++i) d[i * n + i] = 0;
        for (const Triangle& t : s.triangles)
            for (std::size_t k = 0; k < 3; ++k) {
                const std::uint32_t a = t[k], b = t[(k + 1) % 3];
                const Vec3 &p = s.positions[a], &q = s.positions[b];
                const double l = std::hypot(p.x - q.x, p.y - q.y, p.z - q.z);
                const std::uint32_t i = g.graph.node_of[a], j = g.graph.node_of[b];
                d[i * n + j] = d[j * n + i] = std::min(d[i * n + j], l);
            }
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j)
                    d[i * n + j] = std::min(d[i * n + j], d[i * n + k] + d[k * n + j]);
        const EdgeSource sources[] = {{0, 0.25f}, {static_cast<std::uint32_t>(n - 1), 0}};
        const std::vector<float> got = shortest_paths(g.graph, {}, sources);
        for (std::size_t i = 0; i < n; ++i) {
            const double expected = std::min(0.25 + d[i], d[(n - 1) * n + i]);
            if (std::isinf(expected)) {
                EXPECT_TRUE(std::isinf(got[i]));
            } else {
                EXPECT_NEAR(got[i], expected, 1e-5);
            }
        }
    }
}

TEST(PartBridges, JoinTheNearestPartsLikeAChain) {
    // Boxes in a row; only the first has a source. Each is joined to the one before it, at the gap between them.
    Shape s;
    for (int i = 0; i < 5; ++i) test::append(s, test::box({3.0 * i * i, 0, 0}, {0.5, 0.5, 0.5}, 2));
    const Graph g(s);
    ASSERT_EQ(g.graph.component_count, 5u);
    std::vector<bool> seeded(5, false);
    seeded[0] = true;
    const std::vector<EdgeBridge> bridges = join_parts(g.graph, seeded, 0);
    const EdgeSource start{0, 0};
    const std::vector<float> d = shortest_paths(g.graph, bridges, {&start, 1});
    for (const float x : d) EXPECT_TRUE(std::isfinite(x));
    for (const EdgeBridge& b : bridges) {
        const int from = static_cast<int>(g.graph.component[b.from]),
                  to = static_cast<int>(g.graph.component[b.to]);
        EXPECT_EQ(std::abs(from - to), 1);
        // The 9 positions of each of the two facing sides, joined at up to twice the gap.
        const float gap = 3.0f * static_cast<float>(2 * std::max(from, to) - 1) - 1;
        EXPECT_GE(b.length, gap - 1e-4f);
        EXPECT_LE(b.length, 2 * gap + 1e-4f);
    }
    EXPECT_TRUE(join_parts(g.graph, std::vector<bool>(5, false), 0).empty());
    EXPECT_TRUE(join_parts(g.graph, std::vector<bool>(5, true), 0).empty());
}

TEST(PartBridges, AreAtMostTwiceTheGapOrTheReach) {
    Shape s = test::box({0, 0, 0}, {0.5, 0.5, 0.5}, 2);
    test::append(s, test::box({1.3, 0, 0}, {0.5, 0.5, 0.5}, 2));  // 0.3 away; its middle is at 0.8, its end at 1.3
    const Graph g(s);
    EXPECT_EQ(join_parts(g.graph, {true, false}, 0).size(), 2u * 9);
    EXPECT_EQ(join_parts(g.graph, {true, false}, 0.9f).size(), 2u * 17);
    EXPECT_EQ(join_parts(g.graph, {true, false}, 1.4f).size(), 2u * 26);
}

TEST(PartBridges, LoneTrianglesAreAllJoined) {
    Shape s;
    for (int i = 0; i < 300; ++i) {
        const float x = static_cast<float>(i * i % 97), y = static_cast<float>(i * 7 % 31),
                    z = static_cast<float>(i);
        const auto v = static_cast<std::uint32_t>(s.positions.size());
        for (const Vec3& p : {Vec3{x, y, z}, Vec3{x + 0.1f, y, z}, Vec3{x, y + 0.1f, z}}) s.positions.push_back(p);
        s.triangles.push_back({v, v + 1, v + 2});
    }
    const Graph g(s);
    std::vector<bool> seeded(300, false);
    seeded[42] = seeded[150] = true;
    const std::vector<EdgeBridge> bridges = join_parts(g.graph, seeded, 0);
    const EdgeSource sources[] = {{3 * 42, 0}, {3 * 150, 0}};
    for (const float d : shortest_paths(g.graph, bridges, sources)) EXPECT_TRUE(std::isfinite(d));
    // Components with their own sources are not joined: alone, one source does not reach the other.
    EXPECT_TRUE(std::isinf(shortest_paths(g.graph, bridges, {sources, 1})[3 * 150]));
}

TEST(Ring, OnATubeStartsExactlyAtTheCut) {
    const Graph g(test::cylinder({-1, 0, 0}, {1, 0, 0}, 0.1, 16, 21));
    const double at = 0.03;
    const RingFinder::Ring ring = RingFinder(g.graph).find({at, 0, 0}, {2, 0, 0});
    EXPECT_EQ(ring.kind, RingFinder::Kind::around);
    std::vector<float> least(g.graph.position.size(), INFINITY);
    for (const EdgeSource& s : ring.sources) least[s.node] = std::min(least[s.node], s.distance);
    std::size_t started = 0;
    for (std::size_t i = 0; i < least.size(); ++i) {
        if (std::isinf(least[i])) continue;
        ++started;
        EXPECT_NEAR(least[i], std::abs(g.graph.position[i].x - at), 1e-6);  // the edges along the tube are straight
        EXPECT_LT(std::abs(g.graph.position[i].x - at), 0.1);
    }
    EXPECT_EQ(started, 32u);  // both ends of 16 edges
}

TEST(Ring, StartsLateOrAtZeroFarFromTheJoint) {
    Shape s = test::cylinder({-1, 0, 0}, {1, 0, 0}, 0.1, 16, 21);
    for (Vec3& p : s.positions) p.z *= 4;  // as wide as a chest with both shoulders
    const Graph g(s);
    const double at = 0.03;
    const auto start = [&](bool rule) {
        std::vector<float> least(g.graph.position.size(), INFINITY);
        for (const EdgeSource& e : RingFinder(g.graph, rule).find({at, 0, 0}, {1, 0, 0}).sources)
            least[e.node] = std::min(least[e.node], e.distance);
        return least;
    };
    const std::vector<float> late = start(true), zero = start(false);
    for (std::size_t i = 0; i < zero.size(); ++i) {
        if (std::isinf(zero[i])) continue;
        const Vec3 p = g.graph.position[i];
        EXPECT_NEAR(zero[i], std::abs(p.x - at), 1e-6);
        // Half of the smallest width is 0.1 along y; the rays that measure it pass a little beside, and edges cross
        // the plane between two vertices.
        EXPECT_NEAR(late[i] - zero[i], std::max(0.0, std::hypot(p.y, p.z) - 0.115), 0.04);
    }
    EXPECT_GT(*std::max_element(late.begin(), late.end(),
                                [](float a, float b) { return (std::isinf(a) ? 0 : a) < (std::isinf(b) ? 0 : b); }),
              0.25f);
}

TEST(Ring, TakesTheLegAroundTheJoint) {
    const test::Character c = test::u_tube();
    const Graph g(c.mesh());
    const RingFinder rings(g.graph);
    for (const double side : {-1.0, 1.0}) {
        const RingFinder::Ring ring = rings.find({side * 0.15, 0.5, 0}, {0, -1, 0});
        EXPECT_EQ(ring.kind, RingFinder::Kind::around);
        EXPECT_GE(ring.sources.size(), 48u);
        for (const EdgeSource& s : ring.sources) EXPECT_GT(side * g.graph.position[s.node].x, 0.04);
        // A joint in the gap, nearer to its own leg.
        const RingFinder::Ring beside = rings.find({side * 0.02, 0.5, 0}, {0, -1, 0});
        EXPECT_EQ(beside.kind, RingFinder::Kind::beside);
        for (const EdgeSource& s : beside.sources) EXPECT_GT(side * g.graph.position[s.node].x, 0.04);
    }
}

TEST(Ring, IncludesClothesOverALimb) {
    Shape s = test::cylinder({-1, 0, 0}, {1, 0, 0}, 0.1, 16, 21);
    test::append(s, test::cylinder({-0.5, 0, 0}, {0.5, 0, 0}, 0.13, 16, 11));  // a sleeve
    test::append(s, test::cylinder({-1, 0.5, 0}, {1, 0.5, 0}, 0.1, 16, 21));   // another limb
    const Graph g(s);
    const RingFinder::Ring ring = RingFinder(g.graph).find({0.03, 0, 0}, {1, 0, 0});
    std::vector<bool> has(3, false);
    for (const EdgeSource& e : ring.sources) has[g.graph.component[e.node]] = true;
    EXPECT_TRUE(has[0] && has[1]);
    EXPECT_FALSE(has[2]);
}

TEST(Ring, ALoopAroundTheJointComesBeforeANearerOneBesideIt) {
    Shape s = test::cylinder({-1, 0, 0}, {1, 0, 0}, 0.5, 16, 21);
    test::append(s, test::cylinder({-1, 0.2, 0}, {1, 0.2, 0}, 0.01, 16, 21));  // a cord inside the limb
    const Graph g(s);
    const RingFinder::Ring ring = RingFinder(g.graph).find({0.03, 0, 0}, {1, 0, 0});
    EXPECT_EQ(ring.kind, RingFinder::Kind::around);
    EXPECT_TRUE(std::any_of(ring.sources.begin(), ring.sources.end(),
                            [&](const EdgeSource& e) { return g.graph.component[e.node] == 0; }));
}

TEST(Ring, AHoleOrARepeatedTriangleDoesNotOpenTheLoop) {
    Shape s = test::cylinder({-1, 0, 0}, {1, 0, 0}, 0.1, 16, 21);
    const std::vector<Triangle> all = s.triangles;
    s.triangles.insert(s.triangles.end(), all.begin(), all.end());  // each twice
    const Graph twice(s);
    EXPECT_EQ(RingFinder(twice.graph).find({0.03, 0, 0}, {1, 0, 0}).kind, RingFinder::Kind::around);
    s.triangles.clear();
    for (const Triangle& t : all)  // removes a tenth of the circumference
        if (!(s.positions[t[0]].y > 0.07f && s.positions[t[1]].y > 0.07f && s.positions[t[2]].y > 0.07f))
            s.triangles.push_back(t);
    ASSERT_LT(s.triangles.size(), all.size());
    const Graph hole(s);
    EXPECT_EQ(RingFinder(hole.graph).find({0.03, 0, 0}, {1, 0, 0}).kind, RingFinder::Kind::around);
}

TEST(Ring, NearestPositionsReplaceADistantCut) {
    const Graph g(test::cylinder({-1, 0, 0}, {1, 0, 0}, 0.1, 16, 21));
    const RingFinder::Ring ring = RingFinder(g.graph).find({1.5, 0, 0}, {1, 0, 0});
    EXPECT_EQ(ring.kind, RingFinder::Kind::nearest);
    ASSERT_FALSE(ring.sources.empty());
    for (const EdgeSource& s : ring.sources) {
        EXPECT_NEAR(g.graph.position[s.node].x, 1, 1e-6);
        EXPECT_GE(s.distance, 0.5f);
    }
}

TEST(Ring, DistantPartsOfALoopStartLate) {
    // A slab that is 2 wide and 0.2 thick, cut lengthwise: only its middle is at the joint.
    const Graph g(test::box({0, 0, 0}, {1, 0.5, 0.1}, 20));
    const RingFinder::Ring ring = RingFinder(g.graph).find({0, 0.01, 0}, {0, 1, 0});
    EXPECT_EQ(ring.kind, RingFinder::Kind::around);
    std::vector<float> least(g.graph.position.size(), INFINITY);
    for (const EdgeSource& s : ring.sources) least[s.node] = std::min(least[s.node], s.distance);
    for (std::size_t i = 0; i < least.size(); ++i) {
        if (std::isinf(least[i])) continue;
        const double across = std::hypot(g.graph.position[i].x, g.graph.position[i].z);
        EXPECT_NEAR(least[i], std::max(0.0, across - 1.1 * 0.1) + std::abs(g.graph.position[i].y - 0.01), 0.06);
    }
}

TEST(MeshGeodesic, DistanceAlongATubeIsItsLength) {
    const test::Character c = tube_of_two(41, -0.52f, 0.37f);
    const Binding b = bound(c, preset(Method::mesh_geodesic));
    int checked = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const Vec3& p = c.positions[v];
        if (std::hypot(p.y, p.z) < 0.09f) continue;  // the caps' middles
        EXPECT_NEAR(distance_of(b, v, 0), std::abs(p.x + 0.52f), 1e-5);
        EXPECT_NEAR(distance_of(b, v, 1), std::abs(p.x - 0.37f), 1e-5);
        EXPECT_EQ(b.coverage()[v], Coverage::weighted);
        ++checked;
    }
    EXPECT_GT(checked, 600);
}

TEST(MeshGeodesic, WeightsAreTheSplineOfTheSource) {
    const test::Character c = tube_of_two(41, -0.52f, 0.37f);
    BindOptions options = preset(Method::mesh_geodesic);
    EXPECT_EQ(options.falloff.law, FalloffLaw::cubic_hermite);
    options.finish.prune = 0;
    const Binding b = bound(c, options);
    const SkinWeights w = *b.weights();
    // With two joints none is beyond the limit, so the reach is the threshold: half of the tube.
    const auto h = [](double d) { return d < 1 ? 1 - 3 * d * d + 2 * d * d * d : 0; };
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const Vec3& p = c.positions[v];
        if (std::hypot(p.y, p.z) < 0.09f) continue;
        const double ha = h(std::abs(p.x + 0.52)), hb = h(std::abs(p.x - 0.37));
        double got = 0;
        for (const Influence& i : w[v])
            if (i.joint == 1) got = i.weight;
        EXPECT_NEAR(got, hb / (ha + hb), 1e-4) << p.x;
    }
}

// A tube along y from 0 to 4 with a joint at each of these heights.
test::Character tube_of_many(const std::vector<float>& heights) {
    test::Character c;
    const Shape s = test::cylinder({0, 0, 0}, {0, 4, 0}, 0.1, 16, 81);
    c.positions = s.positions;
    c.triangles = s.triangles;
    for (std::size_t j = 0; j < heights.size(); ++j) {
        Joint joint;
        joint.name = std::to_string(j);
        joint.parent = static_cast<int>(j) - 1;
        joint.position = {0, heights[j], 0};
        c.skeleton.joints.push_back(joint);
    }
    return c;
}

// "do, if the current closest joint < Threshold, until we have selected the maximum number of influences;
// Maximum-Distance = min(D); weight = F(distance / Maximum-Distance)" (Tokheim 2003), and normalised.
std::vector<double> weights_of_the_source(const std::vector<float>& heights, double y, std::size_t limit,
                                          double threshold) {
    std::vector<std::pair<double, std::size_t>> d;
    for (std::size_t j = 0; j < heights.size(); ++j) d.emplace_back(std::abs(y - double{heights[j]}), j);
    std::sort(d.begin(), d.end());
    const std::size_t n = std::min(limit, d.size());
    const double maximum = n < d.size() ? std::min(threshold, d[n].first) : threshold;
    std::vector<double> weight(heights.size(), 0);
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const double t = std::min(1.0, d[k].first / maximum);
        sum += weight[d[k].second] = (1 - t) * (1 - t) * (1 + 2 * t);
    }
    for (double& w : weight) w /= sum;
    return weight;
}

bool on_a_cap(const Vec3& p) { return std::hypot(p.x, p.z) < 0.09f; }

TEST(MeshGeodesic, TheReachEndsAtTheLimitOfInfluences) {
    const std::vector<float> heights{0.2f, 0.53f, 0.94f, 1.27f, 1.71f, 2.12f, 2.63f, 3.04f, 3.38f, 3.79f};
    const test::Character c = tube_of_many(heights);
    BindOptions options = preset(Method::mesh_geodesic);
    options.falloff.threshold = 100;
    options.finish.prune = 0;
    const Binding of_four = bound(c, options);
    for (const int limit : {1, 2, 3, 4, 8, all_influences}) {
        options.finish.max_influences = limit;
        const Binding b = bound(c, options);
        const SkinWeights w = *b.weights();
        const std::size_t most = limit == all_influences ? heights.size() : static_cast<std::size_t>(limit);
        EXPECT_EQ(w.max_influences(), most);
        for (std::size_t v = 0; v < c.positions.size(); ++v) {
            if (on_a_cap(c.positions[v])) continue;
            const std::vector<double> expected =
                weights_of_the_source(heights, c.positions[v].y, most, options.falloff.threshold * 4);
            for (std::uint32_t j = 0; j < heights.size(); ++j)
                ASSERT_NEAR(test::weight_of(w, v, j), expected[j], 1e-4) << limit << " " << c.positions[v].y;
        }
        // A binding with another limit gives the same bits.
        if (limit == all_influences) continue;
        const Result<SkinWeights> again = of_four.weights(options.falloff, options.finish);
        ASSERT_TRUE(again);
        EXPECT_EQ(*again, w) << limit;
        const Binding read = test::must(Binding::from_bytes(of_four.to_bytes()));
        EXPECT_EQ(*read.weights(options.falloff, options.finish), w) << limit;
    }
    // In a rigid region all joints but the drivers are infinitely far, so the reach is the threshold.
    options.finish.max_influences = 2;
    options.falloff.threshold = 0.5f;
    Adjustments rigid;
    rigid.rigid.push_back({std::vector<bool>(c.positions.size(), true), {4, 5, 6}});
    const SkinWeights w =
        test::must(adjusted_weights(of_four, c.mesh(), c.skeleton, options.falloff, options.finish, rigid));
    const std::vector<float> drivers(heights.begin() + 4, heights.begin() + 7);
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const double y = c.positions[v].y;
        if (on_a_cap(c.positions[v]) || y < 1.3 || y > 3) continue;
        const std::vector<double> expected = weights_of_the_source(drivers, y, 2, 2);
        for (std::uint32_t j = 0; j < 3; ++j) ASSERT_NEAR(test::weight_of(w, v, 4 + j), expected[j], 1e-4) << y;
    }
}

TEST(MeshGeodesic, NothingBleedsAcrossAGap) {
    // At the top of the left leg the right leg is 0.1 away in space, and far along the mesh.
    const test::Character c = test::u_tube();
    const Binding b = bound(c, preset(Method::mesh_geodesic));
    int checked = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const Vec3& p = c.positions[v];
        if (p.x > -0.04f || p.y < 0.3f || p.y > 0.95f) continue;
        EXPECT_GT(distance_of(b, v, c.joint("right")), p.y + 0.1f);
        ++checked;
    }
    EXPECT_GT(checked, 100);
}

TEST(MeshGeodesic, RingsAtTheBonesMiddleGiveEachJointItsBone) {
    const test::Character c = tube_of_two(41, -0.95f, 0.0f);  // bones -0.95..0 and 0..1
    BindOptions options = preset(Method::mesh_geodesic);
    options.rings = RingPlacement::bone;
    const Binding b = bound(c, options);
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const Vec3& p = c.positions[v];
        if (std::hypot(p.y, p.z) < 0.09f) continue;
        EXPECT_NEAR(distance_of(b, v, 0), std::abs(p.x + 0.475f), 1e-5);
        EXPECT_NEAR(distance_of(b, v, 1), std::abs(p.x - 0.5f), 1e-5);
    }
}

// A tube of radius 0.1 along x, bent by 40 degrees where x < -0.25; joint a in the bent half, b at x = 0.13.
test::Character bent_tube() {
    test::Character c = tube_of_two(41, -0.9f, 0.13f);
    const double angle = 40 * std::numbers::pi / 180;
    const auto bend = [&](Vec3& p) {
        if (p.x >= -0.25f) return;
        const double x = p.x + 0.25, y = p.y;
        p.x = static_cast<float>(x * std::cos(angle) - y * std::sin(angle) - 0.25);
        p.y = static_cast<float>(x * std::sin(angle) + y * std::cos(angle));
    };
    for (Vec3& p : c.positions) bend(p);
    bend(c.skeleton.joints[0].position);
    return c;
}

// Reference: shortest distances along edges from the points where a plane cuts them. The cut is one loop.
std::vector<double> from_the_cut(const test::Character& c, const Vec3& at, const Vec3& normal) {
    const auto distance = [](const Vec3& a, const Vec3& b) {
        return std::sqrt(std::pow(double{a.x} - b.x, 2) + std::pow(double{a.y} - b.y, 2) +
                         std::pow(double{a.z} - b.z, 2));
    };
    const auto height = [&](const Vec3& p) {
        return (double{p.x} - at.x) * normal.x + (double{p.y} - at.y) * normal.y + (double{p.z} - at.z) * normal.z;
    };
    std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (const Triangle& t : c.triangles)
        for (std::size_t k = 0; k < 3; ++k) edges.insert(std::minmax(t[k], t[(k + 1) % 3]));
    std::vector<double> d(c.positions.size(), INFINITY);
    for (const auto& [a, b] : edges) {
        const double ha = height(c.positions[a]), hb = height(c.positions[b]);
        if ((ha < 0) == (hb < 0)) continue;
        const double t = ha / (ha - hb), l = distance(c.positions[a], c.positions[b]);
        d[a] = std::min(d[a], t * l);
        d[b] = std::min(d[b], (1 - t) * l);
    }
    for (bool changed = true; changed;) {  // Bellman-Ford
        changed = false;
        for (const auto& [a, b] : edges) {
            const double l = distance(c.positions[a], c.positions[b]);
            for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}})
                if (d[from] + l < d[to] - 1e-12) d[to] = d[from] + l, changed = true;
        }
    }
    return d;
}

TEST(MeshGeodesic, RingsAcrossTheJointsOwnAxis) {
    test::Character c = bent_tube();
    BindOptions options = preset(Method::mesh_geodesic);
    const Binding across = bound(c, options);
    options.rings = RingPlacement::axes;
    // The scene's axes, and axes of which another one is nearly parallel to the tube, in the opposite direction.
    const float s = std::sin(-0.25f), k = std::cos(0.25f);
    for (const std::array<Vec3, 3>& axes : {std::array{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}},
                                            std::array{Vec3{0, 1, 0}, Vec3{-1, 0, 0}, Vec3{0, 0, 1}},
                                            std::array{Vec3{0, 0, 1}, Vec3{s, -k, 0}, Vec3{k, s, 0}}}) {
        c.skeleton.joints[1].axes = axes;
        const Binding b = bound(c, options);
        const bool straight = axes[0].x == 1 || axes[1].x == -1;
        const Vec3 normal = straight ? Vec3{1, 0, 0} : axes[2];
        const std::vector<double> expected = from_the_cut(c, c.skeleton.joints[1].position, normal);
        double most = 0;
        for (std::size_t v = 0; v < c.positions.size(); ++v) {
            const Vec3& p = c.positions[v];
            ASSERT_NEAR(distance_of(b, v, 1), expected[v], 1e-5) << p.x << " " << p.y;
            if (straight && p.x > -0.1f && std::hypot(p.y, p.z) > 0.09f) {
                ASSERT_NEAR(distance_of(b, v, 1), std::abs(p.x - 0.13f), 1e-5);
            }
            most = std::max(most, std::abs(double{distance_of(b, v, 1)} - distance_of(across, v, 1)));
        }
        EXPECT_GT(most, 0.01);  // differs from the plane halfway between the bones
        // The same plane, stated for the joint, under any option for the others.
        c.skeleton.joints[1].ring_normal = normal;
        for (const RingPlacement rings : {RingPlacement::joint, RingPlacement::bone, RingPlacement::axes}) {
            options.rings = rings;
            const Binding stated = bound(c, options);
            for (std::size_t v = 0; v < c.positions.size(); ++v)
                ASSERT_EQ(distance_of(stated, v, 1), distance_of(b, v, 1)) << int(rings);
        }
        c.skeleton.joints[1].ring_normal.reset();
        options.rings = RingPlacement::axes;
    }
    // A leaf without a bone continues its parent's bone. A single point uses its axis that points up.
    c.skeleton.joints[1].axes = {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};
    c.skeleton.joints[1].tail.reset();
    EXPECT_NEAR(distance_of(bound(c, options), 16 * 30, 1), from_the_cut(c, {0.13f, 0, 0}, {1, 0, 0})[16 * 30],
                1e-5);
    c.skeleton.joints.resize(1);
    EXPECT_TRUE(bind(c.mesh(), c.skeleton, options));
}

TEST(MeshGeodesic, AllPairsGiveTheSameWeights) {
    test::Character c = test::u_tube(40);
    const Shape button = test::sphere({0.4, 0.5, 0}, 0.05, 1);  // reached over bridges
    append(c, button.positions, button.triangles, 2);
    for (const RingPlacement rings : {RingPlacement::joint, RingPlacement::bone, RingPlacement::axes}) {
        BindOptions options = preset(Method::mesh_geodesic);
        options.rings = rings;
        const Binding one = bound(c, options);
        options.all_pairs = true;
        const Binding all = bound(c, options);
        EXPECT_EQ(one.coverage(), all.coverage());
        for (std::size_t v = 0; v < c.positions.size(); ++v)
            for (std::uint32_t j = 0; j < 3; ++j) {
                ASSERT_TRUE(std::isfinite(distance_of(one, v, j)));
                EXPECT_NEAR(distance_of(one, v, j), distance_of(all, v, j), 1e-5);
            }
    }
}

TEST(MeshGeodesic, LoosePartsAreBridgedAndCounted) {
    test::Character c = test::bar();
    const std::size_t body = c.positions.size();
    const Shape button = test::sphere({0.7, 0.3, 0}, 0.05, 2);
    append(c, button.positions, button.triangles, c.joint("bar_b"));
    const Binding b = bound(c, preset(Method::mesh_geodesic));
    EXPECT_EQ(b.report().components, 2u);
    EXPECT_EQ(b.report().bridged_components, 1u);
    EXPECT_EQ(b.report().covered(), 1);
    const SkinWeights w = *b.weights();
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        EXPECT_EQ(b.coverage()[v], v < body ? Coverage::weighted : Coverage::bridged);
        if (v >= body) {
            EXPECT_EQ(w[v][0].joint, c.joint("bar_b"));
        }
    }
}

TEST(MeshGeodesic, WeightsEveryVertexOfADefectiveMesh) {
    const test::Character good = test::quadruped(0.03);
    for (const test::Defect& defect : test::defects()) {
        const test::Character c = defect.apply(good);
        const Result<Binding> b = bind(c.mesh(), c.skeleton, preset(Method::mesh_geodesic));
        EXPECT_EQ(b.ok(), std::string(defect.error).empty()) << defect.name;
        if (!b) continue;
        EXPECT_EQ(b->report().covered(), 1) << defect.name;
        EXPECT_EQ(b->report().coverage[std::size_t(Coverage::none)], 0u) << defect.name;
        ASSERT_TRUE(b->weights()) << defect.name;
    }
}

TEST(MeshGeodesic, ThreadsDoNotChangeABit) {
    for (const test::Character& c : {test::robot(), test::quadruped(0.03)}) {
        Context one, three;
        one.threads = 1;
        three.threads = 3;
        const Result<Binding> a = bind(c.mesh(), c.skeleton, preset(Method::mesh_geodesic), &one),
                              b = bind(c.mesh(), c.skeleton, preset(Method::mesh_geodesic), &three);
        ASSERT_TRUE(a && b);
        EXPECT_EQ(a->report().covered(), 1) << c.name;
        EXPECT_EQ(a->distances().distance, b->distances().distance) << c.name;
        EXPECT_EQ(*a->weights(), *b->weights()) << c.name;
    }
}

TEST(MeshGeodesic, RandomMeshesAndSkeletonsAreBoundOrRefused) {
    std::mt19937 random(11);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto coordinate = [&] {
        return static_cast<float>(below(5)) - 2;
    };  // few different values: many duplicates
    for (int round = 0; round < 300; ++round) {
        std::vector<Vec3> positions(4 + below(30));
        for (Vec3& p : positions) p = {coordinate(), coordinate(), coordinate() * (round % 3 == 0 ? 0.0f : 1e-3f)};
        std::vector<Triangle> triangles(1 + below(20));
        const auto n = static_cast<std::uint32_t>(positions.size());
        for (Triangle& t : triangles) t = {below(n), below(n), below(n)};
        Skeleton skeleton;
        skeleton.joints.resize(1 + below(6));
        for (std::uint32_t j = 0; j < skeleton.joints.size(); ++j) {
            skeleton.joints[j].parent = static_cast<int>(below(j + 1)) - 1;
            skeleton.joints[j].position = {coordinate(), coordinate(), coordinate()};
        }
        BindOptions options = preset(Method::mesh_geodesic);
        options.rings = static_cast<RingPlacement>(round % 3);
        options.finish.max_influences = static_cast<int>(below(9));
        const Result<Binding> b = bind({positions, triangles, {}}, skeleton, options);
        if (!b) {
            EXPECT_EQ(b.error().code, ErrorCode::input) << b.error().message;  // a mesh without size
            continue;
        }
        const Result<SkinWeights> w = b->weights();
        ASSERT_TRUE(w);
        for (std::size_t v = 0; v < positions.size(); ++v) EXPECT_FALSE((*w)[v].empty()) << round << " " << v;
    }
}

TEST(MeshGeodesic, SkinsLimitTheJointsOfAVertex) {
    // Two separate bars; the second is skinned to one joint that is in the first.
    test::Character c = tube_of_two(21, -0.5f, 0.5f);
    const std::size_t body = c.positions.size();
    const Shape other = test::cylinder({-1, 1, 0}, {1, 1, 0}, 0.1, 16, 5);
    append(c, other.positions, other.triangles, 1);
    c.skeleton.skins = {{0, 1}, {1}};
    std::vector<std::uint32_t> skin(c.positions.size(), 0);
    std::fill(skin.begin() + static_cast<std::ptrdiff_t>(body), skin.end(), 1u);
    const Result<Binding> b = bind({c.positions, c.triangles, skin}, c.skeleton, preset(Method::mesh_geodesic));
    ASSERT_TRUE(b);
    const SkinWeights w = *b->weights();
    for (std::size_t v = body; v < c.positions.size(); ++v) {
        ASSERT_EQ(w[v].size(), 1u);
        EXPECT_EQ(w[v][0].joint, 1u);
    }
    EXPECT_EQ(b->report().covered(), 1);
}

TEST(MeshGeodesic, RefusesUnsupportedInput) {
    BindOptions options;
    options.all_pairs = true;
    const test::Character c = test::bar();
    Result<Binding> b = bind(c.mesh(), c.skeleton, options);
    ASSERT_FALSE(b);
    EXPECT_EQ(b.error().code, ErrorCode::usage);
    options = preset(Method::mesh_geodesic);
    options.all_pairs = true;
    Context small;
    small.memory_limit = 4 << 20;
    b = bind(c.mesh(), c.skeleton, options, &small);
    ASSERT_FALSE(b);
    EXPECT_EQ(b.error().code, ErrorCode::too_large);
    EXPECT_EQ(b.error().message.find("resolution"), std::string::npos) << b.error().message;
    test::Character large = test::bar();
    const Shape sheet = test::sheet({0, 1, 0}, {1, 0, 0}, {0, 0, 1}, 130, 130);
    append(large, sheet.positions, sheet.triangles, 0);
    b = bind(large.mesh(), large.skeleton, options);
    ASSERT_FALSE(b);
    EXPECT_EQ(b.error().code, ErrorCode::too_large);
    EXPECT_NE(b.error().message.find("16384"), std::string::npos) << b.error().message;
    Context stop;
    stop.cancel = true;
    options.all_pairs = false;
    b = bind(c.mesh(), c.skeleton, options, &stop);
    ASSERT_FALSE(b);
    EXPECT_EQ(b.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace sinew::test_mesh_geodesic
