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

#include "core/bind_frame.h"
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
    /// Whether the node mirrors: a viewer then sees the other side of triangles, also where a skin moves them.
    bool mirrored = false;
    Matrix to_scene;  ///< from the space of POSITION
    /// The same for each vertex, where they differ: a mesh that was bound in another pose than the scene's.
    std::vector<Matrix> to_scene_each;
    /// Of these, from the space of POSITION to where the nodes at rest show the vertex, in the scene.
    std::vector<Matrix> to_rest_each;

    const Matrix& to_scene_of(std::size_t vertex) const {
        return to_scene_each.empty() ? to_scene : to_scene_each[vertex];
    }
};

/// An inverse bind matrix as the scene has it, of a joint for which the file has another one, or none that can be
/// inverted.
struct BindMatrix {
    enum class Written {
        always,
        if_used,  ///< where the new weights use the joint; the old ones did not, so that nothing showed the matrix
        on_request,  ///< with SaveOptions::repair_matrices
    };
    Matrix matrix;
    Written written = Written::if_used;
};

struct RigSkin {
    std::vector<std::uint32_t> joints;  ///< Skeleton index of each of the skin's joints, in the skin's order
    std::size_t number = static_cast<std::size_t>(-1);  ///< in the document; otherwise a new one, which is written
    Matrix to_scene;                                    ///< of a new one: from the space of its meshes
    std::uint32_t joint_set = 0;                        ///< into Skeleton::skins; 0 where that is empty
    bool is_part = false;                               ///< of a mesh that follows the one joint on which it hangs
    /// Where the inverse bind matrix of a joint is another one than that of the scene, by place in `joints`.
    std::map<std::size_t, BindMatrix> other_matrices = {};
};

/// Where the skeleton of the scene comes from.
enum class RigSource {
    skins,  ///< the file has skins: only weights are written, and skins for new meshes
    nodes,  ///< the file has joint nodes but no skin: skins are added
    added,  ///< the skeleton is from another file: joint nodes and skins are added
};

/// The frame of a joint from elsewhere, as its node is written.
inline Matrix frame_of(const Joint& joint) {
    Transform frame, inverse;
    if (bind_frame(joint, frame, inverse)) return to_matrix(frame);
    return translation(double(joint.position.x), double(joint.position.y), double(joint.position.z));
}

struct Rig {
    RigSource source = RigSource::skins;
    std::vector<VertexBlock> blocks;  ///< in vertex order
    std::vector<RigSkin> skins;
    // Nodes that get a skin or a copy of their mesh.
    struct SkinnedNode {
        std::size_t node = 0, mesh = 0, skin = 0;  ///< mesh as in PrimitiveRef
    };
    std::vector<SkinnedNode> skinned_nodes;
    std::vector<std::size_t> mesh_copies;  ///< source mesh of each copy
    // For posing:
    static constexpr std::size_t no_node = static_cast<std::size_t>(-1);
    NodeTree nodes;
    std::vector<std::size_t> node_of_joint;  ///< of each joint; empty for RigSource::added
    std::vector<Matrix> bind_pose;           ///< of each joint, scene space; empty for RigSource::added
};

}  // namespace sinew::io
