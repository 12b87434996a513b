#include "io/model_files.h"

#include <utility>

#include "core/try.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

constexpr std::size_t kUsual = std::size_t{2} << 30, kOfEachByte = 64;

/// Whether `path` is in `folder` after all symbolic links; also where that cannot be found out, and reading fails.
bool stays(const std::filesystem::path& path, const std::filesystem::path& folder) {
    std::error_code failed;
    const auto home = std::filesystem::weakly_canonical(folder, failed);
    const auto real = failed ? home : std::filesystem::weakly_canonical(path, failed);
    if (failed) return true;
    const auto way = real.lexically_relative(home);
    return !way.empty() && *way.begin() != "..";
}

}  // namespace

ModelFiles::ModelFiles(std::filesystem::path folder, const Context* context, bool follow_links)
    : folder_(std::move(folder)),
      follow_links_(follow_links),
      limited_(context && context->memory_limit),
      limit_(limited_ ? context->memory_limit : kUsual) {}

Result<std::filesystem::path> ModelFiles::place_of(std::string_view uri, const std::string& name,
                                                   const std::string& asker) const {
    SINEW_TRY_LET(auto path, resolve_uri(uri, folder_, name, asker));
    if (!follow_links_ && !stays(path, folder_))
        return input_error(name,
                           asker + ": \"" + printable(uri) +
                               "\" is a link out of the folder of the model (copy the file there, or allow it: "
                               "`follow-links`)");
    return path;
}

Result<ModelFiles::Bytes> ModelFiles::load(const std::filesystem::path& path, const Context* context, bool keep) {
    SINEW_TRY_LET(const FileReader file, FileReader::open(path, context));
    const auto size = static_cast<std::size_t>(file.size());
    SINEW_TRY(keep ? add_file(size, path.string()) : take(size, path.string()));
    SINEW_TRY_LET(auto bytes, read_file(path, context));
    return Bytes(std::make_shared<std::vector<std::byte>>(std::move(bytes)));
}

Result<ModelFiles::Bytes> ModelFiles::read(const std::filesystem::path& path, const Context* context) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto kept = kept_.find(path); kept != kept_.end()) return kept->second;
    }
    SINEW_TRY_LET(Bytes bytes, load(path, context, true));
    const std::lock_guard lock(mutex_);
    return kept_.emplace(path, std::move(bytes)).first->second;
}

Result<ModelFiles::Bytes> ModelFiles::read_now(const std::filesystem::path& path) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto kept = kept_.find(path); kept != kept_.end()) return kept->second;
    }
    SINEW_TRY_LET(Bytes bytes, load(path, nullptr, false));
    give_back(bytes->size());
    return bytes;
}

bool ModelFiles::keeps(const std::filesystem::path& path) const {
    const std::lock_guard lock(mutex_);
    return kept_.contains(path);
}

Status ModelFiles::add_file(std::size_t bytes, const std::string& what) {
    {
        const std::lock_guard lock(mutex_);
        if (!limited_) limit_ += bytes * kOfEachByte;
    }
    return take(bytes, what);
}

Status ModelFiles::take(std::size_t bytes, const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (bytes > limit_ - used_)
        return Error{ErrorCode::too_large,
                     what + " needs " + std::to_string((bytes >> 20) + 1) + " MB of memory, beside " +
                         std::to_string(used_ >> 20) + " MB of the model: more than the limit of " +
                         std::to_string(limit_ >> 20) + " MB (raise the limit, or join what the file has twice)"};
    used_ += bytes;
    return Done{};
}

void ModelFiles::give_back(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
}

std::size_t ModelFiles::used() const {
    const std::lock_guard lock(mutex_);
    return used_;
}

std::string percent_decode(std::string_view uri) {
    const auto digit = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        return -1;
    };
    std::string out;
    for (std::size_t i = 0; i < uri.size(); ++i) {
        if (uri[i] == '%' && i + 2 < uri.size() && digit(uri[i + 1]) >= 0 && digit(uri[i + 2]) >= 0) {
            out.push_back(static_cast<char>(digit(uri[i + 1]) * 16 + digit(uri[i + 2])));
            i += 2;
        } else {
            out.push_back(uri[i]);
        }
    }
    return out;
}

Result<std::filesystem::path> resolve_uri(std::string_view uri, const std::filesystem::path& base,
                                          const std::string& name, const std::string& asker) {
    const std::string text = printable(uri);
    if (base.empty())
        return input_error(name, asker + " is in the file \"" + text +
                                     "\", but bytes in memory have no folder (`folder` names one)");
    const std::string decoded = percent_decode(uri);
    const std::filesystem::path path = std::filesystem::path(decoded).lexically_normal();
    const std::size_t colon = decoded.find(':');
    const bool scheme = colon != decoded.npos && decoded.find('/') > colon;
    if (decoded.empty() || decoded.find('\0') != decoded.npos || scheme || path.has_root_path() || path.empty() ||
        *path.begin() == "..")
        return input_error(name, asker + ": the uri \"" + text +
                                     "\" does not stay in the folder of the model (move the file there)");
    return base / path;
}

}  // namespace sinew::io
