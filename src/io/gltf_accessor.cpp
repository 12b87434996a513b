// Accessors: buffer views, strides, sparse values, compressed views. Offsets come from the file, so every sum is
// checked before it is used, and allocations are limited by the size of the file.
#include "io/gltf_accessor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/try.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

constexpr std::size_t max_unbacked = std::size_t{1} << 22;

struct Type {
    const char* name;
    std::size_t width;
};
constexpr Type types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4},
                          {"MAT2", 4},   {"MAT3", 9}, {"MAT4", 16}};

/// True where offset + length lies within size.
bool fits(std::size_t offset, std::size_t length, std::size_t size) {
    return offset <= size && length <= size - offset;
}

template <typename T>
T component_at(const Elements& elements, std::size_t i) {
    T value;
    std::memcpy(&value, elements.bytes.data() + i * sizeof(T), sizeof(T));
    return value;
}

template <typename T>
std::vector<std::uint32_t> unsigned_of(const Elements& elements) {
    std::vector<std::uint32_t> out(elements.count * elements.width);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = component_at<T>(elements, i);
    return out;
}

template <typename T>
std::vector<float> floats_of(const Elements& elements, bool normalized) {
    std::vector<float> out(elements.count * elements.width);
    // In double: a normalised maximum is then exactly 1.
    const double scale = normalized ? 1.0 / static_cast<double>(std::numeric_limits<T>::max()) : 1.0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double value = static_cast<double>(component_at<T>(elements, i)) * scale;
        out[i] = static_cast<float>(normalized ? std::max(value, -1.0) : value);
    }
    return out;
}

}  // namespace

std::size_t size_of(Component component) {
    switch (component) {
        case Component::i8:
        case Component::u8:
            return 1;
        case Component::i16:
        case Component::u16:
            return 2;
        case Component::u32:
        case Component::f32:
            return 4;
    }
    return 0;
}

std::vector<float> as_floats(const Elements& elements, bool normalized) {
    switch (elements.component) {
        case Component::i8:
            return floats_of<std::int8_t>(elements, normalized);
        case Component::u8:
            return floats_of<std::uint8_t>(elements, normalized);
        case Component::i16:
            return floats_of<std::int16_t>(elements, normalized);
        case Component::u16:
            return floats_of<std::uint16_t>(elements, normalized);
        case Component::u32:
            return floats_of<std::uint32_t>(elements, normalized);
        case Component::f32:
            break;
    }
    std::vector<float> out(elements.count * elements.width);
    if (!out.empty()) std::memcpy(out.data(), elements.bytes.data(), out.size() * sizeof(float));
    return out;
}

std::span<const float> as_floats(const Elements& elements, bool normalized, std::vector<float>& made) {
    if (elements.component == Component::f32)
        return {reinterpret_cast<const float*>(elements.bytes.data()), elements.count * elements.width};
    return made = as_floats(elements, normalized);
}

std::size_t triangle_count(std::size_t mode, std::size_t corners) {
    return mode == 4 ? corners / 3 : corners < 3 ? 0 : corners - 2;
}

std::array<std::size_t, 3> triangle_corners(std::size_t mode, std::size_t i) {
    if (mode == 4) return {3 * i, 3 * i + 1, 3 * i + 2};
    if (mode == 5) return {i, i + 1 + i % 2, i + 2 - i % 2};
    return {i + 1, i + 2, 0};
}

std::vector<std::uint32_t> as_unsigned(const Elements& elements) {
    switch (elements.component) {
        case Component::u8:
            return unsigned_of<std::uint8_t>(elements);
        case Component::u16:
            return unsigned_of<std::uint16_t>(elements);
        case Component::u32:
            return unsigned_of<std::uint32_t>(elements);
        default:
            return {};
    }
}

const Json* meshopt_of(const Json& view) {
    const Json* extensions = member(view, "extensions");
    if (!extensions) return nullptr;
    for (const char* name : meshopt_extensions)
        if (const Json* found = member(*extensions, name); found && found->is_object()) return found;
    return nullptr;
}

