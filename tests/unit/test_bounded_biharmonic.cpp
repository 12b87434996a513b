// Bounded biharmonic weights: exact on a bar, equal to elimination, and with the guarantees of the method.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "characters/characters.h"
#include "characters/defects.h"
#include "characters/shapes.h"
#include "field/biharmonic.h"
#include "sinew/bind.h"
#include "sinew/voxels.h"
#include "unit/support.h"

namespace sinew::test_bounded_biharmonic {
namespace {

using test::bound;
using test::eliminate;
using test::weight_of;
using Row = BiharmonicSolver::Row;

BindOptions energy(int resolution) {
    BindOptions options = preset(Method::bounded_biharmonic);
    options.voxels.resolution = resolution;
    return options;
}

double worst_difference(const SkinWeights& a, const SkinWeights& b) {
    double worst = 0;
    for (std::size_t v = 0; v < a.vertex_count(); ++v)
        for (const Influence& i : a[v])
            worst = std::max(worst, std::abs(double{i.weight} - weight_of(b, v, i.joint)));
    return worst;
}

Domain domain_of(const test::Character& c, int resolution, DomainKind kind = DomainKind::sparse) {
    VoxelizeOptions options;
    options.resolution = resolution;
    const Result<VoxelGrid> grid = voxelize(c.mesh(), analyse_mesh(c.mesh()), options);
    return std::move(*build_domain(*grid, make_bones(c.skeleton), kind));
}

// Minimises without bounds, by elimination of the normal equations: the reference where no bound is active.
std::vector<double> dense(const BiharmonicSolver& solver, const Conduction& c, const std::vector<bool>& held,
                          const std::vector<Row>& values) {
    const std::size_t n = c.size();
    std::vector<std::vector<double>> laplacian(n, std::vector<double>(n));
    for (std::size_t j = 0; j < n; j += BiharmonicSolver::kColumns) {
        std::vector<Row> unit(n, Row{}), out(n);
        for (std::size_t k = 0; k < BiharmonicSolver::kColumns && j + k < n; ++k) unit[j + k][k] = 1;
        solver.laplacian(unit, out);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < BiharmonicSolver::kColumns && j + k < n; ++k)
                laplacian[i][j + k] = out[i][k];
    }
    std::vector<std::vector<double>> a;
    for (std::size_t k = 0; k < n; ++k) a.emplace_back(n + 1, 0.0);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i) {
            if (laplacian[k][i] == 0) continue;
            for (std::size_t j = 0; j < n; ++j)
                a[i][j] += laplacian[k][i] * laplacian[k][j] / static_cast<double>(c.volume[k]);
        }
    for (std::size_t i = 0; i < n; ++i) {
        if (!held[i]) continue;
        std::fill(a[i].begin(), a[i].end(), 0.0);
        a[i][i] = 1;
        a[i][n] = values[i][0];
    }
    std::vector<double> u;
    for (const auto& row : eliminate(std::move(a))) u.push_back(row[0]);
    return u;
}

// An elongated box of leaves of one size, along x; and one whose middle is coarse.
test::Character beam(double half) {
    test::Character c = test::bar();
    const test::Shape box = test::box({0, 0, 0}, {1, half, half}, 4);
    c.positions = box.positions;
    c.triangles = box.triangles;
    return c;
}

TEST(Biharmonic, CubicBetweenTwoFixedEnds) {
    const test::Character c = beam(0.05);
    const Domain domain = domain_of(c, 32, DomainKind::uniform);
    const Conduction conduction = make_conduction(domain, {});
    std::vector<bool> held(conduction.size());
    std::vector<Row> w(conduction.size());
    float low = 1e9f, high = 0;
    for (std::uint32_t i = 0; i < w.size(); ++i) {
        low = std::min(low, domain.centre(i)[0]);
        high = std::max(high, domain.centre(i)[0]);
    }
    for (std::uint32_t i = 0; i < w.size(); ++i) {
        const float x = domain.centre(i)[0];
        held[i] = x == low || x == high;
        w[i][0] = x == low ? 1 : 0;
    }
    const BiharmonicSolver solver(domain, conduction, held);
    const BiharmonicSolver::Outcome outcome = solver.solve(w, 1e-9, 40000);
    EXPECT_TRUE(outcome.converged) << outcome.residual;
    // No heat flows through the ends, so the slope there is 0: the spline 1 - 3t² + 2t³ between the outer faces.
    for (std::uint32_t i = 0; i < w.size(); ++i) {
        const double t = (static_cast<double>(domain.centre(i)[0] - low)) / static_cast<double>(high - low);
        ASSERT_NEAR(w[i][0], 1 - 3 * t * t + 2 * t * t * t, 0.012) << t;
        ASSERT_EQ(w[i][1], 0);
    }
}

