// What reading and writing files needs of the operating system. The file that implements it ends in _posix or
// _windows. Descriptors are -1 on failure, with errno. Other functions return 0 or an errno.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace sinew::io::system {

/// From now on every path is resolved below this folder by the functions of this file: not through "..", nor
/// through a link out of it, also one that is put there meanwhile. EXDEV for others. Once in a process.
int confine(const std::filesystem::path& folder);
bool confined();

/// What is at a path or behind a descriptor.
struct Entry {
    enum class Kind { nothing, file, folder, device, other };  ///< other: a pipe, a socket
    Kind kind = Kind::nothing;
    std::uint64_t size = 0;
    unsigned permissions = 0;
    std::array<std::uint64_t, 4>
        version{};  ///< differs where another file was put there, or its bytes were written
};
int entry_at(const std::filesystem::path& path, Entry& entry);  ///< follows symbolic links
int entry_of(int file, Entry& entry);

/// Does not wait for the writer of a pipe.
int open_to_read(const std::filesystem::path& path);
/// An existing device or pipe.
int open_to_write(const std::filesystem::path& path);
/// A new file, which no other process can open to write until it is closed, see remove_abandoned. EEXIST if there
/// is one.
int create(const std::filesystem::path& path);
/// Bytes read; 0 at the end.
std::ptrdiff_t read_some(int file, void* to, std::size_t size);
int skip(int file, std::uint64_t bytes);
int write_all(int file, std::span<const std::byte> bytes);
int close(int file);

/// Makes the bytes of a file durable. It gets the permissions of the file that it will replace, if there is one
/// and this user may set them.
int finish(int file, const Entry& replaced);
/// Closes `file`, also on failure, and renames it from `from` to `to`, which it replaces. Durable where the system
/// can.
int replace(int file, const std::filesystem::path& from, const std::filesystem::path& to);
/// The same, but EEXIST if there is a file at `to`, also one that appeared just now. `from` then stays.
int put(int file, const std::filesystem::path& from, const std::filesystem::path& to);

/// The number of this process.
int process();
/// Removes a file that process `number` created, if that process has ended.
void remove_abandoned(const std::filesystem::path& path, int number);
/// May be called in a handler of signals.
void remove_now(const std::filesystem::path::value_type* path) noexcept;

}  // namespace sinew::io::system
