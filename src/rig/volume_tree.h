// The volume of a character as a tree of paths through its thickest parts.
#pragma once

#include <cstdint>
#include <vector>

#include "core/geometry.h"
#include "sinew/core.h"
#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew {

/// The inside of a mesh as voxels, cropped to its bounding box.
struct BodyVolume {
    std::array<int, 3> size{};
    Point3 origin{};  ///< scene position of the centre of voxel 0
    double voxel = 1;
    int resolution = 0;        ///< of the grid that it is from
    std::size_t costly = 0;    ///< its voxels that triangles touch, and those that needed a winding number
    std::vector<float> depth;  ///< distance to the nearest outside voxel, in voxels; 0 = outside
    double largest_part = 1;   ///< share of the volume that is connected; the rest is left out

    std::uint32_t at(int x, int y, int z) const {
        return static_cast<std::uint32_t>((static_cast<std::int64_t>(z) * size[1] + y) * size[0] + x);
    }
    std::array<int, 3> place(std::uint32_t v) const {
        const auto s = static_cast<std::uint32_t>(size[0]), t = static_cast<std::uint32_t>(size[1]);
        return {static_cast<int>(v % s), static_cast<int>(v / s % t), static_cast<int>(v / s / t)};
    }
    Point3 position(std::uint32_t v) const;
};

/// Voxelizes, closes gaps of up to four voxels between parts, and keeps the largest connected part. O(r³).
Result<BodyVolume> make_body_volume(const MeshView& mesh, int resolution, Context* context);

/// The part of a grid inside a ball that is connected with the solid voxel nearest to the centre, without what lies
/// farther than `behind` from the centre against the direction. Empty if there is none. O(voxels of the ball).
BodyVolume crop_volume(const VoxelGrid& grid, const Point3& centre, const Point3& direction, double radius,
                       double behind);

/// The share of the volume whose mirror image in the middle of the bounding box is inside too. `axis`: 0 or 2.
double mirror_share(const BodyVolume& volume, int axis);

/// Paths from the tips of limbs to a root in the middle, each through the thickest parts.
class VolumeTree {
public:
    /// Without tips of which the prominence is below `least`, in voxels, or below 3 or 0.025 of the longest side.
    VolumeTree(const BodyVolume& volume, double least, Context* context);

    /// Ends of limbs, the most prominent first; at most 32.
    const std::vector<std::uint32_t>& tips() const { return tips_; }
    /// How far each of them is from the paths of those before it, in voxels, less 1.5 times the depth there.
    const std::vector<double>& prominences() const { return prominences_; }
    /// Where the paths of three voxels of the tree meet.
    std::uint32_t meeting(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
    /// Voxels of the tree from a to b, both included.
    std::vector<std::uint32_t> path(std::uint32_t a, std::uint32_t b) const;
    /// How thick a limb is near its tip, 0 to 1: the depth of its path there, against that of the root.
    double thickness_at(const BodyVolume& volume, std::uint32_t tip) const;
    std::uint32_t root() const { return root_; }

private:
    std::uint32_t shared_ancestor(std::uint32_t a, std::uint32_t b) const;

    std::vector<std::uint32_t> parent_;  // of each voxel towards the root; the root's own is itself
    std::vector<std::uint32_t> tips_;
    std::vector<double> prominences_;
    std::uint32_t root_ = 0;
};

}  // namespace sinew
