#include <algorithm>
#include <cmath>

#include "bind/bone_shapes.h"
#include "bind/bone_tree.h"
#include "bind/heat_equation.h"
#include "bind/surface_heat/inner_volume.h"
#include "core/lists.h"
#include "core/try.h"
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

// Distances between nodes of the coarse surface: this share of the distance d to the nearest bone, within which
// heat changes little; up to kMostGrowth times as much, exp(kGrowth (d' - d) / d), where the bone of another joint
// is at a larger distance d', since nearly all heat is of one joint there; at most this share of the square root of
// the surface's area; and each part keeps about kAcross across. Clusters of radius r have an area of about kDisc
// r².
constexpr double kSpacing = 0.055, kGrowth = 0.4, kMostGrowth = 4;
constexpr double kEven = 0.004;
constexpr double kAcross = 60;
constexpr double kDisc = 1.8;
// Another node takes the bones of the nodes around it only if the cosines to their normals are larger.
constexpr double kAlike = 0.6;
// For each kNearNodes unknowns in a row, which mostly are near each other, the kNearBones nearest bones are stored.
constexpr std::size_t kNearBones = 32, kNearNodes = 32;

/// A bone, and the index of its joint in the set.
struct Segment {
    Point3 a, b;
    std::uint32_t slot;
    bool open_head, open_tail;
    BoneSpace space;

    bool operator==(const Segment&) const = default;
    /// The same line. Shapes around it may differ.
    bool same_place(const Segment& other) const {
        return a == other.a && b == other.b && space.radius() == 0 && other.space.radius() == 0 &&
               !space.is_box() && !other.space.is_box();
    }
    SegmentPosition beside(const Point3& p) const { return space.beside(p); }
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
    const Unknowns& unknowns;
    const InnerVolume* volume;
    std::vector<Segment> segments = segments_of(task, set);
    BoneTree tree{[&] {
        std::vector<BoneSpace> spaces;
        for (const Segment& segment : segments) spaces.push_back(segment.space);
        return BoneTree(spaces);
    }()};

    std::uint32_t part(std::uint32_t node) const { return mesh.surface.component[node]; }
    Point3 place(std::uint32_t node) const { return to_point(mesh.surface.position[node]); }

    /// The straight distance, larger beyond open ends of bones, and larger if the bone is not below the surface.
    double distance(const Point3& p, std::uint32_t node, const Segment& segment) const {
        const SegmentPosition at = segment.beside(p);
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
        return segment.space.distance(p, at) / facing + task.options.overshoot * beyond;
    }

    /// Whether distance() of a bone is larger than `reach`; never of one with a shape. Needs no root and no
    /// division: 2 d / (1 + cosine) > reach where 2 d² - reach d cosine > reach d.
    bool is_farther(const Point3& p, std::uint32_t node, const Segment& segment, double reach) const {
        const Point3& normal = mesh.surface.normal[node];
        if (!segment.space.is_line() || dot(normal, normal) == 0) return false;
        const Point3 way = segment.space.way(p);
        const double square = dot(way, way), least = 2 * square - reach * dot(way, normal);
        const double least_facing = kLeastFacing * reach;
        return least > 0 && least * least > reach * reach * square && square > least_facing * least_facing;
    }

    /// Bones and their distances.
    using Distances = std::vector<std::pair<std::uint32_t, double>>;

    /// The bones that are nearest to a point, for points near it.
    struct NearBones {
        Point3 place;
        struct Near {        // a pair would be cleared
            float straight;  // not more than any distance of two_nearest or find_nearest
            std::uint32_t segment;
            auto operator<=>(const Near&) const = default;
        };
        std::array<Near, kNearBones> bone;  // ascending
        std::size_t count;
    };
    // Per kNearNodes unknowns in a row: of the one in their middle.
    LargeVector<NearBones> near = [&] {
        LargeVector<NearBones> out((unknowns.size() + kNearNodes - 1) / kNearNodes);
        parallel_for(task.context, out.size(), 64, [&](std::size_t i) {
            const std::size_t middle = std::min(i * kNearNodes + kNearNodes / 2, unknowns.size() - 1);
            out[i] = near_bones(place(unknowns.node[middle]));
        });
        return out;
    }();

