// glTF containers: GLB chunks or plain JSON, and the bytes of the buffers.
#include "io/gltf_document.h"

#include <array>
#include <cmath>
#include <cstring>

#include "core/base64.h"
#include "core/try.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

constexpr std::uint32_t json_chunk = 0x4E4F534A, binary_chunk = 0x004E4942;

std::uint32_t u32_at(std::span<const std::byte> bytes, std::size_t at) {
    const auto b = [&](std::size_t i) { return static_cast<std::uint32_t>(bytes[at + i]); };
    return b(0) | b(1) << 8 | b(2) << 16 | b(3) << 24;
}

/// Splits a GLB into the document's text and chunks.
Status read_container(std::span<const std::byte> bytes, Document& document) {
    const auto fail = [&](std::size_t byte, const std::string& what) {
        return document.error("byte " + std::to_string(byte) + ": " + what);
    };
    if (bytes.size() < 12) return fail(bytes.size(), "a GLB header has 12 bytes; the file is cut off");
    if (const std::uint32_t version = u32_at(bytes, 4); version != 2)
        return fail(4, "GLB version " + std::to_string(version) + "; only version 2 is read (convert the file)");
    const std::size_t total = u32_at(bytes, 8);
    if (total > bytes.size())
        return fail(8, "the header says " + std::to_string(total) + " bytes, the file has " +
                           std::to_string(bytes.size()) + ": it is cut off (copy it again)");
    if (total < 20) return fail(8, "a GLB of " + std::to_string(total) + " bytes has no room for a JSON chunk");
    if (total < bytes.size())
        document.warnings.push_back(std::to_string(bytes.size() - total) +
                                    " bytes after the end of the GLB left out");

    bool first = true;
    for (std::size_t at = 12; at < total;) {
        // Fewer than 8 bytes at the end are padding; some writers do not include it in the last chunk.
        if (total - at < 8) {
            if (first) return fail(at, "a chunk header has 8 bytes; the file is cut off");
            break;
        }
        const std::size_t length = u32_at(bytes, at);
        const std::uint32_t type = u32_at(bytes, at + 4);
        if (length > total - at - 8)
            return fail(at, "a chunk of " + std::to_string(length) + " bytes ends past the end of the file");
        const auto data = bytes.subspan(at + 8, length);
        if (first) {
            if (type != json_chunk) return fail(at + 4, "the first chunk of a GLB must be JSON");
            document.text = as_text(data);
        } else {
            if (type == binary_chunk && !document.bin_chunk) document.bin_chunk = document.chunks.size();
            document.chunks.push_back({type, {data.begin(), data.end()}});
        }
        first = false;
        at += 8 + length;
        // If the length of a chunk is not a multiple of four, the next chunk starts at the following multiple.
        if (at % 4 != 0 && at < total) {
            std::size_t padded = at + (4 - at % 4);
            at = std::min(padded, total);
        }
    }
    return Done{};
}

Status read_buffer(Document& document, std::size_t index, const Context* context) {
    const std::string place = "buffer " + std::to_string(index);
    const Json& json = (*document.at("buffers", index));
    const auto length = whole(member(json, "byteLength"));
    if (!length) return document.error(place + " has no byteLength");
    Document::Buffer buffer;
    using Origin = Document::Origin;
    const Json* uri = member(json, "uri");
    if (uri && !uri->is_string()) return document.error(place + ": uri must be a string");
    if (!uri) {
        if (index != 0 || !document.bin_chunk) {
            document.buffers.push_back(std::move(buffer));
            return Done{};
        }
        buffer = {Origin::bin, std::move(document.chunks[*document.bin_chunk].bytes)};
        document.chunks[*document.bin_chunk].bytes.clear();
    } else if (const auto& text = uri->get_ref<const std::string&>(); text.starts_with("data:")) {
        const std::size_t comma = text.find(',');
        if (comma == text.npos || !std::string_view(text).substr(0, comma).ends_with(";base64"))
            return document.error(place + ": a data uri must be base64 (data:…;base64,…)");
        SINEW_TRY(document.take(text.size(), place));
        auto bytes = decode_base64(std::string_view(text).substr(comma + 1));
        if (!bytes) return document.error(place + ": its data uri is not valid base64");
        buffer = {Origin::data_uri, std::move(*bytes)};
    } else {
        SINEW_TRY_LET(const auto path, document.files->place_of(text, document.name, place));
        auto bytes = document.files->read(path, context);
        if (!bytes && bytes.error().code != ErrorCode::io) return bytes.error();
        if (!bytes)
            return document.error(place + ": " + bytes.error().message + " (put the file beside the model)");
        buffer.origin = Origin::external;
        buffer.whole = std::move(*bytes);
        buffer.bytes = *buffer.whole;
    }
    if (buffer.bytes.size() < *length)
        return document.error(place + " says " + std::to_string(*length) + " bytes, but " +
                              std::to_string(buffer.bytes.size()) + " are there: the file is cut off");
    buffer.bytes = buffer.bytes.first(*length);  // a BIN chunk is padded
    document.buffers.push_back(std::move(buffer));
    return Done{};
}

