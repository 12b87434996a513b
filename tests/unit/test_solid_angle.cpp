// The product of complex numbers against the sum of arc tangents.
#include <gtest/gtest.h>

#include <array>
#include <numbers>
#include <random>
#include <vector>

#include "core/solid_angle.h"

namespace sinew::test_solid_angle {
namespace {

using Corners = std::array<Point3, 3>;

// Van Oosterom and Strackee 1983, one arc tangent for each triangle.
double sum_of_arc_tangents(const std::vector<Corners>& triangles) {
    double sum = 0;
    for (const auto& [a, b, c] : triangles) {
        const double x = norm(a), y = norm(b), z = norm(c), volume = dot(a, cross(b, c));
        if (volume == 0) continue;
        sum += 2 * std::atan2(volume, x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y);
    }
    return sum;
}

double solid_angle(const std::vector<Corners>& triangles) {
    SolidAngle angle;
    for (const auto& [a, b, c] : triangles) angle.add(a, b, c);
    return angle.sum();
}

// Faces of a regular tetrahedron around the origin, seen from inside: a solid angle of π each.
std::vector<Corners> tetrahedron(bool outward) {
    const Point3 a{1, 1, 1}, b{1, -1, -1}, c{-1, 1, -1}, d{-1, -1, 1};
    std::vector<Corners> faces{{a, b, c}, {a, c, d}, {a, d, b}, {b, d, c}};
    if (!outward)
        for (Corners& f : faces) std::swap(f[1], f[2]);
    return faces;
}

TEST(SolidAngle, WholeTurnsAreCounted) {
    constexpr double kSphere = 4 * std::numbers::pi;
    for (const bool outward : {true, false})
        for (int layers = 0; layers <= 7; ++layers) {
            std::vector<Corners> faces;
            for (int i = 0; i < layers; ++i)
                for (const Corners& f : tetrahedron(outward)) faces.push_back(f);
            EXPECT_NEAR(solid_angle(faces), (outward ? 1 : -1) * layers * kSphere, 1e-12) << layers;
        }
}

TEST(SolidAngle, TurnsInBothDirectionsCancel) {
    std::vector<Corners> faces;
    for (const bool outward : {true, true, false, true, false, false, false, true})
        for (const Corners& f : tetrahedron(outward)) faces.push_back(f);
    EXPECT_NEAR(solid_angle(faces), 0, 1e-12);
}

TEST(SolidAngle, AgreesWithArcTangentsOnRandomTriangles) {
    std::mt19937 random(7);
    std::normal_distribution<double> number;
    for (const double size : {1e-30, 1.0, 1e30})
        for (int round = 0; round < 200; ++round) {
            std::vector<Corners> triangles(1 + random() % 40);
            // Half of the rounds turn one way only, which makes many turns.
            for (Corners& t : triangles) {
                for (Point3& p : t) p = {size * number(random), size * number(random), size * number(random)};
                if (round % 2 == 0 && dot(t[0], cross(t[1], t[2])) < 0) std::swap(t[1], t[2]);
            }
            EXPECT_NEAR(solid_angle(triangles), sum_of_arc_tangents(triangles), 1e-9) << size << " " << round;
        }
}

TEST(SolidAngle, PlaneThroughThePointAddsNothing) {
    EXPECT_EQ(solid_angle({{{{1, 0, 0}, {0, 1, 0}, {-1, -1, 0}}}}), 0);
    EXPECT_EQ(solid_angle({{{{0, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}), 0);
    EXPECT_EQ(solid_angle({}), 0);
}

// The corners are at distances 1, 1 and 3 and the real part is exactly zero: half the angle is exactly a quarter
// turn.
const Corners kQuarter{{{1, 0, 0}, {0, 1, 0}, {-1, -2, 2}}};

TEST(SolidAngle, QuarterTurnsMeetTheSignsOfZero) {
    const Corners back{kQuarter[0], kQuarter[2], kQuarter[1]};
    const std::vector<std::vector<int>> sequences{{1},
                                                  {1, 1},
                                                  {1, 1, 1},
                                                  {1, 1, 1, 1},
                                                  {1, 1, 1, 1, 1},
                                                  {1, 1, -1},
                                                  {-1, -1, 1},
                                                  {1, 1, -1, -1, -1},
                                                  {1, 1, 1, -1, -1, -1, -1, -1}};
    for (const std::vector<int>& sequence : sequences)
        for (const int side : {1, -1}) {
            std::vector<Corners> triangles;
            int sum = 0;
            for (const int way : sequence) {
                triangles.push_back(way * side > 0 ? kQuarter : back);
                sum += way * side;
            }
            EXPECT_NEAR(solid_angle(triangles), sum * std::numbers::pi, 1e-12) << sequence.size();
        }
}

TEST(SolidAngle, PlaneThroughThePointAddsNothingAfterOthers) {
    const Corners flat{{{1, 0, 0}, {0, 1, 0}, {-1, -1, 0}}};
    for (Corners first : {Corners{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, kQuarter}) {
        EXPECT_EQ(solid_angle({first, flat}), solid_angle({first}));
        std::swap(first[1], first[2]);
        EXPECT_EQ(solid_angle({first, flat}), solid_angle({first}));
    }
}

TEST(SolidAngle, AnySizeOfFloats) {
    for (const double size : {1e-44, 1e-13, 1e13, 1e38}) {
        std::vector<Corners> faces = tetrahedron(true);
        for (Corners& f : faces)
            for (Point3& p : f) p = size * p;
        EXPECT_NEAR(solid_angle(faces), 4 * std::numbers::pi, 1e-12) << size;
    }
}

}  // namespace
}  // namespace sinew::test_solid_angle
