// Edits of weights, one after the other: of a list, or as they are painted.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "edits/edit_rows.h"
#include "edits/edit_surface.h"
#include "sinew/domain.h"
#include "sinew/edits.h"

namespace sinew {
namespace {

constexpr double kOnPlane = 1e-4;  // relative to the diagonal of the box: neither side of a mirror
// Relative to the diagonal: maximum distance of the other side from the mirror image
constexpr double kMirrorReach = 0.02;

Status check(const WeightEdit& e, std::size_t vertices, std::size_t joints) {
    const auto wrong = [](const std::string& what) { return Error{ErrorCode::usage, what}; };
    const std::string value = ", not " + shortest_text(e.value);
    const auto check_part = [&](const EditPart& part) -> Status {
        if (!part.selection.empty() && part.selection.size() != vertices)
            return wrong("the selection is for " + std::to_string(part.selection.size()) +
                         " vertices, but the mesh has " + std::to_string(vertices));
        for (const float s : part.selection)
            if (!(s >= 0 && s <= 1)) return wrong("a selection must be from 0 to 1, not " + shortest_text(s));
        for (const auto* list : {&part.joints, &part.region, &e.locked})
            for (const std::uint32_t j : *list)
                if (j >= joints) return wrong("there is no joint " + std::to_string(j));
        switch (e.kind) {
            case EditKind::set:
            case EditKind::add:
                if (part.joints.size() != 1)
                    return wrong("set and add need one joint, not " + std::to_string(part.joints.size()));
                break;
            case EditKind::scale:
            case EditKind::multiply:
                if (part.joints.empty()) return wrong("scale and multiply need joints");
                break;
            case EditKind::replace:
                if (part.joints.empty() || part.with >= joints)
                    return wrong("replace needs joints, and a joint that takes over their weight");
                break;
            default:
                break;
        }
        return Done{};
    };
    for (const EditPart* part : {static_cast<const EditPart*>(&e), e.other_side ? &*e.other_side : nullptr})
        if (part) SINEW_TRY(check_part(*part));
    switch (e.kind) {
        case EditKind::set:
        case EditKind::add: {
            const float least = e.kind == EditKind::set ? 0.0f : -1.0f;
            if (!(e.value >= least && e.value <= 1))
                return wrong(e.kind == EditKind::set ? "set needs a value from 0 to 1" + value
                                                     : "add needs a value from -1 to 1" + value);
            break;
        }
        case EditKind::scale:
        case EditKind::multiply:
            if (!(e.value >= 0 && std::isfinite(e.value)))
                return wrong("scale and multiply need a value of 0 or more" + value);
            break;
        case EditKind::smooth:
            if (!(e.value > 0 && std::isfinite(e.value))) return wrong("smooth needs a length above 0" + value);
            break;
        case EditKind::relax:
            if (!(e.value >= 1 && e.value <= 64 && e.value == std::floor(e.value)))
                return wrong("relax needs a whole number of steps, from 1 to 64" + value);
            break;
        case EditKind::replace:
        case EditKind::sharpen:
            break;
        case EditKind::mirror: {
            double square = 0;
            for (const double c : e.mirror.normal) square += c * c;
            if (!(std::abs(square - 1) < 1e-3)) return wrong("mirror needs a plane with a normal of length 1");
            for (const std::uint32_t j : e.mirror.partner)
                if (j != DistanceTable::none && j >= joints) return wrong("there is no joint " + std::to_string(j));
            break;
        }
    }
    return Done{};
}

bool same_parts(const EditPart& a, const EditPart& b) {
    return a.region == b.region && a.joints == b.joints && a.with == b.with;
}
/// Whether two edits differ at most in their selections.
bool differ_in_selection(const WeightEdit& a, const WeightEdit& b) {
    return a.kind == b.kind && a.kind != EditKind::mirror && a.region_above == b.region_above &&
           a.value == b.value && a.locked == b.locked && same_parts(a, b) && !a.other_side == !b.other_side &&
           (!a.other_side || same_parts(*a.other_side, *b.other_side));
}

bool same_row(std::span<const Influence> a, std::span<const Influence> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

/// An edit that was applied, and its shares above 0, by vertex.
struct AppliedEdit {
    WeightEdit edit;  // without its selections
    std::array<std::vector<std::pair<std::uint32_t, float>>, 2> shares;
};

struct PaintedWeightsState {
    static constexpr std::uint32_t none = 0xffffffffu;
    using Rows = std::vector<std::pair<std::uint32_t, std::vector<Influence>>>;  // by vertex

    EditSurface surface;
    SkinWeights base;
    Locks locks;
    std::size_t joints = 0, keep = 0;
    std::vector<std::uint32_t> slot;           // V: of a row in `rows`, or none: the row of `base`
    std::vector<std::vector<Influence>> rows;  // changed at some time
    std::vector<Rows> history;                 // per edit: the rows before it
    std::vector<AppliedEdit> applied;          // per edit but the last, which `last` and `share` describe
    std::vector<std::uint32_t> before;         // V: of a row in the last of `history`, or none
    bool growing = false;                      // the last call applied `last`
    WeightEdit last;                           // without its selections
    std::array<std::vector<float>, 2> share;   // V: those of `last`
    std::vector<std::uint32_t> changed;
    std::size_t computed = 0, kept = 0;
    bool undoable = true;
    double longest_edge = -1;  // of the surface; below 0: not known yet

    explicit PaintedWeightsState(const EditSurface& of) : surface(of) {}

    std::span<const Influence> row(std::size_t v) const {
        return slot[v] == none ? base[v] : std::span<const Influence>(rows[slot[v]]);
    }
    /// The row before the edit that is being applied.
    std::span<const Influence> start(std::size_t v) const {
        return before[v] == none ? row(v) : std::span<const Influence>(history.back()[before[v]].second);
    }
    void put(std::uint32_t v, std::vector<Influence> row) {
        if (slot[v] == none) {
            slot[v] = static_cast<std::uint32_t>(rows.size());
            rows.emplace_back();
        }
        rows[slot[v]] = std::move(row);
    }

    std::vector<float> shares_of(const WeightEdit& edit, const EditPart& part) const;
    Status apply(const WeightEdit& edit, bool again, Context* context);
    bool undo();
    Status rebase(SkinWeights weights, Context* context);

    AppliedEdit last_applied() const;
    void take_last_from_applied();
    bool reads_changed_rows(const WeightEdit& edit, const std::vector<std::uint32_t>& at, const Box3& changed_rows);
    std::vector<std::vector<Influence>> computed_rows(const WeightEdit& edit, const std::vector<std::uint32_t>& at,
                                                      const std::array<std::vector<float>, 2>& shares,
                                                      std::size_t& stuck_rows, Context* context);

    std::vector<EditRow> smoothed(const WeightEdit& edit, const std::vector<std::uint32_t>& at, Context* context);
    std::vector<EditRow> relaxed(const WeightEdit& edit, const std::vector<std::uint32_t>& at, Context* context);
    std::vector<EditRow> mirrored(const WeightEdit& edit, const std::vector<std::uint32_t>& at, Context* context);
};

/// Per vertex: the share of a part of an edit, the largest at its position.
std::vector<float> PaintedWeightsState::shares_of(const WeightEdit& edit, const EditPart& part) const {
    const std::vector<std::uint32_t>& weld = surface.state().topology.weld;
    const std::size_t n = weld.size();
    std::vector<float> out(n, 0);
    for (std::size_t v = 0; v < n; ++v) {
        const float own = part.selection.empty() ? 1.0f : part.selection[v];
        if (!(own > out[weld[v]])) continue;
        if (!part.region.empty()) {
            double sum = 0;
            for (const Influence& i : start(v))
                if (std::find(part.region.begin(), part.region.end(), i.joint) != part.region.end())
                    sum += i.weight;
            if (!(sum > 0 && sum >= edit.region_above)) continue;
        }
        out[weld[v]] = own;
    }
    for (std::size_t v = n; v-- > 0;) out[v] = out[weld[v]];
    return out;
}

/// At each of the vertices: the mean of the rows around its node.
std::vector<EditRow> PaintedWeightsState::smoothed(const WeightEdit& edit, const std::vector<std::uint32_t>& at,
                                                   Context* context) {
    const MeshSurface& mesh = surface.state().surface();
    const Neighbourhoods& near = surface.state().neighbours();
    const double length = edit.value;
    std::vector<EditRow> out(at.size());
    parallel_chunks(context, at.size(), 1024, [&](std::size_t, std::size_t begin, std::size_t end) {
        Neighbourhoods::Scratch scratch(mesh.nodes());
        for (std::size_t k = begin; k < end && !cancelled(context); ++k) {
            const std::uint32_t node = mesh.node_of[at[k]];
            if (node == MeshSurface::none) continue;
            EditRow& row = out[k];
            double sum = 0;
            near.around(node, length, scratch, [&](std::uint32_t n, double d) {
                const auto there = start(mesh.vertex_of[n]);
                if (there.empty()) return;
                const double t = 1 - d / length * (d / length);
                const double part = mesh.mass[n] * t * t;
                sum += part;
                for (const Influence& i : there) weight_in(row, i.joint) += part * i.weight;
            });
            for (Share& s : row) s.weight /= sum;
        }
    });
    return out;
}

/// At each of the vertices: the row of its node after steps of diffusion of the whole surface. Step s needs only
/// nodes within steps - s edges of the vertices.
std::vector<EditRow> PaintedWeightsState::relaxed(const WeightEdit& edit, const std::vector<std::uint32_t>& at,
                                                  Context* context) {
    const MeshSurface& mesh = surface.state().surface();
    const Neighbourhoods& near = surface.state().neighbours();
    const auto steps = static_cast<std::size_t>(edit.value);
    std::vector<std::uint32_t> place(mesh.nodes(), none), node;
    std::vector<std::size_t> ring;  // number of nodes within 0, 1 … edges
    for (const std::uint32_t v : at)
        if (const std::uint32_t n = mesh.node_of[v]; n != MeshSurface::none && place[n] == none) {
            place[n] = static_cast<std::uint32_t>(node.size());
            node.push_back(n);
        }
    ring.push_back(node.size());
    for (std::size_t s = 0, from = 0; s < steps; ++s) {
        const std::size_t to = node.size();
        for (std::size_t i = from; i < to; ++i)
            for (const Neighbourhoods::Link& l : near.of(node[i]))
                if (place[l.node] == none) {
                    place[l.node] = static_cast<std::uint32_t>(node.size());
                    node.push_back(l.node);
                }
        from = to;
        ring.push_back(node.size());
    }
    std::vector<EditRow> now(node.size()), next(ring[steps - 1]);
    for (std::size_t i = 0; i < node.size(); ++i)
        for (const Influence& k : start(mesh.vertex_of[node[i]])) now[i].push_back({k.joint, k.weight});
    for (std::size_t s = 1; s <= steps && !cancelled(context); ++s) {
        parallel_for(context, ring[steps - s], 512, [&](std::size_t i) {
            EditRow& row = next[i];
            row.clear();
            double sum = 0;
            for (const Neighbourhoods::Link& l : near.of(node[i])) {
                const EditRow& there = now[place[l.node]];
                if (there.empty()) continue;
                sum += l.weight;
                for (const Share& k : there) weight_in(row, k.joint) += l.weight * k.weight;
            }
            if (!(sum > 0) || now[i].empty()) {
                row = now[i];
                return;
            }
            for (Share& k : row) k.weight /= 2 * sum;
            for (const Share& k : now[i]) weight_in(row, k.joint) += k.weight / 2;
        });
        for (std::size_t i = 0; i < ring[steps - s]; ++i) std::swap(now[i], next[i]);
    }
    std::vector<EditRow> out(at.size());
    for (std::size_t k = 0; k < at.size(); ++k)
        if (const std::uint32_t n = mesh.node_of[at[k]]; n != MeshSurface::none) out[k] = now[place[n]];
    return out;
}

std::vector<EditRow> PaintedWeightsState::mirrored(const WeightEdit& edit, const std::vector<std::uint32_t>& at,
                                                   Context* context) {
    const MeshView& mesh = surface.state().mesh;
    const TriangleTree& tree = surface.state().tree();
    const Mirror& m = edit.mirror;
    const double diagonal = m.size > 0 ? m.size : box_of(mesh.positions).diagonal();
    const auto over_there = [&](std::uint32_t j) {
        return j < m.partner.size() && m.partner[j] != DistanceTable::none ? m.partner[j] : j;
    };
    std::vector<EditRow> out(at.size());
    parallel_for(context, at.size(), 1024, [&](std::size_t which) {
        if (cancelled(context)) return;
        const std::uint32_t v = at[which];
        const Point3 p = to_point(mesh.positions[v]);
        double height = 0;
        for (std::size_t k = 0; k < 3; ++k) height += (p[k] - m.point[k]) * m.normal[k];
        EditRow& row = out[which];
        if (height > kOnPlane * diagonal) {  // on the side that is copied
            for (const Influence& i : start(v)) row.push_back({i.joint, i.weight});
            return;
        }
        if (height >= -kOnPlane * diagonal) {  // on the plane: the mean of both sides
            for (const Influence& i : start(v)) {
                weight_in(row, i.joint) += i.weight / 2.0;
                weight_in(row, over_there(i.joint)) += i.weight / 2.0;
            }
            return;
        }
        Point3 image;
        for (std::size_t k = 0; k < 3; ++k) image[k] = p[k] - 2 * height * m.normal[k];
        const SurfacePoint found = tree.nearest(image, kMirrorReach * diagonal);
        if (found.triangle == SurfacePoint::none) return;
        for (std::size_t k = 0; k < 3; ++k)
            if (found.share[k] > 1e-9)
                for (const Influence& i : start(mesh.triangles[found.triangle][k]))
                    weight_in(row, over_there(i.joint)) += found.share[k] * i.weight;
    });
    return out;
}

/// At each of the vertices, `at`: the row after the edit. `shares`: V, of both parts of the edit.
std::vector<std::vector<Influence>> PaintedWeightsState::computed_rows(
    const WeightEdit& edit, const std::vector<std::uint32_t>& at, const std::array<std::vector<float>, 2>& shares,
    std::size_t& stuck_rows, Context* context) {
    std::vector<EditRow> prepared;
    if (edit.kind == EditKind::smooth) prepared = smoothed(edit, at, context);
    if (edit.kind == EditKind::relax) prepared = relaxed(edit, at, context);
    if (edit.kind == EditKind::mirror) prepared = mirrored(edit, at, context);
    if (cancelled(context)) return {};

    const RowEdit rules(edit, locks, keep);
    std::vector<std::vector<Influence>> fresh(at.size());
    std::vector<std::uint8_t> stuck(at.size(), 0);
    parallel_chunks(context, at.size(), 1024, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::vector<Influence> row;
        for (std::size_t k = begin; k < end && !cancelled(context); ++k) {
            const std::uint32_t v = at[k];
            const auto from = start(v);
            fresh[k].assign(from.begin(), from.end());
            for (std::size_t p = 0; p < 2; ++p) {
                if (!(shares[p][v] > 0)) continue;
                const EditPart& part = p ? *edit.other_side : static_cast<const EditPart&>(edit);
                if (rules.apply(part, fresh[k], shares[p][v], prepared.empty() ? nullptr : &prepared[k], row))
                    fresh[k] = row;
                else
                    stuck[k] = 1;
            }
        }
    });
    stuck_rows = static_cast<std::size_t>(std::count(stuck.begin(), stuck.end(), 1));
    return fresh;
}

Status PaintedWeightsState::apply(const WeightEdit& edit, bool again, Context* context) {
    const std::size_t n = slot.size();
    changed.clear();
    SINEW_TRY(check(edit, n, joints));
    // A larger one would be the mean of all: likely another unit, and the square of the vertices in time.
    if (edit.kind == EditKind::smooth)
        if (const double size = box_of(surface.state().mesh.positions).diagonal(); edit.value > size)
            return Error{ErrorCode::usage, "smooth: the length " + shortest_text(edit.value) +
                                               " is larger than the whole mesh, which measures " +
                                               short_number(size) + " (is it in another unit?)"};
    std::vector<std::uint32_t> taken_back;
    const bool grows = again && growing && differ_in_selection(edit, last);
    if (!grows) {
        if (again && undo()) taken_back = changed;
        if (undoable && !history.empty()) applied.push_back(last_applied());
        for (auto& s : share) s.assign(n, 0);
        if (!history.empty())
            for (const auto& [v, row] : history.back()) before[v] = none;
        history.emplace_back();
    }
    // Everything below is undone by this, if the work is cancelled.
    const auto give_up = [&]() -> Status {
        if (!grows) {
            history.pop_back();
            take_last_from_applied();
        }
        growing = growing && grows;
        return Error{ErrorCode::cancelled, "cancelled while editing weights"};
    };

    std::array<std::vector<float>, 2> wanted{shares_of(edit, edit), {}};
    if (edit.other_side)
        wanted[1] = shares_of(edit, *edit.other_side);
    else
        wanted[1].assign(n, 0);
    std::vector<std::uint32_t> at;
    for (std::uint32_t v = 0; v < n; ++v)
        if ((wanted[0][v] != share[0][v] || wanted[1][v] != share[1][v]) && !start(v).empty() &&
            (locks.vertices.empty() || !locks.vertices[v]))
            at.push_back(v);

    std::size_t stuck = 0;
    std::vector<std::vector<Influence>> fresh = computed_rows(edit, at, wanted, stuck, context);
    if (cancelled(context)) return give_up();

    changed.clear();
    Rows& kept_rows = history.back();
    for (std::size_t k = 0; k < at.size(); ++k) {
        const std::uint32_t v = at[k];
        const auto now = row(v);
        if (same_row(now, fresh[k])) continue;
        if (undoable && before[v] == none) {
            before[v] = static_cast<std::uint32_t>(kept_rows.size());
            kept_rows.push_back({v, {now.begin(), now.end()}});
        }
        put(v, std::move(fresh[k]));
        changed.push_back(v);
    }
    share = std::move(wanted);
    last = edit;
    last.selection.clear();
    if (last.other_side) last.other_side->selection.clear();
    growing = true;
    computed = at.size();
    kept = stuck;
    if (!taken_back.empty()) {
        std::vector<std::uint32_t> all;
        std::set_union(changed.begin(), changed.end(), taken_back.begin(), taken_back.end(),
                       std::back_inserter(all));
        changed = std::move(all);
    }
    return Done{};
}

bool PaintedWeightsState::undo() {
    changed.clear();
    growing = false;
    if (history.empty()) return false;
    for (auto& [v, row] : history.back()) {
        put(v, std::move(row));
        before[v] = none;
        changed.push_back(v);
    }
    history.pop_back();
    take_last_from_applied();
    std::sort(changed.begin(), changed.end());
    return true;
}

AppliedEdit PaintedWeightsState::last_applied() const {
    AppliedEdit out{last, {}};
    for (std::size_t p = 0; p < 2; ++p)
        for (std::uint32_t v = 0; v < share[p].size(); ++v)
            if (share[p][v] > 0) out.shares[p].emplace_back(v, share[p][v]);
    return out;
}

void PaintedWeightsState::take_last_from_applied() {
    for (auto& s : share) s.assign(slot.size(), 0);
    if (applied.empty()) return;
    last = std::move(applied.back().edit);
    for (std::size_t p = 0; p < 2; ++p)
        for (const auto& [v, s] : applied.back().shares[p]) share[p][v] = s;
    applied.pop_back();
}

/// Whether the edit at these vertices may read rows in the box, other than their own.
bool PaintedWeightsState::reads_changed_rows(const WeightEdit& edit, const std::vector<std::uint32_t>& at,
                                             const Box3& changed_rows) {
    if (edit.kind == EditKind::mirror) return true;
    if (edit.kind != EditKind::smooth && edit.kind != EditKind::relax) return false;
    double reach = edit.value;
    if (edit.kind == EditKind::relax) {
        if (longest_edge < 0) {
            const Neighbourhoods& near = surface.state().neighbours();
            longest_edge = 0;
            for (std::uint32_t node = 0; node < surface.state().surface().nodes(); ++node)
                for (const Neighbourhoods::Link& l : near.of(node)) longest_edge = std::max(longest_edge, l.length);
        }
        reach *= longest_edge;
    }
    Box3 box;
    for (const std::uint32_t v : at) box.add(to_point(surface.state().mesh.positions[v]));
    for (std::size_t k = 0; k < 3; ++k)
        if (box.low[k] - reach > changed_rows.high[k] || box.high[k] + reach < changed_rows.low[k]) return false;
    return true;
}

Status PaintedWeightsState::rebase(SkinWeights weights, Context* context) {
    const std::size_t n = slot.size();
    changed.clear();
    if (weights.vertex_count() != n)
        return Error{ErrorCode::input, "the weights have rows for " + std::to_string(weights.vertex_count()) +
                                           " vertices, the mesh has " + std::to_string(n)};
    if (!history.empty()) applied.push_back(last_applied());
    for (const AppliedEdit& one : applied)
        if (!one.edit.region.empty() || (one.edit.other_side && !one.edit.other_side->region.empty())) {
            take_last_from_applied();
            return Error{ErrorCode::usage, "an edit selects by weights of joints: begin painting again"};
        }
    Context whole;  // half of this cannot be taken back
    whole.threads = context ? context->threads : 0;

    const std::span<const Vec3> positions = surface.state().mesh.positions;
    std::vector<std::uint8_t> affected(n, 0);
    Box3 box;
    const auto affect = [&](std::uint32_t v) {
        if (!affected[v]) box.add(to_point(positions[v]));
        affected[v] = 1;
    };
    for (std::uint32_t v = 0; v < n; ++v)
        if (!same_row(base[v], weights[v])) affect(v);

    // All edits are taken back, so that the rows are those of `base`, and `history` has those after each edit.
    if (!history.empty())
        for (const auto& [v, row] : history.back()) before[v] = none;
    for (std::size_t e = history.size(); e-- > 0;)
        for (auto& [v, row] : history[e]) std::swap(rows[slot[v]], row);
    base = std::move(weights);
    for (std::uint32_t v = 0; v < n; ++v)
        if (affected[v] && slot[v] != none) rows[slot[v]].assign(base[v].begin(), base[v].end());

    // Each edit is applied again. Where it reads only rows that are as they were, its result is still there.
    computed = 0;
    for (auto& s : share) s.assign(n, 0);
    std::vector<std::uint8_t> is_new(n, 0);
    for (std::size_t e = 0; e < history.size(); ++e) {
        const AppliedEdit& one = applied[e];
        std::vector<std::uint32_t> all, at;
        for (std::size_t p = 0; p < 2; ++p)
            for (const auto& [v, s] : one.shares[p]) {
                if (share[0][v] == 0 && share[1][v] == 0 && !row(v).empty() &&
                    (locks.vertices.empty() || !locks.vertices[v]))
                    all.push_back(v);
                share[p][v] = s;
            }
        std::sort(all.begin(), all.end());
        const bool reads = reads_changed_rows(one.edit, all, box);
        for (const std::uint32_t v : all)
            if (reads || affected[v]) at.push_back(v);
        std::size_t stuck = 0;
        std::vector<std::vector<Influence>> fresh = computed_rows(one.edit, at, share, stuck, &whole);
        for (const std::uint32_t v : at) is_new[v] = 1;
        Rows before_it;
        for (auto& [v, row] : history[e]) {
            if (is_new[v]) continue;
            std::swap(rows[slot[v]], row);
            before_it.emplace_back(v, std::move(row));
        }
        for (std::size_t k = 0; k < at.size(); ++k) {
            const std::uint32_t v = at[k];
            is_new[v] = 0;
            affect(v);
            const auto now = row(v);
            if (same_row(now, fresh[k])) continue;
            before_it.emplace_back(v, std::vector<Influence>(now.begin(), now.end()));
            put(v, std::move(fresh[k]));
        }
        history[e] = std::move(before_it);
        computed += at.size();
        for (std::size_t p = 0; p < 2; ++p)
            for (const auto& [v, s] : one.shares[p]) share[p][v] = 0;
    }
    if (!history.empty()) take_last_from_applied();
    growing = false;
    for (std::uint32_t v = 0; v < n; ++v)
        if (affected[v]) changed.push_back(v);
    return Done{};
}

namespace {

Result<std::shared_ptr<PaintedWeightsState>> state_of(const EditSurface& surface, SkinWeights weights, Locks locks,
                                                      std::size_t joint_count, int max_influences) {
    const std::size_t n = surface.state().mesh.positions.size();
    if (weights.vertex_count() != n)
        return Error{ErrorCode::input, "the weights have rows for " + std::to_string(weights.vertex_count()) +
                                           " vertices, the mesh has " + std::to_string(n)};
    if (!locks.vertices.empty() && locks.vertices.size() != n)
        return Error{ErrorCode::usage, "locks are for " + std::to_string(locks.vertices.size()) +
                                           " vertices, the mesh has " + std::to_string(n)};
    auto out = std::make_shared<PaintedWeightsState>(surface);
    PaintedWeightsState& s = *out;
    s.base = std::move(weights);
    s.locks = std::move(locks);
    s.joints = joint_count;
    s.keep = max_influences == all_influences ? ~std::size_t{0} : static_cast<std::size_t>(max_influences);
    s.slot.assign(n, PaintedWeightsState::none);
    s.before.assign(n, PaintedWeightsState::none);
    return out;
}

SkinWeights weights_of(const PaintedWeightsState& state) {
    const std::size_t n = state.slot.size();
    WeightRows rows(n);
    for (std::size_t c = 0; c < rows.part.size(); ++c)
        for (std::size_t v = c * WeightRows::per_chunk; v < std::min(n, (c + 1) * WeightRows::per_chunk); ++v) {
            const auto row = state.row(v);
            rows.part[c].insert(rows.part[c].end(), row.begin(), row.end());
            rows.first[v + 1] = row.size();
        }
    return rows.assemble(nullptr);
}

}  // namespace

Result<PaintedWeights> PaintedWeights::begin(const EditSurface& surface, SkinWeights weights, Locks locks,
                                             std::size_t joint_count, int max_influences) {
    SINEW_TRY_LET(auto state, state_of(surface, std::move(weights), std::move(locks), joint_count, max_influences));
    PaintedWeights out;
    out.state_ = std::move(state);
    return out;
}

Status PaintedWeights::apply(const WeightEdit& edit, bool again, Context* context) {
    return state_->apply(edit, again, context);
}
Status PaintedWeights::rebase(SkinWeights weights, Context* context) {
    return state_->rebase(std::move(weights), context);
}
bool PaintedWeights::undo() { return state_->undo(); }
std::size_t PaintedWeights::edits() const { return state_->history.size(); }
const std::vector<std::uint32_t>& PaintedWeights::changed() const { return state_->changed; }
std::size_t PaintedWeights::computed() const { return state_->computed; }
std::size_t PaintedWeights::kept() const { return state_->kept; }
std::span<const Influence> PaintedWeights::operator[](std::size_t vertex) const { return state_->row(vertex); }

SkinWeights PaintedWeights::weights() const { return weights_of(*state_); }

Result<SkinWeights> apply_edits(const MeshView& mesh, const SkinWeights& weights, std::span<const WeightEdit> edits,
                                const Locks& locks, std::size_t joint_count, int max_influences, EditReport* report,
                                Context* context) {
    for (std::size_t i = 0; i < edits.size(); ++i)
        if (Status ok = check(edits[i], mesh.positions.size(), joint_count); !ok)
            return Error{ok.error().code, "edit " + std::to_string(i + 1) + ": " + ok.error().message};
    const EditSurface surface(mesh, context);
    SINEW_TRY_LET(auto state, state_of(surface, weights, locks, joint_count, max_influences));
    if (edits.empty()) return weights;
    PaintedWeightsState& painted = *state;
    painted.undoable = false;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        if (Status ok = painted.apply(edits[i], false, context); !ok)
            return ok.error().code == ErrorCode::usage
                       ? Error{ErrorCode::usage, "edit " + std::to_string(i + 1) + ": " + ok.error().message}
                       : ok.error();
        if (report) {
            report->changed.push_back(painted.changed.size());
            report->kept.push_back(painted.kept);
        }
    }
    return weights_of(painted);
}

}  // namespace sinew
