// A mesh alone: as GLB, or as OBJ.
#include <algorithm>
#include <cctype>
#include <limits>

#include "io/formats.h"
#include "io/gltf_builder.h"
#include "io/gltf_scene.h"

namespace sinew::io {

namespace {

std::string obj_text(const std::vector<Vec3>& positions, const std::vector<Triangle>& triangles) {
    std::string text = "# sinew\n";
    char number[32];
    const auto add = [&](auto value) {
        const auto [end, error] =
            std::to_chars(number, number + sizeof number, value);  // the shortest that is exact
        (void)error;
        text += ' ';
        text.append(number, end);
    };
    for (const Vec3& p : positions) {
        text += 'v';
        for (const float x : {p.x, p.y, p.z}) add(x);
        text += '\n';
    }
    for (const Triangle& t : triangles) {
        text += 'f';
        for (const std::uint32_t i : t) add(std::uint64_t{i} + 1);
        text += '\n';
    }
    return text;
}

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

Status save_mesh(const std::vector<Vec3>& positions, const std::vector<Triangle>& triangles,
                 const std::filesystem::path& path) {
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (extension != ".glb" && extension != ".obj")
        return Error{ErrorCode::usage, path.string() + ": a mesh is written as .glb or .obj"};
    const auto document = mesh_document(positions, triangles, path.string());
    if (!document) return document.error();  // what the mesh must be holds for both formats
    if (extension == ".obj") {
        const std::string text = obj_text(positions, triangles);
        return write_file(path, std::as_bytes(std::span(text)));
    }
    const std::string& text = (*document)->text;
    const std::vector<std::byte>& data = (*document)->buffers[0].bytes;
    if (text.size() + data.size() + 64 > std::numeric_limits<std::uint32_t>::max())
        return Error{ErrorCode::too_large, path.string() + ": a GLB cannot be larger than 4 GiB"};
    return write_file(path, glb_bytes(text, data));
}

std::vector<std::byte> glb_bytes(std::string_view text, std::span<const std::byte> data) {
    std::vector<std::byte> body;
    put_chunk(body, 0x4E4F534A, std::as_bytes(std::span(text)), ' ');
    if (!data.empty()) put_chunk(body, 0x004E4942, data, '\0');
    std::vector<std::byte> out;
    put_u32(out, 0x46546C67);
    put_u32(out, 2);
    put_u32(out, 12 + body.size());
    out.insert(out.end(), body.begin(), body.end());
    return out;
}

}  // namespace sinew::io
