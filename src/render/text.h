// Text in images: DejaVu Sans, which is part of the library, so that no font has to be installed.
#pragma once

#include <string>

#include "sinew/render.h"

namespace sinew {

/// Width in pixels at a size in pixels (the em). UTF-8; bytes that are none count as U+FFFD. Characters stand one
/// after the other: scripts that join or reorder their letters are not shaped.
double text_width(const std::string& text, double size);

/// Draws with its baseline at y. What the font lacks is drawn as a box. Clipped at the image's edges.
void draw_text(Image& image, const std::string& text, double x, double y, double size, Rgb colour);

}  // namespace sinew
