// `sinew questions` as JSON, for the command line and the C interface.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "sinew/io.h"
#include "sinew/questions.h"

namespace sinew {

/// The object that docs/edits.md describes.
nlohmann::ordered_json questions_json(const io::Scene& scene, std::span<const Question> questions);

}  // namespace sinew
