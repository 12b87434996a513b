// The groups of a domain's graph: which leaves of the two finest levels form a group, the groups around each group,
// and in which directions its leaves have neighbours of their size.
#include <algorithm>
#include <atomic>
#include <bit>

#include "core/parallel.h"
#include "domain/group_bits.h"
#include "domain/leaf_graph.h"
#include "domain/leaf_index.h"
#include "domain/link_search.h"

namespace sinew {

using namespace link_search;

namespace {

using Leaf = Domain::Leaf;
using Index = Domain::Index;

constexpr std::size_t kGroupGrain = 4096;

// The place of a neighbour at a corner position in its own group: that which touches the group in the middle.
int touching_place(std::size_t position) {
    return (position % 3 == 0 ? 1 : 0) | (position / 3 % 3 == 0 ? 2 : 0) | (position / 9 == 0 ? 4 : 0);
}

class GroupLinker {
public:
    GroupLinker(const Domain& domain, Graph& graph, std::uint32_t allowed, Context* context)
        : domain_(domain), index_(*domain.index), graph_(graph), allowed_(allowed), context_(context) {}

    /// Makes the groups, and the nodes of all leaves without their links.
    void find_groups() {
        const std::size_t n = domain_.leaves.size();
        groups_in_block_.assign(index_.blocks.size(), {});
        graph_.nodes.resize(n + 1);
        graph_.nodes[n] = {0, 0, 0, no_index};
        std::vector<std::uint32_t> first_group((n + kGroupGrain - 1) / kGroupGrain + 1, 0);
        parallel_chunks(context_, n, kGroupGrain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                graph_.nodes[i] = {0, 0, 0, no_index};
                first_group[chunk + 1] += begins_group(i);
            }
        });
        for (std::size_t k = 1; k < first_group.size(); ++k) first_group[k] += first_group[k - 1];
        groups_.resize(first_group.back());
        std::atomic<bool> large_boundary{false};
        parallel_chunks(context_, n, kGroupGrain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            std::uint32_t group = first_group[chunk];
            for (std::size_t i = begin; i < end; ++i) {
                if (!begins_group(i)) continue;
                add_group(group, i);
                if (domain_.leaves[i].level > 0 && groups_[group].boundary != 0)
                    large_boundary.store(true, std::memory_order_relaxed);
                ++group;
            }
        });
        graph_.large_boundary = large_boundary.load();
    }

    /// Finds the neighbours of each group. Returns which of the 27 positions hold larger leaves, as bits.
    std::vector<std::uint32_t> link() {
        graph_.cells.resize(groups_.size());
        larger_.assign(groups_.size(), 0);
        std::atomic<std::size_t> link_count{0};
        std::atomic<std::uint32_t> directions{0};
        parallel_chunks(context_, groups_.size(), kGroupGrain,
                        [&](std::size_t, std::size_t begin, std::size_t end) {
                            std::size_t links = 0;
                            std::uint32_t seen = 0;
                            for (std::size_t g = begin; g < end; ++g) {
                                link_group(g);
                                std::uint32_t i = groups_[g].first;
                                for (std::uint32_t left = groups_[g].present; left; left &= left - 1, ++i) {
                                    links += static_cast<std::size_t>(std::popcount(graph_.nodes[i].all));
                                    seen |= graph_.nodes[i].all;
                                }
                            }
                            link_count += links;
                            directions |= seen;
                        });
        graph_.link_count = link_count;
        graph_.directions = directions;
        return std::move(larger_);
    }

