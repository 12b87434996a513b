// Heat that flows from the bones into the surface and along it: "Automatic Rigging and Animation of 3D Characters"
// (Baran and Popović, SIGGRAPH 2007), section 4. What differs, and why: docs/methods/bone-heat.md. And the same
// where what is hidden asks the volume for its bone, and rigid parts are kept whole: docs/methods/surface-heat.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "bind/bone_shapes.h"
#include "bind/enclosed_joints.h"
#include "bind/lying_parts.h"
#include "bind/method.h"
#include "bind/rigid_parts.h"
#include "bind/volume.h"
#include "core/vectors.h"
#include "domain/trace.h"
#include "solve/cholesky.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"

namespace sinew {
namespace {

// All are shares of the longest side of the mesh.
constexpr double kInward = 1e-5;   // how far below the surface a vertex looks from
constexpr double kSlack = 1e-6;    // what it meets so near to itself or to the bone does not stand in the way
constexpr double kNearest = 1e-4;  // a bone that is nearer heats as if it were this far away
// Bones whose distances differ by less are equally near.
constexpr double kTie = 1e-4;
// A bone that lies in front of the surface counts as this many times as far away.
constexpr double kLeastFacing = 1e-3;
// Keeps the system solvable where bones are very far away; weights of edges are from 1e-4 to 1e3.
constexpr double kLeastTransfer = 1e-8;
// Heat below this share is none.
constexpr float kLeast = 1e-9f;

// surface-heat alone.
// Joints whose distances through the volume differ by less are equally near: they are known to that accuracy.
constexpr double kVolumeTie = 1e-3;
// HeatRules::gap is no less than so many voxels.
constexpr double kGapVoxels = 1;
// A part with more of the surface is the character itself.
constexpr double kWhole = 0.5;

// A segment, and the place of its joint in the set.
struct Segment {
    Point3 a, b;
    std::uint32_t slot;
    bool open_head, open_tail;  // something else lies beyond
    BoneSpace space;
};

// What heats one node.
struct Sources {
    static constexpr std::size_t most = 8;  // that are equally near
    std::array<std::uint32_t, most> slot;   // ascending
    std::uint32_t count = 0;
    double distance = 0;
    double share = 1;  // of the heat that they would give if they were seen

    void add(std::uint32_t joint) {
        const auto end = slot.begin() + count;
        if (count < most && std::find(slot.begin(), end, joint) == end) {
            slot[count++] = joint;
            std::sort(slot.begin(), slot.begin() + count);
        }
    }
};

// What surface-heat knows of the inside.
struct Inside {
    const Domain& domain;
    DistanceRows distances;
    const std::vector<SurfacePart>* parts = nullptr;
    const EnclosedJoints* enclosed = nullptr;
    double least_gap = HeatRules{}.gap;

    /// Whether the straight way from a to b leads through the volume, but for a small gap. O(steps x levels).
    bool joins(const Point3& a, const Point3& b) const {
        const Point3 from = to_voxels(domain.transform, a), to = to_voxels(domain.transform, b);
        const double length = norm(to - from);
        if (!(length < 4 * domain.transform.resolution)) return false;  // a bone far outside
        const double gap = std::max(least_gap * domain.transform.unit / domain.transform.voxel, kGapVoxels);
        const int steps = 1 + static_cast<int>(2 * length);  // half voxels
        int outside = 0;
        for (int i = 0; i <= steps; ++i) {
            const double t = static_cast<double>(i) / steps;
            outside += !solid_voxel((1 - t) * from + t * to);
            if (outside > 2 * gap) return false;
        }
        return true;
    }

    /// Whether a place is in the volume. O(levels).
    bool solid(const Point3& p) const { return solid_voxel(to_voxels(domain.transform, p)); }

private:
    bool solid_voxel(const Point3& p) const {
        const bool in_grid =
            std::min({p[0], p[1], p[2]}) >= 0 && std::max({p[0], p[1], p[2]}) < domain.transform.resolution;
        return in_grid && domain.leaf_at(static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2])) !=
                              Domain::none;
    }
};

class BoneHeat {
public:
    /// `inside`: for surface-heat; else null.
    BoneHeat(const Task& task, const MeshSurface& surface, const TriangleTree& tree, const Inside* inside,
             InfluenceRows& rows)
        : task_(task), surface_(surface), tree_(tree), inside_(inside), rows_(rows) {}

