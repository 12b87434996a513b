// Weights that are painted edit by edit equal those of the whole list, and an edit costs what it touches.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "characters/characters.h"
#include "sinew.h"
#include "sinew/edits.h"
#include "sinew/io.h"
#include "unit/support.h"
#include "weights/finish_row.h"

namespace sinew::test_painting {
namespace {

using nlohmann::json;
using test::must;
using test::weight_of;

/// A skinned dog, as a scene, and as a file for the C interface.
struct Dog {
    io::Scene scene;
    SkinWeights weights;
    std::vector<std::byte> glb;

    explicit Dog(double cell) {
        test::Character c = test::quadruped(cell);
        BindOptions options = preset(Method::closest_distance);
        options.finish.max_influences = 4;
        weights = must(test::bound(c, options).weights());
        scene = must(io::make_scene(c.positions, c.triangles, c.skeleton, "dog"));
        glb = must(io::save_glb_bytes(scene, weights, {}));
        scene = must(io::load_bytes(glb, "dog.glb"));
        weights = *scene.weights;
    }
};
const Dog& dog() {
    static const Dog d(0.03);
    return d;
}

/// A stroke of a random kind somewhere on the surface, as an entry of "edits".
json random_edit(const Dog& d, std::mt19937& random) {
    const auto& joints = d.scene.skeleton.joints;
    const auto any = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const auto name = [&] { return joints[any(joints.size())].name; };
    std::vector<json> points;
    Vec3 p = d.scene.positions[any(d.scene.positions.size())];
    for (std::size_t k = 0; k < 1 + any(6); ++k) {
        points.push_back({p.x, p.y, p.z});
        p.y += 0.01f;
    }
    json brush = {{"points", points}, {"radius", 0.02 + 0.01 * static_cast<double>(any(5))}};
    const char* curves[] = {"smooth", "linear", "sharp", "dome", "constant"};
    brush["curve"] = curves[any(5)];
    if (any(2)) brush["strength"] = 0.5;
    if (any(3) == 0) brush["through"] = true;
    if (any(3) == 0) brush["facing"] = std::vector<json>(points.size(), json{0.3, 1, 0.1});
    json edit = {{"select", {{"brush", brush}}}};
    switch (any(8)) {
        case 0:
            edit.update({{"op", "set"}, {"joint", name()}, {"value", 0.6}});
            break;
        case 1:
            edit.update({{"op", "add"}, {"joint", name()}, {"value", any(2) ? 0.3 : -0.3}});
            break;
        case 2:
            edit.update({{"op", "scale"}, {"joints", {name()}}, {"value", 0.5}});
            break;
        case 3:
            edit.update({{"op", "smooth"}, {"length", 0.02}});
            break;
        case 4:
            edit.update({{"op", "relax"}, {"steps", 3}});
            break;
        case 5:
            edit.update({{"op", "sharpen"}});
            break;
        case 6:
            edit.update({{"op", "multiply"}, {"joints", {name()}}, {"value", any(2) ? 2 : 0.3}});
            break;
        default:
            edit.update({{"op", "replace"}, {"joints", {name()}}, {"with", name()}});
    }
    if (any(4) == 0) edit["locked"] = {name(), name()};
    if (any(4) == 0) edit["symmetric"] = true;
    return edit;
}

/// The weights after a list of edits, as the command line computes them.
SkinWeights replayed(const Dog& d, const std::vector<json>& edits, const SkinWeights& base) {
    const json list = {{"sinew", "edits"}, {"edits", edits}};
    Adjustments a = must(io::parse_edits(d.scene, list.dump(), "edits"));
    EXPECT_TRUE(complete_edits(a, d.scene.mesh(), d.scene.skeleton, &base));
    return must(apply_edits(d.scene.mesh(), base, a.edits, a.locks, d.scene.skeleton.joints.size(), 4));
}
SkinWeights replayed(const Dog& d, const std::vector<json>& edits) { return replayed(d, edits, d.weights); }

/// Other weights within a radius of a point, as a stroke of the hardness leaves them; coincident vertices alike.
SkinWeights changed_around(const Dog& d, const Vec3& point, float radius) {
    WeightRows rows(d.scene.positions.size());
    for (std::size_t v = 0; v < d.scene.positions.size(); ++v) {
        const Vec3& p = d.scene.positions[v];
        std::vector<Influence> row(d.weights[v].begin(), d.weights[v].end());
        if (std::hypot(p.x - point.x, p.y - point.y, p.z - point.z) < radius && row.size() > 1) {
            const float moved = row[1].weight / 2;
            row[0].weight += moved;
            row[1].weight -= moved;
        }
        rows.part[v / WeightRows::per_chunk].insert(rows.part[v / WeightRows::per_chunk].end(), row.begin(),
                                                    row.end());
        rows.first[v + 1] = row.size();
    }
    return rows.assemble(nullptr);
}

struct Painting {
    const Dog& d;
    EditSurface surface;
    PaintedWeights painted;
    explicit Painting(const Dog& of)
        : d(of),
          surface(of.scene.mesh()),
          painted(must(PaintedWeights::begin(surface, of.weights, {}, of.scene.skeleton.joints.size(), 4))) {}
    void apply(const json& edit, bool again = false) {
        WeightEdit e = must(io::parse_edit(d.scene, edit.dump(), "edit"));
        ASSERT_TRUE(complete_edits({&e, 1}, surface, d.scene.skeleton, nullptr));
        const Status ok = painted.apply(e, again);
        ASSERT_TRUE(ok) << ok.error().message;
    }
};

TEST(Painting, StrokesEqualTheReplayedListToTheBit) {
    std::mt19937 random(7);
    Painting p(dog());
    std::vector<json> list;
    for (int k = 0; k < 60; ++k) {
        const json edit = random_edit(dog(), random);
        // A stroke grows point by point.
        json part = edit;
        json& brush = part["select"]["brush"];
        const std::size_t points = brush["points"].size();
        for (std::size_t n = 1; n <= points; ++n) {
            for (const char* key : {"points", "facing"})
                if (brush.contains(key)) {
                    const json& all = edit["select"]["brush"][key];
                    brush[key] = std::vector<json>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
                }
            p.apply(part, n > 1);
        }
        list.push_back(edit);
        if (k % 5 == 4) {  // taken back, and the next one instead
            ASSERT_TRUE(p.painted.undo());
            list.pop_back();
        }
        if (k % 7 == 6) {
            const json other = random_edit(dog(), random);
            p.apply(other, true);
            list.back() = other;
        }
    }
    EXPECT_EQ(p.painted.weights(), replayed(dog(), list));
    EXPECT_EQ(p.painted.edits(), list.size());
    while (p.painted.undo()) {
    }
    EXPECT_EQ(p.painted.weights(), dog().weights);
}

TEST(Painting, OtherWeightsBelowTheStrokesGiveTheReplayedListToTheBit) {
    std::mt19937 random(11);
    Painting p(dog());
    std::vector<json> list;
    SkinWeights base = dog().weights;
    for (int round = 0; round < 6; ++round) {
        for (int k = 0; k < 12; ++k) {
            list.push_back(random_edit(dog(), random));
            p.apply(list.back());
        }
        const Vec3 at = dog().scene.positions[random() % dog().scene.positions.size()];
        base = changed_around(dog(), at, round == 5 ? 10.f : 0.1f);
        const SkinWeights before = p.painted.weights();
        ASSERT_TRUE(p.painted.rebase(base));
        const SkinWeights after = p.painted.weights();
        EXPECT_EQ(after, replayed(dog(), list, base)) << round;
        for (std::uint32_t v = 0; v < dog().scene.positions.size(); ++v) {
            if (!std::ranges::equal(before[v], after[v])) {
                ASSERT_TRUE(std::ranges::binary_search(p.painted.changed(), v)) << round;
            }
        }
        // Painting goes on: a stroke is taken back, and another one instead of the one before it.
        ASSERT_TRUE(p.painted.undo());
        list.pop_back();
        list.back() = random_edit(dog(), random);
        p.apply(list.back(), true);
        EXPECT_EQ(p.painted.weights(), replayed(dog(), list, base)) << round;
    }
    while (p.painted.undo()) {
    }
    EXPECT_EQ(p.painted.weights(), base);
}

// 200 strokes at one end of the dog, and other weights at the other end.
TEST(Painting, OtherWeightsComputeOnlyStrokesThatReadThem) {
    Painting p(dog());
    const auto& positions = dog().scene.positions;
    const auto [back, front] = std::ranges::minmax_element(positions, {}, [](const Vec3& v) { return v.z; });
    std::vector<json> list;
    for (int k = 0; k < 200; ++k) {
        json edit = {{"op", "smooth"}, {"length", 0.02}};
        if (k % 2) edit = {{"op", "add"}, {"joint", dog().scene.skeleton.joints[1].name}, {"value", 0.1}};
        edit["select"]["brush"] = {{"points", {{back->x, back->y, back->z}}}, {"radius", 0.08}};
        list.push_back(edit);
        p.apply(edit);
    }
    const SkinWeights other = changed_around(dog(), *front, 0.5f * (front->z - back->z));
    ASSERT_NE(other, dog().weights);
    ASSERT_TRUE(p.painted.rebase(other));
    EXPECT_EQ(p.painted.computed(), 0u);
    EXPECT_EQ(p.painted.weights(), replayed(dog(), list, other));
}

TEST(Painting, WeightsThatDoNotFitChangeNothing) {
    std::mt19937 random(5);
    Painting p(dog());
    p.apply(random_edit(dog(), random));
    const SkinWeights before = p.painted.weights();
    EXPECT_EQ(p.painted.rebase(SkinWeights()).error().code, ErrorCode::input);
    p.apply({{"op", "sharpen"}, {"select", {{"joints", {dog().scene.skeleton.joints[1].name}}, {"above", 0.2}}}});
    EXPECT_EQ(p.painted.rebase(dog().weights).error().code, ErrorCode::usage);
    ASSERT_TRUE(p.painted.undo());
    EXPECT_EQ(p.painted.weights(), before);
    EXPECT_EQ(p.painted.edits(), 1u);
}

TEST(Painting, AStrokeComputesOnlyWhatItTouches) {
    std::mt19937 random(3);
    Painting p(dog());
    const Vec3 at = dog().scene.positions[1000];
    const json stroke = {{"op", "add"},
                         {"joint", dog().scene.skeleton.joints[1].name},
                         {"value", 0.01},
                         {"select", {{"brush", {{"points", {{at.x, at.y, at.z}}}, {"radius", 0.08}}}}}};
    p.apply(stroke);
    const std::size_t first = p.painted.computed();
    EXPECT_GT(first, 5u);
    EXPECT_LT(first, dog().scene.positions.size() / 8);
    for (int k = 0; k < 200; ++k) p.apply(random_edit(dog(), random));
    p.apply(stroke);
    EXPECT_EQ(p.painted.computed(), first);
    // One more point: the first ones are not computed again.
    json more = stroke;
    more["select"]["brush"]["points"].push_back({at.x, at.y + 10, at.z});
    p.apply(more, true);
    EXPECT_EQ(p.painted.computed(), 0u);
    EXPECT_EQ(p.painted.changed().size(), 0u);
}

TEST(Painting, ABrushStaysOnItsSideOfAGap) {
    // Two squares, one above the other with a gap, and a fold that joins neither.
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
    constexpr std::uint32_t n = 9;
    for (const float z : {0.0f, 0.05f})
        for (std::uint32_t i = 0; i < n * n; ++i)
            positions.push_back({0.1f * static_cast<float>(i % n), 0.1f * static_cast<float>(i / n), z});
    for (std::uint32_t s = 0; s < 2; ++s)
        for (std::uint32_t y = 0; y + 1 < n; ++y)
            for (std::uint32_t x = 0; x + 1 < n; ++x) {
                const std::uint32_t a = s * n * n + y * n + x;
                triangles.push_back({a, a + 1, a + n});
                triangles.push_back({a + 1, a + n + 1, a + n});
            }
    const MeshView mesh{positions, triangles, {}};
    const EditSurface surface(mesh);
    Brush brush;
    brush.dabs = {{{0.4f, 0.4f, 0.01f}, {}, 0.5f}};
    brush.radius = 0.25f;
    brush.curve = BrushCurve::constant;
    std::vector<float> share(positions.size(), 0);
    surface.mark(brush, 0, share);
    const auto selected = [&](std::size_t from) {
        std::size_t count = 0;
        for (std::size_t v = from; v < from + n * n; ++v) count += share[v] == 0.5f;
        return count;
    };
    EXPECT_EQ(selected(0), 21u);  // of a lattice: 0.25 away at most
    EXPECT_EQ(selected(n * n), 0u);
    brush.through = true;
    surface.mark(brush, 0, share);
    EXPECT_EQ(selected(0), 21u);
    EXPECT_EQ(selected(n * n), 21u);
    // Only what faces the given side: none, then all.
    share.assign(share.size(), 0);
    brush.through = false;
    brush.dabs[0].facing = {0, 0, -1};
    surface.mark(brush, 0, share);
    const std::size_t below = selected(0);
    share.assign(share.size(), 0);
    brush.dabs[0].facing = {0, 0, 1};
    surface.mark(brush, 0, share);
    EXPECT_EQ(below + selected(0), 21u);
    EXPECT_TRUE(below == 0 || below == 21);
}

TEST(Painting, RelaxSharpenLockedAndSymmetric) {
    const Dog& d = dog();
    const auto& joints = d.scene.skeleton.joints;
    const auto all = [](const char* op, json more) {
        more["op"] = op;
        return more;
    };
    // Relaxed weights have a smaller sum of squared differences along edges, sharpened ones a larger one.
    const auto roughness = [&](const SkinWeights& w) {
        double sum = 0;
        for (const Triangle& t : d.scene.triangles)
            for (std::size_t k = 0; k < 3; ++k)
                for (std::uint32_t j = 0; j < joints.size(); ++j) {
                    const double x = weight_of(w, t[k], j) - weight_of(w, t[(k + 1) % 3], j);
                    sum += x * x;
                }
        return sum;
    };
    const double plain = roughness(d.weights);
    EXPECT_LT(roughness(replayed(d, {all("relax", {{"steps", 1}})})), 0.98 * plain);
    EXPECT_LT(roughness(replayed(d, {all("relax", {{"steps", 10}})})),
              0.9 * roughness(replayed(d, {all("relax", {{"steps", 1}})})));
    EXPECT_GT(roughness(replayed(d, {all("sharpen", json::object())})), 1.02 * plain);

    // A locked joint keeps its weights where another one is painted.
    const std::string held = joints[2].name;
    const json paint = {{"op", "set"}, {"joint", joints[1].name}, {"value", 1}, {"locked", {held}}};
    const SkinWeights painted = replayed(d, {paint});
    double locked = 0;
    for (std::size_t v = 0; v < painted.vertex_count(); ++v) {
        EXPECT_NEAR(weight_of(painted, v, 2), weight_of(d.weights, v, 2), 1e-6) << v;
        locked += weight_of(painted, v, 2);
    }
    EXPECT_GT(locked, 1);

    // A symmetric stroke does on the other side what a stroke there with the partner does.
    const auto find = [&](const std::string& name) {
        for (std::size_t j = 0; j < joints.size(); ++j)
            if (joints[j].name == name) return j;
        return joints.size();
    };
    std::size_t left = joints.size(), right = joints.size();
    for (std::size_t j = 0; j < joints.size(); ++j)
        if (joints[j].name.ends_with("_L"))
            left = j, right = find(joints[j].name.substr(0, joints[j].name.size() - 2) + "_R");
    ASSERT_LT(right, joints.size());
    const Vec3 at = joints[left].position, there = joints[right].position;
    const auto stroke = [&](std::size_t j, const Vec3& p) {
        return json{{"op", "set"},
                    {"joint", joints[j].name},
                    {"value", 0.7},
                    {"select", {{"brush", {{"points", {{p.x, p.y, p.z}}}, {"radius", 0.1}, {"through", true}}}}}};
    };
    json both = stroke(left, at);
    both["symmetric"] = true;
    const SkinWeights once = replayed(d, {both}), twice = replayed(d, {stroke(left, at), stroke(right, there)});
    double moved = 0;
    for (std::size_t v = 0; v < once.vertex_count(); ++v) {
        EXPECT_NEAR(weight_of(once, v, static_cast<std::uint32_t>(right)),
                    weight_of(twice, v, static_cast<std::uint32_t>(right)), 2e-3)
            << v;
        moved += weight_of(once, v, static_cast<std::uint32_t>(right)) -
                 weight_of(d.weights, v, static_cast<std::uint32_t>(right));
    }
    EXPECT_GT(std::abs(moved), 0.1);
}

// sinew.h: the same, from JSON; and the time of a stroke, which the test only prints.
TEST(Painting, TheCInterfacePaints) {
#ifdef SINEW_SANITIZED
    const Dog d(0.03);
#else
    const Dog d(0.007);
#endif
    snw_model* model = nullptr;
    ASSERT_EQ(snw_model_open(d.glb.data(), d.glb.size(), "dog.glb", nullptr, nullptr, 0, nullptr, &model), SNW_OK);
    snw_settings* settings = nullptr;
    ASSERT_EQ(snw_settings_new(&settings), SNW_OK);
    snw_weights* own = nullptr;
    ASSERT_EQ(snw_model_weights(model, &own), SNW_OK);
    snw_painting* painting = nullptr;
    ASSERT_EQ(snw_painting_new(model, own, settings, nullptr, 0, &painting), SNW_OK) << snw_error();
    std::mt19937 random(11);
    std::vector<json> list;
    double longest = 0, first = 0, last = 0;
    for (int k = 0; k < 200; ++k) {
        const json edit = random_edit(d, random);
        const std::string text = edit.dump();
        const auto start = std::chrono::steady_clock::now();
        std::size_t changed = 0, stuck = 0;
        ASSERT_EQ(snw_painting_apply(painting, text.data(), text.size(), 0, nullptr, &changed, &stuck), SNW_OK)
            << snw_error();
        std::vector<std::uint16_t> joints(changed * 4);
        std::vector<float> shares(changed * 4);
        EXPECT_LE(snw_painting_width(painting), 4u);
        ASSERT_EQ(snw_painting_rows(painting, 4, joints.data(), shares.data()), SNW_OK);
        const double ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        if (k > 20) longest = std::max(longest, ms);  // what is kept is made in the first strokes
        if (k >= 20 && k < 60) first += ms / 40;
        if (k >= 160) last += ms / 40;
        for (std::size_t i = 0; i < changed; ++i) {
            EXPECT_LT(snw_painting_vertices(painting)[i], d.scene.positions.size());
            const float* row = shares.data() + 4 * i;
            EXPECT_NEAR(row[0] + row[1] + row[2] + row[3], 1, 1e-5);
        }
        list.push_back(edit);
    }
    std::printf("%zu vertices: mean of strokes 21-60 %.2f ms, of 161-200 %.2f ms, the longest %.2f ms\n",
                d.scene.positions.size(), first, last, longest);
    EXPECT_EQ(snw_painting_edits(painting), 200u);
    ASSERT_EQ(snw_painting_undo(painting, nullptr), SNW_OK);
    list.pop_back();
    snw_weights *painted = nullptr, *whole = nullptr;
    ASSERT_EQ(snw_painting_weights(painting, &painted), SNW_OK);
    const std::string text = json{{"edits", list}}.dump();
    ASSERT_EQ(snw_weights_edit(model, own, text.data(), text.size(), nullptr, nullptr, &whole), SNW_OK);
    std::vector<float> difference(d.scene.positions.size());
    ASSERT_EQ(snw_weights_difference(painted, whole, difference.data()), SNW_OK);
    EXPECT_EQ(*std::max_element(difference.begin(), difference.end()), 0);
    // Other weights below the strokes: as if the painting had begun with them.
    const std::string below = R"({"edits": [{"op": "sharpen"}]})";
    snw_weights *sharp = nullptr, *again = nullptr;
    ASSERT_EQ(snw_weights_edit(model, own, below.data(), below.size(), nullptr, nullptr, &sharp), SNW_OK);
    std::size_t changed_rows = 0;
    ASSERT_EQ(snw_painting_rebase(painting, sharp, nullptr, &changed_rows), SNW_OK);
    EXPECT_GT(changed_rows, 0u);
    snw_weights_free(painted);
    ASSERT_EQ(snw_painting_weights(painting, &painted), SNW_OK);
    ASSERT_EQ(snw_weights_edit(model, sharp, text.data(), text.size(), nullptr, nullptr, &again), SNW_OK);
    ASSERT_EQ(snw_weights_difference(painted, again, difference.data()), SNW_OK);
    EXPECT_EQ(*std::max_element(difference.begin(), difference.end()), 0);
    ASSERT_EQ(snw_painting_rebase(painting, own, nullptr, nullptr), SNW_OK);
    // As many vertices as a stroke touches: below 200 strokes too, it takes about as long as a stroke.
    const Vec3 spot = d.scene.positions[1000];
    const std::string around =
        json{{"edits",
              {{{"op", "sharpen"},
                {"select", {{"sphere", {{"center", {spot.x, spot.y, spot.z}}, {"radius", 0.06}}}}}}}}}
            .dump();
    snw_weights* near = nullptr;
    ASSERT_EQ(snw_weights_edit(model, own, around.data(), around.size(), nullptr, nullptr, &near), SNW_OK);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(snw_painting_rebase(painting, near, nullptr, &changed_rows), SNW_OK);
    const auto end = std::chrono::steady_clock::now();
    std::printf("other weights at %zu vertices below %zu strokes: %.2f ms\n", changed_rows,
                snw_painting_edits(painting), 1000 * std::chrono::duration<double>(end - begin).count());
    EXPECT_LT(changed_rows, d.scene.positions.size() / 4);
    ASSERT_EQ(snw_painting_rebase(painting, own, nullptr, nullptr), SNW_OK);
    snw_weights_free(near);
    snw_weights_free(painted);
    ASSERT_EQ(snw_painting_weights(painting, &painted), SNW_OK);
    ASSERT_EQ(snw_weights_difference(painted, whole, difference.data()), SNW_OK);
    EXPECT_EQ(*std::max_element(difference.begin(), difference.end()), 0);
    snw_weights_free(sharp);
    snw_weights_free(again);
    // Errors leave everything as it was.
    const char* wrong = R"({"op": "set", "joint": "nobody", "value": 1})";
    EXPECT_EQ(snw_painting_apply(painting, wrong, std::strlen(wrong), 0, nullptr, nullptr, nullptr), SNW_INPUT);
    EXPECT_EQ(snw_painting_edits(painting), 199u);
    EXPECT_EQ(snw_painting_apply(nullptr, wrong, 1, 0, nullptr, nullptr, nullptr), SNW_USAGE);
    snw_painting* other = nullptr;
    EXPECT_EQ(snw_painting_new(model, nullptr, settings, nullptr, 0, &other), SNW_USAGE);
    snw_weights_free(painted);
    snw_weights_free(whole);
    snw_painting_free(painting);
    ASSERT_EQ(snw_painting_new(model, own, settings, nullptr, 0, &painting), SNW_OK);
    EXPECT_EQ(snw_painting_undo(painting, nullptr), SNW_USAGE);
    snw_painting_free(painting);
    snw_weights_free(own);
    snw_settings_free(settings);
    snw_model_free(model);
}

}  // namespace
}  // namespace sinew::test_painting
