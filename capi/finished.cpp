// Finished weights: limits, locks, edits, JSON, and from mesh to mesh.
#include <algorithm>

#include "core/try.h"
#include "handles.h"
#include "report/clean_report.h"
#include "report/questions_report.h"
#include "report/report.h"
#include "sinew/bind.h"
#include "sinew/near.h"
#include "sinew/transfer.h"

using namespace sinew;
using namespace sinew::capi;

namespace {

/// The flags as bits; empty for null.
std::vector<bool> bits_of(const std::uint8_t* flags, std::size_t count) {
    std::vector<bool> out;
    if (!flags) return out;
    out.resize(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = flags[i] != 0;
    return out;
}

/// Weights as strengths, as finish() takes them.
InfluenceTable table_of(const SkinWeights& weights) {
    InfluenceTable table;
    table.vertices = weights.vertex_count();
    table.width = std::max<std::size_t>(1, weights.max_influences());
    table.joint.assign(table.vertices * table.width, no_index);
    table.strength.assign(table.vertices * table.width, 0.f);
    for (std::size_t v = 0; v < table.vertices; ++v)
        for (std::size_t k = 0; k < weights[v].size(); ++k) {
            table.joint[v * table.width + k] = weights[v][k].joint;
            table.strength[v * table.width + k] = weights[v][k].weight;
        }
    return table;
}

/// Rows of `kept` at the flagged vertices, where they are not empty, and of `fresh` at the others, with their bits.
Result<SkinWeights> choose_rows(const SkinWeights& fresh, const SkinWeights& kept, const std::uint8_t* flags) {
    std::vector<std::uint32_t> counts(fresh.vertex_count());
    std::vector<Influence> all;
    for (std::size_t v = 0; v < counts.size(); ++v) {
        const auto row = flags && flags[v] && !kept[v].empty() ? kept[v] : fresh[v];
        counts[v] = static_cast<std::uint32_t>(row.size());
        all.insert(all.end(), row.begin(), row.end());
    }
    return SkinWeights::from_rows(counts, std::move(all));
}

/// Puts finished weights into *out.
Status give(Result<SkinWeights> made, snw_weights** out) {
    if (!made) return made.error();
    *out = new snw_weights{std::move(*made)};
    return Done{};
}

}  // namespace

extern "C" {

snw_status snw_weights_open_json(const snw_model* model, const void* text, size_t size, snw_weights** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model || !text) return missing(!model ? "model" : "text");
    return guarded([&]() -> Status {
        return give(io::parse_weights_json(model->scene.skeleton, model->scene.positions.size(),
                                           {static_cast<const char*>(text), size}, "weights"),
                    out);
    });
}

snw_status snw_weights_limit(const snw_weights* weights, const snw_settings* settings, snw_context* context,
                             snw_weights** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!weights || !settings) return missing(!weights ? "weights" : "settings");
    return guarded([&]() -> Status {
        const FinishOptions& options = settings->bind.finish;
        SINEW_TRY(check(options));
        return give(finish(table_of(weights->weights), options, context_of(context)), out);
    });
}

snw_status snw_weights_keep(const snw_weights* fresh, const snw_weights* kept, const uint8_t* vertices,
                            const uint8_t* joints, size_t joint_count, int max_influences, snw_context* context,
                            snw_weights** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!fresh || !kept) return missing(!fresh ? "fresh" : "kept");
    return guarded([&]() -> Status {
        Locks locks;
        locks.weights = &kept->weights;
        locks.joints = bits_of(joints, joint_count);
        SINEW_TRY(check(FinishOptions{.max_influences = max_influences}));
        if (kept->weights.vertex_count() != fresh->weights.vertex_count())
            return Error{ErrorCode::input,
                         "the weights to keep have rows for " + std::to_string(kept->weights.vertex_count()) +
                             " vertices, the new ones " + std::to_string(fresh->weights.vertex_count())};
        SINEW_TRY_LET(SkinWeights locked, apply_locks(fresh->weights, locks, max_influences, context_of(context)));
        // Not by Locks::vertices, which normalises rows again.
        return give(choose_rows(locked, kept->weights, vertices), out);
    });
}

