// Properties of measures that hold for every character.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "characters/characters.h"
#include "characters/defects.h"
#include "characters/shapes.h"
#include "sanitized.h"
#include "sinew/bind.h"
#include "sinew/quality.h"

namespace sinew::test_quality_properties {
namespace {

using test::Character;

SkinWeights bound(const Character& c, float alpha, int limit) {
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = 64;
    options.falloff.alpha = alpha;
    options.finish.max_influences = limit;
    auto binding = bind(c.mesh(), c.skeleton, options);
    EXPECT_TRUE(binding.ok());
    auto weights = binding->weights();
    EXPECT_TRUE(weights.ok());
    return std::move(*weights);
}

Comparison compared(const Character& c, const SkinWeights& a, const SkinWeights& b, int threads = 1) {
    CompareOptions options;
    options.random_poses = 2;
    options.bleed_options.resolution = 64;
    Context context;
    context.threads = threads;
    auto out = compare(c.mesh(), c.skeleton, a, b, options, &context);
    EXPECT_TRUE(out.ok()) << (out ? "" : out.error().message);
    return out ? std::move(*out) : Comparison{};
}

// No biped: the caped figure contains it.
std::vector<Character> family() {
    std::vector<Character> all{test::quadruped(0.03), test::robot(), test::caped(), test::strip(), test::u_tube()};
    if (!test::sanitized) all.push_back(test::biped({.cell = 0.04}));
    return all;
}

bool same(const PoseShape& x, const PoseShape& y) {
    return x.volume_change == y.volume_change && x.stretch_max == y.stretch_max && x.stretch_p99 == y.stretch_p99 &&
           x.stretched == y.stretched;
}

void expect_same(const WeightsQuality& x, const WeightsQuality& y) {
    EXPECT_EQ(x.smoothness.energy, y.smoothness.energy);
    EXPECT_EQ(x.bleed.far_weight, y.bleed.far_weight);
    EXPECT_EQ(x.bleed.share, y.bleed.share);
    EXPECT_EQ(x.bleed.vertices, y.bleed.vertices);
    EXPECT_EQ(x.symmetry.has_value(), y.symmetry.has_value());
    if (x.symmetry && y.symmetry) {
        EXPECT_EQ(x.symmetry->mean, y.symmetry->mean);
    }
}

TEST(CompareProperty, ThreadsChangeNoBit) {
    for (const Character& c : family()) {
        const SkinWeights a = bound(c, 0.1f, 4), b = bound(c, 0.6f, 8);
        const Comparison one = compared(c, a, b, 1);
        for (const int threads : {7, 2}) {
            if (test::sanitized && threads == 2) break;
            const Comparison many = compared(c, a, b, threads);
            EXPECT_EQ(one.vertex_l1, many.vertex_l1);
            EXPECT_EQ(one.l1.mean, many.l1.mean);
            EXPECT_EQ(one.worst_vertices, many.worst_vertices);
            ASSERT_EQ(one.joints.size(), many.joints.size());
            for (std::size_t k = 0; k < one.joints.size(); ++k) {
                EXPECT_EQ(one.joints[k].joint, many.joints[k].joint);
                EXPECT_EQ(one.joints[k].l1, many.joints[k].l1);
                EXPECT_EQ(one.joints[k].mass_b, many.joints[k].mass_b);
            }
            expect_same(one.a, many.a);
            expect_same(one.b, many.b);
            ASSERT_EQ(one.poses.size(), many.poses.size());
            for (std::size_t k = 0; k < one.poses.size(); ++k) {
                EXPECT_EQ(one.poses[k].mean, many.poses[k].mean);
                EXPECT_TRUE(same(one.poses[k].a, many.poses[k].a));
                EXPECT_TRUE(same(one.poses[k].b, many.poses[k].b));
            }
            EXPECT_EQ(one.limb.a, many.limb.a);
            EXPECT_EQ(one.limb.b, many.limb.b);
        }
    }
}

TEST(CompareProperty, NumbersAreWithinTheirBoundsAndAddUp) {
    for (const Character& c : family()) {
        const SkinWeights a = bound(c, 0.1f, 4), b = bound(c, 0.6f, 8);
        const Comparison out = compared(c, a, b), back = compared(c, b, a);
        const auto n = static_cast<double>(c.positions.size());
        // Swapping A and B keeps distances and swaps precision with recall.
        EXPECT_EQ(out.vertex_l1, back.vertex_l1) << c.name;
        EXPECT_EQ(out.precision, back.recall) << c.name;
        EXPECT_EQ(out.strongest_agreement, back.strongest_agreement) << c.name;
        EXPECT_EQ(out.a.smoothness.total, back.b.smoothness.total) << c.name;
        EXPECT_EQ(out.a.bleed.share, back.b.bleed.share) << c.name;
        for (std::size_t k = 0; k < out.poses.size(); ++k)
            EXPECT_EQ(out.poses[k].mean, back.poses[k].mean) << c.name;

        double l1 = 0, mass_a = 0, mass_b = 0, share = 0, strongest = 0;
        for (const JointComparison& j : out.joints) {
            l1 += j.l1;
            mass_a += j.mass_a;
            mass_b += j.mass_b;
            share += j.l1_share;
            strongest += static_cast<double>(j.strongest_a);
            EXPECT_LE(j.influences_both, std::min(j.influences_a, j.influences_b));
            EXPECT_LE(j.strongest_both, std::min(j.strongest_a, j.strongest_b));
            EXPECT_LE(out.a.bleed.far_weight[j.joint], j.mass_a * (1 + 1e-9));
        }
        EXPECT_NEAR(l1 / n, out.l1.mean, 1e-9);
        EXPECT_NEAR(mass_a, n, 1e-5 * n);
        EXPECT_NEAR(mass_b, n, 1e-5 * n);
        EXPECT_NEAR(share, 1, 1e-9);
        EXPECT_EQ(strongest, n);
        EXPECT_LE(out.l1.median, out.l1.p95);
        EXPECT_LE(out.l1.p95, out.l1.max);
        EXPECT_LE(out.l1.max, 2 + 1e-6);
        for (const double e : out.a.smoothness.energy) EXPECT_GE(e, 0);
        EXPECT_GE(out.a.bleed.share, 0);
        EXPECT_LE(out.a.bleed.share, 1);
        // The distance of a vertex is at most L1 / 2 times the largest distance between joints.
        for (const PoseComparison& p : out.poses) EXPECT_LE(p.mean, p.max);
    }
}

TEST(CompareProperty, DefectsOfTheMeshGiveFiniteNumbers) {
    const Character good = test::robot();
    for (const test::Defect& defect : test::defects()) {
        if (*defect.error) continue;  // no mesh to measure
        const Character c = defect.apply(good);
        std::vector<std::uint32_t> ones(c.positions.size(), 1);
        std::vector<Influence> maker, other;
        for (std::size_t v = 0; v < c.positions.size(); ++v) {
            const std::uint32_t joint = v < c.body_part.size() ? c.body_part[v] : 0;
            maker.push_back({joint, 1});
            other.push_back({(joint + 1) % static_cast<std::uint32_t>(c.skeleton.joints.size()), 1});
        }
        const auto a = SkinWeights::from_rows(ones, maker), b = SkinWeights::from_rows(ones, other);
        ASSERT_TRUE(a.ok() && b.ok());
        const Comparison out = compared(c, *a, *b);
        EXPECT_EQ(out.l1.mean, 2) << defect.name;
        std::vector<double> numbers{out.a.smoothness.total, out.b.smoothness.total, out.a.bleed.share,
                                    out.b.bleed.share, out.diagonal};
        for (const PoseComparison& p : out.poses) {
            numbers.insert(numbers.end(), {p.mean, p.max, p.a.stretch_max, p.b.stretch_p99});
            if (p.a.volume_change) numbers.push_back(*p.a.volume_change);
        }
        for (const double x : numbers) EXPECT_TRUE(std::isfinite(x)) << defect.name;
        EXPECT_LE(out.b.bleed.share, 1) << defect.name;
        EXPECT_GE(out.b.bleed.share, out.a.bleed.share) << defect.name;
    }
}

TEST(CompareProperty, TheOrderOfVerticesAndTheScaleDoNotMatter) {
    for (const Character& c : family()) {
        const SkinWeights a = bound(c, 0.1f, 4), b = bound(c, 0.6f, 8);
        const Comparison out = compared(c, a, b);
        // In reverse order, and eight times as large: scaling by a power of two is exact.
        const std::size_t n = c.positions.size();
        Character d = c;
        std::reverse(d.positions.begin(), d.positions.end());
        for (Vec3& p : d.positions) p = {8 * p.x, 8 * p.y, 8 * p.z};
        for (Joint& j : d.skeleton.joints) {
            j.position = {8 * j.position.x, 8 * j.position.y, 8 * j.position.z};
            if (j.tail) j.tail = Vec3{8 * j.tail->x, 8 * j.tail->y, 8 * j.tail->z};
        }
        for (Triangle& t : d.triangles)
            for (std::uint32_t& v : t) v = static_cast<std::uint32_t>(n - 1 - v);
        auto reversed = [&](const SkinWeights& w) {
            std::vector<std::uint32_t> counts;
            std::vector<Influence> all;
            for (std::size_t v = n; v-- > 0;) {
                counts.push_back(static_cast<std::uint32_t>(w[v].size()));
                all.insert(all.end(), w[v].begin(), w[v].end());
            }
            auto out_weights = SkinWeights::from_rows(counts, std::move(all));
            EXPECT_TRUE(out_weights.ok());
            return std::move(*out_weights);
        };
        const Comparison other = compared(d, reversed(a), reversed(b));
        EXPECT_NEAR(out.l1.mean, other.l1.mean, 1e-9) << c.name;
        EXPECT_EQ(out.l1.p95, other.l1.p95) << c.name;
        EXPECT_EQ(out.precision, other.precision) << c.name;
        EXPECT_NEAR(out.a.smoothness.total, other.a.smoothness.total, 1e-6 * out.a.smoothness.total) << c.name;
        EXPECT_NEAR(out.b.bleed.share, other.b.bleed.share, 1e-6) << c.name;
        ASSERT_EQ(out.symmetry.has_value(), other.symmetry.has_value()) << c.name;
        if (out.symmetry) {
            EXPECT_NEAR(out.a.symmetry->mean, other.a.symmetry->mean, 0.01) << c.name;
        }
        ASSERT_EQ(out.poses.size(), other.poses.size()) << c.name;
        for (std::size_t k = 0; k < out.poses.size(); ++k) {
            EXPECT_NEAR(out.poses[k].mean, other.poses[k].mean, 1e-4) << c.name;
            EXPECT_NEAR(out.poses[k].a.stretch_max, other.poses[k].a.stretch_max, 1e-3) << c.name;
        }
    }
}

}  // namespace
}  // namespace sinew::test_quality_properties
