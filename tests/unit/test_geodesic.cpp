#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <random>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "domain/leaf_graph.h"
#include "field/geodesic.h"
#include "field/label_rows.h"
#include "local_grid.h"
#include "sinew/voxels.h"

namespace sinew::test_geodesic {
namespace {

struct Rig {
    Domain domain;
    BoneSeeds seeds;
    std::vector<Bone> bones;
    std::size_t joints;
};

// `local`: boundary voxels of every third slab of blocks stay apart, others become cells of 2³.
Rig rig(const test::Character& c, int resolution, DomainKind kind = DomainKind::sparse, bool local = false) {
    Result<VoxelGrid> grid = voxelize(c.mesh(), analyse_mesh(c.mesh()), {resolution, true, true});
    EXPECT_TRUE(grid);
    if (local) {
        const int blocks = resolution / 8;
        BitGrid fine(blocks);
        for (int z = 0; z < blocks; ++z)
            for (int y = 0; y < blocks; ++y)
                for (int x = 0; x < blocks; ++x)
                    if ((x + y + z) % 3 == 0) fine.set(x, y, z);
        *grid = test::local_grid(*grid, fine);
    }
    std::vector<Bone> bones = make_bones(c.skeleton);
    extend_leaf_bones(bones, c.skeleton, *grid);
    Result<Domain> domain = build_domain(*grid, bones, kind);
    EXPECT_TRUE(domain);
    BoneSeeds seeds = seed_bones(*domain, bones, c.skeleton.joints.size());
    return {std::move(*domain), std::move(seeds), std::move(bones), c.skeleton.joints.size()};
}

std::vector<std::uint32_t> all_joints(const Rig& r) {
    std::vector<std::uint32_t> joints;
    for (std::uint32_t j = 0; j < r.joints; ++j)
        if (!r.seeds.of_joint[j].empty()) joints.push_back(j);
    return joints;
}

// Dijkstra's algorithm for one joint with a heap, over all links, as published. `length` converts voxels to the
// type of the sums.
template <typename Number, typename Length>
std::vector<Number> plain_dijkstra(const Domain& domain, const std::vector<BoneSeeds::Seed>& seeds, double penalty,
                                   Number unreached, Length&& length) {
    const LeafLinks links = list_links(domain);
    std::vector<Number> distance(domain.leaves.size(), unreached);
    using Entry = std::pair<Number, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (const auto& seed : seeds) {
        distance[seed.leaf] = length(seed.distance);
        queue.emplace(distance[seed.leaf], seed.leaf);
    }
    while (!queue.empty()) {
        const auto [d, i] = queue.top();
        queue.pop();
        if (d > distance[i]) continue;
        const auto p = domain.centre(i);
        for (const std::uint32_t j : links.of(i)) {
            const auto q = domain.centre(j);
            const double dx = p[0] - q[0], dy = p[1] - q[1], dz = p[2] - q[2];
            const Number next =
                d + length(std::sqrt(dx * dx + dy * dy + dz * dz) * (domain.leaves[j].boundary ? penalty : 1));
            if (next < distance[j]) {
                distance[j] = next;
                queue.emplace(next, j);
            }
        }
    }
    return distance;
}

std::vector<double> exact_distances(const Domain& domain, const std::vector<BoneSeeds::Seed>& seeds,
                                    double penalty) {
    return plain_dijkstra<double>(domain, seeds, penalty, INFINITY, [](double voxels) { return voxels; });
}

// The same in the integers of the sweep.
std::vector<std::uint32_t> integer_distances(const Domain& domain, const std::vector<BoneSeeds::Seed>& seeds,
                                             float penalty) {
    const auto units = [](double voxels) { return static_cast<std::uint64_t>(std::round(voxels * 16384)); };
    const auto distance = plain_dijkstra<std::uint64_t>(domain, seeds, penalty, LeafDistances::unreached, units);
    return {distance.begin(), distance.end()};
}

TEST(Geodesic, SweepEqualsOneDijkstraPerJoint) {
    for (const test::Character& c : {test::u_tube(), test::quadruped()}) {
        const Rig r = rig(c, 64);
        const auto joints = all_joints(r);
        std::vector<std::vector<double>> plain(r.joints);
        for (const std::uint32_t j : joints) plain[j] = exact_distances(r.domain, r.seeds.of_joint[j], 4);
        const GeodesicSolver solver(r.domain, {4});
        for (const int k : {1, 3, 4, 8, 16}) {
            Result<LeafDistances> swept = solver.nearest(r.seeds, joints, {}, k);
            ASSERT_TRUE(swept);
            ASSERT_EQ(swept->width, std::size_t(k));
            for (std::size_t i = 0; i < r.domain.leaves.size(); ++i) {
                std::vector<double> nearest;
                for (const std::uint32_t j : joints) nearest.push_back(plain[j][i]);
                std::sort(nearest.begin(), nearest.end());
                for (int s = 0; s < k && s < int(joints.size()); ++s) {
                    const double d = swept->distance(i, s) / double(LeafDistances::units_per_voxel);
                    ASSERT_LT(swept->joint(i, s), r.joints)
                        << c.name << " k " << k << " slot " << s << " leaf " << i;
                    // Steps are rounded to 1/16384 voxel; a path has at most a few hundred.
                    ASSERT_NEAR(d, plain[swept->joint(i, s)][i], 0.02);
                    ASSERT_NEAR(d, nearest[s], 0.02);
                }
            }
        }
    }
}

TEST(Geodesic, KNearestEqualsTheFieldsOfSingleJointsToTheLastBit) {
    const Rig r = rig(test::quadruped(), 64);
    const auto joints = all_joints(r);
    const GeodesicSolver solver(r.domain, {4});
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> single(r.domain.leaves.size());
    for (const std::uint32_t j : joints) {
        const std::uint32_t one[] = {j};
        Result<LeafDistances> field = solver.nearest(r.seeds, one, {}, 1);
        ASSERT_TRUE(field);
        for (std::size_t i = 0; i < single.size(); ++i) single[i].emplace_back(field->distance(i), j);
    }
    for (auto& row : single) std::sort(row.begin(), row.end());
    for (const int threads : {1, 2, 3}) {
        Context context;
        context.threads = threads;
        Result<LeafDistances> swept = solver.nearest(r.seeds, joints, {}, 6, &context);
        ASSERT_TRUE(swept);
        for (std::size_t i = 0; i < single.size(); ++i)
            for (int s = 0; s < 6; ++s) {
                ASSERT_EQ(swept->distance(i, s), single[i][s].first);
                ASSERT_EQ(swept->joint(i, s), single[i][s].second);
            }
    }
}

// Two overlapping balls with three joints: leaves of many sizes touch.
test::Character balls() {
    test::Character c;
    c.name = "balls";
    test::Shape s = test::sphere({0, 0, 0}, 1, 3);
    append(s, test::sphere({0.9, 0.4, 0.2}, 0.7, 3));
    c.positions = s.positions;
    c.triangles = s.triangles;
    c.skeleton.joints = {{"a", -1, {-0.6f, 0.1f, 0}, Vec3{-0.2f, 0.3f, 0.1f}},
                         {"b", 0, {0.8f, 0.3f, 0.2f}, Vec3{1.2f, 0.5f, 0.3f}},
                         {"c", 0, {0, -0.7f, 0.3f}, Vec3{0.1f, -0.8f, 0.3f}}};
    return c;
}

// The sweep skips most steps. It must skip none that matters, for any penalty and any ties.
TEST(Geodesic, StepsThatAreLeftOutChangeNoBit) {
    for (const test::Character& c : {test::u_tube(), test::quadruped(), balls()})
        for (const auto& [kind, local] :
             {std::pair{DomainKind::sparse, false}, {DomainKind::sparse, true}, {DomainKind::uniform, false}}) {
            const Rig r = rig(c, kind == DomainKind::sparse ? 64 : 32, kind, local);
            ASSERT_EQ(r.domain.graph->large_boundary, local);
            const auto joints = all_joints(r);
            for (const float penalty : {1.0f, 1.3f, 2.0f, 4.0f, 100.0f}) {
                std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> exact(r.domain.leaves.size());
                for (const std::uint32_t j : joints) {
                    const auto d = integer_distances(r.domain, r.seeds.of_joint[j], penalty);
                    for (std::size_t i = 0; i < exact.size(); ++i) exact[i].emplace_back(d[i], j);
                }
                for (auto& row : exact) std::sort(row.begin(), row.end());
                const GeodesicSolver solver(r.domain, {penalty});
                for (const std::size_t k : {std::size_t{2}, std::size_t{8}}) {
                    Result<LeafDistances> swept = solver.nearest(r.seeds, joints, {}, int(k));
                    ASSERT_TRUE(swept);
                    for (std::size_t i = 0; i < exact.size(); ++i)
                        for (std::size_t s = 0; s < std::min(k, joints.size()); ++s) {
                            ASSERT_EQ(swept->distance(i, s), exact[i][s].first)
                                << c.name << " penalty " << penalty << " leaf " << i;
                            ASSERT_EQ(swept->joint(i, s), exact[i][s].second);
                        }
                }
            }
        }
}

// Large enough to distribute the leaves over threads.
TEST(Geodesic, ThreadsChangeNoBit) {
    const Rig r = rig(balls(), 128);
    ASSERT_GT(r.domain.leaves.size(), 32768u);
    const GeodesicSolver solver(r.domain, {4});
    Context context;
    context.threads = 1;
    const Result<LeafDistances> one = solver.nearest(r.seeds, all_joints(r), {}, 8, &context);
    ASSERT_TRUE(one);
    for (const int threads : {2, 3}) {
        context.threads = threads;
        const Result<LeafDistances> more = solver.nearest(r.seeds, all_joints(r), {}, 8, &context);
        ASSERT_TRUE(more);
        ASSERT_EQ(more->leaves, one->leaves);
        for (std::size_t i = 0; i < one->leaves; ++i)
            for (std::size_t k = 0; k < one->width; ++k) {
                ASSERT_EQ(more->joint(i, k), one->joint(i, k)) << "leaf " << i;
                ASSERT_EQ(more->distance(i, k), one->distance(i, k)) << "leaf " << i;
            }
    }
}

// Compares every kernel with plain maps.
template <int K>
void rows_equal_maps(std::size_t width) {
    std::size_t kernels = 0;
    const RowKernel<K>* kernel = RowKernel<K>::all(kernels);
    for (std::size_t which = 0; which < kernels; ++which) {
        std::mt19937 random(7);
        constexpr std::size_t leaves = 5;
        std::array<LabelRow<K>, leaves> rows;
        for (auto& row : rows) std::fill_n(row.label, K, kNoLabel);
        std::array<std::vector<std::array<std::uint32_t, 3>>, leaves> expected;  // distance, joint, way; sorted
        for (int round = 0; round < 400; ++round) {
            std::vector<Offer> offers, taken;
            for (int i = 0; i < 23; ++i) {
                // Few different joints and distances, so that ties are frequent.
                const auto leaf = static_cast<std::uint32_t>(random() % leaves);
                const auto joint = static_cast<std::uint16_t>(random() % 24), way = joint;
                const auto d = static_cast<std::uint32_t>(1000 + random() % (2000 / (1 + round / 8)));
                offers.push_back({make_label(d, joint, static_cast<std::uint8_t>(way + random() % 3)), leaf});
                auto& row = expected[leaf];
                const std::uint32_t by = static_cast<std::uint32_t>(offers.back().label & kLabelDirectionMask);
                const auto same =
                    std::find_if(row.begin(), row.end(), [&](const auto& r) { return r[1] == joint; });
                if (same != row.end() && (*same)[0] <= d) continue;
                const std::array<std::uint32_t, 3> label{d, joint, by};
                if (same != row.end())
                    row.erase(same);
                else if (row.size() == width &&
                         std::pair(row.back()[0], row.back()[1]) < std::pair(d, std::uint32_t{joint}))
                    continue;
                row.insert(std::upper_bound(row.begin(), row.end(), label), label);
                if (row.size() > width) row.pop_back();
                taken.push_back(offers.back());
            }
            const std::vector<Offer> all = offers;
            const std::size_t count =
                kernel[which].take(rows.data(), width, offers.data(), offers.size(), offers.data());
            ASSERT_EQ(count, taken.size()) << "kernel " << which;
            for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(offers[i].label, taken[i].label);
            std::vector<Offer> there(all.size());
            there.resize(kernel[which].keep_current(rows.data(), all.data(), all.size(), there.data()));
            std::size_t at = 0;
            for (const Offer& o : all) {
                const Label* row = rows[o.leaf].label;
                if (std::find(row, row + K, o.label) == row + K) continue;
                ASSERT_LT(at, there.size());
                ASSERT_EQ(there[at++].label, o.label);
            }
            ASSERT_EQ(at, there.size());
            for (std::size_t leaf = 0; leaf < leaves; ++leaf)
                for (std::size_t k = 0; k < K; ++k) {
                    const auto& row = expected[leaf];
                    ASSERT_EQ(rows[leaf].label[k],
                              k < row.size() ? make_label(row[k][0], static_cast<std::uint16_t>(row[k][1]),
                                                          static_cast<std::uint8_t>(row[k][2]))
                                             : kNoLabel);
                }
        }
    }
}

TEST(Geodesic, RowsKeepTheNearestOnEveryProcessor) {
    rows_equal_maps<1>(1);
    rows_equal_maps<4>(3);
    rows_equal_maps<4>(4);
    rows_equal_maps<8>(8);
    rows_equal_maps<16>(10);
    rows_equal_maps<16>(16);
}

TEST(Geodesic, PropertiesOfADistance) {
    const Rig r = rig(test::u_tube(), 64);
    const GeodesicSolver solver(r.domain, {1});
    const std::uint32_t joint[] = {0};
    Result<LeafDistances> field = solver.nearest(r.seeds, joint, {}, 1);
    ASSERT_TRUE(field);
    const LeafLinks links = list_links(r.domain);
    for (std::uint32_t i = 0; i < r.domain.leaves.size(); ++i) {
        const auto p = r.domain.centre(i);
        const double d = field->distance(i) / double(LeafDistances::units_per_voxel);
        // A distance is at least the straight line to the nearest seed, and Lipschitz continuous along links.
        double straight = INFINITY;
        for (const auto& seed : r.seeds.of_joint[0]) {
            const auto q = r.domain.centre(seed.leaf);
            straight = std::min(straight, double(std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2])));
        }
        EXPECT_GE(d, straight - 0.02);
        for (const std::uint32_t j : links.of(i)) {
            const auto q = r.domain.centre(j);
            const double step = std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
            EXPECT_LE(std::abs(d - field->distance(j) / double(LeafDistances::units_per_voxel)), step + 1e-3);
        }
    }
}

