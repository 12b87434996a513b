// Properties of a bind that hold for every character.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "sanitized.h"
#include "sinew/bind.h"

namespace sinew::test_bind_properties {
namespace {

using test::Character;

// No biped: the caped figure contains it.
std::vector<Character> family() {
    std::vector<Character> all{test::quadruped(), test::robot(), test::caped(), test::strip(), test::u_tube()};
    if (!test::sanitized) all.push_back(test::biped());
    return all;
}

BindOptions options_at(int resolution) {
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = resolution;
    return options;
}

SkinWeights weights(const Character& c, const BindOptions& options, int threads = 0) {
    Context context;
    context.threads = threads;
    Result<Binding> b = bind(c.mesh(), c.skeleton, options, &context);
    EXPECT_TRUE(b) << (b ? "" : b.error().message);
    Result<SkinWeights> w = b->weights(&context);
    EXPECT_TRUE(w);
    return std::move(*w);
}

double l1(std::span<const Influence> a, std::span<const Influence> b) {
    double sum = 0;
    for (const Influence& i : a) {
        float other = 0;
        for (const Influence& k : b) other = k.joint == i.joint ? k.weight : other;
        sum += std::abs(i.weight - other);
    }
    for (const Influence& k : b)
        if (std::none_of(a.begin(), a.end(), [&](const Influence& i) { return i.joint == k.joint; }))
            sum += k.weight;
    return sum;
}

double largest(std::span<const Influence> a, std::span<const Influence> b) {
    double most = 0;
    auto visit = [&](std::span<const Influence> p, std::span<const Influence> q) {
        for (const Influence& i : p) {
            const auto same =
                std::find_if(q.begin(), q.end(), [&](const Influence& k) { return k.joint == i.joint; });
            most = std::max(most, std::abs(double(i.weight) - (same == q.end() ? 0 : same->weight)));
        }
    };
    visit(a, b);
    visit(b, a);
    return most;
}

Character scaled(const Character& c, float scale) {
    Character s = c;
    auto times = [&](const Vec3& p) { return Vec3{p.x * scale, p.y * scale, p.z * scale}; };
    for (Vec3& p : s.positions) p = times(p);
    for (Joint& j : s.skeleton.joints) {
        j.position = times(j.position);
        if (j.tail) j.tail = times(*j.tail);
    }
    return s;
}

TEST(BindProperty, RowsAreWellFormed) {
    for (const Character& c : family()) {
        for (const int limit : {1, 4, 8, all_influences}) {
            BindOptions options = options_at(64);
            options.finish.max_influences = limit;
            const SkinWeights w = weights(c, options);
            ASSERT_EQ(w.vertex_count(), c.positions.size());
            for (std::size_t v = 0; v < w.vertex_count(); ++v) {
                const auto row = w[v];
                ASSERT_FALSE(row.empty()) << c.name << " vertex " << v;
                ASSERT_TRUE(limit == all_influences || row.size() <= std::size_t(limit));
                float sum = 0;
                for (std::size_t k = 0; k < row.size(); ++k) {
                    ASSERT_GT(row[k].weight, 0);
                    ASSERT_LT(row[k].joint, c.skeleton.joints.size());
                    ASSERT_TRUE(c.skeleton.joints[row[k].joint].deform);
                    ASSERT_TRUE(k == 0 || row[k].weight <= row[k - 1].weight);
                    for (std::size_t m = 0; m < k; ++m) ASSERT_NE(row[k].joint, row[m].joint);
                    sum += row[k].weight;
                }
                ASSERT_NEAR(sum, 1, 2e-7 * double(row.size()));
            }
        }
    }
}

TEST(BindProperty, TheSameBitsOnAnyNumberOfThreads) {
    for (const Character& c : family()) {
        const SkinWeights one = weights(c, options_at(128), 1);
        for (const int threads : {3, 2, 8}) {
            EXPECT_EQ(one, weights(c, options_at(128), threads)) << c.name;
            if (test::sanitized) break;
        }
    }
}

// Scaling by 0.001 rounds every float position by up to 6e-8 of the character's size. The surface of a finger is
// 5e-3 of this size away from its bone, so distances change by a relative 1e-5, and weights by λ/4 of that. A few
// positions move across a border between voxels. Larger differences come from the rounding of the input: scaling by
// a power of two, which is exact, changes no bit (next test).
TEST(BindProperty, ScaleOfTheSceneDoesNotMatter) {
    for (const Character& c : family()) {
        const SkinWeights reference = weights(c, options_at(128));
        for (const float scale : {0.001f, 1000.0f}) {
            if (test::sanitized && scale > 1) break;
            const SkinWeights w = weights(scaled(c, scale), options_at(128));
            double sum = 0, worst = 0;
            std::size_t beyond = 0, far_beyond = 0;
            for (std::size_t v = 0; v < w.vertex_count(); ++v) {
                const double d = largest(w[v], reference[v]);
                sum += d;
                worst = std::max(worst, d);
                beyond += d > 1e-5;
                far_beyond += d > 2e-4;
            }
            const auto n = double(w.vertex_count());
            EXPECT_LE(double(beyond), 0.005 * n) << c.name << " × " << scale;
            EXPECT_LE(double(far_beyond), 0.001 * n) << c.name << " × " << scale;
            EXPECT_LT(worst, 0.05) << c.name << " × " << scale;
            EXPECT_LT(sum / n, 1e-5) << c.name << " × " << scale;
        }
    }
}

TEST(BindProperty, APowerOfTwoInScaleChangesNoBit) {
    for (const Character& c : {test::quadruped(), test::caped()}) {
        const SkinWeights reference = weights(c, options_at(64));
        EXPECT_EQ(reference, weights(scaled(c, 1024), options_at(64)));
        EXPECT_EQ(reference, weights(scaled(c, 1.0f / 1024), options_at(64)));
    }
}

// A deterministic shuffle: multiplication by a number coprime to the size.
std::vector<std::uint32_t> shuffle(std::size_t count, std::size_t step) {
    while (std::gcd(step, count) != 1) ++step;
    std::vector<std::uint32_t> to(count);
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::uint32_t>((i * step + 5) % count);
    return to;
}

TEST(BindProperty, OrderOfVerticesAndTrianglesChangesNoBit) {
    for (const Character& c : {test::quadruped(), test::caped()}) {
        const SkinWeights reference = weights(c, options_at(64));
        const auto vertex = shuffle(c.positions.size(), 7919), triangle = shuffle(c.triangles.size(), 104729);
        Character mixed = c;
        for (std::size_t v = 0; v < c.positions.size(); ++v) mixed.positions[vertex[v]] = c.positions[v];
        for (std::size_t t = 0; t < c.triangles.size(); ++t) {
            const Triangle& old = c.triangles[t];
            mixed.triangles[triangle[t]] = {vertex[old[0]], vertex[old[1]], vertex[old[2]]};
        }
        const SkinWeights w = weights(mixed, options_at(64));
        for (std::size_t v = 0; v < c.positions.size(); ++v)
            ASSERT_TRUE(std::ranges::equal(w[vertex[v]], reference[v])) << c.name << " vertex " << v;
    }
}

// Joints at exactly the same distance are ordered by index, and which of them is kept as the eighth may differ.
TEST(BindProperty, OrderOfJointsHardlyMatters) {
    for (const Character& c : {test::quadruped(), test::caped()}) {
        const SkinWeights reference = weights(c, options_at(128));
        const std::size_t m = c.skeleton.joints.size();
        const auto joint = shuffle(m, 11);
        Character mixed = c;
        for (std::size_t j = 0; j < m; ++j) {
            mixed.skeleton.joints[joint[j]] = c.skeleton.joints[j];
            const int parent = c.skeleton.joints[j].parent;
            mixed.skeleton.joints[joint[j]].parent = parent < 0 ? -1 : int(joint[std::size_t(parent)]);
        }
        const SkinWeights w = weights(mixed, options_at(128));
        double sum = 0;
        for (std::size_t v = 0; v < c.positions.size(); ++v) {
            std::vector<Influence> row(w[v].begin(), w[v].end());
            for (Influence& i : row)
                i.joint =
                    static_cast<std::uint32_t>(std::find(joint.begin(), joint.end(), i.joint) - joint.begin());
            sum += l1(row, reference[v]);
        }
        EXPECT_LT(sum / double(c.positions.size()), 1e-4) << c.name;
    }
}

TEST(BindProperty, QuarterTurnsGiveTheSameWeights) {
    const Character c = test::quadruped();
    const SkinWeights reference = weights(c, options_at(64));
    Character turned = c;
    auto turn = [](const Vec3& p) { return Vec3{p.z, p.x, p.y}; };
    for (Vec3& p : turned.positions) p = turn(p);
    for (Joint& j : turned.skeleton.joints) {
        j.position = turn(j.position);
        if (j.tail) j.tail = turn(*j.tail);
    }
    const SkinWeights w = weights(turned, options_at(64));
    double sum = 0;
    for (std::size_t v = 0; v < w.vertex_count(); ++v) sum += l1(w[v], reference[v]);
    EXPECT_LT(sum / double(w.vertex_count()), 0.01);
}

TEST(BindProperty, FinerGridsConverge) {
    const Character c = test::quadruped();
    const SkinWeights finest = weights(c, options_at(256));
    double previous = INFINITY;
    for (const int r : {32, 64, 128}) {
        const SkinWeights w = weights(c, options_at(r));
        double sum = 0;
        for (std::size_t v = 0; v < w.vertex_count(); ++v) sum += l1(w[v], finest[v]);
        EXPECT_LT(sum, previous) << r;
        previous = sum;
    }
}

TEST(BindProperty, DistancesAreAtLeastStraightAndSorted) {
    for (const Character& c : family()) {
        BindOptions options = options_at(64);
        options.overshoot = 0;
        Result<Binding> b = bind(c.mesh(), c.skeleton, options);
        ASSERT_TRUE(b);
        const DistanceTable& t = b->distances();
        for (std::size_t v = 0; v < t.vertices; ++v) {
            for (std::size_t k = 0; k < t.width; ++k) {
                const std::size_t i = v * t.width + k;
                if (t.joint[i] == no_index) {
                    ASSERT_EQ(t.distance[i], INFINITY);
                    continue;
                }
                ASSERT_TRUE(k == 0 || t.distance[i] >= t.distance[i - 1]);
                double straight = INFINITY;
                for (const Bone& bone : b->bones()) {
                    if (bone.joint != t.joint[i]) continue;
                    const double d[3] = {double(bone.tail.x) - bone.head.x, double(bone.tail.y) - bone.head.y,
                                         double(bone.tail.z) - bone.head.z};
                    const Vec3& p = c.positions[v];
                    const double w[3] = {double(p.x) - bone.head.x, double(p.y) - bone.head.y,
                                         double(p.z) - bone.head.z};
                    const double dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                    const double s =
                        dd > 0 ? std::clamp((d[0] * w[0] + d[1] * w[1] + d[2] * w[2]) / dd, 0.0, 1.0) : 0;
                    straight = std::min(straight, std::hypot(w[0] - s * d[0], w[1] - s * d[1], w[2] - s * d[2]));
                }
                ASSERT_GE(t.distance[i], straight * (1 - 1e-5)) << c.name;
            }
        }
    }
}

}  // namespace
}  // namespace sinew::test_bind_properties
