// What edits ask of a surface: neighbours, nodes within a radius, and the vertices that a brush touches.
#include "edits/edit_surface.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"

namespace sinew {
namespace {

double effect(BrushCurve curve, double t) {
    switch (curve) {
        case BrushCurve::smooth:
            return 1 - t * t * (3 - 2 * t);
        case BrushCurve::linear:
            return 1 - t;
        case BrushCurve::sharp:
            return (1 - t) * (1 - t);
        case BrushCurve::dome:
            return std::sqrt(1 - t * t);
        case BrushCurve::constant:
            return 1;
    }
    return 0;
}

}  // namespace

Neighbourhoods::Neighbourhoods(const MeshSurface& surface) {
    const auto place = [&](std::uint32_t node) { return to_point(surface.position[node]); };
    link_nodes(surface.nodes(), surface.edges, first_, link_, [&](const MeshSurface::Edge& e, std::uint32_t to) {
        const Point3 way = place(e.a) - place(e.b);
        return Link{to, std::hypot(way[0], way[1], way[2]), e.weight};
    });
}

NodeGrid::NodeGrid(const MeshSurface& surface) {
    const std::size_t nodes = surface.nodes();
    Point3 high{-INFINITY, -INFINITY, -INFINITY};
    low_ = {INFINITY, INFINITY, INFINITY};
    const auto place = [&](std::uint32_t n) { return to_point(surface.position[n]); };
    for (std::uint32_t n = 0; n < nodes; ++n) {
        const Point3 p = place(n);
        for (std::size_t k = 0; k < 3; ++k) low_[k] = std::min(low_[k], p[k]), high[k] = std::max(high[k], p[k]);
    }
    // A surface of N nodes crosses about N cells of this size.
    double longest = 0;
    for (std::size_t k = 0; k < 3; ++k) longest = std::max(longest, high[k] - low_[k]);
    const double along = std::clamp(std::sqrt(static_cast<double>(nodes)), 1.0, 96.0);
    edge_ = longest > 0 ? longest / along : 1;
    for (std::size_t k = 0; k < 3; ++k)
        cells_[k] = nodes ? static_cast<std::size_t>((high[k] - low_[k]) / edge_) + 1 : 1;
    first_.assign(cells_[0] * cells_[1] * cells_[2] + 1, 0);
    const auto cell_of = [&](std::uint32_t n) {
        const Point3 p = place(n);
        return (cell(2, p[2]) * cells_[1] + cell(1, p[1])) * cells_[0] + cell(0, p[0]);
    };
    for (std::uint32_t n = 0; n < nodes; ++n) ++first_[cell_of(n) + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    node_.resize(nodes);
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::uint32_t n = 0; n < nodes; ++n) node_[next[cell_of(n)]++] = n;
}

const MeshSurface& EditSurfaceState::surface() {
    if (!surface_) surface_ = build_surface(mesh, topology, &own_);
    return *surface_;
}
const Neighbourhoods& EditSurfaceState::neighbours() {
    if (!neighbours_) neighbours_.emplace(surface());
    return *neighbours_;
}
const TriangleTree& EditSurfaceState::tree() {
    if (!tree_) tree_.emplace(mesh.positions, mesh.triangles, &own_);
    return *tree_;
}
const NodeGrid& EditSurfaceState::grid() {
    if (!grid_) grid_.emplace(surface());
    return *grid_;
}

double EditSurfaceState::longest_edge() {
    if (!longest_edge_) {
        longest_edge_ = 0;
        for (std::uint32_t node = 0; node < surface().nodes(); ++node)
            for (const Neighbourhoods::Link& l : neighbours().of(node))
                longest_edge_ = std::max(*longest_edge_, l.length);
    }
    return *longest_edge_;
}

EditSurface::EditSurface(const MeshView& mesh, Context* context)
    : state_(std::make_shared<EditSurfaceState>(mesh, context)) {}

Result<const Symmetry*> EditSurfaceState::symmetry(const Skeleton& skeleton, Context* context) {
    if (!symmetry_known_) {
        SINEW_TRY_LET(symmetry_, find_symmetry(mesh, skeleton, context));
        symmetry_known_ = true;
    }
    return symmetry_ ? &*symmetry_ : nullptr;
}

const std::vector<float>& EditSurfaceState::marked(const Brush& brush, Context* context) {
    for (Marked& m : marked_) {
        const std::vector<Brush::Dab>& known = m.brush.dabs;
        if (known.empty() || known.size() > brush.dabs.size() || m.brush.radius != brush.radius ||
            m.brush.curve != brush.curve || m.brush.through != brush.through ||
            !std::equal(known.begin(), known.end(), brush.dabs.begin()))
            continue;
        mark(*this, brush, known.size(), m.selection, context);
        m.brush = cancelled(context) ? Brush{} : brush;
        return m.selection;
    }
    Marked& m = marked_[oldest_];
    oldest_ = 1 - oldest_;
    m.selection.assign(mesh.positions.size(), 0);
    mark(*this, brush, 0, m.selection, context);
    m.brush = cancelled(context) ? Brush{} : brush;
    return m.selection;
}

void EditSurface::mark(const Brush& brush, std::size_t first, std::span<float> selection) const {
    sinew::mark(*state_, brush, first, selection, nullptr);
}

void mark(EditSurfaceState& s, const Brush& brush, std::size_t first, std::span<float> selection,
          Context* context) {
    const MeshSurface& surface = s.surface();
    const double radius = brush.radius;
    bool marked = false;
    const auto offset = [&](std::uint32_t n, const Point3& centre) {
        return to_point(surface.position[n]) - centre;
    };
    const auto mark_node = [&](std::uint32_t n, double square, const Brush::Dab& dab) {
        const Point3 facing = to_point(dab.facing), &normal = surface.normal[n];
        if (dot(facing, facing) > 0 && dot(normal, normal) > 0 && !(dot(normal, facing) > 0)) return;
        const double t = std::min(std::sqrt(square) / radius, 1.0);
        const auto share = static_cast<float>(dab.strength * effect(brush.curve, t));
        float& at = selection[surface.vertex_of[n]];
        if (!(share > at)) return;
        at = share;
        marked = true;
    };
    std::vector<std::uint32_t> queue;
    std::vector<std::uint8_t> seen(brush.through ? 0 : surface.nodes(), 0);
    for (std::size_t d = first; d < brush.dabs.size() && !cancelled(context); ++d) {
        const Brush::Dab& dab = brush.dabs[d];
        const Point3 centre = to_point(dab.place);
        if (brush.through) {
            s.grid().near(centre, radius, [&](std::uint32_t n) {
                const Point3 o = offset(n, centre);
                if (const double square = dot(o, o); square <= radius * radius) mark_node(n, square, dab);
            });
            continue;
        }
        // Starts at the corners of the triangle there, also if they are outside the radius: triangles may be large.
        const SurfacePoint place = s.tree().nearest(centre, radius);
        if (place.triangle == no_index) continue;
        queue.clear();
        for (const std::uint32_t v : s.mesh.triangles[place.triangle])
            if (const std::uint32_t n = surface.node_of[v]; !seen[n]) seen[n] = 1, queue.push_back(n);
        const std::size_t corners = queue.size();
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const std::uint32_t n = queue[i];
            const Point3 o = offset(n, centre);
            const double square = dot(o, o);
            if (square <= radius * radius)
                mark_node(n, square, dab);
            else if (i >= corners)
                continue;
            for (const Neighbourhoods::Link& l : s.neighbours().of(n)) {
                if (seen[l.node]) continue;
                const Point3 there = offset(l.node, centre);
                if (dot(there, there) > radius * radius) continue;
                seen[l.node] = 1;
                queue.push_back(l.node);
            }
        }
        for (const std::uint32_t n : queue) seen[n] = 0;
    }
    if (!marked) return;
    // Other vertices at the marked positions.
    for (std::size_t v = 0; v < selection.size(); ++v)
        if (const std::uint32_t n = surface.node_of[v]; n != no_index)
            selection[v] = std::max(selection[v], selection[surface.vertex_of[n]]);
}

std::uint32_t EditSurfaceState::vertex_near(const Point3& place, double reach) {
    const SurfacePoint found = tree().nearest(place, reach);
    if (found.triangle == no_index) return no_index;
    const auto most = std::max_element(found.share.begin(), found.share.end()) - found.share.begin();
    return mesh.triangles[found.triangle][static_cast<std::size_t>(most)];
}

}  // namespace sinew
