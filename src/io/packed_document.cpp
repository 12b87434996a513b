// Documents on their way between processes, and between the modules of the page.
#include <algorithm>
#include <string_view>

#include "core/try.h"
#include "io/foreign.h"
#include "io/formats.h"
#include "io/gltf_builder.h"

namespace sinew::io {

std::vector<std::byte> packed(const Document& document) {
    std::string head;
    for (std::string warning : document.warnings) {
        std::replace_if(
            warning.begin(), warning.end(), [](char c) { return c == '\n' || c == '\0'; }, ' ');
        head += warning + "\n";
    }
    std::vector<std::byte> out(head.size() + 1);
    std::copy(head.begin(), head.end(), reinterpret_cast<char*>(out.data()));
    const auto& buffers = document.buffers;
    const auto glb = glb_bytes(document.text, buffers.empty() ? std::span<const std::byte>() : buffers[0].bytes);
    out.insert(out.end(), glb.begin(), glb.end());
    return out;
}

Result<std::shared_ptr<Document>> unpacked(std::span<const std::byte> bytes, const std::string& name,
                                           Context* context) {
    const auto zero = std::find(bytes.begin(), bytes.end(), std::byte{0});
    std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                          static_cast<std::size_t>(zero - bytes.begin()));
    // What it holds does not refer to files.
    const auto inside = std::make_shared<ModelFiles>("", context);
    SINEW_TRY(inside->add_file(bytes.size(), name));
    auto document = parse_document(bytes.subspan(head.size() + 1), name, inside, context);
    for (; document && !head.empty(); head.remove_prefix(head.find('\n') + 1))
        (*document)->warnings.emplace_back(head.substr(0, head.find('\n')));
    return document;
}

}  // namespace sinew::io
