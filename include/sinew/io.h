// sinew/io.h: files of characters: reads meshes, skeletons, weights, poses and edits, and writes weights back.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"
#include "sinew/edits.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew::io {

/// One primitive of the source file and its place in Scene's arrays. Primitives that share their vertices in the
/// file (the same POSITION, JOINTS_n and WEIGHTS_n under one skin) have the same range of vertices here.
struct Primitive {
    std::string name;      ///< "mesh name/primitive number", for messages and reports
    std::string mesh;      ///< the mesh's name; "mesh 3" where it has none
    std::string material;  ///< the material's name; "material 3" where it has none, "" without a material
    std::uint32_t first_vertex = 0, vertex_count = 0;
    std::uint32_t first_triangle = 0, triangle_count = 0;
};

/// A pose at a time: one JointPose per joint of the skeleton.
struct PoseKey {
    double time = 0;  ///< seconds, at least 0
    std::vector<JointPose> joints;
};

/// An animation to write.
struct PoseClip {
    std::string name;
    /// Each pose holds until the next key. Otherwise poses are interpolated: rotations along the shorter arc,
    /// translations and scales linearly.
    bool step = false;
    std::vector<PoseKey> keys;  ///< at least one; times rise
};

/// Vertices whose skin binds joints in another pose than the scene's.
struct OtherPose {
    std::uint32_t first_vertex = 0, vertex_count = 0;
    std::vector<Transform> moves;  ///< of each joint: from the pose of that skin to the scene's
};

/// The source document, kept for save, which changes only parts of it. Opaque.
class Document;

/// A character: all meshes of the file as one mesh, and one skeleton, in bind space.
struct Scene {
    /// V, bind space of the first skin, moved by the morph weights that the file shows (of the node, else of the
    /// mesh)
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;            ///< T
    std::vector<std::uint32_t> skin_of_vertex;  ///< V or empty
    /// V or empty, for bind (sinew/parts.h): characters with skeletons of their own have different numbers, coarser
    /// levels of detail and meshes that are not shown kFollows.
    std::vector<std::uint32_t> part_of_vertex;
    std::vector<Primitive> primitives;  ///< in file order, together covering all vertices
    Skeleton skeleton;
    std::optional<SkinWeights> weights;  ///< the file's own, where it has any; V rows
    /// Meshes that `weights` have moved into the pose of the others. Clear it where other weights take their place.
    std::vector<OtherPose> other_poses;
    std::size_t mesh_count = 0;            ///< source meshes that contributed
    std::size_t skipped_primitives = 0;    ///< points and lines, which have no surface
    std::vector<PoseClip> skeleton_clips;  ///< of the skeleton's file, for SaveOptions::clips
    std::vector<std::string> warnings;     ///< remarks on the input that are not errors
    std::shared_ptr<const Document> document;

    MeshView mesh() const { return {positions, triangles, skin_of_vertex}; }
    /// The triangles of what does not follow (part_of_vertex): the shape of the character.
    std::vector<Triangle> leading_triangles() const;
};

/// A skeleton from a file of its own.
struct SkeletonFile {
    Skeleton skeleton;  ///< in the file's world
    std::string pose;   ///< of a character: which pose this is; otherwise empty
    std::vector<PoseClip> clips;
};

