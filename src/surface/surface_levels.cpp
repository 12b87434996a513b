#include "surface/surface_levels.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/vectors.h"
#include "surface/triangle_tree.h"

namespace sinew {
namespace {

constexpr std::uint32_t kNone = MeshSurface::none;

/// The nodes beside each node.
struct Neighbours {
    std::vector<std::uint32_t> first, node;

    explicit Neighbours(const SurfaceLevel& level) : first(level.nodes() + 1, 0), node(2 * level.edges.size()) {
        for (const MeshSurface::Edge& e : level.edges) ++first[e.a + 1], ++first[e.b + 1];
        for (std::size_t i = 0; i < level.nodes(); ++i) first[i + 1] += first[i];
        std::vector<std::uint32_t> next = first;
        for (const MeshSurface::Edge& e : level.edges) node[next[e.a]++] = e.b, node[next[e.b]++] = e.a;
    }
    std::span<const std::uint32_t> of(std::uint32_t i) const {
        return {node.data() + first[i], node.data() + first[i + 1]};
    }
};

/// Chooses the nodes of the coarser level, in the order of the finer one. Returns the nearest of them for each node
/// of the finer level: its cluster.
std::vector<std::uint32_t> cluster(const SurfaceLevel& fine, const std::function<double(std::uint32_t)>& spacing,
                                   SurfaceLevel& coarse) {
    const Neighbours neighbours(fine);
    std::vector<std::uint32_t> owner(fine.nodes(), kNone), reached_by(fine.nodes(), kNone), waiting;
    std::vector<float> nearest(fine.nodes(), INFINITY);
    for (std::uint32_t i = 0; i < fine.nodes(); ++i) {
        if (owner[i] != kNone) continue;
        const auto own = static_cast<std::uint32_t>(coarse.finer.size());
        coarse.finer.push_back(i);
        const Point3 centre = fine.place[i];
        const double radius = spacing(i);
        waiting.assign(1, i);
        reached_by[i] = own;
        while (!waiting.empty()) {
            const std::uint32_t at = waiting.back();
            waiting.pop_back();
            const auto distance = static_cast<float>(norm(fine.place[at] - centre));
            if (at == i || distance < nearest[at]) nearest[at] = distance, owner[at] = own;
            for (const std::uint32_t next : neighbours.of(at))
                if (reached_by[next] != own && norm(fine.place[next] - centre) <= radius) {
                    reached_by[next] = own;
                    waiting.push_back(next);
                }
        }
    }
    return owner;
}

/// The dual of the clusters.
std::vector<Triangle> dual_cells(const SurfaceLevel& fine, const std::vector<std::uint32_t>& owner) {
    std::vector<Triangle> cells, edges;
    const auto keep_each_once = [](std::vector<Triangle>& list) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    for (const Triangle& t : fine.cells) {
        Triangle c{owner[t[0]], owner[t[1]], owner[t[2]]};
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
        std::sort(c.begin(), c.end());
        cells.push_back(c);
    }
    keep_each_once(cells);
    std::vector<std::array<std::uint32_t, 2>> sides;
    for (const Triangle& c : cells)
        for (std::size_t k = 0; k < 3; ++k) sides.push_back({c[k < 2 ? 0 : 1], c[k == 0 ? 1 : 2]});
    std::sort(sides.begin(), sides.end());
    for (const MeshSurface::Edge& e : fine.edges) {
        const auto [a, b] = std::minmax(owner[e.a], owner[e.b]);
        if (a != b && !std::binary_search(sides.begin(), sides.end(), std::array{a, b})) edges.push_back({a, b, b});
    }
    keep_each_once(edges);
    cells.insert(cells.end(), edges.begin(), edges.end());
    return cells;
}

/// The nearest point of the cells at the cluster of each node.
std::vector<SurfaceLevel::Stencil> interpolate(const SurfaceLevel& fine, const SurfaceLevel& coarse,
                                               const std::vector<std::uint32_t>& owner, Context* context) {
    std::vector<std::uint32_t> first(coarse.nodes() + 1, 0), cells;  // the cells at each coarse node
    const auto each_corner = [&](const auto& work) {
        for (std::uint32_t c = 0; c < coarse.cells.size(); ++c)
            for (std::size_t k = 0; k < 3; ++k)
                if (const Triangle& t = coarse.cells[c]; k == 0 || t[k] != t[k - 1]) work(t[k], c);
    };
    each_corner([&](std::uint32_t node, std::uint32_t) { ++first[node + 1]; });
    for (std::size_t i = 0; i < coarse.nodes(); ++i) first[i + 1] += first[i];
    cells.resize(first.back());
    std::vector<std::uint32_t> next = first;
    each_corner([&](std::uint32_t node, std::uint32_t cell) { cells[next[node]++] = cell; });

    std::vector<SurfaceLevel::Stencil> stencil(fine.nodes());
    parallel_for(context, fine.nodes(), 1024, [&](std::size_t i) {
        const std::uint32_t own = owner[i];
        SurfaceLevel::Stencil& out = stencil[i];
        out.of = {own, own, own};
        if (coarse.finer[own] == i) return;
        const Point3& p = fine.place[i];
        double best = INFINITY;
        for (std::uint32_t k = first[own]; k < first[own + 1]; ++k) {
            const Triangle& t = coarse.cells[cells[k]];
            const Point3 &a = coarse.place[t[0]], &b = coarse.place[t[1]], &c = coarse.place[t[2]];
            const std::array<double, 3> share = nearest_in_triangle(a, b, c, p);
            const Point3 to = share[0] * a + share[1] * b + share[2] * c - p;
            if (const double distance = dot(to, to); distance < best) {
                best = distance;
                out.of = t;
                for (std::size_t corner = 0; corner < 3; ++corner)
                    out.share[corner] = static_cast<float>(share[corner]);
            }
        }
    });
    return stencil;
}

/// Sums of entries by their place.
class EntrySums {
public:
    EntrySums() : slots_(1024) {}

