#include <algorithm>
#include <cctype>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/try.h"
#include "io/formats.h"
#include "io/system_files.h"

namespace sinew::io {

namespace {

Error read_error(const std::filesystem::path& path, int code) {
    if (code == EXDEV && system::confined()) return outside_error(path);
    return {ErrorCode::io, "cannot read " + path.string() + ": " + std::generic_category().message(code)};
}

constexpr std::size_t kChunk = 1 << 20;

std::size_t limit_of(const Context* context) {
    return context && context->memory_limit ? context->memory_limit : ~std::size_t{0};
}

Error too_large(const std::filesystem::path& path, const Context* context) {
    return {ErrorCode::too_large, path.string() + " is larger than the limit of " +
                                      std::to_string(limit_of(context) >> 20) + " MB for memory (raise the limit)"};
}

}  // namespace

FileReader::~FileReader() {
    if (file_ >= 0) system::close(file_);
}

FileReader::FileReader(FileReader&& other) noexcept
    : path_(std::move(other.path_)),
      context_(other.context_),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_) {}

Result<FileReader> FileReader::open(const std::filesystem::path& path, const Context* context) {
    FileReader out;
    out.path_ = path;
    out.context_ = context;
    out.file_ = system::open_to_read(path);
    if (out.file_ < 0) return read_error(path, errno);
    system::Entry info;
    if (const int failed = system::entry_of(out.file_, info); failed) return read_error(path, failed);
    if (info.kind == system::Entry::Kind::folder)
        return Error{ErrorCode::io, "cannot read " + path.string() + ": it is a folder (name a file in it)"};
    if (info.kind != system::Entry::Kind::file) {
        // Of an unlimited size, or of a stranger's choice when a model refers to it; /dev/null is only empty.
        char any = 0;
        if (info.kind == system::Entry::Kind::device && system::read_some(out.file_, &any, 1) == 0) return out;
        return Error{ErrorCode::io,
                     "cannot read " + path.string() +
                         ": it is a pipe, a device or a socket, not a file (copy its content to a file)"};
    }
    out.size_ = info.size;
    return out;
}

Result<std::size_t> FileReader::read(std::span<std::byte> to) {
    if (context_ && context_->cancel)
        return Error{ErrorCode::cancelled, "cancelled while reading " + path_.string()};
    const std::ptrdiff_t got = system::read_some(file_, to.data(), std::min(to.size(), 64 * kChunk));
    if (got < 0) return read_error(path_, errno);
    return static_cast<std::size_t>(got);
}

Status FileReader::skip(std::uint64_t bytes) {
    if (const int failed = system::skip(file_, bytes); failed) return read_error(path_, failed);
    return Done{};
}

Error outside_error(const std::filesystem::path& path) {
    return {ErrorCode::io,
            printable(path.string(), 2000) +
                ": it is not in the folder that this process is confined to, by its path or by a link "
                "(copy it there, or name another folder: `sinew mcp root`)"};
}

Status confine(const std::filesystem::path& folder) {
    if (const int failed = system::confine(folder); failed) return read_error(folder, failed);
    return Done{};
}

Status check_confined(const std::filesystem::path& path) {
    for (const std::filesystem::path& at : {path, folder_of(path)}) {
        system::Entry entry;
        if (const int failed = system::entry_at(at, entry); failed == EXDEV) return outside_error(path);
        if (entry.kind != system::Entry::Kind::nothing) break;
    }
    return Done{};
}

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, const Context* context) {
    return read_file_from(path, 0, context);
}

Result<std::vector<std::byte>> read_file_from(const std::filesystem::path& path, std::uint64_t from,
                                              const Context* context) {
    Result<FileReader> file = FileReader::open(path, context);
    if (!file) return file.error();
    const std::uint64_t stated = file->size() - std::min(from, file->size());
    const std::size_t most = limit_of(context);
    if (stated > most) return too_large(path, context);
    if (from > 0) SINEW_TRY(file->skip(from));

    // The size is a hint only: a file can grow or shrink while it is read.
    std::vector<std::byte> bytes(static_cast<std::size_t>(stated) + 1);
    std::size_t used = 0;
    for (;;) {
        if (used > most) return too_large(path, context);
        if (used == bytes.size()) bytes.resize(std::max(used + kChunk, used * 2));
        SINEW_TRY_LET(const std::size_t got, file->read(std::span(bytes).subspan(used)));
        if (got == 0) break;
        used += got;
    }
    bytes.resize(used);
    return bytes;
}

std::string extension_of(const std::filesystem::path& path) {
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return extension;
}

}  // namespace sinew::io
