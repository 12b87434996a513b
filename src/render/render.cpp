// A picture from its panels: frames, layout, figures, titles and legends.

#include "sinew/render.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/try.h"
#include "render/draw.h"
#include "render/figure.h"
#include "render/layout.h"
#include "render/oklab.h"
#include "render/text.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

struct Colours {
    Rgb background, text, quiet, line;
};
constexpr Colours kLight{{247, 247, 245}, {38, 40, 44}, {112, 114, 118}, {60, 62, 66}};
constexpr Colours kDark{{30, 32, 36}, {228, 228, 230}, {150, 152, 156}, {220, 220, 222}};

constexpr double kMargin = 0.04;  // of a panel, on each side of its figure

Error usage(std::string message) { return {ErrorCode::usage, "picture: " + std::move(message)}; }

Status check_paint(const Panel& panel, const std::string& where) {
    const Paint& paint = *panel.paint;
    const std::size_t v = panel.positions.size();
    const int ways = !paint.colours.empty() + !paint.values.empty() + !paint.pieces.empty();
    if (ways > 1) return usage(where + ": a paint has colours, values or pieces, not several of them");
    for (const std::size_t n : {paint.colours.size(), paint.values.size()})
        if (n != 0 && n != v)
            return usage(where + ": a paint of " + std::to_string(n) + " vertices does not fit a surface of " +
                         std::to_string(v));
    for (const Paint::Piece& piece : paint.pieces)
        if (piece.triangle >= panel.triangles.size())
            return usage(where + ": a piece of the paint is on triangle " + std::to_string(piece.triangle) +
                         ", but the surface has " + std::to_string(panel.triangles.size()));
    for (const Paint::Line& line : paint.lines)
        if (std::max(line.from, line.to) >= v)
            return usage(where + ": a line of the paint ends at vertex " +
                         std::to_string(std::max(line.from, line.to)) + ", but the surface has " +
                         std::to_string(v));
    if (!paint.values.empty() && !(paint.legend.low < paint.legend.high && std::isfinite(paint.legend.low) &&
                                   std::isfinite(paint.legend.high)))
        return usage(where + ": the legend of values needs low < high");
    return Done{};
}

Status check_panel(const Panel& panel, std::size_t index) {
    const std::string where = "panel " + std::to_string(index);
    for (const double m : panel.transform.m)
        if (!std::isfinite(m)) return usage(where + ": the transform is not finite");
    if (!std::isfinite(panel.from.yaw) || !std::isfinite(panel.from.pitch))
        return usage(where + ": the viewpoint is not finite");
    if (panel.focus && !(panel.focus->radius > 0 && std::isfinite(panel.focus->radius)))
        return usage(where + ": the radius of the focus must be positive");
    for (const Bone& bone : panel.bones)
        for (const float c : {bone.head.x, bone.head.y, bone.head.z, bone.tail.x, bone.tail.y, bone.tail.z})
            if (!std::isfinite(c))
                return usage(where + ": a bone of joint " + std::to_string(bone.joint) + " is not finite");
    if (panel.voxels) {
        const VoxelGrid* grid = panel.voxels->grid;
        if (!grid || grid->boundary.resolution() < 1 || grid->interior.resolution() != grid->boundary.resolution())
            return usage(where + ": voxels need a grid with boundary and interior");
        for (std::size_t k = 0; k < 3; ++k)
            if (!(panel.voxels->cut_from[k] >= 0 && panel.voxels->cut_to[k] <= 1 &&
                  panel.voxels->cut_from[k] < panel.voxels->cut_to[k]))
                return usage(where + ": a cut must leave something between 0 and 1");
        return Done{};
    }
    if (Status ok = check_mesh({panel.positions, panel.triangles, {}}); !ok)
        return usage(where + ": " + ok.error().message);
    return panel.paint ? check_paint(panel, where) : Status(Done{});
}

/// The frames of all panels, and the size that the layout is made for.
struct Frames {
    std::vector<Extent> own, shown;  // everything in a panel, and the part that it is framed on
    double width = 0, height = 0;    // of the largest
};

