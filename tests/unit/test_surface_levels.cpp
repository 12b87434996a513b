// Levels of a surface: what they keep, and heat solved on them against heat solved directly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bind/planned_mesh.h"
#include "bind/surface_heat/surface_heat.h"
#include "characters/characters.h"
#include "characters/shapes.h"
#include "core/vectors.h"
#include "sanitized.h"
#include "sinew/bind.h"
#include "surface/level_solver.h"
#include "surface/surface_levels.h"
#include "unit/support.h"

namespace sinew {
namespace {

using test::Character;

struct Sheet {
    test::Shape shape = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 1, 0}, 60, 30);
    MeshView mesh{shape.positions, shape.triangles, {}};
    MeshSurface surface = build_surface(mesh, analyse_mesh(mesh));
    SurfaceLevel fine;

    Sheet() {
        std::vector<std::uint32_t> nodes(surface.nodes());
        std::iota(nodes.begin(), nodes.end(), 0u);
        fine = finest_level(mesh, surface, nodes, nodes, nullptr);
    }
};

/// The energy of a field, Σ w (f_a - f_b)².
double energy(const SurfaceLevel& level, const std::function<double(const Point3&)>& f) {
    double sum = 0;
    for (std::size_t i = 0; i < level.nodes(); ++i)
        for (const auto& link : level.links(i))
            sum += static_cast<double>(link.weight) * std::pow(f(level.place[i]) - f(level.place[link.to]), 2) / 2;
    return sum;
}

TEST(SurfaceLevels, AreAsCoarseWhateverTheOrderOfTheFile) {
    test::Shape shape = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 1, 0}, 300, 150);
    const auto size = [&] {
        const MeshView mesh{shape.positions, shape.triangles, {}};
        return CoarseSurface(
                   mesh, build_surface(mesh, analyse_mesh(mesh)), [](std::uint32_t) { return 0.3; }, nullptr)
            .size();
    };
    const std::size_t ordered = size(), n = shape.positions.size();
    const auto moved = [&](std::size_t i) { return 7919 * i % n; };  // neighbours lie far from each other
    std::vector<Vec3> positions(n);
    for (std::size_t i = 0; i < n; ++i) positions[moved(i)] = shape.positions[i];
    for (Triangle& t : shape.triangles)
        for (std::uint32_t& corner : t) corner = static_cast<std::uint32_t>(moved(corner));
    shape.positions.assign(positions.begin(), positions.end());
    EXPECT_LT(ordered, n / 20);
    EXPECT_LT(size(), n / 20);
}

TEST(SurfaceLevels, InterpolateLinearFieldsOfAPlane) {
    const Sheet sheet;
    const SurfaceLevel coarse = coarsen(
        sheet.fine, [](std::uint32_t) { return 0.2; }, nullptr);
    EXPECT_LT(coarse.nodes(), sheet.fine.nodes() / 3);
    ASSERT_EQ(coarse.stencil.size(), sheet.fine.nodes());
    double outside = 0;
    for (std::size_t i = 0; i < sheet.fine.nodes(); ++i) {
        const SurfaceLevel::Stencil& s = coarse.stencil[i];
        EXPECT_NEAR(s.share[0] + s.share[1] + s.share[2], 1, 1e-6);
        Point3 at{};
        for (std::size_t k = 0; k < 3; ++k) at = at + static_cast<double>(s.share[k]) * coarse.place[s.of[k]];
        outside += norm(at - sheet.fine.place[i]) > 1e-6;
    }
    EXPECT_LT(outside, 0.1 * static_cast<double>(sheet.fine.nodes()));  // beyond the last nodes at the border
}

TEST(SurfaceLevels, KeepTheEnergyOfALinearField) {
    const Sheet sheet;
    const SurfaceLevel coarse = coarsen(
        sheet.fine, [](std::uint32_t) { return 0.2; }, nullptr);
    const auto x = [](const Point3& p) { return p[0]; };
    EXPECT_NEAR(energy(sheet.fine, x), 8, 1e-2);  // the area
    EXPECT_NEAR(energy(coarse, x), 8, 0.4);
}

TEST(SurfaceLevels, KeepEveryNodeThatIsFartherThanTheSpacing) {
    const Sheet sheet;
    const SurfaceLevel same = coarsen(
        sheet.fine, [](std::uint32_t) { return 0.05; }, nullptr);
    ASSERT_EQ(same.nodes(), sheet.fine.nodes());
    ASSERT_EQ(same.link.size(), sheet.fine.link.size());
    for (std::size_t i = 0; i < same.nodes(); ++i)
        for (const auto& link : same.links(i)) {
            const auto before = sheet.fine.links(i);
            const auto at =
                std::find_if(before.begin(), before.end(), [&](const auto& l) { return l.to == link.to; });
            ASSERT_NE(at, before.end());
            EXPECT_EQ(link.weight, at->weight);
        }
}

