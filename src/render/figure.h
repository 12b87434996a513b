// A panel prepared for drawing: its surface, voxels and bones as triangles in pixels. Plain arithmetic.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "render/layout.h"
#include "sinew/render.h"
#include "sinew/voxels.h"

namespace sinew {

/// Axes of an eye that looks along -`back`; each a unit vector.
struct Eye {
    std::array<double, 3> right, up, back;
};
Eye eye_at(const Viewpoint& from);

/// A box in the eye's axes: right, up, towards the eye. low > high if it is empty.
struct Extent {
    std::array<double, 3> low{1, 1, 1}, high{-1, -1, -1};
    bool empty() const { return low[0] > high[0]; }
    void add(const std::array<double, 3>& p);
    void add(const Extent& other);
    double width() const { return high[0] - low[0]; }
    double height() const { return high[1] - low[1]; }
};

/// The visible contents of the panel, in the axes of its eye. O(V).
Extent extent_of(const Panel& panel);

/// From the panel's space to pixels: x to the right, y up from the lower left corner of the panel's box, z towards
/// the eye.
struct Placement {
    std::array<double, 12> m{};  ///< rows of a 3x4 matrix, Panel::transform included
    double scale = 1;            ///< pixels per unit of the scene
    std::array<double, 3> operator()(const std::array<double, 3>& p) const;
    /// The outward normal of a face across an axis of the panel's space, in the eye's axes; the length is not 1.
    std::array<double, 3> normal(std::size_t axis) const;
};
/// A surface without paint.
Rgb plain_colour();
/// Places the frame's centre at the middle of the box; `scale` pixels per unit of the space after
/// Panel::transform.
Placement place(const Panel& panel, const Extent& frame, const Box& box, double scale);

/// A corner of a triangle for OpenGL: three consecutive ones make a triangle.
struct Corner {
    float x, y, z;           ///< pixels
    std::int8_t normal[4];   ///< unit vector times 127, in the eye's axes; direction by winding
    std::uint8_t colour[4];  ///< sRGB; the fourth: 255, or 0 without a value
    float value;
};

/// The surface with its paint. Normals are means over triangles that meet at a position at less than 45
/// degrees, independent of winding. O(T), parallel.
std::vector<Corner> surface_corners(const Panel& panel, const Placement& placement, Context* context);

/// The lines of the paint as strips that face the eye, `width` pixels wide, slightly in front of the surface.
/// O(lines).
std::vector<Corner> line_corners(const Panel& panel, const Placement& placement, double width);

/// Bones as slim double pyramids with a ball at the joint, in the colours of the panel. O(bones).
std::vector<Corner> bone_corners(const Panel& panel, const Placement& placement, double smallest);

/// settled: ambiguous, inside by winding number; ambiguous: outside.
enum class VoxelKind : std::uint8_t { boundary, interior, settled, ambiguous, bone };
inline constexpr std::size_t kVoxelKinds = 5;
Rgb voxel_colour(VoxelKind kind);

/// A face of a voxel that may be visible.
struct VoxelFace {
    std::uint16_t x, y, z;
    std::uint8_t direction;  ///< axis * 2 + (1 if it looks along it, 0 if against it)
    VoxelKind kind;
};

/// Faces between a shown voxel and one that is not shown, for the three directions that an eye can see. Also
/// counts the shown voxels by kind. O(r³/64 + faces), parallel, memory 8 bytes a face.
struct VoxelFaces {
    std::vector<VoxelFace> faces;
    std::array<std::size_t, kVoxelKinds> shown{};
};
VoxelFaces voxel_faces(const VoxelPanel& voxels, const std::array<bool, 6>& seen, Context* context);

/// The box of occupied voxels: first and one past the last, per axis; all zero if there are none.
struct VoxelBox {
    std::array<int, 3> low{0, 0, 0}, high{0, 0, 0};
};
VoxelBox occupied_box(const VoxelGrid& grid);

}  // namespace sinew
