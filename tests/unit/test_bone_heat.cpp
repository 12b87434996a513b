// Bone heat against analytic solutions, against dense elimination, and on defective meshes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "characters/defects.h"
#include "characters/shapes.h"
#include "core/vectors.h"
#include "sinew/bind.h"
#include "surface/surface.h"
#include "unit/support.h"

namespace sinew::test_bone_heat {
namespace {

using test::bound;
using test::Character;
using test::eliminate;

BindOptions unlimited() {
    BindOptions options = preset(Method::bone_heat);
    options.finish.max_influences = all_influences;
    options.finish.prune = 0;
    return options;
}

double strength(const InfluenceTable& table, std::size_t vertex, std::uint32_t joint) {
    for (std::size_t k = vertex * table.width; k < (vertex + 1) * table.width; ++k)
        if (table.joint[k] == joint) return table.strength[k];
    return 0;
}

double sum_of(const InfluenceTable& table, std::size_t vertex) {
    double sum = 0;
    for (std::size_t k = vertex * table.width; k < (vertex + 1) * table.width; ++k) sum += table.strength[k];
    return sum;
}

Skeleton two_bones(Vec3 a, Vec3 b, Vec3 tail) {
    Skeleton s;
    Joint first, second;
    first.name = "a";
    first.position = a;
    second.name = "b";
    second.parent = 0;
    second.position = b;
    second.tail = tail;
    s.joints = {first, second};
    return s;
}

TEST(BoneHeat, FallsExponentiallyAlongAStrip) {
    // A strip at height d above two bones in a line. -w'' + c/d² (w - p) = 0 with p = 1 on one half and 0 on the
    // other has w = ½ e^(-√c |x| / d) on the other half.
    const double d = 0.5;
    const test::Shape strip = test::sheet({0, d, 0}, {4, 0, 0}, {0, 0, -0.05}, 200, 2);
    const Skeleton skeleton = two_bones({-4, 0, 0}, {0, 0, 0}, {4, 0, 0});
    for (const float c : {1.0f, 4.0f}) {
        BindOptions options = unlimited();
        options.heat_transfer = c;
        const Binding b = bound({strip.positions, strip.triangles, {}}, skeleton, options);
        for (std::size_t v = 0; v < strip.positions.size(); ++v) {
            const double x = strip.positions[v].x, far = 0.5 * std::exp(-std::sqrt(c) * std::abs(x) / d);
            EXPECT_NEAR(strength(b.influences(), v, 0), x <= 0 ? 1 - far : far, 0.01) << x << " " << c;
        }
        EXPECT_EQ(b.report().coverage[0], strip.positions.size());
        EXPECT_TRUE(b.report().warnings.empty());
    }
}

TEST(BoneHeat, ASheetOfTwoSidesHasTheWeightsOfOne) {
    // The other side has the other diagonals: equal triangles would count once. The sums of normals are 0, so that
    // no bone counts as farther for its side.
    test::Shape strip = test::sheet({0, 0.5f, 0}, {4, 0, 0}, {0, 0, -0.05f}, 200, 2);
    const Skeleton skeleton = two_bones({-4, 0, 0}, {0, 0, 0}, {4, 0, 0});
    const Binding one = bound({strip.positions, strip.triangles, {}}, skeleton, unlimited());
    for (std::uint32_t row = 0; row < 2; ++row)
        for (std::uint32_t i = 0; i < 200; ++i) {
            const std::uint32_t a = row * 201 + i, b = a + 1, c = b + 201, d = a + 201;
            strip.triangles.insert(strip.triangles.end(), {{a, d, b}, {b, d, c}});
        }
    const Binding two = bound({strip.positions, strip.triangles, {}}, skeleton, unlimited());
    for (std::size_t v = 0; v < strip.positions.size(); ++v)
        EXPECT_NEAR(strength(one.influences(), v, 0), strength(two.influences(), v, 0), 1e-3)
            << strip.positions[v].x;
}

// Crossing of a segment and a triangle by signs of volumes.
bool crosses(const Point3& p, const Point3& q, const Point3& a, const Point3& b, const Point3& c) {
    const auto volume = [](const Point3& o, const Point3& x, const Point3& y, const Point3& z) {
        return dot(cross(x - o, y - o), z - o);
    };
    const double up = volume(a, b, c, p), down = volume(a, b, c, q);
    if (up * down >= 0) return false;
    const double s = volume(p, q, a, b), t = volume(p, q, b, c), u = volume(p, q, c, a);
    return (s > 0 && t > 0 && u > 0) || (s < 0 && t < 0 && u < 0);
}

TEST(BoneHeat, AgreesWithDenseEliminationOnABentTube) {
    const Character c = test::u_tube(24);
    BindOptions options = unlimited();
    options.overshoot = 0;
    const Binding b = bound(c.mesh(), c.skeleton, options);
    const std::size_t n = c.positions.size(), joints = c.skeleton.joints.size();
    ASSERT_LT(n, 700u);
    // Normals come from the library; everything else is computed independently.
    const MeshSurface surface = build_surface(c.mesh(), analyse_mesh(c.mesh()));
    ASSERT_EQ(surface.nodes(), n);
    std::vector<std::vector<double>> a(n, std::vector<double>(n + joints, 0.0));
    std::vector<double> area(n, 0);
    const auto at = [&](std::uint32_t v) { return to_point(c.positions[v]); };
    for (const Triangle& t : c.triangles)
        for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t o = t[k], i = t[(k + 1) % 3], j = t[(k + 2) % 3];
            const Point3 x = at(i) - at(o), y = at(j) - at(o);
            const double w = 0.5 * dot(x, y) / norm(cross(x, y));
            a[i][j] -= w, a[j][i] -= w;
            area[o] += norm(cross(x, y)) / 6;
        }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (i != j && a[i][j] != 0) {
                a[i][j] = std::min(a[i][j], -1e-4);  // surface.h: weights are held above 0
                a[i][i] -= a[i][j];
            }
    std::size_t hidden = 0;
    float low = INFINITY, high = -INFINITY;  // its longest side is along y
    for (const Vec3& p : c.positions) low = std::min(low, p.y), high = std::max(high, p.y);
    const double side = high - low;
    for (std::uint32_t v = 0; v < n; ++v) {
        const auto facing_distance = [&](const Bone& bone, Point3& to) {
            const SegmentPosition s = segment_distance(to_point(bone.head), to_point(bone.tail), at(v));
            const double t = std::clamp(s.along / s.length, 0.0, 1.0);
            to = (1 - t) * to_point(bone.head) + t * to_point(bone.tail);
            if (s.distance == 0) return 0.0;
            return s.distance / std::max(0.001, (1 + dot(at(v) - to, surface.normal[v]) / s.distance) / 2);
        };
        double least = INFINITY;
        Point3 to{};
        for (const Bone& bone : b.bones()) least = std::min(least, facing_distance(bone, to));
        std::vector<std::uint32_t> who;
        for (const Bone& bone : b.bones()) {
            if (facing_distance(bone, to) > least * 1.0001) continue;
            bool blocked = false;
            for (const Triangle& t : c.triangles)
                if (t[0] != v && t[1] != v && t[2] != v)
                    blocked = blocked || crosses(at(v), to, at(t[0]), at(t[1]), at(t[2]));
            if (!blocked) who.push_back(bone.joint);
        }
        hidden += who.empty();
        for (const std::uint32_t joint : who) {
            const double d = std::max(least, 1e-4 * side), heat = options.heat_transfer * area[v] / (d * d);
            a[v][v] += heat;
            a[v][n + joint] += heat;
        }
    }
    const auto exact = eliminate(std::move(a));
    for (std::size_t v = 0; v < n; ++v)
        for (std::uint32_t j = 0; j < joints; ++j) EXPECT_NEAR(strength(b.influences(), v, j), exact[v][j], 2e-3);
    EXPECT_LT(hidden, n / 2);
}

TEST(BoneHeat, StrengthsAreSharesOfOne) {
    const Character c = test::biped({.cell = 0.05});
    const Binding b = bound(c.mesh(), c.skeleton, unlimited());
    for (std::size_t v = 0; v < c.positions.size(); ++v) EXPECT_NEAR(sum_of(b.influences(), v), 1, 1e-5);
    for (const float s : b.influences().strength) EXPECT_TRUE(s >= 0 && s < 1 + 1e-6f) << s;
}

TEST(BoneHeat, ABarIsSymmetricAboutItsJoint) {
    const Character c = test::bar(64);
    const Binding b = bound(c.mesh(), c.skeleton, unlimited());
    const std::uint32_t left = c.joint("bar_a"), right = c.joint("bar_b");
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const Vec3& p = c.positions[v];
        for (std::size_t w = 0; w < c.positions.size(); ++w) {
            const Vec3& q = c.positions[w];
            if (std::abs(p.x + q.x) + std::abs(p.y - q.y) + std::abs(p.z - q.z) > 1e-5f) continue;
            EXPECT_NEAR(strength(b.influences(), v, left), strength(b.influences(), w, right), 0.02) << p.x;
        }
        if (p.x < -0.3f) {
            EXPECT_GT(strength(b.influences(), v, left), 0.98);
        }
        if (std::abs(p.x) < 1e-6f) {
            EXPECT_NEAR(strength(b.influences(), v, left), 0.5, 0.02);
        }
    }
}

