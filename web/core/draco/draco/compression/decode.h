// What io/gltf_draco.cpp calls of Draco, answered by its own decoder for JavaScript, which whoever starts the
// module hands over as Module.draco before a file that needs it is opened. That decoder is of the version 1.5, as
// Debian's is, and gives the same values. Here every point has a value of its own: the decoder hands them out in
// that order.
#pragma once

#include <emscripten.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

// Meshes are kept in a list; their numbers in it go to and fro. Arrays go by way of the decoder's own memory. Codes
// of types are draco::DataType.
// clang-format off
/// Fills sizes with points and triangles. The number of the mesh, or -1 with a message.
EM_JS(int, sinew_draco_open, (const char* from, size_t size, uint32_t* sizes, char* message, size_t room), {
    const draco = Module['draco'];
    if (!draco) {
        stringToUTF8('the decoder is not there', message, room);
        return -1;
    }
    const decoder = new draco['Decoder']();
    const mesh = new draco['Mesh']();
    let said = null;
    try {
        // A copy: where there are threads the module's memory is shared, which not every function takes.
        const status = decoder['DecodeArrayToMesh'](new Int8Array(HEAPU8.slice(from, from + size).buffer), size, mesh);
        if (!status['ok']()) said = status['error_msg']() || 'Failed to decode geometry data.';
    } catch (error) {
        said = 'the compressed data is damaged';
    }
    if (said) {
        draco['destroy'](mesh);
        draco['destroy'](decoder);
        stringToUTF8(said, message, room);
        return -1;
    }
    HEAPU32[sizes >> 2] = mesh['num_points']();
    HEAPU32[(sizes >> 2) + 1] = mesh['num_faces']();
    const open = Module['dracoOpen'] = Module['dracoOpen'] || [];
    open.push([decoder, mesh]);
    return open.length - 1;
})
EM_JS(void, sinew_draco_close, (int mesh), {
    const open = Module['dracoOpen'];
    for (const object of open[mesh]) Module['draco']['destroy'](object);
    open[mesh] = null;
    if (open.every((o) => !o)) open.length = 0;
})
/// Corners of all triangles, uint32.
EM_JS(int, sinew_draco_corners, (int mesh, void* to, size_t bytes), {
    const draco = Module['draco'];
    const [decoder, of] = Module['dracoOpen'][mesh];
    const at = draco['_malloc'](bytes);
    if (!at) return 0;
    const ok = decoder['GetTrianglesUInt32Array'](of, bytes, at);
    if (ok) HEAPU8.set(draco['HEAPU8'].subarray(at, at + bytes), to);
    draco['_free'](at);
    return ok ? 1 : 0;
})
/// Numbers per point of an attribute; 0: there is none of that id.
EM_JS(int, sinew_draco_width, (int mesh, uint32_t id), {
    const [decoder, of] = Module['dracoOpen'][mesh];
    const attribute = decoder['GetAttributeByUniqueId'](of, id);
    return attribute && attribute['ptr'] ? attribute['num_components']() : 0;
})
EM_JS(int, sinew_draco_values, (int mesh, uint32_t id, int type, void* to, size_t bytes), {
    const draco = Module['draco'];
    const [decoder, of] = Module['dracoOpen'][mesh];
    const at = draco['_malloc'](bytes);
    if (!at) return 0;
    const ok = decoder['GetAttributeDataArrayForAllPoints'](of, decoder['GetAttributeByUniqueId'](of, id), type, bytes, at);
    if (ok) HEAPU8.set(draco['HEAPU8'].subarray(at, at + bytes), to);
    draco['_free'](at);
    return ok ? 1 : 0;
})
// clang-format on

namespace draco {

/// The kinds of numbers that are told apart here.
struct Number {
    explicit Number(std::uint32_t at) : at_(at) {}
    std::uint32_t value() const { return at_; }

private:
    std::uint32_t at_;
};
struct PointIndex : Number {
    using Number::Number;
};
struct AttributeValueIndex : Number {
    using Number::Number;
};
struct FaceIndex : Number {
    using Number::Number;
};

class PointAttribute {
public:
    PointAttribute(int mesh, std::uint32_t id, std::uint32_t points, int width)
        : mesh_(mesh), id_(id), points_(points), width_(width) {}

