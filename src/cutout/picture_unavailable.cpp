// Replaces picture_png.cpp in a build without libpng.
#include "sinew/cutout.h"

namespace sinew {

Result<RgbaImage> decode_png(std::span<const std::byte>, const std::string& name, Context*) {
    return Error{ErrorCode::input, name + ": this build of sinew reads no PNG (use the command line)"};
}

Result<std::vector<std::byte>> encode_png(const RgbaImage&) {
    return Error{ErrorCode::io, "this build of sinew writes no PNG: it was made without libpng"};
}

}  // namespace sinew
