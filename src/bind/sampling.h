// From leaves to vertices: interpolates the fields of a volume at the vertices.
#pragma once

#include <functional>
#include <span>

#include "bind/bone_shapes.h"
#include "bind/joint_fields.h"
#include "bind/row_tables.h"
#include "field/leaf_sample.h"

namespace sinew {

/// The leaves from which a vertex reads.
struct Reading {
    LeafStencil leaves;  ///< empty: the volume does not reach the vertex
    Point3 at;           ///< the vertex; if it is outside, the centre of the nearest leaf
    bool outside;        ///< outside the kept volume of another mesh (OtherMesh)
    double from_centre;  ///< as published: from the centre of its leaf to the vertex (eq. 7), scene units; else 0
};
Reading read_at(const Task& task, const Domain& domain, std::uint32_t vertex);

/// The row of a vertex that no volume reaches: straight distances to the joints of the set (Coverage::euclidean).
/// A vertex of no triangle gets only the joint whose position is nearest (Coverage::unused). Entries are distance
/// and joint, unsorted.
Coverage straight_row(const Task& task, const BoneShapes& shapes, const JointSet& set, std::uint32_t vertex,
                      std::vector<DistanceRows::Entry>& row);

/// What the rows of one set of joints are read from: one field of all its joints, or a field of each.
struct SetField {
    const KeptField* field = nullptr;   ///< may have more joints than the set
    const JointFields* each = nullptr;  ///< used if `field` is null: one field per joint. Null: no rows are filled
};

/// Reads the rows of all vertices from fields in this domain, set by set. `field_of` is called for sets that need a
/// field. Its result must stay valid until the next call.
Result<DistanceRows> read_rows(const Task& task, const Domain& domain,
                               const std::function<Result<SetField>(const JointSet&)>& field_of);

/// Reads the rows of these vertices only, from the field of the set: row i is that of vertices[i], the same as
/// above. `bones`: of the task.
Result<DistanceRows> read_rows(const Task& task, const KeptVolume& volume, const BoneShapes& bones,
                               const JointSet& set, std::span<const std::uint32_t> vertices);

/// The error of a measurement that was cancelled.
Error measuring_cancelled();

}  // namespace sinew
