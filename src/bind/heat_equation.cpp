#include "bind/heat_equation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

// Nodes of coarser levels are apart by this many edges of the finer one, but not by more than this share of the
// distance to the nearest bone, within which heat changes little; and a part keeps about this many across.
constexpr double kEdges = 2;
constexpr double kSpacing = 0.2;
constexpr double kAcross = 12;
// Rows of levels hold this many joints, with at least this weight. They are improved by this many sweeps after each
// interpolation, and by this many corrections of the whole.
constexpr int kCorrections = 1;
constexpr std::size_t kCoarseWidth = 10;
// Of each node of the coarsest level this many bones are known, the nearest ones.
constexpr std::size_t kNearBones = 12;
constexpr float kLeastCoarse = 1e-4f;
constexpr int kSweeps = 1;

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

    /// The bones that are nearest to a point, for points near it.
    struct NearBones {
        Point3 place;
        std::array<std::pair<double, std::uint32_t>, kNearBones> bone;  // straight distance and segment, ascending
        std::size_t count;
    };
    NearBones near_bones(const Point3& p) const {
        std::vector<std::pair<double, std::uint32_t>> all;
        for (std::uint32_t s = 0; s < segments.size(); ++s) all.emplace_back(segments[s].space.distance(p), s);
        NearBones out{p, {}, std::min(all.size(), kNearBones)};
        std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(out.count), all.end());
        std::copy_n(all.begin(), out.count, out.bone.begin());
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

/// The three cases of find_heat.
struct HeatCases {
    const Sight& sight;
    std::vector<std::uint32_t> vertex_at;  // per node: a vertex of the set, or none

    HeatCases(const Sight& with, const Unknowns& unknowns)
        : sight(with), vertex_at(with.mesh.surface.nodes(), MeshSurface::none) {
        for (const std::uint32_t v : unknowns.vertices) vertex_at[sight.mesh.surface.node_of[v]] = v;
    }

