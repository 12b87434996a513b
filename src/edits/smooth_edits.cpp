// Edits that take means of rows along the surface.
#include <algorithm>

#include "core/numbers.h"
#include "core/parallel.h"
#include "edits/edit_kinds.h"

namespace sinew {

/// At each of the vertices: the mean of the rows around its node.
Result<PreparedRow> smoothed_rows(const EditTask& task, const EditPart&, std::span<const std::uint32_t> at) {
    const WeightEdit& edit = task.edit;
    Context* context = task.context;

    const MeshSurface& mesh = task.surface.surface();
    const Neighbourhoods& near = task.surface.neighbours();
    const double length = edit.value;
    // A larger one would be the mean of all: likely another unit, and the square of the vertices in time.
    if (const double size = box_of(task.surface.mesh.positions).diagonal(); length > size)
        return Error{ErrorCode::usage, "smooth: the length " + shortest_text(edit.value) +
                                           " is larger than the whole mesh, which measures " + short_number(size) +
                                           " (is it in another unit?)"};
    // Time is that of all pairs within the length: from a sample of the vertices.
    constexpr double most = 4e8;  // a minute or two of one core
    Neighbourhoods::Scratch sampled(mesh.nodes());
    const std::size_t step = std::max<std::size_t>(1, at.size() / 32);
    double pairs = 0;
    for (std::size_t k = 0; k < at.size() && !cancelled(context); k += step)
        if (const std::uint32_t node = mesh.node_of[at[k]]; node != no_index)
            near.around(node, length, sampled, [&](std::uint32_t, double) { pairs += static_cast<double>(step); });
    if (pairs > most)
        return Error{ErrorCode::usage, "smooth: within the length " + shortest_text(edit.value) + " of each of " +
                                           std::to_string(at.size()) + " vertices lie about " +
                                           std::to_string(static_cast<std::size_t>(pairs) / at.size()) +
                                           " others (take a shorter one, or relax)"};
    std::vector<EditRow> out(at.size());
    parallel_chunks(context, at.size(), 1024, [&](std::size_t, std::size_t begin, std::size_t end) {
        Neighbourhoods::Scratch scratch(mesh.nodes());
        for (std::size_t k = begin; k < end && !cancelled(context); ++k) {
            const std::uint32_t node = mesh.node_of[at[k]];
            if (node == no_index) continue;
            EditRow& row = out[k];
            double sum = 0;
            near.around(node, length, scratch, [&](std::uint32_t n, double d) {
                const auto there = task.row(mesh.vertex_of[n]);
                if (there.empty()) return;
                const double t = 1 - d / length * (d / length);
                const double part = mesh.mass[n] * t * t;
                sum += part;
                for (const Influence& i : there) weight_in(row, i.joint) += part * i.weight;
            });
            for (Share& s : row) s.weight /= sum;
        }
    });
    return PreparedRow([out = std::move(out)](std::size_t k, EditRow& row) { row = out[k]; });
}

/// At each of the vertices: the row of its node after steps of diffusion of the whole surface. Step s needs only
/// nodes within steps - s edges of the vertices.
Result<PreparedRow> relaxed_rows(const EditTask& task, const EditPart&, std::span<const std::uint32_t> at) {
    const WeightEdit& edit = task.edit;
    Context* context = task.context;

    const MeshSurface& mesh = task.surface.surface();
    const Neighbourhoods& near = task.surface.neighbours();
    const auto steps = static_cast<std::size_t>(edit.value);
    std::vector<std::uint32_t> place(mesh.nodes(), no_index), node;
    std::vector<std::size_t> ring;  // number of nodes within 0, 1 … edges
    for (const std::uint32_t v : at)
        if (const std::uint32_t n = mesh.node_of[v]; n != no_index && place[n] == no_index) {
            place[n] = static_cast<std::uint32_t>(node.size());
            node.push_back(n);
        }
    ring.push_back(node.size());
    for (std::size_t s = 0, from = 0; s < steps; ++s) {
        const std::size_t to = node.size();
        for (std::size_t i = from; i < to; ++i)
            for (const Neighbourhoods::Link& l : near.of(node[i]))
                if (place[l.node] == no_index) {
                    place[l.node] = static_cast<std::uint32_t>(node.size());
                    node.push_back(l.node);
                }
        from = to;
        ring.push_back(node.size());
    }
    std::vector<EditRow> now(node.size()), next(ring[steps - 1]);
    for (std::size_t i = 0; i < node.size(); ++i)
        for (const Influence& k : task.row(mesh.vertex_of[node[i]])) now[i].push_back({k.joint, k.weight});
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
    return PreparedRow([now = std::move(now), place = std::move(place), &mesh, at](std::size_t k, EditRow& row) {
        if (const std::uint32_t n = mesh.node_of[at[k]]; n != no_index) row = now[place[n]];
    });
}

}  // namespace sinew
