#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <system_error>

#include "io/formats.h"
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

/// Makes the rename durable. Not all file systems support this, so errors are ignored.
void sync_folder(const std::filesystem::path& folder) {
    const int directory = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
    if (directory < 0) return;
    ::fsync(directory);
    ::close(directory);
}

/// Names of the temporary files of this process, for remove_unfinished_files: a handler of signals must not use the
/// heap. More files than slots are possible, and these are then left to the next run.
class UnfinishedFiles {
public:
    void add(const std::filesystem::path& path) {
        const std::string& name = path.native();
        if (name.size() >= sizeof slots_[0].name) return;
        for (Slot& slot : slots_) {
            int free = 0;
            if (!slot.state.compare_exchange_strong(free, 1)) continue;
            std::memcpy(slot.name, name.c_str(), name.size() + 1);
            slot.state.store(2);
            return;
        }
    }
    void remove(const std::filesystem::path& path) {
        for (Slot& slot : slots_)
            if (slot.state.load() == 2 && path.native() == slot.name) slot.state.store(0);
    }
    void unlink_all() {
        for (Slot& slot : slots_)
            if (slot.state.load() == 2) ::unlink(slot.name);
    }

private:
    struct Slot {
        std::atomic<int> state{0};  // 0 free, 1 being written, 2 a name
        char name[PATH_MAX];
    };
    Slot slots_[16];
};
UnfinishedFiles g_unfinished;

/// The number of the process that wrote a temporary file, from its name: ".sinew-PID-N.tmp"; 0 for other names.
pid_t writer_of(const char* name) {
    int pid = 0, end = 0;
    unsigned number = 0;
    if (std::sscanf(name, ".sinew-%d-%u.tmp%n", &pid, &number, &end) != 2 || end == 0 || name[end] || pid <= 0)
        return 0;
    return pid;
}

/// Removes temporary files of processes that were killed. A live process on another machine or in another container
/// has its file locked.
void remove_stale_files(const std::filesystem::path& folder) {
    DIR* const list = ::opendir(folder.c_str());
    if (!list) return;
    while (const dirent* const entry = ::readdir(list)) {
        const pid_t pid = writer_of(entry->d_name);
        if (pid == 0 || pid == ::getpid() || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
        const int file = ::openat(::dirfd(list), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) continue;
        struct stat info {};
        if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
            ::flock(file, LOCK_EX | LOCK_NB) == 0)
            ::unlinkat(::dirfd(list), entry->d_name, 0);
        ::close(file);
    }
    ::closedir(list);
}

/// The place that a path names, through symbolic links; its file need not exist. Empty if the links form a circle.
std::filesystem::path followed(std::filesystem::path path) {
    std::error_code failed;
    for (int links = 0; links < 40; ++links) {
        if (!std::filesystem::is_symlink(path, failed)) return path;
        const std::filesystem::path to = std::filesystem::read_symlink(path, failed);
        if (failed) return path;
        path = to.is_absolute() ? to : path.parent_path() / to;
    }
    return {};
}

}  // namespace

OutputBatch::~OutputBatch() { discard(); }

void remove_unfinished_files() noexcept { g_unfinished.unlink_all(); }

void OutputBatch::close(File& file) {
    if (file.locked >= 0) ::close(file.locked);
    file.locked = -1;
    g_unfinished.remove(file.temporary);
    file.temporary.clear();
}

void OutputBatch::discard() {
    for (File& file : files_) {
        if (file.temporary.empty()) continue;
        ::unlink(file.temporary.c_str());
        close(file);
    }
    files_.clear();
    // Innermost first. A folder that is not empty any more is kept.
    for (std::size_t i = folders_.size(); i-- > 0;) ::rmdir(folders_[i].c_str());
    folders_.clear();
}

Status OutputBatch::add_folder(const std::filesystem::path& path) {
    std::vector<std::filesystem::path> missing;
    std::error_code failed;
    for (std::filesystem::path at = path; !at.empty() && !std::filesystem::exists(at, failed);
         at = at.parent_path())
        missing.push_back(at);
    for (std::size_t i = missing.size(); i-- > 0;) {
        if (std::filesystem::create_directory(missing[i], failed)) folders_.push_back(missing[i]);
        if (failed) return write_error(missing[i], failed.value());
    }
    return Done{};
}

