// Compares voxels from slices of the z-buffer with voxels from columns. Both share only the snapped corners and the
// vote. tests/gl/compare_votes.h decides which one is right where they differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <tuple>

#include "characters/characters.h"
#include "characters/defects.h"
#include "characters/shapes.h"
#include "gl/compare_votes.h"
#include "gl/context.h"
#include "sinew/io.h"
#include "sinew/voxels.h"

namespace sinew::test_slices {
namespace {

using test::Disagreement;

class Slices : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto context = gl::GlContext::create(); !context)
            GTEST_SKIP() << "skipped: " << context.error().message;
    }
};

// Compares both voxelizers on a mesh, with the faces that the topology reverses.
Disagreement compare_on(const MeshView& mesh, const VoxelGrid& grid, const std::vector<bool>* turned,
                        SliceReport* of_both = nullptr) {
    const Lattice lattice = make_lattice(grid.transform, mesh, turned, nullptr);
    const auto compare = [&](ViewPairs pairs, SliceReport* report) {
        const Result<PairVotes> columns = vote_by_columns(lattice, pairs, nullptr);
        const Result<PairVotes> slices = vote_by_slices(lattice, pairs, nullptr, report);
        EXPECT_TRUE(slices) << slices.error().message;
        return slices ? test::compare_votes(lattice, grid.boundary, *columns, *slices, pairs) : Disagreement{};
    };
    const Disagreement either = compare(ViewPairs::either, nullptr);
    EXPECT_EQ(either.unexplained(), 0u) << either.example;
    return compare(ViewPairs::both, of_both);
}

Disagreement compare_on(const MeshView& mesh, int resolution, SliceReport* report = nullptr) {
    const MeshTopology topology = analyse_mesh(mesh);
    const Result<VoxelGrid> grid = voxelize(mesh, topology, {resolution, false, true});
    EXPECT_TRUE(grid);
    return compare_on(mesh, *grid, &topology.turned, report);
}

// Random triangles at resolution 64, given in lattice units: corner(t, k, axis) within 896 to 32384. Two triangles
// without area stretch the box to these limits, so that the scene's unit becomes a voxel and nothing is rounded.
template <typename Corner>
Disagreement compare_on_soup(int count, Corner&& corner) {
    constexpr int low = 896, high = 64 * kVoxel - 384;
    std::vector<Vec3> positions = {{1.75f, 1.75f, 1.75f}, {63.25f, 63.25f, 63.25f}};
    std::vector<Triangle> triangles = {{0, 0, 0}, {1, 1, 1}};
    for (int t = 0; t < count; ++t) {
        for (int k = 0; k < 3; ++k) {
            float c[3];
            for (int a = 0; a < 3; ++a)
                c[a] = static_cast<float>(std::clamp<int>(corner(t, k, a), low, high)) / kVoxel;
            positions.push_back({c[0], c[1], c[2]});
        }
        const auto base = static_cast<std::uint32_t>(positions.size() - 3);
        triangles.push_back({base, base + 1, base + 2});
    }
    const MeshView mesh{positions, triangles, {}};
    const Result<VoxelGrid> grid = voxelize(mesh, analyse_mesh(mesh), {64, false, false});
    EXPECT_EQ(grid->transform.origin[0], 0);
    EXPECT_EQ(grid->transform.voxel, 1);
    return compare_on(mesh, *grid, nullptr);
}

// Edge rules differ between drivers, so differences on edges are allowed.
void expect_agreement(const Disagreement& d, std::size_t least_inside) {
    EXPECT_EQ(d.unexplained(), 0u) << d.first_wrong << " by columns, " << d.second_wrong << " by slices, such as "
                                   << d.example;
    EXPECT_GE(d.inside, least_inside);
    EXPECT_LE(d.on_edge + d.tied, d.inside / 100);
}

TEST_F(Slices, AgreeOnEveryVoxelOfTheGeneratedCharacters) {
    for (const std::string& name : test::character_names()) {
        const test::Character c = test::make_character(name);
        for (const int resolution : {64, 128, 256}) {
            SCOPED_TRACE(name + " at " + std::to_string(resolution));
            expect_agreement(compare_on(c.mesh(), resolution), 1000);
        }
    }
}

TEST_F(Slices, AgreeOnDefectiveMeshes) {
    const test::Character whole = test::robot();
    for (const test::Defect& defect : test::defects()) {
        const test::Character c = defect.apply(whole);
        if (!check_mesh(c.mesh())) continue;
        SCOPED_TRACE(defect.name);
        expect_agreement(compare_on(c.mesh(), 64), 0);
    }
}

