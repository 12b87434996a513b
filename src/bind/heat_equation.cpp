#include "bind/heat_equation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/lists.h"
#include "core/try.h"
#include "core/vectors.h"

namespace sinew {
namespace {

// Keeps the system solvable where bones are very far away; weights of edges are from 1e-4 to 1e3.
constexpr double kLeastHeat = 1e-8;
/// What is read of solutions: at most `width` weights of a row, none smaller than `least`. Solutions may be cut off
/// at `cut`.
struct WantedRows {
    std::size_t width;
    float least = 1e-9f;
    double cut = 0;
};
constexpr WantedRows kOfCoarseNodes{16, 1e-4f, 1e-3};  // heat on a coarse surface is about as exact as the cut

/// M H of a node, for one joint that heats it. `mass`: M.
double mass_times_heat(const Task& task, double mass, const NodeHeat& h, double hidden_share) {
    const double d = std::max(h.distance, kNearestBone * task.unit);
    const double c = (h.how == NodeHeat::Way::hidden ? hidden_share : 1) * task.options.heat_transfer;
    return std::max(c * mass / (d * d), kLeastHeat);
}

bool needs_heat(const MeshSurface& surface, const JointSet& set, std::uint32_t vertex) {
    return set.joints.size() > 1 && surface.node_of[vertex] != no_index;
}

/// The joints that heat a node, as slots.
std::vector<std::uint32_t> heating_joints(const JointSet& set, const Heat& heat, Context* context) {
    std::vector<std::uint8_t> heats(set.joints.size(), 0);
    parallel_for(context, heat.at.size(), 4096, [&](std::size_t i) {
        for (std::uint32_t k = 0; k < heat.at[i].count; ++k) {
            const std::atomic_ref own(heats[heat.at[i].slot[k]]);
            if (!own.load(std::memory_order_relaxed)) own.store(1, std::memory_order_relaxed);
        }
    });
    std::vector<std::uint32_t> slots;
    for (std::uint32_t slot = 0; slot < heats.size(); ++slot)
        if (heats[slot]) slots.push_back(slot);
    return slots;
}

/// The equation to solve, of unknowns or of nodes of the coarse surface: A w = B, with a column for each slot.
struct Equation {
    std::size_t size;
    std::vector<MatrixEntry> a, b;
};

Equation equation_of(const Task& task, const MeshSurface& surface, const Unknowns& unknowns, const Heat& heat,
                     const std::vector<std::uint32_t>& slots) {
    const auto mh = [&](std::uint32_t i) {
        return mass_times_heat(task, surface.mass[unknowns.node[i]], heat.at[i], heat.hidden_share);
    };
    const auto each_column = [&](std::uint32_t i, const auto& add) {
        const NodeHeat& h = heat.at[i];
        for (std::uint32_t k = 0; k < h.count; ++k) {
            const auto at = std::lower_bound(slots.begin(), slots.end(), h.slot[k]) - slots.begin();
            add(static_cast<std::uint32_t>(at), mh(i));
        }
    };
    if (const auto& coarse = heat.coarse) {
        const auto unknown = [&](std::uint32_t node) { return unknowns.of_node[node]; };
        return {
            coarse->size(),
            coarse->restricted(
                surface.edges, [&](std::uint32_t node) { return mh(unknown(node)) * heat.at[unknown(node)].count; },
                task.context),
            coarse->restricted_rows([&](std::uint32_t node, const auto& add) { each_column(unknown(node), add); },
                                    task.context)};
    }
    Equation out{unknowns.size(), {}, {}};
    out.a.reserve(surface.edges.size() + out.size);
    std::vector<double> diagonal(out.size);
    for (std::uint32_t i = 0; i < out.size; ++i) {
        if (heat.at[i].count > 0) diagonal[i] = mh(i) * heat.at[i].count;
        each_column(i, [&](std::uint32_t column, double value) { out.b.push_back({i, column, value}); });
    }
    for (const auto& [at, to, weight] : surface.edges)
        if (const std::uint32_t a = unknowns.of_node[at], b = unknowns.of_node[to]; a != no_index) {
            out.a.push_back({a, b, -weight});
            diagonal[a] += weight;
            diagonal[b] += weight;
        }
    for (std::uint32_t i = 0; i < out.size; ++i) out.a.push_back({i, i, diagonal[i]});
    return out;
}

/// Rows of values, strongest first.
struct Rows {
    std::size_t width;
    std::vector<InfluenceRows::Entry> entries;
    std::vector<std::uint32_t> kept;

