// Finite volumes and the solver of steady heat, against exact solutions and against elimination.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "field/geodesic.h"
#include "field/heat.h"
#include "sinew/voxels.h"
#include "unit/heat_problems.h"
#include "unit/support.h"

namespace sinew::test_heat {
namespace {

using test::chain;
using test::domain_of;
using test::eliminate;
using FixedValues = HeatSolver::FixedValues;
using Columns = std::vector<std::vector<FixedValues>>;
using Row = HeatSolver::Row;

// The same equations as a dense system.
std::vector<double> dense(const Conduction& c, const std::vector<float>& loss,
                          const std::vector<FixedValues>& held) {
    const std::size_t n = c.size();
    std::vector<std::vector<double>> a(n, std::vector<double>(n + 1, 0));
    for (std::size_t i = 0; i < n; ++i) {
        a[i][i] = loss[i];
        for (std::uint32_t k = c.first[i]; k < c.first[i + 1]; ++k) {
            a[i][i] += c.conductance[k];
            a[i][c.to[k]] -= c.conductance[k];
        }
    }
    for (const FixedValues& h : held) {
        std::fill(a[h.leaf].begin(), a[h.leaf].end(), 0.0);
        a[h.leaf][h.leaf] = 1;
        a[h.leaf][n] = h.value;
    }
    std::vector<double> u;
    for (const auto& row : eliminate(std::move(a))) u.push_back(row[0]);
    return u;
}

TEST(Conduction, IsSymmetricAndHasTheComponentsOfTheDomain) {
    for (const test::Character& character : {test::u_tube(), test::caped()}) {
        const Domain domain = domain_of(character, 64);
        const Conduction c = make_conduction(domain, {});
        ASSERT_EQ(c.size(), domain.leaves.size());
        std::vector<std::uint32_t> piece(c.size());
        std::iota(piece.begin(), piece.end(), 0u);
        const auto root = [&](std::uint32_t i) {
            while (piece[i] != i) i = piece[i] = piece[piece[i]];
            return i;
        };
        std::size_t pieces = c.size();
        bool levels = false;
        for (std::uint32_t i = 0; i < c.size(); ++i)
            for (std::uint32_t k = c.first[i]; k < c.first[i + 1]; ++k) {
                const std::uint32_t j = c.to[k];
                levels = levels || domain.leaves[i].level != domain.leaves[j].level;
                bool back = false;
                for (std::uint32_t m = c.first[j]; m < c.first[j + 1]; ++m)
                    back = back || (c.to[m] == i && c.conductance[m] == c.conductance[k]);
                ASSERT_TRUE(back) << i << " " << j;
                if (root(i) != root(j)) {
                    piece[root(i)] = root(j);
                    --pieces;
                }
            }
        EXPECT_TRUE(levels);
        EXPECT_EQ(pieces, domain.component_count) << character.name;
    }
}

TEST(Conduction, EdgesAndCornersConductOnlyWithoutAFace) {
    VoxelGrid grid;
    grid.transform.resolution = 32;
    grid.boundary = BitGrid(32);
    grid.interior = BitGrid(32);
    // A staircase whose leaves meet at an edge and then at a corner; and two leaves at an edge with a path around
    // it.
    for (const auto& [x, y, z] :
         {std::array{1, 1, 1}, {2, 2, 1}, {3, 3, 2}, {20, 20, 20}, {21, 20, 20}, {21, 21, 20}})
        grid.boundary.set(x, y, z);
    const Domain domain = std::move(*build_domain(grid, {}, DomainKind::sparse));
    ASSERT_EQ(domain.component_count, 2u);
    const Conduction c = make_conduction(domain, {});
    const auto between = [&](std::array<int, 3> a, std::array<int, 3> b) {
        const std::uint32_t i = domain.leaf_at(a[0], a[1], a[2]), j = domain.leaf_at(b[0], b[1], b[2]);
        float sum = 0;
        for (std::uint32_t k = c.first[i]; k < c.first[i + 1]; ++k) sum += c.to[k] == j ? c.conductance[k] : 0;
        return sum;
    };
    EXPECT_EQ(between({1, 1, 1}, {2, 2, 1}), 0.25f);
    EXPECT_EQ(between({2, 2, 1}, {3, 3, 2}), 0.25f);
    EXPECT_EQ(between({20, 20, 20}, {21, 20, 20}), 1);
    EXPECT_EQ(between({20, 20, 20}, {21, 21, 20}), 0);
}

TEST(Conduction, IsAreaOverDistanceBetweenLeafSizes) {
    const Domain domain = domain_of(test::l_corner(), 64);
    const Conduction c = make_conduction(domain, {});
    double least = INFINITY, most = 0;
    for (std::uint32_t i = 0; i < c.size(); ++i) {
        const double edge = 1 << domain.leaves[i].level;
        ASSERT_EQ(c.volume[i], edge * edge * edge);
        for (std::uint32_t k = c.first[i]; k < c.first[i + 1]; ++k) {
            const double other = 1 << domain.leaves[c.to[k]].level, small = std::min(edge, other);
            ASSERT_FLOAT_EQ(c.conductance[k], static_cast<float>(small * small / ((edge + other) / 2)));
            least = std::min(least, other / edge);
            most = std::max(most, other / edge);
        }
    }
    EXPECT_LT(least, 1);
    EXPECT_GT(most, 1);
}

TEST(Heat, HeatAlongALosslessRodIsLinear) {
    const Conduction c = chain(200);
    const HeatSolver solver(c, std::vector<float>(200, 0.0f));
    std::vector<Row> u;
    const HeatSolver::Outcome outcome = solver.solve(Columns{{{0, 1.0f}, {199, 0.0f}}}, u);
    EXPECT_TRUE(outcome.converged);
    for (std::size_t i = 0; i < 200; ++i) ASSERT_NEAR(u[i][0], 1 - static_cast<double>(i) / 199, 2e-4);
}

TEST(Heat, HeatAlongALossyRodFollowsCosh) {
    // 2 u - u' - u'' + k u = 0 on a chain that ends without loss: cosh with 2 cosh(a) = 2 + k.
    constexpr int n = 60;
    const double k = 0.01, a = std::acosh(1 + k / 2);
    const Conduction c = chain(n);
    const HeatSolver solver(c, std::vector<float>(n, static_cast<float>(k)));
    std::vector<Row> u;
    solver.solve(Columns{{{0, 1.0f}}}, u);
    for (int i = 0; i < n; ++i)
        ASSERT_NEAR(u[static_cast<std::size_t>(i)][0], std::cosh(a * (n - 0.5 - i)) / std::cosh(a * (n - 0.5)),
                    1e-5);
}

TEST(Heat, EqualsEliminationOnAVolume) {
    const Domain domain = domain_of(test::bar(16), 32);
    const Conduction c = make_conduction(domain, {});
    ASSERT_LT(c.size(), 1000u);
    std::vector<float> loss(c.size());
    for (std::size_t i = 0; i < c.size(); ++i) loss[i] = domain.leaves[i].boundary ? 0.2f : 0.0f;
    const auto last = static_cast<std::uint32_t>(c.size() - 1);
    const Columns columns{{{0, 1.0f}, {1, 1.0f}}, {{last, 1.0f}, {0, 0.0f}}};
    const HeatSolver solver(c, loss);
    std::vector<Row> u, swept;
    EXPECT_LT(solver.solve(columns, u, 1e-6).iterations, 40);
    solver.diffuse(columns, swept, 4000);
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const std::vector<double> exact = dense(c, loss, columns[k]);
        for (std::size_t i = 0; i < c.size(); ++i) {
            ASSERT_NEAR(u[i][k], exact[i], 2e-5) << i;
            ASSERT_NEAR(swept[i][k], exact[i], 2e-5) << i;  // plain averaging converges to the same solution
        }
    }
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(u[i][2], 0);
}

TEST(Heat, ColumnsAreIndependent) {
    const Domain domain = domain_of(test::quadruped(), 64);
    const Conduction c = make_conduction(domain, {});
    const HeatSolver solver(c, std::vector<float>(c.size(), 0.01f));
    const auto n = static_cast<std::uint32_t>(c.size());
    const Columns columns{{{5, 1.0f}}, {{n / 3, 1.0f}}, {{n - 7, 1.0f}}};
    std::vector<Row> alone, together;
    solver.solve(columns, together);
    for (std::size_t k = 0; k < columns.size(); ++k) {
        alone.clear();
        solver.solve({&columns[k], 1}, alone);
        for (std::size_t i = 0; i < c.size(); ++i) {
            ASSERT_EQ(alone[i][0], together[i][k]);
            ASSERT_GE(together[i][k], -1e-5);
            ASSERT_LE(together[i][k], 1 + 1e-5);
        }
    }
}

TEST(Heat, StaysInItsComponentAndCrossesBridges) {
    const Conduction c = chain(20, 10);
    std::vector<Row> u;
    HeatSolver(c, std::vector<float>(20, 0.0f)).solve(Columns{{{0, 1.0f}}}, u);
    EXPECT_NEAR(u[9][0], 1, 1e-5);
    for (std::size_t i = 10; i < 20; ++i) EXPECT_EQ(u[i][0], 0);

    // The same over a domain, with and without a bridge.
    test::Character figure = test::u_tube();
    const test::Shape box = test::box({3, 0, 0}, {0.1, 0.1, 0.1}, 2);
    test::append(figure, box.positions, box.triangles, 0);
    const Domain domain = domain_of(figure, 64);
    ASSERT_EQ(domain.component_count, 2u);
    std::vector<bool> seeded(2, false);
    const std::uint32_t home = domain.component[0];
    seeded[home] = true;
    BridgeFinder finder(domain);
    const std::vector<Bridge> bridges = finder.join(seeded);
    ASSERT_FALSE(bridges.empty());
    for (const bool bridged : {false, true}) {
        const Conduction conduction =
            make_conduction(domain, bridged ? std::span(bridges) : std::span<const Bridge>());
        HeatSolver(conduction, std::vector<float>(conduction.size(), 0.0f)).solve(Columns{{{0, 1.0f}}}, u);
        for (std::size_t i = 0; i < u.size(); ++i)
            ASSERT_NEAR(u[i][0], bridged || domain.component[i] == home ? 1 : 0, 2e-3);
    }
}

// Heat along a bar whose ends are held at a linear function of position. Inflow equals outflow. With voxels of one
// size the solution is this function. On the octree, coarse inside, it is close, and the flow at most a tenth
// larger.
TEST(Heat, FlowIsConservedAndLinearFieldsAreNearlyKept) {
    const test::Character bar = test::bar();
    std::vector<double> error, wrong_flow;
    for (const int resolution : {32, 64, 128}) {
        double flow[2];
        int kinds = 0;
        for (const DomainKind kind : {DomainKind::uniform, DomainKind::sparse}) {
            const Domain domain = domain_of(bar, resolution, kind);
            const Conduction c = make_conduction(domain, {});
            std::vector<FixedValues> held;
            std::vector<int> end(c.size(), 0);
            const auto x = [&](std::uint32_t i) { return domain.centre(i)[0] / static_cast<float>(resolution); };
            for (std::uint32_t i = 0; i < c.size(); ++i) {
                if (x(i) > 0.15 && x(i) < 0.85) continue;
                end[i] = x(i) < 0.5 ? 1 : 2;
                held.push_back({i, x(i)});
            }
            std::vector<Row> u;
            const HeatSolver::Outcome outcome =
                HeatSolver(c, std::vector<float>(c.size(), 0.0f)).solve({&held, 1}, u);
            EXPECT_TRUE(outcome.converged);
            double out = 0, in = 0, worst = 0;
            for (std::uint32_t i = 0; i < c.size(); ++i) {
                worst = std::max<double>(worst, std::abs(u[i][0] - x(i)));
                for (std::uint32_t e = c.first[i]; e < c.first[i + 1]; ++e) {
                    const double moved = static_cast<double>(c.conductance[e]) * (u[c.to[e]][0] - u[i][0]);
                    if (end[i] == 1 && end[c.to[e]] == 0) out += moved;
                    if (end[i] == 0 && end[c.to[e]] == 2) in += moved;
                }
            }
            EXPECT_NEAR(in, out, 2e-3 * out);
            flow[kinds++] = out;
            if (kind == DomainKind::uniform) {
                EXPECT_LT(worst, 2e-5);
            } else {
                error.push_back(worst);
            }
        }
        wrong_flow.push_back(std::abs(flow[1] / flow[0] - 1));
    }
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_LT(error[k], 0.005);
        EXPECT_LT(wrong_flow[k], 0.15);
    }
}

TEST(Heat, ChangedLossEqualsANewSolver) {
    const Domain domain = domain_of(test::quadruped(), 64);
    const Conduction c = make_conduction(domain, {});
    std::vector<float> before(c.size(), 0.5f), after(c.size());
    for (std::size_t i = 0; i < c.size(); ++i) after[i] = domain.leaves[i].boundary ? 0.2f : 0.0f;
    HeatSolver changed(c, before);
    changed.set_loss(after);
    const Columns columns{{{7, 1.0f}}, {{11, 1.0f}}};
    std::vector<Row> a, b;
    changed.solve(columns, a);
    HeatSolver(c, after).solve(columns, b);
    EXPECT_EQ(a, b);
}

TEST(Heat, OneSweepWarmsOnlyNeighbours) {
    const Conduction c = chain(10);
    std::vector<Row> u;
    const HeatSolver solver(c, std::vector<float>(10, 0.0f));
    solver.diffuse(Columns{{{4, 1.0f}}}, u, 1);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(u[i][0], i == 4 ? 1 : i == 3 || i == 5 ? 0.5f : 0);
}

}  // namespace
}  // namespace sinew::test_heat