TEST_F(Slices, AgreeOnEveryVoxelOfRealCharacters) {
    const char* named = std::getenv("SINEW_CORPUS");
    const std::filesystem::path corpus = named ? named : "";
    if (!std::filesystem::is_directory(corpus)) GTEST_SKIP() << "skipped: SINEW_CORPUS names no folder";
    for (const char* file : {"khr_fox/Fox.glb", "khr_brainstem/brainstem.glb", "m2m_dragon/dragon-animations.glb",
                             "m2m_human_sintel/human-sintel.glb", "kaykit_knight/Knight.glb", "q_frog/Frog.glb",
                             "q_mech_leela/Leela.glb", "mh_female_clothed/mh_female_clothed.glb",
                             "vrm_godette/Godette_vrm_v4.vrm", "ray_robot/robot.glb"}) {
        SCOPED_TRACE(file);
        const Result<io::Scene> scene = io::load(corpus / file);
        ASSERT_TRUE(scene) << scene.error().message;
        expect_agreement(compare_on(scene->mesh(), 64), 50);
    }
}

TEST_F(Slices, OneImageHoldsOneSlicePerBit) {
    const test::Shape ball = test::sphere({0, 0, 0}, 1, 5);
    for (const auto& [resolution, read_backs] : {std::pair{32, 6}, {64, 6}, {128, 6}, {256, 12}}) {
        SliceReport report;
        expect_agreement(compare_on({ball.positions, ball.triangles, {}}, resolution, &report), 100);
        EXPECT_EQ(report.read_backs, std::size_t(read_backs)) << resolution;
        EXPECT_LE(report.draws, std::size_t(2 * 6 * resolution));
        EXPECT_FALSE(report.renderer.empty());
    }
}

TEST_F(Slices, GiveTheSameGrid) {
    // The caped figure has ambiguous voxels, which winding numbers settle.
    const test::Character c = test::caped();
    const MeshTopology topology = analyse_mesh(c.mesh());
    VoxelizeOptions options{128, true, true, true};
    const std::vector<FinePlace> nowhere, chest{{{0, 1, 0}, 0.3}};
    for (const std::vector<FinePlace>& fine : {nowhere, chest}) {
        options.voxelizer = Voxelizer::cpu;
        const Result<VoxelGrid> cpu = voxelize(c.mesh(), topology, options, nullptr, fine);
        options.voxelizer = Voxelizer::hardware;
        const Result<VoxelGrid> hardware = voxelize(c.mesh(), topology, options, nullptr, fine);
        ASSERT_TRUE(hardware) << hardware.error().message;
        EXPECT_TRUE(cpu->boundary == hardware->boundary);
        EXPECT_TRUE(cpu->interior == hardware->interior);
        EXPECT_TRUE(cpu->coarse_boundary == hardware->coarse_boundary);
        EXPECT_TRUE(cpu->coarse_interior == hardware->coarse_interior);
        EXPECT_TRUE(cpu->ambiguous_voxels == hardware->ambiguous_voxels);
        EXPECT_GT(hardware->ambiguous, 0u);
        EXPECT_EQ(cpu->ambiguous_inside, hardware->ambiguous_inside);
        EXPECT_EQ(hardware->local(), !fine.empty());
        EXPECT_GT(hardware->interior.count(), 300u);
    }
}

TEST_F(Slices, AgreeOnCoplanarOppositeDuplicates) {
    test::Shape s = test::box({0, 0, 0}, {1, 0.8, 0.6}, 5);
    const std::size_t n = s.triangles.size();
    for (std::size_t t = 0; t < n; t += 2)
        s.triangles.push_back({s.triangles[t][0], s.triangles[t][2], s.triangles[t][1]});
    const MeshView mesh{s.positions, s.triangles, {}};
    const Result<VoxelGrid> grid = voxelize(mesh, analyse_mesh(mesh), {64, false, false});
    expect_agreement(compare_on(mesh, *grid, nullptr), 1000);
}

TEST_F(Slices, LargeTrianglesAreListedInParts) {
    // Each triangle intersects every slab along one axis, so the list needs more than one index buffer.
    std::mt19937 rng(4);
    int base[3] = {0, 0, 0};
    const Disagreement d = compare_on_soup(9000, [&](int t, int k, int a) {
        if (t % 100 == 0) return static_cast<int>(rng() % (64 * kVoxel));
        if (k == 0) base[a] = static_cast<int>(rng() % (64 * kVoxel));
        return a == 1 ? (k == 0 ? 0 : 64 * kVoxel) : base[a] + static_cast<int>(rng() % 400);
    });
    expect_agreement(d, 1000);
}

TEST_F(Slices, AgreeOnRandomTriangles) {
    std::mt19937 rng(1);
    const Disagreement d =
        compare_on_soup(60, [&](int, int, int) { return static_cast<int>(rng() % (64 * kVoxel)); });
    EXPECT_EQ(d.differ, 0u);
    EXPECT_GT(d.inside, 10000u);
}

TEST_F(Slices, AgreeWhereColumnsPassThroughCornersAndEdges) {
    // Every corner is the centre of a voxel.
    std::mt19937 rng(2);
    const Disagreement d =
        compare_on_soup(60, [&](int, int, int) { return static_cast<int>(rng() % 64) * kVoxel + kCentre; });
    EXPECT_EQ(d.unexplained(), 0u) << d.example;
    EXPECT_GT(d.inside, 10000u);
    EXPECT_LT(d.on_edge, d.inside / 10);
}

