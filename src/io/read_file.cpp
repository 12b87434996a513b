#include <algorithm>
#include <cctype>
#include <cerrno>
#include <system_error>

#include "io/formats.h"
#include "io/system_files.h"

namespace sinew::io {

namespace {

Error read_error(const std::filesystem::path& path, int code) {
    return {ErrorCode::io, "cannot read " + path.string() + ": " + std::generic_category().message(code)};
}

}  // namespace

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, const Context* context) {
    const int file = system::open_to_read(path);
    if (file < 0) return read_error(path, errno);
    struct Closer {
        int file;
        ~Closer() { system::close(file); }
    } closer{file};

    system::Entry info;
    if (const int failed = system::entry_of(file, info); failed) return read_error(path, failed);
    if (info.kind == system::Entry::Kind::folder)
        return Error{ErrorCode::io, "cannot read " + path.string() + ": it is a folder (name a file in it)"};

    const std::size_t most = context && context->memory_limit ? context->memory_limit : ~std::size_t{0};
    const auto too_large = [&] {
        return Error{ErrorCode::too_large, path.string() + " is larger than the limit of " +
                                               std::to_string(most >> 20) + " MB for memory (raise the limit)"};
    };
    if (info.kind != system::Entry::Kind::file) {
        // Of an unlimited size, or of a stranger's choice when a model refers to it; /dev/null is only empty.
        char any = 0;
        if (info.kind == system::Entry::Kind::device && system::read_some(file, &any, 1) == 0)
            return std::vector<std::byte>();
        return Error{ErrorCode::io,
                     "cannot read " + path.string() +
                         ": it is a pipe, a device or a socket, not a file (copy its content to a file)"};
    }
    const auto stated = static_cast<std::size_t>(info.size);
    if (stated > most) return too_large();

    // The size is a hint only: a file can grow or shrink while it is read.
    constexpr std::size_t chunk = 1 << 20;
    std::vector<std::byte> bytes(stated + 1);
    std::size_t used = 0;
    for (;;) {
        if (context && context->cancel)
            return Error{ErrorCode::cancelled, "cancelled while reading " + path.string()};
        if (used > most) return too_large();
        if (used == bytes.size()) bytes.resize(std::max(used + chunk, used * 2));
        const std::ptrdiff_t got =
            system::read_some(file, bytes.data() + used, std::min(bytes.size() - used, 64 * chunk));
        if (got < 0) return read_error(path, errno);
        if (got == 0) break;
        used += static_cast<std::size_t>(got);
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
