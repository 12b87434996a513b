#include "io/fbx_records.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base64.h"
#include "core/try.h"
#include "io/formats.h"
#include "io/inflate.h"

namespace sinew::io {

namespace {

constexpr std::string_view kMagic("Kaydara FBX Binary  \0\x1a", 22);
constexpr std::size_t kHeader = 27;      // kMagic, order of bytes, version
constexpr std::size_t kMostNested = 64;  // records in records: real files have ten
constexpr std::string_view kSpaces = " \t\r\n";

template <typename T>
T little(const std::byte* from) {
    T out;
    std::memcpy(&out, from, sizeof out);
    return out;
}

/// Bytes of a scalar, or of an element of an array; 0 for other letters.
std::size_t size_of(char type) {
    switch (type) {
        case 'B':
        case 'C':
        case 'b':
        case 'c':
            return 1;
        case 'Y':
            return 2;
        case 'I':
        case 'F':
        case 'i':
        case 'f':
            return 4;
        case 'L':
        case 'D':
        case 'l':
        case 'd':
            return 8;
        default:
            return 0;
    }
}

/// What both readers share: the bytes, the path of the record that is read, and what is allocated.
class FbxReader {
protected:
    FbxReader(std::span<const std::byte> bytes, const std::string& name, ModelFiles& files)
        : bytes_(bytes), name_(name), files_(files) {}

    Error error(std::size_t at, const std::string& message) const {
        std::string path;
        for (const std::string_view part : path_) path += (path.empty() ? "" : "/") + printable(part, 40);
        return input_error(name_,
                           "byte " + std::to_string(at) + ": " + path + (path.empty() ? "" : ": ") + message);
    }

    Status enter(std::size_t at, std::string_view record) {
        if (path_.size() == kMostNested)
            return error(at, "more than " + std::to_string(kMostNested) + " records are in each other");
        path_.push_back(record);
        // Lists grow by half at most twice.
        return files_.take(2 * sizeof(FbxRecord), name_);
    }
    Status count_value() { return files_.take(2 * sizeof(FbxValue), name_); }

    std::span<const std::byte> bytes_;
    const std::string& name_;
    ModelFiles& files_;
    std::vector<std::string_view> path_;
};

class FbxBinaryReader : FbxReader {
public:
    FbxBinaryReader(std::span<const std::byte> bytes, const std::string& name, ModelFiles& files, bool wide)
        : FbxReader(bytes, name, files), field_(wide ? 8 : 4) {}

    /// Records from `at` to the empty one that ends a list, or to `end`; then `at` is there.
    Status read_list(std::vector<FbxRecord>& to, std::size_t& at, std::size_t end) {
        while (at < end) {
            if (end - at < empty_size()) return error(at, "the file ends within a record");
            if (field(at) == 0) return Done{};
            SINEW_TRY(read_record(to.emplace_back(), at, end));
        }
        return Done{};
    }

    std::size_t empty_size() const { return 3 * field_ + 1; }

private:
    std::uint64_t field(std::size_t at) const {
        return field_ == 8 ? little<std::uint64_t>(&bytes_[at]) : little<std::uint32_t>(&bytes_[at]);
    }

    Status read_record(FbxRecord& out, std::size_t& at, std::size_t end) {
        out.offset = at;
        const std::uint64_t stop = field(at), count = field(at + field_), size = field(at + 2 * field_);
        const auto length = std::to_integer<std::size_t>(bytes_[at + 3 * field_]);
        const std::size_t start = at + empty_size() + length;
        if (start > end) return error(at, "the name of a record reaches past its end");
        out.name = as_text(bytes_.subspan(at + empty_size(), length));
        SINEW_TRY(enter(at, out.name));
        if (stop > end || stop < start || size > stop - start)
            return error(at, "a record of " + std::to_string(stop) + " - " + std::to_string(at) +
                                 " bytes does not lie in the one around it, which ends at byte " +
                                 std::to_string(end));
        out.head = bytes_.subspan(start, static_cast<std::size_t>(size));
        at = start;
        for (std::uint64_t v = 0; v < count; ++v) SINEW_TRY(read_value(out, at, start + out.head.size()));
        if (at != start + out.head.size()) return error(at, "its values are shorter than it states");
        out.block = at < stop;
        SINEW_TRY(read_list(out.records, at, static_cast<std::size_t>(stop)));
        out.tail = bytes_.subspan(at, static_cast<std::size_t>(stop) - at);
        at = static_cast<std::size_t>(stop);
        path_.pop_back();
        return Done{};
    }