    NodeHeat visible(std::uint32_t node, std::vector<double>& scratch) const {
        return sight.nearest(node, true, scratch);
    }
    /// `seen`: of `visible`.
    NodeHeat complete(std::uint32_t node, const NodeHeat& seen, bool occluded, std::vector<double>& scratch) const {
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
        std::vector<double> scratch;
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
    std::vector<NodeHeat> out(nodes.size());
    each_node(sight.task.context, nodes.size(), [&](std::size_t i, auto& scratch) {
        const std::uint32_t node = nodes[i];
        const SurfaceLevel::Stencil& around = coarse.stencil[i];
        out[i] = heat.at[around.of[0]];
        if (around.share[0] == 1) return;
        const bool agreed = same_case(out[i], heat.at[around.of[1]]) && same_case(out[i], heat.at[around.of[2]]);
        const bool straight = out[i].how == NodeHeat::Way::straight && out[i].count > 0;
        if (agreed && straight && sight.are_nearest(node, out[i], *near[around.of[0]])) return;
        const NodeHeat seen = agreed && !straight ? NodeHeat{} : cases.visible(node, scratch);
        out[i] = cases.complete(node, seen, heat.occluded[sight.part(node)], scratch);
    });
    heat.at = std::move(out);
}

/// Levels from the finest to one with at most `most` nodes.
std::vector<SurfaceLevel> make_levels(const Sight& sight, const Unknowns& unknowns, std::size_t most) {
    std::vector<SurfaceLevel> levels;
    levels.push_back(finest_level(sight.task.mesh, sight.mesh.surface, unknowns.node, unknowns.of_node));
    std::vector<double> across(sight.mesh.surface.components, 0);  // per part: first its area
    for (const std::uint32_t node : unknowns.node) across[sight.part(node)] += sight.mesh.surface.mass[node];
    for (double& a : across) a = std::sqrt(a) / kAcross;
    while (levels.back().nodes() > most && !cancelled(sight.task.context)) {
        const SurfaceLevel& fine = levels.back();
        std::vector<double> length(fine.nodes(), 0), count(fine.nodes(), 0);
        for (const MeshSurface::Edge& e : fine.edges) {
            const double l = norm(fine.place[e.b] - fine.place[e.a]);
            for (const std::uint32_t i : {e.a, e.b}) length[i] += l, ++count[i];
        }
        const auto spacing = [&](std::uint32_t i) {
            double nearest = INFINITY;
            for (const Segment& segment : sight.segments)
                nearest = std::min(nearest, segment_distance(segment.a, segment.b, fine.place[i]).distance);
            const double edge = count[i] > 0 ? length[i] / count[i] : 0;
            return std::min({kEdges * edge, kSpacing * std::max(nearest, kNearest * sight.task.unit),
                             across[fine.component[i]]});
        };
        SurfaceLevel coarse = coarsen(fine, spacing, sight.task.context);
        if (10 * coarse.nodes() > 8 * fine.nodes()) break;
        levels.push_back(std::move(coarse));
    }
    return levels;
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

/// (L + M H) w = M H p at one level.
struct HeatSystem {
    struct Source {
        std::uint32_t slot;
        double value;
    };
    std::span<const MeshSurface::Edge> l;
    std::vector<double> mh;            // M H of all joints, per node
    std::vector<std::uint32_t> first;  // per node, and one more: its first source
    std::vector<Source> mhp;           // M H p, by node, then by slot

    std::size_t nodes() const { return mh.size(); }
    std::span<const Source> sources(std::size_t i) const {
        return {mhp.data() + first[i], mhp.data() + first[i + 1]};
    }
};

/// At every unknown. `edges`: the Laplacian between unknowns. `mh`: for one joint.
HeatSystem system_at(std::span<const MeshSurface::Edge> edges, const Heat& heat, const std::vector<double>& mh) {
    HeatSystem out{edges, mh, {0}, {}};
    for (std::size_t i = 0; i < mh.size(); ++i) {
        const NodeHeat& h = heat.at[i];
        out.mh[i] *= h.count;
        for (std::uint32_t k = 0; k < h.count; ++k) out.mhp.push_back({h.slot[k], mh[i]});
        out.first.push_back(static_cast<std::uint32_t>(out.mhp.size()));
    }
    return out;
}

/// At the next coarser level: Pᵀ L P, and Pᵀ M H and Pᵀ M H p, where the first is lumped to a diagonal.
HeatSystem restrict_system(const HeatSystem& fine, const SurfaceLevel& coarse) {
    HeatSystem out{coarse.edges, std::vector<double>(coarse.nodes(), 0), {}, {}};
    std::vector<std::vector<HeatSystem::Source>> sources(coarse.nodes());
    for (std::size_t i = 0; i < fine.nodes(); ++i)
        for (std::size_t c = 0; c < 3; ++c) {
            const auto share = static_cast<double>(coarse.stencil[i].share[c]);
            if (share == 0) continue;
            const std::uint32_t to = coarse.stencil[i].of[c];
            out.mh[to] += share * fine.mh[i];
            for (const HeatSystem::Source& source : fine.sources(i)) {
                auto& own = sources[to];
                const auto at =
                    std::find_if(own.begin(), own.end(), [&](const auto& s) { return s.slot >= source.slot; });
                if (at != own.end() && at->slot == source.slot)
                    at->value += share * source.value;
                else
                    own.insert(at, {source.slot, share * source.value});
            }
        }
    for (const auto& own : sources) {
        out.first.push_back(static_cast<std::uint32_t>(out.mhp.size()));
        out.mhp.insert(out.mhp.end(), own.begin(), own.end());
    }
    out.first.push_back(static_cast<std::uint32_t>(out.mhp.size()));
    return out;
}

/// L + M H, as a list of entries.
std::vector<MatrixEntry> entries_of(const HeatSystem& system) {
    std::vector<MatrixEntry> out;
    for (std::uint32_t i = 0; i < system.nodes(); ++i)
        if (system.first[i] < system.first[i + 1]) out.push_back({i, i, system.mh[i]});
    for (const MeshSurface::Edge& e : system.l) {
        out.push_back({e.a, e.b, -e.weight});
        out.push_back({e.a, e.a, e.weight});
        out.push_back({e.b, e.b, e.weight});
    }
    return out;
}

/// The joints that heat a node, as slots.
std::vector<std::uint32_t> heating_joints(const JointSet& set, const HeatSystem& system) {
    std::vector<bool> heats(set.joints.size(), false);
    for (const HeatSystem::Source& s : system.mhp) heats[s.slot] = true;
    std::vector<std::uint32_t> slots;
    for (std::uint32_t slot = 0; slot < heats.size(); ++slot)
        if (heats[slot]) slots.push_back(slot);
    return slots;
}

/// Inserts a value into a row, sorted by size, if it is among the `width` largest. Joints come in ascending order,
/// so an equal entry stays ahead of a later one.
void insert(InfluenceRows::Entry* row, std::uint32_t& kept, std::size_t width, const InfluenceRows::Entry& entry) {
    const float size = std::abs(entry.first);
    std::uint32_t at = kept;
    if (at == width) {
        if (!(size > std::abs(row[width - 1].first))) return;
        --at;
    } else {
        ++kept;
    }
    for (; at > 0 && std::abs(row[at - 1].first) < size; --at) row[at] = row[at - 1];
    row[at] = entry;
}

/// Solves the system for each joint, a batch of joints in each thread at a time: the strongest joints of the
/// unknowns `wanted`, into the rows. The order of entries is total, so the result does not depend on the division
/// into batches.
Status solve(const Task& task, const JointSet& set, const HeatSystem& system, const Cholesky& factors,
             std::span<const std::uint32_t> wanted, SetRows& rows) {
    constexpr std::size_t batch = Cholesky::kBatch;
    const std::vector<std::uint32_t> slots = heating_joints(set, system);
    rows.entries.resize(wanted.size() * rows.width);
    rows.kept.assign(wanted.size(), 0);
    const std::size_t together = static_cast<std::size_t>(thread_count(task.context));
    std::vector<std::vector<double>> field(together);
    for (std::size_t first = 0; first < slots.size(); first += together * batch) {
        const std::size_t left = slots.size() - first, batches = std::min(together, (left + batch - 1) / batch);
        parallel_for(task.context, batches, 1, [&](std::size_t b) {
            field[b].assign(system.nodes() * batch, 0);
            const std::size_t begin = first + b * batch, end = std::min(begin + batch, slots.size());
            for (std::size_t i = 0; i < system.nodes(); ++i)
                for (const HeatSystem::Source& s : system.sources(i)) {
                    const auto at = std::lower_bound(slots.begin(), slots.end(), s.slot) - slots.begin();
                    const auto column = static_cast<std::size_t>(at);
                    if (column >= begin && column < end) field[b][i * batch + column - begin] = s.value;
                }
            factors.solve_batch(field[b]);
        });
        parallel_for(task.context, wanted.size(), 1024, [&](std::size_t i) {
            for (std::size_t c = 0; c < std::min(left, batches * batch); ++c) {
                const auto w = static_cast<float>(field[c / batch][wanted[i] * batch + c % batch]);
                if (std::abs(w) > kLeast)
                    insert(rows.entries.data() + i * rows.width, rows.kept[i], rows.width,
                           {w, set.joints[slots[first + c]]});
            }
        });
        if (cancelled(task.context)) return heat_cancelled();
        report_progress(task.context, "heat", static_cast<double>(first) / static_cast<double>(slots.size()));
    }
    return Done{};
}

/// A row that is being added up: few joints, in any order.
struct RowSum {
    static constexpr std::size_t most = 48;
    std::array<std::uint32_t, most> joint;
    std::array<float, most> value;
    std::size_t count = 0;

    void add(std::uint32_t j, float x) {
        std::size_t at = 0;
        while (at < count && joint[at] != j) ++at;
        if (at == most) return;
        if (at == count) joint[count] = j, value[count++] = 0;
        value[at] += x;
    }
    /// The largest values as a row, sorted by size. Equal ones by joint.
    std::uint32_t store(float factor, InfluenceRows::Entry* row, std::size_t width) const {
        std::uint32_t kept = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const InfluenceRows::Entry own{factor * value[k], joint[k]};
            const float size = std::abs(own.first);
            if (!(size > kLeastCoarse)) continue;
            const auto before = [&](const InfluenceRows::Entry& other) {
                const float others = std::abs(other.first);
                return size != others ? size > others : own.second < other.second;
            };
            std::uint32_t at = kept;
            if (at == width) {
                if (!before(row[width - 1])) continue;
                --at;
            } else {
                ++kept;
            }
            for (; at > 0 && before(row[at - 1]); --at) row[at] = row[at - 1];
            row[at] = own;
        }
        return kept;
    }
};

std::span<const InfluenceRows::Entry> row_of(const SetRows& rows, std::size_t i) {
    return {rows.entries.data() + i * rows.width, rows.kept[i]};
}

/// P w: rows of a level from those of the next coarser one.
SetRows interpolate(const SurfaceLevel& coarse, const SetRows& from, Context* context) {
    const std::size_t nodes = coarse.stencil.size();
    SetRows rows{
        {}, from.width, std::vector<InfluenceRows::Entry>(nodes * from.width), std::vector<std::uint32_t>(nodes)};
    parallel_for(context, nodes, 1024, [&](std::size_t i) {
        const SurfaceLevel::Stencil& around = coarse.stencil[i];
        RowSum sum;
        for (std::size_t c = 0; c < 3; ++c)
            if (around.share[c] > 0)
                for (const auto& [w, joint] : row_of(from, around.of[c])) sum.add(joint, around.share[c] * w);
        rows.kept[i] = sum.store(1, rows.entries.data() + i * rows.width, rows.width);
    });
    return rows;
}

/// The Laplacian by nodes.
struct Links {
    struct Link {
        std::uint32_t to;
        float weight;
    };
    std::vector<std::uint32_t> first;  // per node, and one more
    std::vector<Link> link;

