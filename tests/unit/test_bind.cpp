#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "sinew/bind_scene.h"
#include "unit/support.h"

namespace sinew::test_bind {
namespace {

using test::bound;
using test::Character;
using test::weight_of;

BindOptions at(int resolution) {
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = resolution;
    return options;
}

SkinWeights weights(const Binding& b) {
    Result<SkinWeights> w = b.weights();
    EXPECT_TRUE(w) << (w ? "" : w.error().message);
    return std::move(*w);
}

TEST(Bind, TwoBoneBarMatchesTheClosedForm) {
    // Along a straight bar the graph distance in the direction of an axis is the octile one, and with penalty 1 and
    // no overshoot the weights follow from eq. 7 to 9 by hand.
    const Character c = test::bar();
    BindOptions options = at(512);
    options.domain = DomainKind::uniform;  // the octree's coarse leaves make paths a little longer
    options.penalty = 1;
    options.overshoot = 0;
    options.finish.prune = 0;
    const Binding b = bound(c, options);
    const SkinWeights w = weights(b);
    const double unit = b.distances().unit;
    const std::uint32_t b_joint = c.joint("bar_b");
    int checked = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const Vec3& p = c.positions[v];
        // Vertices on the +y side of the bar, away from its caps.
        if (std::abs(p.z) > 1e-3 || std::abs(p.x) > 0.8f || std::hypot(p.y, p.z) < 0.09) continue;
        const double radial = std::hypot(p.y, p.z), along = std::abs(p.x);
        const double far = std::max(along, radial) + (std::sqrt(2.0) - 1) * std::min(along, radial);
        const double ratio = std::pow((far / unit) / (radial / unit), -7.5);
        const double nearer = 1 / (1 + ratio);
        const double expected = p.x > 0 ? nearer : 1 - nearer;
        // The radius is 25 voxels. The start and end of a field are known to about one voxel.
        EXPECT_NEAR(weight_of(w, v, b_joint), expected, 0.08) << p.x;
        ++checked;
    }
    EXPECT_GT(checked, 40);
}

// The short call marks joints by the rules of the command line, and keeps the parts of a file apart.
TEST(Bind, ASceneIsBoundByOneCall) {
    const Character c = test::bar();
    io::Scene scene;
    scene.positions = c.positions;
    scene.triangles = c.triangles;
    scene.skeleton = c.skeleton;
    Joint& target = scene.skeleton.joints.emplace_back();
    target.name = "ik_target";
    target.parent = 0;
    const auto half = static_cast<std::uint32_t>(scene.positions.size());
    for (const Vec3& p : c.positions) scene.positions.push_back({p.x, p.y, p.z + 10});  // a second, lesser one
    for (const Triangle& t : c.triangles) scene.triangles.push_back({t[0] + half, t[1] + half, t[2] + half});
    scene.part_of_vertex.assign(scene.positions.size(), 0);
    std::fill(scene.part_of_vertex.begin() + half, scene.part_of_vertex.end(), kFollows);
    const Result<Binding> binding = bind(scene, at(64));
    ASSERT_TRUE(binding) << binding.error().message;
    EXPECT_EQ(scene.skeleton.joints.back().reason, DeformReason::control_name);
    const SkinWeights both = weights(*binding), alone = weights(bound(c, at(64)));
    for (std::size_t v = 0; v < half; ++v)
        ASSERT_TRUE(std::equal(both[v].begin(), both[v].end(), alone[v].begin(), alone[v].end())) << v;
}

// Beyond the end of bone a, overshoot makes a farther away, so b has more weight there.
TEST(Bind, OvershootMovesWeightToTheNextBone) {
    const Character c = test::bar();
    BindOptions options = at(128);
    const SkinWeights with = weights(bound(c, options));
    options.overshoot = 0;
    const SkinWeights without = weights(bound(c, options));
    const std::uint32_t b_joint = c.joint("bar_b");
    std::size_t checked = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        if (c.positions[v].x < 0.05f || c.positions[v].x > 0.2f) continue;
        EXPECT_GT(weight_of(with, v, b_joint), weight_of(without, v, b_joint) + 0.01f) << c.positions[v].x;
        ++checked;
    }
    EXPECT_GT(checked, 0u);
}