    Status read_value(FbxRecord& out, std::size_t& at, std::size_t end) {
        SINEW_TRY(count_value());
        if (at == end) return error(at, "it has fewer values than it states");
        FbxValue value;
        value.type = static_cast<char>(bytes_[at]);
        const std::size_t left = end - ++at;
        std::uint64_t size = size_of(value.type);
        if (value.type == 'S' || value.type == 'R') {
            if (left < 4) return error(at, "a value reaches past the end of its record");
            size = little<std::uint32_t>(&bytes_[at]);
            at += 4;
        } else if (value.is_array() && value.type != 'a') {
            if (left < 12) return error(at, "a value reaches past the end of its record");
            size = 12 + std::uint64_t{little<std::uint32_t>(&bytes_[at + 8])};
        } else if (size == 0) {
            return error(at - 1, "'" + printable(std::string(1, value.type)) + "' is not a type of values");
        }
        if (size > end - at) return error(at, "a value reaches past the end of its record");
        value.bytes = bytes_.subspan(at, static_cast<std::size_t>(size));
        at += static_cast<std::size_t>(size);
        out.values.push_back(value);
        return Done{};
    }

    std::size_t field_;  // bytes of offsets and counts
};

class FbxTextReader : FbxReader {
public:
    FbxTextReader(std::span<const std::byte> bytes, const std::string& name, ModelFiles& files)
        : FbxReader(bytes, name, files), text_(as_text(bytes)) {}

    /// Records from at_ to a brace that closes, or to the end.
    Status read_list(std::vector<FbxRecord>& to, bool whole_file) {
        for (;;) {
            const std::size_t from = at_;
            skip();
            if (at_ == text_.size() || text_[at_] == '}') {
                if (whole_file != (at_ == text_.size()))
                    return error(at_,
                                 whole_file ? "a brace closes that was not opened" : "the file ends within braces");
                at_ = from;
                return Done{};
            }
            SINEW_TRY(read_record(to.emplace_back(), from));
        }
    }

    std::size_t at() const { return at_; }

private:
    char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void skip() {
        for (;;) {
            at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size());
            if (here() != ';') return;
            at_ = std::min(text_.find('\n', at_), text_.size());
        }
    }

    /// Letters that are neither spaces nor marks.
    std::string_view word() const { return text_.substr(at_, text_.find_first_of(" \t\r\n:,{}\";*", at_) - at_); }

    /// Whether a record begins here.
    bool at_name() const {
        const std::size_t end = text_.find_first_not_of(kSpaces, at_ + word().size());
        return !word().empty() && end != text_.npos && text_[end] == ':';
    }

    Status read_record(FbxRecord& out, std::size_t from) {
        out.offset = at_;
        if (!at_name()) return error(at_, "a name and a colon must be here");
        out.name = word();
        SINEW_TRY(enter(at_, out.name));
        at_ = text_.find(':', at_) + 1;
        std::size_t end = at_;
        for (bool first = true;; first = false) {
            skip();
            const bool comma = here() == ',';
            if (comma) {
                end = ++at_;
                skip();
            }
            const char c = here();
            if (c == '{' || c == '}' || c == '\0' || !(comma || first) || at_name()) break;
            if (c == ',') continue;  // an empty value
            SINEW_TRY(read_value(out));
            end = at_;
        }
        out.block = here() == '{';
        if (out.block) end = ++at_;
        at_ = end;
        out.head = bytes_.subspan(from, at_ - from);
        if (out.block) {
            SINEW_TRY(read_list(out.records, false));
            const std::size_t last = at_;
            skip();
            ++at_;
            out.tail = bytes_.subspan(last, at_ - last);
        }
        path_.pop_back();
        return Done{};
    }

