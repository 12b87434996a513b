// Rows of open nodes come from those around them, and noise is smoothed between borders.
#include <numeric>
#include <optional>

#include "core/try.h"
#include "quality/clean_steps.h"

namespace sinew {
namespace {

// Chosen on two folders of characters, each judged without its own source: docs/notes/clean.md.
constexpr double kSmoothing = 3;     // of a node's edges against its own row
constexpr double kBorder = 0.3;      // L1 of an edge that nearly parts its ends
constexpr double kLeastEdge = 1e-3;  // of its weight that is left
constexpr double kMirrored = 0.6;    // the same of a node and the one across the mirror plane
constexpr double kLeastShare = 0.6;  // times the noise: less weight is noise
constexpr double kCore = 0.3;        // of the strongest joint: a patch that has this nowhere is noise, too
constexpr double kLeastFill = 0.01;  // of the strongest joint
constexpr double kLeastKept = 0.04;  // of a row
constexpr int kFirstSteps = 3, kSteps = 4, kMostSteps = 200;  // to find borders, between them, to fill
constexpr double kStill = 1e-3;                               // L1 of an open node in a step

/// Σ c |x − y|² + Σ w |x_a − x_b|² is least where each x is the mean of its y, by c, and of its neighbours, by w.
/// Open nodes have no y. Jacobi's iteration: rows are short, which makes a step cheaper than one of any solver by
/// joints, and x starts close, so that few steps remove what is rough.
struct Equation {
    const CleanNodes& nodes;
    const NodeFlags& open;
    const CleanRows& y;
    std::span<const double> c, w;  // of nodes, of edges

