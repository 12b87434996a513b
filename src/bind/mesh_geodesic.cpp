// Distances along the edges of the mesh, from the ring where a joint's plane cuts it (Tokheim 2003).
#include <algorithm>
#include <cmath>
#include <limits>

#include "bind/sampling.h"
#include "core/try.h"
#include "core/vectors.h"
#include "field/edge_graph.h"
#include "field/mesh_ring.h"

namespace sinew {
namespace {

// Parts nearer than this share of the unit count as touching: about two voxels of the other methods.
constexpr float kTouching = 1.0f / 128;

bool add_unit(Point3& sum, const Point3& d) {
    const double l = std::hypot(d[0], d[1], d[2]);
    if (!(l > 0)) return false;
    for (std::size_t k = 0; k < 3; ++k) sum[k] += d[k] / l;
    return true;
}

// The plane of a joint is perpendicular to the mean of two directions: from the joint above to the joint, and the
// mean direction of the joint's own bones. If the bone of the joint above is stated to end elsewhere, only the
// second one counts. With RingPlacement::axes the plane is perpendicular to that axis of the joint which is nearest
// to the direction of its bones, as in the source: "the plane defined by j's coordinate system". A joint may state
// its own plane.
Point3 plane_normal(const Task& task, std::uint32_t joint) {
    const std::vector<Joint>& joints = task.skeleton.joints;
    if (joints[joint].ring_normal) return to_point(*joints[joint].ring_normal);
    Point3 incoming{}, outgoing{}, mean{};
    const Point3 here = to_point(joints[joint].position);
    for (int up = joints[joint].parent; up >= 0; up = joints[static_cast<std::size_t>(up)].parent) {
        const Joint& above = joints[static_cast<std::size_t>(up)];
        const Point3 from = to_point(above.position);
        if (from == here) continue;
        if (above.deform && above.tail && !(*above.tail == above.position)) {
            const Point3 end = to_point(*above.tail);
            if (norm(here - end) < norm(here - from)) add_unit(incoming, end - from);
            break;
        }
        if (add_unit(incoming, here - from)) break;
    }
    for (const Bone& bone : task.bones)
        if (bone.joint == joint) add_unit(outgoing, to_point(bone.tail) - to_point(bone.head));
    add_unit(mean, incoming);
    add_unit(mean, outgoing);
    const auto first_of = [](std::initializer_list<Point3> directions) {
        for (const Point3& d : directions)
            if (std::hypot(d[0], d[1], d[2]) > 0.1) return d;
        return Point3{0, 1, 0};
    };
    // Opposite directions have no mean.
    if (task.options.rings != RingPlacement::axes) return first_of({mean, outgoing, incoming});
    const Point3 along = first_of({outgoing, incoming});
    Point3 nearest{};
    for (const Vec3& axis : joints[joint].axes)
        if (const Point3 a = to_point(axis); std::abs(dot(a, along)) > std::abs(dot(nearest, along))) nearest = a;
    return norm(nearest) > 0 ? nearest : along;
}

// The positions where the distances of every joint start.
std::vector<std::vector<EdgeSource>> find_sources(const Task& task, const EdgeGraph& graph) {
    std::vector<std::vector<EdgeSource>> sources(task.skeleton.joints.size());
    std::vector<bool> wanted(sources.size(), false);
    for (const JointSet& set : task.plan.sets)
        for (const std::uint32_t j : set.joints) wanted[j] = true;
    const RingFinder rings(graph, task.options.ring_start == RingStart::late);
    parallel_for(task.context, sources.size(), 1, [&](std::size_t k) {
        const auto j = static_cast<std::uint32_t>(k);
        if (!wanted[j] || cancelled(task.context)) return;
        const auto add = [&](const Point3& at, const Point3& normal) {
            const RingFinder::Ring ring = rings.find(at, normal);
            sources[j].insert(sources[j].end(), ring.sources.begin(), ring.sources.end());
        };
        for (const Bone& bone : task.bones)
            if (bone.joint == j && bone.shaped()) {
                const std::vector<EdgeSource> inside = rings.within(BoneSpace(bone));
                sources[j].insert(sources[j].end(), inside.begin(), inside.end());
            }
        if (task.options.rings == RingPlacement::bone && !task.skeleton.joints[j].ring_normal)
            for (const Bone& bone : task.bones) {
                if (bone.joint != j || bone.head == bone.tail || bone.shaped()) continue;
                const Point3 a = to_point(bone.head), d = to_point(bone.tail) - a;
                add({a[0] + d[0] / 2, a[1] + d[1] / 2, a[2] + d[2] / 2}, d);
            }
        if (sources[j].empty()) add(to_point(task.skeleton.joints[j].position), plane_normal(task, j));
    });
    return sources;
}

// Inserts the distance of one joint into a row of the nearest joints.
void insert(DistanceTable& table, std::size_t vertex, float distance, std::uint32_t joint) {
    float* const d = table.distance.data() + vertex * table.width;
    std::uint32_t* const j = table.joint.data() + vertex * table.width;
    const auto before = [&](std::size_t k) { return std::pair{d[k], j[k]} <= std::pair{distance, joint}; };
    std::size_t at = table.width;
    if (at == 0 || before(at - 1)) return;
    for (; at > 0 && !before(at - 1); --at)
        if (at < table.width) d[at] = d[at - 1], j[at] = j[at - 1];
    d[at] = distance;
    j[at] = joint;
}

// From the joints of a set to its vertices, by one run per joint; or by the matrix of all distances, as the source
// describes, which gives the same.
Status measure(const Task& task, const EdgeGraph& graph, const std::vector<std::vector<EdgeSource>>& sources,
               const JointSet& set, std::span<const EdgeBridge> bridges, DistanceRows& rows) {
    const std::size_t n = graph.position.size();
    std::vector<float> matrix;
    if (task.options.all_pairs) {
        matrix.resize(n * n);
        parallel_for(task.context, n, 16, [&](std::size_t i) {
            if (cancelled(task.context)) return;
            const EdgeSource start{static_cast<std::uint32_t>(i), 0};
            const std::vector<float> row = shortest_paths(graph, bridges, {&start, 1});
            std::copy(row.begin(), row.end(), matrix.begin() + static_cast<std::ptrdiff_t>(i * n));
        });
    }
    // One joint per thread at a time, so that no table of joints x vertices is needed. Rows do not depend on the
    // order of joints.
    const auto team = static_cast<std::size_t>(thread_count(task.context));
    std::vector<std::vector<float>> fields(team);
    for (std::size_t begin = 0; begin < set.joints.size(); begin += team) {
        const std::size_t count = std::min(team, set.joints.size() - begin);
        parallel_for(task.context, count, 1, [&](std::size_t k) {
            const std::vector<EdgeSource>& from = sources[set.joints[begin + k]];
            if (cancelled(task.context)) return;
            if (!task.options.all_pairs) {
                fields[k] = shortest_paths(graph, bridges, from);
                return;
            }
            fields[k].assign(n, std::numeric_limits<float>::infinity());
            for (const EdgeSource& s : from)
                for (std::size_t i = 0; i < n; ++i)
                    fields[k][i] = std::min(fields[k][i], s.distance + matrix[s.node * n + i]);
        });
        if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
        parallel_for(task.context, set.vertices.size(), 2048, [&](std::size_t i) {
            const std::uint32_t v = set.vertices[i], node = graph.node_of[v];
            if (node == no_index) return;
            for (std::size_t k = 0; k < count; ++k)
                if (const float d = fields[k][node]; d < std::numeric_limits<float>::infinity())
                    insert(rows.table, v, d, set.joints[begin + k]);
        });
        report_progress(task.context, "distances",
                        static_cast<double>(begin + count) / static_cast<double>(set.joints.size()));
    }
    return Done{};
}

Status fill(const Task& task, const EdgeGraph& graph, DistanceRows& rows) {
    const std::vector<std::vector<EdgeSource>> sources = find_sources(task, graph);
    const BoneShapes shapes(task.skeleton, task.bones);
    std::vector<bool> seeded_by_any(graph.component_count, false);
    for (const JointSet& set : task.plan.sets) {
        if (set.vertices.empty()) continue;
        std::vector<bool> seeded(graph.component_count, false);
        for (const std::uint32_t j : set.joints)
            for (const EdgeSource& s : sources[j])
                seeded[graph.component[s.node]] = seeded_by_any[graph.component[s.node]] = true;
        if (set.needs_field()) {
            const std::vector<EdgeBridge> bridges = join_parts(graph, seeded, kTouching * task.unit, task.context);
            SINEW_TRY(measure(task, graph, sources, set, bridges, rows));
        }
        parallel_for(task.context, set.vertices.size(), 1024, [&](std::size_t i) {
            const std::uint32_t v = set.vertices[i], node = graph.node_of[v];
            if (rows.table.width > 0 && rows.table.joint[v * rows.table.width] != no_index) {
                rows.coverage[v] = seeded[graph.component[node]] ? Coverage::weighted : Coverage::bridged;
                return;
            }
            // The vertex has no triangle, or the set needs no distances.
            std::vector<DistanceRows::Entry> row;
            const Coverage how = straight_row(task, shapes, set, v, row);
            rows.store(v, row, how == Coverage::euclidean && !set.idle ? Coverage::weighted : how);
        });
    }
    task.report.bridged_components =
        static_cast<std::size_t>(std::count(seeded_by_any.begin(), seeded_by_any.end(), false));
    return Done{};
}

}  // namespace

Result<MethodRows> bind_mesh_geodesic(const Task& task) {
    const EdgeGraph graph = task.clock.run("edges", [&] { return EdgeGraph(task.mesh, task.topology); });
    if (task.options.all_pairs && graph.position.size() > all_pairs_limit)
        return Error{ErrorCode::too_large, "all pairs of " + std::to_string(graph.position.size()) +
                                               " positions are too many: all pairs are possible for at most " +
                                               std::to_string(all_pairs_limit) +
                                               " positions; leave out all pairs, which gives the same distances"};
    task.report.components = graph.component_count;
    if (task.options.rings == RingPlacement::bone) extend_leaf_bones(task);
    // The reach of a row ends at the first joint beyond the limit of influences, so the row has one joint more.
    DistanceRows rows(task.row_shape(1));
    SINEW_TRY(task.clock.run("distances", [&] { return fill(task, graph, rows); }));
    return MethodRows(std::move(rows));
}

}  // namespace sinew
