// Heat on graphics hardware, compared with the solver. The tests run on any driver, usually Mesa's llvmpipe.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "characters/shapes.h"
#include "field/heat_hardware.h"
#include "unit/heat_problems.h"
#include "unit/support.h"

namespace sinew::test_heat_gl {
namespace {

using test::bound;
using test::Character;
using FixedValues = HeatSolver::FixedValues;
using Columns = std::vector<std::vector<FixedValues>>;
using Row = HeatSolver::Row;

class HeatGl : public ::testing::Test {
protected:
    void SetUp() override {
        Result<std::unique_ptr<HeatHardware>> opened = HeatHardware::open();
        if (!opened) GTEST_SKIP() << "skipped: " << opened.error().message;
        hardware = std::move(*opened);
    }

    // The largest difference to the solver, whose own error is below 1e-5; -1 on failure.
    double difference(const Conduction& conduction, const std::vector<float>& loss, const Columns& columns) {
        const HeatSolver solver(conduction, loss);
        EXPECT_TRUE(hardware->load(solver.levels()));
        std::vector<Row> there, here;
        const auto outcome = hardware->solve(columns, there, 1e-7);
        EXPECT_TRUE(outcome) << outcome.error().message;
        if (!outcome) return -1;
        EXPECT_TRUE(outcome->converged);
        EXPECT_LT(outcome->iterations, 150);
        EXPECT_TRUE(solver.solve(columns, here, 1e-7).converged);
        double worst = 0;
        for (std::size_t i = 0; i < here.size(); ++i)
            for (std::size_t c = 0; c < HeatSolver::kColumns; ++c)
                worst = std::max(worst, std::abs(double{here[i][c]} - there[i][c]));
        return worst;
    }

