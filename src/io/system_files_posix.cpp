#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "io/formats.h"
#include "io/system_files.h"

namespace sinew::io::system {

namespace {

int g_folder = -1;                    // of confine
std::filesystem::path g_folder_path;  // absolute

/// The path relative to the folder of confine; empty if its words lead out of it.
std::filesystem::path below(const std::filesystem::path& path) {
    std::filesystem::path out = path;
    if (path.is_absolute()) out = path.lexically_relative(g_folder_path);
    const bool outside = out.empty() || *out.lexically_normal().begin() == "..";
    return outside ? std::filesystem::path() : out;
}

int open_at(const std::filesystem::path& path, int flags, mode_t mode = 0) {
    if (g_folder < 0) return ::open(path.c_str(), flags, mode);
    const std::filesystem::path inside = below(path);
    if (inside.empty()) return errno = EXDEV, -1;
#if defined(SYS_openat2)
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags);
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    for (int tries = 0; tries < 100; ++tries) {
        const auto file = static_cast<int>(::syscall(SYS_openat2, g_folder, inside.c_str(), &how, sizeof how));
        if (file >= 0 || (errno != EAGAIN && errno != ENOSYS)) return file;  // EAGAIN: a folder was renamed
        if (errno == ENOSYS) break;
    }
#endif
    // An older system: what the path is now, and no link at its end.
    std::error_code failed;
    const std::filesystem::path real = std::filesystem::weakly_canonical(g_folder_path / inside, failed);
    if (failed || below(real).empty()) return errno = EXDEV, -1;
    return ::open(real.c_str(), flags | O_NOFOLLOW, mode);
}

/// The folder of a file, so that it is the same for several calls, and the name there.
class Place {
public:
    explicit Place(const std::filesystem::path& path)
        : folder_(g_folder < 0 ? AT_FDCWD : open_at(folder_of(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
          name_(g_folder < 0 ? path : path.filename()) {}
    ~Place() {
        if (folder_ >= 0) ::close(folder_);
    }
    Place(const Place&) = delete;
    int folder() const { return folder_; }
    const char* name() const { return name_.c_str(); }

private:
    int folder_;
    std::filesystem::path name_;
};

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
    const int folder = open_at(folder_of(to), O_RDONLY | O_CLOEXEC);
    if (folder < 0) return 0;
    ::fsync(folder);
    ::close(folder);
    return 0;
}

}  // namespace

int entry_at(const std::filesystem::path& path, Entry& entry) {
    entry = {};
    struct stat info {};
    if (g_folder < 0) {
        if (::stat(path.c_str(), &info) != 0) return errno == ENOENT ? 0 : errno;
        fill(info, entry);
        return 0;
    }
    const int file = open_at(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return errno == ENOENT ? 0 : errno;
    const int failed = entry_of(file, entry);
    ::close(file);
    return failed;
}

int entry_of(int file, Entry& entry) {
    struct stat info {};
    if (::fstat(file, &info) != 0) return errno;
    fill(info, entry);
    return 0;
}

int confine(const std::filesystem::path& folder) {
    std::error_code failed;
    g_folder_path = std::filesystem::canonical(folder, failed);
    if (failed) return failed.value();
    g_folder = ::open(g_folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return g_folder < 0 ? errno : 0;
}

bool confined() { return g_folder >= 0; }

int open_to_read(const std::filesystem::path& path) { return open_at(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

int open_to_write(const std::filesystem::path& path) { return open_at(path, O_WRONLY | O_CLOEXEC); }

int create(const std::filesystem::path& path) {
    // Not mkstemp: it ignores the umask.
    const int file = open_at(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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
    const Place old(from), place(to);
    return end_move(file, to, ::renameat(old.folder(), old.name(), place.folder(), place.name()) == 0 ? 0 : errno);
}

int put(int file, const std::filesystem::path& from, const std::filesystem::path& to) {
    const Place old(from), place(to);
#ifdef RENAME_NOREPLACE
    // Some file systems have no links, others not this way to rename.
    if (::renameat2(old.folder(), old.name(), place.folder(), place.name(), RENAME_NOREPLACE) == 0)
        return end_move(file, to, 0);
    if (errno == EEXIST) return end_move(file, to, EEXIST);
#endif
    if (::linkat(old.folder(), old.name(), place.folder(), place.name(), 0) != 0) return end_move(file, to, errno);
    ::unlinkat(old.folder(), old.name(), 0);
    return end_move(file, to, 0);
}

int process() { return ::getpid(); }

void remove_abandoned(const std::filesystem::path& path, int number) {
    if (::kill(number, 0) == 0 || errno != ESRCH) return;
    // A live process on another machine or in another container has its file locked.
    const int file = open_at(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return;
    struct stat info {};
    if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
        ::flock(file, LOCK_EX | LOCK_NB) == 0)
        ::unlink(path.c_str());
    ::close(file);
}

void remove_now(const char* path) noexcept { ::unlink(path); }

}  // namespace sinew::io::system
