// The uniform voxelization of Dionne and de Lasa 2014, section 5.1: boundary voxels (mark_boundary.h), the vote of
// three view pairs (by columns or by slices), and winding numbers where it is undecided.
//
// All decisions are made in integers on positions snapped to 1/512 voxel, so no epsilon is needed.

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/parallel.h"
#include "core/try.h"
#include "domain/lattice.h"
#include "domain/mark_boundary.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

struct FittedGrid {
    GridTransform grid;
    BitGrid::Region used;  // layers that the mesh touches, and some more on both sides
};
// A grid around the bounding box of the marked vertices.
FittedGrid fit(const MeshView& mesh, std::span<const std::uint8_t> marked, int resolution, int layers,
               Context* context) {
    struct Box {
        float least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
    };
    constexpr std::size_t grain = 65536;
    std::vector<Box> boxes((mesh.positions.size() + grain - 1) / grain);
    parallel_chunks(context, mesh.positions.size(), grain,
                    [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                        Box box;
                        for (std::size_t v = begin; v < end; ++v) {
                            if (!marked[v]) continue;
                            const Vec3& p = mesh.positions[v];
                            const float c[3] = {p.x, p.y, p.z};
                            for (int a = 0; a < 3; ++a) {
                                box.least[a] = std::min(box.least[a], c[a]);
                                box.most[a] = std::max(box.most[a], c[a]);
                            }
                        }
                        boxes[chunk] = box;
                    });
    Box all;
    for (const Box& box : boxes)
        for (int a = 0; a < 3; ++a) {
            all.least[a] = std::min(all.least[a], box.least[a]);
            all.most[a] = std::max(all.most[a], box.most[a]);
        }
    const auto& least = all.least;
    const auto& most = all.most;
    const double low[3] = {least[0], least[1], least[2]}, high[3] = {most[0], most[1], most[2]};
    GridTransform g;
    g.resolution = resolution;
    g.unit = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
    g.voxel = voxel_size(g.unit, resolution);
    g.layers = layers;
    for (int a = 0; a < 3; ++a) {
        const int before = (a == 2 ? g.depth() : resolution) / 2;
        g.origin[a] = 0.5 * (low[a] + high[a]) - (before + 0.5) * g.voxel;
    }
    // A box that is a point has no thickness; the caller reports it as an error.
    const double thick = g.unit > 0 ? (high[2] - low[2]) / g.voxel : 0;
    const int middle = g.depth() / 2, half = static_cast<int>(0.5 * thick) + 3;
    return {g, {std::max(0, middle - half), std::min(g.depth(), middle + half + 1)}};
}

}  // namespace

Status check(const VoxelizeOptions& options) {
    const int r = options.resolution;
    if (r < 32 || r > 1024 || !std::has_single_bit(static_cast<unsigned>(r))) {
        return Error{ErrorCode::usage, "`resolution " + std::to_string(r) +
                                           "` is not a power of two from 32 to 1024 (try `resolution 256`)"};
    }
    if (options.voxelizer == Voxelizer::hardware) return check_slices();
    return Done{};
}

Lattice make_lattice(const GridTransform& g, const MeshView& mesh, const std::vector<bool>* turned,
                     Context* context) {
    Lattice lattice;
    lattice.resolution = g.resolution;
    lattice.used = {0, g.depth()};
    lattice.triangles = mesh.triangles;
    lattice.turned = turned;
    lattice.points.resize(mesh.positions.size());
    const double scale = kVoxel / g.voxel, end = double{kVoxel} * g.resolution;
    parallel_for(context, mesh.positions.size(), 8192, [&](std::size_t v) {
        const Vec3& p = mesh.positions[v];
        const double c[3] = {p.x, p.y, p.z};
        // Only vertices of no triangle lie outside, and they may be anywhere.
        for (int a = 0; a < 3; ++a) {
            const double at = std::clamp((c[a] - g.origin[a]) * scale, 0.0, end);
            lattice.points[v].c[a] = static_cast<std::int32_t>(at + 0.5);  // as lround does, where positive
        }
    });
    return lattice;
}

