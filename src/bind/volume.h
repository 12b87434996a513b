// The first stages of every method that works in the volume.
#pragma once

#include "bind/bone_shapes.h"
#include "bind/kept_volume.h"
#include "bind/method.h"
#include "field/leaf_sample.h"

namespace sinew {

/// Voxelizes, lengthens the bones of leaf joints (Task::bones; not as published) and builds the domain, timed as
/// "voxelize" and "octree"; counts go to the report. `kind`: BindOptions::domain, unless the method needs another.
Result<Domain> build_volume(const Task& task, DomainKind kind, Links links = Links::listed);
inline Result<Domain> build_volume(const Task& task, Links links = Links::listed) {
    return build_volume(task, task.options.domain, links);
}

/// Seeds of the bones; joints that had to be snapped and voxels that bones cross go to the report. As published a
/// joint that would have to be snapped has no seed.
BoneSeeds seed_volume(const Task& task, const Domain& domain);

/// Graph distances from the bones over a domain, of voxels or of pixels, sampled at the vertices: fills the rows
/// set by set, and returns the fields where BindOptions::keep_volume asks for them (geodesic_voxel.cpp). Time and
/// memory: see GeodesicSolver.
Result<std::vector<KeptField>> measure_geodesic(const Task& task, const Domain& domain, DistanceRows& rows);
/// The same rows from the fields of Task::reused.
Status remeasure_geodesic(const Task& task, DistanceRows& rows);

/// Vertices that no volume reaches: straight distances to the joints of the set (Coverage::euclidean; for a vertex
/// of no triangle the joint whose place is nearest, Coverage::unused). Entries are distance and joint, unsorted.
Coverage straight_row(const Task& task, const BoneShapes& shapes, const JointSet& set, std::uint32_t vertex,
                      std::vector<DistanceRows::Entry>& row);

/// Where a vertex reads what is measured at the leaves.
struct Reading {
    LeafStencil leaves;  ///< empty: the volume does not reach it
    Point3 at;           ///< the vertex, or the centre of the nearest voxel that stands in for it
    bool outside;        ///< of the volume that is reused
    double from_centre;  ///< as published: of its leaf to the vertex (eq. 7), in scene units; else 0
};
Reading read_at(const Task& task, const Domain& domain, std::uint32_t vertex);

/// Per joint: whether its bones are others.
std::vector<bool> moved_joints(const Skeleton& skeleton, const std::vector<Bone>& before,
                               const std::vector<Bone>& now);

/// That the volume that is reused has no field for the joints of a set.
Error unknown_joints(const Task& task, const JointSet& set);

/// The domain and the fields as a volume to keep. Links are dropped: nothing spreads any more.
std::shared_ptr<const KeptVolume> keep_volume(Domain domain, std::vector<KeptField> fields);

}  // namespace sinew
