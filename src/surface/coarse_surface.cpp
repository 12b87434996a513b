#include "surface/coarse_surface.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/curve_order.h"
#include "core/lists.h"
#include "core/nearest_in_triangle.h"
#include "core/parallel.h"
#include "core/vectors.h"

namespace sinew {
namespace {

using Stencil = CoarseSurface::Stencil;

constexpr std::size_t kFew = 3000;    // nodes: a surface with fewer has no coarse ones
constexpr double kSpacing = 0.25;     // of the values of a coarse surface, in lengths over which fields change
constexpr double kOnCell = 0.1;       // of the side of a cell: nodes so near that lie over it read from it
constexpr float kLeastShare = 1e-3f;  // smaller ones are 0: nodes on a side of a cell do not join its third corner
constexpr float kShares = 1 << 20;    // all are multiples of 1 / kShares, so that they sum to 1 exactly
constexpr double kOneSide = 0.85;     // the least cosine between the normals of a cluster's nodes and its centre

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
    return sinew::collect<Entry>(count, 1 << 14, context, [&] { return std::cref(add); });
}

/// The nodes that are thinned out, by their place in the order given.
struct Fine {
    const MeshSurface& surface;
    std::span<const std::uint32_t> node;  // of the surface
    LargeVector<std::uint32_t> place;     // of each node of the surface

