// Transfer of weights: fields that are reproduced exactly, the filling against a dense solve, and unmatched parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "characters/shapes.h"
#include "core/vectors.h"
#include "sinew/transfer.h"
#include "surface/surface.h"
#include "unit/support.h"

namespace sinew::test_transfer {
namespace {

using test::eliminate;
using test::Shape;
using test::weight_of;

MeshView view(const Shape& s) { return {s.positions, s.triangles, {}}; }

// Weights of two joints by a function of position.
template <typename Share>
SkinWeights weigh(const Shape& s, Share&& share) {
    std::vector<std::uint32_t> counts;
    std::vector<Influence> influences;
    for (const Vec3& p : s.positions) {
        const float w = std::clamp(static_cast<float>(share(p)), 0.0f, 1.0f);
        counts.push_back(2);
        influences.push_back({0, 1 - w});
        influences.push_back({1, w});
    }
    return *SkinWeights::from_rows(counts, influences);
}

Transfer moved(const Shape& from, const SkinWeights& w, const Shape& to, TransferOptions options = {},
               int threads = 0) {
    options.finish.prune = 0;
    Context context;
    context.threads = threads;
    Result<Transfer> out = transfer(view(from), w, view(to), options, &context);
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    return std::move(*out);
}

std::size_t count(const Transfer& t, TransferHow how) { return t.counts[static_cast<std::size_t>(how)]; }

TEST(Transfer, AMeshToItselfKeepsItsWeights) {
    const Shape s = test::sphere({0, 0, 0}, 1, 3);
    const SkinWeights w = weigh(s, [](const Vec3& p) { return (p.x + 1) / 2; });
    const Transfer t = moved(s, w, s);
    EXPECT_EQ(count(t, TransferHow::matched), s.positions.size());
    EXPECT_EQ(t.covered(), 1);
    EXPECT_TRUE(t.warnings.empty());
    for (std::size_t v = 0; v < s.positions.size(); ++v)
        EXPECT_NEAR(weight_of(t.weights, v, 1), weight_of(w, v, 1), 1e-6);
}

TEST(Transfer, LinearWeightsAreInterpolatedExactly) {
    const Shape coarse = test::box({0, 0, 0}, {1, 1, 1}, 2), fine = test::box({0, 0, 0}, {1, 1, 1}, 7);
    const auto share = [](const Vec3& p) { return 0.5 + 0.2 * p.x + 0.1 * p.y - 0.1 * p.z; };
    TransferOptions options;
    options.angle = 90;  // near the edges of a coarse box normals are inclined
    const Transfer t = moved(coarse, weigh(coarse, share), fine, options);
    EXPECT_EQ(count(t, TransferHow::matched), fine.positions.size());
    for (std::size_t v = 0; v < fine.positions.size(); ++v)
        EXPECT_NEAR(weight_of(t.weights, v, 1), share(fine.positions[v]), 1e-5);
}

TEST(Transfer, DistanceAndAngleDecideWhatMatches) {
    // A sheet at 45° to another: normals agree within 50°, but not within 30°.
    const Shape ground = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 0, -2}, 8, 8);
    const SkinWeights w = weigh(ground, [](const Vec3& p) { return p.x > 0; });
    const Shape slope = test::sheet({0, 0.05f, 0}, {0.05, 0.05, 0}, {0, 0, -0.1}, 4, 4);
    EXPECT_EQ(count(moved(ground, w, slope), TransferHow::nearest), slope.positions.size());
    TransferOptions wide;
    wide.angle = 50;
    EXPECT_EQ(count(moved(ground, w, slope, wide), TransferHow::matched), slope.positions.size());
    // A diagonal of the ground is 5.66: one sheet within a twentieth of it, and one beyond.
    const Shape near = test::sheet({0, 0.28f, 0}, {1, 0, 0}, {0, 0, -1}, 4, 4),
                far = test::sheet({0, 0.29f, 0}, {1, 0, 0}, {0, 0, -1}, 4, 4);
    EXPECT_EQ(count(moved(ground, w, near), TransferHow::matched), near.positions.size());
    const Transfer out = moved(ground, w, far);
    EXPECT_EQ(count(out, TransferHow::nearest), far.positions.size());
    EXPECT_EQ(out.covered(), 0);
    ASSERT_EQ(out.warnings.size(), 2u);
    EXPECT_TRUE(out.warnings[1].starts_with("only 0 of 25 vertices (0 %) lie on the source")) << out.warnings[1];
    // A reversed sheet also matches, since a sheet has no inside.
    Shape back = near;
    for (Triangle& t : back.triangles) std::swap(t[0], t[1]);
    EXPECT_EQ(count(moved(ground, w, back), TransferHow::matched), back.positions.size());
}

