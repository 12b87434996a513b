// Binding another mesh in the volume of an earlier binding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "domain/leaf_index.h"
#include "sinew/bind.h"
#include "sinew/voxels.h"
#include "unit/support.h"

namespace sinew::test_rebind {
namespace {

using test::Character;
using test::keeping;

Binding bound(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
              Context* context = nullptr) {
    Result<Binding> b = bind(mesh, skeleton, options, context);
    EXPECT_TRUE(b) << (b ? "" : b.error().message);
    return b ? std::move(*b) : Binding{};
}

Binding again(const Binding& from, const MeshView& mesh, const Skeleton& skeleton, Context* context = nullptr) {
    Result<Binding> b = from.rebind(mesh, skeleton, context);
    EXPECT_TRUE(b) << (b ? "" : b.error().message);
    return b ? std::move(*b) : Binding{};
}

std::string refusal(const Binding& from, const MeshView& mesh, const Skeleton& skeleton) {
    Result<Binding> b = from.rebind(mesh, skeleton);
    return b ? "accepted" : b.error().message;
}

std::size_t count(const Binding& b, Coverage how) { return b.report().coverage[static_cast<std::size_t>(how)]; }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The mesh with its last vertex repeated: another mesh, but all rows must stay the same.
Character with_one_more(const Character& c) {
    Character more = c;
    more.positions.push_back(c.positions.back());
    return more;
}

/// The mesh without the triangles selected by `lost` and the vertices that only these used.
Character damaged(const Character& c, const std::function<bool(std::size_t)>& lost) {
    Character out = c;
    out.positions.clear();
    out.triangles.clear();
    std::vector<std::uint32_t> number(c.positions.size(), ~0u);
    for (std::size_t t = 0; t < c.triangles.size(); ++t) {
        if (lost(t)) continue;
        Triangle triangle = c.triangles[t];
        for (std::uint32_t& v : triangle) {
            if (number[v] == ~0u) {
                number[v] = static_cast<std::uint32_t>(out.positions.size());
                out.positions.push_back(c.positions[v]);
            }
            v = number[v];
        }
        out.triangles.push_back(triangle);
    }
    return out;
}

Character moved(Character c, float scale, const Vec3& by) {
    for (Vec3& p : c.positions) p = {p.x * scale + by.x, p.y * scale + by.y, p.z * scale + by.z};
    return c;
}

double mean_l1(const SkinWeights& a, const SkinWeights& b) {
    double sum = 0;
    for (std::size_t v = 0; v < a.vertex_count(); ++v)
        for (int side = 0; side < 2; ++side)
            for (const Influence& i : side ? b[v] : a[v]) {
                double mine = 0;
                for (const Influence& k : side ? a[v] : b[v])
                    if (k.joint == i.joint) mine = k.weight;
                if (side == 0 || mine == 0) sum += std::abs(i.weight - mine);
            }
    return sum / static_cast<double>(a.vertex_count());
}

TEST(Rebind, TheSameVerticesGetTheSameBits) {
    for (const int influences : {4, 8, all_influences}) {
        Character c = influences == 4 ? test::caped() : test::biped({.cell = 0.06});
        const test::Shape drone = test::sphere({1.2, 1.5, 0.8}, 0.05, 2);  // bridged
        test::append(c, drone.positions, drone.triangles, 0);
        const Character more = with_one_more(c);
        const Binding fresh = bound(c.mesh(), c.skeleton, keeping(64, influences));
        const Binding b = again(fresh, more.mesh(), more.skeleton);
        EXPECT_EQ(b.report().reused, Reuse::volume);
        const std::size_t slots = c.positions.size() * fresh.distances().width;
        ASSERT_EQ(b.distances().width, fresh.distances().width);
        ASSERT_EQ(b.distances().unit, fresh.distances().unit);
        EXPECT_TRUE(std::equal(fresh.distances().joint.begin(), fresh.distances().joint.end(),
                               b.distances().joint.begin()));
        EXPECT_TRUE(std::equal(fresh.distances().distance.begin(), fresh.distances().distance.end(),
                               b.distances().distance.begin()))
            << influences;
        EXPECT_TRUE(std::equal(fresh.coverage().begin(), fresh.coverage().end(), b.coverage().begin()));
        ASSERT_GT(slots, 0u);
        EXPECT_GE(count(b, Coverage::bridged), drone.positions.size());
        EXPECT_EQ(count(b, Coverage::outside), 0u);
        EXPECT_EQ(b.report().vertices(), more.positions.size());
    }
}

TEST(Rebind, StrengthsHaveTheSameBits) {
    Character c = test::bar();
    const test::Shape drone = test::sphere({0.7, 0.4, 0}, 0.05, 2);  // bridged
    test::append(c, drone.positions, drone.triangles, 0);
    const Character more = with_one_more(c);
    for (const Method method : {Method::voxel_heat, Method::bounded_biharmonic}) {
        BindOptions options = preset(method);
        options.voxels.resolution = 32;
        const Binding without = bound(c.mesh(), c.skeleton, options);
        options.keep_volume = true;
        const Binding fresh = bound(c.mesh(), c.skeleton, options);
        EXPECT_EQ(fresh.influences().strength, without.influences().strength);
        const Binding b = again(fresh, more.mesh(), more.skeleton);
        EXPECT_EQ(b.report().reused, Reuse::volume);
        ASSERT_GT(fresh.influences().strength.size(), 0u);
        EXPECT_TRUE(std::equal(fresh.influences().joint.begin(), fresh.influences().joint.end(),
                               b.influences().joint.begin()));
        EXPECT_TRUE(std::equal(fresh.influences().strength.begin(), fresh.influences().strength.end(),
                               b.influences().strength.begin()));
        EXPECT_TRUE(std::equal(fresh.coverage().begin(), fresh.coverage().end(), b.coverage().begin()));
        EXPECT_GE(count(b, Coverage::bridged), drone.positions.size());
        const auto back = Binding::from_bytes(fresh.to_bytes());
        ASSERT_TRUE(back) << back.error().message;
        const auto other = back->rebind(more.mesh(), more.skeleton);
        ASSERT_TRUE(other);
        EXPECT_EQ(other->to_bytes(), b.to_bytes());
    }
}

// Heat spreads over the surface of the other mesh; the kept volume binds hidden parts.
TEST(Rebind, SurfaceHeatTakesAnotherMesh) {
    const Character c = test::l_corner();
    BindOptions options;  // the defaults
    options.voxels.resolution = 64;
    const Binding without = bound(c.mesh(), c.skeleton, options);
    options.keep_volume = true;
    const Binding fresh = bound(c.mesh(), c.skeleton, options);
    EXPECT_EQ(fresh.influences().strength, without.influences().strength);
    EXPECT_FALSE(without.keeps_volume());
    ASSERT_TRUE(fresh.keeps_volume());
    // Without half of the triangles the rest keeps its weights, since the bones are directly below.
    const Character half = damaged(c, [](std::size_t t) { return t % 2 == 1; });
    const Binding b = again(fresh, half.mesh(), half.skeleton);
    EXPECT_EQ(b.report().reused, Reuse::volume);
    EXPECT_EQ(b.report().covered(), 1);
    const SkinWeights whole = *fresh.weights(), part = *b.weights();
    double apart = 0;
    std::size_t same = 0;
    for (std::size_t v = 0; v < half.positions.size(); ++v)
        for (std::size_t u = 0; u < c.positions.size(); ++u)
            if (half.positions[v] == c.positions[u]) {
                for (std::uint32_t j = 0; j < c.skeleton.joints.size(); ++j)
                    apart += std::abs(test::weight_of(part, v, j) - test::weight_of(whole, u, j));
                ++same;
                break;
            }
    EXPECT_EQ(same, half.positions.size());
    EXPECT_LT(apart / static_cast<double>(same), 0.25);
    const auto back = Binding::from_bytes(fresh.to_bytes());
    ASSERT_TRUE(back) << back.error().message;
    const auto other = back->rebind(half.mesh(), half.skeleton);
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(other->to_bytes(), b.to_bytes());
}

TEST(Rebind, KeepingTheVolumeChangesNothing) {
    const Character c = test::l_corner();
    for (const int influences : {4, all_influences}) {
        BindOptions options = keeping(64, influences);
        const Binding with = bound(c.mesh(), c.skeleton, options);
        options.keep_volume = false;
        const Binding without = bound(c.mesh(), c.skeleton, options);
        EXPECT_TRUE(with.keeps_volume());
        EXPECT_FALSE(without.keeps_volume());
        EXPECT_EQ(with.distances().joint, without.distances().joint);
        EXPECT_EQ(with.distances().distance, without.distances().distance);
        EXPECT_EQ(with.coverage(), without.coverage());
        EXPECT_EQ(with.report().bridged_components, without.report().bridged_components);
    }
}

TEST(Rebind, TheBoundMeshReusesItsTableWithoutAVolume) {
    const Character c = test::l_corner();
    BindOptions options = keeping(64);
    options.keep_volume = false;
    const Binding fresh = bound(c.mesh(), c.skeleton, options);
    const Binding b = again(fresh, c.mesh(), c.skeleton);
    EXPECT_EQ(b.report().reused, Reuse::table);
    EXPECT_EQ(b.distances().distance, fresh.distances().distance);
    EXPECT_EQ(b.report().vertices(), c.positions.size());
    // A mesh that differs in one bit of a coordinate is another mesh.
    Character other = c;
    other.positions[7].y = std::nextafter(other.positions[7].y, 10.0f);
    EXPECT_FALSE(fresh.is_of(other.mesh(), other.skeleton));
    EXPECT_TRUE(contains(refusal(fresh, other.mesh(), other.skeleton), "keeps no volume (geodesic-voxel)"));
    options.keep_volume = true;
    options.method = Method::connectivity;
    const Binding open = bound(c.mesh(), c.skeleton, options);
    EXPECT_FALSE(open.keeps_volume());
    EXPECT_TRUE(contains(refusal(open, other.mesh(), other.skeleton), "keeps no volume (connectivity)"));
}

TEST(Rebind, ADamagedMeshGetsTheWeightsOfTheWhole) {
    const Character c = test::biped({.cell = 0.03});
    const Character part = damaged(c, [](std::size_t t) { return t % 3 == 0 || t % 50 < 20; });
    ASSERT_LT(part.triangles.size(), c.triangles.size() * 2 / 3);
    const Binding whole = bound(c.mesh(), c.skeleton, keeping(128));
    const Binding b = again(whole, part.mesh(), part.skeleton);
    EXPECT_EQ(b.report().covered(), 1);
    EXPECT_GT(b.report().defects.boundary_edges, 0u);
    // The remaining vertices have the weights of the whole mesh.
    const auto weights = b.weights(), before = whole.weights();
    ASSERT_TRUE(weights && before);
    std::size_t same = 0;
    for (std::size_t v = 0; v < part.positions.size(); ++v) {
        const auto at = std::find(c.positions.begin(), c.positions.end(), part.positions[v]) - c.positions.begin();
        same += std::ranges::equal((*weights)[v], (*before)[static_cast<std::size_t>(at)]);
    }
    EXPECT_EQ(same, part.positions.size());
}

TEST(Rebind, ALevelOfDetailIsCloseToAFreshBind) {
    // The same surface with other vertices: each corner moves by a tenth towards the middle of its triangle.
    const Character c = test::biped({.cell = 0.03});
    Character lod = c;
    lod.positions.clear();
    for (std::size_t t = 0; t < c.triangles.size(); ++t) {
        const Triangle& from = c.triangles[t];
        for (std::uint32_t k = 0; k < 3; ++k) {
            const Vec3 &p = c.positions[from[k]], &q = c.positions[from[(k + 1) % 3]],
                       &r = c.positions[from[(k + 2) % 3]];
            lod.positions.push_back({0.9f * p.x + 0.05f * (q.x + r.x), 0.9f * p.y + 0.05f * (q.y + r.y),
                                     0.9f * p.z + 0.05f * (q.z + r.z)});
            lod.triangles[t][k] = static_cast<std::uint32_t>(3 * t + k);
        }
    }
    const Binding b = again(bound(c.mesh(), c.skeleton, keeping(128)), lod.mesh(), lod.skeleton);
    EXPECT_EQ(b.report().covered(), 1);
    EXPECT_LT(count(b, Coverage::outside), lod.positions.size() / 100);
    const auto weights = b.weights(), fresh = bound(lod.mesh(), lod.skeleton, keeping(128)).weights();
    ASSERT_TRUE(weights && fresh);
    EXPECT_LT(mean_l1(*weights, *fresh), 0.05);
}

TEST(Rebind, VerticesOutsideTakeTheNearestVoxelAndAreCounted) {
    const Character c = test::bar();
    const Binding whole = bound(c.mesh(), c.skeleton, keeping(64));
    Character with_ring = c;
    const test::Shape ring = test::sphere({0.8, 0.4, 0}, 0.02, 1);
    test::append(with_ring, ring.positions, ring.triangles, c.joint("bar_b"));
    with_ring.positions.push_back({5, 5, 5});  // unused, so it does not count
    const Binding b = again(whole, with_ring.mesh(), with_ring.skeleton);
    EXPECT_EQ(count(b, Coverage::outside), ring.positions.size());
    EXPECT_EQ(count(b, Coverage::unused), 1u);
    EXPECT_EQ(b.report().covered(), 1);
    ASSERT_EQ(b.report().warnings.size(), 1u);
    EXPECT_TRUE(contains(b.report().warnings[0], "outside the volume")) << b.report().warnings[0];
    // The bar ends at 0.1 from its axis; the sphere's top is 0.42 from it.
    EXPECT_NEAR(b.report().farthest_outside, 0.32, 0.05);
    const auto w = b.weights();
    ASSERT_TRUE(w);
    for (std::size_t v = c.positions.size(); v + 1 < with_ring.positions.size(); ++v) {
        EXPECT_EQ(b.coverage()[v], Coverage::outside);
        EXPECT_EQ((*w)[v][0].joint, c.joint("bar_b"));
        EXPECT_GT((*w)[v][0].weight, 0.99f);  // like the surface below it
    }
}

TEST(Rebind, ACoatAroundTheBodyFollowsIt) {
    // All vertices are outside, by a small distance.
    const Character c = test::biped({.cell = 0.03});
    const Binding body = bound(c.mesh(), c.skeleton, keeping(128));
    Character coat = c;
    std::vector<Vec3> normal(c.positions.size());
    for (const Triangle& t : c.triangles) {
        const Vec3 &p = c.positions[t[0]], &q = c.positions[t[1]], &r = c.positions[t[2]];
        const Vec3 a{q.x - p.x, q.y - p.y, q.z - p.z}, b{r.x - p.x, r.y - p.y, r.z - p.z};
        for (const std::uint32_t v : t)
            normal[v] = {normal[v].x + a.y * b.z - a.z * b.y, normal[v].y + a.z * b.x - a.x * b.z,
                         normal[v].z + a.x * b.y - a.y * b.x};
    }
    for (std::size_t v = 0; v < normal.size(); ++v) {
        const float length = std::hypot(normal[v].x, normal[v].y, normal[v].z), by = 0.02f;
        coat.positions[v].x += by * normal[v].x / length;
        coat.positions[v].y += by * normal[v].y / length;
        coat.positions[v].z += by * normal[v].z / length;
    }
    const Binding b = again(body, coat.mesh(), coat.skeleton);
    EXPECT_GT(count(b, Coverage::outside), c.positions.size() / 2);
    const auto over = b.weights(), under = body.weights();
    ASSERT_TRUE(over && under);
    std::size_t agree = 0;
    for (std::size_t v = 0; v < normal.size(); ++v) agree += (*over)[v][0].joint == (*under)[v][0].joint;
    EXPECT_GT(static_cast<double>(agree) / static_cast<double>(normal.size()), 0.85);  // gloves and fingers differ
}

TEST(Rebind, AMeshInAnotherSpaceIsRefused) {
    const Character c = test::biped({.cell = 0.04});
    const Binding b = bound(c.mesh(), c.skeleton, keeping(64));
    const std::pair<float, Vec3> spaces[] = {{100, {}}, {0.01f, {}}, {1, {0, 3, 0}}, {1, {-2, 0, 0}}};
    for (const auto& [scale, by] : spaces) {
        const Character other = moved(c, scale, by);
        const std::string why = refusal(b, other.mesh(), other.skeleton);
        EXPECT_TRUE(contains(why, "another space") && contains(why, " % of the vertices lie outside"))
            << scale << ": " << why;
    }
    const Character near = moved(c, 1.02f, {0.01f, 0, 0});
    EXPECT_EQ(refusal(b, near.mesh(), near.skeleton), "accepted");
}

TEST(Rebind, AnotherSkeletonIsRefusedByNameOfTheJoint) {
    const Character c = test::bar(), more = with_one_more(c);
    const Binding b = bound(c.mesh(), c.skeleton, keeping(64));
    const auto with = [&](auto&& edit) {
        Skeleton other = c.skeleton;
        edit(other);
        return refusal(b, more.mesh(), other);
    };
    EXPECT_TRUE(contains(with([](Skeleton& s) { s.joints[1].name = "wing"; }), "'wing' is 'bar_b' in the binding"));
    EXPECT_TRUE(contains(with([](Skeleton& s) { s.joints[1].parent = -1; }), "'bar_b' has the parent 'bar_a'"));
    EXPECT_TRUE(contains(with([](Skeleton& s) { s.joints[1].position.y += 0.5f; }), "'bar_b' lies 0.5"));
    EXPECT_TRUE(contains(with([](Skeleton& s) { s.joints.push_back({"c", 1, {1, 0, 0}, {}}); }), "has 3 joints"));
    EXPECT_EQ(with([](Skeleton& s) { s.joints[1].position.y += 1e-4f; }), "accepted");
    // The binding determines which joints deform.
    EXPECT_EQ(with([](Skeleton& s) { s.joints[1].deform = false; }), "accepted");
    Character broken = more;
    broken.positions[0].x = NAN;
    EXPECT_TRUE(contains(refusal(b, broken.mesh(), broken.skeleton), "vertex 0"));
}

TEST(Rebind, KeepsSkinsAndTheirSeams) {
    Character c = test::bar();
    Joint third = c.skeleton.joints[1];
    third.name = "bar_c";
    third.parent = 1;
    third.position.x += 0.4f;
    c.skeleton.joints.push_back(third);
    c.skeleton.skins = {{0, 1}, {1, 2}, {0, 1, 2}};
    // The mesh uses only the first skin; the others are kept for other meshes.
    const std::vector<std::uint32_t> first(c.positions.size(), 0);
    const Binding b = bound({c.positions, c.triangles, first}, c.skeleton, keeping(64));
    std::vector<std::uint32_t> skin(c.positions.size());
    for (std::size_t v = 0; v < skin.size(); ++v)
        skin[v] = c.positions[v].x < 0 ? 0 : c.positions[v].x < 0.5f ? 1 : 2;
    const Binding fresh = bound({c.positions, c.triangles, skin}, c.skeleton, keeping(64));
    const Binding reused = again(b, {c.positions, c.triangles, skin}, c.skeleton);
    EXPECT_EQ(reused.distances().joint, fresh.distances().joint);
    EXPECT_EQ(reused.distances().distance, fresh.distances().distance);
    // The other mesh may have other skins, if their joints are those of one of the binding's skins.
    Skeleton other = c.skeleton;
    other.skins = {{2, 0}};
    const Binding filtered = again(b, {c.positions, c.triangles, first}, other);
    const auto w = filtered.weights();
    ASSERT_TRUE(w);
    for (std::size_t v = 0; v < skin.size(); ++v)
        for (const Influence& i : (*w)[v]) EXPECT_NE(i.joint, 1u);
    // But joints of one skin must have been in one skin of the binding.
    c.skeleton.skins = {{0, 1}, {1, 2}};
    const Binding narrow = bound({c.positions, c.triangles, first}, c.skeleton, keeping(64));
    EXPECT_TRUE(contains(refusal(narrow, {c.positions, c.triangles, first}, other), "'bar_a', 'bar_c'"));
}

TEST(Rebind, HardnessComesFromTheBinding) {
    Character c = test::bar();
    c.skeleton.joints[0].hardness = 0.875f;
    const Binding first = bound(c.mesh(), c.skeleton, keeping(32));
    const Character more = with_one_more(c);
    Skeleton other = c.skeleton;
    other.joints[0].hardness = 0.25f;
    const Binding second = again(first, more.mesh(), other);
    EXPECT_EQ(second.skeleton().joints[0].hardness, 0.875f);
    const SkinWeights a = test::must(first.weights()), b = test::must(second.weights());
    for (std::size_t v = 0; v < a.vertex_count(); ++v) ASSERT_TRUE(std::ranges::equal(a[v], b[v])) << v;
    // The same after joints moved.
    const Vec3 place{0.02f, 0.01f, 0};
    Binding moved = test::must(second.move_joint(more.mesh(), 1, place));
    const Binding afresh = bound(more.mesh(), moved.skeleton(), keeping(32));
    EXPECT_EQ(test::must(moved.weights()), test::must(afresh.weights()));
    EXPECT_EQ(moved.report().warnings, afresh.report().warnings);
}

TEST(Rebind, ThreadsChangeNothing) {
    const Character c = test::l_corner();
    const Binding b = bound(c.mesh(), c.skeleton, keeping(64));
    const Character other = moved(c, 1.05f, {0.02f, 0, 0});
    Context one, three;
    one.threads = 1;
    three.threads = 3;
    const Binding x = again(b, other.mesh(), other.skeleton, &one),
                  y = again(b, other.mesh(), other.skeleton, &three);
    EXPECT_GT(count(x, Coverage::outside), 0u);
    EXPECT_EQ(x.distances().joint, y.distances().joint);
    EXPECT_EQ(x.distances().distance, y.distances().distance);
    EXPECT_EQ(x.coverage(), y.coverage());
}

TEST(Rebind, AMapByVertexStaysWithItsMesh) {
    const Character c = test::bar(), more = with_one_more(c);
    BindOptions options = keeping(64);
    options.falloff.map.of_vertex.assign(c.positions.size(), 0.9f);
    options.falloff.map.of_joint = {0.2f, 0.3f};
    const Binding b = again(bound(c.mesh(), c.skeleton, options), more.mesh(), more.skeleton);
    EXPECT_TRUE(b.options().falloff.map.of_vertex.empty());
    EXPECT_EQ(b.options().falloff.map.of_joint.size(), 2u);
    ASSERT_EQ(b.report().warnings.size(), 1u);
    EXPECT_TRUE(b.weights());
}

TEST(LeafIndex, IsRestoredOrRefused) {
    const test::Shape s = test::torus(1, 0.45, 32, 24);
    const MeshView mesh{s.positions, s.triangles, {}};
    const auto grid = voxelize(mesh, analyse_mesh(mesh), {32, true, true});
    ASSERT_TRUE(grid);
    const auto built = build_domain(*grid, {}, DomainKind::sparse);
    ASSERT_TRUE(built);
    Domain made = *built;
    made.index = nullptr;
    ASSERT_TRUE(index_leaves(made));
    for (int z = -1; z <= 32; ++z)
        for (int y = -1; y <= 32; ++y)
            for (int x = -1; x <= 32; ++x) ASSERT_EQ(made.leaf_at(x, y, z), built->leaf_at(x, y, z));
    const auto spoilt = [&](auto&& edit) {
        Domain domain = *built;
        edit(domain.leaves);
        return !index_leaves(domain);
    };
    EXPECT_TRUE(spoilt([](auto& leaves) { leaves[5] = leaves[4]; }));
    EXPECT_TRUE(spoilt([](auto& leaves) { leaves[5].x = 32; }));
    EXPECT_TRUE(spoilt([](auto& leaves) { leaves[5].level = 3; }));
    EXPECT_TRUE(spoilt([](auto& leaves) { leaves[5].level = 200; }));
    EXPECT_TRUE(spoilt([](auto& leaves) { std::swap(leaves.front(), leaves.back()); }));
}

}  // namespace
}  // namespace sinew::test_rebind
