/* sinew.h: the C interface of sinew, for every language that can call C.
 *
 * - snw_model_open, snw_model_open_with: a character from bytes; snw_model_from_arrays: from arrays
 * - snw_model_json: its description
 * - snw_rig: a template skeleton for a mesh that has none
 * - snw_bind: distances, the costly stage; snw_weights_of: weights, again for another falloff or edit
 * - snw_weights_csr, snw_weights_dense: weights as arrays; snw_save_json: as JSON
 * - snw_pose_matrices, snw_clip_matrices, snw_deform: the character in another pose; snw_render_png: a picture of
 * it
 * - snw_check_json: whether a skin is fit to ship; snw_compare_json: two of them compared
 * - snw_save_glb: the file with its new weights; snw_save_glb_animated: with new animations, too; snw_save_fbx: as
 * FBX
 *
 * Every call that can fail returns a snw_status and writes its result through the last pointer, which is set to
 * null on failure; snw_error() then has one sentence with the broken rule, the place, and what to do. Calls
 * throw no exceptions. A null handle or pointer that must not be null is SNW_USAGE.
 *
 * Each object is freed by the function of its type; freeing null does nothing. Pointers into a handle live as
 * long as the handle. Handles may be used from any thread. Calls that take a handle as const only read it: any
 * number of them may run at a time, also in the callbacks of a bind. A call that changes a handle needs it alone;
 * while a bind reads the model, such a call is SNW_USAGE. snw_cancel may be called from other threads. Text is
 * UTF-8. V, T and J are the model's numbers of vertices, triangles and joints (snw_model_size). Space:
 * right-handed, y up, the units of the file (metres in glTF), at the bind pose.
 *
 * The same input gives the same bits as the command line with the same options.
 */
#ifndef SINEW_H
#define SINEW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when programs that were compiled with an earlier header must be compiled again. */
#define SNW_ABI 3

typedef enum snw_status {
    SNW_OK = 0,
    SNW_USAGE = 1,     /* the caller asked for something that does not exist or does not combine */
    SNW_INPUT = 2,     /* bytes or an array break a rule */
    SNW_TOO_LARGE = 3, /* more memory than there is or than the context allows */
    SNW_IO = 4,        /* the operating system refused to read or write */
    SNW_CANCELLED = 5, /* snw_cancel */
    SNW_INTERNAL = 6   /* a bug in sinew */
} snw_status;

/* "0.3.0"; and SNW_ABI as the library was built. */
const char* snw_version(void);
int snw_abi(void);

/* The message of the last call of this thread that failed; "" before. Valid until the next call of this thread. In
 * messages and warnings an option stands in backticks by its word, with a value where one helps, and a command of
 * the program by its name: `resolution 128`, `sinew rig`. Show them in the words of your program. */
const char* snw_error(void);

/* Bytes, or text (a zero byte follows the last, not counted by the size). */
typedef struct snw_bytes snw_bytes;
const uint8_t* snw_bytes_data(const snw_bytes* bytes);
size_t snw_bytes_size(const snw_bytes* bytes);
void snw_bytes_free(snw_bytes* bytes);

/* ---- Contexts. A null context: all cores (of a container: its quota), silent, not cancellable. */

typedef struct snw_context snw_context;
/* The name of a stage, and 0..1 within it. Called in the thread of the call. */
typedef void (*snw_progress)(const char* stage, double fraction, void* user);
snw_status snw_context_new(snw_context** out);
/* How much of the call that uses the context is done, 0..1, over all stages; it never falls within a call. Stages
 * have fixed parts of it, measured for characters of usual size, so it is an estimate of time. 0 before the first
 * call. From any thread, also while the call runs. */
double snw_context_fraction(const snw_context* context);
void snw_context_threads(snw_context* context, int threads); /* 0 = one per core */
/* Of each call with the context, and of each model that it loads, not of several models together; 0 = none. */
void snw_context_memory_limit(snw_context* context, size_t bytes);
/* Files that a model names may be symbolic links out of its folder; 0 (default): such a model is refused. */
void snw_context_follow_links(snw_context* context, int follow);
void snw_context_progress(snw_context* context, snw_progress progress, void* user);
/* Receives each warning of calls that use the context, when they succeed and in their thread: those of models that
 * are opened and of binds, as in "warnings" of their JSON, and of transfers. null: none. */
typedef void (*snw_log)(const char* warning, void* user);
void snw_context_log(snw_context* context, snw_log log, void* user);
void snw_cancel(snw_context* context);   /* stops the call that uses it, soon; from any thread, or from progress */
void snw_uncancel(snw_context* context); /* before the context is used again */
void snw_context_free(snw_context* context);

/* ---- Settings: the options of `sinew bind` by their words, without "--". */

