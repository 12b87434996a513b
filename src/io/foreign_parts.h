// Parts of a foreign scene in a new glTF document, for foreign_document.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/foreign.h"
#include "io/gltf_builder.h"

namespace sinew::io {

/// The joints of a skin: their numbers by node.
using JointOfNode = std::map<std::size_t, std::size_t>;

/// A primitive of glTF without its material, or null where there is no triangle. `to`: from the mesh to the space
/// of POSITION. `joint_of_node`: null without a skin. Vertices with the same data become one, but not those of
/// ForeignMesh::points.
Json foreign_primitive(const ForeignMesh& mesh, const Matrix& to, const JointOfNode* joint_of_node,
                       Builder& builder, std::vector<std::string>& warnings);

/// Images with a texture for each, and materials.
void write_look(const ForeignScene& scene, Builder& builder);

/// `node_of`: the node of the document for each of the scene, or none, whose channels are left out.
void write_clips(const ForeignScene& scene, std::span<const std::size_t> node_of, Builder& builder);

}  // namespace sinew::io
