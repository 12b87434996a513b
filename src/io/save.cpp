// Saving: the container, the files that the document refers to, and writing all of them or none.
#include <algorithm>
#include <set>

#include "core/try.h"
#include "io/fbx_write.h"
#include "io/foreign.h"
#include "io/formats.h"
#include "io/gltf_scene.h"

namespace sinew::io {

namespace {

/// Adds the files that a document refers to and that must lie beside the output. One with other content there is
/// not ours to replace. Of buffers, the bytes that were read are those that the weights belong to: in the folder of
/// the input they must be there as well, unchanged.
Status add_companions(const Document& document, const std::filesystem::path& folder,
                      const std::vector<std::string>& refers_to, SaveReport& report, OutputBatch& batch) {
    std::error_code ignored;
    const ModelFiles& files = *document.files;
    if (files.folder().empty()) return Done{};
    const bool in_place = std::filesystem::equivalent(files.folder(), folder, ignored);
    std::set<std::string> seen;  // one uri may have several spellings
    for (const std::string& uri : refers_to) {
        if (!seen.insert(uri).second) continue;
        const auto to = resolve_uri(uri, folder, document.name, "");
        if (!to) {
            report.notes.push_back("not copied: " + printable(uri) + " (outside the folder of the model)");
            continue;
        }
        if (!seen.insert("/" + to->string()).second) continue;
        if (in_place && !files.keeps(*resolve_uri(uri, files.folder(), document.name, ""))) continue;
        const auto bytes = document.external_bytes(uri, "");
        if (!bytes) {
            // An image that could not be put into the file has its note.
            const std::string& why = bytes.error().message;
            if (std::none_of(report.notes.begin(), report.notes.end(),
                             [&](const std::string& note) { return note.ends_with(": " + why); }))
                report.notes.push_back("not copied: " + why);
            continue;
        }
        const bool is_new = !std::filesystem::exists(*to, ignored);
        SINEW_TRY(batch.add_folder(to->parent_path()));
        SINEW_TRY(batch.add_shared(*to, **bytes, document.name));
        if (is_new) report.notes.push_back("copied: " + to->string());
    }
    return Done{};
}

}  // namespace

Status check_output(const std::filesystem::path& path) {
    const std::string extension = extension_of(path);
    if (extension == ".glb" || extension == ".vrm" || extension == ".gltf" || extension == ".fbx") return Done{};
    if (is_foreign(extension))
        return Error{ErrorCode::usage, path.string() + ": sinew reads " + extension +
                                           " files, but writes .glb, .vrm, .gltf or .fbx (name the output .glb)"};
    return Error{ErrorCode::usage, path.string() + ": output must be .glb, .vrm, .gltf or .fbx"};
}

Status check_output(const Scene& scene, const std::filesystem::path& path) {
    SINEW_TRY(check_output(path));
    if (extension_of(path) != ".vrm" || !scene.document) return Done{};
    const Json* extensions = member(scene.document->json, "extensions");
    if (extensions && (member(*extensions, "VRM") || member(*extensions, "VRMC_vrm"))) return Done{};
    return Error{ErrorCode::usage, path.string() + ": " + scene.document->name +
                                       " is no VRM, and sinew cannot make one: a VRM names the bones of its "
                                       "humanoid and has a licence (name the output .glb)"};
}

Status check_weights(const Scene& scene, const SkinWeights& weights, const std::string& name) {
    if (weights.vertex_count() != scene.positions.size())
        return input_error(name, "weights for " + std::to_string(weights.vertex_count()) +
                                     " vertices, but the mesh has " + std::to_string(scene.positions.size()));
    const auto& joints = scene.skeleton.joints;
    const auto wrong = [&](std::size_t v, const std::string& message) -> Status {
        return input_error(name, "vertex " + std::to_string(v) + message);
    };
    for (std::size_t v = 0; v < weights.vertex_count(); ++v) {
        if (weights[v].empty()) return wrong(v, " has no weights (give it at least one joint)");
        for (const Influence& influence : weights[v]) {
            if (influence.joint >= joints.size())
                return wrong(v, " is weighted to joint " + std::to_string(influence.joint) +
                                    ", but the skeleton has " + std::to_string(joints.size()) + " joints");
            if (scene.skin_of_vertex.empty()) continue;
            const auto& skin = scene.skeleton.skins[scene.skin_of_vertex[v]];
            if (!std::binary_search(skin.begin(), skin.end(), influence.joint))
                return wrong(v, " is weighted to joint '" + printable(joints[influence.joint].name) +
                                    "', which is not in the vertex's skin");
        }
    }
    return Done{};
}

std::vector<std::filesystem::path> external_files(const Scene& scene) {
    std::vector<std::filesystem::path> out;
    if (!scene.document) return out;
    for (const std::string& uri : external_uris(*scene.document, false))
        if (auto path = scene.document->files->place_of(uri, scene.document->name, ""))
            out.push_back(std::move(*path));
    return out;
}

Result<SaveReport> save(const Scene& scene, const SkinWeights& weights, const std::filesystem::path& path,
                        const SaveOptions& options) {
    OutputBatch batch;
    auto report = save(scene, weights, path, options, batch);
    if (!report) return report;
    SINEW_TRY(batch.commit());
    return report;
}

Result<SaveReport> save(const Scene& scene, const SkinWeights& weights, const std::filesystem::path& path,
                        const SaveOptions& options, OutputBatch& batch) {
    if (!scene.document) return Error{ErrorCode::usage, path.string() + ": the scene has no document to write"};
    SINEW_TRY(check_output(scene, path));
    const bool glb = extension_of(path) != ".gltf";
    SINEW_TRY_LET(auto file, extension_of(path) == ".fbx"
                                 ? write_fbx(*scene.document, scene, weights, options)
                                 : write_document(*scene.document, scene, weights, options, glb));
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    // The model is added first and therefore renamed last: an existing model is complete.
    SINEW_TRY(batch.add(path, file.bytes));
    SINEW_TRY(add_companions(*scene.document, folder, file.refers_to, file.report, batch));
    return std::move(file.report);
}

Result<std::vector<std::byte>> save_glb_bytes(const Scene& scene, const SkinWeights& weights,
                                              const SaveOptions& options, SaveReport* report) {
    if (!scene.document) return Error{ErrorCode::usage, "the scene has no document to write"};
    SINEW_TRY_LET(SavedFile file, write_document(*scene.document, scene, weights, options, true));
    if (report) *report = std::move(file.report);
    return std::move(file.bytes);
}

Result<std::vector<std::byte>> save_fbx_bytes(const Scene& scene, const SkinWeights& weights,
                                              const SaveOptions& options, SaveReport* report) {
    if (!scene.document) return Error{ErrorCode::usage, "the scene has no document to write"};
    SINEW_TRY_LET(SavedFile file, write_fbx(*scene.document, scene, weights, options));
    if (report) *report = std::move(file.report);
    return std::move(file.bytes);
}

}  // namespace sinew::io
