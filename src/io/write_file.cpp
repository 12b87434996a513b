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

/// Makes the rename durable. Not all file systems support this, so errors are ignored.
void sync_folder(const std::filesystem::path& folder) {
    const int directory = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
    if (directory < 0) return;
    ::fsync(directory);
    ::close(directory);
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

OutputBatch::~OutputBatch() { discard(); }

void OutputBatch::discard() {
    for (const File& file : files_)
        if (!file.temporary.empty()) ::unlink(file.temporary.c_str());
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
    output.path = output.target = path;
    std::error_code ignored;
    if (std::filesystem::is_symlink(path, ignored)) {
        output.target = std::filesystem::weakly_canonical(path, ignored);
        if (ignored) output.target = path;
    }

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
    std::filesystem::path temporary;
    int file = -1;
    do {
        temporary = folder_of(output.target) /
                    (".sinew-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp");
        file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0) return write_error(path, errno);

    int failed = write_all(file, bytes);
    // A replaced file keeps its permissions if this user may set them.
    if (!failed && output.replaces && ::fchmod(file, before.st_mode & 07777) != 0 && errno != EPERM) failed = errno;
    // Without fsync a crash after the rename could leave an empty file under the final name.
    if (!failed && ::fsync(file) != 0 && errno != EINVAL) failed = errno;
    if (::close(file) != 0 && !failed) failed = errno;
    if (failed) {
        ::unlink(temporary.c_str());
        return write_error(path, failed);
    }
    output.temporary = std::move(temporary);
    files_.push_back(std::move(output));
    return Done{};
}

Status OutputBatch::commit() {
    const auto fail = [this](const File& output, int code) {
        const Error error = write_error(output.path, code);
        discard();
        return error;
    };
    for (const File& output : files_) {
        if (!output.temporary.empty()) continue;
        const int file = ::open(output.target.c_str(), O_WRONLY | O_CLOEXEC);
        if (file < 0) return fail(output, errno);
        const int failed = write_all(file, output.held);
        const int closed = ::close(file) == 0 ? 0 : errno;
        if (failed || closed) return fail(output, failed ? failed : closed);
    }
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
        output.temporary.clear();
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