    /// The rows of these nodes after a step from x(node).
    template <typename Row>
    CleanRows step(const std::vector<std::uint32_t>& at, const Row& x) const {
        return nodes.make_rows(at.size(), [&](std::uint32_t k, RowSum& sum, InfluenceList& row) {
            const std::uint32_t i = at[k];
            if (!open[i]) sum.add(y[i], c[i]);
            for (const auto& l : nodes.links(i)) sum.add(x(l.to), w[l.edge]);
            normalise(row, kLeastKept * sum.take(row));
        });
    }
    CleanRows start() const {
        return nodes.make_rows(y.size(), [&](std::uint32_t i, RowSum&, InfluenceList& row) {
            if (!open[i]) row.assign(y[i].begin(), y[i].end());
        });
    }
    CleanRows solve(CleanRows x, int steps) const {
        std::vector<std::uint32_t> all(x.size());
        std::iota(all.begin(), all.end(), 0u);
        for (int k = 0; k < steps && !cancelled(nodes.context); ++k)
            x = step(all, [&](std::uint32_t i) { return x[i]; });
        return fill(std::move(x));
    }
    /// Steps at open nodes, until they are still.
    CleanRows fill(CleanRows x) const {
        std::vector<std::uint32_t> at, place(x.size(), no_index);
        for (std::uint32_t i = 0; i < x.size(); ++i)
            if (open[i]) place[i] = static_cast<std::uint32_t>(at.size()), at.push_back(i);
        if (at.empty()) return x;
        CleanRows filled = step(at, [&](std::uint32_t i) { return x[i]; });
        const auto row_of = [&](std::uint32_t i) { return place[i] == no_index ? x[i] : filled[place[i]]; };
        bool moves = true;
        for (int k = 1; k < kMostSteps && moves && !cancelled(nodes.context); ++k) {
            CleanRows next = step(at, row_of);
            moves = false;
            for (std::size_t i = 0; i < at.size() && !moves; ++i) moves = l1(next[i], filled[i]) > kStill;
            filled = std::move(next);
        }
        return nodes.make_rows(x.size(), [&](std::uint32_t i, RowSum&, InfluenceList& row) {
            const std::span<const Influence> of = row_of(i);
            row.assign(of.begin(), of.end());
        });
    }
};

/// 1 for equal rows, less the larger their L1.
double likeness(double l1, double scale) { return std::exp(-(l1 / scale) * (l1 / scale)); }

/// Edges lose weight where rows differ (half-quadratic: Geman and Reynolds 1992).
std::vector<double> at_borders(const CleanNodes& nodes, std::vector<double> edge, const CleanRows& x) {
    parallel_for(nodes.context, edge.size(), 1024, [&](std::size_t k) {
        const MeshSurface::Edge& e = nodes.surface.edges[k];
        edge[k] *= std::max(likeness(l1(x[e.a], x[e.b]), kBorder), kLeastEdge);
    });
    return edge;
}

/// The mean of y and the row across the mirror plane, as far as they are alike in x.
CleanRows with_mirrored(const CleanNodes& nodes, const Symmetry& symmetry, const NodeFlags& open,
                        const CleanRows& y, const CleanRows& x) {
    const auto across = [&](std::uint32_t j) { return symmetry.joint[j] != no_index ? symmetry.joint[j] : j; };
    return nodes.make_rows(y.size(), [&](std::uint32_t i, RowSum& sum, InfluenceList& row) {
        const std::uint32_t vertex = symmetry.vertex[nodes.surface.vertex_of[i]];
        const std::uint32_t other = vertex == no_index ? no_index : nodes.surface.node_of[vertex];
        row.assign(y[i].begin(), y[i].end());
        if (other == no_index || open[i] || open[other]) return;
        sum.add(x[i], 1);
        sum.add(x[other], -1, across);
        sum.take(row);
        double difference = 0;
        for (const Influence& w : row) difference += std::abs(w.weight);
        sum.add(y[i], 1);
        sum.add(y[other], likeness(difference, kMirrored), across);
        sum.take(row);
        normalise(row);
    });
}

/// Relative to the strongest joint of a row, what is at least `least` and in a patch of its joint that reaches
/// `core`.
CleanRows significant(const CleanNodes& nodes, CleanRows x, double least, double core) {
    parallel_for(nodes.context, x.size(), 1024, [&](std::size_t i) {
        float most = 0;
        for (const Influence& k : x[i]) most = std::max(most, k.weight);
        for (std::uint32_t k = x.first[i]; k < x.first[i + 1]; ++k) x.value[k].weight /= most;
    });
    const auto enough = [&](float weight) { return weight >= least; };
    Forest patches = find_patches(nodes, x, enough);
    std::vector<float> reached(x.value.size(), 0);
    for (const Influence& k : x.value) {
        float& most = reached[patches.root(x.number(k))];
        most = std::max(most, k.weight);
    }
    const std::vector<std::uint32_t> patch = patches.roots();
    return nodes.make_rows(x.size(), [&](std::uint32_t i, RowSum&, InfluenceList& row) {
        for (const Influence& k : x[i])
            if (enough(k.weight) && reached[patch[x.number(k)]] >= static_cast<float>(core)) row.push_back(k);
    });
}

}  // namespace

Result<CleanRows> solve_rows(const CleanNodes& nodes, const CleanRows& y, const NodeFlags& open,
                             const CleanNoise& noise) {
    std::vector<double> edge, own(y.size(), 0);
    for (const MeshSurface::Edge& e : nodes.surface.edges) edge.push_back(e.weight);
    const Equation first{nodes, open, y, own, edge};
    if (noise.due == 0) return significant(nodes, first.fill(first.start()), kLeastFill, 0);

    SINEW_TRY_LET(const auto symmetry, find_symmetry(nodes.mesh, nodes.skeleton, nodes.context));
    const double due = nodes.options.strength * noise.due;
    // The root: on coarse meshes the weights of edges around a node differ by more than its rows do.
    for (double& w : edge) w = std::sqrt(w);
    for (std::size_t k = 0; k < edge.size(); ++k)
        for (const std::uint32_t i : {nodes.surface.edges[k].a, nodes.surface.edges[k].b})
            own[i] += edge[k] / (kSmoothing * due);
    CleanRows x = first.solve(first.start(), kFirstSteps);
    const CleanRows mean = symmetry ? with_mirrored(nodes, *symmetry, open, y, x) : y;
    const std::vector<double> kept = at_borders(nodes, edge, x);
    x = Equation{nodes, open, mean, own, kept}.solve(std::move(x), kSteps);
    // Noise of one joint is less than that of a row. What it adds where a joint has no weight goes; large weights
    // stay (the garrote of Breiman 1995).
    const double influences = static_cast<double>(y.value.size()) / static_cast<double>(y.size());
    const double least = std::clamp(kLeastShare * due * (noise.size / std::sqrt(influences)), kLeastFill, kCore);
    for (Influence& k : x.value) k.weight -= static_cast<float>(least * least / k.weight);
    return significant(nodes, std::move(x), least, kCore * std::min(nodes.options.strength, 1.0) * noise.due);
}

}  // namespace sinew
