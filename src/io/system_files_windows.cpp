#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "io/system_files.h"

namespace sinew::io::system {

namespace {

/// The errno of the call of Windows that has just failed.
int last_errno() {
    const std::error_code code(static_cast<int>(::GetLastError()), std::system_category());
    const std::error_condition condition = code.default_error_condition();
    return condition.category() == std::generic_category() && condition.value() ? condition.value() : EIO;
}

HANDLE handle_of(int file) { return reinterpret_cast<HANDLE>(::_get_osfhandle(file)); }

/// Others may read, rename and remove the file while it is open, as on other systems.
int open(const std::filesystem::path& path, DWORD access, DWORD sharing, DWORD creation, int flags) {
    const HANDLE handle = ::CreateFileW(path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_DELETE | sharing,
                                        nullptr, creation, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
        errno = last_errno();
        std::error_code failed;
        if (errno == EACCES && std::filesystem::is_directory(path, failed)) errno = EISDIR;
        return -1;
    }
    const int file = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), flags | _O_BINARY | _O_NOINHERIT);
    if (file < 0) ::CloseHandle(handle);
    return file;
}

int entry_behind(HANDLE handle, Entry& entry) {
    entry = {};
    const DWORD type = ::GetFileType(handle);
    if (type != FILE_TYPE_DISK) {
        entry.kind = type == FILE_TYPE_CHAR ? Entry::Kind::device : Entry::Kind::other;
        return 0;
    }
    BY_HANDLE_FILE_INFORMATION info{};
    if (!::GetFileInformationByHandle(handle, &info)) return last_errno();
    entry.kind = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? Entry::Kind::folder : Entry::Kind::file;
    const auto joined = [](DWORD high, DWORD low) { return std::uint64_t{high} << 32 | low; };
    entry.size = joined(info.nFileSizeHigh, info.nFileSizeLow);
    entry.version = {info.dwVolumeSerialNumber, joined(info.nFileIndexHigh, info.nFileIndexLow),
                     joined(info.ftLastWriteTime.dwHighDateTime, info.ftLastWriteTime.dwLowDateTime), entry.size};
    return 0;
}

int move(int file, const std::filesystem::path& from, const std::filesystem::path& to, DWORD how) {
    // Not every file system renames a file that is open.
    if (::_close(file) != 0) return errno;
    return ::MoveFileExW(from.c_str(), to.c_str(), how | MOVEFILE_WRITE_THROUGH) ? 0 : last_errno();
}

}  // namespace

int confine(const std::filesystem::path&) { return ENOTSUP; }
bool confined() { return false; }

int entry_at(const std::filesystem::path& path, Entry& entry) {
    entry = {};
    // FILE_FLAG_BACKUP_SEMANTICS opens folders, too.
    const HANDLE handle = ::CreateFileW(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                        nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
        const int failed = last_errno();
        return failed == ENOENT ? 0 : failed;
    }
    const int failed = entry_behind(handle, entry);
    ::CloseHandle(handle);
    return failed;
}

int entry_of(int file, Entry& entry) { return entry_behind(handle_of(file), entry); }

int open_to_read(const std::filesystem::path& path) {
    return open(path, GENERIC_READ, FILE_SHARE_WRITE, OPEN_EXISTING, _O_RDONLY);
}

int open_to_write(const std::filesystem::path& path) {
    return open(path, GENERIC_WRITE, FILE_SHARE_WRITE, OPEN_EXISTING, _O_WRONLY);
}

int create(const std::filesystem::path& path) { return open(path, GENERIC_WRITE, 0, CREATE_NEW, _O_WRONLY); }

std::ptrdiff_t read_some(int file, void* to, std::size_t size) {
    return ::_read(file, to, static_cast<unsigned>(std::min<std::size_t>(size, 1 << 30)));
}

int skip(int file, std::uint64_t bytes) {
    return ::_lseeki64(file, static_cast<std::int64_t>(bytes), SEEK_CUR) < 0 ? errno : 0;
}

int write_all(int file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto size = static_cast<unsigned>(std::min<std::size_t>(bytes.size(), 1 << 30));
        const int put = ::_write(file, bytes.data(), size);
        if (put < 0) return errno;
        if (put == 0) return ENOSPC;
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return 0;
}

int close(int file) { return ::_close(file) == 0 ? 0 : errno; }

int finish(int file, const Entry&) { return ::FlushFileBuffers(handle_of(file)) ? 0 : last_errno(); }

int replace(int file, const std::filesystem::path& from, const std::filesystem::path& to) {
    return move(file, from, to, MOVEFILE_REPLACE_EXISTING);
}

int put(int file, const std::filesystem::path& from, const std::filesystem::path& to) {
    return move(file, from, to, 0);
}

int process() { return static_cast<int>(::GetCurrentProcessId()); }

void remove_abandoned(const std::filesystem::path& path, int) {
    // It cannot be opened for writing while the process that created it runs, on this machine or another.
    const int file = open(path, GENERIC_WRITE | DELETE, 0, OPEN_EXISTING, _O_WRONLY);
    if (file < 0) return;
    ::_close(file);
    ::DeleteFileW(path.c_str());
}

void remove_now(const wchar_t* path) noexcept { ::DeleteFileW(path); }

}  // namespace sinew::io::system
