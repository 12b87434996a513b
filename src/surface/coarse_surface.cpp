#include "surface/coarse_surface.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/lists.h"
#include "core/morton.h"
#include "core/nearest_in_triangle.h"
#include "core/parallel.h"
#include "core/vectors.h"

namespace sinew {
namespace {

using Stencil = CoarseSurface::Stencil;

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

/// What add(out, i) adds for all numbers below `count`, in their order.
template <typename Entry, typename Add>
std::vector<Entry> collect(std::size_t count, Context* context, const Add& add) {
    constexpr std::size_t together = 1 << 14;
    std::vector<std::vector<Entry>> parts((count + together - 1) / together);
    parallel_chunks(context, count, together, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
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

/// The nodes that are thinned out, by their place in the order given.
struct Fine {
    std::vector<std::uint32_t> of_node;  // the place of each node of the surface, or kNone
    std::vector<Point3> at;              // scene units
    Lists next;                          // the other ends of edges

    Fine(const MeshView& mesh, const MeshSurface& surface, std::span<const std::uint32_t> nodes, Context* context)
        : of_node(surface.nodes(), kNone), at(nodes.size()) {
        parallel_for(context, nodes.size(), 4096, [&](std::size_t i) {
            of_node[nodes[i]] = static_cast<std::uint32_t>(i);
            at[i] = to_point(mesh.positions[surface.vertex_of[nodes[i]]]);
        });
        next = Lists(nodes.size(), context, [&](const auto& to) {
            for (const MeshSurface::Edge& e : surface.edges) {
                const std::uint32_t a = of_node[e.a], b = of_node[e.b];
                if (a == kNone) continue;
                to(a, b);
                to(b, a);
            }
        });
    }
    std::size_t size() const { return at.size(); }
};

/// Nodes with one among them that is near to all.
struct Clusters {
    std::vector<std::uint32_t> centre;  // ascending
    std::vector<std::uint32_t> of;      // per node
};

/// Nodes that follow each other are divided into stretches, each of which has its own clusters.
Clusters cluster(const Fine& fine, const std::function<double(std::uint32_t)>& spacing, Context* context) {
    constexpr std::size_t together = 1 << 15;
    Clusters out{{}, std::vector<std::uint32_t>(fine.size(), kNone)};
    std::vector<std::uint32_t>&owner = out.of, reached_by(fine.size(), kNone);
    std::vector<float> nearest(fine.size(), INFINITY);
    std::vector<std::vector<std::uint32_t>> centres((fine.size() + together - 1) / together);
    parallel_chunks(context, fine.size(), together, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        std::vector<std::uint32_t> waiting;
        for (auto i = static_cast<std::uint32_t>(begin); i < end; ++i) {
            if (owner[i] != kNone) continue;
            const auto own = static_cast<std::uint32_t>(centres[chunk].size());
            centres[chunk].push_back(i);
            const Point3 centre = fine.at[i];
            const double radius = spacing(i);
            waiting.assign(1, i);
            reached_by[i] = own;
            while (!waiting.empty()) {
                const std::uint32_t at = waiting.back();
                waiting.pop_back();
                const auto distance = static_cast<float>(norm(fine.at[at] - centre));
                if (at == i || distance < nearest[at]) nearest[at] = distance, owner[at] = own;
                for (const std::uint32_t next : fine.next.of(at))
                    if (next >= begin && next < end && reached_by[next] != own &&
                        norm(fine.at[next] - centre) <= radius) {
                        reached_by[next] = own;
                        waiting.push_back(next);
                    }
            }
        }
    });
    for (std::size_t chunk = 0; chunk < centres.size(); ++chunk) {
        const auto before = static_cast<std::uint32_t>(out.centre.size());
        const std::size_t begin = chunk * together, end = std::min(begin + together, owner.size());
        for (std::size_t i = begin; i < end; ++i) owner[i] += before;
        out.centre.insert(out.centre.end(), centres[chunk].begin(), centres[chunk].end());
    }
    return out;
}

/// The dual of the clusters: triangles of them; {a, b, b} for an edge of none.
std::vector<Triangle> dual_cells(const MeshView& mesh, const MeshSurface& surface, const Fine& fine,
                                 const Clusters& clusters, Context* context) {
    const std::vector<std::uint32_t>& owner = clusters.of;
    const auto corners =
        collect<Triangle>(mesh.triangles.size(), context, [&](std::vector<Triangle>& out, std::size_t t) {
            Triangle c;
            for (std::size_t k = 0; k < 3; ++k) {
                const std::uint32_t at = fine.of_node[surface.node_of[mesh.triangles[t][k]]];
                if (at == kNone) return;
                c[k] = owner[at];
            }
            if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) return;
            std::sort(c.begin(), c.end());
            out.push_back(c);
        });
    const std::size_t count = clusters.centre.size();
    const Lists by_first(count, context, [&](const auto& to) {
        for (std::uint32_t c = 0; c < corners.size(); ++c) to(corners[c][0], c);
    });
    const auto remove_same = [](std::vector<Triangle>& of, std::ptrdiff_t begin) {
        std::sort(of.begin() + begin, of.end());
        of.erase(std::unique(of.begin() + begin, of.end()), of.end());
    };
    auto cells = collect<Triangle>(count, context, [&](std::vector<Triangle>& out, std::size_t i) {
        const auto begin = static_cast<std::ptrdiff_t>(out.size());
        for (const std::uint32_t c : by_first.of(i)) out.push_back(corners[c]);
        remove_same(out, begin);
    });
    const Lists at = cells_at_nodes(cells, count, context);
    const auto is_side = [&](std::uint32_t a, std::uint32_t b) {
        const auto around = at.of(a);
        return std::any_of(around.begin(), around.end(), [&](std::uint32_t c) {
            return cells[c][0] == b || cells[c][1] == b || cells[c][2] == b;
        });
    };
    auto edges = collect<Triangle>(fine.size(), context, [&](std::vector<Triangle>& out, std::size_t i) {
        for (const std::uint32_t to : fine.next.of(i))
            if (owner[i] < owner[to] && !is_side(owner[i], owner[to]))
                out.push_back({owner[i], owner[to], owner[to]});
    });
    remove_same(edges, 0);
    cells.insert(cells.end(), edges.begin(), edges.end());
    return cells;
}

/// The nearest point of the cells at the cluster of a node.
Stencil interpolate(const Fine& fine, const Clusters& clusters, const std::vector<Triangle>& cells, const Lists& at,
                    std::size_t i) {
    const std::uint32_t own = clusters.of[i];
    Stencil out{{own, own, own}};
    if (clusters.centre[own] == i) return out;
    const Point3& p = fine.at[i];
    double best = INFINITY;
    for (const std::uint32_t cell : at.of(own)) {
        const Triangle& t = cells[cell];
        const Point3 &a = fine.at[clusters.centre[t[0]]], &b = fine.at[clusters.centre[t[1]]],
                     &c = fine.at[clusters.centre[t[2]]];
        const std::array<double, 3> share = nearest_in_triangle(a, b, c, p);
        const Point3 to = share[0] * a + share[1] * b + share[2] * c - p;
        if (const double distance = dot(to, to); distance < best) {
            best = distance;
            out.of = t;
            for (std::size_t corner = 0; corner < 3; ++corner)
                out.share[corner] = static_cast<float>(share[corner]);
        }
    }
    return out;
}

/// The same nodes in an order in which neighbours are near each other, whatever the order of the file: along the
/// curve of Morton (1966) through a grid. O(nodes).
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

/// Sums of entries by their place.
class EntrySums {
public:
    EntrySums() : slots_(1024) {}

