// Pictures of a flat figure by a small rasteriser: triangles, painter's order, four samples per pixel.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/parallel.h"
#include "core/try.h"
#include "sinew/cutout.h"
#include "sinew/deform.h"
#include "sinew/render.h"

namespace sinew {
namespace {

/// Premultiplied red, green, blue, and alpha, 0..1.
struct Colour {
    double c[4] = {0, 0, 0, 0};
    void add(const Colour& other, double share) {
        for (int k = 0; k < 4; ++k) c[k] += share * other.c[k];
    }
    void under(const Colour& over) {
        for (int k = 0; k < 4; ++k) c[k] = over.c[k] + (1 - over.c[3]) * c[k];
    }
};

Colour texel(const RgbaImage& picture, int x, int y) {
    const std::uint8_t* p =
        &picture.rgba[4 * (static_cast<std::size_t>(std::clamp(y, 0, picture.height - 1)) * picture.width +
                           std::clamp(x, 0, picture.width - 1))];
    const double a = p[3] / 255.0;
    return {{a * p[0] / 255, a * p[1] / 255, a * p[2] / 255, a}};
}

/// Bilinear interpolation between the centres of texels.
Colour sample(const RgbaImage& picture, double u, double v) {
    const double x = u * picture.width - 0.5, y = v * picture.height - 0.5;
    const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
    const double s = x - i, t = y - j;
    Colour out;
    out.add(texel(picture, i, j), (1 - s) * (1 - t));
    out.add(texel(picture, i + 1, j), s * (1 - t));
    out.add(texel(picture, i, j + 1), (1 - s) * t);
    out.add(texel(picture, i + 1, j + 1), s * t);
    return out;
}

/// A part of the plane that is drawn: `left` and `top` in canvas pixels, y up.
struct Frame {
    double left = 0, top = 0;
    int width = 0, height = 0;
};

constexpr int kSide = 2;    // samples per pixel along each axis
constexpr int kStrip = 16;  // rows of pixels that are drawn at a time
constexpr int kMostSide = 16384;

/// Draws triangles in order. Each strip of rows is drawn on its own: memory is that of the picture, and threads
/// share the work.
class Painter {
public:
    /// The colour of a point of a triangle, by its barycentric coordinates.
    using Shade = std::function<Colour(const Triangle&, const double*)>;

    explicit Painter(const Frame& frame) : frame_(frame) {}

    /// Keeps references to the arrays.
    void add(const std::vector<Vec3>& positions, const std::vector<Triangle>& triangles, Shade shade) {
        sheets_.push_back({positions, triangles, std::move(shade)});
    }

    Result<RgbaImage> paint(Context* context) const {
        const std::size_t bytes =
            static_cast<std::size_t>(frame_.width) * static_cast<std::size_t>(frame_.height) * 4;
        if (context && context->memory_limit && 2 * bytes > context->memory_limit)
            return Error{ErrorCode::too_large,
                         "a picture of " + std::to_string(frame_.width) + " x " + std::to_string(frame_.height) +
                             " pixels needs " + std::to_string(2 * bytes >> 20) + " MB, more than the limit of " +
                             std::to_string(context->memory_limit >> 20) + " MB"};
        RgbaImage out{frame_.width, frame_.height, std::vector<std::uint8_t>(bytes)};
        parallel_for(context, static_cast<std::size_t>((frame_.height + kStrip - 1) / kStrip), 1,
                     [&](std::size_t strip) {
                         if (!cancelled(context)) draw_strip(static_cast<int>(strip) * kStrip, out);
                     });
        if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while painting"};
        return out;
    }

private:
    struct Sheet {
        const std::vector<Vec3>& positions;
        const std::vector<Triangle>& triangles;
        Shade shade;
    };

    void draw_strip(int top, RgbaImage& out) const {
        const int rows = std::min(kStrip, frame_.height - top), width = frame_.width * kSide;
        std::vector<Colour> samples(static_cast<std::size_t>(width) * static_cast<std::size_t>(rows) * kSide);
        for (const Sheet& sheet : sheets_)
            for (const Triangle& t : sheet.triangles) draw(sheet, t, top * kSide, rows * kSide, width, samples);
        for (int y = 0; y < rows; ++y)
            for (int x = 0; x < frame_.width; ++x) {
                Colour sum;
                for (int k = 0; k < kSide * kSide; ++k)
                    sum.add(
                        samples[static_cast<std::size_t>(y * kSide + k / kSide) * width + x * kSide + k % kSide],
                        1.0 / (kSide * kSide));
                std::uint8_t* p = &out.rgba[4 * (static_cast<std::size_t>(top + y) * out.width + x)];
                const auto channel = [](double value) {
                    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
                };
                for (int k = 0; k < 3 && sum.c[3] > 0; ++k) p[k] = channel(sum.c[k] / sum.c[3]);
                p[3] = channel(sum.c[3]);
            }
    }

