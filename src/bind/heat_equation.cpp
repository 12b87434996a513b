#include "bind/heat_equation.h"

#include <algorithm>
#include <cmath>

#include "bind/bone_shapes.h"
#include "bind/surface_heat/inner_volume.h"
#include "core/try.h"
#include "core/vectors.h"
#include "solve/cholesky.h"

namespace sinew {
namespace {

// Shares of the longest side of the mesh.
constexpr double kInward = 1e-5;   // segments to bones start this far below the surface
constexpr double kSlack = 1e-6;    // triangles so near to an end of the segment do not block it
constexpr double kNearest = 1e-4;  // least distance of a bone
// Bones whose distances differ by less are equally near.
constexpr double kTie = 1e-4;
// A bone that lies in front of the surface counts as this many times as far away.
constexpr double kLeastFacing = 1e-3;
// Keeps the system solvable where bones are very far away; weights of edges are from 1e-4 to 1e3.
constexpr double kLeastHeat = 1e-8;
// Smaller weights count as 0.
constexpr float kLeast = 1e-9f;

/// A bone, and the index of its joint in the set.
struct Segment {
    Point3 a, b;
    std::uint32_t slot;
    bool open_head, open_tail;
    BoneSpace space;

    /// The same line. Shapes around it may differ.
    bool same_place(const Segment& other) const {
        return a == other.a && b == other.b && space.radius() == 0 && other.space.radius() == 0 &&
               !space.is_box() && !other.space.is_box();
    }
    Point3 point_of(const SegmentPosition& at) const {
        const double t = at.length > 0 ? std::clamp(at.along / at.length, 0.0, 1.0) : 0;
        return (1 - t) * a + t * b;
    }
};

std::vector<Segment> segments_of(const Task& task, const JointSet& set) {
    std::vector<Segment> segments;
    std::vector<std::vector<const Bone*>> bones_of(task.skeleton.joints.size());
    for (const Bone& bone : task.bones) bones_of[bone.joint].push_back(&bone);
    for (std::uint32_t slot = 0; slot < set.joints.size(); ++slot) {
        const std::uint32_t joint = set.joints[slot];
        for (const Bone* const bone : bones_of[joint])
            segments.push_back({to_point(bone->head), to_point(bone->tail), slot, bone->open_head, bone->open_tail,
                                BoneSpace(*bone)});
        // Idle joints have no bones; in a skin with no other joints they are used as points.
        const Vec3& spot = task.skeleton.joints[joint].position;
        if (bones_of[joint].empty())
            segments.push_back(
                {to_point(spot), to_point(spot), slot, false, false, BoneSpace({joint, spot, spot})});
    }
    return segments;
}

/// Which bones are nearest to a node, and which of them it sees.
struct Sight {
    const Task& task;
    const WeldedSurface& mesh;
    const JointSet& set;
    const InnerVolume* volume;
    std::vector<Segment> segments = segments_of(task, set);

    std::uint32_t part(std::uint32_t node) const { return mesh.surface.component[node]; }
    Point3 place(std::uint32_t node) const { return to_point(task.mesh.positions[mesh.surface.vertex_of[node]]); }

    /// The straight distance, larger beyond open ends of bones, and larger if the bone is not below the surface.
    double distance(const Point3& p, std::uint32_t node, const Segment& segment) const {
        const SegmentPosition at = segment_distance(segment.a, segment.b, p);
        double beyond = 0;
        if (segment.open_head) beyond = std::max(beyond, -at.along);
        if (segment.open_tail) beyond = std::max(beyond, at.along - at.length);
        double facing = 1;
        const Point3& normal = mesh.surface.normal[node];
        if (at.distance > 0 && dot(normal, normal) > 0) {
            const double cosine = dot(p - segment.point_of(at), normal) / at.distance;
            facing = std::max((1 + cosine) / 2, kLeastFacing);
        }
        beyond = std::max(0.0, beyond - segment.space.radius());
        return segment.space.distance(p) / facing + task.options.overshoot * beyond;
    }

