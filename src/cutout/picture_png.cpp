// PNG through libpng's simplified interface: it converts all files to 8 bits and sRGB, and reports errors without
// longjmp.

#include <png.h>

#include <climits>
#include <cstring>

#include "sinew/cutout.h"
#include "sinew/render.h"
#include "sinew/voxels.h"

namespace sinew {

Result<RgbaImage> decode_png(std::span<const std::byte> bytes, const std::string& name, Context* context) {
    png_image image;
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    const auto refuse = [&](const char* what) {
        Error error{ErrorCode::input,
                    name + ": " + what + (image.message[0] ? std::string(": ") + image.message : "")};
        png_image_free(&image);
        return error;
    };
    if (bytes.size() < 8 || png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, 8) != 0)
        return refuse("is not a PNG (other pictures must be converted first)");
    if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size())) return refuse("is a damaged PNG");
    if (image.width > static_cast<unsigned>(max_pixels) || image.height > static_cast<unsigned>(max_pixels)) {
        const std::string size = std::to_string(image.width) + " x " + std::to_string(image.height);
        png_image_free(&image);
        return Error{ErrorCode::input, name + ": " + size + " pixels: more than " + std::to_string(max_pixels) +
                                           " along a side (scale it down)"};
    }
    image.format = PNG_FORMAT_RGBA;
    RgbaImage picture;
    picture.width = static_cast<int>(image.width);
    picture.height = static_cast<int>(image.height);
    const std::size_t size = static_cast<std::size_t>(image.width) * image.height * 4;
    if (context && context->memory_limit && 2 * size > context->memory_limit) {
        png_image_free(&image);
        return Error{ErrorCode::too_large, name + ": its " + std::to_string(picture.width) + " x " +
                                               std::to_string(picture.height) + " pixels need " +
                                               std::to_string(2 * size >> 20) + " MB, more than the limit of " +
                                               std::to_string(context->memory_limit >> 20) + " MB"};
    }
    picture.rgba.resize(size);
    if (!png_image_finish_read(&image, nullptr, picture.rgba.data(), 0, nullptr)) return refuse("is a damaged PNG");
    png_image_free(&image);
    return picture;
}

namespace {

Result<std::vector<std::byte>> encode(const std::vector<std::uint8_t>& pixels, int width, int height,
                                      int channels) {
    const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
    if (width < 1 || height < 1 || pixels.size() != static_cast<std::size_t>(width) * height * channels)
        return Error{ErrorCode::usage, "picture: " + std::to_string(pixels.size()) + " bytes are not " + size +
                                           " of " + std::to_string(channels) + " bytes"};
    // libpng counts bytes in 32 bits.
    if (pixels.size() > INT_MAX / 2)
        return Error{ErrorCode::too_large, "picture: " + size + " are too many for a PNG"};
    png_image image;
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width);
    image.height = static_cast<png_uint_32>(height);
    image.format = channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    std::vector<std::byte> out(PNG_IMAGE_PNG_SIZE_MAX(image));
    png_alloc_size_t used = out.size();
    const bool done = png_image_write_to_memory(&image, out.data(), &used, 0, pixels.data(), 0, nullptr);
    const std::string message = image.message;
    png_image_free(&image);
    if (!done) return Error{ErrorCode::internal, "picture: cannot be encoded: " + message};
    out.resize(used);
    return out;
}

}  // namespace

Result<std::vector<std::byte>> encode_png(const RgbaImage& picture) {
    return encode(picture.rgba, picture.width, picture.height, 4);
}
Result<std::vector<std::byte>> encode_png(const Image& image) {
    return encode(image.rgb, image.width, image.height, 3);
}

}  // namespace sinew