typedef struct snw_settings snw_settings;
snw_status snw_settings_new(snw_settings** out);
/* "method" sets all other options of bind to its preset, so it comes first; "as-published" sets some of them, so it
 * comes second. Beside them: "deform-from" (auto, skin, names, all), "exclude" and "include" (each call adds a name
 * with * and ?; "" empties the list; one that matches no joint is a warning of the report, or with "strict" on an
 * error), "weight-format", "repair-matrices" (on, off: of snw_save_glb, docs/formats.md), "fbx-unit" (cm, m: of
 * snw_save_fbx), and "keep-volume" (on, off): the binding keeps its volume, for snw_binding_rebind and for a faster
 * snw_binding_move. */
snw_status snw_settings_set(snw_settings* settings, const char* name, const char* value);
/* The value of an option. Lists: one name a line. */
snw_status snw_settings_get(const snw_settings* settings, const char* name, snw_bytes** out);
/* The options that differ from the method's preset, as words for a shell: "--method voxel-heat --resolution 128".
 */
snw_status snw_settings_command(const snw_settings* settings, snw_bytes** out);
void snw_settings_free(snw_settings* settings);

/* All options as JSON, for programs that show them: [{"name","kind","group","choices","help","value"}, …]. kind:
 * "number", "whole", "choice", "flag" (on, off) or "range" (two numbers); group: "Method" (a change needs snw_bind)
 * or "Weights" (snw_weights_of suffices); choices: a list; value: the default. read_by_methods, read_by_laws: the
 * methods and falloff laws that read it, if not all do; for others snw_bind refuses it. The methods are the choices
 * of "method": "methods": {name: {"summary", "presets": {option: value that differs}}} is in its entry. A flag that
 * sets other options when turned on names them: "sets": {option: value}. */
snw_status snw_settings_json(snw_bytes** out);

/* ---- A character. */

typedef struct snw_model snw_model;
/* GLB, glTF, VRM; OBJ with a skeleton; other formats of this build. `name` is used in messages, and its extension
 * if the content does not show the format. folder: of external files; null: external files are refused. skeleton:
 * skeleton JSON or TGF, for a mesh without skeleton; null otherwise. The bytes are copied. */
snw_status snw_model_open(const void* bytes, size_t size, const char* name, const char* folder,
                          const void* skeleton, size_t skeleton_size, const char* skeleton_name, snw_model** out);

/* What snw_model_open does not ask for. A struct of zeros beside its size reads as snw_model_open with null
 * pointers. Structs of options begin with their size: later versions may add members, which are zeros for programs
 * that were compiled before. */
typedef struct snw_open_options {
    size_t size;          /* sizeof(snw_open_options); 0 is SNW_USAGE */
    const char* folder;   /* of external files; null: external files are refused */
    const void* skeleton; /* skeleton JSON, TGF or a GLB, for a mesh without skeleton; null: none */
    size_t skeleton_size;
    const char* skeleton_name; /* for messages; null: "skeleton" */
    double skeleton_scale; /* factor on the lengths of skeleton, above 0: 0.01 for centimetres where the mesh has
                            * metres; 0: as it is. Other than 1 without a skeleton: SNW_USAGE */
    int prop;              /* not 0: accepts a file without a skin whose nodes are those of a prop */
    int bind_parts; /* not 0: in a file without a skin, meshes below joints do not follow their joint whole */
    int together;   /* not 0: levels of detail, meshes that no scene shows and several characters are one mesh */
    int with_clips; /* not 0: snw_save_glb also writes the animations of `skeleton`, a GLB, behind those of the file
                     */
    /* not 0: vertices that have weights in the file keep them (snw_model_select replaces this choice), and meshes
     * without a skin that hang on no joint are bound, too: a new shirt beside the body */
    int only_missing;
} snw_open_options;
/* snw_model_open with these options; null: none. The context's memory limit holds for external files, and for
 * reading formats other than glTF and OBJ; snw_cancel stops reading these. */
snw_status snw_model_open_with(const void* bytes, size_t size, const char* name, const snw_open_options* options,
                               snw_context* context, snw_model** out);

/* One mesh. Polygons are cut into triangles: a convex one as a fan from its first corner. */
typedef struct snw_mesh {
    const char* name; /* for messages and for snw_save_glb; may be null */
    size_t vertex_count;
    const float* positions; /* vertex_count × 3, in the mesh's own space */
    size_t face_count;
    const uint32_t* face_sizes; /* corners of each face, at least 3; null: every face is a triangle */
    const uint32_t*
        corners; /* the vertices of each face, counter-clockwise seen from outside; from 0 in each mesh */
    const double* transform; /* 12 numbers, from the mesh's space to the model's: the three upper rows of a matrix,
                                row by row. null: the identity */
} snw_mesh;

