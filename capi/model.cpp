// Models, bytes and errors.

#include "core/try.h"
#include "handles.h"
#include "io/json.h"
#include "report/report.h"
#include "sinew/bind_scene.h"

namespace sinew::capi {

namespace {

thread_local std::string t_error;
thread_local const char* t_constant = nullptr;  // instead of it

using json = OrderedJson;

json triple(const Vec3& v) { return {v.x, v.y, v.z}; }

json joints_json(const Skeleton& skeleton) {
    json out = json::array();
    for (const Joint& joint : skeleton.joints) {
        json entry = {{"name", joint.name},
                      {"parent", joint.parent},
                      {"position", triple(joint.position)},
                      {"axes", {triple(joint.axes[0]), triple(joint.axes[1]), triple(joint.axes[2])}},
                      {"deforms", joint.deform},
                      {"reason", to_string(joint.reason)}};
        if (joint.tail) entry["tail"] = triple(*joint.tail);
        out.push_back(std::move(entry));
    }
    return out;
}

json look_json(const io::Look& look, json& images) {
    json materials = json::array();
    for (const io::Look::Material& m : look.materials)
        materials.push_back({{"colour", m.colour},
                             {"image", m.image},
                             {"repeats", m.repeats},
                             {"offset", m.offset},
                             {"scale", m.scale},
                             {"rotation", m.rotation},
                             {"cutoff", m.cutoff},
                             {"blends", m.blends},
                             {"double_sided", m.double_sided}});
    images = json::array();
    for (const io::Look::Image& image : look.images)
        images.push_back({{"mime", image.mime}, {"bytes", image.bytes.size()}});
    return materials;
}

Result<json> describe(const snw_model& model, const Skeleton& skeleton, Context* context) {
    const io::Scene& scene = model.scene;
    const MeshDefects defects = analyse_mesh(scene.mesh(), context).defects;
    if (context && context->cancel) return Error{ErrorCode::cancelled, "cancelled while the mesh is analysed"};
    std::size_t deforming = 0;
    for (const Joint& joint : skeleton.joints) deforming += joint.deform;

    json bones = json::array();
    for (const Bone& b : make_bones(skeleton))
        bones.push_back({b.joint, b.head.x, b.head.y, b.head.z, b.tail.x, b.tail.y, b.tail.z});
    json primitives = json::array();
    for (std::size_t i = 0; i < scene.primitives.size(); ++i) {
        const io::Primitive& p = scene.primitives[i];
        primitives.push_back({{"name", p.name},
                              {"mesh", p.mesh},
                              {"material", model.look.material_of_primitive[i]},
                              {"material_name", p.material},
                              {"first_triangle", p.first_triangle},
                              {"triangle_count", p.triangle_count},
                              {"first_vertex", p.first_vertex},
                              {"vertex_count", p.vertex_count}});
    }
    SINEW_TRY_LET(std::vector<io::Clip> clips, io::clips(scene));
    json clip_list = json::array();
    for (const io::Clip& clip : clips)
        clip_list.push_back({{"name", clip.name}, {"start", clip.start}, {"end", clip.end}});
    Vec3 low = scene.positions[0], high = low;
    for (const Vec3& p : scene.positions) {
        low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    json images, props = json::array();
    json materials = look_json(model.look, images);
    for (const io::Prop& p : model.props)
        props.push_back(
            {{"name", p.name}, {"joint", static_cast<std::int32_t>(p.joint)}, {"material", p.material}});
    return json{{"counts",
                 {{"vertices", scene.positions.size()},
                  {"triangles", scene.triangles.size()},
                  {"joints", scene.skeleton.joints.size()},
                  {"deforming_joints", deforming},
                  {"meshes", scene.mesh_count},
                  {"primitives", scene.primitives.size()},
                  {"skipped_primitives", scene.skipped_primitives},
                  {"parts", defects.parts}}},
                {"defects", defects_json(defects)},
                {"box", {triple(low), triple(high)}},
                {"joints", joints_json(skeleton)},
                {"bones", std::move(bones)},
                {"primitives", std::move(primitives)},
                {"materials", std::move(materials)},
                {"images", std::move(images)},
                {"clips", std::move(clip_list)},
                {"weights", scene.weights.has_value()},
                {"warnings", scene.warnings},
                {"props", std::move(props)},
                {"vrm", io::vrm_of(scene)}};
}

template <typename T>
const float* floats(const std::vector<T>& values) {
    return values.empty() ? nullptr : reinterpret_cast<const float*>(values.data());
}

}  // namespace

namespace {

constexpr const char* kNoMemory = "there is not enough memory (use a lower resolution)";

snw_status status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::usage:
            return SNW_USAGE;
        case ErrorCode::input:
            return SNW_INPUT;
        case ErrorCode::too_large:
            return SNW_TOO_LARGE;
        case ErrorCode::io:
            return SNW_IO;
        case ErrorCode::cancelled:
            return SNW_CANCELLED;
        case ErrorCode::internal:
            break;
    }
    return SNW_INTERNAL;
}

}  // namespace

