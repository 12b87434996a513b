// Calls of the C interface that read a model: during a bind, and from its callbacks.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "sinew.h"
#include "sinew/bind.h"
#include "sinew/io.h"
#include "support.h"

namespace sinew::test_reading {
namespace {

using test::Character;
using test::must;

/// A model with weights, and settings that leave joints out.
struct Handles {
    Handles() {
        const Character c = test::make_character("biped");
        const io::Scene scene = must(io::make_scene(c.positions, c.triangles, c.skeleton, c.name));
        const std::vector<std::uint32_t> counts(c.positions.size(), 1);
        const SkinWeights all =
            must(SkinWeights::from_rows(counts, std::vector<Influence>(counts.size(), {0, 1.0f})));
        const std::vector<std::byte> bytes = must(io::save_glb_bytes(scene, all));
        EXPECT_EQ(snw_model_open(bytes.data(), bytes.size(), "c.glb", nullptr, nullptr, 0, nullptr, &model),
                  SNW_OK);
        EXPECT_EQ(snw_settings_new(&settings), SNW_OK);
        set("method", "geodesic-voxel");
        set("resolution", "128");
        set("deform-from", "all");
        for (const char* name : {"*arm*", "*Arm*", "*hand*", "*Hand*"}) set("exclude", name);
    }
    ~Handles() {
        snw_settings_free(settings);
        snw_model_free(model);
    }
    void set(const char* name, const char* value) { EXPECT_EQ(snw_settings_set(settings, name, value), SNW_OK); }

