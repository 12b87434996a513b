// Replacements for a build without OpenGL, stb or the font (SINEW_GL, SINEW_RENDER in CMakeLists.txt).

#include "sinew/render.h"

namespace sinew {
namespace {

const Error& missing() {
    static const Error error{
        ErrorCode::io,
        "this build of sinew cannot draw pictures: OpenGL, stb or DejaVu Sans is missing (on Debian: apt-get "
        "install libepoxy-dev libegl1 libgl1-mesa-dri libstb-dev fonts-dejavu-core, then configure and build "
        "again)"};
    return error;
}

}  // namespace

Result<Image> render(const Picture&, Context*) { return missing(); }
Result<std::vector<std::byte>> encode_png(const Image&) { return missing(); }

}  // namespace sinew