    Status read_value(FbxRecord& out) {
        SINEW_TRY(count_value());
        FbxValue value;
        std::size_t from = at_, end = 0;
        if (here() == '"') {
            value.type = 'S';
            end = text_.find('"', ++from);
            if (end == text_.npos) return error(at_, "a text has no end");
            at_ = end + 1;
        } else if (here() == '*') {  // *COUNT { a: 1,2,3 }
            value.type = 'a';
            const std::size_t open = text_.find('{', at_), close = text_.find('}', at_);
            const std::size_t colon = text_.find(':', at_);
            if (open == text_.npos || close == text_.npos || close < open)
                return error(at_, "an array has no braces");
            from = colon < close ? colon + 1 : close;
            end = close;
            at_ = close + 1;
        } else {
            const std::string_view found = word();
            if (found.empty()) return error(at_, "a value must be here");
            const bool number = std::string_view("0123456789+-.").find(found[0]) != std::string_view::npos;
            value.type = number ? 'N' : 'W';
            end = at_ = from + found.size();
        }
        value.bytes = bytes_.subspan(from, end - from);
        out.values.push_back(value);
        return Done{};
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

/// The nearest number of another type, of one that fits or is too large.
template <typename T, typename From>
T nearest(From v) {
    if constexpr (std::is_same_v<T, std::int32_t>)
        return static_cast<T>(std::clamp<std::int64_t>(static_cast<std::int64_t>(v), std::numeric_limits<T>::min(),
                                                       std::numeric_limits<T>::max()));
    else
        return static_cast<T>(v);
}

/// The number of a word; empty where it is none.
template <typename T>
std::optional<T> parse(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    T out{};
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), out);
    if (failed == std::errc{} && end == word.data() + word.size()) return out;
    if constexpr (std::is_integral_v<T>) {
        const auto real = parse<double>(word);
        if (real && std::abs(*real) < 9e18 && *real == std::trunc(*real)) return nearest<T>(*real);
    } else if (failed == std::errc::result_out_of_range) {
        // Too small, or too large: not a number of the scene, which its reader finds.
        return word.find("e-") != word.npos || word.find("E-") != word.npos ? T{0}
                                                                            : std::numeric_limits<T>::infinity();
    }
    return std::nullopt;
}

/// use(zero of the type of a scalar, or of the elements of an array); otherwise where it has none.
template <typename Use, typename Otherwise>
Otherwise with_type(char type, const Use& use, Otherwise otherwise) {
    switch (type) {
        case 'B':
        case 'C':
        case 'b':
        case 'c':
            return use(std::uint8_t{});
        case 'Y':
            return use(std::int16_t{});
        case 'I':
        case 'i':
            return use(std::int32_t{});
        case 'L':
        case 'l':
            return use(std::int64_t{});
        case 'F':
        case 'f':
            return use(float{});
        case 'D':
        case 'd':
            return use(double{});
        default:
            return otherwise;
    }
}

template <typename T, typename From>
bool fits(From v) {
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<From>)
        return std::abs(v) < From{9e18f} && v == std::trunc(v);
    else
        return true;
}

template <typename T>
std::optional<T> scalar(const FbxValue& value) {
    if (value.type == 'N') return parse<T>(as_text(value.bytes));
    if (value.is_array()) return std::nullopt;
    return with_type(
        value.type,
        [&](auto zero) {
            const auto v = little<decltype(zero)>(value.bytes.data());
            return fits<T>(v) ? std::optional<T>(nearest<T>(v)) : std::nullopt;
        },
        std::optional<T>());
}

