// Every layer of a figure: outline, mask, weights.
#include "sinew/cutout.h"

#include <algorithm>
#include <cmath>

#include "core/geometry.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "sinew/bind.h"

namespace sinew {
namespace {

/// In the canvas: the lower left corner of a layer's picture.
std::array<double, 2> corner(const CutoutFigure& figure, const CutoutLayer& layer) {
    return {layer.offset[0], figure.height - layer.offset[1] - layer.picture.height};
}

Error in_layer(const CutoutLayer& layer, const Error& error) {
    return {error.code, "layer '" + printable(layer.name) + "': " + error.message};
}

/// Contour and triangles: what outline_mesh needs besides the picture itself.
std::size_t outline_memory(const RgbaImage& picture) {
    return static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 12;
}

}  // namespace

Status check(const CutoutOptions& options) {
    SINEW_TRY(check(options.outline));
    SINEW_TRY(check(options.finish));
    if (!(options.smoothness >= 0 && options.smoothness <= 16384))
        return Error{ErrorCode::usage,
                     "smoothness " + shortest_text(options.smoothness) + " is not within 0..16384 pixels"};
    return Done{};
}

Result<std::vector<CutoutPart>> cut_out(const CutoutFigure& figure, const CutoutOptions& options,
                                        Context* context) {
    SINEW_TRY(check(options));
    if (figure.layers.empty()) return Error{ErrorCode::input, "the figure has no layer"};
    const std::size_t joints = figure.skeleton.joints.size();
    if (!figure.smoothness.empty() && figure.smoothness.size() != joints)
        return Error{ErrorCode::usage, "smoothness is given for " + std::to_string(figure.smoothness.size()) +
                                           " joints of " + std::to_string(joints)};
    const float smoothness = options.smoothness > 0
                                 ? options.smoothness
                                 : 0.03f * static_cast<float>(std::max(figure.width, figure.height));
    std::vector<CutoutPart> parts;
    for (const CutoutLayer& layer : figure.layers) {
        if (context && context->memory_limit && outline_memory(layer.picture) > context->memory_limit)
            return in_layer(
                layer, {ErrorCode::too_large,
                        "its outline may need " + std::to_string(outline_memory(layer.picture) >> 20) +
                            " MB, more than the limit of " + std::to_string(context->memory_limit >> 20) + " MB"});
        CutoutPart part;
        Result<OutlineMesh> outline = outline_mesh(layer.picture, options.outline, context);
        if (!outline) return in_layer(layer, outline.error());
        part.mesh = std::move(*outline);
        OutlineMesh& mesh = part.mesh;
        const std::array<double, 2> at = corner(figure, layer);
        mesh.mask.origin[0] = at[0];
        mesh.mask.origin[1] = at[1];
        for (Vec3& p : mesh.positions) p = {static_cast<float>(p.x + at[0]), static_cast<float>(p.y + at[1]), 0};

        BindOptions bind_options = preset(Method::pixel_geodesic);
        bind_options.mask = &mesh.mask;
        bind_options.neighbours = options.neighbours;
        bind_options.one_pixel = options.one_pixel;
        bind_options.finish = options.finish;
        const float unit = static_cast<float>(box_of(mesh.positions).longest());
        bind_options.falloff.smoothness = smoothness / unit;
        const bool own = std::any_of(figure.smoothness.begin(), figure.smoothness.end(),
                                     [](float value) { return !std::isnan(value); });
        if (own)
            for (const float value : figure.smoothness) bind_options.falloff.map.of_joint.push_back(value / unit);

        Skeleton skeleton = figure.skeleton;
        skeleton.skins = {layer.joints};
        const std::vector<std::uint32_t> skin(mesh.positions.size(), 0);
        Result<Binding> binding = bind({mesh.positions, mesh.triangles, skin}, skeleton, bind_options, context);
        if (!binding) return in_layer(layer, binding.error());
        Result<SkinWeights> weights = binding->weights(context);
        if (!weights) return in_layer(layer, weights.error());
        part.weights = std::move(*weights);
        part.binding = std::make_shared<const Binding>(std::move(*binding));

        // Joints of other layers are normally outside this one.
        const auto acts = [&](std::uint32_t j) {
            return std::binary_search(layer.joints.begin(), layer.joints.end(), j);
        };
        for (const std::uint32_t j : part.binding->report().snapped_joints)
            if (acts(j))
                part.warnings.push_back("layer '" + printable(layer.name) + "': bone '" +
                                        printable(skeleton.joints[j].name) +
                                        "' lies outside the outline; it starts from the nearest pixel");
        const OutlineReport& r = mesh.report;
        if (r.pixels ==
            static_cast<std::size_t>(layer.picture.width) * static_cast<std::size_t>(layer.picture.height))
            part.warnings.push_back("layer '" + printable(layer.name) +
                                    "': every pixel is opaque, so the whole rectangle is the "
                                    "figure; make the background transparent");
        if (r.dropped_islands)
            part.warnings.push_back("layer '" + printable(layer.name) + "': " + std::to_string(r.dropped_islands) +
                                    " islands of " + std::to_string(r.dropped_pixels) +
                                    " pixels in all are smaller than the minimum area and were left out");
        parts.push_back(std::move(part));
    }
    return parts;
}

}  // namespace sinew
