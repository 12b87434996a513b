// From leaves to vertices: interpolates the fields of a volume at the vertices.
#pragma once

#include <functional>

#include "bind/bone_shapes.h"
#include "bind/kept_volume.h"
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

/// Fills rows of distances from fields at the leaves, of the mesh that was voxelized or of another mesh.
class DistanceSampler {
public:
    /// Copies the bones; keeps references to the rest.
    DistanceSampler(const Task& task, const Domain& domain, DistanceRows& rows)
        : task_(task), domain_(domain), bones_(task.skeleton, task.bones), rows_(rows) {}

    /// Rows of a set that needs no field: a single joint has all the weight at any distance, and idle joints have
    /// no field.
    void fill_straight(const JointSet& set);

    /// Rows of a set from a field of its joints; the field may have more joints. Vertices away from the changed
    /// places keep the rows that they have.
    void fill_from_leaves(const JointSet& set, const KeptField& kept, const ChangedPlaces& changed = {});

    /// Receives k and the field of the k-th joint of a set; may be called by several threads at a time.
    using UseField = std::function<void(std::size_t k, const LeafDistances& field)>;
    /// Rows of a set with the distances of all its joints, from one field per joint. `each_joint` computes these
    /// fields and passes each to its argument. `seeded`: per component: a bone of the set lies in it.
    Status fill_all_joints(const JointSet& set, const std::vector<bool>& seeded,
                           const std::function<Status(const UseField&)>& each_joint);

private:
    struct JointMeans;
    struct Measured;
    struct VertexBatch;

    bool may_differ(std::uint32_t vertex, const ChangedPlaces& changed) const;
    void read(std::span<const std::uint32_t> vertices, const LeafDistances* field, VertexBatch& batch) const;
    void nearest_joints(std::size_t count, const LeafDistances& field, VertexBatch& batch) const;
    void add_straight(std::uint32_t joint, std::span<const std::uint32_t> places, VertexBatch& batch) const;
    static Measured* measure(const LeafStencil& stencil, std::uint32_t reading, const LeafDistances& field,
                             JointMeans& means, Measured* out);
    void every_joint(const Reading& reading, const KeptField& kept, const EveryDistance& field,
                     std::vector<std::uint64_t>& row) const;
    void store(const JointSet& set, std::uint32_t vertex, const Reading& reading, const KeptField& kept,
               std::span<std::uint64_t> keys);

    Coverage fill_straight_row(const JointSet& set, std::uint32_t vertex);
    Coverage coverage(const Reading& reading, const std::vector<bool>& seeded) const;
    template <typename DistanceAt>
    float mean_distance(const Reading& reading, std::uint32_t joint, DistanceAt&& distance_at) const;
    float distance(double field, const BoneShapes::Distance& straight) const;
    float distance_as_published(double field, const Reading& reading) const;
    double to_scene_units(double field) const;

    const Task& task_;
    const Domain& domain_;
    const BoneShapes bones_;
    DistanceRows& rows_;
};

}  // namespace sinew
