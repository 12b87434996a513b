// Two bindings of one character, in numbers.

#include "core/try.h"
#include "handles.h"
#include "io/json.h"
#include "report/comparison.h"
#include "report/report.h"
#include "sinew/quality.h"

using namespace sinew;
using namespace sinew::capi;

extern "C" {

snw_status snw_compare_json(const snw_model* model, const snw_weights* reference, const snw_weights* other,
                            snw_context* context, snw_bytes** out) {
    return snw_compare_gates_json(model, reference, other, nullptr, context, out);
}

snw_status snw_compare_gates_json(const snw_model* model, const snw_weights* reference, const snw_weights* other,
                                  const char* gates, snw_context* context, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model || !reference || !other) return missing(!model ? "model" : !reference ? "reference" : "other");
    return guarded([&]() -> Status {
        for (const snw_weights* w : {reference, other}) SINEW_TRY(fits(*model, w->weights));
        Result<CompareGates> limits = CompareGates{};
        if (gates) limits = parse_gates(gates, "gates");
        if (!limits) return limits.error();
        CompareOptions options;
        options.up = up_of(*model);
        // Joints are as in the file: the selection of deforming joints does not matter for finished weights.
        const Progressing progress(context);
        SINEW_TRY_LET(const Comparison made, compare(model->scene.mesh(), model->as_read, reference->weights,
                                                     other->weights, options, context_of(context)));
        OrderedJson numbers = comparison_json(made, options.bleed);
        if (gates) numbers["gates"] = gates_json(check_gates(*limits, made));
        *out = new_text(compact_text(numbers));
        return progress.done();
    });
}

}  // extern "C"