    snw_model* model = nullptr;
    snw_settings* settings = nullptr;
};

std::vector<float> dense(const Handles& h, const snw_binding* binding) {
    snw_weights* weights = nullptr;
    EXPECT_EQ(snw_weights_of(binding, h.model, h.settings, nullptr, 0, nullptr, nullptr, &weights), SNW_OK)
        << snw_error();
    std::size_t vertices = 0, joints = 0;
    snw_model_size(h.model, &vertices, nullptr, &joints);
    std::vector<float> out(vertices * joints);
    EXPECT_EQ(snw_weights_dense(weights, joints, out.data()), SNW_OK);
    snw_weights_free(weights);
    return out;
}

/// Every call that reads a model alone, with settings that select all joints.
void read_all(const snw_model* model) {
    snw_settings* all = nullptr;
    ASSERT_EQ(snw_settings_new(&all), SNW_OK);
    ASSERT_EQ(snw_settings_set(all, "resolution", "32"), SNW_OK);
    ASSERT_EQ(snw_settings_set(all, "deform-from", "all"), SNW_OK);
    std::size_t vertices = 0, triangles = 0, joints = 0;
    snw_model_size(model, &vertices, &triangles, &joints);
    const auto text = [](auto&& call) {
        snw_bytes* out = nullptr;
        EXPECT_EQ(call(&out), SNW_OK) << snw_error();
        snw_bytes_free(out);
    };
    text([&](auto out) { return snw_model_json(model, all, nullptr, out); });
    text([&](auto out) { return snw_model_json(model, nullptr, nullptr, out); });
    text([&](auto out) { return snw_volume(model, all, 1u << 20, nullptr, out); });
    text([&](auto out) { return snw_defects(model, nullptr, nullptr, out); });
    std::vector<std::uint8_t> marked(triangles);
    EXPECT_EQ(snw_defects(model, nullptr, marked.data(), nullptr), SNW_OK) << snw_error();
    std::vector<float> distances(vertices);
    EXPECT_EQ(snw_distances(model, all, 0, nullptr, distances.data()), SNW_OK) << snw_error();
    EXPECT_NE(snw_model_positions(model), nullptr);
    EXPECT_NE(snw_model_triangles(model), nullptr);
    snw_model_normals(model), snw_model_uvs(model);
    snw_weights* own = nullptr;
    ASSERT_EQ(snw_model_weights(model, &own), SNW_OK);
    text([&](auto out) { return snw_save_json(model, own, out); });
    text([&](auto out) { return snw_save_glb(model, own, all, nullptr, out); });
    text([&](auto out) { return snw_check_json(model, own, nullptr, nullptr, out); });
    snw_weights_free(own);
    snw_settings_free(all);
}

TEST(ReadingThreads, DoesNotChangeTheBindThatRuns) {
    const Handles h;
    snw_binding* alone = nullptr;
    ASSERT_EQ(snw_bind(h.model, h.settings, nullptr, &alone), SNW_OK) << snw_error();
    const std::vector<float> wanted = dense(h, alone);
    snw_binding_free(alone);
    std::atomic<bool> ended = false;
    std::vector<float> found;
    std::thread binder([&] {
        for (int k = 0; k < 2; ++k) {
            snw_binding* made = nullptr;
            EXPECT_EQ(snw_bind(h.model, h.settings, nullptr, &made), SNW_OK) << snw_error();
            found = dense(h, made);
            snw_binding_free(made);
        }
        ended = true;
    });
    do read_all(h.model);
    while (!ended);
    binder.join();
    EXPECT_EQ(found, wanted);
}

TEST(Reading, InCallbacksDoesNotChangeTheBind) {
    struct Asked {
        const Handles& h;
        snw_context* context = nullptr;
        int changes = 0, coarse = 0;
    };
    const Handles h;
    snw_binding* made = nullptr;
    ASSERT_EQ(snw_bind(h.model, h.settings, nullptr, &made), SNW_OK);
    const std::vector<float> wanted = dense(h, made);
    snw_binding_free(made);

    Asked asked{h};
    ASSERT_EQ(snw_context_new(&asked.context), SNW_OK);
    const snw_progress read = [](const char*, double, void* user) {
        const Asked& a = *static_cast<Asked*>(user);
        snw_bytes* text = nullptr;
        EXPECT_EQ(snw_model_json(a.h.model, nullptr, nullptr, &text), SNW_OK);
        snw_bytes_free(text);
    };
    // Calls that change the model are refused, and say so.
    const snw_bind_step step = [](const snw_binding* binding, int final, void* user) {
        Asked& a = *static_cast<Asked*>(user);
        dense(a.h, binding);
        read_all(a.h.model);
        a.coarse += final == 0;
        for (const snw_status status :
             {snw_model_joint_options(a.h.model, nullptr, 0), snw_model_select(a.h.model, nullptr, nullptr)}) {
            EXPECT_EQ(status, SNW_USAGE);
            EXPECT_NE(std::string(snw_error()).find("it is being bound"), std::string::npos) << snw_error();
            ++a.changes;
        }
        return 1;
    };
    snw_context_progress(asked.context, read, &asked);
    ASSERT_EQ(snw_bind_progressive(h.model, h.settings, step, &asked, asked.context, &made), SNW_OK) << snw_error();
    EXPECT_EQ(dense(h, made), wanted);
    EXPECT_EQ(asked.coarse, 1);
    EXPECT_EQ(asked.changes, 4);
    // The description of the bind is that of its own joints.
    snw_bytes* report = nullptr;
    ASSERT_EQ(snw_binding_report(made, h.model, h.settings, &report), SNW_OK) << snw_error();
    EXPECT_NE(std::string(reinterpret_cast<const char*>(snw_bytes_data(report))).find("\"deforms\":false"),
              std::string::npos);
    snw_bytes_free(report);
    snw_binding_free(made);
    snw_context_free(asked.context);
    EXPECT_EQ(snw_model_joint_options(h.model, nullptr, 0), SNW_OK);
}

TEST(Reading, ACheckMovesTheFractionOfItsContext) {
    const Handles h;
    snw_context* context = nullptr;
    ASSERT_EQ(snw_context_new(&context), SNW_OK);
    struct Seen {
        const snw_context* context;
        std::set<double> fractions;
    } seen{context, {}};
    snw_context_progress(
        context,
        [](const char*, double, void* user) {
            Seen& to = *static_cast<Seen*>(user);
            to.fractions.insert(snw_context_fraction(to.context));
        },
        &seen);
    snw_bytes* report = nullptr;
    EXPECT_EQ(snw_check_json(h.model, nullptr, nullptr, context, &report), SNW_OK) << snw_error();
    EXPECT_GT(seen.fractions.size(), 5u);
    EXPECT_EQ(snw_context_fraction(context), 1);
    snw_bytes_free(report);
    snw_context_free(context);
}

}  // namespace
}  // namespace sinew::test_reading
