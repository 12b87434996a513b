// clean_skin: weight that is implausible where it lies is removed, and what is open or noisy comes from its
// surroundings. docs/clean.md
#include "core/try.h"
#include "quality/clean_steps.h"

namespace sinew {
namespace {

/// Rows of nodes: the mean of their vertices. `torn`: nodes whose vertices differ.
CleanRows join_seams(const CleanNodes& nodes, const SkinWeights& weights, NodeFlags& torn) {
    return nodes.make_rows(nodes.size(), [&](std::uint32_t i, RowSum& sum, InfluenceList& row) {
        RowPair pair;
        std::span<const Influence> one;
        bool empty = false;
        for (const std::uint32_t v : nodes.vertices.of(i)) {
            empty |= weights[v].empty();
            if (weights[v].empty()) continue;
            torn[i] |= !one.empty() && pair.l1(weights[v], one) > kTornL1;
            if (one.empty()) one = weights[v];
            sum.add(weights[v], 1);
        }
        torn[i] |= empty && !one.empty();
        sum.take(row);
        normalise(row);
    });
}

/// Parts without any row that can be believed keep theirs.
void keep_lost_parts(const CleanNodes& nodes, NodeFlags& open, NodeFlags& changed) {
    const LargeVector<std::uint32_t>& part = nodes.surface.component;
    std::vector<std::uint8_t> known(nodes.surface.components, false);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) known[part[i]] |= !open[i];
    for (std::uint32_t i = 0; i < nodes.size(); ++i)
        if (open[i]) open[i] = changed[i] = known[part[i]];
}

std::size_t count_vertices(const CleanNodes& nodes, const NodeFlags& of) {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < nodes.size(); ++i)
        if (of[i]) count += nodes.vertices.of(i).size();
    return count;
}

/// The weights, with row(node) where nodes changed.
template <typename Row>
Result<SkinWeights> with_rows(const SkinWeights& weights, const CleanNodes& nodes, const NodeFlags& changed,
                              const Row& row_of) {
    std::vector<std::uint32_t> counts(weights.vertex_count());
    InfluenceList all, fresh;
    for (std::uint32_t v = 0; v < counts.size(); ++v) {
        const std::uint32_t node = nodes.surface.node_of[v];
        std::span<const Influence> row = weights[v];
        if (node != no_index && changed[node]) {
            row = row_of(node);
            fresh.assign(row.begin(), row.end());
            std::sort(fresh.begin(), fresh.end(), [](const Influence& a, const Influence& b) {
                return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
            });
            row = fresh;
            if (const int most = nodes.options.max_influences; most != all_influences)
                row = row.first(std::min(row.size(), static_cast<std::size_t>(most)));
        }
        counts[v] = static_cast<std::uint32_t>(row.size());
        all.insert(all.end(), row.begin(), row.end());
    }
    return SkinWeights::from_rows(counts, std::move(all));
}

}  // namespace

CleanNodes::CleanNodes(const MeshView& of, const Skeleton& by, const SkinCleanOptions& how, Context* in)
    : mesh(of), skeleton(by), options(how), context(in), topology(analyse_mesh(of, in)) {
    MeshTopology seams = topology;
    seams.weld = seam_sets(mesh, topology);
    surface = build_surface(mesh, seams, context);
    vertices = Lists(size(), context, [&](const auto& to) {
        for (std::uint32_t v = 0; v < surface.node_of.size(); ++v)
            if (surface.node_of[v] != no_index) to(surface.node_of[v], v);
    });
    link_nodes(size(), surface.edges, first, link, [&](const MeshSurface::Edge& e, std::uint32_t to) {
        return Link{to, static_cast<std::uint32_t>(&e - surface.edges.data())};
    });
}

Status check(const SkinCleanOptions& options) {
    if (!(options.strength >= 0 && options.strength <= 4))  // NaN fails
        return Error{ErrorCode::usage, "clean: the strength must be from 0 to 4"};
    if (options.resolution < 16 || options.resolution > 1024)
        return Error{ErrorCode::usage, "clean: the resolution must be from 16 to 1024"};
    return check(FinishOptions{options.max_influences, LimitRule::cut, 0});
}

Result<SkinWeights> clean_skin(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& weights,
                               const SkinCleanOptions& options, SkinCleanReport* report, Context* context) {
    SINEW_TRY(check(options));
    SINEW_TRY(check_mesh(mesh));
    SINEW_TRY(check_skeleton(skeleton));
    SINEW_TRY(check_fit(mesh, skeleton, weights, "the weights"));

    const CleanNodes nodes(mesh, skeleton, options, context);
    NodeFlags torn(nodes.size(), false), open = torn, pulled = torn;
    CleanRows rows = join_seams(nodes, weights, torn);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) open[i] = rows[i].empty();
    if (options.strength > 0) SINEW_TRY(remove_implausible(nodes, rows, open, pulled));
    NodeFlags changed = torn;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) changed[i] |= pulled[i];
    keep_lost_parts(nodes, open, changed);
    const CleanNoise noise = options.strength > 0 ? measure_noise(nodes, rows, open) : CleanNoise{};
    if (noise.due > 0) std::fill(changed.begin(), changed.end(), true);
    SINEW_TRY_LET(const CleanRows solved, solve_rows(nodes, rows, open, noise));
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while weights are cleaned"};
    const auto row_of = [&](std::uint32_t i) {
        return (open[i] || noise.due > 0) && !solved[i].empty() ? solved[i] : rows[i];
    };
    SINEW_TRY_LET(SkinWeights out, with_rows(weights, nodes, changed, row_of));
    if (!report) return out;
    *report = {count_vertices(nodes, pulled), count_vertices(nodes, open), count_vertices(nodes, torn), noise.size,
               0};
    RowPair pair;
    for (std::size_t v = 0; v < weights.vertex_count(); ++v)
        report->change += pair.l1(weights[v], out[v]) / static_cast<double>(weights.vertex_count());
    return out;
}

}  // namespace sinew