/// Where a file ends behind its records: the empty record, 16 bytes of an identity and 4 of zero; zeros up to the
/// next multiple of 16, at least one; and 140 bytes of version, zeros and another identity.
std::vector<std::byte> padded(std::span<const std::byte> footer, std::size_t empty, std::size_t at) {
    const std::size_t front = empty + 20, back = 140;
    std::vector<std::byte> out(footer.begin(), footer.end());
    if (footer.size() < front + back) return out;
    const std::size_t padding = 16 - (at + front) % 16;
    out.resize(front + padding);
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(front), out.end(), std::byte{0});
    out.insert(out.end(), footer.end() - static_cast<std::ptrdiff_t>(back), footer.end());
    return out;
}

}  // namespace

const FbxRecord* FbxRecord::find(std::string_view wanted) const {
    const auto found = std::find_if(records.begin(), records.end(),
                                    [&](const FbxRecord& record) { return record.name == wanted; });
    return found == records.end() ? nullptr : &*found;
}

bool is_fbx(std::string_view text) {
    if (text.starts_with(kMagic.substr(0, 20))) return true;
    return text.starts_with("; FBX") || text.starts_with(";FBX");
}

Result<FbxFile> FbxFile::parse(std::span<const std::byte> bytes, const std::string& name, ModelFiles& files) {
    FbxFile out;
    out.all_ = bytes;
    out.name_ = name;
    out.files_ = &files;
    std::size_t at = 0;
    if (as_text(bytes).starts_with(kMagic.substr(0, 20))) {
        out.binary_ = true;
        if (bytes.size() < kHeader) return input_error(name, "byte 0: the file ends within its header");
        if (bytes[22] != std::byte{0})
            return input_error(name,
                               "byte 22: its numbers begin with their highest byte, which is not supported "
                               "(export it again)");
        out.version_ = little<std::uint32_t>(&bytes[23]);
        if (out.version_ < 5000 || out.version_ >= 8000)
            return input_error(
                name, "byte 23: version " + std::to_string(out.version_) + " of FBX is not known (7700 is 7.7)");
        out.header_ = bytes.first(kHeader);
        at = kHeader;
        SINEW_TRY(FbxBinaryReader(bytes, name, files, out.version_ >= 7500)
                      .read_list(out.root_.records, at, bytes.size()));
    } else {
        FbxTextReader reader(bytes, name, files);
        SINEW_TRY(reader.read_list(out.root_.records, true));
        at = reader.at();
        const FbxRecord* const header = out.root_.find("FBXHeaderExtension");
        const FbxRecord* const version = header ? header->find("FBXVersion") : nullptr;
        if (version && !version->values.empty())
            out.version_ = static_cast<unsigned>(out.number(version->values[0]).value_or(0));
    }
    out.footer_ = bytes.subspan(at);
    return out;
}

FbxFile FbxFile::empty() {
    // Readers of the format's owner compare this mark with the time and the identity in the header
    // (FBXHeaderExtension, fbx_builder.cpp): all three are those of a file of 1 January 1970, as other open writers
    // have them.
    static constexpr unsigned char kMark[] = {0xfa, 0xbc, 0xab, 0x09, 0xd0, 0xc8, 0xd4, 0x66,
                                              0xb1, 0x76, 0xfb, 0x83, 0x1c, 0xf7, 0x26, 0x7e};
    static constexpr unsigned char kEnd[] = {0xf8, 0x5a, 0x8c, 0x6a, 0xde, 0xf5, 0xd9, 0x7e,
                                             0xec, 0xe9, 0x0c, 0xe3, 0x75, 0x8f, 0x29, 0x0b};
    FbxFile out;
    out.binary_ = true;
    out.version_ = 7500;
    const auto append = [](std::vector<std::byte>& to, const void* from, std::size_t size) {
        const auto* const bytes = static_cast<const std::byte*>(from);
        to.insert(to.end(), bytes, bytes + size);
    };
    const std::uint32_t version = out.version_;
    std::vector<std::byte>& header = out.made_.emplace_back();
    append(header, kMagic.data(), kMagic.size());
    header.push_back(std::byte{0});
    append(header, &version, sizeof version);
    out.header_ = header;
    std::vector<std::byte>& footer = out.made_.emplace_back(25);  // the empty record
    append(footer, kMark, sizeof kMark);
    footer.resize(footer.size() + 4);
    append(footer, &version, sizeof version);
    footer.resize(footer.size() + 120);
    append(footer, kEnd, sizeof kEnd);
    out.footer_ = footer;
    return out;
}