    void add(std::uint32_t a, std::uint32_t b, double value) {
        const std::uint64_t key = std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
        if (2 * used_ > slots_.size()) grow();
        Slot& slot = find(slots_, key);
        used_ += slot.key == kEmpty;
        slot.key = key;
        slot.value += value;
    }
    std::vector<MeshSurface::Edge> sorted() const {
        std::vector<MeshSurface::Edge> out;
        for (const Slot& s : slots_)
            if (s.key != kEmpty)
                out.push_back(
                    {static_cast<std::uint32_t>(s.key >> 32), static_cast<std::uint32_t>(s.key), s.value});
        std::sort(out.begin(), out.end(), before);
        return out;
    }
    static bool before(const MeshSurface::Edge& x, const MeshSurface::Edge& y) {
        return x.a != y.a ? x.a < y.a : x.b < y.b;
    }

private:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
    struct Slot {
        std::uint64_t key = kEmpty;
        double value = 0;
    };
    static Slot& find(std::vector<Slot>& slots, std::uint64_t key) {
        std::size_t at = (key * 0x9e3779b97f4a7c15u) >> 20 & (slots.size() - 1);
        while (slots[at].key != key && slots[at].key != kEmpty) at = (at + 1) & (slots.size() - 1);
        return slots[at];
    }
    void grow() {
        std::vector<Slot> more(2 * slots_.size());
        for (const Slot& s : slots_)
            if (s.key != kEmpty) find(more, s.key) = s;
        slots_ = std::move(more);
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

/// Adds the edges of w v vᵀ, where v is the difference of two stencils.
void add_square(EntrySums& sums, const SurfaceLevel::Stencil& a, const SurfaceLevel::Stencil& b, double w) {
    std::array<std::uint32_t, 6> of;
    std::array<double, 6> v;
    std::size_t count = 0;
    const auto gather = [&](const SurfaceLevel::Stencil& s, double sign) {
        for (std::size_t k = 0; k < 3; ++k) {
            if (s.share[k] == 0) continue;
            std::size_t at = 0;
            while (at < count && of[at] != s.of[k]) ++at;
            if (at == count) of[count] = s.of[k], v[count++] = 0;
            v[at] += sign * static_cast<double>(s.share[k]);
        }
    };
    gather(a, 1);
    gather(b, -1);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = i + 1; j < count; ++j)
            if (const double x = -w * v[i] * v[j]; x != 0) sums.add(of[i], of[j], x);
}

/// Pᵀ L P.
std::vector<MeshSurface::Edge> restrict_laplacian(const SurfaceLevel& fine,
                                                  const std::vector<SurfaceLevel::Stencil>& stencil,
                                                  Context* context) {
    constexpr std::size_t together = 1 << 16;  // edges that are summed at a time; part of the result's bits
    std::vector<std::vector<MeshSurface::Edge>> sums((fine.edges.size() + together - 1) / together);
    parallel_for(context, sums.size(), 1, [&](std::size_t s) {
        EntrySums own;
        for (std::size_t i = s * together; i < std::min((s + 1) * together, fine.edges.size()); ++i) {
            const MeshSurface::Edge& e = fine.edges[i];
            add_square(own, stencil[e.a], stencil[e.b], e.weight);
        }
        sums[s] = own.sorted();
    });
    std::vector<MeshSurface::Edge> all, out;
    for (const auto& each : sums) all.insert(all.end(), each.begin(), each.end());
    std::stable_sort(all.begin(), all.end(), EntrySums::before);
    for (const MeshSurface::Edge& e : all)
        if (!out.empty() && !EntrySums::before(out.back(), e))
            out.back().weight += e.weight;
        else
            out.push_back(e);
    return out;
}

}  // namespace

SurfaceLevel finest_level(const MeshView& mesh, const MeshSurface& surface, std::span<const std::uint32_t> nodes,
                          const std::vector<std::uint32_t>& of_node) {
    SurfaceLevel out;
    for (const std::uint32_t node : nodes) {
        out.place.push_back(to_point(mesh.positions[surface.vertex_of[node]]));
        out.component.push_back(surface.component[node]);
    }
    for (const Triangle& t : mesh.triangles) {
        const std::uint32_t a = of_node[surface.node_of[t[0]]], b = of_node[surface.node_of[t[1]]],
                            c = of_node[surface.node_of[t[2]]];
        if (a != kNone) out.cells.push_back({a, b, c});
    }
    for (const MeshSurface::Edge& e : surface.edges)
        if (of_node[e.a] != kNone) out.edges.push_back({of_node[e.a], of_node[e.b], e.weight});
    return out;
}

SurfaceLevel coarsen(const SurfaceLevel& fine, const std::function<double(std::uint32_t)>& spacing,
                     Context* context) {
    SurfaceLevel out;
    const std::vector<std::uint32_t> owner = cluster(fine, spacing, out);
    for (const std::uint32_t i : out.finer) {
        out.place.push_back(fine.place[i]);
        out.component.push_back(fine.component[i]);
    }
    out.cells = dual_cells(fine, owner);
    out.stencil = interpolate(fine, out, owner, context);
    out.edges = restrict_laplacian(fine, out.stencil, context);
    return out;
}

}  // namespace sinew
