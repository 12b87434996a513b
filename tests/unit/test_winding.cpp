#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "domain/winding.h"
#include "sinew/domain.h"

namespace sinew::test_winding {
namespace {

// The largest error of dipoles at accuracy 2 is at the centre of a sphere, where all errors have one sign.
constexpr double far_field = 0.08;

struct Shape {
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
    MeshView view() const { return {positions, triangles, {}}; }
};

// A sphere of latitude rings around the y axis; `rings` of them are built, from the north pole down.
Shape sphere(int n, int rings, Vec3 centre = {}, float radius = 1) {
    Shape s;
    const int sectors = 2 * n;
    for (int i = 0; i <= rings; ++i)
        for (int j = 0; j < sectors; ++j) {
            const double a = std::numbers::pi * i / n, b = 2 * std::numbers::pi * j / sectors;
            s.positions.push_back({centre.x + radius * float(std::sin(a) * std::cos(b)),
                                   centre.y + radius * float(std::cos(a)),
                                   centre.z + radius * float(std::sin(a) * std::sin(b))});
        }
    for (int i = 0; i < rings; ++i)
        for (int j = 0; j < sectors; ++j) {
            const auto at = [&](int r, int c) { return std::uint32_t(r * sectors + c % sectors); };
            s.triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j)});
            s.triangles.push_back({at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)});
        }
    return s;
}

// Reference: the sum of the solid angles of all triangles, by L'Huilier's theorem.
double brute_force(const Shape& s, Vec3 q) {
    double total = 0;
    for (const Triangle& t : s.triangles) {
        double v[3][3], side[3];
        for (int k = 0; k < 3; ++k) {
            const Vec3& p = s.positions[t[k]];
            v[k][0] = double(p.x) - q.x, v[k][1] = double(p.y) - q.y, v[k][2] = double(p.z) - q.z;
            const double l = std::sqrt(v[k][0] * v[k][0] + v[k][1] * v[k][1] + v[k][2] * v[k][2]);
            for (double& c : v[k]) c /= l;
        }
        double half = 0;
        for (int k = 0; k < 3; ++k) {
            const double *a = v[(k + 1) % 3], *b = v[(k + 2) % 3];
            const double chord = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
            side[k] = 2 * std::asin(std::min(1.0, chord / 2));
            half += side[k] / 2;
        }
        const double tangent = std::tan(half / 2) * std::tan((half - side[0]) / 2) *
                               std::tan((half - side[1]) / 2) * std::tan((half - side[2]) / 2);
        const double det = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                           v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                           v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
        total += std::copysign(4 * std::atan(std::sqrt(std::max(0.0, tangent))), det);
    }
    return total / (4 * std::numbers::pi);
}

std::vector<Vec3> random_points(int n, float extent) {
    std::uint32_t seed = 12345;
    const auto random = [&] {
        seed = seed * 1664525u + 1013904223u;
        return extent * (float(seed >> 8) / 8388608.0f - 1);
    };
    std::vector<Vec3> out;
    for (int i = 0; i < n; ++i) out.push_back({random(), random(), random()});
    return out;
}

TEST(Winding, ClosedSphereIsOneInsideAndZeroOutside) {
    const Shape s = sphere(48, 48);
    const auto points = random_points(2000, 1.5f);
    const auto w = winding_numbers(s.view(), {}, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const float r = std::hypot(points[i].x, points[i].y, points[i].z);
        if (std::abs(r - 1) < 0.01f) continue;
        EXPECT_NEAR(w[i], r < 1 ? 1 : 0, far_field) << r;
    }
}

TEST(Winding, AgreesWithTheDefinitionOnClosedAndOpenMeshes) {
    for (const int rings : {24, 12, 5}) {
        const Shape s = sphere(24, rings, {3, -2, 7}, 2);
        auto points = random_points(300, 3);
        for (Vec3& p : points) p = {p.x + 3, p.y - 2, p.z + 7};
        const auto w = winding_numbers(s.view(), {}, points);
        double mean = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const double exact = brute_force(s, points[i]);
            EXPECT_NEAR(w[i], exact, far_field);
            mean += std::abs(w[i] - exact) / double(points.size());
        }
        EXPECT_LT(mean, 0.01);
    }
}

// The kernel opens the same nodes as its reference if all points are the same, and at least those otherwise.
TEST(Winding, EightPointsTogetherAgreeWithEachAlone) {
    const Shape s = sphere(40, 25);
    const WindingTree tree(s.view(), {});
    const auto points = random_points(800, 1.5f);
    double apart = 0;
    for (std::size_t first = 0; first + 8 <= points.size(); first += 8) {
        std::array<Vec3, 8> at;
        std::array<float, 8> together;
        at.fill(points[first]);
        tree.measure(at, together);
        for (const float w : together) ASSERT_EQ(w, static_cast<float>(tree(points[first])));
        std::copy_n(points.begin() + static_cast<std::ptrdiff_t>(first), 8, at.begin());
        tree.measure(at, together);
        for (std::size_t i = 0; i < 8; ++i) {
            const double exact = brute_force(s, at[i]);
            apart += std::abs(together[i] - exact);
            ASSERT_LE(std::abs(together[i] - exact), std::abs(tree(at[i]) - exact) + 0.5 * far_field);
        }
    }
    EXPECT_LT(apart / static_cast<double>(points.size()), 0.01);
}

