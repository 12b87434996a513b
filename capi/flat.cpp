// A picture with transparency and bones as a character.
#include "core/try.h"
#include "handles.h"
#include "sinew/cutout.h"
#include "sinew/cutout_files.h"
#include "sinew/voxels.h"

using namespace sinew;
using namespace sinew::capi;

namespace {

Status check_size(int width, int height) {
    if (width >= 1 && height >= 1 && width <= max_pixels && height <= max_pixels) return Done{};
    return Error{ErrorCode::input, "a picture has 1 to " + std::to_string(max_pixels) + " pixels along a side"};
}

CutoutLayer layer_of(const char* path, const uint8_t* rgba, int width, int height, const void* png,
                     std::size_t png_size) {
    CutoutLayer layer;
    layer.path = path;
    layer.name = std::filesystem::path(layer.path).stem().string();
    const std::size_t size = std::size_t{4} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    layer.picture = {width, height, {rgba, rgba + size}};
    const auto* file = static_cast<const std::byte*>(png);
    layer.png.assign(file, file + png_size);
    return layer;
}

Status cut(const Result<CutoutFigure>& figure, double smoothness, snw_context* context, snw_bytes** out) {
    if (!figure) return figure.error();
    CutoutOptions options;
    options.smoothness = static_cast<float>(smoothness);
    SINEW_TRY_LET(const std::vector<CutoutPart> parts, cut_out(*figure, options, context_of(context)));
    SINEW_TRY_LET(const std::vector<std::byte> glb, io::cutout_gltf(*figure, parts, {}, true));
    *out = new_text({reinterpret_cast<const char*>(glb.data()), glb.size()});
    return Done{};
}

}  // namespace

extern "C" {

snw_status snw_cutout_glb(const uint8_t* rgba, int width, int height, const void* png, size_t png_size,
                          const char* name, const char* bones, size_t bones_size, double smoothness,
                          snw_context* context, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!rgba || !png || !bones) return missing(!rgba ? "rgba" : !png ? "png" : "bones");
    return guarded([&]() -> Status {
        SINEW_TRY(check_size(width, height));
        CutoutLayer layer = layer_of(name ? name : "picture.png", rgba, width, height, png, png_size);
        return cut(io::parse_cutout({bones, bones_size}, "bones", std::move(layer)), smoothness, context, out);
    });
}

snw_status snw_cutout_layers_glb(const snw_picture* pictures, size_t count, const char* name, const char* bones,
                                 size_t bones_size, double smoothness, snw_context* context, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if ((!pictures && count) || !bones) return missing(!bones ? "bones" : "pictures");
    for (size_t i = 0; i < count; ++i) {
        const snw_picture& p = pictures[i];
        if (!p.path || !p.rgba || !p.png) return missing(!p.path ? "path" : !p.rgba ? "rgba" : "png");
    }
    return guarded([&]() -> Status {
        std::vector<CutoutLayer> layers;
        for (size_t i = 0; i < count; ++i) {
            const snw_picture& p = pictures[i];
            SINEW_TRY(check_size(p.width, p.height));
            layers.push_back(layer_of(p.path, p.rgba, p.width, p.height, p.png, p.png_size));
        }
        return cut(io::parse_layers({bones, bones_size}, name ? name : "bones", layers), smoothness, context, out);
    });
}

}  // extern "C"