    /// Fills the rows of one set.
    Status fill(const JointSet& set) {
        std::vector<std::uint32_t> inside;  // vertices on the surface
        for (const std::uint32_t v : set.vertices)
            if (surface_.node_of[v] != MeshSurface::none)
                inside.push_back(v);
            else
                nearest_joint(v, set);
        if (inside.empty()) return Done{};
        if (set.joints.size() == 1) {
            InfluenceRows::Entry all{1.0f, set.joints[0]};
            for (const std::uint32_t v : inside)
                rows_.store(v, {&all, 1}, set.idle ? Coverage::euclidean : Coverage::weighted);
            return Done{};
        }
        choose_nodes(inside);
        find_sources(set);
        if (cancelled(task_.context)) return stopped();
        return solve(set, inside);
    }

    std::size_t blind_parts() const { return blind_parts_; }
    std::size_t blind_vertices() const { return blind_vertices_; }

private:
    static Error stopped() { return {ErrorCode::cancelled, "cancelled while heat spreads"}; }

    Point3 place(std::uint32_t vertex) const { return to_point(task_.mesh.positions[vertex]); }

    /// A vertex of no triangle, which nobody sees.
    void nearest_joint(std::uint32_t vertex, const JointSet& set) {
        InfluenceRows::Entry nearest{1.0f, set.joints[0]};
        double best = INFINITY;
        for (const std::uint32_t j : set.joints)
            if (const double d = norm(to_point(task_.skeleton.joints[j].position) - place(vertex)); d < best)
                best = d, nearest.second = j;
        rows_.store(vertex, {&nearest, 1}, Coverage::unused);
    }

    /// The nodes of all parts in which the set has a vertex: heat flows through what other skins own, too.
    void choose_nodes(const std::vector<std::uint32_t>& inside) {
        std::vector<bool> touched(surface_.components, false);
        for (const std::uint32_t v : inside) touched[surface_.component[surface_.node_of[v]]] = true;
        local_.assign(surface_.nodes(), MeshSurface::none);
        nodes_.clear();
        for (std::uint32_t node = 0; node < surface_.nodes(); ++node)
            if (touched[surface_.component[node]]) {
                local_[node] = static_cast<std::uint32_t>(nodes_.size());
                nodes_.push_back(node);
            }
    }

