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

Domain::Graph::PreviousGraph::PreviousGraph(const Domain& before, const Domain& after, const LeafMatch& match)
    : domain(before), graph(*before.graph), per_side(after.index->per_side), near(after.index->top.size()) {
    now.assign(before.leaves.size() + 1, none);
    was.assign(after.leaves.size(), none);
    for (const LeafMatch::Run& run : match.runs) {
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
    const Cells& old_group = graph.cells[from->group()];
    Cells& out = to.cells[g];
    out.present = old_group.present;
    for (std::size_t cell = 0; cell < old_group.leaf.size(); ++cell) {
        const std::uint32_t leaf = old_group.leaf[cell];
        out.leaf[cell] = leaf == none ? none : now[leaf & ~kLarger] | (leaf & kLarger);
    }
    Node* node = &to.nodes[first_leaf];
    for (std::uint32_t left = old_group.present[link_search::kSlots[link_search::kMiddle]]; left;
         left &= left - 1) {
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
    std::uint32_t from, to, contact;  // contact: from `from` to `to`
    std::uint32_t at_to;              // its position in the list of `to`, or kAppended: after the existing ones
};
constexpr std::uint32_t kAppended = ~std::uint32_t{0};

}  // namespace

// Lists of links from those of the previous graph. A list is unchanged if neither its leaf nor any leaf that it
// links to is new or was removed.
class Domain::Graph::Relinker {
public:
    Relinker(Graph& graph, const Domain& after, const PreviousGraph& before)
        : graph_(graph), after_(after), before_(before), old_(before.graph), state_(after.leaves.size(), 0) {
        renumber_rare();
    }

    void run(std::span<const std::uint32_t> larger, Context* context) {
        find_new_links(larger);
        mark_shortened_lists();
        add_old_links();
        std::vector<std::uint32_t> count = place_lists();
        copy_unchanged_lists(context);
        const auto back_of = [](std::uint32_t place) { return place < kMostBack ? place + 1 : 0; };
        for (const Relinked& l : links_) {
            const std::uint32_t at_from = count[l.from]++, at_to = l.at_to == kAppended ? count[l.to]++ : l.at_to;
            graph_.other[graph_.nodes[l.from].other + at_from] = {l.to, l.contact, back_of(at_to)};
            graph_.other[graph_.nodes[l.to].other + at_to] = {l.from, contacts::reversed(l.contact),
                                                              back_of(at_from)};
        }
    }

private:
    enum : std::uint8_t { kChanged = 1, kSearched = 2 };  // bits of state_

    bool is_new(std::uint32_t leaf) const { return before_.was[leaf] == none; }
    bool has_new_list(std::uint32_t leaf) const { return is_new(leaf) || (state_[leaf] & kChanged); }
    void mark_changed(std::uint32_t leaf) { state_[leaf] |= kChanged; }

    // Rare contacts are numbered by their pairs of leaves.
    void renumber_rare() {
        rare_now_.assign(old_.rare.size(), none);
        for (std::size_t k = 0; k < old_.rare.size(); ++k) {
            const std::uint32_t from = before_.now[old_.rare[k][0]], to = before_.now[old_.rare[k][1]];
            if (from == none || to == none) continue;
            rare_now_[k] = static_cast<std::uint32_t>(graph_.rare.size());
            graph_.rare.push_back({from, to});
        }
    }
    std::uint32_t contact_now(std::uint32_t contact) const {
        if (contact < contacts::kTabled) return contact;
        const std::uint32_t k = contact - contacts::kTabled;
        return contacts::kTabled + 2 * rare_now_[k / 2] + (k & 1);
    }

    // Links with a new leaf, found by one of the two.
    void find_new_links(std::span<const std::uint32_t> larger) {
        const auto found = [&](std::uint32_t from, std::uint32_t to, const Leaf& u, const Leaf& v) {
            if (!is_new(from) && !is_new(to)) return;
            std::uint32_t contact = contacts::kTabled + 2 * static_cast<std::uint32_t>(graph_.rare.size());
            if (v.level < contacts::kLevels)
                contact = contacts::number(u, v);
            else
                graph_.rare.push_back({from, to});
            links_.push_back({from, to, contact, kAppended});
            mark_changed(from), mark_changed(to);
        };
        const Index& ix = *after_.index;
        for (std::size_t block = 0; block < before_.near.size(); ++block) {
            if (!before_.near[block] || ix.top[block] == none) continue;
            if (!(ix.top[block] & Index::kDivided)) {
                const std::uint32_t large = ix.top[block];
                if (!(state_[large] & kSearched)) link_search::each_of_large(after_, large, found);
                state_[large] |= kSearched;
                continue;
            }
            const std::uint32_t first = ix.blocks[ix.top[block] & ~Index::kDivided].first;
            const auto in_block = [&](std::uint32_t i) {
                const Leaf &a = after_.leaves[first], &b = after_.leaves[i];
                return b.level < kGrouped && ((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z)) >> 2 == 0;
            };
            for (std::uint32_t i = first; i < state_.size() && in_block(i); ++i) {
                const std::uint32_t group = graph_.nodes[i].group();
                if (graph_.cells[group].leaf[link_search::kMiddle] == i)
                    link_search::each_of_group(after_, graph_, group, larger[group], found);
            }
        }
    }

    void mark_shortened_lists() {
        for (std::size_t i = 0; i < before_.domain.leaves.size(); ++i)
            if (before_.now[i] == none)
                for (const Link& l : old_.others(old_.nodes[i]))
                    if (const std::uint32_t to = before_.now[l.to()]; to != none) mark_changed(to);
    }

    // The other links of changed lists. They come before the new ones.
    void add_old_links() {
        const std::size_t new_links = links_.size();
        for (std::uint32_t i = 0; i < state_.size(); ++i) {
            if (!(state_[i] & kChanged) || is_new(i)) continue;
            const std::uint32_t was = before_.was[i];
            for (const Link& l : old_.others(old_.nodes[was])) {
                const std::uint32_t to = before_.now[l.to()];
                if (to == none) continue;
                const bool both = state_[to] & kChanged;
                if (both && to < i) continue;  // it has already been added
                std::uint32_t at_to = kAppended;
                if (!both) {
                    const std::span<const Link> there = old_.others(old_.nodes[l.to()]);
                    at_to = l.back() > 0 ? l.back() - 1 : kMostBack;
                    while (there[at_to].to() != was) ++at_to;
                }
                links_.push_back({i, to, contact_now(l.contact()), at_to});
            }
        }
        std::rotate(links_.begin(), links_.begin() + static_cast<std::ptrdiff_t>(new_links), links_.end());
    }

    // Sets where each list begins. Returns a counter for each list, 0.
    std::vector<std::uint32_t> place_lists() {
        const std::size_t n = state_.size();
        std::vector<std::uint32_t> count(n, 0);  // of changed lists
        for (const Relinked& l : links_) {
            ++count[l.from];
            if (l.at_to == kAppended) ++count[l.to];
        }
        std::uint32_t next = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            graph_.nodes[i].other = next;
            if (has_new_list(i)) {
                next += std::exchange(count[i], 0);
            } else {
                const Node& node = old_.nodes[before_.was[i]];
                next += (&node)[1].other - node.other;
            }
        }
        graph_.nodes[n].other = next;
        graph_.other.resize(next);
        return count;
    }

    void copy_unchanged_lists(Context* context) {
        parallel_for(context, state_.size(), 8192, [&](std::size_t k) {
            const auto i = static_cast<std::uint32_t>(k);
            if (has_new_list(i)) return;
            std::uint32_t at = graph_.nodes[i].other;
            for (const Link& l : old_.others(old_.nodes[before_.was[i]]))
                graph_.other[at++] = {before_.now[l.to()], contact_now(l.contact()), l.back()};
        });
    }

    Graph& graph_;
    const Domain& after_;
    const PreviousGraph& before_;
    const Graph& old_;
    std::vector<std::uint8_t> state_;      // per leaf
    std::vector<std::uint32_t> rare_now_;  // per pair of old_.rare: its new number, or none
    std::vector<Relinked> links_;
};

void Domain::Graph::relink_others(const Domain& after, std::span<const std::uint32_t> larger,
                                  const PreviousGraph& before, Context* context) {
    Relinker(*this, after, before).run(larger, context);
}

}  // namespace sinew
