// Two bindings of one character, in numbers.
#include <nlohmann/json.hpp>

#include "handles.h"
#include "report/compare_gates.h"
#include "report/report.h"
#include "sinew/quality.h"

using namespace sinew;
using namespace sinew::capi;

namespace {

using json = nlohmann::ordered_json;

json side(const WeightsQuality& q) {
    return {{"unweighted", q.unweighted},
            {"joints", q.joints},
            {"max_influences", q.max_influences},
            {"mean_influences", q.mean_influences},
            {"torn", q.torn},
            {"dirichlet", q.smoothness.total},
            {"bleed", {{"share", q.bleed.share}, {"vertices", q.bleed.vertices}}}};
}

json summary(const Comparison& c, PoseKind kind) {
    const PoseSummary s = summarise(c.poses, kind);
    return {{"poses", s.poses}, {"mean", s.mean}, {"mean_max", s.mean_max}, {"max", s.max}};
}

}  // namespace

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
    return guarded([&] {
        for (const snw_weights* w : {reference, other})
            if (Status ok = fits(*model, w->weights); !ok) return fail(ok.error());
        Result<CompareGates> limits = CompareGates{};
        if (gates) limits = parse_gates(gates, "gates");
        if (!limits) return fail(limits.error());
        CompareOptions options;
        options.up = up_of(*model);
        // Joints are as in the file: the selection of deforming joints does not matter for finished weights.
        const Progressing progress(context);
        const Result<Comparison> made = compare(model->scene.mesh(), model->as_read, reference->weights,
                                                other->weights, options, context_of(context));
        if (!made) return fail(made.error());
        const Comparison& c = *made;
        json numbers = {
            {"l1", {{"mean", c.l1.mean}, {"median", c.l1.median}, {"p95", c.l1.p95}, {"max", c.l1.max}}},
            {"precision", c.precision},
            {"recall", c.recall},
            {"strongest_agreement", c.strongest_agreement},
            {"trimmed", {{"l1", c.trimmed.l1}, {"precision", c.trimmed.precision}, {"recall", c.trimmed.recall}}},
            {"deformation",
             {{"standard", summary(c, PoseKind::standard)}, {"random", summary(c, PoseKind::random)}}},
            {"a", side(c.a)},
            {"b", side(c.b)}};
        if (gates) numbers["gates"] = gates_json(check_gates(*limits, c));
        *out = new_text(compact_text(numbers));
        return progress.done();
    });
}

}  // extern "C"
