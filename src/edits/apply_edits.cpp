// Edits of weights: set, add, scale, smooth, replace, mirror.
#include <cmath>
#include <optional>
#include <queue>

#include "sinew/domain.h"
#include "sinew/edits.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"
#include "weights/rows.h"

namespace sinew {
namespace {

constexpr double kOnPlane = 1e-4;  // relative to the diagonal of the box: neither side of a mirror
// Relative to the diagonal: maximum distance of the other side from the mirror image
constexpr double kMirrorReach = 0.02;

struct Share {
    std::uint32_t joint;
    double weight;
};
using Row = std::vector<Share>;

// The joint's weight in the row, 0 if it has none.
double& at(Row& row, std::uint32_t joint) {
    for (Share& s : row)
        if (s.joint == joint) return s.weight;
    row.push_back({joint, 0});
    return row.back().weight;
}

// Points of the surface around a node, by distance along edges.
class Neighbourhoods {
public:
    Neighbourhoods(const MeshView& mesh, const MeshSurface& surface) : first_(surface.nodes() + 1, 0) {
        for (const MeshSurface::Edge& e : surface.edges) ++first_[e.a + 1], ++first_[e.b + 1];
        for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        link_.resize(first_.back());
        std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
        for (const MeshSurface::Edge& e : surface.edges) {
            const Point3 a = to_point(mesh.positions[surface.vertex_of[e.a]]),
                         b = to_point(mesh.positions[surface.vertex_of[e.b]]);
            const double length = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
            link_[next[e.a]++] = {e.b, length};
            link_[next[e.b]++] = {e.a, length};
        }
    }

    struct Scratch {
        std::vector<double> distance;
        std::vector<std::uint32_t> touched;
        explicit Scratch(std::size_t nodes) : distance(nodes, INFINITY) {}
    };

    /// Calls visit(node, distance) for all nodes within `length`, nearest first.
    template <typename Visit>
    void around(std::uint32_t node, double length, Scratch& scratch, Visit&& visit) const {
        using Entry = std::pair<double, std::uint32_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
        const auto offer = [&](std::uint32_t n, double d) {
            if (d > length || d >= scratch.distance[n]) return;
            if (scratch.distance[n] == INFINITY) scratch.touched.push_back(n);
            scratch.distance[n] = d;
            queue.push({d, n});
        };
        offer(node, 0);
        while (!queue.empty()) {
            const auto [d, n] = queue.top();
            queue.pop();
            if (d > scratch.distance[n]) continue;
            visit(n, d);
            for (std::uint32_t k = first_[n]; k < first_[n + 1]; ++k) offer(link_[k].first, d + link_[k].second);
        }
        for (const std::uint32_t n : scratch.touched) scratch.distance[n] = INFINITY;
        scratch.touched.clear();
    }

private:
    std::vector<std::uint32_t> first_;
    std::vector<std::pair<std::uint32_t, double>> link_;
};

class Editor {
public:
    Editor(const MeshView& mesh, SkinWeights weights, const Locks& locks, int max_influences, Context* context)
        : mesh_(mesh),
          weights_(std::move(weights)),
          locks_(locks),
          keep_(max_influences == all_influences ? ~std::size_t{0} : static_cast<std::size_t>(max_influences)),
          topology_(analyse_mesh(mesh)),
          context_(context) {}

