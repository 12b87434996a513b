// What a bind of moved joints takes from the previous binding of the same mesh (Binding::move_joints).
#pragma once

#include "bind/kept_volume.h"
#include "bind/row_tables.h"
#include "bind/volume.h"

namespace sinew {

/// The places where rows may have changed since joints moved.
class ChangedPlaces {
public:
    /// Everywhere.
    ChangedPlaces() = default;
    /// Around leaves whose rows changed or list a moved joint (`moved`: per joint). O(leaves).
    ChangedPlaces(const Domain& domain, const LeafDistances& before, const LeafDistances& now,
                  const LeafMatch& match, const std::vector<bool>& moved, Context* context);
    /// Whether the row of a vertex here may have changed.
    bool contains(const GridTransform& grid, const Vec3& vertex) const;

private:
    std::vector<std::uint8_t> blocks_;  // of 4³ voxels; empty: all
    int per_side_ = 0;
};

/// The fields and rows of the previous binding, as far as they can be reused. Without a previous binding there are
/// none.
class PreviousBinding {
public:
    PreviousBinding() = default;
    /// Of MovedJoints. `now`: the same voxels, divided by the bones of the task. Keeps references to task.start and
    /// `now`.
    PreviousBinding(const Task& task, const SeededVolume& now);

    /// A copy of the previous rows if they have this shape, else empty rows.
    DistanceRows rows(const RowShape& shape) const;

    /// The previous field of these joints, from which GeodesicSolver::renewed makes the one of now. Null if there
    /// is none.
    const LeafDistances* repairable_field(const std::vector<std::uint32_t>& joints) const;
    /// The leaves that both domains have.
    const LeafMatch& match() const { return now_->match; }
    /// Those of the joints that moved: their bones differ.
    std::vector<std::uint32_t> moved(const std::vector<std::uint32_t>& joints) const;
    /// The places where rows may differ from the previous ones, now that the field is `now`.
    ChangedPlaces changed_places(const KeptField& now) const;

private:
    const KeptField* find(const std::vector<std::uint32_t>& joints) const;

    const MovedJoints* before_ = nullptr;
    const SeededVolume* now_ = nullptr;
    std::vector<bool> moved_;  // per joint
    bool has_rows_ = false;    // the previous rows have the shape of the task's
    Context* context_ = nullptr;
};

}  // namespace sinew