struct LoadOptions {
    /// Skeleton JSON or TGF for a mesh that has none. Given for a file that has a skin, it is an error.
    std::filesystem::path skeleton;
    /// The same, already read (parse_skeleton_file). Its animations come into Scene::skeleton_clips.
    std::optional<SkeletonFile> own_skeleton = {};
    /// For a mesh that has no skin and for which `skeleton` is not given: the skeleton to bind to, in the space of
    /// the file's world. A file with a skin keeps its own. Joints are written with their axes, without scale.
    std::optional<Skeleton> fallback = {};
    /// Factor on all lengths of `skeleton` or `own_skeleton`, if it is in another unit than the mesh: above 0.
    /// Other than 1 without them, it is an error.
    double skeleton_scale = 1;
    /// Reads the animations of `skeleton`, too.
    bool skeleton_clips = false;
    /// Accepts a file without a skin whose nodes are at one place, or are groups of meshes without the names of a
    /// character: a prop (a car: wheels, doors). All of it is then bound to these nodes. Otherwise it is an error.
    bool prop = false;
    /// In a file without a skin, a mesh below a joint (or on its node) follows that joint whole: its skin has that
    /// joint only. With this, it is bound as other meshes are. A mesh around most joints of the skeleton always is.
    bool bind_parts = false;
    /// In a file with skins, also takes meshes of nodes without a skin that hang on no joint (a new shirt beside
    /// the body), where these nodes stand at rest. save then gives them a skin with the joints of the file's
    /// largest.
    bool bind_unskinned = false;
    /// Leaves Scene::part_of_vertex empty: all meshes are one.
    bool together = false;
    /// Files that the model names (buffers, images) may be symbolic links out of its folder. Otherwise such a model
    /// is refused: it could bring other files of the machine into its output.
    bool follow_links = false;
};

/// Reads .glb, .gltf, .vrm, .fbx or .obj (with LoadOptions::skeleton). The kind is decided by content, then by
/// extension. Errors name the byte, accessor, mesh, vertex or joint and the rule that it breaks.
///
/// Space: inverse bind matrices define the bind pose; the node rest pose, which differs in many files, does
/// not. Skins after the first are mapped into the first one's space by a joint that both list, else through
/// the node hierarchy. Meshes on nodes without a skin stay as they are (rigid props) unless the file has no
/// skinned mesh at all; then the largest node hierarchy without meshes is the skeleton, posed as the nodes
/// say, and every mesh binds to it.
///
/// Other formats than glTF, FBX and OBJ are read by a process of their own (see serve_as_reader), whose memory is
/// limited to Context::memory_limit, or without one to 2 GB and 64 times the file. Context::cancel stops reading.
Result<Scene> load(const std::filesystem::path& path, const LoadOptions& options = {}, Context* context = nullptr);

/// Bytes that the files of the scene take, with what they decompress to: what is left of Context::memory_limit is
/// for other models and for the work on them, if the caller takes it off.
std::size_t memory_of(const Scene& scene);

/// The same from bytes; `name` is used in messages, `base` resolves external files (empty = none allowed). External
/// files must lie in `base` or below it; other URIs are an error.
Result<Scene> load_bytes(std::span<const std::byte> bytes, const std::string& name,
                         const std::filesystem::path& base = {}, const LoadOptions& options = {},
                         Context* context = nullptr);

/// Call it first in main, with its arguments: to read a file of another format than glTF, FBX and OBJ, the library
/// then starts the program again, and there this call reads the file and returns the exit code of the process; else
/// it returns nothing. In a program that does not call it, the program `sinew` that was installed with the library
/// reads such files. Without that, and on Windows, they are read in the process of the program, without limits: a
/// damaged file may crash it or never end.
std::optional<int> serve_as_reader(int argc, char** argv);

/// From now on this process reads and writes files in this folder and below it only, follows no link out of it, and
/// starts no process: files of formats that need one (see load) are errors. For servers that strangers call. Only
/// with files of this library; on Windows an error. Not to be taken back.
Status confine(const std::filesystem::path& folder);
/// Whether a path may be read or written after that: an error says why not. No error: it may still not exist.
Status check_confined(const std::filesystem::path& path);

/// A file of another format than glTF and OBJ as GLB, for programs that do not read it. Its textures that are files
/// of their own stay so. Empty for glTF and OBJ. Errors and limits as of load.
Result<std::vector<std::byte>> converted_to_glb(const std::filesystem::path& path, Context* context = nullptr,
                                                bool follow_links = false);

