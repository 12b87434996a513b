// From a glTF document to a Scene and back.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/formats.h"
#include "io/gltf_document.h"
#include "sinew/io.h"

namespace sinew::io {

/// The skeleton of a scene.
struct SkeletonSource {
    /// From another file, in the world space of the document. If the document has a skin, it is an error if
    /// `required`, and ignored otherwise.
    std::optional<Skeleton> skeleton;
    bool required = true;
    bool prop = false;            ///< LoadOptions::prop
    bool bind_parts = false;      ///< LoadOptions::bind_parts
    bool bind_unskinned = false;  ///< LoadOptions::bind_unskinned
    bool together = false;        ///< LoadOptions::together
};

/// Makes the scene of a document, and sets Document::rig.
Result<Scene> read_scene(std::shared_ptr<Document> document, SkeletonSource source,
                         const Context* context = nullptr);

/// The joints of a document none of whose meshes wears a skin: those of its skins in their bind pose, else the
/// largest hierarchy of nodes without meshes at rest. The scene has no meshes.
Result<Scene> read_skeleton_alone(std::shared_ptr<Document> document);

/// See load_skeleton_file.
Result<SkeletonFile> read_skeleton(std::shared_ptr<Document> document, bool with_clips, const Context* context);

/// The animations of a document as poses of the scene's joints, with a key wherever one of their own is, and 30 a
/// second where keys are not joined by straight lines.
Result<std::vector<PoseClip>> pose_clips(const Scene& scene);

/// A document of one mesh with a primitive for each part of the look, and smooth normals where it has none.
Result<std::shared_ptr<Document>> mesh_document(const std::vector<Vec3>& positions,
                                                const std::vector<Triangle>& triangles, const std::string& name,
                                                const MeshLook& look = {});

/// A complete file to write.
struct SavedFile {
    std::vector<std::byte> bytes;
    SaveReport report;
    std::vector<std::string> refers_to;  ///< external_uris of the file
};

/// The document with these weights, as GLB or as bare JSON with embedded buffers. gltf_save.cpp says how. fresh:
/// for a file of another format, whose joints are all where the scene has them.
Result<SavedFile> write_document(const Document& document, const Scene& scene, const SkinWeights& weights,
                                 const SaveOptions& options, bool glb, bool fresh = false);

/// Files that the document still refers to when it is saved: uris as written in the document.
std::vector<std::string> external_uris(const Document& document, bool glb);

}  // namespace sinew::io
