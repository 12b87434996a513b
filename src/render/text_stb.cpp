#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "render/text.h"

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <stb/stb_truetype.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace sinew {

// From cmake/EmbedFont.cmake: the bytes of the font file, eight per word.
extern const std::uint64_t kFontWords[];

namespace {

static_assert(std::endian::native == std::endian::little,
              "EmbedFont.cmake writes words for little-endian machines");

const stbtt_fontinfo& font() {
    static const stbtt_fontinfo info = [] {
        stbtt_fontinfo made;
        const auto* bytes = reinterpret_cast<const unsigned char*>(kFontWords);
        stbtt_InitFont(&made, bytes, stbtt_GetFontOffsetForIndex(bytes, 0));
        return made;
    }();
    return info;
}

/// The next character of UTF-8 at `at`, which moves behind it.
int next_character(const std::string& text, std::size_t& at) {
    auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const unsigned first = byte(at++);
    const int more = first < 0x80                    ? 0
                     : first >= 0xF0 && first < 0xF8 ? 3
                     : first >= 0xE0                 ? 2
                     : first >= 0xC2                 ? 1
                                                     : -1;
    if (more == 0) return first < 0x20 || first == 0x7F ? 0xFFFD : static_cast<int>(first);
    if (more < 0 || first >= 0xF8) return 0xFFFD;
    unsigned code = first & (0x3Fu >> more);
    for (int k = 0; k < more; ++k) {
        if ((byte(at) & 0xC0) != 0x80) return 0xFFFD;
        code = code << 6 | (byte(at++) & 0x3F);
    }
    return code > 0x10FFFF ? 0xFFFD : static_cast<int>(code);
}

/// Calls each(glyph, x) with the pen position in pixels; returns its end.
template <typename Each>
double walk(const std::string& text, double scale, Each&& each) {
    double x = 0;
    int last = 0;
    for (std::size_t at = 0; at < text.size();) {
        const int glyph = stbtt_FindGlyphIndex(&font(), next_character(text, at));
        if (last) x += scale * stbtt_GetGlyphKernAdvance(&font(), last, glyph);
        each(glyph, x);
        int advance = 0, bearing = 0;
        stbtt_GetGlyphHMetrics(&font(), glyph, &advance, &bearing);
        x += scale * advance;
        last = glyph;
    }
    return x;
}

double scale_of(double size) { return stbtt_ScaleForMappingEmToPixels(&font(), static_cast<float>(size)); }

}  // namespace

double text_width(const std::string& text, double size) {
    return walk(text, scale_of(size), [](int, double) {});
}

void draw_text(Image& image, const std::string& text, double x, double y, double size, Rgb colour) {
    const double scale = scale_of(size);
    const auto scale_f = static_cast<float>(scale);
    std::vector<unsigned char> cover;
    walk(text, scale, [&](int glyph, double pen) {
        const double left = std::floor(x + pen), base = std::round(y);
        const auto shift = static_cast<float>(x + pen - left);
        int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
        stbtt_GetGlyphBitmapBoxSubpixel(&font(), glyph, scale_f, scale_f, shift, 0, &x0, &y0, &x1, &y1);
        const int wide = x1 - x0, high = y1 - y0;
        if (wide <= 0 || high <= 0) return;
        cover.assign(static_cast<std::size_t>(wide) * static_cast<std::size_t>(high), 0);
        stbtt_MakeGlyphBitmapSubpixel(&font(), cover.data(), wide, high, wide, scale_f, scale_f, shift, 0, glyph);
        const int at_x = static_cast<int>(left) + x0, at_y = static_cast<int>(base) + y0;
        for (int j = std::max(0, -at_y); j < high && at_y + j < image.height; ++j)
            for (int i = std::max(0, -at_x); i < wide && at_x + i < image.width; ++i) {
                const int a = cover[static_cast<std::size_t>(j) * static_cast<std::size_t>(wide) +
                                    static_cast<std::size_t>(i)];
                const std::size_t p =
                    3 * (static_cast<std::size_t>(at_y + j) * static_cast<std::size_t>(image.width) +
                         static_cast<std::size_t>(at_x + i));
                const int c[3] = {colour.r, colour.g, colour.b};
                for (std::size_t k = 0; k < 3; ++k)
                    image.rgb[p + k] =
                        static_cast<std::uint8_t>((image.rgb[p + k] * (255 - a) + c[k] * a + 127) / 255);
            }
    });
}

}  // namespace sinew
