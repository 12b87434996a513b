// Layout of a picture: panels, titles, legends. Arithmetic on rectangles; draws nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sinew/render.h"

namespace sinew {

/// Pixels; y runs down.
struct Box {
    int x = 0, y = 0, width = 0, height = 0;
    int right() const { return x + width; }
    int bottom() const { return y + height; }
};

/// The width of a text in pixels, at a size in pixels.
using Measure = std::function<double(const std::string& text, double size)>;

struct TextItem {
    std::string text;
    double x = 0, y = 0;  ///< left end, and the baseline
    double size = 0;
    bool quiet = false;  ///< drawn in a fainter colour
};

struct BarItem {
    Box box;
    Ramp ramp = Ramp::heat;
    bool upright = true;     ///< high values above; else to the right
    std::vector<int> marks;  ///< pixels of the ticks along y (upright) or x
    bool plain_end = false;  ///< a swatch of the plain surface belongs to the low end
};

struct SwatchItem {
    Box box;
    Rgb colour;
};

struct Layout {
    double text_size = 0;     ///< of panel titles
    std::vector<Box> panels;  ///< where the figures are drawn, without their titles
    std::vector<TextItem> texts;
    std::vector<BarItem> bars;
    std::vector<SwatchItem> swatches;
};

/// A legend and what its panels are called (empty, if there is one legend for all).
struct LegendOf {
    const Legend* legend = nullptr;
    bool zero_is_plain = false;
};

/// Lays out `picture`, whose figures fit in frames of `frame_width` × `frame_height` (any unit). A grid of
/// panels; legends to the right of them, or below if the picture is taller than wide. The last line of a legend
/// counts the entries that do not fit; texts that are too long end in "…". Every item is within the picture.
Layout lay_out(const Picture& picture, const std::vector<LegendOf>& legends, double frame_width,
               double frame_height, const Measure& measure);

/// Shortens a text until it is at most `width` wide.
std::string fit_text(const std::string& text, double size, double width, const Measure& measure);

/// A number with the digits that a scale with this `step` needs: "0.25", "1", "1.5e-5".
std::string short_number(double value, double step);

}  // namespace sinew