/* A character as arrays. They are copied. A pointer may be null only where its comment says so. */
typedef struct snw_arrays {
    const char* name; /* of the model, for messages; null: "arrays" */
    const snw_mesh* meshes;
    size_t mesh_count;        /* V, the vertices of the model, are those of all meshes one after the other */
    size_t joint_count;       /* J; 0: a mesh alone, for snw_transfer */
    const char* const* names; /* J; null: "joint 0", "joint 1", … */
    const int32_t* parents;   /* J; -1: a root. In any order */
    /* J × 12: matrix of each joint at rest, from the joint's space to the model's, as snw_mesh.transform. Its axes
     * are the joint's axes: poses turn about them, and surface-heat finds hinges by them. null: the axes of the
     * space, and then heads must not be null. */
    const double* rest;
    const float* heads; /* J × 3: where each joint is; null: the origins of rest */
    /* J × 3: where the joint's bone ends; a first number that is NaN: not stated. A joint with a tail has this one
     * bone; one without has a bone to each of its children. null: none is stated. */
    const float* tails;
    const uint8_t* deform; /* J: 0: never deforms, 1: deforms, 2: by the settings ("deform-from"). null: all 2 */
    /* The character's weights as compressed rows: vertex v has the entries offsets[v] to offsets[v + 1] - 1. Rows
     * are normalised; they may be empty. null: no weights. */
    const uint64_t* weight_offsets; /* V + 1 */
    const uint32_t* weight_joints;
    const float* weight_shares;
    const float* up; /* 3: the way up, for standard poses; null: y */
} snw_arrays;
/* The model of these arrays. Errors name the mesh, face, vertex or joint. snw_save_glb writes it as a new file with
 * one mesh, without the axes of joints. It has no normals, texture coordinates, materials and clips. O(V + T). */
snw_status snw_model_from_arrays(const snw_arrays* arrays, snw_model** out);
/* Moves the joints of a model from arrays. heads: J × 3; tails: as in snw_arrays, or null: each stated tail keeps
 * its place from its head. Before snw_binding_move. */
snw_status snw_model_move_joints(snw_model* model, const float* heads, const float* tails);
/* What binds of this model change: snw_weights_of keeps the rest as the model's own weights have it
 * (snw_model_weights). vertices: V flags: 0: the vertex keeps its row, also an empty one; null: all change.
 * locked_joints: J flags: 1: the weights on this joint stay at every vertex, and the other joints share the rest;
 * null: none. The flags are copied; they replace those of an earlier call. Without own weights the vertices that
 * are left out have none, and locked joints are SNW_USAGE. */
snw_status snw_model_select(snw_model* model, const uint8_t* vertices, const uint8_t* locked_joints);
void snw_model_free(snw_model* model);
/* Joint options (docs/formats.md): tails, shapes, hardness, planes. Before snw_model_json and snw_bind; they
 * replace those of an earlier call; "" of size 0 removes them. */
snw_status snw_model_joint_options(snw_model* model, const char* text, size_t size);

void snw_model_size(const snw_model* model, size_t* vertices, size_t* triangles, size_t* joints);
const float* snw_model_positions(const snw_model* model);    /* V × 3 */
const uint32_t* snw_model_triangles(const snw_model* model); /* T × 3 */
const float* snw_model_normals(
    const snw_model* model); /* V × 3, zeros for primitives without; null if no primitive has any */
const float* snw_model_uvs(const snw_model* model); /* V × 2, or null */

/* Description of the model, with settings that select the joints that deform:
 *   counts      vertices, triangles, joints, deforming_joints, meshes, primitives, skipped_primitives, parts
 *   defects     as in docs/report.md
 *   box         [[x,y,z],[x,y,z]]
 *   joints      [{"name","parent","position","axes","deforms","reason","tail"?}]   axes: three unit vectors
 *   bones       [[joint, head x,y,z, tail x,y,z], …]      bones of the bind; leaves are lengthened by bind
 *   primitives  [{"name","mesh","material","material_name","first_triangle","triangle_count","first_vertex",
 *               "vertex_count"}]
 *   materials [{"colour":[r,g,b,a],"image","repeats","offset","scale","rotation","cutoff","blends","double_sided"}]
 *   images      [{"mime","bytes"}]
 *   clips       [{"name","start","end"}]
 *   weights     whether the file has weights;  warnings  [text]
 *   props       [{"name","joint","material"}]   meshes of the file without a skin; joint: or -1 (snw_model_prop)
 *   vrm         version of VRM: "1.0", "0.x", whose characters look along -z, or ""
 * O(V + T log T). */
snw_status snw_model_json(const snw_model* model, const snw_settings* settings, snw_context* context,
                          snw_bytes** out);
