#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "io/formats.h"
#include "io/system_files.h"

namespace sinew::io::system {

namespace {

void fill(const struct stat& from, Entry& entry) {
    entry.kind = S_ISREG(from.st_mode)   ? Entry::Kind::file
                 : S_ISDIR(from.st_mode) ? Entry::Kind::folder
                 : S_ISCHR(from.st_mode) ? Entry::Kind::device
                                         : Entry::Kind::other;
    entry.size = static_cast<std::uint64_t>(std::max<off_t>(from.st_size, 0));
    entry.permissions = from.st_mode & 07777;
#ifdef __APPLE__
    const timespec written = from.st_mtimespec;
#else
    const timespec written = from.st_mtim;
#endif
    const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
    entry.version = {number(from.st_dev), number(from.st_ino), number(written.tv_sec), number(written.tv_nsec)};
}

/// After a move. The file is closed last: its lock says that this process is running.
int end_move(int file, const std::filesystem::path& to, int failed) {
    ::close(file);
    if (failed) return failed;
    // Not all file systems can make a rename durable, so errors are ignored.
    const int folder = ::open(folder_of(to).c_str(), O_RDONLY | O_CLOEXEC);
    if (folder < 0) return 0;
    ::fsync(folder);
    ::close(folder);
    return 0;
}

}  // namespace

int entry_at(const std::filesystem::path& path, Entry& entry) {
    entry = {};
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return errno == ENOENT ? 0 : errno;
    fill(info, entry);
    return 0;
}

int entry_of(int file, Entry& entry) {
    struct stat info {};
    if (::fstat(file, &info) != 0) return errno;
    fill(info, entry);
    return 0;
}

int open_to_read(const std::filesystem::path& path) {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int open_to_write(const std::filesystem::path& path) { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }

int create(const std::filesystem::path& path) {
    // Not mkstemp: it ignores the umask.
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) ::flock(file, LOCK_EX | LOCK_NB);
    return file;
}

std::ptrdiff_t read_some(int file, void* to, std::size_t size) {
    for (;;)
        if (const ssize_t got = ::read(file, to, size); got >= 0 || errno != EINTR) return got;
}

int skip(int file, std::uint64_t bytes) {
    return ::lseek(file, static_cast<off_t>(bytes), SEEK_CUR) < 0 ? errno : 0;
}

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

int close(int file) { return ::close(file) == 0 ? 0 : errno; }

int finish(int file, const Entry& replaced) {
    if (replaced.kind == Entry::Kind::file && ::fchmod(file, replaced.permissions) != 0 && errno != EPERM)
        return errno;
    // Without fsync a crash after the rename could leave an empty file under the final name.
    return ::fsync(file) != 0 && errno != EINVAL ? errno : 0;
}

int replace(int file, const std::filesystem::path& from, const std::filesystem::path& to) {
    return end_move(file, to, ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno);
}

int put(int file, const std::filesystem::path& from, const std::filesystem::path& to) {
#ifdef RENAME_NOREPLACE
    // Some file systems have no links, others not this way to rename.
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
        return end_move(file, to, 0);
    if (errno == EEXIST) return end_move(file, to, EEXIST);
#endif
    if (::link(from.c_str(), to.c_str()) != 0) return end_move(file, to, errno);
    ::unlink(from.c_str());
    return end_move(file, to, 0);
}

int process() { return ::getpid(); }

void remove_abandoned(const std::filesystem::path& path, int number) {
    if (::kill(number, 0) == 0 || errno != ESRCH) return;
    // A live process on another machine or in another container has its file locked.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return;
    struct stat info {};
    if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
        ::flock(file, LOCK_EX | LOCK_NB) == 0)
        ::unlink(path.c_str());
    ::close(file);
}

void remove_now(const char* path) noexcept { ::unlink(path); }

}  // namespace sinew::io::system
