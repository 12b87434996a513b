// Replaces drawing in a build without OpenGL, stb or the font (SINEW_GL, SINEW_RENDER in CMakeLists.txt).

#include "sinew/render.h"

namespace sinew {

Result<Image> render(const Picture&, Context*) {
    return Error{
        ErrorCode::io,
        "this build of sinew cannot draw pictures: OpenGL, stb or DejaVu Sans is missing (on Debian: apt-get "
        "install libepoxy-dev libegl1 libgl1-mesa-dri libstb-dev fonts-dejavu-core, then configure and build "
        "again)"};
}

}  // namespace sinew