Frames make_frames(const Picture& picture) {
    Frames frames;
    for (const Panel& panel : picture.panels) frames.own.push_back(extent_of(panel));
    frames.shown = frames.own;
    for (std::size_t i = 0; i < picture.panels.size(); ++i) {
        const Panel& panel = picture.panels[i];
        if (panel.focus) {
            const Eye eye = eye_at(panel.from);
            const double c[3] = {panel.focus->centre.x, panel.focus->centre.y, panel.focus->centre.z};
            const std::array<double, 3>* axis[3] = {&eye.right, &eye.up, &eye.back};
            for (std::size_t k = 0; k < 3; ++k) {
                const double middle = (*axis[k])[0] * c[0] + (*axis[k])[1] * c[1] + (*axis[k])[2] * c[2];
                frames.shown[i].low[k] = middle - panel.focus->radius;
                frames.shown[i].high[k] = middle + panel.focus->radius;
            }
            continue;
        }
        // Figures seen from the same side have a common ground.
        if (picture.same_scale)
            for (std::size_t k = 0; k < picture.panels.size(); ++k) {
                const Viewpoint &a = panel.from, &b = picture.panels[k].from;
                if (!picture.panels[k].focus && a.yaw == b.yaw && a.pitch == b.pitch)
                    frames.shown[i].add(frames.own[k]);
            }
    }
    for (const Extent& e : frames.shown) {
        frames.width = std::max(frames.width, e.width());
        frames.height = std::max(frames.height, e.height());
    }
    // A flat or empty thing still needs a frame.
    const double least = std::max({frames.width, frames.height, 1e-30}) * 1e-3;
    frames.width = std::max(frames.width, least);
    frames.height = std::max(frames.height, least);
    return frames;
}

double fit(const Extent& frame, const Box& box) {
    const double w = std::max(frame.width(), 1e-30), h = std::max(frame.height(), 1e-30);
    return (1 - 2 * kMargin) * std::min(box.width / w, box.height / h);
}

std::string grouped(std::size_t n) {
    std::string s = std::to_string(n);
    for (int at = static_cast<int>(s.size()) - 3; at > 0; at -= 3) s.insert(static_cast<std::size_t>(at), " ");
    return s;
}

/// Legend entries for panels of one resolution: one number if the counts are equal, else one per panel, in
/// order.
Legend voxel_legend(const std::vector<const VoxelFaces*>& panels, int resolution) {
    Legend legend;
    legend.title = "voxels at resolution " + std::to_string(resolution);
    constexpr const char* names[kVoxelKinds] = {"boundary", "interior", "ambiguous, inside by winding number",
                                                "ambiguous, outside", "bone"};
    for (std::size_t k = 0; k < kVoxelKinds; ++k) {
        std::string numbers;
        bool any = false, alike = true;
        for (const VoxelFaces* faces : panels) {
            any |= faces->shown[k] > 0;
            alike &= faces->shown[k] == panels[0]->shown[k];
            numbers += (numbers.empty() ? "" : " / ") + grouped(faces->shown[k]);
        }
        if (any)
            legend.entries.push_back(
                {names[k] + std::string(", ") + (alike ? grouped(panels[0]->shown[k]) : numbers),
                 voxel_colour(static_cast<VoxelKind>(k))});
    }
    return legend;
}

/// Merges a legend with those that exist: names under one title form one legend.
void merge_legend(std::vector<std::pair<Legend, bool>>& legends, const Legend& legend, bool zero_is_plain) {
    const bool bar = legend.low < legend.high;
    if (!bar && legend.entries.empty()) return;
    for (auto& known : legends) {
        if (known.first == legend && known.second == zero_is_plain) return;
        if (bar || known.first.low < known.first.high || known.first.title != legend.title) continue;
        for (const Legend::Entry& e : legend.entries)
            if (std::find(known.first.entries.begin(), known.first.entries.end(), e) == known.first.entries.end())
                known.first.entries.push_back(e);
        return;
    }
    legends.emplace_back(legend, zero_is_plain);
}

