// Text is UTF-8 everywhere in sinew, but libstdc++ makes a std::filesystem::path of narrow text by the C library's
// mbrtowc, whose locales on Windows have no UTF-8. The linker puts this function in its place
// (cmake/SinewWindows.cmake).
#include <cstddef>
#include <cstdint>
#include <cwchar>

extern "C" std::size_t __wrap_mbrtowc(wchar_t* to, const char* from, std::size_t size, std::mbstate_t* state) {
    // A character of four bytes is two units of UTF-16: one for the first three bytes, and one for the last.
    if (state && *state) {
        if (to) *to = static_cast<wchar_t>(*state);
        *state = 0;
        return 1;
    }
    if (!from) return 0;
    if (size == 0) return static_cast<std::size_t>(-2);
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(from[i]); };
    const std::size_t length = byte(0) < 0x80       ? 1
                               : byte(0) >> 5 == 6  ? 2
                               : byte(0) >> 4 == 14 ? 3
                               : byte(0) >> 3 == 30 ? 4
                                                    : 0;
    std::uint32_t code = length == 1 ? byte(0) : byte(0) & (0x7fu >> length);
    bool valid = length > 0 && length <= size;
    for (std::size_t i = 1; valid && i < length; ++i) {
        valid = byte(i) >> 6 == 2;
        code = code << 6 | (byte(i) & 0x3f);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    valid = valid && code >= least[length] && code <= 0x10ffff && code >> 11 != 27;
    if (!valid) {
        if (to) *to = L'\ufffd';
        return 1;
    }
    if (length == 4) {
        if (to) *to = static_cast<wchar_t>(0xd7c0 + (code >> 10));
        if (state) *state = static_cast<std::mbstate_t>(0xdc00 + (code & 0x3ff));
        return 3;
    }
    if (to) *to = static_cast<wchar_t>(code);
    return code ? length : 0;
}
