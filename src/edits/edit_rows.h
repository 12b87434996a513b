// One row of weights under one edit.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sinew/edits.h"
#include "weights/finish_row.h"

namespace sinew {

using EditRow = std::vector<Share>;

/// The joint's weight in the row, which is added with 0 if it has none.
double& weight_in(EditRow& row, std::uint32_t joint);

/// What an edit does to a row.
class RowEdit {
public:
    /// keep: the limit of influences.
    RowEdit(const WeightEdit& edit, const Locks& locks, std::size_t keep);

    bool locked(std::uint32_t joint) const { return joint < locked_.size() && locked_[joint]; }

    /// The row `now` after a part of the edit, by `share` of it. `prepared`: of smooth, relax and mirror, the row
    /// that they lead to. False, and `out` is unspecified, if no joint can take the rest of the weight.
    bool apply(const EditPart& part, std::span<const Influence> now, double share, const EditRow* prepared,
               std::vector<Influence>& out) const;

private:
    std::optional<EditRow> with_weights(std::span<const Influence> now, const EditRow& wanted) const;
    std::optional<EditRow> with_row(std::span<const Influence> now, const EditRow& wanted) const;
    std::optional<EditRow> target(const EditPart& part, std::span<const Influence> now,
                                  const EditRow* prepared) const;

    bool touches_nothing(const EditPart& part, std::span<const Influence> now) const;
    void fill_up(EditRow& row) const;

    const WeightEdit& edit_;
    const std::size_t keep_;
    std::vector<bool> locked_;
};

}  // namespace sinew
