// The steps that save a document with new weights, and the plan that they fill in one after the other.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/gltf_accessor.h"
#include "io/gltf_clips.h"
#include "io/gltf_scene.h"
#include "io/json_text.h"

namespace sinew::io::gltf_save {

/// The arguments of write_document.
struct Request {
    const Document& document;
    const Scene& scene;
    const SkinWeights& weights;
    const SaveOptions& options;
    bool glb;
    bool fresh;  ///< nothing is kept for its own sake: joints without weights get the matrices of the scene, too

    const Rig& rig() const { return document.rig; }
    Error usage_error(const std::string& message) const {
        return {ErrorCode::usage, document.name + ": " + message};
    }
    Error internal_error(const std::string& message) const {
        return {ErrorCode::internal, document.name + ": " + message};
    }
};

/// An accessor to write, with its data.
struct NewAccessor {
    Component component = Component::f32;
    bool normalized = false;
    const char* type = "VEC4";
    std::size_t count = 0;
    std::size_t stride = 0;  ///< of padded rows; 0 = tight
    int target = 34962;      ///< of the bufferView; 0 = none
    std::vector<std::byte> bytes;
    std::size_t offset = 0;                    ///< of the bytes in the target buffer, set by store_bytes
    std::size_t accessor = none, view = none;  ///< its numbers in the document, set by assign_slots
    std::size_t replaces = none;   ///< the accessor whose numbers it takes if nothing else uses that one
    std::size_t described = none;  ///< decompressed Draco: the accessor that describes the data and is kept
    std::string min, max;          ///< bounds to write; empty: none, or those of `described`
};

/// Skin weights of one VertexBlock, in sets of four influences.
struct BlockPlan {
    std::size_t sets = 0;
    std::vector<std::size_t> old_joints, old_weights;  ///< accessors of the document, set by set
    std::vector<std::size_t> added;  ///< JOINTS of each set in Plan::added; WEIGHTS is the next one
};

/// An attribute or the indices of a primitive that refers to a new accessor.
struct Redirected {
    PrimitiveRef primitive;
    std::string name;
    std::size_t added;
    std::size_t morph = none;  ///< the attribute is of this morph target
};

/// An animation to write.
struct ClipPlan {
    const PoseClip* clip;
    std::size_t times;                                      ///< in Plan::added
    std::vector<std::pair<NodeTrack, std::size_t>> tracks;  ///< with their values in Plan::added
};

struct Plan {
    std::vector<BlockPlan> blocks;   ///< as Rig::blocks
    std::vector<NewAccessor> added;  ///< all data to write: first Draco and clips, then weights and skins
    std::vector<Redirected> redirected;
    std::size_t draco_primitives = 0;    ///< primitives that are written uncompressed
    std::vector<PrimitiveRef> unpacked;  ///< of these, those in no block
    std::vector<ClipPlan> clips;
    std::size_t clip_accessors = 0;          ///< number of clip accessors in `added`
    std::vector<std::size_t> skin_matrices;  ///< inverse bind matrices of each new skin, in `added`
    /// Matrices that are written anew: by skin of Rig::skins, and place in its joints.
    std::map<std::size_t, std::map<std::size_t, Matrix>> other_matrices;
    std::vector<std::pair<std::size_t, std::size_t>> rewritten_skins;  ///< of the document; matrices in `added`

    std::vector<std::size_t> free_accessors, free_views;  ///< slots that nothing uses without the old weights
    bool fill_from_first = false;  ///< the lowest free slots are filled first, so that the others can be cut off
    std::size_t kept_accessors = 0, kept_views = 0;  ///< lengths of the lists before new entries are appended

    std::size_t target = 0;         ///< the buffer of the new data
    bool target_is_bin = false;     ///< that is buffer 0, written as the BIN chunk
    std::vector<std::byte> buffer;  ///< content of the target buffer

    SaveReport report;
};

// gltf_save_plan.cpp

/// Whether the weights and the document belong to the scene.
Status check(const Request& request);
/// How many sets of influences each block needs, and its old accessors.
void plan_blocks(const Request& request, Plan& plan);
/// Which inverse bind matrices are written anew, so that the file at rest shows what was bound.
void plan_matrices(const Request& request, Plan& plan);
/// Which accessors and bufferViews nothing uses once the old weights are gone, and what else is replaced.
void find_free_slots(const Request& request, Plan& plan);
/// How many sets each block gets (see gltf_save.cpp).
void choose_sets(const Request& request, Plan& plan);
/// Which buffer takes the new data: the BIN chunk; without one, or in a .gltf, the last buffer if it is embedded,
/// otherwise a new one that is.
void choose_buffer(const Request& request, Plan& plan);
/// Accessor and view numbers of all new data: its own old ones, otherwise other free ones, otherwise new ones.
void assign_slots(const Request& request, Plan& plan);

// gltf_save_bytes.cpp

/// Decompressed data of Draco primitives, as plain accessors.
Status add_draco_data(const Request& request, Plan& plan);
/// Times and values of the animations to add.
Status add_clip_data(const Request& request, Plan& plan);
/// JOINTS_n and WEIGHTS_n of all blocks.
Status add_weight_data(const Request& request, Plan& plan);
/// Positions, normals, tangents and morph targets of meshes that were bound in another pose than the scene's: as
/// that pose has them.
Status add_moved_shapes(const Request& request, Plan& plan);
/// Inverse bind matrices of skins that the document does not have yet, or that are written anew.
Status add_bind_matrices(const Request& request, Plan& plan);
/// Puts the bytes of all new accessors into the target buffer.
void store_bytes(const Request& request, Plan& plan);

// gltf_pack.cpp

/// Puts images into a GLB that was a .gltf, and decompresses everything if the options say so.
Result<SavedFile> pack(SavedFile file, const Request& request);

// gltf_save_json.cpp

/// Edits the JSON text as planned and assembles the file.
Result<SavedFile> write_json(const Request& request, Plan& plan);

/// An extension of an object, and its place in the lists of the document.
bool erase_extension(JsonValue& object, std::string_view extension);
void unlist_extension(JsonValue& root, std::string_view extension);
/// Bytes as a JSON string.
std::string data_uri(std::span<const std::byte> bytes);

/// Attributes of a primitive that move with it, and of its morph targets, by `use`: (name, value, morph target or
/// none).
template <typename Use>
void for_each_shape(const Json& primitive, const Use& use) {
    const auto all = [&](const Json& attributes, std::size_t morph) {
        for (const char* name : {"POSITION", "NORMAL", "TANGENT"})
            if (const Json* value = member(attributes, name)) use(name, *value, morph);
    };
    all(primitive["attributes"], none);
    if (const Json* targets = member(primitive, "targets"); targets && targets->is_array())
        for (std::size_t t = 0; t < targets->size(); ++t) all((*targets)[t], t);
}

/// Whether this is the name of an attribute of skin weights: JOINTS_n or WEIGHTS_n.
bool is_weight_attribute(std::string_view name);
/// The next multiple of four.
constexpr std::size_t aligned(std::size_t size) { return (size + 3) / 4 * 4; }

}  // namespace sinew::io::gltf_save
