// Saving: which container, which other files go along, and all of it or nothing.
#include <algorithm>
#include <cctype>
#include <set>

#include "io/formats.h"
#include "io/gltf_scene.h"

namespace sinew::io {

namespace {

/// A file that the document refers to and that must lie beside the output as well.
struct Companion {
    std::filesystem::path to;
    std::vector<std::byte> bytes;
};

/// What is missing beside the output. A file that is there with other content belongs to somebody: an error.
Result<std::vector<Companion>> find_companions(const Document& document, const std::filesystem::path& folder,
                                               bool glb, SaveReport& report) {
    std::vector<Companion> out;
    std::error_code ignored;
    if (document.base.empty() || std::filesystem::equivalent(document.base, folder, ignored)) return out;
    std::set<std::string> seen;
    for (const std::string& uri : external_uris(document, glb)) {
        if (!seen.insert(uri).second) continue;
        const auto from = resolve_uri(uri, document.base, document.name, "");
        if (!from) {
            report.notes.push_back("not copied: " + uri.substr(0, 200) + " (outside the folder of the model)");
            continue;
        }
        auto bytes = read_file(*from);
        if (!bytes) {
            report.notes.push_back("not copied: " + bytes.error().message);
            continue;
        }
        const auto to = resolve_uri(uri, folder, document.name, "");
        if (!to) return to.error();
        if (std::filesystem::exists(*to, ignored)) {
            const auto there = read_file(*to);
            if (!there) return there.error();
            if (*there == *bytes) continue;
            return Error{ErrorCode::io, to->string() + " is another file than the one that " + document.name +
                                            " refers to by this name (save into another folder)"};
        }
        out.push_back({*to, std::move(*bytes)});
    }
    return out;
}

}  // namespace

Result<SaveReport> save(const Scene& scene, const SkinWeights& weights, const std::filesystem::path& path,
                        const SaveOptions& options) {
    if (!scene.document) return Error{ErrorCode::usage, path.string() + ": the scene has no document to write"};
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool glb = extension == ".glb" || extension == ".vrm";
    if (!glb && extension != ".gltf")
        return Error{ErrorCode::usage, path.string() + ": output must be .glb, .vrm or .gltf"};

    auto file = write_document(*scene.document, scene, weights, options, glb);
    if (!file) return file.error();
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    const auto companions = find_companions(*scene.document, folder, glb, file->report);
    if (!companions) return companions.error();
    for (const Companion& companion : *companions) {
        std::error_code failed;
        std::filesystem::create_directories(companion.to.parent_path(), failed);
        if (const Status written = write_file(companion.to, companion.bytes); !written) return written.error();
        file->report.notes.push_back("copied: " + companion.to.string());
    }
    // The model last: what is there is complete.
    if (const Status written = write_file(path, file->bytes); !written) return written.error();
    return std::move(file->report);
}

Result<std::vector<std::byte>> save_glb_bytes(const Scene& scene, const SkinWeights& weights,
                                              const SaveOptions& options) {
    if (!scene.document) return Error{ErrorCode::usage, "the scene has no document to write"};
    auto file = write_document(*scene.document, scene, weights, options, true);
    if (!file) return file.error();
    return std::move(file->bytes);
}

}  // namespace sinew::io
