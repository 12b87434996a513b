// Reuse of a domain of the same voxels that other bones divide.
//
// Most leaves and their links only change their numbers. Other leaves are along the bones that moved. Groups
// without changed leaves in or around their block are copied. Listed links between two unchanged leaves keep
// the order of their lists: the labels of a sweep store positions in these lists, and are kept if a list only
// gains links at its end, or none (renew.cpp). Links with a new leaf are searched.

#include "domain/redivide.h"

#include <algorithm>
#include <numeric>

#include "core/parallel.h"
#include "domain/leaf_graph.h"
#include "domain/leaf_index.h"
#include "domain/link_search.h"
#include "domain/morton.h"

namespace sinew {

namespace {

// Whether a comes before b in the order of leaves (Domain); of two with the same lower corner, the larger does.
bool comes_before(const Domain::Leaf& a, const Domain::Leaf& b) {
    const std::uint64_t at_a = morton(a.x, a.y, a.z), at_b = morton(b.x, b.y, b.z);
    constexpr int block = 6;  // bits of a place in 4³ voxels
    if (at_a >> block != at_b >> block) return at_a < at_b;
    return a.level != b.level ? a.level > b.level : at_a < at_b;
}

}  // namespace

LeafMatch match_leaves(std::span<const Domain::Leaf> before, std::span<const Domain::Leaf> now) {
    LeafMatch match;
    const auto same = [](const Domain::Leaf& a, const Domain::Leaf& b) {
        return a.x == b.x && a.y == b.y && a.z == b.z && a.level == b.level && a.boundary == b.boundary;
    };
    std::size_t i = 0, k = 0;
    while (i < now.size() && k < before.size()) {
        if (same(now[i], before[k])) {
            const std::size_t first = i, other = k;
            while (i < now.size() && k < before.size() && same(now[i], before[k])) ++i, ++k;
            match.runs.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(other),
                                  static_cast<std::uint32_t>(i - first)});
        } else if (comes_before(now[i], before[k])) {
            ++i;
        } else {
            ++k;
        }
    }
    return match;
}

VoxelGrid voxels_of(const Domain& domain, Context* context) {
    const int r = domain.transform.resolution, depth = domain.transform.depth();
    VoxelGrid grid;
    grid.transform = domain.transform;
    grid.boundary = grid.interior = BitGrid(r, depth);
    const Domain::Index& index = *domain.index;
    constexpr int side = Domain::Index::kBlock;
    const auto layers = static_cast<std::size_t>(std::max(1, depth / side));
    BitGrid::Region used{depth, 0};
    for (const Domain::Leaf& leaf : domain.leaves) {
        used.first = std::min<int>(used.first, leaf.z);
        used.end = std::max(used.end, std::min(depth, leaf.z + (1 << leaf.level)));
    }
    if (used.first < used.end) {
        grid.boundary.restrict_to(used);
        grid.interior.restrict_to(used);
    }
    // Rows of four voxels, block by block; a layer of blocks has its own words.
    parallel_for(context, layers, 1, [&](std::size_t layer) {
        const auto bottom = static_cast<int>(layer) * side;
        for (int y = 0; y < r; y += side)
            for (int x = 0; x < r; x += side) {
                const std::uint32_t entry = index.entry(x, y, bottom);
                if (entry == Domain::none) continue;
                std::uint64_t boundary = 0, solid = ~std::uint64_t{0};  // by place in the block
                if (entry & Domain::Index::kDivided) {
                    const Domain::Index::Block& block = index.blocks[entry & ~Domain::Index::kDivided];
                    boundary = block.boundary;
                    solid = 0;
                    for (std::size_t place = 0; place < block.at.size(); ++place)
                        solid |= std::uint64_t{block.at[place] != 255} << place;
                } else if (domain.leaves[entry].boundary) {
                    boundary = solid;
                }
                for (int z = bottom; z < std::min(bottom + side, depth); ++z)
                    for (int row = y; row < y + side; ++row) {
                        const std::size_t word = grid.boundary.index(x, row, z);
                        grid.boundary.words()[word] |= (boundary & 15) << (x & 63);
                        grid.interior.words()[word] |= (solid & ~boundary & 15) << (x & 63);
                        boundary >>= side, solid >>= side;
                    }
            }
    });
    return grid;
}

