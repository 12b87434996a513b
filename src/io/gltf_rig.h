// Data that the reader of a scene keeps. For saving: the vertices and the skin of each primitive of the document.
// For gltf_pose.cpp: the transforms of nodes at rest, and of joints at the bind pose.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "io/matrix.h"

namespace sinew::io {

/// The nodes of a document.
struct NodeTree {
    std::vector<std::size_t> parent;  ///< Rig::no_node: a root
    std::vector<std::vector<std::size_t>> children;
    std::vector<std::size_t> top_down;  ///< all nodes, parents first
    std::vector<Matrix> local, world;   ///< at rest
};

/// A primitive by mesh and number. Meshes past the end of the document's list are Rig::mesh_copies.
struct PrimitiveRef {
    std::size_t mesh = 0, primitive = 0;
};

/// Vertices of the primitives that share POSITION, JOINTS_n and WEIGHTS_n under one skin. They are read once and
/// written once.
struct VertexBlock {
    std::uint32_t first_vertex = 0, vertex_count = 0;
    std::size_t skin = 0;  ///< into Rig::skins
    std::vector<PrimitiveRef> primitives;
    Matrix to_scene;  ///< from the space of POSITION
};

struct RigSkin {
    std::vector<std::uint32_t> joints;  ///< Skeleton index of each of the skin's joints, in the skin's order
    /// For a new skin: the world transform of the meshes that bind to it. Otherwise not used.
    Matrix mesh_to_world;
    std::uint32_t joint_set = 0;  ///< into Skeleton::skins; 0 where that is empty
    std::size_t source = 0;       ///< RigSource::skins: its number in the file
    /// RigSource::skins: inverse bind matrices that the file lacks or that cannot be inverted, by place in
    /// `joints`, as the nodes' rest pose gives them.
    std::map<std::size_t, Matrix> repaired = {};
};

/// Where the skeleton of the scene comes from.
enum class RigSource {
    skins,  ///< the file has skins: only weights are written
    nodes,  ///< the file has joint nodes but no skin: skins are added
    added,  ///< the skeleton is from another file: joint nodes and skins are added
};

struct Rig {
    RigSource source = RigSource::skins;
    std::vector<VertexBlock> blocks;  ///< in vertex order
    std::vector<RigSkin> skins;
    // If skins are added: all nodes that get one. Otherwise the nodes that get a copy of their mesh.
    struct SkinnedNode {
        std::size_t node = 0, mesh = 0, skin = 0;  ///< mesh as in PrimitiveRef
    };
    std::vector<SkinnedNode> skinned_nodes;
    std::vector<std::size_t> mesh_copies;  ///< source mesh of each copy
    std::vector<std::size_t> joint_nodes;  ///< RigSource::nodes: node of each joint
    std::vector<Matrix> joint_to_world;    ///< RigSource::nodes: at rest
    // For posing:
    static constexpr std::size_t no_node = static_cast<std::size_t>(-1);
    NodeTree nodes;
    std::vector<std::size_t> node_of_joint;  ///< of each joint; empty for RigSource::added
    std::vector<Matrix> bind_pose;           ///< of each joint, scene space; empty for RigSource::added
};

}  // namespace sinew::io
