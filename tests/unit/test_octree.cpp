#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "characters/shapes.h"
#include "core/geometry.h"
#include "domain/leaf_graph.h"
#include "domain/leaf_index.h"
#include "domain/leaf_match.h"
#include "domain/trace.h"
#include "field/leaf_sample.h"
#include "local_grid.h"
#include "sanitized.h"
#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew::test_octree {
namespace {

struct Built {
    VoxelGrid grid;
    Domain domain;
};

Built build(const test::Shape& s, int resolution, DomainKind kind, std::vector<Bone> bones = {}) {
    const MeshView mesh{s.positions, s.triangles, {}};
    Result<VoxelGrid> grid = voxelize(mesh, analyse_mesh(mesh), {resolution, true, true});
    EXPECT_TRUE(grid);
    Result<Domain> domain = build_domain(*grid, bones, kind);
    EXPECT_TRUE(domain);
    return {std::move(*grid), std::move(*domain)};
}

TEST(Octree, LeavesTileTheVolumeAndAreFound) {
    for (const DomainKind kind : {DomainKind::sparse, DomainKind::uniform}) {
        const Built b = build(test::sphere({0, 0, 0}, 1, 3), 64, kind);
        std::size_t volume = 0;
        for (std::uint32_t i = 0; i < b.domain.leaves.size(); ++i) {
            const Domain::Leaf& leaf = b.domain.leaves[i];
            const int n = 1 << leaf.level;
            volume += std::size_t(n) * n * n;
            for (int z = 0; z < n; ++z)
                for (int y = 0; y < n; ++y)
                    for (int x = 0; x < n; ++x) ASSERT_EQ(b.domain.leaf_at(leaf.x + x, leaf.y + y, leaf.z + z), i);
            EXPECT_EQ(leaf.boundary, leaf.level == 0 && b.grid.boundary.get(leaf.x, leaf.y, leaf.z));
            EXPECT_LE(leaf.level, kind == DomainKind::uniform ? 0 : 6);
        }
        EXPECT_EQ(volume, b.grid.boundary.count() + b.grid.interior.count());
        EXPECT_EQ(b.domain.component_count, 1u);
        EXPECT_EQ(b.domain.leaf_at(-1, 0, 0), no_index);
        EXPECT_EQ(b.domain.leaf_at(0, 64, 0), no_index);
        EXPECT_EQ(b.domain.leaf_at(0, 0, 0), no_index);
    }
}

// A ball without a boundary: the vote found no border here, as at an opening of the mesh.
VoxelGrid ball_without_boundary(int resolution) {
    VoxelGrid grid;
    grid.transform.resolution = resolution;
    grid.boundary = grid.interior = BitGrid(resolution);
    const int middle = resolution / 2, radius = resolution / 3;
    for (int z = 0; z < resolution; ++z)
        for (int y = 0; y < resolution; ++y)
            for (int x = 0; x < resolution; ++x) {
                const int dx = x - middle, dy = y - middle, dz = z - middle;
                if (dx * dx + dy * dy + dz * dz < radius * radius) grid.interior.set(x, y, z);
            }
    return grid;
}

TEST(Octree, LeavesCoverNoExteriorVoxel) {
    const VoxelGrid grid = ball_without_boundary(64);
    const Domain domain = *build_domain(grid, {}, DomainKind::sparse);
    const VoxelGrid again = voxels_of(domain);
    EXPECT_EQ(again.interior, grid.interior);
    EXPECT_EQ(again.boundary, grid.boundary);
    EXPECT_LT(3 * domain.leaves.size(), grid.interior.count());
}

// Algorithm 2: a cell is not exterior if any of its voxels is not.
TEST(Octree, AsPublishedALeafMayCoverExteriorVoxels) {
    VoxelGrid grid = ball_without_boundary(64);
    EXPECT_EQ(
        build_domain(grid, {}, DomainKind::sparse, nullptr, Neighbours::all, MixedCells::whole)->leaves.size(), 1u);
    grid.boundary.set(32, 32, 60);  // outside of the ball: divides the cells around it
    const Domain domain = *build_domain(grid, {}, DomainKind::sparse, nullptr, Neighbours::all, MixedCells::whole);
    EXPECT_EQ(domain.leaves[domain.leaf_at(0, 0, 0)].level, 5);
    EXPECT_EQ(domain.leaf_at(63, 63, 63), no_index);
}

TEST(Octree, SparseIsMuchSmaller) {
    const test::Shape s = test::sphere({0, 0, 0}, 1, 4);
    const int resolution = test::sanitized ? 64 : 128;
    EXPECT_LT((test::sanitized ? 2 : 5) * build(s, resolution, DomainKind::sparse).domain.leaves.size(),
              build(s, resolution, DomainKind::uniform).domain.leaves.size());
}

// Counts the leaves of a cell that is divided only at boundary voxels.
std::size_t count_leaves(const VoxelGrid& grid, int x, int y, int z, int size) {
    bool solid = false, boundary = false;
    for (int k = z; k < z + size; ++k)
        for (int j = y; j < y + size; ++j)
            for (int i = x; i < x + size; ++i) {
                boundary = boundary || grid.boundary.get(i, j, k);
                solid = solid || grid.solid(i, j, k);
            }
    if (!solid) return 0;
    if (!boundary || size == 1) return 1;
    const int half = size / 2;
    std::size_t count = 0;
    for (int child = 0; child < 8; ++child)
        count +=
            count_leaves(grid, x + half * (child & 1), y + half * (child >> 1 & 1), z + half * (child >> 2), half);
    return count;
}

TEST(Octree, SparseBoundaryEqualsADomainWithoutBones) {
    Bone ball{1, {-0.3f, 0, 0}, {-0.3f, 0, 0}, true, true};
    ball.radius = 0.2f;
    const std::vector<Bone> bones{{0, {0.1f, 0.1f, 0.2f}, {0.6f, 0.2f, 0.1f}, true, true}, ball};
    for (const test::Shape& s : {test::sphere({0, 0, 0}, 1, 3), test::box({0, 0, 0}, {1, 0.5, 0.7})}) {
        const Built with = build(s, 64, DomainKind::sparse, bones), without = build(s, 64, DomainKind::sparse),
                    boundary = build(s, 64, DomainKind::sparse_boundary, bones);
        EXPECT_EQ(boundary.domain.leaves.size(), count_leaves(boundary.grid, 0, 0, 0, 64));
        EXPECT_LT(boundary.domain.leaves.size(), with.domain.leaves.size());
        const auto words = [](const Domain& d) {
            std::vector<std::array<int, 5>> out;
            for (const Domain::Leaf& l : d.leaves) out.push_back({l.x, l.y, l.z, l.level, l.boundary});
            return out;
        };
        EXPECT_EQ(words(boundary.domain), words(without.domain));
        EXPECT_EQ(list_links(boundary.domain).to, list_links(without.domain).to);
        EXPECT_EQ(boundary.domain.component, without.domain.component);
    }
}

TEST(Octree, LinksAreExactlyTheTouchingPairs) {
    const Built b = build(test::torus(1, 0.45, 32, 24), 32, DomainKind::sparse,
                          {Bone{0, {0.9f, 0, 0}, {1.1f, 0.1f, 0}, true, true}});
    const auto& leaves = b.domain.leaves;
    auto touch = [&](const Domain::Leaf& p, const Domain::Leaf& q) {
        const int a = 1 << p.level, c = 1 << q.level;
        return p.x <= q.x + c && q.x <= p.x + a && p.y <= q.y + c && q.y <= p.y + a && p.z <= q.z + c &&
               q.z <= p.z + a;
    };
    const LeafLinks all = list_links(b.domain);
    for (std::uint32_t i = 0; i < leaves.size(); ++i) {
        std::vector<std::uint32_t> links(all.of(i).begin(), all.of(i).end());
        std::sort(links.begin(), links.end());
        std::vector<std::uint32_t> expected;
        for (std::uint32_t j = 0; j < leaves.size(); ++j)
            if (i != j && touch(leaves[i], leaves[j])) expected.push_back(j);
        ASSERT_EQ(links, expected) << "leaf " << i;
    }
}

// Expects that the number of a link encodes how its two leaves touch; for rare contacts it identifies the leaves.
void expect_contact(const Domain& domain, std::uint32_t contact, std::uint32_t from, std::uint32_t to) {
    const Domain::Leaf &u = domain.leaves[from], &n = domain.leaves[to];
    if (contact >= contacts::kTabled) {
        const std::uint32_t rare = contact - contacts::kTabled;
        std::array<std::uint32_t, 2> pair = domain.graph->rare[rare / 2];
        if (rare % 2 == 1) std::swap(pair[0], pair[1]);
        ASSERT_EQ(pair, (std::array{from, to}));
        ASSERT_GE(std::max(u.level, n.level), contacts::kLevels);
        return;
    }
    const auto [a, b] = contacts::example(contact);
    const auto relation = [](const Domain::Leaf& p, const Domain::Leaf& q) {
        return std::tuple(p.level, q.level, q.x - p.x, q.y - p.y, q.z - p.z, p.boundary, q.boundary);
    };
    ASSERT_EQ(relation(a, b), relation(u, n));
    ASSERT_EQ(contacts::number(n, u), contacts::reversed(contact));
}

void expect_graph_is_the_links(const Domain& domain, Neighbours neighbours = Neighbours::all) {
    const Domain::Graph& graph = *domain.graph;
    const LeafLinks links = list_links(domain, neighbours);
    ASSERT_EQ(graph.nodes.size(), domain.leaves.size() + 1);
    EXPECT_EQ(graph.link_count, links.to.size());
    // Components by following links, numbered by their first leaf.
    std::vector<std::uint32_t> component(domain.leaves.size(), no_index), stack;
    std::uint32_t count = 0, directions = 0;
    for (std::uint32_t i = 0; i < domain.leaves.size(); ++i) {
        if (component[i] == no_index) {
            stack.push_back(i);
            component[i] = count++;
        }
        while (!stack.empty()) {
            const std::uint32_t at = stack.back();
            stack.pop_back();
            for (const std::uint32_t to : links.of(at))
                if (component[to] == no_index) {
                    component[to] = component[at];
                    stack.push_back(to);
                }
        }
        const Domain::Graph::Node& node = graph.nodes[i];
        std::vector<std::uint32_t> found;
        std::uint32_t last = 0;
        for (const Domain::Graph::Link& link : graph.others(node)) {
            const std::uint32_t to = link.to();
            // Links are in the order in which they are found, from the smaller end's group or the earlier end.
            // Bindings with moved joints rely on this order.
            const auto size_and_place = [&](std::uint32_t leaf) {
                return std::pair(domain.leaves[leaf].level, leaf);
            };
            const std::uint32_t finds = size_and_place(i) < size_and_place(to) ? i : to;
            const Domain::Graph::Node& of = graph.nodes[finds];
            const std::uint32_t from = of.is_grouped() ? graph.cells[of.group()].leaf[13] : finds;
            ASSERT_GE(from, last) << "leaf " << i;
            last = from;
            found.push_back(to);
            expect_contact(domain, link.contact(), i, to);
            if (link.back() == 0) continue;
            const Domain::Graph::Link& back = graph.other[graph.nodes[to].other + link.back() - 1];
            ASSERT_EQ(back.to(), i);
            ASSERT_EQ(contacts::reversed(back.contact()), link.contact());
        }
        directions |= node.all;
        for (std::uint32_t left = node.all; left; left &= left - 1) {
            const int d = std::countr_zero(left);
            const std::uint32_t to = graph.neighbour(node, d);
            const auto [x, y, z] = step_of(d);
            const Domain::Leaf &a = domain.leaves[i], &b = domain.leaves[to];
            ASSERT_TRUE(a.level == b.level && node.level() == a.level);
            const int size = 1 << a.level;
            ASSERT_TRUE(b.x - a.x == x * size && b.y - a.y == y * size && b.z - a.z == z * size);
            ASSERT_EQ(node.boundary >> d & 1, b.boundary ? 1u : 0u);
            found.push_back(to);
        }
        std::vector<std::uint32_t> listed(links.of(i).begin(), links.of(i).end());
        std::sort(found.begin(), found.end());
        std::sort(listed.begin(), listed.end());
        ASSERT_EQ(found, listed) << "leaf " << i;
    }
    EXPECT_EQ(graph.directions, directions);
    EXPECT_EQ(domain.component, component);
    EXPECT_EQ(domain.component_count, count);
}

// A random set of blocks of 8³ voxels.
BitGrid some_blocks(int resolution, std::mt19937& random) {
    const int n = resolution / 8;
    BitGrid blocks(n);
    for (int z = 0; z < n; ++z)
        for (int y = 0; y < n; ++y)
            for (int x = 0; x < n; ++x)
                if (random() & 1) blocks.set(x, y, z);
    return blocks;
}

// Local resolution: fine blocks keep the voxels of the grid; elsewhere a cell of 2³ with a boundary voxel is one
// leaf.
TEST(Octree, BoundaryCellsOutsideOfFineBlocksAreOneLeaf) {
    const test::Shape s = test::torus(1, 0.45, 32, 24);
    const MeshView mesh{s.positions, s.triangles, {}};
    Result<VoxelGrid> grid = voxelize(mesh, analyse_mesh(mesh), {128, true, true});
    ASSERT_TRUE(grid);
    std::mt19937 random(7);
    const BitGrid fine = some_blocks(128, random);
    const VoxelGrid local = test::local_grid(*grid, fine);
    const std::vector<Bone> bones{Bone{0, {0.9f, 0, 0}, {1.1f, 0.1f, 0}, true, true}};
    ASSERT_FALSE(build_domain(local, bones, DomainKind::uniform));
    Result<Domain> domain = build_domain(local, bones, DomainKind::sparse);
    ASSERT_TRUE(domain);
    std::size_t whole = 0, kept = 0;
    for (int z = 0; z < 128; ++z)
        for (int y = 0; y < 128; ++y)
            for (int x = 0; x < 128; ++x) {
                const std::uint32_t at = domain->leaf_at(x, y, z);
                bool touched = grid->boundary.get(x, y, z);
                const bool apart = fine.get(x / 8, y / 8, z / 8);
                for (int k = 0; k < 8 && !apart; ++k)
                    touched = touched ||
                              grid->boundary.get((x & ~1) + (k & 1), (y & ~1) + (k >> 1 & 1), (z & ~1) + (k >> 2));
                const bool solid = local.solid(x, y, z);
                ASSERT_EQ(at != no_index, solid);
                if (!solid) continue;
                ASSERT_EQ(domain->leaves[at].boundary, touched);
                if (touched) {
                    ASSERT_EQ(domain->leaves[at].level, apart ? 0 : 1);
                    ++(apart ? kept : whole);
                }
            }
    EXPECT_GT(whole, 1000u);
    EXPECT_GT(kept, 1000u);
    EXPECT_TRUE(domain->graph->large_boundary);
}

// Where all leaves around are boundary leaves of one size, the shares of a point interpolate to that point.
TEST(Octree, PositionsAreReadAtTheSizeOfTheirLeaf) {
    VoxelGrid grid;
    grid.transform = {32, {0, 0, 0}, 1, 32, 0};
    grid.boundary = grid.interior = BitGrid(32);
    for (int z = 4; z < 28; ++z)
        for (int y = 4; y < 28; ++y)
            for (int x = 4; x < 28; ++x) grid.boundary.set(x, y, z);
    BitGrid fine(4);
    for (int z = 0; z < 4; ++z)
        for (int y = 0; y < 4; ++y) fine.set(0, y, z), fine.set(1, y, z);  // x < 16
    const Result<Domain> domain = build_domain(test::local_grid(grid, fine), {}, DomainKind::sparse);
    ASSERT_TRUE(domain);
    std::mt19937 random(9);
    std::uniform_real_distribution<float> place(6.5f, 25.5f);
    std::size_t small = 0, large = 0;
    for (int i = 0; i < 4000; ++i) {
        const Vec3 p{place(random), place(random), place(random)};
        const LeafStencil s = leaf_stencil(*domain, p);
        ASSERT_GT(s.count, 0);
        std::array<double, 3> mean{};
        double sum = 0;
        for (int k = 0; k < s.count; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const auto c = domain->centre(s.leaf[at]);
            for (std::size_t axis = 0; axis < 3; ++axis) mean[axis] += s.share[at] * c[axis];
            sum += s.share[at];
        }
        ASSERT_NEAR(sum, 1, 1e-9);
        const int level = domain->leaves[domain->leaf_at(int(p.x), int(p.y), int(p.z))].level;
        ASSERT_EQ(level, p.x < 16 ? 0 : 1);
        // Where two sizes meet, one neighbour represents others of its cell.
        const double off = std::abs(p.x - 16) < 2 ? 1.0 : 1e-4;
        ASSERT_NEAR(mean[0], p.x, off);
        ASSERT_NEAR(mean[1], p.y, off);
        ASSERT_NEAR(mean[2], p.z, off);
        if (off < 1) ++(level ? large : small);
    }
    EXPECT_GT(small, 1000u);
    EXPECT_GT(large, 1000u);
}

// The index and the leaf agree for every voxel, for leaves of all sizes, built here and read from bytes.
TEST(Octree, TheIndexMarksBoundaryVoxels) {
    const test::Shape s = test::sphere({0, 0, 0}, 1, 4);
    const MeshView mesh{s.positions, s.triangles, {}};
    VoxelizeOptions options;
    options.resolution = 64;
    Result<VoxelGrid> grid = voxelize(mesh, analyse_mesh(mesh), options);
    ASSERT_TRUE(grid);
    for (const bool local : {false, true}) {
        if (local) {
            BitGrid fine(8);
            for (int z = 0; z < 8; ++z)
                for (int y = 0; y < 8; ++y)
                    for (int x = 0; x < 4; ++x) fine.set(x, y, z);
            *grid = test::local_grid(*grid, fine);
        }
        Result<Domain> domain = build_domain(*grid, {}, DomainKind::sparse);
        ASSERT_TRUE(domain);
        for (const bool again : {false, true}) {
            if (again) {
                ASSERT_TRUE(index_leaves(*domain));
            }
            std::array<std::size_t, 2> boundary{};  // voxels, by level
            for (int z = 0; z < 64; ++z)
                for (int y = 0; y < 64; ++y)
                    for (int x = 0; x < 64; ++x) {
                        const Domain::Index::Voxel v = domain->index->voxel(x, y, z);
                        ASSERT_EQ(v.leaf, domain->leaf_at(x, y, z));
                        if (v.leaf == no_index) {
                            ASSERT_FALSE(v.boundary);
                            continue;
                        }
                        const Domain::Leaf& leaf = domain->leaves[v.leaf];
                        ASSERT_EQ(v.boundary, leaf.boundary);
                        if (!v.boundary) continue;
                        ASSERT_EQ(v.level, leaf.level);
                        ++boundary[leaf.level];
                    }
            EXPECT_GT(boundary[0], 1000u);
            EXPECT_EQ(boundary[1] > 0, local);
        }
    }
}

TEST(Octree, TheGraphHasTheSameLinks) {
    const Bone bone{0, {0.9f, 0, 0}, {1.1f, 0.1f, 0}, true, true};
    for (const DomainKind kind : {DomainKind::sparse, DomainKind::uniform}) {
        expect_graph_is_the_links(build(test::torus(1, 0.45, 32, 24), 32, kind, {bone}).domain);
        expect_graph_is_the_links(build(test::sphere({0, 0, 0}, 1, 3), 64, kind, {bone}).domain);
    }
    // Random voxels: groups in every relative position.
    std::mt19937 random(5);
    for (const double share : {0.02, 0.2, 0.6}) {
        VoxelGrid grid;
        grid.transform = {32, {0, 0, 0}, 1, 32, 0};
        grid.boundary = grid.interior = BitGrid(32);
        for (int z = 0; z < 32; ++z)
            for (int y = 0; y < 32; ++y)
                for (int x = 0; x < 32; ++x) {
                    const double at = std::generate_canonical<double, 32>(random);
                    if (at < share / 2)
                        grid.boundary.set(x, y, z);
                    else if (at < share)
                        grid.interior.set(x, y, z);
                }
        expect_graph_is_the_links(*build_domain(grid, {}, DomainKind::sparse));
        const VoxelGrid local = test::local_grid(grid, some_blocks(32, random));
        expect_graph_is_the_links(*build_domain(local, {}, DomainKind::sparse));
        // The same with cells of twice the size, for many leaves of level 1 in every position.
        VoxelGrid coarse = grid;
        coarse.boundary = coarse.interior = BitGrid(32);
        for (int z = 0; z < 32; ++z)
            for (int y = 0; y < 32; ++y)
                for (int x = 0; x < 32; ++x) {
                    if (grid.boundary.get(x / 2, y / 2, z / 2)) coarse.boundary.set(x, y, z);
                    if (grid.interior.get(x / 2, y / 2, z / 2)) coarse.interior.set(x, y, z);
                }
        expect_graph_is_the_links(*build_domain(coarse, {}, DomainKind::sparse));
        for (const VoxelGrid* by_faces : {&grid, &coarse})
            expect_graph_is_the_links(*build_domain(*by_faces, {}, DomainKind::sparse, nullptr, Neighbours::faces),
                                      Neighbours::faces);
    }
    // Pixels.
    PixelMask mask{50, 40, std::vector<std::uint8_t>(2000)};
    for (std::uint8_t& in : mask.inside) in = random() % 3 > 0;
    for (const Neighbours neighbours : {Neighbours::all, Neighbours::faces})
        expect_graph_is_the_links(*build_domain(*pixel_grid(mask), {}, DomainKind::sparse, nullptr, neighbours),
                                  neighbours);
}

TEST(Octree, DividesCellsAtBones) {
    const Bone bone{0, {-0.3f, 0.02f, 0.01f}, {0.3f, 0.05f, 0.02f}, true, true};
    const Built b = build(test::box({0, 0, 0}, {1, 1, 1}), 64, DomainKind::sparse, {bone});
    int count = 0;
    trace_segment(b.domain.transform, bone.head, bone.tail, [&](int x, int y, int z) {
        ++count;
        EXPECT_EQ(b.domain.leaves[b.domain.leaf_at(x, y, z)].level, 0);
    });
    EXPECT_GT(count, 15);
}

TEST(Octree, SeparatePartsAreSeparateComponents) {
    test::Shape s = test::sphere({-1, 0, 0}, 0.4, 2);
    append(s, test::sphere({1, 0, 0}, 0.4, 2));
    append(s, test::sphere({0, 1, 0}, 0.1, 2));
    EXPECT_EQ(build(s, 64, DomainKind::sparse).domain.component_count, 3u);
}

TEST(Trace, VisitsExactlyTheVoxelsOfASegment) {
    GridTransform g;
    g.resolution = 32;
    const Vec3 ends[][2] = {{{1.5f, 1.5f, 1.5f}, {30.2f, 20.7f, 3.3f}},  {{10, 10, 10}, {10, 10, 10}},
                            {{5.5f, 5.5f, 30.5f}, {5.5f, 5.5f, 1.5f}},   {{-10, 5.2f, 5.1f}, {50, 6.3f, 7.4f}},
                            {{0.5f, 0.5f, 0.5f}, {31.5f, 31.5f, 31.5f}}, {{-5, -5, -5}, {-1, -1, -1}}};
    for (const auto& e : ends) {
        BitGrid visited(32), sampled(32);
        std::array<int, 3> last{-1, -1, -1};
        trace_segment(g, e[0], e[1], [&](int x, int y, int z) {
            ASSERT_TRUE(x >= 0 && x < 32 && y >= 0 && y < 32 && z >= 0 && z < 32);
            if (last[0] >= 0) {
                EXPECT_EQ(std::abs(x - last[0]) + std::abs(y - last[1]) + std::abs(z - last[2]), 1);
            }
            last = {x, y, z};
            visited.set(x, y, z);
        });
        for (int i = 0; i <= 100000; ++i) {
            const double t = i / 100000.0;
            const double p[3] = {e[0].x + t * (double(e[1].x) - e[0].x), e[0].y + t * (double(e[1].y) - e[0].y),
                                 e[0].z + t * (double(e[1].z) - e[0].z)};
            // A sample on a border may belong to either side.
            bool inside = true, border = false;
            for (const double c : p) {
                inside = inside && c > 0 && c < 32;
                border = border || std::abs(c - std::round(c)) < 1e-3;
            }
            if (inside && !border) sampled.set(int(p[0]), int(p[1]), int(p[2]));
        }
        for (std::size_t k = 0; k < sampled.words().size(); ++k)
            EXPECT_EQ(sampled.words()[k] & ~visited.words()[k], 0u);
        EXPECT_LE(visited.count(), sampled.count() + 64);
    }
}

TEST(Seeds, BoneInsideSeedsWhatItCrossesAndBoneOutsideSnaps) {
    const std::vector<Bone> bones = {{0, {-0.5f, 0, 0}, {0.5f, 0, 0}, true, true},
                                     {1, {3, 0, 0}, {4, 0, 0}, true, true},
                                     {3, {0, 0.9f, 0}, {0, 5, 0}, true, true}};
    const Built b = build(test::sphere({0, 0, 0}, 1, 3), 64, DomainKind::sparse, bones);
    const BoneSeeds seeds = seed_bones(b.domain, bones, 4);
    EXPECT_GT(seeds.of_joint[0].size(), 25u);
    for (const auto& seed : seeds.of_joint[0]) EXPECT_EQ(seed.distance, 0);
    ASSERT_EQ(seeds.of_joint[1].size(), 1u);
    EXPECT_NEAR(seeds.of_joint[1][0].distance * b.domain.transform.voxel, 2.0, 2 * b.domain.transform.voxel);
    EXPECT_TRUE(seeds.of_joint[2].empty());
    EXPECT_GT(seeds.of_joint[3].size(), 0u);  // its inner end counts
    EXPECT_EQ(seeds.snapped, std::vector<std::uint32_t>{1});
}

TEST(Seeds, SnappingFindsTheNearestLeaf) {
    std::vector<Bone> bones;
    for (std::uint32_t k = 0; k < 50; ++k) {
        const float a = 0.7f * float(k), x = 2 * std::cos(a), y = 2 * std::sin(a), z = 0.05f * float(k) - 1.2f;
        bones.push_back({k, {x, y, z}, {1.5f * x, y, z + 0.3f}, true, true});
    }
    const Built b = build(test::torus(1, 0.2, 48, 16), 64, DomainKind::sparse, bones);
    const BoneSeeds seeds = seed_bones(b.domain, bones, bones.size());
    ASSERT_EQ(seeds.snapped.size(), bones.size());
    for (const Bone& bone : bones) {
        const auto h = to_voxels(b.domain.transform, bone.head), t = to_voxels(b.domain.transform, bone.tail);
        double best = INFINITY;
        for (std::uint32_t i = 0; i < b.domain.leaves.size(); ++i) {
            const auto c = b.domain.centre(i);
            best = std::min(best, segment_distance(h, t, {c[0], c[1], c[2]}).distance);
        }
        EXPECT_NEAR(seeds.of_joint[bone.joint][0].distance, best, 1e-4);
    }
}

}  // namespace
}  // namespace sinew::test_octree
