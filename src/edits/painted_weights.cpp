// Weights that change edit by edit, and that can be taken back.
#include <algorithm>
#include <array>

#include "core/geometry.h"
#include "core/try.h"
#include "edits/edit_engine.h"

namespace sinew {
namespace {

bool same_parts(const EditPart& a, const EditPart& b) {
    return a.region == b.region && a.joints == b.joints && a.with == b.with;
}
/// Whether two edits differ at most in their selections.
bool differ_in_selection(const WeightEdit& a, const WeightEdit& b) {
    return a.kind == b.kind && !row_of(a.kind).complete && a.region_above == b.region_above && a.value == b.value &&
           a.locked == b.locked && same_parts(a, b) && !a.other_side == !b.other_side &&
           (!a.other_side || same_parts(*a.other_side, *b.other_side));
}

}  // namespace

/// An edit that was applied, and its shares above 0, by vertex.
struct AppliedEdit {
    WeightEdit edit;  // without its selections
    std::array<std::vector<std::pair<std::uint32_t, float>>, 2> shares;
};

struct PaintedWeightsState : EditEngine {
    using Rows = std::vector<std::pair<std::uint32_t, Row>>;  // by vertex

    std::vector<Rows> history;          // per edit: the rows before it
    std::vector<AppliedEdit> applied;   // per edit but the last, which `last` and `share` describe
    std::vector<std::uint32_t> before;  // V: of a row in the last of `history`, or no_index
    bool growing = false;               // the last call applied `last`
    WeightEdit last;                    // without its selections
    Shares share;                       // those of `last`
    std::vector<std::uint32_t> changed;
    std::size_t computed = 0, kept = 0;

    explicit PaintedWeightsState(EditEngine of) : EditEngine(std::move(of)), before(vertices(), no_index) {}

    /// The row before the edit that is being applied.
    std::span<const Influence> start(std::uint32_t v) const {
        return before[v] == no_index ? row(v) : std::span<const Influence>(history.back()[before[v]].second);
    }
    Status apply(const WeightEdit& edit, bool again, Context* context);
    bool undo();
    Status rebase(SkinWeights weights, Context* context);

    AppliedEdit last_applied() const;
    void take_last_from_applied();

    /// Vertices whose rows have changed during a rebase, and a box around them.
    struct ChangedRows {
        std::span<const Vec3> positions;
        std::vector<std::uint8_t> at;
        Box3 box;

