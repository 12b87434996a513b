#include "bind/surface_diffusion.h"

#include <algorithm>
#include <cmath>

#include "bind/bone_shapes.h"
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
constexpr double kLeastTransfer = 1e-8;
// Smaller strengths count as 0.
constexpr float kLeast = 1e-9f;

Error stopped() { return {ErrorCode::cancelled, "cancelled while heat spreads"}; }

}  // namespace

void HeatSources::add(std::uint32_t joint) {
    const auto end = slot.begin() + count;
    if (count < most && std::find(slot.begin(), end, joint) == end) {
        slot[count++] = joint;
        std::sort(slot.begin(), slot.begin() + count);
    }
}

bool HeatPolicy::excludes(std::uint32_t, std::uint32_t, const Point3&) const { return false; }
bool HeatPolicy::is_clear(std::uint32_t, const Point3&, const Point3&) const { return true; }
std::optional<HeatSources> HeatPolicy::hidden_sources(const JointSet&, std::uint32_t, std::uint32_t, bool) const {
    return std::nullopt;
}
std::size_t HeatPolicy::least_width() const { return 0; }
void HeatPolicy::adjust_rows(const JointSet&, SetRows) const {}
Coverage HeatPolicy::coverage(std::uint32_t, bool blind) const {
    return blind ? Coverage::bridged : Coverage::weighted;
}

/// A bone, and the index of its joint in the set.
struct SurfaceDiffusion::Segment {
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

Status SurfaceDiffusion::fill(const JointSet& set) {
    std::vector<std::uint32_t> on_surface;  // vertices on the surface
    for (const std::uint32_t v : set.vertices)
        if (surface_.node_of[v] != MeshSurface::none)
            on_surface.push_back(v);
        else
            fill_unused(v, set);
    if (on_surface.empty()) return Done{};
    if (set.joints.size() == 1) {
        InfluenceRows::Entry all{1.0f, set.joints[0]};
        for (const std::uint32_t v : on_surface)
            rows_.store(v, {&all, 1}, set.idle ? Coverage::euclidean : Coverage::weighted);
        return Done{};
    }
    choose_nodes(on_surface);
    find_sources(set);
    if (cancelled(task_.context)) return stopped();
    return solve(set, on_surface);
}

Status SurfaceDiffusion::fill_all() {
    return task_.clock.run("heat", [&]() -> Status {
        for (const JointSet& set : task_.plan.sets) {
            if (cancelled(task_.context)) return stopped();
            if (Status ok = fill(set); !ok) return ok;
        }
        return Done{};
    });
}

/// A vertex of no triangle is invisible: the nearest joint gets all its weight.
void SurfaceDiffusion::fill_unused(std::uint32_t vertex, const JointSet& set) {
    InfluenceRows::Entry nearest{1.0f, set.joints[0]};
    double best = INFINITY;
    for (const std::uint32_t j : set.joints)
        if (const double d = norm(to_point(task_.skeleton.joints[j].position) - place(vertex)); d < best)
            best = d, nearest.second = j;
    rows_.store(vertex, {&nearest, 1}, Coverage::unused);
}

/// The nodes of all parts in which the set has a vertex: heat also diffuses through vertices of other skins.
void SurfaceDiffusion::choose_nodes(const std::vector<std::uint32_t>& on_surface) {
    std::vector<bool> touched(surface_.components, false);
    for (const std::uint32_t v : on_surface) touched[surface_.component[surface_.node_of[v]]] = true;
    local_.assign(surface_.nodes(), MeshSurface::none);
    nodes_.clear();
    for (std::uint32_t node = 0; node < surface_.nodes(); ++node)
        if (touched[surface_.component[node]]) {
            local_[node] = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back(node);
        }
}

/// The nearest bones of each node if they are visible; in blind parts the nearest bones in any case.
void SurfaceDiffusion::find_sources(const JointSet& set) {
    std::vector<Segment> segments;
    std::vector<std::vector<const Bone*>> bones_of(task_.skeleton.joints.size());
    for (const Bone& bone : task_.bones) bones_of[bone.joint].push_back(&bone);
    for (std::uint32_t slot = 0; slot < set.joints.size(); ++slot) {
        const std::uint32_t joint = set.joints[slot];
        const bool any = !bones_of[joint].empty();
        for (const Bone* const bone : bones_of[joint])
            segments.push_back({to_point(bone->head), to_point(bone->tail), slot, bone->open_head, bone->open_tail,
                                BoneSpace(*bone)});
        // Idle joints have no bones; in a skin with no other joints they are used as points.
        const Vec3& spot = task_.skeleton.joints[joint].position;
        if (!any)
            segments.push_back(
                {to_point(spot), to_point(spot), slot, false, false, BoneSpace({joint, spot, spot})});
    }
    sources_.assign(nodes_.size(), {});
    by_policy_.assign(nodes_.size(), false);
    parallel_chunks(task_.context, nodes_.size(), 256, [&](std::size_t, std::size_t begin, std::size_t end) {
        if (cancelled(task_.context)) return;
        std::vector<double> distance;
        for (std::size_t i = begin; i < end; ++i)
            sources_[i] = nearest(nodes_[i], segments, set.joints, true, distance);
    });
    find_blind_parts();
    find_hidden_sources(set);
    parallel_chunks(task_.context, nodes_.size(), 256, [&](std::size_t, std::size_t begin, std::size_t end) {
        if (cancelled(task_.context)) return;
        std::vector<double> distance;
        for (std::size_t i = begin; i < end; ++i)
            if (blind_[surface_.component[nodes_[i]]] && !by_policy_[i])
                sources_[i] = nearest(nodes_[i], segments, set.joints, false, distance);
    });
}

void SurfaceDiffusion::find_blind_parts() {
    std::vector<double> seen(surface_.components, 0), all(surface_.components, 0);  // area
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        all[surface_.component[nodes_[i]]] += surface_.mass[nodes_[i]];
        if (sources_[i].count) seen[surface_.component[nodes_[i]]] += surface_.mass[nodes_[i]];
    }
    blind_.assign(surface_.components, false);
    for (std::uint32_t c = 0; c < surface_.components; ++c) blind_[c] = seen[c] < least_visible_ * all[c];
    std::vector<bool> counted(surface_.components, false);
    for (const std::uint32_t node : nodes_) {
        const std::uint32_t part = surface_.component[node];
        if (blind_[part] && !counted[part]) ++blind_parts_;
        counted[part] = counted[part] || blind_[part];
    }
}

