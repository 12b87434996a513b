// voxel-heat: statements of its source, and guarantees of every method.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "characters/characters.h"
#include "characters/defects.h"
#include "characters/shapes.h"
#include "sinew/bind.h"
#include "unit/support.h"

namespace sinew::test_voxel_heat {
namespace {

using test::bound;
using test::weight_of;

BindOptions heat(int resolution) {
    BindOptions options = preset(Method::voxel_heat);
    options.voxels.resolution = resolution;
    return options;
}

TEST(VoxelHeat, HeatGoesAroundTheGapBetweenLegs) {
    // "The distance from the right foot to the left foot": no heat crosses the gap between the legs.
    const test::Character c = test::u_tube();
    const Binding binding = bound(c, heat(128));
    const SkinWeights w = *binding.weights();
    const std::uint32_t left = c.joint("left"), right = c.joint("right");
    const float top = std::max_element(c.positions.begin(), c.positions.end(), [](const Vec3& a, const Vec3& b) {
                          return a.y < b.y;
                      })->y;
    std::size_t upper = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        if (c.positions[v].y < top - 0.3f) continue;
        ++upper;
        const bool on_left = std::abs(c.positions[v].x - c.skeleton.joints[left].position.x) < 0.12f;
        EXPECT_LT(weight_of(w, v, on_left ? right : left), 1e-3f);
        EXPECT_GT(weight_of(w, v, on_left ? left : right), 0.99f);
    }
    EXPECT_GT(upper, 20u);
}

TEST(VoxelHeat, ABarIsSymmetricAboutItsJointAndFallsAlongIt) {
    const test::Character c = test::bar();
    const Binding binding = bound(c, heat(128));
    const SkinWeights w = *binding.weights();
    std::vector<std::pair<float, float>> along;
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        const Vec3& p = c.positions[v];
        along.emplace_back(p.x, weight_of(w, v, 0));
        if (std::abs(p.x) < 1e-4f) {
            EXPECT_NEAR(weight_of(w, v, 0), 0.5f, 0.05f);
        }
        if (p.x < -0.4f) {
            EXPECT_GT(weight_of(w, v, 0), 0.99f);
        }
        if (p.x > 0.4f) {
            EXPECT_LT(weight_of(w, v, 0), 0.01f);
        }
    }
    for (const auto& [x, a] : along)
        for (const auto& [y, b] : along)
            if (y > x + 0.05f) {
                ASSERT_LE(b, a + 0.01f) << x << " " << y;
            }
}

TEST(VoxelHeat, PowerHardensJoints) {
    const test::Character c = test::bar();
    const Binding binding = bound(c, heat(64));
    BindOptions o = heat(64);
    double before = 0;
    for (const float power : {0.5f, 1.0f, 1.5f, 4.0f}) {
        o.falloff.power = power;
        const SkinWeights w = *binding.weights(o.falloff, o.finish);
        double strongest = 0;
        for (std::size_t v = 0; v < w.vertex_count(); ++v) strongest += w[v][0].weight;
        EXPECT_GT(strongest, before);
        before = strongest;
    }
    // Harder at one joint only: by region (Rosen 2009).
    o.falloff.power = 1;
    const SkinWeights soft = *binding.weights(o.falloff, o.finish);
    o.falloff.map.of_vertex.assign(c.positions.size(), std::nanf(""));
    std::size_t chosen = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v)
        if (c.positions[v].x > 0.02f && c.positions[v].x < 0.08f) o.falloff.map.of_vertex[v] = 1, ++chosen;
    const SkinWeights hard = *binding.weights(o.falloff, o.finish);
    ASSERT_GT(chosen, 0u);
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        if (std::isnan(o.falloff.map.of_vertex[v])) {
            EXPECT_EQ(weight_of(hard, v, 1), weight_of(soft, v, 1));
        } else {
            EXPECT_GT(weight_of(hard, v, 1), weight_of(soft, v, 1));
        }
    }
}

