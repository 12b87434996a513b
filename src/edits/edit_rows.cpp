#include "edits/edit_rows.h"

#include <algorithm>

namespace sinew {

double& weight_in(EditRow& row, std::uint32_t joint) {
    for (Share& s : row)
        if (s.joint == joint) return s.weight;
    row.push_back({joint, 0});
    return row.back().weight;
}

RowEdit::RowEdit(const WeightEdit& edit, const Locks& locks, std::size_t keep)
    : edit_(edit), keep_(keep), locked_(locks.joints) {
    for (const std::uint32_t j : edit.locked) {
        if (j >= locked_.size()) locked_.resize(j + 1, false);
        locked_[j] = true;
    }
}

/// The row with the weights of `wanted` for the joints that it names. Locked joints keep their weights, the others
/// share the rest in proportion. Empty if no joint can take the rest.
std::optional<EditRow> RowEdit::with_weights(std::span<const Influence> now, const EditRow& wanted) const {
    EditRow row;
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
    if (rest > 1e-7 && !(others > 0)) return std::nullopt;
    for (const Share& s : wanted)
        if (!locked(s.joint) && requested > 0) row.push_back({s.joint, s.weight / requested * given});
    for (const Influence& i : now)
        if (!locked(i.joint) && !in_wanted(i.joint)) row.push_back({i.joint, i.weight / others * rest});
    return row;
}

/// Unlocked joints as in `wanted`, in proportion; locked joints keep their weights.
std::optional<EditRow> RowEdit::with_row(std::span<const Influence> now, const EditRow& wanted) const {
    EditRow row;
    double free = 1, requested = 0;
    for (const Influence& i : now)
        if (locked(i.joint)) {
            free -= i.weight;
            row.push_back({i.joint, i.weight});
        }
    for (const Share& s : wanted)
        if (!locked(s.joint)) requested += s.weight;
    if (!(requested > 0)) return std::nullopt;
    for (const Share& s : wanted)
        if (!locked(s.joint)) row.push_back({s.joint, s.weight / requested * std::max(free, 0.0)});
    return row;
}

/// Whether scale or multiply find no weight of their joints here. Such a row keeps its bits.
bool RowEdit::touches_nothing(const EditPart& part, std::span<const Influence> now) const {
    if (edit_.kind != EditKind::scale && edit_.kind != EditKind::multiply) return false;
    return edit_.value == 1 || std::none_of(now.begin(), now.end(), [&](const Influence& i) {
               return !locked(i.joint) && i.weight > 0 &&
                      std::find(part.joints.begin(), part.joints.end(), i.joint) != part.joints.end();
           });
}

/// The row that the edit asks for; empty if it is not possible.
std::optional<EditRow> RowEdit::target(const EditPart& part, std::span<const Influence> now,
                                       const EditRow* prepared) const {
    EditRow wanted;
    const auto named = [&](std::uint32_t j) {
        return std::find(part.joints.begin(), part.joints.end(), j) != part.joints.end();
    };
    const auto weight = [&](std::uint32_t j) {
        for (const Influence& i : now)
            if (i.joint == j) return static_cast<double>(i.weight);
        return 0.0;
    };
    switch (edit_.kind) {
        case EditKind::set:
        case EditKind::add: {
            const std::uint32_t j = part.joints[0];
            if (locked(j)) return std::nullopt;
            const double value = edit_.kind == EditKind::set ? edit_.value : weight(j) + edit_.value;
            return with_weights(now, {{j, std::clamp(value, 0.0, 1.0)}});
        }
        case EditKind::scale:
            for (const Influence& i : now)
                if (named(i.joint)) wanted.push_back({i.joint, double{i.weight} * edit_.value});
            if (wanted.empty()) wanted.push_back({part.joints[0], 0});
            return with_weights(now, wanted);
        case EditKind::multiply:
            for (const Influence& i : now)
                wanted.push_back({i.joint, double{i.weight} * (named(i.joint) ? double{edit_.value} : 1)});
            return with_row(now, wanted);
        case EditKind::replace:
            if (locked(part.with)) return std::nullopt;
            for (const Influence& i : now)
                weight_in(wanted, named(i.joint) && !locked(i.joint) ? part.with : i.joint) += i.weight;
            return wanted;
        case EditKind::sharpen:
            for (const Influence& i : now) wanted.push_back({i.joint, double{i.weight} * i.weight});
            return with_row(now, wanted);
        case EditKind::smooth:
        case EditKind::relax:
            if (prepared->empty()) return std::nullopt;
            if (part.joints.empty()) return with_row(now, *prepared);
            for (const Share& s : *prepared)
                if (named(s.joint)) wanted.push_back(s);
            for (const Influence& i : now)
                if (named(i.joint)) weight_in(wanted, i.joint) += 0;
            return with_weights(now, wanted);
        case EditKind::mirror:
            return prepared->empty() ? std::nullopt : with_row(now, *prepared);
    }
    return std::nullopt;
}

/// The unlocked joints take what was cut, so that the locked ones keep their weights.
void RowEdit::fill_up(EditRow& row) const {
    double held = 0, others = 0;
    for (const Share& s : row) (locked(s.joint) ? held : others) += s.weight;
    if (!(others > 0)) return;
    for (Share& s : row)
        if (!locked(s.joint)) s.weight *= std::max(1 - held, 0.0) / others;
}

bool RowEdit::apply(const EditPart& part, std::span<const Influence> now, double share, const EditRow* prepared,
                    std::vector<Influence>& out) const {
    if (touches_nothing(part, now)) {
        out.assign(now.begin(), now.end());
        return true;
    }
    std::optional<EditRow> wanted = target(part, now, prepared);
    if (!wanted) return false;
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
    EditRow row;
    for (const Share& s : *wanted)
        if (const auto weight = static_cast<float>(s.weight); weight > 0) row.push_back({s.joint, weight});
    settle_row(row);
    out.resize(row.size());
    out.resize(write_row(row, out.data()));
    return true;
}

}  // namespace sinew
