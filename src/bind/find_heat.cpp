#include <algorithm>
#include <cmath>

#include "bind/bone_shapes.h"
#include "bind/bone_tree.h"
#include "bind/heat_equation.h"
#include "bind/surface_heat/inner_volume.h"
#include "core/vectors.h"

namespace sinew {
namespace {

// Shares of the longest side of the mesh.
constexpr double kInward = 1e-5;  // segments to bones start this far below the surface
constexpr double kSlack = 1e-6;   // triangles so near to an end of the segment do not block it
// Bones whose distances differ by less are equally near.
constexpr double kTie = 1e-4;
// A bone that lies in front of the surface counts as this many times as far away.
constexpr double kLeastFacing = 1e-3;

// Nodes of coarser levels are apart by this many edges of the finer one, but not by more than this share of the
// distance to the nearest bone, within which heat changes little; and a part keeps about this many across.
constexpr double kEdges = 2;
constexpr double kSpacing = 0.2;
constexpr double kAcross = 12;
// Further levels, which only the solver has, keep about this many nodes.
constexpr std::size_t kCoarsest = 1000;
// A node of a finer level takes the bones of the nodes around it only if the cosines to their normals are larger.
constexpr double kAlike = 0.8;
// Of each node of the coarsest level this many bones are known, the nearest ones.
constexpr std::size_t kNearBones = 12;

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
    BoneTree tree{[&] {
        std::vector<BoneSpace> spaces;
        for (const Segment& segment : segments) spaces.push_back(segment.space);
        return BoneTree(spaces);
    }()};

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

    /// The bones that are nearest to a point, for points near it.
    struct NearBones {
        Point3 place;
        std::array<std::pair<double, std::uint32_t>, kNearBones> bone;  // straight distance and segment, ascending
        std::size_t count;
    };
    NearBones near_bones(const Point3& p) const {
        NearBones out{p, {}, 0};
        const auto reach = [&] { return out.count < kNearBones ? INFINITY : out.bone[kNearBones - 1].first; };
        tree.visit(p, reach, [&](std::uint32_t s) {
            const std::pair<double, std::uint32_t> own{segments[s].space.distance(p), s};
            if (out.count == kNearBones && own > out.bone[kNearBones - 1]) return;
            std::size_t at = out.count < kNearBones ? out.count++ : kNearBones - 1;
            for (; at > 0 && own < out.bone[at - 1]; --at) out.bone[at] = out.bone[at - 1];
            out.bone[at] = own;
        });
        return out;
    }

    /// Whether the bones of these joints are the nearest ones of a node, visible or not. Sets their distance. A
    /// bone cannot be nearer than its straight distance, and that differs from the one at `near.place` by no more
    /// than the way from there.
    bool are_nearest(std::uint32_t node, NodeHeat& joints, const NearBones& near) const {
        const Point3 p = place(node);
        const double way = norm(p - near.place);
        std::array<double, NodeHeat::most> own;
        own.fill(INFINITY);
        double others = INFINITY, bound = INFINITY;
        for (std::size_t k = 0; k < near.count; ++k) {
            const auto& [straight, s] = near.bone[k];
            if (straight - way > (1 + kTie) * bound) break;
            if (k + 1 == kNearBones && near.count < segments.size()) return false;  // there may be more
            const std::uint32_t* const slots = joints.slot.data();
            const std::uint32_t* const end = slots + joints.count;
            const std::uint32_t* const at = std::find(slots, end, segments[s].slot);
            double& least = at == end ? others : own[static_cast<std::size_t>(at - slots)];
            least = std::min(least, distance(p, node, segments[s]));
            bound = std::min(bound, least);
        }
        joints.distance = bound;
        return others > (1 + kTie) * bound && std::all_of(own.begin(), own.begin() + joints.count,
                                                          [&](double d) { return d <= (1 + kTie) * bound; });
    }

