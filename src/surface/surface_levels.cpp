#include "surface/surface_levels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/lists.h"
#include "core/morton.h"
#include "core/nearest_in_triangle.h"
#include "core/parallel.h"
#include "core/vectors.h"
#include "surface/triangle_tree.h"

namespace sinew {
namespace {

constexpr std::uint32_t kNone = MeshSurface::none;
constexpr std::size_t kFew = 3000;  // nodes: a surface with fewer has no coarse ones
constexpr double kSpacing = 0.25;   // of the values of a coarse surface, in lengths over which fields change

/// The cells at each node.
Lists cells_at_nodes(const std::vector<Triangle>& cells, std::size_t nodes, Context* context) {
    return Lists(nodes, context, [&](const auto& to) {
        for (std::uint32_t c = 0; c < cells.size(); ++c)
            for (std::size_t k = 0; k < 3; ++k)
                if (k == 0 || cells[c][k] != cells[c][k - 1]) to(cells[c][k], c);
    });
}

/// The Laplacian of edges, by rows. `edge`: of each number below `count`.
template <typename EdgeOf>
void set_links(SurfaceLevel& level, std::size_t count, const EdgeOf& edge, Context* context) {
    const Lists at(level.nodes(), context, [&](const auto& to) {
        for (std::uint32_t e = 0; e < count; ++e) {
            const MeshSurface::Edge each = edge(e);
            if (each.a == kNone) continue;
            to(each.a, e);
            to(each.b, e);
        }
    });
    level.first = at.first;
    level.link.resize(at.value.size());
    parallel_for(context, level.nodes(), 4096, [&](std::size_t i) {
        SurfaceLevel::Link* link = level.link.data() + level.first[i];
        for (const std::uint32_t e : at.of(i)) {
            const MeshSurface::Edge each = edge(e);
            *link++ = {each.a == i ? each.b : each.a, static_cast<float>(each.weight)};
        }
    });
}

/// What add(out, i) adds for all numbers below `count`, in their order.
template <typename Entry, typename Add>
std::vector<Entry> collect(std::size_t count, Context* context, const Add& add) {
    constexpr std::size_t together = 1 << 14;
    std::vector<std::vector<Entry>> parts((count + together - 1) / together);
    parallel_chunks(context, count, together, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        parts[chunk].reserve(end - begin);
        for (std::size_t i = begin; i < end; ++i) add(parts[chunk], i);
    });
    std::size_t size = 0;
    for (const std::vector<Entry>& part : parts) size += part.size();
    std::vector<Entry> all;
    all.reserve(size);
    for (std::vector<Entry>& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
        part = {};
    }
    return all;
}

/// Chooses the nodes of the coarser level, in the order of the finer one. Returns the nearest of them for each node
/// of the finer level: its cluster. Nodes that follow each other are divided into stretches, each of which has its
/// own clusters: where levels are large, their nodes follow a curve.
std::vector<std::uint32_t> cluster(const SurfaceLevel& fine, const std::function<double(std::uint32_t)>& spacing,
                                   SurfaceLevel& coarse, Context* context) {
    constexpr std::size_t together = 1 << 15;
    std::vector<std::uint32_t> owner(fine.nodes(), kNone), reached_by(fine.nodes(), kNone);
    std::vector<float> nearest(fine.nodes(), INFINITY);
    std::vector<std::vector<std::uint32_t>> centres((fine.nodes() + together - 1) / together);
    parallel_chunks(context, fine.nodes(), together, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        std::vector<std::uint32_t> waiting;
        for (auto i = static_cast<std::uint32_t>(begin); i < end; ++i) {
            if (owner[i] != kNone) continue;
            const auto own = static_cast<std::uint32_t>(centres[chunk].size());
            centres[chunk].push_back(i);
            const Point3 centre = fine.place[i];
            const double radius = spacing(i);
            waiting.assign(1, i);
            reached_by[i] = own;
            while (!waiting.empty()) {
                const std::uint32_t at = waiting.back();
                waiting.pop_back();
                const auto distance = static_cast<float>(norm(fine.place[at] - centre));
                if (at == i || distance < nearest[at]) nearest[at] = distance, owner[at] = own;
                for (const auto [next, weight] : fine.links(at))
                    if (next >= begin && next < end && reached_by[next] != own &&
                        norm(fine.place[next] - centre) <= radius) {
                        reached_by[next] = own;
                        waiting.push_back(next);
                    }
            }
        }
    });
    for (std::size_t chunk = 0; chunk < centres.size(); ++chunk) {
        const auto before = static_cast<std::uint32_t>(coarse.finer.size());
        const std::size_t begin = chunk * together, end = std::min(begin + together, owner.size());
        for (std::size_t i = begin; i < end; ++i) owner[i] += before;
        coarse.finer.insert(coarse.finer.end(), centres[chunk].begin(), centres[chunk].end());
    }
    return owner;
}

