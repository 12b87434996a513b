// Draws figures with OpenGL.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "render/figure.h"
#include "sinew/render.h"

namespace sinew {

/// The contents of one panel, in its pixels (Placement).
struct Figure {
    std::vector<Corner> skin;
    const Paint* paint = nullptr;  ///< null: plain
    std::vector<VoxelFace> faces;
    std::array<double, 12> voxel_to_pixel{};          ///< rows of a 3x4 matrix
    std::array<std::array<double, 3>, 6> directions;  ///< of VoxelFace::direction, in the eye's axes
    std::vector<Corner> lines;                        ///< over the skin, and faint where the skin hides them
    std::vector<Corner> bones;
    double near_z = 1, far_z = 0;  ///< depth range, in pixels
    double occlusion = 0;          ///< radius of ambient occlusion, in pixels
};

/// An OpenGL context with the programs that draw figures. Belongs to the thread that created it.
class Painter {
public:
    static Result<Painter> create();
    Painter(Painter&&) noexcept;
    ~Painter();

    /// Draws the figure over `background` into the box of the image. In tiles, so that memory does not grow
    /// with the image, and in pieces between which it can be cancelled.
    Status draw(const Figure& figure, const Box& box, Rgb background, Image& image, Context* context);

private:
    struct Objects;
    class FigurePainter;
    explicit Painter(std::unique_ptr<Objects> objects);
    std::unique_ptr<Objects> objects_;
};

}  // namespace sinew