TEST(Geodesic, PathsAsLongAsTheLimitAreNotFollowed) {
    const Rig r = rig(test::u_tube(), 64);
    const GeodesicSolver solver(r.domain, {1});
    const std::uint32_t joint[] = {0}, limit = 10 * std::uint32_t(LeafDistances::units_per_voxel);
    const Result<LeafDistances> all = solver.nearest(r.seeds, joint, {}, 1),
                                near = solver.nearest(r.seeds, joint, {}, 1, nullptr, limit);
    ASSERT_TRUE(all && near);
    std::size_t beyond = 0;
    for (std::uint32_t i = 0; i < r.domain.leaves.size(); ++i) {
        const bool reached = all->distance(i) < limit;
        beyond += !reached;
        EXPECT_EQ(near->distance(i), reached ? all->distance(i) : LeafDistances::unreached);
    }
    EXPECT_GT(beyond, 100u);
}

TEST(Geodesic, DistanceInAUTubeGoesAroundTheBend) {
    const test::Character c = test::u_tube();
    const Rig r = rig(c, 128);
    const std::uint32_t right[] = {c.joint("right")};
    const GeodesicSolver solver(r.domain, {1});
    Result<LeafDistances> field = solver.nearest(r.seeds, right, {}, 1);
    ASSERT_TRUE(field);
    // The top of the left leg is 0.3 from the right one through the air, but a whole U away through the tube.
    const auto top = *std::max_element(c.positions.begin(), c.positions.end(), [&](const Vec3& a, const Vec3& b) {
        const float left = c.skeleton.joints[c.joint("left")].position.x;
        return a.y - 10 * std::abs(a.x - left) < b.y - 10 * std::abs(b.x - left);
    });
    const GridTransform& g = r.domain.transform;
    const std::uint32_t leaf =
        r.domain.leaf_at(int((top.x - g.origin[0]) / g.voxel), int((top.y - g.origin[1]) / g.voxel),
                         int((top.z - g.origin[2]) / g.voxel));
    ASSERT_NE(leaf, no_index);
    const double d = field->distance(leaf) / double(LeafDistances::units_per_voxel) * g.voxel;
    const Vec3 left = c.skeleton.joints[c.joint("left")].position,
               start = c.skeleton.joints[c.joint("right")].position;
    const double leg = std::abs(left.y - start.y);
    EXPECT_GT(d, leg);
    EXPECT_GT(d, 0.3 * 1.5);
}

