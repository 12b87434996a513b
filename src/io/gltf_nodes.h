// The nodes of a document: their tree, transforms and names.
#pragma once

#include <cstddef>
#include <string>

#include "io/gltf_document.h"

namespace sinew::io {

/// Sets Rig::nodes. Errors: a child that does not exist, has two parents or is its own ancestor; a transform of
/// another shape.
Status read_nodes(Document& document);

/// The name of a node; "node 3" where it has none.
std::string node_name(const Document& document, std::size_t node);
/// The same of another entry of a list: `kind` and number where it has no name.
std::string name_of(const Json& object, const char* kind, std::size_t index);
/// In single quotes, for a message.
std::string in_quotes(const std::string& name);

}  // namespace sinew::io