/// The dual of the clusters.
std::vector<Triangle> dual_cells(const SurfaceLevel& fine, const std::vector<std::uint32_t>& owner,
                                 std::size_t clusters, Context* context) {
    const auto corners =
        collect<Triangle>(fine.cells.size(), context, [&](std::vector<Triangle>& out, std::size_t t) {
            Triangle c{owner[fine.cells[t][0]], owner[fine.cells[t][1]], owner[fine.cells[t][2]]};
            if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) return;
            std::sort(c.begin(), c.end());
            out.push_back(c);
        });
    const Lists by_first(clusters, context, [&](const auto& to) {
        for (std::uint32_t c = 0; c < corners.size(); ++c) to(corners[c][0], c);
    });
    const auto remove_same = [](std::vector<Triangle>& of, std::ptrdiff_t begin) {
        std::sort(of.begin() + begin, of.end());
        of.erase(std::unique(of.begin() + begin, of.end()), of.end());
    };
    auto cells = collect<Triangle>(clusters, context, [&](std::vector<Triangle>& out, std::size_t i) {
        const auto begin = static_cast<std::ptrdiff_t>(out.size());
        for (const std::uint32_t c : by_first.of(i)) out.push_back(corners[c]);
        remove_same(out, begin);
    });
    const Lists at = cells_at_nodes(cells, clusters, context);
    const auto is_side = [&](std::uint32_t a, std::uint32_t b) {
        const auto around = at.of(a);
        return std::any_of(around.begin(), around.end(), [&](std::uint32_t c) {
            return cells[c][0] == b || cells[c][1] == b || cells[c][2] == b;
        });
    };
    auto edges = collect<Triangle>(fine.nodes(), context, [&](std::vector<Triangle>& out, std::size_t i) {
        for (const auto [to, weight] : fine.links(i))
            if (owner[i] < owner[to] && !is_side(owner[i], owner[to]))
                out.push_back({owner[i], owner[to], owner[to]});
    });
    remove_same(edges, 0);
    cells.insert(cells.end(), edges.begin(), edges.end());
    return cells;
}

