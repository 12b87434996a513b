#include "batch_results.h"
#include "core/try.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "sinew/content.h"
#include "sinew/io.h"

namespace sinew::cli {

namespace {

/// Whether the file at a path is still the one that was opened.
bool is_still_at(int file, const std::string& path) {
    struct stat mine {
    }, there{};
    return ::fstat(file, &mine) == 0 && ::stat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
}

/// Whether the members that are read have the types that this program writes.
bool is_line(const OrderedJson& j) {
    using Type = OrderedJson::value_t;
    static const std::map<std::string_view, Type> types{{"key", Type::string},     {"input", Type::string},
                                                        {"output", Type::string},  {"outcome", Type::string},
                                                        {"message", Type::string}, {"files", Type::array}};
    if (!j.is_object() || !j.contains("key") || !j.contains("outcome")) return false;
    for (const auto& [key, value] : j.items())
        if (const auto type = types.find(key); type != types.end() && type->second != value.type()) return false;
    return std::find(kOutcomes.begin(), kOutcomes.end(), j["outcome"].get<std::string>()) != kOutcomes.end();
}

}  // namespace

BatchClaim::BatchClaim(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (file_ < 0) return;
    held_ = ::flock(file_, LOCK_EX | LOCK_NB) == 0 && is_still_at(file_, path);  // not removed meanwhile
}

BatchClaim::~BatchClaim() {
    if (held_) ::unlink(path_.c_str());
    if (file_ >= 0) ::close(file_);
}

Status BatchFolder::enter(const std::string& path) {
    path_ = path;
    in_use_ = path + "/in-use";
    // Another batch that ends may remove folder and file between any two of these calls.
    for (;;) {
        std::error_code failed;
        std::filesystem::create_directories(path, failed);
        if (failed) return Error{ErrorCode::io, path + " cannot be made: " + failed.message()};
        file_ = ::open(in_use_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (file_ < 0 && errno == ENOENT) continue;
        if (file_ < 0)
            return Error{ErrorCode::io, path + " cannot be written: " + std::generic_category().message(errno) +
                                            " (another folder for the results?)"};
        ::flock(file_, LOCK_SH);
        if (is_still_at(file_, in_use_)) return Done{};
        ::close(file_);
    }
}

BatchFolder::~BatchFolder() {
    if (file_ < 0) return;
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) {
        ::unlink(in_use_.c_str());
        ::rmdir(path_.c_str());
    }
    ::close(file_);
}

std::vector<std::string> files_in(const OrderedJson& line) {
    std::vector<std::string> out;
    if (const auto files = line.find("files"); files != line.end())
        for (const OrderedJson& file : *files)
            if (file.is_string()) out.push_back(file.get<std::string>());
    return out;
}

Status BatchResults::refresh() {
    std::error_code missing;
    if (!std::filesystem::exists(path_, missing)) return Done{};
    SINEW_TRY_LET(const std::vector<std::byte> bytes, io::read_file_from(path_, read_));
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (std::size_t end = 0; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
        const std::string_view line = text.substr(0, end);
        read_ += end + 1;
        if (!io::check_json_depth(line, path_)) continue;
        auto j = OrderedJson::parse(line, nullptr, false);
        if (!is_line(j)) continue;
        OrderedJson& last = last_[j["key"].get<std::string>()];
        last = std::move(j);
    }
    return Done{};
}

std::set<std::string> BatchResults::that_refer_to(const std::string& file) const {
    std::set<std::string> out;
    for (const auto& [key, line] : last_) {
        const std::vector<std::string> files = files_in(line);
        if (std::find(files.begin(), files.end(), file) != files.end()) out.insert(line.value("output", ""));
    }
    return out;
}

const OrderedJson* BatchResults::of(const std::string& key) const {
    const auto at = last_.find(key);
    return at == last_.end() ? nullptr : &at->second;
}

Status BatchResults::add(const OrderedJson& line) {
    std::string text = line.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
    const auto failed = [&](int code) {
        return Error{ErrorCode::io, path_ + " cannot be written: " + std::generic_category().message(code)};
    };
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) return failed(errno);
    ::flock(file, LOCK_EX);  // where the file system has locks; without, lines are still one write each
    const off_t size = ::lseek(file, 0, SEEK_END);
    char last = '\n';
    if (size > 0 && ::pread(file, &last, 1, size - 1) == 1 && last != '\n') text.insert(text.begin(), '\n');
    int code = 0;
    for (std::size_t at = 0; at < text.size() && code == 0;) {
        const ssize_t put = ::write(file, text.data() + at, text.size() - at);
        if (put >= 0)
            at += static_cast<std::size_t>(put);
        else if (errno != EINTR)
            code = errno;
    }
    if (code != 0 && size >= 0 && ::ftruncate(file, size) != 0) code = code == ENOSPC ? code : errno;
    if (::close(file) != 0 && code == 0) code = errno;
    return code == 0 ? Status(Done{}) : failed(code);
}

}  // namespace sinew::cli
