// Locks and edits on rows made by hand, and falloff that follows the pose.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sinew/bind.h"
#include "sinew/deform.h"
#include "sinew/edits.h"
#include "sinew/quality.h"
#include "unit/support.h"

namespace sinew::test_edits {
namespace {

using test::Rows;
using test::weight_of;
using test::weights_of;

// A narrow strip of n quads along x, from -1 to 1; vertices 2i and 2i + 1 at each step.
struct Strip {
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
    explicit Strip(std::uint32_t n) {
        for (std::uint32_t i = 0; i <= n; ++i)
            for (const float y : {0.0f, 0.001f})
                positions.push_back({-1 + 2 * static_cast<float>(i) / static_cast<float>(n), y, 0});
        for (std::uint32_t i = 0; i < 2 * n; i += 2) {
            triangles.push_back({i, i + 2, i + 1});
            triangles.push_back({i + 1, i + 2, i + 3});
        }
    }
    MeshView view() const { return {positions, triangles, {}}; }
};

WeightEdit edit(EditKind kind, std::vector<std::uint32_t> joints, float value) {
    WeightEdit e;
    e.kind = kind;
    e.joints = std::move(joints);
    e.value = value;
    return e;
}

SkinWeights edited(const MeshView& mesh, const SkinWeights& w, const WeightEdit& e, const Locks& locks = {},
                   EditReport* report = nullptr) {
    auto out = apply_edits(mesh, w, {&e, 1}, locks, 8, 4, report);
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().message);
    return out.ok() ? *out : w;
}

TEST(Locks, LockedJointsAndVerticesKeepTheirWeights) {
    const SkinWeights kept = weights_of({{{0, 0.3f}, {1, 0.7f}}, {{0, 1}}, {{2, 1}}, {}});
    const SkinWeights fresh =
        weights_of({{{0, 0.8f}, {2, 0.1f}, {3, 0.1f}}, {{0, 0.5f}, {1, 0.5f}}, {{0, 1}}, {{0, 0.6f}, {1, 0.4f}}});
    Locks locks;
    locks.weights = &kept;
    locks.joints = {true};
    auto w = apply_locks(fresh, locks, 4);
    ASSERT_TRUE(w.ok());
    EXPECT_FLOAT_EQ(weight_of(*w, 0, 0), 0.3f);
    EXPECT_FLOAT_EQ(weight_of(*w, 0, 2), 0.35f);  // the rest, in the proportions of the new row
    EXPECT_EQ((*w)[1].size(), 1u);                // the locked joint has all
    EXPECT_EQ(weight_of(*w, 2, 2),
              1);  // the new row has only the locked joint, whose kept weight is 0: the kept row stays
    EXPECT_FLOAT_EQ(weight_of(*w, 3, 0), 0.6f);  // nothing to keep
    locks.joints.clear();
    locks.vertices = {false, true, false, true};
    w = apply_locks(fresh, locks, 4);
    EXPECT_FLOAT_EQ(weight_of(*w, 0, 0), 0.8f);
    EXPECT_EQ(weight_of(*w, 1, 0), 1);
    EXPECT_FLOAT_EQ(weight_of(*w, 3, 0), 0.6f);
    // The limit of influences includes locked joints.
    locks.vertices.clear();
    locks.joints = {true};
    w = apply_locks(fresh, locks, 2);
    EXPECT_EQ((*w)[0].size(), 2u);
    EXPECT_FLOAT_EQ(weight_of(*w, 0, 2), 0.7f);
    EXPECT_FALSE(apply_locks(weights_of({{{0, 1}}}), locks, 4).ok());
}

TEST(Edits, SetAddScaleReplaceBesideALockedJoint) {
    const Strip strip(1);
    const std::vector<Influence> row{{0, 0.5f}, {1, 0.3f}, {2, 0.2f}};
    const SkinWeights w = weights_of({row, row, row, row});
    Locks locks;
    locks.joints = {false, false, true};
    SkinWeights out = edited(strip.view(), w, edit(EditKind::set, {1}, 0.6f), locks);
    EXPECT_FLOAT_EQ(weight_of(out, 0, 1), 0.6f);
    EXPECT_FLOAT_EQ(weight_of(out, 0, 0), 0.2f);
    EXPECT_FLOAT_EQ(weight_of(out, 0, 2), 0.2f);
    out = edited(strip.view(), w, edit(EditKind::set, {1}, 1), locks);  // limited by the locked weight
    EXPECT_FLOAT_EQ(weight_of(out, 0, 1), 0.8f);
    out = edited(strip.view(), w, edit(EditKind::add, {3}, 0.25f));
    EXPECT_FLOAT_EQ(weight_of(out, 0, 3), 0.25f);
    EXPECT_FLOAT_EQ(weight_of(out, 0, 0), 0.375f);
    out = edited(strip.view(), w, edit(EditKind::scale, {0, 1}, 0.5f));
    EXPECT_FLOAT_EQ(weight_of(out, 0, 0), 0.25f);
    EXPECT_FLOAT_EQ(weight_of(out, 0, 2), 0.6f);
    // All joints are divided by the sum: 1 / 1.5 and 0.5 / 1.5.
    out = edited(strip.view(), w, edit(EditKind::multiply, {0}, 2));
    EXPECT_FLOAT_EQ(weight_of(out, 0, 0), 2.0f / 3);
    out = edited(strip.view(), w, edit(EditKind::multiply, {0}, 2), locks);  // the locked joint keeps its share
    EXPECT_FLOAT_EQ(weight_of(out, 0, 2), 0.2f);
    EXPECT_FLOAT_EQ(weight_of(out, 0, 0), 0.8f * 1 / 1.3f);
    EXPECT_EQ(weight_of(edited(strip.view(), w, edit(EditKind::multiply, {0}, 0)), 0, 0), 0);
    // The limit of influences takes nothing from it, too.
    Locks first;
    first.joints = {true};
    const std::vector<Influence> full{{0, 0.4f}, {1, 0.3f}, {2, 0.2f}, {3, 0.1f}};
    out = edited(strip.view(), weights_of({full, full, full, full}), edit(EditKind::add, {4}, 0.2f), first);
    EXPECT_EQ(out[0].size(), 4u);
    EXPECT_FLOAT_EQ(weight_of(out, 0, 0), 0.4f);
    WeightEdit replace = edit(EditKind::replace, {0, 2}, 0);
    replace.with = 5;
    out = edited(strip.view(), w, replace, locks);
    EXPECT_FLOAT_EQ(weight_of(out, 0, 5), 0.5f);
    EXPECT_FLOAT_EQ(weight_of(out, 0, 2), 0.2f);
    // Locked vertices and joints do not change, and the report counts them.
    locks.vertices = {true, false, false, false};
    EditReport report;
    out = edited(strip.view(), w, edit(EditKind::set, {2}, 1), locks, &report);
    EXPECT_EQ(out, w);
    EXPECT_EQ(report.changed, std::vector<std::size_t>{0});
    EXPECT_EQ(report.kept, std::vector<std::size_t>{3});
}

TEST(Edits, PartialSelectionsBlendAndCoincidentVerticesAgree) {
    Strip strip(1);
    strip.positions.push_back(strip.positions[0]);  // a twin of vertex 0
    strip.triangles.push_back({4, 2, 1});
    const SkinWeights w = weights_of({{{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}});
    WeightEdit e = edit(EditKind::set, {1}, 1);
    e.selection = {0.25f, 0, 0, 1, 0};
    const SkinWeights out = edited(strip.view(), w, e);
    EXPECT_FLOAT_EQ(weight_of(out, 0, 1), 0.25f);
    EXPECT_FLOAT_EQ(weight_of(out, 4, 1), 0.25f);
    EXPECT_EQ(weight_of(out, 1, 1), 0);
    EXPECT_EQ(weight_of(out, 3, 1), 1);
    // By region: only where joint 1 has at least half after the first edit.
    WeightEdit by_region = edit(EditKind::set, {2}, 1);
    by_region.region = {1};
    by_region.region_above = 0.5f;
    const WeightEdit both[] = {e, by_region};
    const auto twice = apply_edits(strip.view(), w, both, {}, 3, 4);
    EXPECT_EQ(weight_of(*twice, 3, 2), 1);
    EXPECT_EQ(weight_of(*twice, 0, 2), 0);
}

// Smoothing a step gives a ramp of the given length, for any density of the strip.
TEST(Edits, SmoothIsALengthWhateverTheDensity) {
    std::vector<double> at_02;
    for (const std::uint32_t n : {40u, 160u}) {
        const Strip strip(n);
        Rows rows;
        for (const Vec3& p : strip.positions) rows.push_back({{p.x < 0 ? 0u : 1u, 1.0f}});
        const SkinWeights out = edited(strip.view(), weights_of(rows), edit(EditKind::smooth, {}, 0.4f));
        for (std::size_t v = 0; v < strip.positions.size(); ++v) {
            const float x = strip.positions[v].x;
            if (std::abs(x) > 0.41f) {
                EXPECT_EQ(out[v].size(), 1u) << x;
            }
            if (v % 2 == 0 && std::abs(x - 0.2f) < 1e-6f) at_02.push_back(weight_of(out, v, 0));
        }
        // Weights also change beyond the step, though less.
        EXPECT_GT(weight_of(out, strip.positions.size() / 2 - 4, 1), 0.2f);
    }
    ASSERT_EQ(at_02.size(), 2u);
    // On a line: the share of the kernel (1 - t²)² beyond half its radius.
    const auto integral = [](double t) { return t - 2 * t * t * t / 3 + t * t * t * t * t / 5; };
    const double exact = (integral(1) - integral(0.5)) / (2 * integral(1));
    // Minus half an edge, since the vertex at 0 belongs to the other side.
    EXPECT_NEAR(at_02[0], exact, 0.04);
    EXPECT_NEAR(at_02[1], exact, 0.012);
}

TEST(Edits, MirrorSwapsPartnersAcrossThePlane) {
    const Strip strip(8);
    Rows rows;
    for (const Vec3& p : strip.positions)
        rows.push_back(p.x > 0 ? std::vector<Influence>{{1, p.x}, {0, 1 - p.x}} : std::vector<Influence>{{0, 1}});
    WeightEdit e = edit(EditKind::mirror, {}, 0);
    e.mirror.normal = {1, 0, 0};
    e.mirror.partner = {0, 2, 1};
    const SkinWeights out = edited(strip.view(), weights_of(rows), e);
    for (std::size_t v = 0; v < strip.positions.size(); ++v) {
        const float x = strip.positions[v].x;
        EXPECT_NEAR(weight_of(out, v, 1), std::max(x, 0.0f), 1e-6) << x;
        EXPECT_NEAR(weight_of(out, v, 2), std::max(-x, 0.0f), 1e-6) << x;
    }
}

TEST(Edits, ErrorsNameTheEdit) {
    const Strip strip(1);
    const SkinWeights w = weights_of({{{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 1}}});
    const auto refuse = [&](WeightEdit e) {
        const WeightEdit two[] = {edit(EditKind::set, {0}, 1), std::move(e)};
        const auto out = apply_edits(strip.view(), w, two, {}, 2, 4);
        return !out.ok() && out.error().message.starts_with("edit 2: ");
    };
    EXPECT_TRUE(refuse(edit(EditKind::set, {}, 1)));
    EXPECT_TRUE(refuse(edit(EditKind::set, {2}, 1)));
    EXPECT_TRUE(refuse(edit(EditKind::set, {0}, 1.5f)));
    EXPECT_TRUE(refuse(edit(EditKind::add, {0}, std::nanf(""))));
    EXPECT_TRUE(refuse(edit(EditKind::scale, {}, 1)));
    EXPECT_TRUE(refuse(edit(EditKind::scale, {0}, -1)));
    EXPECT_TRUE(refuse(edit(EditKind::multiply, {}, 1)));
    EXPECT_TRUE(refuse(edit(EditKind::multiply, {0}, -1)));
    EXPECT_TRUE(refuse(edit(EditKind::smooth, {}, 0)));
    EXPECT_TRUE(refuse(edit(EditKind::replace, {}, 0)));
    WeightEdit e = edit(EditKind::mirror, {}, 0);
    e.mirror.normal = {2, 0, 0};
    EXPECT_TRUE(refuse(e));
    e = edit(EditKind::set, {0}, 1);
    e.selection = {1, 1};
    EXPECT_TRUE(refuse(e));
    e.selection = {1, 1, 1, 2};
    EXPECT_TRUE(refuse(e));
}

// Joints "0", "1" … along x, each the parent of the next.
Skeleton chain(int joints) {
    Skeleton s;
    for (int j = 0; j < joints; ++j) {
        Joint joint;
        joint.name = std::to_string(j);
        joint.parent = j - 1;
        joint.position = {static_cast<float>(j), 0, 0};
        s.joints.push_back(joint);
    }
    return s;
}

TEST(FalloffAt, FollowsTheAngleAgainstTheParent) {
    const Skeleton s = chain(3);
    const AngleFalloff angles[] = {{1, {{0, 0.1f}, {90, 0.5f}}}, {2, {{10, 0.2f}, {20, 0.8f}}}};
    const auto rest = falloff_at(angles, s, {}).of_joint;
    EXPECT_TRUE(std::isnan(rest[0]));
    EXPECT_FLOAT_EQ(rest[1], 0.1f);
    EXPECT_FLOAT_EQ(rest[2], 0.2f);
    std::vector<JointPose> pose(3);
    const double half = std::numbers::pi / 8;  // 45 degrees, for the root and for joint 1
    pose[0].rotation = pose[1].rotation = {0, 0, std::sin(half), std::cos(half)};
    pose[1].scale = {2, 2, 2};
    FalloffMap base;
    base.of_joint = {0.3f, 0.3f, 0.3f};
    const auto bent = falloff_at(angles, s, *skinning_matrices(s, pose), base).of_joint;
    EXPECT_FLOAT_EQ(bent[0], 0.3f);
    EXPECT_NEAR(bent[1], 0.3f, 1e-6);  // half of the way to 90 degrees
    EXPECT_FLOAT_EQ(bent[2], 0.2f);    // turns with its parent: not bent
}

TEST(FalloffAt, AppliesToTheVerticesOfASelection) {
    const Skeleton s = chain(2);
    const auto turned = [&](double degrees) {
        std::vector<JointPose> pose(2);
        const double half = degrees * std::numbers::pi / 360;
        pose[1].rotation = {std::sin(half), 0, 0, std::cos(half)};
        return *skinning_matrices(s, pose);
    };
    const AngleFalloff whole{1, {{20, 0.2f}, {60, 0.6f}}, {1, 0.5f, 0, 1}};
    FalloffMap base;
    base.of_vertex = {NAN, 0.4f, 0.9f, 0.9f};
    for (const auto& [degrees, value] :
         {std::pair{0.0, 0.2f}, {20.0, 0.2f}, {40.0, 0.4f}, {60.0, 0.6f}, {170.0, 0.6f}}) {
        const FalloffMap m = falloff_at({&whole, 1}, s, turned(degrees), base);
        EXPECT_TRUE(m.of_joint.empty());
        EXPECT_NEAR(m.of_vertex[0], value, 1e-5) << degrees;
        EXPECT_NEAR(m.of_vertex[1], (value + 0.4f) / 2, 1e-5)
            << degrees;  // half of the edit over the previous value
        EXPECT_EQ(m.of_vertex[2], 0.9f);
        EXPECT_NEAR(m.of_vertex[3], value, 1e-5);
        EXPECT_EQ(m.share_of_vertex, (std::vector<float>{1, 1, 1, 1}));
    }
    // Edits blend in order, each over the previous ones; the first one stays a share.
    const AngleFalloff both[] = {{1, {{0, 1}}, {0.5f, 0.5f}}, {0, {{0, 0}}, {0.5f, 0}}};
    const FalloffMap m = falloff_at(both, s, {});
    EXPECT_FLOAT_EQ(m.share_of_vertex[0], 0.75f);
    EXPECT_FLOAT_EQ(m.of_vertex[0], 1.0f / 3);
    EXPECT_EQ(m.of_vertex[1], 1);
    EXPECT_EQ(m.share_of_vertex[1], 0.5f);
}

struct Bent {
    Strip strip{20};
    Skeleton skeleton;
    Binding binding;
    explicit Bent(Method method = Method::closest_distance) : binding(make(method)) {}
    Binding make(Method method) {
        for (int j = 0; j < 3; ++j) {
            Joint joint;
            joint.name = std::to_string(j);
            joint.parent = j - 1;
            joint.position = {-0.9f + 0.9f * static_cast<float>(j), 0.05f, 0};
            skeleton.joints.push_back(joint);
        }
        return test::bound(strip.view(), skeleton, preset(method));
    }
    SkinWeights weights(const Adjustments& a) const {
        return test::must(adjusted_weights(binding, strip.view(), skeleton, binding.options().falloff,
                                           binding.options().finish, a));
    }
    SkinWeights weights(float alpha) const {
        FalloffOptions o = binding.options().falloff;
        o.alpha = alpha;
        return test::must(binding.weights(o, binding.options().finish));
    }
};

void expect_row(const SkinWeights& a, const SkinWeights& b, std::size_t v, float within = 0) {
    for (std::uint32_t j = 0; j < 3; ++j) EXPECT_NEAR(weight_of(a, v, j), weight_of(b, v, j), within) << v;
}

TEST(AdjustedWeights, PartialSharesBlendWithTheOtherFalloff) {
    const Bent bent;
    const SkinWeights plain = bent.weights(0.1f), part = bent.weights(0.3f), all = bent.weights(0.9f);
    Adjustments a;
    const std::size_t n = bent.strip.positions.size();
    a.angles = {{1, {{0, 0.9f}}, std::vector<float>(n, 0)}};
    for (std::size_t v = 0; v < n; ++v) a.angles[0].selection[v] = v < 14 ? 1 : v < 28 ? 0.25f : 0;
    ASSERT_TRUE(complete_edits(a, bent.strip.view(), bent.skeleton, nullptr));
    const SkinWeights w = bent.weights(a);
    for (std::size_t v = 0; v < n; ++v)
        expect_row(w, v < 14 ? all : v < 28 ? part : plain, v, v < 14 || v >= 28 ? 0 : 1e-5f);
    EXPECT_NE(plain, all);
    a.angles[0].selection.pop_back();
    a.falloff = {};
    ASSERT_TRUE(complete_edits(a, bent.strip.view(), bent.skeleton, nullptr));
    EXPECT_FALSE(adjusted_weights(bent.binding, bent.strip.view(), bent.skeleton, {}, {}, a));
}

TEST(AdjustedWeights, CoincidentVerticesShareAFalloff) {
    Bent bent;
    Strip& strip = bent.strip;
    // The strip cut in its middle: two vertices there, one of them selected.
    const std::size_t n = strip.positions.size();
    for (const std::size_t v : {n / 2 - 1, n / 2}) strip.positions.push_back(strip.positions[v]);
    for (std::size_t t = strip.triangles.size() / 2; t < strip.triangles.size(); ++t)
        for (std::uint32_t& v : strip.triangles[t]) {
            if (v == n / 2 - 1) v = static_cast<std::uint32_t>(n);
            if (v == n / 2) v = static_cast<std::uint32_t>(n + 1);
        }
    bent.binding = test::bound(strip.view(), bent.skeleton, preset(Method::closest_distance));
    for (const bool first : {true, false}) {
        Adjustments a;
        a.falloff.of_vertex.assign(strip.positions.size(), NAN);
        a.falloff.of_vertex[first ? n / 2 : n + 1] = 0.9f;
        const SkinWeights w = bent.weights(a);
        EXPECT_TRUE(std::ranges::equal(w[n / 2], w[n + 1]));
        expect_row(w, bent.weights(0.9f), n / 2);
        expect_row(w, bent.weights(0.1f), n / 2 + 1);
    }
}

TEST(AdjustedWeights, HardnessOfAnEditOverridesTheBinding) {
    for (const Method method : {Method::closest_distance, Method::mesh_geodesic}) {
        Bent bent(method);
        for (const bool by_map : {true, false}) {
            Skeleton hard = bent.skeleton;
            for (Joint& j : hard.joints) j.hardness = 0.9f;
            BindOptions options = preset(method);
            const bool alpha = method == Method::closest_distance;
            if (by_map && alpha) options.falloff.map.of_joint.assign(3, 0.9f);
            const Bent plain(method);
            bent.binding = test::bound(bent.strip.view(), by_map ? bent.skeleton : hard, options);
            Adjustments a;
            a.falloff.hardness_of_joint.assign(3, 0.4f);
            const SkinWeights w = bent.weights(a), expected = plain.weights(0.4f);
            for (std::size_t v = 0; v < w.vertex_count(); ++v) expect_row(w, expected, v, 1e-6f);
        }
    }
}

TEST(AdjustedWeights, RigidRegionsAreDrivenByTheirJointsOnly) {
    const Strip strip(20);
    Skeleton s;
    for (int j = 0; j < 3; ++j) {
        Joint joint;
        joint.name = std::to_string(j);
        joint.parent = j - 1;
        joint.position = {-0.9f + 0.9f * static_cast<float>(j), 0.05f, 0};
        s.joints.push_back(joint);
    }
    BindOptions options = preset(Method::closest_distance);
    auto binding = bind(strip.view(), s, options);
    ASSERT_TRUE(binding.ok()) << binding.error().message;
    Adjustments a;
    RigidRegion region;
    for (const Vec3& p : strip.positions) region.vertices.push_back(p.x < -0.5f);
    region.joints = {2};
    a.rigid.push_back(region);
    const auto w = adjusted_weights(*binding, strip.view(), s, options.falloff, options.finish, a);
    const auto plain = binding->weights();
    ASSERT_TRUE(w.ok() && plain.ok());
    for (std::size_t v = 0; v < strip.positions.size(); ++v) {
        if (region.vertices[v]) {
            EXPECT_EQ((*w)[v].size(), 1u);
            EXPECT_EQ(weight_of(*w, v, 2), 1);
        } else {
            EXPECT_EQ(weight_of(*w, v, 2), weight_of(*plain, v, 2));
        }
    }
    // Two drivers share by their distances.
    a.rigid[0].joints = {1, 2};
    const auto shared = adjusted_weights(*binding, strip.view(), s, options.falloff, options.finish, a);
    EXPECT_EQ(weight_of(*shared, 0, 0), 0);
    EXPECT_GT(weight_of(*shared, 0, 1), weight_of(*shared, 0, 2));
    a.rigid[0].joints = {7};
    EXPECT_FALSE(adjusted_weights(*binding, strip.view(), s, options.falloff, options.finish, a).ok());
    a.rigid.clear();
    const auto none = adjusted_weights(*binding, strip.view(), s, options.falloff, options.finish, a);
    EXPECT_EQ(*none, *plain);
}

TEST(AdjustedWeights, ARegionWhoseJointsAreNotAllKeptIsNoSilentLoss) {
    const Strip strip(40);
    Skeleton s;
    for (int j = 0; j < 12; ++j) {
        Joint joint;
        joint.name = "joint" + std::to_string(j);
        joint.parent = j - 1;
        joint.position = {-1 + 0.17f * static_cast<float>(j), 0.05f, 0};
        s.joints.push_back(joint);
    }
    BindOptions options = preset(Method::closest_distance);
    options.falloff.lambda_min = 1;
    options.falloff.alpha = 0;
    const auto bound_with = [&](int most) {
        options.finish.max_influences = most;
        return test::bound(strip.view(), s, options);
    };
    const Binding eight = bound_with(4), all = bound_with(all_influences);
    options.finish.max_influences = 4;
    Adjustments a;
    RigidRegion region{std::vector<bool>(strip.positions.size(), false), {0, 11}};
    for (std::size_t v = 0; v < strip.positions.size(); ++v) region.vertices[v] = strip.positions[v].x < -0.8f;
    const auto vertices = std::count(region.vertices.begin(), region.vertices.end(), true);
    a.rigid = {region};
    const auto weigh = [&](const Binding& binding, EditReport& report) {
        return test::must(adjusted_weights(binding, strip.view(), s, options.falloff, options.finish, a, &report));
    };
    EditReport lost, whole, one;
    const SkinWeights without = weigh(eight, lost), with = weigh(all, whole);
    EXPECT_EQ(weight_of(without, 0, 11), 0);
    EXPECT_GT(weight_of(with, 0, 11), 0.01f);
    ASSERT_EQ(lost.warnings.size(), 1u);
    EXPECT_EQ(lost.warnings[0].find("rigid 1: at " + std::to_string(vertices) + " of " + std::to_string(vertices) +
                                    " vertices"),
              0u)
        << lost.warnings[0];
    EXPECT_NE(lost.warnings[0].find("'joint11'"), std::string::npos);
    EXPECT_TRUE(whole.warnings.empty());
    // Nothing is lost where one joint has all weight, or where the limit reads no more joints than are kept.
    a.rigid[0].joints = {11};
    weigh(eight, one);
    a.rigid[0].joints = {0, 1, 2, 3, 4, 11};
    weigh(eight, one);
    EXPECT_TRUE(one.warnings.empty());
}

TEST(AdjustedWeights, CoincidentVerticesAreFoundOnce) {
    const Bent bent;
    Adjustments a;
    a.rigid = {{std::vector<bool>(bent.strip.positions.size(), false), {1}}};
    a.rigid[0].vertices.back() = true;
    const SkinWeights first = bent.weights(a);
    // Were they found again, all would be at one place, and so in the region.
    const std::vector<Vec3> one_place(bent.strip.positions.size());
    const Binding copy = bent.binding;
    EXPECT_EQ(first, test::must(adjusted_weights(copy, {one_place, bent.strip.triangles, {}}, bent.skeleton,
                                                 copy.options().falloff, copy.options().finish, a)));
}

}  // namespace
}  // namespace sinew::test_edits
