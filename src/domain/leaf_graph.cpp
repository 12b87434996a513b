// The graph of a domain: links between leaves of different sizes, numbers for how leaves touch, and components.
// Groups of leaves of one size are linked in leaf_groups.cpp.
#include "domain/leaf_graph.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "core/parallel.h"
#include "core/union_find.h"
#include "domain/leaf_index.h"
#include "domain/link_search.h"

namespace sinew {

using namespace link_search;

// place · 8 + turned · 4 + (first is boundary) · 2 + (second is boundary). The place is the position of the lower
// leaf relative to the other; of two leaves of one level, that with the smaller place counts as the lower one. If
// turned, the first of the two is the higher leaf.
std::uint32_t contacts::number(const Domain::Leaf& u, const Domain::Leaf& n) {
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

std::pair<Domain::Leaf, Domain::Leaf> contacts::example(std::uint32_t contact) {
    std::size_t low = 0, high = 0;
    const std::uint32_t place = contact / 8;
    for (std::size_t a = 0; a < kLevels; ++a)
        for (std::size_t b = a; b < kLevels; ++b)
            if (kFirst[a][b] <= place) low = a, high = b;
    const std::uint32_t across = side(static_cast<int>(high - low)), rest = place - kFirst[low][high];
    constexpr std::uint32_t middle = 1u << kLevels;  // the position of the higher one
    const auto at = [&](std::uint32_t steps) {
        return static_cast<std::uint16_t>(middle + (steps << low) - (1u << low));
    };
    Domain::Leaf lower{at(rest % across), at(rest / across % across), at(rest / across / across),
                       static_cast<std::uint8_t>(low), false};
    Domain::Leaf higher{middle, middle, middle, static_cast<std::uint8_t>(high), false};
    if (contact & 4) std::swap(lower, higher);
    lower.boundary = contact >> 1 & 1;
    higher.boundary = contact & 1;
    return {lower, higher};
}

namespace {

constexpr std::size_t kGrain = 4096;

std::uint32_t face_directions() {
    std::uint32_t faces = 0;
    for (int d = 0; d < kDirections; ++d) {
        const auto [x, y, z] = step_of(d);
        if (x * x + y * y + z * z == 1) faces |= 1u << d;
    }
    return faces;
}

}  // namespace

const std::array<std::array<Domain::Graph::NeighbourPlace, kDirections>, 8> Domain::Graph::kNeighbourPlaces = [] {
    std::array<std::array<NeighbourPlace, kDirections>, 8> out{};
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

namespace {

// The links found in a range of leaves, which is processed by one thread.
struct LeafRange {
    struct Pair {
        std::uint32_t from, to, contact;
    };
    struct Joining : Pair {
        std::uint32_t at_from, at_to;  // in `other`
    };
    std::vector<Pair> found;       // from none: joining[to]
    std::vector<Joining> joining;  // links with one end in another range
    std::vector<std::array<std::uint32_t, 2>> rare;
    std::uint32_t first_rare = 0;

    // Searches from the leaves begin.. to end. Counts the links of leaves in `count`, except those of `joining`.
    void search(const Domain& domain, const Domain::Graph& graph, std::span<const std::uint32_t> larger,
                std::size_t begin, std::size_t end, std::vector<std::uint32_t>& count) {
        found.reserve(2 * (end - begin));
        const auto add = [&](std::uint32_t from, std::uint32_t to, const Domain::Leaf& u, const Domain::Leaf& v) {
            Pair pair{from, to, 0};
            if (v.level < contacts::kLevels) {
                pair.contact = contacts::number(u, v);
            } else {
                pair.contact = contacts::kTabled + 2 * static_cast<std::uint32_t>(rare.size());
                rare.push_back({from, to});
            }
            if (from < end && to >= begin && to < end) {
                ++count[from], ++count[to];
            } else {
                joining.push_back({pair, 0, 0});
                pair = {no_index, static_cast<std::uint32_t>(joining.size() - 1), 0};
            }
            found.push_back(pair);
        };
        for (std::size_t i = begin; i < end; ++i) {
            const Domain::Graph::Node& node = graph.nodes[i];
            if (!node.is_grouped())
                each_of_large(domain, static_cast<std::uint32_t>(i), add);
            else if (graph.cells[node.group()].leaf[kMiddle] == i)
                each_of_group(domain, graph, node.group(), larger[node.group()], add);
        }
    }
};

}  // namespace

// Links between leaves of different sizes, and between leaves in no group. A leaf searches for larger leaves, and
// for later ones of its size; both ends get the link. Both are nearly always in the same range of leaves. The
// order of a list depends on the leaves that it names and on nothing else: when a joint moves, old labels keep
// places in lists whose leaves are unchanged (renew.cpp).
void Domain::Graph::link_others(const Domain& domain, std::span<const std::uint32_t> larger, Context* context) {
    using Pair = LeafRange::Pair;
    using Joining = LeafRange::Joining;
    const std::size_t n = domain.leaves.size();
    std::array<LeafRange, 8> ranges;
    const std::size_t each = std::max<std::size_t>(1, (n + ranges.size() - 1) / ranges.size());
    std::vector<std::uint32_t> next(n, 0);  // number of links; then the place of the next one
    parallel_for(context, ranges.size(), 1, [&](std::size_t k) {
        const std::size_t begin = std::min(n, k * each), end = std::min(n, begin + each);
        ranges[k].search(domain, *this, larger, begin, end, next);
    });
    for (LeafRange& range : ranges) {
        range.first_rare = static_cast<std::uint32_t>(rare.size());
        rare.insert(rare.end(), range.rare.begin(), range.rare.end());
        for (const Joining& l : range.joining) ++next[l.from], ++next[l.to];
    }
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        nodes[i].other = count;
        count += std::exchange(next[i], count);
    }
    nodes[n].other = count;
    other.resize(count);
    const auto end_at = [&](std::uint32_t to, std::uint32_t at, std::uint32_t contact) {
        const std::uint32_t back = at - nodes[to].other + 1;
        return Link{to, contact, back <= kMostBack ? back : 0};
    };
    const auto put = [&](const LeafRange& range, const Pair& l, std::uint32_t at_from, std::uint32_t at_to) {
        const std::uint32_t contact = l.contact + (l.contact < contacts::kTabled ? 0 : 2 * range.first_rare);
        other[at_from] = end_at(l.to, at_to, contact);
        other[at_to] = end_at(l.from, at_from, contacts::reversed(contact));
    };
    parallel_for(context, ranges.size(), 1, [&](std::size_t k) {
        const auto place = [&](Joining& l) {
            if (l.from / each == k) l.at_from = next[l.from]++;
            if (l.to / each == k) l.at_to = next[l.to]++;
        };
        for (std::size_t of = 0; of < ranges.size(); ++of) {
            if (of != k) {
                for (Joining& l : ranges[of].joining) place(l);
                continue;
            }
            for (const Pair& l : ranges[k].found) {
                if (l.from == no_index) {
                    place(ranges[k].joining[l.to]);
                    continue;
                }
                const std::uint32_t at_from = next[l.from]++, at_to = next[l.to]++;
                put(ranges[k], l, at_from, at_to);
            }
        }
    });
    for (const LeafRange& range : ranges)
        for (const Joining& l : range.joining) put(range, l, l.at_from, l.at_to);
}

std::shared_ptr<const Domain::Graph> Domain::Graph::make(const Domain& domain, Neighbours neighbours,
                                                         Context* context) {
    auto graph = std::make_shared<Graph>();
    const std::uint32_t every = (1u << kDirections) - 1;
    // If only faces are linked, there are no larger leaves.
    const std::vector<std::uint32_t> larger =
        graph->link_groups(domain, neighbours == Neighbours::faces ? face_directions() : every, context);
    graph->link_others(domain, larger, context);
    graph->link_count += graph->other.size();
    return graph;
}

void Domain::Graph::find_components(Domain& domain, Context* context) const {
    const std::size_t n = domain.leaves.size();
    DisjointSets sets(n, context);
    domain.component.resize(n);
    // If diagonals are linked, all leaves of a group touch: groups are joined, represented by their first leaves.
    // If only faces are linked, leaves are joined one by one.
    const bool by_groups = (directions & ~face_directions()) != 0;
    const auto join_group = [&](std::uint32_t first, const Cells& group) {
        const std::uint32_t present = group.present[kSlots[kMiddle]];
        for (std::size_t cell = 0; cell < group.leaf.size(); ++cell) {
            const std::uint32_t there = group.leaf[cell];
            if (there == no_index || !(present & kBorderingOn[cell])) continue;
            if (there & kLarger) {
                sets.join(first, there & ~kLarger);
            } else if (cell < kMiddle) {  // the others join in the opposite direction
                // At a corner, one place on each side touches; the node of this leaf has the direction if the other
                // exists.
                const std::uint32_t at_corner = first + kCount[present & (kBorderingOn[cell] - 1)];
                if (kSlots[cell] == kCorner ? nodes[at_corner].all >> cell & 1
                                            : group.present[kSlots[cell]] & kBorderingOn[26 - cell])
                    sets.join(first, there);
            }
        }
    };
    parallel_for(context, n, kGrain, [&](std::size_t k) {
        const auto i = static_cast<std::uint32_t>(k);
        const Node& node = nodes[i];
        if (by_groups && node.is_grouped()) {
            const Cells& group = cells[node.group()];
            const std::uint32_t first = group.leaf[kMiddle];
            if (i == first) join_group(first, group);
            sets.join(i, first);
            return;
        }
        for (std::uint32_t left = node.all; left; left &= left - 1)
            if (const std::uint32_t to = neighbour(node, std::countr_zero(left)); to < i) sets.join(i, to);
        for (const Link& to : others(node))  // links of grouped leaves were joined with their groups
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
