// The sparse octree (Dionne and de Lasa 2014, section 5.2, algorithm 2), and its adjacency.
//
// Grids are halved level by level, as in the paper, but as bits. Leaves are created by a depth-first descent,
// so they are in Morton order: neighbours in space are near in memory, and the leaves of every aligned block
// are a contiguous range. So the index is small: one number per 4³ block, and one byte per voxel if a block is
// divided. In such a block leaves of level 1 come first, so that leaves of one size in a cell are contiguous
// (leaf_graph.h).

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "core/large_pages.h"
#include "core/parallel.h"
#include "core/try.h"
#include "domain/grid_levels.h"
#include "domain/leaf_graph.h"
#include "domain/leaf_index.h"
#include "domain/shape_voxels.h"
#include "domain/trace.h"
#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew {

std::uint32_t Domain::leaf_at(int x, int y, int z) const {
    const int r = transform.resolution;
    if (static_cast<unsigned>(x) >= static_cast<unsigned>(r) ||
        static_cast<unsigned>(y) >= static_cast<unsigned>(r) ||
        static_cast<unsigned>(z) >= static_cast<unsigned>(transform.depth())) {
        return no_index;
    }
    return index->leaf(x, y, z);
}

namespace {

// Sets the bits of the other grid, which has the same size and layers.
void merge(BitGrid& grid, const BitGrid& other, Context* context) {
    parallel_for(context, static_cast<std::size_t>(grid.layers()), 8, [&](std::size_t z) {
        other.each_word_range(static_cast<int>(z), [&](std::size_t first, std::size_t end) {
            for (std::size_t k = first; k < end; ++k)
                if (other.words()[k]) grid.words()[k] |= other.words()[k];
        });
    });
}

// Divides cells that are solid, but not full.
void divide_partly_solid(BitGrid& split, const BitGrid& solid, const BitGrid& full, Context* context) {
    parallel_for(context, static_cast<std::size_t>(split.layers()), 8, [&](std::size_t z) {
        solid.each_word_range(static_cast<int>(z), [&](std::size_t first, std::size_t end) {
            for (std::size_t k = first; k < end; ++k)
                if (const std::uint64_t partly = solid.words()[k] & ~full.words()[k]) split.words()[k] |= partly;
        });
    });
}

// The leaves and blocks of one cell, numbered from 0.
struct Subtree {
    std::vector<Domain::Leaf> leaves;
    std::vector<Domain::Index::Block> blocks;
};

struct Builder {
    const BitGrid& boundary;
    const BitGrid* coarse;       // cells of level 1 that are one boundary leaf; null if none are
    std::vector<BitGrid> solid;  // per level: cells that are not exterior
    std::vector<BitGrid> split;  // per level: cells to be divided (level 0: never read)
    Domain::Index& index;        // concurrent cells write to separate places

    struct Cell {
        int level, x, y, z;
    };

    // Links are counted in 32 bits, too, and a leaf has 26 of its own size.
    static constexpr std::size_t kMostLeaves = Domain::Graph::kMostLeaves;
    static_assert(kMostLeaves <= (std::uint64_t{1} << 32) / 26);

    bool divides(const Cell& c) const { return c.level > 0 && split[c.level].get(c.x, c.y, c.z); }
    template <typename Visit>
    void each_child(const Cell& c, Visit&& visit) const {
        const int children = solid[c.level - 1].layers() > 1 ? 8 : 4;
        for (int child = 0; child < children; ++child)
            visit(Cell{c.level - 1, 2 * c.x + (child & 1), 2 * c.y + (child >> 1 & 1), 2 * c.z + (child >> 2)});
    }

    /// Cells of one level, and undivided larger ones, in Morton order: units of parallel work.
    void cut(const Cell& c, int level, std::vector<Cell>& out) const {
        if (!solid[c.level].get(c.x, c.y, c.z)) return;
        if (c.level > level && divides(c))
            each_child(c, [&](const Cell& child) { cut(child, level, out); });
        else
            out.push_back(c);
    }