TEST(Bind, NothingBleedsAcrossAGap) {
    const Character c = test::u_tube();
    const SkinWeights w = weights(bound(c, at(128)));
    const float left = c.skeleton.joints[c.joint("left")].position.x;
    float top = -INFINITY;
    for (const Vec3& p : c.positions) top = std::max(top, p.y);
    int checked = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        if (std::abs(c.positions[v].x - left) > 0.11f || c.positions[v].y < top - 0.3f) continue;
        EXPECT_LT(weight_of(w, v, c.joint("right")), 1e-3f);
        ++checked;
    }
    EXPECT_GT(checked, 100);
}

TEST(Bind, RigidPartsFollowTheirBone) {
    const Character c = test::robot();
    const Binding b = bound(c, at(256));
    const SkinWeights w = weights(b);
    std::size_t right = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v) right += w[v][0].joint == c.body_part[v];
    EXPECT_GT(double(right) / double(c.positions.size()), 0.8);
    EXPECT_EQ(b.report().covered(), 1);
}

TEST(Bind, LoosePartsAreBridgedAndCounted) {
    // A button that floats beside the far end of the bar follows that end.
    Character c = test::bar();
    const std::size_t body = c.positions.size();
    const test::Shape button = test::sphere({0.7, 0.3, 0}, 0.05, 2);
    append(c, button.positions, button.triangles, c.joint("bar_b"));
    const Binding b = bound(c, at(128));
    EXPECT_EQ(b.report().covered(), 1);
    EXPECT_EQ(b.report().components, 2u);
    EXPECT_EQ(b.report().bridged_components, 1u);
    EXPECT_EQ(b.report().coverage[std::size_t(Coverage::bridged)], button.positions.size());
    const SkinWeights w = weights(b);
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        EXPECT_EQ(b.coverage()[v], v < body ? Coverage::weighted : Coverage::bridged);
        if (v >= body) {
            EXPECT_GT(weight_of(w, v, c.joint("bar_b")), 0.9f);
        }
    }
}

TEST(Bind, CoincidentVerticesGetOneRow) {
    Character c = test::l_corner();
    // Triangle soup: every corner its own vertex.
    Character soup = c;
    soup.positions.clear();
    for (Triangle& t : soup.triangles)
        for (std::uint32_t& v : t) {
            soup.positions.push_back(c.positions[v]);
            v = static_cast<std::uint32_t>(soup.positions.size() - 1);
        }
    const SkinWeights welded = weights(bound(c, at(64))), loose = weights(bound(soup, at(64)));
    for (std::size_t t = 0; t < c.triangles.size(); ++t)
        for (int k = 0; k < 3; ++k) {
            const auto a = welded[c.triangles[t][k]], b = loose[soup.triangles[t][k]];
            ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
        }
}

TEST(Bind, SkinsLimitTheirVertices) {
    const Character c = test::bar();
    Skeleton skeleton = c.skeleton;
    skeleton.skins = {{0}, {1}, {0, 1}};
    std::vector<std::uint32_t> skin(c.positions.size());
    for (std::size_t v = 0; v < skin.size(); ++v) skin[v] = static_cast<std::uint32_t>(v % 3);
    Result<Binding> b = bind({c.positions, c.triangles, skin}, skeleton, at(64));
    ASSERT_TRUE(b);
    const SkinWeights w = weights(*b);
    for (std::size_t v = 0; v < skin.size(); ++v) {
        ASSERT_FALSE(w[v].empty());
        for (const Influence& i : w[v]) EXPECT_TRUE(skin[v] == 2 || i.joint == skin[v]);
    }
}

TEST(Bind, SeamsBetweenSkinsUseCommonJoints) {
    // Two copies of one box at the same place, with skins {a, b} and {b, c}: every vertex must use b alone.
    Character c;
    const test::Shape s = test::box({0, 0, 0}, {1, 0.2, 0.2}, 4);
    c.positions = s.positions;
    c.positions.insert(c.positions.end(), s.positions.begin(), s.positions.end());
    c.triangles = s.triangles;
    for (const Triangle& t : s.triangles) {
        const auto n = static_cast<std::uint32_t>(s.positions.size());
        c.triangles.push_back({t[0] + n, t[1] + n, t[2] + n});
    }
    c.skeleton.joints = {{"a", -1, {-0.9f, 0, 0}, {}}, {"b", 0, {-0.3f, 0, 0}, {}}, {"c", 1, {0.4f, 0, 0}, {}}};
    c.skeleton.skins = {{0, 1}, {1, 2}};
    std::vector<std::uint32_t> skin(c.positions.size(), 0);
    std::fill(skin.begin() + std::ptrdiff_t(s.positions.size()), skin.end(), 1u);
    Result<Binding> b = bind({c.positions, c.triangles, skin}, c.skeleton, at(64));
    ASSERT_TRUE(b);
    const SkinWeights w = weights(*b);
    for (std::size_t v = 0; v < skin.size(); ++v) {
        ASSERT_EQ(w[v].size(), 1u);
        EXPECT_EQ(w[v][0].joint, 1u);
    }
}