    Links(std::span<const MeshSurface::Edge> edges, std::size_t nodes)
        : first(nodes + 1, 0), link(2 * edges.size()) {
        for (const MeshSurface::Edge& e : edges) ++first[e.a + 1], ++first[e.b + 1];
        for (std::size_t i = 0; i < nodes; ++i) first[i + 1] += first[i];
        std::vector<std::uint32_t> next = first;
        for (const MeshSurface::Edge& e : edges) {
            link[next[e.a]++] = {e.b, static_cast<float>(e.weight)};
            link[next[e.b]++] = {e.a, static_cast<float>(e.weight)};
        }
    }
};

/// Sweeps of Gauss and Seidel over the rows of a level. Blocks of nodes are swept beside each other, and read what
/// the others had before, so the bits do not depend on threads.
void sweep(const HeatSystem& system, const Links& links, const JointSet& set, SetRows& rows, Context* context) {
    constexpr std::size_t block = 4096;
    SetRows before{{},
                   rows.width,
                   std::vector<InfluenceRows::Entry>(rows.entries.size()),
                   std::vector<std::uint32_t>(rows.kept.size())};
    for (int pass = 0; pass < kSweeps; ++pass) {
        std::swap(before, rows);
        parallel_chunks(context, system.nodes(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                RowSum sum;
                auto diagonal = static_cast<float>(system.mh[i]);
                for (const auto& [slot, value] : system.sources(i))
                    sum.add(set.joints[slot], static_cast<float>(value));
                for (std::uint32_t k = links.first[i]; k < links.first[i + 1]; ++k) {
                    const auto [to, weight] = links.link[k];
                    diagonal += weight;
                    for (const auto& [w, joint] : row_of(to >= begin && to < i ? rows : before, to))
                        sum.add(joint, weight * w);
                }
                rows.kept[i] =
                    sum.store(diagonal > 0 ? 1 / diagonal : 0, rows.entries.data() + i * rows.width, rows.width);
            }
        });
    }
}

