#include "core/joint_names.h"

namespace sinew {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) {
    return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}  // UTF-8 is letters
// The first byte of a character from U+3000 on: Chinese, Japanese or Korean, which has no cases.
bool begins_wide(char c) { return static_cast<unsigned char>(c) >= 0xe3; }
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Full-width letters and digits as ASCII, and half-width katakana in their full width: MMD's "足ＩＫ" is "足IK".
std::string fold_widths(const std::string& name) {
    constexpr std::string_view katakana =
        "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレ"
        "ロワン";
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const auto byte = [&](std::size_t k) { return static_cast<unsigned>(static_cast<unsigned char>(name[k])); };
        if (byte(i) != 0xef || i + 2 >= name.size() || !continues(name[i + 1]) || !continues(name[i + 2])) {
            out.push_back(name[i]);
            continue;
        }
        const unsigned code = 0xf000 | (byte(i + 1) & 0x3f) << 6 | (byte(i + 2) & 0x3f);
        if (code >= 0xff01 && code <= 0xff5e)
            out.push_back(static_cast<char>(code - 0xff01 + '!'));
        else if (code >= 0xff66 && code <= 0xff9d)
            out += katakana.substr(3 * (code - 0xff66), 3);
        else if ((code == 0xff9e || code == 0xff9f) && out.size() >= 3 && begins_wide(out[out.size() - 3]))
            out.back() = static_cast<char>(out.back() + (code == 0xff9e ? 1 : 2));  // voiced: カ becomes ガ
        else
            out.append(name, i, 3);
        i += 2;
    }
    return out;
}

// "shoulderFBXASC046L": Maya's FBX export writes unsupported characters as their decimal code.
std::string unescape(std::string_view name) {
    std::string out;
    constexpr std::string_view mark = "FBXASC";
    for (std::size_t i = 0; i < name.size(); ++i) {
        const std::string_view rest = name.substr(i);
        if (rest.size() >= 9 && rest.substr(0, 6) == mark && is_digit(rest[6]) && is_digit(rest[7]) &&
            is_digit(rest[8])) {
            const int code = (rest[6] - '0') * 100 + (rest[7] - '0') * 10 + (rest[8] - '0');
            if (code > 0 && code < 128) {
                out.push_back(static_cast<char>(code));
                i += 8;
                continue;
            }
        }
        out.push_back(name[i]);
    }
    return out;
}

}  // namespace

std::vector<std::string> name_words(std::string_view given) {
    std::string name = fold_widths(unescape(given));
    if (const std::size_t colon = name.rfind(':'); colon != std::string::npos && colon + 1 < name.size())
        name.erase(0, colon + 1);
    std::vector<std::string> words;
    std::string word;
    bool wide = false;
    const auto flush = [&] {
        if (!word.empty()) words.push_back(std::move(word));
        word.clear();
    };
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (!is_upper(c) && !is_lower(c) && !is_digit(c)) {
            flush();
            continue;
        }
        const char before = i > 0 ? name[i - 1] : '\0', after = i + 1 < name.size() ? name[i + 1] : '\0';
        const bool was_wide = wide;
        if (!continues(c)) wide = begins_wide(c);
        if (is_digit(c) != is_digit(before) || wide != was_wide) flush();
        // A word begins at B in aB, and also in ABc, so that IKFoot becomes ik, foot.
        if (is_upper(c) && (is_lower(before) || (is_upper(before) && is_lower(after) && !begins_wide(after))))
            flush();
        word.push_back(is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c);
    }
    flush();
    return words;
}

SidedName read_side(std::string_view name) {
    SidedName out;
    for (const std::string& word : name_words(name)) {
        const int side = word == "left" || word == "l" ? -1 : word == "right" || word == "r" ? 1 : 0;
        if (side != 0 && out.side == 0) {
            out.side = side;
            out.rest += "*.";
        } else {
            out.rest += word + ".";
        }
    }
    return out;
}

bool matches_glob(std::string_view glob, std::string_view name) {
    std::size_t g = 0, n = 0, star = std::string_view::npos, resume = 0;
    while (n < name.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = n;
        } else if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
            ++g;
            ++n;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') ++g;
    return g == glob.size();
}

std::vector<std::string> names_of(const Skeleton& skeleton) {
    std::vector<std::string> out;
    for (const Joint& joint : skeleton.joints) out.push_back(joint.name);
    return out;
}

}  // namespace sinew