Result<VoxelGrid> pixel_grid(const MeshView& flat, int resolution, Context* context) {
    if (resolution < 32 || resolution > max_pixels || !std::has_single_bit(static_cast<unsigned>(resolution)))
        return Error{ErrorCode::usage, "`resolution " + std::to_string(resolution) +
                                           "` must be a power of two from 32 to " + std::to_string(max_pixels)};
    std::vector<Vec3> positions(flat.positions.begin(), flat.positions.end());
    for (Vec3& p : positions) p.z = 0;
    const MeshView mesh{positions, flat.triangles, {}};
    VoxelGrid grid;
    std::vector<std::uint8_t> at_triangle(positions.size(), 0);
    for (const Triangle& t : mesh.triangles)
        for (const std::uint32_t v : t) at_triangle[v] = 1;
    grid.transform = fit(mesh, at_triangle, resolution, 1, context).grid;
    if (!(grid.transform.unit > 0))
        return Error{ErrorCode::input, "all triangles are at one point: the mesh has no extent"};
    grid.boundary = grid.interior = BitGrid(resolution, 1);
    // Edges of shadows have 22 bits here and the only component of the normal 43: still exact in 64.
    const Lattice lattice = make_lattice(grid.transform, mesh, nullptr, context);
    parallel_for(context, mesh.triangles.size(), 4096,
                 [&](std::size_t t) { mark_boundary(grid.interior, lattice.outward(t).data()); });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while rasterising"};
    return grid;
}

Result<VoxelGrid> pixel_grid(const PixelMask& mask) {
    const std::string size = std::to_string(mask.width) + " x " + std::to_string(mask.height);
    if (mask.width < 1 || mask.height < 1 || mask.width > max_pixels || mask.height > max_pixels)
        return Error{ErrorCode::usage,
                     "a mask of " + size + " pixels: each side must have 1 to " + std::to_string(max_pixels)};
    const auto width = static_cast<std::size_t>(mask.width);
    if (mask.inside.size() != width * static_cast<std::size_t>(mask.height))
        return Error{ErrorCode::usage, "a mask of " + size + " pixels has " + std::to_string(mask.inside.size()) +
                                           " entries: there must be one for each"};
    if (!(mask.pixel > 0 && std::isfinite(mask.pixel) && std::isfinite(mask.origin[0]) &&
          std::isfinite(mask.origin[1])))
        return Error{ErrorCode::usage, "a mask's pixel must have a size above 0, and its corner a finite place"};
    VoxelGrid grid;
    GridTransform& g = grid.transform;
    g.resolution =
        std::max(32, static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(mask.width, mask.height)))));
    g.layers = 1;
    g.voxel = mask.pixel;
    g.unit = mask.pixel * std::max(mask.width, mask.height);
    g.origin[0] = mask.origin[0];
    g.origin[1] = mask.origin[1];
    g.origin[2] = -0.5 * mask.pixel;
    grid.boundary = grid.interior = BitGrid(g.resolution, 1);
    for (int y = 0; y < mask.height; ++y)
        for (int x = 0; x < mask.width; ++x)
            if (mask.inside[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)])
                grid.interior.set(x, y, 0);
    return grid;
}

