#include "io/fbx_write.h"

#include <cstring>

#include "core/try.h"

namespace sinew::io {

namespace {

FbxRows rows_of(const Document& document, const SkinWeights& weights) {
    FbxRows out;
    const std::size_t meshes = document.count("meshes");
    for (const VertexBlock& block : document.rig.blocks) {
        if (document.rig.skins[block.skin].is_part) continue;
        const PrimitiveRef& ref = block.primitives[0];
        const std::size_t mesh = ref.mesh < meshes ? ref.mesh : document.rig.mesh_copies[ref.mesh - meshes];
        out.blocks.push_back({static_cast<std::uint32_t>(mesh), static_cast<std::uint32_t>(ref.primitive),
                              block.vertex_count, !block.to_scene_each.empty(), block.to_scene});
        for (std::uint32_t v = block.first_vertex; v < block.first_vertex + block.vertex_count; ++v) {
            out.counts.push_back(static_cast<std::uint32_t>(weights[v].size()));
            for (const Influence& i : weights[v])
                out.influences.push_back(
                    {static_cast<std::uint32_t>(document.rig.node_of_joint[i.joint]), i.weight});
        }
    }
    return out;
}

}  // namespace

Result<SavedFile> write_fbx(const Document& document, const Scene& scene, const SkinWeights& weights,
                            const SaveOptions& options) {
    const bool added = document.rig.source == RigSource::added || !options.clips.empty();
    if (document.fbx && !added) {
        SINEW_TRY(check_weights(scene, weights, document.name));
        return change_fbx(document, rows_of(document, weights));
    }
    SaveOptions plain = options;
    plain.decompress = true;
    plain.weight_format = WeightFormat::f32;
    SINEW_TRY_LET(SavedFile glb, write_document(document, scene, weights, plain, true, true));
    SINEW_TRY_LET(SavedFile out, make_fbx(glb.bytes, document.name, document.files, options.fbx_unit));
    auto& notes = out.report.notes;
    notes.insert(notes.begin(), glb.report.notes.begin(), glb.report.notes.end());
    if (document.fbx)
        notes.push_back(
            "joints or animations are added, so the FBX is written anew: what sinew does not read of it is lost");
    return out;
}

// ---- between modules of one program

namespace {

template <typename T>
void put(std::vector<std::byte>& to, const std::vector<T>& list) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t size = list.size() * sizeof(T);
    const auto* const head = reinterpret_cast<const std::byte*>(&size);
    const auto* const data = reinterpret_cast<const std::byte*>(list.data());
    to.insert(to.end(), head, head + sizeof size);
    to.insert(to.end(), data, data + size);
}

template <typename T>
void take(std::span<const std::byte>& from, std::vector<T>& list) {
    std::size_t size = 0;
    std::memcpy(&size, from.data(), sizeof size);
    list.resize(size / sizeof(T));
    if (size) std::memcpy(list.data(), &from[sizeof size], size);
    from = from.subspan(sizeof size + size);
}

}  // namespace

std::vector<std::byte> packed(const FbxRows& rows) {
    std::vector<std::byte> out;
    put(out, rows.blocks), put(out, rows.counts), put(out, rows.influences);
    return out;
}

FbxRows unpacked_rows(std::span<const std::byte> bytes) {
    FbxRows out;
    take(bytes, out.blocks), take(bytes, out.counts), take(bytes, out.influences);
    return out;
}

}  // namespace sinew::io