Status OutputBatch::add(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    if (path.filename().empty()) return write_error(path, path.empty() ? ENOENT : EISDIR);

    // A symbolic link is followed: the link stays and its target changes.
    File output;
    output.path = path;
    output.target = followed(path);
    if (output.target.empty()) return write_error(path, ELOOP);
    std::error_code ignored;

    struct stat before {};
    output.replaces = ::stat(output.target.c_str(), &before) == 0;
    if (!output.replaces && errno != ENOENT) return write_error(path, errno);  // for example, the name is too long
    if (output.replaces && S_ISDIR(before.st_mode)) return write_error(path, EISDIR);
    if (output.replaces && !S_ISREG(before.st_mode)) {
        // Devices and pipes are written to and not replaced: "-o /dev/null" must not remove the device. This cannot
        // be undone, so it is done after everything else has succeeded.
        output.held.assign(bytes.begin(), bytes.end());
        files_.push_back(std::move(output));
        return Done{};
    }
    const std::filesystem::path place = std::filesystem::weakly_canonical(output.target, ignored);
    for (const File& other : files_)
        if (!other.temporary.empty() && std::filesystem::weakly_canonical(other.target, ignored) == place)
            return Error{ErrorCode::io, path.string() + ": two outputs would be this one file (name another)"};

    // Not mkstemp: it ignores the umask. The name is short, so that targets with names of maximum length work.
    static std::atomic<unsigned> counter{0};
    if (std::find(cleaned_.begin(), cleaned_.end(), folder_of(output.target)) == cleaned_.end()) {
        cleaned_.push_back(folder_of(output.target));
        remove_stale_files(cleaned_.back());
    }
    std::filesystem::path temporary;
    int file = -1;
    do {
        temporary = folder_of(output.target) /
                    (".sinew-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp");
        file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0) return write_error(path, errno);
    g_unfinished.add(temporary);
    ::flock(file, LOCK_EX | LOCK_NB);  // until it is renamed: see remove_stale_files

    int failed = write_all(file, bytes);
    // A replaced file keeps its permissions if this user may set them.
    if (!failed && output.replaces && ::fchmod(file, before.st_mode & 07777) != 0 && errno != EPERM) failed = errno;
    // Without fsync a crash after the rename could leave an empty file under the final name.
    if (!failed && ::fsync(file) != 0 && errno != EINVAL) failed = errno;
    output.temporary = std::move(temporary);
    output.locked = file;
    if (failed) {
        ::unlink(output.temporary.c_str());
        close(output);
        return write_error(path, failed);
    }
    files_.push_back(std::move(output));
    return Done{};
}

Status OutputBatch::write_devices() {
    for (File& output : files_) {
        if (!output.temporary.empty() || output.written) continue;
        const int file = ::open(output.target.c_str(), O_WRONLY | O_CLOEXEC);
        int failed = file < 0 ? errno : write_all(file, output.held);
        if (file >= 0 && ::close(file) != 0 && !failed) failed = errno;
        if (failed) {
            const Error error = write_error(output.path, failed);
            discard();
            return error;
        }
        output.written = true;
    }
    return Done{};
}

Status OutputBatch::commit() {
    const auto fail = [this](const File& output, int code) {
        const Error error = write_error(output.path, code);
        discard();
        return error;
    };
    if (Status ok = write_devices(); !ok) return ok;
    for (std::size_t i = files_.size(); i-- > 0;) {
        File& output = files_[i];
        if (output.temporary.empty()) continue;
        if (::rename(output.temporary.c_str(), output.target.c_str()) != 0) {
            const int code = errno;
            // New files are removed again; files that replaced others are complete and stay.
            for (std::size_t k = i + 1; k < files_.size(); ++k)
                if (!files_[k].replaces) ::unlink(files_[k].target.c_str());
            return fail(output, code);
        }
        close(output);
        sync_folder(folder_of(output.target));
    }
    files_.clear();
    folders_.clear();
    return Done{};
}

Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    OutputBatch batch;
    if (Status added = batch.add(path, bytes); !added) return added;
    return batch.commit();
}

}  // namespace sinew::io
