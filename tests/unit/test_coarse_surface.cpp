// The coarse nodes of a surface, and heat solved there against heat solved directly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "bind/planned_mesh.h"
#include "bind/surface_heat/surface_heat.h"
#include "characters/characters.h"
#include "characters/shapes.h"
#include "core/median.h"
#include "core/vectors.h"
#include "sanitized.h"
#include "sinew/bind.h"
#include "surface/coarse_surface.h"
#include "unit/support.h"

namespace sinew::test_coarse_surface {
namespace {

using test::Character;

/// A sheet of 4 x 2, and another that is not made coarser.
struct Sheet {
    test::Shape shape = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 1, 0}, 60, 30);
    MeshView mesh{shape.positions, shape.triangles, {}};
    MeshSurface surface = build_surface(mesh, analyse_mesh(mesh));
    std::vector<std::uint32_t> nodes;

    Sheet() : nodes(surface.nodes()) { std::iota(nodes.begin(), nodes.end(), 0u); }
    Point3 place(std::uint32_t node) const { return to_point(surface.position[node]); }
    CoarseSurface coarse(double spacing, Context* context = nullptr) const {
        return CoarseSurface(
            mesh, surface, std::span<const std::uint32_t>(nodes), [&](std::uint32_t) { return spacing; }, context);
    }
};

