// The C interface when memory is full: each allocation of each call fails once, and from then on all of them do. A
// plug-in must not end its host.
#include <gtest/gtest.h>

#if !defined(SINEW_SANITIZED) && defined(__linux__)

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "sinew.h"
#include "support.h"

namespace {

std::atomic<bool> g_counting{false}, g_once{false};
std::atomic<long> g_left{0};

/// Whether this allocation fails.
bool fails() {
    if (!g_counting.load(std::memory_order_relaxed)) return false;
    const long left = --g_left;
    return g_once ? left == -1 : left < 0;
}

void* allocate(std::size_t size, std::size_t alignment) {
    void* const at = fails()     ? nullptr
                     : alignment ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                                 : std::malloc(size ? size : 1);
    if (!at) throw std::bad_alloc();
    return at;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t a) { return allocate(size, static_cast<std::size_t>(a)); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }

namespace sinew::test_full_memory {
namespace {

/// Runs the call with the allocation `k` failing, k = 0, 1, … until it needs no more. call: its status.
template <typename Call>
void injure(const char* name, Call&& call) {
    for (const bool once : {false, true}) {
        std::size_t refused = 0;
        for (long k = 0;; k = k < 200 ? k + 1 : k + k / 16) {
            g_once = once, g_left = k;
            g_counting = true;
            const snw_status status = call();
            const bool reached = g_left < 0;
            const bool has_words = snw_error()[0] != 0;
            g_counting = false;
            ASSERT_TRUE(status == SNW_OK || (reached && status == SNW_TOO_LARGE))
                << name << " " << k << " " << snw_error();
            ASSERT_TRUE(status == SNW_OK || has_words) << name;
            refused += status != SNW_OK;
            if (!reached) break;
        }
        EXPECT_TRUE(refused > 0 || std::string(name).starts_with("*")) << name;
    }
}

/// A call that makes an object: none is left behind when it fails.
template <typename T>
void injure_maker(const char* name, void (*free)(T*), const std::function<snw_status(T**)>& make) {
    injure(name, [&] {
        T* out = reinterpret_cast<T*>(1);
        const snw_status status = make(&out);
        if (status == SNW_OK)
            free(out);
        else if (out)
            std::abort();
        return status;
    });
}

/// One mesh with a skeleton. All spans must outlive the result.
snw_arrays arrays_of(const snw_mesh& mesh, const std::vector<std::int32_t>& parents,
                     const std::vector<float>& heads) {
    snw_arrays out{};
    out.meshes = &mesh;
    out.mesh_count = 1;
    out.joint_count = parents.size();
    out.parents = parents.data();
    out.heads = heads.data();
    return out;
}

// A tree of JSON that is left behind by a failure is freed without memory (io/json.h).
TEST(FullMemory, JsonEndsNoHost) {
    const std::vector<float> positions{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
    const std::vector<std::uint32_t> corners{0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                             2, 3, 7, 2, 7, 6, 1, 2, 6, 1, 6, 5, 0, 4, 7, 0, 7, 3};
    const std::vector<std::int32_t> parents{-1, 0, 1};
    const std::vector<float> heads{0.5f, 0.1f, 0.5f, 0.5f, 0.4f, 0.5f, 0.5f, 0.8f, 0.5f};
    snw_mesh mesh{};
    mesh.vertex_count = positions.size() / 3;
    mesh.positions = positions.data();
    mesh.face_count = corners.size() / 3;
    mesh.corners = corners.data();
    const snw_arrays arrays = arrays_of(mesh, parents, heads);
    snw_model *made = nullptr, *model = nullptr;
    snw_settings* settings = nullptr;
    snw_binding* binding = nullptr;
    snw_weights* weights = nullptr;
    snw_bytes *glb = nullptr, *rows = nullptr;
    ASSERT_EQ(snw_model_from_arrays(&arrays, &made), SNW_OK);
    ASSERT_EQ(snw_settings_new(&settings), SNW_OK);
    ASSERT_EQ(snw_settings_set(settings, "method", "closest-distance"), SNW_OK);
    ASSERT_EQ(snw_bind(made, settings, nullptr, &binding), SNW_OK);
    ASSERT_EQ(snw_weights_of(binding, made, settings, nullptr, 0, nullptr, nullptr, &weights), SNW_OK);
    ASSERT_EQ(snw_save_glb(made, weights, settings, nullptr, &glb), SNW_OK) << snw_error();
    ASSERT_EQ(snw_save_json(made, weights, &rows), SNW_OK);
    const auto open = [&](snw_model** out) {
        return snw_model_open(snw_bytes_data(glb), snw_bytes_size(glb), "in.glb", nullptr, nullptr, 0, nullptr,
                              out);
    };
    ASSERT_EQ(open(&model), SNW_OK) << snw_error();
    injure_maker<snw_model>("snw_model_open", snw_model_free, open);
    injure_maker<snw_bytes>("snw_settings_json", snw_bytes_free, snw_settings_json);
    injure_maker<snw_bytes>("snw_rig_templates", snw_bytes_free, snw_rig_templates);
    injure_maker<snw_bytes>("snw_model_json", snw_bytes_free,
                            [&](snw_bytes** out) { return snw_model_json(model, settings, nullptr, out); });
    injure_maker<snw_bytes>("snw_binding_report", snw_bytes_free,
                            [&](snw_bytes** out) { return snw_binding_report(binding, made, settings, out); });
    injure_maker<snw_bytes>("snw_standard_poses", snw_bytes_free,
                            [&](snw_bytes** out) { return snw_standard_poses(model, out); });
    injure_maker<snw_bytes>("snw_save_glb", snw_bytes_free,
                            [&](snw_bytes** out) { return snw_save_glb(model, weights, settings, nullptr, out); });
    injure_maker<snw_weights>("snw_weights_open_json", snw_weights_free, [&](snw_weights** out) {
        return snw_weights_open_json(model, snw_bytes_data(rows), snw_bytes_size(rows), out);
    });
    const std::string edits = R"({"sinew": "edits", "edits": [{"op": "smooth", "length": 0.5}]})";
    injure_maker<snw_weights>("snw_weights_edit", snw_weights_free, [&](snw_weights** out) {
        return snw_weights_edit(model, weights, edits.data(), edits.size(), nullptr, nullptr, out);
    });
    const std::string pose = R"({"sinew": "pose", "joints": {}})";
    std::vector<double> posed(10 * parents.size());
    injure("snw_pose_json", [&] { return snw_pose_json(model, pose.data(), pose.size(), posed.data()); });
    snw_bytes_free(glb);
    snw_bytes_free(rows);
    snw_weights_free(weights);
    snw_binding_free(binding);
    snw_model_free(model);
    snw_model_free(made);
    snw_settings_free(settings);
}

TEST(FullMemory, EndsNoHost) {
    const test::Character dog = test::quadruped(0.05);
    snw_mesh mesh{};
    mesh.vertex_count = dog.positions.size();
    mesh.positions = &dog.positions[0].x;
    mesh.face_count = dog.triangles.size();
    mesh.corners = dog.triangles[0].data();
    std::vector<std::int32_t> parents;
    std::vector<float> heads;
    for (const Joint& j : dog.skeleton.joints) {
        parents.push_back(j.parent);
        for (const float x : {j.position.x, j.position.y, j.position.z}) heads.push_back(x);
    }
    const snw_arrays arrays = arrays_of(mesh, parents, heads);

    injure_maker<snw_settings>("snw_settings_new", snw_settings_free, snw_settings_new);
    injure_maker<snw_context>("snw_context_new", snw_context_free, snw_context_new);
    EXPECT_EQ(snw_settings_new(nullptr), SNW_USAGE);
    g_once = false, g_left = 0, g_counting = true;  // the words of a refusal
    const snw_status missing = snw_settings_new(nullptr);
    g_counting = false;
    EXPECT_TRUE(missing == SNW_USAGE || missing == SNW_TOO_LARGE);

    snw_settings* settings = nullptr;
    snw_context* context = nullptr;
    ASSERT_EQ(snw_settings_new(&settings), SNW_OK);
    ASSERT_EQ(snw_context_new(&context), SNW_OK);
    snw_context_threads(context, 1);
    injure("*snw_settings_set", [&] { return snw_settings_set(settings, "method", "closest-distance"); });
    injure_maker<snw_bytes>("snw_settings_get", snw_bytes_free,
                            [&](snw_bytes** out) { return snw_settings_get(settings, "method", out); });
    injure_maker<snw_bytes>("snw_settings_command", snw_bytes_free,
                            [&](snw_bytes** out) { return snw_settings_command(settings, out); });

    snw_model* model = nullptr;
    ASSERT_EQ(snw_model_from_arrays(&arrays, &model), SNW_OK);
    injure("snw_model_move_joints", [&] { return snw_model_move_joints(model, heads.data(), nullptr); });
    injure("*snw_model_select", [&] { return snw_model_select(model, nullptr, nullptr); });

    snw_binding* binding = nullptr;
    for (const char* method : {"closest-distance", "closest-hierarchy"}) {
        ASSERT_EQ(snw_settings_set(settings, "method", method), SNW_OK);
        injure_maker<snw_binding>("snw_bind", snw_binding_free,
                                  [&](snw_binding** out) { return snw_bind(model, settings, context, out); });
    }
    ASSERT_EQ(snw_bind(model, settings, context, &binding), SNW_OK);
    snw_bytes* file = nullptr;
    ASSERT_EQ(snw_binding_save(binding, &file), SNW_OK);
    injure_maker<snw_bytes>("snw_binding_save", snw_bytes_free,
                            [&](snw_bytes** out) { return snw_binding_save(binding, out); });
    injure_maker<snw_binding>("snw_binding_open", snw_binding_free, [&](snw_binding** out) {
        return snw_binding_open(snw_bytes_data(file), snw_bytes_size(file), out);
    });
    injure_maker<snw_settings>("snw_binding_settings", snw_settings_free,
                               [&](snw_settings** out) { return snw_binding_settings(binding, out); });
    injure_maker<snw_weights>("snw_weights_of", snw_weights_free, [&](snw_weights** out) {
        return snw_weights_of(binding, model, settings, nullptr, 0, context, nullptr, out);
    });

    snw_weights* weights = nullptr;
    ASSERT_EQ(snw_weights_of(binding, model, settings, nullptr, 0, context, nullptr, &weights), SNW_OK);
    injure_maker<snw_weights>("snw_weights_limit", snw_weights_free, [&](snw_weights** out) {
        return snw_weights_limit(weights, settings, context, out);
    });
    injure_maker<snw_bytes>("snw_save_json", snw_bytes_free,
                            [&](snw_bytes** out) { return snw_save_json(model, weights, out); });
    const std::size_t joints = parents.size();
    std::vector<double> pose(10 * joints, 0), matrices(12 * joints);
    ASSERT_EQ(snw_random_pose(model, 30, 1, pose.data()), SNW_OK);
    injure("snw_random_pose", [&] { return snw_random_pose(model, 30, 1, pose.data()); });
    injure("snw_pose_matrices", [&] { return snw_pose_matrices(model, pose.data(), matrices.data()); });

    snw_bytes_free(file);
    snw_weights_free(weights);
    snw_binding_free(binding);
    snw_model_free(model);
    snw_context_free(context);
    snw_settings_free(settings);
}

}  // namespace
}  // namespace sinew::test_full_memory

#endif
