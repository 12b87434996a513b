#include "field/conduction.h"

#include <algorithm>
#include <cmath>

#include "core/forest.h"
#include "core/morton.h"

namespace sinew {
namespace {

// The number of axes along which two linked leaves only touch: 1 face, 2 edge, 3 corner.
int touching(const Domain::Leaf& a, const Domain::Leaf& b) {
    const int s = 1 << a.level, t = 1 << b.level;
    const auto meets = [&](int p, int q) { return p + s == q || q + t == p; };
    return meets(a.x, b.x) + meets(a.y, b.y) + meets(a.z, b.z);
}

}  // namespace

Conduction make_conduction(const Domain& domain, std::span<const Bridge> bridges, Context* context) {
    const LeafLinks links = list_links(domain, Neighbours::all, context);
    const auto n = static_cast<std::uint32_t>(domain.leaves.size());
    const auto edge = [&](std::uint32_t i) { return static_cast<float>(1 << domain.leaves[i].level); };
    const auto face = [&](std::uint32_t i, std::uint32_t j) {
        const float least = std::min(edge(i), edge(j));
        return least * least / (0.5f * (edge(i) + edge(j)));
    };

    struct Extra {
        std::uint32_t from, to;
        float conductance;
        auto operator<=>(const Extra&) const = default;
    };
    std::vector<Extra> extra;  // links without a common face, in both directions
    Forest pieces(n);
    const auto each_link = [&](auto&& visit) {
        for (std::uint32_t i = 0; i < n; ++i)
            for (const std::uint32_t j : links.of(i)) visit(i, j, touching(domain.leaves[i], domain.leaves[j]));
    };
    each_link([&](std::uint32_t i, std::uint32_t j, int directions) {
        if (directions == 1 && i < j) pieces.join(i, j);
    });
    const std::vector<std::uint32_t> piece = pieces.roots();
    each_link([&](std::uint32_t i, std::uint32_t j, int directions) {
        if (directions > 1 && piece[i] != piece[j]) extra.push_back({i, j, face(i, j) / 4});
    });
    for (const Bridge& b : bridges) {
        const float g = 1 / std::max(1.0f, b.length);
        extra.push_back({b.from, b.to, g});
        extra.push_back({b.to, b.from, g});
    }
    std::sort(extra.begin(), extra.end());

    Conduction c;
    c.first.reserve(n + 1);
    c.first.push_back(0);
    c.volume.resize(n);
    c.cell.resize(n);
    auto next = extra.begin();
    for (std::uint32_t i = 0; i < n; ++i) {
        c.cell[i] = morton(domain.leaves[i].x, domain.leaves[i].y, domain.leaves[i].z);
        c.volume[i] = edge(i) * edge(i) * edge(i);
        for (const std::uint32_t j : links.of(i)) {
            if (touching(domain.leaves[i], domain.leaves[j]) != 1) continue;
            c.to.push_back(j);
            c.conductance.push_back(face(i, j));
        }
        for (; next != extra.end() && next->from == i; ++next) {
            c.to.push_back(next->to);
            c.conductance.push_back(next->conductance);
        }
        c.first.push_back(static_cast<std::uint32_t>(c.to.size()));
    }
    return c;
}

}  // namespace sinew
