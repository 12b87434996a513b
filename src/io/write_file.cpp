#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/numbers.h"
#include "core/try.h"
#include "io/formats.h"
#include "io/system_files.h"
#include "sinew/io.h"

namespace sinew::io {

namespace {

Error write_error(const std::filesystem::path& path, int code) {
    if (code == EXDEV && system::confined()) return outside_error(path);
    return {ErrorCode::io, "cannot write " + path.string() + ": " + std::generic_category().message(code)};
}

/// Names of the temporary files of this process, for remove_unfinished_files: a handler of signals must not use the
/// heap. More files than slots are possible, and these are then left to the next run.
class UnfinishedFiles {
public:
    void add(const std::filesystem::path& path) {
        const auto& name = path.native();
        if (name.size() >= std::size(slots_[0].name)) return;
        for (Slot& slot : slots_) {
            int free = 0;
            if (!slot.state.compare_exchange_strong(free, 1)) continue;
            std::copy_n(name.c_str(), name.size() + 1, slot.name);
            slot.state.store(2);
            return;
        }
    }
    void remove(const std::filesystem::path& path) {
        for (Slot& slot : slots_)
            if (slot.state.load() == 2 && path.native() == slot.name) slot.state.store(0);
    }
    void remove_files() {
        for (Slot& slot : slots_)
            if (slot.state.load() == 2) system::remove_now(slot.name);
    }

private:
    struct Slot {
        std::atomic<int> state{0};  // 0 free, 1 being written, 2 a name
        std::filesystem::path::value_type name[4096];
    };
    Slot slots_[16];
};
UnfinishedFiles g_unfinished;

/// Whether a file has these bytes.
Result<bool> has_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    std::error_code failed;
    if (std::filesystem::file_size(path, failed) != bytes.size() && !failed) return false;
    SINEW_TRY_LET(const std::vector<std::byte> there, read_file(path));
    return std::equal(there.begin(), there.end(), bytes.begin(), bytes.end());
}

Error other_file_error(const std::filesystem::path& path, const std::string& owner) {
    return {ErrorCode::io, path.string() + " is another file than the one that " + owner +
                               " refers to by this name, or it has changed (save into another folder)"};
}

/// The number of the process that wrote a temporary file, from its name: ".sinew-PROCESS-N.tmp"; 0 for other names.
int writer_of(std::string_view name) {
    if (!name.starts_with(".sinew-") || !name.ends_with(".tmp")) return 0;
    name = name.substr(7, name.size() - 7 - 4);
    const std::size_t dash = name.find('-');
    if (dash == name.npos || !number_of<unsigned>(name.substr(dash + 1))) return 0;
    return std::max(0, number_of<int>(name.substr(0, dash)).value_or(0));
}

/// Removes temporary files of processes that were killed.
void remove_stale_files(const std::filesystem::path& folder) {
    std::error_code failed;
    std::filesystem::directory_iterator at(folder, failed);
    for (; !failed && at != std::filesystem::directory_iterator(); at.increment(failed)) {
        const int process = writer_of(at->path().filename().string());
        if (process != 0 && process != system::process()) system::remove_abandoned(at->path(), process);
    }
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

void remove_unfinished_files() noexcept { g_unfinished.remove_files(); }

void OutputBatch::close(File& file) {
    if (file.locked >= 0) system::close(file.locked);
    file.locked = -1;
    g_unfinished.remove(file.temporary);
    file.temporary.clear();
}

void OutputBatch::discard() {
    std::error_code ignored;
    for (File& file : files_) {
        if (file.temporary.empty()) continue;
        std::filesystem::remove(file.temporary, ignored);
        close(file);
    }
    files_.clear();
    // Innermost first. A folder that is not empty any more is kept.
    for (std::size_t i = folders_.size(); i-- > 0;) std::filesystem::remove(folders_[i], ignored);
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
    File output;
    output.path = path;
    return add(std::move(output), bytes);
}

Status OutputBatch::add_shared(const std::filesystem::path& path, std::span<const std::byte> bytes,
                               const std::string& owner) {
    File output;
    output.path = path;
    output.owner = owner;
    return add(std::move(output), bytes);
}

Status OutputBatch::add(File output, std::span<const std::byte> bytes) {
    const std::filesystem::path path = output.path;
    if (path.filename().empty()) return write_error(path, path.empty() ? ENOENT : EISDIR);

    // A symbolic link is followed: the link stays and its target changes.
    output.target = followed(path);
    if (output.target.empty()) return write_error(path, ELOOP);
    std::error_code ignored;

    using Kind = system::Entry::Kind;
    system::Entry before;
    // For example, the name may be too long, or the folder is outside of that of confine.
    system::Entry folder;
    if (const int failed = system::entry_at(folder_of(output.target), folder); failed)
        return write_error(path, failed);
    if (const int failed = system::entry_at(output.target, before); failed) return write_error(path, failed);
    output.replaces = before.kind != Kind::nothing;
    if (before.kind == Kind::folder) return write_error(path, EISDIR);
    if (output.replaces && before.kind != Kind::file) {
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

    if (!output.owner.empty() && output.replaces) {
        SINEW_TRY_LET(const bool same, has_bytes(output.target, bytes));
        if (!same) return other_file_error(path, output.owner);
        output.there = before.version;
        files_.push_back(std::move(output));
        return Done{};
    }

    // The name is short, so that targets with names of maximum length work.
    static std::atomic<unsigned> counter{0};
    if (std::find(cleaned_.begin(), cleaned_.end(), folder_of(output.target)) == cleaned_.end()) {
        cleaned_.push_back(folder_of(output.target));
        remove_stale_files(cleaned_.back());
    }
    std::filesystem::path temporary;
    int file = -1;
    do {
        temporary = folder_of(output.target) /
                    (".sinew-" + std::to_string(system::process()) + "-" + std::to_string(counter++) + ".tmp");
        file = system::create(temporary);
    } while (file < 0 && errno == EEXIST);
    if (file < 0) return write_error(path, errno);
    g_unfinished.add(temporary);
    int failed = system::write_all(file, bytes);
    if (!failed) failed = system::finish(file, before);
    output.temporary = std::move(temporary);
    output.locked = file;
    if (failed) {
        std::filesystem::remove(output.temporary, ignored);
        close(output);
        return write_error(path, failed);
    }
    files_.push_back(std::move(output));
    return Done{};
}

Status OutputBatch::write_devices() {
    for (File& output : files_) {
        if (!output.temporary.empty() || !output.owner.empty() || output.written) continue;
        const int file = system::open_to_write(output.target);
        int failed = file < 0 ? errno : system::write_all(file, output.held);
        if (const int close_failed = file < 0 ? 0 : system::close(file); !failed) failed = close_failed;
        if (failed) {
            const Error error = write_error(output.path, failed);
            discard();
            return error;
        }
        output.written = true;
    }
    return Done{};
}

Status OutputBatch::publish(File& output) {
    const bool shared = !output.owner.empty();
    if (output.temporary.empty()) {
        system::Entry now;
        if (shared && (system::entry_at(output.target, now) != 0 || now.version != output.there))
            return other_file_error(output.path, output.owner);
        return Done{};
    }
    const auto move = shared ? system::put : system::replace;
    int failed = move(std::exchange(output.locked, -1), output.temporary, output.target);
    if (shared && failed == EEXIST) {
        // Another program was faster. With the same bytes, its file is as good.
        SINEW_TRY_LET(const std::vector<std::byte> own, read_file(output.temporary));
        SINEW_TRY_LET(const bool same, has_bytes(output.target, own));
        if (!same) return other_file_error(output.path, output.owner);
        std::error_code ignored;
        std::filesystem::remove(output.temporary, ignored);
        output.replaces = true;
        failed = 0;
    }
    if (failed) return write_error(output.path, failed);
    close(output);
    return Done{};
}

Status OutputBatch::commit() {
    SINEW_TRY(write_devices());
    for (std::size_t i = files_.size(); i-- > 0;) {
        File& output = files_[i];
        const Status done = publish(output);
        if (done) continue;
        // New files are removed again; files that replaced others are complete and stay.
        std::error_code ignored;
        for (std::size_t k = i + 1; k < files_.size(); ++k)
            if (!files_[k].replaces) std::filesystem::remove(files_[k].target, ignored);
        discard();
        return done;
    }
    files_.clear();
    folders_.clear();
    return Done{};
}

Status write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    OutputBatch batch;
    SINEW_TRY(batch.add(path, bytes));
    return batch.commit();
}

}  // namespace sinew::io
