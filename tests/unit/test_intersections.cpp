// Intersecting triangles against two independent references, and cases with known results.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <set>

#include "characters/characters.h"
#include "characters/defects.h"
#include "characters/shapes.h"
#include "sanitized.h"
#include "sinew/domain.h"
#include "support.h"

namespace sinew::test_intersections {
namespace {

using namespace test;

// ---- Reference 1, exact in small integers: two convex sets have no common inner point if and only if a plane that
// does not contain both separates them. For triangles one of these directions is normal to such a plane: the
// normals, cross products of an edge of each, and, in one plane, the in-plane normals of the edges.

using Whole = std::array<long long, 3>;
Whole minus(const Whole& a, const Whole& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
long long dot(const Whole& a, const Whole& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Whole cross(const Whole& a, const Whole& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
using WholeTriangle = std::array<Whole, 3>;

bool inner_points_in_common(const WholeTriangle& a, const WholeTriangle& b) {
    const auto edges = [](const WholeTriangle& t) {
        return std::array<Whole, 3>{minus(t[1], t[0]), minus(t[2], t[1]), minus(t[0], t[2])};
    };
    const auto of_a = edges(a), of_b = edges(b);
    const Whole na = cross(of_a[0], of_a[1]), nb = cross(of_b[0], of_b[1]);
    if (na == Whole{} || nb == Whole{}) return false;  // no inner points: degenerate
    std::vector<Whole> ways{na, nb};
    for (const Whole& e : of_a) {
        ways.push_back(cross(na, e));
        for (const Whole& f : of_b) ways.push_back(cross(e, f));
    }
    for (const Whole& f : of_b) ways.push_back(cross(nb, f));
    for (const Whole& way : ways) {
        const auto range = [&](const WholeTriangle& t) {
            const auto [low, high] = std::minmax({dot(way, t[0]), dot(way, t[1]), dot(way, t[2])});
            return std::pair{low, high};
        };
        const auto [low_a, high_a] = range(a);
        const auto [low_b, high_b] = range(b);
        const bool both_in_the_plane = low_a == high_a && low_b == high_b && low_a == low_b;
        if ((high_a <= low_b || high_b <= low_a) && !both_in_the_plane) return false;
    }
    return true;
}

// ---- Reference 2, for triangles in general position: an edge of one passes through the other.

bool goes_through(P3 from, P3 to, const std::array<P3, 3>& t) {
    const P3 d = to - from, e = t[1] - t[0], f = t[2] - t[0], s = from - t[0];
    const double det = dot(d, cross(e, f));
    const double u = dot(d, cross(s, f)) / det, v = dot(d, cross(e, s)) / det, w = -dot(s, cross(e, f)) / det;
    return w > 0 && w < 1 && u > 0 && v > 0 && u + v < 1;
}
bool edges_go_through(const std::array<P3, 3>& a, const std::array<P3, 3>& b) {
    for (std::size_t k = 0; k < 3; ++k)
        if (goes_through(a[k], a[(k + 1) % 3], b) || goes_through(b[k], b[(k + 1) % 3], a)) return true;
    return false;
}

bool share_a_position(const MeshView& mesh, const Triangle& a, const Triangle& b) {
    for (const std::uint32_t v : a)
        for (const std::uint32_t w : b)
            if (mesh.positions[v] == mesh.positions[w]) return true;
    return false;
}

template <typename Meet>
std::vector<Intersects> by_all_pairs(const MeshView& mesh, Meet&& meet) {
    std::vector<Intersects> out(mesh.triangles.size(), Intersects::nothing);
    for (std::size_t i = 0; i < out.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (!share_a_position(mesh, mesh.triangles[i], mesh.triangles[j]) && meet(i, j))
                out[i] = out[j] = Intersects::another;
    return out;
}

std::vector<Intersects> by_edges(const MeshView& mesh) {
    const auto at = [&](std::size_t t) {
        std::array<P3, 3> out;
        for (std::size_t k = 0; k < 3; ++k) {
            const Vec3& p = mesh.positions[mesh.triangles[t][k]];
            out[k] = {p.x, p.y, p.z};
        }
        return out;
    };
    return by_all_pairs(mesh, [&](std::size_t i, std::size_t j) { return edges_go_through(at(i), at(j)); });
}

Intersections found_in(const Shape& shape, int threads = 0) {
    Context context;
    context.threads = threads;
    return must(find_intersections({shape.positions, shape.triangles, {}}, &context));
}
std::size_t count(const Shape& shape) {
    const Intersections found = found_in(shape);
    EXPECT_EQ(found.undecided, 0u);
    EXPECT_EQ(found.of_triangle.size(), shape.triangles.size());
    EXPECT_EQ(std::size_t(std::count(found.of_triangle.begin(), found.of_triangle.end(), Intersects::another)),
              found.triangles);
    return found.triangles;
}

Shape of(std::vector<Vec3> positions) {
    Shape shape{std::move(positions), {}};
    for (std::uint32_t v = 0; v < shape.positions.size(); v += 3) shape.triangles.push_back({v, v + 1, v + 2});
    return shape;
}
Shape operator+(Shape a, const Shape& b) {
    append(a, b);
    return a;
}
template <typename Map>
Shape moved(Shape shape, Map&& map) {
    for (Vec3& p : shape.positions) p = to_vec3(map(P3{p.x, p.y, p.z}));
    return shape;
}

/// Expects the same count after random translations, scalings and rotations.
void expect_everywhere(const Shape& shape, std::size_t triangles, const char* what) {
    std::mt19937 random(7);
    const auto any = [&] { return static_cast<double>(random() % 20001) / 10000 - 1; };
    EXPECT_EQ(count(shape), triangles) << what;
    for (int round = 0; round < (sanitized ? 10 : 60); ++round) {
        const P3 axis = unit({any() + 0.01, any(), any()});
        const double angle = 3 * any(), size = std::pow(10.0, round % 7 - 3);
        const P3 shift{size * any(), size * any(), size * any()};
        EXPECT_EQ(count(moved(shape, [&](P3 p) { return shift + size * turned(p, axis, angle); })), triangles)
            << what << ", round " << round;
    }
}

TEST(Intersections, EqualAnExactTestOnALattice) {
    // Points of a small lattice, so that degenerate contacts are frequent: corners on edges, crossing edges,
    // coplanar and overlapping triangles.
    std::mt19937 random(20140710);
    std::size_t marked = 0, flat = 0;
    for (int round = 0; round < (sanitized ? 300 : 4000); ++round) {
        const unsigned side = 2 + round % 3;
        const std::size_t n = round % 4 == 0 ? 12 : 2;
        std::vector<Whole> points;
        std::vector<Vec3> positions;
        for (std::size_t k = 0; k < 3 * n; ++k) {
            Whole p;
            for (long long& c : p) c = random() % side;
            if (round % 5 == 0) p[2] = round % 10 == 0 ? 0 : p[0];  // all in one plane
            points.push_back(p);
            positions.push_back({float(p[0]), float(p[1]), float(p[2])});
        }
        const Shape shape = of(positions);
        const MeshView mesh{shape.positions, shape.triangles, {}};
        const auto at = [&](std::size_t t) {
            return WholeTriangle{points[3 * t], points[3 * t + 1], points[3 * t + 2]};
        };
        const auto wanted =
            by_all_pairs(mesh, [&](std::size_t i, std::size_t j) { return inner_points_in_common(at(i), at(j)); });
        const Intersections found = found_in(shape);
        ASSERT_EQ(found.of_triangle, wanted) << "round " << round;
        marked += found.triangles;
        flat += round % 5 == 0 ? found.triangles : 0;
    }
    EXPECT_GT(marked, sanitized ? 100u : 2000u);
    EXPECT_GT(flat, sanitized ? 20u : 300u);
}

TEST(Intersections, EqualEdgeTriangleTestsOnRoundBodies) {
    const Shape bodies = sphere({0, 0, 0}, 1, 3) +
                         moved(torus(0.9, 0.25, 40, 20),
                               [](P3 p) {
                                   return P3{0.1, 0.2, 0.05} + turned(p, unit({1, 0.3, 0.7}), 0.4);
                               }) +
                         moved(sphere({0.8, 0.6, 0.1}, 0.5, 2), [](P3 p) {
                             return turned(p, {0, 1, 0}, 0.3);
                         });
    const MeshView mesh{bodies.positions, bodies.triangles, {}};
    const Intersections found = found_in(bodies);
    EXPECT_EQ(found.of_triangle, by_edges(mesh));
    EXPECT_GT(found.triangles, 200u);
    EXPECT_LT(found.triangles, bodies.triangles.size() / 2);
}

TEST(Intersections, CountsIntersections) {
    const Shape floor = of({{-2, 0, -2}, {2, 0, -2}, {0, 0, 3}});
    expect_everywhere(floor + of({{0, -1, 0}, {0.5f, 1, 0}, {0, 1, 0.5f}}), 2, "one through the other");
    expect_everywhere(floor + of({{-5, -1, 0.1f}, {5, -1, 0.2f}, {0, 4, 0.1f}}), 2, "edges through each other");
    expect_everywhere(floor + of({{-0.1f, 0, 0}, {0.1f, 0, 0}, {0, 0, 0.1f}}), 2, "one lies on the other");
    expect_everywhere(floor + of({{-1, 0, 0}, {5, 0, 0}, {5, 0, 1}}), 2, "one lies partly on the other");
    // A box on a box: the four triangles of the two coincident sides count.
    expect_everywhere(box({0, 0, 0}, {1, 1, 1}) + box({0.1, 1.5, 0.2}, {0.5, 0.5, 0.5}), 4, "a box on a box");
    // Two boxes that overlap at a corner: those triangles of three sides of each that the other box cuts.
    EXPECT_GT(count(box({0, 0, 0}, {1, 1, 1}, 4) + box({1.1, 0.9, 0.8}, {0.7, 0.7, 0.7}, 4)), 20u);
}

TEST(Intersections, IgnoresTouchingTriangles) {
    const Shape floor = of({{-2, 0, -2}, {2, 0, -2}, {0, 0, 3}});
    expect_everywhere(floor + of({{-0.5f, 0, 0}, {0.5f, 0, 0}, {0, 1, 0}}), 0,
                      "one stands on the other by an edge");
    expect_everywhere(floor + of({{0, 0, 0}, {0.5f, 1, 0}, {-0.5f, 1, 0.3f}}), 0, "one stands on it by a corner");
    expect_everywhere(floor + of({{-2, 0, -2.5f}, {2, 0, -2}, {0, 0, -4}}), 0, "neighbours in one plane");
    expect_everywhere(floor + of({{-1, 0, -2}, {1, 0, -2}, {0, 0, -4}}), 0, "edges lie on each other");
    expect_everywhere(floor + of({{-1, 0.001f, 0}, {1, 0.001f, 0}, {0, 0.001f, 1}}), 0, "a little above");
    expect_everywhere(floor + of({{-2, 0, -2}, {2, 0, -2}, {0, 0.1f, 2}}), 0, "folded onto its neighbour");
    expect_everywhere(floor + of({{-2, 0, -2}, {2, 0, -2}, {0, 0, 2.5f}}), 0, "folded flat onto its neighbour");
    expect_everywhere(floor + of({{0, 0, 3}, {0.3f, 1, -1}, {0.2f, -1, -1}}), 0,
                      "through it beside a shared corner");
    expect_everywhere(floor + floor, 0, "a duplicate");
    expect_everywhere(floor + of({{0, -1, 0}, {0, 1, 0}, {0, 3, 0}}), 0, "a degenerate one");
    expect_everywhere(floor + of({{0, -1, 0}, {0, 1, 0}, {0, 1, 0}}), 0, "a segment");
    for (const Shape& shape : {box({0, 0, 0}, {1, 1, 1}, 5), sphere({0, 0, 0}, 1, 3), torus(1, 0.3, 30, 12),
                               nested_boxes(), open_box({0, 0, 0}, {1, 1, 1}, 3, 5)})
        EXPECT_EQ(count(shape), 0u);
}

TEST(Intersections, FindsThoseOfCharacters) {
    // A smooth body has none, a robot's limbs overlap, and two copies of a figure, slightly offset, intersect
    // everywhere.
    const Character person = biped(), machine = robot();
    const auto share = [&](const Character& c) {
        const Intersections found = must(find_intersections(c.mesh()));
        EXPECT_EQ(found.undecided, 0u);
        return static_cast<double>(found.triangles) / static_cast<double>(c.triangles.size());
    };
    EXPECT_EQ(share(person), 0);
    EXPECT_GT(share(machine), 0.02);
    EXPECT_LT(share(machine), 0.5);
    EXPECT_GT(share(find_defect("crossing")->apply(person)), 0.03);
    // With coarse cells, adjacent fingers of a body intersect.
    const Character coarse = biped({.cell = 0.05});
    const Intersections found = must(find_intersections(coarse.mesh()));
    EXPECT_GT(found.triangles, 0u);
    EXPECT_TRUE(sanitized || found.of_triangle == by_edges(coarse.mesh()));
}

TEST(Intersections, EdgesEqualThoseCountedByTheTopology) {
    const Character person = biped({.cell = 0.05});
    std::size_t any = 0;
    for (const Defect& defect : defects()) {
        const Character c = defect.apply(person);
        if (!check_mesh(c.mesh())) continue;
        const MeshTopology topology = analyse_mesh(c.mesh());
        const DefectEdges edges = find_defect_edges(c.mesh(), topology.weld);
        EXPECT_EQ(edges.boundary.size(), topology.defects.boundary_edges) << defect.name;
        EXPECT_EQ(edges.nonmanifold.size(), topology.defects.nonmanifold_edges) << defect.name;
        any += edges.boundary.size() + edges.nonmanifold.size();
        for (const auto& list : {edges.boundary, edges.nonmanifold})
            for (const auto& [from, to] : list) {
                EXPECT_LT(from, to);
                EXPECT_EQ(topology.weld[from], from);
                EXPECT_EQ(topology.weld[to], to);
            }
    }
    EXPECT_GT(any, 100u);
    // The rim of a sheet, and an edge where three sheets meet.
    const Shape leaves = sheet({1, 0, 0}, {1, 0, 0}, {0, 1, 0}, 1, 1) +
                         sheet({0, 0, 1}, {0, 0, 1}, {0, 1, 0}, 1, 1) +
                         sheet({-1, 0, 0}, {1, 0, 0}, {0, 1, 0}, 1, 1);
    const MeshView mesh{leaves.positions, leaves.triangles, {}};
    const DefectEdges edges = find_defect_edges(mesh, analyse_mesh(mesh).weld);
    EXPECT_EQ(edges.boundary.size(), 9u);
    ASSERT_EQ(edges.nonmanifold.size(), 1u);
    for (const std::uint32_t v : edges.nonmanifold[0]) EXPECT_EQ(leaves.positions[v].x, 0);
}

TEST(Intersections, NonManifoldVerticesAreThoseOfSeveralFans) {
    const auto found = [](const Shape& s) {
        const MeshView mesh{s.positions, s.triangles, {}};
        return find_nonmanifold_vertices(mesh, analyse_mesh(mesh).weld);
    };
    // Closed and open surfaces have none, nor do the ends of an edge of three triangles.
    EXPECT_TRUE(found(box({0, 0, 0}, {1, 1, 1}, 3)).empty());
    EXPECT_TRUE(found(sheet({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 3, 3)).empty());
    EXPECT_TRUE(found(sheet({1, 0, 0}, {1, 0, 0}, {0, 1, 0}, 1, 1) + sheet({0, 0, 1}, {0, 0, 1}, {0, 1, 0}, 1, 1) +
                      sheet({-1, 0, 0}, {1, 0, 0}, {0, 1, 0}, 1, 1))
                    .empty());
    // Boxes that touch at a corner, and at an edge. At the edge four sides meet, and each box is one fan.
    const Shape first = box({0, 0, 0}, {1, 1, 1});
    const std::vector<std::uint32_t> corner = found(first + box({2, 2, 2}, {1, 1, 1}));
    ASSERT_EQ(corner.size(), 1u);
    EXPECT_EQ(first.positions[corner[0]], (Vec3{1, 1, 1}));
    EXPECT_TRUE(found(first + box({2, 2, 0}, {1, 1, 1})).empty());
    // Duplicates and degenerate triangles are no fans.
    Shape twice = first;
    twice.triangles.insert(twice.triangles.end(), first.triangles.begin(), first.triangles.end());
    twice.triangles.push_back({0, 0, 1});
    EXPECT_TRUE(found(twice).empty());
}

/// Triangles with overlapping boxes that do not intersect: a stack of diagonal sheets.
Shape slanted_stack(std::size_t n) {
    Shape shape;
    for (std::uint32_t k = 0; k < n; ++k) {
        const float h = 2 * float(k) / float(n) - 1;
        shape.positions.insert(shape.positions.end(), {{-1, -1, h}, {1, 1, h}, {1, 1, h + 0.3f / float(n)}});
        shape.triangles.push_back({3 * k, 3 * k + 1, 3 * k + 2});
    }
    return moved(shape, [](P3 p) { return turned(p, unit({1, 2, 3}), 1); });
}

TEST(Intersections, TerminateOnAnyMesh) {
    // Meshes that would need all pairs. Each ends within seconds and reports an undecided count.
    const std::size_t n = sanitized ? 2000 : 150000;
    const Shape one = of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0.5f}});
    Shape same = one;
    same.triangles.resize(n, one.triangles[0]);
    Intersections found = found_in(same);
    EXPECT_EQ(found.triangles, 0u);
    Shape fan;  // triangles around one corner
    fan.positions.push_back({0, 0, 0});
    for (std::uint32_t k = 0; k < n; ++k) {
        const double turn = 6.283185307 * k / double(n), height = (k * 37 % 101) / 101.0;
        fan.positions.push_back(to_vec3({std::cos(turn), height, std::sin(turn)}));
        fan.triangles.push_back({0, 1 + k, 1 + (k + 1) % std::uint32_t(n)});
    }
    EXPECT_EQ(found_in(fan).triangles, 0u);
    found = found_in(slanted_stack(n));
    EXPECT_EQ(found.triangles, 0u);
    EXPECT_LE(found.undecided, n);
    // Most triangles intersect, which is found early.
    std::mt19937 random(3);
    std::vector<Vec3> anywhere;
    for (std::size_t k = 0; k < 3 * n; ++k)
        anywhere.push_back({float(random() % 1000003), float(random() % 1000003), float(random() % 1000003)});
    found = found_in(of(anywhere));
    EXPECT_GT(found.triangles, n - n / 50);
    EXPECT_LT(found.undecided, n / 50);
}

TEST(Intersections, ALargeTriangleAmongManySmallOnesIsDecided) {
    // Its box contains all others: more candidates than the budget of one triangle.
    Shape small;
    const int side = sanitized ? 12 : 60;
    for (int x = 0; x < side; ++x)
        for (int y = 0; y < side; ++y)
            for (int z = 0; z < side; ++z) {
                if (std::abs(x + y + z - 1.5 * side) < 2.5) continue;  // near the large triangle
                const P3 at{x + 0.3, y + 0.3, z + 0.3};
                append(small, of({to_vec3(at), to_vec3(at + P3{0.3, 0.1, 0}), to_vec3(at + P3{0, 0.2, 0.3})}));
            }
    const double s = side;
    const Shape large = of({to_vec3({0, 0.5 * s, s}), to_vec3({s, 0, 0.5 * s}), to_vec3({0.5 * s, s, 0})});
    EXPECT_EQ(count(small + large), 0u);
    const P3 inside{0.5 * s, 0.5 * s, 0.5 * s};
    const Shape needle =
        of({to_vec3(inside), to_vec3(inside + P3{0.5, 0.6, 0.5}), to_vec3(inside - P3{0.4, 0.5, 0.5})});
    EXPECT_EQ(count(small + large + needle), 2u);
}

TEST(Intersections, ThreadsChangeNothing) {
    const Shape stack = slanted_stack(sanitized ? 1000 : 60000);
    const Character machine = robot();
    for (const Shape& shape : {stack, Shape{machine.positions, machine.triangles},
                               box({0, 0, 0}, {1, 1, 1}, 20) + sphere({0.5, 0.5, 0.5}, 1, 4)}) {
        const Intersections one = found_in(shape, 1), four = found_in(shape, 4);
        EXPECT_EQ(one.of_triangle, four.of_triangle);
        EXPECT_EQ(one.triangles, four.triangles);
        EXPECT_EQ(one.undecided, four.undecided);
    }
}

TEST(Intersections, CanBeCancelled) {
    Context context;
    context.cancel = true;
    const Shape ball = sphere({0, 0, 0}, 1, 3);
    const Result<Intersections> found = find_intersections({ball.positions, ball.triangles, {}}, &context);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace sinew::test_intersections