TEST(Transfer, FillsAsTheDenseSolutionOfTheBiharmonicEnergy) {
    // A strip with its ends on the source and an arched middle.
    const Shape ground = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 0, -0.5}, 16, 4);
    const SkinWeights w = weigh(ground, [](const Vec3& p) { return 0.5 + p.x / 4 + p.x * p.x / 16; });
    Shape arch = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 0, -0.3}, 40, 3);
    for (Vec3& p : arch.positions) p.y = 2 * std::max(0.0f, 1 - p.x * p.x);
    const Transfer t = moved(ground, w, arch);
    const std::size_t n = arch.positions.size();
    EXPECT_GT(count(t, TransferHow::matched), n / 4);
    EXPECT_GT(count(t, TransferHow::inpainted), n / 4);
    EXPECT_EQ(count(t, TransferHow::nearest), 0u);

    const MeshSurface s = build_surface(view(arch), analyse_mesh(view(arch)));
    std::vector<std::vector<double>> l(n, std::vector<double>(n, 0.0)), q(n, std::vector<double>(n + 1, 0.0));
    for (const MeshSurface::Edge& e : s.edges) {
        l[e.a][e.a] += e.weight, l[e.b][e.b] += e.weight;
        l[e.a][e.b] -= e.weight, l[e.b][e.a] -= e.weight;
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t k = 0; k < n; ++k) q[i][j] += l[k][i] * l[k][j] / s.mass[k];
    for (std::size_t i = 0; i < n; ++i) {
        if (t.how[s.vertex_of[i]] != TransferHow::matched) continue;
        std::fill(q[i].begin(), q[i].end(), 0.0);
        q[i][i] = 1;
        q[i][n] = weight_of(t.weights, s.vertex_of[i], 1);
    }
    const auto exact = eliminate(std::move(q));
    for (std::size_t i = 0; i < n; ++i)
        EXPECT_NEAR(weight_of(t.weights, s.vertex_of[i], 1), std::clamp(exact[i][0], 0.0, 1.0), 1e-3) << i;
}

TEST(Transfer, FillingKeepsConstantWeights) {
    const Shape ground = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 0, -0.5}, 16, 4);
    const SkinWeights w = weigh(ground, [](const Vec3&) { return 0.25; });
    Shape arch = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 0, -0.3}, 40, 3);
    for (Vec3& p : arch.positions) p.y = 2 * std::max(0.0f, 1 - p.x * p.x);
    const Transfer t = moved(ground, w, arch);
    for (std::size_t v = 0; v < arch.positions.size(); ++v) {
        ASSERT_EQ(t.weights[v].size(), 2u);
        EXPECT_NEAR(weight_of(t.weights, v, 1), 0.25, 1e-5);
    }
}

TEST(Transfer, UnmatchedPartsAndUnusedVerticesTakeTheNearest) {
    const Shape body = test::sphere({0, 0, 0}, 1, 3);
    const SkinWeights w = weigh(body, [](const Vec3& p) { return p.x > 0; });
    Shape target = test::sphere({0, 0, 0}, 1.05, 2);
    const std::size_t near = target.positions.size();
    test::append(target, test::sphere({5, 0, 0}, 0.1, 1));
    const std::size_t button = target.positions.size();
    target.positions.push_back({-9, 0, 0});
    const Transfer t = moved(body, w, target);
    EXPECT_EQ(count(t, TransferHow::matched), near);
    EXPECT_EQ(count(t, TransferHow::nearest), button - near);
    EXPECT_EQ(t.how.back(), TransferHow::unused);
    for (std::size_t v = near; v < button; ++v) EXPECT_EQ(weight_of(t.weights, v, 1), 1);
    EXPECT_EQ(weight_of(t.weights, button, 0), 1);
    EXPECT_EQ(t.warnings.size(), 1u);
    EXPECT_NEAR(t.covered(), double(near) / double(button), 1e-12);
    EXPECT_NEAR(t.matched(), double(near) / double(button), 1e-12);
}

// Covered, since all of it is filled in from a few vertices, but wrong.
TEST(Transfer, FewMatchesAreAWarning) {
    const Shape body = test::sphere({0, 0, 0}, 1, 3);
    const SkinWeights w = weigh(body, [](const Vec3& p) { return p.x > 0; });
    const Transfer t = moved(body, w, test::sphere({0.6f, 0, 0}, 0.45f, 3));
    EXPECT_EQ(t.covered(), 1);
    EXPECT_GT(t.matched(), 0);
    EXPECT_LT(t.matched(), 0.25);
    ASSERT_EQ(t.warnings.size(), 1u);
    EXPECT_NE(t.warnings[0].find("lie on the source: are both meshes in the bind pose"), std::string::npos);
}