    Rows(std::size_t count, std::size_t wide, Context* context) : width(wide), kept(count, 0) {
        assign_large(entries, count * width, {}, context);
    }
    /// Inserts a value into a row if it is among the `width` largest. Joints come in ascending order, so an equal
    /// entry stays ahead of a later one.
    void insert(std::size_t at_row, const InfluenceRows::Entry& entry) {
        InfluenceRows::Entry* const row = entries.data() + at_row * width;
        const float size = std::abs(entry.first);
        std::uint32_t at = kept[at_row];
        if (at == width) {
            if (!(size > std::abs(row[width - 1].first))) return;
            --at;
        } else {
            ++kept[at_row];
        }
        for (; at > 0 && std::abs(row[at - 1].first) < size; --at) row[at] = row[at - 1];
        row[at] = entry;
    }
};

/// Factors once, and solves for each joint, a batch of joints in each thread at a time. Returns the strongest
/// joints of the wanted unknowns. The order of entries is total, so the result does not depend on the division into
/// batches.
Result<Rows> solve(const Task& task, const JointSet& set, const std::vector<std::uint32_t>& slots,
                   const Equation& equation, std::span<const std::uint32_t> wanted, const WantedRows& reading,
                   bool keep, std::shared_ptr<const Cholesky>& kept) {
    constexpr std::size_t batch = Cholesky::kBatch;
    SINEW_TRY_LET(Cholesky own, Cholesky::factor(equation.size, equation.a, task.context, {kept.get(), keep}));
    const auto shared = std::make_shared<const Cholesky>(std::move(own));
    const Cholesky& factors = *shared;
    kept = keep ? shared : nullptr;
    Rows found(equation.size, reading.width, task.context);  // in the order of elimination
    const auto least = static_cast<double>(reading.least);
    const Lists of_batch(slots.size() / batch + 1, task.context, [&](const auto& to) {
        for (std::uint32_t e = 0; e < equation.b.size(); ++e) to(equation.b[e].column / batch, e);
    });
    const std::size_t together = static_cast<std::size_t>(thread_count(task.context));
    std::vector<Cholesky::Batch> solved(std::min(together, of_batch.size()), Cholesky::Batch(factors));
    for (std::size_t first = 0; first < slots.size(); first += together * batch) {
        const std::size_t left = slots.size() - first, batches = std::min(together, (left + batch - 1) / batch);
        parallel_for(task.context, batches, 1, [&](std::size_t b) {
            solved[b].clear();
            for (const std::uint32_t e : of_batch.of(first / batch + b)) {
                const auto& [row, column, value] = equation.b[e];
                solved[b].add(row, column % batch, value);
            }
            solved[b].solve(reading.cut);
        });
        parallel_for(task.context, equation.size, 1024, [&](std::size_t place) {
            for (std::size_t b = 0; b < batches; ++b) {
                const double* const row = solved[b].row_at(place);
                if (!row || std::all_of(row, row + batch, [&](double w) { return std::abs(w) <= least; })) continue;
                for (std::size_t c = 0; c < std::min(left - b * batch, batch); ++c)
                    if (const auto w = static_cast<float>(row[c]); std::abs(w) > reading.least)
                        found.insert(place, {w, set.joints[slots[first + b * batch + c]]});
            }
        });
        if (cancelled(task.context)) return heat_cancelled();
        report_progress(task.context, "heat", static_cast<double>(first) / static_cast<double>(slots.size()));
    }
    release(solved);
    Rows rows(wanted.size(), reading.width, task.context);
    parallel_for(task.context, wanted.size(), 4096, [&](std::size_t i) {
        const std::size_t place = factors.place(wanted[i]);
        rows.kept[i] = found.kept[place];
        std::copy_n(found.entries.begin() + static_cast<std::ptrdiff_t>(place * rows.width), rows.kept[i],
                    rows.entries.begin() + static_cast<std::ptrdiff_t>(i * rows.width));
    });
    return rows;
}

}  // namespace

Error heat_cancelled() { return {ErrorCode::cancelled, "cancelled while heat spreads"}; }

std::vector<std::uint32_t> vertices_with_heat(const MeshSurface& surface, const JointSet& set, Context* context) {
    return collect<std::uint32_t>(set.vertices.size(), 1 << 14, context, [&] {
        return [&](std::vector<std::uint32_t>& out, std::size_t i) {
            if (needs_heat(surface, set, set.vertices[i])) out.push_back(set.vertices[i]);
        };
    });
}

void store_without_heat(const Task& task, const MeshSurface& surface, const JointSet& set, InfluenceRows& rows) {
    parallel_for(task.context, set.vertices.size(), 4096, [&](std::size_t i) {
        const std::uint32_t v = set.vertices[i];
        if (needs_heat(surface, set, v)) return;
        InfluenceRows::Entry nearest{1.0f, set.joints[0]};
        Coverage how = set.idle ? Coverage::euclidean : Coverage::weighted;
        if (surface.node_of[v] == no_index) {
            how = Coverage::unused;
            const Point3 p = to_point(task.mesh.positions[v]);
            double best = INFINITY;
            for (const std::uint32_t j : set.joints)
                if (const double d = norm(to_point(task.skeleton.joints[j].position) - p); d < best)
                    best = d, nearest.second = j;
        }
        rows.store(v, {&nearest, 1}, how);
    });
}

Unknowns choose_unknowns(const MeshSurface& surface, std::vector<std::uint32_t> vertices, Context* context) {
    std::vector<std::uint8_t> touched(surface.components, 0);
    parallel_for(context, vertices.size(), 4096, [&](std::size_t i) {
        const std::atomic_ref own(touched[surface.component[surface.node_of[vertices[i]]]]);
        if (!own.load(std::memory_order_relaxed)) own.store(1, std::memory_order_relaxed);
    });
    Unknowns out{std::move(vertices), {}, {}, LargeVector<std::uint32_t>(surface.nodes(), no_index)};
    out.node.reserve(surface.nodes());
    for (std::uint32_t node = 0; node < surface.nodes(); ++node)
        if (touched[surface.component[node]]) {
            out.of_node[node] = static_cast<std::uint32_t>(out.size());
            out.node.push_back(node);
        }
    out.vertex.assign(out.size(), no_index);
    parallel_for(context, out.vertices.size(), 4096, [&](std::size_t i) {
        const std::uint32_t v = out.vertices[i];
        const std::atomic_ref last(out.vertex[out.of_node[surface.node_of[v]]]);
        for (std::uint32_t at = last.load(std::memory_order_relaxed); at == no_index || at < v;)
            if (last.compare_exchange_strong(at, v, std::memory_order_relaxed)) break;
    });
    return out;
}

Result<SetRows> solve_heat(const Task& task, const MeshSurface& surface, const JointSet& set,
                           const Unknowns& unknowns, const Heat& heat, std::size_t least_width,
                           KeptHeat::Set& kept) {
    const std::vector<std::uint32_t> slots = heating_joints(set, heat, task.context);
    const Equation equation = equation_of(task, surface, unknowns, heat, slots);
    const std::size_t width = std::max(task.width(), std::min(least_width, set.joints.size()));
    std::vector<std::uint32_t> wanted;
    if (heat.coarse)
        for (std::uint32_t i = 0; i < equation.size; ++i) wanted.push_back(i);
    else
        for (const std::uint32_t v : unknowns.vertices) wanted.push_back(unknowns.of_node[surface.node_of[v]]);
    SINEW_TRY_LET(Rows rows,
                  solve(task, set, slots, equation, wanted, heat.coarse ? kOfCoarseNodes : WantedRows{width},
                        task.options.keep_volume && !heat.coarse, kept.factors));
    SetRows out{{}, rows.width, std::move(rows.entries), std::move(rows.kept), {}, {}};
    if (heat.coarse) {
        for (const std::uint32_t node : heat.coarse->nodes()) {
            const std::uint32_t v = unknowns.vertex[unknowns.of_node[node]];
            out.vertices.push_back(v == no_index ? surface.vertex_of[node] : v);
        }
        std::vector<double> area(surface.nodes(), 0), count(surface.nodes(), 0);
        parallel_for(task.context, unknowns.size(), 4096, [&](std::size_t i) {
            if (unknowns.vertex[i] == no_index) return;
            area[unknowns.node[i]] = surface.mass[unknowns.node[i]];
            count[unknowns.node[i]] = 1;
        });
        out.area = heat.coarse->restricted(area, task.context);
        out.count = heat.coarse->restricted(count, task.context);
    } else {
        out.vertices = unknowns.vertices;
        for (const std::uint32_t v : out.vertices) out.area.push_back(surface.mass[surface.node_of[v]]);
        out.count.assign(out.vertices.size(), 1);
    }
    return out;
}

void store_rows(const Task& task, const MeshSurface& surface, const Unknowns& unknowns, const Heat& heat,
                SetRows& found, const std::function<Coverage(std::uint32_t)>& coverage, InfluenceRows& rows) {
    constexpr std::size_t ahead = 16;
    const std::vector<std::uint32_t>& vertices = unknowns.vertices;
    parallel_for(task.context, vertices.size(), 1024, [&](std::size_t i) {
        const std::uint32_t v = vertices[i];
        if (!heat.coarse)
            return rows.store(v, {found.entries.data() + i * found.width, found.kept[i]}, coverage(v));
        if (i + ahead < vertices.size()) heat.coarse->prefetch_stencil(surface.node_of[vertices[i + ahead]]);
        const CoarseSurface::Stencil s = heat.coarse->stencil(surface.node_of[v]);
        std::array<InfluenceRows::Entry, 3 * kOfCoarseNodes.width> sums;
        std::size_t count = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            if (s.share[k] == 0) continue;
            for (const auto& [w, joint] : found.of(s.of[k])) {
                std::size_t at = 0;
                while (at < count && sums[at].second != joint) ++at;
                if (at == count) sums[count++] = {0.0f, joint};
                sums[at].first += s.share[k] * w;
            }
        }
        rows.store(v, {sums.data(), count}, coverage(v));
    });
}

