// From leaves to vertices: interpolates the fields of a volume at the vertices.
#pragma once

#include <limits>

#include "bind/bone_shapes.h"
#include "bind/kept_volume.h"
#include "bind/method.h"
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

    /// The row of one vertex as by sinew::straight_row.
    Coverage fill_straight_row(const JointSet& set, std::uint32_t vertex);

    /// Distance of one joint from a field of that joint alone; +inf where it does not reach.
    float distance_in(const LeafDistances& field, const Reading& reading, std::uint32_t joint) const {
        return mean_distance(reading, joint, [&](std::uint32_t leaf) { return field.distance(leaf); });
    }

    Coverage coverage(const Reading& reading, const std::vector<bool>& seeded) const {
        if (reading.outside) return Coverage::outside;
        return seeded[domain_.component[reading.leaves.leaf[0]]] ? Coverage::weighted : Coverage::bridged;
    }

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

    /// From distance_at(leaf), in units of the field, to the distance at the vertex.
    template <typename DistanceAt>
    float mean_distance(const Reading& reading, std::uint32_t joint, DistanceAt&& distance_at) const {
        double share = 0, sum = 0;
        for (int k = 0; k < reading.leaves.count; ++k) {
            const std::uint32_t d = distance_at(reading.leaves.leaf[k]);
            if (d == LeafDistances::unreached) continue;
            share += reading.leaves.share[k];
            sum += reading.leaves.share[k] * d;
        }
        if (share == 0) return std::numeric_limits<float>::infinity();
        return task_.options.as_published ? distance_as_published(sum / share, reading)
                                          : distance(sum / share, bones_.straight(joint, reading.at));
    }
    /// From the field's value, in its integer units, to scene units: at least the straight distance to the joint's
    /// nearest bone, plus how far the vertex lies beyond that bone's open end.
    float distance(double field, const BoneShapes::Distance& straight) const {
        return static_cast<float>(std::max(to_scene_units(field), straight.nearest) +
                                  task_.options.overshoot * straight.beyond);
    }
    /// Dionne and de Lasa (2014), eq. 7: adds the distance from the centre of the vertex's leaf, and nothing else.
    float distance_as_published(double field, const Reading& reading) const {
        return static_cast<float>(to_scene_units(field) + reading.from_centre);
    }
    double to_scene_units(double field) const {
        return field * domain_.transform.voxel / LeafDistances::units_per_voxel;
    }

    const Task& task_;
    const Domain& domain_;
    const BoneShapes bones_;
    DistanceRows& rows_;
};

}  // namespace sinew
