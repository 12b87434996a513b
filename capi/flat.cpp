// A picture with transparency and bones as a character.
#include "handles.h"
#include "sinew/cutout.h"

using namespace sinew;
using namespace sinew::capi;

extern "C" {

snw_status snw_cutout_glb(const uint8_t* rgba, int width, int height, const void* png, size_t png_size,
                          const char* name, const char* bones, size_t bones_size, double smoothness,
                          snw_context* context, snw_bytes** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!rgba || !png || !bones) return missing(!rgba ? "rgba" : !png ? "png" : "bones");
    if (width < 1 || height < 1 || width > most_pixels || height > most_pixels)
        return fail(
            {ErrorCode::input, "a picture has 1 to " + std::to_string(most_pixels) + " pixels along a side"});
    return guarded([&] {
        CutoutLayer layer;
        layer.path = name ? name : "picture.png";
        layer.name = std::filesystem::path(layer.path).stem().string();
        const std::size_t size =
            std::size_t{4} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
        layer.picture = {width, height, {rgba, rgba + size}};
        const auto* file = static_cast<const std::byte*>(png);
        layer.png.assign(file, file + png_size);
        const Result<CutoutFigure> figure = io::parse_cutout({bones, bones_size}, "bones", std::move(layer));
        if (!figure) return fail(figure.error());
        CutoutOptions options;
        options.smoothness = static_cast<float>(smoothness);
        const Result<std::vector<CutoutPart>> parts = cut_out(*figure, options, context_of(context));
        if (!parts) return fail(parts.error());
        const Result<std::vector<std::byte>> glb = io::cutout_gltf(*figure, *parts, {}, true);
        if (!glb) return fail(glb.error());
        *out = new_text({reinterpret_cast<const char*>(glb->data()), glb->size()});
        return SNW_OK;
    });
}

}  // extern "C"