std::optional<double> FbxFile::number(const FbxValue& value) const { return scalar<double>(value); }
std::optional<std::int64_t> FbxFile::whole(const FbxValue& value) const { return scalar<std::int64_t>(value); }

std::string FbxFile::text(const FbxValue& value) const {
    if (value.type != 'S' && value.type != 'W') return {};
    std::string out(as_text(value.bytes));
    if (!binary_)
        for (const auto& [code, letter] :
             {std::pair("&quot;", '"'), std::pair("&lf;", '\n'), std::pair("&cr;", '\r')})
            for (std::size_t at = 0; (at = out.find(code, at)) != out.npos; ++at)
                out.replace(at, std::strlen(code), 1, letter);
    return out;
}

std::vector<std::byte> FbxFile::raw(const FbxRecord& record) const {
    std::vector<std::byte> out;
    for (const FbxValue& value : record.values) {
        if (value.type == 'R') {
            out.insert(out.end(), value.bytes.begin(), value.bytes.end());
        } else if (value.type == 'S' && !binary_) {
            const auto part = decode_base64(as_text(value.bytes));
            if (!part) return {};
            out.insert(out.end(), part->begin(), part->end());
        }
    }
    return out;
}

template <typename T>
Result<std::vector<T>> FbxFile::numbers(const FbxRecord& record) const {
    std::vector<T> out;
    const auto not_number = [&](std::string_view word) {
        return error(record, "\"" + printable(word, 40) + "\" is not a " +
                                 (std::is_integral_v<T> ? "whole number" : "number"));
    };
    const bool array = record.values.size() == 1 && record.values[0].is_array();
    const FbxValue* const value = array ? &record.values[0] : nullptr;
    if (!array) {
        SINEW_TRY(files_->take(record.values.size() * sizeof(T), name_));
        for (const FbxValue& one : record.values) {
            const auto number = scalar<T>(one);
            if (!number) return not_number(as_text(one.bytes));
            out.push_back(*number);
        }
    } else if (value->type == 'a') {
        std::string_view text = as_text(value->bytes);
        const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1;
        SINEW_TRY(files_->take(count * sizeof(T), name_));
        out.reserve(count);
        while (!text.empty()) {
            const std::size_t comma = std::min(text.find(','), text.size());
            std::string_view word = text.substr(0, comma);
            text.remove_prefix(std::min(comma + 1, text.size()));
            word.remove_prefix(std::min(word.find_first_not_of(kSpaces), word.size()));
            word = word.substr(0, word.find_last_not_of(kSpaces) + 1);
            if (word.empty()) continue;
            const auto number = sinew::io::parse<T>(word);
            if (!number) return not_number(word);
            out.push_back(*number);
        }
    } else {
        const std::byte* const header = value->bytes.data();
        const std::size_t count = little<std::uint32_t>(header), size = size_of(value->type);
        const std::uint32_t encoding = little<std::uint32_t>(header + 4);
        std::span<const std::byte> data = value->bytes.subspan(12);
        // No byte of zlib becomes more than 1032.
        const std::uint64_t whole = std::uint64_t{count} * size;
        if (encoding > 1 || (encoding == 0 ? whole != data.size() : whole / 1032 > data.size()) ||
            whole > std::numeric_limits<std::size_t>::max() / sizeof(T))
            return error(record, std::to_string(data.size()) + " bytes are not an array of " +
                                     std::to_string(count) + " numbers of " + std::to_string(size) +
                                     " bytes in encoding " + std::to_string(encoding));
        const bool as_stored = with_type(
            value->type, [](auto zero) { return std::is_same_v<decltype(zero), T>; }, false);
        HeldBytes held(*files_);
        std::vector<std::byte> inflated;
        SINEW_TRY(files_->take(count * sizeof(T), name_));
        out.resize(count);
        if (encoding == 1) {
            std::span<std::byte> to = std::as_writable_bytes(std::span(out));
            if (!as_stored) {
                SINEW_TRY(held.take(count * size, name_));
                inflated.resize(count * size);
                to = inflated;
            }
            if (const Status done = inflate(data, to); !done) return error(record, done.error().message);
            data = to;
        }
        const std::size_t good = with_type(
            value->type,
            [&](auto zero) {
                if (as_stored && encoding == 1) return count;
                for (std::size_t k = 0; k < count; ++k) {
                    const auto v = little<decltype(zero)>(&data[k * sizeof zero]);
                    if (!fits<T>(v)) return k;
                    out[k] = nearest<T>(v);
                }
                return count;
            },
            std::size_t{0});
        if (good < count) return error(record, "number " + std::to_string(good) + " is not whole");
    }
    return out;
}

