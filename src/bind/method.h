// The input and output of every method. A method is one function of this header, in a file of its own.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "bind/rows.h"
#include "bind/stage_clock.h"
#include "core/geometry.h"
#include "core/parallel.h"
#include "sinew/binding.h"

namespace sinew {

struct KeptVolume;
struct KeptHeat;

/// bind: there are no earlier measurements.
struct FreshBind {
    std::span<const FinePlace> fine = {};  ///< local resolution: places with voxels of half the size
};

/// Binding::rebind: the rows of another mesh are read from a volume that was measured before, with the bones of
/// that volume.
struct OtherMesh {
    const KeptVolume& volume;
    /// Per vertex: the nearest leaf, for a vertex outside the volume that has a triangle and a row of its own. Else
    /// none.
    std::span<const std::uint32_t> nearest_leaf;
};

/// Binding::move_joints: the mesh was measured before, with joints at other positions. The rows are the same as
/// those of a fresh bind; the earlier measurements save time.
struct MovedJoints {
    const KeptVolume& volume;
    const std::vector<Bone>& bones;        ///< of that volume
    std::shared_ptr<const KeptHeat> heat;  ///< MethodRows::heat, if it is known
};

/// The starting point of a bind.
using BindStart = std::variant<FreshBind, OtherMesh, MovedJoints>;

/// The input of a method. It has been checked.
struct Task {
    const MeshView& mesh;
    const Skeleton& skeleton;
    const BindOptions& options;
    const MeshTopology& topology;
    const RowPlan& plan;
    const std::vector<std::uint8_t>& used;  ///< per vertex: its position belongs to a triangle
    float unit;                             ///< scene units per unit-cube unit
    Context* context;
    StageClock& clock;
    BindReport& report;        ///< coverage is counted by the caller
    std::vector<Bone>& bones;  ///< of make_bones; methods that know the volume extend the bones of leaf joints
    BindStart start = FreshBind{};
    /// Upper limit of joints per row. surface-heat lowers it for the distances of geodesic-voxel, of which it needs
    /// the nearest joints only.
    std::size_t most_kept = std::numeric_limits<std::size_t>::max();

    /// Slots per row: all joints that a set can use, or kept_joints plus `more`; at most most_kept.
    std::size_t width(std::size_t more = 0) const {
        std::size_t widest = 0;
        for (const JointSet& set : plan.sets) widest = std::max(widest, set.joints.size());
        widest = std::min(widest, most_kept);
        return options.finish.max_influences == all_influences
                   ? widest
                   : std::min(widest, kept_joints(options.finish) + more);
    }
    RowShape row_shape(std::size_t more = 0) const { return {mesh.positions.size(), width(more), unit, context}; }
    /// The same task with another mesh, skeleton, options and bones.
    Task with(const MeshView& m, const Skeleton& s, const BindOptions& o, std::vector<Bone>& b) const {
        return {m, s, o, topology, plan, used, unit, context, clock, report, b, start, most_kept};
    }
};

/// The output of a method: a table of distances or of strengths (heat, weights), and the coverage of every vertex.
/// The caller fills rows of vertices that share the row of another vertex.
struct MethodRows {
    std::variant<DistanceTable, InfluenceTable> table;
    std::vector<Coverage> coverage;
    std::shared_ptr<const KeptVolume> volume = nullptr;  ///< with BindOptions::keep_volume
    std::shared_ptr<const KeptHeat> heat = nullptr;      ///< with that, of a method that solves for heat
};

/// Extends the bones of leaf joints, for methods without a volume. A bone ends where the vertices end that are
/// nearest to it, after at most twice the length of the parent bone. `directions`: a unit vector per joint; for
/// zero vectors the direction of the parent bone is used. A root has no parent bone; its bone is only extended in a
/// given direction, and without a limit. Stated bones are not changed. O(vertices x bones).
void extend_leaf_bones(const Task& task, std::span<const Point3> directions = {});

/// Runs the method of the task's options (method_table.cpp).
Result<MethodRows> run_method(const Task& task);
Result<MethodRows> bind_geodesic_voxel(const Task& task);
Result<MethodRows> bind_pixel_geodesic(const Task& task);
Result<MethodRows> bind_closest_distance(const Task& task);
Result<MethodRows> bind_closest_hierarchy(const Task& task);
Result<MethodRows> bind_connectivity(const Task& task);
Result<MethodRows> bind_mesh_geodesic(const Task& task);
Result<MethodRows> bind_voxel_heat(const Task& task);
Result<MethodRows> bind_bone_heat(const Task& task);
Result<MethodRows> bind_surface_heat(const Task& task);

Result<MethodRows> bind_bounded_biharmonic(const Task& task);

}  // namespace sinew