void fill(Image& image, const Box& box, Rgb colour) {
    for (int y = std::max(0, box.y); y < std::min(image.height, box.bottom()); ++y)
        for (int x = std::max(0, box.x); x < std::min(image.width, box.right()); ++x) {
            std::uint8_t* p = &image.rgb[3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                              static_cast<std::size_t>(x))];
            p[0] = colour.r, p[1] = colour.g, p[2] = colour.b;
        }
}

void draw_bar(Image& image, const BarItem& bar, const Colours& colours, double size) {
    const Box& b = bar.box;
    const int line = std::max(1, static_cast<int>(size / 14));
    const int length = bar.upright ? b.height : b.width;
    for (int i = 0; i < length; ++i) {
        const Rgb c = ramp_colour(bar.ramp, (i + 0.5) / length);
        fill(image, bar.upright ? Box{b.x, b.bottom() - 1 - i, b.width, 1} : Box{b.x + i, b.y, 1, b.height}, c);
    }
    const int tick = std::max(2, static_cast<int>(size * 0.4));
    for (const int at : bar.marks)
        fill(image,
             bar.upright ? Box{b.right(), std::min(at, b.bottom() - line), tick, line}
                         : Box{std::min(at, b.right() - line), b.bottom(), line, tick},
             colours.line);
    if (bar.plain_end) {
        const int edge = bar.upright ? b.width : b.height;
        const Box swatch = bar.upright ? Box{b.x, b.bottom() + static_cast<int>(1.2 * size), edge, edge}
                                       : Box{b.x - static_cast<int>(3.7 * size), b.y, edge, edge};
        fill(image, swatch, plain_colour());
    }
}

/// The voxel faces of a panel that look towards the viewer, and the six directions of faces.
struct PanelVoxels {
    VoxelFaces faces;
    std::array<std::array<double, 3>, 6> directions{};
};

Result<std::vector<PanelVoxels>> find_voxel_faces(const Picture& picture, Context* context) {
    std::vector<PanelVoxels> out(picture.panels.size());
    for (std::size_t i = 0; i < picture.panels.size(); ++i) {
        const Panel& panel = picture.panels[i];
        if (!panel.voxels) continue;
        const Placement unscaled = place(panel, Extent{{0, 0, 0}, {0, 0, 0}}, {}, 1);
        std::array<bool, 6> seen;
        for (std::size_t d = 0; d < 6; ++d) {
            std::array<double, 3> n;
            for (std::size_t r = 0; r < 3; ++r) n[r] = (d % 2 ? 1 : -1) * unscaled.normal(d / 2)[r];
            out[i].directions[d] = n;
            seen[d] = n[2] > 1e-6;
        }
        out[i].faces = voxel_faces(*panel.voxels, seen, context);
        if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while drawing"};
    }
    return out;
}

/// The legends of all panels, each once. Panels of voxels of one resolution share one.
std::vector<std::pair<Legend, bool>> make_legends(const Picture& picture, const std::vector<PanelVoxels>& voxels) {
    std::vector<std::pair<Legend, bool>> legends;
    if (!picture.legend) return legends;
    const auto resolution_of = [](const Panel& p) { return p.voxels->grid->transform.resolution; };
    for (const Panel& panel : picture.panels) {
        if (panel.voxels) {
            std::vector<const VoxelFaces*> alike;
            for (std::size_t k = 0; k < picture.panels.size(); ++k)
                if (picture.panels[k].voxels && resolution_of(picture.panels[k]) == resolution_of(panel))
                    alike.push_back(&voxels[k].faces);
            merge_legend(legends, voxel_legend(alike, resolution_of(panel)), false);
        } else if (panel.paint) {
            merge_legend(legends, panel.paint->legend, panel.paint->zero_is_plain);
        }
    }
    return legends;
}

