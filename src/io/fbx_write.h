// Writing FBX: the file that the document was made from with other weights, or a new file. What change_fbx and
// make_fbx take is all that they know of the scene: in the page, another module has them (web/core/fbx.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/gltf_scene.h"

namespace sinew::io {

/// The weights of a document by its own primitives and nodes.
struct FbxRows {
    struct Block {
        std::uint32_t mesh = 0, primitive = 0, vertex_count = 0;
        std::uint32_t other_pose = 0;  ///< 1: it is bound in another pose than the scene
        Matrix to_scene;               ///< of VertexBlock
    };
    std::vector<Block> blocks;
    std::vector<std::uint32_t> counts;  ///< of the influences of each vertex, block after block
    std::vector<Influence> influences;  ///< `joint` is a node
};
std::vector<std::byte> packed(const FbxRows& rows);
FbxRows unpacked_rows(std::span<const std::byte> bytes);

/// The FBX file that the document was made from, where nothing but weights changes, otherwise a new one; any other
/// document as a new FBX file.
Result<SavedFile> write_fbx(const Document& document, const Scene& scene, const SkinWeights& weights,
                            const SaveOptions& options);

/// The FBX file that the document was made from: only skins, clusters and what connects them change; all other
/// records keep their bytes and their order. fbx_change.cpp says how.
Result<SavedFile> change_fbx(const Document& document, const FbxRows& rows);

/// A GLB as a new FBX file, 7.5 and binary. fbx_make.cpp says how.
Result<SavedFile> make_fbx(std::span<const std::byte> glb, const std::string& name,
                           const std::shared_ptr<ModelFiles>& files, FbxUnit unit);

/// A file with its notes, from one module to another; and back.
std::vector<std::byte> packed(const SavedFile& file);
SavedFile unpacked_file(std::span<const std::byte> bytes);

}  // namespace sinew::io