    Status apply(const WeightEdit& edit, std::size_t& changed, std::size_t& kept) {
        edit_ = &edit;
        const std::size_t n = weights_.vertex_count();
        share_.assign(n, 0);
        for (std::size_t v = 0; v < n; ++v) {
            if (!edit.region.empty()) {
                double sum = 0;
                for (const Influence& i : weights_[v])
                    if (std::find(edit.region.begin(), edit.region.end(), i.joint) != edit.region.end())
                        sum += i.weight;
                if (!(sum > 0 && sum >= edit.region_above)) continue;
            }
            float& share = share_[topology_.weld[v]];
            share = std::max(share, edit.selection.empty() ? 1.0f : edit.selection[v]);
        }
        for (std::size_t v = n; v-- > 0;) share_[v] = share_[topology_.weld[v]];

        std::vector<Row> targets(edit.kind == EditKind::smooth || edit.kind == EditKind::mirror ? n : 0);
        if (edit.kind == EditKind::smooth) smooth(targets);
        if (edit.kind == EditKind::mirror) mirror(targets);
        if (cancelled(context_)) return Error{ErrorCode::cancelled, "cancelled while editing weights"};

        std::vector<std::uint8_t> stuck(n, 0);
        Result<SkinWeights> next = map_rows(n, context_, [&](std::size_t v, std::vector<Influence>& out) {
            const auto now = weights_[v];
            if (!selected(v)) {
                out.assign(now.begin(), now.end());
                return;
            }
            std::optional<Row> wanted = target(v, targets.empty() ? nullptr : &targets[v]);
            if (!wanted) {
                stuck[v] = 1;
                out.assign(now.begin(), now.end());
                return;
            }
            const double share = share_[v];
            if (share < 1) {
                for (Share& s : *wanted) s.weight *= share;
                for (const Influence& i : now) at(*wanted, i.joint) += (1 - share) * i.weight;
            }
            std::sort(wanted->begin(), wanted->end(), [&](const Share& a, const Share& b) {
                const bool la = locked(a.joint), lb = locked(b.joint);
                if (la != lb) return la;
                return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
            });
            if (wanted->size() > keep_) wanted->resize(keep_);
            for (const Share& s : *wanted)
                if (s.weight > 0) out.push_back({s.joint, static_cast<float>(s.weight)});
        });
        if (!next) return next.error();
        changed = kept = 0;
        for (std::size_t v = 0; v < n; ++v) {
            const auto a = weights_[v], b = (*next)[v];
            changed += !std::equal(a.begin(), a.end(), b.begin(), b.end());
            kept += stuck[v];
        }
        weights_ = std::move(*next);
        return Done{};
    }

    SkinWeights take() { return std::move(weights_); }

private:
    bool locked(std::uint32_t j) const { return j < locks_.joints.size() && locks_.joints[j]; }
    bool named(std::uint32_t j) const {
        return std::find(edit_->joints.begin(), edit_->joints.end(), j) != edit_->joints.end();
    }
    bool selected(std::size_t v) const {
        return share_[v] > 0 && !weights_[v].empty() && (locks_.vertices.empty() || !locks_.vertices[v]);
    }

    /// The row with the weights of `wanted` for the joints that it names. Locked joints keep their weights, the
    /// others share the rest in proportion. Empty if no joint can take the rest.
    std::optional<Row> with_weights(std::size_t v, const Row& wanted) const {
        Row row;
        double free = 1, others = 0, requested = 0;
        const auto in_wanted = [&](std::uint32_t j) {
            return std::any_of(wanted.begin(), wanted.end(), [&](const Share& s) { return s.joint == j; });
        };
        for (const Influence& i : weights_[v]) {
            if (locked(i.joint)) {
                free -= i.weight;
                row.push_back({i.joint, i.weight});
            } else if (!in_wanted(i.joint)) {
                others += i.weight;
            }
        }
        free = std::max(free, 0.0);
        for (const Share& s : wanted)
            if (!locked(s.joint)) requested += s.weight;
        const double given = std::min(requested, free);
        const double rest = free - given;
        if (rest > 1e-7 && !(others > 0)) return std::nullopt;
        for (const Share& s : wanted)
            if (!locked(s.joint) && requested > 0) row.push_back({s.joint, s.weight / requested * given});
        for (const Influence& i : weights_[v])
            if (!locked(i.joint) && !in_wanted(i.joint)) row.push_back({i.joint, i.weight / others * rest});
        return row;
    }

    /// Unlocked joints as in `wanted`, in proportion; locked joints keep their weights.
    std::optional<Row> with_row(std::size_t v, const Row& wanted) const {
        Row row;
        double free = 1, requested = 0;
        for (const Influence& i : weights_[v])
            if (locked(i.joint)) {
                free -= i.weight;
                row.push_back({i.joint, i.weight});
            }
        for (const Share& s : wanted)
            if (!locked(s.joint)) requested += s.weight;
        if (!(requested > 0)) return std::nullopt;
        for (const Share& s : wanted)
            if (!locked(s.joint)) row.push_back({s.joint, s.weight / requested * std::max(free, 0.0)});
        return row;
    }