    AttributeValueIndex mapped_index(PointIndex point) const { return AttributeValueIndex(point.value()); }
    std::uint32_t size() const { return points_; }

    /// A row as `width` numbers of type T: what the attribute has more is left out, what it has less is 0.
    template <typename T>
    bool ConvertValue(AttributeValueIndex at, std::int8_t width, T* out) const {
        if (type_ != type_of<T>() && !fetch<T>()) return false;
        const T* row =
            reinterpret_cast<const T*>(values_.data()) + std::size_t{at.value()} * static_cast<std::size_t>(width_);
        for (int k = 0; k < width; ++k) out[k] = k < width_ ? row[k] : T{};
        return true;
    }

private:
    /// draco::DataType.
    template <typename T>
    static constexpr int type_of() {
        if (std::is_same_v<T, float>) return 9;
        return (sizeof(T) == 1 ? 1 : sizeof(T) == 2 ? 3 : 5) + (std::is_unsigned_v<T> ? 1 : 0);
    }
    template <typename T>
    bool fetch() const {
        const std::size_t bytes = std::size_t{points_} * static_cast<std::size_t>(width_) * sizeof(T);
        values_.assign(bytes / sizeof(std::uint32_t) + 1, 0);
        type_ = type_of<T>();
        if (sinew_draco_values(mesh_, id_, type_, values_.data(), bytes)) return true;
        type_ = 0;
        return false;
    }

    int mesh_;
    std::uint32_t id_, points_;
    int width_;
    mutable int type_ = 0;  // of values_; 0: none
    mutable std::vector<std::uint32_t> values_;
};

class Mesh {
public:
    Mesh(int mesh, std::uint32_t points, std::uint32_t faces)
        : mesh_(mesh), points_(points), corners_(std::size_t{faces} * 3) {}
    Mesh(const Mesh&) = delete;
    Mesh& operator=(const Mesh&) = delete;
    ~Mesh() { sinew_draco_close(mesh_); }

    std::uint32_t num_points() const { return points_; }
    std::uint32_t num_faces() const { return static_cast<std::uint32_t>(corners_.size() / 3); }
    std::array<PointIndex, 3> face(FaceIndex face) const {
        const std::uint32_t* at = corners_.data() + std::size_t{face.value()} * 3;
        return {PointIndex(at[0]), PointIndex(at[1]), PointIndex(at[2])};
    }
    bool read_corners() {
        return corners_.empty() ||
               sinew_draco_corners(mesh_, corners_.data(), corners_.size() * sizeof(std::uint32_t));
    }
    /// Lives as long as the mesh. Null: there is none.
    const PointAttribute* GetAttributeByUniqueId(std::uint32_t id) const {
        const int width = sinew_draco_width(mesh_, id);
        if (width < 1) return nullptr;
        return attributes_.emplace_back(std::make_unique<PointAttribute>(mesh_, id, points_, width)).get();
    }

private:
    int mesh_;
    std::uint32_t points_;
    std::vector<std::uint32_t> corners_;
    mutable std::vector<std::unique_ptr<PointAttribute>> attributes_;
};

struct DecoderBuffer {
    void Init(const char* data, std::size_t size) {
        from = data;
        bytes = size;
    }
    const char* from = nullptr;
    std::size_t bytes = 0;
};

class Decoded {
public:
    bool ok() const { return mesh_ != nullptr; }
    const Decoded& status() const { return *this; }
    const std::string& error_msg_string() const { return message_; }
    const std::unique_ptr<Mesh>& value() const { return mesh_; }

private:
    friend class Decoder;
    std::unique_ptr<Mesh> mesh_;
    std::string message_;
};

class Decoder {
public:
    Decoded DecodeMeshFromBuffer(const DecoderBuffer* buffer) const {
        Decoded out;
        std::uint32_t sizes[2] = {};
        char message[256] = {};
        const int mesh = sinew_draco_open(buffer->from, buffer->bytes, sizes, message, sizeof message);
        out.message_ = message;
        if (mesh < 0) return out;
        out.mesh_ = std::make_unique<Mesh>(mesh, sizes[0], sizes[1]);
        if (out.mesh_->read_corners()) return out;
        out.mesh_.reset();
        out.message_ = "its triangles cannot be read";
        return out;
    }
};

}  // namespace draco
