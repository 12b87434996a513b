// Builds a new glTF document: lists and bytes only grow.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base64.h"
#include "core/geometry.h"
#include "core/large_pages.h"
#include "io/formats.h"
#include "io/gltf_accessor.h"
#include "io/gltf_document.h"
#include "io/matrix.h"

namespace sinew::io {

/// Bytes of a GLB with this JSON and this BIN chunk (none where `data` is empty), and the other chunks but that of
/// number `bin`. The caller checks the limit of 4 GiB.
std::vector<std::byte> glb_bytes(std::string_view text, std::span<const std::byte> data,
                                 std::span<const Document::Chunk> chunks = {},
                                 std::optional<std::size_t> bin = std::nullopt);

inline constexpr int vertices_target = 34962, indices_target = 34963;

inline std::array<double, 3> direction(const Matrix& a, const Vec3& v) {
    return {a(0, 0) * v.x + a(0, 1) * v.y + a(0, 2) * v.z, a(1, 0) * v.x + a(1, 1) * v.y + a(1, 2) * v.z,
            a(2, 0) * v.x + a(2, 1) * v.y + a(2, 2) * v.z};
}

/// A unit vector; `otherwise` where there is no direction: glTF requires unit vectors.
inline Vec3 unit(const std::array<double, 3>& v, const Vec3& otherwise) {
    const double length = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(length > 0) || !std::isfinite(length)) return otherwise;
    return to_vec3({v[0] / length, v[1] / length, v[2] / length});
}

/// For normals: the inverse transpose of the upper left three by three.
inline Matrix normal_matrix(const Matrix& a) {
    const std::optional<Matrix> inverted = inverse(a);
    if (!inverted) return Matrix{};
    Matrix out;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) out(r, c) = (*inverted)(c, r);
    return out;
}

struct Trs {
    std::array<double, 3> t{0, 0, 0}, s{1, 1, 1};
    std::array<double, 4> q{0, 0, 0, 1};
};

