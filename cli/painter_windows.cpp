#include "core/try.h"
#include "painter.h"

namespace sinew::cli {

Result<std::vector<std::byte>> draw_apart(const Picture& picture, Context& context) {
    SINEW_TRY_LET(const Image image, render(picture, &context));
    return encode_png(image);
}

std::optional<int> serve_as_painter(int, char**) { return std::nullopt; }

}  // namespace sinew::cli