/* A mesh of the file on a node without a skin: a hat, a staff. It is in no binding: a viewer shows it where its
 * node stands. Pointers are valid as long as the model. */
typedef struct snw_prop {
    const char* name; /* "mesh/primitive" */
    int32_t joint;    /* that it moves with, or -1 */
    int32_t material; /* into "materials", or -1 */
    size_t vertex_count;
    const float* positions; /* vertex_count × 3, in bind space: the joint's matrix leads to where it is shown */
    const float* normals;   /* the same, or null */
    const float* uvs;       /* vertex_count × 2, or null */
    size_t triangle_count;
    const uint32_t* triangles; /* triangle_count × 3 */
} snw_prop;
/* By its number in "props". */
snw_status snw_model_prop(const snw_model* model, size_t prop, snw_prop* out);
/* An image as stored in the file: PNG, JPEG, WebP or KTX2, by its number in "images". */
snw_status snw_model_image(const snw_model* model, size_t image, snw_bytes** out);

/* ---- Template skeletons. */

/* The templates as JSON: [{"name", "summary"}]: biped, quadruped, … (docs/rig.md). */
snw_status snw_rig_templates(snw_bytes** out);
/* Places the joints of a template into the mesh of the model, in its space, as `sinew rig` does. The joints of the
 * model do not matter: open a file that has no skeleton with any one, {"bones":[{"name":"root","head":[0,0,0]}]},
 * or give a mesh alone to snw_model_from_arrays. name: null: "biped". resolution: voxels along the longest side,
 * 32, 64, 128 or 256; 0: 128. skeleton: skeleton JSON, for snw_open_options; report: JSON with the keys of
 * docs/rig.md from "template" on, among them "confidence", 0..1: how much the mesh is like the template; or null.
 * Below a second at 128. */
snw_status snw_rig(const snw_model* model, const char* name, int resolution, snw_context* context,
                   snw_bytes** report, snw_bytes** skeleton);

/* ---- Flat figures. */

/* The GLB of `sinew cutout PNG --bones FILE`: a textured mesh with a skin, and weights by distance through
 * the pixels (docs/cutout.md). rgba: the picture unpacked, width × height × 4, rows from the top; only the
 * alpha is used; png: its file, embedded as it is. name: of the file. bones: bones JSON without layers.
 * smoothness: in pixels, 0 = chosen. */
snw_status snw_cutout_glb(const uint8_t* rgba, int width, int height, const void* png, size_t png_size,
                          const char* name, const char* bones, size_t bones_size, double smoothness,
                          snw_context* context, snw_bytes** out);

/* A picture that the caller unpacked; path: "image" of a layer. */
typedef struct snw_picture {
    const char* path;
    const uint8_t* rgba; /* width × height × 4, rows from the top; only the alpha is used */
    int width, height;
    const void* png; /* its file, embedded as it is */
    size_t png_size;
} snw_picture;
/* The same for several layers, as the GLB of `sinew cutout FILE`: bones JSON with "layers", and the pictures
 * that they name, in any order. name: of the file, for messages. */
snw_status snw_cutout_layers_glb(const snw_picture* pictures, size_t count, const char* name, const char* bones,
                                 size_t bones_size, double smoothness, snw_context* context, snw_bytes** out);

/* ---- Binding. */

typedef struct snw_binding snw_binding;
/* Computes distances. The settings select the joints that deform, which the binding keeps. Cost: docs/methods. */
snw_status snw_bind(const snw_model* model, const snw_settings* settings, snw_context* context, snw_binding** out);
/* Receives the results of snw_bind_progressive. `binding` is valid during this call: snw_binding_copy keeps it.
 * final: 0 for a coarser result, 1 for the last. Return 0 to stop after a coarser result, which
 * snw_bind_progressive then gives. It runs in the thread of that call and may use the binding, the model and the
 * context. */
typedef int (*snw_bind_step)(const snw_binding* binding, int final, void* user);
/* snw_bind with a first result while waiting: if the method measures in voxels and the resolution is above 64, it
 * binds at 64 first; not where that takes as long: surface-heat on more than 60,000 vertices. The last result is
 * that of snw_bind, to the bit. After snw_cancel the call gives SNW_CANCELLED and no binding; copies of the first
 * result stay valid. Time: that of snw_bind, and of a bind at resolution 64. */
snw_status snw_bind_progressive(const snw_model* model, const snw_settings* settings, snw_bind_step on_result,
                                void* user, snw_context* context, snw_binding** out);
snw_status snw_binding_copy(const snw_binding* binding, snw_binding** out);
/* How each vertex came to its weights, V values: 0 weighted, 1 bridged, 2 outside, 3 euclidean, 4 unused, 5 none
 * (docs/report.md). */