TEST(Geodesic, PenaltyMakesStepsIntoTheBoundaryLonger) {
    const Rig r = rig(test::bar(), 64);
    const std::uint32_t joint[] = {0};
    const GeodesicSolver plain(r.domain, {1}), penalised(r.domain, {4});
    Result<LeafDistances> a = plain.nearest(r.seeds, joint, {}, 1), b = penalised.nearest(r.seeds, joint, {}, 1);
    ASSERT_TRUE(a && b);
    for (std::size_t i = 0; i < r.domain.leaves.size(); ++i) {
        EXPECT_GE(b->distance(i), a->distance(i));
        if (r.domain.leaves[i].boundary && a->distance(i) > 0) {
            EXPECT_GE(b->distance(i), a->distance(i) + 3 * 16384 - 4);
        }
    }
    EXPECT_FALSE(check(GeodesicOptions{0.5f}));
    EXPECT_FALSE(check(GeodesicOptions{NAN}));
    EXPECT_TRUE(check(GeodesicOptions{1}));
}

TEST(Geodesic, AJointFarOutsideStartsFarAway) {
    // Its seed is tens of thousands of buckets away; the buckets between are empty and skipped.
    test::Character c = test::bar();
    c.skeleton.joints.push_back({"far", -1, {900, 0, 0}, Vec3{901, 0, 0}});
    const Rig r = rig(c, 64);
    Result<LeafDistances> field = GeodesicSolver(r.domain, {4}).nearest(r.seeds, all_joints(r), {}, 4);
    ASSERT_TRUE(field);
    const double expected = 899 / r.domain.transform.voxel;
    double least = INFINITY;
    for (std::size_t i = 0; i < r.domain.leaves.size(); ++i) {
        ASSERT_EQ(field->joint(i, 2), 2u);
        least = std::min(least, field->distance(i, 2) / double(LeafDistances::units_per_voxel));
    }
    EXPECT_NEAR(least, expected, 2);
}

