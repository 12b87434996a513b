// PNG through stb_image_write.

#include <climits>
#include <cstring>

#include "sinew/render.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
#include <stb/stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace sinew {

Result<std::vector<std::byte>> encode_png(const Image& image) {
    const std::size_t row = static_cast<std::size_t>(image.width) * 3;
    if (image.width < 1 || image.height < 1 || image.rgb.size() != row * static_cast<std::size_t>(image.height))
        return Error{ErrorCode::usage, "image: " + std::to_string(image.rgb.size()) + " bytes are not " +
                                           std::to_string(image.width) + " x " + std::to_string(image.height) +
                                           " pixels of three bytes"};
    // The encoder counts bytes in int.
    if (image.rgb.size() + static_cast<std::size_t>(image.height) > INT_MAX / 2)
        return Error{ErrorCode::too_large, "image: " + std::to_string(image.width) + " x " +
                                               std::to_string(image.height) + " pixels are too many for a PNG"};
    std::vector<std::byte> out;
    const auto append = [](void* context, void* data, int size) {
        auto& bytes = *static_cast<std::vector<std::byte>*>(context);
        const auto* from = static_cast<const std::byte*>(data);
        bytes.insert(bytes.end(), from, from + size);
    };
    if (!stbi_write_png_to_func(append, &out, image.width, image.height, 3, image.rgb.data(), 0))
        return Error{ErrorCode::too_large, "image: out of memory while writing a PNG"};
    return out;
}

}  // namespace sinew