    void descend(const Cell& c, Subtree& out) const {
        if (!solid[c.level].get(c.x, c.y, c.z) || out.leaves.size() >= kMostLeaves) return;
        if (!divides(c)) return emit(c, out);
        if (c.level > 2) return each_child(c, [&](const Cell& child) { descend(child, out); });
        fill_block(c, out);
    }

    /// A divided cell of level 2: leaves of level 1, then those of level 0, child by child.
    void fill_block(const Cell& c, Subtree& out) const {
        open_block(c, out);
        Domain::Index::Block& block = out.blocks.back();
        std::array<Domain::Leaf, 64> leaves;
        std::size_t count = 0;
        bool divided = false;
        each_child(c, [&](const Cell& child) {
            if (!solid[1].get(child.x, child.y, child.z)) return;
            if (divides(child)) {
                divided = true;
                return;
            }
            leaves[count] = leaf_of(child);
            block.put(leaves[count], block.first + static_cast<std::uint32_t>(count));
            ++count;
        });
        if (divided) fill_voxels(c, leaves, count, block);
        out.leaves.insert(out.leaves.end(), leaves.begin(), leaves.begin() + count);
    }

    void fill_voxels(const Cell& c, std::array<Domain::Leaf, 64>& leaves, std::size_t& count,
                     Domain::Index::Block& block) const {
        const Places bounds = places_of(boundary, c), filled = places_of(solid[0], c);
        each_child(c, [&](const Cell& child) {
            if (!divides(child)) return;
            for (int k = 0; k < 8; ++k) {
                const int x = 2 * child.x + (k & 1), y = 2 * child.y + (k >> 1 & 1), z = 2 * child.z + (k >> 2);
                const std::size_t place = Domain::Index::place_in_block(x, y, z);
                // Branchless: the condition is unpredictable.
                const bool touched = bounds >> place & 1, is = filled >> place & 1;
                leaves[count % 64] = {static_cast<std::uint16_t>(x), static_cast<std::uint16_t>(y),
                                      static_cast<std::uint16_t>(z), 0, touched};
                block.at[place] = is ? static_cast<std::uint8_t>(count) : 255;
                count += is;
            }
            block.boundary |= bounds & places_of_child(child);
        });
    }

    void open_block(const Cell& c, Subtree& out) const {
        index.top.put(place_of(c.x, c.y, c.z),
                      Domain::Index::kDivided + static_cast<std::uint32_t>(out.blocks.size()));
        out.blocks.emplace_back(static_cast<std::uint32_t>(out.leaves.size()));
    }

    /// For a cell of level 1 or more.
    Domain::Leaf leaf_of(const Cell& c) const {
        const auto [level, x, y, z] = c;
        return {static_cast<std::uint16_t>(x << level), static_cast<std::uint16_t>(y << level),
                static_cast<std::uint16_t>(z << level), static_cast<std::uint8_t>(level),
                level == 1 && coarse && coarse->get(x, y, z)};
    }

    /// For a cell of level 2 or more.
    void emit(const Cell& c, Subtree& out) const {
        const auto number = static_cast<std::uint32_t>(out.leaves.size());
        out.leaves.push_back(leaf_of(c));
        each_top(c, [&](std::size_t place) { index.top.put(place, number); });
    }

    /// Voxels of a cell of level 2, as bits by Index::place_in_block.
    using Places = std::uint64_t;
    static Places places_of(const BitGrid& voxels, const Cell& c) {
        constexpr int side = Domain::Index::kBlock;
        Places places = 0;
        for (int z = std::min(side, voxels.layers()) - 1; z >= 0; --z)
            for (int y = side - 1; y >= 0; --y) {
                const std::uint64_t row =
                    voxels.words()[voxels.index(c.x * side, c.y * side + y, c.z * side + z)] >> (c.x * side & 63);
                places |= (row & 15) << (16 * z + 4 * y);
            }
        return places;
    }
    /// Voxels of a cell of level 1, likewise.
    static Places places_of_child(const Cell& c) {
        return Places{0x330033} << Domain::Index::place_in_block(2 * c.x, 2 * c.y, 2 * c.z);
    }

