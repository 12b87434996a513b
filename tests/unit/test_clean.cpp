// clean_skin: each fault planted in weights that are known, and weights without one.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "characters/shapes.h"
#include "sinew/bind.h"
#include "sinew/skin_check.h"
#include "unit/support.h"

namespace sinew::test_clean {
namespace {

using test::must;
using test::Rows;
using test::weight_of;
using test::weights_of;

/// A tube of four bones along y, with weights that blend over a fifth of a bone.
struct Tube {
    test::Shape shape;
    Skeleton skeleton;
    Rows rows;

    explicit Tube(int around = 24, int rings = 80)
        : shape(test::cylinder({0, 0, 0}, {0, 4, 0}, 0.3, around, rings)) {
        for (int j = 0; j < 4; ++j)
            skeleton.joints.push_back(Joint{"bone" + std::to_string(j),
                                            j - 1,
                                            {0, static_cast<float>(j), 0},
                                            Vec3{0, static_cast<float>(j + 1), 0}});
        for (const Vec3& p : shape.positions) {
            const float at = std::clamp(p.y, 0.0f, 3.999f);
            const auto j = static_cast<std::uint32_t>(std::clamp(std::lround(at) - 1, 0L, 2L));
            const float upper = std::clamp((at - static_cast<float>(j) - 0.9f) / 0.2f, 0.0f, 1.0f);
            rows.push_back({});
            if (upper < 1) rows.back().push_back({j, 1 - upper});
            if (upper > 0) rows.back().push_back({j + 1, upper});
        }
    }
    MeshView mesh() const { return {shape.positions, shape.triangles, {}}; }
    SkinWeights clean(const SkinWeights& weights, SkinCleanReport* report = nullptr, double strength = 1,
                      int threads = 0) const {
        Context context;
        context.threads = threads;
        return must(clean_skin(mesh(), skeleton, weights, {.strength = strength}, report, &context));
    }
    double error(const SkinWeights& weights) const {
        double sum = 0;
        for (std::size_t v = 0; v < rows.size(); ++v)
            for (std::uint32_t j = 0; j < skeleton.joints.size(); ++j)
                sum += std::abs(weight_of(weights, v, j) - weight_of(rows[v], j));
        return sum / static_cast<double>(rows.size());
    }
    /// The share of a joint goes from the other ones of these vertices.
    void give(const std::vector<std::size_t>& vertices, std::uint32_t joint, float share) {
        for (const std::size_t v : vertices) {
            for (Influence& i : rows[v]) i.weight *= 1 - share;
            rows[v].push_back({joint, share});
        }
    }
    /// A part of its own. Returns its vertices.
    std::vector<std::size_t> add(const test::Shape& part, const std::vector<Influence>& row) {
        const auto first = static_cast<std::uint32_t>(rows.size());
        shape.positions.insert(shape.positions.end(), part.positions.begin(), part.positions.end());
        for (const Triangle& t : part.triangles)
            shape.triangles.push_back({first + t[0], first + t[1], first + t[2]});
        rows.resize(shape.positions.size(), row);
        std::vector<std::size_t> out(part.positions.size());
        std::iota(out.begin(), out.end(), std::size_t{first});
        return out;
    }
    /// Vertices with y in this range.
    std::vector<std::size_t> between(float low, float high) const {
        std::vector<std::size_t> out;
        for (std::size_t v = 0; v < rows.size(); ++v)
            if (shape.positions[v].y >= low && shape.positions[v].y < high) out.push_back(v);
        return out;
    }
};

Rows noisy(Rows rows, float size, std::uint32_t joints = 4) {
    std::mt19937 random(7);
    std::normal_distribution<float> noise(0, size);
    for (auto& row : rows) {
        for (std::uint32_t j = 0; j < joints; ++j)
            if (weight_of(row, j) == 0 && (weight_of(row, j - 1) > 0 || weight_of(row, j + 1) > 0))
                row.push_back({j, 0});
        for (Influence& i : row) i.weight = std::max(0.0f, i.weight + noise(random));
    }
    return rows;
}

TEST(Clean, WhatIsPlausibleKeepsItsBits) {
    const Tube tube;
    const SkinWeights weights = weights_of(tube.rows);
    SkinCleanReport report;
    EXPECT_EQ(tube.clean(weights, &report), weights);
    EXPECT_EQ(report.pulled + report.filled + report.welded, 0u);
    EXPECT_EQ(report.noise, 0);
    EXPECT_EQ(report.change, 0);
    EXPECT_EQ(must(clean_skin(tube.mesh(), tube.skeleton, weights, {.max_influences = 1})), weights);
}

TEST(Clean, WeightOfAJointFarAwayGoes) {
    const Tube tube;
    Rows rows = tube.rows;
    const auto patch = tube.between(3.4f, 3.6f);
    ASSERT_GT(patch.size(), 20u);
    for (const std::size_t v : patch) {
        for (Influence& i : rows[v]) i.weight *= 0.5f;
        rows[v].push_back({0, 0.4f});
        rows[v].push_back({1, v % 2 ? 0.1f : 0.005f});  // what is too small for a patch goes, too
    }
    SkinCleanReport report;
    const SkinWeights weights = weights_of(rows);
    EXPECT_LT(tube.error(tube.clean(weights, &report)), 1e-6);
    EXPECT_EQ(report.pulled, patch.size());
    EXPECT_GT(report.change, 0);
    EXPECT_EQ(tube.clean(weights, nullptr, 0), weights);
}

TEST(Clean, StrengthIsHowNearWeightIsFar) {
    Tube tube;
    const Tube sound = tube;
    tube.give(tube.between(1.4f, 1.6f), 2, 0.4f);
    const SkinWeights weights = weights_of(tube.rows);
    EXPECT_EQ(tube.clean(weights), weights);
    EXPECT_LT(sound.error(tube.clean(weights, nullptr, 4)), 1e-6);
}

TEST(Clean, FarWeightThatIsConnectedWithNearWeightStays) {
    const Tube tube;
    Rows rows = tube.rows;  // the lowest bone has a share everywhere, as of a coat
    for (auto& row : rows) {
        for (Influence& i : row) i.weight *= 0.7f;
        row.push_back({0, 0.3f});
    }
    const SkinWeights weights = weights_of(rows);
    EXPECT_EQ(tube.clean(weights), weights);
}

TEST(Clean, FarWeightOfMostOfAPartStays) {
    Tube tube;  // a hat of the lowest bone
    tube.add(test::sphere({0, 4.2, 0}, 0.15), {{0, 0.7f}, {3, 0.3f}});
    const SkinWeights weights = weights_of(tube.rows);
    EXPECT_EQ(tube.clean(weights), weights);
}

TEST(Clean, FarWeightOfATouchingPartStays) {
    Tube tube;
    std::vector<std::size_t> all(tube.rows.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    tube.give(all, 0, 0.3f);
    const Vec3 at = tube.shape.positions[tube.between(3.4f, 3.6f)[0]];
    for (const bool touches : {true, false}) {
        Tube with = tube;
        test::Shape fin = test::box({1.8 * at.x, at.y, 1.8 * at.z}, {0.1, 0.1, 0.1});
        if (touches) fin.positions[0] = at;
        with.add(fin, {{0, 0.4f}, {3, 0.6f}});
        const SkinWeights weights = weights_of(with.rows);
        EXPECT_EQ(with.clean(weights) == weights, touches);
    }
}

TEST(Clean, AJointFarFromAllItsWeightKeepsItsLargestPatch) {
    Tube tube;
    tube.skeleton.joints.push_back(Joint{"cape", 0, {0, 0.4f, 0}, Vec3{0, 0.6f, 0}});
    Tube wanted = tube;
    const auto large = tube.between(3.2f, 3.7f), small = tube.between(2.3f, 2.4f);
    ASSERT_FALSE(small.empty());
    wanted.give(large, 4, 0.4f);
    tube.give(large, 4, 0.4f);
    tube.give(small, 4, 0.4f);
    EXPECT_LT(wanted.error(wanted.clean(weights_of(tube.rows))), 1e-6);
}

TEST(Clean, PartsWithoutAnyBelievableRowKeepTheirs) {
    Tube tube;
    tube.add(test::sphere({1, 3.5, 0}, 0.2), {});
    SkinCleanReport report;
    const SkinWeights weights = weights_of(tube.rows);
    EXPECT_EQ(tube.clean(weights, &report), weights);
    EXPECT_EQ(report.filled, 0u);
}

TEST(Clean, RowsThatAreUnlikeForAReasonStay) {
    Tube tube;
    const std::size_t mild = tube.between(1.6f, 1.8f)[9], among = tube.between(1.4f, 1.6f)[5];
    tube.rows[mild] = {{1, 0.75f}, {2, 0.25f}};
    std::vector<std::size_t> ring;
    for (const Triangle& t : tube.shape.triangles)
        if (std::find(t.begin(), t.end(), among) != t.end()) ring.insert(ring.end(), t.begin(), t.end());
    std::sort(ring.begin(), ring.end());
    ring.erase(std::unique(ring.begin(), ring.end()), ring.end());
    std::erase(ring, among);
    for (std::size_t k = 0; k < ring.size(); k += 2) tube.rows[ring[k]] = {{0, 1.0f}};
    tube.rows[among] = {{0, 0.05f}, {1, 0.05f}, {2, 0.9f}};
    const SkinWeights weights = weights_of(tube.rows), cleaned = tube.clean(weights);
    for (const std::size_t v : {mild, among}) EXPECT_TRUE(std::ranges::equal(cleaned[v], weights[v]));
}

TEST(Clean, ARowNearerToItsJointsThanThoseAroundItStays) {
    Tube tube;
    for (const std::size_t v : tube.between(1.3f, 1.9f)) tube.rows[v] = {{2, 1.0f}};
    tube.rows[tube.between(1.4f, 1.5f)[3]] = {{1, 1.0f}};
    const SkinWeights weights = weights_of(tube.rows);
    EXPECT_EQ(tube.clean(weights), weights);
}

TEST(Clean, SpotsAndEmptyRowsAreFilledFromTheirSurroundings) {
    const Tube tube;
    Rows rows = tube.rows;
    const std::size_t spot = tube.between(0.4f, 0.6f)[5], beside = tube.between(1.6f, 1.8f)[9],
                      empty = tube.between(2.4f, 2.6f)[7];
    rows[spot] = {{3, 1.0f}};    // far away
    rows[beside] = {{2, 1.0f}};  // the next bone, too near to be far
    rows[empty] = {};
    SkinCleanReport report;
    EXPECT_LT(tube.error(tube.clean(weights_of(rows), &report)), 1e-3);
    EXPECT_EQ(report.filled, 3u);
}

TEST(Clean, AHoleIsFilledAcross) {
    const Tube tube;
    Rows rows = tube.rows;
    for (const std::size_t v : tube.between(1.2f, 1.8f)) rows[v] = {};
    EXPECT_LT(tube.error(tube.clean(weights_of(rows))), 1e-3);
}

TEST(Clean, NoiseIsSmoothedAndRigidPlacesBecomeRigid) {
    const Tube tube;
    const SkinWeights weights = weights_of(noisy(tube.rows, 0.1f));
    SkinCleanReport report;
    const SkinWeights cleaned = tube.clean(weights, &report);
    EXPECT_GT(report.noise, 0.01);
    EXPECT_LT(tube.error(cleaned), 0.3 * tube.error(weights));
    std::size_t rigid = 0, all = 0;
    for (const std::size_t v : tube.between(1.3f, 1.7f)) {
        ++all;
        rigid += cleaned[v].size() == 1 && cleaned[v][0].joint == 1;
    }
    EXPECT_GT(20 * rigid, 19 * all);
    EXPECT_EQ(tube.clean(weights, nullptr, 1, 1), tube.clean(weights, nullptr, 1, 3));  // threads
}

TEST(Clean, BordersStayAndSmallPatchesGo) {
    Tube tube;
    for (std::size_t v = 0; v < tube.rows.size(); ++v)
        tube.rows[v] = {{static_cast<std::uint32_t>(std::clamp(tube.shape.positions[v].y, 0.0f, 3.9f)), 1.0f}};
    const SkinWeights weights = weights_of(noisy(tube.rows, 0.1f)), cleaned = tube.clean(weights);
    EXPECT_LT(tube.error(cleaned), 0.02);
    const SkinWeights one = must(clean_skin(tube.mesh(), tube.skeleton, weights, {.max_influences = 1}));
    for (std::size_t v = 0; v < one.vertex_count(); ++v) EXPECT_EQ(one[v].size(), 1u);
}

TEST(Clean, NoiseIsMeasured) {
    const Tube tube;
    const SkinWeights weights = weights_of(noisy(tube.rows, 0.1f));
    double square = 0;
    for (std::size_t v = 0; v < tube.rows.size(); ++v)
        for (std::uint32_t j = 0; j < 4; ++j) {
            const double d = weight_of(weights, v, j) - weight_of(tube.rows[v], j);
            square += d * d / static_cast<double>(tube.rows.size());
        }
    SkinCleanReport report;
    tube.clean(weights, &report);
    EXPECT_GT(report.noise, 0.6 * std::sqrt(square));
    EXPECT_LT(report.noise, 1.2 * std::sqrt(square));
}

/// The error that is left of noise on two coarse tubes side by side, one of them higher or of one joint.
double error_of_two(float higher, bool rigid = false) {
    Tube tube(6, 12);
    Tube two = tube;
    two.shape.positions.clear();
    two.skeleton.joints.clear();
    two.rows.clear();
    two.shape.triangles.clear();
    for (const float side : {-1.0f, 1.0f}) {
        const auto first = static_cast<std::uint32_t>(two.rows.size());
        const std::uint32_t joint = first ? 4 : 0;
        const float up = first ? higher : 0;
        for (const Vec3& p : tube.shape.positions) two.shape.positions.push_back({side * (1 + p.x), p.y + up, p.z});
        for (const Triangle& t : tube.shape.triangles)
            two.shape.triangles.push_back({first + t[0], first + t[side < 0 ? 2 : 1], first + t[side < 0 ? 1 : 2]});
        for (Joint j : tube.skeleton.joints) {
            j.name += side < 0 ? ".R" : ".L";
            if (j.parent >= 0) j.parent += static_cast<int>(joint);
            j.position = {side, j.position.y + up, 0};
            j.tail = Vec3{side, j.tail->y + up, 0};
            two.skeleton.joints.push_back(j);
        }
        for (auto row : tube.rows) {
            for (Influence& w : row) w.joint += joint;
            if (rigid && first) row = {{6, 1.0f}};
            two.rows.push_back(row);
        }
    }
    return two.error(two.clean(weights_of(noisy(two.rows, 0.1f, 8))));
}

TEST(Clean, NoiseIsAveragedOverTheMirrorPlane) {
    const double both = error_of_two(0), alone = error_of_two(0.3f);
    EXPECT_GT(alone, 0.01);
    EXPECT_LT(both, 0.85 * alone);
    EXPECT_LT(error_of_two(0, true), 2 * alone);  // sides that differ are not
}

TEST(Clean, TornSeamsAreJoined) {
    Tube tube;
    // A slit: the triangles above the middle get vertices of their own.
    std::vector<std::uint32_t> copy(tube.rows.size(), no_index);
    for (Triangle& t : tube.shape.triangles)
        if (std::any_of(t.begin(), t.end(), [&](std::uint32_t v) { return tube.shape.positions[v].y > 2.51f; }))
            for (std::uint32_t& v : t) {
                if (tube.shape.positions[v].y > 2.51f) continue;
                if (copy[v] == no_index) {
                    copy[v] = static_cast<std::uint32_t>(tube.shape.positions.size());
                    tube.shape.positions.push_back(Vec3(tube.shape.positions[v]));
                    tube.rows.push_back({{2, 0.5f}, {3, 0.5f}});
                }
                v = copy[v];
            }
    SkinCleanReport report;
    const SkinWeights cleaned = tube.clean(weights_of(tube.rows), &report);
    std::size_t seams = 0;
    for (std::size_t v = 0; v < copy.size(); ++v)
        if (copy[v] != no_index) {
            ++seams;
            EXPECT_TRUE(std::ranges::equal(cleaned[v], cleaned[copy[v]]));
            EXPECT_NEAR(weight_of(cleaned, v, 3), 0.25, 1e-6);  // the mean of 0 and 0.5
        }
    EXPECT_EQ(report.welded, 2 * seams);
    EXPECT_GT(seams, 10u);
}

TEST(Clean, RefusesWhatDoesNotFit) {
    const Tube tube;
    const SkinWeights weights = weights_of(tube.rows);
    const auto message = [&](const SkinWeights& w, const SkinCleanOptions& options) {
        const auto result = clean_skin(tube.mesh(), tube.skeleton, w, options);
        return result ? std::string() : result.error().message;
    };
    EXPECT_EQ(message(weights, {.strength = 5}), "clean: the strength must be from 0 to 4");
    EXPECT_EQ(message(weights, {.strength = std::nan("")}), "clean: the strength must be from 0 to 4");
    EXPECT_NE(message(weights, {.max_influences = 9}), "");
    EXPECT_NE(message(weights_of(Rows(3, {{0, 1.0f}})), {}).find("rows for 3 vertices"), std::string::npos);
    Context context;
    context.cancel = true;
    const auto stopped = clean_skin(tube.mesh(), tube.skeleton, weights, {}, nullptr, &context);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace sinew::test_clean
