// What must not pass in silence: text of strangers, far triangles, skeletons in another space, handles of other
// models.
#include <gtest/gtest.h>

#include <map>

#include "core/geometry.h"
#include "gltf_maker.h"
#include "io/matrix.h"
#include "sinew.h"
#include "sinew/domain.h"
#include "sinew/near.h"
#include "sinew/quality.h"
#include "support.h"

namespace sinew::test_trust {
namespace {

using test::Character;
using test::must;

TEST(Printable, EscapesWhatATerminalObeys) {
    EXPECT_EQ(printable("Left arm, ärm, 腕, \xf0\x9f\xa6\xb4"), "Left arm, ärm, 腕, \xf0\x9f\xa6\xb4");
    EXPECT_EQ(printable("a\x1b[2J\r\n\tb\x7f"), "a\\x1b[2J\\x0d\\x0a\\x09b\\x7f");
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\xc2\\x9b31m");  // a control character of eight bits
    EXPECT_EQ(printable("\xe2\x80\xae"
                        "gnp"),
              "\\xe2\\x80\\xaegnp");                          // turns the direction of the text
    EXPECT_EQ(printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");  // a line separator
    EXPECT_EQ(printable("\xff\xc0\xaf\xed\xa0\x80\xe2\x82"), "\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xe2\\x82");
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
}

TEST(Printable, IsAsLongAsAsked) {
    EXPECT_EQ(printable(std::string(200, 'x')), std::string(200, 'x'));
    EXPECT_EQ(printable(std::string(201, 'x')), std::string(200, 'x') + "…");
    EXPECT_EQ(printable("ääää", 3), "äää…");
    EXPECT_LT(printable(std::string(1 << 20, '\x1b')).size(), 1000u);
}

TEST(Matrix, InvertsLargeTranslationsAndSmallScales) {
    for (const double far : {1.0, 1e7, 1e13, 1e16})
        for (const double scale : {1e-6, 1.0, 1e3}) {
            const io::Matrix m = io::compose({far, -far, 3}, {0, 0, 0, 1}, {scale, scale, scale});
            const auto back = io::inverse(m);
            ASSERT_TRUE(back) << far << " " << scale;
            EXPECT_NEAR((*back)(0, 0) * scale, 1, 1e-9);
            EXPECT_NEAR((*back)(0, 3) / (-far / scale), 1, 1e-9);
        }
    io::Matrix flat = io::compose({1e13, 0, 0}, {0, 0, 0, 1}, {1, 0, 1});
    EXPECT_FALSE(io::inverse(flat));
}

Character with_far_triangle() {
    Character c = test::make_character("quadruped");
    const auto first = static_cast<std::uint32_t>(c.positions.size());
    c.positions.insert(c.positions.end(), {{300, 0, 0}, {301, 0, 0}, {300, 1, 0}});
    c.triangles.push_back({first, first + 1, first + 2});
    return c;
}

TEST(Trust, FarTrianglesChangeNoOtherRow) {
    const Character near = test::make_character("quadruped"), far = with_far_triangle();
    for (const Method method : {Method::surface_heat, Method::geodesic_voxel, Method::bone_heat}) {
        BindOptions options = preset(method);
        options.voxels.resolution = 64;
        const Binding a = test::bound(near, options), b = test::bound(far, options);
        const SkinWeights x = must(a.weights()), y = must(b.weights());
        for (std::size_t v = 0; v < near.positions.size(); ++v)
            ASSERT_TRUE(std::equal(x[v].begin(), x[v].end(), y[v].begin(), y[v].end())) << to_string(method) << v;
        EXPECT_EQ(b.coverage().back(), Coverage::bridged);
        EXPECT_EQ(y[far.positions.size() - 1].size(), 1u);
        EXPECT_EQ(b.report().defects.parts, a.report().defects.parts + 1);
    }
}

TEST(Trust, MovedJointsWithFarTriangles) {
    const Character c = with_far_triangle();
    const BindOptions options = test::keeping(64);
    const Binding bound = test::bound(c, options);
    Skeleton moved = c.skeleton;
    moved.joints[3].position.y += 0.02f;
    const Binding a = must(bound.move_joints(c.mesh(), moved)), b = must(bind(c.mesh(), moved, options));
    EXPECT_EQ(a.distances().distance, b.distances().distance);
    EXPECT_EQ(a.coverage(), b.coverage());
    // Reading it back makes no difference.
    const Binding kept = must(Binding::from_bytes(bound.to_bytes()));
    EXPECT_EQ(must(kept.move_joints(c.mesh(), moved)).distances().distance, b.distances().distance);
    EXPECT_EQ(must(kept.rebind(c.mesh(), c.skeleton)).report().reused, Reuse::table);
}

TEST(Trust, FarTrianglesChangeNoDistanceAndNoVolume) {
    const Character near = test::make_character("quadruped"), far = with_far_triangle();
    VoxelizeOptions voxels;
    voxels.resolution = 64;
    const std::uint32_t joint = near.joint("head");
    const auto x = must(joint_distance(near.mesh(), near.skeleton, joint, voxels));
    const auto y = must(joint_distance(far.mesh(), far.skeleton, joint, voxels));
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin()));
    for (std::size_t v = x.size(); v < y.size(); ++v) EXPECT_TRUE(std::isinf(y[v]));
    EXPECT_EQ(near_triangles(far.mesh(), far.skeleton).size(), near.triangles.size());
    EXPECT_EQ(near_triangles(near.mesh(), near.skeleton), near.triangles);
    EXPECT_EQ(near_diagonal(near.mesh(), near.skeleton), 0);
    EXPECT_DOUBLE_EQ(near_diagonal(far.mesh(), far.skeleton), box_of(near.mesh()).diagonal());

