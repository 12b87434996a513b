// Which nodes of a glTF document without skins are its skeleton.
#pragma once

#include <cstddef>
#include <vector>

#include "io/gltf_document.h"

namespace sinew::io {

/// The joints: the largest hierarchy of nodes without mesh, camera or light, and of nodes with one that stand
/// between such nodes; without nodes at its top that only hold it ("Armature", "Scene"); parents first. Where this
/// is no hierarchy, that of nodes with meshes. Empty where there is none, and no single node with the name of a
/// joint. O(nodes).
///
/// glTF does not mark joints outside of skins, so this is a heuristic of sinew, without a published source.
std::vector<std::size_t> find_skeleton_nodes(const Document& document);

/// Whether these nodes are groups of a prop (a car: wheels and doors below a root) rather than a skeleton: every
/// mesh hangs below one of them, at least half of the nodes without further ones below hold meshes, and the names
/// are not those of a character. A heuristic of sinew. O(nodes and their names).
bool are_groups_of_a_prop(const Document& document, const std::vector<std::size_t>& joints);

}  // namespace sinew::io