Result<std::vector<double>> FbxFile::reals(const FbxRecord& record) const { return numbers<double>(record); }
Result<std::vector<std::int64_t>> FbxFile::wholes(const FbxRecord& record) const {
    return numbers<std::int64_t>(record);
}
Result<std::vector<std::int32_t>> FbxFile::indices(const FbxRecord& record) const {
    return numbers<std::int32_t>(record);
}

std::string FbxFile::full_name(const std::string& type, const std::string& name) const {
    return binary_ ? name + std::string("\0\1", 2) + type : type + "::" + name;
}

FbxRecord FbxFile::make(std::string_view name, const std::vector<FbxItem>& items, std::size_t depth, bool block) {
    FbxRecord out;
    out.name = name;
    out.block = block;
    std::string head, line = "\n" + std::string(depth, '\t');
    if (!binary_) head = line + std::string(name) + ": ";
    const auto raw = [&](const auto& value) { head.append(reinterpret_cast<const char*>(&value), sizeof value); };
    const auto digits = [&](auto value) {
        char text[40];
        head.append(text, std::to_chars(text, text + sizeof text, value).ptr);
    };
    const auto put = [&](char type, const auto& value) {  // a scalar
        out.values.push_back({type, {}});
        if (binary_) {
            head += type;
            raw(value);
        } else {
            if (out.values.size() > 1) head += ",";
            digits(value);
        }
    };
    const auto put_all = [&](char type, const auto& list) {  // one array, in version 6 a value for each number
        if (version_ < 7000) {
            for (const auto& value : list) put(static_cast<char>(type - 'a' + 'A'), value);
            return;
        }
        out.values.push_back({type, {}});
        const auto count = static_cast<std::uint32_t>(list.size());
        if (binary_) {
            head += type;
            raw(count);
            raw(std::uint32_t{0});
            raw(static_cast<std::uint32_t>(count * sizeof list[0]));
            for (const auto& value : list) raw(value);
        } else {
            head += "*" + std::to_string(count) + " {" + line + "\ta: ";
            for (std::size_t k = 0; k < list.size(); ++k) {
                if (k > 0) head += ",";
                digits(list[k]);
            }
            head += line + "}";
        }
    };
    for (const FbxItem& item : items) {
        if (const auto* whole = std::get_if<std::int32_t>(&item)) put('I', *whole);
        if (const auto* wide = std::get_if<std::int64_t>(&item)) put('L', *wide);
        if (const auto* real = std::get_if<double>(&item)) put('D', *real);
        if (const auto* wholes = std::get_if<std::vector<std::int32_t>>(&item)) put_all('i', *wholes);
        if (const auto* wholes = std::get_if<std::vector<std::int64_t>>(&item)) put_all('l', *wholes);
        if (const auto* reals = std::get_if<std::vector<float>>(&item)) put_all('f', *reals);
        if (const auto* reals = std::get_if<std::vector<double>>(&item)) put_all('d', *reals);
        if (const auto* bytes = std::get_if<std::vector<std::byte>>(&item)) {
            out.values.push_back({'R', {}});
            head += 'R';
            raw(static_cast<std::uint32_t>(bytes->size()));
            head.append(as_text(*bytes));
        }
        if (const auto* text = std::get_if<std::string>(&item)) {
            out.values.push_back({'S', {}});
            if (binary_) {
                head += 'S';
                raw(static_cast<std::uint32_t>(text->size()));
                head += *text;
            } else {
                head += out.values.size() > 1 ? ", \"" : "\"";
                for (const char c : *text) head += c == '"' ? std::string("&quot;") : std::string(1, c);
                head += '"';
            }
        }
    }
    if (!binary_ && block) head += " {";
    const auto keep = [&](const std::string& text) -> std::span<const std::byte> {
        const auto bytes = std::as_bytes(std::span(text));
        return made_.emplace_back(bytes.begin(), bytes.end());
    };
    out.head = keep(head);
    if (block) out.tail = binary_ ? keep(std::string(version_ >= 7500 ? 25 : 13, '\0')) : keep(line + "}");
    return out;
}

