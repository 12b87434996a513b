// KHR_draco_mesh_compression: the data of one primitive. The only file that uses Draco.
#include <draco/compression/decode.h>
#include <draco/mesh/mesh.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>

#include "core/try.h"
#include "io/gltf_accessor.h"
#include "io/model_files.h"

namespace sinew::io {

namespace {

/// The value of every point, in the accessor's component type.
template <typename T>
bool copy_values(const draco::PointAttribute& attribute, std::size_t points, Elements& out) {
    out.bytes.resize(points * out.width * sizeof(T));
    std::array<T, 16> row{};
    for (std::size_t i = 0; i < points; ++i) {
        const auto value = attribute.mapped_index(draco::PointIndex(static_cast<std::uint32_t>(i)));
        if (value.value() >= attribute.size()) return false;
        if (!attribute.ConvertValue<T>(value, static_cast<std::int8_t>(out.width), row.data())) return false;
        std::memcpy(out.bytes.data() + i * out.width * sizeof(T), row.data(), out.width * sizeof(T));
    }
    return true;
}

bool copy_attribute(const draco::PointAttribute& attribute, std::size_t points, Elements& out) {
    switch (out.component) {
        case Component::i8:
            return copy_values<std::int8_t>(attribute, points, out);
        case Component::u8:
            return copy_values<std::uint8_t>(attribute, points, out);
        case Component::i16:
            return copy_values<std::int16_t>(attribute, points, out);
        case Component::u16:
            return copy_values<std::uint16_t>(attribute, points, out);
        case Component::u32:
            return copy_values<std::uint32_t>(attribute, points, out);
        case Component::f32:
            return copy_values<float>(attribute, points, out);
    }
    return false;
}

/// The points and faces that a stream states, before anything is allocated by them (bitstream 2.2, sections 3 to
/// 5). Nothing where it has metadata, or is older.
struct Stated {
    std::uint64_t points = 0, faces = 0;
};
Stated stated_by(std::span<const std::byte> blob) {
    constexpr std::size_t header = 11;
    const auto byte = [&](std::size_t i) { return i < blob.size() ? std::to_integer<unsigned>(blob[i]) : 0u; };
    if (blob.size() < header || byte(5) * 100 + byte(6) < 202 || byte(10) & 0x80) return {};
    std::size_t at = header;
    const auto number = [&] {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 35; shift += 7) {
            const unsigned next = byte(at++);
            value |= std::uint64_t{next & 127} << shift;
            if (next < 128) break;
        }
        return value;
    };
    Stated out;
    if (byte(8) == 0) {  // sequential: faces, points
        out.faces = number();
        out.points = number();
    } else {  // edgebreaker: the kind of its symbols, vertices, faces; seams add to the vertices
        ++at;
        out.points = number();
        out.faces = number();
        out.points = std::max(out.points, out.faces);
    }
    return out;
}

Result<DracoMesh> decode(const Document& document, const Json& primitive, const Json& extension,
                         std::span<const std::byte> blob, const std::string& place) {
    HeldBytes held(*document.files);
    const Stated stated = stated_by(blob);
    const Json* names = member(extension, "attributes");
    // Corners, a table of opposite ones, and four bytes and an index for each number of a point.
    const std::uint64_t bytes = stated.faces * 60 + stated.points * 20 * (names ? names->size() : 0);
    SINEW_TRY(held.take(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, SIZE_MAX)), place));
    draco::DecoderBuffer buffer;
    buffer.Init(reinterpret_cast<const char*>(blob.data()), blob.size());
    draco::Decoder decoder;
    auto decoded = decoder.DecodeMeshFromBuffer(&buffer);
    if (!decoded.ok()) return document.error(place + ": " + decoded.status().error_msg_string());
    const draco::Mesh& mesh = *decoded.value();
    const std::size_t points = mesh.num_points();

    DracoMesh out;
    out.indices = {Component::u32, false, 1, std::size_t{mesh.num_faces()} * 3, {}};
    out.indices.bytes.resize(out.indices.count * 4);
    for (std::uint32_t f = 0; f < mesh.num_faces(); ++f)
        for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t point = mesh.face(draco::FaceIndex(f))[k].value();
            std::memcpy(out.indices.bytes.data() + (std::size_t{f} * 3 + k) * 4, &point, 4);
        }

    // The accessor states the type of the decompressed indices, so the type must be large enough for them.
    if (const Json* index = member(primitive, "indices")) {
        SINEW_TRY_LET(const auto accessor, document.need("accessors", whole(index), place + ": indices"));
        const auto type = whole(member(*accessor, "componentType"));
        const std::size_t limit = type == 5121 ? 0x100u : type == 5123 ? 0x10000u : type == 5125 ? 0xffffffffu : 0u;
        if (limit < points || string_of(member(*accessor, "type")) != "SCALAR" ||
            whole(member(*accessor, "count")) != out.indices.count)
            return document.error(place + ": its indices' accessor does not fit " +
                                  std::to_string(mesh.num_faces()) + " triangles of " + std::to_string(points) +
                                  " vertices");
    }

    const Json *ids = member(extension, "attributes"), *accessors = member(primitive, "attributes");
    if (!ids || !ids->is_object() || !accessors) return document.error(place + ": needs attributes");
    for (const auto& [name, id] : ids->items()) {
        const std::string where = place + ": " + printable(name);
        const auto unique_id = whole(&id);
        const draco::PointAttribute* attribute =
            unique_id && *unique_id <= 0xffffffffu
                ? mesh.GetAttributeByUniqueId(static_cast<std::uint32_t>(*unique_id))
                : nullptr;
        if (!attribute) return document.error(where + ": the compressed data has no such attribute");
        SINEW_TRY_LET(const auto accessor,
                      document.need("accessors", whole(member(*accessors, name.c_str())), where));
        Elements elements;
        const std::string type = string_of(member(*accessor, "type"));
        elements.width = type == "SCALAR" ? 1 : type == "VEC2" ? 2 : type == "VEC3" ? 3 : type == "VEC4" ? 4 : 0;
        const auto component = whole(member(*accessor, "componentType"));
        if (component && *component <= 0xffff) elements.component = static_cast<Component>(*component);
        if (elements.width == 0 || !component || size_of(elements.component) == 0)
            return document.error(where + ": its accessor has an unknown type");
        if (const auto count = whole(member(*accessor, "count")); count != points)
            return document.error(where + ": its accessor does not have the " + std::to_string(points) +
                                  " elements of the compressed data");
        elements.count = points;
        const Json* normalized = member(*accessor, "normalized");
        elements.normalized = normalized && *normalized == true;
        if (!copy_attribute(*attribute, points, elements))
            return document.error(where + ": the compressed values cannot be read as its accessor says");
        out.attributes.emplace(name, std::move(elements));
    }
    return out;
}

}  // namespace

