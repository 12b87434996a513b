// `sinew questions` as JSON, for the command line and the C interface.
#pragma once

#include <span>

#include "io/json.h"
#include "sinew/io.h"
#include "sinew/questions.h"

namespace sinew {

/// The object that docs/edits.md describes.
OrderedJson questions_json(const io::Scene& scene, std::span<const Question> questions);

}  // namespace sinew
