// sinew/voxels.h: the voxels of the volume that a mesh encloses, and pixels of flat figures.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sinew/core.h"
#include "sinew/domain.h"

namespace sinew {

/// One bit per voxel; x runs fastest, in 64-bit words. Memory r³/8 bytes; r²/8 for one layer. On Linux, a grid of
/// 16 MB and more commits a page only when it is first written. Code that traverses it should not write zeros.
class BitGrid {
public:
    BitGrid() = default;
    explicit BitGrid(int resolution) : BitGrid(resolution, resolution) {}
    BitGrid(int resolution, int layers);
    BitGrid(const BitGrid& other);
    BitGrid(BitGrid&&) noexcept = default;
    BitGrid& operator=(BitGrid other) noexcept;
    ~BitGrid() = default;
    int resolution() const { return r_; }
    int layers() const { return layers_; }  ///< along z
    static constexpr int kBlock = 8;        ///< voxels along the edge of a block
    /// Region that may contain set bits; defaults to the whole grid. Loops over the grid can skip the rest.
    struct Region {
        int first, end;                              ///< layers
        std::shared_ptr<const BitGrid> blocks = {};  ///< of 8³ voxels, resolution / 8 along a side; null = all
    };
    const Region& region() const { return region_; }
    bool word_in_region(int k, int y, int z) const {  // word k of a row of a layer of the region
        if (!region_.blocks) return true;
        const BitGrid& blocks = *region_.blocks;  // a word covers eight of them
        return blocks.words()[blocks.index(kBlock * k, y / kBlock, z / kBlock)] >> (kBlock * k & 63) & 0xff;
    }
    void restrict_to(Region used) { region_ = std::move(used); }
    /// Calls visit(first, end) for the ranges of words of layer z that cover its region.
    template <typename Visit>
    void each_word_range(int z, Visit&& visit) const;
    bool get(int x, int y, int z) const { return words_[index(x, y, z)] >> (x & 63) & 1; }
    void set(int x, int y, int z) { words_[index(x, y, z)] |= std::uint64_t{1} << (x & 63); }
    std::size_t count(Context* context = nullptr) const;
    int words_per_row() const { return wpr_; }
    std::span<std::uint64_t> words() { return {words_.get(), words_ ? count_ : 0}; }
    std::span<const std::uint64_t> words() const { return {words_.get(), words_ ? count_ : 0}; }
    std::size_t index(int x, int y, int z) const {
        return (static_cast<std::size_t>(z) * r_ + y) * wpr_ + (x >> 6);
    }
    friend bool operator==(const BitGrid& a, const BitGrid& b) {
        const auto of_a = a.words(), of_b = b.words();
        return a.r_ == b.r_ && a.layers_ == b.layers_ &&
               std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
    }

private:
    int r_ = 0, layers_ = 0, wpr_ = 0;
    Region region_{0, 0};
    std::size_t count_ = 0;
    std::shared_ptr<std::uint64_t[]>
        words_;  // of this grid alone; all-zero pages of large grids are never committed
};

template <typename Visit>
void BitGrid::each_word_range(int z, Visit&& visit) const {
    if (z < region_.first || z >= region_.end) return;
    if (!region_.blocks) return visit(index(0, 0, z), index(0, 0, z + 1));
    for (int y = 0; y < r_; y += kBlock) {  // the same words for all rows of a block
        std::uint64_t used = 0;
        for (int k = 0; k < wpr_; ++k) used |= std::uint64_t{word_in_region(k, y, z)} << k;
        if (!used) continue;
        for (int row = y; row < y + kBlock; ++row)
            for (std::uint64_t left = used; left;) {
                const int first = std::countr_zero(left), count = std::countr_one(left >> first);
                visit(index(64 * first, row, z), index(64 * first, row, z) + static_cast<std::size_t>(count));
                left = first + count < 64 ? left >> (first + count) << (first + count) : 0;
            }
    }
}

/// The uniform voxelization: every voxel is boundary, interior or exterior.
struct VoxelGrid {
    GridTransform transform;
    BitGrid boundary;                  ///< touched by a triangle
    BitGrid interior;                  ///< inside by vote or winding number, and not boundary
    std::size_t ambiguous = 0;         ///< voxels with exactly one agreeing view pair (a coarse one counts as 8)
    std::size_t ambiguous_inside = 0;  ///< those that winding numbers put inside
    BitGrid ambiguous_voxels;          ///< which (of local resolution the fine ones); with keep_ambiguous only
    /// Local resolution: the grids above contain fine blocks only (BitGrid::Region::blocks). The space outside
    /// them is stored here, at half the resolution. Empty: voxels are of one size.
    BitGrid coarse_boundary, coarse_interior;

    bool local() const { return coarse_boundary.resolution() > 0; }
    bool is_fine(int x, int y, int z) const {  // of a voxel
        constexpr int side = BitGrid::kBlock;
        return !local() || boundary.region().blocks->get(x / side, y / side, z / side);
    }
    bool solid(int x, int y, int z) const {  // of a voxel: boundary or interior
        return is_fine(x, y, z)
                   ? boundary.get(x, y, z) || interior.get(x, y, z)
                   : coarse_boundary.get(x / 2, y / 2, z / 2) || coarse_interior.get(x / 2, y / 2, z / 2);
    }
};

/// Voxelizes: exact triangle-box tests for the boundary, then for each axis the crossings of every voxel column
/// with the mesh; a gap whose two ends face away from each other is inside for that view pair; two or three
/// pairs make an interior voxel (eq. 5, 6). All predicates are integer arithmetic on positions snapped to
/// 1/512 voxel, with a half-open edge rule: a shared edge counts once. The box covers the triangles only: a
/// stray vertex or a bone far outside must not cost resolution. Time O(T + voxels touched + r³/64), memory
/// 5 r³/8 bytes. Requires check_mesh. With places `fine` (local resolution, 64 or more) the blocks of 8³ voxels
/// that these touch are voxelized at full resolution, all other space with voxels of twice the edge, by the same
/// rules. Time and committed memory are those of half the resolution plus those of the fine blocks.
Result<VoxelGrid> voxelize(const MeshView& mesh, const MeshTopology& topology, const VoxelizeOptions& options,
                           Context* context = nullptr, std::span<const FinePlace> fine = {});

/// A shape in the plane z = 0, as the pixels of a picture that belong to it.
struct PixelMask {
    int width = 0, height = 0;         ///< 1..4096
    std::vector<std::uint8_t> inside;  ///< width × height, rows from the bottom up: 0 outside, else inside
    double origin[2] = {0, 0};         ///< scene position of the lower left corner
    double pixel = 1;                  ///< edge of a pixel, scene units
};

/// Maximum number of pixels along a side.
inline constexpr int max_pixels = 4096;

/// A mask as a grid of one layer, around z = 0: its pixels are interior and nothing is boundary. The resolution is
/// the power of two, 32 or more, that holds the mask. Memory r²/4 bytes.
Result<VoxelGrid> pixel_grid(const PixelMask& mask);

/// The pixels that the triangles of a mesh in the plane z = 0 touch (z is ignored), in the same way: the
/// triangle-box tests of voxelize, so that no sliver is lost. `resolution`: pixels along the longest side, a power
/// of two, 32..4096. Requires check_mesh. O(T + pixels touched).
Result<VoxelGrid> pixel_grid(const MeshView& flat, int resolution, Context* context = nullptr);

}  // namespace sinew