Result<std::span<const std::byte>> AccessorReader::view(std::size_t index, const std::string& asker) {
    const std::string place = asker + ": bufferView " + std::to_string(index);
    SINEW_TRY_LET(const auto found, document_.need("bufferViews", index, asker));
    const Json* meshopt = meshopt_of(*found);
    if (const auto kept = uncompressed_.find(index); kept != uncompressed_.end())
        return std::span<const std::byte>(kept->second);

    const Json& from = meshopt ? *meshopt : *found;
    const auto buffer_index = whole(member(from, "buffer"));
    SINEW_TRY(document_.need("buffers", buffer_index, place));
    const Document::Buffer& source = document_.buffers[*buffer_index];
    if (source.origin == Document::Origin::absent)
        return document_.error(place + " is in buffer " + std::to_string(*buffer_index) +
                               ", which has no uri and is not a BIN chunk");
    const auto offset = whole_or(from, "byteOffset", 0), length = whole(member(from, "byteLength"));
    if (!offset || !length) return document_.error(place + ": byteOffset and byteLength must be whole numbers");
    if (!fits(*offset, *length, source.bytes.size()))
        return document_.error(place + " covers bytes " + std::to_string(*offset) + " + " +
                               std::to_string(*length) + " of buffer " + std::to_string(*buffer_index) +
                               ", which has " + std::to_string(source.bytes.size()));
    const auto bytes = source.bytes.subspan(*offset, *length);
    if (!meshopt) return bytes;

    const auto count = whole(member(from, "count")), stride = whole(member(from, "byteStride"));
    const std::string mode = string_of(member(from, "mode")), filter = string_of(member(from, "filter"));
    if (!count || !stride) return document_.error(place + ": its compression states no count and byteStride");
    // Views may share a stream, of which one byte can become 64.
    if (*count > ~std::size_t{0} / std::max<std::size_t>(*stride, 1))
        return document_.error(place + ": count is too large");
    SINEW_TRY(held_.take(*count * *stride, document_.name + ": " + place));
    auto decoded = decode_meshopt(bytes, *count, *stride, mode, filter.empty() ? "NONE" : filter);
    if (!decoded) return document_.error(place + ": meshopt compression: " + decoded.error().message);
    return std::span<const std::byte>(uncompressed_[index] = std::move(*decoded));
}

std::vector<std::uint32_t> as_joints(const Elements& elements) {
    if (elements.component == Component::u8 || elements.component == Component::u16 ||
        elements.component == Component::u32)
        return as_unsigned(elements);
    std::vector<std::uint32_t> out;
    for (const float value : as_floats(elements, false))
        out.push_back(value >= 0 && value < 65536 && value == std::floor(value) ? static_cast<std::uint32_t>(value)
                                                                                : 0xffffffffu);
    return out;
}