const uint8_t* snw_binding_coverage(const snw_binding* binding);
/* The report of docs/report.md. The binding must be one of this model: SNW_USAGE otherwise. */
snw_status snw_binding_report(const snw_binding* binding, const snw_model* model, const snw_settings* settings,
                              snw_bytes** out);
/* The binding as a file (docs/binding.md), and back. With "keep-volume" it can be used for other meshes, too. */
snw_status snw_binding_save(const snw_binding* binding, snw_bytes** out);
snw_status snw_binding_open(const void* bytes, size_t size, snw_binding** out);
/* The settings of the bind; those of snw_binding_open, too, as far as the file has them: method, falloff, limits.
 */
snw_status snw_binding_settings(const snw_binding* binding, snw_settings** out);
/* Binds another mesh of similar shape, or the same one again, from the binding's volume. The model's joints must be
 * those of the binding; the same of them deform. Another mesh needs "keep-volume". */
snw_status snw_binding_rebind(const snw_binding* binding, const snw_model* model, snw_context* context,
                              snw_binding** out);
/* The bind of the same mesh with moved joints (snw_model_move_joints), to the bit. The same joints deform. */
snw_status snw_binding_move(const snw_binding* binding, const snw_model* model, snw_context* context,
                            snw_binding** out);
void snw_binding_free(snw_binding* binding);

typedef struct snw_weights snw_weights;
/* Weights with the falloff and limits of the settings; options of the method are those of the bind. edits: an
 * edit list (docs/edits.md), which may lock weights of the file; null or empty: no edits. report: one line for each
 * edit, and warnings, or null. Milliseconds without "edits". */
snw_status snw_weights_of(const snw_binding* binding, const snw_model* model, const snw_settings* settings,
                          const char* edits, size_t edits_size, snw_context* context, snw_bytes** report,
                          snw_weights** out);
/* The same in a pose: falloffs by "angles" have their values there, as with `sinew pose --binding`; snw_weights_of
 * has those of the bind pose. matrices: as of snw_pose_matrices; null: the bind pose. The model keeps the last edit
 * list, so that a call with the same text does not find its vertices again. */
snw_status snw_weights_in_pose(const snw_binding* binding, const snw_model* model, const snw_settings* settings,
                               const char* edits, size_t edits_size, const double* matrices, snw_context* context,
                               snw_bytes** report, snw_weights** out);
/* The weights of the file; SNW_USAGE if it has none. */
snw_status snw_model_weights(const snw_model* model, snw_weights** out);
/* Weights from compressed rows, as in snw_arrays: sorted, repeated joints added, zeros dropped, normalised; a row
 * that sums to 1 keeps its bits. offsets: vertices + 1. joint_count: joints must be below it. */
snw_status snw_weights_from_rows(size_t vertices, size_t joint_count, const uint64_t* offsets,
                                 const uint32_t* joints, const float* shares, snw_weights** out);
/* Weights JSON (docs/formats.md), with the joints of the model by name. */
snw_status snw_weights_open_json(const snw_model* model, const void* text, size_t size, snw_weights** out);
/* Number of vertices, and of entries of all rows. */
void snw_weights_size(const snw_weights* weights, size_t* vertices, size_t* entries);
/* Fills compressed rows: offsets (V + 1), joints and shares (as many as entries); strongest first in each row. */
snw_status snw_weights_csr(const snw_weights* weights, uint64_t* offsets, uint32_t* joints, float* shares);
/* Fills V × joint_count, row by row. A joint past the end with weight is SNW_USAGE. */
snw_status snw_weights_dense(const snw_weights* weights, size_t joint_count, float* shares);
/* The limit, limit-rule and pruning of the settings, for finished weights. */
snw_status snw_weights_limit(const snw_weights* weights, const snw_settings* settings, snw_context* context,
                             snw_weights** out);
/* `fresh`, but with what is locked from `kept`: whole vertices (V flags, or null), and weights on joints
 * (joint_count flags, or null). At a vertex with locked joints the other joints share the rest in their fresh
 * proportions. A vertex whose kept row is empty has nothing to keep. max_influences: 1..8, or 0: all. */
snw_status snw_weights_keep(const snw_weights* fresh, const snw_weights* kept, const uint8_t* vertices,
                            const uint8_t* joints, size_t joint_count, int max_influences, snw_context* context,
                            snw_weights** out);
/* Finished weights with an edit list (docs/edits.md), as `sinew apply` does: without "falloff" and "rigid", which
 * need a binding. report: one line for each edit, or null. */
snw_status snw_weights_edit(const snw_model* model, const snw_weights* weights, const char* edits,
                            size_t edits_size, snw_context* context, snw_bytes** report, snw_weights** out);
/* Where an answer about these weights is likely worth most: the JSON of `sinew questions --json` (docs/edits.md),
 * at most `top` questions. An edit answers each: "pin", "assign" or "border". */