TEST(Transfer, SeamsThreadsAndScaleDoNotMatter) {
    const Shape body = test::sphere({0, 0, 0}, 1, 3);
    const auto share = [](const Vec3& p) { return 0.5 + 0.4 * std::sin(5 * p.x) * p.y; };
    const SkinWeights w = weigh(body, share);
    // A bell around the body, with a distant rim and separate vertices for each triangle.
    Shape bell = test::sphere({0, 0, 0}, 1.02, 3), split;
    for (Vec3& p : bell.positions)
        if (p.y < -0.2f) p = {p.x * (1 - 3 * (p.y + 0.2f)), p.y, p.z * (1 - 3 * (p.y + 0.2f))};
    for (const Triangle& t : bell.triangles) {
        const auto first = static_cast<std::uint32_t>(split.positions.size());
        for (const std::uint32_t v : t) split.positions.push_back(bell.positions[v]);
        split.triangles.push_back({first, first + 1, first + 2});
    }
    const Transfer whole = moved(body, w, bell, {}, 1), parted = moved(body, w, split, {}, 4);
    EXPECT_GT(count(whole, TransferHow::inpainted), 20u);
    EXPECT_EQ(whole.weights, moved(body, w, bell, {}, 5).weights);
    for (std::size_t t = 0; t < bell.triangles.size(); ++t)
        for (std::size_t k = 0; k < 3; ++k)
            EXPECT_NEAR(weight_of(whole.weights, bell.triangles[t][k], 1), weight_of(parted.weights, 3 * t + k, 1),
                        1e-4);
    Shape small_body = body, small_bell = bell;
    for (Shape* s : {&small_body, &small_bell})
        for (Vec3& p : s->positions) p = {p.x / 1024, p.y / 1024, p.z / 1024};
    const Transfer small = moved(small_body, w, small_bell);
    for (std::size_t v = 0; v < bell.positions.size(); ++v)
        EXPECT_NEAR(weight_of(small.weights, v, 1), weight_of(whole.weights, v, 1), 1e-4);
}

TEST(Transfer, AnySoupGetsWeights) {
    std::mt19937 random(3);
    const Shape body = test::sphere({4, 4, 2}, 3, 2);
    const SkinWeights w = weigh(body, [](const Vec3& p) { return p.x / 8; });
    for (int round = 0; round < 40; ++round) {
        Shape soup;
        soup.positions.resize(30 + random() % 60);
        for (Vec3& p : soup.positions) p = {float(random() % 9), float(random() % 9), float(random() % 5)};
        for (int t = 0; t < 90; ++t) {
            Triangle triangle;
            for (std::uint32_t& v : triangle) v = std::uint32_t(random() % soup.positions.size());
            soup.triangles.push_back(triangle);
        }
        TransferOptions options;
        options.angle = float(random() % 180);
        options.distance = 0.02f * float(1 + random() % 10);
        const Transfer t = moved(body, w, soup, options);
        for (std::size_t v = 0; v < soup.positions.size(); ++v)
            ASSERT_FALSE(t.weights[v].empty()) << round << " " << v;
        EXPECT_EQ(t.counts[0] + t.counts[1] + t.counts[2] + t.counts[3], soup.positions.size());
    }
}

TEST(Transfer, RefusesUnsupportedInput) {
    const Shape s = test::sphere({0, 0, 0}, 1, 1);
    const SkinWeights w = weigh(s, [](const Vec3&) { return 0.5; });
    TransferOptions options;
    options.distance = 0;
    EXPECT_EQ(transfer(view(s), w, view(s), options).error().code, ErrorCode::usage);
    options = {};
    options.angle = 181;
    EXPECT_EQ(transfer(view(s), w, view(s), options).error().code, ErrorCode::usage);
    const Shape other = test::sphere({0, 0, 0}, 1, 2);
    EXPECT_EQ(transfer(view(other), w, view(s)).error().code, ErrorCode::input);
    EXPECT_EQ(transfer(view(s), w, {}).error().code, ErrorCode::input);
    std::vector<std::uint32_t> counts(s.positions.size(), 0);
    const Result<Transfer> bare = transfer(view(s), *SkinWeights::from_rows(counts, {}), view(s));
    ASSERT_FALSE(bare);
    EXPECT_NE(bare.error().message.find("no weights"), std::string::npos);
    Context context;
    context.cancel = true;
    EXPECT_EQ(transfer(view(s), w, view(s), {}, &context).error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace sinew::test_transfer