WeldedSurface::WeldedSurface(const Task& task) : tree({}, {}) {
    task.clock.run("surface", [&] {
        SurfaceTriangles triangles;
        surface = build_surface(task.mesh, task.topology, task.context, &triangles);
        tree =
            TriangleTree(surface.position, std::move(triangles.corners), std::move(triangles.order), task.context);
        return Done{};
    });
}

void WeldedSurface::release_sight() {
    release(surface.normal);
    if (surface.components == 1) tree = TriangleTree({}, {});
}

double surface_solver_memory(const MeshView& mesh, double threads) {
    const auto vertices = static_cast<double>(mesh.positions.size()),
               triangles = static_cast<double>(mesh.triangles.size());
    // Factors, and a batch of heat for each thread; heat and surface, and where it is coarse; trees. In ten
    // real characters with 127,000 to 448,000 vertices, up to 0.63 of the vertices are coarse nodes.
    const HeatRules rules;
    const bool coarse = vertices > static_cast<double>(rules.direct);
    const double solved = coarse ? std::min(0.75 * vertices, static_cast<double>(rules.most)) : vertices;
    const double batches = 8 * Cholesky::kBatch * threads;
    return estimate_cholesky_memory(solved, 7) + solved * batches + vertices * (coarse ? 400 : 500) +
           triangles * 220;
}

}  // namespace sinew
