// Template skeletons for meshes that have none.
#include "sinew/rig.h"

#include "core/try.h"
#include "handles.h"
#include "io/json.h"
#include "report/report.h"
#include "report/rig_report.h"

using namespace sinew;
using namespace sinew::capi;

extern "C" {

snw_status snw_rig_templates(snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    return guarded([&]() -> Status {
        OrderedJson list = OrderedJson::array();
        for (const RigTemplate& model : rig_templates())
            list.push_back({{"name", model.name}, {"summary", model.summary}});
        *out = new_text(compact_text(list));
        return Done{};
    });
}

snw_status snw_rig(const snw_model* model, const char* name, int resolution, snw_context* context,
                   snw_bytes** report, snw_bytes** skeleton) {
    if (!skeleton) return missing("skeleton");
    *skeleton = nullptr;
    if (report) *report = nullptr;
    if (!model) return missing("model");
    return guarded([&]() -> Status {
        RigOptions options;
        if (name) options.model = name;
        if (resolution) options.resolution = resolution;
        const Progressing progress(context);
        const std::vector<Triangle> shape = model->scene.leading_triangles();
        SINEW_TRY_LET(const Rig rig,
                      fit_template({model->scene.positions, shape, {}}, options, context_of(context)));
        std::unique_ptr<snw_bytes> said(report ? new_text(compact_text(rig_json(rig, options))) : nullptr);
        *skeleton = new_text(io::skeleton_json(rig.skeleton));
        if (report) *report = said.release();
        return progress.done();
    });
}

}  // extern "C"
