// The mesh on the integer lattice of its voxels, and the two ways to find its interior.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/prefetch.h"
#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew {

inline constexpr int kVoxelBits = 9;
inline constexpr std::int32_t kVoxel = 1 << kVoxelBits;  ///< lattice units per voxel
inline constexpr std::int32_t kCentre = kVoxel / 2;      ///< a voxel's centre, where columns are sampled
inline constexpr std::int32_t kDepthUnits = 16;          ///< depths of crossings are rounded to 1/16 lattice unit

/// Side of a voxel, if the mesh has this longest side. The grid is a little larger than the mesh.
inline double voxel_size(double longest_side, double resolution) { return longest_side / (resolution - 2.5); }

struct LatticePoint {
    std::int32_t c[3];
};

inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    const std::int64_t q = a / b;
    return q * b > a ? q - 1 : q;  // b > 0
}

/// Triangles with corners snapped to 1/512 voxel. At resolution 1024 a coordinate has 19 bits, a plane normal 39
/// and a plane equation 60, so predicates are exact in 64 bits.
struct Lattice {
    int resolution = 0;
    BitGrid::Region used{0, 0};            ///< requested voxels: where triangles are, or in fine blocks
    std::vector<LatticePoint> points;      ///< V; 0 to 512 resolution, for vertices of triangles
    std::span<const Triangle> triangles;   ///< T
    const std::vector<bool>* turned = {};  ///< T: faces to be reversed; null = none

    /// The corners of a triangle, counter-clockwise seen from outside.
    std::array<LatticePoint, 3> outward(std::size_t t) const {
        const Triangle& i = triangles[t];
        const bool turn = turned && (*turned)[t];
        return {points[i[0]], points[i[turn ? 2 : 1]], points[i[turn ? 1 : 2]]};
    }
    /// Prefetches the corners of a triangle some steps after t: the corners of a large mesh are in random
    /// order.
    void prefetch_ahead(std::size_t t) const {
        constexpr std::size_t ahead = 16;
        if (t + ahead < triangles.size())
            for (const std::uint32_t v : triangles[t + ahead]) prefetch(&points[v]);
    }
};

/// Snaps a mesh. `turned` may be null and must live as long as the lattice; so must the mesh.
Lattice make_lattice(const GridTransform& g, const MeshView& mesh, const std::vector<bool>* turned,
                     Context* context);

/// For each axis the voxels that its pair of views classifies as inside (equation 5). Boundary voxels may have
/// any value.
using PairVotes = std::array<BitGrid, 3>;

/// By the crossings of every voxel column with the mesh; if only some blocks are requested, of the columns
/// through those. O(T + crossings log crossings + r³/64).
Result<PairVotes> vote_by_columns(const Lattice& lattice, ViewPairs pairs, Context* context);

/// Resources that slicing used.
struct SliceReport {
    std::string renderer;        ///< "llvmpipe (LLVM 15.0.6, 256 bits)"
    int pixels = 0;              ///< along a side of the picture: resolution times samples per voxel
    std::size_t draws = 0;       ///< draw calls that drew triangles
    std::size_t read_backs = 0;  ///< transfers from the driver
};

/// By slicing the z-buffer, with any OpenGL driver (slices_gl.cpp). The threads are those of the driver.
/// Errors: io without a driver, too_large beyond its limits, usage in a build without OpenGL.
Result<PairVotes> vote_by_slices(const Lattice& lattice, ViewPairs pairs, Context* context,
                                 SliceReport* report = nullptr);

/// Success, or the error of code usage in a build without OpenGL.
Status check_slices();

/// The size of the slices, and the limits of the driver.
struct SliceSize {
    int resolution;
    std::size_t triangles;
};
struct SliceLimits {
    int pixels;         ///< along a side of a picture
    int subpixel_bits;  ///< of the corners of triangles
    int block_bytes;    ///< maximum size of a buffer that a shader reads
};
/// An error of code too_large names the exceeded limit.
Status check_slices(const SliceSize& size, const SliceLimits& limits);
/// Pixels per voxel and axis that a rasteriser with this number of subpixel bits needs to place corners
/// exactly.
int samples_per_voxel(int subpixel_bits);

}  // namespace sinew
