#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <system_error>

#include "io/formats.h"

namespace sinew::io {

namespace {

Error read_error(const std::filesystem::path& path, int code) {
    return {ErrorCode::io, "cannot read " + path.string() + ": " + std::generic_category().message(code)};
}

}  // namespace

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return read_error(path, errno);
    struct Closer {
        int file;
        ~Closer() { ::close(file); }
    } closer{file};

    struct stat info {};
    if (::fstat(file, &info) != 0) return read_error(path, errno);
    if (S_ISDIR(info.st_mode)) return read_error(path, EISDIR);

    // The size is a hint only: a pipe has none, and a file can grow or shrink while it is read.
    constexpr std::size_t chunk = 1 << 20;
    std::vector<std::byte> bytes;
    std::size_t used = 0;
    if (S_ISREG(info.st_mode) && info.st_size > 0) bytes.resize(static_cast<std::size_t>(info.st_size) + 1);
    for (;;) {
        if (used == bytes.size()) bytes.resize(std::max(used + chunk, used * 2));
        const ssize_t got = ::read(file, bytes.data() + used, bytes.size() - used);
        if (got < 0 && errno == EINTR) continue;
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
