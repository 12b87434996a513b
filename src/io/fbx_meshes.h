// Polygon meshes of an FBX file: their layers, skins and shapes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/fbx_objects.h"
#include "io/foreign.h"

namespace sinew::io {

struct FbxGeometry {
    /// One per material that has triangles; ForeignMesh::material is the number of a material of the model, or the
    /// number of them where it has no such one. ForeignBone::node is an object of the file.
    std::vector<ForeignMesh> parts;
    std::optional<Matrix> bind;  ///< where its model stood in the world when it was bound
};

/// Whether an object has polygons: a Geometry, or in version 6 a Model.
bool has_polygons(const FbxObjects::Object& object);

/// Reads a geometry with what is connected to it. `materials`: of its model. Memory is taken from `files`, also for
/// what becomes of the mesh. Errors name the record: corners that are no vertices, vertices that are not finite.
/// What else is damaged or not read is left out, with a warning.
Result<FbxGeometry> read_fbx_geometry(const FbxObjects& objects, std::size_t geometry, std::size_t materials,
                                      ModelFiles& files, std::vector<std::string>& warnings);

}  // namespace sinew::io
