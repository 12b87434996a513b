// Replaces picture_png.cpp in a build without libpng (WebAssembly): callers decode pictures, and none is written.
#include "sinew/cutout.h"

namespace sinew {

Result<RgbaImage> decode_png(std::span<const std::byte>, const std::string& name, Context*) {
    return Error{ErrorCode::input, name + ": this build of sinew reads no PNG (use the command line)"};
}

}  // namespace sinew