    /// For a cell of level 2 or more.
    template <typename Visit>
    void each_top(const Cell& c, Visit&& visit) const {
        const int n = 1 << (c.level - 2), depth = std::min(n, std::max(1, solid[2].layers()));
        for (int k = 0; k < depth; ++k)
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < n; ++i) visit(place_of(c.x * n + i, c.y * n + j, c.z * n + k));
    }

    std::size_t place_of(int x, int y, int z) const {  // in the index
        return (static_cast<std::size_t>(z) * index.per_side + y) * index.per_side + x;
    }
};

// The leaves of all cells and their index. Subtrees are built in parallel and joined in Morton order.
Status make_leaves(const Builder& builder, int levels, Domain& domain, Domain::Index& index, Context* context) {
    std::vector<Builder::Cell> cells;
    builder.cut({levels, 0, 0, 0}, std::max(2, levels - 4), cells);
    std::vector<Subtree> made(cells.size());
    std::atomic<std::size_t> count{0};  // stops when there are too many leaves
    parallel_for(context, cells.size(), 1, [&](std::size_t k) {
        if (cancelled(context) || count.load(std::memory_order_relaxed) >= Builder::kMostLeaves) return;
        builder.descend(cells[k], made[k]);
        count.fetch_add(made[k].leaves.size(), std::memory_order_relaxed);
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while building the octree"};
    std::vector<std::size_t> first_leaf(cells.size() + 1, 0), first_block(cells.size() + 1, 0);
    for (std::size_t k = 0; k < cells.size(); ++k) {
        first_leaf[k + 1] = first_leaf[k] + made[k].leaves.size();
        first_block[k + 1] = first_block[k] + made[k].blocks.size();
    }
    if (count.load() >= Builder::kMostLeaves)
        return Error{ErrorCode::too_large, "the volume has more than " + std::to_string(Builder::kMostLeaves) +
                                               " cells: lower the `resolution`, or use `domain sparse`"};
    domain.leaves.resize(first_leaf.back());
    index.blocks.resize(first_block.back());
    parallel_for(context, cells.size(), 1, [&](std::size_t k) {
        std::copy(made[k].leaves.begin(), made[k].leaves.end(), domain.leaves.begin() + first_leaf[k]);
        const auto leaf = static_cast<std::uint32_t>(first_leaf[k]),
                   block = static_cast<std::uint32_t>(first_block[k]);
        for (std::size_t b = 0; b < made[k].blocks.size(); ++b) {
            index.blocks[block + b] = made[k].blocks[b];
            index.blocks[block + b].first += leaf;
        }
        builder.each_top(cells[k], [&](std::size_t place) {
            const std::uint32_t entry = index.top[place];
            if (entry != no_index) index.top.put(place, entry + (entry & Domain::Index::kDivided ? block : leaf));
        });
    });
    return Done{};
}

}  // namespace

Result<Domain> build_domain(const VoxelGrid& grid, std::span<const Bone> bones, DomainKind kind, Context* context,
                            Neighbours neighbours, MixedCells mixed) {
    const int r = grid.transform.resolution;
    Domain domain;
    domain.transform = grid.transform;
    auto index = std::make_shared<Domain::Index>();
    index->per_side = r / Domain::Index::kBlock;
    const int slabs = std::max(1, grid.transform.depth() / Domain::Index::kBlock);
    index->top = Domain::Index::BlockTable(static_cast<std::size_t>(index->per_side) * index->per_side * slabs);
    if (grid.transform.depth() == 1 || neighbours == Neighbours::faces) kind = DomainKind::uniform;

    const bool local = grid.local();
    if (local && kind == DomainKind::uniform)
        return Error{ErrorCode::usage,
                     "voxels of two sizes (local resolution) make a sparse domain, not a uniform one"};
    Builder builder{grid.boundary, local ? &grid.coarse_boundary : nullptr, {}, {}, *index};
    BitGrid solid(r, grid.boundary.layers()), split(r, grid.boundary.layers());
    const BitGrid::Region &of_boundary = grid.boundary.region(), &of_interior = grid.interior.region();
    for (BitGrid* of : {&solid, &split})
        of->restrict_to({std::min(of_boundary.first, of_interior.first) & ~1,
                         std::min((std::max(of_boundary.end, of_interior.end) + 1) & ~1, of->layers()),
                         of_boundary.blocks});
    parallel_for(context, static_cast<std::size_t>(solid.layers()), 4, [&](std::size_t z) {
        solid.each_word_range(static_cast<int>(z), [&](std::size_t first, std::size_t end) {
            const auto bounds = grid.boundary.words(), fills = grid.interior.words();
            for (std::size_t k = first; k < end; ++k) {
                const std::uint64_t any = bounds[k] | fills[k];
                if (any) solid.words()[k] = any;
                if (const std::uint64_t divided = kind == DomainKind::uniform ? any : bounds[k])
                    split.words()[k] = divided;
            }
        });
    });
    // For local resolution: the solid cells, and those that must stay separate, at half the resolution, outside
    // of fine blocks.
    BitGrid coarse_solid = grid.coarse_boundary, coarse_split = grid.coarse_boundary;
    if (local) merge(coarse_solid, grid.coarse_interior, context);
    if (kind == DomainKind::sparse) {
        const auto divide = [&](int x, int y, int z) {
            if (grid.is_fine(x, y, z)) {
                if (solid.get(x, y, z)) split.set(x, y, z);
            } else if (coarse_solid.get(x / 2, y / 2, z / 2)) {
                coarse_split.set(x / 2, y / 2, z / 2);
            }
        };
        for (const Bone& bone : bones) {
            trace_bone(grid.transform, bone, divide);
            if (bone.shaped()) trace_surface(grid.transform, bone, divide);
        }
    }
    const int levels = std::countr_zero(static_cast<unsigned>(r));
    const bool divide_mixed = kind != DomainKind::uniform && mixed == MixedCells::divided;
    builder.solid.push_back(std::move(solid));
    builder.split.push_back(std::move(split));
    BitGrid full;  // cells without an exterior voxel
    for (int level = 1; level <= levels; ++level) {
        if (divide_mixed) full = halve_full(level == 1 ? builder.solid[0] : full, context);
        builder.solid.push_back(halve(builder.solid.back(), context));
        if (level == 2 && local) merge(coarse_split, builder.split[1], context);
        builder.split.push_back(halve(level == 2 && local ? coarse_split : builder.split.back(), context));
        if (level == 1 && local) {
            merge(builder.solid[1], coarse_solid, context);
            if (divide_mixed) merge(full, coarse_solid, context);
        }
        if (divide_mixed) divide_partly_solid(builder.split[level], builder.solid[level], full, context);
    }
    builder.split[0] = {};  // the level above stores which cells are divided
    SINEW_TRY(make_leaves(builder, levels, domain, *index, context));
    domain.index = std::move(index);
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while building the octree"};
    domain.graph = Domain::Graph::make(domain, neighbours, context);
    domain.graph->find_components(domain, context);
    return domain;
}

// Links of every leaf. A leaf looks at its 26 neighbours of its own size and finds those at least as large; the
// links to smaller ones are the reverse of the links that the smaller ones find.
LeafLinks list_links(const Domain& domain, Neighbours neighbours, Context* context) {
    const std::size_t n = domain.leaves.size();
    constexpr std::size_t grain = 8192;
    const std::size_t chunks = (n + grain - 1) / grain;
    const int dz_most = domain.transform.depth() > 1 ? 1 : 0;
    std::vector<std::vector<std::uint32_t>> found(chunks);  // concatenated lists, leaf by leaf
    std::vector<std::uint8_t> found_count(n);
    parallel_chunks(context, n, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        std::vector<std::uint32_t>& out = found[chunk];
        out.reserve((end - begin) * (dz_most ? 20 : 8));
        for (std::size_t i = begin; i < end; ++i) {
            const Domain::Leaf leaf = domain.leaves[i];
            const int size = 1 << leaf.level;
            const std::size_t start = out.size();
            std::uint32_t larger[26];  // several directions may find the same larger neighbour
            int larger_count = 0;
            for (int dz = -dz_most; dz <= dz_most; ++dz) {
                for (int dy = -1; dy <= 1; ++dy) {
                    for (int dx = -1; dx <= 1; ++dx) {
                        if (!(dx | dy | dz)) continue;
                        if (neighbours == Neighbours::faces && dx * dx + dy * dy + dz * dz != 1) continue;
                        const std::uint32_t j =
                            domain.leaf_at(leaf.x + dx * size, leaf.y + dy * size, leaf.z + dz * size);
                        if (j == no_index || domain.leaves[j].level < leaf.level) continue;
                        if (domain.leaves[j].level == leaf.level) {
                            out.push_back(j);
                        } else if (std::find(larger, larger + larger_count, j) == larger + larger_count) {
                            larger[larger_count++] = j;
                        }
                    }
                }
            }
            out.insert(out.end(), larger, larger + larger_count);
            found_count[i] = static_cast<std::uint8_t>(out.size() - start);
        }
    });

    LeafLinks out{std::vector<std::uint32_t>(n + 1, 0), {}};
    std::vector<std::uint32_t>& first = out.first;
    auto each_found = [&](auto&& visit) {
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            const std::uint32_t* next = found[chunk].data();
            for (std::size_t i = chunk * grain; i < std::min(n, (chunk + 1) * grain); ++i) {
                visit(i, std::span(next, found_count[i]));
                next += found_count[i];
            }
        }
    };
    each_found([&](std::size_t i, std::span<const std::uint32_t> list) {
        first[i + 1] += static_cast<std::uint32_t>(list.size());
        for (const std::uint32_t j : list)
            if (domain.leaves[j].level > domain.leaves[i].level) ++first[j + 1];
    });
    for (std::size_t i = 0; i < n; ++i) first[i + 1] += first[i];
    reserve_large(out.to, first[n]);
    out.to.resize(first[n]);
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    each_found([&](std::size_t i, std::span<const std::uint32_t> list) {
        for (const std::uint32_t j : list) {
            out.to[next[i]++] = j;
            if (domain.leaves[j].level > domain.leaves[i].level) out.to[next[j]++] = static_cast<std::uint32_t>(i);
        }
    });
    return out;
}