TEST(Biharmonic, LinearFieldsHaveNoEnergyAcrossLeafSizes) {
    const test::Character c = beam(0.3);
    const Domain domain = domain_of(c, 64);
    const Conduction conduction = make_conduction(domain, {});
    const BiharmonicSolver solver(domain, conduction, std::vector<bool>(conduction.size(), false));
    std::vector<Row> w(conduction.size()), bent(conduction.size());
    for (std::uint32_t i = 0; i < w.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k) w[i][k] = domain.centre(i)[k];
    solver.laplacian(w, bent);
    std::size_t inner = 0, meeting = 0;
    for (std::uint32_t i = 0; i < w.size(); ++i) {
        if (domain.leaves[i].boundary) continue;
        ++inner;
        bool sizes = false;
        for (std::uint32_t e = conduction.first[i]; e < conduction.first[i + 1]; ++e)
            sizes = sizes || domain.leaves[conduction.to[e]].level > domain.leaves[i].level;
        for (std::size_t k = 0; k < 3; ++k) {
            // The large leaf is off-centre for each small one, but centred for all small leaves of its side
            // together.
            if (!sizes) {
                ASSERT_NEAR(bent[i][k], 0, 1e-9) << i;
            }
        }
        meeting += sizes;
    }
    EXPECT_GT(inner, 100u);
    EXPECT_GT(meeting, 10u);
    // Flow is conserved, so the sum over all leaves is 0.
    for (std::size_t k = 0; k < 3; ++k) {
        double sum = 0;
        for (const Row& row : bent) sum += row[k];
        EXPECT_NEAR(sum, 0, 1e-6);
    }
}

TEST(Biharmonic, EqualsEliminationIfBoundsAreInactive) {
    const test::Character c = beam(0.14);
    const Domain domain = domain_of(c, 32);
    const Conduction conduction = make_conduction(domain, {});
    ASSERT_LT(conduction.size(), 900u);
    std::vector<bool> held(conduction.size());
    std::vector<Row> w(conduction.size());
    for (std::uint32_t i = 0; i < w.size(); ++i) {
        const float x = domain.centre(i)[0];
        held[i] = x < 4 || x > 28;
        w[i][0] = x < 4 ? 0.8 : 0.3;
        w[i][1] = x < 4 ? 1 : 0;
    }
    const BiharmonicSolver solver(domain, conduction, held);
    const std::vector<double> exact = dense(solver, conduction, held, w);
    const std::vector<Row> start = w;
    EXPECT_TRUE(solver.solve(w, 1e-10, 40000).converged);
    for (std::size_t i = 0; i < w.size(); ++i) ASSERT_NEAR(w[i][0], exact[i], 1e-5);
    EXPECT_LT(solver.energy(w)[0], solver.energy(start)[0]);
}

// At the optimum of the bounded problem no coordinate can move downhill (the Karush-Kuhn-Tucker conditions).
TEST(Biharmonic, IsOptimalWithinItsBounds) {
    const test::Character c = beam(0.14);
    const Domain domain = domain_of(c, 32);
    const Conduction conduction = make_conduction(domain, {});
    const std::size_t n = conduction.size();
    std::vector<bool> held(n);
    std::vector<Row> w(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        const float x = domain.centre(i)[0];
        held[i] = (x > 8 && x < 10) || (x > 14 && x < 16) || (x > 22 && x < 24);
        w[i][0] = x > 8 && x < 10 ? 1 : 0;  // beyond the second the unbounded solution is negative
    }
    const BiharmonicSolver solver(domain, conduction, held);
    EXPECT_TRUE(solver.solve(w, 1e-10, 60000).converged);
    std::vector<Row> bent(n), slope(n);
    solver.laplacian(w, bent);
    for (std::size_t i = 0; i < n; ++i)
        for (double& b : bent[i]) b /= static_cast<double>(conduction.volume[i]);
    solver.laplacian(bent, slope);
    std::size_t at_zero = 0;
    for (std::size_t i = 0; i < n; ++i) {
        ASSERT_GE(w[i][0], 0);
        ASSERT_LE(w[i][0], 1);
        if (held[i]) continue;
        if (w[i][0] == 0) {
            ++at_zero;
            ASSERT_GE(slope[i][0], -1e-6);
        } else if (w[i][0] == 1) {
            ASSERT_LE(slope[i][0], 1e-6);
        } else {
            ASSERT_NEAR(slope[i][0], 0, 1e-6);
        }
    }
    EXPECT_GT(at_zero, 10u);
}

