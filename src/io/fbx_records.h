// The records of an FBX file: a tree of names and values, in binary (6.1 to 7.7; 32 and 64 bits) or as text. What a
// file means is in fbx_scene.cpp; here nothing is interpreted, so that all of it can be written back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/model_files.h"
#include "sinew/core.h"

namespace sinew::io {

/// A value as the file has it. Letters are those of the binary format; text adds its own.
struct FbxValue {
    /// B C: one byte; Y I L: whole, 2, 4 and 8 bytes; F D: real; S: text; R: bytes; b c i l f d: arrays of these.
    /// In text: N a number, W a word, S between its quotes (not decoded), a an array.
    char type = 0;
    /// Without its length. Of an array in binary: count, encoding, length (4 bytes each) and the elements; in text:
    /// its numbers.
    std::span<const std::byte> bytes;
    bool is_array() const { return std::string_view("bcilfda").find(type) != std::string_view::npos; }
};

struct FbxRecord {
    std::string_view name;
    std::vector<FbxValue> values;
    std::vector<FbxRecord> records;  ///< in its block
    bool block = false;              ///< has one, which may be empty
    std::size_t offset = 0;          ///< of its first byte in the file
    /// Bytes before and after `records`, as read. In binary: of the values, without their sizes, and nothing. In
    /// text: from the end of the record before it to the brace or the last value; and what is left after the last
    /// record.
    std::span<const std::byte> head, tail;

    /// The first record of this name in the block, or null.
    const FbxRecord* find(std::string_view wanted) const;
};

/// A value to write. Bytes, floats and wide whole numbers in arrays only to binary files.
using FbxItem =
    std::variant<std::int32_t, std::int64_t, double, std::string, std::vector<std::byte>, std::vector<std::int32_t>,
                 std::vector<std::int64_t>, std::vector<float>, std::vector<double>>;

class FbxFile {
public:
    /// `bytes` must outlive the file, and are counted already; what is allocated is taken from `files`. Errors name
    /// the byte and the path of the record: "hero.fbx: byte 1234: Objects/Geometry/Vertices: …". O(bytes).
    static Result<FbxFile> parse(std::span<const std::byte> bytes, const std::string& name, ModelFiles& files);

    /// An empty binary file of version 7.5.
    static FbxFile empty();

    const FbxRecord& root() const { return root_; }
    FbxRecord& root() { return root_; }
    bool binary() const { return binary_; }
    unsigned version() const { return version_; }  ///< 7400 is 7.4; 0 where a text does not say

    /// A whole or real number, also of a text that is one; otherwise empty.
    std::optional<double> number(const FbxValue& value) const;
    std::optional<std::int64_t> whole(const FbxValue& value) const;
    /// Text, of S and W; otherwise empty. Escapes of text (&quot;) are decoded.
    std::string text(const FbxValue& value) const;
    /// The bytes of R, or in text of base64 in S; empty where it is neither.
    std::vector<std::byte> raw(const FbxRecord& record) const;

    /// The numbers of a record: those of its one array, which is decompressed now, or of all its values.
    Result<std::vector<double>> reals(const FbxRecord& record) const;
    Result<std::vector<std::int64_t>> wholes(const FbxRecord& record) const;
    /// As `wholes`; those of more than 32 bits are the nearest of 32.
    Result<std::vector<std::int32_t>> indices(const FbxRecord& record) const;

    /// A new record in the encoding of the file. `name` is a literal; depth: how many records are around it.
    FbxRecord make(std::string_view name, const std::vector<FbxItem>& items, std::size_t depth, bool block = false);
    /// "Type::name" as the file writes it.
    std::string full_name(const std::string& type, const std::string& name) const;

    /// ErrorCode::input at a record, with its path.
    Error error(const FbxRecord& record, const std::string& message) const;

    /// The file, from its records: the bytes that were read if none was changed. Sizes and offsets are made anew.
    std::vector<std::byte> bytes() const;

private:
    template <typename T>
    Result<std::vector<T>> numbers(const FbxRecord& record) const;

    std::span<const std::byte> all_, header_, footer_;  // footer_: what follows the last record
    std::string name_;
    ModelFiles* files_ = nullptr;
    FbxRecord root_;
    bool binary_ = false;
    unsigned version_ = 0;
    std::deque<std::vector<std::byte>> made_;  // bytes of new records, and of the ends of a new file
};

/// Whether a file begins as FBX does, binary or text.
bool is_fbx(std::string_view text);

}  // namespace sinew::io