Domain::Graph::PreviousGraph::PreviousGraph(const Domain& before, const Domain& after)
    : domain(before), graph(*before.graph), per_side(after.index->per_side), near(after.index->top.size()) {
    now.assign(before.leaves.size() + 1, none);
    was.assign(after.leaves.size(), none);
    for (const LeafMatch::Run& run : match_leaves(before.leaves, after.leaves).runs) {
        std::iota(now.begin() + run.before, now.begin() + run.before + run.count, run.now);
        std::iota(was.begin() + run.now, was.begin() + run.now + run.count, run.before);
    }
    const auto side = static_cast<std::size_t>(per_side), layers = near.size() / (side * side);
    for (std::size_t i = 0; i < was.size(); ++i) {
        if (was[i] != none) continue;
        const Leaf& leaf = after.leaves[i];
        const std::size_t across = std::max(1, 1 << leaf.level >> 2);
        const auto range = [&](std::size_t at, std::size_t end) {
            return std::pair{at - (at > 0), std::min(end, at + across + 1)};
        };
        const auto [x0, x1] = range(leaf.x >> 2, side);
        const auto [y0, y1] = range(leaf.y >> 2, side);
        const auto [z0, z1] = range(leaf.z >> 2, layers);
        for (std::size_t z = z0; z < z1; ++z)
            for (std::size_t y = y0; y < y1; ++y)
                std::fill_n(&near[(z * side + y) * side + x0], x1 - x0, std::uint8_t{1});
    }
}

void Domain::Graph::PreviousGraph::take_group(Graph& to, std::size_t g, std::uint32_t first_leaf) const {
    const Node* from = &graph.nodes[was[first_leaf]];
    const Cells& cells = graph.around[from->group()];
    Cells& out = to.around[g];
    out.present = cells.present;
    for (std::size_t cell = 0; cell < cells.leaf.size(); ++cell) {
        const std::uint32_t leaf = cells.leaf[cell];
        out.leaf[cell] = leaf == none ? none : now[leaf & ~kLarger] | (leaf & kLarger);
    }
    Node* node = &to.nodes[first_leaf];
    for (std::uint32_t left = cells.present[link_search::kSlots[link_search::kMiddle]]; left; left &= left - 1) {
        node->all = from->all;
        node->boundary = from->boundary;
        ++node, ++from;
    }
}

void Domain::Graph::PreviousGraph::take_components(Domain& after) const {
    std::vector<std::uint32_t> number(domain.component_count, none);
    after.component.resize(after.leaves.size());
    after.component_count = 0;
    for (std::size_t i = 0; i < after.leaves.size(); ++i) {
        const Leaf& leaf = after.leaves[i];
        const std::uint32_t there = was[i] != none ? was[i] : domain.leaf_at(leaf.x, leaf.y, leaf.z);
        std::uint32_t& of = number[domain.component[there]];
        if (of == none) of = after.component_count++;
        after.component[i] = of;
    }
}

namespace {

// A link with an end whose list changed: `from`, and perhaps `to`.
struct Relinked {
    std::uint32_t from, to, touch;  // touch: from `from` to `to`
    std::uint32_t at_to;            // its position in the list of `to`, or kAnew: after the existing ones
};
constexpr std::uint32_t kAnew = ~std::uint32_t{0};

}  // namespace