TEST(BoundedBiharmonic, WeightsArePartitionedAndSymmetric) {
    const test::Character c = test::bar();
    const Binding binding = bound(c, energy(64));
    const InfluenceTable& table = binding.influences();
    ASSERT_EQ(table.width, 2u);
    const SkinWeights w = *binding.weights();
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        // The fields are minimised separately; they sum to 1 because the energy is 0 for constants.
        EXPECT_NEAR(table.strength[2 * v] + table.strength[2 * v + 1], 1, 0.01);
        for (std::size_t k = 0; k < 2; ++k) {
            EXPECT_GE(table.strength[2 * v + k], 0);
            EXPECT_LE(table.strength[2 * v + k], 1 + 1e-6f);
        }
        if (std::abs(c.positions[v].x) < 1e-4f) {
            EXPECT_NEAR(weight_of(w, v, 0), 0.5f, 0.05f);
        }
        if (c.positions[v].x < -0.5f) {
            EXPECT_GT(weight_of(w, v, 0), 0.98f);
        }
    }
}

TEST(BoundedBiharmonic, SparseAgreesWithUniformAndResolutionsConverge) {
    const test::Character c = test::quadruped(0.03);
    BindOptions o = energy(32);
    const SkinWeights sparse = *bound(c, o).weights();
    o.domain = DomainKind::uniform;
    EXPECT_LT(worst_difference(sparse, *bound(c, o).weights()), 0.2);

    const test::Character box = beam(0.25);
    const SkinWeights coarse = *bound(box, energy(32)).weights(), fine = *bound(box, energy(64)).weights();
    EXPECT_LT(worst_difference(coarse, fine), 0.02);
}

TEST(BoundedBiharmonic, ThreadsDoNotChangeABit) {
    const test::Character c = test::quadruped(0.03);
    const Binding one = bound(c, energy(32), 1), four = bound(c, energy(32), 4);
    EXPECT_EQ(one.influences().strength, four.influences().strength);
    EXPECT_EQ(one.influences().joint, four.influences().joint);
}

TEST(BoundedBiharmonic, LoosePartsAndDefectsBindOrGiveAnError) {
    const test::Character robot = test::robot();
    // Only defects that change the volume or the parts of the mesh. The test of voxel-heat, which uses the same
    // volume, covers all defects.
    for (const char* name : {"soup", "floating", "zero_area", "unused", "single_triangle", "nan"}) {
        const test::Defect& defect = *test::find_defect(name);
        const test::Character c = defect.apply(robot);
        const Result<Binding> binding = bind(c.mesh(), c.skeleton, energy(32));
        if (*defect.error) {
            ASSERT_FALSE(binding) << defect.name;
            continue;
        }
        ASSERT_TRUE(binding) << defect.name << ": " << binding.error().message;
        EXPECT_EQ(binding->report().covered(), 1) << defect.name;
        for (const std::string& warning : binding->report().warnings)
            EXPECT_EQ(warning.find("did not converge"), std::string::npos) << defect.name << ": " << warning;
        const SkinWeights w = *binding->weights();
        for (std::size_t v = 0; v < w.vertex_count(); ++v) ASSERT_FALSE(w[v].empty()) << defect.name << " " << v;
    }
}

TEST(BoundedBiharmonic, APartWithoutBonesFollowsTheNearestJoint) {
    test::Character c = test::u_tube();
    const std::size_t first = c.positions.size();
    const Vec3 left = c.skeleton.joints[c.joint("left")].position;
    const test::Shape box = test::box({left.x - 0.35, left.y - 0.3, left.z}, {0.08, 0.08, 0.08}, 2);
    test::append(c, box.positions, box.triangles, 0);
    const Binding binding = bound(c, energy(64));
    EXPECT_EQ(binding.report().coverage[static_cast<std::size_t>(Coverage::bridged)], c.positions.size() - first);
    const SkinWeights w = *binding.weights();
    for (std::size_t v = first; v < c.positions.size(); ++v) EXPECT_GT(weight_of(w, v, c.joint("left")), 0.95f);
}

TEST(BoundedBiharmonic, RefusesMoreMemoryThanAllowed) {
    const test::Character c = test::bar();
    Context context;
    context.memory_limit = 1 << 20;
    const Result<Binding> refused = bind(c.mesh(), c.skeleton, energy(256), &context);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::too_large);
    for (int stop = 0; stop < 8; ++stop) {
        Context cancelling;
        int calls = 0;
        cancelling.progress = [&](const char*, double) {
            if (calls++ == stop) cancelling.cancel = true;
        };
        const Result<Binding> binding = bind(c.mesh(), c.skeleton, energy(32), &cancelling);
        if (!binding) {
            EXPECT_EQ(binding.error().code, ErrorCode::cancelled);
        }
    }
}

}  // namespace
}  // namespace sinew::test_bounded_biharmonic
