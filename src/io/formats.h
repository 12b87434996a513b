// Declarations shared by the files of src/io; not installed.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/io.h"

namespace sinew::io {

inline std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// ".glb" of "Hero.GLB": with its dot, in lower case; "" where there is none.
std::string extension_of(const std::filesystem::path& path);

/// The folder that holds `path`; "." for a plain file name.
inline std::filesystem::path folder_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// ErrorCode::input with "NAME: message".
inline Error input_error(const std::string& name, const std::string& message) {
    return {ErrorCode::input, name + ": " + message};
}

/// A finite float that is the whole word; otherwise empty.
inline std::optional<float> parse_float(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;  // double: a number too small for a float becomes 0 and not an error
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(static_cast<float>(value)))
        return std::nullopt;
    return static_cast<float>(value);
}

/// Fails where brackets nest deeper than in any valid file: such a text is hostile, and its document tree would
/// take about 60 bytes per byte.
Status check_json_depth(std::string_view text, const std::string& name);

/// Parses JSON; never throws. The error gives line, column and byte.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& name);

/// nlohmann's message without its "[json.exception…]" prefix.
std::string json_message(const std::exception& error);

/// The surface of an OBJ file. Vertices are those of the `v` lines, in file order, used or not.
struct ObjMesh {
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;  ///< polygons are cut into triangles, in file order
    std::size_t skipped = 0;          ///< lines, points, and faces of fewer than three corners
    std::size_t fanned = 0;           ///< polygons that cannot be cut into ears: crossing or flat ones
};
Result<ObjMesh> parse_obj(std::string_view text, const std::string& name, const Context* context = nullptr);

/// The text of an OBJ file: positions and faces, numbers as short as they are exact.
std::string obj_text(std::span<const Vec3> positions, std::span<const Triangle> triangles);

/// parse_obj, then make_scene.
Result<Scene> read_obj(std::string_view text, const std::string& name, Skeleton skeleton,
                       const Context* context = nullptr);

}  // namespace sinew::io
