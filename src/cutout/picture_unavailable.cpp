// A build without libpng (WebAssembly): pictures come unpacked, and none is written.
#include "sinew/cutout.h"

namespace sinew {

Result<RgbaImage> decode_png(std::span<const std::byte>, const std::string& name, Context*) {
    return Error{ErrorCode::input, name + ": this build of sinew reads no PNG (use the command line)"};
}

}  // namespace sinew