    NearBones near_bones(const Point3& p) const {
        NearBones out;
        out.place = p;
        out.count = 0;
        const auto reach = [&] { return out.count < kNearBones ? INFINITY : out.bone[kNearBones - 1].straight; };
        tree.visit(p, reach, [&](std::uint32_t s) {
            const SegmentPosition at_bone = segments[s].beside(p);
            const double straight = std::min(segments[s].space.distance(p, at_bone), at_bone.distance);
            const NearBones::Near own{0.9999997f * static_cast<float>(straight), s};
            if (out.count == kNearBones && own > out.bone[kNearBones - 1]) return;
            std::size_t at = out.count < kNearBones ? out.count++ : kNearBones - 1;
            for (; at > 0 && own < out.bone[at - 1]; --at) out.bone[at] = out.bone[at - 1];
            out.bone[at] = own;
        });
        return out;
    }

    /// Calls look(bone) for all bones that may be nearer to a node than reach(), a length that may shrink
    /// meanwhile; for some of them twice. A distance differs from the one at a place nearby by no more than the way
    /// from there.
    template <typename Reach, typename Look>
    void visit(std::uint32_t node, const Reach& reach, const Look& look) const {
        const Point3 p = place(node);
        const NearBones& known = near[unknowns.of_node[node] / kNearNodes];
        const double way = norm(p - known.place);
        for (std::size_t k = 0; k < known.count; ++k) {
            const auto& [straight, s] = known.bone[k];
            if (static_cast<double>(straight) - way > reach()) return;
            look(s);
        }
        if (known.count < segments.size()) tree.visit(p, reach, look);
    }

    /// The straight distances of the nearest bone, and of the nearest one of another joint, or a larger number than
    /// `most` times the first.
    std::pair<double, double> two_nearest(std::uint32_t node, double most) const {
        const Point3 p = place(node);
        double nearest = INFINITY, other = INFINITY;
        std::uint32_t own = no_index;
        const auto reach = [&] { return std::min(other, most * nearest); };
        visit(node, reach, [&](std::uint32_t s) {
            const std::uint32_t slot = segments[s].slot;
            const double d = segments[s].beside(p).distance;
            if (slot != own) other = std::min(other, std::max(d, nearest));
            if (d < nearest) nearest = d, own = slot;
        });
        return {nearest, other};
    }

    /// The joints whose bones are nearest to a node, visible or not, or nothing if they are not all `seen`.
    /// `bones`: scratch.
    template <typename IsSeen>
    std::optional<NodeHeat> nearest_seen(std::uint32_t node, const IsSeen& seen, Distances& bones) const {
        NodeHeat out;
        out.distance = find_nearest(node, {}, bones);
        for (const auto& [s, distance] : bones) {
            if (distance > (1 + kTie) * out.distance) continue;
            if (!seen(segments[s].slot)) return {};
            out.add(segments[s].slot);
        }
        return out;
    }

    bool is_visible(const Point3& p, std::uint32_t node, const Segment& segment) const {
        if (segment.space.signed_distance(p) < 0) return true;  // within its shape
        const double unit = task.unit;
        const Point3 from = p - (kInward * unit) * mesh.surface.normal[node];
        const Point3 to = segment.point_of(segment.beside(p));
        return !mesh.tree.blocked(from, to, node, kSlack * unit) &&
               (!volume || volume->is_clear(part(node), from, to));
    }

    /// Finds all bones that are as near as the nearest one, and maybe others; not those of these joints. Returns
    /// the distance of the nearest.
    double find_nearest(std::uint32_t node, const std::vector<std::uint32_t>& without, Distances& found) const {
        found.clear();
        const Point3 p = place(node);
        double least = INFINITY;
        const auto reach = [&] { return least * (1 + 2 * kTie); };
        visit(node, reach, [&](std::uint32_t s) {
            if (is_farther(p, node, segments[s], reach())) return;
            if (std::find(without.begin(), without.end(), segments[s].slot) != without.end()) return;
            found.emplace_back(s, distance(p, node, segments[s]));
            least = std::min(least, found.back().second);
        });
        return least;
    }

