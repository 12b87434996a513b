// The links of a domain by groups of eight.
#include "domain/leaf_graph.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "core/parallel.h"
#include "domain/leaf_index.h"
#include "domain/link_search.h"
#include "domain/union_find.h"

namespace sinew {

using namespace link_search;

// place · 8 + turned · 4 + whether the first is boundary · 2 + whether the second is. The place is where the lower
// leaf, or that of two alike which is earlier in it, lies at the other; the first of the two is the other if
// turned.
std::uint32_t touches::number(const Domain::Leaf& u, const Domain::Leaf& n) {
    bool turned = u.level > n.level;
    const Domain::Leaf &low = turned ? n : u, &high = turned ? u : n;
    const auto across = static_cast<int>(side(high.level - low.level));
    const auto at = [&](int of_low, int of_high) { return (of_low >> low.level) - (of_high >> low.level) + 1; };
    int place = (at(low.z, high.z) * across + at(low.y, high.y)) * across + at(low.x, high.x);
    if (u.level == n.level && place > 13) {
        place = 26 - place;
        turned = true;
    }
    return 8 * (kFirst[low.level][high.level] + static_cast<std::uint32_t>(place)) + 4 * turned + 2 * u.boundary +
           n.boundary;
}

std::pair<Domain::Leaf, Domain::Leaf> touches::example(std::uint32_t touch) {
    std::size_t low = 0, high = 0;
    const std::uint32_t place = touch / 8;
    for (std::size_t a = 0; a < kLevels; ++a)
        for (std::size_t b = a; b < kLevels; ++b)
            if (kFirst[a][b] <= place) low = a, high = b;
    const std::uint32_t across = side(static_cast<int>(high - low)), rest = place - kFirst[low][high];
    constexpr std::uint32_t middle = 1u << kLevels;  // where the higher one lies
    const auto at = [&](std::uint32_t steps) {
        return static_cast<std::uint16_t>(middle + (steps << low) - (1u << low));
    };
    Domain::Leaf lower{at(rest % across), at(rest / across % across), at(rest / across / across),
                       static_cast<std::uint8_t>(low), false};
    Domain::Leaf higher{middle, middle, middle, static_cast<std::uint8_t>(high), false};
    if (touch & 4) std::swap(lower, higher);
    lower.boundary = touch >> 1 & 1;
    higher.boundary = touch & 1;
    return {lower, higher};
}

namespace {

constexpr std::size_t kGrain = 4096;

// The 4³ cells that are a group and what borders on it, as bits: x + 4 y + 16 z. What a group in one of the 27
// cells adds to them, by which of its places are set.
using Surroundings = std::array<std::array<std::uint64_t, 256>, 27>;
const Surroundings& surroundings() {
    static const Surroundings table = [] {
        Surroundings out{};
        for (std::size_t cell = 0; cell < 27; ++cell) {
            const int at[3] = {static_cast<int>(cell % 3), static_cast<int>(cell / 3 % 3),
                               static_cast<int>(cell / 9)};
            for (std::size_t places = 0; places < 256; ++places)
                for (int place = 0; place < 8; ++place) {
                    if (!(places >> place & 1)) continue;
                    int bit = 0;
                    bool borders = true;
                    for (int axis = 0; axis < 3; ++axis) {
                        const int c = 2 * at[axis] - 1 + (place >> axis & 1);
                        borders = borders && c >= 0 && c < 4;
                        bit += c << (2 * axis);
                    }
                    if (borders) out[cell][places] |= std::uint64_t{1} << bit;
                }
        }
        return out;
    }();
    return table;
}

// Of the 4³ cells, those around a place of the group, as directions.
std::uint32_t directions_around(std::uint64_t cells, int place) {
    const std::uint64_t from = cells >> ((place & 1) + (place & 2) * 2 + (place & 4) * 4);
    // Of each layer of 16 bits three rows of three, then of these the layers, closed up.
    const std::uint64_t closed =
        (from & 0x0007'0007'0007u) | (from >> 1 & 0x0038'0038'0038u) | (from >> 2 & 0x01c0'01c0'01c0u);
    const auto rows =
        static_cast<std::uint32_t>((closed & 0x1ffu) | (closed >> 7 & 0x1ffu << 9) | (closed >> 14 & 0x1ffu << 18));
    return (rows & 0x1fffu) | (rows >> 14 << 13);
}

std::uint32_t face_directions() {
    std::uint32_t faces = 0;
    for (int d = 0; d < kDirections; ++d) {
        const auto [x, y, z] = step_of(d);
        if (x * x + y * y + z * z == 1) faces |= 1u << d;
    }
    return faces;
}

// Of the group in a corner cell, the place that touches the group in the middle.
int touching_place(std::size_t cell) {
    return (cell % 3 == 0 ? 1 : 0) | (cell / 3 % 3 == 0 ? 2 : 0) | (cell / 9 == 0 ? 4 : 0);
}

}  // namespace

const std::array<std::array<Domain::Graph::Way, kDirections>, 8> Domain::Graph::kWays = [] {
    std::array<std::array<Way, kDirections>, 8> out{};
    for (int place = 0; place < 8; ++place)
        for (int e = 0; e < kDirections; ++e) {
            const auto step = step_of(e);
            int cell = 0, there = 0;
            for (int axis = 2; axis >= 0; --axis) {
                const int c =
                    (place >> axis & 1) + step[static_cast<std::size_t>(axis)] + 2;  // 1..4, own is 2 and 3
                cell = 3 * cell + c / 2;
                there = 2 * there + (c & 1);
            }
            out[static_cast<std::size_t>(place)][static_cast<std::size_t>(e)] = {
                static_cast<std::uint8_t>(cell), kSlots[static_cast<std::size_t>(cell)],
                static_cast<std::uint8_t>((1u << there) - 1)};
        }
    return out;
}();

const std::array<std::uint8_t, 256> Domain::Graph::kCount = [] {
    std::array<std::uint8_t, 256> out{};
    for (std::size_t k = 0; k < 256; ++k) out[k] = static_cast<std::uint8_t>(std::popcount(k));
    return out;
}();

// Groups, what is around them, and the directions of their leaves.
std::vector<std::uint32_t> Domain::Graph::link_groups(const Domain& domain, std::uint32_t allowed,
                                                      const Before* before, Context* context) {
    const Index& ix = *domain.index;
    const std::size_t n = domain.leaves.size();
    struct Group {
        std::uint32_t first;              // leaf
        std::uint32_t present, boundary;  // bit k: there is a leaf at place k, and it is boundary
    };
    struct InBlock {
        std::array<std::uint32_t, 8> fine;  // groups of level 0 by octant
        std::uint32_t coarse;               // of level 1
    };
    std::vector<InBlock> in_block(ix.blocks.size());
    for (InBlock& groups : in_block) {
        groups.fine.fill(Domain::none);
        groups.coarse = Domain::none;
    }
    const auto block_at = [&](int x, int y, int z) -> std::uint32_t {
        return ix.top[(static_cast<std::size_t>(z) * ix.per_side + y) * ix.per_side + x];
    };
    // The group of a level in a cell of twice its leaves' size, given in such cells, of a divided block.
    const auto group_at = [&](std::uint32_t block, int level, int x, int y, int z) -> std::uint32_t& {
        InBlock& groups = in_block[block & ~Index::kDivided];
        return level > 0 ? groups.coarse
                         : groups.fine[static_cast<std::size_t>((x & 1) | (y & 1) << 1 | (z & 1) << 2)];
    };
    nodes.resize(n + 1);
    nodes[n] = {0, 0, 0, Domain::none};
    // The leaves of a group follow each other: who has the first has them all.
    const auto begins = [&](std::size_t i) {
        const Leaf &leaf = domain.leaves[i], &last = domain.leaves[i > 0 ? i - 1 : 0];
        return leaf.level < kGrouped &&
               (i == 0 || last.level != leaf.level ||
                ((leaf.x ^ last.x) | (leaf.y ^ last.y) | (leaf.z ^ last.z)) >> (leaf.level + 1) != 0);
    };
    std::vector<std::uint32_t> first_group((n + kGrain - 1) / kGrain + 1, 0);
    parallel_chunks(context, n, kGrain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            nodes[i] = {0, 0, 0, Domain::none};
            first_group[chunk + 1] += begins(i);
        }
    });
    for (std::size_t k = 1; k < first_group.size(); ++k) first_group[k] += first_group[k - 1];
    std::vector<Group> groups(first_group.back());
    std::atomic<bool> large{false};
    parallel_chunks(context, n, kGrain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        std::uint32_t group = first_group[chunk];
        for (std::size_t i = begin; i < end; ++i) {
            if (!begins(i)) continue;
            const Leaf& first = domain.leaves[i];
            const int level = first.level, up = level + 1;
            group_at(block_at(first.x >> 2, first.y >> 2, first.z >> 2), level, first.x >> up, first.y >> up,
                     first.z >> up) = group;
            groups[group] = {static_cast<std::uint32_t>(i), 0, 0};
            for (std::size_t k = i; k < n && (k == i || (domain.leaves[k].level == level && !begins(k))); ++k) {
                const Leaf& leaf = domain.leaves[k];
                const auto place = static_cast<std::uint32_t>((leaf.x >> level & 1) | (leaf.y >> level & 1) << 1 |
                                                              (leaf.z >> level & 1) << 2);
                groups[group].present |= 1u << place;
                if (leaf.boundary) groups[group].boundary |= 1u << place;
                nodes[k].place =
                    group << 5 | static_cast<std::uint32_t>(level) << 4 | place << 1 | (leaf.boundary ? 1u : 0u);
            }
            if (level > 0 && groups[group].boundary != 0) large.store(true, std::memory_order_relaxed);
            ++group;
        }
    });
    large_boundary = large.load();

    around.resize(groups.size());
    std::vector<std::uint32_t> larger(groups.size(), 0);
    const int layers = std::max(1, domain.transform.depth() / Index::kBlock);
    const auto block_within = [&](int x, int y, int z) {
        const auto within = [](int c, int size) { return c >= 0 && c < size; };
        return within(x, ix.per_side) && within(y, ix.per_side) && within(z, layers) ? block_at(x, y, z)
                                                                                     : Domain::none;
    };
    std::atomic<std::size_t> linked{0};
    std::atomic<std::uint32_t> seen{0};
    const auto& around_by_cell = surroundings();
    const auto link_group = [&](std::size_t g) {
        const Leaf& leaf = domain.leaves[groups[g].first];
        const int level = leaf.level, up = level + 1, to_block = 1 - level;
        const int at[3] = {leaf.x >> up, leaf.y >> up, leaf.z >> up};
        // The cells around it lie in two blocks along each axis, or in three.
        const int low[3] = {(at[0] - 1) >> to_block, (at[1] - 1) >> to_block, (at[2] - 1) >> to_block};
        std::array<std::uint32_t, 27> blocks;
        for (int z = 0; z < 2 + level; ++z)
            for (int y = 0; y < 2 + level; ++y)
                for (int x = 0; x < 2 + level; ++x)
                    blocks[static_cast<std::size_t>(9 * z + 3 * y + x)] =
                        block_within(low[0] + x, low[1] + y, low[2] + z);
        std::uint64_t present = 0, edge = 0;
        around[g].present.fill(0);
        around[g].leaf.fill(Domain::none);
        const auto look = [&](std::size_t cell, std::uint32_t block, int x, int y, int z) {
            if (block == Domain::none) return;
            std::uint32_t& entry = around[g].leaf[cell];
            if (!(block & Index::kDivided)) {
                entry = block | kLarger;
                larger[g] |= 1u << cell;
                return;
            }
            const std::uint32_t there = group_at(block, level, x, y, z);
            if (there == Domain::none) {
                if (level > 0) return;  // smaller ones
                const std::uint32_t of_larger = group_at(block, 1, 0, 0, 0);
                if (of_larger == Domain::none) return;
                const Group& group = groups[of_larger];
                const std::uint32_t place = 1u << ((x & 1) | (y & 1) << 1 | (z & 1) << 2);
                if (!(group.present & place)) return;
                entry = (group.first + kCount[group.present & (place - 1)]) | kLarger;
                larger[g] |= 1u << cell;
                return;
            }
            const Group& group = groups[there];
            entry = group.first;
            if (kSlots[cell] == kCorner)
                entry += kCount[group.present & ((1u << touching_place(cell)) - 1)];
            else
                around[g].present[kSlots[cell]] = static_cast<std::uint8_t>(group.present);
            present |= around_by_cell[cell][group.present];
            edge |= around_by_cell[cell][group.boundary];
        };
        std::size_t cell = 0;
        for (int z = at[2] - 1; z <= at[2] + 1; ++z)
            for (int y = at[1] - 1; y <= at[1] + 1; ++y)
                for (int x = at[0] - 1; x <= at[0] + 1; ++x, ++cell)
                    look(
                        cell,
                        blocks[static_cast<std::size_t>(9 * ((z >> to_block) - low[2]) +
                                                        3 * ((y >> to_block) - low[1]) + (x >> to_block) - low[0])],
                        x, y, z);
        std::uint32_t i = groups[g].first;
        for (int place = 0; place < 8; ++place) {
            if (!(groups[g].present >> place & 1)) continue;
            nodes[i].all = directions_around(present, place) & allowed;
            nodes[i].boundary = directions_around(edge, place) & allowed;
            ++i;
        }
    };
    parallel_chunks(context, groups.size(), kGrain, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::size_t links = 0;
        std::uint32_t ways = 0;
        for (std::size_t g = begin; g < end; ++g) {
            if (before && before->far(domain.leaves[groups[g].first]))
                before->take_group(*this, g, groups[g].first);
            else
                link_group(g);
            std::uint32_t i = groups[g].first;
            for (std::uint32_t left = groups[g].present; left; left &= left - 1, ++i) {
                links += static_cast<std::size_t>(std::popcount(nodes[i].all));
                ways |= nodes[i].all;
            }
        }
        linked += links;
        seen |= ways;
    });
    link_count = linked;
    directions = seen;
    return larger;
}

