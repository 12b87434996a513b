#include "bind/heat_equation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/try.h"
#include "core/vectors.h"
#include "solve/cholesky.h"
#include "surface/level_solver.h"

namespace sinew {
namespace {

// Keeps the system solvable where bones are very far away; weights of edges are from 1e-4 to 1e3.
constexpr double kLeastHeat = 1e-8;
// Smaller weights count as 0.
constexpr float kLeast = 1e-9f;

/// M H for one joint, per unknown.
std::vector<double> mass_times_heat(const Task& task, const MeshSurface& surface, const Unknowns& unknowns,
                                    const Heat& heat) {
    std::vector<double> mh(unknowns.size(), 0);
    for (std::size_t i = 0; i < unknowns.size(); ++i) {
        const NodeHeat& h = heat.at[i];
        if (h.count == 0) continue;
        const double d = std::max(h.distance, kNearestBone * task.unit);
        const double c = h.share * task.options.heat_transfer;
        mh[i] = std::max(c * surface.mass[unknowns.node[i]] / (d * d), kLeastHeat);
    }
    return mh;
}
/// The joints that heat a node, as slots.
std::vector<std::uint32_t> heating_joints(const JointSet& set, const Heat& heat) {
    std::vector<bool> heats(set.joints.size(), false);
    for (const NodeHeat& h : heat.at)
        for (std::uint32_t k = 0; k < h.count; ++k) heats[h.slot[k]] = true;
    std::vector<std::uint32_t> slots;
    for (std::uint32_t slot = 0; slot < heats.size(); ++slot)
        if (heats[slot]) slots.push_back(slot);
    return slots;
}

/// L + M H, as a list of entries.
std::vector<MatrixEntry> entries_of(const MeshSurface& surface, const Unknowns& unknowns, const Heat& heat,
                                    const std::vector<double>& mh) {
    std::vector<MatrixEntry> out;
    for (std::uint32_t i = 0; i < mh.size(); ++i)
        if (heat.at[i].count > 0) out.push_back({i, i, mh[i] * heat.at[i].count});
    for (const MeshSurface::Edge& e : surface.edges) {
        const std::uint32_t a = unknowns.of_node[e.a], b = unknowns.of_node[e.b];
        if (a == MeshSurface::none) continue;
        out.push_back({a, b, -e.weight});
        out.push_back({a, a, e.weight});
        out.push_back({b, b, e.weight});
    }
    return out;
}

void make_room(SetRows& rows, Context* context) {
    assign_large(rows.entries, rows.vertices.size() * rows.width, {}, context);
}

/// Inserts a value into a row, sorted by size, if it is among the `width` largest. Joints come in ascending order,
/// so an equal entry stays ahead of a later one.
void insert(InfluenceRows::Entry* row, std::uint32_t& kept, std::size_t width, const InfluenceRows::Entry& entry) {
    const float size = std::abs(entry.first);
    std::uint32_t at = kept;
    if (at == width) {
        if (!(size > std::abs(row[width - 1].first))) return;
        --at;
    } else {
        ++kept;
    }
    for (; at > 0 && std::abs(row[at - 1].first) < size; --at) row[at] = row[at - 1];
    row[at] = entry;
}

/// Factors once, and solves for each joint, a batch of joints in each thread at a time. The order of entries is
/// total, so the result does not depend on the division into batches.
Status solve_directly(const Task& task, const MeshSurface& surface, const JointSet& set, const Unknowns& unknowns,
                      const Heat& heat, const std::vector<double>& mh, SetRows& rows) {
    constexpr std::size_t batch = Cholesky::kBatch;
    const std::vector<std::uint32_t> slots = heating_joints(set, heat);
    SINEW_TRY_LET(const Cholesky factors,
                  Cholesky::factor(mh.size(), entries_of(surface, unknowns, heat, mh), task.context));
    make_room(rows, task.context);
    std::vector<std::uint32_t> wanted;
    for (const std::uint32_t v : rows.vertices) wanted.push_back(unknowns.of_node[surface.node_of[v]]);
    const std::size_t together = static_cast<std::size_t>(thread_count(task.context));
    std::vector<std::vector<double>> field(together);
    for (std::size_t first = 0; first < slots.size(); first += together * batch) {
        const std::size_t left = slots.size() - first, batches = std::min(together, (left + batch - 1) / batch);
        parallel_for(task.context, batches, 1, [&](std::size_t b) {
            field[b].assign(mh.size() * batch, 0);
            const std::size_t begin = first + b * batch, end = std::min(begin + batch, slots.size());
            for (std::size_t i = 0; i < mh.size(); ++i)
                for (std::uint32_t k = 0; k < heat.at[i].count; ++k) {
                    const auto at =
                        std::lower_bound(slots.begin(), slots.end(), heat.at[i].slot[k]) - slots.begin();
                    const auto column = static_cast<std::size_t>(at);
                    if (column >= begin && column < end) field[b][i * batch + column - begin] = mh[i];
                }
            factors.solve_batch(field[b]);
        });
        parallel_for(task.context, wanted.size(), 1024, [&](std::size_t i) {
            for (std::size_t c = 0; c < std::min(left, batches * batch); ++c) {
                const auto w = static_cast<float>(field[c / batch][wanted[i] * batch + c % batch]);
                if (std::abs(w) > kLeast)
                    insert(rows.entries.data() + i * rows.width, rows.kept[i], rows.width,
                           {w, set.joints[slots[first + c]]});
            }
        });
        if (cancelled(task.context)) return heat_cancelled();
        report_progress(task.context, "heat", static_cast<double>(first) / static_cast<double>(slots.size()));
    }
    return Done{};
}

/// M H p of each of these joints.
std::vector<LocalField> sources_of(const Task& task, std::span<const std::uint32_t> slots, const Heat& heat,
                                   const std::vector<double>& mh) {
    constexpr std::size_t together = 1 << 14;
    std::vector<std::vector<LocalField>> parts((mh.size() + together - 1) / together);
    parallel_chunks(task.context, mh.size(), together, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        parts[chunk].resize(slots.size());
        for (std::size_t i = begin; i < end; ++i)
            for (std::uint32_t k = 0; k < heat.at[i].count; ++k) {
                const auto at = std::lower_bound(slots.begin(), slots.end(), heat.at[i].slot[k]) - slots.begin();
                LocalField& source = parts[chunk][static_cast<std::size_t>(at)];
                source.node.push_back(static_cast<std::uint32_t>(i));
                source.value.push_back(static_cast<float>(mh[i]));
            }
    });
    std::vector<LocalField> sources(slots.size());
    parallel_for(task.context, slots.size(), 1, [&](std::size_t s) {
        for (const std::vector<LocalField>& part : parts) {
            sources[s].node.insert(sources[s].node.end(), part[s].node.begin(), part[s].node.end());
            sources[s].value.insert(sources[s].value.end(), part[s].value.begin(), part[s].value.end());
        }
    });
    return sources;
}

/// The same on levels, several joints that follow each other at a time.
Status solve_on_levels(const Task& task, const MeshSurface& surface, const JointSet& set, const Unknowns& unknowns,
                       const Heat& heat, const std::vector<double>& mh, SetRows& rows) {
    const std::vector<std::uint32_t> slots = heating_joints(set, heat);
    std::vector<double> diagonal(mh);
    for (std::size_t i = 0; i < mh.size(); ++i) diagonal[i] *= heat.at[i].count;
    SINEW_TRY_LET(const LevelSolver solver, LevelSolver::make(heat.levels, diagonal, task.context));
    const std::vector<LocalFields> fields = solver.solve(sources_of(task, slots, heat, mh), task.context);
    if (cancelled(task.context)) return heat_cancelled();

    make_room(rows, task.context);
    const Lists rows_at(mh.size(), task.context, [&](const auto& to) {
        for (std::uint32_t i = 0; i < rows.vertices.size(); ++i)
            to(unknowns.of_node[surface.node_of[rows.vertices[i]]], i);
    });
    parallel_chunks(task.context, mh.size(), 4096, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t g = 0; g < fields.size(); ++g) {
            const auto& [node, value] = fields[g];
            const std::size_t first = g * LocalFields::kTogether,
                              count = std::min(LocalFields::kTogether, slots.size() - first);
            const auto begin_at = std::lower_bound(node.begin(), node.end(), begin) - node.begin();
            for (auto n = static_cast<std::size_t>(begin_at); n < node.size() && node[n] < end; ++n)
                for (std::size_t c = 0; c < count; ++c)
                    if (const float w = value[n].of[c]; w > LevelSolver::kLeast)
                        for (const std::uint32_t r : rows_at.of(node[n]))
                            insert(rows.entries.data() + r * rows.width, rows.kept[r], rows.width,
                                   {w, set.joints[slots[first + c]]});
        }
    });
    return Done{};
}

}  // namespace