namespace {

// Blocks that a place touches.
BitGrid fine_blocks(const GridTransform& grid, std::span<const FinePlace> places) {
    constexpr int side = BitGrid::kBlock;
    const int n = grid.resolution / side;
    BitGrid fine(n);
    for (const FinePlace& place : places) {
        int low[3], high[3];
        for (std::size_t k = 0; k < 3; ++k) {
            const double at = (place.at[k] - grid.origin[k]) / grid.voxel, reach = place.radius / grid.voxel;
            low[k] = static_cast<int>(std::clamp((at - reach) / side, 0.0, n - 1.0));
            high[k] = static_cast<int>(std::clamp((at + reach) / side, 0.0, n - 1.0));
        }
        for (int z = low[2]; z <= high[2]; ++z)
            for (int y = low[1]; y <= high[1]; ++y)
                for (int x = low[0]; x <= high[0]; ++x) fine.set(x, y, z);
    }
    return fine;
}

// The voxels of blocks of 8³: of a row of blocks, as bits of a word of voxels that are 8 >> `halvings` along a
// block.
std::uint64_t voxels_in(const BitGrid& blocks, int k, int y, int z, int halvings) {
    const int side = BitGrid::kBlock >> halvings, in_word = 64 / side;
    std::uint64_t left = blocks.words()[blocks.index(in_word * k, y / side, z / side)] >> (in_word * k & 63);
    if (in_word < 64) left &= (std::uint64_t{1} << in_word) - 1;
    std::uint64_t voxels = 0;
    for (; left; left &= left - 1) voxels |= ((std::uint64_t{1} << side) - 1) << (side * std::countr_zero(left));
    return voxels;
}

// Clears the voxels in blocks, or those outside of them.
void clear(BitGrid& grid, const BitGrid& blocks, bool inside, Context* context) {
    const int halvings =
        std::countr_zero(static_cast<unsigned>(BitGrid::kBlock * blocks.resolution() / grid.resolution()));
    const BitGrid::Region& used = grid.region();
    parallel_for(context, static_cast<std::size_t>(used.end - used.first), 8, [&](std::size_t at) {
        const int z = used.first + static_cast<int>(at);
        for (int y = 0; y < grid.resolution(); ++y)
            for (int k = 0; k < grid.words_per_row(); ++k) {
                std::uint64_t& word = grid.words()[grid.index(64 * k, y, z)];
                if (word == 0) continue;
                const std::uint64_t there = voxels_in(blocks, k, y, z, halvings);
                if (const std::uint64_t left = word & (inside ? ~there : there); left != word) word = left;
            }
    });
}

// The voxels of one size.
struct Voxels {
    GridTransform transform;
    BitGrid boundary, interior, ambiguous;
    std::size_t ambiguous_inside = 0;
};

void mark_boundaries(BitGrid& boundary, const Lattice& lattice, Context* context) {
    parallel_for(context, lattice.triangles.size(), 4096, [&](std::size_t t) {
        lattice.prefetch_ahead(t);
        mark_boundary(boundary, lattice.outward(t).data());
    });
}

// Counts the votes of the three axes, 64 voxels at a time, outside of the boundary: two or three votes make a voxel
// interior, one makes it ambiguous. The grid of the first axis becomes the interior, the grid of the second axis
// the ambiguous voxels.
void count_votes(PairVotes& inside, const BitGrid& boundary, Context* context) {
    const auto a = inside[0].words(), b = inside[1].words(), c = inside[2].words();
    const auto edge = boundary.words();
    parallel_for(context, static_cast<std::size_t>(boundary.layers()), 4, [&](std::size_t z) {
        boundary.each_word_range(static_cast<int>(z), [&](std::size_t first, std::size_t end) {
            for (std::size_t k = first; k < end; ++k) {
                if (!(a[k] | b[k] | c[k])) continue;  // writing a zero would commit its page
                const std::uint64_t two = (a[k] & b[k]) | (a[k] & c[k]) | (b[k] & c[k]);
                const std::uint64_t one = (a[k] | b[k] | c[k]) & ~two;
                a[k] = two & ~edge[k];
                b[k] = one & ~edge[k];
            }
        });
    });
}

Result<Voxels> vote(const GridTransform& transform, const BitGrid::Region& used, const MeshView& mesh,
                    const MeshTopology& topology, const VoxelizeOptions& options, Context* context) {
    Lattice lattice = make_lattice(transform, mesh, options.repair_facing ? &topology.turned : nullptr, context);
    lattice.used = used;
    Voxels voxels{transform, BitGrid(transform.resolution), {}, {}};
    voxels.boundary.restrict_to(used);
    mark_boundaries(voxels.boundary, lattice, context);
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while voxelizing"};

    const bool slices = options.voxelizer == Voxelizer::hardware;
    SINEW_TRY_LET(PairVotes votes, slices ? vote_by_slices(lattice, options.view_pairs, context)
                                          : vote_by_columns(lattice, options.view_pairs, context));
    for (BitGrid& of_axis : votes) {
        if (slices && used.blocks) clear(of_axis, *used.blocks, false, context);
        of_axis.restrict_to(used);
    }
    count_votes(votes, voxels.boundary, context);
    voxels.interior = std::move(votes[0]);
    voxels.ambiguous = std::move(votes[1]);
    return voxels;
}

// Up to eight ambiguous voxels of a row, or of two by two rows, that get one answer.
struct Run {
    Voxels* voxels;
    std::array<std::size_t, 4> word;
    int rows;
    std::uint64_t bits;  // within each word
};
struct Runs {
    std::vector<Run> runs;
    std::vector<Vec3> points;  // the middle of each
};

// Runs of a word of 64 voxels: `left`, in `rows` rows. k: number of the word in its row. y, z: voxels.
void add_runs(Voxels& voxels, const std::array<std::size_t, 4>& word, int rows, std::uint64_t left, int k, double y,
              double z, Runs& out) {
    const GridTransform& g = voxels.transform;
    while (left) {
        const int first = std::countr_zero(left);
        const int length = std::min({std::countr_one(left >> first), 8, 64 - first});
        const std::uint64_t bits = ((std::uint64_t{1} << length) - 1) << first;
        left &= ~bits;
        const int x = 64 * k + first + (length - 1) / 2;
        out.runs.push_back({&voxels, word, rows, bits});
        out.points.push_back({static_cast<float>(g.origin[0] + (x + 0.5) * g.voxel),
                              static_cast<float>(g.origin[1] + y * g.voxel),
                              static_cast<float>(g.origin[2] + z * g.voxel)});
    }
}

// The ambiguous voxels of two by two rows of words: voxels that all four rows have together, the others row by row.
void find_runs(Voxels& voxels, Runs& out) {
    const BitGrid& ambiguous = voxels.ambiguous;
    for (int z = ambiguous.region().first & ~1; z < ambiguous.region().end; z += 2)
        for (int y = 0; y < voxels.transform.resolution; y += 2)
            for (int k = 0; k < ambiguous.words_per_row(); ++k) {
                if (!ambiguous.word_in_region(k, y, z)) continue;
                std::array<std::size_t, 4> word{};
                std::uint64_t all = ~std::uint64_t{0}, any = 0;
                for (std::size_t row = 0; row < 4; ++row) {
                    word[row] =
                        ambiguous.index(64 * k, y + static_cast<int>(row & 1), z + static_cast<int>(row >> 1));
                    all &= ambiguous.words()[word[row]];
                    any |= ambiguous.words()[word[row]];
                }
                if (any == 0) continue;
                add_runs(voxels, word, 4, all, k, y + 1, z + 1, out);
                for (std::size_t row = 0; row < 4; ++row)
                    add_runs(voxels, {word[row]}, 1, ambiguous.words()[word[row]] & ~all, k,
                             y + static_cast<double>(row & 1) + 0.5, z + static_cast<double>(row >> 1) + 0.5, out);
            }
}

// Adds the ambiguous voxels that are inside by their winding number to the interior.
//
// No triangle passes between the centres of two neighbours that are not boundary, so the winding number changes
// little between ambiguous neighbours (not at all in a closed mesh): one answer serves a run of them.
void settle_ambiguous(std::span<Voxels> sizes, const MeshView& mesh, const std::vector<bool>& turned,
                      Context* context) {
    Runs found;
    for (Voxels& voxels : sizes) find_runs(voxels, found);
    const std::vector<float> winding = winding_numbers(mesh, turned, found.points, context);
    for (std::size_t i = 0; i < found.runs.size(); ++i) {
        if (!(winding[i] > 0.5f)) continue;
        const Run& run = found.runs[i];
        for (std::size_t row = 0; row < static_cast<std::size_t>(run.rows); ++row) {
            const std::size_t at = run.word[row];
            const std::uint64_t bits = run.voxels->ambiguous.words()[at] & run.bits;
            run.voxels->interior.words()[at] |= bits;
            run.voxels->ambiguous_inside += static_cast<std::size_t>(std::popcount(bits));
        }
    }
}

// One size of voxels everywhere.
Result<std::vector<Voxels>> vote_everywhere(const GridTransform& transform, const BitGrid::Region& used,
                                            const MeshView& mesh, const MeshTopology& topology,
                                            const VoxelizeOptions& options, Context* context) {
    SINEW_TRY_LET(Voxels voxels, vote(transform, used, mesh, topology, options, context));
    std::vector<Voxels> sizes;
    sizes.push_back(std::move(voxels));
    return sizes;
}

// Local resolution: fine voxels in the blocks around `fine`, voxels of twice their size everywhere else.
Result<std::vector<Voxels>> vote_at_two_sizes(const GridTransform& transform, const BitGrid::Region& used,
                                              std::span<const FinePlace> fine, const MeshView& mesh,
                                              const MeshTopology& topology, const VoxelizeOptions& options,
                                              Context* context) {
    const auto blocks = std::make_shared<const BitGrid>(fine_blocks(transform, fine));
    SINEW_TRY_LET(auto sizes,
                  vote_everywhere(transform, {used.first, used.end, blocks}, mesh, topology, options, context));
    GridTransform coarse = transform;
    coarse.resolution /= 2;
    coarse.layers /= 2;
    coarse.voxel *= 2;
    SINEW_TRY_LET(Voxels outside,
                  vote(coarse, {used.first / 2, (used.end + 1) / 2}, mesh, topology, options, context));
    for (BitGrid* grid : {&outside.boundary, &outside.interior, &outside.ambiguous})
        clear(*grid, *blocks, true, context);
    sizes.push_back(std::move(outside));
    return sizes;
}

}  // namespace