TEST(Geodesic, CanBeCancelled) {
    const Rig r = rig(test::bar(), 64);
    Context context;
    context.cancel = true;
    Result<LeafDistances> field = GeodesicSolver(r.domain, {4}).nearest(r.seeds, all_joints(r), {}, 4, &context);
    ASSERT_FALSE(field);
    EXPECT_EQ(field.error().code, ErrorCode::cancelled);
}

TEST(Bridge, JoinsUnseededComponentsToTheNearest) {
    // A row of spheres; only the first has a bone. Each is joined to its neighbour, not to the first.
    test::Character c;
    test::Shape s;
    for (int k = 0; k < 4; ++k) append(s, test::sphere({0.5 * k, 0, 0}, 0.2, 2));
    c.positions = s.positions;
    c.triangles = s.triangles;
    c.skeleton.joints = {{"a", -1, {0, 0, 0}, Vec3{0.1f, 0, 0}}};
    const Rig r = rig(c, 64);
    ASSERT_EQ(r.domain.component_count, 4u);
    std::vector<bool> seeded(4, false);
    seeded[r.domain.component[r.seeds.of_joint[0][0].leaf]] = true;
    const std::vector<Bridge> bridges = BridgeFinder(r.domain).join(seeded);
    ASSERT_FALSE(bridges.empty());
    for (const Bridge& b : bridges) {
        EXPECT_NE(r.domain.component[b.from], r.domain.component[b.to]);
        EXPECT_LT(std::abs(r.domain.centre(b.from)[0] - r.domain.centre(b.to)[0]) * r.domain.transform.voxel, 0.35);
    }
    const std::uint32_t joint[] = {0};
    Result<LeafDistances> field = GeodesicSolver(r.domain, {4}).nearest(r.seeds, joint, bridges, 1);
    ASSERT_TRUE(field);
    for (std::size_t i = 0; i < r.domain.leaves.size(); ++i) EXPECT_EQ(field->joint(i), 0u);
    EXPECT_TRUE(BridgeFinder(r.domain).join(std::vector<bool>(4, true)).empty());
}

