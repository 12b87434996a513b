// The skins of a document, and the pose that they bind.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "io/gltf_accessor.h"

namespace sinew::io {

struct Skin {
    std::vector<std::size_t> nodes;    ///< of its joints, in its order
    std::vector<Matrix> inverse_bind;  ///< of each; zero where the file has none for it
    Matrix to_scene;                   ///< from its bind space
};
Result<Skin> read_skin(const Document& document, AccessorReader& accessors, std::size_t index);

/// The skins that a mesh uses.
struct WornSkins {
    std::map<std::size_t, std::size_t> place;  ///< skin of the file -> Rig::skins
    std::vector<Skin> skins;                   ///< as Rig::skins
};

/// Reads them, and sets the skeleton of the scene and Rig::skins, node_of_joint and bind_pose: all joints in the
/// bind space of the first skin.
Result<WornSkins> read_skins(Document& document, AccessorReader& accessors, Scene& scene);

}  // namespace sinew::io