Error heat_cancelled() { return {ErrorCode::cancelled, "cancelled while heat spreads"}; }

std::vector<std::uint32_t> store_without_heat(const Task& task, const MeshSurface& surface, const JointSet& set,
                                              InfluenceRows& rows) {
    std::vector<std::uint32_t> others;
    const InfluenceRows::Entry only{1.0f, set.joints[0]};
    for (const std::uint32_t v : set.vertices) {
        InfluenceRows::Entry nearest = only;
        if (surface.node_of[v] == MeshSurface::none) {
            const Point3 p = to_point(task.mesh.positions[v]);
            double best = INFINITY;
            for (const std::uint32_t j : set.joints)
                if (const double d = norm(to_point(task.skeleton.joints[j].position) - p); d < best)
                    best = d, nearest.second = j;
            rows.store(v, {&nearest, 1}, Coverage::unused);
        } else if (set.joints.size() == 1) {
            rows.store(v, {&nearest, 1}, set.idle ? Coverage::euclidean : Coverage::weighted);
        } else {
            others.push_back(v);
        }
    }
    return others;
}

Unknowns choose_unknowns(const MeshView& mesh, const MeshSurface& surface, std::vector<std::uint32_t> vertices,
                         const HeatRules& rules) {
    std::vector<bool> touched(surface.components, false);
    for (const std::uint32_t v : vertices) touched[surface.component[surface.node_of[v]]] = true;
    Unknowns out{std::move(vertices), {}, std::vector<std::uint32_t>(surface.nodes(), MeshSurface::none)};
    for (std::uint32_t node = 0; node < surface.nodes(); ++node)
        if (touched[surface.component[node]]) out.node.push_back(node);
    if (out.size() > rules.direct) out.node = along_curve(mesh, surface, out.node);
    for (std::uint32_t i = 0; i < out.size(); ++i) out.of_node[out.node[i]] = i;
    return out;
}

