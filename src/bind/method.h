// The input and output of every method. A method is one function of this header, in a file of its own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <span>
#include <variant>

#include "bind/rows.h"
#include "bind/stage_clock.h"
#include "core/branchless.h"
#include "core/geometry.h"
#include "core/large_pages.h"
#include "core/parallel.h"
#include "sinew/bind.h"

namespace sinew {

/// Joints kept per vertex: more than the limit of influences, because overshoot and falloff edits reorder them.
inline std::size_t kept_joints(const FinishOptions& finish) {
    return static_cast<std::size_t>(std::max(8, 2 * finish.max_influences));
}

struct KeptVolume;

/// bind: there are no earlier measurements.
struct FreshBind {
    std::span<const FinePlace> fine = {};  ///< local resolution: places with voxels of half the size
};

/// Binding::rebind: the rows of another mesh are read from a volume that was measured before, with the bones of
/// that volume.
struct OtherMesh {
    const KeptVolume& volume;
    /// Per vertex: the nearest leaf, for a vertex outside the volume that has a triangle and a row of its own. Else
    /// Domain::none.
    std::span<const std::uint32_t> nearest_leaf;
};

/// Binding::move_joints: the mesh was measured before, with joints at other positions. The rows are the same as
/// those of a fresh bind; the earlier measurements save time.
struct MovedJoints {
    const KeptVolume& volume;
    const std::vector<Bone>& bones;  ///< of that volume
    /// Rows read from that volume; width 0 if the binding has strengths instead.
    const DistanceTable& table;
    const std::vector<Coverage>& coverage;
};

/// The starting point of a bind.
using BindStart = std::variant<FreshBind, OtherMesh, MovedJoints>;

/// Dimensions of a table of rows.
struct RowShape {
    std::size_t vertices, width;
    float unit;
    Context* context;
};

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

    /// Slots per row: all joints that a set can use, or kept_joints plus `more`.
    std::size_t width(std::size_t more = 0) const {
        std::size_t widest = 0;
        for (const JointSet& set : plan.sets) widest = std::max(widest, set.joints.size());
        return options.finish.max_influences == all_influences
                   ? widest
                   : std::min(widest, kept_joints(options.finish) + more);
    }
    RowShape row_shape(std::size_t more = 0) const { return {mesh.positions.size(), width(more), unit, context}; }
    /// The same task with another mesh, skeleton, options and bones.
    Task with(const MeshView& m, const Skeleton& s, const BindOptions& o, std::vector<Bone>& b) const {
        return {m, s, o, topology, plan, used, unit, context, clock, report, b, start};
    }
};

/// A mesh that has been analysed, and the plan of its rows.
struct PlannedMesh {
    MeshTopology topology;
    RowPlan plan;
    std::vector<std::uint8_t> used;  ///< see Task
};
/// The report and the context are those of the clock. All arguments but `start` must outlive the task.
inline Task make_task(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                      const PlannedMesh& planned, std::vector<Bone>& bones, StageClock& clock,
                      const BindStart& start = FreshBind{}) {
    Box3 box;  // of the triangles
    for (std::size_t v = 0; v < planned.used.size(); ++v)
        if (planned.used[v]) box.add(to_point(mesh.positions[v]));
    return {mesh,
            skeleton,
            options,
            planned.topology,
            planned.plan,
            planned.used,
            static_cast<float>(box.longest()),
            clock.context(),
            clock,
            clock.report(),
            bones,
            start};
}
/// Compares estimate_memory with the context's limit. The error (too_large) names a resolution that would fit.
Status check_memory(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                    const Context* context);
PlannedMesh plan_mesh(const MeshView& mesh, const Skeleton& skeleton, StageClock& clock, BindReport& report);

/// The output of a method: a table of distances or of strengths (heat, weights), and the coverage of every vertex.
/// The caller fills rows of vertices that share the row of another vertex.
struct MethodRows {
    std::variant<DistanceTable, InfluenceTable> table;
    std::vector<Coverage> coverage;
    std::shared_ptr<const KeptVolume> volume = nullptr;  ///< with BindOptions::keep_volume
};

/// Rows of distances, filled in parallel.
struct DistanceRows {
    using Entry = std::pair<float, std::uint32_t>;  ///< distance, joint

    DistanceTable table;
    std::vector<Coverage> coverage;

    explicit DistanceRows(const RowShape& shape) : coverage(shape.vertices, Coverage::none) {
        table.vertices = shape.vertices;
        table.width = shape.width;
        table.unit = shape.unit;
        const std::size_t slots = table.vertices * table.width;
        assign_large(table.joint, slots, DistanceTable::none, shape.context);
        assign_large(table.distance, slots, std::numeric_limits<float>::infinity(), shape.context);
    }

