#include <gtest/gtest.h>

#include <cmath>

#include "characters/characters.h"
#include "sinew/bind.h"
#include "sinew/skin_check.h"
#include "unit/support.h"

namespace sinew::test_skin_check {
namespace {

using test::Rows;
using test::weights_of;

/// A square of two triangles that share no vertices: 0 1 2, and 3 4 5 with 3 at 0 and 4 at 2.
struct Square {
    std::vector<Vec3> positions{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    std::vector<Triangle> triangles{{0, 1, 2}, {3, 4, 5}};
    Skeleton skeleton;

    Square() {
        skeleton.joints = {Joint{"a", -1, {0, 0, 0}, {}}, Joint{"b", 0, {1, 0, 0}, {}},
                           Joint{"c", 1, {1, 1, 0}, {}}};
    }
    MeshView mesh() const { return {positions, triangles, {}}; }
    std::vector<SkinFinding> check(const SkinWeights& weights, const SkinCheckOptions& options = {}) const {
        SkinToCheck skin;
        skin.mesh = mesh();
        skin.skeleton = &skeleton;
        skin.weights = &weights;
        auto found = check_skin(skin, options);
        EXPECT_TRUE(found.ok()) << (found ? "" : found.error().message);
        return found ? *found : std::vector<SkinFinding>{};
    }
};

double value_of(const std::vector<SkinFinding>& findings, std::string_view word) {
    for (const SkinFinding& f : findings)
        if (skin_rules()[f.rule].word == word) return f.value;
    return std::nan("");
}

TEST(SkinCheck, CountsTornSeamsAndInfluences) {
    const Square square;
    Rows rows(6, {{0, 1.0f}});
    EXPECT_EQ(value_of(square.check(weights_of(rows)), "torn"), 0);
    rows[3] = {{0, 0.5f}, {1, 0.3f}, {2, 0.2f}};  // the other side of vertex 0
    const auto found = square.check(weights_of(rows));
    EXPECT_EQ(value_of(found, "torn"), 2);
    EXPECT_EQ(value_of(found, "influences"), 3);
    EXPECT_EQ(value_of(found, "joints"), 3);
}

TEST(SkinCheck, ReadsThresholdsAndSkips) {
    const Square square;
    const SkinWeights weights = weights_of(Rows(6, {{0, 0.6f}, {1, 0.4f}}));
    SkinCheckOptions options;
    const std::size_t rule = *find_skin_rule("influences");
    const auto alarms = [&] {
        std::size_t n = 0;
        for (const SkinFinding& f : square.check(weights, options)) n += f.alarm && f.rule == rule;
        return n;
    };
    EXPECT_EQ(alarms(), 0u);
    EXPECT_TRUE(set_threshold(options, rule, 1).ok());
    SkinCheckOptions untouched;
    EXPECT_EQ(set_threshold(untouched, skin_rules().size(), 1).error().code, ErrorCode::usage);
    EXPECT_TRUE(untouched.thresholds.empty());
    EXPECT_EQ(alarms(), 1u);
    options.skip.assign(skin_rules().size(), 0);
    options.skip[rule] = 1;
    EXPECT_EQ(alarms(), 0u);
    EXPECT_EQ(square.check(weights, options).size(), skin_rules().size() - 1);
    const auto unknown = find_skin_rule("influence");
    ASSERT_FALSE(unknown.ok());
    EXPECT_NE(unknown.error().message.find("did you mean 'influences'"), std::string::npos);
}

TEST(SkinCheck, RefusesSizesThatDoNotFit) {
    const Square square;
    const SkinWeights weights = weights_of(Rows(5, {{0, 1.0f}}));
    SkinToCheck skin;
    skin.mesh = square.mesh();
    EXPECT_FALSE(check_skin(skin).ok());
    skin.skeleton = &square.skeleton;
    skin.weights = &weights;
    EXPECT_FALSE(check_skin(skin).ok());
    const SkinWeights fits = weights_of(Rows(6, {{0, 1.0f}}));
    skin.weights = &fits;
    EXPECT_TRUE(check_skin(skin).ok());
    const std::vector<float> sums(5, 1.0f);
    skin.stored_sums = sums;
    EXPECT_FALSE(check_skin(skin).ok());
}

TEST(SkinFix, LimitsPrunesAndWelds) {
    const Square square;
    Rows rows(6, {{0, 1.0f}});
    rows[1] = {{0, 0.5f}, {1, 0.3f}, {2, 0.2f}};
    rows[3] = {{1, 1.0f}};
    rows[5] = {{0, 0.9999f}, {2, 0.0001f}};
    SkinFixReport report;
    const auto fixed = fix_skin(square.mesh(), weights_of(rows), {2, 1e-3f, true}, &report);
    ASSERT_TRUE(fixed.ok());
    EXPECT_EQ(report.limited, 1u);
    EXPECT_EQ(report.pruned, 1u);
    EXPECT_EQ(report.welded, 2u);
    ASSERT_EQ((*fixed)[1].size(), 2u);
    EXPECT_FLOAT_EQ((*fixed)[1][0].weight, 0.625f);
    ASSERT_EQ((*fixed)[0].size(), 2u);
    EXPECT_FLOAT_EQ((*fixed)[0][0].weight, 0.5f);
    EXPECT_EQ((*fixed)[0][0], (*fixed)[3][0]);
    EXPECT_EQ((*fixed)[5].size(), 1u);
    // Nothing is left to do.
    SkinFixReport again;
    const auto twice = fix_skin(square.mesh(), *fixed, {2, 1e-3f, true}, &again);
    ASSERT_TRUE(twice.ok());
    EXPECT_EQ(again.limited + again.pruned + again.welded, 0u);
    EXPECT_EQ(*twice, *fixed);
}

TEST(SkinCheck, TheSameOnAnyNumberOfThreads) {
    const test::Character c = test::make_character("quadruped");
    Rows rows;
    for (std::size_t v = 0; v < c.positions.size(); ++v)
        rows.push_back({{static_cast<std::uint32_t>(v % c.skeleton.joints.size()), 0.7f},
                        {static_cast<std::uint32_t>((v + 1) % c.skeleton.joints.size()), 0.3f}});
    const SkinWeights weights = weights_of(rows);
    SkinToCheck skin;
    skin.mesh = c.mesh();
    skin.skeleton = &c.skeleton;
    skin.weights = &weights;
    std::vector<double> first;
    for (const int threads : {1, 2, 5}) {
        Context context;
        context.threads = threads;
        const auto found = check_skin(skin, {}, &context);
        ASSERT_TRUE(found.ok());
        std::vector<double> values;
        for (const SkinFinding& f : *found) values.push_back(f.value);
        if (first.empty()) first = values;
        EXPECT_EQ(values, first);
    }
}

}  // namespace
}  // namespace sinew::test_skin_check
