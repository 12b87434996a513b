// Replaces inflate_zlib.cpp in a build without zlib (SINEW_ZLIB).
#include "io/inflate.h"

namespace sinew::io {

Status inflate(std::span<const std::byte>, std::span<std::byte>) {
    return Error{
        ErrorCode::input,
        "it is compressed, and this sinew was built without zlib (build it with -DSINEW_ZLIB=ON, or export "
        "the model as ASCII FBX or .glb)"};
}

}  // namespace sinew::io
