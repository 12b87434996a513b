// Flat figures for tests of cutouts: pictures with soft edges, drawn by arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "sinew/cutout.h"

namespace sinew::figures {

/// Signed distance to a shape, negative inside; pixels, y down as in a picture.
using Shape = std::function<double(double x, double y)>;

inline Shape disc(double cx, double cy, double r) {
    return [=](double x, double y) { return std::hypot(x - cx, y - cy) - r; };
}
inline Shape capsule(double ax, double ay, double bx, double by, double r) {
    return [=](double x, double y) {
        const double ux = bx - ax, uy = by - ay;
        const double t = std::clamp(((x - ax) * ux + (y - ay) * uy) / (ux * ux + uy * uy), 0.0, 1.0);
        return std::hypot(x - ax - t * ux, y - ay - t * uy) - r;
    };
}
inline Shape box(double x0, double y0, double x1, double y1) {
    return [=](double x, double y) { return std::max({x0 - x, x - x1, y0 - y, y - y1}); };
}
inline Shape join(std::vector<Shape> shapes) {
    return [shapes = std::move(shapes)](double x, double y) {
        double least = INFINITY;
        for (const Shape& s : shapes) least = std::min(least, s(x, y));
        return least;
    };
}
inline Shape cut(Shape from, Shape what) {
    return [=](double x, double y) { return std::max(from(x, y), -what(x, y)); };
}

/// Opaque inside, with an edge one pixel wide; checkered, to make bending visible.
inline RgbaImage draw(int width, int height, const Shape& shape) {
    RgbaImage picture{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height * 4)};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            std::uint8_t* p = &picture.rgba[4 * (static_cast<std::size_t>(y) * width + x)];
            const bool dark = (x / 16 + y / 16) % 2;
            p[0] = dark ? 150 : 190, p[1] = dark ? 90 : 120, p[2] = dark ? 40 : 60;
            p[3] =
                static_cast<std::uint8_t>(std::lround(255 * std::clamp(0.5 - shape(x + 0.5, y + 0.5), 0.0, 1.0)));
        }
    return picture;
}

/// 200 x 320: head, trunk, two legs with a gap of four pixels, and an arm that hangs beside the trunk.
inline Shape gingerbread() {
    return join({disc(100, 50, 36), capsule(100, 90, 100, 170, 30), capsule(82, 180, 82, 300, 16),
                 capsule(118, 180, 118, 300, 16), capsule(80, 100, 46, 112, 11), capsule(46, 112, 50, 190, 11),
                 capsule(120, 100, 180, 80, 11)});
}
/// A head, a body, legs that sit close together, and a cape that hangs from the shoulders beside the leg.
inline Shape caped() {
    return join({disc(110, 40, 28), capsule(110, 70, 110, 150, 20), capsule(104, 160, 112, 220, 14),
                 capsule(112, 220, 104, 290, 12), capsule(104, 292, 128, 296, 8), capsule(96, 80, 58, 150, 10),
                 capsule(58, 150, 40, 240, 16), capsule(40, 240, 52, 284, 20)});
}

}  // namespace sinew::figures