Result<Elements> AccessorReader::read(std::size_t index, const std::string& asker) {
    SINEW_TRY_LET(const auto found, document_.need("accessors", index, asker));
    const Json& accessor = *found;
    const std::string place = asker + " (accessor " + std::to_string(index) + ")";

    Elements out;
    const auto component = whole(member(accessor, "componentType"));
    if (component) out.component = static_cast<Component>(*component);
    if (!component || *component > 0xffff || size_of(out.component) == 0)
        return document_.error(place + ": unknown componentType");
    const std::string type = string_of(member(accessor, "type"));
    for (const Type& known : types)
        if (type == known.name) out.width = known.width;
    if (out.width == 0) return document_.error(place + ": unknown type \"" + printable(type) + "\"");
    const std::size_t size = size_of(out.component);
    // Columns of small matrices are padded; none of them is read here.
    if (type.starts_with("MAT") && size < 4)
        return document_.error(place + ": matrices of small integers are not read here");
    const Json* normalized = member(accessor, "normalized");
    out.normalized = normalized && normalized->is_boolean() && normalized->get<bool>();
    const auto count = whole(member(accessor, "count"));
    if (!count || *count == 0) return document_.error(place + ": count must be a whole number above 0");
    out.count = *count;

    const std::size_t element = size * out.width;
    if (const Json* view_json = member(accessor, "bufferView")) {
        const auto view_index = whole(view_json);
        if (!view_index) return document_.error(place + ": bufferView must be a whole number");
        SINEW_TRY_LET(const auto bytes, view(*view_index, place));
        const Json& view_object = *document_.at("bufferViews", *view_index);
        const Json* meshopt = meshopt_of(view_object);
        const auto offset = whole_or(accessor, "byteOffset", 0);
        const auto stride = whole_or(meshopt ? *meshopt : view_object, "byteStride", element);
        if (!offset || !stride) return document_.error(place + ": byteOffset and byteStride must be whole numbers");
        // byteStride is for vertex attributes; with one smaller than an element, elements would overlap.
        if (*stride < element)
            return document_.error(place + ": byteStride " + std::to_string(*stride) +
                                   " is less than an element (" + std::to_string(element) + " bytes)");
        const std::size_t rows = bytes.size() < *offset || bytes.size() - *offset < element
                                     ? 0
                                     : (bytes.size() - *offset - element) / *stride + 1;
        if (out.count > rows)
            return document_.error(place + " has " + std::to_string(out.count) + " elements, but bufferView " +
                                   std::to_string(*view_index) + " (" + std::to_string(bytes.size()) +
                                   " bytes) holds " + std::to_string(rows));
        if (*stride == element) {
            const auto whole_view = bytes.subspan(*offset, out.count * element);
            out.bytes.assign(whole_view.begin(), whole_view.end());
        } else {
            out.bytes.resize(out.count * element);
            for (std::size_t i = 0; i < out.count; ++i)
                std::memcpy(out.bytes.data() + i * element, bytes.data() + *offset + i * *stride, element);
        }
    } else {
        unbacked_ += std::min(out.count, max_unbacked + 1);
        if (unbacked_ > max_unbacked)
            return document_.error(place + ": accessors without a bufferView may have " +
                                   std::to_string(max_unbacked) + " elements in all");
        out.bytes.resize(out.count * element);
    }
    if (const Json* sparse = member(accessor, "sparse")) SINEW_TRY(fill_sparse(*sparse, out, place));
    return out;
}

Status AccessorReader::fill_sparse(const Json& sparse, Elements& elements, const std::string& place) {
    const std::string where = place + ": sparse";
    const auto count = whole(member(sparse, "count"));
    const Json *indices = member(sparse, "indices"), *values = member(sparse, "values");
    if (!count || !indices || !values) return document_.error(where + " must have count, indices and values");
    if (*count > elements.count)
        return document_.error(where + " replaces " + std::to_string(*count) + " of " +
                               std::to_string(elements.count) + " elements");
    const auto index_type = whole(member(*indices, "componentType"));
    const std::size_t index_size = index_type == 5121 ? 1 : index_type == 5123 ? 2 : index_type == 5125 ? 4 : 0;
    if (index_size == 0) return document_.error(where + ": indices must be u8, u16 or u32");
    const std::size_t element = size_of(elements.component) * elements.width;

    std::span<const std::byte> data[2];
    const Json* const parts[2] = {indices, values};
    const std::size_t sizes[2] = {index_size, element};
    for (int i = 0; i < 2; ++i) {
        const auto view_index = whole(member(*parts[i], "bufferView"));
        const auto offset = whole_or(*parts[i], "byteOffset", 0);
        if (!view_index || !offset) return document_.error(where + ": needs bufferView and byteOffset");
        SINEW_TRY_LET(const auto bytes, view(*view_index, where));
        if (*offset > bytes.size() || *count > (bytes.size() - *offset) / sizes[i])
            return document_.error(where + (i == 0 ? ": indices end" : ": values end") + " past bufferView " +
                                   std::to_string(*view_index));
        data[i] = bytes.subspan(*offset, *count * sizes[i]);
    }
    std::size_t previous = 0;
    for (std::size_t i = 0; i < *count; ++i) {
        std::uint32_t at = 0;
        for (std::size_t k = 0; k < index_size; ++k)
            at |= static_cast<std::uint32_t>(data[0][i * index_size + k]) << (8 * k);
        if (at >= elements.count)
            return document_.error(where + ": index " + std::to_string(at) + " of " +
                                   std::to_string(elements.count) + " elements");
        if (i > 0 && at <= previous) return document_.error(where + ": indices must rise");
        previous = at;
        std::memcpy(elements.bytes.data() + at * element, data[1].data() + i * element, element);
    }
    return Done{};
}

}  // namespace sinew::io