snw_status fail(const Error& error) noexcept {
    try {
        t_error = error.message;
        t_constant = nullptr;
    } catch (const std::exception&) {
        t_constant = kNoMemory;  // for its message
    }
    return status_of(error.code);
}

snw_status fail(ErrorCode code, const char* constant) noexcept {
    t_constant = constant;
    return status_of(code);
}

snw_status out_of_memory() noexcept { return fail(ErrorCode::too_large, kNoMemory); }

snw_status missing(const char* what) noexcept {
    return guarded([&]() -> Status { return Error{ErrorCode::usage, std::string(what) + " must not be null"}; });
}

snw_status unexpected(const std::exception& error) noexcept {
    return guarded([&]() -> Status { return Error{ErrorCode::internal, error.what()}; });
}

Result<Skeleton> selected(const snw_model& model, const snw_settings* settings) {
    return deforming_skeleton(model.scene, settings ? settings->deform : DeformOptions{});
}

ModelUse::ModelUse(const snw_model& model, Kind kind) : model_(model), kind_(kind) {
    int now = 0;
    while (kind == reads ? now >= 0 : now == 0)
        if (model.binds.compare_exchange_weak(now, kind == reads ? now + 1 : -1)) return;
    allowed_ =
        Error{ErrorCode::usage, model.name + (kind == reads ? ": it is being changed" : ": it is being bound") +
                                    " (wait until that call has ended)"};
}

ModelUse::~ModelUse() {
    if (!allowed_) return;
    if (kind_ == reads)
        --model_.binds;
    else
        model_.binds = 0;
}

std::string lines(const std::vector<std::string>& list) {
    std::string out;
    for (const std::string& line : list) out += (out.empty() ? "" : "\n") + line;
    return out;
}

void tell(const snw_context* context, const std::vector<std::string>& warnings) {
    if (context && context->log)
        for (const std::string& warning : one_of_each_kind(warnings))
            context->log(warning.c_str(), context->log_user);
}

Status fits(const snw_model& model, const SkinWeights& weights) {
    if (weights.vertex_count() == model.scene.positions.size()) return Done{};
    return Error{ErrorCode::usage, "weights for " + std::to_string(weights.vertex_count()) +
                                       " vertices, but the model has " +
                                       std::to_string(model.scene.positions.size())};
}

}  // namespace sinew::capi

using namespace sinew;
using namespace sinew::capi;

extern "C" {

const char* snw_version(void) { return SINEW_VERSION; }
int snw_abi(void) { return SNW_ABI; }
const char* snw_error(void) { return t_constant ? t_constant : t_error.c_str(); }

const uint8_t* snw_bytes_data(const snw_bytes* bytes) {
    return bytes ? reinterpret_cast<const uint8_t*>(bytes->text.c_str()) : nullptr;
}
size_t snw_bytes_size(const snw_bytes* bytes) { return bytes ? bytes->text.size() : 0; }
void snw_bytes_free(snw_bytes* bytes) { delete bytes; }

snw_status snw_model_open(const void* bytes, size_t size, const char* name, const char* folder,
                          const void* skeleton, size_t skeleton_size, const char* skeleton_name, snw_model** out) {
    const snw_open_options options = {
        sizeof options, folder, skeleton, skeleton_size, skeleton_name, 0, 0, 0, 0, 0, 0};
    return snw_model_open_with(bytes, size, name, &options, nullptr, out);
}

snw_status snw_model_open_with(const void* bytes, size_t size, const char* name, const snw_open_options* options,
                               snw_context* context, snw_model** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!bytes && size) return missing("bytes");
    return guarded([&]() -> Status {
        SINEW_TRY_LET(const snw_open_options with, given(options));
        auto model = std::make_unique<snw_model>();
        model->name = name ? name : "model";
        io::LoadOptions load;
        load.prop = with.prop != 0;
        load.follow_links = context && context->follow_links;
        load.bind_parts = with.bind_parts != 0;
        load.together = with.together != 0;
        load.bind_unskinned = with.only_missing != 0;
        if (with.skeleton_scale != 0) load.skeleton_scale = with.skeleton_scale;
        if (with.skeleton) {
            SINEW_TRY_LET(load.own_skeleton,
                          io::parse_skeleton_file({static_cast<const char*>(with.skeleton), with.skeleton_size},
                                                  with.skeleton_name ? with.skeleton_name : "skeleton",
                                                  with.with_clips != 0, context_of(context)));
        } else if (with.with_clips) {
            return Error{ErrorCode::usage, "with_clips takes the animations of the skeleton's file: give one"};
        }
        SINEW_TRY_LET(io::Scene scene, io::load_bytes({static_cast<const std::byte*>(bytes), size}, model->name,
                                                      with.folder ? with.folder : "", load, context_of(context)));
        model->scene = std::move(scene);
        if (Status ok = check_mesh(model->scene.mesh()); !ok)
            return Error{ok.error().code, model->name + ": " + ok.error().message};
        SINEW_TRY_LET(model->frames, io::shading_frames(model->scene));
        SINEW_TRY_LET(model->look, io::look_of(model->scene));
        model->props = io::props_of(model->scene);
        model->as_read = model->scene.skeleton;
        if (with.only_missing && model->scene.weights) {
            model->kept_vertices.resize(model->scene.positions.size());
            for (std::size_t v = 0; v < model->kept_vertices.size(); ++v)
                model->kept_vertices[v] = !(*model->scene.weights)[v].empty();
        }
        tell(context, model->scene.warnings);
        *out = model.release();
        return Done{};
    });
}
void snw_model_free(snw_model* model) { delete model; }