/// M H p - (L + M H) w, the system for what is missing from the rows.
HeatSystem residual(const HeatSystem& system, const Links& links, const JointSet& set, const SetRows& rows,
                    Context* context) {
    SetRows sums{{},
                 rows.width,
                 std::vector<InfluenceRows::Entry>(rows.entries.size()),
                 std::vector<std::uint32_t>(rows.kept.size())};
    parallel_for(context, system.nodes(), 1024, [&](std::size_t i) {
        RowSum sum;
        auto diagonal = static_cast<float>(system.mh[i]);
        for (const auto& [slot, value] : system.sources(i)) sum.add(set.joints[slot], static_cast<float>(value));
        for (std::uint32_t k = links.first[i]; k < links.first[i + 1]; ++k) {
            const auto [to, weight] = links.link[k];
            diagonal += weight;
            for (const auto& [w, joint] : row_of(rows, to)) sum.add(joint, weight * w);
        }
        for (const auto& [w, joint] : row_of(rows, i)) sum.add(joint, -diagonal * w);
        InfluenceRows::Entry* const row = sums.entries.data() + i * sums.width;
        sums.kept[i] = sum.store(1, row, sums.width);
        std::sort(row, row + sums.kept[i], [](const auto& x, const auto& y) { return x.second < y.second; });
    });
    HeatSystem out{system.l, system.mh, {0}, {}};
    for (std::size_t i = 0; i < system.nodes(); ++i) {
        for (const auto& [value, joint] : row_of(sums, i)) {
            const auto slot = std::lower_bound(set.joints.begin(), set.joints.end(), joint) - set.joints.begin();
            out.mhp.push_back({static_cast<std::uint32_t>(slot), static_cast<double>(value)});
        }
        out.first.push_back(static_cast<std::uint32_t>(out.mhp.size()));
    }
    return out;
}