struct Domain::Graph::Pair {
    std::uint32_t from, to, touch;
};

// Links between leaves of different sizes, and between those that are in no group. A leaf looks for those that are
// larger, or as large and come later; both ends get the link. Both are nearly always in the same stretch of leaves,
// and each stretch is for one thread at a time. A list is in the order in which its links are found, wherever
// stretches end: labels of before are kept where a joint moves, with the places in these lists that they note.
void Domain::Graph::link_others(const Domain& domain, std::span<const std::uint32_t> larger, Context* context) {
    const std::size_t n = domain.leaves.size();
    struct Joining : Pair {
        std::uint32_t at_from, at_to;  // in `other`
    };
    struct Stretch {
        std::vector<Pair> found;       // from Domain::none: joining[to]
        std::vector<Joining> joining;  // those with an end in another stretch
        std::vector<std::array<std::uint32_t, 2>> rare;
        std::uint32_t first_rare = 0;
    };
    std::array<Stretch, 8> stretches;
    const std::size_t each = std::max<std::size_t>(1, (n + stretches.size() - 1) / stretches.size());
    std::vector<std::uint32_t> next(n, 0);  // links so far; then where the next goes
    parallel_for(context, stretches.size(), 1, [&](std::size_t k) {
        Stretch& stretch = stretches[k];
        const std::size_t begin = std::min(n, k * each), end = std::min(n, begin + each);
        stretch.found.reserve(2 * (end - begin));
        const auto add = [&](std::uint32_t from, std::uint32_t to, const Leaf& u, const Leaf& v) {
            Pair pair{from, to, 0};
            if (v.level < touches::kLevels) {
                pair.touch = touches::number(u, v);
            } else {
                pair.touch = touches::kTabled + 2 * static_cast<std::uint32_t>(stretch.rare.size());
                stretch.rare.push_back({from, to});
            }
            if (from < end && to >= begin && to < end) {
                ++next[from], ++next[to];
            } else {
                stretch.joining.push_back({pair, 0, 0});
                pair = {none, static_cast<std::uint32_t>(stretch.joining.size() - 1), 0};
            }
            stretch.found.push_back(pair);
        };
        for (std::size_t i = begin; i < end; ++i) {
            const Node& node = nodes[i];
            if (node.is_grouped()) {
                if (around[node.group()].leaf[kMiddle] == i)
                    each_of_group(domain, *this, node.group(), larger[node.group()], add);
            } else {
                each_of_large(domain, static_cast<std::uint32_t>(i), add);
            }
        }
    });
    for (Stretch& stretch : stretches) {
        stretch.first_rare = static_cast<std::uint32_t>(rare.size());
        rare.insert(rare.end(), stretch.rare.begin(), stretch.rare.end());
        for (const Joining& l : stretch.joining) ++next[l.from], ++next[l.to];
    }
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        nodes[i].other = count;
        count += std::exchange(next[i], count);
    }
    nodes[n].other = count;
    other.resize(count);
    const auto end_at = [&](std::uint32_t to, std::uint32_t at, std::uint32_t touch) {
        const std::uint32_t back = at - nodes[to].other + 1;
        return Link{to, touch, back <= kMostBack ? back : 0};
    };
    const auto put = [&](const Stretch& stretch, const Pair& l, std::uint32_t at_from, std::uint32_t at_to) {
        const std::uint32_t touch = l.touch + (l.touch < touches::kTabled ? 0 : 2 * stretch.first_rare);
        other[at_from] = end_at(l.to, at_to, touch);
        other[at_to] = end_at(l.from, at_from, touches::reversed(touch));
    };
    parallel_for(context, stretches.size(), 1, [&](std::size_t k) {
        const auto place = [&](Joining& l) {
            if (l.from / each == k) l.at_from = next[l.from]++;
            if (l.to / each == k) l.at_to = next[l.to]++;
        };
        for (std::size_t of = 0; of < stretches.size(); ++of) {
            if (of != k) {
                for (Joining& l : stretches[of].joining) place(l);
                continue;
            }
            for (const Pair& l : stretches[k].found) {
                if (l.from == none) {
                    place(stretches[k].joining[l.to]);
                    continue;
                }
                const std::uint32_t at_from = next[l.from]++, at_to = next[l.to]++;
                put(stretches[k], l, at_from, at_to);
            }
        }
    });
    for (const Stretch& stretch : stretches)
        for (const Joining& l : stretch.joining) put(stretch, l, l.at_from, l.at_to);
}