void SurfaceDiffusion::find_hidden_sources(const JointSet& set) {
    std::vector<std::uint32_t> vertex_at(surface_.nodes(), MeshSurface::none);
    for (const std::uint32_t v : set.vertices)
        if (surface_.node_of[v] != MeshSurface::none) vertex_at[surface_.node_of[v]] = v;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const std::uint32_t v = vertex_at[nodes_[i]], part = surface_.component[nodes_[i]];
        const bool blind = blind_[part];
        if (v == MeshSurface::none || !(blind || sources_[i].count == 0)) continue;
        if (const std::optional<HeatSources> found = policy_.hidden_sources(set, v, part, blind)) {
            sources_[i] = *found;
            by_policy_[i] = true;
        }
    }
}

/// The straight distance, larger beyond open ends of bones, and larger if the bone is not below the surface.
inline double SurfaceDiffusion::distance_to(const Point3& p, std::uint32_t node, const Segment& segment) const {
    const SegmentPosition at = segment_distance(segment.a, segment.b, p);
    double beyond = 0;
    if (segment.open_head) beyond = std::max(beyond, -at.along);
    if (segment.open_tail) beyond = std::max(beyond, at.along - at.length);
    double facing = 1;
    const Point3& normal = surface_.normal[node];
    if (at.distance > 0 && dot(normal, normal) > 0) {
        const double cosine = dot(p - segment.point_of(at), normal) / at.distance;
        facing = std::max((1 + cosine) / 2, kLeastFacing);
    }
    beyond = std::max(0.0, beyond - segment.space.radius());
    return segment.space.distance(p) / facing + task_.options.overshoot * beyond;
}

/// The bones that are nearest to a node; with `must_see` only visible ones.
HeatSources SurfaceDiffusion::nearest(std::uint32_t node, const std::vector<Segment>& segments,
                                      const std::vector<std::uint32_t>& joints, bool must_see,
                                      std::vector<double>& distance) const {
    const Point3 p = place(surface_.vertex_of[node]);
    distance.clear();
    for (const Segment& segment : segments) distance.push_back(distance_to(p, node, segment));
    HeatSources found;
    found.distance = *std::min_element(distance.begin(), distance.end());
    // Excluded joints are skipped.
    while (found.distance < INFINITY) {
        const auto at = std::find(distance.begin(), distance.end(), found.distance) - distance.begin();
        const std::uint32_t slot = segments[static_cast<std::size_t>(at)].slot;
        if (!policy_.excludes(joints[slot], surface_.component[node], p)) break;
        for (std::size_t s = 0; s < segments.size(); ++s)
            if (segments[s].slot == slot) distance[s] = INFINITY;
        found.distance = *std::min_element(distance.begin(), distance.end());
    }
    if (found.distance == INFINITY) return {};
    const Segment* seen = nullptr;  // the last one that was looked at: thousands of bones may be at one place
    bool visible = false;
    for (std::size_t s = 0; s < segments.size() && found.count < HeatSources::most; ++s) {
        if (distance[s] > found.distance * (1 + kTie)) continue;
        if (must_see && !(seen && seen->same_place(segments[s]))) {
            seen = &segments[s];
            visible = is_visible(p, node, segments[s]);
        }
        if (!must_see || visible) found.add(segments[s].slot);
    }
    return found;
}

bool SurfaceDiffusion::is_visible(const Point3& p, std::uint32_t node, const Segment& segment) const {
    if (segment.space.signed_distance(p) < 0) return true;  // within its shape
    const double unit = task_.unit;
    const Point3 from = p - (kInward * unit) * surface_.normal[node];
    const Point3 to = segment.point_of(segment_distance(segment.a, segment.b, p));
    return !tree_.blocked(from, to, surface_.vertex_of[node], kSlack * unit) &&
           policy_.is_clear(surface_.component[node], from, to);
}