/// Files beside the input that its document refers to (buffers, images) and that lie in its folder or below it.
std::vector<std::filesystem::path> external_files(const Scene& scene);

/// What a file holds beside its scene.
struct Contents {
    std::string format;     ///< "GLB", "glTF", "OBJ", or the extension: "FBX"
    std::string generator;  ///< the program that wrote it, or empty
    std::string version;    ///< of glTF
    std::string vrm;        ///< version of VRM, or empty
    std::size_t bytes = 0;
    std::size_t nodes = 0, meshes = 0, skins = 0, materials = 0, images = 0, animations = 0;
    std::size_t morph_targets = 0;     ///< the maximum of a mesh
    std::size_t draco_primitives = 0;  ///< compressed ones
    std::size_t meshopt_views = 0;     ///< compressed ones
    std::vector<std::string> extensions, required;
};
/// For any file that load reads, also one without a skeleton.
Result<Contents> contents_of(const std::filesystem::path& path, Context* context = nullptr,
                             bool follow_links = false);

/// Weights as the file stores them, before load drops, adds up and normalises, and what is wrong with its skins.
struct StoredWeights {
    std::vector<float> sums;             ///< V: of the weights that are positive and finite
    std::vector<std::uint8_t> invalid;   ///< V: 1 where a weight is negative or not finite
    std::vector<std::uint8_t> repeated;  ///< V: 1 where a joint is listed twice with weight
    /// V: 1 where the skin binds joints in another pose than the skin that gives the scene its pose.
    std::vector<std::uint8_t> other_pose;
    std::vector<std::string> faults;  ///< sentences: rules of glTF 2.0 that skins and skinned nodes break
};
/// Empty vectors for a scene whose file has no weights. O(V), and reads the accessors again.
Result<StoredWeights> stored_weights(const Scene& scene);

/// Reads a skeleton alone: skeleton JSON ({"bones":[{"name","parent","head","tail"},…],"points":[…]}) or TGF, whose
/// tails, points and edges are stated bones (Joint::tail, Joint::stated_links); or that of a character, of any
/// format of load but OBJ: in the bind pose of its skin, where joints without weights do not deform; without a skin
/// that a mesh uses, as its nodes stand at rest. with_clips: also its animations; an error for skeleton JSON and
/// TGF.
Result<SkeletonFile> load_skeleton_file(const std::filesystem::path& path, bool with_clips = false,
                                        Context* context = nullptr, bool follow_links = false);
/// The skeleton of load_skeleton_file.
Result<Skeleton> load_skeleton(const std::filesystem::path& path, Context* context = nullptr);
/// The same from the bytes of skeleton JSON, TGF or a GLB, told apart by their first character that is not white.
/// `name` is used in messages here and below.
Result<SkeletonFile> parse_skeleton_file(std::string_view text, const std::string& name, bool with_clips = false,
                                         Context* context = nullptr);
Result<Skeleton> parse_skeleton(std::string_view text, const std::string& name);

/// Skeleton JSON (docs/formats.md) of the joints' names, parents, heads and stated tails; parse_skeleton reads it
/// back to the bit. Names must differ.
std::string skeleton_json(const Skeleton& skeleton);

/// Reads joint options (docs/formats.md) into the joints that they name: the keys of a joint in skeleton JSON. A
/// name or pattern that no joint has, an unknown key, and two patterns that set the same of one joint are errors;
/// the skeleton is then unchanged. Call before select_deforming: "deform" takes precedence over names and
/// weights, as --include and --exclude do.
Status load_joint_options(const std::filesystem::path& path, Skeleton& skeleton, const Context* context = nullptr);
Status parse_joint_options(std::string_view text, const std::string& name, Skeleton& skeleton,
                           const Context* context = nullptr);