TEST(Bind, ASkinOfIdleJointsBindsWithAWarning) {
    Character c = test::bar();
    c.skeleton.joints.push_back({"hook", -1, {0.5f, 0, 0}, {}, false, DeformReason::excluded});
    c.skeleton.skins = {{0, 1}, {2}};
    std::vector<std::uint32_t> skin(c.positions.size(), 0);
    skin.back() = 1;
    Result<Binding> b = bind({c.positions, c.triangles, skin}, c.skeleton, at(64));
    ASSERT_TRUE(b);
    EXPECT_EQ(weights(*b)[skin.size() - 1][0].joint, 2u);
    EXPECT_EQ(b->coverage().back(), Coverage::euclidean);
    // The vertices get weights, but not from the method: the coverage gate must count them.
    EXPECT_LT(b->report().covered(), 1);
    EXPECT_GT(b->report().covered(), 0.9);
    ASSERT_FALSE(b->report().warnings.empty());
}

TEST(Bind, SeparateCharactersWithOwnSkins) {
    // Two separate bars, each with its own skin: no bridge joins them, and no weight crosses.
    Character c = test::bar();
    const auto n = static_cast<std::uint32_t>(c.positions.size());
    const std::size_t triangles = c.triangles.size();
    for (std::uint32_t v = 0; v < n; ++v)
        c.positions.push_back({c.positions[v].x, c.positions[v].y + 1, c.positions[v].z});
    for (std::size_t t = 0; t < triangles; ++t)
        c.triangles.push_back({c.triangles[t][0] + n, c.triangles[t][1] + n, c.triangles[t][2] + n});
    for (int k = 0; k < 2; ++k) {
        Joint joint = c.skeleton.joints[std::size_t(k)];
        joint.position.y += 1;
        if (joint.tail) joint.tail->y += 1;
        if (joint.parent >= 0) joint.parent += 2;
        c.skeleton.joints.push_back(joint);
    }
    c.skeleton.skins = {{0, 1}, {2, 3}};
    std::vector<std::uint32_t> skin(2 * n, 0);
    std::fill(skin.begin() + n, skin.end(), 1u);
    Result<Binding> b = bind({c.positions, c.triangles, skin}, c.skeleton, at(64));
    ASSERT_TRUE(b);
    EXPECT_EQ(b->report().components, 2u);
    EXPECT_EQ(b->report().bridged_components, 0u);
    EXPECT_EQ(b->report().coverage[std::size_t(Coverage::weighted)], std::size_t(2 * n));
    const SkinWeights w = weights(*b);
    for (std::size_t v = 0; v < 2 * n; ++v)
        for (const Influence& i : w[v]) EXPECT_EQ(i.joint / 2, v < n ? 0u : 1u);
}

TEST(Bind, IdleJointsGetNothing) {
    Character c = test::bar();
    c.skeleton.joints[0].deform = false;
    c.skeleton.joints[0].reason = DeformReason::excluded;
    const SkinWeights w = weights(bound(c, at(64)));
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        ASSERT_EQ(w[v].size(), 1u);
        EXPECT_EQ(w[v][0].joint, 1u);
    }
}

TEST(Bind, BonesOutsideTheMeshAreSnappedAndListed) {
    Character c = test::bar();
    c.skeleton.joints.push_back({"antenna", 1, {0.5f, 3, 0}, Vec3{0.5f, 4, 0}});
    const Binding b = bound(c, at(64));
    EXPECT_EQ(b.report().snapped_joints, std::vector<std::uint32_t>{2});
    EXPECT_EQ(b.report().covered(), 1);
    // The bar's own bones are much nearer, so the outside bone has almost no weight.
    const SkinWeights w = weights(b);
    for (std::size_t v = 0; v < c.positions.size(); ++v) EXPECT_LT(weight_of(w, v, 2), 1e-3f);
}