Result<VoxelGrid> voxelize(const MeshView& mesh, const MeshTopology& topology, const VoxelizeOptions& options,
                           Context* context, std::span<const FinePlace> fine) {
    SINEW_TRY(check(options));
    const int r = options.resolution;
    if (!fine.empty() && r < 64)
        return Error{ErrorCode::usage, "local resolution takes 64 or more in its fine blocks"};
    const auto [transform, used] = fit(mesh, topology.at_triangle, r, r, context);
    if (!(transform.unit > 0)) {
        return Error{ErrorCode::input, "all triangles are at one point: the mesh has no extent"};
    }
    SINEW_TRY_LET(auto voted, fine.empty()
                                  ? vote_everywhere(transform, used, mesh, topology, options, context)
                                  : vote_at_two_sizes(transform, used, fine, mesh, topology, options, context));
    std::vector<Voxels>& sizes = voted;

    VoxelGrid grid;
    grid.transform = transform;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        grid.ambiguous += (i > 0 ? 8 : 1) * sizes[i].ambiguous.count(context);
    if (grid.ambiguous > 0 && options.winding_numbers) {
        const std::vector<bool> as_given(options.repair_facing ? 0 : mesh.triangles.size(), false);
        settle_ambiguous(sizes, mesh, options.repair_facing ? topology.turned : as_given, context);
    }
    for (std::size_t i = 0; i < sizes.size(); ++i)
        grid.ambiguous_inside += (i > 0 ? 8 : 1) * sizes[i].ambiguous_inside;
    grid.boundary = std::move(sizes[0].boundary);
    grid.interior = std::move(sizes[0].interior);
    if (options.keep_ambiguous) grid.ambiguous_voxels = std::move(sizes[0].ambiguous);
    if (sizes.size() > 1) {
        grid.coarse_boundary = std::move(sizes[1].boundary);
        grid.coarse_interior = std::move(sizes[1].interior);
    }
    return grid;
}

}  // namespace sinew