    /// The row that the edit asks for; empty if it is not possible.
    std::optional<Row> target(std::size_t v, const Row* prepared) const {
        Row wanted;
        const auto weight = [&](std::uint32_t j) {
            for (const Influence& i : weights_[v])
                if (i.joint == j) return static_cast<double>(i.weight);
            return 0.0;
        };
        switch (edit_->kind) {
            case EditKind::set:
            case EditKind::add: {
                const std::uint32_t j = edit_->joints[0];
                if (locked(j)) return std::nullopt;
                const double value = edit_->kind == EditKind::set ? edit_->value : weight(j) + edit_->value;
                return with_weights(v, {{j, std::clamp(value, 0.0, 1.0)}});
            }
            case EditKind::scale:
                for (const Influence& i : weights_[v])
                    if (named(i.joint)) wanted.push_back({i.joint, double{i.weight} * edit_->value});
                if (wanted.empty()) wanted.push_back({edit_->joints[0], 0});
                return with_weights(v, wanted);
            case EditKind::replace:
                if (locked(edit_->with)) return std::nullopt;
                for (const Influence& i : weights_[v])
                    at(wanted, named(i.joint) && !locked(i.joint) ? edit_->with : i.joint) += i.weight;
                return wanted;
            case EditKind::smooth:
                if (prepared->empty()) return std::nullopt;
                if (edit_->joints.empty()) return with_row(v, *prepared);
                for (const Share& s : *prepared)
                    if (named(s.joint)) wanted.push_back(s);
                for (const Influence& i : weights_[v])
                    if (named(i.joint)) at(wanted, i.joint) += 0;
                return with_weights(v, wanted);
            case EditKind::mirror:
                return prepared->empty() ? std::nullopt : with_row(v, *prepared);
        }
        return std::nullopt;
    }

    void smooth(std::vector<Row>& targets) {
        if (!surface_) surface_ = build_surface(mesh_, topology_);
        const MeshSurface& surface = *surface_;
        const Neighbourhoods near(mesh_, surface);
        const double length = edit_->value;
        parallel_chunks(context_, surface.nodes(), 4096, [&](std::size_t, std::size_t begin, std::size_t end) {
            Neighbourhoods::Scratch scratch(surface.nodes());
            for (std::size_t node = begin; node < end && !cancelled(context_); ++node) {
                const std::uint32_t v = surface.vertex_of[node];
                if (share_[v] <= 0) continue;
                Row& row = targets[v];
                double sum = 0;
                near.around(static_cast<std::uint32_t>(node), length, scratch, [&](std::uint32_t n, double d) {
                    const auto there = weights_[surface.vertex_of[n]];
                    if (there.empty()) return;
                    const double t = 1 - d / length * (d / length);
                    const double share = surface.mass[n] * t * t;
                    sum += share;
                    for (const Influence& i : there) at(row, i.joint) += share * i.weight;
                });
                for (Share& s : row) s.weight /= sum;
            }
        });
        for (std::size_t v = targets.size(); v-- > 0;)
            if (const std::uint32_t w = topology_.weld[v]; w != v) {
                const std::uint32_t node = surface.node_of[v];
                targets[v] = targets[node == MeshSurface::none ? w : surface.vertex_of[node]];
            }
    }

    void mirror(std::vector<Row>& targets) {
        if (!tree_) tree_.emplace(mesh_.positions, mesh_.triangles);
        const Mirror& m = edit_->mirror;
        const double diagonal = m.size > 0 ? m.size : box_of(mesh_.positions).diagonal();
        const auto over_there = [&](std::uint32_t j) {
            return j < m.partner.size() && m.partner[j] != DistanceTable::none ? m.partner[j] : j;
        };
        parallel_for(context_, targets.size(), 1024, [&](std::size_t v) {
            if (!selected(v) || cancelled(context_)) return;
            const Point3 p = to_point(mesh_.positions[v]);
            double height = 0;
            for (std::size_t k = 0; k < 3; ++k) height += (p[k] - m.point[k]) * m.normal[k];
            Row& row = targets[v];
            if (height > kOnPlane * diagonal) {  // on the side that is copied
                for (const Influence& i : weights_[v]) row.push_back({i.joint, i.weight});
                return;
            }
            if (height >= -kOnPlane * diagonal) {  // on the plane: the mean of both sides
                for (const Influence& i : weights_[v]) {
                    at(row, i.joint) += i.weight / 2.0;
                    at(row, over_there(i.joint)) += i.weight / 2.0;
                }
                return;
            }
            Point3 image;
            for (std::size_t k = 0; k < 3; ++k) image[k] = p[k] - 2 * height * m.normal[k];
            const SurfacePoint found = tree_->nearest(image, kMirrorReach * diagonal);
            if (found.triangle == SurfacePoint::none) return;
            for (std::size_t k = 0; k < 3; ++k)
                if (found.share[k] > 1e-9)
                    for (const Influence& i : weights_[mesh_.triangles[found.triangle][k]])
                        at(row, over_there(i.joint)) += found.share[k] * i.weight;
        });
    }