bool index_leaves(Domain& domain) {
    const int r = domain.transform.resolution;
    auto index = std::make_shared<Domain::Index>();
    index->per_side = r / Domain::Index::kBlock;
    index->top =
        Domain::Index::BlockTable(static_cast<std::size_t>(index->per_side) * index->per_side * index->per_side);
    if (domain.leaves.size() >= Domain::Index::kDivided) return false;
    for (std::size_t i = 0; i < domain.leaves.size(); ++i) {
        const Domain::Leaf& leaf = domain.leaves[i];
        if (leaf.level > 16) return false;
        const int size = 1 << leaf.level;
        const auto fits = [&](int c) { return (c & (size - 1)) == 0 && c + size <= r; };
        if (!fits(leaf.x) || !fits(leaf.y) || !fits(leaf.z)) return false;
        const auto number = static_cast<std::uint32_t>(i);
        if (leaf.level >= 2) {
            for (int z = leaf.z; z < leaf.z + size; z += Domain::Index::kBlock)
                for (int y = leaf.y; y < leaf.y + size; y += Domain::Index::kBlock)
                    for (int x = leaf.x; x < leaf.x + size; x += Domain::Index::kBlock) {
                        const std::size_t place = index->block_of(x, y, z);
                        if (index->top[place] != no_index) return false;
                        index->top.put(place, number);
                    }
            continue;
        }
        const std::size_t place = index->block_of(leaf.x, leaf.y, leaf.z);
        if (index->top[place] == no_index) {
            index->top.put(place, Domain::Index::kDivided + static_cast<std::uint32_t>(index->blocks.size()));
            index->blocks.emplace_back(number);
        }
        // The leaves of a block are contiguous.
        Domain::Index::Block& block = index->blocks.back();
        const std::uint32_t last = Domain::Index::kDivided + static_cast<std::uint32_t>(index->blocks.size()) - 1;
        if (index->top[place] != last || number - block.first >= block.at.size() || !block.put(leaf, number))
            return false;
    }
    domain.index = std::move(index);
    return true;
}

}  // namespace sinew