double largest_difference(const SkinWeights& a, std::size_t va, const SkinWeights& b, std::size_t vb) {
    double most = 0;
    const auto of = [](std::span<const Influence> row, std::uint32_t joint) {
        for (const Influence& i : row)
            if (i.joint == joint) return i.weight;
        return 0.0f;
    };
    for (const Influence& i : a[va]) most = std::max<double>(most, std::abs(i.weight - of(b[vb], i.joint)));
    for (const Influence& i : b[vb]) most = std::max<double>(most, std::abs(i.weight - of(a[va], i.joint)));
    return most;
}

TEST(BoneHeat, ScaleAndOrderOfVerticesDoNotMatter) {
    const Character c = test::u_tube(48);
    const BindOptions options = preset(Method::bone_heat);
    const SkinWeights w = *bound(c.mesh(), c.skeleton, options).weights();
    for (const float scale : {0.001f, 1000.0f}) {
        Character s = c;
        for (Vec3& p : s.positions) p = {p.x * scale, p.y * scale, p.z * scale};
        for (Joint& j : s.skeleton.joints) {
            j.position = {j.position.x * scale, j.position.y * scale, j.position.z * scale};
            if (j.tail) j.tail = Vec3{j.tail->x * scale, j.tail->y * scale, j.tail->z * scale};
        }
        const SkinWeights other = *bound(s.mesh(), s.skeleton, options).weights();
        for (std::size_t v = 0; v < c.positions.size(); ++v) EXPECT_LT(largest_difference(w, v, other, v), 1e-3);
    }
    // Vertices in reverse order.
    Character r = c;
    std::reverse(r.positions.begin(), r.positions.end());
    const auto last = static_cast<std::uint32_t>(c.positions.size() - 1);
    for (Triangle& t : r.triangles) t = {last - t[0], last - t[1], last - t[2]};
    std::reverse(r.triangles.begin(), r.triangles.end());
    const SkinWeights other = *bound(r.mesh(), r.skeleton, options).weights();
    for (std::size_t v = 0; v <= last; ++v) EXPECT_LT(largest_difference(w, v, other, last - v), 1e-4);
}

