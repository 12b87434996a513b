// The tree over triangles against brute force; the Laplacian against shapes with known results.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "characters/shapes.h"
#include "core/nearest_in_triangle.h"
#include "core/vectors.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"

namespace sinew::test_surface {
namespace {

using test::Shape;

MeshView view(const Shape& shape) { return {shape.positions, shape.triangles, {}}; }

Shape soup(int count, unsigned seed) {
    std::mt19937 random(seed);
    const auto coordinate = [&] { return float(random() % 2001) / 1000 - 1; };
    Shape s;
    for (int t = 0; t < count; ++t) {
        const auto first = std::uint32_t(s.positions.size());
        const Vec3 at{coordinate(), coordinate(), coordinate()};
        for (int k = 0; k < 3; ++k) {
            // One in five is degenerate: all corners on a line, or in a point.
            const float size = t % 10 == 0 ? 0 : 0.2f;
            Vec3 d{size * coordinate(), size * coordinate(), size * coordinate()};
            if (t % 10 == 5) d = {0.1f * float(k), 0, 0};
            s.positions.push_back({at.x + d.x, at.y + d.y, at.z + d.z});
        }
        s.triangles.push_back({first, first + 1, first + 2});
    }
    return s;
}

// The distance to a triangle, from a fine grid of its points.
double sampled_distance(const Point3& a, const Point3& b, const Point3& c, const Point3& p) {
    constexpr int n = 100;
    double best = INFINITY;
    for (int i = 0; i <= n; ++i)
        for (int j = 0; i + j <= n; ++j) {
            const double u = double(i) / n, v = double(j) / n;
            const Point3 d = (1 - u - v) * a + u * b + v * c - p;
            best = std::min(best, norm(d));
        }
    return best;
}

TEST(TriangleTree, NearestPointEqualsBruteForce) {
    const Shape s = soup(300, 1);
    const TriangleTree tree(s.positions, s.triangles);
    std::mt19937 random(2);
    for (int k = 0; k < 300; ++k) {
        const Point3 p{double(random() % 3001) / 1000 - 1.5, double(random() % 3001) / 1000 - 1.5,
                       double(random() % 3001) / 1000 - 1.5};
        double best = INFINITY;
        for (const Triangle& t : s.triangles) {
            const Point3 a = to_point(s.positions[t[0]]), b = to_point(s.positions[t[1]]),
                         c = to_point(s.positions[t[2]]);
            const auto w = nearest_in_triangle(a, b, c, p);
            best = std::min(best, norm(w[0] * a + w[1] * b + w[2] * c - p));
        }
        const SurfacePoint found = tree.nearest(p, 10);
        ASSERT_NE(found.triangle, no_index);
        EXPECT_NEAR(found.distance, best, 1e-12);
        EXPECT_NEAR(found.share[0] + found.share[1] + found.share[2], 1, 1e-12);
        for (const double w : found.share) EXPECT_GE(w, 0);
        // No triangle within a smaller distance.
        EXPECT_EQ(tree.nearest(p, best * 0.999).triangle, no_index);
    }
}

TEST(TriangleTree, NearestPointInATriangleIsNotBeatenBySamples) {
    const Shape s = soup(60, 3);
    std::mt19937 random(4);
    for (const Triangle& t : s.triangles) {
        const Point3 a = to_point(s.positions[t[0]]), b = to_point(s.positions[t[1]]),
                     c = to_point(s.positions[t[2]]);
        for (int k = 0; k < 5; ++k) {
            const Point3 p = a + Point3{double(random() % 601) / 1000 - 0.3, double(random() % 601) / 1000 - 0.3,
                                        double(random() % 601) / 1000 - 0.3};
            const auto w = nearest_in_triangle(a, b, c, p);
            const double mine = norm(w[0] * a + w[1] * b + w[2] * c - p);
            const double sampled = sampled_distance(a, b, c, p);
            EXPECT_LE(mine, sampled + 1e-12);
            EXPECT_GE(mine, sampled - 0.01);
        }
    }
}

TEST(TriangleTree, AClosedSurfaceBlocksEverySegment) {
    // Also through edges and corners: segments from the middle to points on both sides of the lattice lines.
    const Shape s = test::box({0, 0, 0}, {1, 1, 1}, 4);
    const TriangleTree tree(s.positions, s.triangles);
    for (int i = -8; i <= 8; ++i)
        for (int j = -8; j <= 8; ++j) {
            const Point3 out{2, i / 4.0, j / 4.0}, in{0.99, i / 8.1, j / 8.1};
            EXPECT_TRUE(tree.blocked({0, 0, 0}, out, no_index, 1e-9)) << i << " " << j;
            EXPECT_TRUE(tree.blocked(out, {0, 0, 0}, no_index, 1e-9));
            EXPECT_FALSE(tree.blocked({0, 0, 0}, in, no_index, 1e-9));
        }
}

TEST(TriangleTree, BlockedLeavesOutTheVertexAndTheEnds) {
    const Shape s = test::sheet({0, 0, 0}, {1, 0, 0}, {0, 0, 1}, 1, 1);  // two triangles in the plane y = 0
    const TriangleTree tree(s.positions, s.triangles);
    EXPECT_TRUE(tree.blocked({0.3, -1, 0.1}, {0.3, 1, 0.1}, no_index, 0.01));
    EXPECT_FALSE(tree.blocked({0.3, -1, 0.1}, {0.3, -0.5, 0.1}, no_index, 0.01));
    EXPECT_FALSE(tree.blocked({0.3, -0.005, 0.1}, {0.3, 1, 0.1}, no_index, 0.01));
    EXPECT_FALSE(tree.blocked({0.3, -1, 0.1}, {0.3, 0.005, 0.1}, no_index, 0.01));
    EXPECT_FALSE(tree.blocked({-3, 0, 0}, {3, 0, 0}, no_index, 0.01)) << "in its plane";
    // The corner that both triangles share.
    std::uint32_t shared = 0;
    for (const std::uint32_t v : s.triangles[0])
        for (const std::uint32_t w : s.triangles[1])
            if (v == w) shared = v;
    EXPECT_FALSE(tree.blocked({0.3, -1, 0.1}, {0.3, 1, 0.1}, shared, 0.01));
    EXPECT_FALSE(TriangleTree({}, {}).blocked({0, 0, 0}, {1, 0, 0}, 0, 0));
    EXPECT_EQ(TriangleTree({}, {}).nearest({0, 0, 0}, 1).triangle, no_index);
}

MeshSurface surface_of(const Shape& shape) { return build_surface(view(shape), analyse_mesh(view(shape))); }

// (L f)_i over the mass: minus the Laplacian of f.
std::vector<double> laplacian(const MeshSurface& s, const std::vector<double>& f) {
    std::vector<double> out(s.nodes(), 0.0);
    for (const MeshSurface::Edge& e : s.edges) {
        out[e.a] += e.weight * (f[e.a] - f[e.b]);
        out[e.b] += e.weight * (f[e.b] - f[e.a]);
    }
    for (std::size_t i = 0; i < out.size(); ++i) out[i] /= s.mass[i];
    return out;
}

TEST(Surface, SphereHasTheRightAreaNormalsAndEigenfunctions) {
    const Shape shape = test::sphere({0, 0, 0}, 1, 4);
    const MeshSurface s = surface_of(shape);
    EXPECT_EQ(s.components, 1u);
    double area = 0;
    for (const double m : s.mass) area += m;
    EXPECT_NEAR(area, 4 * std::numbers::pi, 0.03);
    // Coordinates are eigenfunctions of the sphere's Laplacian, with eigenvalue 2.
    for (std::size_t axis = 0; axis < 3; ++axis) {
        std::vector<double> f(s.nodes());
        double sum = 0, square = 0;
        for (std::size_t i = 0; i < f.size(); ++i) f[i] = to_point(shape.positions[s.vertex_of[i]])[axis];
        const std::vector<double> lf = laplacian(s, f);
        for (std::size_t i = 0; i < f.size(); ++i)
            sum += f[i] * lf[i] * s.mass[i], square += f[i] * f[i] * s.mass[i];
        EXPECT_NEAR(sum / square, 2, 0.02);
    }
    for (std::size_t i = 0; i < s.nodes(); ++i)
        EXPECT_GT(dot(s.normal[i], to_point(shape.positions[s.vertex_of[i]])), 0.999);
}

TEST(Surface, LinearFunctionsAreHarmonicInAFlatSheet) {
    const Shape shape = test::sheet({0, 0, 0}, {1, 0, 0}, {0, 0, 2}, 7, 5);
    const MeshSurface s = surface_of(shape);
    std::vector<double> f(s.nodes());
    for (std::size_t i = 0; i < f.size(); ++i) {
        const Point3 p = to_point(shape.positions[s.vertex_of[i]]);
        f[i] = 3 * p[0] - p[2];
    }
    const std::vector<double> lf = laplacian(s, f);
    for (std::size_t i = 0; i < f.size(); ++i) {
        const Point3 p = to_point(shape.positions[s.vertex_of[i]]);
        // Diagonals have weight 0, which is raised to the minimum.
        if (std::abs(p[0]) < 0.99 && std::abs(p[2]) < 1.99) {
            EXPECT_NEAR(lf[i] * s.mass[i], 0, 1e-3);
        }
    }
}

TEST(Surface, WeightsAndMassesArePositive) {
    Shape shape = soup(200, 5);
    const auto fan = std::uint32_t(shape.positions.size());
    // Five triangles at one edge, a duplicate, one with two equal corners, a needle, and a cap whose angle is 180°.
    for (const Vec3 p : {Vec3{5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}, {5, -1, 0}, {5, 0, -1}, {5.5f, 1e-7f, 0}})
        shape.positions.push_back(p);
    for (std::uint32_t k = 2; k < 7; ++k) shape.triangles.push_back({fan, fan + 1, fan + k});
    shape.triangles.push_back({fan, fan + 1, fan + 2});
    shape.triangles.push_back({fan, fan, fan + 3});
    shape.triangles.push_back({fan + 1, fan + 6, fan + 6});
    const MeshSurface s = surface_of(shape);
    EXPECT_GT(s.components, 150u);
    for (const MeshSurface::Edge& e : s.edges) {
        EXPECT_LT(e.a, e.b);
        EXPECT_TRUE(e.weight > 0 && e.weight < 1e4) << e.weight;
        EXPECT_EQ(s.component[e.a], s.component[e.b]);
    }
    for (const double m : s.mass) EXPECT_TRUE(m > 0 && std::isfinite(m)) << m;
    for (const Point3& n : s.normal) EXPECT_TRUE(norm(n) == 0 || std::abs(norm(n) - 1) < 1e-12);
    for (std::size_t v = 0; v < shape.positions.size(); ++v) ASSERT_LT(s.node_of[v], s.nodes());
}

TEST(Surface, SeamsAreWeldedAndUnusedVerticesHaveNoNode) {
    Shape shape = test::box({0, 0, 0}, {1, 1, 1}, 2), split;
    for (const Triangle& t : shape.triangles) {
        const auto first = std::uint32_t(split.positions.size());
        for (const std::uint32_t v : t) split.positions.push_back(shape.positions[v]);
        split.triangles.push_back({first, first + 1, first + 2});
    }
    split.positions.push_back({9, 9, 9});
    const MeshSurface whole = surface_of(shape), welded = surface_of(split);
    EXPECT_EQ(welded.nodes(), whole.nodes());
    EXPECT_EQ(welded.components, 1u);
    EXPECT_EQ(welded.edges.size(), whole.edges.size());
    EXPECT_EQ(welded.node_of.back(), no_index);
    double a = 0, b = 0;
    for (const double m : whole.mass) a += m;
    for (const double m : welded.mass) b += m;
    EXPECT_NEAR(a, 24, 1e-3);
    EXPECT_NEAR(b, 24, 1e-3);
}

// Vertices that follow each other in the file lie far from each other; nodes do not.
TEST(Surface, NodesOfALargeMeshAreNumberedAlongACurve) {
    Shape shape = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 1, 0}, 300, 150);
    const std::size_t n = shape.positions.size();
    ASSERT_GT(n, MeshSurface::most_in_file_order);
    const auto moved = [&](std::size_t i) { return 7919 * i % n; };
    std::vector<Vec3> positions(n);
    for (std::size_t i = 0; i < n; ++i) positions[moved(i)] = shape.positions[i];
    for (Triangle& t : shape.triangles)
        for (std::uint32_t& corner : t) corner = static_cast<std::uint32_t>(moved(corner));
    shape.positions.assign(positions.begin(), positions.end());
    const MeshView mesh{shape.positions, shape.triangles, {}};
    SurfaceTriangles triangles;
    const MeshSurface s = build_surface(mesh, analyse_mesh(mesh), nullptr, &triangles);
    ASSERT_EQ(s.nodes(), n);
    EXPECT_EQ(s.components, 1u);
    for (std::uint32_t v = 0; v < n; ++v) {
        ASSERT_EQ(s.vertex_of[s.node_of[v]], v);
        ASSERT_EQ(s.position[s.node_of[v]], shape.positions[v]);
    }
    double of_nodes = 0, of_vertices = 0, area = 0;
    for (const MeshSurface::Edge& e : s.edges) {
        of_nodes += e.b - e.a;
        of_vertices += std::abs(double(s.vertex_of[e.b]) - double(s.vertex_of[e.a]));
    }
    EXPECT_LT(of_nodes, 0.05 * of_vertices);
    for (const double m : s.mass) area += m;
    EXPECT_NEAR(area, 8, 1e-3);