/// The nearest translation, rotation and scale; exact up to rounding if there is no shear. A reflection becomes a
/// negative scale of x.
inline Trs decompose(const Matrix& a) {
    Trs out;
    out.t = {a(0, 3), a(1, 3), a(2, 3)};
    double c[3][3];  // columns
    for (std::size_t k = 0; k < 3; ++k) {
        out.s[k] = std::sqrt(a(0, k) * a(0, k) + a(1, k) * a(1, k) + a(2, k) * a(2, k));
        for (std::size_t r = 0; r < 3; ++r) c[k][r] = out.s[k] > 0 ? a(r, k) / out.s[k] : 0;
    }
    if (determinant(a) < 0) {
        out.s[0] = -out.s[0];
        for (double& v : c[0]) v = -v;
    }
    // z from x and y if they span a plane, then y from z and x: a rotation even if the columns are not orthogonal.
    const auto cross = [](const double* u, const double* v, double* w) {
        for (std::size_t k = 0; k < 3; ++k)
            w[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        const double length = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        for (std::size_t k = 0; k < 3; ++k) w[k] = length > 1e-9 ? w[k] / length : 0;
        return length > 1e-9;
    };
    if (!cross(c[0], c[1], c[2]) || !cross(c[2], c[0], c[1])) return out;
    const double trace = c[0][0] + c[1][1] + c[2][2];
    const auto m = [&](std::size_t row, std::size_t column) { return c[column][row]; };
    // The largest component first: it is never near zero.
    if (trace > 0) {
        const double w = std::sqrt(trace + 1) / 2;
        out.q = {(m(2, 1) - m(1, 2)) / (4 * w), (m(0, 2) - m(2, 0)) / (4 * w), (m(1, 0) - m(0, 1)) / (4 * w), w};
    } else {
        std::size_t i = m(0, 0) > m(1, 1) ? 0 : 1;
        if (m(2, 2) > m(i, i)) i = 2;
        const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
        const double v = std::sqrt(std::max(0.0, 1 + m(i, i) - m(j, j) - m(k, k))) / 2;
        out.q[i] = v;
        out.q[j] = (m(j, i) + m(i, j)) / (4 * v);
        out.q[k] = (m(k, i) + m(i, k)) / (4 * v);
        out.q[3] = (m(k, j) - m(j, k)) / (4 * v);
    }
    double length = 0;
    for (const double v : out.q) length += v * v;
    for (double& v : out.q) v /= std::sqrt(length);
    return out;
}

/// Within 1e-4 of the largest entry.
inline bool agree(const Matrix& a, const Matrix& b) {
    double size = 0, apart = 0;
    for (std::size_t i = 0; i < 16; ++i) {
        size = std::max({size, std::abs(a.m[i]), std::abs(b.m[i])});
        apart = std::max(apart, std::abs(a.m[i] - b.m[i]));
    }
    return apart <= 1e-4 * size;
}

/// The JSON and the BIN chunk of a new document.
class Builder {
public:
    Json& root() { return root_; }

    /// Room for this many more bytes.
    void reserve(std::size_t bytes) {
        data_.reserve(data_.size() + bytes);
        ask_for_large_pages(data_.data() + data_.size(), bytes);
    }

    /// A copy of these bytes; null: zeros.
    std::size_t view(const void* data, std::size_t size, std::optional<int> target) {
        data_.resize((data_.size() + 3) / 4 * 4);
        Json out{{"buffer", 0}, {"byteOffset", data_.size()}, {"byteLength", size}};
        if (target) out["target"] = *target;
        if (const auto* from = static_cast<const std::byte*>(data))
            data_.insert(data_.end(), from, from + size);
        else
            data_.resize(data_.size() + size);
        return push("bufferViews", std::move(out));
    }

    /// `fill` gets a pointer to `count` zeros of type T, which it may set.
    template <typename T, typename Fill>
    std::size_t accessor(std::size_t count, int component, const char* type, std::size_t width,
                         std::optional<int> target, const Fill& fill) {
        const std::size_t at = view(nullptr, count * sizeof(T), target);
        fill(reinterpret_cast<T*>(data_.data() + (data_.size() - count * sizeof(T))));
        return push("accessors", Json{{"bufferView", at},
                                      {"componentType", component},
                                      {"count", count * sizeof(T) / (width * component_size(component))},
                                      {"type", type}});
    }

    template <typename T>
    std::size_t accessor(const std::vector<T>& values, int component, const char* type, std::size_t width,
                         std::optional<int> target) {
        return accessor<T>(values.size(), component, type, width, target,
                           [&](T* to) { std::copy(values.begin(), values.end(), to); });
    }

    /// Floats with min and max, which glTF requires.
    std::size_t bounded(const std::vector<float>& values, const char* type, std::size_t width,
                        std::optional<int> target) {
        const std::size_t at = accessor(values, 5126, type, width, target);
        bound(at, values, width);
        return at;
    }

    /// Adds min and max of its values to an accessor.
    void bound(std::size_t accessor, std::span<const float> values, std::size_t width) {
        Json low = Json::array(), high = Json::array();
        for (std::size_t k = 0; k < width; ++k) {
            float least = values[k], most = values[k];
            for (std::size_t i = k; i < values.size(); i += width) {
                least = std::min(least, values[i]);
                most = std::max(most, values[i]);
            }
            low.push_back(least);
            high.push_back(most);
        }
        root_["accessors"][accessor]["min"] = std::move(low);
        root_["accessors"][accessor]["max"] = std::move(high);
    }

    /// Appends to a top-level list; its index.
    std::size_t push(const char* list, Json value) {
        Json& to = root_[list];
        to.push_back(std::move(value));
        return to.size() - 1;
    }

    /// The elements of an accessor of another document, unchanged; rows of vertices are padded to four bytes.
    std::size_t elements(const Elements& from, int target) {
        static constexpr const char* types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
        const std::size_t row = size_of(from.component) * from.width;
        const std::size_t step = target == vertices_target ? (row + 3) / 4 * 4 : row;
        std::vector<std::byte> rows(from.count * step);
        for (std::size_t i = 0; i < from.count; ++i)
            std::memcpy(rows.data() + i * step, from.bytes.data() + i * row, row);
        const std::size_t at = view(rows.data(), rows.size(), target);
        if (step != row) root_["bufferViews"][at]["byteStride"] = step;
        Json out{{"bufferView", at},
                 {"componentType", static_cast<std::uint32_t>(from.component)},
                 {"count", from.count},
                 {"type", types[std::min<std::size_t>(from.width, 4) - 1]}};
        if (from.normalized) out["normalized"] = true;
        return push("accessors", std::move(out));
    }

    struct File {
        std::string text;
        std::vector<std::byte> data;
    };
    /// The JSON text and the bytes of buffer 0. With `embed` the buffer is a data uri in the text.
    Result<File> file(const std::string& name, bool embed) {
        data_.resize((data_.size() + 3) / 4 * 4);
        if (!data_.empty()) {
            Json buffer{{"byteLength", data_.size()}};
            if (embed) buffer["uri"] = "data:application/octet-stream;base64," + encode_base64(data_);
            root_["buffers"] = Json::array({std::move(buffer)});
        }
        // A name may have any bytes; those that are not UTF-8 are replaced.
        std::string text = root_.dump(-1, ' ', false, Json::error_handler_t::replace);
        if (text.size() + data_.size() > 0xffffff00u)
            return Error{ErrorCode::too_large, name + ": a GLB cannot be larger than 4 GiB"};
        return File{std::move(text), std::move(data_)};
    }

    /// The same as if it had been read from a GLB.
    Result<std::shared_ptr<Document>> document(const std::string& name) {
        auto made = file(name, false);
        if (!made) return made.error();
        auto document = std::make_shared<Document>();
        document->name = name;
        document->glb = true;
        auto json = parse_json(made->text, name);
        if (!json) return Error{ErrorCode::internal, json.error().message};
        document->json = std::move(*json);
        document->text = std::move(made->text);
        if (!made->data.empty()) {
            document->bin_chunk = 0;
            document->chunks.push_back({0x004E4942, {}});
            document->buffers.push_back({Document::Origin::bin, std::move(made->data)});
        }
        return document;
    }

private:
    static std::size_t component_size(int component) { return component == 5121 ? 1 : component == 5123 ? 2 : 4; }

    Json root_{{"asset", {{"version", "2.0"}, {"generator", "sinew"}}}};
    std::vector<std::byte> data_;
};

}  // namespace sinew::io
