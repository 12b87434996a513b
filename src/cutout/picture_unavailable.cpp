// Replaces picture_png.cpp in a build without libpng.
#include "sinew/cutout.h"
#include "sinew/render.h"

namespace sinew {

Result<RgbaImage> decode_png(std::span<const std::byte>, const std::string& name, Context*) {
    return Error{ErrorCode::input, name + ": this build of sinew reads no PNG (use the command line)"};
}

namespace {

Error missing() { return {ErrorCode::io, "this build of sinew writes no PNG: it was made without libpng"}; }

}  // namespace

Result<std::vector<std::byte>> encode_png(const RgbaImage&) { return missing(); }
Result<std::vector<std::byte>> encode_png(const Image&) { return missing(); }

}  // namespace sinew