    // Triangles are, too: each once, and a tree along them answers as one along the middles.
    const CurveOrder& order = triangles.order;
    ASSERT_EQ(order.point.size(), shape.triangles.size());
    EXPECT_TRUE(std::is_sorted(order.cell.begin(), order.cell.end()));
    std::vector<std::uint32_t> all(order.point.begin(), order.point.end());
    std::sort(all.begin(), all.end());
    for (std::uint32_t t = 0; t < all.size(); ++t) ASSERT_EQ(all[t], t);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k)
            ASSERT_EQ(triangles.corners[i][k], s.node_of[shape.triangles[order.point[i]][k]]);
    const TriangleTree tree(shape.positions, shape.triangles),
        along(s.position, std::move(triangles.corners), std::move(triangles.order), nullptr);
    std::mt19937 random(3);
    const auto any = [&] { return double(random() % 4001) / 1000 - 2; };
    for (int k = 0; k < 300; ++k) {
        const Point3 p{any(), any(), any()}, q{any(), any(), -p[2]};
        EXPECT_EQ(along.nearest(p, 9).triangle, tree.nearest(p, 9).triangle);
        EXPECT_EQ(along.blocked(p, q, no_index, 1e-6), tree.blocked(p, q, no_index, 1e-6));
    }
}

TEST(Surface, TrianglesOfASmallMeshAreInItsOrder) {
    const Shape shape = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 1, 0}, 30, 15);
    const MeshView mesh{shape.positions, shape.triangles, {}};
    SurfaceTriangles triangles;
    const MeshSurface s = build_surface(mesh, analyse_mesh(mesh), nullptr, &triangles);
    EXPECT_TRUE(triangles.order.point.empty());
    ASSERT_EQ(triangles.corners.size(), shape.triangles.size());
    for (std::size_t t = 0; t < shape.triangles.size(); ++t)
        for (std::size_t k = 0; k < 3; ++k) ASSERT_EQ(triangles.corners[t][k], s.node_of[shape.triangles[t][k]]);
    std::size_t edges = 0;
    for (std::uint32_t node = 0; node < s.nodes(); ++node)
        for (const MeshSurface::Edge& e : s.edges_at(node)) edges += e.a == node;
    EXPECT_EQ(edges, s.edges.size());
}

}  // namespace
}  // namespace sinew::test_surface