/// The contents of a panel, in pixels. Moves the faces out of `voxels`. `shown` and `own`: the extent of the
/// picture's frame, and of the panel's own contents.
Figure make_figure(const Panel& panel, const Box& box, const Extent& shown, const Extent& own, double scale,
                   PanelVoxels& voxels, Context* context) {
    const Placement placement = place(panel, shown, box, scale);
    const double smallest = std::max(1.1, std::min(box.width, box.height) / 260.0);
    Figure figure;
    figure.paint = panel.voxels ? nullptr : panel.paint;
    if (panel.voxels) {
        figure.faces = std::move(voxels.faces.faces);
        figure.directions = voxels.directions;
        const GridTransform& t = panel.voxels->grid->transform;
        for (std::size_t r = 0; r < 3; ++r) {
            figure.voxel_to_pixel[4 * r + 3] = placement.m[4 * r + 3];
            for (std::size_t k = 0; k < 3; ++k) {
                figure.voxel_to_pixel[4 * r + k] = placement.m[4 * r + k] * t.voxel;
                figure.voxel_to_pixel[4 * r + 3] += placement.m[4 * r + k] * t.origin[k];
            }
        }
    } else {
        figure.skin = surface_corners(panel, placement, context);
        figure.lines = line_corners(panel, placement, 1.5 * smallest);
    }
    figure.bones = bone_corners(panel, placement, smallest);
    const double middle = (shown.low[2] + shown.high[2]) / 2, pad = 12 * smallest;
    figure.near_z = scale * (own.high[2] - middle) + pad;
    figure.far_z = scale * (own.low[2] - middle) - pad;
    figure.occlusion = std::clamp(0.05 * std::min(box.width, box.height), 3.0, 90.0);
    return figure;
}

Status check_picture(const Picture& picture) {
    if (std::min(picture.width, picture.height) < Picture::min_side ||
        std::max(picture.width, picture.height) > Picture::max_side)
        return usage("a size of " + std::to_string(picture.width) + " x " + std::to_string(picture.height) +
                     " is not within " + std::to_string(Picture::min_side) + " to " +
                     std::to_string(Picture::max_side) + " pixels");
    if (picture.panels.empty()) return usage("there is no panel to draw");
    if (picture.columns < 0) return usage("columns must not be negative");
    for (std::size_t i = 0; i < picture.panels.size(); ++i) SINEW_TRY(check_panel(picture.panels[i], i));
    return Done{};
}

}  // namespace

Result<Image> render(const Picture& picture, Context* context) {
    SINEW_TRY(check_picture(picture));
    SINEW_TRY_LET(Painter painter, Painter::create());
    Result<std::vector<PanelVoxels>> voxels = find_voxel_faces(picture, context);  // the legend counts them
    if (!voxels) return voxels.error();
    const std::vector<std::pair<Legend, bool>> legends = make_legends(picture, *voxels);
    std::vector<LegendOf> legend_of;
    for (const auto& [legend, zero_is_plain] : legends) legend_of.push_back({&legend, zero_is_plain});
    const Frames frames = make_frames(picture);
    const Layout layout = lay_out(picture, legend_of, frames.width, frames.height, text_width);
    const Colours& colours = picture.background == Background::dark ? kDark : kLight;

    Image image;
    image.width = picture.width;
    image.height = picture.height;
    image.rgb.resize(3 * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
    fill(image, {0, 0, image.width, image.height}, colours.background);
    double common_scale = INFINITY;
    for (std::size_t i = 0; i < picture.panels.size(); ++i)
        if (!picture.panels[i].focus) common_scale = std::min(common_scale, fit(frames.shown[i], layout.panels[i]));
    for (std::size_t i = 0; i < picture.panels.size(); ++i) {
        if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while drawing"};
        report_progress(context, "drawing", static_cast<double>(i) / static_cast<double>(picture.panels.size()));
        const Panel& panel = picture.panels[i];
        const Box& box = layout.panels[i];
        const bool own_scale = panel.focus || !picture.same_scale;
        const double scale = own_scale ? fit(frames.shown[i], box) : common_scale;
        const Figure figure = make_figure(panel, box, frames.shown[i], frames.own[i], scale, (*voxels)[i], context);
        SINEW_TRY(painter.draw(figure, box, colours.background, image, context));
    }
    report_progress(context, "drawing", 1);
    for (const BarItem& bar : layout.bars) draw_bar(image, bar, colours, layout.text_size);
    for (const SwatchItem& swatch : layout.swatches) fill(image, swatch.box, swatch.colour);
    for (const TextItem& text : layout.texts)
        draw_text(image, text.text, text.x, text.y, text.size, text.quiet ? colours.quiet : colours.text);
    return image;
}

}  // namespace sinew
