// What a kind of edit does: one row of a table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "edits/edit_rows.h"
#include "edits/edit_surface.h"
#include "sinew/edits.h"

namespace sinew {

/// An edit that is being applied.
struct EditTask {
    const WeightEdit& edit;
    EditSurfaceState& surface;
    const std::function<std::span<const Influence>(std::uint32_t)>& row;  ///< of a vertex, before the edit
    const Locks& locks;
    Context* context;
};

/// Sets a row, which is empty, to what was prepared for the vertex at[k]. Called by several threads, while the task
/// and `at` last.
using PreparedRow = std::function<void(std::size_t k, EditRow&)>;

/// An edit that is being prepared, of a skeleton and the weights of its file (null: it has none).
struct EditPreparation {
    WeightEdit& edit;
    EditSurfaceState& surface;
    const Skeleton& skeleton;
    const SkinWeights* own;
    const std::string& place;  ///< of the edit in messages
    Context* context;

    Error wrong(const std::string& what) const { return {ErrorCode::input, place + what}; }
    /// An error if the joint does not deform.
    Status deforms(std::uint32_t joint, const std::string& what) const;
    /// The mirror plane. An error if there is none.
    Result<const Symmetry*> symmetry() const;
};

/// The joint across the mirror plane. An error if it has none.
Result<std::uint32_t> partner(const EditPreparation& of, const Symmetry& symmetry, std::uint32_t joint);

struct EditKindRow : EditKindInfo {
    /// The row that the edit asks for.
    EditRules::Wanted (*target)(const EditRules&, const EditPart&, std::span<const Influence> now,
                                const EditRow* prepared);
    /// What `target` gets as `prepared`. Null: nothing. Called for the other side, too, if there are
    /// `joints_of_sides`.
    Result<PreparedRow> (*prepare)(const EditTask&, const EditPart&, std::span<const std::uint32_t> at) = nullptr;
    bool joints_of_sides = false;
    /// How far from a vertex, in scene units, the edit reads rows; INFINITY: anywhere. Null: only its own row.
    double (*reach)(const WeightEdit&, EditSurfaceState&) = nullptr;
    /// Before it is applied, beside what all edits need. Null: nothing.
    Status (*complete)(const EditPreparation&) = nullptr;
    /// Beyond the ranges of its keys. Null: nothing.
    Status (*check)(const WeightEdit&, std::size_t vertices, std::size_t joints) = nullptr;
};
const EditKindRow& row_of(EditKind kind);

// The functions of rows that have files of their own.
Result<PreparedRow> smoothed_rows(const EditTask&, const EditPart&, std::span<const std::uint32_t> at);
Result<PreparedRow> relaxed_rows(const EditTask&, const EditPart&, std::span<const std::uint32_t> at);
Result<PreparedRow> mirrored_rows(const EditTask&, const EditPart&, std::span<const std::uint32_t> at);
Status find_mirror(const EditPreparation& of);
Status check_mirror(const WeightEdit& edit, std::size_t vertices, std::size_t joints);
Result<PreparedRow> assigned_rows(const EditTask&, const EditPart&, std::span<const std::uint32_t> at);
Status complete_assign(const EditPreparation& of);
Status check_assign(const WeightEdit& edit, std::size_t vertices, std::size_t joints);
Result<PreparedRow> border_rows(const EditTask&, const EditPart&, std::span<const std::uint32_t> at);
Status complete_border(const EditPreparation& of);
Status check_border(const WeightEdit& edit, std::size_t vertices, std::size_t joints);
Result<PreparedRow> pinned_rows(const EditTask&, const EditPart&, std::span<const std::uint32_t> at);
Status complete_pins(const EditPreparation& of);
Status check_pins(const WeightEdit& edit, std::size_t vertices, std::size_t joints);

}  // namespace sinew
