// The meshes of a document as the vertices, triangles and weights of a scene.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "io/gltf_accessor.h"

namespace sinew::io {

/// Appends meshes to a scene, and their blocks of vertices to Rig::blocks.
class MeshReader {
public:
    MeshReader(Document& document, AccessorReader& accessors, Scene& scene, const Context* context);

    /// Appends a mesh of the document for one of Rig::skins. `written_mesh`: as in PrimitiveRef. `to_scene`: from
    /// the space of POSITION. `mirrored`: VertexBlock::mirrored.
    Status read(std::size_t mesh, std::size_t written_mesh, std::size_t skin, const Matrix& to_scene,
                bool mirrored);

    /// Primitives may share accessors, and every world transform of a mesh needs a skin of its own, so a small file
    /// can request any number of vertices, triangles and matrices. The limit is four million plus 16 per byte of
    /// the file. An error begins with `place`.
    Status spend(std::size_t elements, const std::string& place);

    /// Moves the vertices by the morph weights that the file shows, and sets the weights of the scene. Call once,
    /// after all meshes and Rig::skinned_nodes.
    Status finish();

private:
    /// Primitives with equal keys have the same vertices: skin, POSITION, Draco data, JOINTS_n and WEIGHTS_n.
    using BlockKey = std::tuple<std::size_t, std::size_t, std::size_t, std::vector<std::size_t>>;
    struct PrimitiveSource;
    /// Vertices of a block whose positions are not finite.
    struct LostVertices {
        std::string place;
        std::size_t first_vertex;
        std::vector<std::size_t> vertices;  // from it on
    };

    bool is_empty(const Json* accessor) const;

    Status read_primitive(const Json& primitive, PrimitiveRef ref, std::size_t mode, std::size_t skin,
                          const Matrix& to_scene, const std::string& place);
    Result<Elements> read_attribute(const PrimitiveSource& source, const std::string& name);
    Result<BlockKey> block_key(const PrimitiveSource& source, std::size_t skin) const;
    /// The vertices of a primitive: those of an earlier one with the same accessors, or new ones. Returns a place
    /// in Rig::blocks.
    Result<std::size_t> find_or_read_block(const PrimitiveSource& source, std::size_t skin, const Matrix& to_scene);
    /// Empty where the primitive has no indices.
    Result<std::optional<std::vector<std::uint32_t>>> read_indices(const PrimitiveSource& source);
    void add_positions(const Elements& elements, const Matrix& to_scene, const std::string& place);
    void add_weights(const std::vector<Elements>& data, const VertexBlock& block, const std::string& place);
    Status add_triangles(const std::optional<std::vector<std::uint32_t>>& indices, std::size_t mode,
                         const VertexBlock& block, const std::string& place);

    Document& document_;
    Scene& scene_;
    Rig& rig_;
    AccessorReader& accessors_;
    const Context* const context_;
    std::size_t budget_ = 0;  // vertices and triangles that may still be read
    std::map<BlockKey, std::size_t> block_of_;
    std::vector<LostVertices> lost_;
    std::vector<std::uint32_t> counts_;
    std::vector<Influence> influences_;
    bool has_weights_ = false;
    bool mirrored_ = false;  // the mesh that is read
    bool copying_ = false;   // a mesh for another skin than that of its JOINTS_n, which may not fit
};

}  // namespace sinew::io