    bool is_visible(const Point3& p, std::uint32_t node, const Segment& segment) const {
        if (segment.space.signed_distance(p) < 0) return true;  // within its shape
        const double unit = task.unit;
        const Point3 from = p - (kInward * unit) * mesh.surface.normal[node];
        const Point3 to = segment.point_of(segment_distance(segment.a, segment.b, p));
        return !mesh.tree.blocked(from, to, mesh.surface.vertex_of[node], kSlack * unit) &&
               (!volume || volume->is_clear(part(node), from, to));
    }

    /// Bones and their distances.
    using Distances = std::vector<std::pair<std::uint32_t, double>>;

    /// Finds all bones that are as near as the nearest one, in ascending order, and maybe others; not those of
    /// these joints. Returns the distance of the nearest.
    double find_nearest(const Point3& p, std::uint32_t node, const std::vector<std::uint32_t>& without,
                        Distances& found) const {
        found.clear();
        double least = INFINITY;
        tree.visit(
            p, [&] { return least * (1 + 2 * kTie); },
            [&](std::uint32_t s) {
                if (std::find(without.begin(), without.end(), segments[s].slot) != without.end()) return;
                found.emplace_back(s, distance(p, node, segments[s]));
                least = std::min(least, found.back().second);
            });
        std::sort(found.begin(), found.end());
        return least;
    }

    /// The bones that are nearest to a node; with `must_see` only visible ones. `bones`: scratch.
    NodeHeat nearest(std::uint32_t node, bool must_see, Distances& bones) const {
        const Point3 p = place(node);
        NodeHeat found;
        std::vector<std::uint32_t> excluded;  // slots
        for (;;) {
            found.distance = find_nearest(p, node, excluded, bones);
            if (!volume || found.distance == INFINITY) break;
            const auto at = std::find_if(bones.begin(), bones.end(),
                                         [&](const auto& bone) { return bone.second == found.distance; });
            const std::uint32_t slot = segments[at->first].slot;
            if (!volume->excludes(set.joints[slot], part(node), p)) break;
            excluded.push_back(slot);
        }
        if (found.distance == INFINITY) return {};
        const Segment* seen = nullptr;  // the last one that was looked at: thousands of bones may be at one place
        bool visible = false;
        for (const auto& [s, distance] : bones) {
            if (found.count == NodeHeat::most) break;
            if (distance > found.distance * (1 + kTie)) continue;
            if (must_see && !(seen && seen->same_place(segments[s]))) {
                seen = &segments[s];
                visible = is_visible(p, node, segments[s]);
            }
            if (!must_see || visible) found.add(segments[s].slot);
        }
        return found;
    }
};

/// The three cases of find_heat.
struct HeatCases {
    const Sight& sight;
    std::vector<std::uint32_t> vertex_at;  // per node: a vertex of the set, or none

    HeatCases(const Sight& with, const Unknowns& unknowns)
        : sight(with), vertex_at(with.mesh.surface.nodes(), MeshSurface::none) {
        for (const std::uint32_t v : unknowns.vertices) vertex_at[sight.mesh.surface.node_of[v]] = v;
    }

