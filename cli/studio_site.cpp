#include "studio_site.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/try.h"
#include "sinew/io.h"

namespace sinew::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostHead = 16384;

std::string_view type_of(std::string_view path) {
    static constexpr std::pair<std::string_view, std::string_view> types[] = {
        {".html", "text/html; charset=utf-8"}, {".js", "text/javascript"},   {".css", "text/css"},
        {".wasm", "application/wasm"},         {".svg", "image/svg+xml"},    {".glb", "model/gltf-binary"},
        {".json", "application/json"},         {".gltf", "model/gltf+json"},
    };
    for (const auto& [extension, type] : types)
        if (path.ends_with(extension)) return type;
    return "application/octet-stream";
}

std::string head(std::string_view status, std::string_view type, std::size_t length) {
    return fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n"
        "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\nX-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\n"
        "Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
        "connect-src 'self'; img-src 'self' blob:; style-src 'self' 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'\r\n\r\n",
        status, type, length);
}

Answer refusal(std::string_view status) { return {head(status, "text/plain", 0)}; }

/// Percent-decoding; empty for a bad escape.
std::optional<std::string> decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const auto digit = [&](std::size_t at) {
            const char c = at < text.size() ? text[at] : ' ';
            return c >= '0' && c <= '9'   ? c - '0'
                   : c >= 'a' && c <= 'f' ? c - 'a' + 10
                   : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                          : -1;
        };
        const int high = digit(i + 1), low = digit(i + 2);
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

/// The value of the only header with this name (lower case); empty if it is missing or repeated.
std::optional<std::string_view> header(std::string_view lines, std::string_view name) {
    std::optional<std::string_view> found;
    while (!lines.empty()) {
        const auto end = std::min(lines.find("\r\n"), lines.size());
        const std::string_view line = lines.substr(0, end);
        lines.remove_prefix(std::min(end + 2, lines.size()));
        const auto colon = line.find(':');
        if (colon == line.npos || colon != name.size()) continue;
        const bool same = std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) {
            return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
        });
        if (!same) continue;
        if (found) return std::nullopt;
        std::string_view value = line.substr(colon + 1);
        while (value.starts_with(' ')) value.remove_prefix(1);
        while (value.ends_with(' ')) value.remove_suffix(1);
        found = value;
    }
    return found;
}

}  // namespace

Status add_page(Site& site, const std::string& folder) {
    std::error_code failed;
    for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
        if (!at->is_regular_file(failed)) continue;
        SINEW_TRY_LET(std::vector<std::byte> bytes, io::read_file(at->path()));
        site.files[fs::relative(at->path(), folder, failed).generic_string()] = std::move(bytes);
    }
    if (failed) return Error{ErrorCode::io, folder + ": cannot be read: " + failed.message()};
    if (!site.files.contains("index.html"))
        return Error{ErrorCode::io, folder + ": it has no index.html, so it is not the studio's page"};
    return Done{};
}

bool is_whole(std::string_view request) {
    return request.find("\r\n\r\n") != request.npos || request.size() > kMostHead;
}

Answer answer_to(const Site& site, std::string_view request) {
    const auto end = request.find("\r\n\r\n");
    if (end == request.npos || end > kMostHead) return refusal("431 Request Header Fields Too Large");
    const std::string_view line = request.substr(0, request.find("\r\n"));
    const std::string_view lines =
        line.size() + 2 <= end ? request.substr(line.size() + 2, end - line.size() - 2) : std::string_view();
    const auto first = line.find(' '), last = line.rfind(' ');
    if (first == line.npos || first == last || !line.substr(last + 1).starts_with("HTTP/1."))
        return refusal("400 Bad Request");
    // Protects against DNS rebinding: requests of other pages have another host name.
    const auto host = header(lines, "host");
    if (!host ||
        (*host != fmt::format("127.0.0.1:{}", site.port) && *host != fmt::format("localhost:{}", site.port)))
        return refusal("403 Forbidden");
    const std::string_view method = line.substr(0, first);
    if (method != "GET" && method != "HEAD") return refusal("405 Method Not Allowed");
    std::string_view target = line.substr(first + 1, last - first - 1);
    target = target.substr(0, target.find('?'));
    const std::string root = "/" + site.secret + "/";
    if (!target.starts_with(root)) return refusal("404 Not Found");
    const auto path = decoded(target.substr(root.size()));
    if (!path) return refusal("400 Bad Request");
    const auto found = site.files.find(path->empty() ? "index.html" : *path);
    if (found == site.files.end()) return refusal("404 Not Found");
    return {head("200 OK", type_of(found->first), found->second.size()),
            method == "GET" ? &found->second : nullptr};
}

}  // namespace sinew::cli