    /// The nearest bones of each node that sees them; in parts that see (almost) none, of every node.
    void find_sources(const JointSet& set) {
        std::vector<Segment> segments;
        for (std::uint32_t slot = 0; slot < set.joints.size(); ++slot) {
            const std::uint32_t joint = set.joints[slot];
            bool any = false;
            for (const Bone& bone : task_.bones)
                if (bone.joint == joint) {
                    segments.push_back({to_point(bone.head), to_point(bone.tail), slot, bone.open_head,
                                        bone.open_tail, BoneSpace(bone)});
                    any = true;
                }
            // Idle joints own no bone; where a skin has nothing else they still serve, as points.
            const Vec3& spot = task_.skeleton.joints[joint].position;
            if (!any)
                segments.push_back(
                    {to_point(spot), to_point(spot), slot, false, false, BoneSpace({joint, spot, spot})});
        }
        sources_.assign(nodes_.size(), {});
        by_volume_.assign(nodes_.size(), false);
        parallel_chunks(task_.context, nodes_.size(), 256, [&](std::size_t, std::size_t begin, std::size_t end) {
            if (cancelled(task_.context)) return;
            std::vector<double> distance;
            for (std::size_t i = begin; i < end; ++i)
                sources_[i] = nearest(nodes_[i], segments, set.joints, true, distance);
        });
        std::vector<double> seen(surface_.components, 0), all(surface_.components, 0);  // area
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            all[surface_.component[nodes_[i]]] += surface_.mass[nodes_[i]];
            if (sources_[i].count) seen[surface_.component[nodes_[i]]] += surface_.mass[nodes_[i]];
        }
        blind_.assign(surface_.components, false);
        for (std::uint32_t c = 0; c < surface_.components; ++c) blind_[c] = seen[c] < task_.rules.seeing * all[c];
        std::vector<bool> counted(surface_.components, false);
        for (const std::uint32_t node : nodes_) {
            const std::uint32_t part = surface_.component[node];
            if (blind_[part] && !counted[part]) ++blind_parts_;
            counted[part] = counted[part] || blind_[part];
        }
        if (inside_) find_hidden_sources(set);
        parallel_chunks(task_.context, nodes_.size(), 256, [&](std::size_t, std::size_t begin, std::size_t end) {
            if (cancelled(task_.context)) return;
            std::vector<double> distance;
            for (std::size_t i = begin; i < end; ++i)
                if (blind_[surface_.component[nodes_[i]]] && !by_volume_[i])
                    sources_[i] = nearest(nodes_[i], segments, set.joints, false, distance);
        });
    }

    /// Of what sees nothing, and of parts that see (almost) nothing: the joints that are nearest through the
    /// volume.
    void find_hidden_sources(const JointSet& set) {
        std::vector<std::uint32_t> vertex_at(surface_.nodes(), MeshSurface::none);
        for (const std::uint32_t v : set.vertices)
            if (surface_.node_of[v] != MeshSurface::none) vertex_at[surface_.node_of[v]] = v;
        const DistanceTable& table = inside_->distances.table;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const std::uint32_t v = vertex_at[nodes_[i]];
            const bool blind = blind_[surface_.component[nodes_[i]]];
            if (v == MeshSurface::none || !(blind || sources_[i].count == 0)) continue;
            const std::size_t first = v * table.width;
            Sources found;
            found.share = blind ? 1 : task_.rules.hidden;
            const std::uint32_t part = surface_.component[nodes_[i]];
            for (std::size_t k = first; k < first + table.width && table.joint[k] != DistanceTable::none; ++k) {
                if (inside_->enclosed->apart(table.joint[k], part, place(v))) continue;
                if (found.count == 0) found.distance = static_cast<double>(table.distance[k]);
                if (static_cast<double>(table.distance[k]) > found.distance * (1 + kVolumeTie)) break;
                const auto at = std::lower_bound(set.joints.begin(), set.joints.end(), table.joint[k]);
                found.add(static_cast<std::uint32_t>(at - set.joints.begin()));
            }
            if (found.count == 0) continue;
            sources_[i] = found;
            by_volume_[i] = true;
        }
    }

    /// The bones that are nearest to a node, if it sees them.
    Sources nearest(std::uint32_t node, const std::vector<Segment>& segments,
                    const std::vector<std::uint32_t>& joints, bool must_see, std::vector<double>& distance) const {
        const Point3 p = place(surface_.vertex_of[node]);
        distance.clear();
        for (const Segment& segment : segments) distance.push_back(distance_to(p, node, segment));
        Sources found;
        found.distance = *std::min_element(distance.begin(), distance.end());
        // Of what lies in parts of their own the next is asked for.
        while (inside_ && found.distance < INFINITY) {
            const auto at = std::find(distance.begin(), distance.end(), found.distance) - distance.begin();
            const std::uint32_t slot = segments[static_cast<std::size_t>(at)].slot;
            if (!inside_->enclosed->apart(joints[slot], surface_.component[node], p)) break;
            for (std::size_t s = 0; s < segments.size(); ++s)
                if (segments[s].slot == slot) distance[s] = INFINITY;
            found.distance = *std::min_element(distance.begin(), distance.end());
        }
        if (found.distance == INFINITY) return {};
        for (std::size_t s = 0; s < segments.size(); ++s)
            if (distance[s] <= found.distance * (1 + kTie) && (!must_see || sees(p, node, segments[s])))
                found.add(segments[s].slot);
        return found;
    }

    /// Straight, longer beyond open ends, and longer the less the bone lies below the surface.
    double distance_to(const Point3& p, std::uint32_t node, const Segment& segment) const {
        const SegmentPosition at = segment_distance(segment.a, segment.b, p);
        double beyond = 0;
        if (segment.open_head) beyond = std::max(beyond, -at.along);
        if (segment.open_tail) beyond = std::max(beyond, at.along - at.length);
        double facing = 1;
        const Point3& normal = surface_.normal[node];
        if (at.distance > 0 && dot(normal, normal) > 0) {
            const double cosine = dot(p - point_of(segment, at), normal) / at.distance;
            facing = std::max((1 + cosine) / 2, kLeastFacing);
        }
        beyond = std::max(0.0, beyond - segment.space.radius());
        return segment.space.distance(p) / facing + task_.options.overshoot * beyond;
    }

    static Point3 point_of(const Segment& segment, const SegmentPosition& at) {
        const double t = at.length > 0 ? std::clamp(at.along / at.length, 0.0, 1.0) : 0;
        return (1 - t) * segment.a + t * segment.b;
    }

    bool sees(const Point3& p, std::uint32_t node, const Segment& segment) const {
        if (segment.space.signed_distance(p) < 0) return true;  // within its shape
        const double unit = task_.unit;
        const Point3 from = p - (kInward * unit) * surface_.normal[node];
        const Point3 to = point_of(segment, segment_distance(segment.a, segment.b, p));
        return !tree_.blocked(from, to, surface_.vertex_of[node], kSlack * unit) &&
               (!inside_ || inside_->joins(from, to));
    }

    /// (L + M H) w = M H p for every joint, eight at a time.
    Status solve(const JointSet& set, const std::vector<std::uint32_t>& inside) {
        constexpr std::size_t batch = Cholesky::kBatch;
        std::vector<MatrixEntry> entries;
        std::vector<double> heat(nodes_.size(), 0);  // M H, of each source alike
        std::vector<bool> heated(set.joints.size(), false);
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            const Sources& s = sources_[i];
            if (s.count == 0) continue;
            const double d = std::max(s.distance, kNearest * task_.unit);
            const double given = s.share * task_.options.heat_transfer;
            heat[i] = std::max(given * surface_.mass[nodes_[i]] / (d * d), kLeastTransfer);
            entries.push_back({i, i, heat[i] * s.count});
            for (std::uint32_t k = 0; k < s.count; ++k) heated[s.slot[k]] = true;
        }
        for (const MeshSurface::Edge& e : surface_.edges) {
            const std::uint32_t a = local_[e.a], b = local_[e.b];
            if (a == MeshSurface::none) continue;
            entries.push_back({a, b, -e.weight});
            entries.push_back({a, a, e.weight});
            entries.push_back({b, b, e.weight});
        }
        Result<Cholesky> factors = Cholesky::factor(nodes_.size(), entries, task_.context);
        if (!factors) return factors.error();
        entries = {};

        std::vector<std::uint32_t> hot;  // slots
        for (std::uint32_t slot = 0; slot < heated.size(); ++slot)
            if (heated[slot]) hot.push_back(slot);
        // The strongest joints of every vertex, sorted; what a later batch brings is merged in. The order is total,
        // so the outcome does not depend on how joints are dealt to batches and rounds.
        const std::size_t width = rows_.table.width;
        std::vector<InfluenceRows::Entry> strongest(inside.size() * width);
        std::vector<std::uint32_t> kept(inside.size(), 0);
        const std::size_t together = static_cast<std::size_t>(thread_count(task_.context));
        std::vector<std::vector<double>> field(together);
        for (std::size_t first = 0; first < hot.size(); first += together * batch) {
            const std::size_t left = hot.size() - first, batches = std::min(together, (left + batch - 1) / batch);
            parallel_for(task_.context, batches, 1, [&](std::size_t b) {
                field[b].assign(nodes_.size() * batch, 0);
                const std::size_t begin = first + b * batch, end = std::min(begin + batch, hot.size());
                for (std::size_t i = 0; i < nodes_.size(); ++i) {
                    const Sources& s = sources_[i];
                    for (std::uint32_t k = 0; k < s.count; ++k) {
                        const auto at = std::lower_bound(hot.begin(), hot.end(), s.slot[k]) - hot.begin();
                        const auto column = static_cast<std::size_t>(at);
                        if (column >= begin && column < end) field[b][i * batch + column - begin] = heat[i];
                    }
                }
                factors->solve_batch(field[b]);
            });
            parallel_for(task_.context, inside.size(), 1024, [&](std::size_t i) {
                const std::uint32_t node = local_[surface_.node_of[inside[i]]];
                InfluenceRows::Entry* const row = strongest.data() + i * width;
                for (std::size_t c = 0; c < std::min(left, batches * batch); ++c) {
                    const auto w = static_cast<float>(field[c / batch][node * batch + c % batch]);
                    if (!(w > kLeast)) continue;
                    // Joints come in rising order, so an equal one that is there stays ahead.
                    std::uint32_t at = kept[i];
                    if (at == width) {
                        if (!(w > row[width - 1].first)) continue;
                        --at;
                    } else {
                        ++kept[i];
                    }
                    for (; at > 0 && row[at - 1].first < w; --at) row[at] = row[at - 1];
                    row[at] = {w, set.joints[hot[first + c]]};
                }
            });
            if (cancelled(task_.context)) return stopped();
            report_progress(task_.context, "heat", static_cast<double>(first) / static_cast<double>(hot.size()));
        }
        field = {};
        if (inside_) settle_parts(set, {inside, width, strongest, kept});
        if (cancelled(task_.context)) return stopped();
        for (std::size_t i = 0; i < inside.size(); ++i) {
            bool blind = blind_[surface_.component[surface_.node_of[inside[i]]]];
            blind_vertices_ += blind;
            const Coverage volume = inside_ ? inside_->distances.coverage[inside[i]] : Coverage::bridged;
            blind = blind && volume != Coverage::weighted;
            const Coverage how = set.idle                      ? Coverage::euclidean
                                 : !blind                      ? Coverage::weighted
                                 : volume == Coverage::outside ? Coverage::outside
                                                               : Coverage::bridged;
            rows_.store(inside[i], {strongest.data() + i * width, kept[i]}, how);
        }
        return Done{};
    }

    /// Gives parts that follow one joint to it alone, and parts without bones to what they lie on.
    void settle_parts(const JointSet& set, RowsAtWork rows) const {
        const auto part_of = [&](std::uint32_t vertex) { return surface_.component[surface_.node_of[vertex]]; };
        PartFacts facts{std::vector<double>(surface_.components, 0),
                        std::vector<std::uint32_t>(surface_.components, DistanceTable::none),
                        {}};
        std::vector<std::map<std::uint32_t, double>> weight(surface_.components);
        double whole = 0;
        for (std::size_t i = 0; i < rows.vertices.size(); ++i) {
            const std::uint32_t part = part_of(rows.vertices[i]);
            const double mass = surface_.mass[surface_.node_of[rows.vertices[i]]];
            double sum = 0;
            for (std::size_t k = 0; k < rows.kept[i]; ++k)
                sum += static_cast<double>(rows.entries[i * rows.width + k].first);
            for (std::size_t k = 0; k < rows.kept[i]; ++k) {
                const auto& [heat, joint] = rows.entries[i * rows.width + k];
                weight[part][joint] += mass * static_cast<double>(heat) / sum;
            }
            facts.area[part] += mass;
            whole += mass;
        }
        std::vector<Bone> bones;
        for (const Bone& bone : task_.bones)
            if (std::binary_search(set.joints.begin(), set.joints.end(), bone.joint)) bones.push_back(bone);
        const PartRules& rules = task_.rules.parts;
        std::vector<std::uint8_t> boneless(surface_.components, 0);
        parallel_for(task_.context, surface_.components, 1, [&](std::size_t part) {
            const double area = facts.area[part];
            if (area == 0 || area > kWhole * whole || cancelled(task_.context)) return;
            const SurfacePart& shape = (*inside_->parts)[part];
            const std::vector<JointShare> within = bones_within(task_.mesh, shape, bones);
            boneless[part] = within.empty();
            std::uint32_t& joint = facts.whose[part];
            joint = bone_of_part(within, rules);
            if (joint != DistanceTable::none) return;
            std::vector<JointShare> shares;
            for (const auto& [of, sum] : weight[part]) shares.push_back({of, sum / area});
            joint = rigid_joint(task_.mesh, task_.skeleton, shape.triangles, shares, rules);
        });
        facts.boneless.assign(boneless.begin(), boneless.end());
        for (std::size_t i = 0; i < rows.vertices.size(); ++i)
            if (const std::uint32_t joint = facts.whose[part_of(rows.vertices[i])]; joint != DistanceTable::none) {
                rows.entries[i * rows.width] = {1.0f, joint};
                rows.kept[i] = 1;
            }
        carry_parts(task_.mesh, surface_, tree_, task_.unit, rules, task_.context, facts, rows);
    }

    const Task& task_;
    const MeshSurface& surface_;
    const TriangleTree& tree_;
    const Inside* const inside_;
    InfluenceRows& rows_;
    std::size_t blind_parts_ = 0, blind_vertices_ = 0;
    // Of the set at hand.
    std::vector<std::uint32_t> nodes_, local_;  // surface nodes that take part; their numbers there
    std::vector<Sources> sources_;              // per node that takes part
    std::vector<bool> by_volume_;               // per node that takes part: its sources are from the volume
    std::vector<bool> blind_;                   // per component: (almost) none of it sees its bones
};

}  // namespace