void add_rows(SetRows& rows, const SetRows& more, Context* context) {
    parallel_for(context, rows.kept.size(), 1024, [&](std::size_t i) {
        RowSum sum;
        for (const auto& [w, joint] : row_of(rows, i)) sum.add(joint, w);
        for (const auto& [w, joint] : row_of(more, i)) sum.add(joint, w);
        rows.kept[i] = sum.store(1, rows.entries.data() + i * rows.width, rows.width);
    });
}

/// Rows of the vertices from those of the unknowns. Corrections may leave small negative values.
void spread_rows(const MeshSurface& surface, const Unknowns& unknowns, const SetRows& from, SetRows& rows) {
    rows.entries.resize(rows.vertices.size() * rows.width);
    rows.kept.assign(rows.vertices.size(), 0);
    for (std::size_t i = 0; i < rows.vertices.size(); ++i)
        for (const auto& entry : row_of(from, unknowns.of_node[surface.node_of[rows.vertices[i]]]))
            if (entry.first > 0 && rows.kept[i] < rows.width) rows.entries[i * rows.width + rows.kept[i]++] = entry;
}

/// Solves at the coarsest level, and goes down to the finest. Then what is missing at the finest level is solved in
/// the same way and added.
Result<SetRows> solve_levels(const Task& task, const MeshSurface& surface, const JointSet& set,
                             const Unknowns& unknowns, const Heat& heat, const std::vector<double>& mh,
                             SetRows rows) {
    const std::size_t levels = heat.levels.size();
    std::vector<HeatSystem> systems{system_at(heat.levels[0].edges, heat, mh)};
    std::vector<Links> links;
    for (std::size_t k = 0; k + 1 < levels; ++k) {
        systems.push_back(restrict_system(systems[k], heat.levels[k + 1]));
        links.emplace_back(systems[k].l, systems[k].nodes());
    }
    const HeatSystem& coarsest = systems.back();
    SINEW_TRY_LET(const Cholesky factors, Cholesky::factor(coarsest.nodes(), entries_of(coarsest), task.context));
    std::vector<std::uint32_t> all(coarsest.nodes());
    std::iota(all.begin(), all.end(), 0u);
    const auto descend = [&]() -> Result<SetRows> {
        SetRows own{{}, std::min(kCoarseWidth, set.joints.size()), {}, {}};
        SINEW_TRY(solve(task, set, systems.back(), factors, all, own));
        for (std::size_t k = levels - 1; k > 0 && !cancelled(task.context); --k) {
            own = interpolate(heat.levels[k], own, task.context);
            sweep(systems[k - 1], links[k - 1], set, own, task.context);
        }
        if (cancelled(task.context)) return heat_cancelled();
        return own;
    };
    SINEW_TRY_LET(SetRows finest, descend());
    for (int cycle = 0; cycle < kCorrections && levels > 1; ++cycle) {
        const HeatSystem whole = systems[0];
        systems[0] = residual(systems[0], links[0], set, finest, task.context);
        for (std::size_t k = 0; k + 1 < levels; ++k)
            systems[k + 1] = restrict_system(systems[k], heat.levels[k + 1]);
        SINEW_TRY_LET(const SetRows missing, descend());
        add_rows(finest, missing, task.context);
        systems[0] = whole;
    }
    spread_rows(surface, unknowns, finest, rows);
    return rows;
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
               const InnerVolume* volume, const HeatRules& rules) {
    const Sight sight{task, mesh, set, volume};
    const HeatCases cases(sight, unknowns);
    std::vector<double> mass;
    if (unknowns.size() <= rules.direct) {
        for (const std::uint32_t node : unknowns.node) mass.push_back(mesh.surface.mass[node]);
        return heat_at(cases, unknowns.node, mass, rules.least_visible);
    }
    std::vector<SurfaceLevel> levels = make_levels(sight, unknowns, rules.direct);
    std::vector<std::vector<std::uint32_t>> nodes{unknowns.node};  // of the surface, per level
    for (std::size_t k = 1; k < levels.size(); ++k)
        for (nodes.emplace_back(); const std::uint32_t i : levels[k].finer) nodes[k].push_back(nodes[k - 1][i]);
    std::vector<double> area;
    for (const std::uint32_t node : unknowns.node) area.push_back(mesh.surface.mass[node]);
    for (std::size_t k = 1; k < levels.size(); ++k) {
        std::vector<double> sum(levels[k].nodes(), 0);
        for (std::size_t i = 0; i < area.size(); ++i)
            for (std::size_t c = 0; c < 3; ++c)
                sum[levels[k].stencil[i].of[c]] += static_cast<double>(levels[k].stencil[i].share[c]) * area[i];
        area = std::move(sum);
    }
    Heat heat = heat_at(cases, nodes.back(), area, rules.least_visible);
    std::vector<Sight::NearBones> near_bones(levels.back().nodes());
    std::vector<const Sight::NearBones*> near(near_bones.size());
    parallel_for(task.context, near.size(), 64, [&](std::size_t i) {
        near_bones[i] = sight.near_bones(levels.back().place[i]);
        near[i] = &near_bones[i];
    });
    for (std::size_t k = levels.size() - 1; k > 0 && !cancelled(task.context); --k) {
        refine_heat(cases, nodes[k - 1], levels[k], near, heat);
        std::vector<const Sight::NearBones*> finer;
        for (const SurfaceLevel::Stencil& around : levels[k].stencil) finer.push_back(near[around.of[0]]);
        near = std::move(finer);
    }
    heat.levels = std::move(levels);
    return heat;
}