/// Checks what all later readers rely on: the top-level members are lists of objects.
Status check_shape(const Document& document) {
    const Json& root = document.json;
    if (!root.is_object()) return document.error("the JSON of a glTF file must be an object");
    const Json* asset = member(root, "asset");
    if (!asset || !asset->is_object()) return document.error("no \"asset\": this JSON is not glTF");
    if (const std::string version = string_of(member(*asset, "version")); !version.starts_with("2."))
        return document.error("glTF version \"" + printable(version) + "\"; only 2.x is read (convert the file)");
    for (const char* list : {"accessors", "animations", "buffers", "bufferViews", "cameras", "images", "materials",
                             "meshes", "nodes", "scenes", "skins"}) {
        const Json* entries = member(root, list);
        if (!entries) continue;
        if (!entries->is_array()) return document.error("\"" + std::string(list) + "\" must be an array");
        for (std::size_t i = 0; i < entries->size(); ++i)
            if (!(*entries)[i].is_object())
                return document.error(std::string(list) + "[" + std::to_string(i) + "] must be an object");
    }
    for (const char* list : {"extensionsUsed", "extensionsRequired"}) {
        const Json* entries = member(root, list);
        if (!entries) continue;
        if (!entries->is_array()) return document.error("\"" + std::string(list) + "\" must be an array");
        for (const Json& entry : *entries)
            if (!entry.is_string()) return document.error("\"" + std::string(list) + "\" must hold strings");
    }
    return Done{};
}

}  // namespace

const Json* member(const Json& value, const char* key) {
    if (!value.is_object()) return nullptr;
    const auto found = value.find(key);
    return found == value.end() ? nullptr : &*found;
}

std::optional<std::size_t> whole(const Json* value) {
    if (!value) return std::nullopt;
    if (value->is_number_unsigned()) return value->get<std::uint64_t>();
    // Some writers spell integers as 3.0. Above 2^53, a double is not exact and cannot be an index.
    if (value->is_number_float()) {
        const double number = value->get<double>();
        if (number >= 0 && number <= 9007199254740992.0 && number == std::floor(number))
            return static_cast<std::size_t>(number);
    }
    return std::nullopt;
}

std::optional<std::size_t> whole_or(const Json& object, const char* key, std::size_t missing) {
    const Json* value = member(object, key);
    return value ? whole(value) : missing;
}

std::string string_of(const Json* value) { return value && value->is_string() ? value->get<std::string>() : ""; }

bool has_extension(const Json& object, const char* extension) {
    const Json* extensions = member(object, "extensions");
    return extensions && member(*extensions, extension);
}

std::size_t Document::count(const char* list) const {
    const Json* entries = member(json, list);
    return entries && entries->is_array() ? entries->size() : 0;
}

const Json* Document::at(const char* list, std::size_t index) const {
    return index < count(list) ? &json.find(list)->at(index) : nullptr;
}

Result<const Json*> Document::need(const char* list, std::optional<std::size_t> index,
                                   const std::string& asker) const {
    if (!index) return error(asker + ": an index into " + list + " must be a whole number");
    if (const Json* found = at(list, *index)) return found;
    return error(asker + " refers to " + list + "[" + std::to_string(*index) + "], but there are " +
                 std::to_string(count(list)));
}

std::span<const std::byte> Document::view_bytes(std::size_t index) const {
    const Json* view = at("bufferViews", index);
    if (!view) return {};
    const auto buffer = whole(member(*view, "buffer")), size = whole(member(*view, "byteLength"));
    const auto offset = whole_or(*view, "byteOffset", 0);
    if (!buffer || !size || !offset || *buffer >= buffers.size()) return {};
    const std::span<const std::byte> bytes = buffers[*buffer].bytes;
    if (*offset > bytes.size() || *size > bytes.size() - *offset) return {};
    return bytes.subspan(*offset, *size);
}

Result<Document::Bytes> Document::external_bytes(const std::string& uri, const std::string& asker) const {
    SINEW_TRY_LET(const auto path, files->place_of(uri, name, asker));
    return files->read_now(path);
}

const Json& Document::mesh(std::size_t index) const {
    const std::size_t meshes = count("meshes");
    return *at("meshes", index < meshes ? index : rig.mesh_copies[index - meshes]);
}

const Json& Document::primitive(const PrimitiveRef& ref) const {
    return (*member(mesh(ref.mesh), "primitives"))[ref.primitive];
}

std::string image_kind(std::span<const std::byte> bytes) {
    const std::string_view start = as_text(bytes);
    return start.starts_with("\x89PNG")                                         ? "image/png"
           : start.starts_with("\xff\xd8\xff")                                  ? "image/jpeg"
           : start.starts_with("RIFF") && start.substr(0, 12).ends_with("WEBP") ? "image/webp"
           : start.starts_with("\xabKTX 20")                                    ? "image/ktx2"
                                                                                : "";
}

Result<std::shared_ptr<Document>> parse_document(std::span<const std::byte> bytes, const std::string& name,
                                                 std::shared_ptr<ModelFiles> files, const Context* context) {
    auto document = std::make_shared<Document>();
    document->files = std::move(files);
    document->name = name;
    document->glb = as_text(bytes).starts_with("glTF");
    if (document->glb) {
        SINEW_TRY(read_container(bytes, *document));
    } else {
        document->text = as_text(bytes);
    }
    // Padding is spaces by the rules and NUL in the files of some writers; saving replaces it.
    // A mark of byte order is not a part of JSON, and a GLB must not contain one.
    if (document->text.starts_with("\xef\xbb\xbf")) document->text.erase(0, 3);
    while (!document->text.empty() && (document->text.back() == ' ' || document->text.back() == '\0'))
        document->text.pop_back();
    const auto cancelled = [&] { return context && context->cancel; };
    if (cancelled()) return Error{ErrorCode::cancelled, "cancelled while reading " + name};
    SINEW_TRY(document->take(json_tree_bytes(document->text), "its JSON"));
    SINEW_TRY_LET(document->json, parse_json(document->text, name));
    SINEW_TRY(check_shape(*document));

    const Json* first = document->at("buffers", 0);
    if (!first || member(*first, "uri")) document->bin_chunk.reset();
    for (std::size_t i = 0; i < document->count("buffers"); ++i) SINEW_TRY(read_buffer(*document, i, context));
    return document;
}

}  // namespace sinew::io