snw_status snw_questions_json(const snw_model* model, const snw_weights* weights, size_t top, snw_context* context,
                              snw_bytes** out);
/* Weights that another program made, as `sinew clean` cleans them (docs/clean.md). strength: 0..4, 1 is usual. Of
 * the settings the limit of influences is read; null: 4. report: JSON, "cleaned" of that page; or null. */
snw_status snw_weights_clean(const snw_model* model, const snw_weights* weights, double strength,
                             const snw_settings* settings, snw_context* context, snw_bytes** report,
                             snw_weights** out);
/* Weights of `source` for the mesh of `target`, which lies on it or around it in the same space, on the joints of
 * `source` (docs/transfer.md). distance: of a match, as a fraction of the diagonal of the source's box, and angle
 * between normals in degrees; 0.05 and 30 are usual. Of the settings the limit of influences is read; null: 4. how:
 * fills the target's V with 0 matched, 1 inpainted, 2 nearest, 3 unused; or null. warnings: one a line, or null. */
snw_status snw_transfer(const snw_model* source, const snw_weights* weights, const snw_model* target,
                        double distance, double angle, const snw_settings* settings, snw_context* context,
                        uint8_t* how, snw_bytes** warnings, snw_weights** out);
size_t snw_weights_width(const snw_weights* weights); /* largest number of joints of a vertex */
/* Fills V × width, strongest first. Unused slots are joint 0 with weight 0. Further joints are left out. */
snw_status snw_weights_rows(const snw_weights* weights, size_t width, uint16_t* joints, float* shares);
/* Fills V with the weight of one joint. */
snw_status snw_weights_joint(const snw_weights* weights, size_t joint, float* shares);
/* Fills V with the sum over joints of |a - b|, 0..2; 0 where either has no weights. */
snw_status snw_weights_difference(const snw_weights* a, const snw_weights* b, float* difference);
/* The numbers of `sinew compare`, with its default options: l1, precision, recall, strongest_agreement, trimmed,
 * deformation.standard and .random, and a and b without symmetry, as in docs/compare-report.md. Cost: two
 * deformations for each of about twenty poses, and a sweep through the volume for every joint. */
snw_status snw_compare_json(const snw_model* model, const snw_weights* reference, const snw_weights* other,
                            snw_context* context, snw_bytes** out);
/* The same with gates: JSON by the options of the command, {"max-l1": 0.01, "max-distance": 2, "min-agreement":
 * 0.9, "max-unweighted": 0}, or null. The result then has "gates", too: option, limit, value and passed of each. */
snw_status snw_compare_gates_json(const snw_model* model, const snw_weights* reference, const snw_weights* other,
                                  const char* gates, snw_context* context, snw_bytes** out);
/* What snw_check_json measures. Zeros beside the size: all rules with their default thresholds. */
typedef struct snw_check_options {
    size_t size;            /* sizeof(snw_check_options); 0 is SNW_USAGE */
    const char* profile;    /* limits of an engine: "unity", … (docs/check.md); null: none */
    const char* thresholds; /* JSON, stronger than the profile: {"stretch": 4, "bleed": null}; null: none */
    const char* only;       /* rules, one a line: no others are measured; null: all */
    const char* skip;       /* rules, one a line: not measured; null: none */
    int bleed_resolution;   /* 32..1024; 0: 64 */
    int strict;             /* not 0: "passed" is false after warnings, too */
} snw_check_options;
/* Whether a skin is fit to ship: the JSON of `sinew check --json` (docs/check.md). weights: null: those of the
 * file, with what it stores. options: null: the defaults. Joints are as in the file: the selection of deforming
 * joints does not matter. Cost: as for one side of snw_compare_json. */
snw_status snw_check_json(const snw_model* model, const snw_weights* weights, const snw_check_options* options,
                          snw_context* context, snw_bytes** out);
void snw_weights_free(snw_weights* weights);

/* ---- Painting: weights that change edit by edit, as under a brush. */

typedef struct snw_painting snw_painting;
/* Begins with these weights. Of the settings the limit of influences is read, and of the edit list its "lock";
 * null: none. Vertices and joints that snw_model_select keeps are locked, too. The model must outlive the painting.
 * What edits need of the mesh (coincident vertices, neighbours, vertices in a radius, the mirror plane) is kept
 * from the first edit that needs it. */
snw_status snw_painting_new(const snw_model* model, const snw_weights* weights, const snw_settings* settings,
                            const char* edits, size_t edits_size, snw_painting** out);