    NodeHeat visible(std::uint32_t node, Sight::Distances& scratch) const {
        return sight.nearest(node, true, scratch);
    }
    /// `seen`: of `visible`.
    NodeHeat complete(std::uint32_t node, const NodeHeat& seen, bool occluded, Sight::Distances& scratch) const {
        if (!occluded && seen.count > 0) return seen;
        const std::uint32_t v = vertex_at[node];
        if (sight.volume && v != MeshSurface::none)
            if (const auto through = sight.volume->nearest(sight.set, v, sight.part(node), occluded))
                return *through;
        return occluded ? sight.nearest(node, false, scratch) : seen;
    }
};

/// Parts of which a smaller share of the area sees bones. `mass`: of each node, of which `visible` is known.
std::vector<bool> find_occluded(const MeshSurface& surface, std::span<const std::uint32_t> nodes,
                                std::span<const double> mass, const std::vector<NodeHeat>& visible,
                                double least_visible) {
    std::vector<double> seen(surface.components, 0), all(surface.components, 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::uint32_t part = surface.component[nodes[i]];
        all[part] += mass[i];
        if (visible[i].count) seen[part] += mass[i];
    }
    std::vector<bool> occluded(surface.components);
    for (std::uint32_t part = 0; part < surface.components; ++part)
        occluded[part] = seen[part] < least_visible * all[part];
    return occluded;
}

template <typename Work>
void each_node(Context* context, std::size_t count, const Work& work) {
    parallel_chunks(context, count, 256, [&](std::size_t, std::size_t begin, std::size_t end) {
        if (cancelled(context)) return;
        Sight::Distances scratch;
        for (std::size_t i = begin; i < end; ++i) work(i, scratch);
    });
}

/// The cases at some nodes, and the occluded parts. `mass`: the area that each node stands for.
Heat heat_at(const HeatCases& cases, std::span<const std::uint32_t> nodes, std::span<const double> mass,
             double least_visible) {
    const MeshSurface& surface = cases.sight.mesh.surface;
    Context* const context = cases.sight.task.context;
    Heat heat{std::vector<NodeHeat>(nodes.size()), {}, {}};
    each_node(context, nodes.size(),
              [&](std::size_t i, auto& scratch) { heat.at[i] = cases.visible(nodes[i], scratch); });
    heat.occluded = find_occluded(surface, nodes, mass, heat.at, least_visible);
    each_node(context, nodes.size(), [&](std::size_t i, auto& scratch) {
        heat.at[i] = cases.complete(nodes[i], heat.at[i], heat.occluded[surface.component[nodes[i]]], scratch);
    });
    return heat;
}

bool same_case(const NodeHeat& a, const NodeHeat& b) {
    return a.how == b.how && a.count == b.count &&
           std::equal(a.slot.begin(), a.slot.begin() + a.count, b.slot.begin());
}

/// The heat at a level from that at the next coarser one, which becomes that of this level. `nodes`: of the
/// surface, per node of the level. `near`: the bones near each node of the coarser level.
void refine_heat(const HeatCases& cases, std::span<const std::uint32_t> nodes, const SurfaceLevel& coarse,
                 std::span<const Sight::NearBones* const> near, Heat& heat) {
    const Sight& sight = cases.sight;
    const std::vector<Point3>& normal = sight.mesh.surface.normal;
    std::vector<NodeHeat> out(nodes.size());
    each_node(sight.task.context, nodes.size(), [&](std::size_t i, auto& scratch) {
        const std::uint32_t node = nodes[i];
        const SurfaceLevel::Stencil& around = coarse.stencil[i];
        out[i] = heat.at[around.of[0]];
        if (around.share[0] == 1) return;
        const bool agreed = same_case(out[i], heat.at[around.of[1]]) && same_case(out[i], heat.at[around.of[2]]);
        const bool seen = out[i].how == NodeHeat::Way::straight && out[i].count > 0;
        const bool alike = std::all_of(around.of.begin(), around.of.end(), [&](std::uint32_t c) {
            return dot(normal[node], normal[nodes[coarse.finer[c]]]) > kAlike;
        });
        if (agreed && seen && alike && sight.are_nearest(node, out[i], *near[around.of[0]])) return;
        out[i] = cases.complete(node, cases.visible(node, scratch), heat.occluded[sight.part(node)], scratch);
    });
    heat.at = std::move(out);
}

/// Levels from the finest to one with at most `most` nodes, whose nodes are near enough to each other for heat;
/// returns how many there are. Further levels are for the solver.
std::size_t make_levels(const Sight& sight, const Unknowns& unknowns, std::size_t most,
                        std::vector<SurfaceLevel>& levels) {
    levels.push_back(
        finest_level(sight.task.mesh, sight.mesh.surface, unknowns.node, unknowns.of_node, sight.task.context));
    std::vector<double> across(sight.mesh.surface.components, 0);  // per part: first its area
    for (const std::uint32_t node : unknowns.node) across[sight.part(node)] += sight.mesh.surface.mass[node];
    for (double& a : across) a = std::sqrt(a) / kAcross;
    const auto edges = [&](std::uint32_t i) {
        const SurfaceLevel& fine = levels.back();
        double length = 0;
        for (const auto [to, weight] : fine.links(i)) length += norm(fine.place[to] - fine.place[i]);
        return kEdges * length / static_cast<double>(std::max<std::size_t>(fine.links(i).size(), 1));
    };
    const auto for_heat = [&](std::uint32_t i) {
        const SurfaceLevel& fine = levels.back();
        double nearest = INFINITY;
        sight.tree.visit(
            fine.place[i], [&] { return nearest; },
            [&](std::uint32_t s) {
                const Segment& segment = sight.segments[s];
                nearest = std::min(nearest, segment_distance(segment.a, segment.b, fine.place[i]).distance);
            });
        return std::min(
            {edges(i), kSpacing * std::max(nearest, kNearestBone * sight.task.unit), across[fine.component[i]]});
    };
    const auto coarsen_to = [&](std::size_t nodes, const auto& spacing) {
        while (levels.back().nodes() > nodes && !cancelled(sight.task.context)) {
            SurfaceLevel coarse = coarsen(levels.back(), spacing, sight.task.context);
            if (10 * coarse.nodes() > 8 * levels.back().nodes()) break;
            levels.back().cells = {};  // nothing else reads them
            levels.push_back(std::move(coarse));
        }
        return levels.size();
    };
    const std::size_t count = coarsen_to(most, for_heat);
    coarsen_to(kCoarsest, edges);
    return count;
}

}  // namespace

