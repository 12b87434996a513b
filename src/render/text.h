// Text in images: DejaVu Sans, embedded in the library, so that no font must be installed.
#pragma once

#include <string>

#include "sinew/render.h"

namespace sinew {

/// Width in pixels at a size in pixels (the em). UTF-8; invalid bytes count as U+FFFD. Characters are placed
/// one after the other: scripts that join or reorder their letters are not shaped.
double text_width(const std::string& text, double size);

/// Draws text with its baseline at y. Characters that the font lacks are drawn as a box. Clipped at the image's
/// edges.
void draw_text(Image& image, const std::string& text, double x, double y, double size, Rgb colour);

}  // namespace sinew