/// The nearest point of the cells at the cluster of each node.
std::vector<SurfaceLevel::Stencil> interpolate(const SurfaceLevel& fine, const SurfaceLevel& coarse,
                                               const std::vector<std::uint32_t>& owner, Context* context) {
    const Lists at = cells_at_nodes(coarse.cells, coarse.nodes(), context);
    std::vector<SurfaceLevel::Stencil> stencil(fine.nodes());
    parallel_for(context, fine.nodes(), 1024, [&](std::size_t i) {
        const std::uint32_t own = owner[i];
        SurfaceLevel::Stencil& out = stencil[i];
        out.of = {own, own, own};
        if (coarse.finer[own] == i) return;
        const Point3& p = fine.place[i];
        double best = INFINITY;
        for (const std::uint32_t cell : at.of(own)) {
            const Triangle& t = coarse.cells[cell];
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
    std::vector<MeshSurface::Edge> sums() const {
        std::vector<MeshSurface::Edge> out;
        for (const Slot& s : slots_)
            if (s.key != kEmpty)
                out.push_back(
                    {static_cast<std::uint32_t>(s.key >> 32), static_cast<std::uint32_t>(s.key), s.value});
        return out;
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

/// Pᵀ L P, for a coarser level of `nodes` nodes: add(sums, i) adds the entries of each of `count` items, of which
/// `together` are summed at a time, a part of the result's bits.
template <typename Add>
std::vector<MeshSurface::Edge> restricted(std::size_t count, std::size_t together, std::size_t nodes,
                                          Context* context, const Add& add) {
    std::vector<std::vector<MeshSurface::Edge>> sums((count + together - 1) / together);
    parallel_chunks(context, count, together, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        EntrySums own;
        for (std::size_t i = begin; i < end; ++i) add(own, i);
        sums[chunk] = own.sums();
    });
    std::vector<MeshSurface::Edge> all, out;
    for (const auto& each : sums) all.insert(all.end(), each.begin(), each.end());
    const Lists by_node(nodes, context, [&](const auto& to) {
        for (std::uint32_t e = 0; e < all.size(); ++e) to(all[e].a, e);
    });
    for (std::size_t i = 0; i < nodes; ++i) {
        const auto begin = static_cast<std::ptrdiff_t>(out.size());
        for (const std::uint32_t e : by_node.of(i)) {
            const auto at =
                std::find_if(out.begin() + begin, out.end(), [&](const auto& o) { return o.b == all[e].b; });
            if (at != out.end())
                at->weight += all[e].weight;
            else
                out.push_back(all[e]);
        }
    }
    return out;
}

}  // namespace

std::vector<MeshSurface::Edge> restrict_laplacian(std::span<const MeshSurface::Edge> fine,
                                                  std::span<const SurfaceLevel::Stencil> stencil, std::size_t nodes,
                                                  Context* context) {
    return restricted(fine.size(), 1 << 14, nodes, context, [&](EntrySums& sums, std::size_t i) {
        add_square(sums, stencil[fine[i].a], stencil[fine[i].b], fine[i].weight);
    });
}

std::vector<std::uint32_t> along_curve(const MeshView& mesh, const MeshSurface& surface,
                                       std::span<const std::uint32_t> nodes) {
    constexpr std::uint32_t bits = 7;
    Point3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    for (const std::uint32_t node : nodes) {
        const Point3 p = to_point(mesh.positions[surface.vertex_of[node]]);
        for (std::size_t a = 0; a < 3; ++a) low[a] = std::min(low[a], p[a]), high[a] = std::max(high[a], p[a]);
    }
    const double size = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
    std::vector<std::uint32_t> cell;
    cell.reserve(nodes.size());
    std::vector<std::uint32_t> first((1u << 3 * bits) + 1, 0);
    for (const std::uint32_t node : nodes) {
        const Point3 p = to_point(mesh.positions[surface.vertex_of[node]]);
        std::array<std::uint32_t, 3> at;
        for (std::size_t a = 0; a < 3; ++a)
            at[a] = static_cast<std::uint32_t>(std::min((p[a] - low[a]) / size * (1u << bits), (1u << bits) - 1.0));
        const auto key = static_cast<std::uint32_t>(morton(at[0], at[1], at[2]));
        cell.push_back(key);
        ++first[key + 1];
    }
    for (std::size_t c = 1; c < first.size(); ++c) first[c] += first[c - 1];
    std::vector<std::uint32_t> out(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) out[first[cell[i]]++] = nodes[i];
    return out;
}

SurfaceLevel finest_level(const MeshView& mesh, const MeshSurface& surface, std::span<const std::uint32_t> nodes,
                          const std::vector<std::uint32_t>& of_node, Context* context) {
    SurfaceLevel out;
    out.place.resize(nodes.size());
    out.component.resize(nodes.size());
    parallel_for(context, nodes.size(), 4096, [&](std::size_t i) {
        out.place[i] = to_point(mesh.positions[surface.vertex_of[nodes[i]]]);
        out.component[i] = surface.component[nodes[i]];
    });
    out.cells = collect<Triangle>(mesh.triangles.size(), context, [&](std::vector<Triangle>& cells, std::size_t t) {
        Triangle c;
        for (std::size_t k = 0; k < 3; ++k) c[k] = of_node[surface.node_of[mesh.triangles[t][k]]];
        if (c[0] != kNone) cells.push_back(c);
    });
    const auto edge = [&](std::size_t e) {
        const auto& [a, b, weight] = surface.edges[e];
        return MeshSurface::Edge{of_node[a], of_node[b], weight};
    };
    set_links(out, surface.edges.size(), edge, context);
    return out;
}

SurfaceLevel coarsen(const SurfaceLevel& fine, const std::function<double(std::uint32_t)>& spacing,
                     Context* context) {
    SurfaceLevel out;
    const std::vector<std::uint32_t> owner = cluster(fine, spacing, out, context);
    for (const std::uint32_t i : out.finer) {
        out.place.push_back(fine.place[i]);
        out.component.push_back(fine.component[i]);
    }
    out.cells = dual_cells(fine, owner, out.nodes(), context);
    out.stencil = interpolate(fine, out, owner, context);
    const auto edges = restricted(fine.nodes(), 4096, out.nodes(), context, [&](EntrySums& sums, std::size_t i) {
        for (const auto [to, weight] : fine.links(i))
            if (i < to) add_square(sums, out.stencil[i], out.stencil[to], static_cast<double>(weight));
    });
    set_links(
        out, edges.size(), [&](std::size_t e) { return edges[e]; }, context);
    return out;
}

CoarseSurface::CoarseSurface(const MeshView& mesh, const MeshSurface& surface,
                             const std::function<double(std::uint32_t)>& length, Context* context)
    : node_(surface.nodes()) {
    std::iota(node_.begin(), node_.end(), 0u);
    if (surface.nodes() <= kFew) return;
    const std::vector<std::uint32_t> order = along_curve(mesh, surface, node_);
    std::vector<std::uint32_t> of_node(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) of_node[order[i]] = i;
    const SurfaceLevel coarse = coarsen(
        finest_level(mesh, surface, order, of_node, context),
        [&](std::uint32_t i) { return kSpacing * length(order[i]); }, context);
    node_.clear();
    for (const std::uint32_t i : coarse.finer) node_.push_back(order[i]);
    stencil_.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) stencil_[order[i]] = coarse.stencil[i];
}

std::vector<MeshSurface::Edge> CoarseSurface::restricted(std::span<const MeshSurface::Edge> edges,
                                                         Context* context) const {
    if (stencil_.empty()) return {edges.begin(), edges.end()};
    return restrict_laplacian(edges, stencil_, size(), context);
}

std::vector<double> CoarseSurface::restricted(std::span<const double> x) const {
    std::vector<double> out(size(), 0);
    for (std::uint32_t i = 0; i < x.size(); ++i) {
        const SurfaceLevel::Stencil s = stencil(i);
        for (std::size_t k = 0; k < 3; ++k) out[s.of[k]] += static_cast<double>(s.share[k]) * x[i];
    }
    return out;
}

}  // namespace sinew
