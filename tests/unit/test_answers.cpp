// Edits that spread an answer: pins, parts, borders, on surfaces where the result is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sinew/edits.h"
#include "sinew/questions.h"
#include "unit/support.h"

namespace sinew::test_answers {
namespace {

using test::must;
using test::Rows;
using test::weight_of;
using test::weights_of;

struct Grid {
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
    MeshView view() const { return {positions, triangles, {}}; }

    /// A sheet in the plane z = 0, from -1 to 1 along x, of `across` quads along y.
    static Grid sheet(std::uint32_t along, std::uint32_t across, float y = 0) {
        Grid g;
        const float step = 2.0f / static_cast<float>(along);
        for (std::uint32_t i = 0; i <= along; ++i)
            for (std::uint32_t k = 0; k <= across; ++k)
                g.positions.push_back({-1 + step * static_cast<float>(i), y + step * static_cast<float>(k), 0});
        for (std::uint32_t i = 0; i < along; ++i)
            for (std::uint32_t k = 0; k < across; ++k) {
                const std::uint32_t a = i * (across + 1) + k, b = a + across + 1;
                g.triangles.push_back({a, b, a + 1});
                g.triangles.push_back({a + 1, b, b + 1});
            }
        return g;
    }
    static Grid sphere(std::uint32_t rings) {
        Grid g;
        const std::uint32_t round = 2 * rings;
        for (std::uint32_t i = 0; i <= rings; ++i)
            for (std::uint32_t k = 0; k < round; ++k) {
                const double a = M_PI * i / rings, b = 2 * M_PI * k / round;
                g.positions.push_back({static_cast<float>(std::sin(a) * std::cos(b)),
                                       static_cast<float>(std::cos(a)),
                                       static_cast<float>(std::sin(a) * std::sin(b))});
                if (i == rings) continue;
                const std::uint32_t v = i * round + k, next = i * round + (k + 1) % round;
                g.triangles.push_back({v, next, v + round});
                g.triangles.push_back({next, next + round, v + round});
            }
        for (std::uint32_t k = 1; k < round; ++k) {  // one position at each pole
            g.positions[k] = g.positions[0];
            g.positions[rings * round + k] = g.positions[rings * round];
        }
        return g;
    }
    void add(const Grid& other) {
        const auto first = static_cast<std::uint32_t>(positions.size());
        positions.insert(positions.end(), other.positions.begin(), other.positions.end());
        for (const Triangle& t : other.triangles) triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
    }
    SkinWeights weights(const std::function<std::vector<Influence>(const Vec3&)>& row) const {
        Rows rows;
        for (const Vec3& p : positions) rows.push_back(row(p));
        return weights_of(rows);
    }
};

/// Root in the middle, and a left and a right joint beside it.
Skeleton pair_of_sides() {
    Skeleton s;
    const float x[] = {0, 0.5f, -0.5f};
    const char* names[] = {"root", "arm_l", "arm_r"};
    for (int j = 0; j < 3; ++j) {
        Joint joint;
        joint.name = names[j];
        joint.parent = j ? 0 : -1;
        joint.position = {x[j], 0.05f, 0};
        s.joints.push_back(joint);
    }
    return s;
}

Pin pin(std::uint32_t vertex, std::vector<Influence> weights) {
    Pin out;
    out.vertex = vertex;
    out.weights = std::move(weights);
    return out;
}
WeightEdit pins(std::vector<Pin> list, float reach = 0.06f) {
    WeightEdit e;
    e.kind = EditKind::pin;
    e.pins = std::move(list);
    e.value = reach;
    return e;
}
WeightEdit border(float shift, float width = NAN) {
    WeightEdit e;
    e.kind = EditKind::border;
    e.joints = {0, 1};
    e.shift = shift;
    e.width = width;
    return e;
}

Result<SkinWeights> apply(const Grid& g, const SkinWeights& w, WeightEdit e, const Skeleton& s = pair_of_sides(),
                          const Locks& locks = {}, int threads = 0) {
    Context context;
    context.threads = threads;
    const EditSurface surface(g.view());
    if (const Status ok = complete_edits({&e, 1}, surface, s, nullptr); !ok) return ok.error();
    return apply_edits(g.view(), w, {&e, 1}, locks, s.joints.size(), 4, nullptr, &context);
}
std::string refusal(const Result<SkinWeights>& r) { return r ? "" : r.error().message; }

std::vector<Influence> ramp(const Vec3& p) {  // joint 1 on the right, 0 on the left, over a width of 0.8
    const float t = std::clamp(0.5f + p.x / 0.8f, 0.0f, 1.0f);
    if (t == 0 || t == 1) return {{t > 0 ? 1u : 0u, 1}};
    return {{0, 1 - t}, {1, t}};
}

TEST(Answers, PinsAreMetExactlyAndRowsStayRows) {
    const Grid g = Grid::sheet(60, 20);
    const SkinWeights w = g.weights(ramp);
    const std::vector<Pin> given{pin(100, {{0, 0.25f}, {2, 0.75f}}), pin(121, {{1, 1}}),
                                 pin(900, {{0, 0.5f}, {1, 0.3f}, {2, 0.2f}})};
    const SkinWeights out = must(apply(g, w, pins(given)));
    for (const Pin& p : given)
        for (const Influence& i : p.weights) EXPECT_NEAR(weight_of(out, p.vertex, i.joint), i.weight, 1e-6);
    std::size_t same = 0;
    for (std::size_t v = 0; v < g.positions.size(); ++v) {
        double sum = 0;
        for (const Influence& i : out[v]) sum += i.weight;
        EXPECT_NEAR(sum, 1, 1e-6);
        same += std::equal(out[v].begin(), out[v].end(), w[v].begin(), w[v].end());
    }
    EXPECT_GT(same, g.positions.size() / 10);  // far away not a bit changes
    EXPECT_LT(same, g.positions.size());
}

TEST(Answers, APinFallsOffWithDistanceOnASphere) {
    for (const std::uint32_t rings : {24u, 60u}) {  // without coarse nodes and with them
        const Grid g = Grid::sphere(rings);
        const SkinWeights w = g.weights([](const Vec3&) { return std::vector<Influence>{{0, 0.5f}, {1, 0.5f}}; });
        const SkinWeights out = must(apply(g, w, pins({pin(0, {{1, 1}})})));
        const std::uint32_t round = 2 * rings;
        double last = 1;
        for (std::uint32_t i = 1; i <= rings; ++i) {
            const double here = weight_of(out, i * round, 1);
            if (i * M_PI / rings < 0.06 * std::sqrt(4 * M_PI) * 3) {
                EXPECT_LE(here, last + 0.01) << i;
            }
            last = here;
            for (std::uint32_t k = 1; k < round; k += 7)  // round about
                EXPECT_NEAR(weight_of(out, i * round + k, 1), here, 0.05) << i;
        }
        EXPECT_GT(weight_of(out, round, 1), 0.9);
        EXPECT_NEAR(weight_of(out, rings * round, 1), 0.5, 1e-6);
    }
}

/// How many vertices a pin at the middle of a sheet gives to joint 2.
std::size_t taken(const Grid& g, const SkinWeights& w, float reach) {
    const SkinWeights out = must(apply(g, w, pins({pin(60 * 121 + 60, {{2, 1}})}, reach)));
    std::size_t most = 0;
    for (std::size_t v = 0; v < g.positions.size(); ++v)
        most += weight_of(out, v, 2) > 0.5 && weight_of(w, v, 2) < 0.5;
    return most;
}

TEST(Answers, APinReachesAsFarAsItSaysAndLessWhereJointsAreSmall) {
    const Grid g = Grid::sheet(120, 120, -1);
    const auto of = [&](float middle, float end) {  // joint 1 in the middle, joint 2 at an end
        return g.weights([=](const Vec3& p) {
            const bool is_middle = std::max(std::abs(p.x), std::abs(p.y)) < middle;
            return std::vector<Influence>{{is_middle ? 1u : p.x < end ? 2u : 0u, 1}};
        });
    };
    const std::size_t plain = taken(g, of(0, -0.6f), 0.06f), twice = taken(g, of(0, -0.6f), 0.12f);
    EXPECT_GT(plain, 100u);
    EXPECT_NEAR(static_cast<double>(twice) / static_cast<double>(plain), 4, 1);
    EXPECT_LT(taken(g, of(0.1f, -0.6f), 0.06f), plain / 3);  // joint 1 has 1 % of the area
    EXPECT_LT(taken(g, of(0, -1), 0.06f), plain / 3);        // joint 2 has none
}

TEST(Answers, APinStopsWhereRowsDifferAndCrossesToPartsThatTouch) {
    Grid g = Grid::sheet(120, 120, -1);
    const auto body = static_cast<std::uint32_t>(g.positions.size());
    Grid part = Grid::sheet(4, 4);
    for (Vec3& p : part.positions) p = {-0.15f + 0.03f * p.x, 0.03f * p.y, 0.02f};
    g.add(part);
    const SkinWeights w = g.weights([](const Vec3& p) {
        if (p.x < -0.6f) return std::vector<Influence>{{2, 1}};
        return std::vector<Influence>{{0, p.x < 0 ? 0.95f : 0.05f}, {1, p.x < 0 ? 0.05f : 0.95f}};
    });
    const SkinWeights out = must(apply(g, w, pins({pin(57 * 121 + 60, {{2, 1}})})));
    EXPECT_GT(weight_of(out, 52 * 121 + 60, 2), 0.5);
    EXPECT_LT(weight_of(out, 62 * 121 + 60, 2), 0.5);  // as far, behind the line
    EXPECT_GT(weight_of(out, body + 12, 2), 0.2);
}

TEST(Answers, WhatLiesOnBothSidesIsEditedOnce) {
    const Grid g = Grid::sheet(40, 4);
    WeightEdit e;
    e.kind = EditKind::assign;
    e.joints = {0};
    e.symmetric = true;
    e.selection.assign(g.positions.size(), 0);
    e.selection[20 * 5 + 2] = e.selection[30 * 5 + 2] = 0.5f;
    const SkinWeights out = must(apply(g, g.weights([](const Vec3&) {
        return std::vector<Influence>{{1, 1}};
    }),
                                       e));
    for (const std::size_t column : {10u, 20u, 30u}) EXPECT_NEAR(weight_of(out, column * 5 + 2, 0), 0.5, 1e-6);
}

TEST(Answers, AFurtherPinEqualsAllAtOnce) {
    const Grid g = Grid::sheet(80, 40);
    const SkinWeights w = g.weights(ramp);
    const std::vector<Pin> given{pin(100, {{2, 1}}), pin(1500, {{1, 1}}), pin(2500, {{0, 0.5f}, {2, 0.5f}})};
    const EditSurface surface(g.view());
    PaintedWeights painted = must(PaintedWeights::begin(surface, w, {}, 3, 4));
    for (std::size_t n = 1; n <= given.size(); ++n) {
        WeightEdit e = pins({given.begin(), given.begin() + static_cast<std::ptrdiff_t>(n)});
        ASSERT_TRUE(complete_edits({&e, 1}, surface, pair_of_sides(), nullptr));
        ASSERT_TRUE(painted.apply(e, n > 1));
    }
    EXPECT_EQ(painted.weights(), must(apply(g, w, pins(given))));
    EXPECT_EQ(painted.edits(), 1u);
    ASSERT_TRUE(painted.undo());
    EXPECT_EQ(painted.weights(), w);
}

TEST(Answers, ThreadsChangeNoBit) {
    const Grid g = Grid::sheet(90, 50);
    const SkinWeights w = g.weights(ramp);
    const WeightEdit e = pins({pin(700, {{2, 1}}), pin(3000, {{0, 1}})});
    EXPECT_EQ(must(apply(g, w, e, pair_of_sides(), {}, 1)), must(apply(g, w, e, pair_of_sides(), {}, 3)));
    EXPECT_EQ(must(apply(g, w, border(0.1f), pair_of_sides(), {}, 1)),
              must(apply(g, w, border(0.1f), pair_of_sides(), {}, 3)));
}

TEST(Answers, AListOfPointsSurvivesAnotherMesh) {
    WeightEdit e = pins({pin(no_index, {{1, 1}})});
    e.pins[0].point = {-0.5f, 0.25f, 0.02f};
    double at[2];
    for (const bool fine : {false, true}) {
        const Grid g = fine ? Grid::sheet(120, 30) : Grid::sheet(40, 10);
        const SkinWeights out = must(apply(g, g.weights(ramp), e));
        const auto near =
            std::min_element(g.positions.begin(), g.positions.end(), [](const Vec3& a, const Vec3& b) {
                return std::hypot(a.x + 0.45, a.y - 0.25) < std::hypot(b.x + 0.45, b.y - 0.25);
            });
        at[fine] = weight_of(out, static_cast<std::size_t>(near - g.positions.begin()), 1);
    }
    EXPECT_GT(at[0], 0.5);
    EXPECT_NEAR(at[0], at[1], 0.08);
}

TEST(Answers, TheStrongestAloneKeepsItsSoftness) {
    const Grid g = Grid::sheet(20, 4);
    const SkinWeights w = g.weights([](const Vec3&) { return std::vector<Influence>{{0, 0.6f}, {1, 0.4f}}; });
    Pin p = pin(50, {{1, 1}});
    p.strongest = true;
    const SkinWeights out = must(apply(g, w, pins({p})));
    EXPECT_NEAR(weight_of(out, 50, 1), 0.6, 1e-6);
    EXPECT_NEAR(weight_of(out, 50, 0), 0.4, 1e-6);
}

TEST(Answers, PinsHoldLocksAndCountOnTheOtherSide) {
    const Grid g = Grid::sheet(40, 4);
    const SkinWeights w = g.weights([](const Vec3&) { return std::vector<Influence>{{0, 1}}; });
    const std::uint32_t left = 30 * 5 + 2, right = 10 * 5 + 2;
    WeightEdit e = pins({pin(left, {{1, 0.75f}, {0, 0.25f}})});
    e.symmetric = true;
    const SkinWeights both = must(apply(g, w, e));
    EXPECT_NEAR(weight_of(both, left, 1), 0.75, 1e-6);
    EXPECT_NEAR(weight_of(both, right, 2), 0.75, 1e-6);
    Locks locks;
    locks.vertices.assign(g.positions.size(), false);
    locks.vertices[left + 1] = true;
    EXPECT_EQ(weight_of(must(apply(g, w, e, pair_of_sides(), locks)), left + 1, 0), 1);
    locks.vertices[left] = true;
    EXPECT_NE(refusal(apply(g, w, e, pair_of_sides(), locks)).find("edit 1: pin: pin 1: the vertex 152 is locked"),
              std::string::npos);
    locks.vertices.clear();
    locks.joints = {false, true};
    EXPECT_EQ(weight_of(must(apply(g, w, e, pair_of_sides(), locks)), left, 1), 0);
}

// Where the weights of both joints are equal along x.
double line_of(const Grid& g, const SkinWeights& w) {
    double best = 9;
    for (std::size_t v = 0; v + 3 < g.positions.size(); v += 3) {
        const double a = weight_of(w, v, 0) - 0.5, b = weight_of(w, v + 3, 0) - 0.5;
        if (a >= 0 && b < 0) best = g.positions[v].x + a / (a - b) * (g.positions[v + 3].x - g.positions[v].x);
    }
    return best;
}

TEST(Answers, ABorderMovesByItsLengthAndTakesItsWidth) {
    const Grid g = Grid::sheet(200, 2);
    const SkinWeights w = g.weights(ramp);
    for (const float shift : {-0.2f, -0.05f, 0.1f, 0.25f})
        EXPECT_NEAR(line_of(g, must(apply(g, w, border(shift)))), shift, 0.015);
    const SkinWeights narrow = must(apply(g, w, border(0.1f, 0.2f)));
    EXPECT_NEAR(line_of(g, narrow), 0.1, 0.01);
    const auto column = [](double x) { return static_cast<std::size_t>(std::lround((x + 1) * 100)) * 3; };
    EXPECT_GT(weight_of(narrow, column(0.0), 0), 0.9);
    EXPECT_LT(weight_of(narrow, column(0.2), 0), 0.1);
    // A third joint keeps its weight: only what both have is divided anew.
    const SkinWeights three = g.weights([](const Vec3& p) {
        std::vector<Influence> row = ramp(p);
        for (Influence& i : row) i.weight *= 0.7f;
        row.push_back({2, 0.3f});
        return row;
    });
    const SkinWeights moved = must(apply(g, three, border(0.2f)));
    for (std::size_t v = 0; v < g.positions.size(); ++v) EXPECT_NEAR(weight_of(moved, v, 2), 0.3, 1e-5);
    EXPECT_NE(moved, three);
}

TEST(Answers, PartsFollowOneJointAndTheirTwins) {
    Grid g = Grid::sheet(40, 20);
    const auto body = static_cast<std::uint32_t>(g.positions.size());
    for (const float x : {0.6f, -0.6f}) {
        Grid part = Grid::sheet(4, 4);
        for (Vec3& p : part.positions) p = {x + 0.1f * p.x, 0.1f + 0.1f * p.y, 0.1f};
        g.add(part);
    }
    const SkinWeights w = g.weights([](const Vec3&) { return std::vector<Influence>{{0, 1}}; });
    WeightEdit e;
    e.kind = EditKind::assign;
    e.joints = {1};
    e.parts = e.symmetric = true;
    e.selection.assign(g.positions.size(), 0);
    e.selection[body + 7] = 1;
    const SkinWeights out = must(apply(g, w, e));
    for (std::uint32_t v = 0; v < g.positions.size(); ++v)
        EXPECT_EQ(weight_of(out, v, v < body ? 0 : v < body + 25 ? 1 : 2), 1) << v;
    e.selection[3] = 1;
    EXPECT_NE(refusal(apply(g, w, e)).find("edit 1: assign: the part at vertex 0 is"), std::string::npos);
    e.joints.clear();
    e.as = "file";
    EXPECT_NE(refusal(apply(g, w, e)).find("edit 1: assign: \"as\": the file has no weights"), std::string::npos);
}

TEST(Answers, ErrorsNameTheEntry) {
    const Grid g = Grid::sheet(20, 4);
    const SkinWeights w = g.weights(ramp);
    const auto says = [&](const WeightEdit& e, const std::string& text, const Skeleton& s = pair_of_sides()) {
        const std::string said = refusal(apply(g, w, e, s));
        EXPECT_NE(said.find(text), std::string::npos) << text << " | " << said;
    };
    says(pins({}), "edit 1: pin: there are no pins");
    says(pins({pin(3, {{1, 1}}), pin(4, {{1, 0.5f}})}), "edit 1: pin: pin 2: weights must add up to 1");
    says(pins({pin(3, {{1, 1}}), pin(3, {{0, 1}})}), "edit 1: pin: pins 1 and 2 are at one place and disagree");
    says(pins({pin(3000, {{1, 1}})}), "edit 1: pin: pin 1: there is no");
    says(pins({pin(3, {{1, 1}})}, 0), "\"reach\"");
    Skeleton idle = pair_of_sides();
    idle.joints[1].deform = false;
    says(pins({pin(3, {{1, 1}})}), "edit 1: pin: pin 1: the joint 'arm_l' does not deform", idle);
    says(border(0.1f), "'arm_l' does not deform", idle);
    WeightEdit apart = border(0.1f);
    apart.joints = {1, 2};
    says(apart, "edit 1: border: the joints 'arm_l' and 'arm_r' do not touch");
    says(border(0), "\"shift\", \"width\" or both");
}

TEST(Answers, QuestionsCoverTheSurfaceOnceAndOnBothSides) {
    for (const std::uint32_t along : {60u, 120u}) {  // without coarse places and with them
        Grid g = Grid::sheet(along, along / 2, -0.5f);
        Grid part = Grid::sheet(4, 4);
        for (Vec3& p : part.positions) p = {0.5f + 0.1f * p.x, 0.1f * p.y, 0.4f};
        const auto body = static_cast<std::uint32_t>(g.positions.size());
        g.add(part);
        const SkinWeights w = g.weights(ramp);
        const Skeleton s = pair_of_sides();
        const std::vector<Question> asked = must(questions(g.view(), s, w, 40));
        ASSERT_EQ(asked.size(), 40u);
        double covered = 0;
        for (const Question& q : asked) covered += q.share;
        EXPECT_LE(covered, 1.0001);
        EXPECT_GT(covered, 0.8);
        std::size_t parts = 0, borders = 0;
        for (const Question& q : asked) {
            EXPECT_EQ(q.kind == Question::Kind::part, q.vertex >= body);
            parts += q.kind == Question::Kind::part;
            borders += q.kind == Question::Kind::border;
            for (const Vec3& p : q.line) EXPECT_NEAR(p.x, 0, 0.04);
            EXPECT_FALSE(q.joints.empty());
            EXPECT_NE(text_of(q, s).find("vertex " + std::to_string(q.vertex)), std::string::npos);
        }
        EXPECT_GT(parts, 0u);
        EXPECT_GT(borders, 0u);
        // The first one leaves nothing to ask on the other side.
        const float x = g.positions[asked[0].vertex].x, y = g.positions[asked[0].vertex].y;
        for (std::size_t i = 1; i < 5; ++i)
            EXPECT_GT(std::hypot(g.positions[asked[i].vertex].x + x, g.positions[asked[i].vertex].y - y), 0.05);
        EXPECT_FALSE(questions(g.view(), s, weights_of({{{0, 1}}}), 3));
    }
}

TEST(Answers, QuestionsBeginWhereVerticesAreDense) {
    Grid g = Grid::sheet(60, 30, -0.5f);
    Grid dense = Grid::sheet(60, 30);  // as many vertices on a hundredth of the area
    for (Vec3& p : dense.positions) p = {0.1f * p.x, 0.1f * p.y, 0.4f};
    const auto body = static_cast<std::uint32_t>(g.positions.size());
    g.add(dense);
    const std::vector<Question> asked = must(questions(g.view(), pair_of_sides(), g.weights(ramp), 1));
    EXPECT_GE(asked[0].vertex, body);
}

}  // namespace
}  // namespace sinew::test_answers
