// Which meshes of a document are bound apart.
#pragma once

#include "io/gltf_document.h"

namespace sinew::io {

/// Sets Scene::part_of_vertex and says what was found. Requires Rig::blocks and the skeleton. O(vertices + nodes +
/// meshes²).
void find_parts(const Document& document, Scene& scene);

}  // namespace sinew::io
