#include "edits/edit_rows.h"

#include <algorithm>

#include "edits/edit_kinds.h"

namespace sinew {

double& weight_in(EditRow& row, std::uint32_t joint) {
    for (Share& s : row)
        if (s.joint == joint) return s.weight;
    row.push_back({joint, 0});
    return row.back().weight;
}

EditRules::EditRules(const WeightEdit& edit, const Locks& locks, std::size_t keep)
    : edit_(edit), keep_(keep), locked_(locks.joints) {
    for (const std::uint32_t j : edit.locked) {
        if (j >= locked_.size()) locked_.resize(j + 1, false);
        locked_[j] = true;
    }
}

EditRules::Wanted EditRules::with_weights(std::span<const Influence> now, const EditRow& wanted) const {
    Wanted out;
    EditRow& row = out.row.emplace();
    double free = 1, others = 0, requested = 0;
    const auto in_wanted = [&](std::uint32_t j) {
        return std::any_of(wanted.begin(), wanted.end(), [&](const Share& s) { return s.joint == j; });
    };
    for (const Influence& i : now) {
        if (locked(i.joint)) {
            free -= i.weight;
            row.push_back({i.joint, i.weight});
        } else if (!in_wanted(i.joint)) {
            others += i.weight;
        }
    }
    free = std::max(free, 0.0);
    for (const Share& s : wanted)
        if (!locked(s.joint)) requested += s.weight;
    const double given = std::min(requested, free);
    const double rest = free - given;
    if (rest > 1e-7 && !(others > 0)) return {{}, true};
    for (const Share& s : wanted)
        if (!locked(s.joint) && requested > 0) row.push_back({s.joint, s.weight / requested * given});
    for (const Influence& i : now)
        if (!locked(i.joint) && !in_wanted(i.joint)) row.push_back({i.joint, i.weight / others * rest});
    return out;
}

EditRules::Wanted EditRules::with_row(std::span<const Influence> now, const EditRow& wanted) const {
    Wanted out;
    EditRow& row = out.row.emplace();
    double free = 1, requested = 0;
    for (const Influence& i : now)
        if (locked(i.joint)) {
            free -= i.weight;
            row.push_back({i.joint, i.weight});
        }
    for (const Share& s : wanted)
        if (!locked(s.joint)) requested += s.weight;
    if (!(requested > 0)) return {{}, true};
    for (const Share& s : wanted)
        if (!locked(s.joint)) row.push_back({s.joint, s.weight / requested * std::max(free, 0.0)});
    return out;
}

/// The unlocked joints take what was cut, so that the locked ones keep their weights.
void EditRules::fill_up(EditRow& row) const {
    double held = 0, others = 0;
    for (const Share& s : row) (locked(s.joint) ? held : others) += s.weight;
    if (!(others > 0)) return;
    for (Share& s : row)
        if (!locked(s.joint)) s.weight *= std::max(1 - held, 0.0) / others;
}

bool EditRules::apply(const EditPart& part, std::span<const Influence> now, double share, const EditRow* prepared,
                      InfluenceRow& out) const {
    auto [wanted, stuck] = row_of(edit_.kind).target(*this, part, now, prepared);
    if (!wanted) out.assign(now.begin(), now.end());
    if (!wanted) return !stuck;
    if (share < 1) {
        for (Share& s : *wanted) s.weight *= share;
        for (const Influence& i : now) weight_in(*wanted, i.joint) += (1 - share) * i.weight;
    }
    std::sort(wanted->begin(), wanted->end(), [&](const Share& a, const Share& b) {
        const bool la = locked(a.joint), lb = locked(b.joint);
        if (la != lb) return la;
        return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
    });
    if (wanted->size() > keep_) {
        wanted->resize(keep_);
        if (std::find(locked_.begin(), locked_.end(), true) != locked_.end()) fill_up(*wanted);
    }
    // As floats first, as SkinWeights::from_rows takes them.
    std::size_t kept = 0;
    for (const Share& s : *wanted)
        if (const auto weight = static_cast<float>(s.weight); weight > 0) (*wanted)[kept++] = {s.joint, weight};
    wanted->resize(sort_and_normalise_distinct({wanted->data(), kept}));
    out.resize(wanted->size());
    out.resize(write_row(*wanted, out.data()));
    return true;
}

}  // namespace sinew