    std::unique_ptr<HeatHardware> hardware;
};

std::vector<float> loss_at_skin(const Domain& domain, float loss) {
    std::vector<float> out(domain.leaves.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = domain.leaves[i].boundary ? loss : 0.0f;
    return out;
}

// Columns with a few held leaves, some at values other than 1.
Columns scattered(std::size_t leaves, std::size_t count) {
    Columns columns(count);
    for (std::size_t c = 0; c < count; ++c)
        for (std::size_t k = 0; k < 5; ++k)
            columns[c].push_back({static_cast<std::uint32_t>((c * 7919 + k * 104729 + 13) % leaves),
                                  k == 4 ? 0.0f : 1.0f - 0.1f * static_cast<float>(c)});
    for (auto& column : columns) {
        std::sort(column.begin(), column.end(),
                  [](const FixedValues& a, const FixedValues& b) { return a.leaf < b.leaf; });
        column.erase(std::unique(column.begin(), column.end(),
                                 [](const FixedValues& a, const FixedValues& b) { return a.leaf == b.leaf; }),
                     column.end());
    }
    return columns;
}

TEST_F(HeatGl, EqualsTheSolverOnEveryKindOfDomain) {
    struct Case {
        Character character;
        int resolution;
        DomainKind kind;
    };
    for (const Case& c : {Case{test::bar(), 32, DomainKind::uniform},
                          {test::u_tube(), 64, DomainKind::sparse},
                          {test::robot(), 64, DomainKind::sparse},
                          {test::quadruped(), 64, DomainKind::sparse},
                          {test::quadruped(), 32, DomainKind::uniform},
                          {test::caped(), 32, DomainKind::sparse}}) {
        SCOPED_TRACE(c.character.name + " at " + std::to_string(c.resolution));
        const Domain domain = test::domain_of(c.character, c.resolution, c.kind);
        const Conduction conduction = make_conduction(domain, {});
        for (const float loss : {4.0f, 0.02f})
            EXPECT_LT(difference(conduction, loss_at_skin(domain, loss), scattered(conduction.size(), 8)), 1e-5);
    }
}

TEST_F(HeatGl, ConvergesInFewIterationsOnALongChain) {
    // One sweep moves heat by one cell, so plain averaging would need millions of sweeps here.
    const Conduction long_chain = test::chain(3000);
    EXPECT_LT(difference(long_chain, std::vector<float>(3000, 0.0f), {{{0, 1.0f}, {2999, 0.0f}}}), 1e-3);
    EXPECT_LT(difference(long_chain, std::vector<float>(3000, 1e-4f), {{{0, 1.0f}}, {{1500, 1.0f}}}), 1e-4);
}

// A chain of n nodes has a condition number of about n²: a residual of 1e-6 in float leaves this error.
constexpr double kChain = 1e-4;

TEST_F(HeatGl, SolvesTinyGraphs) {
    for (const std::uint32_t n : {1u, 2u, 3u, 64u, 65u, 129u})
        for (const float loss : {0.0f, 0.5f}) {
            SCOPED_TRACE(n);
            const Conduction c = test::chain(n);
            const std::vector<float> losses(n, loss);
            EXPECT_LT(difference(c, losses, {{{0, 1.0f}}}), kChain);
            EXPECT_LT(difference(c, losses, {{{0, 1.0f}}, {{n - 1, 0.25f}}, {}}), kChain);
            std::vector<FixedValues> all;
            for (std::uint32_t i = 0; i < n; ++i) all.push_back({i, 0.5f});
            EXPECT_EQ(difference(c, losses, {all}), 0);
        }
}

TEST_F(HeatGl, StaysInItsComponent) {
    const Conduction c = test::chain(200, 90);
    EXPECT_LT(difference(c, std::vector<float>(200, 0.0f), {{{0, 1.0f}}, {{150, 1.0f}}}), kChain);
    std::vector<Row> u;
    ASSERT_TRUE(hardware->solve(Columns{{{0, 1.0f}}, {{150, 1.0f}}}, u));
    for (std::size_t i = 0; i < 200; ++i) {
        EXPECT_NEAR(u[i][0], i < 90 ? 1 : 0, kChain);
        EXPECT_EQ(u[i][i < 90 ? 1 : 0], 0) << i;  // exactly 0
        for (std::size_t k = 2; k < HeatSolver::kColumns; ++k) EXPECT_EQ(u[i][k], 0);
    }
    // Many parts of one cell each.
    Conduction apart = test::chain(500);
    apart.to.clear();
    apart.conductance.clear();
    std::fill(apart.first.begin(), apart.first.end(), 0u);
    EXPECT_EQ(difference(apart, std::vector<float>(500, 0.0f), {{{499, 1.0f}}}), 0);
}

TEST_F(HeatGl, ColumnsAreReproducibleAndIndependent) {
    const Domain domain = test::domain_of(test::quadruped(), 64);
    const Conduction conduction = make_conduction(domain, {});
    const HeatSolver solver(conduction, loss_at_skin(domain, 2.0f));
    const Columns columns = scattered(conduction.size(), 8);
    ASSERT_TRUE(hardware->load(solver.levels()));
    std::vector<Row> once, again, alone;
    ASSERT_TRUE(hardware->solve(columns, once));
    ASSERT_TRUE(hardware->solve(std::span(columns).subspan(3, 1), alone));
    ASSERT_TRUE(hardware->load(solver.levels()));
    ASSERT_TRUE(hardware->solve(columns, again));
    EXPECT_EQ(once, again);
    for (std::size_t i = 0; i < once.size(); ++i) ASSERT_EQ(once[i][3], alone[i][0]) << i;
}

TEST_F(HeatGl, SweepsEqualThoseOfTheCpu) {
    const Domain domain = test::domain_of(test::quadruped(), 32);
    const Conduction conduction = make_conduction(domain, {});
    const HeatSolver solver(conduction, loss_at_skin(domain, 2.0f));
    const Columns columns = scattered(conduction.size(), 8);
    ASSERT_TRUE(hardware->load(solver.levels()));
    for (const int sweeps : {1, 2, 131}) {
        std::vector<Row> there, here;
        ASSERT_TRUE(hardware->diffuse(columns, there, sweeps));
        solver.diffuse(columns, here, sweeps);
        for (std::size_t i = 0; i < here.size(); ++i)
            for (std::size_t c = 0; c < HeatSolver::kColumns; ++c) ASSERT_NEAR(here[i][c], there[i][c], 1e-6);
    }
}

TEST_F(HeatGl, FailureToConvergeIsAnErrorWithARemedy) {
    const Conduction c = test::chain(100);
    const auto error_of = [&](const std::vector<float>& loss, float held) {
        const HeatSolver solver(c, loss);
        EXPECT_TRUE(hardware->load(solver.levels()));
        std::vector<Row> u;
        const auto outcome = hardware->solve(Columns{{{0, held}}}, u);
        EXPECT_FALSE(outcome);
        return outcome ? Error{} : outcome.error();
    };
    // A system that gains heat has no steady state.
    const Error gain = error_of(std::vector<float>(100, -0.7f), 1);
    EXPECT_EQ(gain.code, ErrorCode::internal);
    EXPECT_NE(gain.message.find("use heat cpu"), std::string::npos) << gain.message;
    const Error infinite = error_of(std::vector<float>(100, 0.1f), INFINITY);
    EXPECT_NE(infinite.message.find("use heat cpu"), std::string::npos) << infinite.message;
}

TEST_F(HeatGl, CanBeCancelled) {
    const Conduction c = test::chain(1000);
    const HeatSolver solver(c, std::vector<float>(1000, 0.0f));
    ASSERT_TRUE(hardware->load(solver.levels()));
    Context context;
    context.cancel = true;
    std::vector<Row> u;
    const auto solved = hardware->solve(Columns{{{0, 1.0f}}}, u, 1e-7, &context);
    ASSERT_FALSE(solved);
    EXPECT_EQ(solved.error().code, ErrorCode::cancelled);
    const Status swept = hardware->diffuse(Columns{{{0, 1.0f}}}, u, 100000, &context);
    ASSERT_FALSE(swept);
    EXPECT_EQ(swept.error().code, ErrorCode::cancelled);
}

BindOptions heat(int resolution, HeatBy by) {
    BindOptions options = preset(Method::voxel_heat);
    options.voxels.resolution = resolution;
    options.finish.max_influences = all_influences;
    options.heat = by;
    return options;
}

double worst_weight(const SkinWeights& a, const SkinWeights& b) {
    double worst = 0;
    EXPECT_EQ(a.vertex_count(), b.vertex_count());
    for (std::size_t v = 0; v < a.vertex_count(); ++v) {
        for (const Influence& i : a[v])
            worst = std::max(worst, std::abs(double{i.weight} - test::weight_of(b, v, i.joint)));
        for (const Influence& i : b[v])
            worst = std::max(worst, std::abs(double{i.weight} - test::weight_of(a, v, i.joint)));
    }
    return worst;
}

// The same through bind.
using HeatGlBind = HeatGl;

TEST_F(HeatGlBind, WeightsEqualThoseOfTheSolver) {
    struct Case {
        Character character;
        int resolution;
        DomainKind kind = DomainKind::sparse;
    };
    // The caped figure has parts without bones, hands with many joints, and surface without heat loss.
    for (const Case& c : {Case{test::caped(), 64},
                          {test::quadruped(), 64},
                          {test::robot(), 64},
                          {test::bar(), 128},
                          {test::biped(), 32, DomainKind::uniform},
                          {test::bar(16), 32}}) {
        SCOPED_TRACE(c.character.name + " at " + std::to_string(c.resolution));
        BindOptions cpu = heat(c.resolution, HeatBy::cpu), gl = heat(c.resolution, HeatBy::hardware);
        cpu.domain = gl.domain = c.kind;
        const Binding here = bound(c.character, cpu), there = bound(c.character, gl);
        EXPECT_EQ(here.report().coverage, there.report().coverage);
        EXPECT_EQ(there.options().heat, HeatBy::hardware);
        EXPECT_LT(worst_weight(*here.weights(), *there.weights()), 1e-3);
        // A driver that computes on the CPU is reported.
        const std::vector<std::string>& warnings = there.report().warnings;
        EXPECT_EQ(std::any_of(warnings.begin(), warnings.end(),
                              [](const std::string& w) { return w.find("heat cpu is faster") != w.npos; }),
                  hardware->software());
    }
}

TEST_F(HeatGlBind, CombinesWithSweepsSkinsVolumesAndHardwareVoxels) {
    const Character c = test::quadruped(0.03);
    BindOptions cpu = heat(32, HeatBy::cpu), gl = heat(32, HeatBy::hardware);
    cpu.iterations = gl.iterations = 20;
    EXPECT_LT(worst_weight(*bound(c, cpu).weights(), *bound(c, gl).weights()), 1e-3);

    // Each of two skins has its own equation. Slices of voxels use a separate context.
    cpu = heat(32, HeatBy::cpu), gl = heat(32, HeatBy::hardware);
    gl.voxels.voxelizer = Voxelizer::hardware;
    Character bar = test::bar();
    bar.skeleton.skins = {{0, 1}, {0}, {1, 0}};
    std::vector<std::uint32_t> skin(bar.positions.size());
    for (std::size_t v = 0; v < skin.size(); ++v) skin[v] = static_cast<std::uint32_t>(v % 3);
    const MeshView mesh{bar.positions, bar.triangles, skin};
    EXPECT_LT(worst_weight(*bound(mesh, bar.skeleton, cpu).weights(), *bound(mesh, bar.skeleton, gl).weights()),
              1e-3);

    // A kept volume binds other meshes without a driver, and binds its own mesh again with the same bits.
    gl.keep_volume = true;
    const Binding kept = bound(c, gl);
    const Binding read = test::must(Binding::from_bytes(kept.to_bytes()));
    EXPECT_EQ(read.options().heat, HeatBy::hardware);
    EXPECT_EQ(*read.weights(), *kept.weights());
    EXPECT_EQ(*bound(c, gl, 1).weights(), *kept.weights());
    const Character coarse = test::quadruped(0.05);
    const Binding other = test::must(read.rebind(coarse.mesh(), coarse.skeleton));
    EXPECT_EQ(other.report().covered(), 1);
}

TEST(HeatLimits, GridLargerThanTheDriverAllowsIsAnError) {
    const HeatLimits mesa{std::size_t{1} << 27, 65535};
    EXPECT_TRUE(check_heat_size({4'000'000, 16'000'000}, mesa));
    const Status nodes = check_heat_size({5'000'000, 1}, mesa), links = check_heat_size({1, 17'000'000}, mesa),
                 groups = check_heat_size({9'000'000, 1}, {std::size_t{1} << 31, 65535});
    for (const Status& refused : {nodes, links, groups}) {
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::too_large);
        EXPECT_NE(refused.error().message.find("smaller resolution, or heat cpu"), std::string::npos);
    }
    EXPECT_NE(nodes.error().message.find("152 MB, the driver has at most 128"), std::string::npos)
        << nodes.error().message;
}

}  // namespace
}  // namespace sinew::test_heat_gl