std::shared_ptr<const Domain::Graph> Domain::Graph::make(const Domain& domain, Neighbours neighbours,
                                                         const Before* before, Context* context) {
    auto graph = std::make_shared<Graph>();
    const std::uint32_t every = (1u << kDirections) - 1;
    // With neighbours by faces only there are no larger leaves.
    const std::vector<std::uint32_t> larger =
        graph->link_groups(domain, neighbours == Neighbours::faces ? face_directions() : every, before, context);
    if (before)
        graph->relink_others(domain, larger, *before, context);
    else
        graph->link_others(domain, larger, context);
    graph->link_count += graph->other.size();
    return graph;
}

void Domain::Graph::find_components(Domain& domain, Context* context) const {
    const std::size_t n = domain.leaves.size();
    DisjointSets sets(n, context);
    domain.component.resize(n);
    // Where diagonals are linked all leaves of a group touch, so that groups are joined in place of leaves: the
    // first leaf stands for the others. By faces, voxel by voxel.
    const bool by_groups = (directions & ~face_directions()) != 0;
    const auto join_group = [&](std::uint32_t first, const Cells& cells) {
        const std::uint32_t present = cells.present[kSlots[kMiddle]];
        for (std::size_t cell = 0; cell < cells.leaf.size(); ++cell) {
            const std::uint32_t there = cells.leaf[cell];
            if (there == Domain::none || !(present & kBorderingOn[cell])) continue;
            if (there & kLarger) {
                sets.join(first, there & ~kLarger);
            } else if (cell < kMiddle) {  // the others do the same
                // At a corner there is one place on either side, and the leaf here knows whether there is one
                // there.
                const std::uint32_t at_corner = first + kCount[present & (kBorderingOn[cell] - 1)];
                if (kSlots[cell] == kCorner ? nodes[at_corner].all >> cell & 1
                                            : cells.present[kSlots[cell]] & kBorderingOn[26 - cell])
                    sets.join(first, there);
            }
        }
    };
    parallel_for(context, n, kGrain, [&](std::size_t k) {
        const auto i = static_cast<std::uint32_t>(k);
        const Node& node = nodes[i];
        if (by_groups && node.is_grouped()) {
            const Cells& cells = around[node.group()];
            const std::uint32_t first = cells.leaf[kMiddle];
            if (i == first) join_group(first, cells);
            sets.join(i, first);
            return;
        }
        for (std::uint32_t left = node.all; left; left &= left - 1)
            if (const std::uint32_t to = neighbour(node, std::countr_zero(left)); to < i) sets.join(i, to);
        for (const Link& to : others(node))  // groups know those of theirs
            if (to.to() < i && !(by_groups && nodes[to.to()].is_grouped())) sets.join(i, to.to());
    });
    parallel_for(context, n, kGrain,
                 [&](std::size_t i) { domain.component[i] = sets.root(static_cast<std::uint32_t>(i)); });
    domain.component_count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t first = domain.component[i];
        domain.component[i] = first == i ? domain.component_count++ : domain.component[first];
    }
}

}  // namespace sinew
