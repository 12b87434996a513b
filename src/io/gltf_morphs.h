// The morph targets (shape keys) of a document's meshes.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "io/gltf_document.h"

namespace sinew::io {

/// An optional list of numbers of a node or mesh; what is no number counts as 0.
std::vector<double> numbers_of(const Json& object, const char* key);

/// The targets of every block of vertices of Document::rig with weights other than 0. The shape that a file shows
/// has the weights of the node, else those of the mesh: without `animated` these are the weights, and MeshReader
/// adds them to the positions of the scene. With `animated` (weights by node) it is what these differ by.
/// O(vertices · targets).
Result<std::vector<MorphTarget>> read_morphs(const Document& document,
                                             const std::map<std::size_t, std::vector<double>>* animated = nullptr);

}  // namespace sinew::io