TEST(CoarseSurface, IsAsCoarseWhateverTheOrderOfTheFile) {
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

TEST(CoarseSurface, InterpolatesLinearFieldsOfAPlane) {
    const Sheet sheet;
    const CoarseSurface coarse = sheet.coarse(0.2);
    EXPECT_LT(coarse.size(), sheet.surface.nodes() / 3);
    double outside = 0;
    for (const std::uint32_t node : sheet.nodes) {
        const CoarseSurface::Stencil s = coarse.stencil(node);
        EXPECT_EQ(s.share[0] + s.share[1] + s.share[2], 1);
        Point3 at{};
        for (std::size_t k = 0; k < 3; ++k) {
            const Point3 corner = sheet.place(coarse.node(s.of[k]));
            at = at + static_cast<double>(s.share[k]) * corner;
            outside += s.share[k] > 0 && norm(corner - sheet.place(node)) > 0.6;
            EXPECT_TRUE(s.share[k] == 0 || s.share[k] >= 1e-3f) << s.share[k];  // others would fill the matrix
        }
        outside += norm(at - sheet.place(node)) > 1e-6;
    }
    EXPECT_LT(outside, 0.1 * static_cast<double>(sheet.nodes.size()));  // beyond the last nodes at the border
}

// Both sides of a fold lie nearer to each other than the coarse nodes of one side.
TEST(CoarseSurface, ReadsFromOneSideOfAFold) {
    const Sheet flat;
    test::Shape folded = flat.shape;
    for (Vec3& p : folded.positions) p = {0.05f * p.x, p.y, std::abs(p.x)};
    const MeshView mesh{folded.positions, folded.triangles, {}};
    const MeshSurface surface = build_surface(mesh, analyse_mesh(mesh));
    const CoarseSurface coarse(
        mesh, surface, std::span<const std::uint32_t>(flat.nodes), [](std::uint32_t) { return 0.3; }, nullptr);
    EXPECT_LT(coarse.size(), surface.nodes() / 4);
    const auto before = [&](std::uint32_t node) {
        return static_cast<double>(flat.shape.positions[surface.vertex_of[node]].x);
    };
    std::vector<double> x;
    for (const std::uint32_t node : coarse.nodes()) x.push_back(before(node));
    double largest = 0;
    for (const std::uint32_t node : flat.nodes)
        if (std::abs(before(node)) < 1.5)  // not beyond the last nodes at the border
            largest = std::max(largest, std::abs(coarse.at(x, node) - before(node)));
    EXPECT_LT(largest, 0.1);
}

TEST(CoarseSurface, KeepsTheEnergyOfALinearField) {
    const Sheet sheet;
    const auto energy = [&](std::span<const MeshSurface::Edge> edges, const auto& node) {
        double sum = 0;
        for (const MeshSurface::Edge& e : edges)
            sum += e.weight * std::pow(sheet.place(node(e.a))[0] - sheet.place(node(e.b))[0], 2);
        return sum;
    };
    const CoarseSurface coarse = sheet.coarse(0.2);
    EXPECT_NEAR(energy(sheet.surface.edges, [](std::uint32_t i) { return i; }), 8, 1e-2);  // the area
    EXPECT_NEAR(
        energy(coarse.restricted(sheet.surface.edges, nullptr), [&](std::uint32_t i) { return coarse.node(i); }), 8,
        0.4);
}

// yᵀ Pᵀ (L + D) P y = xᵀ (L + D) x, where x = P y.
TEST(CoarseSurface, RestrictsTheLaplacianAndADiagonalMatrix) {
    const Sheet sheet;
    const CoarseSurface coarse = sheet.coarse(0.2);
    std::vector<double> y;
    for (std::size_t i = 0; i < coarse.size(); ++i) y.push_back(std::sin(3.0 * static_cast<double>(i)));
    for (const std::uint32_t every : {1u, 7u, 500u}) {  // D is 0 around most coarse nodes
        const auto diagonal = [&](std::uint32_t node) { return node % every == 0 ? 1e-3 * node : 0; };
        double restricted = 0, whole = 0;
        for (const auto& [row, column, value] : coarse.restricted(sheet.surface.edges, diagonal, nullptr))
            restricted += (row == column ? 1 : 2) * value * y[row] * y[column];
        for (const MeshSurface::Edge& e : sheet.surface.edges)
            whole += e.weight * std::pow(coarse.at(y, e.a) - coarse.at(y, e.b), 2);
        for (const std::uint32_t node : sheet.nodes) whole += diagonal(node) * std::pow(coarse.at(y, node), 2);
        EXPECT_NEAR(restricted, whole, 1e-12 * whole);
    }
}

TEST(CoarseSurface, KeepsEveryNodeThatIsFartherThanTheSpacing) {
    const Sheet sheet;
    const CoarseSurface same = sheet.coarse(0.05);
    ASSERT_EQ(same.size(), sheet.nodes.size());
    std::vector<MeshSurface::Edge> edges = same.restricted(sheet.surface.edges, nullptr);
    ASSERT_EQ(edges.size(), sheet.surface.edges.size());
    for (MeshSurface::Edge& e : edges) {
        const auto [low, high] = std::minmax({same.node(e.a), same.node(e.b)});
        e.a = low, e.b = high;
    }
    std::sort(edges.begin(), edges.end(),
              [](const auto& x, const auto& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
    for (std::size_t e = 0; e < edges.size(); ++e) {
        EXPECT_EQ(edges[e].a, sheet.surface.edges[e].a);
        EXPECT_EQ(edges[e].b, sheet.surface.edges[e].b);
        EXPECT_EQ(edges[e].weight, sheet.surface.edges[e].weight);
    }
}

/// yᵀ A y of entries on one side of the diagonal.
double square(std::span<const MatrixEntry> a, std::span<const double> y) {
    double sum = 0;
    for (const MatrixEntry& e : a) sum += (e.row == e.column ? 1 : 2) * e.value * y[e.row] * y[e.column];
    return sum;
}

// Strips of one triangle's width, whose clusters have no triangles between them, and the sheet.
TEST(CoarseSurface, RestrictsMatricesAsFieldsAreRead) {
    const test::Shape strip = test::sheet({0, 0, 0}, {2, 0, 0}, {0, 0.02f, 0}, 60, 1);
    const MeshView thin{strip.positions, strip.triangles, {}};
    for (const MeshView& mesh : {Sheet().mesh, thin}) {
        Sheet sheet;
        if (mesh.positions.size() == thin.positions.size()) {
            sheet.shape = strip;
            sheet.mesh = {sheet.shape.positions, sheet.shape.triangles, {}};
            sheet.surface = build_surface(sheet.mesh, analyse_mesh(sheet.mesh));
            sheet.nodes.resize(sheet.surface.nodes());
        }
        const CoarseSurface coarse = sheet.coarse(0.25);
        ASSERT_LT(coarse.size(), sheet.nodes.size() / 2);
        std::vector<double> y, x;
        for (std::size_t i = 0; i < coarse.size(); ++i) y.push_back(std::sin(3.0 * static_cast<double>(i)));
        const auto d = [](std::uint32_t node) { return 1.0 + node % 7; };
        const auto b = [](std::uint32_t node, const auto& add) { add(node % 2, 0.5 + node % 5); };
        double dx = 0, lx = 0;
        std::array<double, 2> bx{};
        for (const std::uint32_t node : sheet.nodes) {
            x.push_back(coarse.at(y, node));
            dx += d(node) * x.back() * x.back();
            b(node, [&](std::uint32_t column, double value) { bx[column] += value * x.back(); });
        }
        for (const MeshSurface::Edge& e : sheet.surface.edges) lx += e.weight * std::pow(x[e.a] - x[e.b], 2);
        EXPECT_NEAR(square(coarse.restricted({}, d, nullptr), y), dx, 1e-5 * dx);
        EXPECT_NEAR(square(coarse.restricted(sheet.surface.edges, d, nullptr), y), lx + dx, 1e-5 * (lx + dx));
        double edges = 0;
        for (const MeshSurface::Edge& e : coarse.restricted(sheet.surface.edges, nullptr))
            edges += e.weight * std::pow(y[e.a] - y[e.b], 2);
        EXPECT_NEAR(edges, lx, 1e-5 * lx);
        for (const MatrixEntry& e : coarse.restricted_rows(b, nullptr)) bx[e.column] -= e.value * y[e.row];
        EXPECT_NEAR(bx[0], 0, 1e-3);
        EXPECT_NEAR(bx[1], 0, 1e-3);
    }
}

InfluenceTable heat_by(const Character& c, const HeatRules& heat, int threads, float learned = 0,
                       const RowCorrection& correction = {}) {
    Context context;
    context.threads = threads;
    BindOptions options = preset(Method::surface_heat);
    options.learned = learned;
    BindReport report;
    StageClock clock(report, &context);
    const MeshView mesh = c.mesh();
    const PlannedMesh planned = plan_mesh(mesh, c.skeleton, clock, report);
    std::vector<Bone> bones = make_bones(c.skeleton);
    const Task task = make_task(mesh, c.skeleton, options, planned, bones, clock);
    SurfaceHeatRules rules;
    rules.heat = heat;
    return std::get<InfluenceTable>(
        test::must(bind_surface_heat(task, rules, correction ? correction : learned_correction(task))).table);
}

HeatRules on_nodes(std::size_t count) { return {.direct = 0, .coarse = count}; }

double strength_of(const InfluenceTable& table, std::size_t vertex, std::uint32_t joint) {
    for (std::size_t k = vertex * table.width; k < (vertex + 1) * table.width; ++k)
        if (table.joint[k] == joint) return static_cast<double>(table.strength[k]);
    return 0;
}

/// L1 between the rows of each vertex, which may have any sums, sorted.
std::vector<double> differences(const InfluenceTable& a, const InfluenceTable& b, std::size_t joints) {
    std::vector<double> out(a.vertices, 0);
    for (std::size_t v = 0; v < a.vertices; ++v) {
        double of_a = 0, of_b = 0;
        for (std::uint32_t j = 0; j < joints; ++j) of_a += strength_of(a, v, j), of_b += strength_of(b, v, j);
        for (std::uint32_t j = 0; j < joints; ++j)
            out[v] += std::abs(strength_of(a, v, j) / of_a - strength_of(b, v, j) / of_b);
    }
    std::sort(out.begin(), out.end());
    return out;
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(CoarseSurface, HeatIsThatOfTheDirectSolve) {
    for (const Character& c : {test::biped({.cell = test::sanitized ? 0.03 : 0.012}), test::caped()}) {
        if (test::sanitized && c.name == "caped") continue;
        const InfluenceTable direct = heat_by(c, {.direct = 1'000'000}, 2),
                             coarse = heat_by(c, on_nodes(c.positions.size() / 2), 2);
        const std::vector<double> d = differences(direct, coarse, c.skeleton.joints.size());
        EXPECT_LT(mean_of(d), 0.002);
        EXPECT_LT(d[d.size() * 999 / 1000], 0.03) << mean_of(d);
        EXPECT_GT(d.back(), 0);  // the coarse surface was used
    }
}

TEST(CoarseSurface, TheLearnedCorrectionIsInterpolated) {
    const Character c = test::biped({.cell = test::sanitized ? 0.04 : 0.012});
    const HeatRules half = on_nodes(c.positions.size() / 2);
    const std::size_t joints = c.skeleton.joints.size();
    const InfluenceTable direct = heat_by(c, {.direct = 1'000'000}, 2, 0.7f), coarse = heat_by(c, half, 2, 0.7f);
    EXPECT_LT(mean_of(differences(direct, coarse, joints)), 0.006);
    EXPECT_GT(mean_of(differences(direct, coarse, joints)), 0);
    EXPECT_GT(mean_of(differences(heat_by(c, half, 2), coarse, joints)), 0.05);  // without it
}

TEST(CoarseSurface, RowsAreCorrectedAtItsNodes) {
    const Character c = test::biped({.cell = test::sanitized ? 0.04 : 0.02});
    double area[2] = {}, count[2] = {};
    std::size_t size[2] = {};
    for (const bool coarse : {false, true})
        heat_by(c, coarse ? on_nodes(c.positions.size() / 4) : HeatRules{.direct = 1'000'000}, 2, 0,
                [&](const JointSet&, const InfluenceFeatures&, const auto&, const SetRows& rows) {
                    size[coarse] = rows.vertices.size();
                    area[coarse] = std::accumulate(rows.area.begin(), rows.area.end(), 0.0);
                    count[coarse] = std::accumulate(rows.count.begin(), rows.count.end(), 0.0);
                });
    EXPECT_LT(size[1], size[0]);
    EXPECT_NEAR(count[1], count[0], 1e-3 * count[0]);
    EXPECT_NEAR(area[1], area[0], 1e-5 * area[0]);
}

TEST(CoarseSurface, HasAboutAsManyNodesAsTheRulesSay) {
    const Character c = test::biped({.cell = test::sanitized ? 0.03 : 0.012});
    const std::size_t all = c.positions.size();
    // Not fewer: clusters as large as a finger would go around it.
    for (const std::size_t wanted : {all / (test::sanitized ? 3 : 6), all / 2, all * 2 / 3}) {
        std::size_t size = 0;
        heat_by(c, {.direct = 0, .coarse = wanted, .most = wanted}, 2, 0,
                [&](const JointSet&, const InfluenceFeatures&, const auto&, const SetRows& rows) {
                    size = rows.vertices.size();
                });
        EXPECT_NEAR(static_cast<double>(size), static_cast<double>(wanted), 0.25 * static_cast<double>(wanted));
    }
}

TEST(CoarseSurface, PartsFollowTheSameJoints) {
    const Character c = test::robot();  // of many rigid parts
    const InfluenceTable direct = heat_by(c, {.direct = 1'000'000}, 2),
                         coarse = heat_by(c, on_nodes(c.positions.size() / 4), 2);
    EXPECT_LT(mean_of(differences(direct, coarse, c.skeleton.joints.size())), 0.001);
}

TEST(WeightedMedian, IsTheValueInTheMiddleOfTheWeight) {
    std::mt19937 random(7);
    for (std::size_t count = 0; count < 60; ++count) {
        std::vector<double> plain;
        std::vector<WeightedValue> equal, repeated;
        std::vector<double> all;
        for (std::size_t i = 0; i < count; ++i) {
            const auto value = static_cast<double>(random() % 20);
            const std::size_t times = random() % 4;
            plain.push_back(value);
            equal.push_back({value, 1});
            repeated.push_back({value, static_cast<double>(times)});
            all.insert(all.end(), times, value);
        }
        EXPECT_EQ(median(equal), median(plain));
        if (all.empty()) continue;
        EXPECT_EQ(median(repeated), median(all)) << count;
    }
}

TEST(CoarseSurface, OfFewNodesStillHeatsEveryVertex) {
    const Character c = test::robot();  // of many parts
    const InfluenceTable coarse = heat_by(c, on_nodes(1), 2);
    for (std::size_t v = 0; v < coarse.vertices; ++v) EXPECT_GT(coarse.strength[v * coarse.width], 0.2f) << v;
}

TEST(CoarseSurface, HeatHasTheSameBitsOnAnyNumberOfThreads) {
    const Character c = test::biped({.cell = test::sanitized ? 0.04 : 0.02});
    const InfluenceTable one = heat_by(c, on_nodes(2000), 1, 0.7f), three = heat_by(c, on_nodes(2000), 3, 0.7f);
    EXPECT_EQ(one.joint, three.joint);
    EXPECT_EQ(one.strength, three.strength);
}

}  // namespace
}  // namespace sinew::test_coarse_surface