    Fine(const MeshSurface& of, std::span<const std::uint32_t> nodes, Context* context)
        : surface(of), node(nodes), place(of.nodes(), no_index) {
        parallel_for(context, nodes.size(), 4096,
                     [&](std::size_t i) { place[nodes[i]] = static_cast<std::uint32_t>(i); });
    }
    std::size_t size() const { return node.size(); }
    Point3 at(std::size_t i) const { return to_point(surface.position[node[i]]); }
    const Point3& normal(std::size_t i) const { return surface.normal[node[i]]; }
    /// Calls work(other) for each edge that is listed at a node: each edge is at one of its ends.
    template <typename Work>
    void each_edge(std::size_t i, const Work& work) const {
        for (const MeshSurface::Edge& e : surface.edges_at(node[i])) work(place[e.b]);
    }
};

/// Nodes with one among them that is near to all.
struct Clusters {
    std::vector<std::uint32_t> centre;  // ascending
    std::vector<Point3> at;             // of each centre, scene units
    LargeVector<std::uint32_t> of;      // per node
};

/// Nodes that follow each other are divided into stretches, each of which has its own clusters. A cluster does not
/// go around a fold or an edge: fields may differ on the two sides, and a triangle between them would not lie on
/// the surface.
Clusters cluster(const Fine& fine, const std::function<double(std::uint32_t)>& spacing, Context* context) {
    constexpr std::size_t together = 1 << 15;
    Clusters out{{}, {}, LargeVector<std::uint32_t>(fine.size(), no_index)};
    LargeVector<std::uint32_t>&owner = out.of, reached_by(fine.size(), no_index);
    LargeVector<float> nearest(fine.size(), INFINITY);  // square of the distance to the owner
    std::vector<std::vector<std::uint32_t>> centres((fine.size() + together - 1) / together);
    parallel_chunks(context, fine.size(), together, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        std::vector<Point3> place(end - begin);
        for (std::size_t i = begin; i < end; ++i) place[i - begin] = fine.at(i);
        const auto at_node = [&](std::uint32_t i) -> const Point3& { return place[i - begin]; };
        std::vector<std::array<std::uint32_t, 2>> edges;  // within the stretch
        for (auto i = static_cast<std::uint32_t>(begin); i < end; ++i)
            fine.each_edge(i, [&](std::uint32_t other) {
                if (other >= begin && other < end) edges.push_back({i, other});
            });
        std::vector<std::uint32_t> first_of(end - begin + 1, 0), beside(2 * edges.size());
        for (const auto& [a, b] : edges) ++first_of[a - begin], ++first_of[b - begin];
        std::partial_sum(first_of.begin(), first_of.end(), first_of.begin());
        for (const auto& [a, b] : edges) beside[--first_of[a - begin]] = b, beside[--first_of[b - begin]] = a;
        std::vector<std::uint32_t> waiting;
        for (auto i = static_cast<std::uint32_t>(begin); i < end; ++i) {
            if (owner[i] != no_index) continue;
            const auto own = static_cast<std::uint32_t>(centres[chunk].size());
            centres[chunk].push_back(i);
            const Point3 centre = at_node(i);
            const double radius = spacing(i);
            const auto square_from_centre = [&](std::uint32_t to) {
                const Point3 way = at_node(to) - centre;
                return dot(way, way);
            };
            waiting.assign(1, i);
            reached_by[i] = own;
            while (!waiting.empty()) {
                const std::uint32_t at = waiting.back();
                waiting.pop_back();
                const auto square = static_cast<float>(square_from_centre(at));
                if (at == i || square < nearest[at]) nearest[at] = square, owner[at] = own;
                const std::span around(beside.data() + first_of[at - begin],
                                       beside.data() + first_of[at - begin + 1]);
                for (const std::uint32_t next : around)
                    if (reached_by[next] != own && square_from_centre(next) <= radius * radius &&
                        dot(fine.normal(next), fine.normal(i)) > kOneSide) {
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
    for (const std::uint32_t i : out.centre) out.at.push_back(fine.at(i));
    return out;
}

/// The dual of the clusters: triangles of them; {a, b, b} for an edge of none.
std::vector<Triangle> dual_cells(const MeshView& mesh, const MeshSurface& surface, const Fine& fine,
                                 const Clusters& clusters, Context* context) {
    const LargeVector<std::uint32_t>& owner = clusters.of;
    LargeVector<std::uint32_t> owner_of_node(surface.nodes(), no_index);
    parallel_for(context, fine.size(), 4096, [&](std::size_t i) { owner_of_node[fine.node[i]] = owner[i]; });
    const auto corners =
        collect<Triangle>(mesh.triangles.size(), context, [&](std::vector<Triangle>& out, std::size_t t) {
            Triangle c;
            for (std::size_t k = 0; k < 3; ++k) c[k] = owner_of_node[surface.node_of[mesh.triangles[t][k]]];
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
        fine.each_edge(i, [&](std::uint32_t other) {
            const auto [a, b] = std::minmax(owner[i], owner[other]);
            if (a != b && !is_side(a, b)) out.push_back({a, b, b});
        });
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
    const Point3 p = fine.at(i);
    double best = INFINITY;
    for (const std::uint32_t cell : at.of(own)) {
        const Triangle& t = cells[cell];
        const Point3 &a = clusters.at[t[0]], &b = clusters.at[t[1]], &c = clusters.at[t[2]];
        const std::array<double, 3> share = nearest_in_triangle(a, b, c, p);
        const Point3 to = share[0] * a + share[1] * b + share[2] * c - p;
        if (const double distance = dot(to, to); distance < best) {
            best = distance;
            out.of = t;
            for (std::size_t corner = 0; corner < 3; ++corner)
                out.share[corner] = static_cast<float>(share[corner]);
            const auto within = [](double s) { return s > 0; };
            if (distance < kOnCell * kOnCell * dot(b - a, b - a) && std::all_of(share.begin(), share.end(), within))
                break;
        }
    }
    std::size_t largest = 0;
    float sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        float& share = out.share[k];
        share = share < kLeastShare ? 0 : static_cast<float>(static_cast<int>(kShares * share + 0.5f)) / kShares;
        sum += share;
        largest = share > out.share[largest] ? k : largest;
    }
    out.share[largest] += 1 - sum;
    return out;
}

/// The same nodes in an order in which neighbours are near each other, whatever the order of the file.
LargeVector<std::uint32_t> along_curve(const MeshSurface& surface, std::span<const std::uint32_t> nodes,
                                       Context* context) {
    if (surface.nodes() > MeshSurface::most_in_file_order) return {nodes.begin(), nodes.end()};  // they are
    const auto place = [&](std::size_t i) { return to_point(surface.position[nodes[i]]); };
    LargeVector<std::uint32_t> out = CurveOrder(nodes.size(), MeshSurface::curve_bits, place, context).point;
    for (std::uint32_t& at : out) at = nodes[at];
    return out;
}

/// == would call a function that compares memory.
bool same(const Triangle& a, const Triangle& b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/// Sums of entries by their place. Of the Laplacian those beside the diagonal: its rows sum to 0.
class EntrySums {
public:
    EntrySums() : slots_(4096), cells_(kCells) {}  // about enough for the nodes of a chunk

    void add(std::uint32_t row, std::uint32_t column, double value) {
        const std::uint64_t key = std::uint64_t{row} << 32 | column;
        if (2 * used_ > slots_.size()) grow();
        Slot& slot = find(slots_, key);
        used_ += slot.key == kEmpty;
        slot.key = key;
        slot.value += value;
    }
    /// Adds w v vᵀ, where v is the difference of two stencils.
    void add_edge(const Stencil& a, const Stencil& b, double w) {
        if (same(a.of, b.of) && a.of[1] != a.of[2]) {  // in one cell
            std::array<double, 3> v;
            for (std::size_t k = 0; k < 3; ++k)
                v[k] = static_cast<double>(a.share[k]) - static_cast<double>(b.share[k]);
            return in_cell(a.of).add_pairs(v, w);
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
        for (std::size_t i = 1; i < count; ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (const double x = w * v[i] * v[j]; x != 0)
                    add(std::min(of[i], of[j]), std::max(of[i], of[j]), x);
    }
    /// Adds d s sᵀ, where s is a stencil; on the diagonal the sum of a row.
    void add_node(const Stencil& s, double d) {
        InCell& own = in_cell(s.of);
        std::array<double, 3> v;
        for (std::size_t k = 0; k < 3; ++k) own.diagonal[k] += d * (v[k] = static_cast<double>(s.share[k]));
        own.add_pairs(v, d);
    }
    std::vector<MatrixEntry> sums() {
        for (const InCell& cell : cells_) add(cell);
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
    /// Of the rows of one cell: many follow each other.
    struct InCell {
        Triangle rows{};
        std::array<double, 3> diagonal{}, pair{};  // of a pair: beside its third row

        void add_pairs(const std::array<double, 3>& v, double w) {
            for (std::size_t k = 0; k < 3; ++k) pair[k] += w * v[(k + 1) % 3] * v[(k + 2) % 3];
        }
    };
    static constexpr std::size_t kCells = 64;
    InCell& in_cell(const Triangle& rows) {
        InCell& own = cells_[(rows[0] + 3 * rows[1] + 5 * rows[2]) % kCells];
        if (!same(own.rows, rows)) {
            add(own);
            own = {rows, {}, {}};
        }
        return own;
    }
    void add(const InCell& cell) {
        for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t row = cell.rows[k], a = cell.rows[(k + 1) % 3], b = cell.rows[(k + 2) % 3];
            if (cell.diagonal[k] != 0) add(row, row, cell.diagonal[k]);
            if (a != b && cell.pair[k] != 0) add(std::min(a, b), std::max(a, b), cell.pair[k]);
        }
    }
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
    std::vector<InCell> cells_;
};

/// The sums of what add(sums, node) adds for all nodes, by rows. Nodes that follow each other add to the same rows.
std::vector<MatrixEntry> sum_entries(std::span<const std::uint32_t> nodes, std::size_t rows, Context* context,
                                     const std::function<void(EntrySums&, std::uint32_t)>& add) {
    constexpr std::size_t together = 1 << 11;
    std::vector<std::vector<MatrixEntry>> sums((nodes.size() + together - 1) / together);
    parallel_chunks(context, nodes.size(), together, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        EntrySums own;
        for (const std::uint32_t node : nodes.subspan(begin, end - begin)) add(own, node);
        sums[chunk] = own.sums();
    });
    const LargeVector<MatrixEntry> all = join(std::move(sums), context);
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

/// Where the edges of each node begin. `edges`: by their first node.
LargeVector<std::uint32_t> first_edges(std::span<const MeshSurface::Edge> edges, std::size_t nodes,
                                       Context* context) {
    LargeVector<std::uint32_t> first(nodes + 1, static_cast<std::uint32_t>(edges.size()));
    parallel_for(context, edges.size(), 1 << 14, [&](std::size_t e) {
        for (std::uint32_t node = e == 0 ? 0 : edges[e - 1].a + 1; node <= edges[e].a; ++node)
            first[node] = static_cast<std::uint32_t>(e);
    });
    return first;
}

}  // namespace

CoarseSurface::CoarseSurface(const MeshView& mesh, const MeshSurface& surface, std::span<const std::uint32_t> nodes,
                             const std::function<double(std::uint32_t)>& spacing, Context* context)
    : fine_(along_curve(surface, nodes, context)), stencil_(surface.nodes()) {
    parallel_for(context, stencil_.size(), 4096, [&](std::size_t node) {
        stencil_[node] = {{no_index, no_index, no_index}};
    });
    const Fine fine(surface, fine_, context);
    const Clusters clusters = cluster(
        fine, [&](std::uint32_t i) { return spacing(fine_[i]); }, context);
    const std::vector<Triangle> cells = dual_cells(mesh, surface, fine, clusters, context);
    const Lists at = cells_at_nodes(cells, clusters.centre.size(), context);
    parallel_for(context, fine_.size(), 1024,
                 [&](std::size_t i) { stencil_[fine_[i]] = interpolate(fine, clusters, cells, at, i); });
    for (const std::uint32_t i : clusters.centre) node_.push_back(fine_[i]);
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

std::vector<MatrixEntry> CoarseSurface::restricted(std::span<const MeshSurface::Edge> edges,
                                                   const std::function<double(std::uint32_t)>& diagonal,
                                                   Context* context) const {
    const LargeVector<std::uint32_t> first = first_edges(edges, stencil_.size(), context);
    auto out = sum_entries(fine_, size(), context, [&](EntrySums& sums, std::uint32_t node) {
        const Stencil& s = stencil_[node];
        if (const double d = diagonal(node); d != 0) sums.add_node(s, d);
        for (std::uint32_t e = first[node]; e < first[node + 1]; ++e) {
            if (e + 16 < edges.size()) prefetch_stencil(edges[e + 16].b);
            sums.add_edge(s, stencil_[edges[e].b], edges[e].weight);
        }
    });
    std::vector<double> diagonals(size(), 0);
    for (const MatrixEntry& e : out) {
        diagonals[e.row] += e.row == e.column ? e.value : -e.value;
        if (e.row != e.column) diagonals[e.column] -= e.value;
    }
    std::erase_if(out, [](const MatrixEntry& e) { return e.row == e.column; });
    for (std::uint32_t i = 0; i < size(); ++i) out.push_back({i, i, diagonals[i]});
    return out;
}

std::vector<MeshSurface::Edge> CoarseSurface::restricted(std::span<const MeshSurface::Edge> edges,
                                                         Context* context) const {
    if (stencil_.empty()) return {edges.begin(), edges.end()};
    std::vector<MeshSurface::Edge> out;
    for (const auto& [a, b, value] : restricted(
             edges, [](std::uint32_t) { return 0; }, context))
        if (a != b) out.push_back({a, b, -value});
    return out;
}

std::vector<double> CoarseSurface::restricted(std::span<const double> x, Context* context) const {
    std::vector<double> out(size(), 0);
    each_key_range(context, size(), [&](const auto& is_mine) {
        for (std::uint32_t i = 0; i < x.size(); ++i) {
            const Stencil s = stencil(i);
            for (std::size_t k = 0; k < 3; ++k)
                if (s.of[k] != no_index && is_mine(s.of[k])) out[s.of[k]] += static_cast<double>(s.share[k]) * x[i];
        }
    });
    return out;
}

std::vector<MatrixEntry> CoarseSurface::restricted_rows(
    const std::function<void(std::uint32_t, const AddColumn&)>& b, Context* context) const {
    return sum_entries(fine_, size(), context, [&](EntrySums& sums, std::uint32_t node) {
        const Stencil& s = stencil_[node];
        b(node, [&](std::uint32_t column, double value) {
            for (std::size_t k = 0; k < 3; ++k)
                if (s.share[k] > 0) sums.add(s.of[k], column, static_cast<double>(s.share[k]) * value);
        });
    });
}

}  // namespace sinew
