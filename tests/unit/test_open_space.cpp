// Methods that measure straight distances, against their published formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "characters/characters.h"
#include "sinew/bind.h"
#include "unit/support.h"

namespace sinew::test_open_space {
namespace {

using test::weight_of;

// Three bones in a row along x, each of length 1: a 0..1, b 1..2, c 2..3 (its tail stated). Vertices are corners of
// small triangles, so that each is used.
struct Row {
    Skeleton skeleton;
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;

    Row() {
        for (int j = 0; j < 3; ++j) {
            Joint joint;
            joint.name = std::string(1, static_cast<char>('a' + j));
            joint.parent = j - 1;
            joint.position = {static_cast<float>(j), 0, 0};
            if (j == 2) joint.tail = Vec3{3, 0, 0};
            skeleton.joints.push_back(joint);
        }
        add({-0.5f, -1, 0});
        add({3.5f, 1, 0});
    }
    std::uint32_t add(Vec3 p) {
        const auto v = static_cast<std::uint32_t>(positions.size());
        for (const float d : {0.0f, 0.001f, 0.002f}) positions.push_back({p.x + d, p.y, p.z + 10 * d * d});
        triangles.push_back({v, v + 1, v + 2});
        return v;
    }
    Binding bound(const BindOptions& options) const {
        Result<Binding> b = bind({positions, triangles, {}}, skeleton, options);
        EXPECT_TRUE(b) << (b ? "" : b.error().message);
        return std::move(*b);
    }
    SkinWeights weights(const BindOptions& options) const { return *bound(options).weights(); }
};

TEST(Connectivity, TheMiddleOfABoneIsRigid) {
    Row row;
    const std::uint32_t v = row.add({1.5f, 0.3f, 0});
    const SkinWeights w = row.weights(preset(Method::connectivity));
    ASSERT_EQ(w[v].size(), 1u);
    EXPECT_EQ(w[v][0].joint, 1u);
}

TEST(Connectivity, NearAnEndItSharesByInverseDistanceToCentres) {
    Row row;
    const std::uint32_t v = row.add({1.9f, 0.2f, 0});
    const SkinWeights w = row.weights(preset(Method::connectivity));
    const double b = 1 / std::hypot(0.4, 0.2), c = 1 / std::hypot(0.6, 0.2);
    EXPECT_NEAR(weight_of(w, v, 1), b / (b + c), 1e-5);
    EXPECT_NEAR(weight_of(w, v, 2), c / (b + c), 1e-5);
    EXPECT_EQ(weight_of(w, v, 0), 0);  // connected at the other end only
}

TEST(Connectivity, HardRangeOfABoneHasPrecedence) {
    Row row;
    const std::uint32_t v = row.add({1.9f, 0.2f, 0}), past = row.add({3.2f, 0.2f, 0});
    row.skeleton.joints[1].hard_range = {{0, 1}};
    BindOptions options = preset(Method::connectivity);
    SkinWeights w = row.weights(options);
    EXPECT_EQ(weight_of(w, v, 1), 1);
    EXPECT_EQ(weight_of(w, past, 2), 1);  // no joint is connected at the tail of a leaf
    row.skeleton.joints[1].hard_range.reset();
    options.hard_range = {0, 1};
    w = row.weights(options);
    EXPECT_EQ(weight_of(w, v, 1), 1);
    options.hard_range = {0.8f, 0.2f};
    EXPECT_FALSE(bind({row.positions, row.triangles, {}}, row.skeleton, options));
    row.skeleton.joints[1].hard_range = {{2, 0.5f}};
    EXPECT_FALSE(check_skeleton(row.skeleton));
}

TEST(Connectivity, ARangeMayReachBeyondTheEndsOfABone) {
    Row row;
    row.skeleton.joints[2].tail = Vec3{2, 1, 0};  // a knee: outside it vertices lie beyond the ends of both bones
    const std::uint32_t outside = row.add({2.1f, -0.1f, 0});
    BindOptions options = preset(Method::connectivity);
    options.hard_range = {0, 1};
    EXPECT_GT(weight_of(row.weights(options), outside, 1), 0);
    EXPECT_GT(weight_of(row.weights(options), outside, 2), 0);
    options.hard_range = {-0.5f, 1.05f};  // at 1.1 of the upper bone, at -0.1 of the lower one
    const SkinWeights lower = row.weights(options);
    row.skeleton.joints[1].hard_range = {{-0.5f, 1.5f}};
    const SkinWeights both = row.weights(options);
    EXPECT_EQ(both[outside].size(), 1u);
    EXPECT_GE(lower[outside].size(), both[outside].size());
    row.skeleton.joints[1].hard_range = {{0, INFINITY}};
    EXPECT_FALSE(check_skeleton(row.skeleton));
}

TEST(Connectivity, AGivenTableHasPrecedence) {
    Row row;
    const std::uint32_t near_head = row.add({1.1f, 0.2f, 0}), near_tail = row.add({1.9f, 0.2f, 0});
    const BindOptions options = preset(Method::connectivity);
    const SkinWeights usual = row.weights(options);
    EXPECT_GT(weight_of(usual, near_head, 0), 0);
    // b shares only with the last joint, whose bone is at b's tail.
    row.skeleton.joints[1].connected = {{row.skeleton.joints[2].name}};
    SkinWeights w = row.weights(options);
    EXPECT_EQ(weight_of(w, near_head, 1), 1);
    EXPECT_EQ(weight_of(w, near_tail, 2), weight_of(usual, near_tail, 2));
    row.skeleton.joints[1].connected->clear();
    w = row.weights(options);
    EXPECT_EQ(weight_of(w, near_tail, 1), 1);
    row.skeleton.joints[1].connected = {{"unknown"}};
    EXPECT_FALSE(check_skeleton(row.skeleton));
}

TEST(Connectivity, FromTheStatedStartToTheStatedEnd) {
    // a ends at 0.5, where no bone starts. By the hierarchy b is connected at this end, and a is connected at the
    // head of b.
    Row row;
    row.skeleton.joints[0].tail = Vec3{0.5f, 0, 0};
    const std::uint32_t near_tail = row.add({0.45f, 0.2f, 0}), in_between = row.add({0.8f, 0.2f, 0}),
                        middle = row.add({0.25f, 0.2f, 0}), b_tail = row.add({1.9f, 0.2f, 0});
    const BindOptions options = preset(Method::connectivity);
    SkinWeights w = row.weights(options);
    const auto expect_shared = [&](std::uint32_t v, double x, const char* what) {
        const double a = 1 / std::hypot(x - 0.25, 0.2), b = 1 / std::hypot(x - 1.5, 0.2);
        EXPECT_NEAR(weight_of(w, v, 0), a / (a + b), 1e-5) << what;
        EXPECT_NEAR(weight_of(w, v, 1), b / (a + b), 1e-5) << what;
    };
    expect_shared(near_tail, 0.45, "near the stated end");
    expect_shared(in_between, 0.8, "nearer to b, before its head");
    EXPECT_EQ(weight_of(w, middle, 0), 1);
    EXPECT_EQ(weight_of(w, b_tail, 0), 0);
    // A given table has precedence.
    row.skeleton.joints[0].connected.emplace();
    w = row.weights(options);
    EXPECT_EQ(weight_of(w, near_tail, 0), 1);
    expect_shared(in_between, 0.8, "b has no table");
    // If the end is at the next joint, nothing changes.
    row.skeleton.joints[0].connected.reset();
    row.skeleton.joints[0].tail.reset();
    const SkinWeights links = row.weights(options);
    row.skeleton.joints[0].tail = row.skeleton.joints[1].position;
    EXPECT_EQ(row.weights(options), links);
}

TEST(Connectivity, AJointWithTwoBonesCountsOnce) {
    // a has bones to b and to d. Near the head of b, the nearer bone of a is the one that ends at b.
    Row row;
    Joint d;
    d.name = "d";
    d.parent = 0;
    d.position = {0, 1, 0};
    d.tail = Vec3{0, 2, 0};
    row.skeleton.joints.push_back(d);
    const std::uint32_t v = row.add({1.05f, -0.2f, 0});
    const SkinWeights w = row.weights(preset(Method::connectivity));
    const double b = 1 / std::hypot(0.45, 0.2), a = 1 / std::hypot(0.55, 0.2);
    EXPECT_NEAR(weight_of(w, v, 1), b / (a + b), 1e-5);
    EXPECT_EQ(w[v].size(), 2u);
}

// A trunk that ends where two arms start: all three are connected there, also the arms with each other.
TEST(Connectivity, BonesWithACommonHeadAreConnected) {
    Row row;
    const Vec3 tails[] = {{0, 1, 0}, {-1, 2, 0}, {1, 2, 0}};
    for (std::uint32_t j = 0; j < 3; ++j) {
        Joint& joint = row.skeleton.joints[j];
        joint.parent = j == 0 ? -1 : 0;
        joint.position = j == 0 ? Vec3{0, 0, 0} : Vec3{0, 1, 0};
        joint.tail = tails[j];
    }
    // Near the head of the left arm, and near its tail, where no bone is connected.
    const std::uint32_t near = row.add({-0.1f, 1.1f, 0.05f}), far = row.add({-0.9f, 1.9f, 0.05f});
    const SkinWeights w = row.weights(preset(Method::connectivity));
    const double to_trunk = 1 / std::hypot(0.1, 0.6, 0.05), to_left = 1 / std::hypot(0.4, 0.4, 0.05),
                 to_right = 1 / std::hypot(0.6, 0.4, 0.05), sum = to_trunk + to_left + to_right;
    EXPECT_NEAR(weight_of(w, near, 0), to_trunk / sum, 1e-5);
    EXPECT_NEAR(weight_of(w, near, 1), to_left / sum, 1e-5);
    EXPECT_NEAR(weight_of(w, near, 2), to_right / sum, 1e-5);
    EXPECT_EQ(weight_of(w, far, 1), 1);
    // A bone is also connected where another bone ends at its end.
    row.skeleton.joints[2].tail = Vec3{-1, 2, 0};
    row.skeleton.joints[2].position = {1, 2, 0};
    const SkinWeights met = row.weights(preset(Method::connectivity));
    EXPECT_GT(weight_of(met, far, 2), 0);
    // Bones without a common end do not share weights.
    row.skeleton.joints[1].connected.emplace();
    EXPECT_EQ(weight_of(row.weights(preset(Method::connectivity)), far, 1), 1);
}

// A list of all pairs would not fit into memory.
TEST(Connectivity, ManyCoincidentBonesAreBound) {
    Row row;
    const std::uint32_t many = 20000;
    for (std::uint32_t j = 3; j < many; ++j) {
        Joint joint = row.skeleton.joints[2];
        joint.name = std::to_string(j);
        joint.tail = Vec3{3, std::ldexp(static_cast<float>(j), -10), 0};
        row.skeleton.joints.push_back(joint);
    }
    EXPECT_EQ(row.bound(preset(Method::connectivity)).report().covered(), 1);
}

TEST(ClosestDistance, IsTheStraightDistanceToTheBone) {
    Row row;
    const std::uint32_t v = row.add({2.5f, 0.5f, 0});
    const Binding b = row.bound(preset(Method::closest_distance));
    const DistanceTable& t = b.distances();
    ASSERT_EQ(t.width, 3u);
    EXPECT_EQ(t.joint[v * 3], 2u);
    EXPECT_NEAR(t.distance[v * 3], 0.5, 1e-6);
    EXPECT_NEAR(t.distance[v * 3 + 1], std::hypot(0.5, 0.5), 1e-6);
    EXPECT_NEAR(t.distance[v * 3 + 2], std::hypot(1.5, 0.5), 1e-6);
    EXPECT_EQ(b.report().covered(), 1);
}

TEST(ClosestHierarchy, TakesJointsThatAreNearInTheSkeleton) {
    // A long chain folded back beside itself: the far end is close in space and far in the skeleton.
    Row row;
    for (int j = 3; j < 8; ++j) {
        Joint joint;
        joint.name = "k" + std::to_string(j);
        joint.parent = j - 1;
        joint.position = {static_cast<float>(j < 5 ? 3 : 7 - j), j < 4 ? 0.0f : 0.6f, 0};
        row.skeleton.joints.push_back(joint);
    }
    const std::uint32_t v = row.add({0.5f, 0.2f, 0});
    const SkinWeights distance = row.weights(preset(Method::closest_distance)),
                      hierarchy = row.weights(preset(Method::closest_hierarchy));
    EXPECT_EQ(hierarchy[v][0].joint, 0u);
    EXPECT_GT(weight_of(distance, v, 6) + weight_of(distance, v, 7), 0.001f);
    EXPECT_EQ(weight_of(hierarchy, v, 6) + weight_of(hierarchy, v, 7), 0);
    EXPECT_GT(weight_of(hierarchy, v, 1), 0);
}

// Guarantees of every method, on a character and on one with loose parts.
TEST(OpenSpace, EveryVertexGetsWeightsOnAnyNumberOfThreads) {
    for (const char* name : {"robot", "quadruped"}) {
        const test::Character c = test::make_character(name);
        for (const Method method : {Method::closest_distance, Method::closest_hierarchy, Method::connectivity}) {
            Context one, four;
            one.threads = 1;
            four.threads = 4;
            const Result<Binding> a = bind(c.mesh(), c.skeleton, preset(method), &one),
                                  b = bind(c.mesh(), c.skeleton, preset(method), &four);
            ASSERT_TRUE(a && b);
            EXPECT_EQ(a->report().covered(), 1) << name;
            EXPECT_EQ(*a->weights(), *b->weights()) << name << " " << to_string(method);
        }
    }
}

DistanceTable table(std::vector<float> distances) {
    DistanceTable t;
    t.vertices = 1;
    t.width = distances.size();
    for (std::uint32_t j = 0; j < distances.size(); ++j) t.joint.push_back(j);
    t.distance = std::move(distances);
    t.unit = 2;
    return t;
}

TEST(Falloff, ExponentialIsThePublishedLaw) {
    FalloffOptions o;
    o.law = FalloffLaw::exponential;
    o.smoothness = 0.05f;
    const auto s = apply_falloff(table({0.2f, 0.3f, 0.6f}), o)->strength;
    EXPECT_EQ(s[0], 1);
    EXPECT_NEAR(s[1], std::exp(-1.0), 1e-6);
    EXPECT_NEAR(s[2], std::exp(-4.0), 1e-6);
}

TEST(Falloff, HermiteAndLinearEndAtTheFirstJointBeyondTheLimit) {
    FalloffOptions o;
    o.law = FalloffLaw::linear;
    o.neighbours = 2;
    const auto linear = apply_falloff(table({0.1f, 0.2f, 0.4f, 0.8f}), o);
    EXPECT_NEAR(linear->strength[1] / linear->strength[0], 0.5 / 0.75, 1e-6);
    EXPECT_EQ(linear->joint[2], no_index);  // at the reach itself
    o.law = FalloffLaw::cubic_hermite;
    const auto cubic = apply_falloff(table({0.1f, 0.2f, 0.4f, 0.8f}), o);
    const auto h = [](double t) { return 1 - 3 * t * t + 2 * t * t * t; };
    EXPECT_NEAR(cubic->strength[1], h(0.5) / h(0.25), 1e-6);
    o.neighbours = 9;
    o.threshold = 0.15f;  // times the unit: 0.3
    const auto cut = apply_falloff(table({0.1f, 0.2f, 0.4f, 0.8f}), o);
    EXPECT_NEAR(cut->strength[1], h(2.0 / 3) / h(1.0 / 3), 1e-6);
    EXPECT_EQ(cut->joint[2], no_index);
    o.threshold = 0.01f;
    const auto far = apply_falloff(table({0.1f, 0.2f}), o);
    EXPECT_EQ(far->strength[0], 1);
    EXPECT_EQ(far->joint[1], no_index);
}

TEST(Falloff, RefusesInvalidCombinations) {
    FalloffOptions o;
    o.smoothness = 0;
    EXPECT_FALSE(check(o));
    o = {};
    o.threshold = -1;
    EXPECT_FALSE(check(o));
    o = {};
    o.neighbours = -1;
    EXPECT_FALSE(check(o));
}

}  // namespace
}  // namespace sinew::test_open_space
