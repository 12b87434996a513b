// Pictures for pages, drawn in a process of their own: a graphics driver may crash or never end, and the page can
// do without them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sinew/render.h"

namespace sinew::cli {

/// PNG of a picture whose panels are surfaces, without voxels and bones. Errors as of render; ErrorCode::internal
/// if the process crashes or takes more than two minutes. On Windows it is drawn here.
Result<std::vector<std::byte>> draw_apart(const Picture& picture, Context& context);

/// The work of that process, and its exit code; nothing in every other one.
std::optional<int> serve_as_painter(int argc, char** argv);

}  // namespace sinew::cli