Result<DracoMesh> read_draco(const Document& document, const Json& primitive, const std::string& asker) {
    const std::string place = asker + ": " + draco_extension;
    const Json* extensions = member(primitive, "extensions");
    const Json* extension = extensions ? member(*extensions, draco_extension) : nullptr;
    if (!extension) return document.error(place + " is missing");
    SINEW_TRY_LET(const auto view, document.need("bufferViews", whole(member(*extension, "bufferView")), place));
    const auto buffer = whole(member(*view, "buffer"));
    const auto offset = whole_or(*view, "byteOffset", 0), length = whole(member(*view, "byteLength"));
    if (!buffer || *buffer >= document.buffers.size() || !offset || !length)
        return document.error(place + ": its bufferView needs buffer, byteOffset and byteLength");
    const auto bytes = document.buffers[*buffer].bytes;
    if (*offset > bytes.size() || *length > bytes.size() - *offset)
        return document.error(place + ": its bufferView ends past buffer " + std::to_string(*buffer));
    // The standard library may throw inside Draco: damaged counts request absurd amounts of memory.
    try {
        return decode(document, primitive, *extension, bytes.subspan(*offset, *length), place);
    } catch (const std::exception& e) {
        return document.error(place + ": the compressed data is damaged (" + e.what() + ")");
    }
}

}  // namespace sinew::io
