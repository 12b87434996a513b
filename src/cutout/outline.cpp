// From a picture to a flat mesh: mask, contour, simplification, points inside, triangles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "cutout/contour.h"
#include "sinew/cutout.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

/// Distance to the loops, for points up to the width of a cell away.
class NearLoops {
public:
    NearLoops(const std::vector<GridLoop>& loops, double reach)
        : cell_(std::max<std::int32_t>(1, static_cast<std::int32_t>(std::ceil(reach)))) {
        for (const GridLoop& loop : loops)
            for (std::size_t k = 0; k < loop.size(); ++k) {
                const GridPoint &p = loop[k], &q = loop[(k + 1) % loop.size()];
                for (std::int32_t y = std::min(p.y, q.y) / cell_; y <= std::max(p.y, q.y) / cell_; ++y)
                    for (std::int32_t x = std::min(p.x, q.x) / cell_; x <= std::max(p.x, q.x) / cell_; ++x)
                        segments_.push_back({key(x, y), p, q});
            }
        std::stable_sort(segments_.begin(), segments_.end(),
                         [](const Entry& a, const Entry& b) { return a.key < b.key; });
    }

    bool within(const GridPoint& p, double reach) const {
        for (std::int32_t y = p.y / cell_ - 1; y <= p.y / cell_ + 1; ++y)
            for (std::int32_t x = p.x / cell_ - 1; x <= p.x / cell_ + 1; ++x) {
                auto at = std::lower_bound(segments_.begin(), segments_.end(), key(x, y),
                                           [](const Entry& e, std::uint64_t k) { return e.key < k; });
                for (; at != segments_.end() && at->key == key(x, y); ++at) {
                    const double ux = at->b.x - at->a.x, uy = at->b.y - at->a.y;
                    const double vx = p.x - at->a.x, vy = p.y - at->a.y;
                    const double t = std::clamp((ux * vx + uy * vy) / (ux * ux + uy * uy), 0.0, 1.0);
                    if (std::hypot(vx - t * ux, vy - t * uy) < reach) return true;
                }
            }
        return false;
    }

private:
    struct Entry {
        std::uint64_t key;
        GridPoint a, b;
    };
    static std::uint64_t key(std::int32_t x, std::int32_t y) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(y + 1)) << 32 |
               static_cast<std::uint32_t>(x + 1);
    }
    std::int32_t cell_;
    std::vector<Entry> segments_;
};

/// Long segments are divided evenly, so that the outline bends with the interior.
std::vector<GridLoop> divide(const std::vector<GridLoop>& loops, double spacing) {
    std::vector<GridLoop> out;
    for (const GridLoop& loop : loops) {
        GridLoop fine;
        for (std::size_t k = 0; k < loop.size(); ++k) {
            const GridPoint &p = loop[k], &q = loop[(k + 1) % loop.size()];
            const double dx = q.x - p.x, dy = q.y - p.y;
            const int pieces = std::max(1, static_cast<int>(std::round(std::hypot(dx, dy) / spacing)));
            for (int i = 0; i < pieces; ++i)
                fine.push_back({static_cast<std::int32_t>(std::lround(p.x + dx * i / pieces)),
                                static_cast<std::int32_t>(std::lround(p.y + dy * i / pieces))});
        }
        out.push_back(std::move(fine));
    }
    return out;
}

/// The corners of equilateral triangles, inside and not near the outline. Row by row, in alternating directions.
std::vector<GridPoint> lattice_points(const PixelMask& mask, const std::vector<GridLoop>& loops, double spacing) {
    const NearLoops near(loops, spacing);
    std::vector<GridPoint> out;
    const double row = spacing * std::sqrt(0.75);
    bool back = false;
    int number = 0;
    for (double y = row / 2; y < mask.height * grid_units; y += row, ++number) {
        const std::size_t first = out.size();
        for (double x = number % 2 ? spacing : spacing / 2; x < mask.width * grid_units; x += spacing) {
            const GridPoint p{static_cast<std::int32_t>(std::lround(x)), static_cast<std::int32_t>(std::lround(y))};
            const int u = std::min(p.x / grid_units, mask.width - 1),
                      v = std::min(p.y / grid_units, mask.height - 1);
            if (!mask.inside[static_cast<std::size_t>(v) * mask.width + u]) continue;
            if (!near.within(p, 0.62 * spacing)) out.push_back(p);
        }
        if (back) std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
        back = !back;
    }
    return out;
}

void measure(OutlineMesh& mesh) {
    OutlineReport& report = mesh.report;
    report.smallest_angle = 180;
    for (const Triangle& t : mesh.triangles) {
        double least = 180, area = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const Vec3 &a = mesh.positions[t[k]], &b = mesh.positions[t[(k + 1) % 3]],
                       &c = mesh.positions[t[(k + 2) % 3]];
            const double ux = double{b.x} - a.x, uy = double{b.y} - a.y, vx = double{c.x} - a.x,
                         vy = double{c.y} - a.y;
            area = 0.5 * (ux * vy - uy * vx);
            least = std::min(least, std::atan2(2 * area, ux * vx + uy * vy) * 180 / std::numbers::pi);
        }
        report.area += area;
        report.smallest_angle = std::min(report.smallest_angle, least);
        report.small_angles += least < 20;
    }
}

}  // namespace