TEST_F(Slices, AgreeOnTrianglesSeenEdgeOn) {
    // Needles along the axes through the centres of columns, among large triangles. Regression: columns computed
    // depths from edge functions that the half-open rule had shifted by one, a large error for such narrow
    // triangles.
    std::mt19937 rng(3);
    int base[3] = {0, 0, 0}, along = 0;
    const auto random = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    const Disagreement d = compare_on_soup(2000, [&](int t, int k, int a) {
        if (t % 40 == 0) return random(64 * kVoxel);
        if (k == 0) base[a] = random(64) * kVoxel + kCentre, along = t % 3;
        return base[a] + (a == along ? random(20000) - 10000 : random(19) - 9);
    });
    EXPECT_EQ(d.unexplained(), 0u) << d.example;
    EXPECT_GT(d.inside, 10000u);
}

TEST_F(Slices, CanBeCancelled) {
    const test::Shape s = test::sphere({0, 0, 0}, 1, 3);
    const MeshView mesh{s.positions, s.triangles, {}};
    Context context;
    context.cancel = true;
    const Lattice lattice =
        make_lattice(voxelize(mesh, analyse_mesh(mesh), {64})->transform, mesh, nullptr, nullptr);
    const Result<PairVotes> votes = vote_by_slices(lattice, ViewPairs::both, &context);
    ASSERT_FALSE(votes);
    EXPECT_EQ(votes.error().code, ErrorCode::cancelled);
}

TEST(SliceLimits, LimitsOfTheDriverAreErrors) {
    const SliceLimits mesa{16384, 8, 1 << 27};
    EXPECT_TRUE(check_slices({1024, 3'000'000}, mesa));
    const Status many = check_slices({256, 4'000'000}, mesa), large = check_slices({1024, 12}, {1024, 8, 1 << 27});
    for (const Status& refused : {many, large}) {
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::too_large);
        EXPECT_NE(refused.error().message.find("voxelizer cpu"), std::string::npos);
    }
    EXPECT_NE(large.error().message.find("2048 x 2048 pixels, the driver draws at most 1024"), std::string::npos);
    EXPECT_TRUE(check_slices({1024, 12}, {1024, 9, 1 << 27}));
    EXPECT_EQ(samples_per_voxel(8), 2);
    EXPECT_EQ(samples_per_voxel(12), 1);
}

// Tests of compare_votes, on a cube with known votes.
class CompareVotes : public ::testing::Test {
protected:
    test::Shape shape = test::box({0, 0, 0}, {1, 1, 1});
    MeshView mesh{shape.positions, shape.triangles, {}};
    Result<VoxelGrid> grid = voxelize(mesh, analyse_mesh(mesh), {64});
    Lattice lattice = make_lattice(grid->transform, mesh, nullptr, nullptr);
    PairVotes votes = *vote_by_columns(lattice, ViewPairs::both, nullptr);
};

TEST_F(CompareVotes, NamesTheWrongVoxelizer) {
    PairVotes wrong = votes;
    wrong[1].words()[wrong[1].index(40, 20, 25)] ^= std::uint64_t{1} << 40;
    const Disagreement d = test::compare_votes(lattice, grid->boundary, votes, wrong);
    EXPECT_EQ(std::tuple(d.differ, d.first_wrong, d.second_wrong), std::tuple(1u, 0u, 1u));
    EXPECT_EQ(d.example, "axis 1, voxel 40 20 25, 2 crossings");
    EXPECT_EQ(test::compare_votes(lattice, grid->boundary, wrong, votes).first_wrong, 1u);
}

TEST_F(CompareVotes, AllowsDriverDifferencesOnEdgesOnly) {
    // The diagonal of a face of the cube passes through the centres of the columns on it.
    PairVotes wrong = votes;
    wrong[2].words()[wrong[2].index(25, 25, 30)] ^= std::uint64_t{1} << 25;
    wrong[2].words()[wrong[2].index(25, 64 - 25, 30)] ^= std::uint64_t{1} << 25;
    EXPECT_GE(test::compare_votes(lattice, grid->boundary, votes, wrong).on_edge, 1u);
    EXPECT_EQ(test::compare_votes(lattice, grid->boundary, wrong, votes).on_edge, 0u);
    EXPECT_EQ(test::compare_votes(lattice, grid->boundary, wrong, votes).first_wrong, 2u);
}

TEST_F(CompareVotes, BoundaryVoxelsDoNotCount) {
    PairVotes wrong = votes;
    for (std::size_t k = 0; k < grid->boundary.words().size(); ++k)
        wrong[0].words()[k] ^= grid->boundary.words()[k];
    EXPECT_EQ(test::compare_votes(lattice, grid->boundary, votes, wrong).differ, 0u);
}

}  // namespace
}  // namespace sinew::test_slices
