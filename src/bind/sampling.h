// From leaves to vertices: interpolates the fields of a volume at the vertices.
#pragma once

#include <functional>

#include "bind/bone_shapes.h"
#include "bind/previous_binding.h"
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

/// Fills the rows of one set of joints from fields at the leaves, of the mesh that was voxelized or of another
/// mesh.
class DistanceSampler {
public:
    /// Keeps references to all of them.
    DistanceSampler(const Task& task, const Domain& domain, const BoneShapes& bones, const JointSet& set,
                    DistanceRows& rows)
        : task_(task), domain_(domain), bones_(bones), set_(set), rows_(rows) {}

    /// Of a set that needs no field: a single joint has all the weight at any distance, and idle joints have no
    /// field.
    void fill_straight();

    /// From a field of the joints; the field may have more joints. Vertices away from the changed places keep the
    /// rows that they have.
    void fill_from_leaves(const KeptField& kept, const ChangedPlaces& changed = {});

    /// Receives k and the field of the k-th joint of the set; may be called by several threads at a time.
    using UseField = std::function<void(std::size_t k, const LeafDistances& field)>;
    /// With the distances of all joints, from one field per joint. `each_joint` computes these fields and passes
    /// each to its argument. `seeded`: per component: a bone of the set lies in it.
    Status fill_all_joints(const std::vector<bool>& seeded,
                           const std::function<Status(const UseField&)>& each_joint);

private:
    struct VertexBatch;

    bool may_differ(std::uint32_t vertex, const ChangedPlaces& changed) const;
    void read(std::span<const std::uint32_t> vertices, const LeafDistances* field, VertexBatch& batch) const;
    void nearest_joints(std::size_t count, const LeafDistances& field, VertexBatch& batch) const;
    void add_straight(std::uint32_t joint, std::span<const std::uint32_t> places, VertexBatch& batch) const;
    void every_joint(const Reading& reading, const KeptField& kept, const EveryDistance& field,
                     std::vector<std::uint64_t>& row) const;
    void store(std::uint32_t vertex, const Reading& reading, const KeptField& kept, std::span<std::uint64_t> keys);

    Coverage fill_straight_row(std::uint32_t vertex);
    Coverage coverage(const Reading& reading, const std::vector<bool>& seeded) const;
    template <typename DistanceAt>
    float mean_distance(const Reading& reading, std::uint32_t joint, DistanceAt&& distance_at) const;
    float distance(double field, const BoneShapes::Distance& straight) const;
    float distance_as_published(double field, const Reading& reading) const;
    double to_scene_units(double field) const;

    const Task& task_;
    const Domain& domain_;
    const BoneShapes& bones_;
    const JointSet& set_;
    DistanceRows& rows_;
};

/// Fills the rows of the sets whose fields are in this domain, set by set. `fill` is called for sets that need a
/// field: their rows are those that it fills by its second argument.
Status fill_rows(const Task& task, const Domain& domain, DistanceRows& rows,
                 const std::function<Status(const JointSet&, DistanceSampler&)>& fill);

}  // namespace sinew