void Domain::Graph::relink_others(const Domain& after, std::span<const std::uint32_t> larger,
                                  const PreviousGraph& before, Context* context) {
    const std::size_t n = after.leaves.size();
    const Graph& old = before.graph;
    // Pairs without their own number have changed numbers.
    std::vector<std::uint32_t> rare_now(old.rare.size(), none);
    for (std::size_t k = 0; k < old.rare.size(); ++k) {
        const std::uint32_t from = before.now[old.rare[k][0]], to = before.now[old.rare[k][1]];
        if (from == none || to == none) continue;
        rare_now[k] = static_cast<std::uint32_t>(rare.size());
        rare.push_back({from, to});
    }
    const auto touch_now = [&](std::uint32_t touch) {
        if (touch < touches::kTabled) return touch;
        const std::uint32_t k = touch - touches::kTabled;
        return touches::kTabled + 2 * rare_now[k / 2] + (k & 1);
    };

    // Links with a new leaf, found by one of the two.
    std::vector<Relinked> links;
    constexpr std::uint8_t kRelisted = 1, kSearched = 2;
    std::vector<std::uint8_t> relisted(n, 0);
    const auto found = [&](std::uint32_t from, std::uint32_t to, const Leaf& u, const Leaf& v) {
        if (before.was[from] != none && before.was[to] != none) return;
        std::uint32_t touch = touches::kTabled + 2 * static_cast<std::uint32_t>(rare.size());
        if (v.level < touches::kLevels)
            touch = touches::number(u, v);
        else
            rare.push_back({from, to});
        links.push_back({from, to, touch, kAnew});
        relisted[from] |= kRelisted, relisted[to] |= kRelisted;
    };
    const Index& ix = *after.index;
    for (std::size_t block = 0; block < before.near.size(); ++block) {
        if (!before.near[block] || ix.top[block] == none) continue;
        if (!(ix.top[block] & Index::kDivided)) {
            const std::uint32_t large = ix.top[block];
            if (!(relisted[large] & kSearched)) link_search::each_of_large(after, large, found);
            relisted[large] |= kSearched;
            continue;
        }
        const std::uint32_t first = ix.blocks[ix.top[block] & ~Index::kDivided].first;
        const auto in_block = [&](std::uint32_t i) {
            const Leaf &a = after.leaves[first], &b = after.leaves[i];
            return b.level < kGrouped && ((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z)) >> 2 == 0;
        };
        for (std::uint32_t i = first; i < n && in_block(i); ++i)
            if (around[nodes[i].group()].leaf[link_search::kMiddle] == i)
                link_search::each_of_group(after, *this, nodes[i].group(), larger[nodes[i].group()], found);
    }
    // Lists that lost a link.
    for (std::size_t i = 0; i < before.domain.leaves.size(); ++i)
        if (before.now[i] == none)
            for (const Link& l : old.others(old.nodes[i]))
                if (const std::uint32_t to = before.now[l.to()]; to != none) relisted[to] |= kRelisted;
    // Their other links come before the new ones.
    const std::size_t fresh = links.size();
    for (std::uint32_t i = 0; i < n; ++i) {
        if (!(relisted[i] & kRelisted) || before.was[i] == none) continue;
        const std::uint32_t was = before.was[i];
        for (const Link& l : old.others(old.nodes[was])) {
            const std::uint32_t to = before.now[l.to()];
            if (to == none) continue;
            const bool both = relisted[to] & kRelisted;
            if (both && to < i) continue;  // it has already been added
            std::uint32_t at_to = kAnew;
            if (!both) {
                const std::span<const Link> there = old.others(old.nodes[l.to()]);
                at_to = l.back() > 0 ? l.back() - 1 : kMostBack;
                while (there[at_to].to() != was) ++at_to;
            }
            links.push_back({i, to, touch_now(l.touch()), at_to});
        }
    }
    std::rotate(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(fresh), links.end());

    std::vector<std::uint32_t> count(n, 0);  // of changed lists
    for (const Relinked& l : links) {
        ++count[l.from];
        if (l.at_to == kAnew) ++count[l.to];
    }
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < n; ++i) {
        nodes[i].other = next;
        if (before.was[i] == none || (relisted[i] & kRelisted)) {
            next += std::exchange(count[i], 0);
        } else {
            const Node& node = old.nodes[before.was[i]];
            next += (&node)[1].other - node.other;
        }
    }
    nodes[n].other = next;
    other.resize(next);
    parallel_for(context, n, 8192, [&](std::size_t i) {
        if (before.was[i] == none || (relisted[i] & kRelisted)) return;
        std::uint32_t at = nodes[i].other;
        for (const Link& l : old.others(old.nodes[before.was[i]]))
            other[at++] = {before.now[l.to()], touch_now(l.touch()), l.back()};
    });
    const auto back_of = [](std::uint32_t place) { return place < kMostBack ? place + 1 : 0; };
    for (const Relinked& l : links) {
        const std::uint32_t at_from = count[l.from]++, at_to = l.at_to == kAnew ? count[l.to]++ : l.at_to;
        other[nodes[l.from].other + at_from] = {l.to, l.touch, back_of(at_to)};
        other[nodes[l.to].other + at_to] = {l.from, touches::reversed(l.touch), back_of(at_from)};
    }
}

}  // namespace sinew