double surface_solver_memory(const MeshView& mesh, double threads) {
    const auto vertices = static_cast<double>(mesh.positions.size()),
               triangles = static_cast<double>(mesh.triangles.size());
    // Factors; two batches of heat for each thread; sources, trees and surface.
    const double batches = 2 * 8 * Cholesky::kBatch * threads;
    return estimate_cholesky_memory(vertices, 7) + vertices * (batches + 150) + triangles * 400;
}

namespace {

/// Heat over the surface; `inside` as BoneHeat has it. The bones' ends are known.
Result<MethodRows> bind_heat(const Task& task, Inside* inside) {
    const MeshView& mesh = task.mesh;
    const MeshSurface surface = task.clock.run("surface", [&] { return build_surface(mesh, task.topology); });
    std::vector<Triangle> welded(mesh.triangles.begin(), mesh.triangles.end());
    for (Triangle& t : welded)
        for (std::uint32_t& v : t) v = task.topology.weld[v];
    const TriangleTree tree(mesh.positions, welded);

    std::vector<SurfacePart> parts;
    std::optional<EnclosedJoints> enclosed;
    if (inside) {
        parts = split_parts(mesh, surface);
        inside->parts = &parts;
        inside->enclosed = &enclosed.emplace(
            mesh, task.skeleton, task.bones, parts, [&](const Point3& p) { return inside->solid(p); }, task.context,
            task.rules.enclosed);
    }
    InfluenceRows rows(task);
    BoneHeat heat(task, surface, tree, inside, rows);
    const Status filled = task.clock.run("heat", [&]() -> Status {
        for (const JointSet& set : task.plan.sets) {
            if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while heat spreads"};
            if (Status ok = heat.fill(set); !ok) return ok;
        }
        return Done{};
    });
    if (!filled) return filled.error();
    if (!inside && heat.blind_parts() > 0)
        task.report.warnings.push_back(
            std::to_string(heat.blind_parts()) +
            " parts see (almost) nothing of their bones and take the heat of the nearest ones, seen or not (" +
            std::to_string(heat.blind_vertices()) + " vertices)");
    return MethodRows(std::move(rows));
}

}  // namespace