/* Applies one entry of the "edits" of an edit list (docs/edits.md). After any sequence of edits the weights are, to
 * the bit, those of snw_weights_edit or snw_weights_of with all edits that were not taken back. again: not 0: the
 * edit replaces the last one, as a stroke that goes on. Then only rows whose selection differs are computed, and of
 * a "brush" only the new points. changed: number of vertices whose rows changed, or null; stuck: of vertices that
 * keep their row because no other joint can take the weight, or null. An error changes nothing, except that with
 * `again` the last edit may be taken back. Time: the touched vertices, and some nanoseconds for each of V; the same
 * after any number of edits. */
snw_status snw_painting_apply(snw_painting* painting, const char* edit, size_t edit_size, int again,
                              snw_context* context, size_t* changed, size_t* stuck);
/* Takes the last edit back; SNW_USAGE if there is none. Time: the rows that it changed. */
snw_status snw_painting_undo(snw_painting* painting, size_t* changed);
/* Replaces the weights before all edits, as when a parameter of the falloff or a rigid region has changed: those of
 * snw_weights_of with an edit list without "edits". Then all is as if painting had begun with them, to the bit, but
 * edits are computed again only where they read rows that differ. changed: number of vertices whose rows may have
 * changed, or null. An error changes nothing: SNW_USAGE if an edit selects by weights of joints. The limit of
 * influences and the locks stay those of snw_painting_new. Time: the rows that all edits have changed, and the
 * edits of the rows that differ; it cannot be cancelled. */
snw_status snw_painting_rebase(snw_painting* painting, const snw_weights* weights, snw_context* context,
                               size_t* changed);
size_t snw_painting_edits(const snw_painting* painting); /* that can be taken back */
/* The vertices whose rows the last call of snw_painting_apply, _undo or _rebase changed, ascending; as many as
 * `changed`. Valid until the next such call. */
const uint32_t* snw_painting_vertices(const snw_painting* painting);
size_t snw_painting_width(const snw_painting* painting); /* the largest number of joints of one of these vertices */
/* Fills the rows of these vertices as snw_weights_rows does: vertices × width. */
snw_status snw_painting_rows(const snw_painting* painting, size_t width, uint16_t* joints, float* shares);
/* All rows as they are now. O(entries). */
snw_status snw_painting_weights(const snw_painting* painting, snw_weights** out);
void snw_painting_free(snw_painting* painting);

/* Fills V with the distance through the volume from the bones of a joint, in scene units; +inf: not reached. Joints
 * are those that deform since the last snw_model_json or snw_bind. */
snw_status snw_distances(const snw_model* model, const snw_settings* settings, size_t joint, snw_context* context,
                         float* distances);

/* The volume of a bind: the leaves of the octree, as N × 5 floats: x, y, z of the centre and the
 * edge in scene units, and 1 where the surface passes through it, 0 inside. Leaves are cubes that do not overlap.
 * More than `max_leaves` is SNW_TOO_LARGE: a lower resolution has fewer. Joints as for snw_distances. */
snw_status snw_volume(const snw_model* model, const snw_settings* settings, size_t max_leaves, snw_context* context,
                      snw_bytes** out);

/* The defects of the mesh and their places. triangles: fills T, or null: 1 for a triangle that intersects another
 * one (docs/report.md, defects.intersecting_triangles), 2 if it is unknown, because the test would have
 * taken too long, else 0. edges: N × 3 numbers of type uint32_t, or null: two vertices, the first ones
 * at their positions, and 1 for a boundary edge or 3 for an edge of three or more triangles. Triangles are compared
 * once for a model, in about ten times the time of reading its topology; from then on snw_binding_report
 * has their number. */
snw_status snw_defects(const snw_model* model, snw_context* context, uint8_t* triangles, snw_bytes** edges);

/* ---- Poses. Matrices: J × 12, the three upper rows of each joint's matrix, row by row, bind space to bind space.
 */

/* pose: J × 10: rotation x y z w, translation, scale, along the joint's own axes (docs/formats.md). */
snw_status snw_pose_matrices(const snw_model* model, const double* pose, double* matrices);
/* Fills J × 10: every joint turned about an axis of its own by an angle within ±degrees; the same for the same
 * seed. */
snw_status snw_random_pose(const snw_model* model, double degrees, uint64_t seed, double* pose);
/* Pose JSON (docs/formats.md), J × 10. */
snw_status snw_pose_json(const snw_model* model, const void* text, size_t size, double* pose);
/* At a time, in seconds, of a clip of the file. */
snw_status snw_clip_matrices(const snw_model* model, size_t clip, double time, double* matrices);
/* The pose in which the file's nodes stand at rest, which is not always the bind pose: matrices as above, and in
 * to_world (12 numbers) the matrix from bind space to the file's world, which is what a viewer shows. The identity
 * where the file has no nodes for the joints. */
snw_status snw_rest_matrices(const snw_model* model, double* matrices, double* to_world);
/* The rest pose as numbers, J × 10, as snw_pose_matrices takes them: those of the bind pose where the file has no
 * nodes for the joints. Stretched and turned joints may have no such numbers; they get the nearest. */
