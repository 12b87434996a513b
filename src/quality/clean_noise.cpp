// How much noise rows have that their neighbours do not share.
#include <array>

#include "quality/clean_steps.h"

namespace sinew {
namespace {

// Chosen on two folders of characters: docs/notes/clean.md.
constexpr double kLeastNoise = 0.003;  // rounding, and what finer shapes look like
constexpr double kFullNoise = 0.01;    // and more is smoothed in full
constexpr std::array<double, 6> kQuietest = {0.3, 0.4, 0.5, 0.6, 0.7, 1};  // shares of nodes

// White noise of variance 1 gives what the mean of a node's neighbours lacks of its row this variance, and, with
// that of a neighbour, this covariance, if nodes have six edges each and neighbours two nodes in common.
constexpr double kVariance = 1 + 1.0 / 6, kCovariance = -(2.0 / 6 - 2.0 / 36);

/// Σ of the products by joint.
double product(std::span<const Influence> a, std::span<const Influence> b) {
    double sum = 0;
    each_common(a, b, [&](const Influence& x, const Influence& y) { sum += double{x.weight} * y.weight; });
    return sum;
}

}  // namespace

/// If weights are smooth, what the mean of a node's neighbours lacks of its row changes slowly over the surface:
/// only noise makes neighbours opposed. Borders hide it: it is there if one of some shares of the quietest nodes
/// shows it, and as large as one of these or all nodes show.
CleanNoise measure_noise(const CleanNodes& nodes, const CleanRows& rows, const NodeFlags& open) {
    const MeshSurface& surface = nodes.surface;
    std::vector<double> size(rows.size(), INFINITY), pull(rows.size(), 0);
    for (const MeshSurface::Edge& e : surface.edges) pull[e.a] += e.weight, pull[e.b] += e.weight;
    const CleanRows rest = nodes.make_rows(rows.size(), [&](std::uint32_t i, RowSum& sum, InfluenceList& row) {
        const auto ring = nodes.links(i);
        if (ring.size() < 3 || open[i]) return;
        if (std::any_of(ring.begin(), ring.end(), [&](const auto& l) { return open[l.to]; })) return;
        sum.add(rows[i], 1);
        for (const auto& l : ring) sum.add(rows[l.to], -surface.edges[l.edge].weight / pull[i]);
        sum.take(row);
        size[i] = product(row, row);
    });
    std::vector<double> sizes;
    std::copy_if(size.begin(), size.end(), std::back_inserter(sizes), [](double s) { return s < INFINITY; });
    if (sizes.empty()) return {};
    std::sort(sizes.begin(), sizes.end());
    std::array<double, kQuietest.size()> largest, sum{}, edges{};
    for (std::size_t k = 0; k < kQuietest.size(); ++k)
        largest[k] = sizes[static_cast<std::size_t>(kQuietest[k] * double(sizes.size() - 1))];
    for (const MeshSurface::Edge& e : surface.edges) {
        const double larger = std::max(size[e.a], size[e.b]), both = product(rest[e.a], rest[e.b]);
        for (std::size_t k = 0; k < kQuietest.size(); ++k)
            if (larger <= largest[k]) sum[k] += both, edges[k] += kCovariance;
    }
    double found = 0, all = 0;
    for (std::size_t k = 0; k < kQuietest.size(); ++k) {
        if (kQuietest[k] == 1) found = all;
        if (sum[k] < 0) all = std::max(all, std::sqrt(sum[k] / edges[k]));
    }
    all = std::max(all, std::sqrt(sizes[sizes.size() / 2] / kVariance));
    const double due = std::clamp((found - kLeastNoise) / (kFullNoise - kLeastNoise), 0.0, 1.0);
    return {due, due > 0 ? all : 0};
}

}  // namespace sinew
