// The contour of a picture: the line where its alpha crosses a threshold.
#pragma once

#include <vector>

#include "cutout/triangulate.h"
#include "sinew/cutout.h"
#include "sinew/voxels.h"

namespace sinew {

/// Which pixels belong to the figure: rows from the bottom up. Islands (pixels that share an edge or a corner) and
/// holes (pixels outside that share an edge) of fewer pixels than least_area are removed and counted.
PixelMask figure_mask(const RgbaImage& picture, const OutlineOptions& options, OutlineReport& report);

/// The contour by marching squares over the centres of pixels (Lorensen and Cline 1987, in the plane), with each
/// crossing where the alpha, linear between two centres, has the threshold. `mask` decides which pixels are inside.
/// In a square with only opposite corners inside, the mean of its alphas decides between the two connections. Outer
/// loops run counter-clockwise, holes clockwise; by falling area. No two loops touch. O(pixels + points log
/// points).
std::vector<GridLoop> contour(const RgbaImage& picture, const PixelMask& mask, float threshold);

/// The same loops with fewer points, none of them moved: by Douglas and Peucker (1973) within `tolerance` grid
/// units, with points put back where segments would cross or touch.
std::vector<GridLoop> simplify(const std::vector<GridLoop>& loops, double tolerance);

}  // namespace sinew
