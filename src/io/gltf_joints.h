// Joints from nodes of a document.
#pragma once

#include <cstddef>
#include <vector>

#include "io/gltf_document.h"

namespace sinew::io {

/// Appends the joints of these nodes, in their order, with the nearest of them above as parent; sets
/// Rig::node_of_joint and bind_pose. `where`: the transform of each in the scene. O(nodes).
Status set_joints(Document& document, Scene& scene, std::vector<std::size_t> nodes, std::vector<Matrix> where);

/// Position and axes of a joint: the columns of its matrix without scale, made right-handed and orthogonal. Axes
/// stay where the matrix is singular.
void set_frame(Joint& joint, const Matrix& m);

}  // namespace sinew::io