        void add(std::uint32_t v) {
            if (!at[v]) box.add(to_point(positions[v]));
            at[v] = 1;
        }
    };
    bool reads_changed_rows(const WeightEdit& edit, const std::vector<std::uint32_t>& at, const Box3& changed_rows);
    void apply_again(std::size_t e, ChangedRows& affected, std::vector<std::uint8_t>& is_new, Context* context);
};

Status PaintedWeightsState::apply(const WeightEdit& edit, bool again, Context* context) {
    const std::size_t n = vertices();
    changed.clear();
    SINEW_TRY(check(edit));
    std::vector<std::uint32_t> taken_back;
    const bool grows = again && growing && differ_in_selection(edit, last);
    if (!grows) {
        if (again && undo()) taken_back = changed;
        if (!history.empty()) applied.push_back(last_applied());
        for (auto& s : share) s.assign(n, 0);
        if (!history.empty())
            for (const auto& [v, row] : history.back()) before[v] = no_index;
        history.emplace_back();
    }
    const RowAt from = [&](std::uint32_t v) { return start(v); };
    Shares wanted = shares_of(edit, from);
    std::vector<std::uint32_t> at;
    for (std::uint32_t v = 0; v < n; ++v)
        if ((wanted[0][v] != share[0][v] || wanted[1][v] != share[1][v]) && may_change(v, from)) at.push_back(v);

    std::size_t stuck = 0;
    Result<std::vector<Row>> made = compute(edit, at, wanted, from, stuck, context);
    if (!made) {
        if (!grows) {
            history.pop_back();
            take_last_from_applied();
        }
        growing = growing && grows;
        return made.error();
    }
    std::vector<Row>& fresh = *made;
    changed.clear();
    Rows& kept_rows = history.back();
    for (std::size_t k = 0; k < at.size(); ++k) {
        const std::uint32_t v = at[k];
        const auto now = row(v);
        if (same_row(now, fresh[k])) continue;
        if (before[v] == no_index) {
            before[v] = static_cast<std::uint32_t>(kept_rows.size());
            kept_rows.push_back({v, {now.begin(), now.end()}});
        }
        put(v, std::move(fresh[k]));
        changed.push_back(v);
    }
    share = std::move(wanted);
    last = edit;
    last.selection.clear();
    if (last.other_side) last.other_side->selection.clear();
    growing = true;
    computed = at.size();
    kept = stuck;
    if (!taken_back.empty()) {
        std::vector<std::uint32_t> all;
        std::set_union(changed.begin(), changed.end(), taken_back.begin(), taken_back.end(),
                       std::back_inserter(all));
        changed = std::move(all);
    }
    return Done{};
}

bool PaintedWeightsState::undo() {
    changed.clear();
    growing = false;
    if (history.empty()) return false;
    for (auto& [v, row] : history.back()) {
        put(v, std::move(row));
        before[v] = no_index;
        changed.push_back(v);
    }
    history.pop_back();
    take_last_from_applied();
    std::sort(changed.begin(), changed.end());
    return true;
}

AppliedEdit PaintedWeightsState::last_applied() const {
    AppliedEdit out{last, {}};
    for (std::size_t p = 0; p < 2; ++p)
        for (std::uint32_t v = 0; v < share[p].size(); ++v)
            if (share[p][v] > 0) out.shares[p].emplace_back(v, share[p][v]);
    return out;
}

void PaintedWeightsState::take_last_from_applied() {
    for (auto& s : share) s.assign(vertices(), 0);
    if (applied.empty()) return;
    last = std::move(applied.back().edit);
    for (std::size_t p = 0; p < 2; ++p)
        for (const auto& [v, s] : applied.back().shares[p]) share[p][v] = s;
    applied.pop_back();
}

/// Whether the edit at these vertices may read rows in the box, other than their own.
bool PaintedWeightsState::reads_changed_rows(const WeightEdit& edit, const std::vector<std::uint32_t>& at,
                                             const Box3& changed_rows) {
    const auto reach_of = row_of(edit.kind).reach;
    if (!reach_of) return false;
    const double reach = reach_of(edit, EditSurfaceState::of(surface));
    Box3 box;
    for (const std::uint32_t v : at) box.add(to_point(EditSurfaceState::of(surface).mesh.positions[v]));
    for (std::size_t k = 0; k < 3; ++k)
        if (box.low[k] - reach > changed_rows.high[k] || box.high[k] + reach < changed_rows.low[k]) return false;
    return true;
}

/// Applies an edit of the history again. Where it reads only rows that are as they were, its result is still there.
/// is_new: all 0, before and after.
void PaintedWeightsState::apply_again(std::size_t e, ChangedRows& affected, std::vector<std::uint8_t>& is_new,
                                      Context* context) {
    const AppliedEdit& one = applied[e];
    const RowAt now = [&](std::uint32_t v) { return row(v); };
    std::vector<std::uint32_t> all, at;
    for (std::size_t p = 0; p < 2; ++p)
        for (const auto& [v, s] : one.shares[p]) {
            if (share[0][v] == 0 && share[1][v] == 0 && may_change(v, now)) all.push_back(v);
            share[p][v] = s;
        }
    std::sort(all.begin(), all.end());
    const bool reads = reads_changed_rows(one.edit, all, affected.box);
    for (const std::uint32_t v : all)
        if (reads || affected.at[v]) at.push_back(v);
    std::size_t stuck = 0;
    Result<std::vector<Row>> made = compute(one.edit, at, share, now, stuck, context);
    std::vector<Row> fresh;  // of an edit that is no longer possible: the rows as they are
    if (made)
        fresh = std::move(*made);
    else
        for (const std::uint32_t v : at) fresh.emplace_back(row(v).begin(), row(v).end());
    for (const std::uint32_t v : at) is_new[v] = 1;
    Rows before_it;
    for (auto& [v, row] : history[e]) {
        if (is_new[v]) continue;
        std::swap(put_row(v), row);
        before_it.emplace_back(v, std::move(row));
    }
    for (std::size_t k = 0; k < at.size(); ++k) {
        const std::uint32_t v = at[k];
        is_new[v] = 0;
        affected.add(v);
        const auto current = row(v);
        if (same_row(current, fresh[k])) continue;
        before_it.emplace_back(v, Row(current.begin(), current.end()));
        put(v, std::move(fresh[k]));
    }
    history[e] = std::move(before_it);
    computed += at.size();
    for (std::size_t p = 0; p < 2; ++p)
        for (const auto& [v, s] : one.shares[p]) share[p][v] = 0;
}

Status PaintedWeightsState::rebase(SkinWeights weights, Context* context) {
    const std::size_t n = vertices();
    changed.clear();
    if (weights.vertex_count() != n)
        return Error{ErrorCode::input, "the weights have rows for " + std::to_string(weights.vertex_count()) +
                                           " vertices, the mesh has " + std::to_string(n)};
    if (!history.empty()) applied.push_back(last_applied());
    for (const AppliedEdit& one : applied)
        if (!one.edit.region.empty() || (one.edit.other_side && !one.edit.other_side->region.empty())) {
            take_last_from_applied();
            return Error{ErrorCode::usage, "an edit selects by weights of joints: begin painting again"};
        }
    Context whole;  // half of this cannot be taken back
    whole.threads = context ? context->threads : 0;

    ChangedRows affected{EditSurfaceState::of(surface).mesh.positions, std::vector<std::uint8_t>(n, 0), {}};
    for (std::uint32_t v = 0; v < n; ++v)
        if (!same_row(base()[v], weights[v])) affected.add(v);

    // All edits are taken back, so that the rows are those of `base`, and `history` has those after each edit.
    if (!history.empty())
        for (const auto& [v, row] : history.back()) before[v] = no_index;
    for (std::size_t e = history.size(); e-- > 0;)
        for (auto& [v, row] : history[e]) std::swap(put_row(v), row);
    replace_base(std::move(weights));
    for (std::uint32_t v = 0; v < n; ++v)
        if (affected.at[v] && was_put(v)) put_row(v).assign(base()[v].begin(), base()[v].end());

    computed = 0;
    for (auto& s : share) s.assign(n, 0);
    std::vector<std::uint8_t> is_new(n, 0);
    for (std::size_t e = 0; e < history.size(); ++e) apply_again(e, affected, is_new, &whole);
    if (!history.empty()) take_last_from_applied();
    growing = false;
    for (std::uint32_t v = 0; v < n; ++v)
        if (affected.at[v]) changed.push_back(v);
    return Done{};
}

Result<PaintedWeights> PaintedWeights::begin(const EditSurface& surface, SkinWeights weights, Locks locks,
                                             std::size_t joint_count, int max_influences) {
    SINEW_TRY_LET(EditEngine engine,
                  EditEngine::begin(surface, std::move(weights), std::move(locks), joint_count, max_influences));
    PaintedWeights out;
    out.state_ = std::make_shared<PaintedWeightsState>(std::move(engine));
    return out;
}

Status PaintedWeights::apply(const WeightEdit& edit, bool again, Context* context) {
    return state_->apply(edit, again, context);
}
Status PaintedWeights::rebase(SkinWeights weights, Context* context) {
    return state_->rebase(std::move(weights), context);
}
bool PaintedWeights::undo() { return state_->undo(); }
std::size_t PaintedWeights::edits() const { return state_->history.size(); }
const std::vector<std::uint32_t>& PaintedWeights::changed() const { return state_->changed; }
std::size_t PaintedWeights::computed() const { return state_->computed; }
std::size_t PaintedWeights::kept() const { return state_->kept; }
std::span<const Influence> PaintedWeights::operator[](std::size_t vertex) const {
    return state_->row(static_cast<std::uint32_t>(vertex));
}

SkinWeights PaintedWeights::weights() const { return state_->weights(); }

}  // namespace sinew
