// A glTF document as read: the chunks of the container, the JSON text and its tree, the buffers. Nothing is
// interpreted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/gltf_rig.h"
#include "io/json.h"
#include "io/model_files.h"
#include "sinew/io.h"

namespace sinew::io {

/// No index, of lists in a document.
inline constexpr std::size_t none = static_cast<std::size_t>(-1);

inline constexpr const char* draco_extension = "KHR_draco_mesh_compression";
inline constexpr const char* meshopt_extensions[] = {"EXT_meshopt_compression", "KHR_meshopt_compression"};

/// Key in the extras of a joint's node: the end of its bone, in the node's space (docs/formats.md).
inline constexpr const char* tail_key = "sinew_tail";

/// Attribute of a vertex, a number from 0 to 1: how much of its motion is blended as dual quaternions
/// (docs/formats.md).
inline constexpr const char* dual_quaternion_attribute = "_DUAL_QUATERNION";

/// The member of an object; null if the value is not an object or has no such member.
const Json* member(const Json& value, const char* key);
/// A non-negative whole number (3 or 3.0), as indices and counts must be; otherwise empty.
std::optional<std::size_t> whole(const Json* value);
/// The same for a member, with a default if it is missing; empty if it exists and is not a whole number.
std::optional<std::size_t> whole_or(const Json& object, const char* key, std::size_t missing);
/// A string, or empty.
std::string string_of(const Json* value);
/// Whether the object's "extensions" has this key.
bool has_extension(const Json& object, const char* extension);

/// Where a document that was made from an FBX file comes from, to write the file again.
struct FbxOrigin {
    ModelFiles::Bytes bytes;                  ///< the file
    std::vector<std::size_t> object_of_node;  ///< by node of the document; 0 where it is none of the file's objects
    struct Mesh {
        std::size_t geometry = 0;                         ///< an object of the file
        std::vector<std::uint32_t> points;                ///< its vertex, for each of the primitive
        std::size_t skin = static_cast<std::size_t>(-1);  ///< into `skins`; past their end: the mesh has none
    };
    std::map<std::pair<std::size_t, std::size_t>, Mesh> meshes;  ///< by mesh and primitive of the document
    std::vector<std::map<std::size_t, Matrix>> skins;  ///< where objects are bound, in the world of the document
    /// From the file's world to the document's: scaled by `metres`, then turned.
    double metres = 1;
    Matrix turn;
};

/// The type of Scene::document. parse_document sets it; the reader of the scene adds `rig` for saving.
class Document {
public:
    enum class Origin {
        absent,    ///< no uri and no BIN chunk: only a compression extension may refer to it
        bin,       ///< the BIN chunk
        data_uri,  ///< base64 inside the JSON
        external,  ///< a file beside the document
    };
    using Bytes = ModelFiles::Bytes;
    struct Buffer {
        Buffer() = default;
        Buffer(Origin from, std::vector<std::byte> all)
            : origin(from), whole(std::make_shared<std::vector<std::byte>>(std::move(all))), bytes(*whole) {}
        Origin origin = Origin::absent;
        Bytes whole;                       ///< of its file, or chunk; buffers may share it
        std::span<const std::byte> bytes;  ///< the first byteLength of them; empty if absent
    };
    struct Chunk {
        std::uint32_t type = 0;
        std::vector<std::byte> bytes;
    };

    std::string name;  ///< in messages
    std::shared_ptr<ModelFiles> files = std::make_shared<ModelFiles>();
    bool glb = false;
    std::string text;           ///< the JSON as read, without the padding at its end
    Json json;                  ///< the same, parsed
    std::vector<Chunk> chunks;  ///< after the JSON chunk, in order; that of buffer 0 is listed without bytes
    std::optional<std::size_t> bin_chunk;  ///< which of them is buffer 0
    std::vector<Buffer> buffers;
    std::vector<std::string> warnings;
    Rig rig;
    std::shared_ptr<FbxOrigin> fbx;  ///< null: it was not made from an FBX file

    /// Entries of a top-level list ("meshes"); 0 where it is missing.
    std::size_t count(const char* list) const;
    /// An entry of a top-level list, or null.
    const Json* at(const char* list, std::size_t index) const;
    /// The same as at(), but an error that begins with `asker`.
    Result<const Json*> need(const char* list, std::optional<std::size_t> index, const std::string& asker) const;

    /// The bytes of a bufferView, not decompressed; empty if it does not exist or ends past its buffer.
    std::span<const std::byte> view_bytes(std::size_t index) const;
    /// A mesh of the list, or of Rig::mesh_copies past its end; and a primitive of one. They must exist, as the
    /// reader of the scene has checked.
    const Json& mesh(std::size_t index) const;
    const Json& primitive(const PrimitiveRef& ref) const;

    /// All bytes of the file that a uri of the document names: of a buffer those that the document was read with,
    /// of an image those of now.
    Result<Bytes> external_bytes(const std::string& uri, const std::string& asker) const;

    /// As ModelFiles::take.
    Status take(std::size_t count, const std::string& what) const { return files->take(count, name + ": " + what); }

    Error error(const std::string& message) const { return {ErrorCode::input, name + ": " + message}; }
};

/// Reads the container and the buffers. `bytes` are counted already.
Result<std::shared_ptr<Document>> parse_document(std::span<const std::byte> bytes, const std::string& name,
                                                 std::shared_ptr<ModelFiles> files,
                                                 const Context* context = nullptr);

/// "image/png", "image/jpeg", "image/webp" or "image/ktx2", by the first bytes; otherwise empty.
std::string image_kind(std::span<const std::byte> bytes);

}  // namespace sinew::io
