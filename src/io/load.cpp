// Loading: chooses the reader of a file, by its content, or by its extension where the content is ambiguous.
#include <algorithm>
#include <cmath>

#include "core/try.h"
#include "io/fbx_records.h"
#include "io/foreign.h"
#include "io/formats.h"
#include "io/gltf_accessor.h"
#include "io/gltf_builder.h"
#include "io/gltf_scene.h"
#include "io/reader_process.h"
#include "sinew/parts.h"

namespace sinew::io {

namespace {

/// A foreign file as a document. FBX is read here, what another library reads in a process of its own.
Result<std::shared_ptr<Document>> convert(const FileBytes& file, const std::string& name,
                                          const std::shared_ptr<ModelFiles>& files, Context* context) {
    const std::span<const std::byte> bytes = file.bytes;
    if (is_fbx(as_text(bytes)) || extension_of(name) == ".fbx") return fbx_document(file, name, files, context);
    // About 20 MB a second are read; a file that needs a hundred times longer is refused.
    const auto seconds = static_cast<unsigned>(std::min<std::size_t>(30 + 5 * (bytes.size() >> 20), 3600));
    const std::size_t memory =
        context && context->memory_limit ? context->memory_limit : (std::size_t{2} << 30) + 64 * bytes.size();
    SINEW_TRY_LET(const auto made, read_in_own_process(bytes, name, *files, {seconds, memory}, context));
    return unpacked(made, name, context);
}

/// Whether a file is glTF, by its content and then its extension.
bool is_gltf(std::string_view text, const std::string& extension) {
    if (text.starts_with("glTF")) return true;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return text.starts_with('{') || extension == ".gltf" || extension == ".glb" || extension == ".vrm";
}

/// The document of a glTF file, or of one that another library reads; null for all others.
Result<std::shared_ptr<Document>> document_of(const FileBytes& file, const std::string& name,
                                              std::shared_ptr<ModelFiles> files, Context* context) {
    const std::span<const std::byte> bytes = file.bytes;
    SINEW_TRY(files->add_file(bytes.size(), name));
    const std::string_view text = as_text(bytes);
    const std::string extension = extension_of(name);
    if (is_gltf(text, extension)) {
        if (!text.starts_with("glTF") && (extension == ".glb" || extension == ".vrm") && !is_gltf(text, ""))
            return input_error(name, "byte 0: a GLB begins with the letters glTF; this file does not");
        return parse_document(bytes, name, std::move(files), context);
    }
    if (is_fbx(text) || is_foreign(extension)) return convert(file, name, files, context);
    return std::shared_ptr<Document>();
}

/// All lengths of a skeleton from another unit.
Status scale_skeleton(Skeleton& skeleton, double factor) {
    if (!(factor > 0 && std::isfinite(factor)))
        return Error{ErrorCode::usage, "`skeleton-scale` must be a number above 0"};
    if (factor == 1) return Done{};
    const auto scale = [&](float& x) { x = static_cast<float>(factor * x); };
    const auto scale_all = [&](Vec3& p) { scale(p.x), scale(p.y), scale(p.z); };
    for (Joint& joint : skeleton.joints) {
        scale_all(joint.position);
        if (joint.tail) scale_all(*joint.tail);
        if (!joint.shape) continue;
        scale(joint.shape->radius);
        scale_all(joint.shape->half);
    }
    return Done{};
}

Result<ModelFiles::Bytes> read_shared(const std::filesystem::path& path, Context* context) {
    SINEW_TRY_LET(auto bytes, read_file(path, context));
    return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

Result<Scene> load_file(const FileBytes& bytes, const std::string& name, const std::filesystem::path& base,
                        const LoadOptions& options, Context* context) {
    std::optional<SkeletonFile> file = options.own_skeleton;
    std::optional<Skeleton> skeleton;
    std::vector<PoseClip> clips;
    std::vector<std::string> notes;
    if (!options.skeleton.empty()) {
        SINEW_TRY_LET(file,
                      load_skeleton_file(options.skeleton, options.skeleton_clips, context, options.follow_links));
    }
    if (file) {
        skeleton = std::move(file->skeleton);
        clips = std::move(file->clips);
        for (PoseClip& clip : clips)
            for (PoseKey& key : clip.keys)
                for (JointPose& pose : key.joints)
                    for (double& t : pose.translation) t *= options.skeleton_scale;
        const std::string from = options.skeleton.empty() ? "another file" : options.skeleton.string();
        if (!file->pose.empty()) notes.push_back("the skeleton is that of " + from + " in " + file->pose);
    } else if (options.skeleton_clips) {
        return Error{ErrorCode::usage, "`with-clips` is for the file of `skeleton`: give one"};
    }
    const bool given = skeleton.has_value();
    if (given) {
        SINEW_TRY(scale_skeleton(*skeleton, options.skeleton_scale));
    } else if (options.skeleton_scale != 1) {
        return Error{ErrorCode::usage, "`skeleton-scale` is for the file of `skeleton`: give one"};
    }
    if (!given) skeleton = options.fallback;
    if (bytes.bytes.empty()) return input_error(name, "the file is empty");

    const auto files = std::make_shared<ModelFiles>(base, context, options.follow_links);
    SINEW_TRY_LET(auto document, document_of(bytes, name, files, context));
    const auto with_notes = [&](Result<Scene> scene) {
        if (!scene) return scene;
        scene->skeleton_clips = std::move(clips);
        scene->warnings.insert(scene->warnings.begin(), notes.begin(), notes.end());
        return scene;
    };
    if (document)
        return with_notes(read_scene(std::move(document),
                                     {std::move(skeleton), given, options.prop, options.bind_parts,
                                      options.bind_unskinned, options.together},
                                     context));
    if (extension_of(name) == ".obj") {
        if (!skeleton)
            return Error{ErrorCode::usage, name +
                                               ": an OBJ file has no skeleton (`skeleton FILE` gives "
                                               "one; `sinew rig` places one)"};
        return with_notes(read_obj(as_text(bytes.bytes), name, files, std::move(*skeleton), context));
    }
    return input_error(
        name,
        "not a file that sinew reads: .glb, .gltf, .vrm, .fbx, .dae (docs/formats.md has others), or "
        ".obj with a skeleton");
}

}  // namespace

Result<Scene> load_bytes(std::span<const std::byte> bytes, const std::string& name,
                         const std::filesystem::path& base, const LoadOptions& options, Context* context) {
    return load_file(bytes, name, base, options, context);
}

std::size_t memory_of(const Scene& scene) { return scene.document ? scene.document->files->used() : 0; }

Result<Scene> load(const std::filesystem::path& path, const LoadOptions& options, Context* context) {
    SINEW_TRY_LET(ModelFiles::Bytes bytes, read_shared(path, context));
    return load_file(std::move(bytes), path.string(), folder_of(path), options, context);
}

Result<std::vector<std::byte>> converted_to_glb(const std::filesystem::path& path, Context* context,
                                                bool follow_links) {
    SINEW_TRY_LET(const ModelFiles::Bytes bytes, read_shared(path, context));
    const std::string name = path.string(), extension = extension_of(name);
    if (is_gltf(as_text(*bytes), extension) || !is_foreign(extension)) return std::vector<std::byte>();
    SINEW_TRY_LET(
        const auto document,
        convert(bytes, name, std::make_shared<ModelFiles>(folder_of(path), context, follow_links), context));
    const auto& buffers = document->buffers;
    return glb_bytes(document->text, buffers.empty() ? std::span<const std::byte>() : buffers[0].bytes);
}

Result<SkeletonFile> load_skeleton_file(const std::filesystem::path& path, bool with_clips, Context* context,
                                        bool follow_links) {
    SINEW_TRY_LET(const ModelFiles::Bytes bytes, read_shared(path, context));
    const std::string name = path.string(), extension = extension_of(name);
    // Skeleton JSON begins as glTF JSON does.
    const bool character = as_text(*bytes).starts_with("glTF") || extension == ".gltf" || extension == ".glb" ||
                           extension == ".vrm" || is_foreign(extension);
    if (!character) return parse_skeleton_file(as_text(*bytes), name, with_clips, context);
    SINEW_TRY_LET(
        auto document,
        document_of(bytes, name, std::make_shared<ModelFiles>(folder_of(path), context, follow_links), context));
    return read_skeleton(std::move(document), with_clips, context);
}

Result<Skeleton> load_skeleton(const std::filesystem::path& path, Context* context) {
    SINEW_TRY_LET(auto file, load_skeleton_file(path, false, context));
    return std::move(file.skeleton);
}

namespace {

std::string vrm_of(const Document& document) {
    const Json* extensions = member(document.json, "extensions");
    if (!extensions) return "";
    return member(*extensions, "VRMC_vrm") ? "1.0" : member(*extensions, "VRM") ? "0.x" : "";
}

}  // namespace

Result<Contents> contents_of(const std::filesystem::path& path, Context* context, bool follow_links) {
    SINEW_TRY_LET(const ModelFiles::Bytes bytes, read_shared(path, context));
    if (bytes->empty()) return input_error(path.string(), "the file is empty");
    SINEW_TRY_LET(const auto document,
                  document_of(bytes, path.string(),
                              std::make_shared<ModelFiles>(folder_of(path), context, follow_links), context));
    Contents out;
    const std::string extension = extension_of(path);
    out.format = extension.substr(std::min<std::size_t>(1, extension.size()));
    std::transform(out.format.begin(), out.format.end(), out.format.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    out.bytes = bytes->size();
    if (!document) return out;
    const Document& d = *document;
    if (!is_foreign(extension)) {
        out.format = d.glb ? "GLB" : "glTF";
        if (const Json* asset = member(d.json, "asset")) {
            out.generator = string_of(member(*asset, "generator"));
            out.version = string_of(member(*asset, "version"));
        }
    }
    for (const auto& [list, count] :
         {std::pair("nodes", &Contents::nodes), std::pair("meshes", &Contents::meshes),
          std::pair("skins", &Contents::skins), std::pair("materials", &Contents::materials),
          std::pair("images", &Contents::images), std::pair("animations", &Contents::animations)})
        out.*count = d.count(list);
    for (std::size_t m = 0; m < d.count("meshes"); ++m) {
        const Json* primitives = member(*d.at("meshes", m), "primitives");
        if (!primitives || !primitives->is_array()) continue;
        for (const Json& primitive : *primitives) {
            out.draco_primitives += has_extension(primitive, draco_extension);
            if (const Json* targets = member(primitive, "targets"); targets && targets->is_array())
                out.morph_targets = std::max(out.morph_targets, targets->size());
        }
    }
    for (std::size_t v = 0; v < d.count("bufferViews"); ++v)
        out.meshopt_views += meshopt_of(*d.at("bufferViews", v)) != nullptr;
    const auto read_list = [&](const char* key, std::vector<std::string>& names) {
        if (const Json* list = member(d.json, key); list && list->is_array())
            for (const Json& entry : *list) names.push_back(string_of(&entry));
    };
    read_list("extensionsUsed", out.extensions);
    read_list("extensionsRequired", out.required);
    out.vrm = vrm_of(d);
    return out;
}

std::string vrm_of(const Scene& scene) { return scene.document ? vrm_of(*scene.document) : ""; }

std::vector<Triangle> Scene::leading_triangles() const {
    std::vector<Triangle> out;
    for (const Triangle& t : triangles)
        if (part_of_vertex.empty() || part_of_vertex[t[0]] != kFollows) out.push_back(t);
    return out;
}

}  // namespace sinew::io
