#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "sinew/io.h"

namespace sinew::io {

namespace {

Error write_error(const std::filesystem::path& path, int code) {
    return {ErrorCode::io, "cannot write " + path.string() + ": " + std::generic_category().message(code)};
}

/// 0, or the errno of the write that failed.
int write_all(int file, std::span<const std::byte> bytes) {
    // Some systems refuse more than 2 GiB in one call.
    constexpr std::size_t most = std::size_t{1} << 30;
    while (!bytes.empty()) {
        const ssize_t put = ::write(file, bytes.data(), std::min(bytes.size(), most));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return errno;
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return 0;
}

}  // namespace

Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    if (path.filename().empty()) return write_error(path, path.empty() ? ENOENT : EISDIR);

    // A symbolic link is followed, so that the link stays and its target changes.
    std::filesystem::path target = path;
    std::error_code ignored;
    if (std::filesystem::is_symlink(path, ignored)) {
        target = std::filesystem::weakly_canonical(path, ignored);
        if (ignored) target = path;
    }

    struct stat before {};
    const bool exists = ::stat(target.c_str(), &before) == 0;
    if (exists && S_ISDIR(before.st_mode)) return write_error(path, EISDIR);
    if (exists && !S_ISREG(before.st_mode)) {
        // A device or a pipe is a place to write to, not a name to replace: "-o /dev/null" must not remove it.
        const int file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
        if (file < 0) return write_error(path, errno);
        const int failed = write_all(file, bytes);
        const int closed = ::close(file) == 0 ? 0 : errno;
        if (failed || closed) return write_error(path, failed ? failed : closed);
        return Done{};
    }

    // Not mkstemp: that ignores the umask. The name is short, so that a target of the longest name still works.
    static std::atomic<unsigned> counter{0};
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    std::filesystem::path temporary;
    int file = -1;
    do {
        temporary = folder / (".sinew-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp");
        file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0) return write_error(path, errno);

    int failed = write_all(file, bytes);
    // A replaced file keeps its permissions where we may set them.
    if (!failed && exists && ::fchmod(file, before.st_mode & 07777) != 0 && errno != EPERM) failed = errno;
    // Without fsync a crash after the rename could leave an empty file under the final name.
    if (!failed && ::fsync(file) != 0 && errno != EINVAL) failed = errno;
    if (::close(file) != 0 && !failed) failed = errno;
    if (!failed && ::rename(temporary.c_str(), target.c_str()) != 0) failed = errno;
    if (failed) {
        ::unlink(temporary.c_str());
        return write_error(path, failed);
    }

    // The rename itself is durable once the folder is; not every file system can do this, and none needs to.
    const int directory = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
    if (directory >= 0) {
        ::fsync(directory);
        ::close(directory);
    }
    return Done{};
}

}  // namespace sinew::io