void NodeHeat::add(std::uint32_t joint) {
    const auto end = slot.begin() + count;
    if (count < most && std::find(slot.begin(), end, joint) == end) {
        slot[count++] = joint;
        std::sort(slot.begin(), slot.begin() + count);
    }
}

Heat find_heat(const Task& task, const WeldedSurface& mesh, const JointSet& set, const Unknowns& unknowns,
               const InnerVolume* volume, const HeatRules& rules) {
    const Sight sight{task, mesh, set, volume};
    const HeatCases cases(sight, unknowns);
    std::vector<SurfaceLevel> levels;
    std::size_t count = 0;  // of those with heat
    if (unknowns.size() > rules.direct) count = make_levels(sight, unknowns, rules.direct, levels);
    std::vector<double> area;
    for (const std::uint32_t node : unknowns.node) area.push_back(mesh.surface.mass[node]);
    if (count < 2) return heat_at(cases, unknowns.node, area, rules.least_visible);  // or none can be coarser
    std::vector<std::vector<std::uint32_t>> nodes{unknowns.node};                    // of the surface, per level
    for (std::size_t k = 1; k < count; ++k)
        for (nodes.emplace_back(); const std::uint32_t i : levels[k].finer) nodes[k].push_back(nodes[k - 1][i]);
    for (std::size_t k = 1; k < count; ++k) {
        std::vector<double> sum(levels[k].nodes(), 0);
        for (std::size_t i = 0; i < area.size(); ++i)
            for (std::size_t c = 0; c < 3; ++c)
                sum[levels[k].stencil[i].of[c]] += static_cast<double>(levels[k].stencil[i].share[c]) * area[i];
        area = std::move(sum);
    }
    Heat heat = heat_at(cases, nodes.back(), area, rules.least_visible);
    std::vector<Sight::NearBones> near_bones(nodes.back().size());
    std::vector<const Sight::NearBones*> near(near_bones.size());
    parallel_for(task.context, near.size(), 64, [&](std::size_t i) {
        near_bones[i] = sight.near_bones(sight.place(nodes.back()[i]));
        near[i] = &near_bones[i];
    });
    for (std::size_t k = count - 1; k > 0 && !cancelled(task.context); --k) {
        refine_heat(cases, nodes[k - 1], levels[k], near, heat);
        std::vector<const Sight::NearBones*> finer;
        for (const SurfaceLevel::Stencil& around : levels[k].stencil) finer.push_back(near[around.of[0]]);
        near = std::move(finer);
    }
    heat.levels = std::move(levels);
    return heat;
}

}  // namespace sinew
