// One row of weights under one edit.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/short_list.h"
#include "sinew/edits.h"
#include "weights/finish_row.h"

namespace sinew {

using EditRow = ShortList<Share, 8>;

using InfluenceRow = ShortList<Influence, 4>;

/// The joint's weight in the row, which is added with 0 if it has none.
double& weight_in(EditRow& row, std::uint32_t joint);

/// Which weights an edit may change, and how many a row may have.
class EditRules {
public:
    /// A row of weights; stuck: no joint can take the rest of the weight; empty: the row keeps its bits.
    struct Wanted {
        std::optional<EditRow> row;
        bool stuck = false;
    };

    /// keep: the limit of influences.
    EditRules(const WeightEdit& edit, const Locks& locks, std::size_t keep);

    const WeightEdit& edit() const { return edit_; }
    bool locked(std::uint32_t joint) const { return joint < locked_.size() && locked_[joint]; }

    /// The row with the weights of `wanted` for the joints that it names. Locked joints keep their weights, the
    /// others share the rest in proportion.
    Wanted with_weights(std::span<const Influence> now, const EditRow& wanted) const;
    /// Unlocked joints as in `wanted`, in proportion; locked joints keep their weights.
    Wanted with_row(std::span<const Influence> now, const EditRow& wanted) const;

    /// The row `now` after a part of the edit, by `share` of it. `prepared`: what EditKindRow::prepare made for it.
    /// False, and `out` is unspecified, if it is stuck.
    bool apply(const EditPart& part, std::span<const Influence> now, double share, const EditRow* prepared,
               InfluenceRow& out) const;

private:
    void fill_up(EditRow& row) const;

    const WeightEdit& edit_;
    const std::size_t keep_;
    std::vector<bool> locked_;
};

}  // namespace sinew