TEST(Bind, UnusedVerticesFollowTheNearestJoint) {
    Character c = test::bar();
    c.positions.push_back({1e6f, 0, 0});
    c.positions.push_back({-0.9f, 0.02f, 0});
    const Binding b = bound(c, at(64));
    EXPECT_EQ(b.report().defects.unused_vertices, 2u);
    const SkinWeights w = weights(b);
    EXPECT_EQ(b.coverage()[c.positions.size() - 2], Coverage::unused);
    EXPECT_EQ(b.report().covered(), 1);
    EXPECT_EQ(w[c.positions.size() - 2][0].joint, c.joint("bar_b"));
    EXPECT_EQ(w[c.positions.size() - 1][0].joint, c.joint("bar_a"));
    // The unused vertex must not enlarge the grid.
    EXPECT_NEAR(b.distances().unit, 2.0f, 0.01f);
}

TEST(Bind, AllInfluencesGivesEveryJointADistance) {
    const Character c = test::quadruped();
    BindOptions options = at(64);
    const Binding eight = bound(c, options);
    options.finish.max_influences = all_influences;
    const Binding all = bound(c, options);
    EXPECT_GT(all.distances().width, eight.distances().width);
    EXPECT_EQ(weights(all).vertex_count(), c.positions.size());
    // More influences leave the nearest joints unchanged, except that overshoot may reorder the last ones.
    std::size_t differ = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v)
        for (int k = 0; k < 4; ++k)
            differ += all.distances().distance[v * all.distances().width + k] !=
                      eight.distances().distance[v * eight.distances().width + k];
    EXPECT_LT(double(differ), 0.01 * double(c.positions.size()));
}

TEST(Bind, WeightsAreReevaluatedFromKeptDistances) {
    const Character c = test::u_tube();
    BindOptions options = at(64);
    const Binding kept = bound(c, options);
    options.falloff.alpha = 0.6f;
    options.finish.max_influences = 2;
    Result<SkinWeights> again = kept.weights(options.falloff, options.finish);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, weights(bound(c, options)));
    options.finish.max_influences = all_influences;
    Result<SkinWeights> too_many = kept.weights(options.falloff, options.finish);
    ASSERT_FALSE(too_many);
    EXPECT_EQ(too_many.error().code, ErrorCode::usage);
}

TEST(Bind, CopiesOfABindingAreIndependentOfIt) {
    const Character c = test::bar();
    auto first = std::make_unique<Binding>(bound(c, at(64)));
    const SkinWeights expected = weights(*first);
    const Binding copy = *first;
    const Binding moved = std::move(*first);
    EXPECT_EQ(weights(*first), expected);  // a move leaves its source as it was
    first.reset();
    EXPECT_EQ(weights(copy), expected);
    EXPECT_EQ(weights(moved), expected);
    // Another use of the state gives another binding.
    const Binding same = test::must(copy.rebind(c.mesh(), c.skeleton));
    EXPECT_EQ(same.report().reused, Reuse::table);
    EXPECT_EQ(copy.report().reused, Reuse::none);

    const Binding empty;
    EXPECT_EQ(empty.coverage().size(), 0u);
    EXPECT_EQ(empty.report().covered(), 0);
    EXPECT_FALSE(empty.keeps_volume());
}

TEST(Bind, SparseAndUniformDomainsAgreeClosely) {
    const Character c = test::quadruped();
    BindOptions options = at(128);
    const SkinWeights sparse = weights(bound(c, options));
    options.domain = DomainKind::uniform;
    const SkinWeights uniform = weights(bound(c, options));
    double l1 = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v)
        for (std::uint32_t j = 0; j < c.skeleton.joints.size(); ++j)
            l1 += std::abs(weight_of(sparse, v, j) - weight_of(uniform, v, j));
    EXPECT_LT(l1 / double(c.positions.size()), 0.1);
}