/// (L + D) x = b on the sheet, D and b given at some nodes only: by levels and directly.
TEST(LevelSolver, SolvesWhatTheDirectSolverSolves) {
    const Sheet sheet;
    const std::size_t nodes = sheet.fine.nodes();
    std::vector<SurfaceLevel> levels{sheet.fine};
    for (const double spacing : {0.08, 0.15})
        levels.push_back(coarsen(
            levels.back(), [&](std::uint32_t) { return spacing; }, nullptr));
    std::vector<double> d(nodes, 0);
    std::vector<LocalField> b(6);  // one end, four times nothing, the other end
    std::vector<MatrixEntry> entries;
    for (std::uint32_t i = 0; i < nodes; ++i) {
        const double x = sheet.fine.place[i][0];
        if (x < 0.7 || x > 1.3) {  // the ends are held by one right hand side each
            d[i] = 0.01;
            b[x > 1 ? 5 : 0].node.push_back(i);
            b[x > 1 ? 5 : 0].value.push_back(0.01f);
            entries.push_back({i, i, d[i]});
        }
        for (const auto& link : sheet.fine.links(i)) {
            entries.push_back({i, i, static_cast<double>(link.weight)});
            if (i < link.to) entries.push_back({i, link.to, -static_cast<double>(link.weight)});
        }
    }
    const Cholesky exact = test::must(Cholesky::factor(nodes, entries));
    std::vector<LocalFields> found;
    for (const int threads : {1, 4}) {
        Context context;
        context.threads = threads;
        const LevelSolver solver = test::must(LevelSolver::make(levels, d, &context));
        const std::vector<LocalFields> again = solver.solve(b, &context);
        ASSERT_EQ(again.size(), b.size() / LocalFields::kTogether + 1);
        for (std::size_t g = 0; g < found.size(); ++g) {
            ASSERT_EQ(found[g].node, again[g].node);
            for (std::size_t n = 0; n < again[g].node.size(); ++n)
                for (std::size_t c = 0; c < LocalFields::kTogether; ++c)
                    EXPECT_EQ(found[g].value[n].of[c], again[g].value[n].of[c]);
        }
        found = again;
    }
    Context stopped;
    stopped.cancel = true;
    const LevelSolver solver = test::must(LevelSolver::make(levels, d, nullptr));
    for (const LocalFields& fields : solver.solve(b, &stopped)) EXPECT_TRUE(fields.value.empty());
    for (std::size_t k = 0; k < b.size(); ++k) {
        std::vector<double> right(nodes, 0);
        for (std::size_t n = 0; n < b[k].node.size(); ++n) right[b[k].node[n]] = static_cast<double>(b[k].value[n]);
        const std::vector<double> x = exact.solve(right);
        const LocalFields& fields = found[k / LocalFields::kTogether];
        ASSERT_TRUE(std::is_sorted(fields.node.begin(), fields.node.end()));
        std::vector<double> own(nodes, 0);
        for (std::size_t n = 0; n < fields.node.size(); ++n)
            own[fields.node[n]] = static_cast<double>(fields.value[n].of[k % LocalFields::kTogether]);
        for (std::size_t i = 0; i < nodes; ++i) EXPECT_NEAR(own[i], x[i], 0.005) << i;
    }
}

InfluenceTable heat_by(const Character& c, std::size_t direct, int threads) {
    Context context;
    context.threads = threads;
    BindOptions options = preset(Method::surface_heat);
    options.learned = 0;
    BindReport report;
    StageClock clock(report, &context);
    const MeshView mesh = c.mesh();
    const PlannedMesh planned = plan_mesh(mesh, c.skeleton, clock, report);
    std::vector<Bone> bones = make_bones(c.skeleton);
    const Task task = make_task(mesh, c.skeleton, options, planned, bones, clock);
    SurfaceHeatRules rules;
    rules.heat.direct = direct;
    return std::get<InfluenceTable>(test::must(bind_surface_heat(task, rules, nullptr)).table);
}

double at(const InfluenceTable& table, std::size_t vertex, std::uint32_t joint) {
    for (std::size_t k = vertex * table.width; k < (vertex + 1) * table.width; ++k)
        if (table.joint[k] == joint) return static_cast<double>(table.strength[k]);
    return 0;
}

/// L1 between the rows of each vertex, sorted.
std::vector<double> differences(const InfluenceTable& a, const InfluenceTable& b, std::size_t joints) {
    std::vector<double> out(a.vertices, 0);
    for (std::size_t v = 0; v < a.vertices; ++v)
        for (std::uint32_t j = 0; j < joints; ++j) out[v] += std::abs(at(a, v, j) - at(b, v, j));
    std::sort(out.begin(), out.end());
    return out;
}

TEST(SurfaceLevels, HeatIsThatOfTheDirectSolve) {
    for (const Character& c : {test::biped({.cell = test::sanitized ? 0.03 : 0.012}), test::caped()}) {
        const InfluenceTable direct = heat_by(c, 1'000'000, 2), levels = heat_by(c, 500, 2);
        const std::vector<double> d = differences(direct, levels, c.skeleton.joints.size());
        EXPECT_LT(std::accumulate(d.begin(), d.end(), 0.0) / static_cast<double>(d.size()), 0.002);
        EXPECT_LT(d[d.size() * 999 / 1000], 0.03);
        EXPECT_GT(d.back(), 0);  // the levels were used
    }
}

TEST(SurfaceLevels, NodesTooFewForALevelAreSolvedDirectly) {
    for (const double cell : {0.05, 0.1, 0.2}) {  // coarse enough to have no level, or only one
        const Character c = test::biped({.cell = cell});
        const InfluenceTable direct = heat_by(c, 1'000'000, 1), levels = heat_by(c, 0, 1);
        const std::vector<double> d = differences(direct, levels, c.skeleton.joints.size());
        EXPECT_LT(d.back(), 0.1) << cell;
    }
}

TEST(SurfaceLevels, HeatHasTheSameBitsOnAnyNumberOfThreads) {
    const Character c = test::biped({.cell = test::sanitized ? 0.04 : 0.02});
    const InfluenceTable one = heat_by(c, 500, 1), three = heat_by(c, 500, 3);
    EXPECT_EQ(one.joint, three.joint);
    EXPECT_EQ(one.strength, three.strength);
}

}  // namespace
}  // namespace sinew
