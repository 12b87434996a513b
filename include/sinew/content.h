// sinew/content.h: what is in files, without reading them as characters: keys, what they refer to, parts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"

namespace sinew::io {

/// ".glb" of "Hero.GLB": with its dot, in lower case; "" where there is none.
std::string extension_of(const std::filesystem::path& path);

/// A file that is read, and as what: "--edits".
struct KeyFile {
    std::string role;
    std::filesystem::path path;
};
/// A key of 32 hexadecimal digits that changes when a byte of these files changes, of a file that a glTF or
/// OBJ among them refers to, a role, or `words`. Not cryptographic. O(bytes); in memory is at most the JSON of one
/// glTF, which Context::memory_limit bounds.
Result<std::string> key_of_files(std::span<const KeyFile> files, std::string_view words, const Context* context);

/// A buffer or an image of a glTF, or a material or picture of an OBJ, whether it exists or not.
struct ReferencedFile {
    std::filesystem::path path;
    std::filesystem::path name;  ///< relative to the folder of the file
};
/// Those that a glTF, GLB or OBJ refers to, in its folder or below it. Empty for other formats. O(bytes of its
/// text).
Result<std::vector<ReferencedFile>> files_beside(const std::filesystem::path& path,
                                                 const Context* context = nullptr);

/// Whether two files have the same content, by a hash of 128 bits. O(bytes), in little memory.
Result<bool> same_bytes(const std::filesystem::path& a, const std::filesystem::path& b);

/// As read_file of sinew/io.h, without the bytes before `from`.
Result<std::vector<std::byte>> read_file_from(const std::filesystem::path& path, std::uint64_t from,
                                              const Context* context = nullptr);

/// Fails where brackets nest deeper than in any valid file (128 levels): such a text is hostile. A tree of it would
/// take about 60 bytes per byte, and to copy it more stack than there is.
Status check_json_depth(std::string_view text, const std::string& name);

}  // namespace sinew::io