snw_status snw_rest_pose(const snw_model* model, double* pose);
/* Poses made for this skeleton (sinew/deform.h): [{"name", "pose": [J × 10 numbers]}]. */
snw_status snw_standard_poses(const snw_model* model, snw_bytes** out);

typedef enum snw_skinning { SNW_LINEAR_BLEND = 0, SNW_DUAL_QUATERNION = 1 } snw_skinning;
/* Fills V × 3 positions, and normals unless they are null or the model has none. skinning: a value of snw_skinning;
 * any other number is SNW_USAGE. */
snw_status snw_deform(const snw_model* model, const snw_weights* weights, const double* matrices, int skinning,
                      snw_context* context, float* positions, float* normals);

/* ---- Pictures. */

/* What snw_render_png draws. Zeros beside the size: the joints in their colours, from the front and the back. */
typedef struct snw_render_options {
    size_t size;            /* sizeof(snw_render_options); 0 is SNW_USAGE */
    const char* view;       /* the words of `sinew render --view` (docs/render.md); null: "joints" */
    const uint32_t* joints; /* of the views "joint", "distance" and "heat": a panel each */
    size_t joint_count;
    const uint32_t* zoom; /* one joint: frames it and its descendants; null: the whole character */
    const char* from;  /* words of `sinew render --from`, or yaw,pitch in degrees: "front 30,15"; null: as usual for
                        * the view */
    int overlay;       /* not 0: bones over the skin */
    int sheet;         /* not 0: all standard poses */
    int resolution;    /* voxels along the longest side, for "voxels", "distance" and "heat"; 0: 256 */
    const double* cut; /* 3: the fractions of the voxels' box that are shown, above 0 to 1; null: all */
    const double* matrices; /* J x 12, from snw_pose_matrices or snw_clip_matrices: a pose beside the bind pose;
                             * null: none */
    const char* pose_name;  /* its title; null: "pose" */
    int skinning;           /* a value of snw_skinning */
    int width, height;      /* 64..8192 pixels; 0: 1600, 1200 */
    const char* title;      /* null: none */
    int columns;            /* panels in a row; 0: as many as make them largest */
    int no_legend, dark;    /* not 0: without a legend; a dark background */
} snw_render_options;
/* A picture of the character as PNG, drawn without a display: that of `sinew render`, to the bit. weights: null:
 * those of the file. SNW_IO in a build without OpenGL (the wheel's library). Time: half a second per megapixel. */
snw_status snw_render_png(const snw_model* model, const snw_weights* weights, const snw_render_options* options,
                          snw_context* context, snw_bytes** out);

/* ---- Files. */

/* The file with these weights, as GLB; everything else is unchanged. notes: one line for each change other
 * than weights, or null. */
snw_status snw_save_glb(const snw_model* model, const snw_weights* weights, const snw_settings* settings,
                        snw_bytes** notes, snw_bytes** out);
/* An animation to save: poses that follow each other. */
typedef struct snw_animation {
    const char* name; /* may be null */
    int step;         /* 1: a pose holds until the next; 0: joints turn along the shorter arc in between */
    size_t keys;
    const double* times; /* keys, in seconds, at least 0, rising */
    const double* poses; /* keys x J x 10, each as for snw_pose_matrices */
} snw_animation;
/* snw_save_glb with animations behind those of the file: channels for joints that the keys move, and for joints
 * whose rest pose in the file differs from the bind pose; snw_clip_matrices of the new file gives the poses back.
 * Notes report poses that the format cannot represent exactly. */
snw_status snw_save_glb_animated(const snw_model* model, const snw_weights* weights, const snw_settings* settings,
                                 const snw_animation* animations, size_t count, snw_bytes** notes, snw_bytes** out);
/* The same as FBX: the FBX that the model was opened from, where only weights change, otherwise a new one
 * (docs/formats.md#written-files). */
snw_status snw_save_fbx(const snw_model* model, const snw_weights* weights, const snw_settings* settings,
                        const snw_animation* animations, size_t count, snw_bytes** notes, snw_bytes** out);
/* The same into a file, whose name ends in .glb, .vrm, .gltf or .fbx. Beside a .gltf the files are copied to which
 * the model refers. All is written, or nothing; SNW_IO: the operating system refused to. */
snw_status snw_save_file(const snw_model* model, const snw_weights* weights, const snw_settings* settings,
                         const snw_animation* animations, size_t count, const char* path, snw_bytes** notes);
/* Weights JSON (docs/formats.md). */
snw_status snw_save_json(const snw_model* model, const snw_weights* weights, snw_bytes** out);

#ifdef __cplusplus
}
#endif
#endif