/// All bytes of a regular file. A pipe, a device or a directory, or an error of the operating system, is
/// ErrorCode::io with the reason; a file larger than Context::memory_limit is ErrorCode::too_large. /dev/null is
/// empty.
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, const Context* context = nullptr);

enum class WeightFormat { f32, u16, u8 };
/// The unit of lengths in a new FBX file.
enum class FbxUnit { cm, m };

struct SaveOptions {
    WeightFormat weight_format = WeightFormat::f32;
    /// Animations to add behind those of the file. The file then plays the poses that skinning_matrices
    /// (sinew/deform.h) gives for the keys. Channels are written where a key differs from the node's rest pose: for
    /// joints that the keys move, and for joints whose rest pose differs from their bind pose. An animated node
    /// gets translation, rotation and scale instead of a matrix, as the format requires. If no translation,
    /// rotation and scale is exact (a turned joint below a stretched one), the nearest is written, with a note.
    std::vector<PoseClip> clips = {};
    /// Writes everything uncompressed, also what is not skinned: no Draco and no meshopt. All data is then in one
    /// buffer.
    bool decompress = false;
    /// Writes the inverse bind matrices that are missing or cannot be inverted, as the nodes' rest pose gives them.
    /// Otherwise the file keeps its own, and what is bound to such a joint collapses in a viewer (load warns).
    bool repair_matrices = false;
    FbxUnit fbx_unit = FbxUnit::cm;
};

/// Changes by save other than weights, for the report.
struct SaveReport {
    std::vector<std::string> notes;
    std::size_t bytes = 0;
};

/// Files that appear together or not at all. Each is written to a temporary file beside its destination; commit
/// renames them. The destructor removes files that were not committed, and folders made for them. A batch also
/// removes temporary files that a killed process left in its folders.
class OutputBatch {
public:
    OutputBatch() = default;
    OutputBatch(const OutputBatch&) = delete;
    OutputBatch& operator=(const OutputBatch&) = delete;
    ~OutputBatch();

    /// Writes the temporary file. A device or pipe is written by commit, before any rename. Two outputs of one
    /// place are an error.
    Status add(const std::filesystem::path& path, std::span<const std::byte> bytes);
    /// A file that `owner`, a model, refers to, and other models beside it perhaps too. It never replaces another:
    /// if there is a file at `path` with other bytes, now or when the batch is committed, that is an error.
    Status add_shared(const std::filesystem::path& path, std::span<const std::byte> bytes,
                      const std::string& owner);
    /// Makes a folder and those above it where they are missing.
    Status add_folder(const std::filesystem::path& path);
    /// Writes to devices and pipes, which cannot be undone. commit does it where it was not done.
    Status write_devices();
    /// Renames in reverse order: when a file appears, the files that were added after it are complete. The batch is
    /// empty afterwards.
    Status commit();

private:
    struct File {
        std::filesystem::path path, target;  ///< as named; with symbolic links followed
        std::filesystem::path temporary;     ///< empty: a device, renamed already, or a shared file that is there
        std::vector<std::byte> held;         ///< for a device, and of a shared file
        bool replaces = false, written = false;  ///< written: to its device
        int locked = -1;    ///< descriptor of the temporary file; its lock shows that this process is running
        std::string owner;  ///< of a shared file
        std::array<std::uint64_t, 4> there{};  ///< version of a shared file that is there
    };
    Status add(File output, std::span<const std::byte> bytes);
    static void close(File& file);
    static Status publish(File& file);
    void discard();

    std::vector<File> files_;
    std::vector<std::filesystem::path> folders_;
    std::vector<std::filesystem::path> cleaned_;  ///< where files of processes that were killed have been removed
};

/// Removes the temporary files of all batches of this process. May be called in the handler of a signal that ends
/// the process. Nothing may be written afterwards.
void remove_unfinished_files() noexcept;

/// Whether save can write to a file of this name: it must end in .glb, .vrm, .gltf or .fbx.
Status check_output(const std::filesystem::path& path);
/// The same for a scene: only a VRM can be written as .vrm.
Status check_output(const Scene& scene, const std::filesystem::path& path);