Error FbxFile::error(const FbxRecord& record, const std::string& message) const {
    std::string path;
    for (const FbxRecord* at = &root_; at != &record && !at->records.empty();) {
        const auto after =
            std::upper_bound(at->records.begin(), at->records.end(), record.offset,
                             [](std::size_t offset, const FbxRecord& other) { return offset < other.offset; });
        if (after == at->records.begin()) break;
        at = &*std::prev(after);
        path += printable(at->name, 40) + (at == &record ? ": " : "/");
    }
    return input_error(name_, "byte " + std::to_string(record.offset) + ": " + path + message);
}

std::vector<std::byte> FbxFile::bytes() const {
    std::vector<std::byte> out(header_.begin(), header_.end());
    out.reserve(all_.size());
    const bool wide = version_ >= 7500;
    const std::size_t empty = wide ? 25 : 13;
    const auto add = [&](std::span<const std::byte> part) { out.insert(out.end(), part.begin(), part.end()); };
    const auto field = [&](std::size_t at, std::size_t which, std::size_t value) {
        const std::uint64_t number = value;
        std::memcpy(&out[at + which * (wide ? 8 : 4)], &number, wide ? 8 : 4);
    };
    const auto write = [&](const auto& self, const FbxRecord& record) -> void {
        const std::size_t start = out.size();
        if (binary_) {
            out.resize(start + empty - 1);
            out.push_back(static_cast<std::byte>(record.name.size()));
            add(std::as_bytes(std::span(record.name)));
            field(start, 1, record.values.size());
            field(start, 2, record.head.size());
        }
        add(record.head);
        for (const FbxRecord& inner : record.records) self(self, inner);
        add(record.tail);
        if (binary_) field(start, 0, out.size());
    };
    for (const FbxRecord& record : root_.records) write(write, record);
    if (binary_ && (all_.empty() || out.size() % 16 != (all_.size() - footer_.size()) % 16))
        add(padded(footer_, empty, out.size()));
    else
        add(footer_);
    return out;
}

}  // namespace sinew::io