    /// A distance (≥ 0) and its joint as one number, which sorts by distance, then by joint.
    static std::uint64_t key(float distance, std::uint32_t joint) {
        return std::uint64_t{std::bit_cast<std::uint32_t>(distance)} << 32 | joint;
    }
    /// Sorts the row and keeps the first entries, as many as fit. An empty row is Coverage::none.
    void store(std::uint32_t vertex, std::span<std::uint64_t> keys, Coverage how) {
        sort_keys(keys);
        const std::size_t n = std::min(keys.size(), table.width);
        float* const distance = table.distance.data() + vertex * table.width;
        std::uint32_t* const joint = table.joint.data() + vertex * table.width;
        for (std::size_t k = 0; k < n; ++k) {
            distance[k] = std::bit_cast<float>(static_cast<std::uint32_t>(keys[k] >> 32));
            joint[k] = static_cast<std::uint32_t>(keys[k]);
        }
        // After joints moved, the old row may have been longer.
        std::fill(distance + n, distance + table.width, std::numeric_limits<float>::infinity());
        std::fill(joint + n, joint + table.width, DistanceTable::none);
        coverage[vertex] = keys.empty() ? Coverage::none : how;
    }
    void store(std::uint32_t vertex, std::span<const Entry> row, Coverage how) {
        std::array<std::uint64_t, 32> few;
        std::vector<std::uint64_t> many(row.size() > few.size() ? row.size() : 0);
        const std::span<std::uint64_t> keys = many.empty() ? std::span(few).first(row.size()) : std::span(many);
        for (std::size_t k = 0; k < row.size(); ++k) keys[k] = key(row[k].first, row[k].second);
        store(vertex, keys, how);
    }

    operator MethodRows() && { return {std::move(table), std::move(coverage), nullptr}; }
};

/// Rows of strengths, filled in parallel.
struct InfluenceRows {
    using Entry = std::pair<float, std::uint32_t>;  ///< strength ≥ 0, joint

    InfluenceTable table;
    std::vector<Coverage> coverage;

    explicit InfluenceRows(const RowShape& shape) : coverage(shape.vertices, Coverage::none) {
        table.vertices = shape.vertices;
        table.width = shape.width;
        const std::size_t slots = table.vertices * table.width;
        assign_large(table.joint, slots, DistanceTable::none, shape.context);
        assign_large(table.strength, slots, 0.0f, shape.context);
    }

    /// Sorts the row, strongest first, and keeps as many entries as fit. A row without a positive strength is
    /// Coverage::none.
    void store(std::uint32_t vertex, std::span<Entry> row, Coverage how) {
        std::sort(row.begin(), row.end(), [](const Entry& a, const Entry& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        std::size_t n = 0;
        for (; n < std::min(row.size(), table.width) && row[n].first > 0; ++n) {
            table.strength[vertex * table.width + n] = row[n].first;
            table.joint[vertex * table.width + n] = row[n].second;
        }
        coverage[vertex] = n == 0 ? Coverage::none : how;
    }

    operator MethodRows() && { return {std::move(table), std::move(coverage), nullptr}; }
};

/// Extends the bones of leaf joints, for methods without a volume. A bone ends where the vertices end that are
/// nearest to it, after at most twice the length of the parent bone. `directions`: a unit vector per joint; for
/// zero vectors the direction of the parent bone is used. A root has no parent bone; its bone is only extended in a
/// given direction, and without a limit. Stated bones are not changed. O(vertices x bones).
void extend_leaf_bones(const Task& task, std::span<const Point3> directions = {});

/// Runs the method of the task's options (method_table.cpp).
Result<MethodRows> run_method(const Task& task);
/// Warns of joints that lie outside of the volume or figure.
void warn_of_snapped(const Skeleton& skeleton, const BindOptions& options, BindReport& report);
/// Copies rows to the vertices that share them, counts coverage, and warns of skins that have idle joints only.
void share_rows(const RowPlan& plan, MethodRows& rows, BindReport& report);
/// Of positions, triangles and the joints that each vertex may use.
std::uint64_t hash_mesh(const MeshView& mesh, const Skeleton& skeleton);

Result<MethodRows> bind_geodesic_voxel(const Task& task);
Result<MethodRows> bind_pixel_geodesic(const Task& task);
Result<MethodRows> bind_closest_distance(const Task& task);
Result<MethodRows> bind_closest_hierarchy(const Task& task);
Result<MethodRows> bind_connectivity(const Task& task);
Result<MethodRows> bind_mesh_geodesic(const Task& task);
Result<MethodRows> bind_voxel_heat(const Task& task);
Result<MethodRows> bind_bone_heat(const Task& task);
Result<MethodRows> bind_surface_heat(const Task& task);

/// Bytes that the sources and the solver of bone-heat and surface-heat may need at most.
double surface_solver_memory(const MeshView& mesh, double threads);
Result<MethodRows> bind_bounded_biharmonic(const Task& task);

}  // namespace sinew
