// Weights that change edit by edit.
#include <algorithm>
#include <span>

#include "core/try.h"
#include "handles.h"
#include "sinew/edits.h"

using namespace sinew;
using namespace sinew::capi;

struct snw_painting {
    const snw_model* model;
    EditSurface surface;
    PaintedWeights painted;
    bool has_changed = false;  // the last call came as far as to change rows

    std::span<const std::uint32_t> changed() const {
        return has_changed ? std::span<const std::uint32_t>(painted.changed()) : std::span<const std::uint32_t>();
    }
};

extern "C" {

snw_status snw_painting_new(const snw_model* model, const snw_weights* weights, const snw_settings* settings,
                            const char* edits, size_t edits_size, snw_painting** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model || !weights || !settings) return missing(!model ? "model" : !weights ? "weights" : "settings");
    return guarded([&]() -> Status {
        const io::Scene& scene = model->scene;
        SINEW_TRY(fits(*model, weights->weights));
        SINEW_TRY(check(settings->bind.finish));
        Result<Adjustments> list = Adjustments{};
        if (edits && edits_size) list = io::parse_edits(scene, {edits, edits_size}, "edits");
        if (!list) return list.error();
        Locks locks = std::move(list->locks);
        add_flags(locks.vertices, model->kept_vertices);
        add_flags(locks.joints, model->locked_joints);
        const EditSurface surface(scene.mesh());
        SINEW_TRY_LET(PaintedWeights painted,
                      PaintedWeights::begin(surface, weights->weights, std::move(locks),
                                            scene.skeleton.joints.size(), settings->bind.finish.max_influences));
        *out = new snw_painting{model, surface, std::move(painted)};
        return Done{};
    });
}

snw_status snw_painting_apply(snw_painting* painting, const char* edit, size_t edit_size, int again,
                              snw_context* context, size_t* changed, size_t* stuck) {
    if (changed) *changed = 0;
    if (stuck) *stuck = 0;
    if (!painting || !edit) return missing(!painting ? "painting" : "edit");
    painting->has_changed = false;
    return guarded([&]() -> Status {
        const io::Scene& scene = painting->model->scene;
        SINEW_TRY_LET(WeightEdit one, io::parse_edit(scene, {edit, edit_size}, "edit"));
        const SkinWeights* own = scene.weights ? &*scene.weights : nullptr;
        SINEW_TRY(complete_edits({&one, 1}, painting->surface, scene.skeleton, own, context_of(context)));
        SINEW_TRY(painting->painted.apply(one, again != 0, context_of(context)));
        painting->has_changed = true;
        if (changed) *changed = painting->painted.changed().size();
        if (stuck) *stuck = painting->painted.kept();
        return Done{};
    });
}

snw_status snw_painting_undo(snw_painting* painting, size_t* changed) {
    if (changed) *changed = 0;
    if (!painting) return missing("painting");
    return guarded([&]() -> Status {
        painting->has_changed = painting->painted.undo();
        if (!painting->has_changed) return Error{ErrorCode::usage, "there is no edit to take back"};
        if (changed) *changed = painting->changed().size();
        return Done{};
    });
}

snw_status snw_painting_rebase(snw_painting* painting, const snw_weights* weights, snw_context* context,
                               size_t* changed) {
    if (changed) *changed = 0;
    if (!painting || !weights) return missing(!painting ? "painting" : "weights");
    painting->has_changed = false;
    return guarded([&]() -> Status {
        SINEW_TRY(fits(*painting->model, weights->weights));
        SINEW_TRY(painting->painted.rebase(weights->weights, context_of(context)));
        painting->has_changed = true;
        if (changed) *changed = painting->changed().size();
        return Done{};
    });
}

size_t snw_painting_edits(const snw_painting* painting) { return painting ? painting->painted.edits() : 0; }

const uint32_t* snw_painting_vertices(const snw_painting* painting) {
    return painting ? painting->changed().data() : nullptr;
}

size_t snw_painting_width(const snw_painting* painting) {
    std::size_t width = 0;
    if (painting)
        for (const std::uint32_t v : painting->changed()) width = std::max(width, painting->painted[v].size());
    return width;
}

snw_status snw_painting_rows(const snw_painting* painting, size_t width, uint16_t* joints, float* shares) {
    if (!painting) return missing("painting");
    if (painting->changed().empty()) return SNW_OK;
    if (!joints || !shares) return missing(!joints ? "joints" : "shares");
    for (const std::uint32_t v : painting->changed()) {
        const auto row = painting->painted[v];
        for (std::size_t k = 0; k < width; ++k) {
            *joints++ = k < row.size() ? static_cast<uint16_t>(row[k].joint) : uint16_t{0};
            *shares++ = k < row.size() ? row[k].weight : 0.f;
        }
    }
    return SNW_OK;
}

snw_status snw_painting_weights(const snw_painting* painting, snw_weights** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!painting) return missing("painting");
    return guarded([&]() -> Status {
        *out = new snw_weights{painting->painted.weights()};
        return Done{};
    });
}

void snw_painting_free(snw_painting* painting) { delete painting; }

}  // extern "C"