    const MeshView& mesh_;
    SkinWeights weights_;
    const Locks& locks_;
    const std::size_t keep_;
    const MeshTopology topology_;
    Context* const context_;
    const WeightEdit* edit_ = nullptr;
    std::vector<float> share_;  // per vertex: share of the current edit
    std::optional<MeshSurface> surface_;
    std::optional<TriangleTree> tree_;
};

Status check(const WeightEdit& e, std::size_t vertices, std::size_t joints) {
    const auto wrong = [](const std::string& what) { return Error{ErrorCode::usage, what}; };
    if (!e.selection.empty() && e.selection.size() != vertices)
        return wrong("the selection is for " + std::to_string(e.selection.size()) + " vertices, but the mesh has " +
                     std::to_string(vertices));
    for (const float s : e.selection)
        if (!(s >= 0 && s <= 1)) return wrong("a selection must be from 0 to 1, not " + std::to_string(s));
    for (const auto* list : {&e.joints, &e.region})
        for (const std::uint32_t j : *list)
            if (j >= joints) return wrong("there is no joint " + std::to_string(j));
    const std::string value = ", not " + std::to_string(e.value);
    switch (e.kind) {
        case EditKind::set:
        case EditKind::add: {
            const float least = e.kind == EditKind::set ? 0.0f : -1.0f;
            if (e.joints.size() != 1)
                return wrong("set and add need one joint, not " + std::to_string(e.joints.size()));
            if (!(e.value >= least && e.value <= 1))
                return wrong(e.kind == EditKind::set ? "set needs a value from 0 to 1" + value
                                                     : "add needs a value from -1 to 1" + value);
            break;
        }
        case EditKind::scale:
            if (e.joints.empty()) return wrong("scale needs joints");
            if (!(e.value >= 0 && std::isfinite(e.value))) return wrong("scale needs a value of 0 or more" + value);
            break;
        case EditKind::smooth:
            if (!(e.value > 0 && std::isfinite(e.value))) return wrong("smooth needs a length above 0" + value);
            break;
        case EditKind::replace:
            if (e.joints.empty() || e.with >= joints)
                return wrong("replace needs joints, and a joint that takes over their weight");
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

}  // namespace

Result<SkinWeights> apply_edits(const MeshView& mesh, const SkinWeights& weights, std::span<const WeightEdit> edits,
                                const Locks& locks, std::size_t joint_count, int max_influences, EditReport* report,
                                Context* context) {
    const std::size_t n = mesh.positions.size();
    if (weights.vertex_count() != n)
        return Error{ErrorCode::input, "the weights have rows for " + std::to_string(weights.vertex_count()) +
                                           " vertices, the mesh has " + std::to_string(n)};
    if (!locks.vertices.empty() && locks.vertices.size() != n)
        return Error{ErrorCode::usage, "locks are for " + std::to_string(locks.vertices.size()) +
                                           " vertices, the mesh has " + std::to_string(n)};
    for (std::size_t i = 0; i < edits.size(); ++i)
        if (Status ok = check(edits[i], n, joint_count); !ok)
            return Error{ok.error().code, "edit " + std::to_string(i + 1) + ": " + ok.error().message};
    if (edits.empty()) return weights;
    Editor editor(mesh, weights, locks, max_influences, context);
    for (const WeightEdit& edit : edits) {
        std::size_t changed = 0, kept = 0;
        if (Status ok = editor.apply(edit, changed, kept); !ok) return ok.error();
        if (report) {
            report->changed.push_back(changed);
            report->kept.push_back(kept);
        }
    }
    return editor.take();
}

}  // namespace sinew