// Large triangles that lie on each other are near every point: the work is bounded, and what is left still counts.
TEST(Winding, WorkIsBoundedInASoup) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> any(-1, 1);
    Shape s;
    for (std::uint32_t t = 0; t < 4000; ++t) {
        for (int k = 0; k < 3; ++k) s.positions.push_back({any(random), any(random), any(random)});
        s.triangles.push_back({3 * t, 3 * t + 1, 3 * t + 2});
    }
    const WindingTree tree(s.view(), {});
    std::array<Vec3, WindingTree::kTogether> at;
    std::array<float, WindingTree::kTogether> all, some;
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = {0.1f * static_cast<float>(i) - 0.4f, 0.2f, 0.05f};
    EXPECT_GT(tree.measure(at, all), 3000u);
    EXPECT_EQ(tree.measure(at, some, 4000), tree.measure(at, all));
    EXPECT_EQ(some, all);
    const std::size_t summed = tree.measure(at, some, 512);
    EXPECT_GE(summed, 512u);
    EXPECT_LT(summed, 512u + 16);
    for (std::size_t i = 0; i < at.size(); ++i) EXPECT_LT(std::abs(some[i] - all[i]), 40);  // of 4000 triangles
    for (const double points : {0.0, 1.0, 1e3, 1e6, 1e9})
        EXPECT_LE(static_cast<double>(WindingTree::most_of(static_cast<std::size_t>(points))) * points / 8,
                  std::max(6.8e7, 128 * points / 8));
}

// A tiny shape far from the middle of the box, and a group of points of which one is very far away.
TEST(Winding, TinyShapesAndFarPointsAreNumbers) {
    const float e = 1e-14f;
    const std::vector<Vec3> positions{{e, 0, 0}, {-e, 0, 0}, {0, e, 0}, {0, -e, 0},
                                      {0, 0, e}, {0, 0, -e}, {1, 1, 1}};
    std::vector<Triangle> triangles;
    for (const std::uint32_t x : {0u, 1u})
        for (const std::uint32_t y : {2u, 3u})
            for (const std::uint32_t z : {4u, 5u}) {
                const bool even = (x + y + z) % 2 == 0;
                triangles.push_back(even ? Triangle{x, y, z} : Triangle{x, z, y});
            }
    triangles.push_back({6, 6, 6});  // makes the box large
    const std::vector<Vec3> points{{0, 0, 0}, {1e18f, 0, 0}, {e / 8, 0, 0}, {0.5f, 0.5f, 0.5f}};
    const auto w = winding_numbers({positions, triangles, {}}, {}, points);
    EXPECT_NEAR(w[0], 1, 1e-5);
    EXPECT_NEAR(w[1], 0, 1e-5);
    EXPECT_NEAR(w[2], 1, 1e-5);
    EXPECT_NEAR(w[3], 0, 1e-5);
}

TEST(Winding, IsHalfAtTheCentreOfAHemisphere) {
    const Shape s = sphere(64, 32);
    const std::vector<Vec3> centre{{0, 0, 0}};
    EXPECT_NEAR(winding_numbers(s.view(), {}, centre)[0], 0.5, far_field);
}

TEST(Winding, ReversedTrianglesCountNegative) {
    const Shape s = sphere(16, 16);
    const std::vector<Vec3> centre{{0, 0, 0}, {0.3f, 0.2f, -0.1f}};
    const std::vector<bool> turned(s.triangles.size(), true);
    for (const float w : winding_numbers(s.view(), turned, centre)) EXPECT_NEAR(w, -1, far_field);
}

TEST(Winding, NestedShellsAddUp) {
    Shape s = sphere(24, 24);
    const Shape inner = sphere(24, 24, {}, 0.5f);
    const std::uint32_t base = std::uint32_t(s.positions.size());
    s.positions.insert(s.positions.end(), inner.positions.begin(), inner.positions.end());
    for (const Triangle& t : inner.triangles) s.triangles.push_back({t[0] + base, t[1] + base, t[2] + base});
    const std::vector<Vec3> points{{0, 0, 0}, {0.75f, 0, 0}, {1.5f, 0, 0}};
    const auto w = winding_numbers(s.view(), {}, points);
    EXPECT_NEAR(w[0], 2, 2 * far_field);
    EXPECT_NEAR(w[1], 1, far_field);
    EXPECT_NEAR(w[2], 0, far_field);
}

TEST(Winding, SameBitsOnAnyNumberOfThreads) {
    const Shape s = sphere(40, 30);
    const auto points = random_points(3000, 1.5f);
    Context one, four;
    one.threads = 1;
    four.threads = 4;
    EXPECT_EQ(winding_numbers(s.view(), {}, points, &one), winding_numbers(s.view(), {}, points, &four));
}

TEST(Winding, WorksAtAnyScale) {
    for (const float size : {1e-30f, 1e-3f, 1e30f}) {
        const Shape s = sphere(16, 16, {}, size);
        const std::vector<Vec3> points{{0.1f * size, 0, 0}, {2 * size, 0, 0}};
        const auto w = winding_numbers(s.view(), {}, points);
        EXPECT_NEAR(w[0], 1, far_field);
        EXPECT_NEAR(w[1], 0, far_field);
    }
}

TEST(Winding, AcceptsDegenerateInput) {
    Shape s;
    EXPECT_EQ(winding_numbers(s.view(), {}, std::vector<Vec3>{{0, 0, 0}}), std::vector<float>{0});
    EXPECT_TRUE(winding_numbers(sphere(4, 4).view(), {}, {}).empty());
    // Points on corners, repeated triangles, and triangles of zero area.
    s.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    for (int i = 0; i < 100; ++i) {
        s.triangles.push_back({0, 1, 2});
        s.triangles.push_back({1, 1, 1});
    }
    for (const float w : winding_numbers(s.view(), {}, s.positions)) EXPECT_TRUE(std::isfinite(w));
}

}  // namespace
}  // namespace sinew::test_winding
