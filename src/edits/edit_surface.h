// The surface of a mesh as edits need it, kept from edit to edit.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "core/geometry.h"
#include "core/vectors.h"
#include "sinew/domain.h"
#include "sinew/edits.h"
#include "sinew/quality.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"

namespace sinew {

/// Nodes of a surface along its edges.
class Neighbourhoods {
public:
    struct Link {
        std::uint32_t node;
        double length, weight;  // scene units; MeshSurface::Edge::weight
    };
    explicit Neighbourhoods(const MeshSurface& surface);

    std::span<const Link> of(std::uint32_t node) const {
        return {link_.data() + first_[node], link_.data() + first_[node + 1]};
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
            for (const Link& l : of(n)) offer(l.node, d + l.length);
        }
        for (const std::uint32_t n : scratch.touched) scratch.distance[n] = INFINITY;
        scratch.touched.clear();
    }

private:
    std::vector<std::uint32_t> first_;
    std::vector<Link> link_;
};

/// Nodes by cells of a grid, to find those within a radius.
class NodeGrid {
public:
    explicit NodeGrid(const MeshSurface& surface);

    /// Calls visit(node) for all nodes in cells that touch the box around the ball.
    template <typename Visit>
    void near(const Point3& centre, double radius, Visit&& visit) const {
        std::array<std::size_t, 3> low, high;
        for (std::size_t k = 0; k < 3; ++k) {
            low[k] = cell(k, centre[k] - radius);
            high[k] = cell(k, centre[k] + radius);
        }
        for (std::size_t z = low[2]; z <= high[2]; ++z)
            for (std::size_t y = low[1]; y <= high[1]; ++y) {
                const std::size_t row = (z * cells_[1] + y) * cells_[0];
                for (std::uint32_t i = first_[row + low[0]]; i < first_[row + high[0] + 1]; ++i) visit(node_[i]);
            }
    }

private:
    std::size_t cell(std::size_t axis, double x) const {
        const double at = (x - low_[axis]) / edge_;
        return at > 0 ? std::min(static_cast<std::size_t>(std::min(at, 1e9)), cells_[axis] - 1) : 0;
    }

    Point3 low_{};
    double edge_ = 1;
    std::array<std::size_t, 3> cells_{1, 1, 1};
    std::vector<std::uint32_t> first_, node_;  // cells + 1; nodes in the order of their cells
};

class PinField;

struct EditSurfaceState {
    MeshView mesh;
    MeshTopology topology;

    const MeshSurface& surface();
    const Neighbourhoods& neighbours();
    const TriangleTree& tree();
    const NodeGrid& grid();
    double longest_edge();
    /// The corner with the largest share in the nearest place of the surface within reach, or no_index.
    std::uint32_t vertex_near(const Point3& place, double reach);

    /// The mirror plane of the skeleton, if it has one.
    Result<const Symmetry*> symmetry(const Skeleton& skeleton, Context* context);
    /// What the brush marks. A brush that goes on from one of the last two brushes costs only its new dabs.
    const std::vector<float>& marked(const Brush& brush, Context* context);

    /// Relative to the diagonal: maximum distance of the surface from a mirrored place.
    static constexpr double kMirrorReach = 0.02;
    /// The place across the mirror plane.
    static Point3 mirrored(const Point3& p, const Symmetry& across) {
        return p - 2 * dot(p - across.point, across.normal) * across.normal;
    }
    std::shared_ptr<PinField> pin_field;  ///< of the last pins

    static EditSurfaceState& of(const EditSurface& surface) { return *surface.state_; }

    EditSurfaceState(const MeshView& of, Context* context) : mesh(of), topology(analyse_mesh(of, context)) {
        if (context) own_.threads = context->threads;
    }

private:
    Context own_;  // the threads of the first context, for what is made when it is asked for
    std::optional<MeshSurface> surface_;
    std::optional<Neighbourhoods> neighbours_;
    std::optional<TriangleTree> tree_;
    std::optional<NodeGrid> grid_;
    std::optional<double> longest_edge_;
    bool symmetry_known_ = false;
    std::optional<Symmetry> symmetry_;
    struct Marked {
        Brush brush;
        std::vector<float> selection;
    };
    std::array<Marked, 2> marked_;  // of one side and of the other
    std::size_t oldest_ = 0;
};

/// Raises selection[v] as EditSurface::mark does. Ends early, in the middle of a brush, if it is cancelled.
void mark(EditSurfaceState& surface, const Brush& brush, std::size_t first, std::span<float> selection,
          Context* context);

}  // namespace sinew