/// Whether weights can be saved with a scene: every vertex has some, on joints of its own skin. An error begins
/// with `name`, the file that the weights came from, and names vertex and joint.
Status check_weights(const Scene& scene, const SkinWeights& weights, const std::string& name);

/// Writes the scene's document with new weights as .glb, .vrm, .gltf or .fbx. Minimal: JSON text and bytes that do
/// not concern JOINTS_n/WEIGHTS_n (or a new skin, or SaveOptions::clips) are copied unchanged; nothing is
/// renumbered. The file shows at rest what was bound: so inverse bind matrices that nothing showed (placeholders of
/// joints without weights) are written as bound where the new weights use them, and meshes of Scene::other_poses in
/// the pose of the others; notes say so. Draco primitives are written uncompressed, which is noted. u8 and u16
/// weights sum to exactly 255 and 65535 per vertex over all sets; the four largest are in set 0. Every vertex must
/// have weights (as after bind), on joints of its own skin (check_weights).
///
/// If the folder is not that of the input, files that the document refers to (buffers, images) are copied beside
/// the output: buffers as they were when the scene was loaded. A file with other content under such a name, then or
/// when the files appear, is an error; so is, in the folder of the input, a buffer that has changed. All files
/// appear, or none does. A GLB that is made from a .gltf contains its images.
///
/// .fbx: of an FBX, the file with other clusters (docs/formats.md); of other scenes, and where joints or clips are
/// added, a new one.
Result<SaveReport> save(const Scene& scene, const SkinWeights& weights, const std::filesystem::path& path,
                        const SaveOptions& options = {});

/// The same as a part of a batch: the file appears when the batch is committed.
Result<SaveReport> save(const Scene& scene, const SkinWeights& weights, const std::filesystem::path& path,
                        const SaveOptions& options, OutputBatch& batch);

/// The same into memory, as GLB.
Result<std::vector<std::byte>> save_glb_bytes(const Scene& scene, const SkinWeights& weights,
                                              const SaveOptions& options = {}, SaveReport* report = nullptr);
/// As FBX: the file that was read, if only its weights change, or a new one.
Result<std::vector<std::byte>> save_fbx_bytes(const Scene& scene, const SkinWeights& weights,
                                              const SaveOptions& options = {}, SaveReport* report = nullptr);

/// A new scene from plain arrays (OBJ reading, generated characters); saving it writes a fresh GLB.
Result<Scene> make_scene(std::vector<Vec3> positions, std::vector<Triangle> triangles, Skeleton skeleton,
                         const std::string& name);

/// Weights JSON: {"sinew":"weights","joints":[names],"vertices":[[[joint,weight],…],…]} (docs/formats.md).
Status save_weights_json(const Skeleton& skeleton, const SkinWeights& weights, const std::filesystem::path& path);
Status save_weights_json(const Skeleton& skeleton, const SkinWeights& weights, const std::filesystem::path& path,
                         OutputBatch& batch);
Result<std::string> weights_json(const Skeleton& skeleton, const SkinWeights& weights);

/// Reads it back and matches joints to the skeleton by name. An unknown joint, a wrong vertex count, a
/// negative or non-finite weight or a row that sums to zero is an error that names the vertex.
Result<SkinWeights> load_weights_json(const Skeleton& skeleton, std::size_t vertex_count,
                                      const std::filesystem::path& path, const Context* context = nullptr);
Result<SkinWeights> parse_weights_json(const Skeleton& skeleton, std::size_t vertex_count, std::string_view text,
                                       const std::string& name);

/// An animation of the file. Names may be empty or the same for several.
struct Clip {
    std::string name;
    double start = 0, end = 0;  ///< seconds: its first and last key
};
/// The animations that have keys for nodes, in file order; empty for other formats than glTF.
Result<std::vector<Clip>> clips(const Scene& scene);