TEST(VoxelHeat, SweepsOfAveragingEndAtTheSameWeights) {
    const test::Character c = test::quadruped(0.03);
    const Binding solved = bound(c, heat(32));
    BindOptions o = heat(32);
    o.iterations = 2000;
    const SkinWeights a = *solved.weights(), b = *bound(c, o).weights();
    double worst = 0;
    for (std::size_t v = 0; v < a.vertex_count(); ++v)
        for (const Influence& i : a[v])
            worst = std::max(worst, std::abs(double{i.weight} - weight_of(b, v, i.joint)));
    EXPECT_LT(worst, 0.01);
    // Few sweeps do not reach every vertex; the report counts the others.
    o.iterations = 1;
    const Binding few = bound(c, o);
    EXPECT_GT(few.report().coverage[static_cast<std::size_t>(Coverage::euclidean)], 0u);
    EXPECT_EQ(few.report().coverage[static_cast<std::size_t>(Coverage::none)], 0u);
}

// Heat of a joint at a vertex.
double strength_of(const Binding& binding, std::size_t v, std::uint32_t joint) {
    const auto& table = binding.influences();
    for (std::size_t k = v * table.width; k < (v + 1) * table.width; ++k)
        if (table.joint[k] == joint) return table.strength[k];
    return 0;
}

TEST(VoxelHeat, PlainAveragingHasNoLoss) {
    const test::Character c = test::quadruped(0.03);
    BindOptions o = heat(32);
    o.finish.max_influences = all_influences;
    o.cooling = 0;
    const Status refused = check(o);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("0 needs `iterations`"), std::string::npos) << refused.error().message;
    o.cooling = 0.5f;
    o.iterations = 200;
    EXPECT_FALSE(check(o).ok());
    o.cooling = 0;
    const Binding plain = bound(c, o);
    o.cooling = 250;
    const Binding cooled = bound(c, o);
    // Loss takes heat away everywhere.
    double gained = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v)
        for (std::uint32_t j = 0; j < c.skeleton.joints.size(); ++j) {
            const double none = strength_of(plain, v, j);
            EXPECT_GE(none * (1 + 1e-4) + 1e-6, strength_of(cooled, v, j));
            gained = std::max(gained, none - strength_of(cooled, v, j));
        }
    EXPECT_GT(gained, 0.1);
}

TEST(VoxelHeat, ThreadsDoNotChangeABit) {
    const test::Character c = test::quadruped(0.03);
    for (const int influences : {4, all_influences}) {
        BindOptions o = heat(64);
        o.finish.max_influences = influences;
        const Binding one = bound(c, o, 1), four = bound(c, o, 4);
        EXPECT_EQ(one.influences().strength, four.influences().strength);
        EXPECT_EQ(one.influences().joint, four.influences().joint);
        EXPECT_EQ(*one.weights(), *four.weights());
        if (influences == all_influences) {
            EXPECT_GT(one.influences().width, 16u);
        }
    }
}

TEST(VoxelHeat, LoosePartsAreBridgedAndEveryVertexIsCounted) {
    for (const char* name : {"caped", "robot"}) {
        const Binding binding = bound(test::make_character(name), heat(64));
        EXPECT_EQ(binding.report().covered(), 1) << name;
        for (const std::string& warning : binding.report().warnings)
            EXPECT_NE(warning.find("shorter than a voxel"), std::string::npos) << warning;
        if (binding.report().bridged_components > 0) {
            EXPECT_GT(binding.report().coverage[static_cast<std::size_t>(Coverage::bridged)], 0u) << name;
        }
        const SkinWeights w = *binding.weights();
        for (std::size_t v = 0; v < w.vertex_count(); ++v) ASSERT_FALSE(w[v].empty()) << name;
    }
}

TEST(VoxelHeat, APartWithoutBonesFollowsTheNearestJoint) {
    test::Character c = test::u_tube();
    const std::size_t first = c.positions.size();
    const Vec3 left = c.skeleton.joints[c.joint("left")].position;
    const test::Shape box = test::box({left.x - 0.35, left.y - 0.3, left.z}, {0.08, 0.08, 0.08}, 2);
    test::append(c, box.positions, box.triangles, 0);
    const Binding binding = bound(c, heat(64));
    EXPECT_EQ(binding.report().bridged_components, 1u);
    EXPECT_EQ(binding.report().coverage[static_cast<std::size_t>(Coverage::bridged)], c.positions.size() - first);
    const SkinWeights w = *binding.weights();
    for (std::size_t v = first; v < c.positions.size(); ++v) EXPECT_GT(weight_of(w, v, c.joint("left")), 0.95f);
}

