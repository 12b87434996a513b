#include <array>
#include <charconv>
#include <cstring>

#include "core/hash.h"
#include "core/try.h"
#include "io/formats.h"
#include "io/gltf_document.h"
#include "io/json.h"
#include "sinew/io.h"

namespace sinew::io {
namespace {

/// The JSON of a glTF or GLB; empty for other files. Of a GLB nothing else is read.
Result<std::string> json_of(const std::filesystem::path& path, const Context* context) {
    Result<FileReader> file = FileReader::open(path, context);
    if (!file) return file.error();
    std::array<std::byte, 20> head{};
    std::size_t got = 0;
    for (;;) {
        SINEW_TRY_LET(const std::size_t more, file->read(std::span(head).subspan(got)));
        got += more;
        if (more == 0 || got == head.size()) break;
    }
    const std::string_view start = as_text(std::span(head).first(got));
    if (!start.starts_with("glTF")) {
        if (!start.starts_with("{")) return std::string();
        SINEW_TRY_LET(const auto bytes, read_file(path, context));
        return std::string(as_text(bytes));
    }
    std::uint32_t length = 0;
    std::memcpy(&length, head.data() + 12, sizeof length);
    if (got < head.size() || length > file->size()) return std::string();
    if (context && context->memory_limit && length > context->memory_limit)
        return Error{ErrorCode::too_large, path.string() + ": its JSON is larger than the limit for memory"};
    std::string text(length, ' ');
    for (std::size_t at = 0; at < text.size();) {
        SINEW_TRY_LET(const std::size_t more, file->read(std::as_writable_bytes(std::span(text).subspan(at))));
        if (more == 0) break;
        at += more;
    }
    return text;
}

struct Key {
    std::array<std::uint64_t, 2> half{0x5eed, 0xdeed};

    void add(std::span<const std::byte> bytes) {
        for (std::uint64_t& h : half) h = hash_bytes(bytes, h);
    }
    void add(std::string_view text) { add(std::as_bytes(std::span<const char>(text.data(), text.size()))); }

    /// The content, in pieces: it may be larger than the memory.
    Status add_file(const std::filesystem::path& path, const Context* context) {
        SINEW_TRY_LET(FileReader file, FileReader::open(path, context));
        std::vector<std::byte> piece(1 << 20);
        for (std::size_t used = 1; used > 0;) {
            // Whole pieces: a read may return less, and the key must not depend on that.
            for (used = 0; used < piece.size();) {
                SINEW_TRY_LET(const std::size_t got, file.read(std::span(piece).subspan(used)));
                if (got == 0) break;
                used += got;
            }
            add(std::span(piece).first(used));
        }
        return Done{};
    }
};

/// The files that a glTF, GLB or OBJ refers to, with their uris. Of a URI that is refused an empty path.
Result<std::vector<ReferencedFile>> references_of(const std::filesystem::path& path, const Context* context) {
    std::vector<ReferencedFile> files;
    if (extension_of(path) == ".obj") {
        SINEW_TRY_LET(const std::vector<std::byte> bytes, read_file(path, context));
        SINEW_TRY_LET(const auto named, files_of_obj(as_text(bytes), path, context));
        for (const std::filesystem::path& each : named)
            files.push_back({each, each.lexically_relative(folder_of(path))});
        return files;
    }
    const Result<std::string> text = json_of(path, context);
    if (!text) return text.error();
    // Most GLBs refer to nothing, and reading their JSON takes several times as long as the hash. (A name may also
    // be written with escapes.)
    if (text->find("\"uri\"") == text->npos && text->find("\\u") == text->npos) return files;
    const Result<Json> document = parse_json(*text, path.string(), context);
    if (!document && document.error().code == ErrorCode::too_large) return document.error();
    if (!document || !document->is_object()) return files;
    for (const char* kind : {"buffers", "images"}) {
        const Json* list = member(*document, kind);
        if (!list || !list->is_array()) continue;
        for (const Json& one : *list) {
            const std::string uri = string_of(member(one, "uri"));
            if (uri.empty() || uri.starts_with("data:")) continue;
            const auto place = resolve_uri(uri, folder_of(path), path.string(), kind);
            files.push_back(place ? ReferencedFile{*place, place->lexically_relative(folder_of(path))}
                                  : ReferencedFile{});
        }
    }
    return files;
}

}  // namespace

Result<std::string> key_of_files(std::span<const KeyFile> files, std::string_view words, const Context* context) {
    Key key;
    key.add(words);
    for (const KeyFile& file : files) {
        key.add(file.role);
        SINEW_TRY(key.add_file(file.path, context));
        SINEW_TRY_LET(const auto referenced, references_of(file.path, context));
        for (const ReferencedFile& more : referenced) {
            key.add(more.name.string());
            // What is missing is a fact about the input, too: the key changes when it appears.
            if (Status ok = key.add_file(more.path, context); !ok) {
                if (ok.error().code == ErrorCode::cancelled) return ok.error();
                key.add("missing");
            }
        }
    }
    std::string text;
    for (const std::uint64_t half : key.half) {
        char digits[16];
        const std::string_view used(digits, std::to_chars(digits, digits + sizeof digits, half, 16).ptr - digits);
        text += std::string(sizeof digits - used.size(), '0') + std::string(used);
    }
    return text;
}

Result<std::vector<ReferencedFile>> files_beside(const std::filesystem::path& path, const Context* context) {
    Result<std::vector<ReferencedFile>> files = references_of(path, context);
    if (!files) return files.error();
    std::erase_if(*files, [](const ReferencedFile& file) { return file.path.empty(); });
    return files;
}

Result<bool> same_bytes(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code failed;
    if (std::filesystem::equivalent(a, b, failed)) return true;
    Key keys[2];
    for (const int k : {0, 1}) SINEW_TRY(keys[k].add_file(k == 0 ? a : b, nullptr));
    return keys[0].half == keys[1].half;
}

}  // namespace sinew::io