/// Offsets from the shape of the scene, to be added to the vertices from first_vertex on before they are skinned.
struct MorphTarget {
    std::uint32_t first_vertex = 0;
    float weight = 0;           ///< not 0
    std::vector<Vec3> offsets;  ///< scene space
    std::vector<Vec3> normals;  ///< the same for normals, or empty
};

/// A scene at a point in time.
struct ScenePose {
    /// Per joint of the skeleton, from the bind pose to where its node is: bind space to bind space.
    std::vector<Transform> skinning;
    std::vector<MorphTarget> morphs;  ///< where the animation moves weights: what they differ by from the scene's
    /// From bind space to where the file's nodes, at rest, place the skeleton's root: what a viewer shows.
    Transform to_world;
    double time = 0;  ///< clamped to the clip
    /// Per node of the file: from its own space to the world.
    std::vector<Transform> nodes;
};
/// Where the file's nodes put joints and shapes: at rest, or at a time (seconds) of a clip, an index into clips().
/// Step, linear (slerp for rotations) and cubic spline samplers; rotations and weights may be normalised integers.
/// Nodes that the clip does not move stay at rest. Without nodes for the joints (a skeleton from elsewhere)
/// everything is the identity. Errors name the animation and the accessor.
Result<ScenePose> pose_at(const Scene& scene, std::optional<std::size_t> clip, double time);

/// Moves the vertices of Scene::other_poses so that deform with these transforms and Scene::weights puts them where
/// a viewer of the file shows them: it applies the weights once, from the pose of their own skin. Exact for linear
/// blend. Normals and tangents: V or empty. Vertices that the pose folds to nothing, and all others, keep their
/// bits.
void start_from_other_poses(const Scene& scene, std::span<const Transform> transforms, std::span<Vec3> positions,
                            std::span<Vec3> normals = {}, std::span<std::array<float, 4>> tangents = {});

/// The pose of each joint along its own axes that leads to skinning matrices (J): the inverse of skinning_matrices
/// (sinew/deform.h). Where there is none (a turned joint below a stretched one), the nearest; where it is that of
/// the bind pose but for rounding, exactly that. O(joints).
std::vector<JointPose> joint_poses(const Skeleton& skeleton, std::span<const Transform> skinning);

/// Reads a pose by joint name from pose JSON (docs/formats.md): one entry per joint of the skeleton. A name that no
/// joint has is an error that suggests the nearest.
Result<std::vector<JointPose>> load_pose(const Skeleton& skeleton, const std::filesystem::path& path,
                                         const Context* context = nullptr);
Result<std::vector<JointPose>> parse_pose(const Skeleton& skeleton, std::string_view text, const std::string& name,
                                          const Context* context = nullptr);

/// Reads an edit list (docs/edits.md) for a scene: falloffs, rigid regions, locks and edits, with names, boxes,
/// materials and painted colours resolved to vertices and joints. The caller sets Locks::weights. Errors name the
/// entry and list the known names: a name without a match, a vertex past the end, an unknown key.
Result<Adjustments> load_edits(const Scene& scene, const std::filesystem::path& path,
                               const Context* context = nullptr);
Result<Adjustments> parse_edits(const Scene& scene, std::string_view text, const std::string& name,
                                const Context* context = nullptr);
/// One entry of "edits".
Result<WeightEdit> parse_edit(const Scene& scene, std::string_view text, const std::string& name);

/// Attributes of a surface other than positions, as stored in the file: V each, or empty where no primitive has
/// any. Scene space, any length; zeros for vertices of primitives without.
struct ShadingFrames {
    std::vector<Vec3> normals;
    std::vector<std::array<float, 4>> tangents;
    std::vector<std::array<float, 4>> colours;  ///< COLOR_0: red, green, blue, alpha, as stored; else opaque white
    /// _DUAL_QUATERNION (docs/formats.md), 0 to 1: SurfaceView::dual_share; 1 for vertices of primitives without.
    std::vector<float> dual_share;
};
Result<ShadingFrames> shading_frames(const Scene& scene);