TEST(VoxelHeat, ALongSheetFarFromItsBoneKeepsWeights) {
    // A sheet cools to almost 0 within a few voxels of its bones. Its far end must still get weights.
    test::Character c = test::strip(64);
    c.skeleton.joints[1].position = {c.skeleton.joints[0].position.x + 0.05f, c.skeleton.joints[0].position.y,
                                     c.skeleton.joints[0].position.z};
    c.skeleton.joints[1].tail = c.skeleton.joints[1].position;
    c.skeleton.joints[1].tail->x += 0.05f;
    const Binding binding = bound(c, heat(128));
    EXPECT_EQ(binding.report().covered(), 1);
    const SkinWeights w = *binding.weights();
    for (std::size_t v = 0; v < c.positions.size(); ++v)
        if (c.positions[v].x > c.skeleton.joints[1].position.x + 0.2f) {
            EXPECT_GT(weight_of(w, v, 1), 0.6f);
        }
}

TEST(VoxelHeat, DefectsBindOrGiveAnError) {
    const test::Character robot = test::robot();
    for (const test::Defect& defect : test::defects()) {
        const test::Character c = defect.apply(robot);
        const Result<Binding> binding = bind(c.mesh(), c.skeleton, heat(32));
        if (*defect.error) {
            ASSERT_FALSE(binding) << defect.name;
            EXPECT_NE(binding.error().message.find(defect.error), std::string::npos) << defect.name;
            continue;
        }
        ASSERT_TRUE(binding) << defect.name << ": " << binding.error().message;
        EXPECT_EQ(binding->report().covered(), 1) << defect.name;
        const SkinWeights w = *binding->weights();
        for (std::size_t v = 0; v < w.vertex_count(); ++v) ASSERT_FALSE(w[v].empty()) << defect.name << " " << v;
    }
}

TEST(VoxelHeat, OneJointIdleJointsAndSeveralSkins) {
    test::Character c = test::bar();
    c.skeleton.joints[1].deform = false;
    SkinWeights w = *bound(c, heat(32)).weights();
    for (std::size_t v = 0; v < w.vertex_count(); ++v) ASSERT_EQ(weight_of(w, v, 0), 1);

    c = test::bar();
    c.skeleton.skins = {{0}, {0, 1}};
    std::vector<std::uint32_t> skin(c.positions.size());
    for (std::size_t v = 0; v < skin.size(); ++v) skin[v] = c.positions[v].x < -0.5f ? 0 : 1;
    const Result<Binding> binding = bind({c.positions, c.triangles, skin}, c.skeleton, heat(32));
    ASSERT_TRUE(binding);
    EXPECT_EQ(binding->report().covered(), 1);
    w = *binding->weights();
    for (std::size_t v = 0; v < w.vertex_count(); ++v)
        if (skin[v] == 0) {
            ASSERT_EQ(weight_of(w, v, 1), 0);
        }
}

TEST(VoxelHeat, OptionsAreChecked) {
    BindOptions o = heat(64);
    for (const float cooling : {0.0f, -1.0f, 1e6f, std::nanf("")}) {
        o.cooling = cooling;
        EXPECT_FALSE(check(o));
    }
    o = heat(64);
    o.iterations = -1;
    EXPECT_FALSE(check(o));
    o = preset(Method::bounded_biharmonic);
    o.heat = HeatBy::hardware;
    const Status refused_heat = check(o);
    ASSERT_FALSE(refused_heat);
    EXPECT_NE(refused_heat.error().message.find("does not read `heat`: leave it out, or choose voxel-heat"),
              std::string::npos)
        << refused_heat.error().message;
    o = heat(64);
    o.falloff.law = FalloffLaw::inverse_power;
    EXPECT_FALSE(check(o));

    const test::Character c = test::bar();
    Context context;
    context.memory_limit = 1 << 20;
    const Result<Binding> refused = bind(c.mesh(), c.skeleton, heat(256), &context);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::too_large);
}

TEST(VoxelHeat, CanBeCancelledAtEveryReport) {
    const test::Character c = test::u_tube();
    for (int stop = 0; stop < 12; ++stop) {
        Context context;
        int calls = 0;
        context.progress = [&](const char*, double) {
            if (calls++ == stop) context.cancel = true;
        };
        const Result<Binding> binding = bind(c.mesh(), c.skeleton, heat(32), &context);
        if (!binding) {
            EXPECT_EQ(binding.error().code, ErrorCode::cancelled);
        }
    }
}

}  // namespace
}  // namespace sinew::test_voxel_heat
