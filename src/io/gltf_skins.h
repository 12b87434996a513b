// The skins of a document, and the pose in which they bind its meshes.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "io/gltf_accessor.h"

namespace sinew::io {

struct Skin {
    std::vector<std::size_t> nodes;    ///< of its joints, in its order
    std::vector<Matrix> inverse_bind;  ///< of each; zero where the file has none for it
    std::string fault;                 ///< why none can be read, or empty
};
Result<Skin> read_skin(const Document& document, AccessorReader& accessors, std::size_t index);

/// The skins that a mesh uses; where none does, all of the file.
struct UsedSkins {
    std::map<std::size_t, std::size_t> place;  ///< skin of the file -> Rig::skins
    std::vector<Skin> skins;                   ///< as Rig::skins; new ones may follow there
    std::vector<std::size_t> joint_nodes;      ///< of the skeleton's joints
};

/// Reads them; sets Rig::skins and the sets of joints of the skeleton.
Result<UsedSkins> read_skins(Document& document, AccessorReader& accessors, Scene& scene);

/// Joints and meshes in one pose, once meshes and weights are read. Moves the vertices of the scene, which are in
/// the bind space of their skins, sets to_scene of Rig::blocks, and adds the joints. gltf_bind_pose.cpp says by
/// which rules. An error where two skins bind a mesh in poses that its weights cannot relate. O(vertices + joints).
/// New skins follow in Rig::skins: their blocks are in the world.
Status set_bind_pose(Document& document, Scene& scene, const UsedSkins& used_skins);

/// From bind space to the world, where the nodes at rest put the first root joint with an invertible bind matrix.
Matrix bind_to_world(const Rig& rig, const Skeleton& skeleton);

}  // namespace sinew::io