TEST(Bind, MemoryLimitIsCheckedFirstAndSuggestsAResolution) {
    const Character c = test::bar();
    Context context;
    context.memory_limit = 20u << 20;
    Result<Binding> b = bind(c.mesh(), c.skeleton, at(1024), &context);
    ASSERT_FALSE(b);
    EXPECT_EQ(b.error().code, ErrorCode::too_large);
    EXPECT_NE(b.error().message.find("would fit"), std::string::npos) << b.error().message;
    context.memory_limit = 1;
    b = bind(c.mesh(), c.skeleton, at(64), &context);
    ASSERT_FALSE(b);
    EXPECT_NE(b.error().message.find("no resolution would fit"), std::string::npos);
    context.memory_limit = 0;
    EXPECT_TRUE(bind(c.mesh(), c.skeleton, at(64), &context));
}

TEST(Bind, ReportsProgressAndCanBeCancelled) {
    const Character c = test::bar();
    Context context;
    std::vector<std::string> stages;
    context.progress = [&](const char* stage, double fraction) {
        if (fraction == 0) stages.push_back(stage);
    };
    ASSERT_TRUE(bind(c.mesh(), c.skeleton, at(64), &context));
    EXPECT_EQ(stages, (std::vector<std::string>{"topology", "voxelize", "octree", "distances"}));
    // A bind that is cancelled in a stage ends in this stage.
    for (const std::string& at_stage : stages) {
        context.cancel = false;
        context.progress = [&](const char* stage, double) { context.cancel = context.cancel || stage == at_stage; };
        Result<Binding> b = bind(c.mesh(), c.skeleton, at(64), &context);
        ASSERT_FALSE(b) << at_stage;
        EXPECT_EQ(b.error().code, ErrorCode::cancelled);
    }
}

TEST(Bind, StagesOfEveryMethodFollowEachOther) {
    for (const MethodInfo& info : methods()) {
        const Character c = info.method == Method::pixel_geodesic ? test::strip() : test::bar();
        BindOptions options = preset(info.method);
        options.voxels.resolution = 64;
        Context context;
        double reached = 0;
        context.progress = [&](const char* stage, double fraction) {
            const auto [begin, end] = place_of_stage(stage);
            EXPECT_LE(reached, begin + fraction * (end - begin)) << info.name << ": " << stage;
            reached = begin + fraction * (end - begin);
        };
        ASSERT_TRUE(bind(c.mesh(), c.skeleton, options, &context)) << info.name;
        EXPECT_GE(reached, 0.6) << info.name;
    }
    EXPECT_EQ(place_of_stage("no stage"), (std::array{0.0, 1.0}));
}

TEST(Bind, ErrorsNameTheBadInput) {
    Character c = test::bar();
    auto message = [&] {
        Result<Binding> b = bind(c.mesh(), c.skeleton, at(64));
        return b ? std::string() : b.error().message;
    };
    c.positions[7].y = NAN;
    EXPECT_NE(message().find("7"), std::string::npos) << message();
    c = test::bar();
    c.triangles[3][1] = 1u << 30;
    EXPECT_NE(message().find("3"), std::string::npos) << message();
    c = test::bar();
    c.triangles.clear();
    EXPECT_NE(message().find("triangle"), std::string::npos) << message();
    c = test::bar();
    c.skeleton.joints[1].parent = 1;
    EXPECT_NE(message().find("bar_b"), std::string::npos) << message();
    c = test::bar();
    c.skeleton.joints.clear();
    EXPECT_FALSE(message().empty());
    c = test::bar();
    c.positions[5].x = 3e38f;
    EXPECT_NE(message().find("vertex 5"), std::string::npos) << message();
    c = test::bar();
    c.skeleton.joints[1].position.z = -3e38f;
    EXPECT_NE(message().find("bar_b"), std::string::npos) << message();
    for (auto change : {+[](BindOptions& o) { o.penalty = 0; }, +[](BindOptions& o) { o.overshoot = -1; },
                        +[](BindOptions& o) { o.overshoot = NAN; }, +[](BindOptions& o) { o.falloff.alpha = 2; },
                        +[](BindOptions& o) { o.finish.max_influences = 9; },
                        +[](BindOptions& o) { o.voxels.resolution = 100; }}) {
        BindOptions options = preset(Method::geodesic_voxel);
        change(options);
        Result<Binding> b = bind(test::bar().mesh(), test::bar().skeleton, options);
        ASSERT_FALSE(b);
        EXPECT_EQ(b.error().code, ErrorCode::usage);
    }
}

}  // namespace
}  // namespace sinew::test_bind
