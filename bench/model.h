#pragma once

#include <filesystem>

#include "sinew/io.h"

namespace sinew::bench {

/// Reads a model. An OBJ file has no skeleton: its skeleton is read from NAME.skeleton.json beside it.
inline Result<io::Scene> load_model(const std::filesystem::path& file) {
    io::LoadOptions options;
    if (file.extension() == ".obj")
        options.skeleton = std::filesystem::path(file).replace_extension(".skeleton.json");
    return io::load(file, options);
}

}  // namespace sinew::bench