Result<SetRows> solve_heat(const Task& task, const MeshSurface& surface, const JointSet& set,
                           const Unknowns& unknowns, const Heat& heat, std::size_t least_width) {
    const std::vector<double> mh = mass_times_heat(task, surface, unknowns, heat);
    SetRows rows{unknowns.vertices,
                 std::max(task.width(), std::min(least_width, set.joints.size())),
                 {},
                 std::vector<std::uint32_t>(unknowns.vertices.size(), 0)};
    const auto& solve = heat.levels.empty() ? solve_directly : solve_on_levels;
    SINEW_TRY(solve(task, surface, set, unknowns, heat, mh, rows));
    return rows;
}

WeldedSurface::WeldedSurface(const Task& task)
    : surface(task.clock.run("surface", [&] { return build_surface(task.mesh, task.topology, task.context); })),
      tree(
          task.mesh.positions,
          [&] {
              LargeVector<Triangle> welded(task.mesh.triangles.size());
              parallel_for(task.context, welded.size(), 4096, [&](std::size_t t) {
                  for (std::size_t k = 0; k < 3; ++k) welded[t][k] = task.topology.weld[task.mesh.triangles[t][k]];
              });
              return welded;
          }(),
          task.context) {}

double surface_solver_memory(const MeshView& mesh, double threads) {
    const auto vertices = static_cast<double>(mesh.positions.size()),
               triangles = static_cast<double>(mesh.triangles.size());
    // Factors, and two batches of heat for each thread, or fields on levels; heat and surface, and rows of levels;
    // trees.
    const double solved = std::min(vertices, static_cast<double>(HeatRules{}.direct));
    const double batches = 2 * 8 * Cholesky::kBatch * threads;
    const double fields = 110 * std::min(threads, static_cast<double>(LevelSolver::kMostThreads));
    const double each = vertices > solved ? 150 + fields : 500;
    return estimate_cholesky_memory(solved, 7) + solved * batches + vertices * each + triangles * 300;
}

}  // namespace sinew
