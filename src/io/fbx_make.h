// A new FBX file of a document: fbx_make.cpp has its nodes, skins and materials, and the order of it all.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "io/fbx_builder.h"
#include "io/gltf_document.h"
#include "io/matrix.h"

namespace sinew::io {

/// Lengths are those of the document, in metres, times `scale`.
struct FbxMaking {
    const Document& document;
    FbxBuilder file;
    double scale = 100;
    std::vector<std::string> notes;

    Matrix scaled(Matrix m) const {
        for (std::size_t r = 0; r < 3; ++r) m(r, 3) *= scale;
        return m;
    }
};

/// What animations move in the file.
struct FbxAnimated {
    FbxBuilder::Id model = 0;
    std::vector<FbxBuilder::Id> shapes;  ///< channels of the shapes of the node's mesh
};

/// A mesh of the document as one geometry.
struct FbxMadeMesh {
    FbxBuilder::Id geometry = 0;
    std::vector<std::size_t> materials;  ///< of the document, in the order of the geometry; `none`: no material
    std::vector<FbxBuilder::Id> shapes;  ///< the channels of its shapes
    /// Of each joint of the skin: the weights of points. Empty without a skin.
    std::vector<std::pair<std::vector<std::int32_t>, std::vector<double>>> weights;
    std::vector<double> dual_quaternion;  ///< of each point, or none
};

/// Vertices of one position, one row of weights and the same offsets in all shapes become one point. joints: number
/// of joints of its skin, 0 without; shape_weights: the shapes that the file shows. fbx_make_mesh.cpp
Result<FbxMadeMesh> make_fbx_mesh(FbxMaking& making, std::size_t mesh, std::size_t joints,
                                  const std::vector<double>& shape_weights);

/// Every animation as a stack with one layer. Straight keys stay keys; where keys are joined by arcs or splines,
/// keys are added until straight lines follow them to 1e-4 of a radian, or of the largest value. Returns the end of
/// the longest, in seconds. fbx_make_clips.cpp
Result<double> make_fbx_clips(FbxMaking& making, const std::map<std::size_t, FbxAnimated>& by_node);

/// Degrees about x, then y, then z, of a unit quaternion x, y, z, w.
std::array<double, 3> fbx_angles(const std::array<double, 4>& q);

}  // namespace sinew::io