    const auto volume = [](const Character& c) {
        const io::Scene scene = must(io::make_scene(c.positions, c.triangles, c.skeleton, c.name));
        std::vector<std::uint32_t> counts(c.positions.size(), 1);
        const SkinWeights all =
            must(SkinWeights::from_rows(counts, std::vector<Influence>(counts.size(), {0, 1.0f})));
        const std::vector<std::byte> bytes = must(io::save_glb_bytes(scene, all));
        snw_model* model = nullptr;
        snw_settings* settings = nullptr;
        snw_bytes* out = nullptr;
        EXPECT_EQ(snw_model_open(bytes.data(), bytes.size(), "c.glb", nullptr, nullptr, 0, nullptr, &model),
                  SNW_OK);
        EXPECT_EQ(snw_settings_new(&settings), SNW_OK);
        EXPECT_EQ(snw_settings_set(settings, "resolution", "64"), SNW_OK);
        EXPECT_EQ(snw_settings_set(settings, "deform-from", "all"), SNW_OK);
        snw_bytes* json = nullptr;
        EXPECT_EQ(snw_model_json(model, settings, nullptr, &json), SNW_OK) << snw_error();
        snw_bytes_free(json);
        EXPECT_EQ(snw_volume(model, settings, 1u << 20, nullptr, &out), SNW_OK) << snw_error();
        const std::string leaves(reinterpret_cast<const char*>(snw_bytes_data(out)), snw_bytes_size(out));
        snw_bytes_free(out);
        snw_settings_free(settings);
        snw_model_free(model);
        return leaves;
    };
    EXPECT_EQ(volume(near), volume(far));
}

TEST(Trust, FarTrianglesMakeNoDifferenceSmall) {
    const Character near = test::make_character("quadruped"), far = with_far_triangle();
    const auto measured = [](const Character& c) {
        std::vector<std::uint32_t> counts(c.positions.size(), 1);
        std::vector<Influence> rows;
        for (std::size_t v = 0; v < counts.size(); ++v)
            rows.push_back({v < c.body_part.size() ? c.body_part[v] : 0, 1.0f});
        const SkinWeights a = must(SkinWeights::from_rows(counts, rows));
        for (Influence& i : rows) i.joint = i.joint > 0 ? i.joint - 1 : 0;
        const SkinWeights b = must(SkinWeights::from_rows(counts, std::move(rows)));
        CompareOptions options;
        options.random_poses = 1;
        options.bleed_options.resolution = 64;
        return must(compare(c.mesh(), c.skeleton, a, b, options));
    };
    const Comparison x = measured(near), y = measured(far);
    // The box of all vertices and that of all triangles: no vertex is unused.
    EXPECT_NEAR(x.diagonal, y.diagonal, 1e-9);
    ASSERT_TRUE(x.symmetry && y.symmetry);
    EXPECT_NEAR(x.symmetry->vertex_share, y.symmetry->vertex_share, 1e-3);
}

TEST(Trust, ASkeletonInAnotherUnitIsAnError) {
    Character c = test::make_character("quadruped");
    for (Joint& j : c.skeleton.joints) {
        j.position = {100 * j.position.x, 100 * j.position.y, 100 * j.position.z};
        if (j.tail) j.tail = Vec3{100 * j.tail->x, 100 * j.tail->y, 100 * j.tail->z};
    }
    BindOptions options;
    options.voxels.resolution = 64;
    const Result<Binding> refused = bind(c.mesh(), c.skeleton, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::input);
    EXPECT_NE(refused.error().message.find("100 times larger"), std::string::npos) << refused.error().message;
    options.fit_check = false;
    EXPECT_TRUE(bind(c.mesh(), c.skeleton, options));
}

// Handles of another model. The functions that take a model and something made of one.
TEST(Trust, HandlesOfAnotherModelAreRefused) {
    const auto open = [](const char* name) {
        const Character c = test::make_character(name);
        const io::Scene scene = must(io::make_scene(c.positions, c.triangles, c.skeleton, name));
        std::vector<std::uint32_t> counts(c.positions.size(), 1);
        const SkinWeights all =
            must(SkinWeights::from_rows(counts, std::vector<Influence>(counts.size(), {0, 1.0f})));
        const std::vector<std::byte> bytes = must(io::save_glb_bytes(scene, all));
        snw_model* model = nullptr;
        EXPECT_EQ(snw_model_open(bytes.data(), bytes.size(), name, nullptr, nullptr, 0, nullptr, &model), SNW_OK);
        return model;
    };
    snw_model *a = open("quadruped"), *b = open("robot");
    ASSERT_TRUE(a && b);
    snw_settings* settings = nullptr;
    ASSERT_EQ(snw_settings_new(&settings), SNW_OK);
    ASSERT_EQ(snw_settings_set(settings, "method", "closest-distance"), SNW_OK);
    snw_binding* binding = nullptr;
    ASSERT_EQ(snw_bind(a, settings, nullptr, &binding), SNW_OK) << snw_error();
    snw_bytes* text = nullptr;
    EXPECT_EQ(snw_binding_report(binding, b, settings, &text), SNW_USAGE);
    EXPECT_EQ(text, nullptr);
    EXPECT_EQ(snw_binding_report(binding, a, settings, &text), SNW_OK) << snw_error();
    snw_bytes_free(text);
    snw_weights *weights = nullptr, *other = nullptr;
    EXPECT_EQ(snw_weights_of(binding, b, settings, nullptr, 0, nullptr, nullptr, &other), SNW_USAGE);
    ASSERT_EQ(snw_weights_of(binding, a, settings, nullptr, 0, nullptr, nullptr, &weights), SNW_OK) << snw_error();
    std::size_t vertices = 0, joints = 0;
    snw_model_size(a, &vertices, nullptr, &joints);
    std::vector<double> matrices(12 * std::max<std::size_t>(joints, 200), 0);
    for (std::size_t j = 0; j < matrices.size(); j += 12) matrices[j] = matrices[j + 5] = matrices[j + 10] = 1;
    std::vector<float> positions(3 * 100000);
    EXPECT_EQ(snw_deform(b, weights, matrices.data(), SNW_LINEAR_BLEND, nullptr, positions.data(), nullptr),
              SNW_USAGE);
    for (const int unknown : {-1, 2, 77})
        EXPECT_EQ(snw_deform(a, weights, matrices.data(), unknown, nullptr, positions.data(), nullptr), SNW_USAGE);
    EXPECT_EQ(snw_deform(a, weights, matrices.data(), SNW_DUAL_QUATERNION, nullptr, positions.data(), nullptr),
              SNW_OK);
    EXPECT_NE(snw_save_glb(b, weights, settings, nullptr, &text), SNW_OK);
    EXPECT_NE(snw_save_json(b, weights, &text), SNW_OK);
    EXPECT_NE(snw_compare_json(b, weights, weights, nullptr, &text), SNW_OK);
    snw_weights_free(weights);
    snw_binding_free(binding);
    snw_settings_free(settings);
    snw_model_free(a);
    snw_model_free(b);
}

}  // namespace
}  // namespace sinew::test_trust