TEST(BoneHeat, ThreadsDoNotMatter) {
    const Character c = test::biped({.cell = 0.05});
    const BindOptions options = preset(Method::bone_heat);
    const SkinWeights one = *bound(c.mesh(), c.skeleton, options, 1).weights();
    EXPECT_EQ(one, *bound(c.mesh(), c.skeleton, options, 3).weights());
    EXPECT_EQ(one, *bound(c.mesh(), c.skeleton, options, 8).weights());
}

TEST(BoneHeat, PartsWithoutVisibleBonesUseTheNearestAndAreCounted) {
    // A ball beside the second half of the bar, whose wall hides the bones.
    Character c = test::bar(32);
    const std::size_t of_bar = c.positions.size();
    const test::Shape ball = test::sphere({0.7, 0.4, 0}, 0.1, 2);
    test::append(c, ball.positions, ball.triangles, c.joint("bar_b"));
    const Binding b = bound(c.mesh(), c.skeleton, preset(Method::bone_heat));
    const SkinWeights w = *b.weights();
    for (std::size_t v = of_bar; v < c.positions.size(); ++v) {
        ASSERT_FALSE(w[v].empty());
        EXPECT_EQ(w[v][0].joint, c.joint("bar_b"));
        EXPECT_EQ(b.coverage()[v], Coverage::bridged);
    }
    for (std::size_t v = 0; v < of_bar; ++v) EXPECT_EQ(b.coverage()[v], Coverage::weighted);
    ASSERT_EQ(b.report().warnings.size(), 1u);
    EXPECT_NE(b.report().warnings[0].find("1 parts"), std::string::npos) << b.report().warnings[0];
}