/// L + M H. `heat`: M H of each source, per node.
Result<Cholesky> SurfaceDiffusion::factor(const std::vector<double>& heat) const {
    std::vector<MatrixEntry> entries;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i)
        if (sources_[i].count > 0) entries.push_back({i, i, heat[i] * sources_[i].count});
    for (const MeshSurface::Edge& e : surface_.edges) {
        const std::uint32_t a = local_[e.a], b = local_[e.b];
        if (a == MeshSurface::none) continue;
        entries.push_back({a, b, -e.weight});
        entries.push_back({a, a, e.weight});
        entries.push_back({b, b, e.weight});
    }
    return Cholesky::factor(nodes_.size(), entries, task_.context);
}

namespace {

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

/// (L + M H) w = M H p for every joint, a batch of joints in each thread at a time.
Status SurfaceDiffusion::solve(const JointSet& set, const std::vector<std::uint32_t>& on_surface) {
    constexpr std::size_t batch = Cholesky::kBatch;
    std::vector<double> heat(nodes_.size(), 0);
    std::vector<bool> heats(set.joints.size(), false);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const HeatSources& s = sources_[i];
        if (s.count == 0) continue;
        const double d = std::max(s.distance, kNearest * task_.unit);
        const double transfer = s.share * task_.options.heat_transfer;
        heat[i] = std::max(transfer * surface_.mass[nodes_[i]] / (d * d), kLeastTransfer);
        for (std::uint32_t k = 0; k < s.count; ++k) heats[s.slot[k]] = true;
    }
    std::vector<std::uint32_t> slots;  // of joints that heat a node
    for (std::uint32_t slot = 0; slot < heats.size(); ++slot)
        if (heats[slot]) slots.push_back(slot);
    Result<Cholesky> factors = factor(heat);
    if (!factors) return factors.error();

    // The strongest joints of every vertex, sorted; later batches are merged into them. The order is total, so the
    // result does not depend on the division into batches.
    const std::size_t width = std::max(rows_.table.width, std::min(policy_.least_width(), set.joints.size()));
    std::vector<InfluenceRows::Entry> strongest(on_surface.size() * width);
    std::vector<std::uint32_t> kept(on_surface.size(), 0);
    const std::size_t together = static_cast<std::size_t>(thread_count(task_.context));
    std::vector<std::vector<double>> field(together);
    for (std::size_t first = 0; first < slots.size(); first += together * batch) {
        const std::size_t left = slots.size() - first, batches = std::min(together, (left + batch - 1) / batch);
        parallel_for(task_.context, batches, 1, [&](std::size_t b) {
            field[b].assign(nodes_.size() * batch, 0);
            const std::size_t begin = first + b * batch, end = std::min(begin + batch, slots.size());
            for (std::size_t i = 0; i < nodes_.size(); ++i) {
                const HeatSources& s = sources_[i];
                for (std::uint32_t k = 0; k < s.count; ++k) {
                    const auto at = std::lower_bound(slots.begin(), slots.end(), s.slot[k]) - slots.begin();
                    const auto column = static_cast<std::size_t>(at);
                    if (column >= begin && column < end) field[b][i * batch + column - begin] = heat[i];
                }
            }
            factors->solve_batch(field[b]);
        });
        parallel_for(task_.context, on_surface.size(), 1024, [&](std::size_t i) {
            const std::uint32_t node = local_[surface_.node_of[on_surface[i]]];
            for (std::size_t c = 0; c < std::min(left, batches * batch); ++c) {
                const auto w = static_cast<float>(field[c / batch][node * batch + c % batch]);
                if (w > kLeast)
                    insert(strongest.data() + i * width, kept[i], width, {w, set.joints[slots[first + c]]});
            }
        });
        if (cancelled(task_.context)) return stopped();
        report_progress(task_.context, "heat", static_cast<double>(first) / static_cast<double>(slots.size()));
    }
    field = {};
    const SetRows rows{on_surface, width, strongest, kept};
    policy_.adjust_rows(set, rows);
    if (cancelled(task_.context)) return stopped();
    store(set, rows);
    return Done{};
}

void SurfaceDiffusion::store(const JointSet& set, SetRows rows) {
    for (std::size_t i = 0; i < rows.vertices.size(); ++i) {
        const std::uint32_t v = rows.vertices[i];
        const bool blind = blind_[surface_.component[surface_.node_of[v]]];
        blind_vertices_ += blind;
        const Coverage how = set.idle ? Coverage::euclidean : policy_.coverage(v, blind);
        rows_.store(v, {rows.entries.data() + i * rows.width, rows.kept[i]}, how);
    }
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
    // Factors; two batches of heat for each thread; sources, trees and surface.
    const double batches = 2 * 8 * Cholesky::kBatch * threads;
    return estimate_cholesky_memory(vertices, 7) + vertices * (batches + 150) + triangles * 400;
}

}  // namespace sinew