TEST(Bridge, NeverJoinsPartsThatHaveBones) {
    test::Character c;
    test::Shape s = test::sphere({0, 0, 0}, 0.2, 2);
    append(s, test::sphere({0.5, 0, 0}, 0.2, 2));
    append(s, test::sphere({0.8, 0, 0}, 0.05, 2));
    c.positions = s.positions;
    c.triangles = s.triangles;
    c.skeleton.joints = {{"a", -1, {0, 0, 0}, Vec3{0.1f, 0, 0}}, {"b", 0, {0.5f, 0, 0}, Vec3{0.6f, 0, 0}}};
    const Rig r = rig(c, 64);
    std::vector<bool> seeded(r.domain.component_count, false);
    for (const auto& list : r.seeds.of_joint)
        for (const auto& seed : list) seeded[r.domain.component[seed.leaf]] = true;
    ASSERT_EQ(r.domain.component_count, 3u);
    const std::uint32_t a = r.domain.component[r.seeds.of_joint[0][0].leaf];
    for (const Bridge& b : BridgeFinder(r.domain).join(seeded)) {
        EXPECT_NE(r.domain.component[b.from], a);
        EXPECT_NE(r.domain.component[b.to], a);
    }
}

}  // namespace
}  // namespace sinew::test_geodesic
