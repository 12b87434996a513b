// Figures to pixels, by OpenGL.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "render/figure.h"
#include "sinew/render.h"

namespace sinew {

/// Everything of one panel, in its pixels (Placement).
struct Figure {
    std::vector<Corner> skin;
    const Paint* paint = nullptr;  ///< null: plain
    std::vector<VoxelFace> faces;
    std::array<double, 12> voxel_to_pixel{};          ///< rows of a 3x4 matrix
    std::array<std::array<double, 3>, 6> directions;  ///< of VoxelFace::direction, in the eye's axes
    std::vector<Corner> lines;                        ///< over the skin, and faint where it hides them
    std::vector<Corner> bones;
    double near_z = 1, far_z = 0;  ///< what is drawn lies between; in pixels
    double occlusion = 0;          ///< how far things shade each other, in pixels
};

/// An OpenGL context with the programs that draw figures. Belongs to the thread that made it.
class Painter {
public:
    static Result<Painter> create();
    Painter(Painter&&) noexcept;
    ~Painter();

    /// Draws the figure over `background` and puts it into the box of the image. In tiles, so that memory does not
    /// grow with the image.
    Status draw(const Figure& figure, const Box& box, Rgb background, Image& image);

private:
    struct Objects;
    explicit Painter(std::unique_ptr<Objects> objects);
    std::unique_ptr<Objects> objects_;
};

}  // namespace sinew