TEST(BoneHeat, BindsEveryDefectiveMesh) {
    const Character good = test::biped({.cell = 0.06});
    for (const test::Defect& defect : test::defects()) {
        if (*defect.error) continue;
        const Character c = defect.apply(good);
        const Binding b = bound(c.mesh(), c.skeleton, preset(Method::bone_heat));
        const SkinWeights w = *b.weights();
        for (std::size_t v = 0; v < c.positions.size(); ++v) ASSERT_FALSE(w[v].empty()) << defect.name << " " << v;
        EXPECT_EQ(b.report().coverage[static_cast<std::size_t>(Coverage::none)], 0u) << defect.name;
        EXPECT_EQ(b.report().vertices(), c.positions.size()) << defect.name;
    }
}

TEST(BoneHeat, BindsSoupOfAnySize) {
    std::mt19937 random(11);
    for (int round = 0; round < 60; ++round) {
        const Character c = test::random_soup(round, random);
        BindOptions options = unlimited();
        options.fit_check = false;  // with points far away, the rest may be of the skeleton's size
        const Binding b = bound(c.mesh(), c.skeleton, options);
        const SkinWeights w = *b.weights();
        for (std::size_t v = 0; v < c.positions.size(); ++v) {
            ASSERT_FALSE(w[v].empty()) << round << " " << v;
            EXPECT_NEAR(sum_of(b.influences(), v), 1, 1e-3) << round;
        }
    }
}

TEST(BoneHeat, ASkinUsesItsOwnJointsOnly) {
    // Two tubes in line, each with a skin of its own; they meet in a seam, where the skins share nothing.
    const Character c = test::bar(32);
    Skeleton skeleton = c.skeleton;
    Joint extra;
    extra.name = "extra";
    extra.parent = 0;
    extra.position = {0, 0.02f, 0};
    extra.tail = Vec3{1, 0.02f, 0};
    skeleton.joints.push_back(extra);
    skeleton.skins = {{c.joint("bar_a"), c.joint("bar_b")}, {2}};
    std::vector<std::uint32_t> skin(c.positions.size());
    for (std::size_t v = 0; v < skin.size(); ++v) skin[v] = c.positions[v].x > 0.5f;
    const MeshView mesh{c.positions, c.triangles, skin};
    const SkinWeights w = *bound(mesh, skeleton, preset(Method::bone_heat)).weights();
    for (std::size_t v = 0; v < skin.size(); ++v) {
        ASSERT_FALSE(w[v].empty());
        for (const Influence& i : w[v]) EXPECT_EQ(i.joint == 2, skin[v] == 1);
    }
}

TEST(BoneHeat, BindsOneBoneIdleJointsAndUnusedVertices) {
    Character c = test::bar(16);
    c.positions.push_back({0.9f, 3, 0});
    c.skeleton.joints[c.joint("bar_a")].deform = false;
    Binding b = bound(c.mesh(), c.skeleton, preset(Method::bone_heat));
    SkinWeights w = *b.weights();
    for (std::size_t v = 0; v < c.positions.size(); ++v) EXPECT_EQ(w[v][0], (Influence{c.joint("bar_b"), 1}));
    EXPECT_EQ(b.coverage().back(), Coverage::unused);

    // A skin of idle joints only.
    std::vector<std::uint32_t> skin(c.positions.size(), 0);
    for (std::size_t v = 0; v < 20; ++v) skin[v] = 1;
    c.skeleton.joints[c.joint("bar_a")].deform = false;
    c.skeleton.skins = {{c.joint("bar_b")}, {c.joint("bar_a")}};
    b = bound({c.positions, c.triangles, skin}, c.skeleton, preset(Method::bone_heat));
    w = *b.weights();
    EXPECT_EQ(w[0][0].joint, c.joint("bar_a"));
    EXPECT_EQ(b.coverage()[0], Coverage::euclidean);
}

TEST(BoneHeat, RefusesInputsThatDoNotMatch) {
    const Character c = test::bar(8);
    BindOptions options = preset(Method::bone_heat);
    options.heat_transfer = 0;
    EXPECT_EQ(check(options).error().code, ErrorCode::usage);
    options = preset(Method::bone_heat);
    options.falloff.law = FalloffLaw::inverse_power;
    EXPECT_EQ(check(options).error().code, ErrorCode::usage);
    Context context;
    context.memory_limit = 1000;
    EXPECT_EQ(bind(c.mesh(), c.skeleton, preset(Method::bone_heat), &context).error().code, ErrorCode::too_large);
    context.memory_limit = 0;
    context.cancel = true;
    EXPECT_EQ(bind(c.mesh(), c.skeleton, preset(Method::bone_heat), &context).error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace sinew::test_bone_heat
