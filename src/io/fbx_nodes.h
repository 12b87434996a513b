// The models of an FBX file as a tree of nodes with plain transforms.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/geometry.h"
#include "io/fbx_objects.h"
#include "io/gltf_builder.h"
#include "io/matrix.h"

namespace sinew::io {

/// The properties of a model that make its transform; degrees.
struct FbxTransform {
    Point3 translation{}, rotation{}, scale{1, 1, 1};  ///< curves move these
    Point3 pre{}, post{}, rotation_offset{}, rotation_pivot{}, scaling_offset{}, scaling_pivot{};
    std::size_t order = 0;  ///< of rotation: x, y, z; x, z, y …
    enum class Inherit { RrSs, RSrs, Rrs } inherit = Inherit::RSrs;
};

/// Where a node stands in the tree below its parent.
struct FbxLocal {
    /// Of a node between the parent and this one, which takes back the parent's scale; FbxNodes::Node::compensated.
    std::optional<Trs> compensation;
    Trs own;
};

struct FbxNodes {
    struct Node {
        std::size_t object = FbxObjects::root;
        std::size_t parent = FbxObjects::missing;  ///< before this node
        FbxTransform transform;
        Matrix geometry;  ///< from what hangs on the node to the node (of 3ds Max)
        bool compensated = false;
    };
    std::vector<Node> nodes;                  ///< parents first; node 0 is the scene
    std::vector<std::size_t> node_of_object;  ///< missing: not a model

    /// Models that are below themselves become roots, with a warning.
    static FbxNodes read(const FbxObjects& objects, std::vector<std::string>& warnings);

    /// Rest transforms of all nodes.
    std::vector<FbxTransform> rest() const;
    /// Marks nodes that need a node for compensation at these transforms: those that do not inherit the scale of a
    /// parent that is scaled differently along its axes. O(nodes).
    void mark_compensated(const std::vector<FbxTransform>& transforms);
    /// The number of each node when those for compensation are counted too, each before its own.
    std::vector<std::size_t> numbers() const;
    /// The tree at these transforms. O(nodes).
    std::vector<FbxLocal> place(const std::vector<FbxTransform>& transforms) const;
    /// The same of some nodes only.
    void place(const std::vector<FbxTransform>& transforms, std::span<const std::size_t> wanted,
               std::vector<FbxLocal>& out) const;
};

}  // namespace sinew::io
