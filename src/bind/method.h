// What every method is given and what it returns. A method is one function of this header, in a file of its own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <functional>
#include <variant>

#include "bind/rows.h"
#include "core/branchless.h"
#include "core/geometry.h"
#include "core/large_pages.h"
#include "core/parallel.h"
#include "sinew/bind.h"

namespace sinew {

/// Times stages and tells the context of them.
class StageClock {
public:
    StageClock(BindReport& report, Context* context) : report_(report), context_(context) {}

    template <typename Work>
    auto run(const char* stage, Work&& work) {
        report_progress(context_, stage, 0);
        const auto start = std::chrono::steady_clock::now();
        auto result = work();
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        report_.seconds.push_back({stage, passed.count()});
        report_progress(context_, stage, 1);
        return result;
    }
    Context* context() const { return context_; }
    BindReport& report() const { return report_; }

private:
    BindReport& report_;
    Context* context_;
};

/// How many joints are kept per vertex: more than are shown, because overshoot and falloff edits reorder them.
inline std::size_t kept_joints(const FinishOptions& finish) {
    return static_cast<std::size_t>(std::max(8, 2 * finish.max_influences));
}

struct KeptVolume;
struct ReusedVolume;

/// What was measured for the same mesh with joints at other places (Binding::move_joints).
struct MovedFrom {
    const KeptVolume& volume;
    const std::vector<Bone>& bones;  ///< as that volume knew them
    /// Rows that were read from that volume; of width 0 where the binding keeps others.
    const DistanceTable& table;
    const std::vector<Coverage>& coverage;
};

/// A bind at the point where methods part. Everything was checked.
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
    std::vector<Bone>& bones;  ///< as make_bones left them; a method that knows the volume lengthens leaves
    /// Binding::rebind: read the rows from this volume, and make none. Bones are as that volume knows them.
    const ReusedVolume* reused = nullptr;
    /// Binding::move_joints: what can be kept. The rows that come out are those without it.
    const MovedFrom* moved = nullptr;
    std::span<const FinePlace> fine = {};  ///< local resolution: where voxels are half as large

    /// Slots per row: all joints that a set can use, or as many as are kept, and `more`.
    std::size_t width(std::size_t more = 0) const {
        std::size_t widest = 0;
        for (const JointSet& set : plan.sets) widest = std::max(widest, set.joints.size());
        return options.finish.max_influences == all_influences
                   ? widest
                   : std::min(widest, kept_joints(options.finish) + more);
    }
    /// The same of other things.
    Task with(const MeshView& m, const Skeleton& s, const BindOptions& o, std::vector<Bone>& b) const {
        return {m, s, o, topology, plan, used, unit, context, clock, report, b, reused, moved, fine};
    }
};

/// What is known of a mesh before its rows are filled.
struct PlannedMesh {
    MeshTopology topology;
    RowPlan plan;
    std::vector<std::uint8_t> used;  ///< as Task has it
};
/// The task of a bind afresh, with the report and context of the clock. All that is given must outlive it.
inline Task make_task(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                      const PlannedMesh& planned, std::vector<Bone>& bones, StageClock& clock) {
    Box3 box;  // that of the triangles
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
            bones};
}
/// Holds estimate_memory against the context's limit; the error (too_large) names the resolution that would fit.
Status check_memory(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                    const Context* context);
PlannedMesh plan_mesh(const MeshView& mesh, const Skeleton& skeleton, StageClock& clock, BindReport& report);

/// What a method returns: a table of distances, or of what is a strength already (heat, weights), and how each
/// vertex came by its row. Rows of vertices that share another's are filled by the caller.
struct MethodRows {
    std::variant<DistanceTable, InfluenceTable> table;
    std::vector<Coverage> coverage;
    std::shared_ptr<const KeptVolume> volume = nullptr;  ///< where BindOptions::keep_volume asks for it
};

/// Rows of distances, filled in parallel.
struct DistanceRows {
    using Entry = std::pair<float, std::uint32_t>;  ///< distance, joint

    DistanceTable table;
    std::vector<Coverage> coverage;

    explicit DistanceRows(const Task& task, std::size_t more = 0)
        : coverage(task.mesh.positions.size(), Coverage::none) {
        table.vertices = task.mesh.positions.size();
        table.width = task.width(more);
        table.unit = task.unit;
        const std::size_t slots = table.vertices * table.width;
        assign_large(table.joint, slots, DistanceTable::none, task.context);
        assign_large(table.distance, slots, std::numeric_limits<float>::infinity(), task.context);
    }

    /// A distance (≥ 0) and its joint as one number, which sorts by distance, then by joint.
    static std::uint64_t key(float distance, std::uint32_t joint) {
        return std::uint64_t{std::bit_cast<std::uint32_t>(distance)} << 32 | joint;
    }
    /// Sorts the row and keeps what fits. An empty one is Coverage::none.
    void store(std::uint32_t vertex, std::span<std::uint64_t> keys, Coverage how) {
        sort_keys(keys);
        const std::size_t n = std::min(keys.size(), table.width);
        float* const distance = table.distance.data() + vertex * table.width;
        std::uint32_t* const joint = table.joint.data() + vertex * table.width;
        for (std::size_t k = 0; k < n; ++k) {
            distance[k] = std::bit_cast<float>(static_cast<std::uint32_t>(keys[k] >> 32));
            joint[k] = static_cast<std::uint32_t>(keys[k]);
        }
        // Where joints moved, there may have been more.
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

    explicit InfluenceRows(const Task& task) : coverage(task.mesh.positions.size(), Coverage::none) {
        table.vertices = task.mesh.positions.size();
        table.width = task.width();
        const std::size_t slots = table.vertices * table.width;
        assign_large(table.joint, slots, DistanceTable::none, task.context);
        assign_large(table.strength, slots, 0.0f, task.context);
    }

    /// Sorts the row, strongest first, and keeps what fits. One without any strength is Coverage::none.
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

/// Without a volume to march through, a leaf's bone reaches as far as the vertices that are nearest to it, but not
/// farther than twice the bone before it. `ways`: which way, for each joint, where not zero; else on from the joint
/// before. A root has no bone before it, and reaches that far only if it has a way. Stated bones stay.
/// O(vertices x bones).
void extend_leaf_bones(const Task& task, std::span<const Point3> ways = {});

/// By the method table.
Result<MethodRows> run_method(const Task& task);
/// Says in the report which joints lie outside of what was measured.
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