    /// The samples of a strip that lie in a triangle; rows from `top` on, in samples.
    void draw(const Sheet& sheet, const Triangle& t, int top, int rows, int width,
              std::vector<Colour>& samples) const {
        double x[3], y[3];
        for (std::size_t k = 0; k < 3; ++k) {
            x[k] = (sheet.positions[t[k]].x - frame_.left) * kSide;
            y[k] = (frame_.top - sheet.positions[t[k]].y) * kSide;
        }
        const double low_y = std::min({y[0], y[1], y[2]}), high_y = std::max({y[0], y[1], y[2]});
        const double low_x = std::min({x[0], x[1], x[2]}), high_x = std::max({x[0], x[1], x[2]});
        if (!(high_y >= top && low_y <= top + rows && high_x >= 0 && low_x <= width)) return;
        // Both orientations: a pose may reverse a triangle.
        const double area = (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0]);
        if (!(std::abs(area) > 1e-9)) return;
        const double sign = area > 0 ? 1 : -1;
        const int first = static_cast<int>(std::max<double>(top, std::floor(low_y)));
        const int last = static_cast<int>(std::min<double>(top + rows - 1, std::ceil(high_y)));
        const int left = static_cast<int>(std::max<double>(0, std::floor(low_x)));
        const int right = static_cast<int>(std::min<double>(width - 1, std::ceil(high_x)));
        for (int j = first; j <= last; ++j)
            for (int i = left; i <= right; ++i) {
                const double px = i + 0.5, py = j + 0.5;
                double b[3];
                bool in = true;
                for (int k = 0; k < 3 && in; ++k) {
                    const int m = (k + 1) % 3, n = (k + 2) % 3;
                    b[k] = ((x[m] - px) * (y[n] - py) - (y[m] - py) * (x[n] - px)) / area;
                    // A sample on an edge belongs to one of its two triangles.
                    const bool upper = (y[n] - y[m]) * sign > 0 || (y[n] == y[m] && (x[m] - x[n]) * sign > 0);
                    in = b[k] > 0 || (b[k] == 0 && upper);
                }
                if (in) samples[static_cast<std::size_t>(j - top) * width + i].under(sheet.shade(t, b));
            }
    }

    Frame frame_;
    std::vector<Sheet> sheets_;
};

}  // namespace

Result<RgbaImage> weights_picture(const CutoutFigure& figure, std::span<const CutoutPart> parts, Context* context) {
    std::vector<Rgb> colours{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}};
    if (figure.skeleton.joints.size() > 3) colours = joint_colours(figure.skeleton);
    std::vector<std::vector<Colour>> at(parts.size());
    Painter painter({0, static_cast<double>(figure.height), figure.width, figure.height});
    for (std::size_t l = 0; l < parts.size(); ++l) {
        const CutoutPart& part = parts[l];
        at[l].resize(part.mesh.positions.size());
        for (std::size_t v = 0; v < at[l].size(); ++v)
            for (const Influence& i : part.weights[v]) {
                const Rgb c = colours[i.joint];
                at[l][v].add({{c.r / 255.0, c.g / 255.0, c.b / 255.0, 1}}, i.weight);
            }
        painter.add(part.mesh.positions, part.mesh.triangles, [&own = at[l]](const Triangle& t, const double* b) {
            Colour mixed;
            for (std::size_t k = 0; k < 3; ++k) mixed.add(own[t[k]], b[k]);
            return mixed;
        });
    }
    return painter.paint(context);
}

Result<RgbaImage> posed_picture(const CutoutFigure& figure, std::span<const CutoutPart> parts,
                                std::span<const Transform> transforms, Context* context) {
    std::vector<std::vector<Vec3>> posed;
    double low[2] = {0, 0}, high[2] = {static_cast<double>(figure.width), static_cast<double>(figure.height)};
    for (const CutoutPart& part : parts) {
        SINEW_TRY_LET(Surface bent, deform({part.mesh.positions, {}, {}}, part.weights, transforms,
                                           Skinning::linear_blend, context));
        for (const Vec3& p : bent.positions) {
            low[0] = std::min<double>(low[0], p.x), high[0] = std::max<double>(high[0], p.x);
            low[1] = std::min<double>(low[1], p.y), high[1] = std::max<double>(high[1], p.y);
        }
        posed.push_back(std::move(bent.positions));
    }
    // Whole pixels: unposed parts keep their position in the pixel grid.
    Frame frame;
    const double most_x = 1.5 * figure.width, most_y = 1.5 * figure.height;
    frame.left = std::floor(std::max(low[0], -most_x));
    frame.top = std::ceil(std::min(high[1], figure.height + most_y));
    const double right = std::ceil(std::min(high[0], figure.width + most_x));
    const double bottom = std::floor(std::max(low[1], -most_y));
    frame.width = static_cast<int>(std::min<double>(right - frame.left, kMostSide));
    frame.height = static_cast<int>(std::min<double>(frame.top - bottom, kMostSide));
    Painter painter(frame);
    for (std::size_t l = 0; l < parts.size(); ++l)
        painter.add(
            posed[l], parts[l].mesh.triangles,
            [&mesh = parts[l].mesh, &picture = figure.layers[l].picture](const Triangle& t, const double* b) {
                double u = 0, v = 0;
                for (std::size_t i = 0; i < 3; ++i) u += b[i] * mesh.uvs[t[i]][0], v += b[i] * mesh.uvs[t[i]][1];
                return sample(picture, u, v);
            });
    return painter.paint(context);
}

}  // namespace sinew
