// Kept bindings: as files, for other meshes, and with moved joints.
#include "core/try.h"
#include "handles.h"
#include "sinew/bind.h"

using namespace sinew;
using namespace sinew::capi;

namespace {

/// The model's skeleton with the joints that deform in the binding, which rebind and move_joints compare or take
/// over.
Result<Skeleton> as_bound(const Binding& binding, const snw_model& model) {
    const std::vector<Joint>& bound = binding.skeleton().joints;
    Skeleton skeleton = model.scene.skeleton;
    if (bound.size() != skeleton.joints.size())
        return Error{ErrorCode::usage, model.name + ": it has " + std::to_string(skeleton.joints.size()) +
                                           " joints, but the binding has " + std::to_string(bound.size())};
    for (std::size_t j = 0; j < bound.size(); ++j) {
        skeleton.joints[j].deform = bound[j].deform;
        skeleton.joints[j].reason = bound[j].reason;
    }
    return skeleton;
}

template <typename Make>
snw_status again(const snw_binding* binding, const snw_model* model, snw_context* context, snw_binding** out,
                 Make&& make) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!binding || !model) return missing(!binding ? "binding" : "model");
    return guarded([&]() -> Status {
        const ModelUse use(*model, ModelUse::reads);
        SINEW_TRY(use.allowed());
        SINEW_TRY_LET(const Skeleton skeleton, as_bound(binding->binding, *model));
        const Progressing progress(context);
        SINEW_TRY_LET(Binding made, make(binding->binding, model->scene.mesh(), skeleton));
        std::unique_ptr<snw_binding> handle(new snw_binding{std::move(made)});
        tell(context, handle->binding.report().warnings);
        *out = handle.release();
        return progress.done();
    });
}

}  // namespace

extern "C" {

snw_status snw_binding_save(const snw_binding* binding, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!binding) return missing("binding");
    return guarded([&]() -> Status {
        const std::vector<std::byte> bytes = binding->binding.to_bytes();
        *out = new_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        return Done{};
    });
}

snw_status snw_binding_open(const void* bytes, size_t size, snw_binding** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!bytes && size) return missing("bytes");
    return guarded([&]() -> Status {
        SINEW_TRY_LET(Binding read, Binding::from_bytes({static_cast<const std::byte*>(bytes), size}));
        *out = new snw_binding{std::move(read)};
        return Done{};
    });
}

snw_status snw_binding_settings(const snw_binding* binding, snw_settings** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!binding) return missing("binding");
    return guarded([&]() -> Status {
        auto settings = std::make_unique<snw_settings>();
        settings->bind = binding->binding.options();
        settings->keep_volume = binding->binding.keeps_volume();
        *out = settings.release();
        return Done{};
    });
}

snw_status snw_binding_rebind(const snw_binding* binding, const snw_model* model, snw_context* context,
                              snw_binding** out) {
    return again(binding, model, context, out,
                 [&](const Binding& b, const MeshView& mesh, const Skeleton& skeleton) {
                     return rebind(b, mesh, model->scene.part_of_vertex, skeleton, context_of(context));
                 });
}

snw_status snw_binding_move(const snw_binding* binding, const snw_model* model, snw_context* context,
                            snw_binding** out) {
    return again(binding, model, context, out,
                 [&](const Binding& b, const MeshView& mesh, const Skeleton& skeleton) {
                     return b.move_joints(mesh, skeleton, context_of(context));
                 });
}

}  // extern "C"