snw_status snw_model_joint_options(snw_model* model, const char* text, size_t size) {
    if (!model) return missing("model");
    return guarded([&]() -> Status {
        const ModelUse use(*model, ModelUse::changes);
        SINEW_TRY(use.allowed());
        Skeleton skeleton = model->as_read;
        if (text && size) SINEW_TRY(io::parse_joint_options({text, size}, "joint options", skeleton));
        model->scene.skeleton = std::move(skeleton);
        return Done{};
    });
}

void snw_model_size(const snw_model* model, size_t* vertices, size_t* triangles, size_t* joints) {
    if (vertices) *vertices = model ? model->scene.positions.size() : 0;
    if (triangles) *triangles = model ? model->scene.triangles.size() : 0;
    if (joints) *joints = model ? model->scene.skeleton.joints.size() : 0;
}
const float* snw_model_positions(const snw_model* model) {
    return model ? floats(model->scene.positions) : nullptr;
}
const uint32_t* snw_model_triangles(const snw_model* model) {
    return model && !model->scene.triangles.empty() ? model->scene.triangles[0].data() : nullptr;
}
const float* snw_model_normals(const snw_model* model) { return model ? floats(model->frames.normals) : nullptr; }
const float* snw_model_uvs(const snw_model* model) { return model ? floats(model->look.uvs) : nullptr; }

snw_status snw_model_json(const snw_model* model, const snw_settings* settings, snw_context* context,
                          snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model) return missing("model");
    return guarded([&]() -> Status {
        SINEW_TRY_LET(const Skeleton skeleton, selected(*model, settings));
        SINEW_TRY_LET(const json description, describe(*model, skeleton, context_of(context)));
        *out = new_text(compact_text(description));
        return Done{};
    });
}

snw_status snw_model_prop(const snw_model* model, size_t prop, snw_prop* out) {
    if (!out) return missing("out");
    *out = {};
    if (!model) return missing("model");
    if (prop >= model->props.size())
        return fail({ErrorCode::usage, "prop " + std::to_string(prop) + ": the model has " +
                                           std::to_string(model->props.size()) + " props"});
    const io::Prop& p = model->props[prop];
    *out = {p.name.c_str(),       static_cast<std::int32_t>(p.joint),
            p.material,           p.positions.size(),
            floats(p.positions),  floats(p.normals),
            floats(p.uvs),        p.triangles.size(),
            p.triangles[0].data()};
    return SNW_OK;
}

snw_status snw_model_image(const snw_model* model, size_t image, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model) return missing("model");
    return guarded([&]() -> Status {
        const auto& images = model->look.images;
        if (image >= images.size())
            return Error{ErrorCode::usage, "image " + std::to_string(image) + ": the model has " +
                                               std::to_string(images.size()) + " images"};
        const auto& bytes = images[image].bytes;
        *out = new_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        return Done{};
    });
}

snw_status snw_model_weights(const snw_model* model, snw_weights** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model) return missing("model");
    return guarded([&]() -> Status {
        if (!model->scene.weights) return Error{ErrorCode::usage, model->name + ": the file has no weights"};
        *out = new snw_weights{*model->scene.weights};
        return Done{};
    });
}

}  // extern "C"
