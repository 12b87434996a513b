// Files of other formats than glTF: FBX (fbx_scene.cpp), and those that another library reads (foreign_assimp.cpp),
// become plain arrays, and these a glTF document (foreign_document.cpp), so that all other code knows one format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/gltf_document.h"
#include "io/matrix.h"
#include "sinew/core.h"

namespace sinew::io {

/// A joint that moves vertices of one mesh.
struct ForeignBone {
    static constexpr std::size_t missing = static_cast<std::size_t>(-1);
    std::string name;
    std::size_t node = missing;  ///< missing: the bone is not a node of the file
    Matrix offset;               ///< from the node of the mesh to the bone, at the bind pose
    struct Weight {
        std::uint32_t vertex = 0;
        float weight = 0;
    };
    std::vector<Weight> weights;
};

/// A shape: offsets of positions and (V or none) of normals.
struct ForeignTarget {
    std::string name;
    float weight = 0;
    std::vector<Vec3> positions, normals;
};

/// The part of a mesh with one material. foreign_document merges equal vertices, but not those of `points`.
struct ForeignMesh {
    std::string name;
    std::size_t material = 0;
    std::vector<Vec3> positions;                         ///< V; all others V or none
    std::vector<Vec3> normals, tangents;                 ///< any length
    std::vector<float> tangent_signs;                    ///< of the bitangent: 1 or -1
    std::vector<std::vector<std::array<float, 2>>> uvs;  ///< v points down, as in glTF
    std::vector<std::array<float, 4>> colors;
    std::vector<Triangle> triangles;  ///< indices < V
    std::vector<ForeignBone> bones;
    /// How much of its motion is blended as dual quaternions, the rest as matrices: 0 to 1.
    std::vector<float> dual_quaternion;
    std::vector<ForeignTarget> targets;
    std::size_t source = 0;             ///< in FBX: the object that it is
    std::vector<std::uint32_t> points;  ///< of each: the vertex of the source; or none
};

struct ForeignNode {
    std::string name;
    std::size_t parent = Rig::no_node;  ///< before this node
    Matrix local;
    std::vector<std::size_t> meshes;
    std::size_t source = 0;  ///< in FBX: the object that it is
    bool between = false;    ///< no joint: it stands between a joint and its parent, or is a camera or a light
    Matrix geometry{};       ///< from its meshes to the node; nodes below do not inherit it
    std::optional<Matrix>
        bind{};  ///< where the node stood in the world when its meshes were bound, if not at `local`
};

struct ForeignImage {
    std::string name;
    std::vector<std::byte> bytes;  ///< PNG or JPEG
};

struct ForeignMaterial {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::string name;
    std::array<float, 4> base_color{1, 1, 1, 1};
    std::array<float, 3> emissive{0, 0, 0};
    float metallic = 0, roughness = 1;
    bool two_sided = false;
    std::size_t base_image = none, normal_image = none, emissive_image = none;
};

/// Keys of one property of a node: ascending times in seconds, `width` numbers per key.
struct ForeignChannel {
    std::size_t node = 0;
    std::string path;  ///< translation, rotation (x y z w) or scale
    std::vector<float> times, values;
};

struct ForeignClip {
    std::string name;
    std::vector<ForeignChannel> channels;
};

struct ForeignScene {
    std::vector<ForeignNode> nodes;  ///< parents first
    std::vector<ForeignMesh> meshes;
    std::vector<ForeignMaterial> materials;
    std::vector<ForeignImage> images;
    std::vector<ForeignClip> clips;
    double metres = 1;  ///< length of the file's unit
    Matrix turn;        ///< rotation of the file's axes to right-handed, y up
    std::vector<std::string> warnings;
    std::shared_ptr<FbxOrigin> fbx;  ///< of an FBX file: its bytes, which go into the document
};

/// Whether read_foreign reads files of this extension (".fbx"; lower case), in this build or in another one.
bool is_foreign(const std::string& extension);

/// Reads the file from its bytes. Opens no other files but textures.
Result<ForeignScene> read_foreign(std::span<const std::byte> bytes, const std::string& name, ModelFiles& files);

/// The same of an FBX file, in this process.
Result<ForeignScene> read_fbx(const FileBytes& bytes, const std::string& name, ModelFiles& files);

/// The number of an image that a scene names, with its bytes, or where they are empty those of the file of that
/// name in the folder of the model; ForeignMaterial::none, with a warning, where it is neither PNG nor JPEG.
std::size_t add_image(ForeignScene& scene, std::string uri, std::vector<std::byte> bytes, ModelFiles& files);

/// The same scene as a glTF document: metres, y up, everything embedded. Node names, hierarchy, local axes of
/// joints and clips are kept. Skinned meshes become roots at their bind pose in world space. So the inverse bind
/// matrices of one joint agree over all meshes, and usually one skin is enough. Nodes without meshes below a joint
/// (ends of fingers) are joints too: they mark the ends of bones.
Result<std::shared_ptr<Document>> foreign_document(ForeignScene scene, const std::string& name);

/// An FBX file as such a document. In the page another module makes it (web/core/foreign.cpp).
Result<std::shared_ptr<Document>> fbx_document(const FileBytes& bytes, const std::string& name,
                                               const std::shared_ptr<ModelFiles>& files, Context* context);

/// A document without files beside it, to be sent from one process or module to another: its warnings, each ended
/// by a line break; a zero byte; a GLB.
std::vector<std::byte> packed(const Document& document);
/// The document again.
Result<std::shared_ptr<Document>> unpacked(std::span<const std::byte> bytes, const std::string& name,
                                           Context* context);

/// packed, of what read_foreign reads.
Result<std::vector<std::byte>> foreign_bytes(std::span<const std::byte> bytes, const std::string& name,
                                             ModelFiles& files);

}  // namespace sinew::io