    bool is_visible(const Point3& p, std::uint32_t node, const Segment& segment) const {
        if (segment.space.signed_distance(p) < 0) return true;  // within its shape
        const double unit = task.unit;
        const Point3 from = p - (kInward * unit) * mesh.surface.normal[node];
        const Point3 to = segment.point_of(segment_distance(segment.a, segment.b, p));
        return !mesh.tree.blocked(from, to, mesh.surface.vertex_of[node], kSlack * unit) &&
               (!volume || volume->is_clear(part(node), from, to));
    }

    /// The bones that are nearest to a node; with `must_see` only visible ones. `distances`: scratch.
    NodeHeat nearest(std::uint32_t node, bool must_see, std::vector<double>& distances) const {
        const Point3 p = place(node);
        distances.clear();
        for (const Segment& segment : segments) distances.push_back(distance(p, node, segment));
        NodeHeat found;
        found.distance = *std::min_element(distances.begin(), distances.end());
        // Excluded joints are skipped.
        while (volume && found.distance < INFINITY) {
            const auto at = std::find(distances.begin(), distances.end(), found.distance) - distances.begin();
            const std::uint32_t slot = segments[static_cast<std::size_t>(at)].slot;
            if (!volume->excludes(set.joints[slot], part(node), p)) break;
            for (std::size_t s = 0; s < segments.size(); ++s)
                if (segments[s].slot == slot) distances[s] = INFINITY;
            found.distance = *std::min_element(distances.begin(), distances.end());
        }
        if (found.distance == INFINITY) return {};
        const Segment* seen = nullptr;  // the last one that was looked at: thousands of bones may be at one place
        bool visible = false;
        for (std::size_t s = 0; s < segments.size() && found.count < NodeHeat::most; ++s) {
            if (distances[s] > found.distance * (1 + kTie)) continue;
            if (must_see && !(seen && seen->same_place(segments[s]))) {
                seen = &segments[s];
                visible = is_visible(p, node, segments[s]);
            }
            if (!must_see || visible) found.add(segments[s].slot);
        }
        return found;
    }
};

std::vector<bool> find_occluded(const MeshSurface& surface, const Unknowns& unknowns,
                                const std::vector<NodeHeat>& visible, double least_visible) {
    std::vector<double> seen(surface.components, 0), all(surface.components, 0);  // area
    for (std::size_t i = 0; i < unknowns.size(); ++i) {
        const std::uint32_t node = unknowns.node[i], part = surface.component[node];
        all[part] += surface.mass[node];
        if (visible[i].count) seen[part] += surface.mass[node];
    }
    std::vector<bool> occluded(surface.components);
    for (std::uint32_t part = 0; part < surface.components; ++part)
        occluded[part] = seen[part] < least_visible * all[part];
    return occluded;
}

/// L + M H. `mh`: M H for one joint, per unknown.
Result<Cholesky> factor_heat_operator(const MeshSurface& surface, const Unknowns& unknowns, const Heat& heat,
                                      const std::vector<double>& mh, Context* context) {
    std::vector<MatrixEntry> entries;
    for (std::uint32_t i = 0; i < unknowns.size(); ++i)
        if (heat.at[i].count > 0) entries.push_back({i, i, mh[i] * heat.at[i].count});
    for (const MeshSurface::Edge& e : surface.edges) {
        const std::uint32_t a = unknowns.of_node[e.a], b = unknowns.of_node[e.b];
        if (a == MeshSurface::none) continue;
        entries.push_back({a, b, -e.weight});
        entries.push_back({a, a, e.weight});
        entries.push_back({b, b, e.weight});
    }
    return Cholesky::factor(unknowns.size(), entries, context);
}

/// M H for one joint, per unknown.
std::vector<double> mass_times_heat(const Task& task, const MeshSurface& surface, const Unknowns& unknowns,
                                    const Heat& heat) {
    std::vector<double> mh(unknowns.size(), 0);
    for (std::size_t i = 0; i < unknowns.size(); ++i) {
        const NodeHeat& h = heat.at[i];
        if (h.count == 0) continue;
        const double d = std::max(h.distance, kNearest * task.unit);
        const double c = h.share * task.options.heat_transfer;
        mh[i] = std::max(c * surface.mass[unknowns.node[i]] / (d * d), kLeastHeat);
    }
    return mh;
}

/// The joints that heat a node, as slots.
std::vector<std::uint32_t> heating_joints(const JointSet& set, const Heat& heat) {
    std::vector<bool> heats(set.joints.size(), false);
    for (const NodeHeat& h : heat.at)
        for (std::uint32_t k = 0; k < h.count; ++k) heats[h.slot[k]] = true;
    std::vector<std::uint32_t> slots;
    for (std::uint32_t slot = 0; slot < heats.size(); ++slot)
        if (heats[slot]) slots.push_back(slot);
    return slots;
}

/// Inserts a strength into a sorted row if it is among the `width` largest. Joints come in ascending order, so an
/// equal entry stays ahead of a later one.
void insert(InfluenceRows::Entry* row, std::uint32_t& kept, std::size_t width, const InfluenceRows::Entry& entry) {
    std::uint32_t at = kept;
    if (at == width) {
        if (!(entry.first > row[width - 1].first)) return;
        --at;
    } else {
        ++kept;
    }
    for (; at > 0 && row[at - 1].first < entry.first; --at) row[at] = row[at - 1];
    row[at] = entry;
}

}  // namespace

void NodeHeat::add(std::uint32_t joint) {
    const auto end = slot.begin() + count;
    if (count < most && std::find(slot.begin(), end, joint) == end) {
        slot[count++] = joint;
        std::sort(slot.begin(), slot.begin() + count);
    }
}

Error heat_cancelled() { return {ErrorCode::cancelled, "cancelled while heat spreads"}; }

std::vector<std::uint32_t> store_without_heat(const Task& task, const MeshSurface& surface, const JointSet& set,
                                              InfluenceRows& rows) {
    std::vector<std::uint32_t> others;
    const InfluenceRows::Entry only{1.0f, set.joints[0]};
    for (const std::uint32_t v : set.vertices) {
        InfluenceRows::Entry nearest = only;
        if (surface.node_of[v] == MeshSurface::none) {
            const Point3 p = to_point(task.mesh.positions[v]);
            double best = INFINITY;
            for (const std::uint32_t j : set.joints)
                if (const double d = norm(to_point(task.skeleton.joints[j].position) - p); d < best)
                    best = d, nearest.second = j;
            rows.store(v, {&nearest, 1}, Coverage::unused);
        } else if (set.joints.size() == 1) {
            rows.store(v, {&nearest, 1}, set.idle ? Coverage::euclidean : Coverage::weighted);
        } else {
            others.push_back(v);
        }
    }
    return others;
}

Unknowns choose_unknowns(const MeshSurface& surface, std::vector<std::uint32_t> vertices) {
    std::vector<bool> touched(surface.components, false);
    for (const std::uint32_t v : vertices) touched[surface.component[surface.node_of[v]]] = true;
    Unknowns out{std::move(vertices), {}, std::vector<std::uint32_t>(surface.nodes(), MeshSurface::none)};
    for (std::uint32_t node = 0; node < surface.nodes(); ++node)
        if (touched[surface.component[node]]) {
            out.of_node[node] = static_cast<std::uint32_t>(out.size());
            out.node.push_back(node);
        }
    return out;
}

Heat find_heat(const Task& task, const WeldedSurface& mesh, const JointSet& set, const Unknowns& unknowns,
               const InnerVolume* volume, double least_visible) {
    const MeshSurface& surface = mesh.surface;
    const Sight sight{task, mesh, set, volume};
    const auto each_unknown = [&](const auto& work) {
        parallel_chunks(task.context, unknowns.size(), 256, [&](std::size_t, std::size_t begin, std::size_t end) {
            if (cancelled(task.context)) return;
            std::vector<double> scratch;
            for (std::size_t i = begin; i < end; ++i) work(i, scratch);
        });
    };
    std::vector<std::uint32_t> vertex_at(surface.nodes(), MeshSurface::none);  // a vertex of the set at the node
    for (const std::uint32_t v : unknowns.vertices) vertex_at[surface.node_of[v]] = v;

    Heat heat{std::vector<NodeHeat>(unknowns.size()), {}};
    each_unknown(
        [&](std::size_t i, auto& scratch) { heat.at[i] = sight.nearest(unknowns.node[i], true, scratch); });
    heat.occluded = find_occluded(surface, unknowns, heat.at, least_visible);
    each_unknown([&](std::size_t i, auto& scratch) {
        const std::uint32_t node = unknowns.node[i], part = surface.component[node], v = vertex_at[node];
        const bool occluded = heat.occluded[part];
        if (!occluded && heat.at[i].count > 0) return;
        if (volume && v != MeshSurface::none)
            if (const std::optional<NodeHeat> through = volume->nearest(set, v, part, occluded)) {
                heat.at[i] = *through;
                return;
            }
        if (occluded) heat.at[i] = sight.nearest(node, false, scratch);
    });
    return heat;
}

Result<SetRows> solve_heat(const Task& task, const MeshSurface& surface, const JointSet& set,
                           const Unknowns& unknowns, const Heat& heat, std::size_t least_width) {
    constexpr std::size_t batch = Cholesky::kBatch;
    const std::vector<double> mh = mass_times_heat(task, surface, unknowns, heat);
    const std::vector<std::uint32_t> slots = heating_joints(set, heat);
    SINEW_TRY_LET(const Cholesky factors, factor_heat_operator(surface, unknowns, heat, mh, task.context));

    // The strongest joints of every vertex, sorted; later batches are merged into them. The order is total, so the
    // result does not depend on the division into batches.
    const std::vector<std::uint32_t>& vertices = unknowns.vertices;
    const std::size_t width = std::max(task.width(), std::min(least_width, set.joints.size()));
    SetRows rows{vertices, width, std::vector<InfluenceRows::Entry>(vertices.size() * width),
                 std::vector<std::uint32_t>(vertices.size(), 0)};
    const std::size_t together = static_cast<std::size_t>(thread_count(task.context));
    std::vector<std::vector<double>> field(together);
    for (std::size_t first = 0; first < slots.size(); first += together * batch) {
        const std::size_t left = slots.size() - first, batches = std::min(together, (left + batch - 1) / batch);
        parallel_for(task.context, batches, 1, [&](std::size_t b) {
            field[b].assign(unknowns.size() * batch, 0);
            const std::size_t begin = first + b * batch, end = std::min(begin + batch, slots.size());
            for (std::size_t i = 0; i < unknowns.size(); ++i) {
                const NodeHeat& h = heat.at[i];
                for (std::uint32_t k = 0; k < h.count; ++k) {
                    const auto at = std::lower_bound(slots.begin(), slots.end(), h.slot[k]) - slots.begin();
                    const auto column = static_cast<std::size_t>(at);
                    if (column >= begin && column < end) field[b][i * batch + column - begin] = mh[i];
                }
            }
            factors.solve_batch(field[b]);
        });
        parallel_for(task.context, vertices.size(), 1024, [&](std::size_t i) {
            const std::uint32_t unknown = unknowns.of_node[surface.node_of[vertices[i]]];
            for (std::size_t c = 0; c < std::min(left, batches * batch); ++c) {
                const auto w = static_cast<float>(field[c / batch][unknown * batch + c % batch]);
                if (w > kLeast)
                    insert(rows.entries.data() + i * width, rows.kept[i], width, {w, set.joints[slots[first + c]]});
            }
        });
        if (cancelled(task.context)) return heat_cancelled();
        report_progress(task.context, "heat", static_cast<double>(first) / static_cast<double>(slots.size()));
    }
    return rows;
}

WeldedSurface::WeldedSurface(const Task& task)
    : surface(task.clock.run("surface", [&] { return build_surface(task.mesh, task.topology); })),
      tree(task.mesh.positions, [&] {
          std::vector<Triangle> welded(task.mesh.triangles.begin(), task.mesh.triangles.end());
          for (Triangle& t : welded)
              for (std::uint32_t& v : t) v = task.topology.weld[v];
          return welded;
      }()) {}

double surface_solver_memory(const MeshView& mesh, double threads) {
    const auto vertices = static_cast<double>(mesh.positions.size()),
               triangles = static_cast<double>(mesh.triangles.size());
    // Factors; two batches of heat for each thread; heat, trees and surface.
    const double batches = 2 * 8 * Cholesky::kBatch * threads;
    return estimate_cholesky_memory(vertices, 7) + vertices * (batches + 150) + triangles * 400;
}

}  // namespace sinew
