// Rows renewed after bones moved, compared with rows of a new sweep.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "domain/leaf_graph.h"
#include "domain/leaf_match.h"
#include "field/geodesic.h"
#include "sanitized.h"
#include "sinew/voxels.h"

namespace sinew::test_renew {
namespace {

/// A domain with its distances.
struct Measured {
    std::vector<Bone> bones;
    Domain domain;
    BoneSeeds seeds;
    std::vector<std::uint32_t> joints;
    std::vector<Bridge> bridges;
    LeafDistances field;
};

/// Measures bones in a grid. With `before`, its rows are renewed.
Measured measure(const VoxelGrid& grid, const Skeleton& skeleton, int nearest, const Measured* before = nullptr,
                 Context* context = nullptr) {
    Measured m;
    m.bones = make_bones(skeleton);
    extend_leaf_bones(m.bones, skeleton, grid);
    auto domain = build_domain(grid, m.bones, DomainKind::sparse, context);
    EXPECT_TRUE(domain);
    m.domain = std::move(*domain);
    m.seeds = seed_bones(m.domain, m.bones, skeleton.joints.size());
    std::vector<bool> seeded(m.domain.component_count, false);
    for (std::uint32_t j = 0; j < skeleton.joints.size(); ++j) {
        if (!m.seeds.of_joint[j].empty()) m.joints.push_back(j);
        for (const BoneSeeds::Seed& seed : m.seeds.of_joint[j]) seeded[m.domain.component[seed.leaf]] = true;
    }
    m.bridges = BridgeFinder(m.domain).join(seeded);
    const GeodesicSolver solver(m.domain, {4});
    if (!before) {
        Result<LeafDistances> field = solver.nearest(m.seeds, m.joints, m.bridges, nearest, context);
        EXPECT_TRUE(field);
        m.field = *field;
        return m;
    }
    std::vector<std::uint32_t> moved;
    for (const std::uint32_t j : m.joints) {
        const auto of = [j](const std::vector<Bone>& bones) {
            std::vector<std::array<float, 6>> ends;
            for (const Bone& b : bones)
                if (b.joint == j) ends.push_back({b.head.x, b.head.y, b.head.z, b.tail.x, b.tail.y, b.tail.z});
            return ends;
        };
        if (of(m.bones) != of(before->bones)) moved.push_back(j);
    }
    Result<LeafDistances> field =
        solver.renewed(before->field, match_leaves(before->domain.leaves, m.domain.leaves), m.seeds, m.joints,
                       moved, m.bridges, context);
    EXPECT_TRUE(field);
    m.field = *field;
    return m;
}

void expect_same(const LeafDistances& a, const LeafDistances& b, const std::string& where) {
    ASSERT_EQ(a.leaves, b.leaves);
    for (std::size_t i = 0; i < a.leaves; ++i)
        for (std::size_t k = 0; k < a.width; ++k) {
            ASSERT_EQ(a.joint(i, k), b.joint(i, k)) << where << ", leaf " << i << " slot " << k;
            ASSERT_EQ(a.distance(i, k), b.distance(i, k)) << where << ", leaf " << i << " slot " << k;
        }
}

/// Moves joints of a character one after another, by up to a tenth of its size. Under the sanitizers it does only a
/// third of the moves. With `hollow`, a part of the interior is exterior, without a boundary between.
void move_and_compare(const test::Character& c, int resolution, int nearest, int moves, bool hollow = false) {
    Result<VoxelGrid> grid = voxelize(c.mesh(), analyse_mesh(c.mesh()), {resolution, true, true});
    ASSERT_TRUE(grid);
    if (hollow) {
        BitGrid left(resolution);
        for (int z = 0; z < resolution; ++z)
            for (int y = 0; y < resolution; ++y)
                for (int x = 0; x < resolution; ++x)
                    if (grid->interior.get(x, y, z) && (x / 3 + y / 5 + z / 7) % 3 != 0) left.set(x, y, z);
        ASSERT_LT(left.count(), grid->interior.count());
        grid->interior = std::move(left);
    }
    Skeleton skeleton = c.skeleton;
    Measured now = measure(*grid, skeleton, nearest);
    std::mt19937 random(static_cast<unsigned>(11 * resolution + nearest));
    std::uniform_real_distribution<float> unit(-1, 1);
    for (int move = 0; move < (test::sanitized ? moves / 3 + 1 : moves); ++move) {
        const std::size_t j = random() % skeleton.joints.size();
        const float length = static_cast<float>(grid->transform.unit) * 0.1f * std::pow(10.0f, unit(random) - 1);
        for (float Vec3::*axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
            const float by = length * unit(random);
            skeleton.joints[j].position.*axis += by;
            if (skeleton.joints[j].tail) (*skeleton.joints[j].tail).*axis += by;
        }
        Context context;
        context.threads = 1 + move % 3;
        const VoxelGrid kept = voxels_of(now.domain, &context);  // what a binding has of the voxels
        now = measure(kept, skeleton, nearest, &now, &context);
        const Measured afresh = measure(*grid, skeleton, nearest);
        expect_same(now.field, afresh.field,
                    c.name + ", move " + std::to_string(move) + " of joint " + std::to_string(j));
    }
}

TEST(Renew, MovedJointsGiveTheRowsOfAFreshSweep) {
    move_and_compare(test::quadruped(), 64, 8, 12);
    move_and_compare(test::quadruped(), 64, 3, 12);
    move_and_compare(test::u_tube(), 64, 1, 6);
    move_and_compare(test::biped(), 128, 8, 2);
}

TEST(Renew, RenewsVolumesWithoutAClearBorder) {
    move_and_compare(test::quadruped(), 64, 8, 8, true);
    move_and_compare(test::u_tube(), 64, 1, 4, true);
}

TEST(Renew, RenewsPartsJoinedByBridges) { move_and_compare(test::caped(), 64, 8, 8); }

TEST(Renew, MovesManyJointsAtOnce) {
    const test::Character c = test::quadruped();
    Result<VoxelGrid> grid = voxelize(c.mesh(), analyse_mesh(c.mesh()), {64, true, true});
    ASSERT_TRUE(grid);
    Skeleton other = c.skeleton;
    for (std::size_t j = 0; j < other.joints.size(); j += 2) other.joints[j].position.y += 0.02f;
    const Measured before = measure(*grid, c.skeleton, 8);
    expect_same(measure(*grid, other, 8, &before).field, measure(*grid, other, 8).field, "half of the joints");
    expect_same(measure(*grid, c.skeleton, 8, &before).field, before.field, "none");
}

TEST(Renew, ThreadsChangeNoBit) {
    const test::Character c = test::biped();
    Result<VoxelGrid> grid = voxelize(c.mesh(), analyse_mesh(c.mesh()), {256, true, true});
    ASSERT_TRUE(grid);
    const Measured before = measure(*grid, c.skeleton, 8);
    ASSERT_GE(before.domain.leaves.size(), 32768u) << "fewer leaves are not distributed over threads";
    Skeleton other = c.skeleton;
    other.joints[2].position.y += 0.01f;
    Context context;
    context.threads = 3;
    const Measured three = measure(*grid, other, 8, &before, &context);
    context.threads = 1;
    expect_same(measure(*grid, other, 8, nullptr, &context).field, three.field, "three threads, one afresh");
}

TEST(Renew, LeavesMatchExceptWhereBonesDivideThem) {
    const test::Character c = test::quadruped();
    Result<VoxelGrid> grid = voxelize(c.mesh(), analyse_mesh(c.mesh()), {64, true, true});
    ASSERT_TRUE(grid);
    Skeleton other = c.skeleton;
    other.joints[3].position.x += 0.05f;
    const Domain a = measure(*grid, c.skeleton, 1).domain, b = measure(*grid, other, 1).domain;
    std::size_t common = 0, matched = 0;
    const LeafMatch match = match_leaves(a.leaves, b.leaves);
    std::vector<std::uint32_t> was(b.leaves.size(), no_index);
    for (std::size_t i = 0; i < b.leaves.size(); ++i) {
        const Domain::Leaf& leaf = b.leaves[i];
        const std::uint32_t there = a.leaf_at(leaf.x, leaf.y, leaf.z);
        common += a.leaves[there].level == leaf.level;
    }
    for (const LeafMatch::Run& run : match.runs)
        for (std::uint32_t i = 0; i < run.count; ++i, ++matched) {
            const Domain::Leaf &p = a.leaves[run.before + i], &q = b.leaves[run.now + i];
            ASSERT_TRUE(p.x == q.x && p.y == q.y && p.z == q.z && p.level == q.level);
            was[run.now + i] = run.before + i;
        }
    EXPECT_EQ(matched, common);
    EXPECT_LT(matched, b.leaves.size());
    // Kept labels store places in lists of links: the list of a leaf that touches no new leaf stays.
    const LeafLinks links = list_links(b);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < b.leaves.size(); ++i) {
        if (was[i] == no_index) continue;
        std::vector<std::uint32_t> then, now;
        for (const auto& link : a.graph->others(a.graph->nodes[was[i]])) then.push_back(link.to());
        for (const auto& link : b.graph->others(b.graph->nodes[i])) now.push_back(was[link.to()]);
        bool touches_new = false;
        for (const std::uint32_t j : links.of(i)) touches_new = touches_new || was[j] == no_index;
        if (touches_new) continue;
        ASSERT_EQ(now, then) << "leaf " << i;
        kept += !now.empty();
    }
    EXPECT_GT(kept, 1000u);
}

}  // namespace
}  // namespace sinew::test_renew
