// From a glTF document to a Scene and back: the two halves of the glTF door.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/gltf_document.h"
#include "sinew/io.h"

namespace sinew::io {

/// Makes the scene of a document and tells the document what was read from where (Document::rig). `skeleton`: from
/// a file of its own, in the space of the document's world; an error where the document has a skin,
/// unless it is not `required`.
Result<Scene> read_scene(std::shared_ptr<Document> document, std::optional<Skeleton> skeleton,
                         bool required = true);

/// A document of one mesh with smooth normals, and nothing else.
Result<std::shared_ptr<Document>> mesh_document(const std::vector<Vec3>& positions,
                                                const std::vector<Triangle>& triangles, const std::string& name);

/// A whole file to write.
struct SavedFile {
    std::vector<std::byte> bytes;
    SaveReport report;
};

/// The document with these weights, as GLB or as bare JSON with embedded buffers. gltf_save.cpp says how.
Result<SavedFile> write_document(const Document& document, const Scene& scene, const SkinWeights& weights,
                                 const SaveOptions& options, bool glb);

/// Files that the document refers to and keeps referring to when it is written: uris as they stand there.
std::vector<std::string> external_uris(const Document& document, bool glb);

}  // namespace sinew::io