Result<SetRows> solve_heat(const Task& task, const MeshSurface& surface, const JointSet& set,
                           const Unknowns& unknowns, const Heat& heat, std::size_t least_width) {
    const std::vector<double> mh = mass_times_heat(task, surface, unknowns, heat);
    SetRows rows{unknowns.vertices, std::max(task.width(), std::min(least_width, set.joints.size())), {}, {}};
    if (heat.levels.empty()) {
        std::vector<MeshSurface::Edge> edges;
        for (const MeshSurface::Edge& e : surface.edges)
            if (unknowns.of_node[e.a] != MeshSurface::none)
                edges.push_back({unknowns.of_node[e.a], unknowns.of_node[e.b], e.weight});
        std::vector<std::uint32_t> wanted;
        for (const std::uint32_t v : unknowns.vertices) wanted.push_back(unknowns.of_node[surface.node_of[v]]);
        const HeatSystem system = system_at(edges, heat, mh);
        SINEW_TRY_LET(const Cholesky factors, Cholesky::factor(system.nodes(), entries_of(system), task.context));
        SINEW_TRY(solve(task, set, system, factors, wanted, rows));
        return rows;
    }
    return solve_levels(task, surface, set, unknowns, heat, mh, std::move(rows));
}

WeldedSurface::WeldedSurface(const Task& task)
    : surface(task.clock.run("surface", [&] { return build_surface(task.mesh, task.topology, task.context); })),
      tree(
          task.mesh.positions,
          [&] {
              std::vector<Triangle> welded(task.mesh.triangles.begin(), task.mesh.triangles.end());
              for (Triangle& t : welded)
                  for (std::uint32_t& v : t) v = task.topology.weld[v];
              return welded;
          }(),
          task.context) {}

double surface_solver_memory(const MeshView& mesh, double threads) {
    const auto vertices = static_cast<double>(mesh.positions.size()),
               triangles = static_cast<double>(mesh.triangles.size());
    // Factors, and two batches of heat for each thread; heat and surface, and rows of levels; trees.
    const double solved = std::min(vertices, static_cast<double>(HeatRules{}.direct));
    const double batches = 2 * 8 * Cholesky::kBatch * threads, each = vertices > solved ? 900 : 150;
    return estimate_cholesky_memory(solved, 7) + solved * batches + vertices * each + triangles * 400;
}

}  // namespace sinew