    void add(std::uint32_t row, std::uint32_t column, double value) {
        const std::uint64_t key = std::uint64_t{row} << 32 | column;
        if (2 * used_ > slots_.size()) grow();
        Slot& slot = find(slots_, key);
        used_ += slot.key == kEmpty;
        slot.key = key;
        slot.value += value;
    }
    std::vector<MatrixEntry> sums() const {
        std::vector<MatrixEntry> out;
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
        std::size_t at = (key * 0x9e3779b97f4a7c15u) >> 40 & (slots.size() - 1);
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

/// The sums of what add(sums, i) adds for all numbers below `count`, by rows.
template <typename Add>
std::vector<MatrixEntry> sum_entries(std::size_t count, std::size_t rows, Context* context, const Add& add) {
    constexpr std::size_t together = 1 << 14;
    std::vector<std::vector<MatrixEntry>> sums((count + together - 1) / together);
    parallel_chunks(context, count, together, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        EntrySums own;
        for (std::size_t i = begin; i < end; ++i) add(own, i);
        sums[chunk] = own.sums();
    });
    std::vector<MatrixEntry> all;
    for (const auto& each : sums) all.insert(all.end(), each.begin(), each.end());
    const Lists by_row(rows, context, [&](const auto& to) {
        for (std::uint32_t e = 0; e < all.size(); ++e) to(all[e].row, e);
    });
    return collect<MatrixEntry>(rows, context, [&](std::vector<MatrixEntry>& out, std::size_t i) {
        const auto begin = static_cast<std::ptrdiff_t>(out.size());
        for (const std::uint32_t e : by_row.of(i)) {
            const auto at = std::find_if(out.begin() + begin, out.end(),
                                         [&](const auto& o) { return o.column == all[e].column; });
            if (at != out.end())
                at->value += all[e].value;
            else
                out.push_back(all[e]);
        }
    });
}

/// Adds the entries beside the diagonal of -w v vᵀ, where v is the difference of two stencils.
void add_square(EntrySums& sums, const Stencil& a, const Stencil& b, double w) {
    const auto add = [&](std::uint32_t i, std::uint32_t j, double x) {
        if (x != 0 && i != j) sums.add(std::min(i, j), std::max(i, j), x);
    };
    if (a.of == b.of) {  // most of them: in one cell
        std::array<double, 3> v;
        for (std::size_t k = 0; k < 3; ++k)
            v[k] = static_cast<double>(a.share[k]) - static_cast<double>(b.share[k]);
        add(a.of[0], a.of[1], -w * v[0] * v[1]);
        add(a.of[1], a.of[2], -w * v[1] * v[2]);
        add(a.of[2], a.of[0], -w * v[2] * v[0]);
        return;
    }
    std::array<std::uint32_t, 6> of;
    std::array<double, 6> v;
    std::size_t count = 0;
    const auto gather = [&](const Stencil& s, double sign) {
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
        for (std::size_t j = i + 1; j < count; ++j) add(of[i], of[j], -w * v[i] * v[j]);
}

}  // namespace

CoarseSurface::CoarseSurface(const MeshView& mesh, const MeshSurface& surface, std::span<const std::uint32_t> nodes,
                             const std::function<double(std::uint32_t)>& spacing, Context* context)
    : stencil_(surface.nodes(), Stencil{{kNone, kNone, kNone}}) {
    const std::vector<std::uint32_t> order = along_curve(mesh, surface, nodes);
    const Fine fine(mesh, surface, order, context);
    const Clusters clusters = cluster(
        fine, [&](std::uint32_t i) { return spacing(order[i]); }, context);
    const std::vector<Triangle> cells = dual_cells(mesh, surface, fine, clusters, context);
    const Lists at = cells_at_nodes(cells, clusters.centre.size(), context);
    parallel_for(context, order.size(), 1024,
                 [&](std::size_t i) { stencil_[order[i]] = interpolate(fine, clusters, cells, at, i); });
    for (const std::uint32_t i : clusters.centre) node_.push_back(order[i]);
}

CoarseSurface::CoarseSurface(const MeshView& mesh, const MeshSurface& surface,
                             const std::function<double(std::uint32_t)>& length, Context* context) {
    std::vector<std::uint32_t> all(surface.nodes());
    std::iota(all.begin(), all.end(), 0u);
    if (surface.nodes() > kFew)
        *this = CoarseSurface(
            mesh, surface, std::span<const std::uint32_t>(all),
            [&](std::uint32_t node) { return kSpacing * length(node); }, context);
    else
        node_ = std::move(all);
}

std::vector<MeshSurface::Edge> CoarseSurface::restricted(std::span<const MeshSurface::Edge> edges,
                                                         Context* context) const {
    if (stencil_.empty()) return {edges.begin(), edges.end()};
    std::vector<MeshSurface::Edge> out;
    for (const auto& [a, b, weight] :
         sum_entries(edges.size(), size(), context, [&](EntrySums&sums, std::size_t i) {
             const Stencil &a = stencil_[edges[i].a], &b = stencil_[edges[i].b];
             if (a.of[0] != kNone) add_square(sums, a, b, edges[i].weight);
         }))
        out.push_back({a, b, weight});
    return out;
}

std::vector<double> CoarseSurface::restricted(std::span<const double> x) const {
    std::vector<double> out(size(), 0);
    for (std::uint32_t i = 0; i < x.size(); ++i) {
        const Stencil s = stencil(i);
        if (s.of[0] == kNone) continue;
        for (std::size_t k = 0; k < 3; ++k) out[s.of[k]] += static_cast<double>(s.share[k]) * x[i];
    }
    return out;
}

std::vector<MatrixEntry> CoarseSurface::restricted_diagonal(std::span<const MatrixEntry> d,
                                                            Context* context) const {
    return sum_entries(d.size(), size(), context, [&](EntrySums& sums, std::size_t i) {
        const Stencil s = stencil(d[i].row);
        for (std::size_t k = 0; k < 3; ++k)
            for (std::size_t l = 0; l <= k; ++l)
                if (const double x = static_cast<double>(s.share[k] * s.share[l]) * d[i].value; x != 0)
                    sums.add(s.of[k], s.of[l], x);
    });
}

std::vector<MatrixEntry> CoarseSurface::restricted_rows(std::span<const MatrixEntry> b, Context* context) const {
    return sum_entries(b.size(), size(), context, [&](EntrySums& sums, std::size_t i) {
        const Stencil s = stencil(b[i].row);
        for (std::size_t k = 0; k < 3; ++k)
            if (s.share[k] > 0) sums.add(s.of[k], b[i].column, static_cast<double>(s.share[k]) * b[i].value);
    });
}

}  // namespace sinew
