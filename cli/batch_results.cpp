#include "batch_results.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace sinew::cli {

using nlohmann::ordered_json;

BatchClaim::BatchClaim(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (file_ < 0) return;
    struct stat mine {
    }, there{};
    held_ = ::flock(file_, LOCK_EX | LOCK_NB) == 0 && ::fstat(file_, &mine) == 0 &&
            ::stat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino;  // not removed meanwhile
}

BatchClaim::~BatchClaim() {
    if (held_) ::unlink(path_.c_str());
    if (file_ >= 0) ::close(file_);
}

void BatchResults::refresh() {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(read_));
    std::string line;
    while (std::getline(file, line)) {
        if (file.eof()) break;  // no line break yet
        read_ += line.size() + 1;
        const auto j = ordered_json::parse(line, nullptr, false);
        if (j.is_object() && j.value("key", ordered_json()).is_string()) last_[j["key"].get<std::string>()] = j;
    }
}

const ordered_json* BatchResults::of(const std::string& key) const {
    const auto at = last_.find(key);
    return at == last_.end() ? nullptr : &at->second;
}

Status BatchResults::add(const ordered_json& line) {
    const std::string text = line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const bool written = file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const bool closed = file < 0 || ::close(file) == 0;
    if (written && closed) return Done{};
    return Error{ErrorCode::io, path_ + " cannot be written: " + std::generic_category().message(errno)};
}

}  // namespace sinew::cli
