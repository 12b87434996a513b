// Accessors as plain arrays, with all bounds checked; also compressed bufferViews and Draco meshes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/gltf_document.h"

namespace sinew::io {

enum class Component : std::uint32_t { i8 = 5120, u8 = 5121, i16 = 5122, u16 = 5123, u32 = 5125, f32 = 5126 };
std::size_t size_of(Component component);

/// Elements of an accessor, tightly packed: count rows of `width` components, little endian.
struct Elements {
    Component component = Component::f32;
    bool normalized = false;
    std::size_t width = 0, count = 0;
    std::vector<std::byte> bytes;
};

/// Components as numbers; normalised ones are mapped to -1..1 or 0..1 by the rules of glTF.
std::vector<float> as_floats(const Elements& elements, bool normalized);
/// The same; floats are not copied into `made`, but stay where they are.
std::span<const float> as_floats(const Elements& elements, bool normalized, std::vector<float>& made);
/// Components of an unsigned integer type.
std::vector<std::uint32_t> as_unsigned(const Elements& elements);
/// JOINTS_n of any component type: 0xffffffff for what is no whole number of at least 0.
std::vector<std::uint32_t> as_joints(const Elements& elements);

/// Number of triangles in a list (mode 4), strip (5) or fan (6) with this number of corners.
std::size_t triangle_count(std::size_t mode, std::size_t corners);
/// The corners of triangle i, in its winding: every second triangle of a strip is reversed.
std::array<std::size_t, 3> triangle_corners(std::size_t mode, std::size_t i);

/// Reads accessors of one document. Caches decompressed views: make one per load.
class AccessorReader {
public:
    explicit AccessorReader(const Document& document) : document_(document), held_(*document.files) {}

    /// `asker`: the start of error messages ("mesh 'body' primitive 0: POSITION"). An accessor without a bufferView
    /// is zeros; all of these together may have 2^22 elements.
    Result<Elements> read(std::size_t accessor, const std::string& asker);

    /// The bytes of a bufferView, decompressed; valid as long as the reader.
    Result<std::span<const std::byte>> view(std::size_t index, const std::string& asker);

private:
    Status fill_sparse(const Json& sparse, Elements& elements, const std::string& place);

    const Document& document_;
    std::map<std::size_t, std::vector<std::byte>> uncompressed_;
    HeldBytes held_;            // by uncompressed_
    std::size_t unbacked_ = 0;  // elements of accessors without bytes
};

/// A bufferView's meshopt extension object, or null.
const Json* meshopt_of(const Json& view);

// gltf_meshopt.cpp, the only file that uses meshoptimizer.

/// Decodes a meshopt stream. mode: ATTRIBUTES, TRIANGLES or INDICES; filter: NONE, OCTAHEDRAL, QUATERNION or
/// EXPONENTIAL. The error is a reason without a place.
Result<std::vector<std::byte>> decode_meshopt(std::span<const std::byte> stream, std::size_t count,
                                              std::size_t stride, const std::string& mode,
                                              const std::string& filter);

// gltf_draco.cpp, the only file that uses Draco.

struct DracoMesh {
    Elements indices;                            ///< u32, three per triangle
    std::map<std::string, Elements> attributes;  ///< by glTF name, with the component types of the accessors
};

/// Decodes a primitive's KHR_draco_mesh_compression.
Result<DracoMesh> read_draco(const Document& document, const Json& primitive, const std::string& place);

}  // namespace sinew::io
