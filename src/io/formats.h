// Declarations shared by the files of src/io; not installed.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "io/model_files.h"
#include "sinew/content.h"
#include "sinew/io.h"

namespace sinew::io {

inline std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A regular file that is read in pieces; errors as of read_file. All files are read through it.
class FileReader {
public:
    static Result<FileReader> open(const std::filesystem::path& path, const Context* context);
    FileReader(FileReader&& other) noexcept;
    FileReader& operator=(FileReader&&) = delete;
    ~FileReader();
    std::uint64_t size() const { return size_; }  ///< when it was opened
    /// The number of bytes; 0 at the end.
    Result<std::size_t> read(std::span<std::byte> to);
    Status skip(std::uint64_t bytes);

private:
    FileReader() = default;
    std::filesystem::path path_;
    const Context* context_ = nullptr;
    int file_ = -1;
    std::uint64_t size_ = 0;
};

/// A path that confine excludes.
Error outside_error(const std::filesystem::path& path);

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

/// Parses JSON; never throws. The error gives line, column and byte.
Result<Json> parse_json(std::string_view text, const std::string& name, const Context* context = nullptr);

/// An estimate, from above, of the memory of the tree of a JSON text.
std::size_t json_tree_bytes(std::string_view text);

/// nlohmann's message without its "[json.exception…]" prefix.
std::string json_message(const std::exception& error);

/// How a mesh that is made from arrays looks.
struct MeshLook {
    std::vector<std::array<float, 2>> uvs;  ///< V or none; v points down, as in glTF
    std::vector<Vec3> normals;              ///< V or none; zero = smooth
    std::vector<std::uint32_t>
        same_as;  ///< V or none: an earlier vertex at its place, or itself, for smooth normals
    struct Part {
        std::string group;
        int material = -1;
        std::uint32_t triangle_count = 0;  ///< the next ones of the mesh
    };
    std::vector<Part> parts;  ///< together all triangles; none = one part
    struct Material {
        std::string name;
        std::array<float, 4> color{1, 1, 1, 1};
        float roughness = 1, metallic = 0;
        std::string picture;       ///< of the base colour, as the file names it
        ModelFiles::Bytes pixels;  ///< its bytes, PNG or JPEG, or null
    };
    std::vector<Material> materials;
};

/// The surface of an OBJ file. Vertices are first those of the `v` lines, in file order, used or not; then further
/// ones where corners of one `v` differ in their texture coordinates or normals.
struct ObjMesh {
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;     ///< polygons are cut into triangles; in file order within each part
    MeshLook look;                       ///< materials have their names only
    std::vector<std::string> libraries;  ///< of mtllib
    std::size_t lost = 0;                ///< corners with texture coordinates or normals that do not exist
    std::size_t skipped = 0;             ///< lines, points, and faces of fewer than three corners
    std::size_t fanned = 0;              ///< polygons that cannot be cut into ears: crossing or flat ones
};
Result<ObjMesh> parse_obj(std::string_view text, const std::string& name, const Context* context = nullptr);

/// The text of an OBJ file: positions and faces, numbers as short as they are exact.
std::string obj_text(std::span<const Vec3> positions, std::span<const Triangle> triangles);

/// parse_obj, with the materials and pictures beside it, as a scene with this skeleton.
Result<Scene> read_obj(std::string_view text, const std::string& name, std::shared_ptr<ModelFiles> files,
                       Skeleton skeleton, const Context* context = nullptr);

/// The libraries and pictures that an OBJ file may read, where they exist or would be looked for.
Result<std::vector<std::filesystem::path>> files_of_obj(std::string_view text, const std::filesystem::path& path,
                                                        const Context* context);

/// Reads MTL libraries into the materials of these names. Warnings name what cannot be read.
Status read_obj_materials(const std::vector<std::string>& libraries, const std::string& name, ModelFiles& files,
                          std::vector<MeshLook::Material>& materials, std::vector<std::string>& warnings);

}  // namespace sinew::io