Status check(const OutlineOptions& o) {
    auto refuse = [](const char* what, float value, const char* range) -> Status {
        return Error{ErrorCode::usage, std::string(what) + " " + shortest_text(value) + " is not " + range};
    };
    if (!(o.alpha > 0 && o.alpha <= 1)) return refuse("the alpha threshold", o.alpha, "above 0 and at most 1");
    if (!(o.tolerance >= 0 && o.tolerance <= 64))
        return refuse("the outline's tolerance", o.tolerance, "within 0..64 pixels");
    if (!(o.spacing == 0 || (o.spacing >= 2 && o.spacing <= max_pixels)))
        return refuse("the spacing", o.spacing, "within 2..4096 pixels (or 0: chosen)");
    if (o.least_area < 0)
        return Error{ErrorCode::usage, "the minimum area " + shortest_text(o.least_area) + " is below 0"};
    return Done{};
}

Result<OutlineMesh> outline_mesh(const RgbaImage& picture, const OutlineOptions& options, Context* context) {
    SINEW_TRY(check(options));
    if (picture.width < 1 || picture.height < 1 || picture.width > max_pixels || picture.height > max_pixels ||
        picture.rgba.size() != static_cast<std::size_t>(picture.width) * picture.height * 4)
        return Error{ErrorCode::usage, "a picture of " + std::to_string(picture.width) + " x " +
                                           std::to_string(picture.height) + " pixels with " +
                                           std::to_string(picture.rgba.size()) +
                                           " bytes: each side must have 1 to " + std::to_string(max_pixels) +
                                           " pixels of four bytes"};
    OutlineMesh mesh;
    mesh.mask = figure_mask(picture, options, mesh.report);
    if (mesh.report.pixels == 0)
        return Error{ErrorCode::input,
                     mesh.report.dropped_islands
                         ? "all " + std::to_string(mesh.report.dropped_islands) +
                               " islands of the picture are smaller than the minimum area of " +
                               shortest_text(options.least_area) + " pixels (lower it)"
                         : "no pixel of the picture is opaque enough for the alpha threshold (lower it)"};
    report_progress(context, "outline", 0);
    const std::vector<GridLoop> exact = contour(picture, mesh.mask, options.alpha);
    for (const GridLoop& loop : exact) mesh.report.contour_points += loop.size();
    // The memory is known only now: noise has a long contour.
    const std::size_t need = mesh.report.contour_points * 200;
    if (context && context->memory_limit && need > context->memory_limit)
        return Error{ErrorCode::too_large, "its outline has " + std::to_string(mesh.report.contour_points) +
                                               " points and may need " + std::to_string(need >> 20) +
                                               " MB, more than the limit of " +
                                               std::to_string(context->memory_limit >> 20) +
                                               " MB (raise the minimum area to leave out specks)"};

    const double spacing =
        grid_units * (options.spacing > 0 ? static_cast<double>(options.spacing)
                                          : std::max(4.0, std::max(picture.width, picture.height) / 24.0));
    TriangulateOptions how;
    how.spacing = 0.9 * spacing;
    how.least_edge = grid_units;
    // A thin ring may lie within the tolerance of itself; then the tolerance was too coarse.
    Triangulation made;
    for (double tolerance = grid_units * static_cast<double>(options.tolerance);;
         tolerance = tolerance > 8 ? tolerance / 4 : 0) {
        if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while outlining the picture"};
        const std::vector<GridLoop> loops = divide(simplify(exact, tolerance), spacing);
        made = triangulate(loops, lattice_points(mesh.mask, loops, spacing), how, context);
        if (made.sound || tolerance == 0) break;
    }
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while outlining the picture"};
    if (!made.sound) return Error{ErrorCode::internal, "the outline of the picture crosses itself"};

    for (const GridPoint& p : made.points) {
        const float x = static_cast<float>(p.x) / grid_units, y = static_cast<float>(p.y) / grid_units;
        mesh.positions.push_back({x, y, 0});
        mesh.uvs.push_back({x / static_cast<float>(picture.width), 1 - y / static_cast<float>(picture.height)});
    }
    mesh.triangles = std::move(made.triangles);
    mesh.loops = std::move(made.loop_sizes);
    std::size_t first = 0;
    for (const std::uint32_t n : mesh.loops) {
        double area = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const Vec3 &p = mesh.positions[first + k], &q = mesh.positions[first + (k + 1) % n];
            area += double{p.x} * q.y - double{q.x} * p.y;
        }
        ++(area > 0 ? mesh.report.islands : mesh.report.holes);
        first += n;
    }
    measure(mesh);
    report_progress(context, "outline", 1);
    return mesh;
}

}  // namespace sinew