    /// The bones that are nearest to a node; with `must_see` only visible ones. `bones`: scratch.
    NodeHeat nearest(std::uint32_t node, bool must_see, Distances& bones) const {
        const Point3 p = place(node);
        NodeHeat found;
        std::vector<std::uint32_t> excluded;  // slots
        for (;;) {
            found.distance = find_nearest(node, excluded, bones);
            std::sort(bones.begin(), bones.end());
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

}  // namespace

/// What each unknown sees of some bones.
struct KeptSight {
    std::vector<Segment> segments;
    std::vector<EnclosedJoints::Enclosure> enclosures;
    LargeVector<NodeHeat> visible;
};

namespace {

std::vector<EnclosedJoints::Enclosure> enclosures_of(const InnerVolume* volume) {
    return volume ? volume->enclosures() : std::vector<EnclosedJoints::Enclosure>();
}

/// Nodes that see what they saw before some bones were changed: none of these is, or was, as near as the nearest
/// one.
class SameSight {
public:
    /// Keeps references. `before`: of the same mesh and set, or null.
    SameSight(const Sight& now, const KeptSight* before) : now_(now) {
        if (!before || before->segments.size() != now.segments.size() ||
            before->enclosures != enclosures_of(now.volume))
            return;
        before_ = before;
        for (std::size_t s = 0; s < now.segments.size(); ++s)
            if (!(now.segments[s] == before->segments[s]))
                changed_.insert(changed_.end(), {before->segments[s], now.segments[s]});
        std::vector<BoneSpace> spaces;
        for (const Segment& segment : changed_) spaces.push_back(segment.space);
        tree_ = BoneTree(spaces);
    }
    /// What an unknown sees, or null if it has to look.
    const NodeHeat* find(std::size_t unknown, std::uint32_t node) const {
        if (!before_) return nullptr;
        const NodeHeat& found = before_->visible[unknown];
        const double reach = found.distance * (1 + kTie);
        if (!(reach > 0)) return nullptr;
        const Point3 p = now_.place(node);
        bool same = true;
        tree_.visit(
            p, [&] { return same ? reach : -1; },
            [&](std::uint32_t s) { same = same && now_.distance(p, node, changed_[s]) > reach; });
        return same ? &found : nullptr;
    }

private:
    const Sight& now_;
    const KeptSight* before_ = nullptr;
    std::vector<Segment> changed_;
    BoneTree tree_{{}};
};

/// Parts of which a smaller share of the area sees bones. `mass`: of each node, of which `visible` is known.
std::vector<bool> find_occluded(const MeshSurface& surface, std::span<const std::uint32_t> nodes,
                                std::span<const double> mass, std::span<const NodeHeat> visible,
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

/// work(i, scratch) of each node; no heat after a cancellation.
template <typename Work>
LargeVector<NodeHeat> heat_of_each(Context* context, std::size_t count, const Work& work) {
    LargeVector<NodeHeat> out(count);
    parallel_chunks(context, count, 256, [&](std::size_t, std::size_t begin, std::size_t end) {
        const bool stop = cancelled(context);
        Sight::Distances scratch;
        for (std::size_t i = begin; i < end; ++i) out[i] = stop ? NodeHeat{} : work(i, scratch);
    });
    return out;
}

/// The first case of find_heat at some nodes.
LargeVector<NodeHeat> visible_at(const Sight& sight, std::span<const std::uint32_t> nodes, const SameSight& same) {
    return heat_of_each(sight.task.context, nodes.size(), [&](std::size_t i, auto& scratch) {
        const NodeHeat* const known = same.find(i, nodes[i]);
        return known ? *known : sight.nearest(nodes[i], true, scratch);
    });
}

/// The other cases, at some nodes of which the first is known.
Status add_hidden(const Sight& sight, std::span<const std::uint32_t> nodes, const std::vector<bool>& occluded,
                  LargeVector<NodeHeat>& at) {
    Context* const context = sight.task.context;
    const Unknowns& unknowns = sight.unknowns;
    const std::vector<std::uint32_t> hidden = collect<std::uint32_t>(nodes.size(), 1 << 14, context, [&] {
        return [&](std::vector<std::uint32_t>& out, std::size_t i) {
            if (at[i].count == 0 || occluded[sight.part(nodes[i])]) out.push_back(static_cast<std::uint32_t>(i));
        };
    });
    const auto vertex = [&](std::size_t h) { return unknowns.vertex[unknowns.of_node[nodes[hidden[h]]]]; };
    std::optional<DistanceRows> through;
    if (sight.volume) {
        std::vector<std::uint32_t> vertices(hidden.size());
        for (std::size_t h = 0; h < hidden.size(); ++h)
            vertices[h] = vertex(h) == no_index ? sight.mesh.surface.vertex_of[nodes[hidden[h]]] : vertex(h);
        SINEW_TRY_LET(through, sight.volume->distances(sight.set, vertices));
    }
    LargeVector<NodeHeat> found = heat_of_each(context, hidden.size(), [&](std::size_t h, auto& scratch) {
        const std::uint32_t node = nodes[hidden[h]], part = sight.part(node);
        std::optional<NodeHeat> own;
        if (through && vertex(h) != no_index)
            own = sight.volume->nearest(sight.set, through->table, h, part, sight.place(node), occluded[part]);
        if (!own && occluded[part]) own = sight.nearest(node, false, scratch);
        if (!own) own = at[hidden[h]];
        if (through) own->inside = through->coverage[h];
        return *own;
    });
    for (std::size_t h = 0; h < hidden.size(); ++h) at[hidden[h]] = found[h];
    return Done{};
}

/// All cases at some nodes, and the occluded parts. `visible`: of visible_at. `mass`: the area that each node
/// stands for.
Result<Heat> heat_at(const Sight& sight, std::span<const std::uint32_t> nodes, LargeVector<NodeHeat> visible,
                     std::span<const double> mass, double least_visible) {
    Heat heat{std::move(visible), sight.volume ? sight.volume->hidden_share() : 1, {}, std::nullopt};
    heat.occluded = find_occluded(sight.mesh.surface, nodes, mass, heat.at, least_visible);
    SINEW_TRY(add_hidden(sight, nodes, heat.occluded, heat.at));
    return heat;
}

/// The heat at all unknowns from that at the nodes of the coarse surface.
Result<LargeVector<NodeHeat>> refine_heat(const Sight& sight, const CoarseSurface& coarse, const Heat& heat) {
    const Unknowns& unknowns = sight.unknowns;
    Context* const context = sight.task.context;
    const LargeVector<Point3>& normal = sight.mesh.surface.normal;
    LargeVector<NodeHeat> out = heat_of_each(context, unknowns.size(), [&](std::size_t i, auto& scratch) {
        const std::uint32_t node = unknowns.node[i];
        const CoarseSurface::Stencil around = coarse.stencil(node);
        if (coarse.node(around.of[0]) == node) return heat.at[around.of[0]];
        const auto all = [&](const auto& is) { return std::all_of(around.of.begin(), around.of.end(), is); };
        const bool alike = all([&](std::uint32_t c) { return dot(normal[node], normal[coarse.node(c)]) > kAlike; });
        const auto sees = [&](std::uint32_t c) {
            return heat.at[c].how == NodeHeat::Way::straight && heat.at[c].count > 0;
        };
        const auto seen = [&](std::uint32_t slot) {
            return std::any_of(around.of.begin(), around.of.end(), [&](std::uint32_t c) {
                const auto first = heat.at[c].slot.begin(), last = first + heat.at[c].count;
                return std::find(first, last, slot) != last;
            });
        };
        if (alike && all(sees)) {
            if (const auto same = sight.nearest_seen(node, seen, scratch)) return *same;
        } else if (alike && all([&](std::uint32_t c) { return !sees(c); })) {
            return NodeHeat{};
        }
        return sight.nearest(node, true, scratch);
    });
    SINEW_TRY(add_hidden(sight, unknowns.node, heat.occluded, out));
    return out;
}

CoarseSurface coarse_surface(const Sight& sight, const HeatRules& rules) {
    const Unknowns& unknowns = sight.unknowns;
    const MeshSurface& surface = sight.mesh.surface;
    std::vector<double> part_area(surface.components, 0);
    double area = 0;
    for (const std::uint32_t node : unknowns.node) part_area[sight.part(node)] += surface.mass[node];
    for (const double part : part_area) area += part;
    const double even = kEven * std::sqrt(area);
    const auto spacing = [&](std::uint32_t node) {
        const auto [nearest, other] = sight.two_nearest(node, 1 + std::log(kMostGrowth) / kGrowth);
        const double distance = std::max(nearest, kNearestBone * sight.task.unit);
        const double growth = std::min(std::exp(kGrowth * (other - nearest) / distance), kMostGrowth);
        return std::min({even, kSpacing * distance * growth, std::sqrt(part_area[sight.part(node)]) / kAcross});
    };
    // How many coarse nodes there would be for each node of the surface: at most one.
    constexpr std::size_t each = 16;
    std::vector<double> share(unknowns.size() / each);
    parallel_for(sight.task.context, share.size(), 1024, [&](std::size_t i) {
        const std::uint32_t node = unknowns.node[i * each];
        const double r = spacing(node);
        share[i] = surface.mass[node] / (kDisc * r * r);
    });
    const auto expected = [&](double farther) {
        double sum = 0;
        for (const double one : share) sum += each * std::min(one / (farther * farther), 1.0);
        return sum;
    };
    // Where they would be too few or too many, all of them lie nearer or farther apart.
    const double wanted =
        std::max(std::min(expected(1), static_cast<double>(rules.most)), static_cast<double>(rules.coarse));
    double low = 1e-3, high = 1e3;
    for (int step = 0; step < 20; ++step) {
        const double middle = std::sqrt(low * high);
        (expected(middle) > wanted ? low : high) = middle;
    }
    const double farther = high;
    return CoarseSurface(
        sight.task.mesh, surface, unknowns.node, [&](std::uint32_t node) { return farther * spacing(node); },
        sight.task.context);
}

}  // namespace

void NodeHeat::add(std::uint32_t joint) {
    const auto end = slot.begin() + count;
    if (count < most && std::find(slot.begin(), end, joint) == end) {
        slot[count++] = static_cast<std::uint16_t>(joint);
        std::sort(slot.begin(), slot.begin() + count);
    }
}

Result<Heat> find_heat(const Task& task, const WeldedSurface& mesh, const JointSet& set, const Unknowns& unknowns,
                       const InnerVolume* volume, KeptHeat::Set& kept, const HeatRules& rules) {
    const Sight sight{task, mesh, set, unknowns, volume};
    if (unknowns.size() <= rules.direct) {
        std::vector<double> area;
        for (const std::uint32_t node : unknowns.node) area.push_back(mesh.surface.mass[node]);
        LargeVector<NodeHeat> visible = visible_at(sight, unknowns.node, SameSight(sight, kept.sight.get()));
        if (task.options.keep_volume)
            kept.sight =
                std::make_shared<const KeptSight>(KeptSight{sight.segments, enclosures_of(volume), visible});
        return heat_at(sight, unknowns.node, std::move(visible), area, rules.least_visible);
    }
    CoarseSurface coarse = coarse_surface(sight, rules);
    kept.sight.reset();
    SINEW_TRY_LET(Heat heat,
                  heat_at(sight, coarse.nodes(), visible_at(sight, coarse.nodes(), SameSight(sight, nullptr)),
                          coarse.restricted(mesh.surface.mass, task.context), rules.least_visible));
    SINEW_TRY_LET(heat.at, refine_heat(sight, coarse, heat));
    heat.coarse = std::move(coarse);
    return heat;
}

}  // namespace sinew
