#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sinew/weights.h"
#include "unit/support.h"
#include "weights/power.h"

namespace sinew::test_weights {
namespace {

using test::weight_of;

constexpr float inf = std::numeric_limits<float>::infinity();

DistanceTable table(std::vector<std::vector<std::pair<std::uint32_t, float>>> rows, float unit = 1) {
    DistanceTable t;
    t.vertices = rows.size();
    t.unit = unit;
    for (const auto& row : rows) t.width = std::max(t.width, row.size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < t.width; ++i) {
            t.joint.push_back(i < row.size() ? row[i].first : no_index);
            t.distance.push_back(i < row.size() ? row[i].second : inf);
        }
    return t;
}

InfluenceTable strengths(std::vector<std::vector<float>> rows) {
    InfluenceTable t;
    t.vertices = rows.size();
    for (const auto& row : rows) t.width = std::max(t.width, row.size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < t.width; ++i) {
            t.joint.push_back(i < row.size() ? std::uint32_t(i) : no_index);
            t.strength.push_back(i < row.size() ? row[i] : 0.0f);
        }
    return t;
}

void expect_invariant(const SkinWeights& weights, std::size_t limit) {
    for (std::size_t v = 0; v < weights.vertex_count(); ++v) {
        const auto row = weights[v];
        if (row.empty()) continue;
        ASSERT_LE(row.size(), limit);
        float in_float = 0;
        double in_double = 0;
        for (std::size_t i = 0; i < row.size(); ++i) {
            ASSERT_GT(row[i].weight, 0);
            in_float += row[i].weight;
            in_double += row[i].weight;
            if (i > 0) {
                ASSERT_TRUE(row[i - 1].weight > row[i].weight ||
                            (row[i - 1].weight == row[i].weight && row[i - 1].joint < row[i].joint));
            }
            for (std::size_t k = 0; k < i; ++k) ASSERT_NE(row[k].joint, row[i].joint);
        }
        ASSERT_NEAR(in_float, 1, 1e-7 * double(row.size()));
        ASSERT_NEAR(in_double, 1, 1e-7 * double(row.size()));
    }
}

DistanceTable random_table(std::size_t vertices, std::size_t width) {
    std::mt19937 random(5);
    std::vector<std::vector<std::pair<std::uint32_t, float>>> rows(vertices);
    for (auto& row : rows) {
        const std::size_t n = random() % (width + 1);
        float d = 0;
        for (std::size_t i = 0; i < n; ++i) {
            d += random() % 4 == 0 ? 0.0f : float(random() % 1000) * 1e-4f;
            row.emplace_back(std::uint32_t(i * 7 % 31), d);
        }
        std::sort(row.begin(), row.end(),
                  [](auto& a, auto& b) { return a.second != b.second ? a.second < b.second : a.first < b.first; });
    }
    return table(rows);
}

TEST(Falloff, TwoJointsInClosedForm) {
    for (const float alpha : {0.0f, 0.1f, 0.5f, 1.0f})
        for (const float x : {0.05f, 0.3f, 0.5f, 0.61f, 0.95f}) {
            const std::uint32_t near = x <= 0.5f ? 0 : 1;
            const DistanceTable t = table({{{near, std::min(x, 1 - x)}, {1 - near, std::max(x, 1 - x)}}});
            FalloffOptions power;
            power.alpha = alpha;
            const double lambda = (1 - alpha) * 5.0 + alpha * 30.0;
            const double a = std::pow(double(x), -lambda), b = std::pow(1.0 - x, -lambda);
            FinishOptions keep_all;
            keep_all.prune = 0;
            auto w = finish(*apply_falloff(t, power), keep_all);
            EXPECT_NEAR(weight_of((*w)[0], 0), a / (a + b), 1e-5);

            FalloffOptions quadratic = power;
            quadratic.law = FalloffLaw::inverse_quadratic;
            const auto law = [&](double d) { return 1 / std::pow((1 - alpha) * d + alpha * d * d, 2); };
            w = finish(*apply_falloff(t, quadratic), keep_all);
            EXPECT_NEAR(weight_of((*w)[0], 0), law(x) / (law(x) + law(1.0 - x)), 1e-5);
        }
}

TEST(Falloff, IsRelativeToTheUnit) {
    const DistanceTable a = table({{{0, 0.2f}, {1, 0.3f}}});
    const DistanceTable b = table({{{0, 0.2f * 1024}, {1, 0.3f * 1024}}}, 1024);
    for (const FalloffLaw law : {FalloffLaw::inverse_power, FalloffLaw::inverse_quadratic}) {
        FalloffOptions options;
        options.law = law;
        EXPECT_EQ(apply_falloff(a, options)->strength, apply_falloff(b, options)->strength);
    }
}

TEST(Falloff, HandlesEmptyTiedAndTinyDistances) {
    const float denormal = 1e-42f, huge = 3e38f;
    const DistanceTable t = table({
        {},                                      // no joint reaches it
        {{4, inf}, {5, inf}},                    // the same
        {{7, 0.5f}, {8, 0.5f}, {9, 0.5f}},       // all equal
        {{2, 0}, {1, 0.0005f}, {0, 0.5f}},       // both are at the vertex within the tolerance
        {{1, denormal}, {2, denormal}, {3, 1}},  // too small to divide by
        {{1, huge}, {2, huge}},
        {{3, 0.25f}, {1, inf}},
    });
    const auto s = apply_falloff(t, {});
    ASSERT_TRUE(s.ok());
    const auto row = [&](std::size_t v) {
        return std::vector<float>(s->strength.begin() + std::ptrdiff_t(v * s->width),
                                  s->strength.begin() + std::ptrdiff_t((v + 1) * s->width));
    };
    EXPECT_EQ(row(0), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(row(1), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(row(2), (std::vector<float>{1, 1, 1}));
    EXPECT_EQ(row(3)[0], 1);
    EXPECT_EQ(row(3)[1], 1);
    EXPECT_EQ(s->joint[9], 1u);  // equal: by joint
    EXPECT_EQ(s->joint[10], 2u);
    EXPECT_EQ(row(4)[0], 1);
    EXPECT_EQ(row(4)[1], 1);
    EXPECT_EQ(row(5)[1], 1);
    EXPECT_EQ(row(6), (std::vector<float>{1, 0, 0}));

    const auto w = finish(*s, {});
    ASSERT_TRUE(w.ok());
    expect_invariant(*w, 4);
    EXPECT_TRUE((*w)[0].empty());
    EXPECT_TRUE((*w)[1].empty());
    EXPECT_NEAR((*w)[2][2].weight, 1.0 / 3, 1e-7);
    EXPECT_EQ((*w)[6][0].weight, 1.0f);
}

TEST(Falloff, PowerActsOnStrengths) {
    InfluenceTable heat;
    heat.vertices = 2;
    heat.width = 3;
    heat.joint = {4, 1, no_index, 2, no_index, no_index};
    heat.strength = {0.8f, 0.2f, 0, 1e-20f, 0, 0};
    FalloffOptions o;
    o.law = FalloffLaw::power;
    o.power = 2;
    const auto s = apply_falloff(heat, o);
    ASSERT_TRUE(s.ok());
    EXPECT_EQ(s->joint, heat.joint);
    EXPECT_FLOAT_EQ(s->strength[1], 1 / 16.0f);
    EXPECT_EQ(s->strength[3], 1);
    // α acts on heat as on distance: at its default the power is unchanged, at 1 it is four times as large.
    FalloffOptions hard = o;
    hard.power = 0.5f;
    hard.alpha = 1;
    EXPECT_FLOAT_EQ(apply_falloff(heat, hard)->strength[1], 1 / 16.0f);
    hard = o;
    hard.map.of_joint.assign(5, NAN);
    hard.map.of_joint[4] = 1;  // joint 4 has nearly all of the first row
    EXPECT_LT(apply_falloff(heat, hard)->strength[1], 1 / 200.0f);
    hard.map.of_joint[4] = 1.5f;
    EXPECT_FALSE(apply_falloff(heat, hard).ok());
    // Powers need strengths, and the other laws need distances.
    EXPECT_FALSE(apply_falloff(table({{{0, 1}}}), o).ok());
    EXPECT_FALSE(apply_falloff(heat, {}).ok());
    o.power = 0;
    EXPECT_FALSE(apply_falloff(heat, o).ok());
}

// Row of joints 0 and 1 at 0.2 and 0.3.
TEST(Falloff, AMapByVertexReplacesTheOption) {
    const DistanceTable t = table({{{0, 0.2f}, {1, 0.3f}}, {{0, 0.2f}, {1, 0.3f}}});
    for (const FalloffLaw law : {FalloffLaw::inverse_power, FalloffLaw::inverse_quadratic, FalloffLaw::exponential,
                                 FalloffLaw::cubic_hermite, FalloffLaw::linear}) {
        FalloffOptions plain, mapped, other;
        plain.law = mapped.law = other.law = law;
        other.*shape_of(law) = 0.7f;
        mapped.map.of_vertex = {std::nanf(""), 0.7f};
        mapped.map.of_joint = {std::nanf(""), std::nanf("")};
        const auto a = apply_falloff(t, plain), b = apply_falloff(t, other), m = apply_falloff(t, mapped);
        ASSERT_TRUE(a.ok() && b.ok() && m.ok());
        EXPECT_FLOAT_EQ(m->strength[1], a->strength[1]);
        EXPECT_FLOAT_EQ(m->strength[3], b->strength[3]);
        EXPECT_NE(a->strength[1], b->strength[1]);
    }
}

TEST(Falloff, SmoothnessOfAJointIsItsReach) {
    FalloffOptions o;
    o.law = FalloffLaw::exponential;
    o.map.of_joint = {0.1f, 0.4f};
    const auto s = apply_falloff(table({{{0, 0.2f}, {1, 0.3f}}}), o);
    ASSERT_TRUE(s.ok());
    // e^(-2) and e^(-0.75): the farther joint has the larger smoothness.
    EXPECT_EQ(s->joint[0], 1u);
    EXPECT_NEAR(s->strength[1], std::exp(-2 + 0.75), 1e-6);
}

TEST(Falloff, HardnessOfAJointMovesNoBorder) {
    FalloffOptions o;
    o.map.of_joint = {0.9f, 0.1f};
    // Equal distances give equal weights. Close to joint 0 its hardness decides.
    const auto s = apply_falloff(table({{{0, 0.2f}, {1, 0.2f}}, {{0, 0.02f}, {1, 0.2f}}}), o);
    ASSERT_TRUE(s.ok());
    EXPECT_EQ(s->strength[0], s->strength[1]);
    FalloffOptions hard;
    hard.alpha = 0.9f;
    const auto h = apply_falloff(table({{{0, 0.02f}, {1, 0.2f}}}), hard);
    EXPECT_NEAR(s->strength[3] / h->strength[1], 1, 0.01);
}

double lambda(double alpha) { return (1 - alpha) * 5 + alpha * 30; }

// Reference: the laws of Tokheim (2003) and VIDE (2012), for distances 0.1 and 0.2 and a reach of 0.4.
double published(FalloffLaw law, double d) {
    const double t = d / 0.4;
    if (law == FalloffLaw::linear) return 1 - t;
    return law == FalloffLaw::cubic_hermite ? 1 - 3 * t * t + 2 * t * t * t : std::exp(-d / 0.05);
}

TEST(Falloff, HardnessIsAPowerOfEveryPublishedStrength) {
    const DistanceTable t = table({{{0, 0.1f}, {1, 0.2f}, {2, 0.4f}}});
    for (const FalloffLaw law : {FalloffLaw::exponential, FalloffLaw::cubic_hermite, FalloffLaw::linear}) {
        FalloffOptions o;
        o.law = law;
        o.smoothness = 0.05f;
        o.threshold = 0.4f;
        const double ratio = published(law, 0.2f) / published(law, 0.1f);
        const auto plain = apply_falloff(t, o);
        EXPECT_NEAR(plain->strength[1], ratio, 1e-7) << int(law);
        float last = 2;
        for (const float alpha : {0.0f, 0.05f, 0.1f, 0.4f, 1.0f}) {
            o.alpha = alpha;
            const auto s = apply_falloff(t, o);
            EXPECT_NEAR(s->strength[1], std::pow(ratio, lambda(alpha) / 7.5), 1e-6) << int(law) << " " << alpha;
            if (alpha == o.alpha && alpha == 0.1f) {
                EXPECT_EQ(s->strength, plain->strength);
            }
            EXPECT_LT(s->strength[1], last);
            last = s->strength[1];
            // A joint at the reach gets weight 0 for any softness: 0 to the power of a tiny number.
            if (law != FalloffLaw::exponential) {
                EXPECT_EQ(s->strength[2], 0) << alpha;
            }
        }
        o.alpha = 0;
        o.lambda_min = 1e-6f;
        if (law != FalloffLaw::exponential) {
            EXPECT_EQ(apply_falloff(t, o)->strength[2], 0);
        }
        o.lambda_min = 15;  // every power grows, as under the other laws
        EXPECT_NEAR(apply_falloff(t, o)->strength[1], ratio * ratio, 1e-6);
    }
    // Under the exponential law this equals another smoothness.
    FalloffOptions hard, short_way;
    hard.law = short_way.law = FalloffLaw::exponential;
    hard.alpha = 1;
    short_way.smoothness /= 4;
    EXPECT_NEAR(apply_falloff(t, hard)->strength[1], apply_falloff(t, short_way)->strength[1], 1e-7);
}

TEST(Falloff, DefaultHardnessEqualsThePublishedLaw) {
    std::mt19937 random(9);
    FalloffOptions o;
    o.threshold = 0.7f;
    for (int round = 0; round < 500; ++round) {
        std::vector<std::pair<std::uint32_t, float>> row;
        float d = 0;
        for (std::uint32_t j = 0; j < 5; ++j) row.emplace_back(j, d += float(random() % 1000 + 1) * 2e-4f);
        const DistanceTable t = table({row});
        for (const FalloffLaw law : {FalloffLaw::exponential, FalloffLaw::cubic_hermite, FalloffLaw::linear}) {
            o.law = law;
            const auto s = apply_falloff(t, o);
            std::vector<double> expected;
            for (const auto& [j, x] : row) {
                const double u = std::min(1.0, double{x} / double{o.threshold});
                expected.push_back(law == FalloffLaw::linear ? 1 - u
                                   : law == FalloffLaw::cubic_hermite
                                       ? 1 - u * u * (3 - 2 * u)
                                       : std::exp(double{row[0].second} / double{o.smoothness} -
                                                  double{x} / double{o.smoothness}));
            }
            for (std::size_t i = 0; i < 5 && expected[0] > 0; ++i)
                ASSERT_EQ(s->strength[i], static_cast<float>(expected[i] / expected[0])) << int(law) << " " << i;
        }
    }
}

TEST(Falloff, HardnessOfJointsIsTheMeanOfTheRow) {
    const DistanceTable t = table({{{0, 0.1f}, {1, 0.2f}}, {{0, 0.2f}, {1, 0.2f}}});
    for (const FalloffLaw law : {FalloffLaw::exponential, FalloffLaw::cubic_hermite, FalloffLaw::linear}) {
        FalloffOptions o;
        o.law = law;
        o.smoothness = 0.05f;
        o.threshold = 0.4f;
        o.map.hardness_of_joint = {0.9f, NAN};
        const auto s = apply_falloff(t, o);
        ASSERT_TRUE(s.ok());
        const double ratio = published(law, 0.2f) / published(law, 0.1f);
        const double alpha = (0.9 + 0.1 * ratio) / (1 + ratio);
        EXPECT_NEAR(s->strength[1], std::pow(ratio, lambda(alpha) / 7.5), 1e-6) << int(law);
        EXPECT_EQ(s->strength[3], s->strength[2]);  // the border stays where it is
        // Together with smoothness by joint, which keeps its meaning.
        o.map.of_joint = {NAN, law == FalloffLaw::exponential ? 0.06f : 0.3f};
        FalloffOptions lengths = o;
        lengths.map.hardness_of_joint.clear();
        const float other = apply_falloff(t, lengths)->strength[1];
        EXPECT_GT(std::abs(other - ratio), 0.01);
        const double mean = (0.9 + 0.1 * other) / (1 + other);
        EXPECT_NEAR(apply_falloff(t, o)->strength[1], std::pow(other, lambda(mean) / 7.5), 1e-6);
    }
    // Under a law shaped by α both mean the same, and of_joint has precedence.
    FalloffOptions a, b;
    a.map.hardness_of_joint = {0.9f, 0.3f};
    b.map.of_joint = {0.9f, 0.3f};
    EXPECT_EQ(apply_falloff(t, a)->strength, apply_falloff(t, b)->strength);
    a.map.hardness_of_joint = {0.2f, 0.3f};
    a.map.of_joint = {0.9f, NAN};
    EXPECT_EQ(apply_falloff(t, a)->strength, apply_falloff(t, b)->strength);
}

TEST(Falloff, ValuesOfVerticesAreWeightedByTheirShare) {
    const DistanceTable t = table({{{0, 0.1f}, {1, 0.2f}}});
    const auto at = [&](FalloffLaw law, float value, std::vector<float> of_joint, float own, float share) {
        FalloffOptions o;
        o.law = law;
        o.*shape_of(law) = value;
        o.map.of_joint = std::move(of_joint);
        if (!std::isnan(own)) o.map.of_vertex = {own}, o.map.share_of_vertex = {share};
        return apply_falloff(t, o)->strength[1];
    };
    for (const FalloffLaw law :
         {FalloffLaw::inverse_power, FalloffLaw::inverse_quadratic, FalloffLaw::exponential}) {
        EXPECT_EQ(at(law, 0.2f, {}, 0.6f, 1), at(law, 0.6f, {}, NAN, 0));
        EXPECT_EQ(at(law, 0.2f, {}, 0.6f, 0), at(law, 0.2f, {}, NAN, 0));
        EXPECT_NEAR(at(law, 0.2f, {}, 0.6f, 0.25f), at(law, 0.3f, {}, NAN, 0), 1e-6);
        // Vertices outweigh joints.
        EXPECT_NEAR(at(law, 0.5f, {0.2f, 0.2f}, 0.6f, 0.25f), at(law, 0.3f, {}, NAN, 0), 1e-6);
    }
}

TEST(FalloffMap, ValuesAreBlendedInOrder) {
    FalloffMap m;
    m.put(1, 3, 0.8f, 1);
    EXPECT_TRUE(m.share_of_vertex.empty());
    EXPECT_EQ(m.of_vertex[1], 0.8f);
    EXPECT_TRUE(std::isnan(m.of_vertex[0]));
    m.put(0, 3, 0.4f, 0.5f);  // the first value: a share of 1/2
    EXPECT_EQ(m.of_vertex[0], 0.4f);
    EXPECT_EQ(m.share_of_vertex, (std::vector<float>{0.5f, 1, 1}));
    m.put(1, 3, 0.4f, 0.25f);  // a quarter over 0.8
    EXPECT_FLOAT_EQ(m.of_vertex[1], 0.7f);
    EXPECT_EQ(m.share_of_vertex[1], 1);
    m.put(0, 3, 1, 0.5f);  // 1/2 · 1 + 1/2 · (1/2 · 0.4 + 1/2 · rest)
    EXPECT_FLOAT_EQ(m.share_of_vertex[0], 0.75f);
    EXPECT_FLOAT_EQ(m.of_vertex[0] * m.share_of_vertex[0], 0.6f);
    m.put(2, 3, 1, 0);
    EXPECT_TRUE(std::isnan(m.of_vertex[2]));
}

TEST(FalloffMap, UnderAnotherLawHardnessStays) {
    FalloffMap m;
    m.of_joint = {0.5f, NAN, NAN};
    m.of_vertex = {0.1f};
    m.hardness_of_joint = {0.2f, 0.3f};
    const FalloffMap same = map_under(m, FalloffLaw::inverse_power, FalloffLaw::inverse_quadratic);
    EXPECT_EQ(same.of_vertex, m.of_vertex);
    const FalloffMap from_alpha = map_under(m, FalloffLaw::inverse_power, FalloffLaw::linear);
    EXPECT_TRUE(from_alpha.of_joint.empty() && from_alpha.of_vertex.empty());
    ASSERT_EQ(from_alpha.hardness_of_joint.size(), 3u);
    EXPECT_EQ(from_alpha.hardness_of_joint[0], 0.5f);  // of_joint has precedence
    EXPECT_EQ(from_alpha.hardness_of_joint[1], 0.3f);
    EXPECT_TRUE(std::isnan(from_alpha.hardness_of_joint[2]));
    const FalloffMap from_length = map_under(m, FalloffLaw::linear, FalloffLaw::exponential);
    EXPECT_TRUE(from_length.of_joint.empty() && from_length.of_vertex.empty());
    EXPECT_EQ(from_length.hardness_of_joint, m.hardness_of_joint);
}

TEST(Falloff, MapsAreChecked) {
    const DistanceTable t = table({{{0, 0.2f}, {3, 0.3f}}});
    FalloffOptions o;
    o.map.of_joint = {0.1f, 0.2f};  // joint 3 has influence
    EXPECT_FALSE(apply_falloff(t, o).ok());
    o.map.of_joint = {0.1f, 0.2f, 0.3f, 1.5f};
    EXPECT_FALSE(check(o).ok());
    o.map.of_joint.clear();
    o.map.of_vertex = {0.1f, 0.1f};
    EXPECT_FALSE(apply_falloff(t, o).ok());
    o.map.of_vertex = {0.1f};
    EXPECT_TRUE(apply_falloff(t, o).ok());
    o.map.share_of_vertex = {1, 1};
    EXPECT_FALSE(check(o).ok());
    for (const float share : {-0.1f, 1.1f, std::nanf("")}) {
        o.map.share_of_vertex = {share};
        EXPECT_FALSE(check(o).ok());
    }
    o.map = {};
    for (const FalloffLaw law : {FalloffLaw::inverse_power, FalloffLaw::linear}) {
        o.law = law;
        o.map.hardness_of_joint = {0.1f, 0.2f};  // joint 3 has influence
        EXPECT_FALSE(apply_falloff(t, o).ok());
        o.map.hardness_of_joint = {0.1f, 0.2f, 0.3f, 1.5f};
        EXPECT_FALSE(check(o).ok());
        o.map.hardness_of_joint[3] = 1;
        EXPECT_TRUE(apply_falloff(t, o).ok());
    }
}

TEST(Falloff, OptionsAreChecked) {
    const auto bad = [](auto change) {
        FalloffOptions o;
        change(o);
        return !check(o).ok() && !apply_falloff(table({{{0, 1}}}), o).ok();
    };
    EXPECT_TRUE(check(FalloffOptions{}).ok());
    EXPECT_TRUE(bad([](FalloffOptions& o) { o.alpha = -0.1f; }));
    EXPECT_TRUE(bad([](FalloffOptions& o) { o.alpha = 1.1f; }));
    EXPECT_TRUE(bad([](FalloffOptions& o) { o.alpha = std::nanf(""); }));
    EXPECT_TRUE(bad([](FalloffOptions& o) { o.lambda_min = 0; }));
    EXPECT_TRUE(bad([](FalloffOptions& o) { o.lambda_max = 4; }));
    EXPECT_TRUE(bad([](FalloffOptions& o) { o.lambda_max = inf; }));
    EXPECT_TRUE(bad([](FalloffOptions& o) { o.tolerance = 0; }));
    EXPECT_TRUE(bad([](FalloffOptions& o) { o.law = FalloffLaw(7); }));
}

TEST(Finish, OptionsAreChecked) {
    EXPECT_TRUE(check(FinishOptions{}).ok());
    EXPECT_TRUE(check(FinishOptions{all_influences, LimitRule::cut, 0}).ok());
    EXPECT_FALSE(check(FinishOptions{9, LimitRule::fade, 0}).ok());
    EXPECT_FALSE(check(FinishOptions{-1, LimitRule::fade, 0}).ok());
    EXPECT_FALSE(check(FinishOptions{4, LimitRule::fade, 0.6f}).ok());
    EXPECT_FALSE(check(FinishOptions{4, LimitRule::fade, std::nanf("")}).ok());
    EXPECT_FALSE(check(FinishOptions{4, LimitRule(3), 0}).ok());
}

TEST(Finish, InvariantOnRandomRowsForEveryLimitAndRule) {
    const auto s = apply_falloff(random_table(5000, 12), {});
    ASSERT_TRUE(s.ok());
    for (const LimitRule rule : {LimitRule::fade, LimitRule::cut})
        for (const int limit : {1, 2, 3, 4, 8, all_influences})
            for (const float prune : {0.0f, 1e-4f, 0.3f}) {
                const auto w = finish(*s, {limit, rule, prune});
                ASSERT_TRUE(w.ok());
                EXPECT_EQ(w->vertex_count(), 5000u);
                expect_invariant(*w, limit == all_influences ? 12 : std::size_t(limit));
                EXPECT_LE(w->max_influences(), limit == all_influences ? 12u : unsigned(limit));
                for (std::size_t v = 0; v < w->vertex_count(); ++v) {
                    EXPECT_EQ((*w)[v].empty(), s->strength[v * s->width] == 0) << v;
                    if ((*w)[v].size() > 1) {
                        EXPECT_GE((*w)[v].back().weight, prune * 0.999f);
                    }
                }
            }
}

// Where the fifth joint overtakes the fourth, the weights must not jump.
TEST(Finish, FadeIsContinuousWhereTheFifthCrossesTheFourthAndCutIsNot) {
    const auto row = [](float fifth, LimitRule rule) {
        return finish(strengths({{1.0f, 0.9f, 0.8f, 0.5f, fifth}}), {4, rule, 0}).value();
    };
    const auto jump = [&](LimitRule rule) {
        const SkinWeights below = row(0.49999f, rule), above = row(0.50001f, rule);
        double most = 0;
        for (std::uint32_t j = 0; j < 5; ++j)
            most = std::max<double>(most, std::abs(weight_of(below[0], j) - weight_of(above[0], j)));
        return most;
    };
    EXPECT_LT(jump(LimitRule::fade), 1e-4);
    EXPECT_GT(jump(LimitRule::cut), 0.1);
    // Everywhere else, output steps are at most a few times the input step.
    SkinWeights last = row(0.0f, LimitRule::fade);
    for (float fifth = 0.001f; fifth < 1; fifth += 0.001f) {
        const SkinWeights now = row(fifth, LimitRule::fade);
        for (std::uint32_t j = 0; j < 5; ++j)
            EXPECT_NEAR(weight_of(now[0], j), weight_of(last[0], j), 0.01) << fifth;
        last = now;
    }
}

TEST(Finish, LimitAppliesOnlyToLongerRows) {
    const auto exact = finish(strengths({{1, 0.5f, 0.25f, 0.25f}}), {4, LimitRule::fade, 0});
    EXPECT_FLOAT_EQ((*exact)[0][0].weight, 0.5f);
    const auto fade = finish(strengths({{1, 0.5f, 0.25f, 0.25f, 0.25f}}), {4, LimitRule::fade, 0});
    ASSERT_EQ((*fade)[0].size(), 2u);  // strengths equal to the fifth fade out
    EXPECT_FLOAT_EQ((*fade)[0][0].weight, 0.75f);
    const auto equal = finish(strengths({{1, 1, 1, 1, 1, 1}}), {4, LimitRule::fade, 0});
    ASSERT_EQ((*equal)[0].size(), 4u);
    EXPECT_FLOAT_EQ((*equal)[0][3].weight, 0.25f);
    const auto pruned = finish(strengths({{1, 1e-5f}}), {4, LimitRule::fade, 1e-4f});
    ASSERT_EQ((*pruned)[0].size(), 1u);
    EXPECT_EQ((*pruned)[0][0].weight, 1.0f);
}

TEST(Finish, BadStrengthIsAnError) {
    for (const float bad : {-1.0f, inf, std::nanf("")}) {
        const auto w = finish(strengths({{1, 0.5f}, {1, bad}, {bad, 1}}), {});
        ASSERT_FALSE(w.ok());
        EXPECT_NE(w.error().message.find("vertex 1"), std::string::npos);
    }
}

TEST(Finish, SameBitsOnAnyNumberOfThreadsAndCancel) {
    const DistanceTable t = random_table(20000, 8);
    Context one, four;
    one.threads = 1;
    four.threads = 4;
    const auto a = apply_falloff(t, {}, &one), b = apply_falloff(t, {}, &four);
    EXPECT_EQ(a->strength, b->strength);
    EXPECT_EQ(a->joint, b->joint);
    EXPECT_EQ(*finish(*a, {}, &one), *finish(*b, {}, &four));
    four.cancel = true;
    EXPECT_EQ(apply_falloff(t, {}, &four).error().code, ErrorCode::cancelled);
    EXPECT_EQ(finish(*a, {}, &four).error().code, ErrorCode::cancelled);
}

TEST(Raise, IsThePowerUpToRounding) {
    std::mt19937 random(3);
    std::vector<double> x, exponent;
    for (int i = 0; i < 20000; ++i) {
        const double u = std::generate_canonical<double, 53>(random);
        x.push_back(i % 3 == 0 ? u : i % 3 == 1 ? 1 - 1e-6 * u : std::pow(10.0, -80 * u));
        exponent.push_back(i % 7 == 0 ? 0 : 100 * std::generate_canonical<double, 53>(random));
    }
    std::vector<double> raised = x;
    raise(raised, exponent);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const long double exact = std::pow(static_cast<long double>(x[i]), static_cast<long double>(exponent[i]));
        if (exact < 1e-300L)
            ASSERT_LT(raised[i], 1e-45) << x[i] << " to the " << exponent[i];
        else
            ASSERT_NEAR(static_cast<double>(raised[i] / exact), 1,
                        4e-16 * (4 + exponent[i] - static_cast<double>(std::log2(exact))))
                << x[i] << " to the " << exponent[i];
        // One value at a time, without vector instructions: the same bits.
        double alone = x[i];
        raise({&alone, 1}, {&exponent[i], 1});
        ASSERT_EQ(alone, raised[i]);
    }
}

TEST(Raise, KeepsOneAndRoundsTheSmallestToZero) {
    double x[] = {1, 1, 1, 0.5, 0.25, 1e-300, 1e-300};
    const double exponent[] = {0, 30, 1e6, 1, 2, 1, 1e6};
    raise(x, exponent);
    EXPECT_EQ(x[0], 1);
    EXPECT_EQ(x[1], 1);
    EXPECT_EQ(x[2], 1);
    EXPECT_EQ(x[3], 0.5);
    EXPECT_EQ(x[4], 0.0625);
    EXPECT_NEAR(x[5] / 1e-300, 1, 1e-12);
    EXPECT_EQ(static_cast<float>(x[6]), 0);
}

// A map for 20 joints. Bits of `kinds`: 1 values of joints, 2 values of vertices, 4 hardness of joints, 8 shares of
// vertices. Values are from `least` to 1 - `least`.
template <typename Unit>
FalloffMap random_map(int kinds, std::size_t vertices, double least, Unit&& unit) {
    const auto value = [&] { return static_cast<float>(least + (1 - 2 * least) * unit()); };
    FalloffMap map;
    for (int j = 0; j < 20; ++j) {
        if (kinds & 1) map.of_joint.push_back(j % 3 ? value() : NAN);
        if (kinds & 4) map.hardness_of_joint.push_back(j % 2 ? static_cast<float>(unit()) : NAN);
    }
    for (std::size_t v = 0; v < vertices; ++v) {
        if (kinds & 2) map.of_vertex.push_back(v % 2 ? value() : NAN);
        if (kinds & 8) map.share_of_vertex.push_back(v % 3 ? static_cast<float>(unit()) : 1.0f);
    }
    return map;
}

TEST(Weigh, IsFalloffAndFinishToTheLastBit) {
    std::mt19937 random(11);
    const auto unit = [&] { return std::generate_canonical<double, 53>(random); };
    DistanceTable table;
    table.vertices = 1000;
    table.width = 9;
    table.unit = 1.7f;
    for (std::size_t v = 0; v < table.vertices; ++v) {
        // Rows as methods write them: sorted, of any length, with distances near the tolerance and ties.
        std::vector<std::pair<float, std::uint32_t>> row;
        const std::size_t n = random() % 4 == 0 ? random() % 10 : 9;
        const double scale = random() % 5 == 0 ? 3e-3 : 0.5;
        for (std::uint32_t k = 0; k < n; ++k)
            row.emplace_back(static_cast<float>(scale * unit()), (k * 7 + 3) % 20);
        for (std::size_t k = 1; k < n; ++k) {
            if (random() % 3 == 0) row[k].first = row[k - 1].first;
            if (random() % 5 == 0) row[k].first = row[k - 1].first * (1 + 1e-7f);
        }
        std::sort(row.begin(), row.end());
        row.resize(9, {std::numeric_limits<float>::infinity(), no_index});
        for (const auto& [d, j] : row) {
            table.distance.push_back(d);
            table.joint.push_back(j);
        }
    }
    for (const int map : {0, 1, 2, 3, 4, 7, 10, 15})
        for (const FalloffLaw law : {FalloffLaw::inverse_power, FalloffLaw::inverse_quadratic,
                                     FalloffLaw::exponential, FalloffLaw::cubic_hermite, FalloffLaw::linear})
            for (const int limit : {1, 2, 4, 5, 8, all_influences}) {
                FalloffOptions falloff;
                falloff.law = law;
                falloff.alpha = 0.3f;
                falloff.map = random_map(map, table.vertices, 0.05, unit);
                for (const LimitRule rule : {LimitRule::fade, LimitRule::cut}) {
                    const FinishOptions options{limit, rule, limit == 2 ? 0.0f : 1e-3f};
                    FalloffOptions alone = falloff;  // without the limit
                    alone.neighbours = limit;
                    const auto influences = apply_falloff(table, alone);
                    ASSERT_TRUE(influences);
                    const auto two = finish(*influences, options);
                    for (const int threads : {1, 2}) {
                        Context context;
                        context.threads = threads;
                        const auto one = weigh(table, falloff, options, &context);
                        ASSERT_TRUE(one);
                        ASSERT_TRUE(*one == *two) << "law " << int(law) << " limit " << limit << " map " << map;
                    }
                }
            }
}

TEST(Weigh, IsThePowerAndFinishOfHeatToTheBit) {
    std::mt19937 random(12);
    const auto unit = [&] { return std::generate_canonical<double, 53>(random); };
    InfluenceTable table;
    table.vertices = 1000;
    table.width = 9;
    for (std::size_t v = 0; v < table.vertices; ++v) {
        std::vector<std::pair<float, std::uint32_t>> row;
        const std::size_t n = random() % 4 == 0 ? random() % 10 : 9;
        for (std::uint32_t k = 0; k < n; ++k)
            row.emplace_back(-static_cast<float>(random() % 6 == 0 ? 1e-30 * unit() : unit()), (k * 7 + 3) % 20);
        for (std::size_t k = 1; k < n; ++k)
            if (random() % 3 == 0) row[k].first = row[k - 1].first * (random() % 2 ? 1 : 1 + 1e-7f);
        std::sort(row.begin(), row.end());
        row.resize(9, {0.0f, no_index});
        for (const auto& [h, j] : row) {
            table.strength.push_back(h == 0 ? 0 : -h);
            table.joint.push_back(j);
        }
    }
    for (const int map : {0, 1, 2, 3, 4, 7, 10, 15})
        for (const float alpha : {0.1f, 0.0f, 0.7f})
            for (const int limit : {1, 2, 4, 8, all_influences}) {
                FalloffOptions falloff;
                falloff.law = FalloffLaw::power;
                falloff.alpha = alpha;
                falloff.map = random_map(map, table.vertices, 0, unit);
                for (const LimitRule rule : {LimitRule::fade, LimitRule::cut}) {
                    const FinishOptions options{limit, rule, limit == 2 ? 0.0f : 1e-3f};
                    const auto two = finish(*apply_falloff(table, falloff), options),
                               one = weigh(table, falloff, options);
                    ASSERT_TRUE(one && two);
                    ASSERT_TRUE(*one == *two) << "alpha " << alpha << " limit " << limit << " map " << map;
                }
            }
    table.strength.pop_back();
    EXPECT_FALSE(weigh(table, {.law = FalloffLaw::power, .map = {}}, {}));
}

TEST(Weigh, RefusesTheSameInputs) {
    DistanceTable table{1, 1, {0}, {0.5f}, 1};
    FalloffOptions falloff;
    FinishOptions options;
    EXPECT_TRUE(weigh(table, falloff, options));
    options.max_influences = 9;
    EXPECT_FALSE(weigh(table, falloff, options));
    options.max_influences = 4;
    falloff.alpha = 2;
    EXPECT_FALSE(weigh(table, falloff, options));
    falloff.alpha = 0.1f;
    falloff.law = FalloffLaw::power;
    EXPECT_FALSE(weigh(table, falloff, options));
    falloff.law = FalloffLaw::inverse_power;
    falloff.map.of_vertex = {0.5f, 0.5f};
    EXPECT_FALSE(weigh(table, falloff, options));
    falloff.map.of_vertex.clear();
    table.distance.clear();
    EXPECT_FALSE(weigh(table, falloff, options));
}

TEST(SkinWeightsRows, SortsMergesDropsAndNormalises) {
    const std::vector<std::uint32_t> counts{4, 0, 1, 2};
    const auto w =
        SkinWeights::from_rows(counts, {{3, 0.25f}, {1, 1}, {3, 0.75f}, {2, 0}, {9, 1e-40f}, {5, 0.5f}, {4, 0.5f}});
    ASSERT_TRUE(w.ok());
    ASSERT_EQ(w->vertex_count(), 4u);
    ASSERT_EQ((*w)[0].size(), 2u);
    EXPECT_EQ((*w)[0][0], (Influence{1, 0.5f}));
    EXPECT_EQ((*w)[0][1], (Influence{3, 0.5f}));
    EXPECT_TRUE((*w)[1].empty());
    EXPECT_EQ((*w)[2][0], (Influence{9, 1.0f}));
    EXPECT_EQ((*w)[3][0], (Influence{4, 0.5f}));
    expect_invariant(*w, 2);
    EXPECT_EQ(w->max_influences(), 2u);
    EXPECT_EQ(SkinWeights{}.vertex_count(), 0u);
    EXPECT_EQ(SkinWeights{}.max_influences(), 0u);
}

TEST(SkinWeightsRows, RefusesBadWeights) {
    const std::vector<std::uint32_t> counts{1, 1};
    for (const float bad : {-0.1f, inf, std::nanf("")}) {
        const auto w = SkinWeights::from_rows(counts, {{0, 1}, {0, bad}});
        ASSERT_FALSE(w.ok());
        EXPECT_NE(w.error().message.find("vertex 1"), std::string::npos);
    }
    EXPECT_FALSE(SkinWeights::from_rows(counts, {{0, 1}}).ok());
}

TEST(SkinWeightsRows, ReadingBackChangesNoBit) {
    const auto w = finish(*apply_falloff(random_table(3000, 8), {}), {all_influences, LimitRule::cut, 0});
    std::vector<std::uint32_t> counts;
    std::vector<Influence> influences;
    for (std::size_t v = 0; v < w->vertex_count(); ++v) {
        counts.push_back(std::uint32_t((*w)[v].size()));
        influences.insert(influences.end(), (*w)[v].rbegin(), (*w)[v].rend());
    }
    EXPECT_EQ(*SkinWeights::from_rows(counts, influences), *w);
}

TEST(JointUse, SumsPerJoint) {
    const std::vector<std::uint32_t> counts{2, 1};
    const auto w = SkinWeights::from_rows(counts, {{0, 0.25f}, {2, 0.75f}, {2, 1}});
    EXPECT_EQ(joint_use(*w, 3), (std::vector<double>{0.25, 0, 1.75}));
}

}  // namespace
}  // namespace sinew::test_weights
