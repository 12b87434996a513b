// fix_skin: limit, prune, normalise, weld seams.
#include <algorithm>
#include <map>

#include "core/forest.h"
#include "core/try.h"
#include "quality/skin_rules.h"

namespace sinew {

std::vector<std::uint32_t> seam_sets(const MeshView& mesh, const MeshTopology& topology) {
    Forest sets(mesh.positions.size());
    for (const auto& [a, b] : seam_pairs(mesh, topology.weld)) {
        if (!mesh.skin_of_vertex.empty() && mesh.skin_of_vertex[a] != mesh.skin_of_vertex[b]) continue;
        sets.join(a, b);
    }
    return sets.roots();
}

InfluenceList mean_row(std::span<const std::uint32_t> vertices, const SkinWeights& weights) {
    std::map<std::uint32_t, double> sums;
    for (const std::uint32_t v : vertices)
        for (const Influence& i : weights[v]) sums[i.joint] += i.weight;
    InfluenceList out;
    for (const auto& [joint, sum] : sums)
        out.push_back({joint, static_cast<float>(sum / static_cast<double>(vertices.size()))});
    std::sort(out.begin(), out.end(), [](const Influence& a, const Influence& b) {
        return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
    });
    return out;
}

Result<SkinWeights> fix_skin(const MeshView& mesh, const SkinWeights& weights, const SkinFixOptions& options,
                             SkinFixReport* report, Context* context) {
    SINEW_TRY(check_mesh(mesh));
    if (weights.vertex_count() != mesh.positions.size())
        return Error{ErrorCode::usage, "weights must have a row for every vertex"};
    SINEW_TRY(check(FinishOptions{options.max_influences, LimitRule::cut, options.prune}));
    const std::size_t n = mesh.positions.size();
    SkinFixReport done;
    std::vector<InfluenceList> welded(n);
    if (options.weld_seams) {
        const std::vector<std::uint32_t> root = seam_sets(mesh, analyse_mesh(mesh, context));
        std::vector<std::vector<std::uint32_t>> sets(n);
        for (std::uint32_t v = 0; v < n; ++v) sets[root[v]].push_back(v);
        RowPair rows;
        for (const std::vector<std::uint32_t>& set : sets) {
            const bool torn = std::any_of(set.begin(), set.end(), [&](std::uint32_t v) {
                return rows.l1(weights[v], weights[set[0]]) > kTornL1;
            });
            if (!torn) continue;
            const InfluenceList mean = mean_row(set, weights);
            for (const std::uint32_t v : set) welded[v] = mean;
            done.welded += set.size();
        }
    }
    std::vector<std::uint32_t> counts(n);
    std::vector<Influence> out;
    for (std::size_t v = 0; v < n; ++v) {
        std::span<const Influence> row = weights[v];
        if (!welded[v].empty()) row = welded[v];
        std::size_t keep = row.size();
        if (options.max_influences != all_influences && keep > static_cast<std::size_t>(options.max_influences)) {
            keep = static_cast<std::size_t>(options.max_influences);
            ++done.limited;
        }
        const std::size_t limited = keep;
        float sum = 0;
        for (const Influence& i : row.first(keep)) sum += i.weight;
        while (keep > 1 && row[keep - 1].weight < options.prune * sum) --keep;
        done.pruned += keep < limited;
        counts[v] = static_cast<std::uint32_t>(keep);
        out.insert(out.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keep));
    }
    if (report) *report = done;
    return SkinWeights::from_rows(counts, std::move(out));
}

}  // namespace sinew