snw_status snw_weights_edit(const snw_model* model, const snw_weights* weights, const char* edits,
                            size_t edits_size, snw_context* context, snw_bytes** report, snw_weights** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (report) *report = nullptr;
    if (!model || !weights || !edits) return missing(!model ? "model" : !weights ? "weights" : "edits");
    return guarded([&]() -> Status {
        const io::Scene& scene = model->scene;
        SINEW_TRY(fits(*model, weights->weights));
        SINEW_TRY_LET(Adjustments list, io::parse_edits(scene, {edits, edits_size}, "edits", context_of(context)));
        if (!list.falloff.empty() || !list.angles.empty() || !list.rigid.empty())
            return Error{
                ErrorCode::usage,
                "edits: \"falloff\" and \"rigid\" are for snw_weights_of: finished weights have no distances "
                "(\"set\" with the value 1 makes a region rigid)"};
        SINEW_TRY(complete_edits(list, scene.mesh(), scene.skeleton, &weights->weights, context_of(context)));
        EditReport done;
        const int most = std::max(4, static_cast<int>(weights->weights.max_influences()));
        SINEW_TRY_LET(SkinWeights made,
                      apply_edits(scene.mesh(), weights->weights, list.edits, list.locks,
                                  scene.skeleton.joints.size(), most, &done, context_of(context)));
        std::unique_ptr<snw_bytes> text(report ? new_text(lines(edit_lines(list, done))) : nullptr);
        *out = new snw_weights{std::move(made)};
        if (report) *report = text.release();
        return Done{};
    });
}

snw_status snw_questions_json(const snw_model* model, const snw_weights* weights, size_t top, snw_context* context,
                              snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!model || !weights) return missing(!model ? "model" : "weights");
    return guarded([&]() -> Status {
        const io::Scene& scene = model->scene;
        SINEW_TRY(fits(*model, weights->weights));
        SINEW_TRY_LET(const std::vector<Question> asked,
                      questions(scene.mesh(), scene.skeleton, weights->weights, top, context_of(context)));
        *out = new_text(text_of(questions_json(scene, asked)));
        return Done{};
    });
}

snw_status snw_weights_clean(const snw_model* model, const snw_weights* weights, double strength,
                             const snw_settings* settings, snw_context* context, snw_bytes** report,
                             snw_weights** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (report) *report = nullptr;
    if (!model || !weights) return missing(!model ? "model" : "weights");
    return guarded([&]() -> Status {
        SINEW_TRY(fits(*model, weights->weights));
        SkinCleanOptions options{.strength = strength};
        if (settings) options.max_influences = settings->bind.finish.max_influences;
        const Progressing progress(context);
        SkinCleanReport done;
        SINEW_TRY_LET(SkinWeights made, clean_skin(model->scene.mesh(), model->scene.skeleton, weights->weights,
                                                   options, &done, context_of(context)));
        std::unique_ptr<snw_bytes> text(report ? new_text(text_of(cleaned_json(done))) : nullptr);
        *out = new snw_weights{std::move(made)};
        if (report) *report = text.release();
        return progress.done();
    });
}

snw_status snw_transfer(const snw_model* source, const snw_weights* weights, const snw_model* target,
                        double distance, double angle, const snw_settings* settings, snw_context* context,
                        uint8_t* how, snw_bytes** warnings, snw_weights** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (warnings) *warnings = nullptr;
    if (!source || !weights || !target) return missing(!source ? "source" : !weights ? "weights" : "target");
    return guarded([&]() -> Status {
        SINEW_TRY(fits(*source, weights->weights));
        TransferOptions options;
        options.distance = static_cast<float>(distance);
        options.angle = static_cast<float>(angle);
        if (settings) options.finish = settings->bind.finish;
        options.diagonal = near_diagonal(source->scene.mesh(), source->scene.skeleton, context_of(context));
        SINEW_TRY(check(options));
        const Progressing progress(context);
        SINEW_TRY_LET(Transfer made, transfer(source->scene.mesh(), weights->weights, target->scene.mesh(), options,
                                              context_of(context)));
        tell(context, made.warnings);
        std::unique_ptr<snw_bytes> text(warnings ? new_text(lines(made.warnings)) : nullptr);
        *out = new snw_weights{std::move(made.weights)};
        if (how)
            std::transform(made.how.begin(), made.how.end(), how,
                           [](TransferHow h) { return static_cast<std::uint8_t>(h); });
        if (warnings) *warnings = text.release();
        return progress.done();
    });
}

}  // extern "C"
