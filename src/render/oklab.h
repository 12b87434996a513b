// Perceptual colours: OKLab (Ottosson 2020), and the conversion from and to sRGB.
#pragma once

#include <array>
#include <cmath>

#include "sinew/render.h"

namespace sinew {

/// Linear red, green, blue; 0..1 in the sRGB gamut.
using Linear = std::array<double, 3>;

/// Lightness 0..1, and two axes of hue.
struct Oklab {
    double l = 0, a = 0, b = 0;
};

double to_linear(std::uint8_t channel);
Linear to_linear(Rgb colour);
/// Clamped, rounded to nearest.
Rgb to_rgb(const Linear& light);

Oklab to_oklab(const Linear& light);
Linear from_oklab(const Oklab& colour);

/// A colour by lightness, chroma and hue in degrees; chroma is reduced until it is in the sRGB gamut.
Rgb from_lch(double lightness, double chroma, double hue);
Rgb in_gamut(Oklab colour);

}  // namespace sinew
