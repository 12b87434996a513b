// The files beside a model that it names, and the memory that all of its files may take.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"

namespace sinew::io {

/// Every byte of a model comes from a stranger, and so do the sizes that it states. What is allocated by them is
/// asked for here, and counted together. Functions may be called from several threads.
class ModelFiles {
public:
    using Bytes = std::shared_ptr<const std::vector<std::byte>>;

    ModelFiles() = default;  ///< no folder and no limit, for documents that are made here
    /// folder: of the model; empty: it may name no files. The limit is Context::memory_limit, or without one 2 GB
    /// and 64 times the bytes of all files.
    ModelFiles(std::filesystem::path folder, const Context* context, bool follow_links = false);

    const std::filesystem::path& folder() const { return folder_; }
    bool follows_links() const { return follow_links_; }

    /// The file of a relative uri, in the folder or below it, or the reason why it is refused. A symbolic link out
    /// of the folder is one, unless these are followed: so a model cannot copy other files of the machine into
    /// its output. `name`: of the model; `asker`: who names the file.
    Result<std::filesystem::path> place_of(std::string_view uri, const std::string& name,
                                           const std::string& asker) const;

    /// The bytes of a file, which are kept: it is read once.
    Result<Bytes> read(const std::filesystem::path& path, const Context* context = nullptr);
    /// Those that are kept; else it is read now, and not kept.
    Result<Bytes> read_now(const std::filesystem::path& path);
    bool keeps(const std::filesystem::path& path) const;

    /// Counts bytes that were read.
    Status add_file(std::size_t bytes, const std::string& what);
    /// Counts bytes before they are allocated. ErrorCode::too_large if fewer are left of the limit.
    Status take(std::size_t bytes, const std::string& what);
    void give_back(std::size_t bytes);
    std::size_t used() const;

private:
    Result<Bytes> load(const std::filesystem::path& path, const Context* context, bool keep);

    std::filesystem::path folder_;
    bool follow_links_ = false, limited_ = true;
    mutable std::mutex mutex_;  // of what follows
    std::size_t limit_ = ~std::size_t{0}, used_ = 0;
    std::map<std::filesystem::path, Bytes> kept_;
};

/// The bytes of a file, and who owns them: the caller, until the call ends, or somebody who shares them.
struct FileBytes {
    std::span<const std::byte> bytes;
    ModelFiles::Bytes owner;

    FileBytes(std::span<const std::byte> of_caller) : bytes(of_caller) {}
    FileBytes(ModelFiles::Bytes shared) : bytes(*shared), owner(std::move(shared)) {}
    /// To be kept after the call: a copy, where they are the caller's.
    ModelFiles::Bytes kept() const {
        return owner ? owner : std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
    }
};

/// Bytes that are taken until the end of a scope.
class HeldBytes {
public:
    explicit HeldBytes(ModelFiles& files) : files_(files) {}
    ~HeldBytes() { files_.give_back(bytes_); }
    HeldBytes(const HeldBytes&) = delete;
    Status take(std::size_t bytes, const std::string& what) {
        Status ok = files_.take(bytes, what);
        if (ok) bytes_ += bytes;
        return ok;
    }

private:
    ModelFiles& files_;
    std::size_t bytes_ = 0;
};

/// The file of a uri in `folder` or below it, by its words alone.
Result<std::filesystem::path> resolve_uri(std::string_view uri, const std::filesystem::path& folder,
                                          const std::string& name, const std::string& asker);
/// Percent-decoding; an invalid escape is kept.
std::string percent_decode(std::string_view uri);

}  // namespace sinew::io
