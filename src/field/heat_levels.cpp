#include "field/heat_levels.h"

#include <algorithm>

#include "core/forest.h"

namespace sinew {
namespace {

constexpr std::size_t kCoarsest = 64;  // nodes; below it sweeps alone solve well enough

}  // namespace

HeatLevels::HeatLevels(const Conduction& conduction, std::vector<float> loss) : conduction_(conduction) {
    coarsen();
    set_loss(std::move(loss));
}

HeatLevels::Graph HeatLevels::graph(std::size_t level) const {
    if (level == 0) return {conduction_.first.data(), conduction_.to.data(), conduction_.conductance.data()};
    const Level& l = levels_[level];
    return {l.first.data(), l.to.data(), l.conductance.data()};
}

// A group loses what its nodes lose.
void HeatLevels::set_loss(std::vector<float> loss) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        Level& here = levels_[level];
        const std::size_t n = loss.size();
        const Graph g = graph(level);
        here.diagonal.resize(n);
        here.inverse.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            double sum = loss[i];
            for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k) sum += g.conductance[k];
            here.diagonal[i] = static_cast<float>(sum);
            here.inverse[i] = sum > 0 ? static_cast<float>(1 / sum) : 0;
        }
        if (level + 1 == levels_.size()) return;
        std::vector<float> coarse(levels_[level + 1].first.size() - 1, 0.0f);
        for (std::size_t i = 0; i < n; ++i) coarse[here.parent[i]] += loss[i];
        loss = std::move(coarse);
    }
}

// Level after level, the nodes of a cell of the octree become one where conductances join them.
void HeatLevels::coarsen() {
    std::vector<std::uint64_t> cell = conduction_.cell;
    levels_.emplace_back();
    for (int shift = 3;; shift += 3) {
        const std::size_t n = cell.size();
        if (n <= kCoarsest || shift > 30) return;
        Level& fine = levels_.back();
        const Graph g = graph(levels_.size() - 1);

        // Which cell a node lies in is its Morton number without the last bits.
        Forest pieces(n);
        const auto joined = [&](std::uint32_t i, std::uint32_t j) { return cell[i] >> shift == cell[j] >> shift; };
        for (std::uint32_t i = 0; i < n; ++i)
            for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k)
                if (g.to[k] < i && joined(i, g.to[k])) pieces.join(i, g.to[k]);
        Level coarse;
        std::vector<std::uint64_t> coarse_cell;
        fine.parent.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t r = pieces.root(i);
            if (r == i) {
                fine.parent[i] = static_cast<std::uint32_t>(coarse_cell.size());
                coarse_cell.push_back(cell[i]);
            }
            fine.parent[i] = fine.parent[r];
        }
        const std::size_t m = coarse_cell.size();
        // Links between different nodes, gathered per coarse node; several fine ones add up.
        std::vector<std::uint32_t> count(m + 1, 0);
        const auto each_link = [&](auto&& visit) {
            for (std::uint32_t i = 0; i < n; ++i)
                for (std::uint32_t k = g.first[i]; k < g.first[i + 1]; ++k)
                    if (fine.parent[i] != fine.parent[g.to[k]])
                        visit(fine.parent[i], fine.parent[g.to[k]], g.conductance[k]);
        };
        each_link([&](std::uint32_t a, std::uint32_t, float) { ++count[a + 1]; });
        for (std::size_t a = 0; a < m; ++a) count[a + 1] += count[a];
        std::vector<std::pair<std::uint32_t, float>> link(count[m]);
        std::vector<std::uint32_t> next(count.begin(), count.end() - 1);
        each_link([&](std::uint32_t a, std::uint32_t b, float conductance) {
            link[next[a]++] = {b, conductance / 2};  // centres are twice as far apart
        });
        coarse.first.push_back(0);
        for (std::size_t a = 0; a < m; ++a) {
            std::sort(link.begin() + count[a], link.begin() + count[a + 1]);
            for (std::uint32_t k = count[a]; k < count[a + 1]; ++k) {
                if (k > count[a] && link[k].first == link[k - 1].first)
                    coarse.conductance.back() += link[k].second;
                else {
                    coarse.to.push_back(link[k].first);
                    coarse.conductance.push_back(link[k].second);
                }
            }
            coarse.first.push_back(static_cast<std::uint32_t>(coarse.to.size()));
        }
        levels_.push_back(std::move(coarse));
        cell = std::move(coarse_cell);
    }
}

}  // namespace sinew
