#include "render/oklab.h"

#include <algorithm>

namespace sinew {
namespace {

struct Table {
    std::array<double, 256> linear;
    Table() {
        for (std::size_t i = 0; i < linear.size(); ++i) {
            const double c = static_cast<double>(i) / 255;
            linear[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
        }
    }
};

std::uint8_t encode(double light) {
    const double c = std::clamp(light, 0.0, 1.0);
    const double s = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255 * s));
}

bool shows(const Linear& light) {
    for (const double c : light)
        if (!(c >= -1e-4 && c <= 1 + 1e-4)) return false;
    return true;
}

}  // namespace

double to_linear(std::uint8_t channel) {
    static const Table table;
    return table.linear[channel];
}

Linear to_linear(Rgb colour) { return {to_linear(colour.r), to_linear(colour.g), to_linear(colour.b)}; }

Rgb to_rgb(const Linear& light) { return {encode(light[0]), encode(light[1]), encode(light[2])}; }

Oklab to_oklab(const Linear& c) {
    const double l = std::cbrt(0.4122214708 * c[0] + 0.5363325363 * c[1] + 0.0514459929 * c[2]);
    const double m = std::cbrt(0.2119034982 * c[0] + 0.6806995451 * c[1] + 0.1073969566 * c[2]);
    const double s = std::cbrt(0.0883024619 * c[0] + 0.2817188376 * c[1] + 0.6299787005 * c[2]);
    return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Linear from_oklab(const Oklab& c) {
    const double l = c.l + 0.3963377774 * c.a + 0.2158037573 * c.b;
    const double m = c.l - 0.1055613458 * c.a - 0.0638541728 * c.b;
    const double s = c.l - 0.0894841775 * c.a - 1.2914855480 * c.b;
    const double l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
    return {4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3,
            -1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3,
            -0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3};
}

Rgb in_gamut(Oklab colour) {
    if (!shows(from_oklab(colour))) {
        double low = 0, high = 1;
        for (int step = 0; step < 24; ++step) {
            const double middle = (low + high) / 2;
            (shows(from_oklab({colour.l, colour.a * middle, colour.b * middle})) ? low : high) = middle;
        }
        colour.a *= low;
        colour.b *= low;
    }
    return to_rgb(from_oklab(colour));
}

Rgb from_lch(double lightness, double chroma, double hue) {
    const double angle = hue * 3.14159265358979323846 / 180;
    return in_gamut({lightness, chroma * std::cos(angle), chroma * std::sin(angle)});
}

}  // namespace sinew
