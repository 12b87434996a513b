// Weights that edits change row by row.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "edits/edit_kinds.h"

namespace sinew {

class EditEngine {
public:
    using Shares = std::array<std::vector<float>, 2>;  // V: of both parts of an edit
    using Row = InfluenceRow;
    using RowAt = std::function<std::span<const Influence>(std::uint32_t)>;

    static Result<EditEngine> begin(const EditSurface& surface, SkinWeights weights, Locks locks,
                                    std::size_t joint_count, int max_influences);

    /// Whether the edit can be applied; an error (usage) says why not.
    Status check(const WeightEdit& edit) const;

    /// The shares of the edit, the largest at each position. `from`: the rows before the edit.
    Shares shares_of(const WeightEdit& edit, const RowAt& from) const;
    bool may_change(std::uint32_t v, const RowAt& from) const {
        return !from(v).empty() && (locks.vertices.empty() || !locks.vertices[v]);
    }
    /// The rows after the edit at the vertices `at`. `stuck`: how many no other joint could complete.
    Result<std::vector<Row>> compute(const WeightEdit& edit, const std::vector<std::uint32_t>& at,
                                     const Shares& shares, const RowAt& from, std::size_t& stuck,
                                     Context* context) const;

    std::size_t vertices() const { return slot_.size(); }
    std::span<const Influence> row(std::uint32_t v) const {
        return slot_[v] == no_index ? base_[v] : std::span<const Influence>(rows_[slot_[v]]);
    }
    void put(std::uint32_t v, Row row);
    /// Other weights below the rows that were put.
    void replace_base(SkinWeights weights) { base_ = std::move(weights); }
    const SkinWeights& base() const { return base_; }
    bool was_put(std::uint32_t v) const { return slot_[v] != no_index; }
    Row& put_row(std::uint32_t v) { return rows_[slot_[v]]; }
    SkinWeights weights() const;

    EditSurface surface;
    Locks locks;

private:
    explicit EditEngine(const EditSurface& of) : surface(of) {}

    SkinWeights base_;
    std::size_t joints_ = 0, keep_ = 0;
    std::vector<std::uint32_t> slot_;  // V: of a row in rows_, or no_index: the row of base_
    std::vector<Row> rows_;
};

inline bool same_row(std::span<const Influence> a, std::span<const Influence> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace sinew
