// Changes to a saved file that concern all of it: images inside, and nothing compressed by meshopt.
#include "core/base64.h"
#include "core/try.h"
#include "io/gltf_accessor.h"
#include "io/gltf_builder.h"
#include "io/gltf_save.h"
#include "io/json_text.h"

namespace sinew::io::gltf_save {

namespace {

class Packer {
public:
    Packer(const Document& document, SaveReport& report)
        : document_(document), report_(report), text_(document.text), held_(*document.files) {
        if (has_bin()) data_.assign(document.buffers[0].bytes.begin(), document.buffers[0].bytes.end());
    }

    bool has_bin() const {
        return !document_.buffers.empty() && document_.buffers[0].origin == Document::Origin::bin;
    }

    /// Decodes every bufferView into one buffer.
    Status merge_buffers() {
        data_.clear();
        AccessorReader reader(document_);
        std::size_t decoded = 0;
        for (std::size_t i = 0; i < document_.count("bufferViews"); ++i) {
            SINEW_TRY_LET(const auto bytes, reader.view(i, "the file"));
            JsonValue& view = *list("bufferViews").at(i);
            SINEW_TRY(place(view, bytes));
            if (!meshopt_of(*document_.at("bufferViews", i))) continue;
            ++decoded;
            for (const char* extension : meshopt_extensions) erase_extension(view, extension);
        }
        for (const char* extension : meshopt_extensions) unlist_extension(text_.root(), extension);
        JsonValue& buffers = list("buffers");
        while (buffers.size() > 1) buffers.erase_at(buffers.size() - 1);
        if (buffers.size() == 1) buffers.at(0)->replace("{}");
        if (decoded)
            report_.notes.push_back(std::to_string(decoded) +
                                    " bufferViews were compressed with meshopt and are written uncompressed");
        return Done{};
    }

    Status embed_images() {
        for (std::size_t i = 0; i < document_.count("images"); ++i) {
            const std::string uri = string_of(member(*document_.at("images", i), "uri"));
            if (uri.empty()) continue;
            const auto bytes = read_uri(uri);
            if (!bytes) {
                report_.notes.push_back("an image stays outside the file: " + bytes.error().message);
                continue;
            }
            JsonValue& image = *list("images").at(i);
            const std::string mime = image_kind(*bytes);
            if (mime.empty() && !image.find("mimeType")) {
                report_.notes.push_back("an image stays outside the file, since its kind is not known: " +
                                        printable(uri));
                continue;
            }
            JsonValue& views = list("bufferViews");
            SINEW_TRY(place(views.append("{}"), *bytes));
            image.set("bufferView", std::to_string(views.size() - 1));
            if (!mime.empty()) image.set("mimeType", json_string(mime));
            image.erase("uri");
        }
        return Done{};
    }

    std::vector<std::byte> finish(bool glb) {
        if (data_.empty()) {
            text_.root().erase("buffers");
        } else {
            JsonValue& buffers = list("buffers");
            JsonValue& buffer = buffers.size() ? *buffers.at(0) : buffers.append("{}");
            buffer.set("byteLength", std::to_string(data_.size()));
            if (!glb) buffer.set("uri", data_uri(data_));
        }
        const std::string text = text_.str();
        if (glb) return glb_bytes(text, data_, document_.chunks, document_.bin_chunk);
        const auto* raw = reinterpret_cast<const std::byte*>(text.data());
        return {raw, raw + text.size()};
    }

private:
    JsonValue& list(std::string_view name) {
        JsonValue* found = text_.root().find(name);
        return found ? *found : text_.root().set(name, "[]");
    }

    /// Views may share their bytes.
    Status place(JsonValue& view, std::span<const std::byte> bytes) {
        SINEW_TRY(held_.take(bytes.size(), document_.name + ": its buffer"));
        data_.resize(aligned(data_.size()));
        view.set("buffer", "0");
        if (data_.empty())
            view.erase("byteOffset");
        else
            view.set("byteOffset", std::to_string(data_.size()));
        view.set("byteLength", std::to_string(bytes.size()));
        data_.insert(data_.end(), bytes.begin(), bytes.end());
        return Done{};
    }

    Result<std::vector<std::byte>> read_uri(const std::string& uri) const {
        if (!uri.starts_with("data:")) {
            SINEW_TRY_LET(auto bytes, document_.external_bytes(uri, "an image"));
            return *bytes;
        }
        auto bytes = decode_base64(std::string_view(uri).substr(std::min(uri.find(',') + 1, uri.size())));
        if (!bytes) return document_.error("an image has a data uri that is not base64");
        return std::move(*bytes);
    }

    const Document& document_;
    SaveReport& report_;
    JsonText text_;
    std::vector<std::byte> data_;  // of buffer 0
    HeldBytes held_;
};

}  // namespace

Result<SavedFile> pack(SavedFile file, const Request& request) {
    const Document& source = request.document;
    const bool plain = request.options.decompress, images = request.glb && !source.glb && source.count("images");
    if (!plain && !images) return file;
    SINEW_TRY_LET(const auto document, parse_document(file.bytes, source.name, source.files));
    Packer packer(*document, file.report);
    if (plain) SINEW_TRY(packer.merge_buffers());
    // Without a BIN chunk the images stay files beside the output.
    if (images && (plain || packer.has_bin())) SINEW_TRY(packer.embed_images());
    file.bytes = packer.finish(request.glb);
    if (request.glb && file.bytes.size() > 0xffffffffu)
        return Error{ErrorCode::too_large, source.name + ": a GLB cannot be larger than 4 GiB"};
    file.report.bytes = file.bytes.size();
    SINEW_TRY_LET(const auto packed, parse_document(file.bytes, source.name, source.files));
    file.refers_to = external_uris(*packed, request.glb);
    return file;
}

}  // namespace sinew::io::gltf_save
