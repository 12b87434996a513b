// Documents and files on their way between processes, and between the modules of the page.
#include <algorithm>
#include <string_view>

#include "core/try.h"
#include "io/fbx_write.h"
#include "io/foreign.h"
#include "io/formats.h"
#include "io/gltf_builder.h"

namespace sinew::io {

namespace {

/// Lines, a zero byte, and the rest.
std::vector<std::byte> with_lines(const std::vector<std::string>& lines, std::span<const std::byte> rest) {
    std::vector<std::byte> out;
    for (std::string line : lines) {
        std::replace_if(
            line.begin(), line.end(), [](char c) { return c == '\n' || c == '\0'; }, ' ');
        line += '\n';
        const auto bytes = std::as_bytes(std::span(line));
        out.insert(out.end(), bytes.begin(), bytes.end());
    }
    out.push_back(std::byte{0});
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
}

/// The lines; `bytes` becomes the rest.
std::vector<std::string> lines_of(std::span<const std::byte>& bytes) {
    std::vector<std::string> out;
    const auto zero = std::find(bytes.begin(), bytes.end(), std::byte{0});
    const auto size = static_cast<std::size_t>(zero - bytes.begin());
    for (std::string_view head = as_text(bytes.first(size)); !head.empty(); head.remove_prefix(head.find('\n') + 1))
        out.emplace_back(head.substr(0, head.find('\n')));
    bytes = bytes.subspan(size + 1);
    return out;
}

}  // namespace

std::vector<std::byte> packed(const Document& document) {
    const auto& buffers = document.buffers;
    return with_lines(document.warnings,
                      glb_bytes(document.text, buffers.empty() ? std::span<const std::byte>() : buffers[0].bytes));
}

Result<std::shared_ptr<Document>> unpacked(std::span<const std::byte> bytes, const std::string& name,
                                           Context* context) {
    std::vector<std::string> warnings = lines_of(bytes);
    // What it holds does not refer to files.
    const auto inside = std::make_shared<ModelFiles>("", context);
    SINEW_TRY(inside->add_file(bytes.size(), name));
    auto document = parse_document(bytes, name, inside, context);
    if (document) (*document)->warnings.insert((*document)->warnings.end(), warnings.begin(), warnings.end());
    return document;
}

std::vector<std::byte> packed(const SavedFile& file) { return with_lines(file.report.notes, file.bytes); }

SavedFile unpacked_file(std::span<const std::byte> bytes) {
    SavedFile out;
    out.report.notes = lines_of(bytes);
    out.bytes.assign(bytes.begin(), bytes.end());
    out.report.bytes = bytes.size();
    return out;
}

}  // namespace sinew::io