private:
    struct Group {
        std::uint32_t first;              // leaf
        std::uint32_t present, boundary;  // bit k: there is a leaf at place k, and it is boundary
    };
    // The groups of a divided block.
    struct BlockGroups {
        std::array<std::uint32_t, 8> fine;  // of level 0, by octant
        std::uint32_t coarse;               // of level 1
        BlockGroups() : coarse(no_index) { fine.fill(no_index); }
    };
    // The cells around a group, each as an entry of Index::top.
    struct Surroundings {
        int level, at[3], low[3];  // at: the group, in cells of its size; low: the first block
        std::array<std::uint32_t, 27> blocks;

        std::uint32_t block_of(int x, int y, int z) const {
            const int to_block = 1 - level;
            return blocks[static_cast<std::size_t>(9 * ((z >> to_block) - low[2]) + 3 * ((y >> to_block) - low[1]) +
                                                   (x >> to_block) - low[0])];
        }
    };

    /// The leaves of a group are neighbours in the list, so the chunk with the first one has them all.
    bool begins_group(std::size_t i) const {
        const Leaf &leaf = domain_.leaves[i], &last = domain_.leaves[i > 0 ? i - 1 : 0];
        return leaf.level < Graph::kGrouped &&
               (i == 0 || last.level != leaf.level ||
                ((leaf.x ^ last.x) | (leaf.y ^ last.y) | (leaf.z ^ last.z)) >> (leaf.level + 1) != 0);
    }

    void add_group(std::uint32_t number, std::size_t first_leaf) {
        const Leaf& first = domain_.leaves[first_leaf];
        const int level = first.level, up = level + 1;
        group_at(block_at(first.x >> 2, first.y >> 2, first.z >> 2), level, first.x >> up, first.y >> up,
                 first.z >> up) = number;
        Group& group = groups_[number];
        group = {static_cast<std::uint32_t>(first_leaf), 0, 0};
        const std::size_t n = domain_.leaves.size();
        for (std::size_t k = first_leaf;
             k < n && (k == first_leaf || (domain_.leaves[k].level == level && !begins_group(k))); ++k) {
            const Leaf& leaf = domain_.leaves[k];
            const auto place = static_cast<std::uint32_t>((leaf.x >> level & 1) | (leaf.y >> level & 1) << 1 |
                                                          (leaf.z >> level & 1) << 2);
            group.present |= 1u << place;
            if (leaf.boundary) group.boundary |= 1u << place;
            graph_.nodes[k].place =
                number << 5 | static_cast<std::uint32_t>(level) << 4 | place << 1 | (leaf.boundary ? 1u : 0u);
        }
    }

    std::uint32_t block_at(int x, int y, int z) const {
        return index_.top[(static_cast<std::size_t>(z) * index_.per_side + y) * index_.per_side + x];
    }
    std::uint32_t block_or_none(int x, int y, int z) const {
        const auto within = [](int c, int size) { return c >= 0 && c < size; };
        return within(x, index_.per_side) && within(y, index_.per_side) && within(z, layers_) ? block_at(x, y, z)
                                                                                              : no_index;
    }

    /// The group of a level in a divided block, in a cell of twice its leaves' size, given in such cells.
    std::uint32_t& group_at(std::uint32_t block, int level, int x, int y, int z) {
        BlockGroups& groups = groups_in_block_[block & ~Index::kDivided];
        return level > 0 ? groups.coarse
                         : groups.fine[static_cast<std::size_t>((x & 1) | (y & 1) << 1 | (z & 1) << 2)];
    }

    /// The cells around a group lie in two blocks along each axis, or in three.
    Surroundings surroundings_of(const Leaf& leaf) const {
        Surroundings out;
        out.level = leaf.level;
        const int up = leaf.level + 1, to_block = 1 - leaf.level;
        const int at[3] = {leaf.x >> up, leaf.y >> up, leaf.z >> up};
        for (int a = 0; a < 3; ++a) {
            out.at[a] = at[a];
            out.low[a] = (at[a] - 1) >> to_block;
        }
        for (int z = 0; z < 2 + leaf.level; ++z)
            for (int y = 0; y < 2 + leaf.level; ++y)
                for (int x = 0; x < 2 + leaf.level; ++x)
                    out.blocks[static_cast<std::size_t>(9 * z + 3 * y + x)] =
                        block_or_none(out.low[0] + x, out.low[1] + y, out.low[2] + z);
        return out;
    }

    /// Sets the neighbours of group g, and the directions of its leaves.
    void link_group(std::size_t g) {
        const Surroundings around = surroundings_of(domain_.leaves[groups_[g].first]);
        graph_.cells[g].present.fill(0);
        graph_.cells[g].leaf.fill(no_index);
        std::uint64_t present = 0, boundary = 0;  // of the 4³ cells (group_bits.h)
        std::size_t position = 0;
        for (int z = around.at[2] - 1; z <= around.at[2] + 1; ++z)
            for (int y = around.at[1] - 1; y <= around.at[1] + 1; ++y)
                for (int x = around.at[0] - 1; x <= around.at[0] + 1; ++x, ++position) {
                    const std::uint32_t block = around.block_of(x, y, z);
                    if (block == no_index) continue;
                    const Group* there = add_neighbour(g, position, block, around.level, x, y, z);
                    if (!there) continue;
                    present |= cells_of_[position][there->present];
                    boundary |= cells_of_[position][there->boundary];
                }
        std::uint32_t i = groups_[g].first;
        for (int place = 0; place < 8; ++place) {
            if (!(groups_[g].present >> place & 1)) continue;
            graph_.nodes[i].all = group_bits::directions_around(present, place) & allowed_;
            graph_.nodes[i].boundary = group_bits::directions_around(boundary, place) & allowed_;
            ++i;
        }
    }

    /// Sets one of the 27 positions around group g, in cell (x, y, z) of its size. Returns the group
    /// of the same level there, or null.
    const Group* add_neighbour(std::size_t g, std::size_t position, std::uint32_t block, int level, int x, int y,
                               int z) {
        Graph::Cells& cells = graph_.cells[g];
        const auto add_larger = [&](std::uint32_t leaf) {
            cells.leaf[position] = leaf | Graph::kLarger;
            larger_[g] |= 1u << position;
        };
        if (!(block & Index::kDivided)) {
            add_larger(block);
            return nullptr;
        }
        if (const std::uint32_t number = group_at(block, level, x, y, z); number != no_index) {
            const Group& group = groups_[number];
            cells.leaf[position] = group.first;
            if (kSlots[position] == kCorner)
                cells.leaf[position] += Graph::kCount[group.present & ((1u << touching_place(position)) - 1)];
            else
                cells.present[kSlots[position]] = static_cast<std::uint8_t>(group.present);
            return &group;
        }
        if (level > 0) return nullptr;  // only smaller leaves
        const std::uint32_t coarse = group_at(block, 1, 0, 0, 0);
        if (coarse == no_index) return nullptr;
        const Group& group = groups_[coarse];
        const std::uint32_t place = 1u << ((x & 1) | (y & 1) << 1 | (z & 1) << 2);
        if (group.present & place) add_larger(group.first + Graph::kCount[group.present & (place - 1)]);
        return nullptr;
    }

    const Domain& domain_;
    const Index& index_;
    Graph& graph_;
    const std::uint32_t allowed_;
    Context* const context_;
    const int layers_ = std::max(1, domain_.transform.depth() / Index::kBlock);
    const group_bits::CellsOfNeighbour& cells_of_ = group_bits::cells_of_neighbour();
    std::vector<BlockGroups> groups_in_block_;
    std::vector<Group> groups_;
    std::vector<std::uint32_t> larger_;
};

}  // namespace

std::vector<std::uint32_t> Domain::Graph::link_groups(const Domain& domain, std::uint32_t allowed,
                                                      Context* context) {
    GroupLinker linker(domain, *this, allowed, context);
    linker.find_groups();
    return linker.link();
}

}  // namespace sinew
