#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/hash.h"
#include "core/try.h"
#include "io/formats.h"
#include "io/gltf_document.h"
#include "sinew/io.h"

namespace sinew::io {
namespace {

/// The JSON of a glTF or GLB, or nothing.
std::string_view json_of(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with("glTF")) return text.starts_with("{") ? text : std::string_view();
    if (text.size() < 20) return {};
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + 12, sizeof length);
    return text.substr(20, length);
}

struct Key {
    std::array<std::uint64_t, 2> half{0x5eed, 0xdeed};

    void add(std::span<const std::byte> bytes) {
        for (std::uint64_t& h : half) h = hash_bytes(bytes, h);
    }
    void add(std::string_view text) { add(std::as_bytes(std::span<const char>(text.data(), text.size()))); }
};

/// Of a URI that is refused an empty path.
std::vector<std::filesystem::path> references_of(const std::filesystem::path& path,
                                                 std::span<const std::byte> bytes) {
    if (extension_of(path) == ".obj") return files_of_obj(as_text(bytes), path);
    std::vector<std::filesystem::path> files;
    const std::string_view text = json_of(bytes);
    // Most GLBs refer to nothing, and reading their JSON takes several times as long as the hash. (A name may also
    // be written with escapes.)
    if (text.find("\"uri\"") == text.npos && text.find("\\u") == text.npos) return files;
    const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object()) return files;
    for (const char* kind : {"buffers", "images"}) {
        const auto list = document.find(kind);
        if (list == document.end() || !list->is_array()) continue;
        for (const nlohmann::json& one : *list) {
            const auto uri = one.is_object() ? one.find("uri") : one.end();
            if (!one.is_object() || uri == one.end() || !uri->is_string()) continue;
            const std::string address = uri->get<std::string>();
            if (address.starts_with("data:")) continue;
            const auto place = resolve_uri(address, path.parent_path(), path.string(), kind);
            files.push_back(place ? *place : std::filesystem::path());
        }
    }
    return files;
}

}  // namespace

Result<std::string> content_key(std::span<const std::filesystem::path> files, std::string_view words) {
    Key key;
    key.add(words);
    for (const std::filesystem::path& path : files) {
        SINEW_TRY_LET(std::vector<std::byte> bytes, read_file(path, nullptr));
        key.add(bytes);
        for (const std::filesystem::path& place : references_of(path, bytes)) {
            const auto more = read_file(place, nullptr);
            // What is missing is a fact about the input, too: the key changes when it appears.
            if (more)
                key.add(*more);
            else
                key.add("missing");
        }
    }
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(key.half[0]),
                  static_cast<unsigned long long>(key.half[1]));
    return std::string(text);
}

Result<std::vector<std::filesystem::path>> referenced_files(const std::filesystem::path& path) {
    SINEW_TRY_LET(std::vector<std::byte> bytes, read_file(path, nullptr));
    std::vector<std::filesystem::path> files = references_of(path, bytes);
    std::erase_if(files, [](const std::filesystem::path& file) { return file.empty(); });
    return files;
}

}  // namespace sinew::io
