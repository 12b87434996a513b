// sinew/cutout.h: flat figures. A picture with transparency becomes a textured mesh with weights: outline,
// triangles, weights by distance through its pixels, and pictures of the result. Files: sinew/cutout_files.h.
//
// After "Bones and Automatic Vertex Weights" (David, VIDE, 2012). docs/cutout.md.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sinew/core.h"
#include "sinew/skeleton.h"
#include "sinew/voxels.h"
#include "sinew/weights.h"

namespace sinew {

class Binding;

/// A picture with transparency: sRGB and straight (not premultiplied) alpha, 8 bits a channel.
struct RgbaImage {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgba;  ///< width × height × 4, rows from the top
    friend bool operator==(const RgbaImage&, const RgbaImage&) = default;
};

/// Reads a PNG of any kind (palette, grey, 16 bits, interlaced). `name` is used in messages. An error of code input
/// says what is wrong with the file; one of more than max_pixels along a side is refused before it is unpacked,
/// and so is one for which Context::memory_limit is too low.
Result<RgbaImage> decode_png(std::span<const std::byte> bytes, const std::string& name, Context* context = nullptr);

/// The picture as a PNG file of 8 bits a channel. The same picture gives the same bytes.
Result<std::vector<std::byte>> encode_png(const RgbaImage& picture);

struct OutlineOptions {
    float alpha = 0.5f;       ///< a pixel belongs to the figure from this opacity on, above 0 to 1
    float tolerance = 0.75f;  ///< pixels: how far the outline may lie from the contour of the alpha, 0..64
    float spacing = 0;    ///< pixels: edges inside the figure; 0 = a 24th of the longest side, at least 4; 2..4096
    int least_area = 16;  ///< pixels: smaller islands are dropped and smaller holes filled; 0 keeps all
};
Status check(const OutlineOptions& options);

/// Numbers of an outline mesh. Areas in pixels.
struct OutlineReport {
    std::size_t pixels = 0;                               ///< that belong to the figure
    std::size_t islands = 0, holes = 0;                   ///< of the mesh
    std::size_t dropped_islands = 0, dropped_pixels = 0;  ///< below least_area
    std::size_t filled_holes = 0, filled_pixels = 0;      ///< the same for holes
    std::size_t contour_points = 0;                       ///< before simplification
    double area = 0;                                      ///< of the mesh
    double smallest_angle = 0;                            ///< degrees
    std::size_t small_angles = 0;                         ///< triangles with an angle below 20 degrees
};

/// A flat mesh over a picture. Coordinates are pixels: x to the right, y *up* from the picture's lower edge.
struct OutlineMesh {
    std::vector<Vec3> positions;            ///< V, z = 0; the outline's first, loop by loop
    std::vector<std::array<float, 2>> uvs;  ///< V, from the upper left corner, 0..1
    std::vector<Triangle> triangles;        ///< T, counter-clockwise
    std::vector<std::uint32_t> loops;  ///< vertices of each loop: the largest island's first; holes run clockwise
    PixelMask mask;                    ///< the pixels of the figure, one scene unit a pixel
    OutlineReport report;
};

/// The figure in a picture: contour of the alpha by marching squares (with interpolation, so it lies between
/// pixels), simplified within the tolerance without crossing itself, with points inside, and triangles without
/// slivers, except at sharp corners of the outline itself (src/cutout/triangulate.h). A picture without a
/// pixel of that opacity is an error. O(pixels + V log V). Memory about 12 bytes a pixel.
Result<OutlineMesh> outline_mesh(const RgbaImage& picture, const OutlineOptions& options = {},
                                 Context* context = nullptr);

/// One picture of a figure. Each layer becomes a mesh of its own, on the common skeleton.
struct CutoutLayer {
    std::string name;
    std::string path;  ///< of the picture, as the figure's file or the caller names it
    RgbaImage picture;
    std::vector<std::byte> png;          ///< the file of the picture, for embedding
    std::array<double, 2> offset{0, 0};  ///< pixels from the canvas's upper left corner to the picture's, y down
    std::vector<std::uint32_t> joints;   ///< those that act on it, ascending
};

/// A figure: layers on one skeleton. Positions are in pixels of the canvas, x to the right, y *up* from its lower
/// edge.
struct CutoutFigure {
    int width = 0, height = 0;  ///< of the canvas: the layers' farthest right and lower ends
    Skeleton skeleton;
    std::vector<float> smoothness;    ///< per joint, pixels; NaN = CutoutOptions::smoothness
    std::vector<CutoutLayer> layers;  ///< in draw order: the first is behind all others
};

struct CutoutOptions {
    OutlineOptions outline;
    Neighbours neighbours = Neighbours::all;  ///< BindOptions::neighbours
    bool one_pixel = false;                   ///< BindOptions::one_pixel
    /// Pixels on which a bone's influence falls to 1/e; 0 = 3 % of the canvas's longest side. 0..16384.
    float smoothness = 0;
    FinishOptions finish;
};
Status check(const CutoutOptions& options);

/// A layer as a mesh with weights.
struct CutoutPart {
    OutlineMesh mesh;  ///< positions in the canvas
    SkinWeights weights;
    std::shared_ptr<const Binding> binding;
    std::vector<std::string> warnings;
};

/// Outlines every layer and binds it to its joints by method pixel-geodesic, with its own pixels as the mask.
/// Errors name the layer. Memory is estimated and checked before each layer.
Result<std::vector<CutoutPart>> cut_out(const CutoutFigure& figure, const CutoutOptions& options = {},
                                        Context* context = nullptr);

/// The figure with every point in the colours of its joints, mixed by weight: red, green and blue for the first
/// three joints as in the source, or joint_colours where there are more. As large as the canvas.
Result<RgbaImage> weights_picture(const CutoutFigure& figure, std::span<const CutoutPart> parts,
                                  Context* context = nullptr);

/// The figure in a pose: linear blend skinning by `transforms` (one per joint, in canvas pixels: skinning_matrices
/// of the figure's skeleton), textured triangles, layer over layer. Large enough for the posed figure, at most four
/// canvases and 16384 pixels each way. Memory: that of the picture.
Result<RgbaImage> posed_picture(const CutoutFigure& figure, std::span<const CutoutPart> parts,
                                std::span<const Transform> transforms, Context* context = nullptr);

}  // namespace sinew
