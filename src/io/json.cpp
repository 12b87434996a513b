#include <string>

#include "core/try.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

constexpr std::size_t max_depth = 128;

}  // namespace

Status check_json_depth(std::string_view text, const std::string& name) {
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            if (++depth > max_depth)
                return input_error(name, "byte " + std::to_string(i) + ": JSON nested deeper than " +
                                             std::to_string(max_depth) + " levels");
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return Done{};
}

std::string json_message(const std::exception& error) {
    const std::string_view what = error.what();
    const std::size_t end = what.find("] ");
    // It repeats what was read last, which may be the whole file.
    return printable(what.substr(0, 1) == "[" && end != what.npos ? what.substr(end + 2) : what, 300);
}

std::size_t json_tree_bytes(std::string_view text) {
    // Of the allocator's blocks on a machine of 64 bits: a value 16 bytes, and as much again where a list grows; a
    // list or an object 64; a member of an object 96, of which its key's quotes count 48; a string 48.
    std::size_t bytes = text.size();
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            bytes += 48;
            for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
        } else {
            bytes += c == ',' ? 32 : c == '[' || c == '{' ? 96 : c == ':' ? 48 : 0;
        }
    }
    return bytes;
}

Result<Json> parse_json(std::string_view text, const std::string& name, const Context* context) {
    SINEW_TRY(check_json_depth(text, name));
    if (context && context->memory_limit)
        SINEW_TRY(ModelFiles({}, context).take(json_tree_bytes(text), name + ": its JSON"));
    try {
        return Json::parse(text);
    } catch (const Json::exception& e) {
        return input_error(name, "not valid JSON: " + json_message(e));
    }
}

}  // namespace sinew::io