Result<MethodRows> bind_bone_heat(const Task& task) {
    extend_leaf_bones(task);
    return bind_heat(task, nullptr);
}

Result<MethodRows> bind_surface_heat(const Task& task) {
    // The volume is measured as geodesic-voxel does it, with its tails of leaf joints and its overshoot.
    BindOptions options = task.options;
    options.overshoot = preset(Method::geodesic_voxel).overshoot;
    options.finish = {};  // what is hidden asks for the nearest joints, however many are wanted
    const Task within = task.with(task.mesh, task.skeleton, options, task.bones);
    std::optional<Domain> built;
    std::vector<KeptField> fields;
    if (!task.reused) {
        Result<Domain> domain = build_volume(within, Links::compact);
        if (!domain) return domain.error();
        built = std::move(*domain);
    }
    Inside inside{built ? *built : task.reused->volume.domain, DistanceRows(within)};
    inside.least_gap = task.rules.gap;
    const Status measured = task.clock.run("distances", [&]() -> Status {
        if (task.reused) return remeasure_geodesic(within, inside.distances);
        Result<std::vector<KeptField>> kept = measure_geodesic(within, inside.domain, inside.distances);
        if (!kept) return kept.error();
        fields = std::move(*kept);
        return Done{};
    });
    if (!measured) return measured.error();
    if (built && !task.options.keep_volume) built->graph = nullptr;  // nothing spreads any more

    // Straight distances have bones of their own.
    std::vector<Bone> bones = make_bones(task.skeleton);
    const auto joined = [&](const Point3& a, const Point3& b) { return inside.joins(a, b); };
    link_loose_joints(task.skeleton, bones, joined, task.rules.loose_along);
    const std::vector<Point3> ways = look_along_axes(task.skeleton, bones, joined);
    join_mirrored_links(task.skeleton, bones);
    const Task straight = task.with(task.mesh, task.skeleton, task.options, bones);
    extend_leaf_bones(straight, ways);
    Result<MethodRows> rows = bind_heat(straight, &inside);
    if (rows && built && task.options.keep_volume) rows->volume = keep_volume(std::move(*built), std::move(fields));
    return rows;
}

}  // namespace sinew
