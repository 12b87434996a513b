// Parts of a character that no bone reaches (an eyeball, a button, a hair card) are joined to the nearest part.
//
// A breadth-first wave runs from all leaves at once over a coarse grid. Where the waves of two components meet, the
// leaves that they came from are close to the nearest pair; the shortest such meetings make the forest (Kruskal
// 1956).

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/forest.h"
#include "field/geodesic.h"

namespace sinew {
namespace {

// The distance between leaves is taken between their centres: between cubes that touch it would be 0.
float centre_distance(const Domain& domain, std::uint32_t i, std::uint32_t j) {
    const auto p = domain.centre(i), q = domain.centre(j);
    return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

}  // namespace

void BridgeFinder::measure() {
    measured_ = true;
    const Domain& domain = domain_;
    const bool flat = domain.transform.depth() == 1;
    const int r = domain.transform.resolution, side = std::min(r, flat ? 1024 : 128), cell = r / side;
    const int layers = flat ? 1 : side;
    const auto size = static_cast<std::size_t>(side) * side * layers;
    std::vector<std::uint32_t> source(size, no_index);  // per cell: the leaf whose wave came first
    std::vector<std::uint32_t> wave;
    auto meet = [&](std::uint32_t i, std::uint32_t j) {
        std::uint32_t a = domain.component[i], b = domain.component[j];
        if (a == b) return;
        if (a > b) std::swap(a, b), std::swap(i, j);
        gaps_.push_back({a, b, centre_distance(domain, i, j), i, j});
    };
    for (std::uint32_t i = 0; i < domain.leaves.size(); ++i) {
        const Domain::Leaf& leaf = domain.leaves[i];
        const int first[3] = {leaf.x / cell, leaf.y / cell, leaf.z / cell};
        const int n = std::max(1, (1 << leaf.level) / cell);
        for (int z = first[2]; z < first[2] + n; ++z) {
            for (int y = first[1]; y < first[1] + n; ++y) {
                for (int x = first[0]; x < first[0] + n; ++x) {
                    const auto at = static_cast<std::uint32_t>((z * side + y) * side + x);
                    if (source[at] == no_index) {
                        source[at] = i;
                        wave.push_back(at);
                    } else {
                        meet(source[at], i);
                    }
                }
            }
        }
    }
    for (std::size_t head = 0; head < wave.size(); ++head) {
        const std::uint32_t at = wave[head];
        const int x = static_cast<int>(at) % side, y = static_cast<int>(at) / side % side,
                  z = static_cast<int>(at) / side / side;
        const int neighbours[6][3] = {{x - 1, y, z}, {x + 1, y, z}, {x, y - 1, z},
                                      {x, y + 1, z}, {x, y, z - 1}, {x, y, z + 1}};
        for (const auto& c : neighbours) {
            if (std::min({c[0], c[1], c[2]}) < 0 || std::max(c[0], c[1]) >= side || c[2] >= layers) continue;
            const auto to = static_cast<std::uint32_t>((c[2] * side + c[1]) * side + c[0]);
            if (source[to] == no_index) {
                source[to] = source[at];
                wave.push_back(to);
            } else {
                meet(source[at], source[to]);
            }
        }
    }
    std::sort(gaps_.begin(), gaps_.end());
    gaps_.erase(std::unique(gaps_.begin(), gaps_.end()), gaps_.end());
    for (std::size_t i = 0; i < gaps_.size(); ++i) {
        if (i == 0 || gaps_[i].a != gaps_[i - 1].a || gaps_[i].b != gaps_[i - 1].b) shortest_.push_back(i);
    }
    std::sort(shortest_.begin(), shortest_.end(), [&](std::size_t i, std::size_t j) {
        return std::tie(gaps_[i].length, i) < std::tie(gaps_[j].length, j);
    });
}

std::vector<Bridge> BridgeFinder::join(const std::vector<bool>& seeded) {
    std::vector<Bridge> bridges;
    if (std::find(seeded.begin(), seeded.end(), false) == seeded.end() ||
        std::find(seeded.begin(), seeded.end(), true) == seeded.end()) {
        return bridges;
    }
    if (!measured_) measure();
    Forest forest(seeded.size());
    std::vector<bool> reached(seeded);
    for (const std::size_t first : shortest_) {
        const std::uint32_t a = forest.root(gaps_[first].a), b = forest.root(gaps_[first].b);
        if (a == b || (reached[a] && reached[b])) continue;
        forest.join(a, b);
        reached[std::min(a, b)] = reached[a] || reached[b];
        const float widest = 2 * gaps_[first].length + 2;
        for (std::size_t i = first; i < gaps_.size() && gaps_[i].a == gaps_[first].a &&
                                    gaps_[i].b == gaps_[first].b && gaps_[i].length <= widest;
             ++i) {
            bridges.push_back({gaps_[i].leaf_a, gaps_[i].leaf_b, gaps_[i].length});
        }
    }
    return bridges;
}

std::vector<Bridge> lead_outwards(std::vector<Bridge> bridges, const Domain& domain,
                                  const std::vector<bool>& seeded) {
    // Joined components form trees with one seeded component each: traverse them breadth first from there.
    std::vector<std::vector<std::uint32_t>> joined(seeded.size());
    for (const Bridge& b : bridges) {
        const std::uint32_t from = domain.component[b.from], to = domain.component[b.to];
        joined[from].push_back(to);
        joined[to].push_back(from);
    }
    constexpr std::uint32_t unreached = ~std::uint32_t{0};
    std::vector<std::uint32_t> steps(seeded.size(), unreached), queue;
    for (std::uint32_t c = 0; c < seeded.size(); ++c)
        if (seeded[c]) steps[c] = 0, queue.push_back(c);
    for (std::size_t k = 0; k < queue.size(); ++k)
        for (const std::uint32_t to : joined[queue[k]])
            if (steps[to] == unreached) steps[to] = steps[queue[k]] + 1, queue.push_back(to);
    for (Bridge& b : bridges) {
        if (steps[domain.component[b.from]] > steps[domain.component[b.to]]) std::swap(b.from, b.to);
        b.one_way = true;
    }
    return bridges;
}

}  // namespace sinew