/// Appearance of a surface: base colours and their textures, without lights or gloss.
struct Look {
    struct Image {
        std::string mime;              ///< "image/png", "image/jpeg", "image/webp" …; "" where it cannot be read
        std::vector<std::byte> bytes;  ///< as stored
    };
    struct Material {
        std::array<float, 4> colour{1, 1, 1, 1};         ///< linear factor on the texture
        int image = -1;                                  ///< into images, or -1
        bool repeats = true;                             ///< beyond 0..1; else the border of the texture continues
        std::array<float, 2> offset{0, 0}, scale{1, 1};  ///< KHR_texture_transform
        float rotation = 0;                              ///< the same, radians
        float cutoff = 0;                                ///< alpha below is not drawn; 0 = none
        bool blends = false, double_sided = false;
    };
    std::vector<std::array<float, 2>> uvs;   ///< V or empty: where in the texture; (0, 0) is its upper left
    std::vector<int> material_of_primitive;  ///< per entry of Scene::primitives: into materials, or -1
    std::vector<Material> materials;
    std::vector<Image> images;
};
/// Images that lie outside the document's folder or cannot be read are empty. Errors name accessors.
Result<Look> look_of(const Scene& scene);

/// A mesh on a node without a skin: a hat, a staff. It is in no binding; a viewer shows it where its node stands.
struct Prop {
    std::string name;                       ///< "mesh name/primitive number"
    std::uint32_t joint = no_index;         ///< the nearest joint above its node, with which it moves, or none
    int material = -1;                      ///< into Look::materials, or -1
    std::vector<Vec3> positions;            ///< bind space: the joint's skinning matrix leads to where it is shown
    std::vector<Vec3> normals;              ///< as positions, any length; or empty
    std::vector<std::array<float, 2>> uvs;  ///< as Look::uvs, of the first set; or empty
    std::vector<Triangle> triangles;
};
/// The props of a file with skins. Those that cannot be read, and those past four million vertices, are left out.
std::vector<Prop> props_of(const Scene& scene);

/// The version of VRM of the scene's file: "1.0", "0.x", whose characters look along -z, or "".
std::string vrm_of(const Scene& scene);

/// A scene that was deformed: the scene's vertices, in scene space.
struct PosedScene {
    std::span<const Vec3> positions;                 ///< V
    std::span<const Vec3> normals;                   ///< V or empty: then none are written
    std::span<const std::array<float, 4>> tangents;  ///< the same
    /// Transforms of the rest of the file: of nodes, and of meshes that are attached to joints without a skin.
    const ScenePose& pose;
};

/// Whether save_posed can write to a file of this name.
Status check_posed_output(const std::filesystem::path& path);

/// Writes the meshes as they are posed, without skeleton, as .glb, .gltf (one file, all embedded) or .obj
/// (positions and faces, in the order of the scene). glTF keeps names, primitives, materials, textures (files
/// beside the input are embedded), texture coordinates, colours and other attributes; positions, normals and
/// tangents are the posed ones, in the world. Meshes without a skin stay rigid and stand where the nodes put them
/// at that time. Joints, skins, animations, morph targets of posed meshes, cameras, lights and extensions that
/// refer to nodes are not written; notes say what was there.
Result<SaveReport> save_posed(const Scene& scene, const PosedScene& posed, const std::filesystem::path& path);

/// The same as a part of a batch: the file appears when the batch is committed.
Result<SaveReport> save_posed(const Scene& scene, const PosedScene& posed, const std::filesystem::path& path,
                              OutputBatch& batch);

/// Writes bytes to a temporary file beside `path` and renames it: whole or not at all.
Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace sinew::io
