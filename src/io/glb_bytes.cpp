// The container of binary glTF.
#include "io/gltf_builder.h"

namespace sinew::io {

namespace {

void put_u32(std::vector<std::byte>& out, std::size_t value) {
    for (int k = 0; k < 4; ++k) out.push_back(static_cast<std::byte>(value >> (8 * k) & 0xff));
}

void put_chunk(std::vector<std::byte>& out, std::uint32_t type, std::span<const std::byte> data, char padding) {
    put_u32(out, (data.size() + 3) / 4 * 4);
    put_u32(out, type);
    out.insert(out.end(), data.begin(), data.end());
    out.resize((out.size() + 3) / 4 * 4, static_cast<std::byte>(padding));
}

}  // namespace

std::vector<std::byte> glb_bytes(std::string_view text, std::span<const std::byte> data,
                                 std::span<const Document::Chunk> chunks, std::optional<std::size_t> bin) {
    std::vector<std::byte> body;
    put_chunk(body, 0x4E4F534A, std::as_bytes(std::span(text.data(), text.size())), ' ');
    if (!data.empty()) put_chunk(body, 0x004E4942, data, '\0');
    for (std::size_t c = 0; c < chunks.size(); ++c)
        if (c != bin) put_chunk(body, chunks[c].type, chunks[c].bytes, '\0');
    std::vector<std::byte> out;
    put_u32(out, 0x46546C67);
    put_u32(out, 2);
    put_u32(out, 12 + body.size());
    out.insert(out.end(), body.begin(), body.end());
    return out;
}

}  // namespace sinew::io
