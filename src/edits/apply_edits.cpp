// Edits of weights, one after the other.
#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "edits/edit_engine.h"

namespace sinew {
namespace {

/// Whether the member that the key sets is in its range.
Status check_key(const EditKindInfo& kind, const EditKey& key, const WeightEdit& e, const EditPart& part,
                 std::size_t joints) {
    const auto wrong = [&](const std::string& what) {
        return Error{ErrorCode::usage, std::string(kind.name) + " needs " + what};
    };
    const std::string called = " \"" + std::string(key.name) + "\"";
    if (const auto* number = std::get_if<float WeightEdit::*>(&key.member)) {
        const double x = e.*(*number);
        if (key.optional && std::isnan(x)) return Done{};
        if (!(x >= key.low && x <= key.high && std::isfinite(x)) || (key.whole && x != std::floor(x)))
            return wrong((key.whole ? "a whole number" : "a number") + called + " from " + shortest_text(key.low) +
                         " to " + shortest_text(key.high) + ", not " + shortest_text(x));
    } else if (const auto* list = std::get_if<std::vector<std::uint32_t> EditPart::*>(&key.member)) {
        const std::size_t given = (part.*(*list)).size();
        if ((given || !key.optional) && (key.joints ? given != key.joints : given == 0))
            return wrong((key.joints ? std::to_string(key.joints) : "one or more") + " joints in" + called +
                         ", not " + std::to_string(given));
    } else if (const auto* joint = std::get_if<std::uint32_t EditPart::*>(&key.member)) {
        if (part.*(*joint) >= joints) return wrong("a joint in" + called);
    }
    return Done{};
}

}  // namespace

Status EditEngine::check(const WeightEdit& e) const {
    const auto wrong = [](const std::string& what) { return Error{ErrorCode::usage, what}; };
    const EditKindRow& kind = row_of(e.kind);
    for (const EditPart* part : {static_cast<const EditPart*>(&e), e.other_side ? &*e.other_side : nullptr}) {
        if (!part) continue;
        if (!part->selection.empty() && part->selection.size() != vertices())
            return wrong("the selection is for " + std::to_string(part->selection.size()) +
                         " vertices, but the mesh has " + std::to_string(vertices()));
        for (const float s : part->selection)
            if (!(s >= 0 && s <= 1)) return wrong("a selection must be from 0 to 1, not " + shortest_text(s));
        for (const auto* list : {&part->joints, &part->region, &e.locked})
            for (const std::uint32_t j : *list)
                if (j >= joints_) return wrong("there is no joint " + std::to_string(j));
        for (const EditKey& key : kind.keys) SINEW_TRY(check_key(kind, key, e, *part, joints_));
    }
    return kind.check ? kind.check(e, vertices(), joints_) : Done{};
}

EditEngine::Shares EditEngine::shares_of(const WeightEdit& edit, const RowAt& from) const {
    const std::vector<std::uint32_t>& weld = EditSurfaceState::of(surface).topology.weld;
    const std::size_t n = weld.size();
    Shares shares;
    for (std::size_t p = 0; p < 2; ++p) {
        std::vector<float>& out = shares[p];
        out.assign(n, 0);
        if (p && !edit.other_side) break;
        const EditPart& part = p ? *edit.other_side : static_cast<const EditPart&>(edit);
        for (std::uint32_t v = 0; v < n; ++v) {
            const float own = part.selection.empty() ? 1.0f : part.selection[v];
            if (!(own > out[weld[v]])) continue;
            if (!part.region.empty()) {
                double sum = 0;
                for (const Influence& i : from(v))
                    if (std::find(part.region.begin(), part.region.end(), i.joint) != part.region.end())
                        sum += i.weight;
                if (!(sum > 0 && sum >= edit.region_above)) continue;
            }
            out[weld[v]] = own;
        }
        for (std::size_t v = n; v-- > 0;) out[v] = out[weld[v]];
        if (!edit.parts) continue;
        const MeshSurface& parts = EditSurfaceState::of(surface).surface();
        std::vector<float> most(parts.components, 0);
        const auto each = [&](auto&& visit) {
            for (std::size_t v = 0; v < n; ++v)
                if (parts.node_of[v] != no_index) visit(out[v], most[parts.component[parts.node_of[v]]]);
        };
        each([](float share, float& of_part) { of_part = std::max(of_part, share); });
        each([](float& share, float of_part) { share = of_part; });
    }
    return shares;
}

Result<std::vector<EditEngine::Row>> EditEngine::compute(const WeightEdit& edit,
                                                         const std::vector<std::uint32_t>& at, const Shares& shares,
                                                         const RowAt& from, std::size_t& stuck_rows,
                                                         Context* context) const {
    const EditKindRow& kind = row_of(edit.kind);
    const EditTask task{edit, EditSurfaceState::of(surface), from, locks, context};
    std::array<PreparedRow, 2> prepared;
    const bool twice = kind.joints_of_sides && edit.other_side;
    for (std::size_t p = 0; kind.prepare && p < (twice ? 2 : 1); ++p) {
        const EditPart& part = p ? *edit.other_side : static_cast<const EditPart&>(edit);
        SINEW_TRY_LET(prepared[p], kind.prepare(task, part, at));
    }
    const auto given_up = [&] { return Error{ErrorCode::cancelled, "cancelled while editing weights"}; };
    if (cancelled(context)) return given_up();

    const EditRules rules(edit, locks, keep_);
    std::vector<Row> fresh(at.size());
    std::vector<std::uint8_t> stuck(at.size(), 0);
    parallel_chunks(context, at.size(), 1024, [&](std::size_t, std::size_t begin, std::size_t end) {
        Row row;
        EditRow prepared_row;
        for (std::size_t k = begin; k < end && !cancelled(context); ++k) {
            const std::uint32_t v = at[k];
            std::span<const Influence> now = from(v);
            for (std::size_t p = 0; p < 2; ++p) {
                if (!(shares[p][v] > 0)) continue;
                const EditPart& part = p ? *edit.other_side : static_cast<const EditPart&>(edit);
                const PreparedRow& prepare = prepared[twice ? p : 0];
                prepared_row.clear();
                if (prepare) prepare(k, prepared_row);
                if (rules.apply(part, now, shares[p][v], prepare ? &prepared_row : nullptr, row))
                    now = fresh[k] = row;
                else
                    stuck[k] = 1;
            }
            if (now.data() != fresh[k].data()) fresh[k].assign(now.begin(), now.end());
        }
    });
    if (cancelled(context)) return given_up();
    stuck_rows = static_cast<std::size_t>(std::count(stuck.begin(), stuck.end(), 1));
    return fresh;
}

void EditEngine::put(std::uint32_t v, Row row) {
    if (slot_[v] == no_index) {
        slot_[v] = static_cast<std::uint32_t>(rows_.size());
        rows_.emplace_back();
    }
    rows_[slot_[v]] = std::move(row);
}

SkinWeights EditEngine::weights() const {
    const std::size_t n = vertices();
    WeightRows out(n);
    for (std::size_t c = 0; c < out.part.size(); ++c)
        for (std::size_t v = c * WeightRows::per_chunk; v < std::min(n, (c + 1) * WeightRows::per_chunk); ++v) {
            const auto now = row(static_cast<std::uint32_t>(v));
            out.part[c].insert(out.part[c].end(), now.begin(), now.end());
            out.first[v + 1] = now.size();
        }
    return out.assemble(nullptr);
}

Result<EditEngine> EditEngine::begin(const EditSurface& surface, SkinWeights weights, Locks locks,
                                     std::size_t joint_count, int max_influences) {
    const std::size_t n = EditSurfaceState::of(surface).mesh.positions.size();
    if (weights.vertex_count() != n)
        return Error{ErrorCode::input, "the weights have rows for " + std::to_string(weights.vertex_count()) +
                                           " vertices, the mesh has " + std::to_string(n)};
    if (!locks.vertices.empty() && locks.vertices.size() != n)
        return Error{ErrorCode::usage, "locks are for " + std::to_string(locks.vertices.size()) +
                                           " vertices, the mesh has " + std::to_string(n)};
    EditEngine out(surface);
    out.base_ = std::move(weights);
    out.locks = std::move(locks);
    out.joints_ = joint_count;
    out.keep_ = max_influences == all_influences ? ~std::size_t{0} : static_cast<std::size_t>(max_influences);
    out.slot_.assign(n, no_index);
    return out;
}

Result<SkinWeights> apply_edits(const MeshView& mesh, const SkinWeights& weights, std::span<const WeightEdit> edits,
                                const Locks& locks, std::size_t joint_count, int max_influences, EditReport* report,
                                Context* context) {
    SINEW_TRY_LET(EditEngine engine,
                  EditEngine::begin(EditSurface(mesh, context), weights, locks, joint_count, max_influences));
    const auto numbered = [](std::size_t i, const Error& e) {
        return e.code == ErrorCode::cancelled ? e
                                              : Error{e.code, "edit " + std::to_string(i + 1) + ": " + e.message};
    };
    for (std::size_t i = 0; i < edits.size(); ++i)
        if (Status ok = engine.check(edits[i]); !ok) return numbered(i, ok.error());
    if (edits.empty()) return weights;
    const EditEngine::RowAt now = [&](std::uint32_t v) { return engine.row(v); };
    for (std::size_t i = 0; i < edits.size(); ++i) {
        const EditEngine::Shares shares = engine.shares_of(edits[i], now);
        std::vector<std::uint32_t> at;
        for (std::uint32_t v = 0; v < engine.vertices(); ++v)
            if ((shares[0][v] > 0 || shares[1][v] > 0) && engine.may_change(v, now)) at.push_back(v);
        std::size_t stuck = 0, changed = 0;
        Result<std::vector<EditEngine::Row>> fresh = engine.compute(edits[i], at, shares, now, stuck, context);
        if (!fresh) return numbered(i, fresh.error());
        for (std::size_t k = 0; k < at.size(); ++k)
            if (!same_row(engine.row(at[k]), (*fresh)[k])) {
                engine.put(at[k], std::move((*fresh)[k]));
                ++changed;
            }
        if (report) {
            report->changed.push_back(changed);
            report->kept.push_back(stuck);
        }
    }
    return engine.weights();
}

}  // namespace sinew
