#include <algorithm>
#include <cstdint>

#include "sinew/core.h"

namespace sinew {
namespace {

// The length of the UTF-8 character at the start of the text, and its number; length 0 if it is not valid. Without
// overlong forms, surrogates and numbers above U+10FFFF.
struct Character {
    std::size_t length;
    std::uint32_t number;
};
Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
    };
    const std::uint32_t lead = byte(0);
    if (lead < 0x80) return {1, lead};
    const std::size_t length = lead >= 0xf0 && lead < 0xf5   ? 4
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                                                             : 0;
    if (length == 0 || text.size() < length) return {0, 0};
    std::uint32_t number = lead & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {0, 0};
        number = number << 6 | (byte(i) & 0x3f);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = number >= 0xd800 && number < 0xe000;
    if (number < least[length] || number > 0x10ffff || surrogate) return {0, 0};
    return {length, number};
}

// Characters that a terminal obeys, or that change the order of the others.
bool acts(std::uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

void add_hex(std::string& out, std::string_view bytes) {
    constexpr char digits[] = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_length) {
    std::string out;
    for (std::size_t count = 0; !text.empty(); ++count) {
        if (count == max_length) return out + "…";
        const auto [length, number] = first_character(text);
        const std::size_t taken = std::max<std::size_t>(length, 1);
        if (length == 0 || acts(number))
            add_hex(out, text.substr(0, taken));
        else
            out += text.substr(0, taken);
        text.remove_prefix(taken);
    }
    return out;
}

}  // namespace sinew
